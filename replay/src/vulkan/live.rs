//! The driver's objects as the replay knows them: instances, devices, queues, buffers, images, swapchains.
//!
//! What is needed of each for calls of our own, by the capture's id. Those who make and destroy them (`instance.rs`,
//! `device.rs`, `resources.rs`, `swapchain.rs`) keep them true.

use super::clocks::Clocks;
use super::gpu::Gpu;
use super::memory::{Alloc, Pool, Rows};
use super::portability::queues::Folding;
use super::ray::spare::Spare;
use super::statistics::Statistics;
use crate::texels::Codec;
use crate::vulkan::staging::Upload;
use ash::vk;

/// A live device.
pub struct DeviceState {
    /// Captured id.
    pub id: u64,
    /// For our own calls.
    pub ash: ash::Device,
    /// What it was made on.
    pub gpu: Gpu,
    /// Captured id of that physical device.
    pub gpu_id: u64,
    /// Captured id of its instance.
    pub instance_id: u64,
    /// Where the captured device's queues are.
    pub folding: Folding,
    /// Buffer device addresses were asked for.
    pub buffer_addresses: bool,
    /// vkGetBufferDeviceAddress by whichever name the device has.
    pub(crate) get_address: Option<vk::PFN_vkGetBufferDeviceAddress>,
    /// Names of the extensions it was made with.
    pub extensions: Vec<String>,
    /// Pipeline statistics that hooks asked for, as far as the device has them.
    pub statistics: Statistics,
    /// Its clock beside the CPU's, where a hook wished for it and the device has it.
    pub clocks: Option<Clocks>,
    /// Copies of our own; made when first needed.
    pub(crate) upload: Option<Upload>,
    /// Memory of our own.
    pub(crate) pool: Pool,
    /// Buffers of our own that may be used again.
    pub(crate) spare: Spare,
    /// Queues that the application got hold of.
    pub(crate) queues: Vec<vk::Queue>,
    /// How long any wait for it may take.
    pub watchdog_ns: u64,
    /// Whether new memory is filled with zeros, and how often it was not.
    pub zero_memory: bool,
    pub(crate) unfilled: u64,
}

/// A queue the application asked for.
#[derive(Clone, Copy, Debug)]
pub struct QueueState {
    /// Captured id.
    pub id: u64,
    /// Captured id of its device.
    pub device: u64,
    /// Queue family here.
    pub family: u32,
    /// Live handle.
    pub live: vk::Queue,
}

impl DeviceState {
    /// A queue for our own work: the first of the most capable family the device was made with.
    pub fn own_queue(&self) -> (vk::Queue, u32) {
        let able = |f: u32| self.gpu.families.get(f as usize).map_or(0, |p| p.queue_flags.as_raw() & 0b111);
        let family =
            self.folding.made.iter().map(|f| f.0).max_by_key(|&f| (able(f) & 1, able(f))).unwrap_or(0);
        // SAFETY: the device was made with at least one queue of this family.
        (unsafe { self.ash.get_device_queue(family, 0) }, family)
    }
}

/// A live buffer.
#[derive(Clone)]
pub struct BufferState {
    /// Captured id of its device.
    pub device: u64,
    /// Live handle.
    pub live: vk::Buffer,
    /// In bytes.
    pub size: u64,
    /// As created here.
    pub usage: vk::BufferUsageFlags,
    /// As created here.
    pub flags: vk::BufferCreateFlags,
    /// Captured memory object and offset.
    pub memory: Option<(u64, u64)>,
    /// The address it had at capture, once the application asked for it.
    pub captured_address: u64,
    pub(crate) alloc: Option<Alloc>,
}

/// A live image.
#[derive(Clone)]
pub struct ImageState {
    /// Captured id of its device.
    pub device: u64,
    /// Live handle.
    pub live: vk::Image,
    /// 1D, 2D or 3D.
    pub kind: vk::ImageType,
    /// Its format here.
    pub format: vk::Format,
    /// The captured one, where another stands in for it.
    pub captured_format: vk::Format,
    /// Size of mip level 0.
    pub extent: vk::Extent3D,
    /// Mip levels.
    pub levels: u32,
    /// Array layers.
    pub layers: u32,
    /// Samples per texel.
    pub samples: vk::SampleCountFlags,
    /// As created here.
    pub usage: vk::ImageUsageFlags,
    /// As created here.
    pub flags: vk::ImageCreateFlags,
    /// Linear, optimal or by DRM modifier.
    pub tiling: vk::ImageTiling,
    /// Bytes of memory it takes here.
    pub size: u64,
    /// Captured memory object and offset.
    pub memory: Option<(u64, u64)>,
    /// The layout our own transitions left it in while a state snapshot is loaded.
    pub layout: vk::ImageLayout,
    /// Captured id of the virtual swapchain that owns it.
    pub swapchain: Option<u64>,
    pub(crate) alloc: Option<Alloc>,
    /// Memory of planes that are bound apart, memory rebound.
    pub(crate) planes: Vec<Alloc>,
    /// Linear, memory rebound: its rows, where they lie otherwise than at capture.
    pub(crate) rows: Vec<Rows>,
}

impl ImageState {
    /// One that has just been made with these parameters.
    pub fn new(device: u64, live: vk::Image, info: &vk::ImageCreateInfo<'_>, size: u64) -> Self {
        ImageState {
            device,
            live,
            kind: info.image_type,
            format: info.format,
            captured_format: info.format,
            extent: info.extent,
            levels: info.mip_levels,
            layers: info.array_layers,
            samples: info.samples,
            usage: info.usage,
            flags: info.flags,
            tiling: info.tiling,
            size,
            memory: None,
            layout: info.initial_layout,
            swapchain: None,
            alloc: None,
            planes: Vec::new(),
            rows: Vec::new(),
        }
    }
    /// Its format here stands in for the captured one.
    pub fn stands_in(&self) -> bool {
        self.captured_format != self.format
    }
    /// How an aspect's texels of the captured format become those of that here; none where it has the captured format.
    pub fn codec(&self, aspect: vk::ImageAspectFlags) -> Option<Codec> {
        let of = || Codec::of(self.captured_format.as_raw() as u32, aspect.as_raw());
        if self.stands_in() { of() } else { None }
    }
    /// Every aspect its format has.
    pub fn aspects(&self) -> vk::ImageAspectFlags {
        aspects_of(self.format)
    }
    /// All of it.
    pub fn range(&self) -> vk::ImageSubresourceRange {
        vk::ImageSubresourceRange {
            aspect_mask: self.aspects(),
            base_mip_level: 0,
            level_count: vk::REMAINING_MIP_LEVELS,
            base_array_layer: 0,
            layer_count: vk::REMAINING_ARRAY_LAYERS,
        }
    }
}

/// Every aspect a format has.
pub(super) fn aspects_of(format: vk::Format) -> vk::ImageAspectFlags {
    use vk::{Format as F, ImageAspectFlags as A};
    match format {
        F::D16_UNORM | F::X8_D24_UNORM_PACK32 | F::D32_SFLOAT => A::DEPTH,
        F::S8_UINT => A::STENCIL,
        F::D16_UNORM_S8_UINT | F::D24_UNORM_S8_UINT | F::D32_SFLOAT_S8_UINT => A::DEPTH | A::STENCIL,
        _ => A::COLOR,
    }
}

/// A virtual swapchain.
#[derive(Clone)]
pub struct SwapchainState {
    /// Captured id of its device.
    pub device: u64,
    /// Its images' format.
    pub format: vk::Format,
    /// Their size.
    pub extent: vk::Extent2D,
    /// Captured ids of its images, by index.
    pub images: Vec<u64>,
    pub(super) flags: vk::SwapchainCreateFlagsKHR,
    pub(super) layers: u32,
    pub(super) usage: vk::ImageUsageFlags,
    /// Formats its images may be viewed as; empty if just its own.
    pub(super) view_formats: Vec<vk::Format>,
    pub(super) families: Vec<u32>,
}

/// Wait semaphores of a present that has not been made up for yet.
pub struct Presented {
    pub(super) device: u64,
    pub(super) queue: vk::Queue,
    pub(super) waits: Vec<vk::Semaphore>,
}

/// A live instance.
pub struct InstanceState {
    /// For our own calls.
    pub ash: ash::Instance,
    /// The Vulkan version that it was made for.
    pub api: u32,
    pub(super) messenger: Option<(ash::ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
}

#[cfg(test)]
impl InstanceState {
    /// One that a test has made itself.
    pub fn bare(ash: ash::Instance) -> Self {
        InstanceState { ash, api: vk::API_VERSION_1_1, messenger: None }
    }
}

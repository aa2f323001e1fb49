//! What scenes of ray tracing share: acceleration structures, pipelines with their tables, and a picture that rays fill.
//!
//! Structures are built once, each of one or more geometries, from buffers of their own. A pipeline's groups are shaders by
//! themselves and hit groups; every group's record stands alone at a multiple of what a table's address is a multiple of, so
//! that tables are plain. Refuses a device that does not nest traces as deep as a pipeline says.

pub mod paths;
mod pipeline;
mod structures;

use std::ffi::CStr;

use ash::vk;

use super::barriers::{Access, Stage, image_barrier, show};
use super::{Frame, Show, Slot, frame_slots};
use crate::error::Result;
use crate::gpu::pipeline::{Layout, Resource};
use crate::gpu::swapchain::Swapchain;
use crate::gpu::{Buffer, Gpu, Image, ImageUse, Needs};

pub use pipeline::{Groups, HitGroup, Traced};
pub use structures::{IDENTITY, Instance, aabbs, bottom, floats, top, triangles};

/// What a scene with ray-tracing pipelines asks of the device.
pub fn needs() -> Needs {
    const EXTENSIONS: [&CStr; 3] = [
        ash::khr::acceleration_structure::NAME,
        ash::khr::ray_tracing_pipeline::NAME,
        ash::khr::deferred_host_operations::NAME,
    ];
    Needs { extensions: &EXTENSIONS, ray_tracing: true, ..Needs::default() }
}

/// What such a scene does with the images of the swapchain.
pub fn image_usage() -> vk::ImageUsageFlags {
    vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_DST
}

/// A picture that shaders write, and the descriptor of it.
pub fn picture(gpu: &Gpu, extent: vk::Extent2D) -> Result<(Image, Resource)> {
    picture_for(gpu, extent, vk::ImageUsageFlags::empty())
}

/// The same, of a picture that has more uses.
pub fn picture_for(gpu: &Gpu, extent: vk::Extent2D, more: vk::ImageUsageFlags) -> Result<(Image, Resource)> {
    let usage = vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::TRANSFER_SRC | more;
    let (format, aspect) = (vk::Format::R8G8B8A8_UNORM, vk::ImageAspectFlags::COLOR);
    let picture = gpu.image("picture", &ImageUse { format, extent, usage, aspect })?;
    let view =
        vk::DescriptorImageInfo::default().image_view(picture.view).image_layout(vk::ImageLayout::GENERAL);
    Ok((picture, Resource::Image(view)))
}

/// Records what fills a picture.
type Paint = Box<dyn Fn(&Gpu, vk::CommandBuffer)>;

/// The same pass in every frame: fill a picture with shaders, show it.
pub struct Painting {
    commands: Vec<Slot>,
    picture: Image,
    presented: Vec<vk::Image>,
    extent: vk::Extent2D,
    /// The last stage that writes the picture.
    stage: Stage,
    paint: Paint,
}

impl Painting {
    /// `paint` records what fills the picture, which is in the layout GENERAL then; `stage` is the last that writes it.
    pub fn new(
        gpu: &Gpu,
        swapchain: &Swapchain,
        picture: Image,
        stage: Stage,
        paint: impl Fn(&Gpu, vk::CommandBuffer) + 'static,
    ) -> Result<Self> {
        let (presented, extent) = (swapchain.images.clone(), swapchain.extent);
        Ok(Self { commands: frame_slots(gpu)?, picture, presented, extent, stage, paint: Box::new(paint) })
    }
}

impl Show for Painting {
    fn record(&mut self, gpu: &Gpu, frame: Frame) -> Result<Vec<vk::CommandBuffer>> {
        let (pool, commands) = self.commands[frame.slot];
        unsafe { gpu.device.reset_command_pool(pool, vk::CommandPoolResetFlags::empty()) }?;
        gpu.record(commands, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT, |device| {
            let writers = Stage::RAY_TRACING_SHADER_KHR | Stage::COMPUTE_SHADER;
            let from = (vk::ImageLayout::UNDEFINED, Stage::TRANSFER, Access::empty());
            let to = (vk::ImageLayout::GENERAL, writers, Access::SHADER_WRITE);
            image_barrier(device, commands, self.picture.handle, from, to);
            (self.paint)(gpu, commands);
            let picture = (self.picture.handle, self.stage);
            show(device, commands, picture, self.presented[frame.image], self.extent);
        })?;
        Ok(vec![commands])
    }
}

/// The one descriptor set of a layout, with a pool of its own.
pub fn only_set(gpu: &Gpu, layout: &Layout, resources: &[Resource]) -> Result<vk::DescriptorSet> {
    let pool = gpu.descriptor_pool("descriptors", 1, &[layout])?;
    gpu.descriptor_set("set", pool, layout, resources)
}

/// A storage buffer that begins with these floats, and its descriptor.
pub fn stored(gpu: &Gpu, name: &str, content: &[f32]) -> Result<Resource> {
    let buffer: Buffer = gpu.filled_buffer(name, &floats(content), vk::BufferUsageFlags::STORAGE_BUFFER)?;
    Ok(Resource::Buffer(buffer.whole()))
}

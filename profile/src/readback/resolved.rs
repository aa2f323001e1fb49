//! An image of one sample for each texel, that a level and layer of one with several is resolved into.
//!
//! Guarantees: it is as large as what is resolved, and of its format. Refuses formats that no image of the device's can be rendered to in, and
//! devices without memory for it.
#![allow(unsafe_code)]

use crate::changes::memory::{allocate, barrier, memory_type};
use replay::ash::{self, vk};
use replay::error::{Error, Result};
use replay::vulkan::DeviceState;

/// See the module's header.
pub struct Resolved {
    image: vk::Image,
    memory: vk::DeviceMemory,
}

/// What is resolved: it is live, and in the layout to be copied from.
pub struct From {
    /// The image.
    pub image: vk::Image,
    /// Its format.
    pub format: vk::Format,
    /// What of it.
    pub layers: vk::ImageSubresourceLayers,
    /// Width and height of that.
    pub extent: [u32; 2],
}

const COLOUR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;

impl Resolved {
    /// One, and its memory.
    pub fn new(device: &DeviceState, of: &From) -> Result<Self> {
        let d = &device.ash;
        let [width, height] = of.extent;
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(of.format)
            .extent(vk::Extent3D { width, height, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::OPTIMAL)
            // (a format that can have several samples can be rendered to)
            .usage(
                vk::ImageUsageFlags::TRANSFER_SRC
                    | vk::ImageUsageFlags::TRANSFER_DST
                    | vk::ImageUsageFlags::COLOR_ATTACHMENT,
            );
        // SAFETY: plain creations on a live device.
        unsafe {
            let image = d.create_image(&info, None).map_err(|e| Error::driver("vkCreateImage", e))?;
            let needs = d.get_image_memory_requirements(image);
            let memory = memory_type(device, needs.memory_type_bits, vk::MemoryPropertyFlags::DEVICE_LOCAL)
                .and_then(|kind| allocate(device, needs.size, kind));
            let memory = memory.inspect_err(|_| d.destroy_image(image, None))?;
            let bound = d.bind_image_memory(image, memory, 0);
            let made = Resolved { image, memory };
            match bound {
                Ok(()) => Ok(made),
                Err(e) => {
                    made.destroy(d);
                    Err(Error::driver("vkBindImageMemory", e))
                }
            }
        }
    }

    /// Records that it is resolved into, outside of render passes on a queue with graphics; the image is to be copied from, then.
    pub fn record(&self, d: &ash::Device, commands: vk::CommandBuffer, of: &From) -> vk::Image {
        let whole = vk::ImageSubresourceRange {
            aspect_mask: COLOUR,
            base_mip_level: 0,
            level_count: 1,
            base_array_layer: 0,
            layer_count: 1,
        };
        let (from, to) = (vk::ImageLayout::TRANSFER_SRC_OPTIMAL, vk::ImageLayout::TRANSFER_DST_OPTIMAL);
        barrier(d, commands, (self.image, whole), vk::ImageLayout::UNDEFINED, to);
        let [width, height] = of.extent;
        let region = vk::ImageResolve {
            src_subresource: of.layers,
            dst_subresource: vk::ImageSubresourceLayers {
                aspect_mask: COLOUR,
                mip_level: 0,
                base_array_layer: 0,
                layer_count: 1,
            },
            extent: vk::Extent3D { width, height, depth: 1 },
            ..Default::default()
        };
        // SAFETY: a command buffer that is being recorded, outside of render passes; live images of one format in these layouts.
        unsafe { d.cmd_resolve_image(commands, of.image, from, self.image, to, &[region]) };
        barrier(d, commands, (self.image, whole), to, from);
        self.image
    }

    /// Gives it back; nothing of it is in flight.
    pub fn destroy(&self, d: &ash::Device) {
        // SAFETY: ours, and idle.
        unsafe {
            d.destroy_image(self.image, None);
            d.free_memory(self.memory, None);
        }
    }
}

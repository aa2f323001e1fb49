//! An image of one sample for each texel, that a level and layer of one with several is resolved into.
//!
//! Colours are resolved by vkCmdResolveImage, which knows no depth and no stencil. Of these a rendering without draws takes the first sample
//! (VK_RESOLVE_MODE_SAMPLE_ZERO_BIT, the mode that every device has), from a copy: llvmpipe (Mesa 25.0.7) takes it of layer 0, whichever
//! layer a view names. Guarantees: it is as large as what is resolved, and of its format, and what is resolved stays as it is. Refuses formats
//! that no image of the device's can be rendered to in, and devices without memory for it.
#![allow(unsafe_code)]

use crate::changes::memory::{allocate, barrier, memory_type};
use replay::ash::{self, vk};
use replay::error::{Error, Result};
use replay::hook::Feature;
use replay::vulkan::{DeviceState, Vulkan};
use vk::ImageAspectFlags as Aspect;
use vk::ImageLayout as Layout;

/// What depth and stencil are resolved with.
pub const RENDERING: Feature = Feature {
    structure: "VkPhysicalDeviceDynamicRenderingFeatures",
    member: "dynamicRendering",
    extension: "VK_KHR_dynamic_rendering",
    core: vk::API_VERSION_1_3,
};

/// Whether a device has that, by the names of Vulkan 1.3.
pub fn renders(vk: &Vulkan, device: &DeviceState) -> bool {
    vk.device_version(&device.gpu) >= RENDERING.core && vk.lacks(device.gpu_id, &[RENDERING]).is_empty()
}

/// See the module's header.
pub struct Resolved {
    to: Image,
    /// Of depth and stencil, the copy that is resolved.
    copy: Option<Image>,
}

/// What is resolved: it is live, and in the layout to be copied from.
pub struct From {
    /// The image.
    pub image: vk::Image,
    /// Its format.
    pub format: vk::Format,
    /// Every aspect of that.
    pub aspects: Aspect,
    /// Its samples.
    pub samples: vk::SampleCountFlags,
    /// What of it.
    pub layers: vk::ImageSubresourceLayers,
    /// Width and height of that.
    pub extent: [u32; 2],
}

/// An image of ours, with one level and layer.
struct Image {
    image: vk::Image,
    memory: vk::DeviceMemory,
    view: vk::ImageView,
}

impl Image {
    fn new(device: &DeviceState, of: &From, samples: vk::SampleCountFlags) -> Result<Self> {
        let d = &device.ash;
        let [width, height] = of.extent;
        // (a format that can have several samples can be rendered to)
        let rendered = match of.aspects {
            Aspect::COLOR => vk::ImageUsageFlags::COLOR_ATTACHMENT,
            _ => vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
        };
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(of.format)
            .extent(vk::Extent3D { width, height, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(samples)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST | rendered);
        // SAFETY: plain creations on a live device, in order; what was made goes if what comes fails.
        unsafe {
            let image = d.create_image(&info, None).map_err(|e| Error::driver("vkCreateImage", e))?;
            let needs = d.get_image_memory_requirements(image);
            let memory = memory_type(device, needs.memory_type_bits, vk::MemoryPropertyFlags::DEVICE_LOCAL)
                .and_then(|kind| allocate(device, needs.size, kind));
            let memory = memory.inspect_err(|_| d.destroy_image(image, None))?;
            let mut made = Image { image, memory, view: vk::ImageView::null() };
            let bound = d.bind_image_memory(image, memory, 0);
            bound.inspect_err(|_| made.destroy(d)).map_err(|e| Error::driver("vkBindImageMemory", e))?;
            let info = vk::ImageViewCreateInfo::default()
                .image(image)
                .view_type(vk::ImageViewType::TYPE_2D)
                .format(of.format)
                .subresource_range(whole(of));
            let view = d.create_image_view(&info, None).inspect_err(|_| made.destroy(d));
            made.view = view.map_err(|e| Error::driver("vkCreateImageView", e))?;
            Ok(made)
        }
    }

    fn destroy(&self, d: &ash::Device) {
        // SAFETY: ours, and idle.
        unsafe {
            d.destroy_image_view(self.view, None);
            d.destroy_image(self.image, None);
            d.free_memory(self.memory, None);
        }
    }
}

/// All of an image of ours.
fn whole(of: &From) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange {
        aspect_mask: of.aspects,
        base_mip_level: 0,
        level_count: 1,
        base_array_layer: 0,
        layer_count: 1,
    }
}

impl Resolved {
    /// One, and its memory.
    pub fn new(device: &DeviceState, of: &From) -> Result<Self> {
        let to = Image::new(device, of, vk::SampleCountFlags::TYPE_1)?;
        let copied = of.aspects != Aspect::COLOR;
        let copy = copied.then(|| Image::new(device, of, of.samples)).transpose();
        let copy = copy.inspect_err(|_| to.destroy(&device.ash))?;
        Ok(Resolved { to, copy })
    }

    /// Records that it is resolved into, outside of render passes on a queue with graphics; the image is to be copied from, then.
    pub fn record(&self, d: &ash::Device, commands: vk::CommandBuffer, of: &From) -> vk::Image {
        let moved = |image: &Image, from, to| barrier(d, commands, (image.image, whole(of)), from, to);
        let (from, into) = (Layout::TRANSFER_SRC_OPTIMAL, Layout::TRANSFER_DST_OPTIMAL);
        let rendered = Layout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL;
        let [width, height] = of.extent;
        let extent = vk::Extent3D { width, height, depth: 1 };
        let own = vk::ImageSubresourceLayers { mip_level: 0, base_array_layer: 0, ..of.layers };
        let Some(copy) = &self.copy else {
            moved(&self.to, Layout::UNDEFINED, into);
            let region = vk::ImageResolve {
                src_subresource: of.layers,
                dst_subresource: own,
                extent,
                ..Default::default()
            };
            // SAFETY: a command buffer that is being recorded, outside of render passes; live images of one format in these layouts.
            unsafe { d.cmd_resolve_image(commands, of.image, from, self.to.image, into, &[region]) };
            moved(&self.to, into, from);
            return self.to.image;
        };
        moved(copy, Layout::UNDEFINED, into);
        let every = |layers| vk::ImageSubresourceLayers { aspect_mask: of.aspects, ..layers };
        let region = vk::ImageCopy {
            src_subresource: every(of.layers),
            dst_subresource: every(own),
            extent,
            ..Default::default()
        };
        // SAFETY: as above; both have as many samples.
        unsafe { d.cmd_copy_image(commands, of.image, from, copy.image, into, &[region]) };
        moved(copy, into, rendered);
        moved(&self.to, Layout::UNDEFINED, rendered);
        let attachment = vk::RenderingAttachmentInfo::default()
            .image_view(copy.view)
            .image_layout(rendered)
            .resolve_mode(vk::ResolveModeFlags::SAMPLE_ZERO)
            .resolve_image_view(self.to.view)
            .resolve_image_layout(rendered)
            .load_op(vk::AttachmentLoadOp::LOAD)
            .store_op(vk::AttachmentStoreOp::DONT_CARE);
        let area = vk::Extent2D { width, height };
        let info = vk::RenderingInfo::default().render_area(area.into()).layer_count(1);
        let info = match of.layers.aspect_mask {
            Aspect::STENCIL => info.stencil_attachment(&attachment),
            _ => info.depth_attachment(&attachment),
        };
        // SAFETY: as above, for a queue with graphics; the device has dynamic rendering ([`renders`]); live views, whose images are in these layouts.
        unsafe {
            d.cmd_begin_rendering(commands, &info);
            d.cmd_end_rendering(commands);
        }
        moved(&self.to, rendered, from);
        self.to.image
    }

    /// Gives it back; nothing of it is in flight.
    pub fn destroy(&self, d: &ash::Device) {
        self.to.destroy(d);
        self.copy.iter().for_each(|copy| copy.destroy(d));
    }
}

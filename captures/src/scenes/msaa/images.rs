//! The scene's images: made here, and moved from use to use.

use ash::vk;

use crate::error::Result;
use crate::gpu::Gpu;

/// What differs from image to image.
#[derive(Clone, Copy)]
pub struct About {
    pub format: vk::Format,
    pub extent: vk::Extent2D,
    pub levels: u32,
    pub layers: u32,
    pub samples: vk::SampleCountFlags,
    pub usage: vk::ImageUsageFlags,
}

/// An image and its views.
pub struct Image {
    pub handle: vk::Image,
    pub about: About,
    /// All of it, as shaders see it; an array where there are layers.
    pub view: vk::ImageView,
    /// Level 0 of each layer, as passes see it.
    pub layers: Vec<vk::ImageView>,
}

/// A use of an image: its layout, and who does what to it.
#[derive(Clone, Copy)]
pub struct Use {
    pub layout: vk::ImageLayout,
    pub stages: vk::PipelineStageFlags,
    pub access: vk::AccessFlags,
}

/// What was in the image is of no interest; whoever touched it last did so at these stages.
pub const fn nothing(stages: vk::PipelineStageFlags) -> Use {
    Use { layout: vk::ImageLayout::UNDEFINED, stages, access: vk::AccessFlags::empty() }
}

/// Drawn to as a colour.
pub const COLOUR: Use = Use {
    layout: vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL,
    stages: vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT,
    access: vk::AccessFlags::from_raw(
        vk::AccessFlags::COLOR_ATTACHMENT_READ.as_raw() | vk::AccessFlags::COLOR_ATTACHMENT_WRITE.as_raw(),
    ),
};

/// Tested and drawn to as depth and stencil.
pub const DEPTH: Use = Use {
    layout: vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
    stages: vk::PipelineStageFlags::from_raw(
        vk::PipelineStageFlags::EARLY_FRAGMENT_TESTS.as_raw()
            | vk::PipelineStageFlags::LATE_FRAGMENT_TESTS.as_raw(),
    ),
    access: vk::AccessFlags::from_raw(
        vk::AccessFlags::DEPTH_STENCIL_ATTACHMENT_READ.as_raw()
            | vk::AccessFlags::DEPTH_STENCIL_ATTACHMENT_WRITE.as_raw(),
    ),
};

/// Read by fragment shaders.
pub const READ: Use = Use {
    layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
    stages: vk::PipelineStageFlags::FRAGMENT_SHADER,
    access: vk::AccessFlags::SHADER_READ,
};

/// Copied to.
pub const FILL: Use = Use {
    layout: vk::ImageLayout::TRANSFER_DST_OPTIMAL,
    stages: vk::PipelineStageFlags::TRANSFER,
    access: vk::AccessFlags::TRANSFER_WRITE,
};

/// Presented: a semaphore is waited for, and a read-back's barrier begins at this stage.
pub const PRESENT: Use = Use {
    layout: vk::ImageLayout::PRESENT_SRC_KHR,
    stages: vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT,
    access: vk::AccessFlags::empty(),
};

/// Every aspect of the formats that the scene uses.
fn aspects(format: vk::Format) -> vk::ImageAspectFlags {
    match format {
        vk::Format::D16_UNORM => vk::ImageAspectFlags::DEPTH,
        vk::Format::D32_SFLOAT_S8_UINT => vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL,
        _ => vk::ImageAspectFlags::COLOR,
    }
}

/// Moves all of an image from one use to the next.
pub fn pass_on(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    (image, format): (vk::Image, vk::Format),
    from: Use,
    to: Use,
) {
    let range = vk::ImageSubresourceRange::default()
        .aspect_mask(aspects(format))
        .level_count(vk::REMAINING_MIP_LEVELS)
        .layer_count(vk::REMAINING_ARRAY_LAYERS);
    let barrier = vk::ImageMemoryBarrier::default()
        .image(image)
        .subresource_range(range)
        .old_layout(from.layout)
        .new_layout(to.layout)
        .src_access_mask(from.access)
        .dst_access_mask(to.access)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED);
    let none = vk::DependencyFlags::empty();
    unsafe { device.cmd_pipeline_barrier(commands, from.stages, to.stages, none, &[], &[], &[barrier]) };
}

impl Image {
    /// Makes an image with memory of its own, and its views.
    pub fn new(gpu: &Gpu, name: &str, about: About) -> Result<Self> {
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(about.format)
            .extent(about.extent.into())
            .mip_levels(about.levels)
            .array_layers(about.layers)
            .samples(about.samples)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(about.usage)
            .initial_layout(vk::ImageLayout::UNDEFINED);
        let handle = gpu.adopt(unsafe { gpu.device.create_image(&info, None) }?, name);
        let requirements = unsafe { gpu.device.get_image_memory_requirements(handle) };
        let memory = gpu.allocate(name, &requirements, vk::MemoryPropertyFlags::DEVICE_LOCAL)?;
        unsafe { gpu.device.bind_image_memory(handle, memory, 0) }?;

        let view = |name: &str, first, layers, levels| {
            let kind = if layers > 1 { vk::ImageViewType::TYPE_2D_ARRAY } else { vk::ImageViewType::TYPE_2D };
            let range = vk::ImageSubresourceRange {
                aspect_mask: aspects(about.format),
                base_mip_level: 0,
                level_count: levels,
                base_array_layer: first,
                layer_count: layers,
            };
            let info = vk::ImageViewCreateInfo::default()
                .image(handle)
                .view_type(kind)
                .format(about.format)
                .subresource_range(range);
            unsafe { gpu.device.create_image_view(&info, None) }.map(|made| gpu.adopt(made, name))
        };
        let all = view(&format!("{name} view"), 0, about.layers, about.levels)?;
        let drawn_to = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
        let layers = if about.usage.intersects(drawn_to) { about.layers } else { 0 };
        let layers = (0..layers)
            .map(|layer| view(&format!("{name} layer {layer}"), layer, 1, 1))
            .collect::<std::result::Result<_, _>>()?;
        Ok(Self { handle, about, view: all, layers })
    }

    /// Moves all of it from one use to the next.
    pub fn pass_on(&self, device: &ash::Device, commands: vk::CommandBuffer, from: Use, to: Use) {
        pass_on(device, commands, (self.handle, self.about.format), from, to);
    }

    /// Fills its levels, each with so many bytes of `contents` for all its layers, and leaves it to be read.
    pub fn fill(&self, gpu: &Gpu, name: &str, levels: &[usize], contents: &[u8]) -> Result<()> {
        let staging = gpu.host_buffer(
            &format!("{name} staging"),
            contents.len() as u64,
            vk::BufferUsageFlags::TRANSFER_SRC,
        )?;
        staging.write(contents);
        let mut at = 0;
        let regions: Vec<_> = (0..)
            .zip(levels)
            .map(|(level, bytes)| {
                let size = |full: u32| (full >> level).max(1);
                let region = vk::BufferImageCopy::default()
                    .buffer_offset(at as u64)
                    .image_subresource(vk::ImageSubresourceLayers {
                        aspect_mask: aspects(self.about.format),
                        mip_level: level,
                        base_array_layer: 0,
                        layer_count: self.about.layers,
                    })
                    .image_extent(vk::Extent3D {
                        width: size(self.about.extent.width),
                        height: size(self.about.extent.height),
                        depth: 1,
                    });
                at += bytes;
                region
            })
            .collect();
        gpu.run_once(&format!("fill {name}"), |device, commands| {
            self.pass_on(device, commands, nothing(vk::PipelineStageFlags::TOP_OF_PIPE), FILL);
            unsafe {
                device.cmd_copy_buffer_to_image(commands, staging.handle, self.handle, FILL.layout, &regions);
            }
            self.pass_on(device, commands, FILL, READ);
        })
    }
}

//! The two textures, which the device makes: a capture holds none of their texels.
//!
//! A compute shader fills a buffer with 1024x1024 texels. The large texture is copies of all of it side by side, the small one of its
//! first corner. Copies, unlike blits, round nothing. Both are sampled without filtering, at the middle of texels.

use ash::vk;

use super::super::barriers::{Access, Stage, barrier, image_barrier};
use super::super::tracing::only_set;
use super::work::{LARGE, PATTERN, PATTERN_ROUNDS, SMALL};
use crate::error::Result;
use crate::gpu::pipeline::{Layout, Resource};
use crate::gpu::{Gpu, Image, ImageUse};

/// The large texture and the small one, as descriptors.
pub fn textures(gpu: &Gpu, compute: &Layout) -> Result<[Resource; 2]> {
    let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::TRANSFER_SRC;
    let pattern = gpu.device_buffer("pattern", u64::from(PATTERN * PATTERN * 4), usage)?;
    let fill = gpu.compute_pipeline("fill", spirv!("fill.comp"), compute)?;
    let set = only_set(gpu, compute, &[Resource::Buffer(pattern.whole())])?;
    let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
    let (format, aspect) = (vk::Format::R8G8B8A8_UNORM, vk::ImageAspectFlags::COLOR);
    let large = gpu.image("large texture", &ImageUse { format, extent: LARGE, usage, aspect })?;
    let small = gpu.image("small texture", &ImageUse { format, extent: SMALL, usage, aspect })?;
    gpu.run_once("make textures", |device, commands| {
        let point = vk::PipelineBindPoint::COMPUTE;
        let words = [0, PATTERN_ROUNDS, 0, 0].map(u32::to_le_bytes);
        unsafe {
            device.cmd_bind_pipeline(commands, point, fill);
            device.cmd_bind_descriptor_sets(commands, point, compute.pipeline, 0, &[set], &[]);
            let stage = vk::ShaderStageFlags::COMPUTE;
            device.cmd_push_constants(commands, compute.pipeline, stage, 0, words.as_flattened());
            device.cmd_dispatch(commands, PATTERN / 64, PATTERN, 1);
        }
        let read = (Stage::TRANSFER, Access::TRANSFER_READ);
        barrier(device, commands, (Stage::COMPUTE_SHADER, Access::SHADER_WRITE), read);
        for (image, extent) in [(large, LARGE), (small, SMALL)] {
            copy(device, commands, pattern.handle, image, extent);
        }
    })?;
    let info = vk::SamplerCreateInfo::default()
        .mag_filter(vk::Filter::NEAREST)
        .min_filter(vk::Filter::NEAREST)
        .mipmap_mode(vk::SamplerMipmapMode::NEAREST);
    let sampler = gpu.adopt(unsafe { gpu.device.create_sampler(&info, None) }?, "nearest");
    let sampled = |image: Image| {
        let info = vk::DescriptorImageInfo::default().sampler(sampler).image_view(image.view);
        Resource::Image(info.image_layout(vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL))
    };
    Ok([large, small].map(sampled))
}

/// Fills an image with copies of the pattern, or with its corner, and readies it for fragment shaders.
fn copy(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    pattern: vk::Buffer,
    image: Image,
    extent: vk::Extent2D,
) {
    let (layout, transfer) = (vk::ImageLayout::TRANSFER_DST_OPTIMAL, Stage::TRANSFER);
    let written = (layout, transfer, Access::TRANSFER_WRITE);
    let free = (vk::ImageLayout::UNDEFINED, transfer, Access::empty());
    image_barrier(device, commands, image.handle, free, written);
    let layers =
        vk::ImageSubresourceLayers::default().aspect_mask(vk::ImageAspectFlags::COLOR).layer_count(1);
    let tiles = |side: u32| (0..side.div_ceil(PATTERN)).map(|tile| tile * PATTERN);
    let region = |x: u32, y: u32| {
        vk::BufferImageCopy::default()
            .buffer_row_length(PATTERN)
            .image_subresource(layers)
            .image_offset(vk::Offset3D { x: x as i32, y: y as i32, z: 0 })
            .image_extent(vk::Extent3D {
                width: extent.width.min(PATTERN),
                height: extent.height.min(PATTERN),
                depth: 1,
            })
    };
    let regions: Vec<_> =
        tiles(extent.height).flat_map(|y| tiles(extent.width).map(move |x| region(x, y))).collect();
    unsafe { device.cmd_copy_buffer_to_image(commands, pattern, image.handle, layout, &regions) };
    let read = (vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL, Stage::FRAGMENT_SHADER, Access::SHADER_READ);
    image_barrier(device, commands, image.handle, written, read);
}

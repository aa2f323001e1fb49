//! `compressed_textures`: sixteen textures of ETC2, EAC, ASTC and BC, each with three levels and two layers of odd sizes.
//!
//! | label | when | what |
//! |---|---|---|
//! | `upload` | before the first frame | the levels of the first layer, in one copy: from the host's buffer, or (every other texture) from a buffer of the device that it is copied to in the same command buffer; the first texture from one that a compute shader wrote before |
//! | `copy` | likewise | the second layer, from another image of the same format |
//! | `change` | each frame, recorded once | part of the ASTC texture of 4x4, from rows that are longer, whose blocks the host writes anew |
//! | `show` | each frame | a picture of all of them, by a fragment shader |
//!
//! Made for devices without these formats: whoever replays it there has to know what each copy uploads.

mod blocks;

use ash::vk;

use super::barriers::{Access, Stage, barrier};
use super::{Frame, Scene, Show, Slot, frame_slots, tracing};
use crate::error::Result;
use crate::gpu::pipeline::{Graphics, Layout, Resource, cover};
use crate::gpu::swapchain::Swapchain;
use crate::gpu::{Buffer, Colour, Gpu, Image, Needs};
use blocks::{FORMATS, Noise, block};

const EXTENT: vk::Extent2D = vk::Extent2D { width: 256, height: 144 };
const COLOUR: Colour = [0.4, 0.6, 0.3];
/// Of the first level.
const SIZE: vk::Extent2D = vk::Extent2D { width: 21, height: 13 };
const LEVELS: u32 = 3;
const LAYERS: u32 = 2;
/// The texture that changes, where, how much, and the texels of a row in the buffer.
const CHANGES: usize = 8;
const CHANGED: (vk::Offset3D, vk::Extent2D) =
    (vk::Offset3D { x: 4, y: 4, z: 0 }, vk::Extent2D { width: 8, height: 9 });
const ROW: u32 = 16;

const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;
const DRAWN: Stage = Stage::FRAGMENT_SHADER;

/// The scene.
pub struct CompressedTextures;

impl Scene for CompressedTextures {
    fn name(&self) -> &'static str {
        "compressed_textures"
    }

    fn about(&self) -> &'static str {
        "textures of ETC2, EAC, ASTC and BC, uploaded in every way"
    }

    fn frames(&self) -> u32 {
        4
    }

    fn extent(&self) -> vk::Extent2D {
        EXTENT
    }

    fn pictured(&self) -> &'static [u32] {
        &[1, 2, 4]
    }

    fn needs(&self) -> Needs {
        let features = vk::PhysicalDeviceFeatures::default()
            .texture_compression_bc(true)
            .texture_compression_etc2(true)
            .texture_compression_astc_ldr(true);
        Needs { features, ..Needs::default() }
    }

    fn build(&self, gpu: &Gpu, swapchain: &Swapchain) -> Result<Box<dyn Show>> {
        let textures = (0..FORMATS.len()).map(|n| texture(gpu, n)).collect::<Result<Vec<_>>>()?;
        let changing =
            gpu.host_buffer("changing", 3 * u64::from(ROW / 4) * 16, vk::BufferUsageFlags::TRANSFER_SRC)?;
        let (_, [change]) = gpu.command_buffers("change pool", ["change"])?;
        let device = &gpu.device;
        gpu.record(change, vk::CommandBufferUsageFlags::empty(), |_| {
            let (offset, extent) = CHANGED;
            let region = vk::BufferImageCopy {
                buffer_row_length: ROW,
                image_offset: offset,
                image_extent: extent.into(),
                image_subresource: part(0, 0),
                ..Default::default()
            };
            gpu.labelled(change, "change", COLOUR, || unsafe {
                let image = textures[CHANGES].handle;
                barrier(device, change, (DRAWN, Access::empty()), (Stage::TRANSFER, Access::TRANSFER_WRITE));
                device.cmd_copy_buffer_to_image(change, changing.handle, image, GENERAL, &[region]);
                let read = (DRAWN, Access::SHADER_READ);
                barrier(device, change, (Stage::TRANSFER, Access::TRANSFER_WRITE), read);
            });
        })?;
        let sampled = (vk::DescriptorType::COMBINED_IMAGE_SAMPLER, vk::ShaderStageFlags::FRAGMENT);
        let layout = gpu.layout("show", &[sampled; FORMATS.len()], None)?;
        let info = vk::SamplerCreateInfo::default()
            .mag_filter(vk::Filter::LINEAR)
            .min_filter(vk::Filter::LINEAR)
            .address_mode_u(vk::SamplerAddressMode::CLAMP_TO_EDGE)
            .address_mode_v(vk::SamplerAddressMode::CLAMP_TO_EDGE);
        let sampler = gpu.adopt(unsafe { device.create_sampler(&info, None) }?, "sampler");
        let seen = |image: &Image| {
            let info = vk::DescriptorImageInfo::default().image_view(image.view).image_layout(GENERAL);
            Resource::Image(info.sampler(sampler))
        };
        let resources: Vec<_> = textures.iter().map(seen).collect();
        // Every pixel is drawn, so that nothing is loaded or cleared.
        let pass = gpu.present_pass(swapchain, vk::AttachmentLoadOp::DONT_CARE, "pass")?;
        let (vertex, fragment) = (spirv!("screen.vert"), spirv!("show.frag"));
        let about = Graphics { vertex, fragment, vertices: None, depth: false, layout: &layout, pass };
        Ok(Box::new(Running {
            commands: frame_slots(gpu)?,
            change,
            changing,
            pipeline: gpu.graphics_pipeline("show", &about)?,
            set: tracing::only_set(gpu, &layout, &resources)?,
            layout,
            pass,
            framebuffers: gpu.present_framebuffers(swapchain, pass, "framebuffer")?,
        }))
    }
}

/// A level of a layer.
fn part(level: u32, layer: u32) -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        mip_level: level,
        base_array_layer: layer,
        layer_count: 1,
    }
}

fn size(level: u32) -> vk::Extent2D {
    vk::Extent2D { width: SIZE.width >> level, height: SIZE.height >> level }
}

/// An image of a compressed format, and its memory.
fn image(gpu: &Gpu, name: &str, format: vk::Format, levels: u32, layers: u32) -> Result<vk::Image> {
    use vk::ImageUsageFlags as Usage;
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(SIZE.into())
        .mip_levels(levels)
        .array_layers(layers)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(Usage::SAMPLED | Usage::TRANSFER_DST | Usage::TRANSFER_SRC);
    let image = gpu.adopt(unsafe { gpu.device.create_image(&info, None) }?, name);
    let requirements = unsafe { gpu.device.get_image_memory_requirements(image) };
    let memory = gpu.allocate(name, &requirements, vk::MemoryPropertyFlags::DEVICE_LOCAL)?;
    unsafe { gpu.device.bind_image_memory(image, memory, 0) }?;
    Ok(image)
}

/// A texture, filled.
fn texture(gpu: &Gpu, n: usize) -> Result<Image> {
    let (name, format, texels, bytes) = FORMATS[n];
    let texture = image(gpu, name, format, LEVELS, LAYERS)?;
    let other = image(gpu, &format!("{name} source"), format, 1, 1)?;
    let mut noise = Noise::new(n as u64 + 1);
    let (mut data, mut regions) = (Vec::new(), Vec::new());
    let mut put = |level: u32, layer: u32| {
        let (across, down) = blocks::blocks(texels, size(level));
        regions.push(vk::BufferImageCopy {
            buffer_offset: data.len() as u64,
            image_subresource: part(level, layer),
            image_extent: size(level).into(),
            ..Default::default()
        });
        (0..across * down).for_each(|_| data.extend(block(n, &mut noise)));
        debug_assert!((data.len() as u64).is_multiple_of(bytes));
    };
    (0..LEVELS).for_each(|level| put(level, 0));
    put(0, 0);
    let source = source(gpu, n, &data)?;
    let all = vk::ImageSubresourceRange {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        level_count: LEVELS,
        layer_count: LAYERS,
        ..Default::default()
    };
    gpu.run_once(&format!("fill {name}"), |device, commands| unsafe {
        let (transfer, write) = (Stage::TRANSFER, Access::TRANSFER_WRITE);
        for (image, range) in
            [(texture, all), (other, vk::ImageSubresourceRange { level_count: 1, layer_count: 1, ..all })]
        {
            let to_general = vk::ImageMemoryBarrier::default()
                .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                .image(image)
                .subresource_range(range)
                .new_layout(GENERAL)
                .dst_access_mask(write);
            let none = vk::DependencyFlags::empty();
            device.cmd_pipeline_barrier(
                commands,
                Stage::TOP_OF_PIPE,
                transfer,
                none,
                &[],
                &[],
                &[to_general],
            );
        }
        gpu.labelled(commands, "upload", COLOUR, || {
            let from = match source {
                Source::Written(buffer) => buffer.handle,
                Source::Copied(host, own) => {
                    let region = vk::BufferCopy::default().size(host.size_bytes);
                    device.cmd_copy_buffer(commands, host.handle, own.handle, &[region]);
                    barrier(device, commands, (transfer, write), (transfer, Access::TRANSFER_READ));
                    own.handle
                }
            };
            let (last, levels) = regions.split_last().expect("four");
            device.cmd_copy_buffer_to_image(commands, from, texture, GENERAL, levels);
            device.cmd_copy_buffer_to_image(commands, from, other, GENERAL, &[*last]);
        });
        gpu.labelled(commands, "copy", COLOUR, || {
            barrier(device, commands, (transfer, write), (transfer, Access::TRANSFER_READ | write));
            let region = vk::ImageCopy {
                src_subresource: part(0, 0),
                dst_subresource: part(0, 1),
                extent: SIZE.into(),
                ..Default::default()
            };
            device.cmd_copy_image(commands, other, GENERAL, texture, GENERAL, &[region]);
            barrier(device, commands, (transfer, write), (DRAWN, Access::SHADER_READ));
        });
    })?;
    let info = vk::ImageViewCreateInfo::default()
        .image(texture)
        .view_type(vk::ImageViewType::TYPE_2D_ARRAY)
        .format(format)
        .subresource_range(all);
    let view = gpu.adopt(unsafe { gpu.device.create_image_view(&info, None) }?, &format!("{name} view"));
    Ok(Image { handle: texture, view })
}

/// Where blocks come from.
enum Source {
    /// A buffer that has them.
    Written(Buffer),
    /// The host's, by way of the device's.
    Copied(Buffer, Buffer),
}

fn source(gpu: &Gpu, n: usize, data: &[u8]) -> Result<Source> {
    let (size, from) = (data.len() as u64, vk::BufferUsageFlags::TRANSFER_SRC);
    if n == 0 {
        return Ok(Source::Written(written(gpu, size)?));
    }
    let host = gpu.host_buffer("blocks", size, from)?;
    host.write(data);
    if n.is_multiple_of(2) {
        return Ok(Source::Written(host));
    }
    Ok(Source::Copied(
        host,
        gpu.device_buffer("blocks copy", size, from | vk::BufferUsageFlags::TRANSFER_DST)?,
    ))
}

/// Blocks that a compute shader writes.
fn written(gpu: &Gpu, size: u64) -> Result<Buffer> {
    let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::STORAGE_BUFFER;
    let buffer = gpu.device_buffer("written blocks", size, usage)?;
    let layout =
        gpu.layout("blocks", &[(vk::DescriptorType::STORAGE_BUFFER, vk::ShaderStageFlags::COMPUTE)], None)?;
    let pipeline = gpu.compute_pipeline("blocks", spirv!("blocks.comp"), &layout)?;
    let set = tracing::only_set(gpu, &layout, &[Resource::Buffer(buffer.whole())])?;
    gpu.run_once("write blocks", |device, commands| unsafe {
        let point = vk::PipelineBindPoint::COMPUTE;
        device.cmd_bind_pipeline(commands, point, pipeline);
        device.cmd_bind_descriptor_sets(commands, point, layout.pipeline, 0, &[set], &[]);
        device.cmd_dispatch(commands, (size / 4).div_ceil(64) as u32, 1, 1);
    })?;
    Ok(buffer)
}

struct Running {
    commands: Vec<Slot>,
    change: vk::CommandBuffer,
    changing: Buffer,
    pipeline: vk::Pipeline,
    set: vk::DescriptorSet,
    layout: Layout,
    pass: vk::RenderPass,
    framebuffers: Vec<vk::Framebuffer>,
}

impl Show for Running {
    fn record(&mut self, gpu: &Gpu, frame: Frame) -> Result<Vec<vk::CommandBuffer>> {
        let (pool, commands) = self.commands[frame.slot];
        unsafe {
            gpu.device.queue_wait_idle(gpu.queue)?;
            gpu.device.reset_command_pool(pool, vk::CommandPoolResetFlags::empty())?;
        }
        let mut noise = Noise::new(1000 + u64::from(frame.number));
        let count = self.changing.size_bytes / 16;
        let data: Vec<u8> = (0..count).flat_map(|_| block(CHANGES, &mut noise)).collect();
        self.changing.write(&data);
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(self.pass)
            .framebuffer(self.framebuffers[frame.image])
            .render_area(EXTENT.into());
        gpu.record(commands, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT, |device| {
            gpu.labelled(commands, "show", COLOUR, || unsafe {
                let (point, layout) = (vk::PipelineBindPoint::GRAPHICS, self.layout.pipeline);
                device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
                device.cmd_bind_pipeline(commands, point, self.pipeline);
                cover(device, commands, EXTENT);
                device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[self.set], &[]);
                device.cmd_draw(commands, 3, 1, 0, 0);
                device.cmd_end_render_pass(commands);
            });
        })?;
        Ok(vec![self.change, commands])
    }
}

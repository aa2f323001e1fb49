//! `formats`: images of formats that not every device has: depth of 24 bits with and without stencil, three channels of 32 bits, and
//! channels of 4, 5 and 6 bits.
//!
//! | label | when | what |
//! |---|---|---|
//! | `lasting` | before the first frame | depths, three channels and packed channels, from a buffer |
//! | `upload` | each frame | depth and stencil in one copy, from a buffer that the host writes anew; an image is cleared |
//! | `draw` | each frame | four draws that test and write depth and stencil, to 4 bits a channel |
//! | `copy out` | each frame | all of it, to a buffer: depth and stencil in one copy, rows that are longer |
//! | `mix` | each frame | that buffer, by a pipeline and push constants which were set before `copy out` |
//! | `show` | each frame | images as they are sampled, and what was copied out |
//!
//! Made for devices without these formats: a test says what colour each pixel has.

mod content;

use ash::vk;

use super::barriers::{Access, Stage, barrier};
use super::{Frame, Scene, Show, Slot, frame_slots, tracing};
use crate::error::Result;
use crate::gpu::pipeline::{Graphics, Layout, Resource, cover};
use crate::gpu::swapchain::Swapchain;
use crate::gpu::{Buffer, Colour, Gpu, Image, ImageUse};
use content::{BAND, CLEARED, DRAWS, Part, REFERENCE, ROWS, SIDE, TEXELS, UNTOUCHED, first};

const EXTENT: vk::Extent2D = vk::Extent2D { width: 272, height: SIDE };
const SIZE: vk::Extent2D = vk::Extent2D { width: SIDE, height: SIDE };
const COLOUR: Colour = [0.3, 0.5, 0.7];
const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;
const DEPTH: vk::ImageAspectFlags = vk::ImageAspectFlags::DEPTH;
const STENCIL: vk::ImageAspectFlags = vk::ImageAspectFlags::STENCIL;
const PLAIN: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;

/// The scene.
pub struct Formats;

impl Scene for Formats {
    fn name(&self) -> &'static str {
        "formats"
    }

    fn about(&self) -> &'static str {
        "depth of 24 bits, three channels and packed channels: uploaded, drawn, sampled and copied out"
    }

    fn frames(&self) -> u32 {
        3
    }

    fn extent(&self) -> vk::Extent2D {
        EXTENT
    }

    fn pictured(&self) -> &'static [u32] {
        &[1, 3]
    }

    fn build(&self, gpu: &Gpu, swapchain: &Swapchain) -> Result<Box<dyn Show>> {
        Ok(Box::new(Running::new(gpu, swapchain)?))
    }
}

/// A region of a copy between a buffer and all of an image.
fn region(aspect: vk::ImageAspectFlags, offset: u64, row: u32) -> vk::BufferImageCopy {
    vk::BufferImageCopy {
        buffer_offset: offset,
        buffer_row_length: row,
        image_subresource: vk::ImageSubresourceLayers {
            aspect_mask: aspect,
            layer_count: 1,
            ..Default::default()
        },
        image_extent: SIZE.into(),
        ..Default::default()
    }
}

/// Where a part is copied to, with rows of so many texels.
fn out(aspect: vk::ImageAspectFlags, part: Part, row: u32) -> vk::BufferImageCopy {
    region(aspect, u64::from(first(part)) * 4, row)
}

fn bytes<T: Copy, const N: usize>(all: &[T], of: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    all.iter().flat_map(|v| of(*v)).collect()
}

struct Running {
    commands: Vec<Slot>,
    /// What the host writes, by slot.
    uploads: Vec<Buffer>,
    deep: Image,
    shallow: Image,
    vector: Image,
    cleared: Image,
    bits: Image,
    drawn: Image,
    copied: Buffer,
    drawing: (vk::Pipeline, vk::PipelineLayout, vk::RenderPass, vk::Framebuffer),
    mixing: (vk::Pipeline, Layout, vk::DescriptorSet),
    showing: (vk::Pipeline, Layout, vk::DescriptorSet, vk::RenderPass),
    framebuffers: Vec<vk::Framebuffer>,
}

impl Running {
    fn new(gpu: &Gpu, swapchain: &Swapchain) -> Result<Self> {
        use vk::{Format as F, ImageUsageFlags as U};
        let image = |name: &str, format, usage, aspect| {
            let usage = usage | U::SAMPLED | U::TRANSFER_SRC;
            gpu.image(name, &ImageUse { format, extent: SIZE, usage, aspect })
        };
        let filled = U::TRANSFER_DST;
        let deep =
            image("deep", F::D24_UNORM_S8_UINT, filled | U::DEPTH_STENCIL_ATTACHMENT, DEPTH | STENCIL)?;
        let shallow = image("shallow", F::X8_D24_UNORM_PACK32, filled, DEPTH)?;
        let vector = image("vector", F::R32G32B32_SFLOAT, filled, PLAIN)?;
        let cleared = image("cleared", F::R32G32B32_SFLOAT, filled, PLAIN)?;
        let bits = image("bits", F::B5G6R5_UNORM_PACK16, filled, PLAIN)?;
        let drawn = image("drawn", F::B4G4R4A4_UNORM_PACK16, U::COLOR_ATTACHMENT, PLAIN)?;
        lasting(gpu, [&shallow, &vector, &bits], &[&deep, &cleared, &drawn])?;

        let uploads = (0..super::SLOTS)
            .map(|_| gpu.host_buffer("upload", u64::from(TEXELS) * 5, vk::BufferUsageFlags::TRANSFER_SRC))
            .collect::<Result<_>>()?;
        let words = u64::from(first(Part::End)) * 4;
        let storage = vk::BufferUsageFlags::STORAGE_BUFFER;
        let usage = storage | vk::BufferUsageFlags::TRANSFER_DST | vk::BufferUsageFlags::TRANSFER_SRC;
        let copied = gpu.device_buffer("copied", words, usage)?;
        let mixed = gpu.device_buffer("mixed", words, storage | vk::BufferUsageFlags::TRANSFER_SRC)?;

        let kind = (vk::DescriptorType::STORAGE_BUFFER, vk::ShaderStageFlags::COMPUTE);
        let push = vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(12);
        let layout = gpu.layout("mix", &[kind; 2], Some(push))?;
        let pipeline = gpu.compute_pipeline("mix", spirv!("mix.comp"), &layout)?;
        let resources = [copied.whole(), mixed.whole()].map(Resource::Buffer);
        let set = tracing::only_set(gpu, &layout, &resources)?;
        let mixing = (pipeline, layout, set);

        let sampled = (vk::DescriptorType::COMBINED_IMAGE_SAMPLER, vk::ShaderStageFlags::FRAGMENT);
        let mut kinds = vec![sampled; 7];
        kinds.push((vk::DescriptorType::STORAGE_BUFFER, vk::ShaderStageFlags::FRAGMENT));
        let push = vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::VERTEX).size(20);
        let layout = gpu.layout("show", &kinds, Some(push))?;
        let info = vk::SamplerCreateInfo::default();
        let sampler = gpu.adopt(unsafe { gpu.device.create_sampler(&info, None) }?, "sampler");
        let depth = gpu.view("depth", deep.handle, F::D24_UNORM_S8_UINT, DEPTH)?;
        let stencil = gpu.view("stencil", deep.handle, F::D24_UNORM_S8_UINT, STENCIL)?;
        let views = [drawn.view, depth, stencil, shallow.view, vector.view, cleared.view, bits.view];
        let mut resources: Vec<Resource> = views
            .into_iter()
            .map(|v| vk::DescriptorImageInfo::default().image_view(v).image_layout(GENERAL).sampler(sampler))
            .map(Resource::Image)
            .collect();
        resources.push(Resource::Buffer(mixed.whole()));
        // Every pixel is drawn, so that nothing is loaded or cleared.
        let pass = gpu.present_pass(swapchain, vk::AttachmentLoadOp::DONT_CARE, "show")?;
        let (vertex, fragment) = (spirv!("screen.vert"), spirv!("show.frag"));
        let about = Graphics { vertex, fragment, vertices: None, depth: false, layout: &layout, pass };
        let pipeline = gpu.graphics_pipeline("show", &about)?;
        let set = tracing::only_set(gpu, &layout, &resources)?;
        Ok(Self {
            commands: frame_slots(gpu)?,
            uploads,
            drawing: drawing(gpu, &drawn, &deep)?,
            deep,
            shallow,
            vector,
            cleared,
            bits,
            drawn,
            copied,
            mixing,
            showing: (pipeline, layout, set, pass),
            framebuffers: gpu.present_framebuffers(swapchain, pass, "framebuffer")?,
        })
    }

    /// Draws over what was uploaded.
    fn draw(&self, gpu: &Gpu, commands: vk::CommandBuffer) {
        let (pipeline, layout, pass, framebuffer) = self.drawing;
        let device = &gpu.device;
        let clears =
            [vk::ClearValue { color: vk::ClearColorValue { float32: CLEARED.map(|c| c as f32 / 15.0) } }];
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(pass)
            .framebuffer(framebuffer)
            .render_area(SIZE.into())
            .clear_values(&clears);
        unsafe {
            device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
            device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
            cover(device, commands, SIZE);
            for (y, (colour, depth)) in (0..).step_by(BAND as usize).zip(DRAWS) {
                let band = vk::Rect2D {
                    offset: vk::Offset2D { x: 0, y },
                    extent: vk::Extent2D { height: BAND, ..SIZE },
                };
                device.cmd_set_scissor(commands, 0, &[band]);
                let [r, g, b, a] = colour.map(|c| c as f32 / 15.0);
                let stages = vk::ShaderStageFlags::VERTEX | vk::ShaderStageFlags::FRAGMENT;
                let pushed = bytes(&[r, g, b, a, depth], f32::to_le_bytes);
                device.cmd_push_constants(commands, layout, stages, 0, &pushed);
                device.cmd_draw(commands, 3, 1, 0, 0);
            }
            device.cmd_end_render_pass(commands);
        }
    }

    /// Copies all of it out.
    fn copy_out(&self, gpu: &Gpu, commands: vk::CommandBuffer) {
        let copy = |image: &Image, regions: &[vk::BufferImageCopy]| unsafe {
            gpu.device.cmd_copy_image_to_buffer(commands, image.handle, GENERAL, self.copied.handle, regions);
        };
        copy(&self.deep, &[out(DEPTH, Part::Depth, ROWS[0]), out(STENCIL, Part::Stencil, 0)]);
        copy(&self.shallow, &[out(DEPTH, Part::Shallow, 0)]);
        copy(&self.vector, &[out(PLAIN, Part::Vector, ROWS[1])]);
        copy(&self.cleared, &[out(PLAIN, Part::Cleared, 0)]);
        copy(&self.bits, &[out(PLAIN, Part::Bits, 0)]);
        copy(&self.drawn, &[out(PLAIN, Part::Drawn, 0)]);
    }
}

/// Uploads what stays, and brings the other images to their layout.
fn lasting(gpu: &Gpu, [shallow, vector, bits]: [&Image; 3], others: &[&Image; 3]) -> Result<()> {
    let (depths, floats, packed) = content::lasting();
    let parts = [
        // (copies begin at multiples of a texel, of which this has twelve bytes)
        bytes(&floats, f32::to_le_bytes),
        bytes(&depths, u32::to_le_bytes),
        bytes(&packed, u16::to_le_bytes),
    ];
    let data = parts.concat();
    let source = gpu.host_buffer("lasting", data.len() as u64, vk::BufferUsageFlags::TRANSFER_SRC)?;
    source.write(&data);
    gpu.run_once("lasting", |device, commands| unsafe {
        let aspects = [DEPTH, PLAIN, PLAIN, DEPTH | STENCIL, PLAIN, PLAIN];
        let all = [shallow, vector, bits].into_iter().chain(others.iter().copied()).zip(aspects);
        let barriers: Vec<_> = all
            .map(|(image, aspect)| {
                let range = vk::ImageSubresourceRange::default().aspect_mask(aspect);
                vk::ImageMemoryBarrier::default()
                    .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                    .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                    .image(image.handle)
                    .subresource_range(range.level_count(1).layer_count(1))
                    .new_layout(GENERAL)
                    .dst_access_mask(Access::TRANSFER_WRITE)
            })
            .collect();
        let none = vk::DependencyFlags::empty();
        let (top, copies) = (Stage::TOP_OF_PIPE, Stage::TRANSFER);
        device.cmd_pipeline_barrier(commands, top, copies, none, &[], &[], &barriers);
        gpu.labelled(commands, "lasting", COLOUR, || {
            let mut offset = 0;
            for ((image, aspect), part) in
                [vector, shallow, bits].into_iter().zip([PLAIN, DEPTH, PLAIN]).zip(&parts)
            {
                let regions = [region(aspect, offset, 0)];
                device.cmd_copy_buffer_to_image(commands, source.handle, image.handle, GENERAL, &regions);
                offset += part.len() as u64;
            }
        });
    })
}

/// What draws to `drawn` with `deep`.
fn drawing(
    gpu: &Gpu,
    drawn: &Image,
    deep: &Image,
) -> Result<(vk::Pipeline, vk::PipelineLayout, vk::RenderPass, vk::Framebuffer)> {
    let (load, store) = (vk::AttachmentLoadOp::LOAD, vk::AttachmentStoreOp::STORE);
    let attachment = vk::AttachmentDescription::default()
        .samples(vk::SampleCountFlags::TYPE_1)
        .store_op(store)
        .initial_layout(GENERAL)
        .final_layout(GENERAL);
    let attachments = [
        attachment.format(vk::Format::B4G4R4A4_UNORM_PACK16).load_op(vk::AttachmentLoadOp::CLEAR),
        attachment
            .format(vk::Format::D24_UNORM_S8_UINT)
            .load_op(load)
            .stencil_load_op(load)
            .stencil_store_op(store),
    ];
    let colour = [vk::AttachmentReference { attachment: 0, layout: GENERAL }];
    let depth = vk::AttachmentReference { attachment: 1, layout: GENERAL };
    let subpasses = [vk::SubpassDescription::default()
        .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
        .color_attachments(&colour)
        .depth_stencil_attachment(&depth)];
    let info = vk::RenderPassCreateInfo::default().attachments(&attachments).subpasses(&subpasses);
    let pass = gpu.adopt(unsafe { gpu.device.create_render_pass(&info, None) }?, "draw");
    let views = [drawn.view, deep.view];
    let info = vk::FramebufferCreateInfo::default()
        .render_pass(pass)
        .attachments(&views)
        .width(SIDE)
        .height(SIDE)
        .layers(1);
    let framebuffer = gpu.adopt(unsafe { gpu.device.create_framebuffer(&info, None) }?, "draw");

    let stages = vk::ShaderStageFlags::VERTEX | vk::ShaderStageFlags::FRAGMENT;
    let push = [vk::PushConstantRange::default().stage_flags(stages).size(20)];
    let layout = gpu.pipeline_layout("draw", &[], &push)?;
    let stages = [
        gpu.stage(spirv!("screen.vert"), vk::ShaderStageFlags::VERTEX)?,
        gpu.stage(spirv!("plain.frag"), vk::ShaderStageFlags::FRAGMENT)?,
    ];
    let input = vk::PipelineVertexInputStateCreateInfo::default();
    let assembly =
        vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);
    let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
    let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
    let samples =
        vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
    let stencil = vk::StencilOpState {
        pass_op: vk::StencilOp::INCREMENT_AND_WRAP,
        depth_fail_op: vk::StencilOp::INVERT,
        compare_op: vk::CompareOp::LESS,
        compare_mask: 0xFF,
        write_mask: 0xFF,
        reference: REFERENCE,
        ..Default::default()
    };
    let depth = vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(true)
        .depth_write_enable(true)
        .depth_compare_op(vk::CompareOp::LESS)
        .stencil_test_enable(true)
        .front(stencil)
        .back(stencil);
    let attachments =
        [vk::PipelineColorBlendAttachmentState::default().color_write_mask(vk::ColorComponentFlags::RGBA)];
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&attachments);
    let dynamic = vk::PipelineDynamicStateCreateInfo::default()
        .dynamic_states(&[vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR]);
    let info = vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&input)
        .input_assembly_state(&assembly)
        .viewport_state(&viewport)
        .rasterization_state(&raster)
        .multisample_state(&samples)
        .depth_stencil_state(&depth)
        .color_blend_state(&blend)
        .dynamic_state(&dynamic)
        .layout(layout)
        .render_pass(pass);
    let made = unsafe { gpu.device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None) };
    Ok((gpu.adopt(made.map_err(|e| e.1)?[0], "draw"), layout, pass, framebuffer))
}

impl Show for Running {
    fn record(&mut self, gpu: &Gpu, frame: Frame) -> Result<Vec<vk::CommandBuffer>> {
        let (pool, commands) = self.commands[frame.slot];
        unsafe { gpu.device.reset_command_pool(pool, vk::CommandPoolResetFlags::empty()) }?;
        let (depths, stencil) = content::changing(frame.number);
        let upload = &self.uploads[frame.slot];
        upload.write(&[bytes(&depths, u32::to_le_bytes), stencil].concat());
        gpu.record(commands, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT, |device| {
            let all = (Stage::ALL_COMMANDS, Access::MEMORY_READ | Access::MEMORY_WRITE);
            let wait = || barrier(device, commands, all, all);
            wait();
            gpu.labelled(commands, "upload", COLOUR, || unsafe {
                let regions = [region(DEPTH, 0, 0), region(STENCIL, u64::from(TEXELS) * 4, 0)];
                let (from, to) = (upload.handle, self.deep.handle);
                device.cmd_copy_buffer_to_image(commands, from, to, GENERAL, &regions);
                let colour = vk::ClearColorValue { float32: content::clear(frame.number) };
                let range = vk::ImageSubresourceRange::default().aspect_mask(PLAIN);
                let range = [range.level_count(1).layer_count(1)];
                device.cmd_clear_color_image(commands, self.cleared.handle, GENERAL, &colour, &range);
                device.cmd_fill_buffer(commands, self.copied.handle, 0, vk::WHOLE_SIZE, UNTOUCHED);
            });
            wait();
            gpu.labelled(commands, "draw", COLOUR, || self.draw(gpu, commands));
            let (pipeline, layout, set) = &self.mixing;
            let point = vk::PipelineBindPoint::COMPUTE;
            let told = [content::key(frame.number), first(Part::End), first(Part::Stencil)];
            unsafe {
                device.cmd_bind_pipeline(commands, point, *pipeline);
                device.cmd_bind_descriptor_sets(commands, point, layout.pipeline, 0, &[*set], &[]);
                let told = bytes(&told, u32::to_le_bytes);
                let compute = vk::ShaderStageFlags::COMPUTE;
                device.cmd_push_constants(commands, layout.pipeline, compute, 0, &told);
            }
            wait();
            gpu.labelled(commands, "copy out", COLOUR, || self.copy_out(gpu, commands));
            wait();
            gpu.labelled(commands, "mix", COLOUR, || unsafe {
                device.cmd_dispatch(commands, first(Part::End).div_ceil(64), 1, 1);
            });
            wait();
            let (pipeline, layout, set, pass) = &self.showing;
            let begin = vk::RenderPassBeginInfo::default()
                .render_pass(*pass)
                .framebuffer(self.framebuffers[frame.image])
                .render_area(EXTENT.into());
            gpu.labelled(commands, "show", COLOUR, || unsafe {
                let point = vk::PipelineBindPoint::GRAPHICS;
                device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
                device.cmd_bind_pipeline(commands, point, *pipeline);
                cover(device, commands, EXTENT);
                device.cmd_bind_descriptor_sets(commands, point, layout.pipeline, 0, &[*set], &[]);
                let vertex = vk::ShaderStageFlags::VERTEX;
                device.cmd_push_constants(commands, layout.pipeline, vertex, 0, &[0; 20]);
                device.cmd_draw(commands, 3, 1, 0, 0);
                device.cmd_end_render_pass(commands);
            });
        })?;
        Ok(vec![commands])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pictures_are_right() {
        for &frame in Formats.pictured() {
            let path = format!("{}/samples/formats_frame_{frame}.png", env!("CARGO_MANIFEST_DIR"));
            let (extent, pixels) = crate::picture::read_png(&path);
            assert_eq!(extent, EXTENT);
            for (at, rgb) in (0..).zip(pixels.chunks_exact(3)) {
                let (x, y) = (at % EXTENT.width, at / EXTENT.width);
                assert_eq!(rgb, content::expected::pixel(frame, x, y), "frame {frame}, {x} {y}");
            }
        }
    }
}

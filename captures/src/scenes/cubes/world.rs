//! The off-screen pass: every cube is drawn with depth into a linear image without an upper bound.
//!
//! The commands are recorded once a slot and submitted again each frame: what changes is what the buffers
//! hold. One colour and one depth image serve both slots; the pass's dependencies order the frames.

use ash::vk;

use super::mesh;
use crate::error::Result;
use crate::gpu::Colour;
use crate::gpu::pipeline::{Graphics, Layout, Resource, cover};
use crate::gpu::{Buffer, Gpu, Image, ImageUse};

/// How many cubes.
pub(super) const CUBES: u32 = 200;

/// The bytes of one cube in the buffer that the compute pass writes; `Cube` in `animate.comp`.
pub(super) const CUBE_BYTES: u64 = 256;

pub(super) const WORLD_COLOUR: Colour = [0.3, 0.6, 0.9];

/// Formats that every Vulkan device draws to, and in the first case blends and filters.
const COLOUR: vk::Format = vk::Format::R16G16B16A16_SFLOAT;
const DEPTH: vk::Format = vk::Format::D16_UNORM;

/// The cubes under one label.
const CUBES_A_BAND: u32 = 25;

/// The pass and what it draws.
pub struct World {
    layout: Layout,
    pipeline: vk::Pipeline,
    pass: vk::RenderPass,
    framebuffer: vk::Framebuffer,
    extent: vk::Extent2D,
    colour: Image,
    sampler: vk::Sampler,
    vertices: Buffer,
    indices: Buffer,
}

/// What the shaders read that differs from slot to slot.
pub struct Sources {
    /// The camera's uniform.
    pub camera: vk::DescriptorBufferInfo,
    /// The first cube; dynamic offsets reach the others.
    pub cube: vk::DescriptorBufferInfo,
}

impl World {
    /// Makes the pass, its images and its pipeline, and uploads the mesh.
    pub fn new(gpu: &Gpu, extent: vk::Extent2D) -> Result<Self> {
        let seen_by_both = vk::ShaderStageFlags::VERTEX | vk::ShaderStageFlags::FRAGMENT;
        let bindings = [
            (vk::DescriptorType::UNIFORM_BUFFER, seen_by_both),
            (vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC, vk::ShaderStageFlags::VERTEX),
        ];
        let layout = gpu.layout("world", &bindings, None)?;
        let pass = pass(gpu)?;
        let about = Graphics {
            vertex: spirv!("cube.vert"),
            fragment: spirv!("cube.frag"),
            vertices: Some((mesh::VERTEX_BYTES, &mesh::ATTRIBUTES)),
            depth: true,
            layout: &layout,
            pass,
        };
        let pipeline = gpu.graphics_pipeline("lit cube", &about)?;

        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::SAMPLED;
        let aspect = vk::ImageAspectFlags::COLOR;
        let colour = gpu.image("world colour", &ImageUse { format: COLOUR, extent, usage, aspect })?;
        let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
        let aspect = vk::ImageAspectFlags::DEPTH;
        let depth = gpu.image("world depth", &ImageUse { format: DEPTH, extent, usage, aspect })?;
        let views = [colour.view, depth.view];
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(pass)
            .attachments(&views)
            .width(extent.width)
            .height(extent.height)
            .layers(1);
        let framebuffer =
            gpu.adopt(unsafe { gpu.device.create_framebuffer(&info, None) }?, "world framebuffer");

        let info = vk::SamplerCreateInfo::default()
            .mag_filter(vk::Filter::LINEAR)
            .min_filter(vk::Filter::LINEAR)
            .address_mode_u(vk::SamplerAddressMode::CLAMP_TO_EDGE)
            .address_mode_v(vk::SamplerAddressMode::CLAMP_TO_EDGE)
            .address_mode_w(vk::SamplerAddressMode::CLAMP_TO_EDGE);
        let sampler = gpu.adopt(unsafe { gpu.device.create_sampler(&info, None) }?, "linear clamp");

        let (vertices, indices) = mesh::cube();
        Ok(Self {
            layout,
            pipeline,
            pass,
            framebuffer,
            extent,
            colour,
            sampler,
            vertices: gpu.filled_buffer("cube vertices", &vertices, vk::BufferUsageFlags::VERTEX_BUFFER)?,
            indices: gpu.filled_buffer("cube indices", &indices, vk::BufferUsageFlags::INDEX_BUFFER)?,
        })
    }

    /// The layout of the pass's descriptor sets.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The colour image as the next pass samples it.
    pub fn sampled(&self) -> vk::DescriptorImageInfo {
        vk::DescriptorImageInfo {
            sampler: self.sampler,
            image_view: self.colour.view,
            image_layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
        }
    }

    /// Records the pass for a slot, to be submitted any number of times.
    pub fn record(
        &self,
        gpu: &Gpu,
        slot: usize,
        descriptors: vk::DescriptorPool,
        sources: &Sources,
        commands: vk::CommandBuffer,
    ) -> Result<()> {
        let resources = [Resource::Buffer(sources.camera), Resource::Buffer(sources.cube)];
        let set = gpu.descriptor_set(&format!("world set {slot}"), descriptors, &self.layout, &resources)?;
        // No alpha where no cube is: the background shows there.
        let clear = [
            vk::ClearValue { color: vk::ClearColorValue { float32: [0.0; 4] } },
            vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth: 1.0, stencil: 0 } },
        ];
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(self.pass)
            .framebuffer(self.framebuffer)
            .render_area(self.extent.into())
            .clear_values(&clear);
        gpu.record(commands, vk::CommandBufferUsageFlags::empty(), |device| {
            gpu.labelled(commands, "world", WORLD_COLOUR, || unsafe {
                device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
                device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, self.pipeline);
                cover(device, commands, self.extent);
                device.cmd_bind_vertex_buffers(commands, 0, &[self.vertices.handle], &[0]);
                device.cmd_bind_index_buffer(commands, self.indices.handle, 0, vk::IndexType::UINT16);
                for first in (0..CUBES).step_by(CUBES_A_BAND as usize) {
                    let label = format!("band {}", first / CUBES_A_BAND);
                    gpu.labelled(commands, &label, WORLD_COLOUR, || {
                        (first..CUBES.min(first + CUBES_A_BAND))
                            .for_each(|cube| self.draw(device, commands, set, cube));
                    });
                }
                device.cmd_end_render_pass(commands);
            });
        })
    }

    /// One cube: its place in the buffer, and the mesh.
    fn draw(&self, device: &ash::Device, commands: vk::CommandBuffer, set: vk::DescriptorSet, cube: u32) {
        let (point, layout) = (vk::PipelineBindPoint::GRAPHICS, self.layout.pipeline);
        let offset = cube * CUBE_BYTES as u32;
        unsafe {
            device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[set], &[offset]);
            device.cmd_draw_indexed(commands, mesh::INDICES, 1, 0, 0, 0);
        }
    }
}

/// Colour is kept for the next pass, depth is not.
fn pass(gpu: &Gpu) -> Result<vk::RenderPass> {
    let cleared = vk::AttachmentDescription::default()
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .stencil_load_op(vk::AttachmentLoadOp::DONT_CARE)
        .stencil_store_op(vk::AttachmentStoreOp::DONT_CARE)
        .initial_layout(vk::ImageLayout::UNDEFINED);
    let attachments = [
        cleared
            .format(COLOUR)
            .store_op(vk::AttachmentStoreOp::STORE)
            .final_layout(vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL),
        cleared
            .format(DEPTH)
            .store_op(vk::AttachmentStoreOp::DONT_CARE)
            .final_layout(vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL),
    ];
    let colour =
        [vk::AttachmentReference { attachment: 0, layout: vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL }];
    let depth =
        vk::AttachmentReference { attachment: 1, layout: vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL };
    let subpasses = [vk::SubpassDescription::default()
        .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
        .color_attachments(&colour)
        .depth_stencil_attachment(&depth)];

    let output = vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT;
    let tests = vk::PipelineStageFlags::EARLY_FRAGMENT_TESTS | vk::PipelineStageFlags::LATE_FRAGMENT_TESTS;
    let colour_write = vk::AccessFlags::COLOR_ATTACHMENT_WRITE;
    let depth_access =
        vk::AccessFlags::DEPTH_STENCIL_ATTACHMENT_READ | vk::AccessFlags::DEPTH_STENCIL_ATTACHMENT_WRITE;
    let dependencies = [
        // After the frame before has sampled the colour and is done with the depth.
        vk::SubpassDependency::default()
            .src_subpass(vk::SUBPASS_EXTERNAL)
            .dst_subpass(0)
            .src_stage_mask(vk::PipelineStageFlags::FRAGMENT_SHADER | output | tests)
            .dst_stage_mask(output | tests)
            .src_access_mask(colour_write | vk::AccessFlags::DEPTH_STENCIL_ATTACHMENT_WRITE)
            .dst_access_mask(colour_write | depth_access),
        // Before the next pass samples the colour.
        vk::SubpassDependency::default()
            .src_subpass(0)
            .dst_subpass(vk::SUBPASS_EXTERNAL)
            .src_stage_mask(output)
            .dst_stage_mask(vk::PipelineStageFlags::FRAGMENT_SHADER)
            .src_access_mask(colour_write)
            .dst_access_mask(vk::AccessFlags::SHADER_READ),
    ];
    let info = vk::RenderPassCreateInfo::default()
        .attachments(&attachments)
        .subpasses(&subpasses)
        .dependencies(&dependencies);
    Ok(gpu.adopt(unsafe { gpu.device.create_render_pass(&info, None) }?, "world pass"))
}

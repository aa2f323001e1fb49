//! The scene's pipelines and passes: full-screen triangles in dynamic rendering.

use ash::vk;

use super::images::{Image, Use};
use crate::error::{Doing, Result};
use crate::gpu::Gpu;
use crate::gpu::pipeline::{Layout, Spirv};

/// What differs from pipeline to pipeline.
pub struct About<'a> {
    pub fragment: Spirv,
    pub layout: &'a Layout,
    pub colours: &'a [vk::Format],
    /// The format of depth and, if it has one, stencil.
    pub depth: vk::Format,
    pub samples: vk::SampleCountFlags,
    /// The test of depth, and whether what passes is written.
    pub test: Option<(vk::CompareOp, bool)>,
    /// The test of stencil against a dynamic reference, and what is done to what passes.
    pub stencil: Option<(vk::CompareOp, vk::StencilOp)>,
    /// Whether colours add to what is there.
    pub add: bool,
}

/// Push constants, `how.glsl`: a tint, the pixels that are drawn, the depth of the triangle.
pub const PUSH: vk::PushConstantRange = vk::PushConstantRange {
    stage_flags: vk::ShaderStageFlags::from_raw(
        vk::ShaderStageFlags::VERTEX.as_raw() | vk::ShaderStageFlags::FRAGMENT.as_raw(),
    ),
    offset: 0,
    size: 36,
};

/// The bytes of [`PUSH`].
pub fn push(tint: [f32; 4], area: vk::Rect2D, z: f32) -> Vec<u8> {
    let vk::Rect2D { offset, extent } = area;
    let area = [offset.x, offset.y, offset.x + extent.width as i32, offset.y + extent.height as i32];
    let mut bytes: Vec<u8> = tint.into_iter().flat_map(f32::to_le_bytes).collect();
    bytes.extend(area.into_iter().flat_map(i32::to_le_bytes));
    bytes.extend(z.to_le_bytes());
    bytes
}

/// Makes a pipeline with dynamic viewport, scissor and stencil reference.
pub fn pipeline(gpu: &Gpu, name: &str, vertex: Spirv, about: &About) -> Result<vk::Pipeline> {
    let stages = [
        gpu.stage(vertex, vk::ShaderStageFlags::VERTEX)?,
        gpu.stage(about.fragment, vk::ShaderStageFlags::FRAGMENT)?,
    ];
    let input = vk::PipelineVertexInputStateCreateInfo::default();
    let assembly =
        vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);
    let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
    let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
    let samples = vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(about.samples);
    let (compare, write) = about.test.unwrap_or((vk::CompareOp::ALWAYS, false));
    let (stencil_compare, pass) = about.stencil.unwrap_or((vk::CompareOp::ALWAYS, vk::StencilOp::KEEP));
    let face = vk::StencilOpState {
        fail_op: vk::StencilOp::KEEP,
        pass_op: pass,
        depth_fail_op: vk::StencilOp::KEEP,
        compare_op: stencil_compare,
        compare_mask: 0xff,
        write_mask: 0xff,
        reference: 0,
    };
    let depth = vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(about.test.is_some())
        .depth_write_enable(write)
        .depth_compare_op(compare)
        .stencil_test_enable(about.stencil.is_some())
        .front(face)
        .back(face);
    let blend = vk::PipelineColorBlendAttachmentState::default()
        .blend_enable(about.add)
        .src_color_blend_factor(vk::BlendFactor::ONE)
        .dst_color_blend_factor(vk::BlendFactor::ONE)
        .color_blend_op(vk::BlendOp::ADD)
        .src_alpha_blend_factor(vk::BlendFactor::ONE)
        .dst_alpha_blend_factor(vk::BlendFactor::ONE)
        .alpha_blend_op(vk::BlendOp::ADD)
        .color_write_mask(vk::ColorComponentFlags::RGBA);
    let blends = vec![blend; about.colours.len()];
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&[
        vk::DynamicState::VIEWPORT,
        vk::DynamicState::SCISSOR,
        vk::DynamicState::STENCIL_REFERENCE,
    ]);
    let stencil_format =
        if about.depth == vk::Format::D16_UNORM { vk::Format::UNDEFINED } else { about.depth };
    let mut rendering = vk::PipelineRenderingCreateInfo::default()
        .color_attachment_formats(about.colours)
        .depth_attachment_format(about.depth)
        .stencil_attachment_format(stencil_format);
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
        .layout(about.layout.pipeline)
        .push_next(&mut rendering);
    let made = unsafe { gpu.device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None) };
    let made = made.map_err(|(_, error)| error).doing(format!("making the pipeline '{name}'"))?[0];
    Ok(gpu.adopt(made, name))
}

/// What a pass draws to.
#[derive(Clone, Copy)]
pub struct Targets<'a> {
    pub colours: &'a [vk::ImageView],
    /// Where the only colour is resolved to.
    pub resolved: Option<vk::ImageView>,
    pub depth: Option<(vk::ImageView, bool)>,
    pub extent: vk::Extent2D,
    /// Whether what is there is kept; else it is of no interest.
    pub load: bool,
}

/// A view of an image's layer as [`Targets::depth`], with stencil if it has that.
pub fn depth_of(image: &Image, layer: usize) -> (vk::ImageView, bool) {
    (image.layers[layer], image.about.format != vk::Format::D16_UNORM)
}

/// Runs `body` in a pass.
pub fn within(
    rendering: &ash::khr::dynamic_rendering::Device,
    commands: vk::CommandBuffer,
    targets: &Targets,
    body: impl FnOnce(),
) {
    let attachment = |view, used: Use| {
        vk::RenderingAttachmentInfo::default()
            .image_view(view)
            .image_layout(used.layout)
            .load_op(if targets.load { vk::AttachmentLoadOp::LOAD } else { vk::AttachmentLoadOp::DONT_CARE })
            .store_op(vk::AttachmentStoreOp::STORE)
    };
    let colours: Vec<_> = targets
        .colours
        .iter()
        .map(|&view| {
            let colour = attachment(view, super::images::COLOUR);
            match targets.resolved {
                Some(to) => colour
                    .resolve_mode(vk::ResolveModeFlags::AVERAGE)
                    .resolve_image_view(to)
                    .resolve_image_layout(super::images::COLOUR.layout),
                None => colour,
            }
        })
        .collect();
    let depth = targets.depth.map(|(view, stencil)| (attachment(view, super::images::DEPTH), stencil));
    let mut info = vk::RenderingInfo::default()
        .render_area(targets.extent.into())
        .layer_count(1)
        .color_attachments(&colours);
    if let Some((depth, stencil)) = &depth {
        info = info.depth_attachment(depth);
        if *stencil {
            info = info.stencil_attachment(depth);
        }
    }
    unsafe { rendering.cmd_begin_rendering(commands, &info) };
    body();
    unsafe { rendering.cmd_end_rendering(commands) };
}

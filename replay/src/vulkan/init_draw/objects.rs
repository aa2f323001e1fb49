//! The objects of a load: the image that colours are read from, the pass, the pipeline, a framebuffer for each target.

use super::layer_bytes;
use super::owned::Owned;
use super::plan::{Plan, Shader, Source};
use crate::error::{Error, Kind, Result, Vk};
use crate::vulkan::ImageState;
use crate::vulkan::region::Region;
use ash::vk;

/// Push constants; `part.glsl` says what they are.
#[derive(Clone, Copy, Default)]
pub(super) struct Part {
    pub layer: u32,
    pub level: u32,
    pub first_byte: u32,
    pub row_texels: u32,
    pub encoding: u32,
    pub bit: u32,
}

impl Part {
    /// How many.
    pub const BYTES: u32 = 24;

    pub(super) fn bytes(self) -> Vec<u8> {
        let words = [self.layer, self.level, self.first_byte, self.row_texels, self.encoding, self.bit];
        words.iter().flat_map(|w| w.to_le_bytes()).collect()
    }
}

/// One mip level of one layer of the target.
pub(super) struct Target {
    pub framebuffer: vk::Framebuffer,
    pub extent: vk::Extent2D,
    pub part: Part,
    /// Where its descriptor begins in the staging buffer; none if an image is read.
    pub offset: Option<u32>,
}

/// A single-sample image that shaders read colours from, and the regions of it that are copied.
pub(super) struct Staged {
    pub image: ImageState,
    pub view: vk::ImageView,
    pub regions: Vec<Region>,
}

pub(super) fn staged_info(image: &ImageState, format: vk::Format) -> vk::ImageCreateInfo<'static> {
    vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(image.extent)
        .mip_levels(image.levels)
        .array_layers(image.layers)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::SAMPLED)
}

pub(super) fn staged(owned: &mut Owned<'_>, image: ImageState, regions: &[Region]) -> Result<Staged> {
    let info = vk::ImageViewCreateInfo::default()
        .image(image.live)
        .view_type(vk::ImageViewType::TYPE_2D_ARRAY)
        .format(image.format)
        .subresource_range(image.range());
    Ok(Staged { view: owned.view(&info)?, image, regions: regions.to_vec() })
}

/// The pass writes one aspect and keeps the other, unless nothing was ever in it.
pub(super) fn pass(owned: &mut Owned<'_>, image: &ImageState, shader: Shader) -> Result<vk::RenderPass> {
    use vk::AttachmentLoadOp as Load;
    let other = if image.layout == vk::ImageLayout::UNDEFINED { Load::DONT_CARE } else { Load::LOAD };
    let (load, stencil_load) = match shader {
        // Bits are only ever set: they begin as 0.
        Shader::Stencil => (other, Load::CLEAR),
        _ => (Load::DONT_CARE, other),
    };
    let depth = matches!(shader, Shader::Depth | Shader::Stencil);
    let layout = match depth {
        true => vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
        false => vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL,
    };
    let attachments = [vk::AttachmentDescription::default()
        .format(image.format)
        .samples(image.samples)
        .load_op(load)
        .store_op(vk::AttachmentStoreOp::STORE)
        .stencil_load_op(stencil_load)
        .stencil_store_op(vk::AttachmentStoreOp::STORE)
        .initial_layout(layout)
        .final_layout(layout)];
    let reference = [vk::AttachmentReference { attachment: 0, layout }];
    let subpass = vk::SubpassDescription::default().pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS);
    let subpasses = [match depth {
        true => subpass.depth_stencil_attachment(&reference[0]),
        false => subpass.color_attachments(&reference),
    }];
    owned.pass(&vk::RenderPassCreateInfo::default().attachments(&attachments).subpasses(&subpasses))
}

/// One binding that the fragment shader reads, and push constants.
pub(super) fn descriptors(
    owned: &mut Owned<'_>,
    ty: vk::DescriptorType,
) -> Result<(vk::DescriptorSet, vk::PipelineLayout)> {
    let stage = vk::ShaderStageFlags::FRAGMENT;
    let bindings = [vk::DescriptorSetLayoutBinding::default()
        .descriptor_type(ty)
        .descriptor_count(1)
        .stage_flags(stage)];
    let sets = [owned.set_layout(&vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings))?];
    let ranges = [vk::PushConstantRange { stage_flags: stage, offset: 0, size: Part::BYTES }];
    let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(&ranges);
    let layout = owned.layout(&info)?;
    let sizes = [vk::DescriptorPoolSize { ty, descriptor_count: 1 }];
    let pool = owned.descriptors(&vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes))?;
    let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&sets);
    // SAFETY: the pool has room for it.
    let set = unsafe { owned.device.allocate_descriptor_sets(&info) }.what("vkAllocateDescriptorSets")?[0];
    Ok((set, layout))
}

/// A committed module.
macro_rules! spirv {
    ($name:literal) => {
        &include_bytes!(concat!("shaders/", $name, ".spv"))[..]
    };
}

fn module(owned: &mut Owned<'_>, bytes: &[u8]) -> Result<vk::ShaderModule> {
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    owned.module(&vk::ShaderModuleCreateInfo::default().code(&words))
}

pub(super) fn pipeline(
    owned: &mut Owned<'_>,
    image: &ImageState,
    shader: Shader,
    layout: vk::PipelineLayout,
    pass: vk::RenderPass,
) -> Result<vk::Pipeline> {
    let fragment = match shader {
        Shader::Float => spirv!("float.frag"),
        Shader::Int => spirv!("int.frag"),
        Shader::Uint => spirv!("uint.frag"),
        Shader::Depth => spirv!("depth.frag"),
        Shader::Stencil => spirv!("stencil.frag"),
    };
    let stage = |stage, module| {
        vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(c"main")
    };
    let stages = [
        stage(vk::ShaderStageFlags::VERTEX, module(owned, spirv!("screen.vert"))?),
        stage(vk::ShaderStageFlags::FRAGMENT, module(owned, fragment)?),
    ];
    let input = vk::PipelineVertexInputStateCreateInfo::default();
    let assembly =
        vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);
    let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
    let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
    let samples = vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(image.samples);
    let always = vk::StencilOpState {
        fail_op: vk::StencilOp::REPLACE,
        pass_op: vk::StencilOp::REPLACE,
        depth_fail_op: vk::StencilOp::REPLACE,
        compare_op: vk::CompareOp::ALWAYS,
        compare_mask: 0xff,
        write_mask: 0, // dynamic
        reference: 0xff,
    };
    let depth_stencil = vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(shader == Shader::Depth)
        .depth_write_enable(shader == Shader::Depth)
        .depth_compare_op(vk::CompareOp::ALWAYS)
        .stencil_test_enable(shader == Shader::Stencil)
        .front(always)
        .back(always);
    let attachments =
        [vk::PipelineColorBlendAttachmentState::default().color_write_mask(vk::ColorComponentFlags::RGBA)];
    let colours = usize::from(!matches!(shader, Shader::Depth | Shader::Stencil));
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&attachments[..colours]);
    use vk::DynamicState as Dynamic;
    let mut states = vec![Dynamic::VIEWPORT, Dynamic::SCISSOR];
    if shader == Shader::Stencil {
        states.push(Dynamic::STENCIL_WRITE_MASK);
    }
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&states);
    let info = vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&input)
        .input_assembly_state(&assembly)
        .viewport_state(&viewport)
        .rasterization_state(&raster)
        .multisample_state(&samples)
        .depth_stencil_state(&depth_stencil)
        .color_blend_state(&blend)
        .dynamic_state(&dynamic)
        .layout(layout)
        .render_pass(pass);
    owned.pipeline(info)
}

/// A framebuffer for each layer of each region.
pub(super) fn targets(
    owned: &mut Owned<'_>,
    image: &ImageState,
    plan: Plan,
    regions: &[Region],
    pass: vk::RenderPass,
    align: u64,
) -> Result<Vec<Target>> {
    let mut targets = Vec::new();
    for r in regions {
        let extent = vk::Extent2D { width: r.image_extent.width, height: r.image_extent.height };
        let level = r.image_subresource.mip_level;
        for layer in 0..image.layers {
            let range = vk::ImageSubresourceRange {
                base_mip_level: level,
                level_count: 1,
                base_array_layer: layer,
                layer_count: 1,
                ..image.range()
            };
            let kind = match image.kind {
                vk::ImageType::TYPE_1D => vk::ImageViewType::TYPE_1D,
                _ => vk::ImageViewType::TYPE_2D,
            };
            let info = vk::ImageViewCreateInfo::default()
                .image(image.live)
                .view_type(kind)
                .format(image.format)
                .subresource_range(range);
            let views = [owned.view(&info)?];
            let info = vk::FramebufferCreateInfo::default()
                .render_pass(pass)
                .attachments(&views)
                .width(extent.width)
                .height(extent.height)
                .layers(1);
            let framebuffer = owned.framebuffer(&info)?;
            let mut part =
                Part { layer, level, row_texels: extent.width, encoding: plan.encoding, ..Part::default() };
            let mut offset = None;
            if let Source::Buffer(texel) = plan.source {
                let at = r.buffer_offset + u64::from(layer) * layer_bytes(r, texel);
                let begin = at / align * align;
                part.first_byte = (at - begin) as u32;
                offset =
                    Some(u32::try_from(begin).map_err(|_| {
                        Error::new(Kind::Unsupported, "contents of an image larger than 4 GiB")
                    })?);
            }
            targets.push(Target { framebuffer, extent, part, offset });
        }
    }
    Ok(targets)
}

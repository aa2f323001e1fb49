//! Shaders, descriptor sets and pipelines, for the few shapes that scenes share.
//!
//! Graphics pipelines have dynamic viewport and scissor, triangle lists, one colour attachment without
//! blending and one sample. A scene that wants more fills in the Vulkan structs itself.

use ash::vk;

use super::Gpu;
use crate::error::{Doing, Result};

/// A committed `.spv` and what to call its module.
#[derive(Clone, Copy)]
pub struct Spirv {
    /// The name of the GLSL source, which becomes the module's debug name.
    pub name: &'static str,
    /// The module's bytes.
    pub bytes: &'static [u8],
}

/// One binding of a descriptor set: what it is, and who reads it.
pub type Binding = (vk::DescriptorType, vk::ShaderStageFlags);

/// What one binding of a descriptor set points to.
#[derive(Clone, Copy)]
pub enum Resource {
    /// A buffer, or its part behind a dynamic offset.
    Buffer(vk::DescriptorBufferInfo),
    /// An image together with its sampler.
    Image(vk::DescriptorImageInfo),
    /// An acceleration structure.
    Structure(vk::AccelerationStructureKHR),
}

/// A layout of descriptors 0, 1, … together with a pipeline layout of just this set.
pub struct Layout {
    /// The set's layout.
    pub set: vk::DescriptorSetLayout,
    /// The pipeline's layout: this set, and the push constants asked for.
    pub pipeline: vk::PipelineLayout,
    kinds: Vec<vk::DescriptorType>,
}

impl Layout {
    /// A pipeline layout whose sets the scene makes, lays out and fills itself.
    pub fn of(set: vk::DescriptorSetLayout, pipeline: vk::PipelineLayout) -> Self {
        Self { set, pipeline, kinds: Vec::new() }
    }
}

/// What differs from one graphics pipeline to another.
pub struct Graphics<'a> {
    /// The vertex shader.
    pub vertex: Spirv,
    /// The fragment shader.
    pub fragment: Spirv,
    /// The bytes of one vertex, and the format and offset of each attribute; none without a vertex buffer.
    pub vertices: Option<(u32, &'a [(vk::Format, u32)])>,
    /// Whether to test and write depth.
    pub depth: bool,
    /// The layout.
    pub layout: &'a Layout,
    /// The pass whose first subpass it draws in.
    pub pass: vk::RenderPass,
}

impl Gpu {
    /// A descriptor set layout of these bindings, and a pipeline layout of it.
    pub fn layout(
        &self,
        name: &str,
        bindings: &[Binding],
        push: Option<vk::PushConstantRange>,
    ) -> Result<Layout> {
        let described: Vec<_> = (0..)
            .zip(bindings)
            .map(|(index, &(kind, stages))| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(index)
                    .descriptor_type(kind)
                    .descriptor_count(1)
                    .stage_flags(stages)
            })
            .collect();
        let set_info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&described);
        let set = unsafe { self.device.create_descriptor_set_layout(&set_info, None) }?;
        self.adopt(set, &format!("{name} set layout"));
        let sets = [set];
        let layout_info =
            vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(push.as_slice());
        let pipeline = unsafe { self.device.create_pipeline_layout(&layout_info, None) }?;
        self.adopt(pipeline, &format!("{name} pipeline layout"));
        Ok(Layout { set, pipeline, kinds: bindings.iter().map(|binding| binding.0).collect() })
    }

    /// A pool with room for `sets` sets of each of these layouts.
    pub fn descriptor_pool(&self, name: &str, sets: u32, layouts: &[&Layout]) -> Result<vk::DescriptorPool> {
        let mut sizes: Vec<vk::DescriptorPoolSize> = Vec::new();
        for &ty in layouts.iter().flat_map(|layout| &layout.kinds) {
            match sizes.iter_mut().find(|size| size.ty == ty) {
                Some(size) => size.descriptor_count += sets,
                None => sizes.push(vk::DescriptorPoolSize { ty, descriptor_count: sets }),
            }
        }
        let info =
            vk::DescriptorPoolCreateInfo::default().max_sets(sets * layouts.len() as u32).pool_sizes(&sizes);
        Ok(self.adopt(unsafe { self.device.create_descriptor_pool(&info, None) }?, name))
    }

    /// A set from the pool, with its bindings 0, 1, … pointing to `resources`.
    pub fn descriptor_set(
        &self,
        name: &str,
        pool: vk::DescriptorPool,
        layout: &Layout,
        resources: &[Resource],
    ) -> Result<vk::DescriptorSet> {
        let layouts = [layout.set];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        let set = unsafe { self.device.allocate_descriptor_sets(&info) }?[0];
        self.name(set, name);
        for ((binding, &kind), resource) in (0..).zip(&layout.kinds).zip(resources) {
            let write =
                vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding).descriptor_type(kind);
            let (buffer, image, structures);
            let mut structure;
            let write = match resource {
                Resource::Buffer(info) => {
                    buffer = [*info];
                    write.buffer_info(&buffer)
                }
                Resource::Image(info) => {
                    image = [*info];
                    write.image_info(&image)
                }
                Resource::Structure(handle) => {
                    structures = [*handle];
                    structure = vk::WriteDescriptorSetAccelerationStructureKHR::default()
                        .acceleration_structures(&structures);
                    write.descriptor_count(1).push_next(&mut structure)
                }
            };
            unsafe { self.device.update_descriptor_sets(&[write], &[]) };
        }
        Ok(set)
    }

    /// A compute pipeline with the entry point `main`.
    pub fn compute_pipeline(&self, name: &str, shader: Spirv, layout: &Layout) -> Result<vk::Pipeline> {
        let stage = self.stage(shader, vk::ShaderStageFlags::COMPUTE)?;
        let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout.pipeline);
        let made = unsafe { self.device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None) };
        let pipeline = made.map_err(|(_, error)| error).doing(format!("making the pipeline '{name}'"))?[0];
        Ok(self.adopt(pipeline, name))
    }

    /// A graphics pipeline with the entry points `main`.
    pub fn graphics_pipeline(&self, name: &str, about: &Graphics) -> Result<vk::Pipeline> {
        self.subpass_pipeline(name, about, 0)
    }

    /// The same for another subpass of its pass.
    pub fn subpass_pipeline(&self, name: &str, about: &Graphics, subpass: u32) -> Result<vk::Pipeline> {
        let stages = [
            self.stage(about.vertex, vk::ShaderStageFlags::VERTEX)?,
            self.stage(about.fragment, vk::ShaderStageFlags::FRAGMENT)?,
        ];
        let (mut buffers, mut attributes) = (Vec::new(), Vec::new());
        if let Some((stride, members)) = about.vertices {
            buffers.push(vk::VertexInputBindingDescription::default().stride(stride));
            attributes.extend((0..).zip(members).map(|(location, &(format, offset))| {
                vk::VertexInputAttributeDescription { location, binding: 0, format, offset }
            }));
        }
        let input = vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_binding_descriptions(&buffers)
            .vertex_attribute_descriptions(&attributes);
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
            .topology(vk::PrimitiveTopology::TRIANGLE_LIST);
        let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
        let raster = vk::PipelineRasterizationStateCreateInfo::default()
            .polygon_mode(vk::PolygonMode::FILL)
            // A triangle without a vertex buffer is one that covers the screen: it has no back to hide.
            .cull_mode(if about.vertices.is_some() {
                vk::CullModeFlags::BACK
            } else {
                vk::CullModeFlags::NONE
            })
            .front_face(vk::FrontFace::COUNTER_CLOCKWISE)
            .line_width(1.0);
        let samples = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let depth = vk::PipelineDepthStencilStateCreateInfo::default()
            .depth_test_enable(about.depth)
            .depth_write_enable(about.depth)
            .depth_compare_op(vk::CompareOp::LESS);
        let attachments =
            [vk::PipelineColorBlendAttachmentState::default()
                .color_write_mask(vk::ColorComponentFlags::RGBA)];
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
            .layout(about.layout.pipeline)
            .render_pass(about.pass)
            .subpass(subpass);
        let made = unsafe { self.device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None) };
        let pipeline = made.map_err(|(_, error)| error).doing(format!("making the pipeline '{name}'"))?[0];
        Ok(self.adopt(pipeline, name))
    }

    /// A shader as a stage of a pipeline.
    pub fn stage(
        &self,
        shader: Spirv,
        stage: vk::ShaderStageFlags,
    ) -> Result<vk::PipelineShaderStageCreateInfo<'static>> {
        let reading = format!("reading the shader '{}'", shader.name);
        let words = ash::util::read_spv(&mut std::io::Cursor::new(shader.bytes)).doing(&reading)?;
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        let module = self.adopt(unsafe { self.device.create_shader_module(&info, None) }?, shader.name);
        Ok(vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(c"main"))
    }
}

/// Sets viewport and scissor to all of a target.
pub fn cover(device: &ash::Device, commands: vk::CommandBuffer, extent: vk::Extent2D) {
    let viewport = vk::Viewport {
        x: 0.0,
        y: 0.0,
        width: extent.width as f32,
        height: extent.height as f32,
        min_depth: 0.0,
        max_depth: 1.0,
    };
    unsafe {
        device.cmd_set_viewport(commands, 0, &[viewport]);
        device.cmd_set_scissor(commands, 0, &[extent.into()]);
    }
}

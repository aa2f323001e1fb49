//! The scene's graphics pipelines: each put together in another way.

use std::ffi::CStr;

use ash::vk;

use crate::error::{Doing, Result};
use crate::gpu::Gpu;
use crate::gpu::pipeline::Spirv;

/// The entry points of `both`: vertex, fragment, compute.
pub(super) const BOTH: [&CStr; 3] = [c"corner", c"fill", c"count"];

type Stages = vk::ShaderStageFlags;
type Library = vk::GraphicsPipelineLibraryFlagsEXT;

/// What all of them have: triangles, one sample, one colour attachment, viewport and scissor set at draw time.
struct State {
    colours: [vk::PipelineColorBlendAttachmentState; 1],
}

impl State {
    fn new() -> Self {
        let mask = vk::ColorComponentFlags::RGBA;
        Self { colours: [vk::PipelineColorBlendAttachmentState::default().color_write_mask(mask)] }
    }

    fn raster() -> vk::PipelineRasterizationStateCreateInfo<'static> {
        vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0)
    }

    fn samples() -> vk::PipelineMultisampleStateCreateInfo<'static> {
        vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1)
    }

    fn viewport() -> vk::PipelineViewportStateCreateInfo<'static> {
        vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1)
    }

    fn dynamic() -> vk::PipelineDynamicStateCreateInfo<'static> {
        const STATES: [vk::DynamicState; 2] = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
        vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&STATES)
    }

    fn blend(&self) -> vk::PipelineColorBlendStateCreateInfo<'_> {
        vk::PipelineColorBlendStateCreateInfo::default().attachments(&self.colours)
    }
}

fn create(gpu: &Gpu, name: &str, info: vk::GraphicsPipelineCreateInfo) -> Result<vk::Pipeline> {
    let made = unsafe { gpu.device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None) };
    let pipeline = made.map_err(|(_, error)| error).doing(format!("making the pipeline '{name}'"))?[0];
    Ok(gpu.adopt(pipeline, name))
}

/// A whole pipeline of these stages; patches are of four corners.
fn whole(
    gpu: &Gpu,
    name: &str,
    stages: &[vk::PipelineShaderStageCreateInfo],
    topology: vk::PrimitiveTopology,
    (layout, pass): (vk::PipelineLayout, vk::RenderPass),
) -> Result<vk::Pipeline> {
    let state = State::new();
    let input = vk::PipelineVertexInputStateCreateInfo::default();
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(topology);
    let patches = vk::PipelineTessellationStateCreateInfo::default().patch_control_points(4);
    let (viewport, raster, samples) = (State::viewport(), State::raster(), State::samples());
    let (blend, dynamic) = (state.blend(), State::dynamic());
    let mut info = vk::GraphicsPipelineCreateInfo::default()
        .stages(stages)
        .viewport_state(&viewport)
        .rasterization_state(&raster)
        .multisample_state(&samples)
        .color_blend_state(&blend)
        .dynamic_state(&dynamic)
        .layout(layout)
        .render_pass(pass);
    if !stages.iter().any(|s| s.stage == Stages::MESH_EXT) {
        info = info.vertex_input_state(&input).input_assembly_state(&assembly);
    }
    if topology == vk::PrimitiveTopology::PATCH_LIST {
        info = info.tessellation_state(&patches);
    }
    create(gpu, name, info)
}

/// Vertex, both tessellation stages, geometry, fragment.
pub fn patch(gpu: &Gpu, target: (vk::PipelineLayout, vk::RenderPass)) -> Result<vk::Pipeline> {
    let stages = [
        gpu.stage(spirv!("patch.vert"), Stages::VERTEX)?,
        gpu.stage(spirv!("patch.tesc"), Stages::TESSELLATION_CONTROL)?,
        gpu.stage(spirv!("patch.tese"), Stages::TESSELLATION_EVALUATION)?,
        gpu.stage(spirv!("patch.geom"), Stages::GEOMETRY)?,
        gpu.stage(spirv!("cell.frag"), Stages::FRAGMENT)?,
    ];
    whole(gpu, "patch", &stages, vk::PrimitiveTopology::PATCH_LIST, target)
}

/// Task, mesh, fragment.
pub fn cells(gpu: &Gpu, target: (vk::PipelineLayout, vk::RenderPass)) -> Result<vk::Pipeline> {
    let stages = [
        gpu.stage(spirv!("cells.task"), Stages::TASK_EXT)?,
        gpu.stage(spirv!("cells.mesh"), Stages::MESH_EXT)?,
        gpu.stage(spirv!("cell.frag"), Stages::FRAGMENT)?,
    ];
    whole(gpu, "cells", &stages, vk::PrimitiveTopology::TRIANGLE_LIST, target)
}

/// Two entry points of the one module that has three.
pub fn both(
    gpu: &Gpu,
    module: vk::ShaderModule,
    target: (vk::PipelineLayout, vk::RenderPass),
) -> Result<vk::Pipeline> {
    let stage = vk::PipelineShaderStageCreateInfo::default().module(module);
    let [corner, fill, _] = BOTH;
    let stages = [stage.stage(Stages::VERTEX).name(corner), stage.stage(Stages::FRAGMENT).name(fill)];
    whole(gpu, "both", &stages, vk::PrimitiveTopology::TRIANGLE_LIST, target)
}

/// A stage whose module is no object: its words come with the pipeline.
pub fn inlined<'a>(
    info: &'a mut vk::ShaderModuleCreateInfo<'a>,
    stage: Stages,
) -> vk::PipelineShaderStageCreateInfo<'a> {
    vk::PipelineShaderStageCreateInfo::default().stage(stage).name(c"main").push_next(info)
}

/// A module's words.
pub fn words(spirv: Spirv) -> Result<Vec<u32>> {
    let reading = format!("reading the shader '{}'", spirv.name);
    ash::util::read_spv(&mut std::io::Cursor::new(spirv.bytes)).doing(reading)
}

/// Four libraries, of which two have a shader each, whose words they bring along; and the pipeline that they make.
pub fn linked(
    gpu: &Gpu,
    (layout, pass): (vk::PipelineLayout, vk::RenderPass),
    optimized: bool,
) -> Result<vk::Pipeline> {
    let state = State::new();
    let input = vk::PipelineVertexInputStateCreateInfo::default();
    let assembly =
        vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);
    let (viewport, raster, samples) = (State::viewport(), State::raster(), State::samples());
    let (blend, dynamic) = (state.blend(), State::dynamic());
    let (vertex, fragment) = (words(spirv!("all.vert"))?, words(spirv!("pushed.frag"))?);
    let mut vertex = vk::ShaderModuleCreateInfo::default().code(&vertex);
    let vertex = [inlined(&mut vertex, Stages::VERTEX)];
    let mut fragment = vk::ShaderModuleCreateInfo::default().code(&fragment);
    let fragment = [inlined(&mut fragment, Stages::FRAGMENT)];
    let keep = match optimized {
        true => vk::PipelineCreateFlags::RETAIN_LINK_TIME_OPTIMIZATION_INFO_EXT,
        false => vk::PipelineCreateFlags::empty(),
    };
    let part = |name: &str, what: Library, info: vk::GraphicsPipelineCreateInfo| {
        let mut library = vk::GraphicsPipelineLibraryCreateInfoEXT::default().flags(what);
        let flags = vk::PipelineCreateFlags::LIBRARY_KHR | keep;
        create(gpu, name, info.flags(flags).push_next(&mut library))
    };
    let empty = vk::GraphicsPipelineCreateInfo::default();
    let inside = empty.layout(layout).render_pass(pass);
    let parts = [
        part(
            "linked input",
            Library::VERTEX_INPUT_INTERFACE,
            empty.vertex_input_state(&input).input_assembly_state(&assembly),
        )?,
        part(
            "linked before",
            Library::PRE_RASTERIZATION_SHADERS,
            inside
                .stages(&vertex)
                .viewport_state(&viewport)
                .rasterization_state(&raster)
                .dynamic_state(&dynamic),
        )?,
        part(
            "linked fragment",
            Library::FRAGMENT_SHADER,
            inside.stages(&fragment).multisample_state(&samples),
        )?,
        part(
            "linked output",
            Library::FRAGMENT_OUTPUT_INTERFACE,
            empty.render_pass(pass).color_blend_state(&blend).multisample_state(&samples),
        )?,
    ];
    let mut libraries = vk::PipelineLibraryCreateInfoKHR::default().libraries(&parts);
    let flags = match optimized {
        true => vk::PipelineCreateFlags::LINK_TIME_OPTIMIZATION_EXT,
        false => vk::PipelineCreateFlags::empty(),
    };
    let name = if optimized { "linked, optimized" } else { "linked" };
    create(gpu, name, empty.layout(layout).flags(flags).push_next(&mut libraries))
}

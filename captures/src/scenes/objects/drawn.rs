//! A draw by shader objects: all of the state that a pipeline would hold is set by commands.

use ash::vk;

use crate::error::{Doing, Result};
use crate::gpu::pipeline::{Resource, Spirv};
use crate::gpu::sets::slot;
use crate::gpu::{Buffer, Gpu};

pub(super) const TILE: u32 = 16;
pub(super) const EXTENT: vk::Extent2D = vk::Extent2D { width: 4 * TILE, height: TILE };

/// What each tile's block always says.
pub(super) const ALWAYS: [u32; 4] = [10, 20, 30, 40];

/// Which tile it is.
const AT: u32 = 3;

const STAGES: [vk::ShaderStageFlags; 2] = [vk::ShaderStageFlags::VERTEX, vk::ShaderStageFlags::FRAGMENT];

/// The block's words in a frame.
pub(super) fn words(frame: u32) -> [u32; 4] {
    [7 * frame, ALWAYS[AT as usize], frame, 0]
}

/// Records the tile of a vertex and a fragment shader object, which draw to `view`.
pub(super) fn drawn(
    gpu: &Gpu,
    block: &Buffer,
    view: vk::ImageView,
) -> Result<impl Fn(&Gpu, vk::CommandBuffer) + 'static> {
    let shaders = gpu.extension(ash::ext::shader_object::Device::new);
    let kind = vk::DescriptorType::UNIFORM_BUFFER;
    let layouts = [gpu.set_layout("drawn", &[slot(0, kind, 1, STAGES[1])])?];
    let layout = gpu.pipeline_layout("drawn", &layouts, &[])?;
    let pool = gpu.pool_of("drawn sets", 1, &[(kind, 1)])?;
    let set = gpu.empty_set("drawn", pool, layouts[0])?;
    gpu.write_set(set, (0, 0), kind, &[Resource::Buffer(block.whole())]);
    let objects = [
        shader(gpu, &shaders, "cover", (spirv!("cover.vert"), STAGES[0], STAGES[1]), &layouts)?,
        shader(
            gpu,
            &shaders,
            "flat",
            (spirv!("flat.frag"), STAGES[1], vk::ShaderStageFlags::empty()),
            &layouts,
        )?,
    ];
    let area = vk::Rect2D { offset: vk::Offset2D { x: (AT * TILE) as i32, y: 0 }, extent: EXTENT_OF_TILE };
    Ok(move |gpu: &Gpu, commands| {
        let colours = [vk::RenderingAttachmentInfo::default()
            .image_view(view)
            .image_layout(vk::ImageLayout::GENERAL)
            .load_op(vk::AttachmentLoadOp::LOAD)
            .store_op(vk::AttachmentStoreOp::STORE)];
        let whole = vk::Rect2D { offset: vk::Offset2D::default(), extent: EXTENT };
        let rendering =
            vk::RenderingInfo::default().render_area(whole).layer_count(1).color_attachments(&colours);
        unsafe {
            gpu.device.cmd_begin_rendering(commands, &rendering);
            state(&shaders, commands, area);
            shaders.cmd_bind_shaders(commands, &STAGES, &objects);
            let point = vk::PipelineBindPoint::GRAPHICS;
            gpu.device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[set], &[]);
            gpu.device.cmd_draw(commands, 3, 1, 0, 0);
            gpu.device.cmd_end_rendering(commands);
        }
    })
}

const EXTENT_OF_TILE: vk::Extent2D = vk::Extent2D { width: TILE, height: TILE };

/// Everything that a draw without vertices, depth and blending wants to be said.
unsafe fn state(to: &ash::ext::shader_object::Device, commands: vk::CommandBuffer, area: vk::Rect2D) {
    let viewport = vk::Viewport {
        x: area.offset.x as f32,
        y: area.offset.y as f32,
        width: area.extent.width as f32,
        height: area.extent.height as f32,
        min_depth: 0.0,
        max_depth: 1.0,
    };
    let one = vk::SampleCountFlags::TYPE_1;
    unsafe {
        to.cmd_set_viewport_with_count(commands, &[viewport]);
        to.cmd_set_scissor_with_count(commands, &[area]);
        to.cmd_set_rasterizer_discard_enable(commands, false);
        to.cmd_set_vertex_input(commands, &[], &[]);
        to.cmd_set_primitive_topology(commands, vk::PrimitiveTopology::TRIANGLE_LIST);
        to.cmd_set_primitive_restart_enable(commands, false);
        to.cmd_set_polygon_mode(commands, vk::PolygonMode::FILL);
        to.cmd_set_cull_mode(commands, vk::CullModeFlags::NONE);
        to.cmd_set_front_face(commands, vk::FrontFace::COUNTER_CLOCKWISE);
        to.cmd_set_rasterization_samples(commands, one);
        to.cmd_set_sample_mask(commands, one, &[u32::MAX]);
        to.cmd_set_alpha_to_coverage_enable(commands, false);
        to.cmd_set_depth_test_enable(commands, false);
        to.cmd_set_depth_write_enable(commands, false);
        to.cmd_set_depth_bias_enable(commands, false);
        to.cmd_set_stencil_test_enable(commands, false);
        to.cmd_set_color_blend_enable(commands, 0, &[vk::FALSE]);
        to.cmd_set_color_write_mask(commands, 0, &[vk::ColorComponentFlags::RGBA]);
    }
}

/// Makes a shader object: its code, its stage, and which may come next. It lives until the process ends: `Gpu` owns none.
pub(super) fn shader(
    gpu: &Gpu,
    shaders: &ash::ext::shader_object::Device,
    name: &str,
    (code, stage, next): (Spirv, vk::ShaderStageFlags, vk::ShaderStageFlags),
    layouts: &[vk::DescriptorSetLayout],
) -> Result<vk::ShaderEXT> {
    let info = vk::ShaderCreateInfoEXT::default()
        .stage(stage)
        .next_stage(next)
        .code_type(vk::ShaderCodeTypeEXT::SPIRV)
        .code(code.bytes)
        .name(c"main")
        .set_layouts(layouts);
    let made = unsafe { shaders.create_shaders(&[info], None) };
    let shader = made.map_err(|(_, error)| error).doing("making a shader object")?[0];
    gpu.name(shader, name);
    Ok(shader)
}

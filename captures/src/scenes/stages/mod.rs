//! `stages`: the stages and the ways into a pipeline that other scenes have not.
//!
//! | tile | what |
//! |---|---|
//! | 0 | vertex, tessellation control and evaluation, geometry, fragment |
//! | 1 | task, mesh, fragment |
//! | 2, 3 | pipeline libraries with the words of their shaders inlined, linked plainly and optimized; 256 bytes of push constants |
//! | 4 | one module with entry points of three stages; what two compute pipelines computed, one of them with constants that the pipeline sets (SpecIds 2000 to 2005), a workgroup size among them, and the Vulkan memory model, its words inlined |
//!
//! Not here, as the packaged capture layer (0.9.18) knows nothing of them: shader objects, and the 64-bit pipeline flags and
//! the null modules of VK_KHR_maintenance5 (inlined words it knows from pipeline libraries). Ray-tracing pipeline libraries are
//! in `rays`.

mod pipelines;

use std::ffi::CStr;

use ash::vk;

use super::barriers::{Access, Stage, barrier};
use super::{Frame, Scene, Show, frame_slots};
use crate::error::{Doing, Result};
use crate::gpu::pipeline::{Layout, Resource};
use crate::gpu::swapchain::Swapchain;
use crate::gpu::{Colour, Gpu, Needs};

/// The size of a tile.
const TILE: u32 = 64;
const TILES: u32 = 5;

const EXTENT: vk::Extent2D = vk::Extent2D { width: TILES * TILE, height: TILE };

/// The bytes of push constants.
const PUSHED: u32 = 256;

/// What the pipeline sets: a, b, odd, trips, c and the workgroup's size.
const NUMBERS: [u32; 6] = [3, 5, 1, 4, 2, 32];

const COLOUR: Colour = [0.6, 0.6, 0.2];

/// The scene.
pub struct Stages;

impl Scene for Stages {
    fn name(&self) -> &'static str {
        "stages"
    }

    fn about(&self) -> &'static str {
        "tessellation, geometry, task and mesh shaders; libraries; one module of many entry points; constants"
    }

    fn frames(&self) -> u32 {
        2
    }

    fn extent(&self) -> vk::Extent2D {
        EXTENT
    }

    fn pictured(&self) -> &'static [u32] {
        &[1, 2]
    }

    fn needs(&self) -> Needs {
        const EXTENSIONS: [&CStr; 3] = [
            ash::ext::mesh_shader::NAME,
            ash::khr::pipeline_library::NAME,
            ash::ext::graphics_pipeline_library::NAME,
        ];
        Needs {
            version: vk::API_VERSION_1_3,
            extensions: &EXTENSIONS,
            features: vk::PhysicalDeviceFeatures {
                geometry_shader: vk::TRUE,
                tessellation_shader: vk::TRUE,
                fragment_stores_and_atomics: vk::TRUE,
                ..Default::default()
            },
            more: Some(|| {
                vec![
                    Box::new(
                        vk::PhysicalDeviceMeshShaderFeaturesEXT::default()
                            .mesh_shader(true)
                            .task_shader(true),
                    ),
                    Box::new(
                        vk::PhysicalDeviceGraphicsPipelineLibraryFeaturesEXT::default()
                            .graphics_pipeline_library(true),
                    ),
                    Box::new(
                        vk::PhysicalDeviceVulkanMemoryModelFeatures::default()
                            .vulkan_memory_model(true)
                            .vulkan_memory_model_device_scope(true),
                    ),
                    Box::new(vk::PhysicalDeviceMaintenance4Features::default().maintenance4(true)),
                ]
            }),
            ..Needs::default()
        }
    }

    fn build(&self, gpu: &Gpu, swapchain: &Swapchain) -> Result<Box<dyn Show>> {
        Ok(Box::new(Running::new(gpu, swapchain)?))
    }
}

/// The scene with its objects.
struct Running {
    commands: Vec<(vk::CommandPool, vk::CommandBuffer)>,
    mesh: ash::ext::mesh_shader::Device,
    layout: Layout,
    set: vk::DescriptorSet,
    pass: vk::RenderPass,
    framebuffers: Vec<vk::Framebuffer>,
    /// In the order of their tiles.
    pipelines: [vk::Pipeline; TILES as usize],
    /// In the order of their dispatches.
    compute: [vk::Pipeline; 2],
}

const USERS: vk::ShaderStageFlags = vk::ShaderStageFlags::from_raw(
    vk::ShaderStageFlags::COMPUTE.as_raw() | vk::ShaderStageFlags::FRAGMENT.as_raw(),
);

impl Running {
    fn new(gpu: &Gpu, swapchain: &Swapchain) -> Result<Self> {
        let push = vk::PushConstantRange::default().stage_flags(USERS).size(PUSHED);
        let layout = gpu.layout("stages", &[(vk::DescriptorType::STORAGE_BUFFER, USERS)], Some(push))?;
        let pass = gpu.present_pass(swapchain, vk::AttachmentLoadOp::CLEAR, "present pass")?;
        let target = (layout.pipeline, pass);
        let words = pipelines::words(spirv!("both.spvasm"))?;
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        let both = gpu.adopt(unsafe { gpu.device.create_shader_module(&info, None) }?, "both.spvasm");
        let pipelines = [
            pipelines::patch(gpu, target)?,
            pipelines::cells(gpu, target)?,
            pipelines::linked(gpu, target, false)?,
            pipelines::linked(gpu, target, true)?,
            pipelines::both(gpu, both, target)?,
        ];
        let results = gpu.filled_buffer("results", &[0; 260], vk::BufferUsageFlags::STORAGE_BUFFER)?;
        let pool = gpu.descriptor_pool("descriptors", 1, &[&layout])?;
        Ok(Self {
            commands: frame_slots(gpu)?,
            mesh: gpu.mesh(),
            set: gpu.descriptor_set("stages set", pool, &layout, &[Resource::Buffer(results.whole())])?,
            framebuffers: gpu.present_framebuffers(swapchain, pass, "framebuffer")?,
            pass,
            pipelines,
            compute: compute(gpu, &layout, both)?,
            layout,
        })
    }

    fn dispatch(&self, gpu: &Gpu, commands: vk::CommandBuffer) {
        let device = &gpu.device;
        let (compute, fragment) = (Stage::COMPUTE_SHADER, Stage::FRAGMENT_SHADER);
        let (read, write) = (Access::SHADER_READ, Access::SHADER_WRITE);
        barrier(device, commands, (compute | fragment, read | write), (compute, read | write));
        for (pipeline, name) in self.compute.into_iter().zip(["numbers", "count"]) {
            gpu.labelled(commands, name, COLOUR, || unsafe {
                device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, pipeline);
                device.cmd_dispatch(commands, 2, 1, 1);
            });
            barrier(device, commands, (compute, write), (compute | fragment, read | write));
        }
    }

    fn draw(&self, gpu: &Gpu, commands: vk::CommandBuffer) {
        let device = &gpu.device;
        for (tile, pipeline) in (0u32..).zip(self.pipelines) {
            let x = tile * TILE;
            let area = vk::Rect2D {
                offset: vk::Offset2D { x: x as i32, y: 0 },
                extent: vk::Extent2D { width: TILE, height: TILE },
            };
            let (width, height) = (TILE as f32, TILE as f32);
            let viewport =
                vk::Viewport { x: x as f32, y: 0.0, width, height, min_depth: 0.0, max_depth: 1.0 };
            gpu.labelled(commands, &format!("tile {tile}"), COLOUR, || unsafe {
                device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
                device.cmd_set_viewport(commands, 0, &[viewport]);
                device.cmd_set_scissor(commands, 0, &[area]);
                match tile {
                    0 => device.cmd_draw(commands, 4, 1, 0, 0),
                    1 => self.mesh.cmd_draw_mesh_tasks(commands, 1, 1, 1),
                    _ => device.cmd_draw(commands, 3, 1, 0, 0),
                }
            });
        }
    }
}

/// The two compute pipelines: one whose words are inlined and whose constants it sets, one of the module of many stages.
fn compute(gpu: &Gpu, layout: &Layout, both: vk::ShaderModule) -> Result<[vk::Pipeline; 2]> {
    let values: Vec<u8> = NUMBERS.into_iter().flat_map(u32::to_le_bytes).collect();
    let entries: Vec<_> = (0..NUMBERS.len() as u32)
        .map(|n| vk::SpecializationMapEntry { constant_id: 2000 + n, offset: n * 4, size: 4 })
        .collect();
    let constants = vk::SpecializationInfo::default().map_entries(&entries).data(&values);
    let words = pipelines::words(spirv!("numbers.comp"))?;
    let mut module = vk::ShaderModuleCreateInfo::default().code(&words);
    let numbers = pipelines::inlined(&mut module, vk::ShaderStageFlags::COMPUTE);
    let numbers = numbers.specialization_info(&constants);
    let count = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(both)
        .name(pipelines::BOTH[2]);
    let infos = [numbers, count]
        .map(|stage| vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout.pipeline));
    // One call makes both.
    let made = unsafe { gpu.device.create_compute_pipelines(vk::PipelineCache::null(), &infos, None) };
    let made = made.map_err(|(_, error)| error).doing("making the compute pipelines")?;
    Ok([gpu.adopt(made[0], "numbers"), gpu.adopt(made[1], "count")])
}

/// The words of the push constants in a frame.
fn pushed(frame: u32) -> impl Iterator<Item = u32> {
    (0..PUSHED / 4).map(move |n| n + frame)
}

impl Show for Running {
    fn record(&mut self, gpu: &Gpu, frame: Frame) -> Result<Vec<vk::CommandBuffer>> {
        let (pool, commands) = self.commands[frame.slot];
        unsafe { gpu.device.reset_command_pool(pool, vk::CommandPoolResetFlags::empty()) }?;
        let clear = [vk::ClearValue { color: vk::ClearColorValue { float32: [0.2, 0.2, 0.2, 1.0] } }];
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(self.pass)
            .framebuffer(self.framebuffers[frame.image])
            .render_area(EXTENT.into())
            .clear_values(&clear);
        let layout = self.layout.pipeline;
        let push: Vec<u8> = pushed(frame.number).flat_map(u32::to_le_bytes).collect();
        gpu.record(commands, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT, |device| unsafe {
            device.cmd_push_constants(commands, layout, USERS, 0, &push);
            for point in [vk::PipelineBindPoint::COMPUTE, vk::PipelineBindPoint::GRAPHICS] {
                device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[self.set], &[]);
            }
            self.dispatch(gpu, commands);
            device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
            self.draw(gpu, commands);
            device.cmd_end_render_pass(commands);
        })?;
        Ok(vec![commands])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number that a pixel's colour is made of; none where nothing is drawn.
    fn number(frame: u32, tile: u32, x: u32, y: u32) -> Option<u32> {
        let cell = y / 16 * 4 + x / 16;
        let coloured = |cell: u32| cell + 1 + if cell.is_multiple_of(2) { 100 } else { 0 };
        match tile {
            0 => (cell % 3 != 2).then(|| coloured(cell)),
            1 => ((cell + cell / 4) % 2 == 1).then(|| coloured(cell)),
            2 | 3 => Some(x + frame + if x + frame >= 32 { 5 } else { 0 }),
            _ => {
                let own = if x.is_multiple_of(4) { 50 } else { x };
                Some(3 * 5 + 4 * 2 + x % 2 + own + if x >= 32 { 7 } else { 0 })
            }
        }
    }

    #[test]
    fn the_pictures_are_right() {
        for frame in Stages.pictured() {
            let path = format!("{}/samples/stages_frame_{frame}.png", env!("CARGO_MANIFEST_DIR"));
            let (extent, pixels) = crate::picture::read_png(&path);
            assert_eq!(extent, EXTENT);
            for (at, rgb) in (0..).zip(pixels.chunks_exact(3)) {
                let (x, y) = (at % EXTENT.width, at / EXTENT.width);
                let want = match number(*frame, x / TILE, x % TILE, y) {
                    Some(n) => [41, 23, 7].map(|factor| (n * factor) as u8),
                    None => [51; 3],
                };
                assert_eq!(rgb, want, "frame {frame}, pixel {x}, {y}");
            }
        }
    }
}

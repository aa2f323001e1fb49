//! `closed_fragment`: fragment shaders about which every number is known beforehand.
//!
//! Eight tiles of 64x64 pixels, a draw of one triangle each. Which fragments share a subgroup is the driver's affair; how
//! many take which way is not. Seven triangles reach so far around their tile that no fragment in it has a helper beside it; the
//! last one's edge runs through its tile, and through no pixel's centre.

use ash::vk;

use super::{Frame, Scene, Show, frame_slots};
use crate::error::Result;
use crate::gpu::pipeline::{Graphics, Layout, Spirv};
use crate::gpu::swapchain::Swapchain;
use crate::gpu::{Colour, Gpu, Needs};

/// The size of a tile.
const TILE: u32 = 64;

const EXTENT: vk::Extent2D = vk::Extent2D { width: 4 * TILE, height: 2 * TILE };

const COLOUR: Colour = [0.7, 0.5, 0.3];

/// The fragment shaders.
const SHADERS: [(&str, Spirv); 7] = [
    ("half", spirv!("half.frag")),
    ("regions", spirv!("regions.frag")),
    ("ways", spirv!("ways.frag")),
    ("loops", spirv!("loops.frag")),
    ("kills", spirv!("kills.frag")),
    ("demotes", spirv!("demotes.frag")),
    ("edge", spirv!("edge.frag")),
];

/// The draws of a frame: the shader, the shape, the way.
const DRAWS: [(usize, u32, u32); 8] =
    [(0, 0, 0), (1, 0, 0), (2, 0, 0), (2, 0, 1), (3, 0, 0), (4, 0, 0), (5, 0, 0), (6, 1, 0)];

/// The scene.
pub struct ClosedFragment;

impl Scene for ClosedFragment {
    fn name(&self) -> &'static str {
        "closed_fragment"
    }

    fn about(&self) -> &'static str {
        "fragment shaders whose coverage, divergence, discards and helpers are known beforehand"
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
        Needs {
            extensions: &[ash::ext::shader_demote_to_helper_invocation::NAME],
            more: Some(|| {
                vec![Box::new(
                    vk::PhysicalDeviceShaderDemoteToHelperInvocationFeatures::default()
                        .shader_demote_to_helper_invocation(true),
                )]
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
    layout: Layout,
    pass: vk::RenderPass,
    framebuffers: Vec<vk::Framebuffer>,
    pipelines: Vec<vk::Pipeline>,
}

impl Running {
    fn new(gpu: &Gpu, swapchain: &Swapchain) -> Result<Self> {
        let stages = vk::ShaderStageFlags::VERTEX | vk::ShaderStageFlags::FRAGMENT;
        let push = vk::PushConstantRange::default().stage_flags(stages).size(8);
        let layout = gpu.layout("closed", &[], Some(push))?;
        let pass = gpu.present_pass(swapchain, vk::AttachmentLoadOp::CLEAR, "present pass")?;
        let pipeline = |(name, fragment): &(&str, Spirv)| {
            let about = Graphics {
                vertex: spirv!("shape.vert"),
                fragment: *fragment,
                vertices: None,
                depth: false,
                layout: &layout,
                pass,
            };
            gpu.graphics_pipeline(name, &about)
        };
        let pipelines = SHADERS.iter().map(pipeline).collect::<Result<_>>()?;
        Ok(Self {
            commands: frame_slots(gpu)?,
            framebuffers: gpu.present_framebuffers(swapchain, pass, "framebuffer")?,
            layout,
            pass,
            pipelines,
        })
    }

    fn draw(&self, gpu: &Gpu, commands: vk::CommandBuffer) {
        let device = &gpu.device;
        for (tile, (shader, shape, way)) in (0u32..).zip(DRAWS) {
            let (x, y) = (tile % 4 * TILE, tile / 4 * TILE);
            let area = vk::Rect2D {
                offset: vk::Offset2D { x: x as i32, y: y as i32 },
                extent: vk::Extent2D { width: TILE, height: TILE },
            };
            let viewport = vk::Viewport {
                x: x as f32,
                y: y as f32,
                width: TILE as f32,
                height: TILE as f32,
                min_depth: 0.0,
                max_depth: 1.0,
            };
            let push: Vec<u8> = [shape, way].into_iter().flat_map(u32::to_le_bytes).collect();
            let stages = vk::ShaderStageFlags::VERTEX | vk::ShaderStageFlags::FRAGMENT;
            gpu.labelled(commands, SHADERS[shader].0, COLOUR, || unsafe {
                device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, self.pipelines[shader]);
                device.cmd_set_viewport(commands, 0, &[viewport]);
                device.cmd_set_scissor(commands, 0, &[area]);
                device.cmd_push_constants(commands, self.layout.pipeline, stages, 0, &push);
                device.cmd_draw(commands, 3, 1, 0, 0);
            });
        }
    }
}

impl Show for Running {
    fn record(&mut self, gpu: &Gpu, frame: Frame) -> Result<Vec<vk::CommandBuffer>> {
        let (pool, commands) = self.commands[frame.slot];
        unsafe { gpu.device.reset_command_pool(pool, vk::CommandPoolResetFlags::empty()) }?;
        let grey = 0.2 * frame.number as f32;
        let clear = [vk::ClearValue { color: vk::ClearColorValue { float32: [grey, grey, grey, 1.0] } }];
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(self.pass)
            .framebuffer(self.framebuffers[frame.image])
            .render_area(EXTENT.into())
            .clear_values(&clear);
        gpu.record(commands, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT, |device| unsafe {
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
    fn number(tile: u32, x: u32, y: u32) -> Option<u32> {
        Some(match tile {
            0 => [21, 31][x as usize % 2],
            1 if y < 32 => 21 + if x < 16 { 10 } else { 0 },
            1 => 1,
            2 => 41,
            3 => 21,
            4 => x % 4 * 30,
            5 if (x ^ y) % 2 == 1 => return None,
            5 => 3 + if y < 16 { 20 } else { 0 },
            6 if y % 2 == 1 => return None,
            6 => 6 + if x < 32 { 20 } else { 0 },
            _ if x + y > 31 => return None,
            _ => 7 + if x.is_multiple_of(2) { 20 } else { 0 },
        })
    }

    #[test]
    fn the_pictures_are_right() {
        for frame in ClosedFragment.pictured() {
            let path = format!("{}/samples/closed_fragment_frame_{frame}.png", env!("CARGO_MANIFEST_DIR"));
            let (extent, pixels) = crate::picture::read_png(&path);
            assert_eq!(extent, EXTENT);
            for (at, rgb) in (0..).zip(pixels.chunks_exact(3)) {
                let (x, y) = (at % EXTENT.width, at / EXTENT.width);
                let want = match number(y / TILE * 4 + x / TILE, x % TILE, y % TILE) {
                    Some(n) => [41, 23, 7].map(|factor| (n * factor) as u8),
                    None => [51 * *frame as u8; 3],
                };
                assert_eq!(rgb, want, "frame {frame}, pixel {x}, {y}");
            }
        }
    }
}

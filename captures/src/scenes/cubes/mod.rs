//! `cubes`: two hundred lit cubes on a sphere that waves run over.
//!
//! Each frame is three command buffers in one submission:
//!
//! | label | recorded | what |
//! |---|---|---|
//! | `animate` | each frame | compute: writes every cube's transform and colours into a buffer |
//! | `world` | once a slot | off-screen pass with depth: 200 draws, each with its own dynamic offset |
//! | `develop` | each frame | pass to the swapchain: samples the off-screen image |
//!
//! So that one recorded command runs many times, as in applications that record ahead, and so that 30
//! frames of 200 draws make a small capture. The host writes only the camera, 96 bytes a frame.

mod mesh;
mod world;

use ash::vk;
use world::{CUBE_BYTES, CUBES};

use super::{Frame, SLOTS, Scene, Show};
use crate::error::Result;
use crate::gpu::pipeline::{Graphics, Layout, Resource, cover};
use crate::gpu::swapchain::Swapchain;
use crate::gpu::{Buffer, Colour, Gpu};
use crate::math;
use world::{Sources, World};

/// The bytes of a cube that the vertex shader reads: a matrix, colour and glow.
const CUBE_READ_BYTES: u64 = 96;

/// The invocations of a workgroup of `animate.comp`.
const WORKGROUP: u32 = 64;

/// The bytes of the camera's uniform: a matrix, the eye, the sun.
const CAMERA_BYTES: u64 = 96;

/// The size of the swapchain; the world is drawn at twice this in each direction.
const EXTENT: vk::Extent2D = vk::Extent2D { width: 480, height: 270 };

/// How fast the scene's time runs: in 30 frames the sphere turns by a fifth.
const SECONDS_A_FRAME: f32 = 0.05;

const ANIMATE_COLOUR: Colour = [0.9, 0.6, 0.2];
const DEVELOP_COLOUR: Colour = [0.5, 0.8, 0.4];

/// The scene.
pub struct Cubes;

impl Scene for Cubes {
    fn name(&self) -> &'static str {
        "cubes"
    }

    fn about(&self) -> &'static str {
        "200 lit cubes: compute animation, per-draw dynamic offsets, an off-screen pass sampled by the next"
    }

    fn extent(&self) -> vk::Extent2D {
        EXTENT
    }

    fn build(&self, gpu: &Gpu, swapchain: &Swapchain) -> Result<Box<dyn Show>> {
        Ok(Box::new(Running::new(gpu, swapchain)?))
    }
}

/// What each frame in flight has for itself.
struct Slot {
    camera: Buffer,
    /// The compute pass's set: this slot's cubes.
    animate: vk::DescriptorSet,
    /// Reset each frame, with `early` and `late` in it.
    pool: vk::CommandPool,
    early: vk::CommandBuffer,
    world: vk::CommandBuffer,
    late: vk::CommandBuffer,
    cubes: Buffer,
}

/// The scene with its objects.
struct Running {
    slots: Vec<Slot>,
    animate_layout: Layout,
    animate: vk::Pipeline,
    develop_layout: Layout,
    develop: vk::Pipeline,
    develop_pass: vk::RenderPass,
    develop_set: vk::DescriptorSet,
    framebuffers: Vec<vk::Framebuffer>,
}

impl Running {
    fn new(gpu: &Gpu, swapchain: &Swapchain) -> Result<Self> {
        let animate_layout = gpu.layout(
            "animate",
            &[(vk::DescriptorType::STORAGE_BUFFER, vk::ShaderStageFlags::COMPUTE)],
            Some(push(vk::ShaderStageFlags::COMPUTE)),
        )?;
        let animate = gpu.compute_pipeline("animate", spirv!("animate.comp"), &animate_layout)?;

        let develop_layout = gpu.layout(
            "develop",
            &[(vk::DescriptorType::COMBINED_IMAGE_SAMPLER, vk::ShaderStageFlags::FRAGMENT)],
            Some(push(vk::ShaderStageFlags::FRAGMENT)),
        )?;
        // Every pixel is drawn, so that nothing is loaded or cleared.
        let develop_pass = gpu.present_pass(swapchain, vk::AttachmentLoadOp::DONT_CARE, "develop pass")?;
        let about = Graphics {
            vertex: spirv!("screen.vert"),
            fragment: spirv!("develop.frag"),
            vertices: None,
            depth: false,
            layout: &develop_layout,
            pass: develop_pass,
        };
        let develop = gpu.graphics_pipeline("develop", &about)?;
        let framebuffers = gpu.present_framebuffers(swapchain, develop_pass, "develop framebuffer")?;

        let extent = vk::Extent2D { width: EXTENT.width * 2, height: EXTENT.height * 2 };
        let world = World::new(gpu, extent)?;
        let slots = SLOTS as u32;
        let pool =
            gpu.descriptor_pool("descriptors", slots, &[&animate_layout, world.layout(), &develop_layout])?;
        let seen = Resource::Image(world.sampled());
        let develop_set = gpu.descriptor_set("develop set", pool, &develop_layout, &[seen])?;
        let slots =
            (0..SLOTS).map(|index| slot(gpu, index, pool, &animate_layout, &world)).collect::<Result<_>>()?;
        Ok(Self {
            slots,
            animate_layout,
            animate,
            develop_layout,
            develop,
            develop_pass,
            develop_set,
            framebuffers,
        })
    }

    /// Moves the cubes to where they are at `seconds`.
    fn record_animate(&self, gpu: &Gpu, slot: &Slot, seconds: f32) -> Result<()> {
        let commands = slot.early;
        let mut moment = [0; 8];
        moment[..4].copy_from_slice(&seconds.to_le_bytes());
        moment[4..].copy_from_slice(&CUBES.to_le_bytes());
        // The vertex shader that last read this slot's buffer is finished: the host waited for its fence.
        let written = vk::BufferMemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::SHADER_WRITE)
            .dst_access_mask(vk::AccessFlags::UNIFORM_READ)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .buffer(slot.cubes.handle)
            .size(vk::WHOLE_SIZE);
        gpu.record(commands, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT, |device| {
            gpu.labelled(commands, "animate", ANIMATE_COLOUR, || unsafe {
                let (point, layout) = (vk::PipelineBindPoint::COMPUTE, self.animate_layout.pipeline);
                device.cmd_bind_pipeline(commands, point, self.animate);
                device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[slot.animate], &[]);
                device.cmd_push_constants(commands, layout, vk::ShaderStageFlags::COMPUTE, 0, &moment);
                device.cmd_dispatch(commands, CUBES.div_ceil(WORKGROUP), 1, 1);
                device.cmd_pipeline_barrier(
                    commands,
                    vk::PipelineStageFlags::COMPUTE_SHADER,
                    vk::PipelineStageFlags::VERTEX_SHADER,
                    vk::DependencyFlags::empty(),
                    &[],
                    &[written],
                    &[],
                );
            });
        })
    }

    /// Develops the world's image into an image of the swapchain.
    fn record_develop(&self, gpu: &Gpu, slot: &Slot, image: usize) -> Result<()> {
        let commands = slot.late;
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(self.develop_pass)
            .framebuffer(self.framebuffers[image])
            .render_area(EXTENT.into());
        let mut exposure = [0; 8];
        exposure[..4].copy_from_slice(&aspect().to_le_bytes());
        exposure[4..].copy_from_slice(&1.0f32.to_le_bytes());
        gpu.record(commands, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT, |device| {
            gpu.labelled(commands, "develop", DEVELOP_COLOUR, || unsafe {
                let (point, layout) = (vk::PipelineBindPoint::GRAPHICS, self.develop_layout.pipeline);
                device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
                device.cmd_bind_pipeline(commands, point, self.develop);
                cover(device, commands, EXTENT);
                device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[self.develop_set], &[]);
                device.cmd_push_constants(commands, layout, vk::ShaderStageFlags::FRAGMENT, 0, &exposure);
                device.cmd_draw(commands, 3, 1, 0, 0);
                device.cmd_end_render_pass(commands);
            });
        })
    }
}

impl Show for Running {
    fn record(&mut self, gpu: &Gpu, frame: Frame) -> Result<Vec<vk::CommandBuffer>> {
        let slot = &self.slots[frame.slot];
        let seconds = (frame.number - 1) as f32 * SECONDS_A_FRAME;
        slot.camera.write(&camera(seconds));
        unsafe { gpu.device.reset_command_pool(slot.pool, vk::CommandPoolResetFlags::empty()) }?;
        self.record_animate(gpu, slot, seconds)?;
        self.record_develop(gpu, slot, frame.image)?;
        Ok(vec![slot.early, slot.world, slot.late])
    }
}

/// Makes what a frame in flight has for itself, and records its `world`.
fn slot(
    gpu: &Gpu,
    index: usize,
    descriptors: vk::DescriptorPool,
    animate_layout: &Layout,
    world: &World,
) -> Result<Slot> {
    let camera =
        gpu.host_buffer(&format!("camera {index}"), CAMERA_BYTES, vk::BufferUsageFlags::UNIFORM_BUFFER)?;
    let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::UNIFORM_BUFFER;
    let cubes = gpu.device_buffer(&format!("cubes {index}"), u64::from(CUBES) * CUBE_BYTES, usage)?;
    let all = Resource::Buffer(cubes.whole());
    let animate = gpu.descriptor_set(&format!("animate set {index}"), descriptors, animate_layout, &[all])?;
    let sources = Sources { camera: camera.whole(), cube: cubes.range(CUBE_READ_BYTES) };

    let (pool, [early, late]) = gpu.command_buffers(
        &format!("frame pool {index}"),
        [&format!("animate {index}"), &format!("develop {index}")],
    )?;
    let (_, [commands]) = gpu.command_buffers(&format!("world pool {index}"), [&format!("world {index}")])?;
    world.record(gpu, index, descriptors, &sources, commands)?;
    Ok(Slot { camera, animate, pool, early, world: commands, late, cubes })
}

/// Eight bytes of push constants for one stage.
fn push(stage: vk::ShaderStageFlags) -> vk::PushConstantRange {
    vk::PushConstantRange { stage_flags: stage, offset: 0, size: 8 }
}

fn aspect() -> f32 {
    EXTENT.width as f32 / EXTENT.height as f32
}

/// The camera's uniform: it sways a little while the sphere turns.
fn camera(seconds: f32) -> Vec<u8> {
    let eye = [0.5 * (0.8 * seconds).sin(), 0.75 + 0.2 * (1.1 * seconds).cos(), 3.55];
    let sun = math::normalize([0.62, 0.60, 0.52]);
    let view_projection =
        math::mul(&math::perspective(0.72, aspect(), 0.5, 10.0), &math::look_at(eye, [0.0; 3]));
    let floats = view_projection.into_iter().flatten().chain(eye).chain([1.0]).chain(sun).chain([0.0]);
    floats.flat_map(f32::to_le_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_camera_fills_its_uniform() {
        assert_eq!(camera(0.7).len() as u64, CAMERA_BYTES);
    }

    #[test]
    fn the_sphere_is_in_the_picture() {
        for frame in 0..30 {
            let bytes = camera(frame as f32 * SECONDS_A_FRAME);
            let float = |index: usize| f32::from_le_bytes(bytes[index * 4..][..4].try_into().unwrap());
            // Where the origin lands: the last column of the matrix.
            let [x, y, z, w] = [12, 13, 14, 15].map(float);
            assert!((x / w).abs() < 1e-5 && (y / w).abs() < 1e-5 && (0.0..1.0).contains(&(z / w)));
        }
    }
}

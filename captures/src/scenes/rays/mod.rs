//! `rays`: tori and hollow spheres on a board, traced.
//!
//! Made of what ray tracing has and applications seldom use together: boxes with an intersection and an any-hit
//! shader, records with colours and pointers, callable shaders, a pointer in a push constant and pointers in
//! buffers, traces whose size a shader writes, compacted structures, and one that is updated each frame.
//!
//! Each frame is one command buffer in one submission:
//!
//! | label | what |
//! |---|---|
//! | `move` | copies the host's instances, and a compute shader writes the others and the launch size |
//! | `update` | builds the structure at the top in the first frame, updates it in the others |
//! | `trace` | directly in odd frames, indirectly in even ones |
//! | `show` | blits the picture to the swapchain |

#[cfg(test)]
mod arithmetic;
mod content;
mod structures;
mod table;

use std::ffi::CStr;

use ash::vk;

use super::barriers::{Access, Stage, barrier, image_barrier, show};
use super::{Frame, SLOTS, Scene, Show, frame_slot};
use crate::error::Result;
use crate::gpu::pipeline::{Layout, Resource};
use crate::gpu::swapchain::Swapchain;
use crate::gpu::{Buffer, Colour, Gpu, Image, ImageUse, Needs};
use structures::{POINTED_TO, Structure};
use table::Table;

/// The size of the picture.
const EXTENT: vk::Extent2D = vk::Extent2D { width: 256, height: 144 };

/// How fast the scene's time runs.
const SECONDS_A_FRAME: f32 = 0.25;

/// The heaps of spheres, which the compute shader moves.
const HEAPS: u32 = 5;

/// All instances.
const INSTANCES: u32 = content::HOST_INSTANCES + HEAPS;

/// The bytes of the host's instances.
const HOST_BYTES: u64 = content::HOST_INSTANCES as u64 * 64;

const MOVE_COLOUR: Colour = [0.9, 0.6, 0.2];
const UPDATE_COLOUR: Colour = [0.7, 0.4, 0.8];
const TRACE_COLOUR: Colour = [0.3, 0.6, 0.9];
const SHOW_COLOUR: Colour = [0.5, 0.8, 0.4];

/// The scene.
pub struct Rays;

impl Scene for Rays {
    fn name(&self) -> &'static str {
        "rays"
    }

    fn about(&self) -> &'static str {
        "ray tracing: boxes, any-hit, callables, records with data, pointers, indirect traces, updates, compaction"
    }

    fn frames(&self) -> u32 {
        8
    }

    fn extent(&self) -> vk::Extent2D {
        EXTENT
    }

    fn image_usage(&self) -> vk::ImageUsageFlags {
        vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_DST
    }

    fn pictured(&self) -> &'static [u32] {
        &[1, 4, 8]
    }

    fn needs(&self) -> Needs {
        const EXTENSIONS: [&CStr; 4] = [
            ash::khr::acceleration_structure::NAME,
            ash::khr::ray_tracing_pipeline::NAME,
            ash::khr::deferred_host_operations::NAME,
            ash::khr::pipeline_library::NAME,
        ];
        Needs { extensions: &EXTENSIONS, ray_tracing: true, ..Needs::default() }
    }

    fn build(&self, gpu: &Gpu, swapchain: &Swapchain) -> Result<Box<dyn Show>> {
        Ok(Box::new(Running::new(gpu, swapchain)?))
    }
}

/// What each frame in flight has for itself.
struct Slot {
    camera: Buffer,
    host_instances: Buffer,
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
}

/// The scene with its objects.
struct Running {
    slots: Vec<Slot>,
    /// What instances refer to: the ground and the torus.
    ground: u64,
    torus: u64,
    instances: Buffer,
    world: Structure,
    motion: u64,
    launch: u64,
    move_layout: Layout,
    mover: vk::Pipeline,
    trace_layout: Layout,
    table: Table,
    set: vk::DescriptorSet,
    picture: Image,
    presented: Vec<vk::Image>,
}

impl Running {
    fn new(gpu: &Gpu, swapchain: &Swapchain) -> Result<Self> {
        let ground = structures::mesh(gpu, "ground", &content::ground())?;
        let torus = structures::mesh(gpu, "torus", &content::torus())?;
        let heap = structures::heap(gpu, "spheres")?;
        let instances = structures::instance_buffer(gpu, INSTANCES)?;
        let world = structures::top(gpu, gpu.address(&instances), INSTANCES)?;

        let usage = POINTED_TO | vk::BufferUsageFlags::INDIRECT_BUFFER;
        let launch = gpu.address(&gpu.device_buffer("launch size", 12, usage)?);
        let mut motion = content::bytes(&[gpu.address(&instances), launch, heap.reference], u64::to_le_bytes);
        let numbers = [content::HOST_INSTANCES, HEAPS, EXTENT.width, EXTENT.height];
        motion.extend(content::bytes(&numbers, u32::to_le_bytes));
        let motion = gpu.address(&gpu.filled_buffer("motion", &motion, POINTED_TO)?);
        let push = vk::PushConstantRange { stage_flags: vk::ShaderStageFlags::COMPUTE, offset: 0, size: 12 };
        let move_layout = gpu.layout("move", &[], Some(push))?;
        let mover = gpu.compute_pipeline("move", spirv!("move.comp"), &move_layout)?;

        let raygen = vk::ShaderStageFlags::RAYGEN_KHR;
        let bindings = [
            (vk::DescriptorType::ACCELERATION_STRUCTURE_KHR, raygen),
            (vk::DescriptorType::STORAGE_IMAGE, raygen),
        ];
        let push = vk::PushConstantRange { stage_flags: raygen, offset: 0, size: 8 };
        let trace_layout = gpu.layout("trace", &bindings, Some(push))?;
        let materials = materials(gpu)?;
        let record = |group, tint: [f32; 4], first: u64, shape: u64| {
            let mut data = content::floats(&tint);
            data.extend((materials + first * content::MATERIAL_BYTES).to_le_bytes());
            data.extend(shape.to_le_bytes());
            (group, data)
        };
        let hits = vec![
            record(table::MESH, [1.0, 0.98, 0.94, 1.0], content::GROUND_MATERIAL, ground.shape),
            record(table::MESH, [1.0; 4], content::TORUS_MATERIAL, torus.shape),
            record(table::SPHERE, [1.0, 0.55, 0.25, 1.0], content::HEAP_MATERIALS[0], heap.shape),
            record(table::SPHERE, [0.3, 0.65, 1.0, 1.0], content::HEAP_MATERIALS[1], heap.shape),
        ];
        let table = Table::new(gpu, &trace_layout, hits)?;

        let usage = vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::TRANSFER_SRC;
        let (format, aspect) = (vk::Format::R8G8B8A8_UNORM, vk::ImageAspectFlags::COLOR);
        let picture = gpu.image("picture", &ImageUse { format, extent: EXTENT, usage, aspect })?;
        let pool = gpu.descriptor_pool("descriptors", 1, &[&trace_layout])?;
        let image = vk::DescriptorImageInfo::default()
            .image_view(picture.view)
            .image_layout(vk::ImageLayout::GENERAL);
        let resources = [Resource::Structure(world.handle), Resource::Image(image)];
        let set = gpu.descriptor_set("trace set", pool, &trace_layout, &resources)?;
        Ok(Self {
            slots: (0..SLOTS).map(|index| slot(gpu, index)).collect::<Result<_>>()?,
            ground: ground.reference,
            torus: torus.reference,
            instances,
            world,
            motion,
            launch,
            move_layout,
            mover,
            trace_layout,
            table,
            set,
            picture,
            presented: swapchain.images.clone(),
        })
    }

    /// Brings every instance to where it is at `seconds`.
    fn record_move(&self, gpu: &Gpu, slot: &Slot, seconds: f32) {
        let (device, commands) = (&gpu.device, slot.commands);
        let mut push = self.motion.to_le_bytes().to_vec();
        push.extend(seconds.to_le_bytes());
        let region = vk::BufferCopy { src_offset: 0, dst_offset: 0, size: HOST_BYTES };
        let layout = self.move_layout.pipeline;
        gpu.labelled(commands, "move", MOVE_COLOUR, || unsafe {
            // The frame before may still build from the instances, and take its size from the launch.
            let writers = Stage::TRANSFER | Stage::COMPUTE_SHADER;
            let writes = Access::TRANSFER_WRITE | Access::SHADER_WRITE;
            let readers = Stage::ACCELERATION_STRUCTURE_BUILD_KHR | Stage::DRAW_INDIRECT;
            let reads = Access::SHADER_READ | Access::INDIRECT_COMMAND_READ;
            barrier(device, commands, (readers | writers, writes), (writers, writes));
            let (from, to) = (slot.host_instances.handle, self.instances.handle);
            device.cmd_copy_buffer(commands, from, to, &[region]);
            device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, self.mover);
            device.cmd_push_constants(commands, layout, vk::ShaderStageFlags::COMPUTE, 0, &push);
            device.cmd_dispatch(commands, HEAPS.div_ceil(32), 1, 1);
            barrier(device, commands, (writers, writes), (readers, reads));
        });
    }

    /// Brings the structure at the top up to date.
    fn record_update(&self, gpu: &Gpu, slot: &Slot, number: u32) {
        let (device, commands) = (&gpu.device, slot.commands);
        let build = Stage::ACCELERATION_STRUCTURE_BUILD_KHR;
        let (read, write) =
            (Access::ACCELERATION_STRUCTURE_READ_KHR, Access::ACCELERATION_STRUCTURE_WRITE_KHR);
        gpu.labelled(commands, "update", UPDATE_COLOUR, || {
            barrier(device, commands, (build | Stage::RAY_TRACING_SHADER_KHR, write), (build, read | write));
            self.world.build(gpu, commands, number > 1);
            barrier(device, commands, (build, write), (Stage::RAY_TRACING_SHADER_KHR, read));
        });
    }

    /// Traces the picture.
    fn record_trace(&self, gpu: &Gpu, slot: &Slot, number: u32) {
        let (device, commands, table) = (&gpu.device, slot.commands, &self.table);
        let (point, layout) = (vk::PipelineBindPoint::RAY_TRACING_KHR, self.trace_layout.pipeline);
        let camera = gpu.address(&slot.camera).to_le_bytes();
        gpu.labelled(commands, "trace", TRACE_COLOUR, || unsafe {
            let from = (vk::ImageLayout::UNDEFINED, Stage::TRANSFER, Access::empty());
            let to = (vk::ImageLayout::GENERAL, Stage::RAY_TRACING_SHADER_KHR, Access::SHADER_WRITE);
            image_barrier(device, commands, self.picture.handle, from, to);
            device.cmd_bind_pipeline(commands, point, table.pipeline);
            device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[self.set], &[]);
            device.cmd_push_constants(commands, layout, vk::ShaderStageFlags::RAYGEN_KHR, 0, &camera);
            let pipelines = &gpu.ray().pipelines;
            pipelines.cmd_set_ray_tracing_pipeline_stack_size(commands, table.stack);
            let (raygen, miss, hit, callable) = (&table.raygen, &table.miss, &table.hit, &table.callable);
            if number.is_multiple_of(2) {
                pipelines.cmd_trace_rays_indirect(commands, raygen, miss, hit, callable, self.launch);
            } else {
                let (width, height) = (EXTENT.width, EXTENT.height);
                pipelines.cmd_trace_rays(commands, raygen, miss, hit, callable, width, height, 1);
            }
        });
    }

    /// Brings the picture to an image of the swapchain.
    fn record_show(&self, gpu: &Gpu, slot: &Slot, image: vk::Image) {
        gpu.labelled(slot.commands, "show", SHOW_COLOUR, || {
            show(
                &gpu.device,
                slot.commands,
                (self.picture.handle, Stage::RAY_TRACING_SHADER_KHR),
                image,
                EXTENT,
            );
        });
    }
}

impl Show for Running {
    fn record(&mut self, gpu: &Gpu, frame: Frame) -> Result<Vec<vk::CommandBuffer>> {
        let slot = &self.slots[frame.slot];
        let seconds = (frame.number - 1) as f32 * SECONDS_A_FRAME;
        slot.camera.write(&content::camera(seconds, EXTENT.width as f32 / EXTENT.height as f32));
        slot.host_instances.write(&content::instances(seconds, self.ground, self.torus));
        unsafe { gpu.device.reset_command_pool(slot.pool, vk::CommandPoolResetFlags::empty()) }?;
        gpu.record(slot.commands, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT, |_| {
            self.record_move(gpu, slot, seconds);
            self.record_update(gpu, slot, frame.number);
            self.record_trace(gpu, slot, frame.number);
            self.record_show(gpu, slot, self.presented[frame.image]);
        })?;
        Ok(vec![slot.commands])
    }
}

/// The ring of materials, each with a pointer to the next; where its first is.
fn materials(gpu: &Gpu) -> Result<u64> {
    let size = content::materials(0).len() as u64;
    let buffer = gpu.host_buffer("materials", size, POINTED_TO)?;
    let address = gpu.address(&buffer);
    buffer.write(&content::materials(address));
    Ok(address)
}

fn slot(gpu: &Gpu, index: usize) -> Result<Slot> {
    let camera = gpu.host_buffer(&format!("camera {index}"), 80, POINTED_TO)?;
    let source = vk::BufferUsageFlags::TRANSFER_SRC;
    let host_instances = gpu.host_buffer(&format!("host instances {index}"), HOST_BYTES, source)?;
    let (pool, commands) = frame_slot(gpu, index)?;
    Ok(Slot { camera, host_instances, pool, commands })
}

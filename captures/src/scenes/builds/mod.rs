//! `builds` and `serials`: eight columns of squares, each seen through an acceleration structure that came about in
//! another way; what is seen does not depend on the way.
//!
//! | column | the structure at its top |
//! |---|---|
//! | 0 | built |
//! | 1 | a clone |
//! | 2 | over compacted meshes, whose size the host asked for |
//! | 3 | over compacted meshes, whose size a copy on the device brought |
//! | 4 | serialised and read again |
//! | 5 | in `builds` a clone of column 4's; in `serials` serialised, taken elsewhere by the host, and read again |
//! | 6 | updated from another of its kind in each frame; its squares fall |
//! | 7 | as 6, traced with tables whose places stand in device memory (`vkCmdTraceRaysIndirect2KHR`) |
//!
//! Columns 0 to 6 are ray queries of a compute shader. What `serials` holds only its own driver can read.

mod content;
mod structures;

use std::ffi::CStr;

use ash::vk;

use super::{Frame, SLOTS, Scene, Show, frame_slot};
use crate::error::{Doing, Result};
use crate::gpu::pipeline::{Layout, Resource};
use crate::gpu::swapchain::Swapchain;
use crate::gpu::{Buffer, Gpu, Image, ImageUse, Needs};
use structures::{Answer, Build, cloned, compacted, instance_usage, reference, serialised};

/// The size of the picture.
const EXTENT: vk::Extent2D = vk::Extent2D { width: 128, height: 64 };
const COLUMNS: u32 = 8;
/// The columns whose squares fall.
#[cfg(test)]
const FALLING: [u32; 2] = [6, 7];

/// The scenes: with what the host takes elsewhere, or without.
pub struct Builds {
    /// Column 5 is read from what the host took elsewhere.
    pub by_host: bool,
}

impl Scene for Builds {
    fn name(&self) -> &'static str {
        if self.by_host { "serials" } else { "builds" }
    }

    fn about(&self) -> &'static str {
        if self.by_host {
            "builds, with a structure whose serialised bytes the host takes elsewhere"
        } else {
            "acceleration structures cloned, compacted, serialised, updated; ray queries; a trace by indirect tables"
        }
    }

    fn frames(&self) -> u32 {
        4
    }

    fn extent(&self) -> vk::Extent2D {
        EXTENT
    }

    fn image_usage(&self) -> vk::ImageUsageFlags {
        vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_DST
    }

    fn pictured(&self) -> &'static [u32] {
        &[1, 4]
    }

    fn needs(&self) -> Needs {
        const EXTENSIONS: [&CStr; 5] = [
            ash::khr::acceleration_structure::NAME,
            ash::khr::ray_tracing_pipeline::NAME,
            ash::khr::deferred_host_operations::NAME,
            ash::khr::ray_query::NAME,
            ash::khr::ray_tracing_maintenance1::NAME,
        ];
        Needs { extensions: &EXTENSIONS, ray_tracing: true, ray_queries: true, ..Needs::default() }
    }

    fn build(&self, gpu: &Gpu, swapchain: &Swapchain) -> Result<Box<dyn Show>> {
        Ok(Box::new(Running::new(gpu, swapchain, self.by_host)?))
    }
}

/// What each frame in flight has for itself.
struct Slot {
    instances: Buffer,
    world: Build,
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
}

/// The scene with its objects.
struct Running {
    slots: Vec<Slot>,
    meshes: [u64; 2],
    /// The two structures that are updated from each other.
    worlds: [vk::AccelerationStructureKHR; 2],
    layout: Layout,
    column: vk::Pipeline,
    trace_layout: Layout,
    trace: vk::Pipeline,
    command: u64,
    /// The sets of columns 0 to 5; then those of each world, for a query and for a trace.
    still: Vec<vk::DescriptorSet>,
    moving: [[vk::DescriptorSet; 2]; 2],
    picture: Image,
    presented: Vec<vk::Image>,
}

impl Running {
    fn new(gpu: &Gpu, swapchain: &Swapchain, by_host: bool) -> Result<Self> {
        let builds = [Build::mesh(gpu, 0)?, Build::mesh(gpu, 1)?];
        let full = [builds[0].now(gpu, "mesh 0")?, builds[1].now(gpu, "mesh 1")?];
        let small = |how, name: &str| -> Result<[u64; 2]> {
            let one = |i: usize| compacted(gpu, &format!("mesh {i} {name}"), full[i], how);
            Ok([reference(gpu, one(0)?), reference(gpu, one(1)?)])
        };
        let meshes = full.map(|mesh| reference(gpu, mesh));
        let top = |name: &str, meshes| -> Result<(Build, vk::AccelerationStructureKHR)> {
            let instances = content::instances(0, meshes);
            let buffer = gpu.filled_buffer(&format!("{name} instances"), &instances, instance_usage())?;
            let build = Build::top(gpu, name, &buffer)?;
            let built = build.now(gpu, name)?;
            Ok((build, built))
        };
        let (plain, built) = top("built", meshes)?;
        let read = serialised(gpu, "read again", built, false)?;
        let fifth = match by_host {
            true => serialised(gpu, "taken elsewhere", built, true)?,
            false => cloned(gpu, "clone of what was read", read, &plain)?,
        };
        let still = [
            built,
            cloned(gpu, "clone", built, &plain)?,
            top("compacted", small(Answer::Read, "compacted")?)?.1,
            top("compacted by copy", small(Answer::Copied, "compacted by copy")?)?.1,
            read,
            fifth,
        ];
        let slots = (0..SLOTS).map(|index| slot(gpu, index)).collect::<Result<Vec<_>>>()?;
        let worlds = [slots[0].world.target(gpu, "world 0")?, slots[0].world.target(gpu, "world 1")?];
        slots[0].instances.write(&content::instances(0, meshes));
        gpu.run_once("build the world", |_, commands| slots[0].world.record(gpu, commands, worlds[1], None))?;

        let usage = vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::TRANSFER_SRC;
        let (format, aspect) = (vk::Format::R8G8B8A8_UNORM, vk::ImageAspectFlags::COLOR);
        let picture = gpu.image("picture", &ImageUse { format, extent: EXTENT, usage, aspect })?;
        let of = |stage| {
            [
                (vk::DescriptorType::ACCELERATION_STRUCTURE_KHR, stage),
                (vk::DescriptorType::STORAGE_IMAGE, stage),
            ]
        };
        let push = |stage_flags| Some(vk::PushConstantRange { stage_flags, offset: 0, size: 4 });
        let compute = vk::ShaderStageFlags::COMPUTE;
        let raygen = vk::ShaderStageFlags::RAYGEN_KHR;
        let layout = gpu.layout("column", &of(compute), push(compute))?;
        let trace_layout = gpu.layout("trace", &of(raygen), push(raygen))?;
        let column = gpu.compute_pipeline("column", spirv!("column.comp"), &layout)?;
        let (trace, command) = tables(gpu, &trace_layout)?;
        let pool = gpu.descriptor_pool("descriptors", 8, &[&layout, &trace_layout])?;
        let set = |layout: &Layout, name: String, structure| {
            let image = vk::DescriptorImageInfo::default()
                .image_view(picture.view)
                .image_layout(vk::ImageLayout::GENERAL);
            let resources = [Resource::Structure(structure), Resource::Image(image)];
            gpu.descriptor_set(&name, pool, layout, &resources)
        };
        let sets = (0..).zip(still).map(|(i, s): (u32, _)| set(&layout, format!("column {i}"), s));
        let still = sets.collect::<Result<Vec<_>>>()?;
        let both = |i: usize| -> Result<_> {
            Ok([
                set(&layout, format!("world {i}"), worlds[i])?,
                set(&trace_layout, format!("world {i} traced"), worlds[i])?,
            ])
        };
        let moving = [both(0)?, both(1)?];
        let presented = swapchain.images.clone();
        Ok(Self {
            slots,
            meshes,
            worlds,
            layout,
            column,
            trace_layout,
            trace,
            command,
            still,
            moving,
            picture,
            presented,
        })
    }

    /// Draws every column; `now`: which of the worlds is up to date.
    fn record_columns(&self, gpu: &Gpu, commands: vk::CommandBuffer, now: usize) {
        let device = &gpu.device;
        let (compute, raygen) = (vk::ShaderStageFlags::COMPUTE, vk::ShaderStageFlags::RAYGEN_KHR);
        let point = vk::PipelineBindPoint::COMPUTE;
        unsafe {
            device.cmd_bind_pipeline(commands, point, self.column);
            let sets = self.still.iter().chain([&self.moving[now][0]]);
            for (column, &set) in (0u32..).zip(sets) {
                let layout = self.layout.pipeline;
                device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[set], &[]);
                device.cmd_push_constants(commands, layout, compute, 0, &column.to_le_bytes());
                device.cmd_dispatch(commands, 1, EXTENT.height / 4, 1);
            }
            let (point, layout) = (vk::PipelineBindPoint::RAY_TRACING_KHR, self.trace_layout.pipeline);
            device.cmd_bind_pipeline(commands, point, self.trace);
            device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[self.moving[now][1]], &[]);
            device.cmd_push_constants(commands, layout, raygen, 0, &(COLUMNS - 1).to_le_bytes());
            gpu.ray().maintenance.cmd_trace_rays_indirect2(commands, self.command);
        }
    }
}

impl Show for Running {
    fn record(&mut self, gpu: &Gpu, frame: Frame) -> Result<Vec<vk::CommandBuffer>> {
        let slot = &self.slots[frame.slot];
        slot.instances.write(&content::instances(content::fall(frame.number), self.meshes));
        unsafe { gpu.device.reset_command_pool(slot.pool, vk::CommandPoolResetFlags::empty()) }?;
        let (now, before) = ((frame.number as usize + 1) % 2, frame.number as usize % 2);
        let image = self.presented[frame.image];
        gpu.record(slot.commands, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT, |device| {
            let commands = slot.commands;
            all(device, commands, &[]);
            slot.world.record(gpu, commands, self.worlds[now], Some(self.worlds[before]));
            let undefined = vk::ImageLayout::UNDEFINED;
            let general = vk::ImageLayout::GENERAL;
            all(device, commands, &[(self.picture.handle, undefined, general)]);
            self.record_columns(gpu, commands, now);
            let (source, target) =
                (vk::ImageLayout::TRANSFER_SRC_OPTIMAL, vk::ImageLayout::TRANSFER_DST_OPTIMAL);
            all(device, commands, &[(self.picture.handle, general, source), (image, undefined, target)]);
            let layers =
                vk::ImageSubresourceLayers::default().aspect_mask(vk::ImageAspectFlags::COLOR).layer_count(1);
            let far = vk::Offset3D { x: EXTENT.width as i32, y: EXTENT.height as i32, z: 1 };
            let region = vk::ImageBlit::default()
                .src_subresource(layers)
                .dst_subresource(layers)
                .src_offsets([vk::Offset3D::default(), far])
                .dst_offsets([vk::Offset3D::default(), far]);
            let (from, filter) = (self.picture.handle, vk::Filter::NEAREST);
            unsafe { device.cmd_blit_image(commands, from, source, image, target, &[region], filter) };
            all(device, commands, &[(image, target, vk::ImageLayout::PRESENT_SRC_KHR)]);
        })?;
        Ok(vec![slot.commands])
    }
}

/// Everything before, before everything after; the images change their layouts.
fn all(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    images: &[(vk::Image, vk::ImageLayout, vk::ImageLayout)],
) {
    let range = vk::ImageSubresourceRange::default()
        .aspect_mask(vk::ImageAspectFlags::COLOR)
        .level_count(1)
        .layer_count(1);
    let (writes, every) =
        (vk::AccessFlags::MEMORY_WRITE, vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE);
    let memory = [vk::MemoryBarrier::default().src_access_mask(writes).dst_access_mask(every)];
    let images: Vec<_> = images
        .iter()
        .map(|(image, from, to)| {
            vk::ImageMemoryBarrier::default()
                .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                .image(*image)
                .subresource_range(range)
                .old_layout(*from)
                .new_layout(*to)
                .src_access_mask(writes)
                .dst_access_mask(every)
        })
        .collect();
    let (stage, none) = (vk::PipelineStageFlags::ALL_COMMANDS, vk::DependencyFlags::empty());
    unsafe { device.cmd_pipeline_barrier(commands, stage, stage, none, &memory, &[], &images) };
}

fn slot(gpu: &Gpu, index: usize) -> Result<Slot> {
    let instances = gpu.host_buffer(&format!("instances {index}"), 128, instance_usage())?;
    let world = Build::top(gpu, &format!("world {index}"), &instances)?;
    let (pool, commands) = frame_slot(gpu, index)?;
    Ok(Slot { instances, world, pool, commands })
}

/// The pipeline of the last column, and where its VkTraceRaysIndirectCommand2KHR is.
fn tables(gpu: &Gpu, layout: &Layout) -> Result<(vk::Pipeline, u64)> {
    let shaders = [
        (spirv!("column.rgen"), vk::ShaderStageFlags::RAYGEN_KHR),
        (spirv!("column.rmiss"), vk::ShaderStageFlags::MISS_KHR),
        (spirv!("column.rchit"), vk::ShaderStageFlags::CLOSEST_HIT_KHR),
    ];
    let stages =
        shaders.into_iter().map(|(spirv, stage)| gpu.stage(spirv, stage)).collect::<Result<Vec<_>>>()?;
    let none = vk::SHADER_UNUSED_KHR;
    let unused = vk::RayTracingShaderGroupCreateInfoKHR::default()
        .general_shader(none)
        .closest_hit_shader(none)
        .any_hit_shader(none)
        .intersection_shader(none);
    let general = |shader| unused.ty(vk::RayTracingShaderGroupTypeKHR::GENERAL).general_shader(shader);
    let hit = unused.ty(vk::RayTracingShaderGroupTypeKHR::TRIANGLES_HIT_GROUP).closest_hit_shader(2);
    let groups = [general(0), general(1), hit];
    let info = vk::RayTracingPipelineCreateInfoKHR::default()
        .stages(&stages)
        .groups(&groups)
        .max_pipeline_ray_recursion_depth(1)
        .layout(layout.pipeline);
    let ray = gpu.ray();
    let (deferred, cache) = (vk::DeferredOperationKHR::null(), vk::PipelineCache::null());
    let made = unsafe { ray.pipelines.create_ray_tracing_pipelines(deferred, cache, &[info], None) };
    let pipeline = made.map_err(|(_, error)| error).doing("making the ray-tracing pipeline")?[0];
    let pipeline = gpu.adopt(pipeline, "trace");

    let size = ray.handle_bytes;
    let handles = unsafe { ray.pipelines.get_ray_tracing_shader_group_handles(pipeline, 0, 3, size * 3) }?;
    let pointed = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
    let numbers: Vec<u8> = [1u32, 2].iter().flat_map(|n| n.to_le_bytes()).collect();
    let numbers = gpu.address(&gpu.filled_buffer("numbers", &numbers, pointed)?);
    let base = ray.base_alignment;
    let stride = (size + 8).next_multiple_of(ray.handle_alignment);
    let far = size.next_multiple_of(base);
    let usage = vk::BufferUsageFlags::SHADER_BINDING_TABLE_KHR | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
    let buffer = gpu.host_buffer("shader binding table", (far * 2 + stride * 2 + base) as u64, usage)?;
    let start = gpu.address(&buffer).next_multiple_of(base as u64);
    let mut content = vec![0; (start - gpu.address(&buffer)) as usize];
    for group in 0..2 {
        let end = content.len() + far;
        content.extend(&handles[group * size..][..size]);
        content.resize(end, 0);
    }
    for instance in 0..2 {
        let end = content.len() + stride;
        content.extend(&handles[2 * size..][..size]);
        content.extend((numbers + instance * 4).to_le_bytes());
        content.resize(end, 0);
    }
    buffer.write(&content);

    let (far, stride) = (far as u64, stride as u64);
    let words = [start, far, start + far, far, far, start + 2 * far, 2 * stride, stride, 0, 0, 0];
    let mut command: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let size = [EXTENT.width / COLUMNS, EXTENT.height, 1, 0];
    command.extend(size.iter().flat_map(|w| w.to_le_bytes()));
    let usage = vk::BufferUsageFlags::INDIRECT_BUFFER | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
    Ok((pipeline, gpu.address(&gpu.filled_buffer("trace command", &command, usage)?)))
}

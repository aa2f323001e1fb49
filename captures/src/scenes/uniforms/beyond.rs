//! Tiles that are no plain draw: a secondary command buffer, compute shaders, rays.

use ash::vk;

use super::station::{At, Maker, Station, TILE, UNIFORM, bytes};
use crate::error::Result;
use crate::gpu::pipeline::Resource;
use crate::scenes::barriers::{Access, Stage, barrier};
use crate::scenes::tracing::{self, Groups, IDENTITY, Instance, Traced};

/// A draw in a secondary command buffer that is recorded once; its buffer changes in each frame.
pub fn secondary(maker: &Maker, tile: u32) -> Result<Station> {
    let gpu = maker.gpu;
    let layout = maker.uniforms("secondary", 1)?;
    let pipeline = maker.pipeline("secondary", spirv!("secondary.frag"), layout.pipeline)?;
    let buffer = maker.number("secondary", 0)?;
    let set = maker.uniform_set("secondary", layout.set, &[buffer])?;
    let info = vk::CommandPoolCreateInfo::default().queue_family_index(gpu.family);
    let pool = gpu.adopt(unsafe { gpu.device.create_command_pool(&info, None) }?, "secondary pool");
    let info = vk::CommandBufferAllocateInfo::default()
        .command_pool(pool)
        .level(vk::CommandBufferLevel::SECONDARY)
        .command_buffer_count(1);
    let commands = unsafe { gpu.device.allocate_command_buffers(&info) }?[0];
    gpu.name(commands, "secondary");
    let inherited =
        vk::CommandBufferInheritanceInfo::default().render_pass(maker.pass).framebuffer(maker.framebuffer);
    let info = vk::CommandBufferBeginInfo::default()
        .flags(vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE)
        .inheritance_info(&inherited);
    unsafe { gpu.device.begin_command_buffer(commands, &info) }?;
    let at = At { commands, frame: 0, tile };
    at.pipeline(gpu, pipeline);
    at.sets(gpu, layout.pipeline, 0, &[set], &[]);
    at.draw(gpu, None);
    unsafe { gpu.device.end_command_buffer(commands) }?;
    Ok(Station {
        host: Some(Box::new(move |_, at| buffer.write(&bytes(&[SECONDARY + at.frame])))),
        third: Some(Box::new(move |gpu, at| unsafe {
            gpu.device.cmd_execute_commands(at.commands, &[commands]);
        })),
        ..Station::default()
    })
}

/// What the block of `secondary` says, the frame added.
pub const SECONDARY: u32 = 220;
/// What that of `compute` says, likewise.
pub const COMPUTE: u32 = 230;
/// What that of `rays` says: always, and the frame added.
pub const RAYS: [u32; 2] = [17, 240];

/// Half a tile by a dispatch, then all of it by an indirect one.
pub fn compute(maker: &Maker, tile: u32) -> Result<Station> {
    let (gpu, compute) = (maker.gpu, vk::ShaderStageFlags::COMPUTE);
    let bindings = [(UNIFORM, compute), (vk::DescriptorType::STORAGE_IMAGE, compute)];
    let layout = gpu.layout("compute", &bindings, None)?;
    let pipeline = gpu.compute_pipeline("compute", spirv!("compute.comp"), &layout)?;
    let params = maker.block("params", &[tile, COMPUTE, 0, 0])?;
    let set = tracing::only_set(gpu, &layout, &[Resource::Buffer(params.whole()), maker.target()])?;
    let sizes = gpu.host_buffer("groups", 16, vk::BufferUsageFlags::INDIRECT_BUFFER)?;
    sizes.write(&bytes(&[TILE / 8, TILE / 8, 1]));
    Ok(Station {
        host: Some(Box::new(move |_, at| params.write(&bytes(&[tile, COMPUTE, at.frame, 300 + at.frame])))),
        after: Some(Box::new(move |gpu, At { commands, .. }| unsafe {
            let (device, point) = (&gpu.device, vk::PipelineBindPoint::COMPUTE);
            device.cmd_bind_pipeline(commands, point, pipeline);
            device.cmd_bind_descriptor_sets(commands, point, layout.pipeline, 0, &[set], &[]);
            device.cmd_dispatch(commands, TILE / 8, TILE / 16, 1);
            let wrote = (Stage::COMPUTE_SHADER, Access::SHADER_WRITE);
            barrier(device, commands, wrote, wrote);
            device.cmd_dispatch_indirect(commands, sizes.handle, 0);
            barrier(device, commands, wrote, (Stage::RAY_TRACING_SHADER_KHR, Access::SHADER_WRITE));
        })),
        ..Station::default()
    })
}

/// Rays that meet nothing.
pub fn rays(maker: &Maker, tile: u32) -> Result<Station> {
    let gpu = maker.gpu;
    let (raygen, miss) = (vk::ShaderStageFlags::RAYGEN_KHR, vk::ShaderStageFlags::MISS_KHR);
    let bindings = [
        (vk::DescriptorType::ACCELERATION_STRUCTURE_KHR, raygen),
        (vk::DescriptorType::STORAGE_IMAGE, raygen),
        (UNIFORM, raygen | miss),
    ];
    let layout = gpu.layout("rays", &bindings, None)?;
    let corners = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let bottom = tracing::bottom(gpu, "triangle", &[tracing::triangles(gpu, "triangle", &corners, true)?])?;
    let instance = Instance { structure: bottom, rows: IDENTITY, custom_index: 0, record: 0, opaque: true };
    let world = tracing::top(gpu, "world", &[instance])?;
    let block = maker.block("world block", &[tile, RAYS[0], 0, 0])?;
    let resources = [Resource::Structure(world), maker.target(), Resource::Buffer(block.whole())];
    let set = tracing::only_set(gpu, &layout, &resources)?;
    let groups = Groups {
        raygen: Some(spirv!("camera.rgen")),
        miss: vec![spirv!("sky.rmiss")],
        recursion: 1,
        ..Groups::default()
    };
    let traced = Traced::new(gpu, "rays", &layout, &groups)?;
    Ok(Station {
        host: Some(Box::new(move |_, at| {
            block.write(&bytes(&[tile, RAYS[0], RAYS[1] + at.frame, 400 + at.frame]));
        })),
        after: Some(Box::new(move |gpu, at| traced.launch(gpu, at.commands, set, [TILE, TILE]))),
        ..Station::default()
    })
}

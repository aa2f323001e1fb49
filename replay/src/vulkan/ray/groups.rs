//! Ray-tracing pipelines and the handles of their shader groups.

use crate::error::{Error, Kind, Result, Vk};
use crate::vulkan::linked_call::LinkedCall;
use crate::vulkan::ray::patcher::with_patcher;
use crate::vulkan::{Vulkan, exact};
use ash::vk::{self, Handle};
use gfxr_parse::{argument, param};
use world::Outcome;

/// vkCreateRayTracingPipelinesKHR: at once, also where the application deferred it; handles are this device's own.
pub fn create_pipelines(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, call, linked, report, .. } = c;
    crate::vulkan::pipeline::compile_all(call, linked)?;
    linked.set_arg(argument!("vkCreateRayTracingPipelinesKHR", "deferredOperation"), 0);
    let outcome = exact::create_pipelines(vk, call, linked, report)?;
    // VK_OPERATION_DEFERRED_KHR at capture is no other outcome than this one.
    Ok(outcome)
}

/// The live handles of some groups.
fn handles_of(
    vk: &mut Vulkan,
    device: u64,
    pipeline: vk::Pipeline,
    first: u32,
    count: u32,
) -> Result<Vec<u8>> {
    with_patcher(vk, device, |vk, p| {
        let d = vk.device(device)?;
        let instance =
            vk.instances.get(&d.instance_id).ok_or_else(|| Error::divergence("the instance is gone"))?;
        let loader = ash::khr::ray_tracing_pipeline::Device::new(&instance.ash, &d.ash);
        let bytes = (count as usize).saturating_mul(p.properties.handle_bytes as usize);
        // SAFETY: a live pipeline with that many groups.
        unsafe { loader.get_ray_tracing_shader_group_handles(pipeline, first, count, bytes) }
            .what("vkGetRayTracingShaderGroupHandlesKHR")
    })
}

fn pair(vk: &mut Vulkan, device: u64, captured: &[u8], live: &[u8], count: u32) {
    let (then, now) = (captured.len() / count as usize, live.len() / count as usize);
    if then == 0 || now == 0 {
        return;
    }
    let pairs = || captured.chunks_exact(then).zip(live.chunks_exact(now));
    exact::compare_handles(vk, device, pairs());
    for (c, l) in pairs() {
        vk.ray.moved |= c != l;
        vk.ray.handles.insert(c.to_vec(), l.to_vec());
    }
    vk.ray.dirty = true;
}

/// vkGetRayTracingShaderGroupHandlesKHR: captured handles beside this device's.
pub fn group_handles(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, call, linked, .. } = c;
    let count = call.image.u32(param!("vkGetRayTracingShaderGroupHandlesKHR", "groupCount"));
    let captured = call.image.ptr(param!("vkGetRayTracingShaderGroupHandlesKHR", "pData"));
    let captured = captured.filter(|p| p.has_data()).map(|p| (p.to as usize, p.len as usize));
    if let (Some((to, len)), true) = (captured, call.image.ret() == Some(0) && count > 0) {
        // A handle has a byte or more: so many groups cannot be, and the driver would be asked for room for them.
        if len < count as usize {
            return Err(Error::new(
                Kind::Capture,
                format!("pData holds {len} bytes, fewer than the {count} groups whose handles they are"),
            ));
        }
        let pipeline = linked.arg(argument!("vkGetRayTracingShaderGroupHandlesKHR", "pipeline"));
        let first = call.image.u32(param!("vkGetRayTracingShaderGroupHandlesKHR", "firstGroup"));
        let now = handles_of(vk, call.image.u64(0), vk::Pipeline::from_raw(pipeline), first, count)?;
        pair(vk, call.image.u64(0), &call.image.bytes()[to..to + len], &now, count);
    }
    Ok(Outcome::captured(call))
}

/// vkGetRayTracingShaderGroupStackSizeKHR.
pub fn group_stack_size(c: &mut LinkedCall<'_>, outcome: Outcome) -> Result<()> {
    let LinkedCall { vk, call, .. } = c;
    vk.ray.stacks.learn(call.image.u64(call.image.ret_at()), outcome.ret);
    Ok(())
}

/// vkCmdSetRayTracingPipelineStackSizeKHR.
pub fn set_stack_size(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk, call, linked, report, .. } = c;
    const SIZE: usize = argument!("vkCmdSetRayTracingPipelineStackSizeKHR", "pipelineStackSize");
    let captured = call.image.u32(call.command.params[SIZE].at);
    let here = vk.ray.stacks.sum(captured);
    if here != captured {
        report.note("stacks of ray-tracing pipelines made larger");
        linked.set_arg(SIZE, here.into());
    }
    Ok(())
}

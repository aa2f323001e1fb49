//! Command buffers in which something is translated: what the dispatch disturbs, and how it is put back.

use super::inputs::Ranges;
use super::{data_pointers, indirect, inputs};
use crate::error::Result;
use crate::vulkan::Vulkan;
use crate::vulkan::linked_call::LinkedCall;
use crate::vulkan::ray::build::prepare;
use crate::vulkan::ray::geometry::{LinkedBuild, captured_scratch, places};
use crate::vulkan::ray::patcher::with_patcher;
use crate::vulkan::ray::recording::{device_of, record, state};
use ash::vk::{self, Handle};
use gfxr_parse::{argument, member, param};
use world::Outcome;

/// vkBeginCommandBuffer: whatever it held is no longer in flight.
pub fn begin(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk, call, .. } = c;
    if vk.ray.translates {
        forget(vk, call.image.u64(0))?;
    }
    Ok(())
}

/// vkFreeCommandBuffers.
pub fn free(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk, call, .. } = c;
    let mut freed = call.image.u64s(param!("vkFreeCommandBuffers", "pCommandBuffers"));
    freed.try_for_each(|id| forget(vk, id))
}

/// What was made for a command buffer goes; none of it is in flight.
pub(super) fn forget(vk: &mut Vulkan, id: u64) -> Result<()> {
    if let Some(state) = vk.ray.commands.remove(&id)
        && !state.own.is_empty()
    {
        let d = vk.device_mut(state.device)?;
        state.own.into_iter().for_each(|o| o.give(d));
    }
    Ok(())
}

/// vkCmdBindPipeline.
pub fn bind_pipeline(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk, call, linked, .. } = c;
    let point = linked.arg(argument!("vkCmdBindPipeline", "pipelineBindPoint")) as u32;
    if vk.ray.translates && point == vk::PipelineBindPoint::COMPUTE.as_raw() as u32 {
        let pipeline = linked.arg(argument!("vkCmdBindPipeline", "pipeline"));
        state(vk, call.image.u64(0)).compute = vk::Pipeline::from_raw(pipeline);
    }
    Ok(())
}

/// vkCmdPushConstants.
pub fn push_constants(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk, objects, call, linked, .. } = c;
    let values = call.image.ptr(param!("vkCmdPushConstants", "pValues"));
    if let Some(p) = values.filter(|p| p.has_data()) {
        let layout = linked.arg(argument!("vkCmdPushConstants", "layout"));
        let stages = linked.arg(argument!("vkCmdPushConstants", "stageFlags")) as u32;
        let about = (layout, stages, linked.arg(argument!("vkCmdPushConstants", "offset")) as u32);
        data_pointers::push(vk, objects.world(), call, linked, about, (p.to, p.len))?;
    }
    Ok(())
}

/// vkCmdPushConstants2.
pub fn push_constants2(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk, objects, call, linked, .. } = c;
    let values = member!("VkPushConstantsInfo", "pValues");
    if let Some(info) = call.image.target(param!("vkCmdPushConstants2", "pPushConstantsInfo"))
        && let Some(p) = call.image.ptr(info + values).filter(|p| p.has_data())
    {
        let layout = linked.word_at(info + member!("VkPushConstantsInfo", "layout"));
        let stages = call.image.u32(info + member!("VkPushConstantsInfo", "stageFlags"));
        let about = (layout, stages, call.image.u32(info + member!("VkPushConstantsInfo", "offset")));
        data_pointers::push(vk, objects.world(), call, linked, about, (p.to, p.len))?;
    }
    Ok(())
}

/// vkCmdBuildAccelerationStructuresKHR.
pub fn build(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, call, linked, report, .. } = c;
    let device = device_of(vk, call)?;
    let cmd_id = call.image.u64(0);
    let cmd = vk::CommandBuffer::from_raw(linked.arg(0));
    let places = places(call, linked, argument!("vkCmdBuildAccelerationStructuresKHR", "ppBuildRangeInfos"))?;
    let mut builds = places
        .iter()
        .map(|(info, ranges)| LinkedBuild::read(linked, *info, Some(*ranges)))
        .collect::<Result<Vec<_>>>()?;
    let noted: Vec<_> = builds.iter().map(|b| (b, Ranges::Known(&b.ranges))).collect();
    let of = inputs::Of { device, command_buffer: Some(cmd_id), command: call.block };
    inputs::recorded(vk, of, cmd, &noted)?;
    if vk.options.rehearse.indirect {
        return indirect::rehearsed(vk, call, linked, report, device);
    }
    // Captured scratch addresses say how much room the application left behind them.
    let scratch: Vec<u64> = captured_scratch(call, builds.len());
    with_patcher(vk, device, |vk, p| {
        for (build, &scratch) in builds.iter_mut().zip(&scratch) {
            let steps = prepare(vk, p, device, cmd_id, build, scratch)?;
            record(vk, p, device, (cmd_id, cmd), &steps);
        }
        Ok(())
    })?;
    for (build, (info, ranges)) in builds.iter().zip(places) {
        build.put_back(linked, info, Some(ranges));
    }
    vk.raw(call, linked, report)
}

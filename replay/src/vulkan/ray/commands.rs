//! Command buffers in which something is translated: what the dispatch disturbs, and how it is put back.

use super::data_pointers;
use crate::error::Result;
use crate::link::Linked;
use crate::objects::Objects;
use crate::report::Report;
use crate::vulkan::Vulkan;
use crate::vulkan::ray::state::CommandState;
use ash::vk::{self, Handle};
use gfxr_parse::ahead::Call;
use world::Outcome;

/// vkBeginCommandBuffer: whatever it held is no longer in flight.
pub fn begin(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    if vk.ray.on {
        forget(vk, call.image.u64(0))?;
    }
    vk.raw(call, linked, report)
}

/// vkFreeCommandBuffers.
pub fn free(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    if let Some(p) = call.image.ptr(24).filter(|p| p.has_data()) {
        for i in 0..p.len as u32 {
            forget(vk, call.image.u64(p.to + i * 8))?;
        }
    }
    vk.raw(call, linked, report)
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
pub fn bind_pipeline(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    if vk.ray.on && linked.arg(1) as u32 == vk::PipelineBindPoint::COMPUTE.as_raw() as u32 {
        state(vk, call.image.u64(0)).compute = vk::Pipeline::from_raw(linked.arg(2));
    }
    vk.raw(call, linked, report)
}

/// vkCmdPushConstants.
pub fn push_constants(
    vk: &mut Vulkan,
    objects: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    if let Some(p) = call.image.ptr(40).filter(|p| p.has_data()) {
        let about = (linked.arg(1), linked.arg(2) as u32, linked.arg(3) as u32);
        data_pointers::push(vk, objects.world(), call, linked, about, (p.to, p.len));
    }
    vk.raw(call, linked, report)
}

/// vkCmdPushConstants2. VkPushConstantsInfo: sType, pNext, layout, stageFlags, offset, size, pValues.
pub fn push_constants2(
    vk: &mut Vulkan,
    objects: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    if let Some(info) = call.image.target(8)
        && let Some(p) = call.image.ptr(info + 40).filter(|p| p.has_data())
    {
        let about = (linked.word_at(info + 16), call.image.u32(info + 24), call.image.u32(info + 28));
        data_pointers::push(vk, objects.world(), call, linked, about, (p.to, p.len));
    }
    vk.raw(call, linked, report)
}

/// Push constants that a translation in this command buffer must put back.
pub(super) fn remember(vk: &mut Vulkan, id: u64, layout: u64, stages: u32, offset: u32, values: Vec<u8>) {
    let (layout, stages) = (vk::PipelineLayout::from_raw(layout), vk::ShaderStageFlags::from_raw(stages));
    let pushed = &mut state(vk, id).pushed;
    // The same range again replaces the one before; order matters, so it moves to the end.
    pushed.retain(|p| (p.0, p.1, p.2, p.3.len()) != (layout, stages, offset, values.len()));
    pushed.push((layout, stages, offset, values));
}

/// The state of a command buffer (captured id), whose device is the one it was allocated from.
pub fn state(vk: &mut Vulkan, id: u64) -> &mut CommandState {
    vk.ray.commands.entry(id).or_default()
}

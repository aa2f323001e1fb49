//! Command buffers in which something is translated: what the dispatch disturbs, and how it is put back.

use super::{Own, Patcher, data_pointers};
use crate::error::Result;
use crate::link::Linked;
use crate::objects::Objects;
use crate::report::Report;
use crate::vulkan::Vulkan;
use ash::vk::{self, Handle};
use gfxr_parse::ahead::Call;
use world::Outcome;

/// What has been recorded into a command buffer since it began.
#[derive(Default)]
pub struct CommandState {
    /// Captured id of its device.
    pub device: u64,
    /// Live compute pipeline, or null.
    compute: vk::Pipeline,
    /// Push constants: layout, stages, offset, values.
    pushed: Vec<(vk::PipelineLayout, vk::ShaderStageFlags, u32, Vec<u8>)>,
    /// Buffers its translations write; they live until it begins anew.
    pub own: Vec<Own>,
}

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

impl Patcher {
    /// Records one translation into the application's command buffer and puts back what that disturbs.
    pub(super) fn record(
        &self,
        d: &ash::Device,
        cmd: vk::CommandBuffer,
        pipeline: vk::Pipeline,
        arguments: &[u8],
        count: u32,
        state: &CommandState,
    ) {
        let compute = vk::ShaderStageFlags::COMPUTE;
        let before = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .dst_access_mask(vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE);
        let after = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::SHADER_WRITE)
            .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE);
        let (all, here) = (vk::PipelineStageFlags::ALL_COMMANDS, vk::PipelineStageFlags::COMPUTE_SHADER);
        // SAFETY: recording into a command buffer that the application is recording; all handles are alive.
        unsafe {
            d.cmd_pipeline_barrier(cmd, all, here, vk::DependencyFlags::empty(), &[before], &[], &[]);
            d.cmd_bind_pipeline(cmd, vk::PipelineBindPoint::COMPUTE, pipeline);
            d.cmd_push_constants(cmd, self.layout, compute, 0, arguments);
            d.cmd_dispatch(cmd, count.div_ceil(64), 1, 1);
            d.cmd_pipeline_barrier(cmd, here, all, vk::DependencyFlags::empty(), &[after], &[], &[]);
            if state.compute != vk::Pipeline::null() {
                d.cmd_bind_pipeline(cmd, vk::PipelineBindPoint::COMPUTE, state.compute);
            }
            for (layout, stages, offset, values) in &state.pushed {
                d.cmd_push_constants(cmd, *layout, *stages, *offset, values);
            }
        }
    }
}

/// Push-constant bytes of a translation shader: addresses, then 32-bit values.
pub fn arguments(addresses: &[u64], values: &[u32]) -> Vec<u8> {
    let mut bytes: Vec<u8> = addresses.iter().flat_map(|a| a.to_le_bytes()).collect();
    bytes.extend(values.iter().flat_map(|v| v.to_le_bytes()));
    bytes
}

//! What is recorded into command buffers, the application's and our own: by which functions, and how long it lives.

use super::geometry::Step;
use super::spare::Own;
use super::state::{CommandState, Patcher};
use crate::error::{Error, Kind, Result};
use crate::vulkan::Vulkan;
use ash::vk::{self, Handle};
use gfxr_parse::ahead::Call;

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

/// Records translations into the application's command buffer.
pub(super) fn record(
    vk: &mut Vulkan,
    p: &Patcher,
    device: u64,
    (cmd_id, cmd): (u64, vk::CommandBuffer),
    steps: &[Step],
) {
    if steps.is_empty() {
        return;
    }
    state(vk, cmd_id).device = device;
    let d = vk.devices[&device].ash.clone();
    for s in steps {
        p.record(&d, cmd, s.pipeline, &s.arguments, s.count, &vk.ray.commands[&cmd_id]);
    }
}

/// Puts back what translations disturb in a command buffer (captured id).
pub(crate) fn put_back(vk: &mut Vulkan, d: &ash::Device, id: u64, cmd: vk::CommandBuffer) {
    state(vk, id).put_back(d, cmd);
}

/// A buffer that lives as long as what was recorded into a command buffer.
pub(crate) fn keep(vk: &mut Vulkan, device: u64, cmd_id: u64, own: Own) {
    let commands = state(vk, cmd_id);
    commands.device = device;
    commands.own.push(own);
}

/// The device of the command buffer a call records into: the only one, or the one whose patcher knows it.
pub(super) fn device_of(vk: &Vulkan, call: &Call) -> Result<u64> {
    let known = vk.ray.commands.get(&call.image.u64(0)).map(|c| c.device).filter(|d| *d != 0);
    let only = || vk.devices.keys().next().copied().filter(|_| vk.devices.len() == 1);
    known
        .or_else(only)
        .ok_or_else(|| Error::new(Kind::Unsupported, "ray tracing in a capture with several devices at once"))
}

/// Whatever ran before is complete and visible.
pub fn wait_for_all(d: &ash::Device, cmd: vk::CommandBuffer) {
    let all = vk::PipelineStageFlags::ALL_COMMANDS;
    let barrier = vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
        .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE);
    // SAFETY: recording.
    unsafe { d.cmd_pipeline_barrier(cmd, all, all, vk::DependencyFlags::empty(), &[barrier], &[], &[]) };
}

/// Records, submits, waits.
pub(super) fn at_once(vk: &mut Vulkan, device: u64, record: impl FnOnce(vk::CommandBuffer)) -> Result<()> {
    super::refresh(vk)?;
    vk.device_mut(device)?.with_upload(|u, d, _| {
        u.run(d, |cmd| {
            wait_for_all(d, cmd);
            record(cmd);
        })
    })
}

/// The functions of a device.
pub(super) fn loader(vk: &Vulkan, device: u64) -> Result<ash::khr::acceleration_structure::Device> {
    let d = vk.device(device)?;
    let instance =
        vk.instances.get(&d.instance_id).ok_or_else(|| Error::divergence("the instance is gone"))?;
    Ok(ash::khr::acceleration_structure::Device::new(&instance.ash, &d.ash))
}

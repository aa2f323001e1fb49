//! Trace commands: shader binding tables are translated into copies of our own right before they are used.

use super::build::device_of;
use super::commands::{arguments, state};
use super::own::Own;
use super::with_patcher;
use crate::error::{Error, Kind, Result};
use crate::exec::{Call, Outcome};
use crate::link::Linked;
use crate::objects::Objects;
use crate::report::Report;
use crate::vulkan::Vulkan;
use ash::vk::{self, Handle};

/// vkCmdTraceRaysKHR, vkCmdTraceRaysIndirectKHR.
pub fn trace(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    let device = device_of(vk, call)?;
    if vk.all_as_captured(device) {
        return vk.raw(call, linked, report);
    }
    let cmd_id = call.image.u64(0);
    let cmd = vk::CommandBuffer::from_raw(linked.arg(0));
    let captured_bytes = vk.ray.handles.keys().next().map_or(0, Vec::len) as u32;
    if captured_bytes == 0 {
        return Err(Error::divergence("a trace before the capture asked for any shader-group handle"));
    }
    with_patcher(vk, device, |vk, p| {
        for slot in 1..=4 {
            let region: *mut vk::StridedDeviceAddressRegionKHR = linked.ptr(slot);
            // SAFETY: linked memory holds the region (or null).
            let Some(region) = (unsafe { region.as_mut() }) else { continue };
            if region.device_address == 0 || region.size == 0 {
                continue;
            }
            let stride = if region.stride == 0 { region.size } else { region.stride };
            let count = region.size.div_ceil(stride) as u32;
            // The last record may be shorter than the stride; what is behind a handle is copied as far as it goes.
            let whole = region.size.min(stride);
            let data = (whole as u32).saturating_sub(captured_bytes) & !3;
            let align = if slot == 1 { p.properties.base_alignment } else { p.properties.handle_alignment };
            let target_stride = u64::from((p.properties.handle_bytes + data).next_multiple_of(align));
            let base = u64::from(p.properties.base_alignment);
            let usage = vk::BufferUsageFlags::SHADER_BINDING_TABLE_KHR;
            let own = Own::local(vk.device_mut(device)?, target_stride * u64::from(count) + base, usage)?;
            let target = own.address.next_multiple_of(base);
            let args = arguments(
                &[region.device_address, target, p.handles.address, p.ranges.address, p.counters.address + 8],
                &[
                    count,
                    (stride / 4) as u32,
                    (target_stride / 4) as u32,
                    captured_bytes / 4,
                    p.properties.handle_bytes / 4,
                    data / 4,
                ],
            );
            let commands = state(vk, cmd_id);
            commands.device = device;
            commands.own.push(own);
            let d = vk.devices[&device].ash.clone();
            p.record(&d, cmd, p.records, &args, count, &vk.ray.commands[&cmd_id]);
            region.device_address = target;
            region.stride = target_stride;
            region.size = target_stride * u64::from(count);
        }
        Ok(())
    })?;
    vk.raw(call, linked, report)
}

/// vkCmdTraceRaysIndirect2KHR: the shader binding tables' addresses lie in device memory.
pub fn trace_indirect2(_: &mut Vulkan, _: &mut Objects, _: &Call, _: &mut Report) -> Result<Option<Outcome>> {
    Err(Error::new(
        Kind::Unsupported,
        "vkCmdTraceRaysIndirect2KHR reads the addresses of its shader binding tables from device memory, where they are not translated",
    ))
}

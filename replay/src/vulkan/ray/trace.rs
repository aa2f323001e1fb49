//! Trace commands: shader binding tables are translated into copies of our own right before they are used.

use crate::error::{Error, Kind, Result};
use crate::vulkan::Vulkan;
use crate::vulkan::linked_call::LinkedCall;
use crate::vulkan::ray::patcher::{arguments, with_patcher};
use crate::vulkan::ray::recording::{device_of, state};
use crate::vulkan::ray::spare::Own;
use ash::vk::{self, Handle};
use gfxr_parse::{argument, size_of_struct};

/// vkCmdTraceRaysKHR, vkCmdTraceRaysIndirectKHR.
pub fn trace(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk, call, linked, .. } = c;
    let device = device_of(vk, call)?;
    if vk.all_as_captured(device) {
        return Ok(());
    }
    let captured_bytes = captured_handle_bytes(vk)?;
    let cmd_id = call.image.u64(0);
    let cmd = vk::CommandBuffer::from_raw(linked.arg(0));
    with_patcher(vk, device, |vk, p| {
        for slot in 1..=4 {
            let Some(region) = linked.param_mut::<vk::StridedDeviceAddressRegionKHR>(slot) else { continue };
            if region.device_address == 0 || region.size == 0 {
                continue;
            }
            let stride = if region.stride == 0 { region.size } else { region.stride };
            // The shader reads so many bytes, whatever is behind the address.
            let room = vk.addresses.room(region.device_address);
            if region.size > room {
                return Err(Error::divergence(format!(
                    "a shader binding table of {} bytes at {:#x}, where {room} bytes are",
                    region.size, region.device_address
                )));
            }
            let too_large = || Error::new(Kind::Unsupported, "a shader binding table of 4 GiB or more");
            let count = u32::try_from(region.size.div_ceil(stride)).map_err(|_| too_large())?;
            // The last record may be shorter than the stride; what is behind a handle is copied as far as it goes.
            let whole = u32::try_from(region.size.min(stride)).map_err(|_| too_large())?;
            let data = whole.saturating_sub(captured_bytes) & !3;
            let align = if slot == 1 { p.properties.base_alignment } else { p.properties.handle_alignment };
            let target_stride =
                (u64::from(p.properties.handle_bytes) + u64::from(data)).next_multiple_of(align.into());
            let base = u64::from(p.properties.base_alignment);
            let usage = vk::BufferUsageFlags::SHADER_BINDING_TABLE_KHR;
            let own =
                Own::local(vk.device_mut(device)?, target_stride.saturating_mul(count.into()) + base, usage)?;
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
    Ok(())
}

const COMMAND_BYTES: u64 = size_of_struct!("VkTraceRaysIndirectCommand2KHR") as u64;
const COMMAND: usize = argument!("vkCmdTraceRaysIndirect2KHR", "indirectDeviceAddress");
/// Records of a table whose length stands in device memory are copied by so many invocations.
const COPIERS: u32 = 1024;

/// vkCmdTraceRaysIndirect2KHR: where the tables are stands in device memory, and how long they are. A shader copies and
/// translates them and writes a command that names the copies. None of them is longer than the longest buffer that may
/// hold one.
pub fn trace_indirect2(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk, call, linked, .. } = c;
    let device = device_of(vk, call)?;
    if vk.all_as_captured(device) {
        return Ok(());
    }
    let cmd_id = call.image.u64(0);
    let cmd = vk::CommandBuffer::from_raw(linked.arg(0));
    let captured_bytes = captured_handle_bytes(vk)?;
    let tables = vk
        .buffers
        .values()
        .filter(|b| b.device == device && b.usage.contains(vk::BufferUsageFlags::SHADER_BINDING_TABLE_KHR));
    let longest = tables.map(|b| b.size).max().unwrap_or(0);
    with_patcher(vk, device, |vk, p| {
        let command =
            Own::local(vk.device_mut(device)?, COMMAND_BYTES, vk::BufferUsageFlags::INDIRECT_BUFFER)?;
        let target_command = command.address;
        let commands = state(vk, cmd_id);
        commands.device = device;
        commands.own.push(command);
        for which in 0..4 {
            let align = if which == 0 { p.properties.base_alignment } else { p.properties.handle_alignment };
            // A record may become longer by the handle's growth and by what aligns it.
            let record = u64::from(captured_bytes.max(1));
            let more = u64::from(p.properties.handle_bytes.saturating_sub(captured_bytes) + align);
            let room = longest.saturating_add(longest.div_ceil(record).saturating_mul(more));
            let capacity = u32::try_from(room).unwrap_or(u32::MAX);
            let base = u64::from(p.properties.base_alignment);
            let usage = vk::BufferUsageFlags::SHADER_BINDING_TABLE_KHR;
            let own = Own::local(vk.device_mut(device)?, u64::from(capacity) + base, usage)?;
            let addresses = [
                linked.arg(COMMAND),
                target_command,
                own.address.next_multiple_of(base),
                p.handles.address,
                p.ranges.address,
                p.counters.address + 8,
            ];
            let sizes = captured_bytes | p.properties.handle_bytes << 16;
            let args = arguments(&addresses, &[which, capacity, sizes, align]);
            state(vk, cmd_id).own.push(own);
            let d = vk.devices[&device].ash.clone();
            p.record(&d, cmd, p.tables, &args, COPIERS, &vk.ray.commands[&cmd_id]);
        }
        linked.set_arg(COMMAND, target_command);
        Ok(())
    })?;
    Ok(())
}

/// Bytes of a shader group's handle at capture.
/// Bytes of a shader group's handle at capture.
pub(crate) fn captured_handle_bytes(vk: &Vulkan) -> Result<u32> {
    match vk.ray.handles.keys().next() {
        Some(handle) => Ok(handle.len() as u32),
        None if vk.prologue.trimmed => Err(Error::new(
            Kind::Unsupported,
            "the snapshot does not hold the handles of the shader groups: record with GFXReconstruct 1.0 or later, or \
             from the first frame on",
        )),
        None => Err(Error::divergence("a trace before the capture asked for any shader-group handle")),
    }
}

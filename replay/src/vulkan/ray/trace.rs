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
            // The shader reads so many bytes, whatever is behind the address.
            let room = vk.addresses.room(region.device_address);
            if region.size > room {
                return Err(Error::divergence(format!(
                    "a shader binding table of {} bytes at {:#x}, where {room} bytes are",
                    region.size, region.device_address
                )));
            }
            let align = if slot == 1 { p.properties.base_alignment } else { p.properties.handle_alignment };
            let t = Rebuilt::of(region, captured_bytes, p.properties.handle_bytes, align)?;
            let base = u64::from(p.properties.base_alignment);
            let usage = vk::BufferUsageFlags::SHADER_BINDING_TABLE_KHR;
            let own = Own::local(vk.device_mut(device)?, t.size().saturating_add(base), usage)?;
            let target = own.address.next_multiple_of(base);
            let args = arguments(
                &[region.device_address, target, p.handles.address, p.ranges.address, p.counters.address + 8],
                &[
                    t.count,
                    (t.from / 4) as u32,
                    (t.to / 4) as u32,
                    captured_bytes / 4,
                    p.properties.handle_bytes / 4,
                    t.data / 4,
                ],
            );
            let commands = state(vk, cmd_id);
            commands.device = device;
            commands.own.push(own);
            let d = vk.devices[&device].ash.clone();
            p.record(&d, cmd, p.records, &args, t.count, &vk.ray.commands[&cmd_id]);
            region.device_address = target;
            region.stride = if region.stride == 0 { 0 } else { t.to };
            region.size = t.size();
        }
        Ok(())
    })?;
    Ok(())
}

/// How a table is laid out anew. Without a stride there is one record, whatever number a ray asks for: there is one here, too, and
/// no stride.
#[derive(Debug, PartialEq, Eq)]
struct Rebuilt {
    /// Records.
    count: u32,
    /// Bytes from one to the next, of the application's and here.
    from: u64,
    to: u64,
    /// Bytes behind each handle.
    data: u32,
}

impl Rebuilt {
    /// For handles of so many bytes then and here, where records begin at multiples of `align`.
    fn of(region: &vk::StridedDeviceAddressRegionKHR, then: u32, here: u32, align: u32) -> Result<Self> {
        let from = if region.stride == 0 { region.size } else { region.stride };
        let too_large = || Error::new(Kind::Unsupported, "a shader binding table of 4 GiB or more");
        let count = u32::try_from(region.size.div_ceil(from.max(1))).map_err(|_| too_large())?;
        // The last record may be shorter than the stride; what is behind a handle is copied as far as it goes.
        let whole = u32::try_from(region.size.min(from)).map_err(|_| too_large())?;
        let data = whole.saturating_sub(then) & !3;
        let to = (u64::from(here) + u64::from(data)).next_multiple_of(align.max(1).into());
        Ok(Rebuilt { count, from, to, data })
    }
    /// Bytes of all records here.
    fn size(&self) -> u64 {
        self.to.saturating_mul(self.count.into())
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn table(size: u64, stride: u64) -> vk::StridedDeviceAddressRegionKHR {
        vk::StridedDeviceAddressRegionKHR { device_address: 4096, stride, size }
    }

    #[test]
    fn records_begin_where_this_device_wants_them() {
        // Handles of 16 bytes with 8 behind them, in steps of 24, on a device with 32 and steps of 64.
        let t = Rebuilt::of(&table(3 * 24, 24), 16, 32, 64).expect("small");
        assert_eq!((&t, t.size()), (&Rebuilt { count: 3, from: 24, to: 64, data: 8 }, 192));
        // The last record has no room for the data.
        let t = Rebuilt::of(&table(2 * 48 + 16, 48), 16, 32, 32).expect("small");
        assert_eq!(t, Rebuilt { count: 3, from: 48, to: 64, data: 32 });
    }

    #[test]
    fn without_a_stride_there_is_one_record() {
        let t = Rebuilt::of(&table(96, 0), 32, 32, 32).expect("small");
        assert_eq!(t, Rebuilt { count: 1, from: 96, to: 96, data: 64 });
        assert!(Rebuilt::of(&table(1 << 33, 0), 32, 32, 32).is_err());
    }
}

//! Copies of acceleration structures: clones, compacted ones, serialised ones and back; and what the host asks for,
//! done on the device.
//!
//! What is serialised goes to a buffer of ours, which is found again by the address that the application gave; and to
//! that address, too, where it takes no more room here than at capture. (Where the host can reach that memory, the capture
//! holds what the device had written there as if the host had: the captured bytes come back over ours.) What was
//! serialised in this replay holds this device's references; what comes from the capture's own data holds the captured
//! ones, which are translated where they lie. Host commands
//! run on the device and are waited for, so that they replay on devices without them; operations are never deferred.
//!
//! Refuses by name: copies into structures too small for them, serialised data of another driver, and host builds and
//! host copies out of memory of the captured process, whose contents no capture holds.

use super::inputs::note;
use super::queries::{ask_now, serialised};
use super::structures::{ensure, filled};
use crate::error::{Error, Kind, Result};
use crate::objects::Objects;
use crate::options::MemoryMode;
use crate::report::Report;
use crate::vulkan::Vulkan;
use crate::vulkan::linked_call::LinkedCall;
use crate::vulkan::ray::noted::Event;
use crate::vulkan::ray::patcher::{arguments, with_patcher};
use crate::vulkan::ray::recording::{at_once, device_of, loader, state};
use crate::vulkan::ray::spare::Own;
use crate::vulkan::ray::state::Serial;
use ash::vk::{self, Handle};
use gfxr_parse::ahead::Call;
use world::Outcome;
use world::span::Span;

/// What serialised data and their addresses are a multiple of.
const SERIAL_ALIGN: u64 = 256;

/// Makes sure that a copy fits; gives back its target, which a snapshot may have made anew.
pub(super) fn fit(
    vk: &mut Vulkan,
    objects: Option<&mut Objects>,
    info: &vk::CopyAccelerationStructureInfoKHR<'_>,
) -> Result<vk::AccelerationStructureKHR> {
    let id = |s: vk::AccelerationStructureKHR| vk.ray.by_live.get(&s.as_raw()).copied();
    let (Some(src), Some(dst)) = (id(info.src), id(info.dst)) else { return Ok(info.dst) };
    let (from, to) = (&vk.ray.structures[&src], &vk.ray.structures[&dst]);
    let compact = info.mode == vk::CopyAccelerationStructureModeKHR::COMPACT;
    let need = match compact {
        true => vk.ray.answers.get(&src).and_then(|a| a.compacted).unwrap_or(0),
        // A clone is made as its source was.
        false if to.captured >= from.captured => from.size,
        false => 0,
    };
    ensure(vk, objects, info.dst, need, if compact { "the compacted copy" } else { "the clone" })
}

/// What a copy is from and to: captured ids, addresses or pointers. The argument with its struct: sType, pNext, src, dst.
fn ends(call: &Call, argument: u32) -> (u64, u64) {
    call.image.target(argument).map_or((0, 0), |to| (call.image.u64(to + 16), call.image.u64(to + 24)))
}

/// vkCmdCopyAccelerationStructureKHR.
pub fn copy(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, call, linked, report, .. } = c;
    if let Some(info) = linked.param::<vk::CopyAccelerationStructureInfoKHR<'_>>(1) {
        fit(vk, None, info)?;
        filled(vk, info.dst);
        let (from, to) = ends(call, 8);
        let device = device_of(vk, call)?;
        note(vk, Some(call.image.u64(0)), device, Event::Copy { from, to });
    }
    vk.raw(call, linked, report)
}

/// vkCopyAccelerationStructureKHR: on the device.
pub fn host_copy(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, call, linked, .. } = c;
    let Some(info) = linked.param::<vk::CopyAccelerationStructureInfoKHR<'_>>(2) else {
        return Err(Error::divergence("pInfo is missing"));
    };
    fit(vk, None, info)?;
    filled(vk, info.dst);
    let device = call.image.u64(0);
    let (from, to) = ends(call, 16);
    note(vk, None, device, Event::Copy { from, to });
    let loader = loader(vk, device)?;
    // SAFETY: recording; both structures are alive, and the source is built.
    at_once(vk, device, |cmd| unsafe { loader.cmd_copy_acceleration_structure(cmd, info) })?;
    Ok(Outcome::captured(call))
}

/// A buffer of ours for a serialised structure, and whether the application's room is large enough, too.
fn shadow(vk: &mut Vulkan, device: u64, id: u64, report: &mut Report) -> Result<(Own, bool)> {
    let need = serialised(vk, device, id)?;
    let then = vk.ray.answers.get(&id).and_then(|a| a.serialised_then);
    let fits = need.is_some_and(|need| then.is_some_and(|then| need <= then));
    let guess = vk.ray.structures.get(&id).map_or(0, |s| s.size.saturating_mul(2)).saturating_add(64 << 10);
    if need.is_none() {
        report.note("structures were serialised whose serialised size nobody asked for: room was guessed");
    }
    let room = need.unwrap_or(guess).saturating_add(SERIAL_ALIGN);
    let own = Own::local(vk.device_mut(device)?, room, vk::BufferUsageFlags::TRANSFER_SRC)?;
    Ok((own, fits))
}

/// vkCmdCopyAccelerationStructureToMemoryKHR.
pub fn serialise(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, call, linked, report, .. } = c;
    let device = device_of(vk, call)?;
    type Info = vk::CopyAccelerationStructureToMemoryInfoKHR<'static>;
    if let (Some(info), Some(to)) = (linked.param::<Info>(1).copied(), call.image.target(8)) {
        // sType, pNext, src, dst, mode.
        let (src, captured) = (call.image.u64(to + 16), call.image.u64(to + 24));
        let (own, fits) = shadow(vk, device, src, report)?;
        note(vk, Some(call.image.u64(0)), device, Event::Serialise { from: src, at: (false, captured) });
        // SAFETY: a union of two 64-bit values.
        if fits && unsafe { info.dst.device_address }.is_multiple_of(SERIAL_ALIGN) {
            vk.raw(call, linked, report)?;
        } else {
            report.note("serialised acceleration structures kept in larger buffers");
        }
        if let Some(info) = linked.param_mut::<Info>(1) {
            info.dst.device_address = own.address.next_multiple_of(SERIAL_ALIGN);
        }
        let before = vk.ray.serials.insert(captured, Serial { own, device });
        if let Some(Serial { own, .. }) = before {
            // It may be in flight still.
            let commands = state(vk, call.image.u64(0));
            commands.device = device;
            commands.own.push(own);
        }
    }
    vk.raw(call, linked, report)
}

/// vkCopyAccelerationStructureToMemoryKHR: on the device, to a buffer that stands for the host's memory.
pub fn host_serialise(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, call, linked, report, .. } = c;
    let info = linked.param_mut::<vk::CopyAccelerationStructureToMemoryInfoKHR<'_>>(2);
    let (Some(info), Some(to)) = (info, call.image.target(16)) else {
        return Err(Error::divergence("pInfo is missing"));
    };
    let (src, pointer) = (call.image.u64(to + 16), call.image.u64(to + 24));
    let device = call.image.u64(0);
    let size =
        ask_now(vk, device, &[info.src], vk::QueryType::ACCELERATION_STRUCTURE_SERIALIZATION_SIZE_KHR)?;
    super::queries::answer(vk, src, vk::QueryType::ACCELERATION_STRUCTURE_SERIALIZATION_SIZE_KHR, size[0]);
    let (own, _) = shadow(vk, device, src, report)?;
    note(vk, None, device, Event::Serialise { from: src, at: (true, pointer) });
    info.dst.device_address = own.address.next_multiple_of(SERIAL_ALIGN);
    let loader = loader(vk, device)?;
    // SAFETY: recording; the structure is built, and the buffer has room for it.
    at_once(vk, device, |cmd| unsafe { loader.cmd_copy_acceleration_structure_to_memory(cmd, info) })?;
    if let Some(before) = vk.ray.host_serials.insert(pointer, Serial { own, device }) {
        before.destroy(&vk.device(device)?.ash);
    }
    Ok(Outcome::captured(call))
}

/// vkCmdCopyMemoryToAccelerationStructureKHR.
pub fn deserialise(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, call, linked, report, .. } = c;
    let device = device_of(vk, call)?;
    let cmd = vk::CommandBuffer::from_raw(linked.arg(0));
    let info = linked.param_mut::<vk::CopyMemoryToAccelerationStructureInfoKHR<'_>>(1);
    let (Some(info), Some(to)) = (info, call.image.target(8)) else {
        return Err(Error::divergence("pInfo is missing"));
    };
    filled(vk, info.dst);
    let (at, target) = ends(call, 8);
    note(vk, Some(call.image.u64(0)), device, Event::Deserialise { at: (false, at), to: target });
    // sType, pNext, src, dst, mode.
    match vk.ray.serials.get(&call.image.u64(to + 16)) {
        Some(Serial { own, .. }) => {
            info.src.device_address = own.address.next_multiple_of(SERIAL_ALIGN);
        }
        None => {
            check_driver(vk)?;
            if vk.all_as_captured(device) {
                return vk.raw(call, linked, report);
            }
            // SAFETY: a union of two 64-bit values.
            let at = unsafe { info.src.device_address };
            let cmd_id = call.image.u64(0);
            with_patcher(vk, device, |vk, p| {
                let args = arguments(&[at, p.references.address, p.counters.address], &[]);
                state(vk, cmd_id).device = device;
                let d = vk.devices[&device].ash.clone();
                p.record(&d, cmd, p.serials, &args, 64, &vk.ray.commands[&cmd_id]);
                Ok(())
            })?;
        }
    }
    vk.raw(call, linked, report)
}

/// Serialised data in the capture are the captured driver's.
fn check_driver(vk: &Vulkan) -> Result<()> {
    if vk.ray.incompatible || vk.ray.another_driver {
        return Err(Error::new(
            Kind::Unsupported,
            "serialised acceleration structures in the capture's data are of another driver: this one cannot read them",
        ));
    }
    Ok(())
}

/// vkCopyMemoryToAccelerationStructureKHR: on the device, from what a copy to the same memory left.
pub fn host_deserialise(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, call, linked, .. } = c;
    let info = linked.param_mut::<vk::CopyMemoryToAccelerationStructureInfoKHR<'_>>(2);
    let (Some(info), Some(to)) = (info, call.image.target(16)) else {
        return Err(Error::divergence("pInfo is missing"));
    };
    let Some(Serial { own, .. }) = vk.ray.host_serials.get(&call.image.u64(to + 16)) else {
        return Err(Error::new(
            Kind::Unsupported,
            "a host copy of a serialised acceleration structure out of memory that no copy in this capture wrote: \
             its bytes are not in the capture",
        ));
    };
    info.src.device_address = own.address.next_multiple_of(SERIAL_ALIGN);
    filled(vk, info.dst);
    let device = call.image.u64(0);
    let (at, target) = ends(call, 16);
    note(vk, None, device, Event::Deserialise { at: (true, at), to: target });
    let loader = loader(vk, device)?;
    // SAFETY: recording; the buffer holds what this device serialised.
    at_once(vk, device, |cmd| unsafe { loader.cmd_copy_memory_to_acceleration_structure(cmd, info) })?;
    Ok(Outcome::captured(call))
}

/// vkWriteAccelerationStructuresPropertiesKHR: on the device.
pub fn host_properties(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, call, linked, .. } = c;
    // device, accelerationStructureCount, pAccelerationStructures, queryType, dataSize, pData, stride.
    let device = call.image.u64(0);
    let Some(p) = call.image.ptr(16).filter(|p| p.has_data()).copied() else {
        return Ok(Outcome::captured(call));
    };
    let ids: Vec<u64> = (0..p.len as u32).map(|i| call.image.u64(p.to + i * 8)).collect();
    let live: Vec<_> = (0..p.len as u32)
        .map(|i| vk::AccelerationStructureKHR::from_raw(linked.word_at(p.to + i * 8)))
        .collect();
    let query = vk::QueryType::from_raw(call.image.u32(24) as i32);
    let now = ask_now(vk, device, &live, query)?;
    let data = call.image.ptr(40).filter(|p| p.has_data()).map(|p| (p.to, p.len));
    let stride = call.image.u64(48);
    for (i, (id, now)) in ids.into_iter().zip(now).enumerate() {
        super::queries::answer(vk, id, query, now);
        let at = (i as u64).checked_mul(stride);
        let at = at.zip(data).and_then(|(at, (to, len))| Some(to + Span::within(at, 8, len)?.start() as u32));
        if let Some(at) = at {
            super::queries::compare(vk, id, query, call.image.u64(at), now);
        }
    }
    Ok(Outcome::captured(call))
}

/// vkBuildAccelerationStructuresKHR.
pub fn host_build(_: &mut Vulkan, _: &mut Objects, _: &Call, _: &mut Report) -> Result<Option<Outcome>> {
    Err(Error::new(
        Kind::Unsupported,
        "a host build of an acceleration structure: its input is memory of the captured process, which is not in the capture",
    ))
}

/// vkGetDeviceAccelerationStructureCompatibilityKHR: whether this driver reads what the captured one wrote.
pub fn compatibility(c: &mut LinkedCall<'_>, _: Outcome) -> Result<()> {
    let LinkedCall { vk, call, linked, .. } = c;
    // device, pVersionInfo, pCompatibility.
    if let Some(to) = call.image.target(16) {
        let compatible = vk::AccelerationStructureCompatibilityKHR::COMPATIBLE.as_raw() as u32;
        let (then, now) = (call.image.u32(to), linked.u32_at(to));
        vk.ray.incompatible |= then == compatible && now != compatible;
    }
    Ok(())
}

/// A device was made: serialised data in the capture are of its driver or of another.
pub(super) fn device_made(vk: &mut Vulkan, gpu_id: u64) {
    let gpu = vk.gpus.get(&gpu_id);
    let same = match (gpu, vk.prologue.gpus.get(&gpu_id)) {
        (Some(gpu), Some(then)) => gpu.is_same(then),
        _ => vk.memory.mode != MemoryMode::Rebind,
    };
    vk.ray.another_driver |= !same;
}

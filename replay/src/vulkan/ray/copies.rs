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
use gfxr_parse::{argument, member, param};
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

const SRC: u32 = member!("VkCopyAccelerationStructureInfoKHR", "src");
const DST: u32 = member!("VkCopyAccelerationStructureInfoKHR", "dst");

/// What a copy is from and to: captured ids, addresses or pointers. Of the struct that the
/// parameter at this offset leads to: all of them have both at the same places.
fn ends(call: &Call, info: u32) -> (u64, u64) {
    call.image.target(info).map_or((0, 0), |to| (call.image.u64(to + SRC), call.image.u64(to + DST)))
}

/// vkCmdCopyAccelerationStructureKHR.
pub fn copy(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    const INFO: usize = argument!("vkCmdCopyAccelerationStructureKHR", "pInfo");
    let LinkedCall { vk, call, linked, report, .. } = c;
    if let Some(info) = linked.param::<vk::CopyAccelerationStructureInfoKHR<'_>>(INFO) {
        fit(vk, None, info)?;
        filled(vk, info.dst);
        let (from, to) = ends(call, param!("vkCmdCopyAccelerationStructureKHR", "pInfo"));
        let device = device_of(vk, call)?;
        note(vk, Some(call.image.u64(0)), device, Event::Copy { from, to });
    }
    vk.raw(call, linked, report)
}

/// vkCopyAccelerationStructureKHR: on the device.
pub fn host_copy(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, call, linked, .. } = c;
    const INFO: usize = argument!("vkCopyAccelerationStructureKHR", "pInfo");
    let Some(info) = linked.param::<vk::CopyAccelerationStructureInfoKHR<'_>>(INFO) else {
        return Err(Error::divergence("pInfo is missing"));
    };
    fit(vk, None, info)?;
    filled(vk, info.dst);
    let device = call.image.u64(0);
    let (from, to) = ends(call, param!("vkCopyAccelerationStructureKHR", "pInfo"));
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
    const INFO: usize = argument!("vkCmdCopyAccelerationStructureToMemoryKHR", "pInfo");
    if let Some(info) = linked.param::<Info>(INFO).copied() {
        let (src, captured) = ends(call, param!("vkCmdCopyAccelerationStructureToMemoryKHR", "pInfo"));
        let (own, fits) = shadow(vk, device, src, report)?;
        note(vk, Some(call.image.u64(0)), device, Event::Serialise { from: src, at: (false, captured) });
        // SAFETY: a union of two 64-bit values.
        if fits && unsafe { info.dst.device_address }.is_multiple_of(SERIAL_ALIGN) {
            vk.raw(call, linked, report)?;
        } else {
            report.note("serialised acceleration structures kept in larger buffers");
        }
        if let Some(info) = linked.param_mut::<Info>(INFO) {
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
    const INFO: usize = argument!("vkCopyAccelerationStructureToMemoryKHR", "pInfo");
    let Some(info) = linked.param_mut::<vk::CopyAccelerationStructureToMemoryInfoKHR<'_>>(INFO) else {
        return Err(Error::divergence("pInfo is missing"));
    };
    let (src, pointer) = ends(call, param!("vkCopyAccelerationStructureToMemoryKHR", "pInfo"));
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
    const INFO: usize = argument!("vkCmdCopyMemoryToAccelerationStructureKHR", "pInfo");
    let Some(info) = linked.param_mut::<vk::CopyMemoryToAccelerationStructureInfoKHR<'_>>(INFO) else {
        return Err(Error::divergence("pInfo is missing"));
    };
    filled(vk, info.dst);
    let (at, target) = ends(call, param!("vkCmdCopyMemoryToAccelerationStructureKHR", "pInfo"));
    note(vk, Some(call.image.u64(0)), device, Event::Deserialise { at: (false, at), to: target });
    match vk.ray.serials.get(&at) {
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
    const INFO: usize = argument!("vkCopyMemoryToAccelerationStructureKHR", "pInfo");
    let Some(info) = linked.param_mut::<vk::CopyMemoryToAccelerationStructureInfoKHR<'_>>(INFO) else {
        return Err(Error::divergence("pInfo is missing"));
    };
    let (at, target) = ends(call, param!("vkCopyMemoryToAccelerationStructureKHR", "pInfo"));
    let Some(Serial { own, .. }) = vk.ray.host_serials.get(&at) else {
        return Err(Error::new(
            Kind::Unsupported,
            "a host copy of a serialised acceleration structure out of memory that no copy in this capture wrote: \
             its bytes are not in the capture",
        ));
    };
    info.src.device_address = own.address.next_multiple_of(SERIAL_ALIGN);
    filled(vk, info.dst);
    let device = call.image.u64(0);
    note(vk, None, device, Event::Deserialise { at: (true, at), to: target });
    let loader = loader(vk, device)?;
    // SAFETY: recording; the buffer holds what this device serialised.
    at_once(vk, device, |cmd| unsafe { loader.cmd_copy_memory_to_acceleration_structure(cmd, info) })?;
    Ok(Outcome::captured(call))
}

/// vkWriteAccelerationStructuresPropertiesKHR: on the device.
pub fn host_properties(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, call, linked, .. } = c;
    let device = call.image.u64(0);
    let of = param!("vkWriteAccelerationStructuresPropertiesKHR", "pAccelerationStructures");
    let Some(p) = call.image.ptr(of).filter(|p| p.has_data()) else { return Ok(Outcome::captured(call)) };
    let ids = call.image.u64s(of);
    let live = (p.to..).step_by(size_of::<u64>()).take(ids.len());
    let live: Vec<_> = live.map(|at| vk::AccelerationStructureKHR::from_raw(linked.word_at(at))).collect();
    let query = call.image.u32(param!("vkWriteAccelerationStructuresPropertiesKHR", "queryType"));
    let query = vk::QueryType::from_raw(query as i32);
    let now = ask_now(vk, device, &live, query)?;
    let data = call.image.ptr(param!("vkWriteAccelerationStructuresPropertiesKHR", "pData"));
    let data = data.filter(|p| p.has_data()).map(|p| (p.to, p.len));
    let stride = call.image.u64(param!("vkWriteAccelerationStructuresPropertiesKHR", "stride"));
    for (i, (id, now)) in ids.zip(now).enumerate() {
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
    let answer = param!("vkGetDeviceAccelerationStructureCompatibilityKHR", "pCompatibility");
    if let Some(to) = call.image.target(answer) {
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

//! Acceleration structures: made as large as this device wants them, built from translated instances.

use super::commands::{arguments, state};
use super::own::Own;
use super::with_patcher;
use crate::error::{Error, Kind, Result};
use crate::exec::{Call, Outcome};
use crate::link::Linked;
use crate::objects::Objects;
use crate::report::Report;
use crate::vulkan::resources::new_object;
use crate::vulkan::{Vulkan, addresses::Addresses, exact};
use ash::vk::{self, Handle};

/// Bytes of a VkAccelerationStructureInstanceKHR.
const INSTANCE_BYTES: u64 = 64;

/// vkGetAccelerationStructureBuildSizesKHR: what the captured driver wanted and what this one wants.
pub fn build_sizes(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    let outcome = vk.raw(call, linked, report)?;
    // VkAccelerationStructureBuildSizesInfoKHR: sType, pNext, accelerationStructureSize.
    if let Some(to) = call.image.target(32) {
        let (then, now) = (call.image.u64(to + 16), linked.word_at(to + 16));
        let known = vk.ray.sizes.entry(then).or_insert(now);
        *known = now.max(*known);
    }
    Ok(outcome)
}

/// vkCreateAccelerationStructureKHR.
pub fn create(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    let info: *mut vk::AccelerationStructureCreateInfoKHR = linked.ptr(1);
    // SAFETY: linked memory holds the create info (or null).
    let Some(info) = (unsafe { info.as_mut() }) else {
        return Err(Error::divergence("pCreateInfo is missing"));
    };
    let device = call.image.u64(0);
    let captured = info.size;
    let wanted = vk.ray.sizes.get(&captured).copied().unwrap_or(captured);
    let mut grown = None;
    if wanted > captured {
        let d = vk.device_mut(device)?;
        let usage = vk::BufferUsageFlags::ACCELERATION_STRUCTURE_STORAGE_KHR;
        let own = Own::local(d, wanted, usage)?;
        (info.buffer, info.offset, info.size) = (own.buffer(), 0, wanted);
        grown = Some(own);
        report.note("acceleration structures moved to larger buffers");
    }
    let id = new_object(call).ok().map(|(id, _)| id);
    let outcome = exact::create_structure(vk, id, grown.is_some(), call, linked, report)?;
    if let (Some(own), Ok((id, _))) = (grown, new_object(call)) {
        vk.ray.grown.insert(id, own);
    }
    Ok(outcome)
}

/// vkDestroyAccelerationStructureKHR.
pub fn destroy(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    let id = call.image.u64(8);
    let outcome = vk.raw(call, linked, report)?;
    if let Some(captured) = vk.ray.addresses.remove(&id) {
        vk.ray.references.remove(&captured);
    }
    if let Some(own) = vk.ray.grown.remove(&id) {
        own.destroy(&vk.device(call.image.u64(0))?.ash);
    }
    Ok(outcome)
}

/// vkCmdBuildAccelerationStructuresKHR.
pub fn build(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    let device = device_of(vk, call)?;
    let cmd_id = call.image.u64(0);
    let cmd = vk::CommandBuffer::from_raw(linked.arg(0));
    let n = linked.arg(1) as u32 as usize;
    let infos: *mut vk::AccelerationStructureBuildGeometryInfoKHR = linked.ptr(2);
    let ranges: *const *mut vk::AccelerationStructureBuildRangeInfoKHR = linked.ptr(3);
    if n == 0 || infos.is_null() || ranges.is_null() {
        return vk.raw(call, linked, report);
    }
    let as_captured = vk.all_as_captured(device);
    // Captured scratch addresses say how much room the application left behind them.
    let scratch: Vec<u64> = captured_scratch(call, n);
    with_patcher(vk, device, |vk, p| {
        for (i, &scratch) in scratch.iter().enumerate() {
            // SAFETY: linked memory; the linker checked both arrays against their counts.
            let (info, range) = unsafe { (&mut *infos.add(i), *ranges.add(i)) };
            for g in 0..info.geometry_count as usize {
                // SAFETY: as above; one of the two arrays is there.
                let (geometry, range) = unsafe {
                    let geometry = if info.p_geometries.is_null() {
                        *info.pp_geometries.add(g) as *mut vk::AccelerationStructureGeometryKHR
                    } else {
                        info.p_geometries.add(g) as *mut vk::AccelerationStructureGeometryKHR
                    };
                    (&mut *geometry, &mut *range.add(g))
                };
                let instances = geometry.geometry_type == vk::GeometryTypeKHR::INSTANCES;
                if !instances || range.primitive_count == 0 || as_captured {
                    continue;
                }
                // SAFETY: the geometry type says which member is meant.
                let (source, pointers) = unsafe {
                    let i = &geometry.geometry.instances;
                    (i.data.device_address, i.array_of_pointers != 0)
                };
                if source == 0 {
                    continue;
                }
                let usage = vk::BufferUsageFlags::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR;
                let room = u64::from(range.primitive_count) * INSTANCE_BYTES + 16;
                let own = Own::local(vk.device_mut(device)?, room, usage)?;
                let target = own.address.next_multiple_of(16);
                let args = arguments(
                    &[
                        source + u64::from(range.primitive_offset),
                        target,
                        p.references.address,
                        p.ranges.address,
                        p.counters.address,
                    ],
                    &[range.primitive_count, u32::from(pointers)],
                );
                let commands = state(vk, cmd_id);
                commands.device = device;
                commands.own.push(own);
                let d = vk.devices[&device].ash.clone();
                p.record(&d, cmd, p.instances, &args, range.primitive_count, &vk.ray.commands[&cmd_id]);
                geometry.geometry.instances.array_of_pointers = 0;
                geometry.geometry.instances.data.device_address = target;
                range.primitive_offset = 0;
            }
            let counts: Vec<u32> = (0..info.geometry_count as usize)
                // SAFETY: as above.
                .map(|g| unsafe { (*range.add(g)).primitive_count })
                .collect();
            own_scratch(vk, device, cmd_id, info, &counts, scratch, p.properties.scratch_alignment)?;
        }
        Ok(())
    })?;
    vk.raw(call, linked, report)
}

/// The captured scratch address of each build.
fn captured_scratch(call: &Call, n: usize) -> Vec<u64> {
    use gfxr_parse::schema::{Ty, generated::STRUCTS};
    let Ty::Struct(id) = call.command.params[2].ty else { return vec![0; n] };
    let def = &STRUCTS[id as usize];
    let at = def.members.iter().find(|m| m.name == "scratchData").map_or(0, |m| m.at);
    let to = call.image.target(16).unwrap_or(0);
    (0..n as u32).map(|i| call.image.u64(to + i * def.size + at)).collect()
}

/// Scratch of our own where the application's is too small or badly aligned for this device.
fn own_scratch(
    vk: &mut Vulkan,
    device: u64,
    cmd_id: u64,
    info: &mut vk::AccelerationStructureBuildGeometryInfoKHR<'_>,
    counts: &[u32],
    captured: u64,
    alignment: u32,
) -> Result<()> {
    let d = vk.device(device)?;
    let instance =
        vk.instances.get(&d.instance_id).ok_or_else(|| Error::divergence("the instance is gone"))?;
    let loader = ash::khr::acceleration_structure::Device::new(&instance.ash, &d.ash);
    let mut sizes = vk::AccelerationStructureBuildSizesInfoKHR::default();
    // SAFETY: a linked build info and a count for each geometry.
    unsafe {
        let kind = vk::AccelerationStructureBuildTypeKHR::DEVICE;
        loader.get_acceleration_structure_build_sizes(kind, info, counts, &mut sizes);
    }
    let update = info.mode == vk::BuildAccelerationStructureModeKHR::UPDATE;
    let need = if update { sizes.update_scratch_size } else { sizes.build_scratch_size };
    // SAFETY: a union of two 64-bit values.
    let here = unsafe { info.scratch_data.device_address };
    let left = room_behind(&vk.addresses, captured);
    if need <= left && here % u64::from(alignment) == 0 {
        return Ok(());
    }
    let own = Own::local(vk.device_mut(device)?, need + u64::from(alignment), vk::BufferUsageFlags::empty())?;
    info.scratch_data.device_address = own.address.next_multiple_of(u64::from(alignment));
    let commands = state(vk, cmd_id);
    commands.device = device;
    commands.own.push(own);
    Ok(())
}

fn room_behind(addresses: &Addresses, captured: u64) -> u64 {
    addresses.left(captured)
}

/// vkCmdBuildAccelerationStructuresIndirectKHR: counts lie in device memory; without instances nothing needs them.
pub fn indirect_build(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    let n = linked.arg(1) as u32 as usize;
    let infos: *const vk::AccelerationStructureBuildGeometryInfoKHR = linked.ptr(2);
    for i in 0..n {
        // SAFETY: linked memory, checked against its count.
        let info = unsafe { &*infos.add(i) };
        if info.ty == vk::AccelerationStructureTypeKHR::TOP_LEVEL {
            return Err(Error::new(
                Kind::Unsupported,
                "an indirect build of a top-level acceleration structure: how many instances it has is not known here",
            ));
        }
    }
    vk.raw(call, linked, report)
}

/// The device of the command buffer a call records into: the only one, or the one whose patcher knows it.
pub(super) fn device_of(vk: &Vulkan, call: &Call) -> Result<u64> {
    let known = vk.ray.commands.get(&call.image.u64(0)).map(|c| c.device).filter(|d| *d != 0);
    let only = || vk.devices.keys().next().copied().filter(|_| vk.devices.len() == 1);
    known
        .or_else(only)
        .ok_or_else(|| Error::new(Kind::Unsupported, "ray tracing in a capture with several devices at once"))
}

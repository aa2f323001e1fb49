//! Builds of acceleration structures: from translated instances, with scratch memory as large as this device wants.

use super::commands::{arguments, state};
use super::inputs::{self, Ranges};
use super::own::Own;
use super::structures::{ensure, filled, loader};
use super::{Patcher, with_patcher};
use crate::error::{Error, Kind, Result};
use crate::exec::{Call, Outcome};
use crate::link::Linked;
use crate::objects::Objects;
use crate::report::Report;
use crate::vulkan::Vulkan;
use ash::vk::{self, Handle};

/// Bytes of a VkAccelerationStructureInstanceKHR.
pub(super) const INSTANCE_BYTES: u64 = 64;

/// A translation to be recorded before a build.
pub(super) struct Step {
    /// Its shader.
    pub pipeline: vk::Pipeline,
    /// Its push constants.
    pub arguments: Vec<u8>,
    /// Invocations.
    pub count: u32,
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
    // SAFETY: linked memory; the linker checked both arrays against their counts, and every build has a range a geometry.
    let builds: Vec<_> = (0..n)
        .map(|i| unsafe {
            let info = &*infos.add(i);
            (info, Ranges::Known(std::slice::from_raw_parts(*ranges.add(i), info.geometry_count as usize)))
        })
        .collect();
    inputs::recorded(
        vk,
        inputs::Of { device, command_buffer: Some(cmd_id), command: call.block },
        cmd,
        &builds,
    )?;
    if vk.options.rehearse.indirect {
        return super::indirect::rehearsed(vk, call, linked, report, device);
    }
    // Captured scratch addresses say how much room the application left behind them.
    let scratch: Vec<u64> = captured_scratch(call, n);
    with_patcher(vk, device, |vk, p| {
        for (i, &scratch) in scratch.iter().enumerate() {
            // SAFETY: linked memory; the linker checked both arrays against their counts.
            let (info, range) = unsafe { (&mut *infos.add(i), *ranges.add(i)) };
            let steps = prepare(vk, p, device, cmd_id, info, range, scratch)?;
            record(vk, p, device, (cmd_id, cmd), &steps);
        }
        Ok(())
    })?;
    vk.raw(call, linked, report)
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

/// The geometry of a build.
///
/// # Safety
/// A linked build info that has `g` geometries before this one.
pub(super) unsafe fn geometry<'a>(
    info: &vk::AccelerationStructureBuildGeometryInfoKHR<'_>,
    g: usize,
) -> &'a mut vk::AccelerationStructureGeometryKHR<'a> {
    // SAFETY: one of the two arrays is there, in linked memory of ours.
    unsafe {
        let at =
            if info.p_geometries.is_null() { *info.pp_geometries.add(g) } else { info.p_geometries.add(g) };
        &mut *(at as *mut vk::AccelerationStructureGeometryKHR<'a>)
    }
}

/// What one build needs before it can run: instances translated, scratch and target large enough. Changes the linked
/// build to use what was made; that lives with the command buffer `cmd_id`. `scratch`: its captured scratch address.
pub(super) fn prepare(
    vk: &mut Vulkan,
    p: &Patcher,
    device: u64,
    cmd_id: u64,
    info: &mut vk::AccelerationStructureBuildGeometryInfoKHR<'_>,
    range: *mut vk::AccelerationStructureBuildRangeInfoKHR,
    scratch: u64,
) -> Result<Vec<Step>> {
    let as_captured = vk.all_as_captured(device);
    let mut steps = Vec::new();
    let mut counts = Vec::with_capacity(info.geometry_count as usize);
    for g in 0..info.geometry_count as usize {
        // SAFETY: linked memory, with a range for each geometry.
        let (geometry, range) = unsafe { (geometry(info, g), &mut *range.add(g)) };
        counts.push(range.primitive_count);
        let instances = geometry.geometry_type == vk::GeometryTypeKHR::INSTANCES;
        if !instances || range.primitive_count == 0 || as_captured {
            continue;
        }
        refuse_motion(info)?;
        let Some(mut source) = source_of(geometry) else { continue };
        source.address += u64::from(range.primitive_offset);
        let (step, target) = translate(vk, p, device, cmd_id, source, range.primitive_count, None)?;
        steps.push(step);
        geometry.geometry.instances.array_of_pointers = 0;
        geometry.geometry.instances.data.device_address = target;
        range.primitive_offset = 0;
    }
    fit(vk, device, info, &counts, cmd_id, scratch, p.properties.scratch_alignment)?;
    Ok(steps)
}

/// Instances of another shape than the one that is translated.
pub(super) fn refuse_motion(info: &vk::AccelerationStructureBuildGeometryInfoKHR<'_>) -> Result<()> {
    if info.flags.contains(vk::BuildAccelerationStructureFlagsKHR::MOTION_NV) {
        return Err(Error::new(
            Kind::Unsupported,
            "a top-level build with motion (VK_NV_ray_tracing_motion_blur): references in its instances are not translated",
        ));
    }
    Ok(())
}

/// Where a geometry's instances are.
pub(super) struct Instances {
    /// The live address of the first, or of the first pointer.
    pub address: u64,
    /// They are pointers to instances.
    pub pointers: bool,
}

/// A geometry's instances, if it has any.
pub(super) fn source_of(geometry: &vk::AccelerationStructureGeometryKHR<'_>) -> Option<Instances> {
    // SAFETY: the caller saw that the geometry is one of instances.
    let (address, pointers) = unsafe {
        let i = &geometry.geometry.instances;
        (i.data.device_address, i.array_of_pointers != 0)
    };
    (address != 0).then_some(Instances { address, pointers })
}

/// Instances whose number lies in device memory: a VkAccelerationStructureBuildRangeInfoKHR, and where to write the one
/// that fits the copy (0: nowhere, and what is behind the last instance becomes inactive).
pub(super) struct Counted {
    /// Live address of the application's.
    pub range: u64,
    /// Live address of ours.
    pub ours: u64,
}

/// The step that copies and translates up to `count` instances, and where to.
pub(super) fn translate(
    vk: &mut Vulkan,
    p: &Patcher,
    device: u64,
    cmd_id: u64,
    source: Instances,
    count: u32,
    counted: Option<Counted>,
) -> Result<(Step, u64)> {
    let usage = vk::BufferUsageFlags::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR;
    let own = Own::local(vk.device_mut(device)?, u64::from(count) * INSTANCE_BYTES + 16, usage)?;
    let target = own.address.next_multiple_of(16);
    let (range, ours) = counted.map_or((0, 0), |c| (c.range, c.ours));
    let addresses =
        [source.address, target, p.references.address, p.ranges.address, p.counters.address, range, ours];
    let arguments = arguments(&addresses, &[count, u32::from(source.pointers)]);
    keep(vk, device, cmd_id, own);
    Ok((Step { pipeline: p.instances, arguments, count }, target))
}

/// A buffer that lives as long as what was recorded into a command buffer.
pub(super) fn keep(vk: &mut Vulkan, device: u64, cmd_id: u64, own: Own) {
    let commands = state(vk, cmd_id);
    commands.device = device;
    commands.own.push(own);
}

/// The captured scratch address of each build.
pub(super) fn captured_scratch(call: &Call, n: usize) -> Vec<u64> {
    use gfxr_parse::schema::{Ty, generated::STRUCTS};
    let Ty::Struct(id) = call.command.params[2].ty else { return vec![0; n] };
    let def = &STRUCTS[id as usize];
    let at = def.members.iter().find(|m| m.name == "scratchData").map_or(0, |m| m.at);
    let to = call.image.target(16).unwrap_or(0);
    (0..n as u32).map(|i| call.image.u64(to + i * def.size + at)).collect()
}

/// What a build of so many primitives needs on this device.
pub(super) fn needs(
    vk: &Vulkan,
    device: u64,
    info: &vk::AccelerationStructureBuildGeometryInfoKHR<'_>,
    counts: &[u32],
) -> Result<vk::AccelerationStructureBuildSizesInfoKHR<'static>> {
    let loader = loader(vk, device)?;
    let mut sizes = vk::AccelerationStructureBuildSizesInfoKHR::default();
    // SAFETY: a linked build info and a count for each geometry.
    unsafe {
        let kind = vk::AccelerationStructureBuildTypeKHR::DEVICE;
        loader.get_acceleration_structure_build_sizes(kind, info, counts, &mut sizes);
    }
    let larger = |size| vk.options.rehearse.larger(size);
    sizes.acceleration_structure_size = larger(sizes.acceleration_structure_size);
    sizes.build_scratch_size = larger(sizes.build_scratch_size);
    sizes.update_scratch_size = larger(sizes.update_scratch_size);
    Ok(sizes)
}

/// The target must be large enough; scratch of our own where the application's is too small or badly aligned.
pub(super) fn fit(
    vk: &mut Vulkan,
    device: u64,
    info: &mut vk::AccelerationStructureBuildGeometryInfoKHR<'_>,
    counts: &[u32],
    cmd_id: u64,
    captured: u64,
    alignment: u32,
) -> Result<()> {
    let sizes = needs(vk, device, info, counts)?;
    let update = info.mode == vk::BuildAccelerationStructureModeKHR::UPDATE;
    ensure(vk, None, info.dst_acceleration_structure, sizes.acceleration_structure_size, "what is built in")?;
    filled(vk, info.dst_acceleration_structure);
    let need = if update { sizes.update_scratch_size } else { sizes.build_scratch_size };
    // SAFETY: a union of two 64-bit values.
    let here = unsafe { info.scratch_data.device_address };
    let left = vk.addresses.left(captured);
    let align = u64::from(alignment);
    if need <= left && here.is_multiple_of(align) {
        return Ok(());
    }
    let own = Own::local(vk.device_mut(device)?, need + align, vk::BufferUsageFlags::empty())?;
    info.scratch_data.device_address = own.address.next_multiple_of(align);
    keep(vk, device, cmd_id, own);
    Ok(())
}

/// The device of the command buffer a call records into: the only one, or the one whose patcher knows it.
pub(super) fn device_of(vk: &Vulkan, call: &Call) -> Result<u64> {
    let known = vk.ray.commands.get(&call.image.u64(0)).map(|c| c.device).filter(|d| *d != 0);
    let only = || vk.devices.keys().next().copied().filter(|_| vk.devices.len() == 1);
    known
        .or_else(only)
        .ok_or_else(|| Error::new(Kind::Unsupported, "ray tracing in a capture with several devices at once"))
}

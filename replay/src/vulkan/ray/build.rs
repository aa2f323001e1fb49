//! Builds of acceleration structures: from translated instances, with scratch memory as large as this device wants.

use super::structures::{ensure, filled};
use crate::error::{Error, Kind, Result};
use crate::vulkan::Vulkan;
use crate::vulkan::ray::geometry::{INSTANCE_BYTES, Instances, LinkedBuild, Step, refuse_motion, source_of};
use crate::vulkan::ray::patcher::arguments;
use crate::vulkan::ray::recording::{keep, loader};
use crate::vulkan::ray::spare::Own;
use crate::vulkan::ray::state::Patcher;
use ash::vk;

/// What one build needs before it can run: instances translated, scratch and target large enough. Changes the build to
/// use what was made; that lives with the command buffer `cmd_id`. `scratch`: its captured scratch address.
pub(super) fn prepare(
    vk: &mut Vulkan,
    p: &Patcher,
    device: u64,
    cmd_id: u64,
    build: &mut LinkedBuild,
    scratch: u64,
) -> Result<Vec<Step>> {
    let as_captured = vk.all_as_captured(device);
    let mut steps = Vec::new();
    let counts: Vec<u32> = build.ranges.iter().map(|r| r.primitive_count).collect();
    let flags = build.info.flags;
    for (geometry, range) in build.geometries.iter_mut().zip(&mut build.ranges) {
        let instances = geometry.geometry_type == vk::GeometryTypeKHR::INSTANCES;
        if !instances || range.primitive_count == 0 || as_captured {
            continue;
        }
        refuse_motion(flags)?;
        let Some(mut source) = source_of(geometry) else { continue };
        source.address = source.address.saturating_add(range.primitive_offset.into());
        let (step, target) = translate(vk, p, device, cmd_id, source, range.primitive_count, None)?;
        steps.push(step);
        geometry.geometry.instances.array_of_pointers = 0;
        geometry.geometry.instances.data.device_address = target;
        range.primitive_offset = 0;
    }
    fit(vk, device, build, &counts, cmd_id, scratch, p.properties.scratch_alignment)?;
    Ok(steps)
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
    // The shader reads so many, whatever is behind the address; how many stand in device memory nobody knows here.
    let each = if source.pointers { 8 } else { INSTANCE_BYTES };
    let room = vk.addresses.room(source.address);
    if counted.is_none() && room < u64::from(count) * each {
        return Err(Error::divergence(format!(
            "a build reads {count} instances of {each} bytes at {:#x}, where {room} bytes are",
            source.address
        )));
    }
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

/// What a build of so many primitives needs on this device.
pub(super) fn needs(
    vk: &Vulkan,
    device: u64,
    build: &LinkedBuild,
    counts: &[u32],
) -> Result<vk::AccelerationStructureBuildSizesInfoKHR<'static>> {
    if counts.len() != build.geometries.len() {
        return Err(Error::new(Kind::Internal, "a build without a count for each geometry"));
    }
    let loader = loader(vk, device)?;
    let mut sizes = vk::AccelerationStructureBuildSizesInfoKHR::default();
    // SAFETY: a build of live memory and a count for each geometry, as just compared.
    unsafe {
        let kind = vk::AccelerationStructureBuildTypeKHR::DEVICE;
        loader.get_acceleration_structure_build_sizes(kind, &build.info(), counts, &mut sizes);
    }
    let larger = |size| vk.options.rehearse.larger(size);
    sizes.acceleration_structure_size = larger(sizes.acceleration_structure_size);
    sizes.build_scratch_size = larger(sizes.build_scratch_size);
    sizes.update_scratch_size = larger(sizes.update_scratch_size);
    Ok(sizes)
}

/// The target must be large enough; scratch of our own where the application's is too small, badly aligned, or followed too
/// closely by another build's.
pub(super) fn fit(
    vk: &mut Vulkan,
    device: u64,
    build: &mut LinkedBuild,
    counts: &[u32],
    cmd_id: u64,
    captured: u64,
    alignment: u32,
) -> Result<()> {
    let sizes = needs(vk, device, build, counts)?;
    let info = build.info_mut();
    let update = info.mode == vk::BuildAccelerationStructureModeKHR::UPDATE;
    ensure(vk, None, info.dst_acceleration_structure, sizes.acceleration_structure_size, "what is built in")?;
    filled(vk, info.dst_acceleration_structure);
    let need = if update { sizes.update_scratch_size } else { sizes.build_scratch_size };
    // SAFETY: a union of two 64-bit values.
    let here = unsafe { info.scratch_data.device_address };
    let left = vk.addresses.left(captured).min(vk.scratch.room(captured));
    let align = u64::from(alignment);
    if need <= left && here.is_multiple_of(align) {
        return Ok(());
    }
    let own = Own::local(vk.device_mut(device)?, need.saturating_add(align), vk::BufferUsageFlags::empty())?;
    info.scratch_data.device_address = own.address.next_multiple_of(align);
    keep(vk, device, cmd_id, own);
    Ok(())
}

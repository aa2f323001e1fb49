//! Builds of acceleration structures: from translated instances, with scratch memory as large as this device wants.

use super::commands::state;
use super::inputs::{self, Ranges};
use super::structures::{ensure, filled, loader};
use crate::error::{Error, Kind, Result};
use crate::link::Linked;
use crate::objects::Objects;
use crate::report::Report;
use crate::vulkan::Vulkan;
use crate::vulkan::ray::patcher::arguments;
use crate::vulkan::ray::patcher::with_patcher;
use crate::vulkan::ray::spare::Own;
use crate::vulkan::ray::state::Patcher;
use ash::vk::{self, Handle};
use gfxr_parse::ahead::Call;
use world::Outcome;

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

/// A build, copied out of a linked call.
pub(super) struct Build {
    info: vk::AccelerationStructureBuildGeometryInfoKHR<'static>,
    /// As many as the build says.
    pub geometries: Vec<vk::AccelerationStructureGeometryKHR<'static>>,
    /// One of each, where the host knows them.
    pub ranges: Vec<vk::AccelerationStructureBuildRangeInfoKHR>,
    /// What extends the triangles of each geometry.
    pub extended: Vec<Option<&'static str>>,
}

impl Build {
    /// The build at an address of a linked call; its ranges are at another.
    pub fn read(linked: &Linked, info: u64, ranges: Option<u64>) -> Result<Self> {
        let short = || Error::new(Kind::Capture, "a build with fewer geometries or ranges than it says");
        let info = *linked
            .one(info as *const vk::AccelerationStructureBuildGeometryInfoKHR<'_>)
            .ok_or_else(short)?;
        let n = info.geometry_count;
        // One of the two arrays is there.
        let geometries = if info.p_geometries.is_null() {
            let pointers = linked.all(info.pp_geometries.cast::<*const _>(), n).ok_or_else(short)?;
            pointers.iter().map(|p| linked.one(*p).copied()).collect::<Option<_>>()
        } else {
            linked.all(info.p_geometries, n).map(<[_]>::to_vec)
        };
        let geometries: Vec<vk::AccelerationStructureGeometryKHR<'_>> = geometries.ok_or_else(short)?;
        let ranges = match ranges {
            Some(at) => linked.all(at as *const _, n).ok_or_else(short)?.to_vec(),
            None => Vec::new(),
        };
        let extended = geometries.iter().map(|g| inputs::extended(linked, g)).collect();
        Ok(Build { info, geometries, ranges, extended })
    }

    /// What the driver is told: valid as long as this is there, and the call that it was read from.
    pub fn info(&self) -> vk::AccelerationStructureBuildGeometryInfoKHR<'_> {
        vk::AccelerationStructureBuildGeometryInfoKHR {
            p_geometries: self.geometries.as_ptr(),
            pp_geometries: std::ptr::null(),
            geometry_count: self.geometries.len() as u32,
            ..self.info
        }
    }
    /// To change what is built and where.
    pub fn info_mut(&mut self) -> &mut vk::AccelerationStructureBuildGeometryInfoKHR<'static> {
        &mut self.info
    }

    /// Puts what was changed back to where it was read from.
    pub fn put_back(&self, linked: &mut Linked, info: u64, ranges: Option<u64>) {
        let n = self.geometries.len() as u32;
        if let Some(i) = linked.one_mut(info as *const vk::AccelerationStructureBuildGeometryInfoKHR<'_>) {
            *i = self.info;
        }
        if self.info.p_geometries.is_null() {
            let pointers: Vec<*const _> =
                linked.all(self.info.pp_geometries.cast(), n).unwrap_or_default().to_vec();
            for (p, g) in pointers.into_iter().zip(&self.geometries) {
                if let Some(to) = linked.one_mut(p) {
                    *to = *g;
                }
            }
        } else if let Some(to) = linked.all_mut(self.info.p_geometries, n) {
            to.copy_from_slice(&self.geometries);
        }
        if let Some(to) = ranges.and_then(|at| linked.all_mut(at as *const _, n)) {
            to.copy_from_slice(&self.ranges);
        }
    }
}

/// Where the builds of a call are: the address of each info, and of its ranges in the array of arrays in slot `inner`.
pub(super) fn places(call: &Call, linked: &Linked, inner: usize) -> Result<Vec<(u64, u64)>> {
    let n = linked.arg(1) as u32;
    let short = || Error::new(Kind::Capture, format!("fewer builds than the {n} that the call says"));
    let infos = linked.params::<vk::AccelerationStructureBuildGeometryInfoKHR<'_>>(2, 1).ok_or_else(short)?;
    let outer = linked.all(linked.arg(inner) as *const u64, n).ok_or_else(short)?;
    let inner = call.image.ptr(inner as u32 * 8).filter(|p| p.has_data());
    for (i, info) in (0..).zip(infos) {
        // No count member governs these arrays.
        let have =
            inner.and_then(|p| call.image.ptr(p.to + i * 8)).filter(|p| p.has_data()).map_or(0, |p| p.len);
        if have < info.geometry_count.into() {
            return Err(Error::new(
                Kind::Capture,
                format!(
                    "build {i} has {} geometries and numbers of primitives for {have}",
                    info.geometry_count
                ),
            ));
        }
    }
    Ok(infos.iter().zip(outer).map(|(info, at)| ((&raw const *info) as u64, *at)).collect())
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
    let places = places(call, linked, 3)?;
    let mut builds = places
        .iter()
        .map(|(info, ranges)| Build::read(linked, *info, Some(*ranges)))
        .collect::<Result<Vec<_>>>()?;
    let noted: Vec<_> = builds.iter().map(|b| (b, Ranges::Known(&b.ranges))).collect();
    let of = inputs::Of { device, command_buffer: Some(cmd_id), command: call.block };
    inputs::recorded(vk, of, cmd, &noted)?;
    if vk.options.rehearse.indirect {
        return super::indirect::rehearsed(vk, call, linked, report, device);
    }
    // Captured scratch addresses say how much room the application left behind them.
    let scratch: Vec<u64> = captured_scratch(call, builds.len());
    with_patcher(vk, device, |vk, p| {
        for (build, &scratch) in builds.iter_mut().zip(&scratch) {
            let steps = prepare(vk, p, device, cmd_id, build, scratch)?;
            record(vk, p, device, (cmd_id, cmd), &steps);
        }
        Ok(())
    })?;
    for (build, (info, ranges)) in builds.iter().zip(places) {
        build.put_back(linked, info, Some(ranges));
    }
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

/// What one build needs before it can run: instances translated, scratch and target large enough. Changes the build to
/// use what was made; that lives with the command buffer `cmd_id`. `scratch`: its captured scratch address.
pub(super) fn prepare(
    vk: &mut Vulkan,
    p: &Patcher,
    device: u64,
    cmd_id: u64,
    build: &mut Build,
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

/// Instances of another shape than the one that is translated.
pub(super) fn refuse_motion(flags: vk::BuildAccelerationStructureFlagsKHR) -> Result<()> {
    if flags.contains(vk::BuildAccelerationStructureFlagsKHR::MOTION_NV) {
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
    let infos = call.image.ptr(16).filter(|p| p.has_data());
    let of = |i: u32| {
        infos.filter(|p| u64::from(i) < p.len).map_or(0, |p| call.image.u64(p.to + i * def.size + at))
    };
    (0..n as u32).map(of).collect()
}

/// What a build of so many primitives needs on this device.
pub(super) fn needs(
    vk: &Vulkan,
    device: u64,
    build: &Build,
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
    build: &mut Build,
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

/// The device of the command buffer a call records into: the only one, or the one whose patcher knows it.
pub(super) fn device_of(vk: &Vulkan, call: &Call) -> Result<u64> {
    let known = vk.ray.commands.get(&call.image.u64(0)).map(|c| c.device).filter(|d| *d != 0);
    let only = || vk.devices.keys().next().copied().filter(|_| vk.devices.len() == 1);
    known
        .or_else(only)
        .ok_or_else(|| Error::new(Kind::Unsupported, "ray tracing in a capture with several devices at once"))
}

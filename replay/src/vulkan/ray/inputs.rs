//! What builds of acceleration structures read, copied as they read it, for hooks that want to know the application's
//! geometry.
//!
//! Off until a hook asks ([`Vulkan::watch_builds`]). Then each build is preceded, in the same command buffer, by a shader
//! that copies its input to memory of ours that the host reads: triangles corner by corner without indices, boxes and
//! instances one behind the other, arrays of pointers followed; of an indirect build as many as stand in device memory.
//! Instances keep the capture's references. Builds and copies are noted in the order of their recording, with the command
//! buffer that runs them; those of a snapshot are done when they are noted. Guarantees: what is copied is what the build
//! reads, whatever happens to the application's buffers later; a command buffer that is submitted again overwrites what
//! it had copied before.
//!
//! Not copied, and named in [`Geometry::missing`]: corners of odd formats, geometry of the special extensions, motion,
//! micromaps, data without memory for them.

use crate::error::Result;
use crate::vulkan::Vulkan;
use crate::vulkan::ray::geometry::{INSTANCE_BYTES, LinkedBuild, Step, corner_bytes, index_bytes};
pub use crate::vulkan::ray::noted::{Build, Event, Geometry, Kind, Noted};
use crate::vulkan::ray::patcher::{arguments, with_patcher};
use crate::vulkan::ray::recording::record;
use crate::vulkan::ray::spare::Own;
use crate::vulkan::ray::state::Patcher;
use ash::vk::{self, Handle};
use std::collections::HashMap;

/// Where what is copied begins in its buffer; before it stand the range, the transform, and what the shaders need.
pub const DATA: usize = 256;
/// Where the transform of triangles stands: three rows of four 32-bit numbers.
pub const TRANSFORM: usize = 64;
const ONE: u64 = 112;
const NO_TABLE: u64 = 128;
const NO_COUNTERS: u64 = 144;
/// More bytes of a geometry are not copied.
const MOST_BYTES: u64 = 2 << 30;

/// How many primitives each geometry has.
pub(super) enum Ranges<'r> {
    /// So many.
    Known(&'r [vk::AccelerationStructureBuildRangeInfoKHR]),
    /// What stands at this live address, bytes from one to the next; at most so many.
    InMemory(u64, u32, &'r [u32]),
}

/// Notes something that is not a build.
pub(super) fn note(vk: &mut Vulkan, command_buffer: Option<u64>, device: u64, event: Event) {
    if vk.ray.inputs.on {
        vk.ray.inputs.noted.push(Noted { command_buffer, device, event });
    }
}

/// Whose build it is.
#[derive(Clone, Copy)]
pub(super) struct Of {
    /// The captured id of the device.
    pub device: u64,
    /// That of the command buffer; none in a snapshot.
    pub command_buffer: Option<u64>,
    /// The call's number.
    pub command: u64,
}

/// Notes a build that is about to be recorded; gives back what copies its input before it.
pub(super) fn take(
    vk: &mut Vulkan,
    p: &Patcher,
    of: Of,
    build: &LinkedBuild,
    ranges: &Ranges<'_>,
) -> Result<Vec<Step>> {
    let info = build.info();
    let structure = vk.ray.by_live.get(&info.dst_acceleration_structure.as_raw()).copied();
    let Some(structure) = structure.filter(|_| vk.ray.inputs.on) else { return Ok(vec![]) };
    let (mut steps, mut geometries) = (vec![], vec![]);
    let motion = info.flags.contains(vk::BuildAccelerationStructureFlagsKHR::MOTION_NV);
    for (g, geometry) in build.geometries.iter().enumerate() {
        let extended = build.extended.get(g).copied().flatten();
        geometries.push(one(vk, p, of, (geometry, extended), (g, ranges), motion, &mut steps)?);
    }
    let event = Event::Build(Build {
        structure,
        top: geometries.iter().any(|g| g.kind == Kind::Instances)
            || info.ty == vk::AccelerationStructureTypeKHR::TOP_LEVEL,
        update: info.mode == vk::BuildAccelerationStructureModeKHR::UPDATE,
        flags: info.flags.as_raw(),
        command: of.command,
        geometries,
    });
    note(vk, of.command_buffer, of.device, event);
    Ok(steps)
}

/// One geometry, and the steps that copy it.
fn one(
    vk: &mut Vulkan,
    p: &Patcher,
    of: Of,
    (geometry, extended): (&vk::AccelerationStructureGeometryKHR<'_>, Option<&str>),
    (g, ranges): (usize, &Ranges<'_>),
    motion: bool,
    steps: &mut Vec<Step>,
) -> Result<Geometry> {
    let (most, range) = match ranges {
        Ranges::Known(all) => all.get(g).map_or((0, None), |r| (r.primitive_count, Some(*r))),
        Ranges::InMemory(_, _, most) => (most.get(g).copied().unwrap_or(0), None),
    };
    let (kind, bytes, mut missing) = shape(geometry, extended);
    if motion {
        missing = "motion: only where it begins is known".into();
    }
    let mut found = Geometry { kind, flags: geometry.flags.as_raw(), most, buffer: None, missing };
    if most == 0 || kind == Kind::Other {
        return Ok(found);
    }
    let size = u64::from(most) * bytes;
    let own = match size {
        size if size > MOST_BYTES => None,
        size => Own::readable(vk.device_mut(of.device)?, DATA as u64 + size + 16).ok(),
    };
    let Some(own) = own else {
        found.missing = format!("{size} bytes, for which there is no memory");
        found.kind = Kind::Other;
        return Ok(found);
    };
    // (addresses of our buffers are multiples of 16, and of 256 where memory is not shared)
    let base = own.address;
    let mut header = [0u8; DATA];
    header[ONE as usize] = 1;
    let range_at = match (range, ranges) {
        (Some(r), _) => {
            let words = [r.primitive_count, r.primitive_offset, r.first_vertex, r.transform_offset];
            header[..16].copy_from_slice(&words.map(u32::to_le_bytes).concat());
            base
        }
        (None, Ranges::InMemory(address, stride, _)) => address.saturating_add(g as u64 * u64::from(*stride)),
        (None, Ranges::Known(_)) => base,
    };
    own.write(0, &header);
    if range.is_none() {
        // Four words, as if they were a corner of a triangle (which has three).
        let addresses = [range_at, 0, 0, base + ONE, base, 0];
        steps.push(step(p.triangles, &addresses, &[1, 0, 4, 0], 1));
    }
    let target = base + DATA as u64;
    // SAFETY: the geometry type says which member is meant; unions of two 64-bit values in it.
    unsafe {
        match kind {
            Kind::Triangles { words, .. } => {
                let t = &geometry.geometry.triangles;
                let at = [
                    t.vertex_data.device_address,
                    t.index_data.device_address,
                    t.transform_data.device_address,
                ];
                let addresses = [at[0], at[1], at[2], range_at, target, base + TRANSFORM as u64];
                let index_bytes = index_bytes(t.index_type);
                let values = [most, t.vertex_stride as u32, words, index_bytes];
                steps.push(step(p.triangles, &addresses, &values, most));
            }
            Kind::Boxes => {
                let a = &geometry.geometry.aabbs;
                let addresses = [a.data.device_address, range_at, target];
                steps.push(step(p.boxes, &addresses, &[most, a.stride as u32, 0], most));
            }
            _ => {
                let i = &geometry.geometry.instances;
                let (first, counted) = match range {
                    Some(r) => (i.data.device_address.saturating_add(r.primitive_offset.into()), 0),
                    None => (i.data.device_address, range_at),
                };
                // (a table without entries leaves references as they are)
                let (none, counters) = (base + NO_TABLE, base + NO_COUNTERS);
                let addresses = [first, target, none, p.ranges.address, counters, counted, 0];
                let values = [most, u32::from(i.array_of_pointers != 0)];
                steps.push(step(p.instances, &addresses, &values, most));
            }
        }
    }
    let inputs = &mut vk.ray.inputs;
    inputs.next += 1;
    inputs.buffers.insert(inputs.next, (of.device, own));
    found.buffer = Some(inputs.next);
    Ok(found)
}

fn step(pipeline: vk::Pipeline, addresses: &[u64], values: &[u32], count: u32) -> Step {
    Step { pipeline, arguments: arguments(addresses, values), count }
}

/// What a geometry is of, bytes of a primitive of it, and what is missing of it.
fn shape(geometry: &vk::AccelerationStructureGeometryKHR<'_>, extended: Option<&str>) -> (Kind, u64, String) {
    match geometry.geometry_type {
        vk::GeometryTypeKHR::TRIANGLES => {
            // SAFETY: the geometry type says which member is meant.
            let t = unsafe { &geometry.geometry.triangles };
            let format = t.vertex_format;
            let Ok(bytes) = corner_bytes(format) else {
                return (Kind::Other, 0, format!("triangles with corners in {format:?}"));
            };
            // SAFETY: a union of two 64-bit values.
            let transform = unsafe { t.transform_data.device_address } != 0;
            let words = bytes.div_ceil(4);
            let missing = extended.map_or(String::new(), |s| format!("{s} of triangles"));
            (Kind::Triangles { format, words, transform }, u64::from(words) * 12, missing)
        }
        vk::GeometryTypeKHR::AABBS => (Kind::Boxes, 24, String::new()),
        vk::GeometryTypeKHR::INSTANCES => (Kind::Instances, INSTANCE_BYTES, String::new()),
        other => (Kind::Other, 0, format!("geometry of kind {other:?}")),
    }
}

/// What was copied is for the host to read.
pub(super) fn to_host(d: &ash::Device, cmd: vk::CommandBuffer) {
    let barrier = vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::SHADER_WRITE)
        .dst_access_mask(vk::AccessFlags::HOST_READ);
    let (from, to) = (vk::PipelineStageFlags::COMPUTE_SHADER, vk::PipelineStageFlags::HOST);
    // SAFETY: recording.
    unsafe { d.cmd_pipeline_barrier(cmd, from, to, vk::DependencyFlags::empty(), &[barrier], &[], &[]) };
}

/// The builds of a call, about to be recorded into the application's command buffer.
pub(super) fn recorded(
    vk: &mut Vulkan,
    of: Of,
    cmd: vk::CommandBuffer,
    builds: &[(&LinkedBuild, Ranges<'_>)],
) -> Result<()> {
    let Some(cmd_id) = of.command_buffer.filter(|_| vk.ray.inputs.on) else { return Ok(()) };
    with_patcher(vk, of.device, |vk, p| {
        for (one, ranges) in builds {
            let steps = take(vk, p, of, one, ranges)?;
            record(vk, p, of.device, (cmd_id, cmd), &steps);
        }
        Ok(())
    })?;
    to_host(&vk.device(of.device)?.ash, cmd);
    Ok(())
}

/// A device goes.
pub(super) fn forget(vk: &mut Vulkan, device: u64) -> Result<()> {
    let all = std::mem::take(&mut vk.ray.inputs.buffers);
    let (gone, kept): (HashMap<_, _>, HashMap<_, _>) = all.into_iter().partition(|b| b.1.0 == device);
    vk.ray.inputs.buffers = kept;
    let d = &vk.device(device)?.ash;
    gone.into_values().for_each(|(_, own)| own.destroy(d));
    Ok(())
}

impl Vulkan {
    /// From now on builds are noted, and their input copied.
    pub fn watch_builds(&mut self) {
        self.ray.inputs.on = true;
    }

    /// What was noted since this was asked last, in the order of recording.
    pub fn noted_builds(&mut self) -> Vec<Noted> {
        std::mem::take(&mut self.ray.inputs.noted)
    }

    /// A buffer with a geometry's input; what filled it is done. None if its device is gone.
    pub fn read_input(&self, buffer: u64) -> Option<Vec<u8>> {
        self.ray.inputs.buffers.get(&buffer).and_then(|(_, own)| own.read())
    }

    /// Nobody wants it any more, and nothing that fills it is in flight.
    pub fn drop_input(&mut self, buffer: u64) {
        if let Some((device, own)) = self.ray.inputs.buffers.remove(&buffer)
            && let Ok(d) = self.device_mut(device)
        {
            own.give(d);
        }
    }
}

//! Indirect builds: how many primitives there are stands in device memory.
//!
//! Where the device has them, only top levels need anything: a shader copies and translates as many instances as stand
//! there and writes the range for the copy. Where it has none, the build is made a direct one of as many primitives as
//! there may be at most, from copies in which those that are too many are inactive instances, triangles without area,
//! or boxes that are none: rays meet the same primitives under the same numbers. Where the device is a CPU the boxes are
//! points at a corner of the first one: an inactive box makes Mesa's llvmpipe lose the others.

use super::build::{Counted, fit, translate};
use super::inputs::{self, Ranges};
use crate::error::{Error, Kind, Result};
use crate::link::Linked;
use crate::report::Report;
use crate::vulkan::Vulkan;
use crate::vulkan::linked_call::LinkedCall;
use crate::vulkan::ray::geometry::{
    LinkedBuild, Step, captured_scratch, corner_bytes, index_bytes, places, refuse_motion, source_of,
};
use crate::vulkan::ray::patcher::{arguments, with_patcher};
use crate::vulkan::ray::recording::{device_of, keep, loader, record};
use crate::vulkan::ray::spare::Own;
use crate::vulkan::ray::state::Patcher;
use ash::vk::{self, Handle};
use gfxr_parse::ahead::Call;
use gfxr_parse::argument;
use world::Outcome;

/// Bytes of a box, and of a build's range.
const BOX_BYTES: u64 = size_of::<vk::AabbPositionsKHR>() as u64;
const RANGE_BYTES: u64 = size_of::<vk::AccelerationStructureBuildRangeInfoKHR>() as u64;

/// The command buffer and device of a call.
#[derive(Clone, Copy)]
struct At {
    device: u64,
    cmd_id: u64,
    cmd: vk::CommandBuffer,
}

/// One build and where its ranges are.
struct Indirect {
    build: LinkedBuild,
    /// Live address of the first range, bytes from one to the next.
    ranges: (u64, u32),
    /// Primitives of each geometry at most.
    most: Vec<u32>,
    /// The captured scratch address.
    scratch: u64,
}

impl Indirect {
    /// Where its ranges are.
    fn in_memory(&self) -> Ranges<'_> {
        Ranges::InMemory(self.ranges.0, self.ranges.1, &self.most)
    }
    /// Live address of a geometry's range.
    fn range(&self, g: usize) -> u64 {
        self.ranges.0.saturating_add(g as u64 * u64::from(self.ranges.1))
    }
}

/// vkCmdBuildAccelerationStructuresIndirectKHR.
pub fn indirect_build(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, call, linked, report, .. } = c;
    let device = device_of(vk, call)?;
    let at = At { device, cmd_id: call.image.u64(0), cmd: vk::CommandBuffer::from_raw(linked.arg(0)) };
    const COUNT: usize = argument!("vkCmdBuildAccelerationStructuresIndirectKHR", "infoCount");
    const ADDRESSES: usize =
        argument!("vkCmdBuildAccelerationStructuresIndirectKHR", "pIndirectDeviceAddresses");
    const STRIDES: usize = argument!("vkCmdBuildAccelerationStructuresIndirectKHR", "pIndirectStrides");
    const MOST: usize = argument!("vkCmdBuildAccelerationStructuresIndirectKHR", "ppMaxPrimitiveCounts");
    let places = places(call, linked, MOST)?;
    let short = || Error::new(Kind::Capture, "fewer addresses or strides than builds");
    let addresses = linked.params::<u64>(ADDRESSES, COUNT).ok_or_else(short)?.to_vec();
    let strides = linked.params::<u32>(STRIDES, COUNT).ok_or_else(short)?;
    let scratch = captured_scratch(call, places.len());
    let mut all = Vec::new();
    for (i, (info, most)) in places.iter().enumerate() {
        let build = LinkedBuild::read(linked, *info, None)?;
        let most = linked.all(*most as *const u32, build.geometries.len() as u32).ok_or_else(short)?.to_vec();
        all.push(Indirect { build, ranges: (addresses[i], strides[i]), most, scratch: scratch[i] });
    }
    let noted: Vec<_> = all.iter().map(|one| (&one.build, one.in_memory())).collect();
    let of = inputs::Of { device, command_buffer: Some(at.cmd_id), command: call.block };
    inputs::recorded(vk, of, at.cmd, &noted)?;
    let native = with_patcher(vk, device, |vk, p| {
        for (i, one) in all.iter_mut().enumerate() {
            if p.properties.indirect_builds {
                let address = counted(vk, p, at, one)?;
                if let Some(to) = linked.params_mut::<u64>(ADDRESSES, COUNT) {
                    to[i] = address;
                }
                one.build.put_back(linked, places[i].0, None);
            } else {
                direct(vk, p, at, one)?;
            }
        }
        Ok(p.properties.indirect_builds)
    })?;
    if native {
        return vk.raw(call, linked, report);
    }
    report.note("indirect builds made direct ones: this device has no indirect builds");
    Ok(Outcome::captured(call))
}

/// Instances translated on the device; gives back where the ranges are now.
fn counted(vk: &mut Vulkan, p: &Patcher, at: At, one: &mut Indirect) -> Result<u64> {
    let mut ranges = one.ranges.0;
    for g in 0..one.build.geometries.len() {
        let (most, range) = (one.most[g], one.range(g));
        let instances = one.build.geometries[g].geometry_type == vk::GeometryTypeKHR::INSTANCES;
        if !instances || most == 0 || vk.all_as_captured(at.device) {
            continue;
        }
        refuse_motion(one.build.info().flags)?;
        if one.build.geometries.len() > 1 {
            return Err(Error::new(Kind::Capture, "a top-level build with several geometries"));
        }
        let geometry = &mut one.build.geometries[g];
        let Some(source) = source_of(geometry) else { continue };
        let usage = vk::BufferUsageFlags::INDIRECT_BUFFER;
        let own = Own::local(vk.device_mut(at.device)?, RANGE_BYTES, usage)?;
        let counted = Counted { range, ours: own.address };
        ranges = own.address;
        keep(vk, at.device, at.cmd_id, own);
        let (step, target) = translate(vk, p, at.device, at.cmd_id, source, most, Some(counted))?;
        record(vk, p, at.device, (at.cmd_id, at.cmd), &[step]);
        geometry.geometry.instances.array_of_pointers = 0;
        geometry.geometry.instances.data.device_address = target;
    }
    fit(vk, at.device, &mut one.build, &one.most, at.cmd_id, one.scratch, p.properties.scratch_alignment)?;
    Ok(ranges)
}

/// The build as a direct one, recorded.
fn direct(vk: &mut Vulkan, p: &Patcher, at: At, one: &mut Indirect) -> Result<()> {
    let mut ranges = Vec::new();
    let flags = one.build.info().flags;
    for g in 0..one.build.geometries.len() {
        let (most, range) = (one.most[g], one.range(g));
        let geometry = &mut one.build.geometries[g];
        ranges.push(vk::AccelerationStructureBuildRangeInfoKHR::default().primitive_count(most));
        if most == 0 {
            continue;
        }
        let step = match geometry.geometry_type {
            vk::GeometryTypeKHR::INSTANCES => {
                refuse_motion(flags)?;
                let Some(source) = source_of(geometry) else { continue };
                let counted = Counted { range, ours: 0 };
                let (step, target) = translate(vk, p, at.device, at.cmd_id, source, most, Some(counted))?;
                geometry.geometry.instances.array_of_pointers = 0;
                geometry.geometry.instances.data.device_address = target;
                step
            }
            vk::GeometryTypeKHR::TRIANGLES => triangles(vk, p, at, geometry, range, most)?,
            vk::GeometryTypeKHR::AABBS => boxes(vk, p, at, geometry, range, most)?,
            other => {
                return Err(Error::new(
                    Kind::Unsupported,
                    format!("an indirect build of geometry {other:?}, on a device without indirect builds"),
                ));
            }
        };
        record(vk, p, at.device, (at.cmd_id, at.cmd), &[step]);
    }
    fit(vk, at.device, &mut one.build, &one.most, at.cmd_id, one.scratch, p.properties.scratch_alignment)?;
    let loader = loader(vk, at.device)?;
    // SAFETY: recording into the application's command buffer; a build of live memory with a range for each geometry.
    unsafe { loader.cmd_build_acceleration_structures(at.cmd, &[one.build.info()], &[&ranges]) };
    Ok(())
}

const INPUT: vk::BufferUsageFlags = vk::BufferUsageFlags::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR;

/// A geometry of triangles becomes one of corners without indices, in buffers of ours.
fn triangles(
    vk: &mut Vulkan,
    p: &Patcher,
    at: At,
    geometry: &mut vk::AccelerationStructureGeometryKHR<'_>,
    range: u64,
    most: u32,
) -> Result<Step> {
    // SAFETY: the geometry type says which member is meant.
    let t = unsafe { &mut geometry.geometry.triangles };
    let words = corner_bytes(t.vertex_format)?.div_ceil(4);
    let own = Own::local(vk.device_mut(at.device)?, u64::from(most) * 3 * u64::from(words) * 4 + 16, INPUT)?;
    let matrix = size_of::<vk::TransformMatrixKHR>() as u64;
    let matrix = Own::local(vk.device_mut(at.device)?, matrix + 16, INPUT)?;
    let (target, place) = (own.address.next_multiple_of(16), matrix.address.next_multiple_of(16));
    keep(vk, at.device, at.cmd_id, own);
    keep(vk, at.device, at.cmd_id, matrix);
    let index_bytes = index_bytes(t.index_type);
    // SAFETY: unions of two 64-bit values.
    let (corners, indices, transform) = unsafe {
        (t.vertex_data.device_address, t.index_data.device_address, t.transform_data.device_address)
    };
    let addresses = [corners, indices, transform, range, target, place];
    let arguments = arguments(&addresses, &[most, t.vertex_stride as u32, words, index_bytes]);
    t.vertex_data.device_address = target;
    t.vertex_stride = u64::from(words) * 4;
    t.max_vertex = most.saturating_mul(3).saturating_sub(1);
    t.index_type = vk::IndexType::NONE_KHR;
    t.index_data.device_address = 0;
    if transform != 0 {
        t.transform_data.device_address = place;
    }
    Ok(Step { pipeline: p.triangles, arguments, count: most })
}

/// A geometry of boxes becomes one of boxes in a buffer of ours.
fn boxes(
    vk: &mut Vulkan,
    p: &Patcher,
    at: At,
    geometry: &mut vk::AccelerationStructureGeometryKHR<'_>,
    range: u64,
    most: u32,
) -> Result<Step> {
    // SAFETY: the geometry type says which member is meant.
    let a = unsafe { &mut geometry.geometry.aabbs };
    let own = Own::local(vk.device_mut(at.device)?, u64::from(most) * BOX_BYTES + 16, INPUT)?;
    let target = own.address.next_multiple_of(16);
    keep(vk, at.device, at.cmd_id, own);
    // SAFETY: a union of two 64-bit values.
    let source = unsafe { a.data.device_address };
    let arguments =
        arguments(&[source, range, target], &[most, a.stride as u32, u32::from(p.properties.on_cpu)]);
    a.data.device_address = target;
    a.stride = BOX_BYTES;
    Ok(Step { pipeline: p.boxes, arguments, count: most })
}

/// A direct build done as if it had been an indirect one of up to one primitive more, on a device without: so that this
/// way is tried where no application can go it.
pub(super) fn rehearsed(
    vk: &mut Vulkan,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
    device: u64,
) -> Result<Outcome> {
    let at = At { device, cmd_id: call.image.u64(0), cmd: vk::CommandBuffer::from_raw(linked.arg(0)) };
    let places = places(call, linked, argument!("vkCmdBuildAccelerationStructuresKHR", "ppBuildRangeInfos"))?;
    let scratch = captured_scratch(call, places.len());
    with_patcher(vk, device, |vk, p| {
        for (&(info, ranges), &scratch) in places.iter().zip(&scratch) {
            let build = LinkedBuild::read(linked, info, Some(ranges))?;
            let words = build
                .ranges
                .iter()
                .flat_map(|r| [r.primitive_count, r.primitive_offset, r.first_vertex, r.transform_offset]);
            let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
            let own = Own::visible(vk.device_mut(device)?, bytes.len().max(64) as u64)?;
            own.write(0, &bytes);
            let address = own.address;
            keep(vk, device, at.cmd_id, own);
            let most: Vec<u32> = build.ranges.iter().map(|r| r.primitive_count.saturating_add(1)).collect();
            let mut one = Indirect { build, ranges: (address, RANGE_BYTES as u32), most, scratch };
            direct(vk, p, at, &mut one)?;
        }
        Ok(())
    })?;
    report.note("direct builds rehearsed as indirect ones");
    Ok(Outcome::captured(call))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_of_every_usual_format_have_a_size() {
        assert_eq!(corner_bytes(vk::Format::R32G32B32_SFLOAT).ok(), Some(12));
        assert_eq!(corner_bytes(vk::Format::R16G16B16_SNORM).ok(), Some(6));
        let e = corner_bytes(vk::Format::D16_UNORM).expect_err("no corner").to_string();
        assert!(e.contains("D16_UNORM"), "{e}");
    }
}

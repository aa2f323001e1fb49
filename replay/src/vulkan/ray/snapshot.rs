//! Acceleration structures in the snapshot of a trimmed capture: built, compacted and asked about again.
//!
//! The capture layer (1.0 and later) writes what every structure was last built from as metadata blocks, bottom levels
//! first. They run here in command buffers of our own and are waited for. A structure whose size turns out too small for
//! this device is made anew: descriptors are written later in a snapshot.
//!
//! Of structures that were compacted and whose originals are gone, the capture says how the original was built (into a
//! temporary structure, destroyed right after), but not which copy was made of which. The temporary ones are kept until
//! all is built, then copied to those that nothing built: by equal compacted size, as it is on the captured driver;
//! otherwise, where there are as many of the one as of the other, in the order of their sizes, and a note says so.
//!
//! Refuses by name: snapshots whose layer left out how structures were built (0.9), unless their bytes may serve as they
//! are, on the captured driver; copies whose originals cannot be told.

use super::build::{needs, prepare};
use super::copies::fit;
use super::geometry::LinkedBuild;
use super::inputs::{self, note};
use super::queries::{answer, ask_now};
use super::structures::{ensure, filled, renew};
use crate::error::{Error, Kind, Result};
use crate::link::{Lenience, Linked};
use crate::objects::Objects;
use crate::report::Report;
use crate::vulkan::Vulkan;
use crate::vulkan::ray::noted::Event;
use crate::vulkan::ray::patcher::with_patcher;
use crate::vulkan::ray::recording::{at_once, loader, wait_for_all};
use crate::vulkan::ray::state::{CommandState, Structure};
use ash::vk::{self, Handle};
use gfxr_parse::decode::{decode_struct_array, decode_struct_array2};
use gfxr_parse::image::Image;
use gfxr_parse::meta::{BuildAcceleration, CopyAcceleration, Meta, WriteAcceleration};
use gfxr_parse::schema::struct_named;

/// The id under which translations of a snapshot keep their buffers; no capture uses it.
const OURS: u64 = u64::MAX;

/// The snapshot loads a buffer.
pub(crate) fn loads(vk: &mut Vulkan, id: u64, data: &[u8]) {
    let usage = vk::BufferUsageFlags::ACCELERATION_STRUCTURE_STORAGE_KHR;
    if vk.buffers.get(&id).is_some_and(|b| b.usage.contains(usage)) && data.iter().any(|b| *b != 0) {
        vk.ray.snapshot.used.insert(id);
    }
}

/// Types 28, 29 and 30.
pub(crate) fn meta(
    vk: &mut Vulkan,
    objects: &mut Objects,
    meta: &Meta<'_>,
    report: &mut Report,
) -> Result<()> {
    match meta {
        Meta::BuildAcceleration(m) => build(vk, objects, m, report),
        Meta::CopyAcceleration(m) => copy(vk, objects, m),
        Meta::WriteAcceleration(m) => write(vk, objects, m),
        _ => Ok(()),
    }
}

fn damaged(e: gfxr_parse::error::Error, offset: u64) -> Error {
    Error::new(Kind::Capture, e.rebase(offset).to_string())
}

fn struct_id(name: &str) -> gfxr_parse::schema::StructId {
    struct_named(name).expect("the schema has it")
}

fn link(vk: &Vulkan, objects: &Objects, image: &Image) -> Result<Linked> {
    let mut linked = Linked::default();
    linked.link(image, objects, Lenience::default(), |a| vk.addresses.map(a))?;
    Ok(linked)
}

/// Type 28.
fn build(
    vk: &mut Vulkan,
    objects: &mut Objects,
    m: &BuildAcceleration<'_>,
    report: &mut Report,
) -> Result<()> {
    vk.ray.snapshot.builds += 1;
    let (mut image, mut range_image) = (Image::default(), Image::default());
    let id = struct_id("VkAccelerationStructureBuildGeometryInfoKHR");
    let read = decode_struct_array(id, m.encoded, &mut image).map_err(|e| damaged(e, m.offset))?;
    let rest = &m.encoded[read.min(m.encoded.len())..];
    let id = struct_id("VkAccelerationStructureBuildRangeInfoKHR");
    decode_struct_array2(id, rest, &mut range_image).map_err(|e| damaged(e, m.offset + read as u64))?;
    let linked = link(vk, objects, &image)?;
    let range_linked = link(vk, objects, &range_image)?;
    let Some(outer) = image.ptr(0).filter(|p| p.has_data()).copied() else { return Ok(()) };
    let inner = |i: u64| {
        let to = range_image.ptr(0).filter(|p| p.has_data() && p.len > i)?.to;
        range_image.ptr(to + i as u32 * size_of::<u64>() as u32).filter(|p| p.has_data())
    };
    let bytes = size_of::<vk::AccelerationStructureBuildGeometryInfoKHR<'_>>() as u64;
    for i in 0..outer.len {
        let mut build = LinkedBuild::read(&linked, linked.address_of(outer.to) + i * bytes, None)?;
        let n = build.geometries.len() as u32;
        let ranges = inner(i).filter(|p| p.len >= n.into());
        let ranges = ranges.and_then(|p| range_linked.all(range_linked.address_of(p.to) as *const _, n));
        let Some(ranges) = ranges else {
            return Err(Error::new(Kind::Capture, "a build with fewer ranges than geometries"));
        };
        build.ranges = ranges.to_vec();
        one(vk, objects, m.device, &mut build, report)?;
    }
    Ok(())
}

/// Builds one structure and waits.
fn one(
    vk: &mut Vulkan,
    objects: &mut Objects,
    device: u64,
    build: &mut LinkedBuild,
    report: &mut Report,
) -> Result<()> {
    if build.info().ty == vk::AccelerationStructureTypeKHR::TOP_LEVEL {
        copies(vk, objects, device, report)?;
        refuse_lost(vk, false)?;
    }
    let counts: Vec<u32> = build.ranges.iter().map(|r| r.primitive_count).collect();
    // What it was updated from is not there.
    let info = build.info_mut();
    info.mode = vk::BuildAccelerationStructureModeKHR::BUILD;
    info.src_acceleration_structure = vk::AccelerationStructureKHR::null();
    let need = needs(vk, device, build, &counts)?.acceleration_structure_size;
    let info = build.info_mut();
    let id = vk.ray.by_live.get(&info.dst_acceleration_structure.as_raw()).copied();
    info.dst_acceleration_structure = match id.filter(|id| vk.ray.structures[id].address == 0) {
        // A temporary one, in memory that something else may be using by now.
        Some(id) => renew(vk, objects, id, need)?,
        None => ensure(vk, Some(objects), info.dst_acceleration_structure, need, "the build of")?,
    };
    filled(vk, info.dst_acceleration_structure);
    let steps = with_patcher(vk, device, |vk, p| {
        let of = inputs::Of { device, command_buffer: None, command: 0 };
        let mut steps = inputs::take(vk, p, of, build, &inputs::Ranges::Known(&build.ranges))?;
        steps.extend(prepare(vk, p, device, OURS, build, 0)?);
        Ok(steps)
    })?;
    super::refresh(vk)?;
    let loader = loader(vk, device)?;
    let d = vk.device(device)?.ash.clone();
    with_patcher(vk, device, |vk, p| {
        vk.device_mut(device)?.with_upload(|u, _, _| {
            u.run(&d, |cmd| {
                wait_for_all(&d, cmd);
                for s in &steps {
                    p.record(&d, cmd, s.pipeline, &s.arguments, s.count, &CommandState::default());
                }
                inputs::to_host(&d, cmd);
                // SAFETY: recording; a build with a range for each geometry, its target large enough.
                unsafe {
                    loader.cmd_build_acceleration_structures(cmd, &[build.info()], &[&build.ranges]);
                }
            })
        })
    })?;
    super::commands::forget(vk, OURS)
}

/// Type 29.
fn copy(vk: &mut Vulkan, objects: &mut Objects, m: &CopyAcceleration<'_>) -> Result<()> {
    let mut image = Image::default();
    let id = struct_id("VkCopyAccelerationStructureInfoKHR");
    decode_struct_array(id, m.encoded, &mut image).map_err(|e| damaged(e, m.offset))?;
    let Some(outer) = image.ptr(0).filter(|p| p.has_data()).copied() else { return Ok(()) };
    for i in 0..outer.len {
        // A copy before may have made a structure anew.
        let mut linked = link(vk, objects, &image)?;
        let bytes = size_of::<vk::CopyAccelerationStructureInfoKHR<'_>>() as u64;
        let at = linked.address_of(outer.to) + i * bytes;
        let info: Option<&mut vk::CopyAccelerationStructureInfoKHR<'_>> = linked.one_mut(at as *const _);
        let info = info.ok_or_else(|| Error::new(Kind::Capture, "a copy that is not there"))?;
        copy_one(vk, objects, m.device, info)?;
    }
    Ok(())
}

fn copy_one(
    vk: &mut Vulkan,
    objects: &mut Objects,
    device: u64,
    info: &mut vk::CopyAccelerationStructureInfoKHR<'_>,
) -> Result<()> {
    if info.mode == vk::CopyAccelerationStructureModeKHR::COMPACT {
        let query = vk::QueryType::ACCELERATION_STRUCTURE_COMPACTED_SIZE_KHR;
        let now = ask_now(vk, device, &[info.src], query)?;
        if let Some(&id) = vk.ray.by_live.get(&info.src.as_raw()) {
            answer(vk, id, query, now[0]);
        }
        info.dst =
            ensure(vk, Some(objects), info.dst, vk.options.rehearse.larger(now[0]), "the compacted copy")?;
    } else {
        info.dst = fit(vk, Some(objects), info)?;
    }
    filled(vk, info.dst);
    let id = |s: vk::AccelerationStructureKHR| vk.ray.by_live.get(&s.as_raw()).copied().unwrap_or(0);
    let (from, to) = (id(info.src), id(info.dst));
    note(vk, None, device, Event::Copy { from, to });
    let loader = loader(vk, device)?;
    // SAFETY: recording; the source is built, the target large enough.
    at_once(vk, device, |cmd| unsafe { loader.cmd_copy_acceleration_structure(cmd, info) })
}

/// Type 30.
fn write(vk: &mut Vulkan, objects: &Objects, m: &WriteAcceleration) -> Result<()> {
    let live = vk::AccelerationStructureKHR::from_raw(objects.live(m.acceleration_structure));
    if live == vk::AccelerationStructureKHR::null() {
        return Ok(());
    }
    let query = vk::QueryType::from_raw(m.query_type as i32);
    let now = ask_now(vk, m.device, &[live], query)?;
    answer(vk, m.acceleration_structure, query, now[0]);
    Ok(())
}

/// Which original each copy was made of: both given by (captured bytes, bytes of the copy here); copies by their captured
/// bytes. True where that was found by order alone.
fn pairs(originals: &[(u64, u64)], copies: &[u64]) -> Option<(Vec<usize>, bool)> {
    let mut left: Vec<usize> = (0..originals.len()).collect();
    let equal: Option<Vec<usize>> = copies
        .iter()
        .map(|c| left.iter().position(|&o| originals[o].1 == *c).map(|at| left.remove(at)))
        .collect();
    if let Some(found) = equal {
        return Some((found, false));
    }
    if originals.len() != copies.len() {
        return None;
    }
    let mut by_size: Vec<usize> = (0..originals.len()).collect();
    by_size.sort_by_key(|&o| originals[o].0);
    let mut order: Vec<usize> = (0..copies.len()).collect();
    order.sort_by_key(|&c| copies[c]);
    let mut found = vec![0; copies.len()];
    for (o, c) in by_size.into_iter().zip(order) {
        if copies[c] > originals[o].0 {
            return None;
        }
        found[c] = o;
    }
    Some((found, true))
}

/// Makes the copies whose originals the snapshot built only for them.
fn copies(vk: &mut Vulkan, objects: &mut Objects, device: u64, report: &mut Report) -> Result<()> {
    let mut originals = std::mem::take(&mut vk.ray.snapshot.originals);
    if originals.is_empty() {
        return Ok(());
    }
    let mut empty: Vec<u64> = vk
        .ray
        .structures
        .iter()
        .filter(|(_, s)| !s.filled && s.device == device)
        .filter(|(_, s)| s.kind != vk::AccelerationStructureTypeKHR::TOP_LEVEL)
        .map(|(id, _)| *id)
        .collect();
    empty.sort_unstable();
    let live: Vec<_> = originals.iter().map(|s| s.live).collect();
    let query = vk::QueryType::ACCELERATION_STRUCTURE_COMPACTED_SIZE_KHR;
    let compacted = ask_now(vk, device, &live, query)?;
    let sizes: Vec<(u64, u64)> = originals.iter().zip(&compacted).map(|(s, c)| (s.captured, *c)).collect();
    let wanted: Vec<u64> = empty.iter().map(|id| vk.ray.structures[id].captured).collect();
    let Some((found, by_order)) = pairs(&sizes, &wanted) else {
        return Err(Error::new(
            Kind::Unsupported,
            format!(
                "the snapshot has {} compacted acceleration structures and {} originals, and does not say which is of \
                 which: a capture from the first frame on does",
                empty.len(),
                originals.len()
            ),
        ));
    };
    if by_order && !empty.is_empty() {
        report.note("compacted structures of the snapshot were told apart by the order of their sizes");
    }
    for (id, o) in empty.into_iter().zip(found) {
        let dst = vk.ray.structures[&id].live;
        let need = vk.options.rehearse.larger(compacted[o]);
        let dst = ensure(vk, Some(objects), dst, need, "the compacted copy")?;
        filled(vk, dst);
        note(vk, None, device, Event::Copy { from: originals[o].id, to: id });
        let info = vk::CopyAccelerationStructureInfoKHR::default()
            .src(originals[o].live)
            .dst(dst)
            .mode(vk::CopyAccelerationStructureModeKHR::COMPACT);
        let loader = loader(vk, device)?;
        // SAFETY: recording; the source is built, the target large enough.
        at_once(vk, device, |cmd| unsafe { loader.cmd_copy_acceleration_structure(cmd, &info) })?;
    }
    originals.drain(..).try_for_each(|s| s.destroy(vk))
}

/// Structures that held something and whose making the snapshot does not tell of; `tops`: top levels, too.
fn refuse_lost(vk: &Vulkan, tops: bool) -> Result<()> {
    let lost = |s: &&Structure| {
        let meant = tops || s.kind != vk::AccelerationStructureTypeKHR::TOP_LEVEL;
        let used = s.storage.is_some_and(|b| vk.ray.snapshot.used.contains(&b));
        meant && !s.filled && used && !vk.all_as_captured(s.device)
    };
    let lost = vk.ray.structures.values().filter(lost).count();
    if lost > 0 {
        return Err(Error::new(
            Kind::Unsupported,
            format!(
                "{lost} acceleration structures of the snapshot were made by copies that it does not tell of (clones, \
                 serialised ones, several compacted copies of one): a capture from the first frame on does"
            ),
        ));
    }
    Ok(())
}

/// The snapshot is complete: nothing in it may be left unbuilt for want of knowing how.
pub(crate) fn ends(vk: &mut Vulkan, objects: &mut Objects, report: &mut Report) -> Result<()> {
    let mut devices: Vec<u64> = vk.ray.snapshot.originals.iter().map(|s| s.device).collect();
    devices.dedup();
    for device in devices {
        copies(vk, objects, device, report)?;
    }
    let unbuilt = vk.ray.structures.values().filter(|s| !s.filled).count();
    if unbuilt == 0 {
        return Ok(());
    }
    if vk.ray.snapshot.builds == 0 && vk.ray.another_driver {
        return Err(Error::new(
            Kind::Unsupported,
            format!(
                "the snapshot does not say how its {unbuilt} acceleration structures are built, and their bytes are \
                 another driver's: record with GFXReconstruct 1.0 or later, or from the first frame on"
            ),
        ));
    }
    refuse_lost(vk, true)?;
    report.note("acceleration structures of the snapshot that nothing in it builds: unused, or with the captured bytes");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_compacted_sizes_tell_originals_whatever_their_order_and_number() {
        let originals = [(100, 60), (500, 300), (90, 80)];
        assert_eq!(pairs(&originals, &[300, 60]), Some((vec![1, 0], false)));
        assert_eq!(pairs(&originals, &[]), Some((vec![], false)));
    }

    #[test]
    fn another_drivers_sizes_tell_by_order_only_if_nothing_is_left_over() {
        let originals = [(100, 61), (500, 301)];
        assert_eq!(pairs(&originals, &[300, 60]), Some((vec![1, 0], true)));
        assert_eq!(pairs(&originals, &[300]), None);
        assert_eq!(pairs(&originals, &[300, 200]), None);
    }
}

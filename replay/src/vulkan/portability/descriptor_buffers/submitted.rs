//! A submission is about to be made: the sets that its invocations find in descriptor buffers are written for this device.

use super::state::DescriptorBuffers;
use crate::error::{Error, Kind, Result};
use crate::report::Report;
use crate::vulkan::Vulkan;
use std::rc::Rc;
use world::AtSet;
use world::World;
use world::commands::Invoke;
use world::layouts::{SetLayout, ty};

/// An invocation that a submission is going to run.
pub(in super::super) fn invoked(vk: &mut Vulkan, world: &World, invoke: &Invoke) -> Result<()> {
    if !vk.descriptor_buffers.is_on() {
        return Ok(());
    }
    for n in 0..invoke.bindings.sets.len() {
        if let AtSet::Buffer { address, layout } = world.set(invoke, n) {
            set(vk, world, address, layout)?;
        }
    }
    Ok(())
}

/// A set of this layout at a captured address.
fn set(vk: &mut Vulkan, world: &World, address: u64, layout: &Rc<SetLayout>) -> Result<()> {
    let d = &vk.descriptor_buffers;
    let Some((buffer, start)) = world.at_address(address) else { return Ok(()) };
    let Some(stand) = d.buffers.get(&buffer) else { return Ok(()) };
    let ranges = ranges(d, world, layout, stand.device, stand.size.saturating_sub(start));
    let end = ranges.iter().map(|r| r.captured + r.stride * r.elements).max().unwrap_or(0);
    let stamp = world.stamp_of(buffer, start, end);
    if d.written.get(&(address, layout.class)) == Some(&stamp) {
        return Ok(());
    }
    let factor = d.factor.unwrap_or(1);
    let (mut bytes, mut unknown, mut written) = (Vec::new(), 0, 0);
    for r in &ranges {
        bytes.clear();
        world.read_buffer(buffer, start + r.captured, r.stride * r.elements, &mut bytes);
        for (e, captured) in (0..r.elements).zip(bytes.chunks(r.stride.max(1) as usize)) {
            let here = match r.types {
                [] => Some(captured),
                types => types.iter().find_map(|t| {
                    let size = *world.descriptor_sizes.get(t)? as usize;
                    d.live.get(t)?.get(captured.get(..size)?).map(|l| &l[..])
                }),
            };
            let Some(here) = here else {
                unknown += u64::from(captured.iter().any(|b| *b != 0));
                continue;
            };
            written += 1;
            if !stand.alloc.write(start * factor + r.live + e * r.live_stride, here) {
                return Err(Error::new(Kind::Internal, "a descriptor does not fit into its buffer"));
            }
        }
    }
    let d = &mut vk.descriptor_buffers;
    d.descriptors += written;
    d.unknown += unknown;
    d.written.insert((address, layout.class), stamp);
    Ok(())
}

/// Says what was written.
pub(in crate::vulkan) fn tell(vk: &Vulkan, report: &mut Report) {
    let d = &vk.descriptor_buffers;
    for (what, n) in [
        ("descriptors written where this device reads them", d.descriptors),
        ("descriptors whose bytes the capture does not explain, left out", d.unknown),
    ] {
        if n > 0 {
            report.notes.insert(what.to_owned(), n);
        }
    }
}

/// The descriptors of a binding: where they lie in the set, then and now.
struct Descriptors<'w> {
    /// The types that they may have; none for plain bytes.
    types: &'w [u32],
    captured: u64,
    stride: u64,
    live: u64,
    live_stride: u64,
    elements: u64,
}

/// Those of a set, as far as it lies within so many bytes.
fn ranges<'w>(
    d: &DescriptorBuffers,
    world: &World,
    layout: &'w SetLayout,
    device: u64,
    room: u64,
) -> Vec<Descriptors<'w>> {
    let (Some(here), Some(device)) = (d.layouts.get(&layout.class), d.devices.get(&device)) else {
        return vec![];
    };
    let one = |b: &'w world::layouts::Binding| {
        let first = layout.bindings.first().is_some_and(|f| f.binding == b.binding);
        let told = world.binding_offsets.get(&(layout.class, b.binding)).copied();
        let captured = told.or(first.then_some(0))?;
        let live = *here.offsets.get(&b.binding)?;
        if b.ty == ty::INLINE_UNIFORM_BLOCK {
            let bytes = u64::from(b.count).min(room.saturating_sub(captured));
            return Some(Descriptors {
                types: &[],
                captured,
                stride: bytes,
                live,
                live_stride: bytes,
                elements: 1,
            });
        }
        let types = if b.ty == ty::MUTABLE { &b.mutable[..] } else { std::slice::from_ref(&b.ty) };
        // Of a type that was never got there are none.
        let stride = types.iter().filter_map(|t| world.descriptor_sizes.get(t)).copied().max()?.max(1);
        let live_stride = types.iter().filter_map(|t| device.size(*t)).max()?;
        let elements = u64::from(b.slots()).min(room.saturating_sub(captured) / stride);
        Some(Descriptors { types, captured, stride, live, live_stride, elements })
    };
    layout.bindings.iter().filter_map(one).collect()
}

//! Offsets of uniform descriptors that this device wants to be multiples of more than the captured one did.
//!
//! Asked for: uniform buffers that begin, with their dynamic offsets, where this device has none begin. Bridged: such a buffer has
//! a copy beside it in which each place that any descriptor sees lies by itself, aligned; descriptors and dynamic offsets name
//! that. What the host writes to the buffer goes to the copy as well, and so does what commands copy, fill and update, directly
//! behind them. Costs: memory for each place, and the writes. Refused: storage and texel buffers at such offsets, descriptors that
//! templates write, and copies of more than 1 GiB. Not kept in step: what shaders, images and queries write to such a buffer.

use super::{Compare, Done, Line, Sort};
use crate::error::Result;
use crate::link::Linked;
use crate::objects::Objects;
use crate::preflight::alignment::{Alignments, dynamic};
use crate::vulkan::memory::{Alloc, AllocKind};
use crate::vulkan::{Vk, Vulkan};
use ash::vk::{self, Handle};
use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use std::collections::{BTreeMap, HashMap};
use world::World;
use world::layouts::ty;

/// Most bytes of all copies.
const MOST: u64 = 1 << 30;

/// See the module's header.
#[derive(Default)]
pub struct Realigned {
    /// By captured buffer.
    places: HashMap<u64, Places>,
    copies: HashMap<u64, Copy>,
}

/// Where each place of a buffer lies in its copy.
#[derive(Clone, Debug, Default)]
struct Places {
    /// By offset and bytes.
    at: BTreeMap<(u64, u64), u64>,
    /// The bytes of the largest.
    widest: u64,
    size: u64,
}

struct Copy {
    device: u64,
    buffer: vk::Buffer,
    alloc: Alloc,
}

impl Places {
    fn of(all: impl Iterator<Item = (u64, u64)>, align: u64) -> Self {
        let mut p = Places::default();
        for (offset, bytes) in all {
            p.at.insert((offset, bytes), p.size);
            p.widest = p.widest.max(bytes);
            p.size = p.size.saturating_add(bytes.max(1)).saturating_add(align - 1) & !(align - 1);
        }
        p
    }

    /// Parts of a range of the buffer: where each begins in it, how long it is, and where it lies in the copy.
    fn parts(&self, from: u64, len: u64) -> impl Iterator<Item = (u64, u64, u64)> {
        let to = from.saturating_add(len);
        self.at.range((from.saturating_sub(self.widest), 0)..(to, 0)).filter_map(
            move |(&(offset, bytes), &at)| {
                let (start, end) = (offset.max(from), offset.saturating_add(bytes).min(to));
                (start < end).then(|| (start, end - start, at + (start - offset)))
            },
        )
    }
}

impl Realigned {
    /// For what a capture asks for and a device that wants uniform buffers so aligned; none if that is too much.
    fn new(asked: &Alignments, align: u64) -> Option<Self> {
        let mut r = Realigned::default();
        let odd = asked.uniforms.iter().filter(|b| b.1.iter().any(|p| p.0 % align != 0));
        for (&buffer, places) in odd {
            r.places.insert(buffer, Places::of(places.iter().copied(), align));
        }
        let size = r.places.values().fold(0u64, |all, p| all.saturating_add(p.size));
        let templated = asked.templated.iter().any(|b| r.places.contains_key(b));
        (size <= MOST && !templated).then_some(r)
    }

    /// No buffer has a copy.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}

impl Compare<'_> {
    /// Alignments that descriptors' offsets keep to; what stands in for those that do not do here.
    pub(super) fn alignments(&mut self) -> Realigned {
        let (l, a) = (&self.gpu.properties.limits, &self.asked.alignments);
        let rehearsed = if self.options.rehearse.alignment { 256 } else { 1 };
        let least = l.min_uniform_buffer_offset_alignment.max(rehearsed);
        let too_close = a.uniform.is_some_and(|u| u.least < least);
        let realigned = if too_close { Realigned::new(a, least) } else { None };
        let all = [
            ("minUniformBufferOffsetAlignment", a.uniform, least, realigned.is_some()),
            ("minStorageBufferOffsetAlignment", a.storage, l.min_storage_buffer_offset_alignment, false),
            ("minTexelBufferOffsetAlignment", a.texel, l.min_texel_buffer_offset_alignment, false),
        ];
        for (name, asked, least, bridged) in all {
            let Some(asked) = asked else { continue };
            let has = asked.least >= least;
            let done = if !has && bridged { Done::Replaced } else { self.must(has) };
            let (block, command) = asked.first;
            let text = format!("{}, first in block {block}, {command}", asked.least);
            self.push(Line::new(Sort::Limit, name, has, done).of(text, least.to_string()));
        }
        realigned.unwrap_or_default()
    }
}

/// A buffer was made: its copy goes with it.
pub(in crate::vulkan) fn buffer_made(vk: &mut Vulkan, device: u64, id: u64) -> Result<()> {
    let Some(size) = vk.realigned.places.get(&id).map(|p| p.size) else { return Ok(()) };
    let d = vk.device_mut(device)?;
    let usage = vk::BufferUsageFlags::UNIFORM_BUFFER | vk::BufferUsageFlags::TRANSFER_DST;
    let must = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    let like = vk::MemoryPropertyFlags::DEVICE_LOCAL;
    let props = d.gpu.memory;
    // SAFETY: plain creations on a live device, in order.
    let copy = unsafe {
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        let buffer = d.ash.create_buffer(&info, None).what("vkCreateBuffer")?;
        let need = d.ash.get_buffer_memory_requirements(buffer);
        let alloc = d.pool.alloc(&d.ash, &props, need, (must, like), AllocKind::Linear, false)?;
        d.ash.bind_buffer_memory(buffer, alloc.memory(), alloc.offset()).what("vkBindBufferMemory")?;
        Copy { device, buffer, alloc }
    };
    if let Some(old) = vk.realigned.copies.insert(id, copy) {
        gone(vk, old);
    }
    Ok(())
}

fn gone(vk: &Vulkan, copy: Copy) {
    if let Some(d) = vk.devices.get(&copy.device) {
        // SAFETY: ours, and as little in use as the buffer that it stands for.
        unsafe { d.ash.destroy_buffer(copy.buffer, None) };
    }
}

/// A buffer is about to be destroyed.
pub(in crate::vulkan) fn buffer_gone(vk: &mut Vulkan, id: u64) {
    if let Some(copy) = vk.realigned.copies.remove(&id) {
        gone(vk, copy);
    }
}

/// The host writes `data` into a buffer, from its byte `within` on.
pub(in crate::vulkan) fn written(vk: &Vulkan, buffer: u64, within: u64, data: &[u8]) {
    let r = &vk.realigned;
    let (Some(places), Some(copy)) = (r.places.get(&buffer), r.copies.get(&buffer)) else { return };
    for (start, len, at) in places.parts(within, data.len() as u64) {
        let from = (start - within) as usize;
        copy.alloc.write(at, &data[from..from + len as usize]);
    }
}

/// The same of a memory object, from its byte `at` on.
pub(in crate::vulkan) fn memory_written(vk: &Vulkan, memory: u64, at: u64, data: &[u8]) {
    let bound = vk.memory.by_id.get(&memory).map_or(&[][..], |m| &m.bound);
    for b in bound.iter().filter(|b| !b.image && vk.realigned.copies.contains_key(&b.resource)) {
        let all = world::span::extent(at, data.len() as u64);
        if let Some(c) = world::span::common(&b.extent(), &all) {
            let part = &data[(c.start - at) as usize..(c.end - at) as usize];
            written(vk, b.resource, c.start - b.offset, part);
        }
    }
}

/// Descriptors and dynamic offsets of a linked call name the copies.
pub(in crate::vulkan) fn in_call(vk: &Vulkan, world: &World, call: &Call, linked: &mut Linked) {
    let v = View::call(&call.image);
    match call.command.canonical {
        "vkUpdateDescriptorSets" | "vkCmdPushDescriptorSet" => writes(vk, world, v, linked),
        "vkCmdPushDescriptorSet2" => {
            if let Some(info) = v.one("pPushDescriptorSetInfo") {
                writes(vk, world, info, linked);
            }
        }
        "vkCmdBindDescriptorSets" => binds(vk, world, v, linked),
        "vkCmdBindDescriptorSets2" => {
            if let Some(info) = v.one("pBindDescriptorSetsInfo") {
                binds(vk, world, info, linked);
            }
        }
        _ => {}
    }
}

fn writes(vk: &Vulkan, world: &World, v: View<'_>, linked: &mut Linked) {
    for w in v.structs("pDescriptorWrites") {
        let kind = w.u32("descriptorType").unwrap_or(u32::MAX);
        if !matches!(kind, ty::UNIFORM_BUFFER | ty::UNIFORM_BUFFER_DYNAMIC) {
            continue;
        }
        for b in w.structs("pBufferInfo") {
            let n = |name| b.u64(name).unwrap_or(0);
            let (buffer, offset) = (n("buffer"), n("offset"));
            let r = &vk.realigned;
            let (Some(places), Some(copy)) = (r.places.get(&buffer), r.copies.get(&buffer)) else { continue };
            let range = world.range_of(buffer, offset, n("range"));
            let at = match kind {
                ty::UNIFORM_BUFFER_DYNAMIC => 0,
                _ => places.at.get(&(offset, range)).copied().unwrap_or(0),
            };
            for (name, value) in [("buffer", copy.buffer.as_raw()), ("offset", at), ("range", range)] {
                if let Some((_, to)) = b.definition(name) {
                    linked.set_word_at(to, value);
                }
            }
        }
    }
}

fn binds(vk: &Vulkan, world: &World, v: View<'_>, linked: &mut Linked) {
    let Some((first, _)) = v.array("pDynamicOffsets") else { return };
    for d in dynamic(world, v).into_iter().filter(|d| d.ty == ty::UNIFORM_BUFFER_DYNAMIC) {
        let place = vk.realigned.places.get(&d.buffer).and_then(|p| p.at.get(&(d.offset, d.range)));
        if let Some(at) = place {
            linked.set_u32_at(first + 4 * d.index as u32, *at as u32);
        }
    }
}

/// A command was recorded that may write to such a buffer: its copy is written behind it.
pub(in crate::vulkan) fn recorded(vk: &Vulkan, objects: &Objects, call: &Call, linked: &Linked) {
    let v = View::call(&call.image);
    let n = |v: View<'_>, name| v.u64(name).unwrap_or(0);
    let (to, ranges): (u64, Vec<(u64, u64)>) = match call.command.canonical {
        "vkCmdCopyBuffer" | "vkCmdCopyBuffer2" => {
            let info = v.one("pCopyBufferInfo").unwrap_or(v);
            let regions = info.structs("pRegions").map(|r| (n(r, "dstOffset"), n(r, "size")));
            (n(info, "dstBuffer"), regions.collect())
        }
        "vkCmdUpdateBuffer" => (n(v, "dstBuffer"), vec![(n(v, "dstOffset"), n(v, "dataSize"))]),
        "vkCmdFillBuffer" => (n(v, "dstBuffer"), vec![(n(v, "dstOffset"), n(v, "size"))]),
        _ => return,
    };
    let r = &vk.realigned;
    let (Some(places), Some(copy)) = (r.places.get(&to), r.copies.get(&to)) else { return };
    let Some(buffer) = vk.buffers.get(&to) else { return };
    let Some(d) = objects.any(call.image.u64(0)).and_then(|e| vk.devices.get(&e.owner)) else { return };
    let regions: Vec<vk::BufferCopy> = ranges
        .into_iter()
        .flat_map(|(from, len)| places.parts(from, len))
        .filter(|p| p.0.saturating_add(p.1) <= buffer.size)
        .map(|(src_offset, size, dst_offset)| vk::BufferCopy { src_offset, dst_offset, size })
        .collect();
    if regions.is_empty() {
        return;
    }
    let cmd = vk::CommandBuffer::from_raw(linked.arg(0));
    let (all, copies) = (vk::PipelineStageFlags::ALL_COMMANDS, vk::PipelineStageFlags::TRANSFER);
    let barrier = |from, to| [vk::MemoryBarrier::default().src_access_mask(from).dst_access_mask(to)];
    use vk::AccessFlags as A;
    let before = barrier(A::TRANSFER_WRITE, A::TRANSFER_READ | A::TRANSFER_WRITE);
    let after = barrier(A::TRANSFER_WRITE, A::UNIFORM_READ | A::TRANSFER_WRITE);
    let none = vk::DependencyFlags::empty();
    // SAFETY: a command buffer that the application records, outside of passes, as it has just recorded a copy; both buffers
    // live, and the regions lie inside both.
    unsafe {
        d.ash.cmd_pipeline_barrier(cmd, all, copies, none, &before, &[], &[]);
        d.ash.cmd_copy_buffer(cmd, buffer.live, copy.buffer, &regions);
        d.ash.cmd_pipeline_barrier(cmd, copies, all, none, &after, &[], &[]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_lies_aligned_by_itself() {
        let p = Places::of([(0, 112), (112, 112), (224, 64)].into_iter(), 64);
        assert_eq!(p.at.values().copied().collect::<Vec<_>>(), [0, 128, 256]);
        assert_eq!((p.size, p.widest), (320, 112));
        let parts = |from, len| p.parts(from, len).collect::<Vec<_>>();
        assert_eq!(parts(100, 20), [(100, 12, 100), (112, 8, 128)]);
        assert_eq!(parts(223, 1000), [(223, 1, 239), (224, 64, 256)]);
        assert!(parts(288, 8).is_empty());
    }

    #[test]
    fn only_buffers_with_such_offsets_have_copies() {
        let mut asked = Alignments::default();
        asked.uniforms.insert(1, [(0, 64), (256, 64)].into());
        asked.uniforms.insert(2, [(0, 64), (16, 64)].into());
        let r = Realigned::new(&asked, 64).expect("it is little");
        assert!(!r.places.contains_key(&1) && r.places.contains_key(&2));
        asked.templated.insert(1);
        assert!(Realigned::new(&asked, 64).is_some());
        asked.templated.insert(2);
        assert!(Realigned::new(&asked, 64).is_none());
        asked.templated.clear();
        asked.uniforms.insert(3, [(16, u64::MAX)].into());
        assert!(Realigned::new(&asked, 64).is_none(), "too much");
    }
}

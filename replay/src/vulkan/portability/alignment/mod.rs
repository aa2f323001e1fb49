//! Offsets of descriptors and of views of buffers that this device wants to be multiples of more than the captured one did.
//!
//! Asked for: uniform, storage and texel buffers that begin, with their dynamic offsets, where this device has none begin. Bridged:
//! such a buffer has a copy beside it in which each such place lies by itself, aligned; descriptors, views and dynamic offsets name
//! that. What the host writes to the buffer goes to the copy as well, and so does what commands copy, fill and update, directly
//! behind them. Of a buffer that shaders may write to, the whole copy is made again where a command buffer and a render pass
//! begin and behind each barrier outside of one: what is written and not waited for cannot be read otherwise. Where shaders write
//! to a copy (`preflight::written_places`), the place is copied before the command and back behind it, or behind the render pass.
//! Costs: memory for each place, the writes, and commands that ran side by side run in turns. Refused by name: what a command
//! writes and sees at a second place, too, and copies of more than 1 GiB. Not kept in step: what is written through a buffer's
//! device address, or to the same memory as another buffer.

mod negotiate;

use super::aligned::AlignedCopy;
use crate::error::{Result, Vk};
use crate::link::Linked;
use crate::options::Bridge;
use crate::preflight::alignment::{Place, buffer_info, dynamic};
use crate::vulkan::Vulkan;
use crate::vulkan::arguments::new_object;
use crate::vulkan::linked_call::LinkedCall;
use crate::vulkan::memory::AllocKind;
use crate::vulkan::order;
use ash::vk::{self, Handle};
use gfxr_parse::ahead::Call;
use gfxr_parse::image::Image;
use gfxr_parse::view::View;
use gfxr_parse::{member, param, size_of_struct};
use world::commands::RENDERING_RESUMING;
use world::objects::BufferView;
use world::{Outcome, World};

/// VkBufferUsageFlagBits of descriptors: uniform and storage texel buffers, uniform and storage buffers.
const DESCRIPTORS: u64 = 0x3C;

/// A buffer was made: its copy goes with it.
pub(super) fn buffer_made(c: &mut LinkedCall<'_>, outcome: Outcome) -> Result<()> {
    if c.vk.realigned.is_empty() || outcome.result() < 0 {
        return Ok(());
    }
    let (vk, device, id) = (&mut *c.vk, c.call.image.u64(0), new_object(c.call)?.0);
    let Some(size) = vk.realigned.places.get(&id).map(|p| p.size) else { return Ok(()) };
    let info = View::call(&c.call.image).one("pCreateInfo");
    let wide = info.and_then(|i| i.next("VkBufferUsageFlags2CreateInfo")?.u64("usage"));
    let usage = wide.or_else(|| info?.u32("usage").map(u64::from)).unwrap_or(0) & DESCRIPTORS;
    let d = vk.device_mut(device)?;
    let usage = vk::BufferUsageFlags::from_raw(usage as u32)
        | vk::BufferUsageFlags::TRANSFER_SRC
        | vk::BufferUsageFlags::TRANSFER_DST;
    let must = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    let like = vk::MemoryPropertyFlags::DEVICE_LOCAL;
    // SAFETY: plain creations on a live device, in order.
    let copy = unsafe {
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        let buffer = d.ash.create_buffer(&info, None).what("vkCreateBuffer")?;
        let need = d.ash.get_buffer_memory_requirements(buffer);
        let alloc = d.alloc(need, (must, like), AllocKind::Linear, false)?;
        d.ash.bind_buffer_memory(buffer, alloc.memory(), alloc.offset()).what("vkBindBufferMemory")?;
        AlignedCopy { device, buffer, alloc }
    };
    vk.cost(Bridge::Alignment).memory += size;
    if let Some(old) = vk.realigned.copies.insert(id, copy) {
        gone(vk, old);
    }
    Ok(())
}

fn gone(vk: &Vulkan, copy: AlignedCopy) {
    if let Some(d) = vk.devices.get(&copy.device) {
        // SAFETY: ours, and as little in use as the buffer that it stands for.
        unsafe { d.ash.destroy_buffer(copy.buffer, None) };
    }
}

/// A buffer is about to be destroyed.
pub(super) fn buffer_gone(c: &mut LinkedCall<'_>) -> Result<()> {
    if let Some(copy) = c.vk.realigned.copies.remove(&c.call.image.u64(param!("vkDestroyBuffer", "buffer"))) {
        gone(c.vk, copy);
    }
    Ok(())
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
pub(in crate::vulkan) fn in_call(vk: &Vulkan, world: &World, call: &Call, linked: &mut Linked) -> bool {
    let v = View::call(&call.image);
    match call.command.canonical {
        "vkUpdateDescriptorSets" | "vkCmdPushDescriptorSet" => writes(vk, world, v, linked),
        "vkCmdPushDescriptorSet2" => {
            v.one("pPushDescriptorSetInfo").is_some_and(|info| writes(vk, world, info, linked))
        }
        "vkUpdateDescriptorSetWithTemplate"
        | "vkCmdPushDescriptorSetWithTemplate"
        | "vkCmdPushDescriptorSetWithTemplate2" => templated(vk, world, call, linked),
        "vkCmdBindDescriptorSets" => binds(vk, world, v, linked),
        "vkCmdBindDescriptorSets2" => {
            v.one("pBindDescriptorSetsInfo").is_some_and(|info| binds(vk, world, info, linked))
        }
        "vkCreateBufferView" => views(vk, world, call, linked),
        _ => false,
    }
}

fn writes(vk: &Vulkan, world: &World, v: View<'_>, linked: &mut Linked) -> bool {
    let mut changed = false;
    for w in v.structs("pDescriptorWrites") {
        let kind = w.u32("descriptorType").unwrap_or(u32::MAX);
        if let Some((first, n)) = w.array("pBufferInfo") {
            let size = size_of_struct!("VkDescriptorBufferInfo");
            for at in (0..n as u32).map(|n| first + n * size) {
                changed |= descriptor(vk, world, kind, v.image(), at, linked);
            }
        }
    }
    changed
}

/// Those that a template writes.
fn templated(vk: &Vulkan, world: &World, call: &Call, linked: &mut Linked) -> bool {
    let Some((template, data)) = world::templated(call) else { return false };
    let Some(template) = world.templates.get(&template) else { return false };
    let mut changed = false;
    for (kind, at) in world::templated_buffers(template, &call.image, data) {
        changed |= descriptor(vk, world, kind, &call.image, at, linked);
    }
    changed
}

/// A VkDescriptorBufferInfo of a descriptor of this kind names the copy, if it sees that.
fn descriptor(vk: &Vulkan, world: &World, kind: u32, image: &Image, at: u32, linked: &mut Linked) -> bool {
    let (buffer, offset, range) = buffer_info(image, at);
    let r = &vk.realigned;
    let (Some(places), Some(copy)) = (r.places.get(&buffer), r.copies.get(&buffer)) else { return false };
    let range = world.range_of(buffer, offset, range);
    let Some(place) = Place::new(kind, offset, range) else { return false };
    let within = match place.dynamic {
        true => places.has_dynamic(place.of).then_some(0),
        false => places.at.get(&place).copied(),
    };
    let Some(within) = within else { return false };
    linked.set_word_at(at + member!("VkDescriptorBufferInfo", "buffer"), copy.buffer.as_raw());
    linked.set_word_at(at + member!("VkDescriptorBufferInfo", "offset"), within);
    linked.set_word_at(at + member!("VkDescriptorBufferInfo", "range"), range);
    true
}

fn binds(vk: &Vulkan, world: &World, v: View<'_>, linked: &mut Linked) -> bool {
    let Some((first, _)) = v.array("pDynamicOffsets") else { return false };
    let mut changed = false;
    for d in dynamic(world, v) {
        if let Some(at) = vk.realigned.at(d.buffer, &d.place) {
            linked.set_u32_at(first + size_of::<u32>() as u32 * d.index as u32, at as u32);
            changed = true;
        }
    }
    changed
}

/// A view of a buffer is one of the copy.
fn views(vk: &Vulkan, world: &World, call: &Call, linked: &mut Linked) -> bool {
    let Some(info) = View::call(&call.image).one("pCreateInfo") else { return false };
    let n = |name| info.u64(name).unwrap_or(0);
    let buffer = n("buffer");
    let range = world.range_of(buffer, n("offset"), n("range"));
    let format = info.u32("format").unwrap_or(0);
    let place = Place::viewed(&BufferView { buffer, format, offset: n("offset"), range });
    let (Some(within), Some(copy)) = (vk.realigned.at(buffer, &place), vk.realigned.copies.get(&buffer))
    else {
        return false;
    };
    let Some(at) = call.image.target(param!("vkCreateBufferView", "pCreateInfo")) else { return false };
    linked.set_word_at(at + member!("VkBufferViewCreateInfo", "buffer"), copy.buffer.as_raw());
    linked.set_word_at(at + member!("VkBufferViewCreateInfo", "offset"), within);
    linked.set_word_at(at + member!("VkBufferViewCreateInfo", "range"), place.bytes);
    true
}

/// A command was recorded that writes to such a buffer: its copy is written behind it.
pub(super) fn recorded(c: &mut LinkedCall<'_>, _: Outcome) -> Result<()> {
    let LinkedCall { vk, objects, call, linked, .. } = c;
    if vk.realigned.is_empty() {
        return Ok(());
    }
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
        _ => return Ok(()),
    };
    if let Some(d) = objects.any(call.image.u64(0)).and_then(|e| vk.devices.get(&e.owner)) {
        let copied = refresh(vk, &d.ash, vk::CommandBuffer::from_raw(linked.arg(0)), to, &ranges);
        vk.copied(copied);
    }
    Ok(())
}

/// Behind this, what shaders and others have written may be read as uniforms.
pub(super) fn waited(c: &mut LinkedCall<'_>, _: Outcome) -> Result<()> {
    match order::in_pass(c.objects, c.call.image.u64(0)) {
        true => Ok(()),
        false => refresh_all(c),
    }
}

/// The same of a render pass, which nothing can be copied in; nor before a rendering that goes on with one.
pub(super) fn pass_begins(c: &mut LinkedCall<'_>) -> Result<()> {
    let flags = View::call(&c.call.image).one("pRenderingInfo").and_then(|i| i.u32("flags"));
    match flags.unwrap_or(0) & RENDERING_RESUMING {
        0 => refresh_all(c),
        _ => Ok(()),
    }
}

/// A command is about to write to copies.
pub(super) fn writes_begin(c: &mut LinkedCall<'_>) -> Result<()> {
    written_in_turn(c, Way::To)
}

/// A command has written to copies, or those of the pass that it ends have.
pub(super) fn writes_end(c: &mut LinkedCall<'_>, _: Outcome) -> Result<()> {
    written_in_turn(c, Way::Back)
}

/// Copies the places that a command writes.
fn written_in_turn(c: &mut LinkedCall<'_>, way: Way) -> Result<()> {
    let LinkedCall { vk, objects, call, linked, .. } = c;
    let Some(written) = vk.realigned.written.get(&call.block) else { return Ok(()) };
    // (in a pass, what ends it has them)
    let id = call.image.u64(0);
    let Some(d) = objects.any(id).and_then(|e| vk.devices.get(&e.owner)) else { return Ok(()) };
    if order::in_pass(objects, id) {
        return Ok(());
    }
    let cmd = vk::CommandBuffer::from_raw(linked.arg(0));
    let mut all = Vec::new();
    for (buffer, place) in written {
        let part = vk.realigned.at(*buffer, place).map(|at| (place.offset, place.bytes, at));
        all.push(copy(vk, &d.ash, cmd, *buffer, part.into_iter(), way));
    }
    all.into_iter().for_each(|copied| vk.copied(copied));
    Ok(())
}

fn refresh_all(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk, objects, call, linked, .. } = c;
    if vk.realigned.written_by_device.is_empty() {
        return Ok(());
    }
    let Some(owner) = objects.any(call.image.u64(0)).map(|e| e.owner) else { return Ok(()) };
    let mut all = Vec::new();
    if let Some(d) = vk.devices.get(&owner) {
        for &buffer in &vk.realigned.written_by_device {
            if vk.realigned.copies.get(&buffer).is_some_and(|c| c.device == owner) {
                let cmd = vk::CommandBuffer::from_raw(linked.arg(0));
                all.push(refresh(vk, &d.ash, cmd, buffer, &[(0, vk::WHOLE_SIZE)]));
            }
        }
    }
    all.into_iter().for_each(|copied| vk.copied(copied));
    Ok(())
}

impl Vulkan {
    /// Commands were recorded that copy so many bytes to copies.
    fn copied(&mut self, bytes: u64) {
        let cost = self.cost(Bridge::Alignment);
        cost.copied += bytes;
        // Two barriers stand around the copy.
        cost.added += if bytes > 0 { 3 } else { 0 };
    }
}

/// What commands have written to these ranges (offset, bytes) of a buffer is copied to its copy, if it has one: how many bytes.
pub(crate) fn refresh(
    vk: &Vulkan,
    d: &ash::Device,
    cmd: vk::CommandBuffer,
    id: u64,
    ranges: &[(u64, u64)],
) -> u64 {
    let Some(places) = vk.realigned.places.get(&id) else { return 0 };
    copy(vk, d, cmd, id, ranges.iter().flat_map(|&(from, len)| places.parts(from, len)), Way::To)
}

/// Which way parts are copied.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// From the buffer to its copy.
    To,
    /// From the copy to the buffer.
    Back,
}

/// Copies parts of a buffer (first byte, bytes, first byte in the copy), behind all that was recorded and before all that will be:
/// how many bytes.
fn copy(
    vk: &Vulkan,
    d: &ash::Device,
    cmd: vk::CommandBuffer,
    id: u64,
    parts: impl Iterator<Item = (u64, u64, u64)>,
    way: Way,
) -> u64 {
    let (Some(buffer), Some(copy)) = (vk.buffers.get(&id), vk.realigned.copies.get(&id)) else { return 0 };
    let regions: Vec<vk::BufferCopy> = parts
        .filter(|p| p.1 > 0 && p.0.saturating_add(p.1) <= buffer.size)
        .map(|(own, size, there)| match way {
            Way::To => vk::BufferCopy { src_offset: own, dst_offset: there, size },
            Way::Back => vk::BufferCopy { src_offset: there, dst_offset: own, size },
        })
        .collect();
    if regions.is_empty() {
        return 0;
    }
    let (from, to) = match way {
        Way::To => (buffer.live, copy.buffer),
        Way::Back => (copy.buffer, buffer.live),
    };
    let (all, copies) = (vk::PipelineStageFlags::ALL_COMMANDS, vk::PipelineStageFlags::TRANSFER);
    let barrier = |from, to| [vk::MemoryBarrier::default().src_access_mask(from).dst_access_mask(to)];
    use vk::AccessFlags as A;
    let before = barrier(A::MEMORY_WRITE, A::TRANSFER_READ | A::TRANSFER_WRITE);
    let after = barrier(A::TRANSFER_WRITE, A::MEMORY_READ | A::MEMORY_WRITE);
    let none = vk::DependencyFlags::empty();
    // SAFETY: a command buffer that is being recorded, outside of passes; both buffers live, and the regions lie inside both.
    unsafe {
        d.cmd_pipeline_barrier(cmd, all, copies, none, &before, &[], &[]);
        d.cmd_copy_buffer(cmd, from, to, &regions);
        d.cmd_pipeline_barrier(cmd, copies, all, none, &after, &[], &[]);
    }
    regions.iter().map(|r| r.size).sum()
}

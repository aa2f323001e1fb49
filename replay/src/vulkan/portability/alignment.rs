//! Offsets of uniform descriptors that this device wants to be multiples of more than the captured one did.
//!
//! Asked for: uniform buffers that begin, with their dynamic offsets, where this device has none begin. Bridged: such a buffer has
//! a copy beside it in which each place that any descriptor sees lies by itself, aligned; descriptors and dynamic offsets name
//! that. What the host writes to the buffer goes to the copy as well, and so does what commands copy, fill and update, directly
//! behind them. Of a buffer that shaders may write to, the whole copy is made again where a command buffer and a render pass
//! begin and behind each barrier outside of one: what is written and not waited for cannot be read as a uniform. Costs: memory for
//! each place, and the writes. Refused: storage and texel buffers at such offsets, and copies of more than 1 GiB. Not kept in step:
//! what is written through a buffer's device address.

use super::aligned::{AlignedCopy, Realigned};
use crate::error::{Result, Vk};
use crate::link::Linked;
use crate::options::Bridge;
use crate::preflight::alignment::{buffer_info, dynamic};
use crate::vulkan::Vulkan;
use crate::vulkan::arguments::new_object;
use crate::vulkan::linked_call::LinkedCall;
use crate::vulkan::memory::AllocKind;
use crate::vulkan::order;
use crate::vulkan::portability::compare::Compare;
use crate::vulkan::portability::line::{Done, Line, Sort};
use ash::vk::{self, Handle};
use gfxr_parse::ahead::Call;
use gfxr_parse::image::Image;
use gfxr_parse::view::View;
use gfxr_parse::{member, param, size_of_struct};
use world::layouts::ty;
use world::{Outcome, World};

impl Compare<'_> {
    /// Alignments that descriptors' offsets keep to; what stands in for those that do not do here.
    pub(super) fn alignments(&mut self) -> Realigned {
        let (l, a) = (&self.gpu.properties.limits, &self.asked.alignments);
        let least = l.min_uniform_buffer_offset_alignment.max(1);
        let too_close = a.uniform.is_some_and(|u| u.least < least);
        let realigned = if too_close { Realigned::new(a, least) } else { None };
        let all = [
            ("minUniformBufferOffsetAlignment", a.uniform, least, realigned.is_some()),
            ("minStorageBufferOffsetAlignment", a.storage, l.min_storage_buffer_offset_alignment, false),
            ("minTexelBufferOffsetAlignment", a.texel, self.texel_alignment(), false),
        ];
        for (name, asked, least, bridged) in all {
            let Some(asked) = asked else { continue };
            let has = asked.least >= least;
            let done = if !has && bridged { Done::Replaced } else { self.must(has) };
            let (block, command) = asked.first;
            let text = format!("{}, first in block {block}, {command}", asked.least);
            self.push(
                Line::new(Sort::Limit, name, has, done).by(Bridge::Alignment).of(text, least.to_string()),
            );
        }
        realigned.unwrap_or_default()
    }

    /// What offsets of texel buffers have to be multiples of, whatever their format.
    fn texel_alignment(&self) -> u64 {
        let limit = self.gpu.properties.limits.min_texel_buffer_offset_alignment;
        let finer = |f: &(_, &str)| f.1 == "texelBufferAlignment";
        let extension = "VK_EXT_texel_buffer_alignment";
        let core = self.gpu.properties.api_version >= vk::API_VERSION_1_3;
        if !(core || self.gpu.has(extension))
            || !self.asked.devices.iter().any(|d| d.features.iter().any(finer))
        {
            return limit;
        }
        let mut texels = vk::PhysicalDeviceTexelBufferAlignmentProperties::default();
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut texels);
        // SAFETY: a query with a struct that the device knows.
        unsafe { self.query.get_physical_device_properties2(self.gpu.handle, &mut all) };
        let least = |single: vk::Bool32, bytes: u64| if single != 0 { 1 } else { bytes };
        let uniform = texels.uniform_texel_buffer_offset_single_texel_alignment;
        let storage = texels.storage_texel_buffer_offset_single_texel_alignment;
        least(uniform, texels.uniform_texel_buffer_offset_alignment_bytes)
            .max(least(storage, texels.storage_texel_buffer_offset_alignment_bytes))
    }
}

/// A buffer was made: its copy goes with it.
pub(super) fn buffer_made(c: &mut LinkedCall<'_>, outcome: Outcome) -> Result<()> {
    if c.vk.realigned.is_empty() || outcome.result() < 0 {
        return Ok(());
    }
    let (vk, device, id) = (&mut *c.vk, c.call.image.u64(0), new_object(c.call)?.0);
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

/// A VkDescriptorBufferInfo of a descriptor of this kind names the copy.
fn descriptor(vk: &Vulkan, world: &World, kind: u32, image: &Image, at: u32, linked: &mut Linked) -> bool {
    if !matches!(kind, ty::UNIFORM_BUFFER | ty::UNIFORM_BUFFER_DYNAMIC) {
        return false;
    }
    let (buffer, offset, range) = buffer_info(image, at);
    let r = &vk.realigned;
    let (Some(places), Some(copy)) = (r.places.get(&buffer), r.copies.get(&buffer)) else { return false };
    let range = world.range_of(buffer, offset, range);
    let within = match kind {
        ty::UNIFORM_BUFFER_DYNAMIC => 0,
        _ => places.at.get(&(offset, range)).copied().unwrap_or(0),
    };
    linked.set_word_at(at + member!("VkDescriptorBufferInfo", "buffer"), copy.buffer.as_raw());
    linked.set_word_at(at + member!("VkDescriptorBufferInfo", "offset"), within);
    linked.set_word_at(at + member!("VkDescriptorBufferInfo", "range"), range);
    true
}

fn binds(vk: &Vulkan, world: &World, v: View<'_>, linked: &mut Linked) -> bool {
    let Some((first, _)) = v.array("pDynamicOffsets") else { return false };
    let mut changed = false;
    for d in dynamic(world, v).into_iter().filter(|d| d.ty == ty::UNIFORM_BUFFER_DYNAMIC) {
        let place = vk.realigned.places.get(&d.buffer).and_then(|p| p.at.get(&(d.offset, d.range)));
        if let Some(at) = place {
            linked.set_u32_at(first + size_of::<u32>() as u32 * d.index as u32, *at as u32);
            changed = true;
        }
    }
    changed
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
    refresh_all(c)
}

/// The same of a render pass, which nothing can be copied in.
pub(super) fn pass_begins(c: &mut LinkedCall<'_>) -> Result<()> {
    refresh_all(c)
}

fn refresh_all(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk, objects, call, linked, .. } = c;
    let id = call.image.u64(0);
    if vk.realigned.written_by_device.is_empty() || order::in_pass(objects, id) {
        return Ok(());
    }
    let Some(owner) = objects.any(id).map(|e| e.owner) else { return Ok(()) };
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
    let (Some(places), Some(copy)) = (vk.realigned.places.get(&id), vk.realigned.copies.get(&id)) else {
        return 0;
    };
    let Some(buffer) = vk.buffers.get(&id) else { return 0 };
    let regions: Vec<vk::BufferCopy> = ranges
        .iter()
        .flat_map(|&(from, len)| places.parts(from, len))
        .filter(|p| p.0.saturating_add(p.1) <= buffer.size)
        .map(|(src_offset, size, dst_offset)| vk::BufferCopy { src_offset, dst_offset, size })
        .collect();
    if regions.is_empty() {
        return 0;
    }
    let (all, copies) = (vk::PipelineStageFlags::ALL_COMMANDS, vk::PipelineStageFlags::TRANSFER);
    let barrier = |from, to| [vk::MemoryBarrier::default().src_access_mask(from).dst_access_mask(to)];
    use vk::AccessFlags as A;
    let before = barrier(A::MEMORY_WRITE, A::TRANSFER_READ | A::TRANSFER_WRITE);
    let after = barrier(A::TRANSFER_WRITE, A::UNIFORM_READ | A::TRANSFER_WRITE);
    let none = vk::DependencyFlags::empty();
    // SAFETY: a command buffer that is being recorded, outside of passes; both buffers live, and the regions lie inside both.
    unsafe {
        d.cmd_pipeline_barrier(cmd, all, copies, none, &before, &[], &[]);
        d.cmd_copy_buffer(cmd, buffer.live, copy.buffer, &regions);
        d.cmd_pipeline_barrier(cmd, copies, all, none, &after, &[], &[]);
    }
    regions.iter().map(|r| r.size).sum()
}

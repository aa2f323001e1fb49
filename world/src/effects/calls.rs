//! Calls and metadata blocks that take effect when they happen: memory, bindings, the host's own copies.
//!
//! Guarantees: a call that failed at capture has no effect. Refuses nothing.

use super::super::bytes::residents::{Linear, Resident};
use super::super::bytes::texels::{in_buffer, pairs};
use super::super::bytes::{Cause, Reason, Why, Writer};
use super::super::commands::ImageRegion;
use super::super::objects::Subresources;
use super::super::read::{created, extent, n32, n64, offset, subresources};
use super::other;
use crate::MetaBlock;
use crate::World;
use crate::span::Span;
use gfxr_parse::ahead::Call;
use gfxr_parse::meta::{InitImage, Meta};
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::view::View;
use std::sync::LazyLock;

/// Calls that [`call`] looks at, by their canonical names.
const LOOKED_AT: &[&str] = &[
    "vkAllocateMemory",
    "vkFreeMemory",
    "vkCreateBuffer",
    "vkCreateImage",
    "vkDestroyBuffer",
    "vkDestroyImage",
    "vkBindBufferMemory",
    "vkBindBufferMemory2",
    "vkBindImageMemory",
    "vkBindImageMemory2",
    "vkGetImageMemoryRequirements",
    "vkGetImageMemoryRequirements2",
    "vkGetImageSubresourceLayout",
    "vkGetImageSubresourceLayout2",
    "vkCopyMemoryToImage",
    "vkCopyImageToImage",
    "vkTransitionImageLayout",
    "vkBuildAccelerationStructuresKHR",
    "vkCopyAccelerationStructureKHR",
    "vkCopyMemoryToAccelerationStructureKHR",
    "vkCreateMicromapEXT",
    "vkBuildMicromapsEXT",
    "vkCopyMicromapEXT",
    "vkCopyMemoryToMicromapEXT",
];

/// Which commands are looked at, by their index in the schema.
static ROLES: LazyLock<Vec<bool>> =
    LazyLock::new(|| COMMANDS.iter().map(|c| LOOKED_AT.contains(&c.canonical)).collect());

/// A call that ran, once the objects know of it.
pub fn call(w: &mut World, call: &Call) {
    if !ROLES[call.index] || call.image.ret().is_some_and(|r| r < 0) {
        return;
    }
    let v = View::call(&call.image);
    let block = call.block;
    match call.command.canonical {
        "vkAllocateMemory" => {
            let id = created(call);
            let Some(m) = w.memories.get(&id) else { return };
            let reason = if m.imported { Reason::External } else { Reason::NeverWritten };
            let size = m.size;
            w.bytes.residents.remove_memory(id);
            w.bytes.allocate_as(id, size, Why::new(reason, block));
        }
        "vkFreeMemory" => {
            let id = n64(v, "memory");
            w.bytes.residents.remove_memory(id);
            w.bytes.free(id);
        }
        "vkCreateBuffer" | "vkCreateImage" => gone(w, created(call)),
        "vkDestroyBuffer" => gone(w, n64(v, "buffer")),
        "vkDestroyImage" => gone(w, n64(v, "image")),
        "vkBindBufferMemory" | "vkBindImageMemory" => bound(w, v),
        "vkBindBufferMemory2" | "vkBindImageMemory2" => v.structs("pBindInfos").for_each(|i| bound(w, i)),
        "vkGetImageMemoryRequirements" => {
            let size = v.one("pMemoryRequirements").and_then(|r| r.u64("size"));
            size.and_then(|s| w.bytes.residents.image_bytes.insert(n64(v, "image"), s));
        }
        "vkGetImageMemoryRequirements2" => {
            let image = v.one("pInfo").map_or(0, |i| n64(i, "image"));
            let r = v.one("pMemoryRequirements").and_then(|r| r.one("memoryRequirements"));
            r.and_then(|r| r.u64("size")).and_then(|s| w.bytes.residents.image_bytes.insert(image, s));
        }
        "vkGetImageSubresourceLayout" => {
            linear(w, n64(v, "image"), v.one("pSubresource"), v.one("pLayout"));
        }
        "vkGetImageSubresourceLayout2" => {
            let part = v.one("pSubresource").and_then(|s| s.one("imageSubresource"));
            linear(w, n64(v, "image"), part, v.one("pLayout").and_then(|l| l.one("subresourceLayout")));
        }
        "vkCopyMemoryToImage" => {
            v.structs("pCopyMemoryToImageInfo").for_each(|i| host_to_image(w, i, block));
        }
        "vkCopyImageToImage" => {
            let Some(i) = v.one("pCopyImageToImageInfo") else { return };
            for r in i.structs("pRegions") {
                let at = |n| r.one(n).map_or([0; 3], offset);
                let part = |n| r.one(n).map_or(Subresources::ALL, subresources);
                let region = ImageRegion {
                    src: part("srcSubresource"),
                    src_at: [at("srcOffset"); 2],
                    dst: part("dstSubresource"),
                    dst_at: [at("dstOffset"); 2],
                    extent: extent(r, "extent"),
                };
                w.image_to_image(n64(i, "srcImage"), n64(i, "dstImage"), &region, Writer::HostCopy, block);
            }
        }
        "vkTransitionImageLayout" => {
            for t in v.structs("pTransitions").filter(|t| n32(*t, "oldLayout") == 0) {
                let part = t.one("subresourceRange").map_or(Subresources::ALL, subresources);
                w.forget_image(n64(t, "image"), &part, Why::new(Reason::Discarded, block));
            }
        }
        "vkCreateMicromapEXT" => {
            let Some(i) = v.one("pCreateInfo") else { return };
            let place = (n64(i, "buffer"), n64(i, "offset"), n64(i, "size"));
            w.bytes.residents.micromaps.insert(created(call), place);
        }
        // Builds and copies on the host: as those on the device are.
        _ => other::other(w, &call.image, block),
    }
}

/// A resource ends, or its id begins to name another.
fn gone(w: &mut World, id: u64) {
    if w.bytes.residents.texels.contains_key(&id) {
        w.bytes.free(id);
    }
    w.bytes.residents.remove(id);
}

/// A buffer or image got its memory: VkBindBufferMemoryInfo, or the older call's parameters.
fn bound(w: &mut World, v: View<'_>) {
    let (memory, from) = (n64(v, "memory"), n64(v, "memoryOffset"));
    if memory == 0 {
        return;
    }
    match v.u64("image") {
        Some(id) => {
            let to = from.saturating_add(w.image_bytes(id));
            w.bytes.residents.bind(memory, Resident { id, image: true, from, to });
        }
        None => {
            let id = n64(v, "buffer");
            let to = from.saturating_add(w.buffers.get(&id).map_or(1, |b| b.size));
            w.bytes.residents.bind(memory, Resident { id, image: false, from, to });
        }
    }
}

/// The program was told where texels of an image lie.
fn linear(w: &mut World, image: u64, part: Option<View<'_>>, layout: Option<View<'_>>) {
    const LINEAR: u32 = 1;
    let (Some(part), Some(layout)) = (part, layout) else { return };
    if w.images.get(&image).is_none_or(|i| i.tiling != LINEAR) {
        return;
    }
    let l: Linear = ["offset", "size", "rowPitch", "arrayPitch", "depthPitch"].map(|n| n64(layout, n));
    let key = (n32(part, "aspectMask"), n32(part, "mipLevel"), n32(part, "arrayLayer"));
    w.bytes.residents.linear.entry(image).or_default().insert(key, l);
}

/// A part of a sparse buffer: it, first byte, bytes; memory and first byte there, or nothing.
type BufferBind = (u64, u64, u64, Option<(u64, u64)>);

/// VkBindSparseInfo: what it binds, once it is its turn on its queue.
#[derive(Debug, Default)]
pub struct Binds {
    buffers: Vec<BufferBind>,
    images: Vec<u64>,
    block: u64,
}

impl Binds {
    /// As a call asks for it.
    pub fn read(v: View<'_>, block: u64) -> Self {
        let mut binds = Binds { block, ..Binds::default() };
        for b in v.structs("pBufferBinds") {
            for p in b.structs("pBinds") {
                let memory = n64(p, "memory");
                let to = (memory != 0).then(|| (memory, n64(p, "memoryOffset")));
                binds.buffers.push((n64(b, "buffer"), n64(p, "resourceOffset"), n64(p, "size"), to));
            }
        }
        let images = v.structs("pImageOpaqueBinds").chain(v.structs("pImageBinds"));
        binds.images.extend(images.map(|i| n64(i, "image")));
        binds
    }

    /// Binds it.
    pub fn take_effect(&self, w: &mut World) {
        for &(buffer, offset, size, to) in &self.buffers {
            w.bytes.residents.bind_sparse(buffer, offset, size, to);
        }
        for &image in &self.images {
            w.forget_image(image, &Subresources::ALL, Why::new(Reason::Rebound, self.block));
        }
    }
}

/// VkCopyMemoryToImageInfo.
fn host_to_image(w: &mut World, v: View<'_>, block: u64) {
    let image = n64(v, "dstImage");
    w.touched(image, block);
    let cause = Cause::new(Writer::HostCopy, block, 0);
    for r in v.structs("pRegions") {
        let part = r.one("imageSubresource").map_or(Subresources::ALL, subresources);
        let at = r.one("imageOffset").map_or([0; 3], offset);
        let size = extent(r, "imageExtent");
        let Some(data) = r.pointed("pHostPointer") else {
            w.forget_image(image, &part, Why::new(Reason::Extension, block));
            continue;
        };
        let mut done = 0;
        for region in w.boxes(image, &part, at, size) {
            let Some(((space, rows), plane)) = w.rows(image, &region) else {
                w.forget_image(image, &part, Why::new(Reason::Format, block));
                break;
            };
            let (row, height) = (n32(r, "memoryRowLength"), n32(r, "memoryImageHeight"));
            let there = in_buffer(&plane, done, row, height, size);
            for (from, to, bytes) in pairs(&there, &rows) {
                match Span::within(from, bytes, data.len() as u64).and_then(|s| s.of(data)) {
                    Some(run) => w.bytes.write(space, to, run, cause),
                    None => w.bytes.forget(space, to, bytes, Why::new(Reason::Extension, block)),
                }
            }
            done = there.stride.1.saturating_mul(there.count.1).saturating_add(done);
        }
    }
}

/// A metadata block.
pub fn meta(w: &mut World, block: &MetaBlock<'_>) {
    match block.meta {
        Meta::FillMemory(m) => {
            // (the offset counts from the mapping's first byte)
            let mapped = w.memories.get(&m.memory).and_then(|m| m.mapped).unwrap_or(0);
            mapped_write(w, m.memory, mapped.saturating_add(m.offset), block.data, block.block);
        }
        Meta::InitBuffer(m) => {
            let cause = Cause::new(Writer::Snapshot, block.block, m.buffer);
            w.write_buffer(m.buffer, 0, block.data, cause);
        }
        Meta::InitImage(m) => init_image(w, m, block.data, block.block),
        Meta::BuildAcceleration(_) | Meta::CopyAcceleration(_) => {
            let why = Why::new(Reason::Structure, block.block);
            let all: Vec<_> = w.structures.values().map(|s| (s.buffer, s.offset, s.size)).collect();
            all.into_iter().for_each(|(buffer, at, size)| w.forget_buffer(buffer, at, size, why));
        }
        _ => {}
    }
}

/// The host wrote: counted for each buffer that lies there, where buffers overlap for the first.
fn mapped_write(w: &mut World, memory: u64, at: u64, data: &[u8], block: u64) {
    let end = at.saturating_add(data.len() as u64);
    let buffers: Vec<Resident> = w.bytes.residents.on(memory, at, end).filter(|r| !r.image).collect();
    let mut done = at;
    let put = |w: &mut World, from: u64, to: u64, buffer: u64| {
        if from < to {
            let run = &data[(from - at) as usize..(to - at) as usize];
            w.bytes.write(memory, from, run, Cause::new(Writer::Mapped, block, buffer));
        }
    };
    for b in buffers {
        put(w, done, b.from.min(end), 0);
        done = done.max(b.from);
        put(w, done, b.to.min(end), b.id);
        done = done.max(b.to.min(end));
    }
    put(w, done, end, 0);
    w.overwritten(memory, at, data.len() as u64, block);
}

/// An image's contents at the beginning of a trimmed capture.
fn init_image(w: &mut World, m: &InitImage, data: &[u8], block: u64) {
    const HOST_VISIBLE: u32 = 2;
    let Some(i) = w.images.get(&m.image) else { return };
    if data.is_empty() {
        return;
    }
    let cause = Cause::new(Writer::Snapshot, block, 0);
    let memory = i.bound.first().filter(|_| i.tiling == 1 && i.bound.len() == 1).copied();
    let visible = |id| w.memories.get(&id).and_then(|m| m.flags).is_none_or(|f| f & HOST_VISIBLE != 0);
    if let Some(b) = memory.filter(|b| visible(b.memory)) {
        // What its mapping held.
        return w.bytes.write(b.memory, b.offset, data, cause);
    }
    let (part, why) =
        (Subresources { aspects: m.aspect, ..Subresources::ALL }, Why::new(Reason::Format, block));
    let Some(t) = w.texels(m.image) else { return w.forget_image(m.image, &part, why) };
    // Newer files align levels to the texel size, older ones do not; the sum tells.
    let total = data.len() as u64;
    let ends = |align: u64| {
        let after = |at: u64, n: &u64| at.checked_next_multiple_of(align)?.checked_add(*n);
        m.level_bytes.iter().try_fold(0u64, after)
    };
    let align = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32].into_iter().find(|a| ends(*a) == Some(total));
    let mut from = 0u64;
    for (level, bytes) in (0..).zip(&m.level_bytes) {
        from = from.checked_next_multiple_of(align.unwrap_or(1)).unwrap_or(u64::MAX);
        let there = t.level(m.aspect, level).filter(|there| there.1 == *bytes);
        let run = Span::within(from, *bytes, total).and_then(|s| s.of(data));
        match (there, run, align) {
            (Some(there), Some(run), Some(_)) => w.bytes.write(m.image, there.0, run, cause),
            _ => w.forget_image(m.image, &Subresources { level, levels: 1, ..part }, why),
        }
        from = from.saturating_add(*bytes);
    }
}

impl World {
    /// A micromap's buffer, first byte and size.
    pub(super) fn micromap(&self, id: u64) -> Option<(u64, u64, u64)> {
        self.bytes.residents.micromaps.get(&id).copied()
    }
}

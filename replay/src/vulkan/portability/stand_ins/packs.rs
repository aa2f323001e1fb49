//! vkCmdCopyImageToBuffer from an image with a stand-in: it writes to a buffer of ours, and a shader makes captured texels of
//! that.
//!
//! The shader writes them to a second part of that buffer, row by row, from where they are copied to where the capture wants
//! them, so that whatever the program or the device does with these bytes finds them there, in the same command buffer, too.
//! What the dispatch disturbs is put back as translations of ray tracing do it (`ray/patcher.rs`). Costs: that memory until the
//! command buffer is recorded anew, a dispatch, a copy and barriers. Refuses copies recorded for a queue that runs no shaders.
//! Not put back: a compute shader object; not seen: conditional rendering that is on, which leaves out the dispatch and not the
//! copy.

use super::copies::{Part, parts, places, rewrite};
use super::state::{Out, OutRegion, Packer};
use crate::error::{Error, Kind, Result};
use crate::hook::{Feature, Needs};
use crate::objects::Objects;
use crate::options::Bridge;
use crate::texels::Packing;
use crate::vulkan::Vulkan;
use crate::vulkan::linked_call::LinkedCall;
use crate::vulkan::ray;
use ash::vk::{self, Handle};
use gfxr_parse::view::View;
use world::Outcome;
use world::bytes::texels::{Rows, in_buffer, pairs};

const PACK: &[u8] = include_bytes!("shaders/pack.spv");
/// Bytes of its push constants.
const ARGUMENT_BYTES: u32 = 56;
/// Workgroups of 64, at most; each does as much as is left.
const MOST_GROUPS: u32 = 4096;

/// What the shader reaches buffers by.
pub(super) const ADDRESSES: Feature = Feature {
    structure: "VkPhysicalDeviceBufferDeviceAddressFeatures",
    member: "bufferDeviceAddress",
    extension: "VK_KHR_buffer_device_address",
    core: vk::API_VERSION_1_2,
};

/// What a device has to be made with.
pub(in super::super) fn packing_needs() -> Needs {
    Needs { features: vec![ADDRESSES], ..Needs::default() }
}

/// Words of a row of captured texels, which begins with a word of its own.
fn row_words(texels: u32, bytes: u64) -> u64 {
    (u64::from(texels) * bytes).div_ceil(4)
}

/// Before vkCmdCopyImageToBuffer, and 2: it writes to a buffer of ours.
pub(in super::super) fn copy_out(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk, objects, call, linked, .. } = c;
    vk.stand_ins.out = None;
    if vk.stand_ins.is_empty() {
        return Ok(());
    }
    let v = View::call(&call.image);
    let info = v.one("pCopyImageToBufferInfo").unwrap_or(v);
    let image = info.u64("srcImage").and_then(|i| vk.images.get(&i)).filter(|i| i.stands_in()).cloned();
    let to = info.u64("dstBuffer").and_then(|b| vk.buffers.get(&b)).map(|b| (b.live, b.size));
    let (Some(image), Some(to)) = (image, to) else { return Ok(()) };
    let parts = parts(&image, info)?;
    let stand_in = image.format.as_raw() as u32;
    // (what is the same in the stand-in is only copied)
    let packings: Vec<Option<Packing>> = parts
        .iter()
        .map(|p| p.codec.packing(stand_in).filter(|k| k.way != 0 || k.bytes[0] != k.bytes[1]))
        .collect();
    if packings.iter().all(Option::is_none) {
        return Ok(());
    }
    let cmd_id = call.image.u64(0);
    if !runs_shaders(vk, objects, image.device, cmd_id) {
        let text = format!(
            "a copy out of an image in {:?}, which is not here, on a queue without shaders",
            image.captured_format
        );
        return Err(Error::new(Kind::Unsupported, text));
    }
    let (first, packed) = places(parts.iter().map(Part::bytes))?;
    let rows_of = |p: &Part| {
        p.extent[1].checked_mul(p.extent[2])?.checked_mul(p.layers).map(|rows| [p.extent[0], rows])
    };
    let captured = |(p, k): (&Part, &Option<Packing>)| match k {
        Some(_) => {
            let [texels, rows] = rows_of(p)?;
            let row = row_words(texels, p.codec.block_bytes() as u64) * 4;
            // (the shader counts bytes in 32 bits)
            let fits = p.bytes().is_some_and(|b| b <= u64::from(u32::MAX));
            row.checked_mul(rows.into()).filter(|b| fits && *b <= u64::from(u32::MAX))
        }
        None => Some(0),
    };
    let (second, bytes) = places(parts.iter().zip(&packings).map(captured))?;
    let size = packed.checked_add(bytes).filter(|s| *s < u64::from(u32::MAX) * 16);
    let size =
        size.ok_or_else(|| Error::new(Kind::Memory, "a copy has more texels than any memory holds"))?;
    let planes = world::formats::planes(image.captured_format.as_raw()).unwrap_or_default();
    let mut regions = Vec::new();
    for (((r, p), packing), (first, second)) in
        info.structs("pRegions").zip(&parts).zip(&packings).zip(first.iter().zip(&second))
    {
        let aspect = r.one("imageSubresource").and_then(|s| s.u32("aspectMask")).unwrap_or(0);
        let Some(plane) = planes.iter().find(|p| p.aspect & aspect != 0) else { continue };
        let number = |name| r.u32(name).unwrap_or(0);
        let offset = r.u64("bufferOffset").unwrap_or(0);
        let (row, height) = (number("bufferRowLength"), number("bufferImageHeight"));
        let mut there = in_buffer(plane, offset, row, height, p.extent);
        let slices = u64::from(p.extent[2]) * u64::from(p.layers);
        there.count.1 = slices;
        let at = if packing.is_some() { packed + second } else { *first };
        let stride = if packing.is_some() {
            row_words(p.extent[0], plane.block_bytes.into()) * 4
        } else {
            there.bytes
        };
        let here = Rows { at, stride: (stride, stride * u64::from(p.extent[1])), ..there };
        let size = rows_of(p).unwrap_or([0; 2]);
        regions.push(OutRegion { packing: *packing, size, places: [*first, at], rows: [here, there] });
    }
    rewrite(linked, info, &first);
    let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
    let own = ray::Own::local(vk.device_mut(image.device)?, size.max(16), usage)?;
    if let Some((_, at)) = info.definition("dstBuffer") {
        linked.set_word_at(at, own.buffer().as_raw());
    }
    // The same recording may be executed again while it is.
    let cmd = vk::CommandBuffer::from_raw(linked.arg(0));
    let own_stages = vk::PipelineStageFlags::TRANSFER | vk::PipelineStageFlags::COMPUTE_SHADER;
    barrier(&vk.device(image.device)?.ash, cmd, own_stages, vk::PipelineStageFlags::TRANSFER);
    vk.stand_ins.out =
        Some(Out { device: image.device, buffer: own.buffer(), address: own.address, to, regions });
    ray::keep(vk, image.device, cmd_id, own);
    let cost = &mut vk.stand_ins.cost;
    cost.copied_out += parts.len() as u64;
    let cost = vk.cost(Bridge::Texels);
    cost.memory += size;
    Ok(())
}

/// Behind it: the shader, and the copy to where the capture wants the texels.
pub(in super::super) fn copied_out(c: &mut LinkedCall<'_>, _: Outcome) -> Result<()> {
    let LinkedCall { vk, call, linked, .. } = c;
    let Some(out) = vk.stand_ins.out.take() else { return Ok(()) };
    let cmd = vk::CommandBuffer::from_raw(linked.arg(0));
    let d = vk.device(out.device)?.ash.clone();
    let (layout, pipeline) = packer(vk, out.device, &d)?;
    let (copies, shaders) = (vk::PipelineStageFlags::TRANSFER, vk::PipelineStageFlags::COMPUTE_SHADER);
    barrier(&d, cmd, copies, shaders | copies);
    let mut added = 3;
    for r in &out.regions {
        let Some(k) = r.packing else { continue };
        let words = row_words(r.size[0], k.bytes[1].into()) as u32;
        let count = words.saturating_mul(r.size[1]);
        if count == 0 {
            continue;
        }
        let values = [words, r.size[1], r.size[0], k.bytes[0], k.bytes[1], k.way];
        let addresses = r.places.map(|p| out.address + p);
        let arguments = ray::arguments(&addresses, &[&values[..], &k.what[..]].concat());
        let groups = count.div_ceil(64).min(MOST_GROUPS);
        ray::dispatch(&d, cmd, (layout, pipeline), &arguments, groups);
        added += 2;
    }
    ray::put_back(vk, &d, call.image.u64(0), cmd);
    barrier(&d, cmd, shaders | copies, copies);
    let fits = |b: &vk::BufferCopy| b.size > 0 && b.dst_offset.saturating_add(b.size) <= out.to.1;
    let copies: Vec<vk::BufferCopy> = out
        .regions
        .iter()
        .flat_map(|r| pairs(&r.rows[0], &r.rows[1]))
        .map(|(src_offset, dst_offset, size)| vk::BufferCopy { src_offset, dst_offset, size })
        .filter(fits)
        .collect();
    if !copies.is_empty() {
        // SAFETY: a command buffer that is being recorded, outside of passes; both buffers live, and the regions lie inside both.
        unsafe { d.cmd_copy_buffer(cmd, out.buffer, out.to.0, &copies) };
    }
    let cost = vk.cost(Bridge::Texels);
    cost.added += added + 1;
    cost.copied += copies.iter().map(|c| c.size).sum::<u64>();
    Ok(())
}

/// Whether a command buffer is for queues that run compute shaders here.
fn runs_shaders(vk: &Vulkan, objects: &mut Objects, device: u64, cmd: u64) -> bool {
    let world = objects.world();
    let pool = world.command_buffers.get(&cmd).and_then(|b| world.command_pools.get(&b.pool));
    let Some(d) = vk.devices.get(&device) else { return false };
    let family = pool.map_or(0, |p| if d.folding.changed { d.folding.family(p.family) } else { p.family });
    let flags = d.gpu.families.get(family as usize).map(|f| f.queue_flags);
    flags.is_some_and(|f| f.contains(vk::QueueFlags::COMPUTE))
}

fn barrier(
    d: &ash::Device,
    cmd: vk::CommandBuffer,
    from: vk::PipelineStageFlags,
    to: vk::PipelineStageFlags,
) {
    let barrier = vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
        .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE);
    // SAFETY: recording into a command buffer that the application is recording.
    unsafe { d.cmd_pipeline_barrier(cmd, from, to, vk::DependencyFlags::empty(), &[barrier], &[], &[]) };
}

/// The device's shader, made when first needed.
fn packer(vk: &mut Vulkan, device: u64, d: &ash::Device) -> Result<(vk::PipelineLayout, vk::Pipeline)> {
    if let Some(p) = vk.stand_ins.packers.get(&device) {
        return Ok((p.layout, p.pipeline));
    }
    let (layout, pipeline) = ray::translation(d, PACK, ARGUMENT_BYTES)?;
    vk.stand_ins.packers.insert(device, Packer { layout, pipeline });
    Ok((layout, pipeline))
}

/// A device is about to go, and idle.
pub(super) fn device_gone(vk: &mut Vulkan, device: u64) {
    if let (Some(p), Some(d)) = (vk.stand_ins.packers.remove(&device), vk.devices.get(&device)) {
        // SAFETY: ours, and idle.
        unsafe {
            d.ash.destroy_pipeline(p.pipeline, None);
            d.ash.destroy_pipeline_layout(p.layout, None);
        }
    }
}

//! vkCmdCopyBufferToImage to an image with a stand-in: it reads a buffer of ours, which holds the decoded texels.
//!
//! What the captured buffer contains is known when the copy is submitted; room is made when it is recorded. The buffer lives
//! until the command buffer is recorded anew, reset or freed, which the application may only do once it has run. Guarantees: the
//! room is as large as all that the copy reads. Refuses copies whose texels are too many for any memory.

use super::state::Copy;
use crate::error::{Error, Kind, Result, Vk};
use crate::texels::texel_bytes;
use crate::vulkan::linked_call::LinkedCall;
use crate::vulkan::memory::AllocKind;
use crate::vulkan::{ImageState, Vulkan};
use ash::vk::{self, Handle};
use gfxr_parse::view::View;
use world::World;

/// Where regions begin in our buffer: a multiple of every texel, and of what transfer queues want.
const ALIGN: u64 = 16;

/// Layers that a region names.
pub(super) fn layers(image: &ImageState, first: u32, count: u32) -> u32 {
    count.min(image.layers.saturating_sub(first))
}

/// Where texels of regions (extent, layers) begin one behind the other, and the bytes of all.
fn places(regions: impl Iterator<Item = ([u32; 3], u32)>, texel: u64) -> Option<(Vec<u64>, u64)> {
    let (mut all, mut end) = (Vec::new(), 0u64);
    for (extent, layers) in regions {
        all.push(end);
        let texels = extent.iter().try_fold(u64::from(layers), |n, side| n.checked_mul((*side).into()))?;
        end = end.checked_add(texels.checked_mul(texel)?)?.checked_next_multiple_of(ALIGN)?;
    }
    Some((all, end))
}

/// vkCmdCopyBufferToImage, and 2.
pub(in super::super) fn copy(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk, objects, call, linked, .. } = c;
    if vk.compressed.is_empty() {
        return Ok(());
    }
    let v = View::call(&call.image);
    let info = v.one("pCopyBufferToImageInfo").unwrap_or(v);
    let Some(image) = info.u64("dstImage").and_then(|i| vk.images.get(&i)).filter(|i| i.codec().is_some())
    else {
        return Ok(());
    };
    let holder = call.image.u64(0);
    let Some(recording) = objects.world().recording(holder) else { return Ok(()) };
    let key = (recording.number, recording.count);
    let number = |v: View<'_>, name| v.u32(name).unwrap_or(0);
    let of = |r: View<'_>| {
        let extent =
            r.one("imageExtent").map_or([0; 3], |e| ["width", "height", "depth"].map(|n| number(e, n)));
        let part = r.one("imageSubresource");
        (extent, part.map_or(0, |p| layers(image, number(p, "baseArrayLayer"), number(p, "layerCount"))))
    };
    let texel = texel_bytes(image.format.as_raw() as u32) as u64;
    let Some((places, size)) = places(info.structs("pRegions").map(of), texel) else {
        return Err(Error::new(Kind::Memory, "a copy has more texels than any memory holds"));
    };
    for (r, place) in info.structs("pRegions").zip(&places) {
        if let Some((_, at)) = r.definition("bufferOffset") {
            linked.set_word_at(at, *place);
        }
        for name in ["bufferRowLength", "bufferImageHeight"] {
            if let Some((_, at)) = r.definition(name) {
                linked.set_u32_at(at, 0);
            }
        }
    }
    let device = image.device;
    let copy = make(vk, (device, holder), places, size.max(ALIGN))?;
    if let Some((_, at)) = info.definition("srcBuffer") {
        linked.set_word_at(at, copy.buffer.as_raw());
    }
    if let Some(old) = vk.compressed.copies.insert(key, copy) {
        gone(vk, &old);
    }
    Ok(())
}

/// Room for texels.
fn make(vk: &mut Vulkan, (device, holder): (u64, u64), places: Vec<u64>, size: u64) -> Result<Copy> {
    let d = vk.device_mut(device)?;
    let must = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    let props = d.gpu.memory;
    let info = vk::BufferCreateInfo::default().size(size).usage(vk::BufferUsageFlags::TRANSFER_SRC);
    // SAFETY: plain creations on a live device, in order.
    let (buffer, alloc) = unsafe {
        let buffer = d.ash.create_buffer(&info, None).what("vkCreateBuffer")?;
        let need = d.ash.get_buffer_memory_requirements(buffer);
        let none = vk::MemoryPropertyFlags::empty();
        let alloc = d.pool.alloc(&d.ash, &props, need, (must, none), AllocKind::Linear, false);
        let bound = alloc.and_then(|a| {
            d.ash.bind_buffer_memory(buffer, a.memory(), a.offset()).what("vkBindBufferMemory").map(|()| a)
        });
        match bound {
            Ok(alloc) => (buffer, alloc),
            Err(e) => {
                d.ash.destroy_buffer(buffer, None);
                return Err(e);
            }
        }
    };
    let cost = &mut vk.compressed.cost;
    cost.staged += size;
    cost.most_staged = cost.most_staged.max(cost.staged);
    Ok(Copy { device, holder, buffer, alloc, size, places, filled: None })
}

fn gone(vk: &mut Vulkan, copy: &Copy) {
    vk.compressed.cost.staged -= copy.size;
    if let Some(d) = vk.devices.get(&copy.device) {
        // SAFETY: ours; what was recorded with it is gone, or its device is idle.
        unsafe { d.ash.destroy_buffer(copy.buffer, None) };
    }
}

fn remove(vk: &mut Vulkan, which: impl Fn(&(u64, u32), &Copy) -> bool) {
    let keys: Vec<_> = vk.compressed.copies.iter().filter(|(k, c)| which(k, c)).map(|(k, _)| *k).collect();
    for copy in keys.iter().filter_map(|k| vk.compressed.copies.remove(k)).collect::<Vec<_>>() {
        gone(vk, &copy);
    }
}

/// Gives back the room of copies whose recordings are no more.
pub(super) fn sweep(vk: &mut Vulkan, world: &World) {
    remove(vk, |(number, _), c| world.recording(c.holder).is_none_or(|r| r.number != *number));
}

/// A device is about to go, and idle.
pub(in crate::vulkan) fn device_gone(vk: &mut Vulkan, device: u64) {
    remove(vk, |_, c| c.device == device);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_lie_one_behind_the_other() {
        let all = [([3, 3, 1], 1), ([2, 1, 1], 2), ([0, 4, 1], 6)];
        assert_eq!(places(all.into_iter(), 4), Some((vec![0, 48, 64], 64)));
        assert_eq!(places([([u32::MAX; 3], u32::MAX)].into_iter(), 4), None);
        assert_eq!(places([([1 << 31, 1 << 31, 1], 1)].into_iter(), 8), None);
    }
}

//! vkCmdCopyBufferToImage to an image with a stand-in: it reads a buffer of ours, which holds the translated texels.
//!
//! What the captured buffer contains is known when the copy is submitted; room is made when it is recorded. The buffer lives
//! until the command buffer is recorded anew, reset or freed, which the application may only do once it has run. Guarantees: the
//! room is as large as all that the copy reads. Refuses copies whose texels are too many for any memory.

use super::state::Copy;
use crate::error::{Error, Kind, Result, Vk};
use crate::link::Linked;
use crate::texels::Codec;
use crate::vulkan::linked_call::LinkedCall;
use crate::vulkan::memory::AllocKind;
use crate::vulkan::{ImageState, Vulkan};
use ash::vk::{self, Handle};
use gfxr_parse::view::View;
use world::World;

/// Where regions begin in our buffer: a multiple of every texel, and of what transfer queues want.
pub(super) const ALIGN: u64 = 16;

/// Layers that a region names.
pub(super) fn layers(image: &ImageState, first: u32, count: u32) -> u32 {
    count.min(image.layers.saturating_sub(first))
}

/// What a region of a copy between a buffer and an image with a stand-in says.
pub(super) struct Part {
    pub(super) codec: Codec,
    pub(super) extent: [u32; 3],
    pub(super) layers: u32,
    /// Of a texel in the stand-in.
    pub(super) texel_bytes: u64,
}

impl Part {
    /// A region's; none if the image has no such aspect.
    pub(super) fn of(image: &ImageState, region: View<'_>) -> Option<Self> {
        let number = |v: View<'_>, name| v.u32(name).unwrap_or(0);
        let part = region.one("imageSubresource")?;
        let codec = image.codec(vk::ImageAspectFlags::from_raw(number(part, "aspectMask")))?;
        let extent = region.one("imageExtent")?;
        Some(Part {
            codec,
            extent: ["width", "height", "depth"].map(|n| number(extent, n)),
            layers: layers(image, number(part, "baseArrayLayer"), number(part, "layerCount")),
            texel_bytes: codec.texel_bytes(image.format.as_raw() as u32) as u64,
        })
    }

    /// Of all its texels in the stand-in.
    pub(super) fn bytes(&self) -> Option<u64> {
        let texels =
            self.extent.iter().try_fold(u64::from(self.layers), |n, s| n.checked_mul((*s).into()))?;
        texels.checked_mul(self.texel_bytes)
    }
}

/// The parts of a copy, if its image has a stand-in.
pub(super) fn parts(image: &ImageState, copy: View<'_>) -> Result<Vec<Part>> {
    let all: Option<Vec<Part>> = copy.structs("pRegions").map(|r| Part::of(image, r)).collect();
    all.ok_or_else(|| Error::divergence("a copy of an aspect that the image has not got"))
}

/// Where what takes so many bytes begins, one behind the other, and the bytes of all.
pub(super) fn places(bytes: impl Iterator<Item = Option<u64>>) -> Result<(Vec<u64>, u64)> {
    let (mut all, mut end) = (Vec::new(), 0u64);
    for bytes in bytes {
        all.push(end);
        let next = bytes.and_then(|b| end.checked_add(b)?.checked_next_multiple_of(ALIGN));
        end = next.ok_or_else(|| Error::new(Kind::Memory, "a copy has more texels than any memory holds"))?;
    }
    Ok((all, end))
}

/// Makes the regions of a copy name texels without gaps at these places.
pub(super) fn rewrite(linked: &mut Linked, copy: View<'_>, places: &[u64]) {
    for (r, place) in copy.structs("pRegions").zip(places) {
        if let Some((_, at)) = r.definition("bufferOffset") {
            linked.set_word_at(at, *place);
        }
        for name in ["bufferRowLength", "bufferImageHeight"] {
            if let Some((_, at)) = r.definition(name) {
                linked.set_u32_at(at, 0);
            }
        }
    }
}

/// vkCmdCopyBufferToImage, and 2.
pub(in super::super) fn copy(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk, objects, call, linked, .. } = c;
    if vk.stand_ins.is_empty() {
        return Ok(());
    }
    let v = View::call(&call.image);
    let info = v.one("pCopyBufferToImageInfo").unwrap_or(v);
    let Some(image) = info.u64("dstImage").and_then(|i| vk.images.get(&i)).filter(|i| i.stands_in()) else {
        return Ok(());
    };
    let holder = call.image.u64(0);
    let Some(recording) = objects.world().recording(holder) else { return Ok(()) };
    let key = (recording.number, recording.count);
    let parts = parts(image, info)?;
    // (what is the same in the stand-in is read where it is)
    if parts.iter().all(|p| matches!(p.codec, Codec::Same(_))) {
        return Ok(());
    }
    let (places, size) = places(parts.iter().map(Part::bytes))?;
    rewrite(linked, info, &places);
    let device = image.device;
    let copy = make(vk, (device, holder), places, size.max(ALIGN))?;
    if let Some((_, at)) = info.definition("srcBuffer") {
        linked.set_word_at(at, copy.buffer.as_raw());
    }
    if let Some(old) = vk.stand_ins.copies.insert(key, copy) {
        gone(vk, &old);
    }
    Ok(())
}

/// Room for texels.
fn make(vk: &mut Vulkan, (device, holder): (u64, u64), places: Vec<u64>, size: u64) -> Result<Copy> {
    let d = vk.device_mut(device)?;
    let must = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    let info = vk::BufferCreateInfo::default().size(size).usage(vk::BufferUsageFlags::TRANSFER_SRC);
    // SAFETY: plain creations on a live device, in order.
    let (buffer, alloc) = unsafe {
        let buffer = d.ash.create_buffer(&info, None).what("vkCreateBuffer")?;
        let need = d.ash.get_buffer_memory_requirements(buffer);
        let none = vk::MemoryPropertyFlags::empty();
        let alloc = d.alloc(need, (must, none), AllocKind::Linear, false);
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
    let cost = &mut vk.stand_ins.cost;
    cost.staged += size;
    cost.most_staged = cost.most_staged.max(cost.staged);
    Ok(Copy { device, holder, buffer, alloc, size, places, filled: None })
}

fn gone(vk: &mut Vulkan, copy: &Copy) {
    vk.stand_ins.cost.staged -= copy.size;
    if let Some(d) = vk.devices.get(&copy.device) {
        // SAFETY: ours; what was recorded with it is gone, or its device is idle.
        unsafe { d.ash.destroy_buffer(copy.buffer, None) };
    }
}

fn remove(vk: &mut Vulkan, which: impl Fn(&(u64, u32), &Copy) -> bool) {
    let keys: Vec<_> = vk.stand_ins.copies.iter().filter(|(k, c)| which(k, c)).map(|(k, _)| *k).collect();
    for copy in keys.iter().filter_map(|k| vk.stand_ins.copies.remove(k)).collect::<Vec<_>>() {
        gone(vk, &copy);
    }
}

/// Gives back the room of copies whose recordings are no more.
pub(super) fn sweep(vk: &mut Vulkan, world: &World) {
    remove(vk, |(number, _), c| world.recording(c.holder).is_none_or(|r| r.number != *number));
}

/// A device is about to go, and idle.
pub(super) fn device_gone(vk: &mut Vulkan, device: u64) {
    remove(vk, |_, c| c.device == device);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_lie_one_behind_the_other() {
        let part =
            |extent, layers, texel_bytes| Part { codec: Codec::Same(1), extent, layers, texel_bytes }.bytes();
        let all = [part([3, 3, 1], 1, 4), part([2, 1, 1], 2, 4), part([0, 4, 1], 6, 4)];
        assert_eq!(places(all.into_iter()).expect("they fit"), (vec![0, 48, 64], 64));
        assert!(places([part([u32::MAX; 3], u32::MAX, 4)].into_iter()).is_err());
        assert!(places([part([1 << 31, 1 << 31, 1], 1, 8)].into_iter()).is_err());
    }
}

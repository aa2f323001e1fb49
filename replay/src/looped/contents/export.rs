//! What buffers and images hold, out of the device: for whoever writes a capture that begins with it.
//!
//! Guarantees: nothing is in flight while they are read, and contents and layouts stay as they are; words of buffers that are addresses here are those of the capture; of an image every level and layer of an aspect comes in one piece, levels one after the other
//! without gaps, parts without contents as zeros. What cannot be read is told with the reason: transient, protected and sparse resources, images of several samples a texel,
//! those of an unknown format and those of which another format stands in here.

use super::learn::readable;
use super::read::{self, Chunk};
use super::take::{hopeless_buffer, hopeless_image, is_bound};
use super::tracker::Tracking;
use crate::error::Result;
use crate::exec::Executor;
use crate::vulkan::format;
use crate::vulkan::{ImageState, Vulkan};
use ash::vk;

/// What was read.
#[derive(Debug)]
pub enum Held {
    /// All bytes of a buffer, by captured id.
    Buffer(u64, Vec<u8>),
    /// An aspect of an image, by captured id.
    Image {
        /// It.
        image: u64,
        /// VkImageAspectFlagBits.
        aspect: u32,
        /// Bytes of each level, of all its layers.
        levels: Vec<u64>,
        /// The levels.
        bytes: Vec<u8>,
    },
    /// This one cannot be read, for a reason.
    Nothing(u64, String),
}

/// The layout that an image is in, that of its first part with contents; none where no part has any.
pub fn layout(vk: &Vulkan, tracking: &Tracking, image: u64) -> Option<u32> {
    let layouts = tracking.state().image(image, vk.image(image)?).layouts;
    let first = layouts.parts().find(|p| layouts.defined(*p))?;
    Some(layouts.of(first).as_raw() as u32)
}

/// Reads buffers and images, by captured id.
pub fn export(
    cx: &mut Executor,
    tracking: &Tracking,
    (buffers, images): (&[u64], &[u64]),
    mut take: impl FnMut(Held) -> Result<()>,
) -> Result<()> {
    let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
    vk.finish_present()?;
    for d in vk.devices.values() {
        d.wait_idle()?;
    }
    let mut staging = std::collections::HashMap::new();
    for id in buffers {
        let Some(b) = vk.buffer(*id).cloned() else { continue };
        let unbound = !is_bound(b.memory, b.alloc.is_some());
        if let Some(why) = hopeless_buffer(&b).or(unbound.then_some("buffers without memory")) {
            take(Held::Nothing(*id, why.into()))?;
            continue;
        }
        let mut chunks = vec![];
        read::buffer(0, b.live, None, (0, b.size), &mut chunks);
        let mut bytes = all(vk, b.device, staging.entry(b.device).or_default(), &chunks)?;
        captured_addresses(vk, &mut bytes);
        take(Held::Buffer(*id, bytes))?;
    }
    for id in images {
        let Some(image) = vk.image(*id).cloned() else { continue };
        if let Err(why) = can_be_read(&image) {
            take(Held::Nothing(*id, why))?;
            continue;
        }
        let layouts = tracking.state().image(*id, &image).layouts;
        let defined: Vec<_> = layouts.parts().filter(|p| layouts.defined(*p)).collect();
        let moves = vec![(image.live, layouts.clone(), defined)];
        for (aspect, flag) in layouts.aspects().iter().enumerate() {
            let mut levels = vec![0; image.levels as usize];
            let mut chunks = vec![];
            for p in layouts.parts().filter(|p| p.aspect == aspect) {
                let before = chunks.len();
                read::part(chunks.len(), &image, None, &layouts, p, &mut chunks);
                levels[p.level as usize] += chunks[before..].iter().map(|c: &Chunk| c.len).sum::<u64>();
            }
            chunks.sort_by_key(|c| c.part.map(|p| (p.level, p.layer)));
            let there = |c: &Chunk| c.part.is_some_and(|p| layouts.defined(p));
            let read: Vec<Chunk> = chunks.iter().filter(|c| there(c)).cloned().collect();
            let staging = staging.entry(image.device).or_default();
            let found = readable(vk, image.device, &moves, |vk| all(vk, image.device, staging, &read))?;
            let (mut bytes, mut at) = (vec![], 0);
            for c in &chunks {
                let len = c.len as usize;
                if there(c) {
                    bytes.extend_from_slice(&found[at..at + len]);
                    at += len;
                } else {
                    bytes.resize(bytes.len() + len, 0);
                }
            }
            take(Held::Image { image: *id, aspect: flag.as_raw(), levels, bytes })?;
        }
    }
    for (device, staging) in staging {
        let (Ok(d), Some(staging)) = (vk.device(device), staging) else { continue };
        // SAFETY: ours, and idle.
        unsafe { d.ash.destroy_buffer(staging.live, None) };
    }
    Ok(())
}

/// The bytes of chunks, one after the other.
fn all(
    vk: &mut Vulkan,
    device: u64,
    staging: &mut Option<super::backup::BackupBuffer>,
    chunks: &[Chunk],
) -> Result<Vec<u8>> {
    let mut bytes = vec![];
    read::read(vk.device_mut(device)?, staging, chunks, |batch| {
        batch.iter().for_each(|(c, now, _)| bytes.extend_from_slice(&c.meaning(now)));
        Ok(())
    })?;
    Ok(bytes)
}

/// Words that are addresses here become those of the capture.
fn captured_addresses(vk: &Vulkan, bytes: &mut [u8]) {
    if vk.addresses.nothing_moved() {
        return;
    }
    let mut ranges: Vec<(u64, u64, u64)> =
        vk.addresses.segments().map(|(was, size, now)| (now, size, was)).collect();
    ranges.sort_unstable();
    for word in bytes.chunks_exact_mut(8) {
        let value = u64::from_le_bytes(word.try_into().expect("of eight bytes"));
        let at = ranges.partition_point(|r| r.0 <= value);
        let Some((now, size, was)) = at.checked_sub(1).map(|n| ranges[n]) else { continue };
        if value - now < size {
            word.copy_from_slice(&(was + (value - now)).to_le_bytes());
        }
    }
}

fn can_be_read(image: &ImageState) -> std::result::Result<(), String> {
    if let Some(why) = hopeless_image(image) {
        return Err(why);
    }
    if image.samples != vk::SampleCountFlags::TYPE_1 {
        return Err("images of several samples a texel".into());
    }
    if format::planes(image.format).is_none() {
        return Err(format!("images of a format that is not known: {:?}", image.format));
    }
    if image.stands_in() {
        return Err(format!("images of {:?}, of which another format stands in here", image.captured_format));
    }
    if !is_bound(image.memory, image.alloc.is_some()) {
        return Err("images without memory".into());
    }
    Ok(())
}

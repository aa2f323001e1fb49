//! A submission, or a signal that lets one go on, is about to be made: the texels that its copies upload are translated.
//!
//! What a buffer contains when the device gets to a copy is what the followed world says ([`world::Follow::before`]): all that
//! the capture wrote, copied, filled and updated until then. What is not known there (shaders wrote it, it came from outside)
//! is read back from the device, which is waited for. Zeros stand for what nobody ever wrote. Refused by name: texels of that
//! kind that change in the very submission that copies them, and a recording that copies other texels the second time within
//! one submission. Not seen: batches that the capture says have run without saying what let them go on.

use super::copies::{layers, sweep};
use super::state::Filled;
use crate::error::{Error, Kind, Result};
use crate::texels::Codec;
use crate::vulkan::Vulkan;
use ash::vk;
use std::time::Instant;
use world::bytes::texels::{Rows, in_buffer};
use world::bytes::{Hole, Reason};
use world::commands::{BufferImageCopies, BufferImageRegion};
use world::{At, World};

/// Translates what the copies of a call upload.
pub(in super::super) struct Decoding<'c> {
    pub(in super::super) vk: &'c mut Vulkan,
    /// The world's clock before any of it.
    pub(in super::super) began: u64,
    /// Which call it is.
    pub(in super::super) call: u64,
}

/// A submission or a signal is about to be followed: which call it is.
pub(in super::super) fn begins(vk: &mut Vulkan, world: &World) -> u64 {
    sweep(vk, world);
    vk.stand_ins.calls += 1;
    vk.stand_ins.calls
}

/// A region's blocks or texels: in the buffer, from its first byte on.
struct Source {
    codec: Codec,
    rows: Rows,
    /// From layer to layer, and of all layers.
    layer: u64,
    bytes: u64,
    layers: u32,
}

impl Source {
    fn of(codec: Codec, r: &BufferImageRegion, format: i32, layers: u32) -> Option<Self> {
        let planes = world::formats::planes(format)?;
        let plane = *planes.iter().find(|p| p.aspect & r.part.aspects != 0).or(planes.first())?;
        debug_assert_eq!(plane.block_bytes as usize, codec.block_bytes());
        let rows = in_buffer(&plane, 0, r.row_length, r.image_height, r.extent);
        let layer = rows.stride.1.saturating_mul(rows.count.1);
        let last = |n: u64, stride: u64| n.saturating_sub(1).saturating_mul(stride);
        let bytes = last(layers.into(), layer)
            .saturating_add(last(rows.count.1, rows.stride.1))
            .saturating_add(last(rows.count.0, rows.stride.0))
            .saturating_add(rows.bytes);
        Some(Source { codec, rows, layer, bytes, layers })
    }
}

impl Decoding<'_> {
    /// What a copy uploads.
    pub(in super::super) fn copy(&mut self, world: &World, at: &At, c: &BufferImageCopies) -> Result<()> {
        let key = (at.recording, at.command);
        if !self.vk.stand_ins.copies.contains_key(&key) {
            return Ok(());
        }
        let Some(image) = self.vk.images.get(&c.image).cloned() else { return Ok(()) };
        let format = image.captured_format.as_raw();
        let source = |r: &BufferImageRegion| {
            let codec = image.codec(vk::ImageAspectFlags::from_raw(r.part.aspects))?;
            Source::of(codec, r, format, layers(&image, r.part.layer, r.part.layers))
        };
        let sources: Vec<Source> = c.regions.iter().filter_map(source).collect();
        let stamps = c.regions.iter().zip(&sources).map(|(r, s)| world.stamp_of(c.buffer, r.offset, s.bytes));
        let stamp = stamps.max().unwrap_or(0);
        let Some(copy) = self.vk.stand_ins.copies.get(&key) else { return Ok(()) };
        let (device, filled) = (copy.device, copy.filled);
        if filled.is_some_and(|f| f.stamp == Some(stamp)) {
            return Ok(());
        }
        let (mut all, mut known, mut hash) = (Vec::new(), true, blake3::Hasher::new());
        for (r, s) in c.regions.iter().zip(&sources) {
            let (blocks, is_known) = self.blocks(world, device, c, r, s)?;
            known &= is_known;
            hash.update(&blocks);
            all.push(blocks);
        }
        let now =
            Filled { stamp: known.then_some(stamp), hash: *hash.finalize().as_bytes(), call: self.call };
        match filled {
            // Written anew, and the same.
            Some(f) if f.hash == now.hash => {}
            Some(f) if f.call == self.call => {
                let text =
                    "a recording is executed twice in a submission, and copies other texels the second time";
                return Err(Error::new(Kind::Unsupported, text));
            }
            filled => {
                if filled.is_some() {
                    // It may still be read.
                    self.vk.device(device)?.wait_idle()?;
                }
                self.decode(key, image.format.as_raw() as u32, c, &sources, &all)?;
            }
        }
        if let Some(copy) = self.vk.stand_ins.copies.get_mut(&key) {
            copy.filled = Some(now);
        }
        Ok(())
    }

    /// A region's blocks, and whether all of them were known without the device.
    fn blocks(
        &mut self,
        world: &World,
        device: u64,
        c: &BufferImageCopies,
        r: &BufferImageRegion,
        s: &Source,
    ) -> Result<(Vec<u8>, bool)> {
        let mut blocks = Vec::new();
        let there = world.range_of(c.buffer, r.offset, u64::MAX);
        let holes = world.read_buffer(c.buffer, r.offset, s.bytes.min(there), &mut blocks).holes;
        let never = |h: &Hole| matches!(h.why.reason, Reason::NeverWritten | Reason::NoMemory);
        let unknown: Vec<Hole> = holes.into_iter().filter(|h| !never(h)).collect();
        let Some(hole) = unknown.first() else { return Ok((blocks, true)) };
        if world.stamp_of(c.buffer, r.offset, s.bytes) > self.began {
            let text = format!(
                "texels for VkImage {} are not known before the submission that copies them runs: {:?}, block {}",
                c.image, hole.why.reason, hole.why.block
            );
            return Err(Error::new(Kind::Unsupported, text));
        }
        let device_has = self.read_back(device, c.buffer, r.offset, blocks.len() as u64)?;
        for h in &unknown {
            let range = h.from as usize..(h.to as usize).min(device_has.len());
            if range.start < range.end {
                blocks[range.clone()].copy_from_slice(&device_has[range]);
            }
        }
        Ok((blocks, false))
    }

    /// Writes a copy's texels.
    fn decode(
        &mut self,
        key: (u64, u32),
        stand_in: u32,
        c: &BufferImageCopies,
        sources: &[Source],
        all: &[Vec<u8>],
    ) -> Result<()> {
        let Some(copy) = self.vk.stand_ins.copies.get(&key) else { return Ok(()) };
        let (began, mut texels) = (Instant::now(), 0);
        for (((r, s), blocks), place) in c.regions.iter().zip(sources).zip(all).zip(&copy.places) {
            let mut place = *place;
            for layer in 0..u64::from(s.layers) {
                let from = usize::try_from(layer.saturating_mul(s.layer)).unwrap_or(usize::MAX);
                let source = blocks.get(from..).unwrap_or(&[]);
                let decoded = s.codec.decode(stand_in, source, &s.rows, r.extent);
                if !copy.alloc.write(place, &decoded) {
                    return Err(Error::new(Kind::Internal, "decoded texels do not fit into their buffer"));
                }
                place += decoded.len() as u64;
                texels += r.extent.iter().map(|n| u64::from(*n)).product::<u64>();
            }
        }
        let cost = &mut self.vk.stand_ins.cost;
        cost.texels += texels;
        cost.decoding += began.elapsed();
        Ok(())
    }

    /// What the device has in a buffer after all that was submitted.
    fn read_back(&mut self, device: u64, buffer: u64, offset: u64, bytes: u64) -> Result<Vec<u8>> {
        self.vk.stand_ins.cost.read_back += 1;
        let Some(b) = self.vk.buffers.get(&buffer) else { return Ok(Vec::new()) };
        let (live, bytes) = (b.live, bytes.min(b.size.saturating_sub(offset)));
        let d = self.vk.device_mut(device)?;
        d.wait_idle()?;
        d.read_buffer(live, offset, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_reads_whole_blocks_up_to_its_last() {
        let r = BufferImageRegion { row_length: 16, extent: [9, 5, 1], ..Default::default() };
        // ETC2 RGB8: three blocks of 8 bytes in rows of four, two rows a layer, three layers.
        let s = Source::of(Codec::Etc2, &r, 147, 3).expect("a known format");
        assert_eq!((s.rows.bytes, s.rows.stride, s.rows.count), (24, (32, 64), (2, 1)));
        assert_eq!((s.layer, s.bytes), (64, 2 * 64 + 32 + 24));
    }
}

//! Bytes of buffers and of addresses: where they lie in memory, and what lies there too.
//!
//! Guarantees: a write to memory that an image of optimal tiling shares makes its texels unknown. Refuses nothing: what lies
//! outside of a buffer is left out; an address that belongs to no buffer stands for every buffer that has one.

use super::super::bytes::{Cause, Hole, Known, Reason, Why};
use crate::World;

/// A run of bytes: memory, first byte in it, bytes, their first one's place in the range that was asked for.
pub(super) type Span = (u64, u64, u64, u64);

/// More bytes of a buffer are not read at once: a damaged capture may ask for any number.
const MOST_READ_BYTES: u64 = 1 << 31;

impl World {
    /// Where a range of a buffer lies. What is bound to nothing is left out.
    pub(super) fn spans(&self, buffer: u64, offset: u64, size: u64) -> Vec<Span> {
        let Some(b) = self.buffers.get(&buffer) else { return Vec::new() };
        let size = size.min(b.size.saturating_sub(offset));
        if size == 0 {
            return Vec::new();
        }
        if let Some(bound) = b.bound {
            // (what would end beyond all numbers lies nowhere)
            let at = bound.offset.checked_add(offset).filter(|at| at.checked_add(size).is_some());
            return at.map(|at| (bound.memory, at, size, 0)).into_iter().collect();
        }
        let Some(pieces) = self.bytes.residents.sparse.get(&buffer) else { return Vec::new() };
        let end = offset + size;
        let first = pieces.range(..=offset).next_back().map_or(offset, |p| *p.0);
        let inside = pieces.range(first..end).filter(|(at, p)| at.saturating_add(p.0) > offset);
        let part = |(at, (bytes, memory, there)): (&u64, &(u64, u64, u64))| {
            let (from, to) = ((*at).max(offset), at.saturating_add(*bytes).min(end));
            let place = there.checked_add(from - at).filter(|p| p.checked_add(to - from).is_some())?;
            Some((*memory, place, to - from, from - offset))
        };
        inside.filter_map(part).collect()
    }

    /// Puts a range of a buffer behind `into`, 0 for what is not known; of a range larger than any device's, its beginning.
    pub fn read_buffer(&self, buffer: u64, offset: u64, size: u64, into: &mut Vec<u8>) -> Known {
        let size = size.min(MOST_READ_BYTES);
        if let Some((b, bound)) = self.buffers.get(&buffer).and_then(|b| Some((b, b.bound?))) {
            let there = size.min(b.size.saturating_sub(offset));
            let mut known = self.bytes.read(bound.memory, bound.offset.saturating_add(offset), there, into);
            lacking(&mut known, there, size, into);
            return known;
        }
        let mut known = Known::default();
        let begin = into.len() as u64;
        for (memory, at, bytes, place) in self.spans(buffer, offset, size) {
            let so_far = into.len() as u64 - begin;
            lacking(&mut known, so_far, place, into);
            let here = self.bytes.read(memory, at, bytes, into).holes;
            known.holes.extend(here.iter().map(|h| Hole { from: h.from + place, to: h.to + place, ..*h }));
        }
        let so_far = into.len() as u64 - begin;
        lacking(&mut known, so_far, size, into);
        known
    }

    /// When something of a range of a buffer changed last; see [`super::super::bytes::Bytes::stamp`].
    pub fn stamp_of(&self, buffer: u64, offset: u64, size: u64) -> u64 {
        match self.buffers.get(&buffer).and_then(|b| Some((b, b.bound?))) {
            Some((b, bound)) => {
                let size = size.min(b.size.saturating_sub(offset));
                self.bytes.stamp(bound.memory, bound.offset.saturating_add(offset), size)
            }
            None => {
                let spans = self.spans(buffer, offset, size);
                spans.iter().map(|s| self.bytes.stamp(s.0, s.1, s.2)).max().unwrap_or(0)
            }
        }
    }

    /// Bytes of a buffer are written.
    pub(super) fn write_buffer(&mut self, buffer: u64, offset: u64, data: &[u8], cause: Cause) {
        for (memory, at, bytes, place) in self.spans(buffer, offset, data.len() as u64) {
            self.bytes.write(memory, at, &data[place as usize..(place + bytes) as usize], cause);
            self.overwritten(memory, at, bytes, cause.block);
        }
    }

    /// A word again and again.
    pub(super) fn fill_buffer(&mut self, buffer: u64, offset: u64, size: u64, word: u32, cause: Cause) {
        for (memory, at, bytes, _) in self.spans(buffer, offset, size) {
            self.bytes.fill(memory, at, bytes, word, cause);
            self.overwritten(memory, at, bytes, cause.block);
        }
    }

    /// From buffer to buffer.
    pub(super) fn copy_buffer(&mut self, from: (u64, u64), to: (u64, u64), size: u64, cause: Cause) {
        let sources = self.spans(from.0, from.1, size);
        for (memory, at, bytes, place) in self.spans(to.0, to.1, size) {
            let mut done = 0;
            for &(source, source_at, source_bytes, source_place) in &sources {
                let begin = place.max(source_place);
                let end = (place + bytes).min(source_place + source_bytes);
                if begin >= end {
                    continue;
                }
                self.lost(memory, at + done, (begin - place) - done, cause.block);
                let (here, there) =
                    ((memory, at + (begin - place)), (source, source_at + (begin - source_place)));
                self.bytes.copy(there, here, end - begin, cause);
                done = end - place;
            }
            self.lost(memory, at + done, bytes - done, cause.block);
            self.overwritten(memory, at, bytes, cause.block);
        }
    }

    /// Copied from where nothing is bound.
    fn lost(&mut self, memory: u64, at: u64, bytes: u64, block: u64) {
        if bytes > 0 {
            self.bytes.forget(memory, at, bytes, Why::new(Reason::NoMemory, block));
        }
    }

    /// Bytes of a buffer are known no longer.
    pub fn forget_buffer(&mut self, buffer: u64, offset: u64, size: u64, why: Why) {
        let Some(b) = self.buffers.get(&buffer) else { return };
        if let Some(bound) = b.bound {
            let size = size.min(b.size.saturating_sub(offset));
            let at = bound.offset.saturating_add(offset);
            self.bytes.forget(bound.memory, at, size, why);
            self.overwritten(bound.memory, at, size, why.block.into());
            return;
        }
        for (memory, at, bytes, _) in self.spans(buffer, offset, size) {
            self.bytes.forget(memory, at, bytes, why);
            self.overwritten(memory, at, bytes, why.block.into());
        }
    }

    /// Bytes at an address are known no longer; with an address of no buffer nothing that has one is.
    pub(super) fn forget_address(&mut self, address: u64, size: u64, why: Why) {
        match self.at_address(address) {
            Some((buffer, offset)) => self.forget_buffer(buffer, offset, size, why),
            None if address != 0 => self.forget_addressed(why),
            None => {}
        }
    }

    /// Everything that has an address may have been written.
    pub(super) fn forget_addressed(&mut self, why: Why) {
        if self.bytes.pointers_at == self.bytes.now() && self.bytes.now() != 0 {
            return; // and nothing has been since
        }
        let all: Vec<u64> = self.addresses.all().map(|b| b.0).collect();
        all.into_iter().for_each(|b| self.forget_buffer(b, 0, u64::MAX, why));
        self.bytes.pointers_at = self.bytes.now();
    }

    /// Images that share a written range lose their texels.
    pub(super) fn overwritten(&mut self, memory: u64, at: u64, bytes: u64, block: u64) {
        if !self.bytes.residents.has_images(memory) || bytes == 0 {
            return;
        }
        let images: Vec<u64> = self
            .bytes
            .residents
            .on(memory, at, at.saturating_add(bytes))
            .filter(|r| r.image)
            .map(|r| r.id)
            .collect();
        for image in images {
            // (their texels are where they always are: linear images have none of their own)
            let size = self.bytes.residents.texels.get(&image).and_then(|t| t.as_ref().map(|t| t.size));
            if let Some(size) = size {
                self.bytes.forget(image, 0, size, Why::new(Reason::Aliased, block));
            }
        }
    }
}

/// Bytes that are bound to nothing, until there are so many.
fn lacking(known: &mut Known, there: u64, wanted: u64, into: &mut Vec<u8>) {
    if there < wanted {
        into.resize(into.len() + (wanted - there) as usize, 0);
        known.holes.push(Hole { from: there, to: wanted, why: Why::new(Reason::NoMemory, 0) });
    }
}

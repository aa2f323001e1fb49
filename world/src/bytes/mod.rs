//! Contents of device memory, followed without a device: which bytes are known, what they are, and why others are not.
//!
//! A *space* is a memory object of the capture or the texels of an image, by the capture's id (which no two objects
//! share). Memory is kept in pages of 4 KiB that exist once something is known of them; whole mebibytes of the same state
//! take one entry. Guarantees: what was never written or may have been written by a shader is never given as known;
//! copies carry what is not known with its reason; [`Bytes::held`] stays below twice [`Bytes::live`]. Refuses nothing:
//! writes outside of a space are cut off, and spaces that do not exist read as unknown.

mod cause;
mod page;
pub mod residents;
mod space;
#[cfg(test)]
mod tests;
pub mod texels;

pub use cause::{Cause, Reason, Why, Writer};
pub use page::{Hole, PAGE};

use crate::Ids;
use residents::Residents;
use space::Space;
use std::collections::{BTreeMap, VecDeque};

/// What is not known of bytes that were read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// What is not, in order and apart, from the first byte that was read.
    pub holes: Vec<Hole>,
}

impl Known {
    /// Everything is.
    pub fn all(&self) -> bool {
        self.holes.is_empty()
    }
    /// How many bytes are not.
    pub fn unknown(&self) -> u64 {
        self.holes.iter().map(|h| h.to - h.from).sum()
    }
}

/// Bytes that were written, together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Upload {
    /// How many writes.
    pub writes: u64,
    /// How many bytes.
    pub bytes: u64,
    /// Of these, those that were there already.
    pub same: u64,
}

/// What wrote, the buffer, the memory.
pub type Into = (Writer, u64, u64);

/// A write that the journal keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Memory, or image.
    pub space: u64,
    /// The first byte.
    pub from: u64,
    /// Behind the last one.
    pub to: u64,
    /// Who wrote, or why they are not known since then.
    pub what: Result<Cause, Why>,
    /// The clock then.
    pub time: u64,
}

/// Writes that the journal keeps.
const JOURNAL: usize = 1 << 20;

/// See the module's header.
#[derive(Clone, Debug, Default)]
pub struct Bytes {
    spaces: Ids<Space>,
    live: u64,
    most_live: u64,
    /// Counts what changes bytes.
    clock: u64,
    uploads: BTreeMap<Into, Upload>,
    /// The last writes, the newest at the end; none unless it is kept.
    journal: Option<VecDeque<Entry>>,
    scratch: Vec<u8>,
    /// What lies where.
    pub residents: Residents,
    /// The clock when everything that has an address was forgotten last.
    pub(super) pointers_at: u64,
}

impl Bytes {
    /// Keeps who wrote what from now on, to explain differences.
    pub fn keep_journal(&mut self) {
        self.journal = Some(VecDeque::new());
    }

    /// A memory object begins: nothing of it is known.
    pub fn allocate(&mut self, memory: u64, size: u64) {
        self.allocate_as(memory, size, Why::default());
    }
    /// A memory object begins, of which nothing is known for a reason.
    pub fn allocate_as(&mut self, memory: u64, size: u64, why: Why) {
        self.clock += 1;
        self.free(memory);
        self.live = self.live.saturating_add(size);
        self.most_live = self.most_live.max(self.live);
        self.spaces.insert(memory, Space::new(size, why, self.clock));
    }
    /// The texels of an image begin: they live in memory that was allocated.
    pub fn lay_out(&mut self, image: u64, size: u64, why: Why) {
        self.clock += 1;
        let mut space = Space::new(size, why, self.clock);
        space.inside = true;
        self.spaces.insert(image, space);
    }
    /// A space ends.
    pub fn free(&mut self, space: u64) {
        if let Some(s) = self.spaces.remove(&space).filter(|s| !s.inside) {
            self.live = self.live.saturating_sub(s.size);
        }
    }
    /// The size of a space.
    pub fn size(&self, space: u64) -> Option<u64> {
        self.spaces.get(&space).map(|s| s.size)
    }
    /// Bytes of all memory objects that live.
    pub fn live(&self) -> u64 {
        self.live
    }
    /// The most that it ever was.
    pub fn most_live(&self) -> u64 {
        self.most_live
    }
    /// Bytes that this takes.
    pub fn held(&self) -> u64 {
        self.spaces.values().map(Space::held).sum()
    }
    /// When something of a range changed last, on a clock that only goes on: bytes are the same as long as this is.
    pub fn stamp(&self, space: u64, offset: u64, size: u64) -> u64 {
        self.spaces.get(&space).map_or(0, |s| s.stamp(offset, size))
    }
    /// The clock's present time.
    pub fn now(&self) -> u64 {
        self.clock
    }

    /// Bytes are written.
    pub fn write(&mut self, space: u64, offset: u64, data: &[u8], cause: Cause) {
        self.clock += 1;
        let Some(s) = self.spaces.get_mut(&space) else { return };
        let data = &data[..(data.len() as u64).min(s.size.saturating_sub(offset)) as usize];
        let same = s.write(offset, data, self.clock);
        self.wrote(space, offset, data.len() as u64, same, cause);
    }

    /// A word is written again and again; a size that is no multiple of four ends in the middle of it.
    pub fn fill(&mut self, space: u64, offset: u64, size: u64, word: u32, cause: Cause) {
        self.clock += 1;
        let Some(s) = self.spaces.get_mut(&space) else { return };
        let size = size.min(s.size.saturating_sub(offset));
        let same = s.fill(offset, size, word.rotate_left(8 * (offset % 4) as u32), self.clock);
        self.wrote(space, offset, size, same, cause);
    }

    /// Bytes are copied, known and unknown ones. Ranges of one space must not overlap.
    pub fn copy(&mut self, from: (u64, u64), to: (u64, u64), size: u64, cause: Cause) {
        self.clock += 1;
        let Some(there) = self.spaces.get(&to.0).map(|s| s.size) else { return };
        let size = size.min(there.saturating_sub(to.1));
        let mut same = 0;
        let mut bytes = std::mem::take(&mut self.scratch);
        let mut holes = Vec::new();
        let mut done = 0;
        while done < size {
            // At most to the end of a page of the target.
            let step = (PAGE as u64 - (to.1 + done) % PAGE as u64).min(size - done);
            bytes.clear();
            holes.clear();
            self.read_into(from.0, from.1.saturating_add(done), step, &mut bytes, &mut holes);
            let target = self.spaces.get_mut(&to.0).expect("looked up above");
            match holes[..] {
                [] => same += target.write(to.1 + done, &bytes, self.clock),
                _ => {
                    let mut at = 0;
                    for h in &holes {
                        same +=
                            target.write(to.1 + done + at, &bytes[at as usize..h.from as usize], self.clock);
                        target.forget(to.1 + done + h.from, h.to - h.from, h.why, self.clock);
                        at = h.to;
                    }
                    same += target.write(to.1 + done + at, &bytes[at as usize..], self.clock);
                }
            }
            done += step;
        }
        self.scratch = bytes;
        self.wrote(to.0, to.1, size, same, cause);
    }

    /// Bytes are known no longer.
    pub fn forget(&mut self, space: u64, offset: u64, size: u64, why: Why) {
        self.clock += 1;
        let Some(s) = self.spaces.get_mut(&space) else { return };
        let size = size.min(s.size.saturating_sub(offset));
        s.forget(offset, size, why, self.clock);
        self.note(Entry { space, from: offset, to: offset + size, what: Err(why), time: self.clock });
    }

    /// Nothing is known of anything any more: what cannot be followed may have written anywhere.
    pub fn forget_everything(&mut self, why: Why) {
        self.clock += 1;
        let all: Vec<(u64, u64)> = self.spaces.iter().map(|(id, s)| (*id, s.size)).collect();
        all.into_iter().for_each(|(space, size)| self.forget(space, 0, size, why));
    }

    /// Puts bytes behind `into`, 0 for those that are not known.
    pub fn read(&self, space: u64, offset: u64, size: u64, into: &mut Vec<u8>) -> Known {
        let mut known = Known::default();
        self.read_into(space, offset, size, into, &mut known.holes);
        known
    }

    fn read_into(&self, space: u64, offset: u64, size: u64, into: &mut Vec<u8>, holes: &mut Vec<Hole>) {
        let there = match self.spaces.get(&space) {
            Some(s) => {
                let there = size.min(s.size.saturating_sub(offset));
                s.read(offset, there, into, holes);
                there
            }
            None => 0,
        };
        if there < size {
            into.resize(into.len() + (size - there) as usize, 0);
            page::push(holes, Hole { from: there, to: size, why: Why::new(Reason::NoMemory, 0) });
        }
    }

    fn wrote(&mut self, space: u64, offset: u64, bytes: u64, same: u64, cause: Cause) {
        if bytes > 0 {
            // (what is read back nobody uploads)
            if cause.by != Writer::ReadBack {
                self.count((cause.by, cause.buffer, space), bytes, same);
            }
            self.note(Entry { space, from: offset, to: offset + bytes, what: Ok(cause), time: self.clock });
        }
    }

    /// Counts bytes that were written elsewhere: push constants, inline uniform blocks.
    pub fn count(&mut self, into: Into, bytes: u64, same: u64) {
        let u = self.uploads.entry(into).or_default();
        u.writes += 1;
        u.bytes = u.bytes.saturating_add(bytes);
        u.same = u.same.saturating_add(same);
    }

    /// What was written since this was asked last.
    pub fn take_uploads(&mut self) -> BTreeMap<Into, Upload> {
        std::mem::take(&mut self.uploads)
    }

    fn note(&mut self, e: Entry) {
        if let Some(j) = &mut self.journal {
            if j.len() == JOURNAL {
                j.pop_front();
            }
            j.push_back(e);
        }
    }

    /// What was written or became unknown behind that time, newest first, as far as a journal is kept.
    pub fn written_since(&self, time: u64) -> impl Iterator<Item = &Entry> {
        self.journal.iter().flatten().rev().take_while(move |e| e.time > time)
    }

    /// The last write until then that reached this byte, if a journal is kept and reaches back so far.
    pub fn last_write(&self, space: u64, offset: u64, until: u64) -> Option<Entry> {
        let j = self.journal.as_ref()?;
        let reached = |e: &&Entry| e.time <= until && e.space == space && (e.from..e.to).contains(&offset);
        j.iter().rev().find(reached).copied()
    }
}

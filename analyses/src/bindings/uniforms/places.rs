//! Where blocks lie: the same bytes in several places, and bytes uploaded against bytes read.

use super::members::{Members, merged};
use crate::bindings::resources::{Block, Model, NOTHING, Numbers};
use crate::rays::events::Fast;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A slot whose descriptor was replaced by one with the same bytes behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replaced {
    /// Pairs of consecutive draws whose bytes are known.
    pub pairs: u64,
    /// Of these, with another place.
    pub moved: u64,
    /// Of these, with the same bytes there.
    pub same: u64,
    /// Bytes of the block.
    pub bytes: u64,
}

/// Bytes that lie in several places in one frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Copies {
    /// Index of the contents.
    pub contents: u32,
    /// Bytes of the block.
    pub bytes: u64,
    /// The most places in one frame.
    pub places: u64,
    /// Buffers of these.
    pub buffers: u64,
    /// Places beyond the first, summed over frames.
    pub more: u64,
    /// Frames in which there were several.
    pub frames: u64,
    /// A pipeline that reads it, by index, with set and binding.
    pub reader: (u32, u32, u32),
}

/// A buffer that uniform blocks lie in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Writes.
    pub writes: u64,
    /// Bytes written.
    pub uploaded: u64,
    /// Of these, those that were there already.
    pub same: u64,
    /// Frames that wrote.
    pub frames_written: u64,
    /// Bytes that shaders read, each once in a frame.
    pub read: u64,
    /// Bytes of the blocks that were bound, each once in a frame.
    pub bound: u64,
    /// Frames that read.
    pub frames_read: u64,
}

/// See the module's header.
#[derive(Default)]
pub struct Places {
    /// By pipeline, set and binding.
    pub replaced: BTreeMap<(u32, u32, u32), Replaced>,
    /// Most bytes that could be saved first.
    pub copies: Vec<Copies>,
    /// By buffer.
    pub traffic: BTreeMap<u64, Traffic>,
    /// By group of members in a block: which layouts are bound to each buffer.
    pub readers: Numbers<BTreeSet<u32>>,
    /// By layout: distinct places in a frame, summed over frames.
    pub places_of: Vec<u64>,
}

impl Places {
    /// Of a capture.
    pub fn of(model: &Model, members: &Members) -> Places {
        let mut p = Places { places_of: vec![0; members.layouts.len()], ..Places::default() };
        p.replaced(model, members);
        p.copies(model, members);
        p.traffic(model, members);
        p
    }

    fn replaced(&mut self, model: &Model, members: &Members) {
        let mut last: HashMap<(u32, u32, u32), Block> = HashMap::new();
        for (row, b) in model.blocks.iter().enumerate().filter(|b| !b.1.push) {
            let pipeline = model.invocations[b.invocation as usize].pipeline;
            if let Some(a) = last.insert((b.set, b.binding, b.element), *b) {
                let follows = a.invocation + 1 == b.invocation && model.consecutive(a.invocation as usize);
                if !follows || a.unknown || b.unknown {
                    continue;
                }
                let r = self.replaced.entry((pipeline, b.set, b.binding)).or_default();
                let moved = (a.buffer, a.offset) != (b.buffer, b.offset);
                r.pairs += 1;
                r.moved += u64::from(moved);
                r.same += u64::from(moved && a.contents == b.contents);
                let layout = members.layouts.get(members.layout_of[row] as usize);
                r.bytes = r.bytes.max(layout.map_or(b.known_bytes, |l| l.bytes));
            }
        }
    }

    fn copies(&mut self, model: &Model, members: &Members) {
        /// A frame's places by contents.
        type InFrame = HashMap<u32, BTreeSet<(u64, u64)>, Fast>;
        let mut all: BTreeMap<u32, Copies> = BTreeMap::new();
        let mut end = |frame: &mut InFrame| {
            for (contents, places) in frame.drain().filter(|f| f.1.len() > 1) {
                let c = all.entry(contents).or_default();
                let buffers = places.iter().map(|p| p.0).collect::<BTreeSet<_>>().len() as u64;
                c.contents = contents;
                c.places = c.places.max(places.len() as u64);
                c.buffers = c.buffers.max(buffers);
                c.more += places.len() as u64 - 1;
                c.frames += 1;
            }
        };
        let mut in_frame = InFrame::default();
        let mut readers: Numbers<(u64, (u32, u32, u32))> = Numbers::default();
        let mut frame = None;
        for (row, b) in model.blocks.iter().enumerate() {
            if b.buffer == 0 || b.unknown || b.contents == NOTHING {
                continue;
            }
            let i = &model.invocations[b.invocation as usize];
            if frame.replace(i.frame) != Some(i.frame) {
                end(&mut in_frame);
            }
            in_frame.entry(b.contents).or_default().insert((b.buffer, b.offset));
            readers.entry(b.contents.into()).or_insert_with(|| {
                let layout = members.layouts.get(members.layout_of[row] as usize);
                (layout.map_or(b.known_bytes, |l| l.bytes), (i.pipeline, b.set, b.binding))
            });
        }
        end(&mut in_frame);
        for c in all.values_mut() {
            (c.bytes, c.reader) = readers[&u64::from(c.contents)];
        }
        self.copies = all.into_values().collect();
        self.copies.sort_by_key(|c| (std::cmp::Reverse(c.more * c.bytes), c.contents));
    }

    fn traffic(&mut self, model: &Model, members: &Members) {
        let mut frames: HashSet<(u64, u64), Fast> = HashSet::default();
        let mut places: HashSet<(u64, u64, u64, u32), Fast> = HashSet::default();
        for (b, &layout) in model.blocks.iter().zip(&members.layout_of).filter(|b| b.0.buffer != 0) {
            if layout != NOTHING {
                let frame = model.invocations[b.invocation as usize].frame;
                places.insert((frame, b.buffer, b.offset, layout));
            }
        }
        let mut places: Vec<_> = places.into_iter().collect();
        places.sort_unstable();
        for of in places.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (mut used, mut bound) = (vec![], vec![]);
            for (_, buffer, offset, layout) in of {
                let l = &members.layouts[*layout as usize];
                used.extend(l.used.iter().map(|(a, b)| (a + offset, b + offset)));
                bound.push((*offset, offset + l.bytes));
                self.readers.entry(*buffer).or_default().insert(*layout);
                self.places_of[*layout as usize] += 1;
            }
            let sum = |ranges| merged(ranges).iter().map(|(a, b)| b - a).sum::<u64>();
            let t = self.traffic.entry(of[0].1).or_default();
            t.read += sum(used);
            t.bound += sum(bound);
            t.frames_read += 1;
        }
        for u in &model.uploads {
            let Some(t) = self.traffic.get_mut(&u.buffer) else { continue };
            t.writes += u.writes;
            t.uploaded += u.bytes;
            t.same += u.same_bytes;
            t.frames_written += u64::from(frames.insert((u.frame, u.buffer)));
        }
    }
}

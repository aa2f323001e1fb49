//! Places that probes count at, spread over several replays of the same work: each replay has the probes of some of them.
//!
//! A driver's compiler takes far more than twice as long for twice as many probes, and so may the shader. Measured on an NVIDIA
//! H100, pygfx's shaders of 130 blocks with pass `simt`: 6 times the frame's time with everything in one replay, 1.2 times in each of
//! six, and 0.2 s instead of 1.6 s for the pipeline that takes longest; with pass `divergence` 0.7 s instead of 13 s.
//!
//! Guarantees: every place counts in exactly one replay; sites, counters and probes have the same numbers in all, so that the sums over
//! replays are what one replay would have counted, if all do the same work. A shader that has fewer places than there are replays is as
//! the application made it in the rest. Refuses nothing.

use crate::Stage;
use crate::spirv::{Module, Op, stage_of};
use std::collections::HashSet;

/// Replays that places are spread over where nobody asks for a number, at most.
pub const MOST_REPLAYS: u32 = 16;

/// Which of the replays that places are spread over this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Replays {
    /// Over how many they are to be spread.
    pub asked: u32,
    /// This one, from 0.
    pub now: u32,
}

impl Replays {
    /// How many replays it takes that of shaders with so many blocks no replay counts more than `most`, or [`MOST_REPLAYS`].
    pub fn needed(blocks: usize, most: usize) -> u32 {
        u32::try_from(blocks.div_ceil(most)).map_or(MOST_REPLAYS, |n| n.clamp(1, MOST_REPLAYS))
    }

    /// So many places over as many replays as there are, or as have one each.
    pub fn spread(self, places: usize) -> Spread {
        let over = self.asked.clamp(1, u32::try_from(places.max(1)).unwrap_or(u32::MAX));
        Spread { over, now: self.now }
    }
}

/// How many basic blocks the largest entry point of these stages has, with those of functions that it calls.
pub fn most_blocks(words: &[u32], wanted: impl Fn(Stage) -> bool) -> usize {
    let Ok(m) = Module::read(words) else { return 0 };
    let of = |entry: u32| {
        let (mut todo, mut seen, mut blocks) = (vec![entry], HashSet::new(), 0);
        while let Some(id) = todo.pop() {
            let function = m.functions.iter().find(|f| f.id() == id);
            let Some(f) = function.filter(|_| seen.insert(id)) else { continue };
            blocks += f.blocks.len();
            let calls = f.insts().filter(|i| i.op() == Op::FunctionCall);
            todo.extend(calls.filter_map(|i| i.id_at(0)));
        }
        blocks
    };
    let entries = m.entries().into_iter().filter(|e| stage_of(e.model).is_some_and(&wanted));
    entries.map(|e| of(e.function)).max().unwrap_or(0)
}

impl Default for Replays {
    fn default() -> Self {
        Replays { asked: 1, now: 0 }
    }
}

/// Which of some places count in this replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// How many replays they are spread over.
    pub over: u32,
    now: u32,
}

impl Spread {
    /// Whether the place with this number counts.
    pub fn counts(self, place: usize) -> bool {
        // (neighbours are in different replays: places that are executed often are mostly close to each other)
        place % self.over as usize == self.now as usize
    }

    /// Whether any does.
    pub fn any(self) -> bool {
        self.now < self.over
    }
}

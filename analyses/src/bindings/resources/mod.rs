//! What draws bound and read, as questions need it: the tables of `trace::tables` on resources, joined and numbered.
//!
//! Guarantees: read once for all questions to one trace; no row of a draw holds a word; two slots have equal values
//! exactly if they hold the same descriptors in the same order. Tables that name what others lack are read as far as they go:
//! a draw whose pipeline is not known has none, a set whose contents are not known has none.

mod lanes;
mod numbers;
mod pipelines;
#[cfg(test)]
pub mod sample;
mod sets;
mod uploads;
mod words;

pub use lanes::{Lanes, Printer};
pub use numbers::{NOTHING, Numbers};
pub use pipelines::{Flags, Member, Pipeline, Slot};
pub use sets::{Descriptor, Sets, Value};
pub use uploads::{Buffer, Upload};
pub use words::Words;

use std::collections::BTreeSet;
use trace::tables::{INVOCATION_BLOCKS, INVOCATION_SETS, INVOCATIONS};
use trace::{Source, Unreadable};

/// A draw, dispatch or trace as the device was given it.
#[derive(Clone, Copy, Debug)]
pub struct Invocation {
    /// The capture's number of the frame.
    pub frame: u64,
    /// The submission.
    pub submission: u64,
    /// Of which recording of a command buffer it is.
    pub recording: u64,
    /// Its index there.
    pub command: u64,
    /// The instance of a render pass; 0 outside.
    pub pass: u64,
    /// Index of its pipeline, or [`NOTHING`].
    pub pipeline: u32,
    /// Which execution of a recording it belongs to, from 0.
    pub execution: u32,
    /// Where its sets begin in [`Model::bound`]; those of the next are behind them.
    pub first: u32,
}

/// A set at a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The set's number.
    pub set: u32,
    /// The descriptor set; 0 for push descriptors and descriptor buffers.
    pub handle: u64,
    /// Index in [`Sets`], or [`NOTHING`].
    pub contents: u32,
    /// Number of its dynamic offsets; 0 if it has none.
    pub offsets: u64,
}

/// The bytes of a block at a draw.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// The draw's row.
    pub invocation: u32,
    /// Whether push constants.
    pub push: bool,
    /// The set.
    pub set: u32,
    /// The binding.
    pub binding: u32,
    /// The array element.
    pub element: u32,
    /// Index in [`Words`], or [`NOTHING`].
    pub contents: u32,
    /// Whether bytes of it are not known.
    pub unknown: bool,
    /// How many are.
    pub known_bytes: u64,
    /// The buffer; 0 for push constants and inline blocks.
    pub buffer: u64,
    /// Where in it.
    pub offset: u64,
}

/// See the module's header.
#[derive(Debug, Default)]
pub struct Model {
    /// By id.
    pub pipelines: Vec<Pipeline>,
    /// In order of execution.
    pub invocations: Vec<Invocation>,
    /// By draw, then set.
    pub bound: Vec<Bound>,
    /// What sets held.
    pub sets: Sets,
    /// In order of draws.
    pub blocks: Vec<Block>,
    /// What blocks held.
    pub words: Words,
    /// Buffers by id.
    pub buffers: Numbers<Buffer>,
    /// What was written, by frame.
    pub uploads: Vec<Upload>,
    /// Frames that have draws.
    pub frames: BTreeSet<u64>,
}

impl Model {
    /// Reads the tables.
    pub fn read(trace: &dyn Source) -> Result<Model, Unreadable> {
        let mut m = Model { sets: Sets::read(trace)?, words: Words::read(trace)?, ..Model::default() };
        m.pipelines = pipelines::pipelines(trace)?;
        (m.buffers, m.uploads) = (uploads::buffers(trace)?, uploads::uploads(trace)?);
        let numbers = m.read_invocations(trace)?;
        m.read_bound(trace, &numbers)?;
        m.read_blocks(trace, &numbers)?;
        Ok(m)
    }

    /// The sets of a draw.
    pub fn bound(&self, row: usize) -> &[Bound] {
        let begin = self.invocations[row].first as usize;
        let end = self.invocations.get(row + 1).map_or(self.bound.len(), |i| i.first as usize);
        &self.bound[begin..end]
    }

    /// Whether two draws follow each other: of one pipeline, in one execution of a recording.
    pub fn consecutive(&self, row: usize) -> bool {
        let [a, b] = [row, row + 1].map(|r| self.invocations.get(r));
        matches!((a, b), (Some(a), Some(b)) if a.execution == b.execution && a.pipeline == b.pipeline && a.pipeline != NOTHING)
    }

    /// Which pipelines have draws.
    pub fn used(&self) -> Vec<bool> {
        let mut used = vec![false; self.pipelines.len()];
        self.invocations
            .iter()
            .filter(|i| i.pipeline != NOTHING)
            .for_each(|i| used[i.pipeline as usize] = true);
        used
    }

    /// How many executions of recordings there are.
    pub fn executions(&self) -> usize {
        self.invocations.last().map_or(0, |i| i.execution as usize + 1)
    }

    /// Frames to divide by.
    pub fn frame_count(&self) -> f64 {
        self.frames.len().max(1) as f64
    }

    /// Rows by number.
    fn read_invocations(&mut self, trace: &dyn Source) -> Result<Vec<u64>, Unreadable> {
        let columns = [
            "invocation",
            "frame",
            "submission",
            "command_buffer",
            "recording",
            "command",
            "pass",
            "pipeline",
        ];
        let by_id: Numbers<u32> = self.pipelines.iter().enumerate().map(|(n, p)| (p.id, n as u32)).collect();
        let mut rows: Vec<(u64, u64, Invocation)> = vec![];
        trace.each_of(&INVOCATIONS, &columns, &mut |t| {
            let c = columns.map(|c| t.u64(c));
            rows.extend((0..t.len()).map(|r| {
                let pipeline = by_id.get(&c[7][r]).copied().unwrap_or(NOTHING);
                let [frame, submission, recording, command, pass] = [1, 2, 4, 5, 6].map(|n| c[n][r]);
                let i = Invocation {
                    frame,
                    submission,
                    recording,
                    command,
                    pass,
                    pipeline,
                    execution: 0,
                    first: 0,
                };
                (c[0][r], c[3][r], i)
            }));
            Ok(())
        })?;
        // (they are written in order; a table that is not is put in order)
        if !rows.is_sorted_by_key(|r| r.0) {
            rows.sort_by_key(|r| r.0);
        }
        let mut execution = 0;
        for n in 0..rows.len() {
            if n > 0 {
                let ((_, was_in, a), (_, is_in, b)) = (rows[n - 1], rows[n]);
                let same = (a.submission, a.recording, was_in) == (b.submission, b.recording, is_in);
                // (one recording executed twice begins again)
                execution += u32::from(!same || b.command < a.command);
            }
            rows[n].2.execution = execution;
            self.frames.insert(rows[n].2.frame);
        }
        self.invocations = rows.iter().map(|r| r.2).collect();
        Ok(rows.into_iter().map(|r| r.0).collect())
    }

    fn read_bound(&mut self, trace: &dyn Source, numbers: &[u64]) -> Result<(), Unreadable> {
        let columns = ["invocation", "set", "handle", "contents", "offsets"];
        let mut rows: Vec<(u32, Bound)> = vec![];
        let mut find = Finder::new(numbers);
        trace.each_of(&INVOCATION_SETS, &columns, &mut |t| {
            let [numbers, sets, handles, contents, offsets] = columns.map(|c| t.u64(c));
            for r in 0..numbers.len() {
                let Some(row) = find.row(numbers[r]) else { continue };
                let contents = self.sets.index(contents[r]);
                rows.push((
                    row,
                    Bound { set: sets[r] as u32, handle: handles[r], contents, offsets: offsets[r] },
                ));
            }
            Ok(())
        })?;
        if !rows.is_sorted_by_key(|(row, b)| (*row, b.set)) {
            rows.sort_by_key(|(row, b)| (*row, b.set));
        }
        let mut at = 0;
        for (n, i) in self.invocations.iter_mut().enumerate() {
            i.first = at as u32;
            while rows.get(at).is_some_and(|r| r.0 as usize == n) {
                at += 1;
            }
        }
        self.bound = rows.into_iter().map(|r| r.1).collect();
        Ok(())
    }

    fn read_blocks(&mut self, trace: &dyn Source, numbers: &[u64]) -> Result<(), Unreadable> {
        let whole =
            ["invocation", "set", "binding", "element", "contents", "known_bytes", "buffer", "offset"];
        let columns: Vec<&str> = whole.into_iter().chain(["space", "unknown"]).collect();
        let mut find = Finder::new(numbers);
        trace.each_of(&INVOCATION_BLOCKS, &columns, &mut |t| {
            let c = whole.map(|c| t.u64(c));
            let (space, unknown) = (t.text("space"), t.text("unknown"));
            for r in 0..t.len() {
                let Some(invocation) = find.row(c[0][r]) else { continue };
                self.blocks.push(Block {
                    invocation,
                    push: &*space[r] == "push",
                    set: c[1][r] as u32,
                    binding: c[2][r] as u32,
                    element: c[3][r] as u32,
                    contents: self.words.index(c[4][r]),
                    unknown: !unknown[r].is_empty(),
                    known_bytes: c[5][r],
                    buffer: c[6][r],
                    offset: c[7][r],
                });
            }
            Ok(())
        })?;
        if !self.blocks.is_sorted_by_key(|b| b.invocation) {
            self.blocks.sort_by_key(|b| b.invocation);
        }
        Ok(())
    }
}

/// Finds rows by number; those asked for in order at once.
struct Finder<'a> {
    numbers: &'a [u64],
    at: usize,
}

impl<'a> Finder<'a> {
    fn new(numbers: &'a [u64]) -> Self {
        Finder { numbers, at: 0 }
    }

    fn row(&mut self, number: u64) -> Option<u32> {
        if self.numbers.get(self.at) != Some(&number) {
            self.at = match self.numbers.get(self.at + 1) {
                Some(n) if *n == number => self.at + 1,
                _ => self.numbers.binary_search(&number).ok()?,
            };
        }
        Some(self.at as u32)
    }
}

#[cfg(test)]
mod tests;

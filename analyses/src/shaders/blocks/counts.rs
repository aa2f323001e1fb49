//! What tables `block_runs` and `block_counts` say, added up: by entry point over all frames, by frame, by shader.
//!
//! Guarantees: sums are exact; where only a sample was counted, what is handed out is scaled by it and marked an estimate.
//! A plan may have counted more than once: what is read is the first pass in the trace that counted everything, or the
//! first at all. Refuses a trace in which passes say different things of one frame.

use crate::context::Context;
use std::collections::BTreeMap;
use std::sync::Arc;
use trace::tables::{BLOCK_COUNTS, BLOCK_RUNS, FRAMES};
use trace::{Source, Unreadable};

/// A block: function, block.
pub type At = (u64, u64);

/// See the module's header.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// The pass.
    pub pass: Arc<str>,
    /// Other passes that counted blocks.
    pub others: Vec<Arc<str>>,
    /// What was counted: invocations or subgroups.
    pub unit: Arc<str>,
    /// One in so many was counted.
    pub sample: u64,
    /// Additions may have been lost.
    pub plain: bool,
    /// Frames with their pixels; 0 where nothing was presented.
    pub frames: BTreeMap<u64, u64>,
    /// By entry point: those that were measured, and their blocks that ran.
    pub entries: BTreeMap<u64, BTreeMap<At, u64>>,
    /// By frame and entry point.
    pub by_frame: BTreeMap<(u64, u64), BTreeMap<At, u64>>,
}

impl Counts {
    /// Reads them. Of a pass of this name, if one is given.
    pub fn read(trace: &dyn Source, pass: Option<&str>) -> Result<Counts, Unreadable> {
        let runs = trace.read(&BLOCK_RUNS)?;
        let (names, sample) = (runs.text("pass"), runs.u64("sample"));
        let mut c = Counts { sample: 1, ..Counts::default() };
        let chosen = (0..runs.len())
            .find(|&r| pass.is_some_and(|p| p == &*names[r]))
            .or_else(|| (0..runs.len()).find(|&r| sample[r] == 1 && &*runs.text("add")[r] == "atomic"))
            .or((!runs.is_empty()).then_some(0));
        if let Some(p) = pass.filter(|p| chosen.is_none_or(|r| &*names[r] != *p)) {
            return Err(Unreadable(format!("table block_runs: no pass {p:?} counted blocks")));
        }
        let Some(row) = chosen else { return Ok(c) };
        c.pass = names[row].clone();
        c.unit = runs.text("unit")[row].clone();
        c.sample = sample[row].max(1);
        c.plain = &*runs.text("add")[row] == "plain";
        let t = trace.read(&FRAMES)?;
        let pixels: BTreeMap<u64, u64> = (0..t.len())
            .map(|r| (t.u64("frame")[r], t.u64("width")[r].saturating_mul(t.u64("height")[r])))
            .collect();
        for (r, name) in names.iter().enumerate() {
            if *name != c.pass {
                if !c.others.contains(name) {
                    c.others.push(name.clone());
                }
                continue;
            }
            if runs.text("unit")[r] != c.unit || sample[r].max(1) != c.sample {
                return Err(Unreadable(format!(
                    "table block_runs, row {r}: pass {} counted in another way than before; record the trace again",
                    c.pass
                )));
            }
            let frame = runs.u64("frame")[r];
            c.frames.insert(frame, pixels.get(&frame).copied().unwrap_or(0));
        }
        let t = trace.read(&BLOCK_COUNTS)?;
        let (frame, entry) = (t.u64("frame"), t.u64("entry"));
        let (function, block, executions) = (t.u64("function"), t.u64("block"), t.u64("executions"));
        for r in (0..t.len()).filter(|&r| t.text("pass")[r] == c.pass) {
            let (at, n) = ((function[r], block[r]), executions[r]);
            for of in
                [c.entries.entry(entry[r]).or_default(), c.by_frame.entry((frame[r], entry[r])).or_default()]
            {
                let sum = of.entry(at).or_default();
                *sum = sum.checked_add(n).ok_or_else(|| {
                    Unreadable(format!("table block_counts, row {r}: the sum of executions is over 2^64"))
                })?;
            }
        }
        Ok(c)
    }

    /// Whether counts are estimates.
    pub fn estimated(&self) -> bool {
        self.sample > 1
    }

    /// How often a block of an entry point ran, over all frames; scaled where it is an estimate.
    pub fn executions(&self, entry: u64, at: At) -> u64 {
        self.entries.get(&entry).and_then(|e| e.get(&at)).copied().unwrap_or(0).saturating_mul(self.sample)
    }

    /// Entry points that were measured, by their variants, in the order of their first entry points.
    pub fn shaders(&self, context: &Context) -> Vec<Vec<u64>> {
        let mut shaders: Vec<(u64, Vec<u64>)> = Vec::new();
        for &entry in self.entries.keys() {
            let variant = context.entry(entry).map_or(u64::MAX - entry, |e| e.variant);
            match shaders.iter_mut().find(|s| s.0 == variant) {
                Some(s) => s.1.push(entry),
                None => shaders.push((variant, vec![entry])),
            }
        }
        shaders.into_iter().map(|s| s.1).collect()
    }

    /// How often a block of any of these entry points ran.
    pub fn of_all(&self, entries: &[u64], at: At) -> u64 {
        entries.iter().map(|&e| self.executions(e, at)).fold(0, u64::saturating_add)
    }

    /// Sentences on what the counts are.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = vec![match &*self.unit {
            "subgroups" => {
                "Executions are comings-by of subgroups with any active invocation; helper invocations do \
                            not count."
                    .to_owned()
            }
            _ => "Executions are of invocations; helper invocations do not count.".to_owned(),
        }];
        if self.estimated() {
            notes.push(format!(
                "Estimated: one in {} was counted; numbers of executions are what was counted times {0}.",
                self.sample
            ));
        }
        if self.plain {
            notes.push(
                "Counted without atomics: additions that met were lost, so that counts are too low by an unknown \
                 share, and counts that follow from others are off."
                    .to_owned(),
            );
        }
        if !self.others.is_empty() {
            notes.push(format!("Counted by pass {}; also there: {}.", self.pass, self.others.join(", ")));
        }
        notes
    }
}

//! How often a slot holds what it held at the draw before.

use crate::bindings::resources::{Bound, Model, NOTHING};
use std::collections::BTreeMap;

/// Of a slot: pairs of consecutive draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    /// Of which both values are known.
    pub known: u64,
    /// Of these, with equal values.
    pub equal: u64,
    /// Of which one value is not known.
    pub unknown: u64,
    /// Where it changed: equal for two slots that always change together.
    pub pattern: u64,
}

impl Pairs {
    /// The share of pairs with equal values; none where there is no pair of which that is known.
    pub fn redundancy(&self) -> Option<f64> {
        (self.known > 0).then(|| self.equal as f64 / self.known as f64)
    }

    fn take(&mut self, change: Change, salt: u64) {
        match change {
            Change::Unknown => self.unknown += 1,
            Change::Same => (self.known, self.equal) = (self.known + 1, self.equal + 1),
            Change::Changed => self.known += 1,
        }
        if change != Change::Same {
            self.pattern = (self.pattern.rotate_left(7) ^ salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }

    /// Those of both.
    pub fn add(&mut self, other: &Pairs) {
        self.known += other.known;
        self.equal += other.equal;
        self.unknown += other.unknown;
        self.pattern = (self.pattern.rotate_left(9) ^ other.pattern).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// What happened to a slot between two draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Equal descriptors in equal order, and equal dynamic offsets.
    Same,
    /// Not so.
    Changed,
    /// A descriptor of one of them is not known.
    Unknown,
}

/// What happened between two sets at a binding.
pub fn change(model: &Model, a: Option<&Bound>, b: Option<&Bound>, binding: u32) -> Change {
    let (Some(a), Some(b)) = (a, b) else { return Change::Unknown };
    let [x, y] = [a, b].map(|s| model.sets.slot(s.contents, binding));
    let unknown = |v: u32| v == NOTHING || model.sets.value(v).is_none_or(|v| v.unknown);
    let offset = |s: &Bound| model.sets.offset(s.offsets, binding);
    if unknown(x) || unknown(y) {
        Change::Unknown
    } else if x == y && (a.offsets == b.offsets || offset(a) == offset(b)) {
        Change::Same
    } else {
        Change::Changed
    }
}

/// A pipeline's slots, over some draws.
#[derive(Clone, Debug, Default)]
pub struct Count {
    /// Draws.
    pub invocations: u64,
    /// How often draws of it began to follow each other.
    pub runs: u64,
    /// By slot.
    pub slots: Vec<Pairs>,
}

impl Count {
    fn of(slots: usize) -> Count {
        Count { slots: vec![Pairs::default(); slots], ..Count::default() }
    }

    /// Pairs of consecutive draws.
    pub fn pairs(&self) -> u64 {
        self.invocations - self.runs
    }
}

/// Every pipeline over the capture, and every pipeline in every recording.
pub struct Redundancy {
    /// By pipeline.
    pub pipelines: Vec<Count>,
    /// By recording and pipeline: with the first frame that ran it.
    pub recordings: BTreeMap<(u64, u32), (u64, Count)>,
}

/// Measures it.
pub fn measure(model: &Model) -> Redundancy {
    let counts = || model.pipelines.iter().map(|p| Count::of(p.slots.len()));
    let mut all = Redundancy { pipelines: counts().collect(), recordings: BTreeMap::new() };
    // (the running recording's counts are put away where it ends)
    let mut row = 0;
    while row < model.invocations.len() {
        let first = model.invocations[row];
        let begin = row;
        while model.invocations.get(row).is_some_and(|i| i.execution == first.execution) {
            row += 1;
        }
        execution(model, begin, row, &mut all);
    }
    for ((_, p), (_, count)) in &all.recordings {
        let whole = &mut all.pipelines[*p as usize];
        whole.invocations += count.invocations;
        whole.runs += count.runs;
        whole.slots.iter_mut().zip(&count.slots).for_each(|(a, b)| a.add(b));
    }
    all
}

fn execution(model: &Model, begin: usize, end: usize, all: &mut Redundancy) {
    let mut row = begin;
    while row < end {
        let i = model.invocations[row];
        let mut last = row;
        while last + 1 < end && model.consecutive(last) {
            last += 1;
        }
        if i.pipeline != NOTHING {
            let slots = &model.pipelines[i.pipeline as usize].slots;
            let fresh = || (i.frame, Count::of(slots.len()));
            let count = &mut all.recordings.entry((i.recording, i.pipeline)).or_insert_with(fresh).1;
            count.invocations += (last - row + 1) as u64;
            count.runs += 1;
            for n in row..last {
                pair(model, n, count);
            }
        }
        row = last + 1;
    }
}

/// Compares a draw with the next.
fn pair(model: &Model, row: usize, count: &mut Count) {
    let slots = &model.pipelines[model.invocations[row].pipeline as usize].slots;
    let [a, b] = [row, row + 1].map(|r| model.bound(r));
    let mut at = 0;
    for of in slots.chunk_by(|x, y| x.set == y.set) {
        let [was, is] = [a, b].map(|sets| sets.iter().find(|s| s.set == of[0].set));
        for slot in of {
            count.slots[at].take(change(model, was, is, slot.binding), row as u64 + 1);
            at += 1;
        }
    }
}

//! Counters and the log of a frame, folded into slots by cause.
//!
//! What counters do not say are slots that never held an invocation: the rest of all slots. Refuses counters that have more
//! than all.
//!
//! A subgroup's number is given anew when a frame runs again for another window: an entry makes it a new subgroup. A
//! device that lets some invocations run ahead may append their block before another's entry: such records wait.

use super::super::lanes::{Lanes, short, word};
use crate::Stage;
use crate::pass::{EntryData, Error, FrameData, LogRecord, Result, Sink};
use crate::rewrite::Site;
use std::collections::{BTreeMap, HashMap};
use trace::Value;
use trace::tables::DIVERGENCE;

/// [`Site::kind`]s.
pub(super) const BLOCK: u32 = 0;
pub(super) const ENTER: u32 = 1;
pub(super) const CALLED: u32 = 2;
pub(super) const LEAVE: u32 = 3;
pub(super) const LANE: u32 = 4;
/// A block with counters; beside the first, which its entry counts.
pub(super) const COUNTED: u32 = 5;
/// Room for the mask of those that have left.
pub(super) const ROOM: u32 = 6;

/// Counters of a block: executions, active, early returns, control flow, executions where nobody knows who has left,
/// active of those, and for fragments helpers.
pub(super) fn counters(stage: Stage) -> u32 {
    6 + u32::from(stage == Stage::Fragment)
}

/// A subgroup's execution of an entry point.
#[derive(Default)]
struct Subgroup {
    entered: u128,
    left: u128,
    root: Root,
}

/// Whose exits count.
#[derive(Clone, Copy, Default, PartialEq)]
enum Root {
    /// Its own.
    #[default]
    Itself,
    /// Those of the subgroup of ray generation that called it.
    Caller(Number),
    /// That one's entry was lost.
    Lost,
}

/// Slots of the executions of one block.
#[derive(Clone, Copy, Default)]
struct Slots {
    executions: u64,
    active: u64,
    early_return: u64,
    indirect_call: u64,
    not_launched: u64,
    control_flow: u64,
    helper: u64,
    unattributed: u64,
}

/// A subgroup: the entry point that it is in, and its number in the log.
type Number = (usize, u32);

/// Entry, function, block.
type Place = (usize, u32, u32);

struct Fold {
    lanes: Lanes,
    all: u128,
    subgroups: HashMap<Number, Subgroup>,
    /// Pipeline, work id: the subgroup of ray generation.
    launched: HashMap<(u64, u32), Number>,
    /// Work id: the last such of any pipeline. Shaders of a pipeline library are the library's, and do not say what it was
    /// linked into.
    launched_last: HashMap<u32, Number>,
    /// Of a subgroup: blocks that came before its entry.
    waiting: HashMap<Number, Vec<(Place, u128)>>,
    slots: BTreeMap<Place, Slots>,
}

pub fn fold(lanes: Lanes, frame: &FrameData<'_>, out: &mut dyn Sink) -> Result<()> {
    let n = frame.subgroup_size;
    let all = if n >= 128 { u128::MAX } else { (1 << n) - 1 };
    let mut fold = Fold {
        lanes,
        all,
        subgroups: HashMap::new(),
        launched: HashMap::new(),
        launched_last: HashMap::new(),
        waiting: HashMap::new(),
        slots: BTreeMap::new(),
    };
    for r in &frame.records {
        fold.record(frame.entries[r.entry].pipeline, r)?;
    }
    for blocks in std::mem::take(&mut fold.waiting).into_values() {
        for (place, mask) in blocks {
            fold.lost(place, mask);
        }
    }
    for (n, e) in frame.entries.iter().enumerate() {
        for site in e.region.sites.iter().filter(|s| s.kind == COUNTED) {
            fold.counted(n, e, site)?;
        }
    }
    for ((entry, function, block), s) in &fold.slots {
        let row = [
            frame.frame,
            frame.entries[*entry].entry.into(),
            (*function).into(),
            (*block).into(),
            s.executions,
            s.active,
            s.early_return,
            s.indirect_call,
            s.not_launched,
            s.control_flow,
            s.helper,
            s.unattributed,
        ];
        out.put(&DIVERGENCE, &row.map(Value::U64));
    }
    Ok(())
}

impl Fold {
    fn record(&mut self, pipeline: u64, r: &LogRecord<'_>) -> Result<()> {
        let subgroup = (r.entry, word(r.words, 0)?);
        let rest = &r.words[1..];
        let words = self.lanes.words() as usize;
        let second = || rest.get(words..).ok_or_else(|| short(r.words));
        match r.site.kind {
            LANE => {
                let work = word(rest, 0)?;
                self.launched.insert((pipeline, work), subgroup);
                self.launched_last.insert(work, subgroup);
            }
            ENTER => {
                let entered = self.lanes.mask(rest)?;
                self.enter(subgroup, Subgroup { entered, ..Subgroup::default() });
            }
            CALLED => {
                let work = word(second()?, 0)?;
                let own = self.launched.get(&(pipeline, work));
                let root = own.or_else(|| self.launched_last.get(&work)).copied();
                let root = root.map_or(Root::Lost, Root::Caller);
                let entered = self.lanes.mask(rest)?;
                self.enter(subgroup, Subgroup { entered, root, ..Subgroup::default() });
            }
            LEAVE => {
                let mask = self.lanes.mask(rest)?;
                self.subgroups.entry(subgroup).or_default().left |= mask;
            }
            BLOCK => {
                let mask = self.lanes.mask(rest)?;
                let place = (r.entry, r.site.function, r.site.block);
                if self.subgroups.contains_key(&subgroup) {
                    self.block(place, subgroup, mask);
                } else {
                    self.waiting.entry(subgroup).or_default().push((place, mask));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn enter(&mut self, subgroup: Number, state: Subgroup) {
        self.subgroups.insert(subgroup, state);
        for (place, mask) in self.waiting.remove(&subgroup).unwrap_or_default() {
            self.block(place, subgroup, mask);
        }
    }

    fn block(&mut self, place: Place, subgroup: Number, mask: u128) {
        let s = &self.subgroups[&subgroup];
        let left = match s.root {
            Root::Itself => s.left,
            Root::Caller(root) => self.subgroups.get(&root).map_or(0, |r| r.left),
            Root::Lost => return self.lost(place, mask),
        };
        let early = left & !mask;
        let absent = self.all & !s.entered & !mask & !early;
        let count = |m: u128| u64::from(m.count_ones());
        let all = count(self.all);
        let into = self.slots.entry(place).or_default();
        into.executions += 1;
        into.active += count(mask);
        into.early_return += count(early);
        into.indirect_call += count(absent);
        if s.root == Root::Itself {
            into.not_launched += count(absent);
        }
        into.control_flow += all - count(mask) - count(early) - count(absent);
    }

    /// What a block's counters say.
    fn counted(&mut self, entry: usize, e: &EntryData<'_>, site: &Site) -> Result<()> {
        let at = site.counter.unwrap_or(0) as usize;
        let wrong = |why: &str| {
            Err(Error::Record { word_offset: at, why: format!("the counters of block {} {why}", site.block) })
        };
        let n = counters(e.variant.stage) as usize;
        let Some(&[executions, active, early, away, unknown, active_of_unknown, ref helper @ ..]) =
            e.counters.get(at..at + n)
        else {
            return wrong("are not there");
        };
        if executions == 0 {
            return Ok(());
        }
        let helper = helper.first().copied().unwrap_or(0);
        let all = u64::from(self.all.count_ones());
        let slots = |executions: u64, of: &[u64]| {
            let all = executions.checked_mul(all)?;
            of.iter().try_fold(all, |rest, n| rest.checked_sub(*n))
        };
        let known = executions.checked_sub(unknown).zip(active.checked_sub(active_of_unknown));
        let absent = known.and_then(|(executions, active)| slots(executions, &[active, early, away, helper]));
        let Some((absent, unattributed)) = absent.zip(slots(unknown, &[active_of_unknown])) else {
            return wrong("have more than all slots");
        };
        let into = self.slots.entry((entry, site.function, site.block)).or_default();
        into.executions += executions;
        into.active += active;
        into.early_return += early;
        into.indirect_call += absent;
        into.not_launched += absent;
        into.control_flow += away;
        into.helper += helper;
        into.unattributed += unattributed;
        Ok(())
    }

    fn lost(&mut self, place: Place, mask: u128) {
        let all = u64::from(self.all.count_ones());
        let into = self.slots.entry(place).or_default();
        into.executions += 1;
        into.active += u64::from(mask.count_ones());
        into.unattributed += all - u64::from(mask.count_ones());
    }
}

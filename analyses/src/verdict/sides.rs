//! Which times of a run belong to a capture and plan, process by process.
//!
//! Warm-up turns and the load frame are left out (a capture of one frame has none but that). Guarantees: processes are in the order
//! of their numbers; of pairs, both sides have the same ones.

use super::metrics::{Metric, TooFew};
use serde::Serialize;
use std::collections::BTreeMap;
use trace::Nanos;
use trace::run::{FrameSample, Run};

/// A process: times by turn, each turn's frames in order.
pub type Process = Vec<Vec<f64>>;

/// A metric of each process.
pub fn values(side: &[Process], metric: Metric) -> Result<Vec<f64>, TooFew> {
    side.iter().map(|p| metric.of(&mut p.concat())).collect()
}

/// Two sides of a question.
#[derive(Clone, Copy, Debug)]
pub struct Sides<'s> {
    /// What it is held against.
    pub base: &'s [Process],
    /// What is judged.
    pub new: &'s [Process],
    /// Whether those of one position were alive together.
    pub paired: bool,
}

impl<'s> Sides<'s> {
    /// Of two runs.
    pub fn apart(base: &'s [Process], new: &'s [Process]) -> Self {
        Sides { base, new, paired: false }
    }

    /// Of one run, in the order of their numbers; apart where one side has more of them.
    pub fn paired(base: &'s [Process], new: &'s [Process]) -> Self {
        Sides { base, new, paired: base.len() == new.len() }
    }

    /// Base and new.
    pub fn both(&self) -> [&'s [Process]; 2] {
        [self.base, self.new]
    }
}

/// Whose times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// The device's.
    Gpu,
    /// The replay's on the CPU.
    Cpu,
}

/// The workers of a capture and plan.
pub(super) fn workers(run: &Run, at: (usize, usize)) -> Vec<usize> {
    let of = |w: &trace::run::Worker| (w.capture, w.plan) == at;
    run.note.workers.iter().enumerate().filter(|w| of(w.1)).map(|w| w.0).collect()
}

pub(super) fn ms(n: Nanos) -> f64 {
    n.0 as f64 / 1e6
}

/// A frame's time by a clock.
pub(super) fn time(frame: &FrameSample, clock: Clock) -> Option<Nanos> {
    match clock {
        Clock::Gpu => frame.gpu,
        Clock::Cpu => Some(frame.cpu),
    }
}

/// Processes by their number.
pub(super) type Numbered = BTreeMap<u32, Process>;

/// By number instead of by worker.
pub(super) fn numbered(run: &Run, of: impl IntoIterator<Item = (usize, Process)>) -> Numbered {
    let number = |worker: usize| run.note.workers.get(worker).map_or(0, |w| w.process);
    of.into_iter().map(|(worker, process)| (number(worker), process)).collect()
}

/// Both sides of a question.
pub(super) struct Both {
    pub sides: [Vec<Process>; 2],
    paired: bool,
}

impl Both {
    /// `paired`: those of one number were alive together; what has no counterpart is left out.
    pub fn new(mut of: [Numbered; 2], paired: bool) -> Both {
        if paired {
            let [base, new] = &mut of;
            base.retain(|number, _| new.contains_key(number));
            new.retain(|number, _| base.contains_key(number));
        }
        Both { sides: of.map(|side| side.into_values().collect()), paired }
    }

    pub fn sides(&self) -> Sides<'_> {
        let [base, new] = &self.sides;
        match self.paired {
            true => Sides::paired(base, new),
            false => Sides::apart(base, new),
        }
    }
}

/// A capture's processes under a plan, by `clock`: turns in order.
pub(super) fn all(run: &Run, at: (usize, usize), clock: Clock) -> Numbered {
    let mine = workers(run, at);
    let mut by: BTreeMap<usize, BTreeMap<u64, Vec<f64>>> =
        mine.iter().map(|w| (*w, BTreeMap::new())).collect();
    // (a capture of one frame has none but the load frame)
    let only_load = run.frames.iter().filter(|f| mine.contains(&f.worker)).all(|f| f.load);
    for f in run.frames.iter().filter(|f| f.timed && (!f.load || only_load)) {
        if let (Some(turns), Some(time)) = (by.get_mut(&f.worker), time(f, clock)) {
            turns.entry(f.turn).or_default().push(ms(time));
        }
    }
    let of = by.into_iter().map(|(worker, turns)| (worker, turns.into_values().collect::<Process>()));
    numbered(run, of.filter(|p| !p.1.is_empty()))
}

/// The same, in the order of their numbers.
pub fn processes(run: &Run, at: (usize, usize), clock: Clock) -> Vec<Process> {
    all(run, at, clock).into_values().collect()
}

/// Two plans of one run and capture, side by side: processes of one number are pairs.
pub fn pairs(run: &Run, capture: usize, plans: [usize; 2], clock: Clock) -> [Vec<Process>; 2] {
    Both::new(plans.map(|plan| all(run, (capture, plan), clock)), true).sides
}

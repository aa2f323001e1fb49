//! Calls of a launch's invocations, numbered in the order in which rules 1, 2 and 4 of the header above choose.
//!
//! Guarantees: equal events give equal numbers, on any number of threads.

use crate::events::{CHUNK, Events, Launch, counts};
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::Range;
use trace::tables::RayEvent;

/// A call at a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The call.
    pub code: u16,
    /// How many rays it lies in.
    pub level: u16,
    /// Steps of one number are chosen among by rules 3 to 5; lower ones go first.
    pub(super) group: u32,
    pub(super) class: Class,
}

/// By which rule is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    Traversal,
    Miss,
    ClosestHit,
    Callable,
    Begin,
}

/// Calls of a launch's invocations.
pub struct Replayer {
    /// Subgroup size.
    pub n: u32,
    /// In the order in which rules 1, 2 and 4 choose.
    pub(super) steps: Vec<Step>,
    /// Steps of invocations.
    pub(super) stream: Vec<u16>,
    pub(super) starts: Vec<usize>,
    /// Of each code: whether it is in event-level efficiency.
    pub(super) counted: Vec<bool>,
    /// Whether any traversal step has another beside it: else rule 3 has nothing to do.
    pub(super) lookahead: bool,
}

impl Replayer {
    /// Prepares a launch.
    pub fn new(events: &Events, launch: &Launch) -> Replayer {
        // Level and code as they are first met; then in order.
        let chunks: Vec<Range<usize>> = chunks_of(launch.threads(), CHUNK).collect();
        let parts: Vec<Calls> = chunks
            .into_par_iter()
            .map(|threads| {
                let (mut calls, mut lengths) = (vec![], vec![]);
                for thread in threads {
                    let before = calls.len();
                    let mut level = 0u16;
                    for at in launch.events(thread) {
                        let code = launch.code[at];
                        match events.codes[usize::from(code)].kind {
                            RayEvent::End => level = level.saturating_sub(1),
                            kind if kind.of_warps() => {
                                calls.push((code, level));
                                level += u16::from(kind.begins());
                            }
                            _ => {}
                        }
                    }
                    lengths.push(calls.len() - before);
                }
                (calls, lengths)
            })
            .collect();
        let mut numbers: HashMap<(u16, u16), u16> = HashMap::new();
        for part in &parts {
            let mut last = None;
            for call in &part.0 {
                if last != Some(*call) {
                    numbers.insert(*call, 0);
                    last = Some(*call);
                }
            }
        }
        let steps = order(events, numbers.keys().copied());
        for (number, step) in steps.iter().enumerate() {
            numbers.insert((step.code, step.level), number as u16);
        }
        let (mut stream, mut starts) = (vec![], vec![0]);
        stream.reserve_exact(parts.iter().map(|p| p.0.len()).sum());
        for (calls, lengths) in parts {
            let mut end = stream.len();
            let mut last = ((0, 0), 0);
            stream.extend(calls.into_iter().map(|call| {
                if last.0 != call || last.1 == 0 {
                    last = (call, numbers.get(&call).copied().unwrap_or(0));
                }
                last.1
            }));
            starts.extend(lengths.into_iter().map(|l| {
                end += l;
                end
            }));
        }
        let beside = |w: &[Step]| w[0].class == Class::Traversal && w[0].group == w[1].group;
        let lookahead = steps.windows(2).any(beside);
        let counted = events.codes.iter().map(|c| counts(c.kind)).collect();
        Replayer { n: launch.n, steps, stream, starts, counted, lookahead }
    }

    /// The steps of an invocation, as a part of the stream.
    pub fn stream_of(&self, thread: usize) -> Range<usize> {
        self.starts[thread]..self.starts[thread + 1]
    }

    /// Calls of an invocation: numbers of [`Replayer::step`].
    pub fn calls(&self, thread: usize) -> &[u16] {
        &self.stream[self.stream_of(thread)]
    }

    /// A step.
    pub fn step(&self, number: u16) -> Step {
        self.steps[usize::from(number)]
    }

    /// How many distinct steps there are.
    pub fn steps(&self) -> usize {
        self.steps.len()
    }
}

/// Code and level of each call of some invocations, and how many each has.
type Calls = (Vec<(u16, u16)>, Vec<usize>);

/// Numbers below `all`, in portions for workers.
pub(super) fn chunks_of(all: usize, of: usize) -> impl Iterator<Item = Range<usize>> {
    (0..all.div_ceil(of)).map(move |c| c * of..((c + 1) * of).min(all))
}

/// Rules 1, 2 and 4.
fn order(events: &Events, calls: impl Iterator<Item = (u16, u16)>) -> Vec<Step> {
    let class = |kind| match kind {
        RayEvent::Intersection | RayEvent::AnyHit => Class::Traversal,
        RayEvent::Miss => Class::Miss,
        RayEvent::ClosestHit => Class::ClosestHit,
        RayEvent::Callable => Class::Callable,
        _ => Class::Begin,
    };
    let mut steps: Vec<Step> = calls
        .map(|(code, level)| Step {
            code,
            level,
            group: 0,
            class: class(events.codes[usize::from(code)].kind),
        })
        .collect();
    steps.sort_by_key(|s| (std::cmp::Reverse(s.level), s.class, events.codes[usize::from(s.code)]));
    for i in 1..steps.len() {
        let (a, b) = (steps[i - 1], steps[i]);
        steps[i].group = a.group + u32::from((a.level, a.class) != (b.level, b.class));
    }
    steps
}

//! Replayer: what subgroups would execute if invocations were put into them otherwise (Cheung 2024, §3.2.1).
//!
//! Of each invocation only its calls are looked at: begins (told apart by the place of the call), intersections, any-hits,
//! misses, closest hits, callables (told apart by shader), each at its level: how many rays it lies in. Invocations of a
//! subgroup that have the same call next execute it together: a synthetic event of the subgroup. Where they have different
//! ones next, this is the rule:
//!
//! 1. the innermost level first: whoever is in a ray ends it before others begin one further out;
//! 2. at one level: intersections and any-hits, then misses, then closest hits, then callables, then begins, so that all have
//!    traversed before any leaves traversal, and all have returned before any goes on;
//! 3. among intersections and any-hits: the one that the fewest others come to later in their present ray, so that these are
//!    waited for; then the one that most have next; then that of the lowest lane;
//! 4. among misses, closest hits, callables: by kind, then by the shader's number (each has at most one: it makes no difference
//!    to how many events there are);
//! 5. among begins: the one whose invocations have begun the fewest rays so far; then the one that most have next; then that
//!    of the lowest lane.
//!
//! Begins of one call join whichever turn of a loop their invocations are in. This is an idealised execution: it says more than
//! hardware reaches, the more the longer the traces are. *Synthetic efficiency* = Σ active / (N · events).
//!
//! Guarantees: Σ active of a call is what the rays' events say, in any packing. Refuses subgroups of more than 128.

mod packing;
mod run;
#[cfg(test)]
mod tests;

pub use packing::Packing;
pub use run::Scratch;

use crate::events::{Events, Launch};
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
    group: u32,
    class: Class,
}

/// By which rule is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
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
    steps: Vec<Step>,
    /// Steps of invocations.
    stream: Vec<u16>,
    starts: Vec<usize>,
    codes: usize,
    /// Whether any traversal step has another beside it: else rule 3 has nothing to do.
    lookahead: bool,
}

/// Events and active invocations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Efficiency {
    /// Subgroup size.
    pub n: u32,
    /// Of each code: synthetic events, and invocations active in them.
    pub codes: Vec<(u64, u64)>,
}

impl Efficiency {
    /// Synthetic events.
    pub fn events(&self) -> u64 {
        self.codes.iter().map(|c| c.0).sum()
    }

    /// Active invocations of all.
    pub fn active(&self) -> u64 {
        self.codes.iter().map(|c| c.1).sum()
    }

    /// Percent; none without events.
    pub fn percent(&self) -> Option<f64> {
        percent(self.active(), self.events(), self.n)
    }

    /// Both together.
    #[must_use]
    pub fn and(mut self, other: &Efficiency) -> Efficiency {
        self.n = self.n.max(other.n);
        self.codes.resize(self.codes.len().max(other.codes.len()), (0, 0));
        for (a, b) in self.codes.iter_mut().zip(&other.codes) {
            *a = (a.0 + b.0, a.1 + b.1);
        }
        self
    }
}

/// SIMT efficiency in percent.
pub fn percent(active: u64, events: u64, n: u32) -> Option<f64> {
    (events > 0).then(|| 100.0 * active as f64 / (events as f64 * f64::from(n)))
}

/// A synthetic event: bits of `mask` are places in the subgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Synthetic {
    /// The call.
    pub code: u16,
    /// How many rays it lies in.
    pub level: u16,
    /// Who executes it.
    pub mask: u128,
}

/// What a subgroup executes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warp {
    /// In order, if they were asked for.
    pub events: Vec<Synthetic>,
    /// How many there are.
    pub count: u64,
    /// Invocations active in them.
    pub active: u64,
}

impl Replayer {
    /// Prepares a launch.
    pub fn new(events: &Events, launch: &Launch) -> Replayer {
        // Level and code as they are first met; then in order.
        let chunks: Vec<Range<usize>> = chunks(launch.threads()).collect();
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
        Replayer { n: launch.n, steps, stream, starts, codes: events.codes.len(), lookahead }
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

    /// What a subgroup of these invocations executes.
    ///
    /// # Panics
    /// If there are more than 128.
    pub fn warp(&self, members: &[u32], record: bool) -> Warp {
        let mut scratch = self.scratch();
        let mut warp = Warp::default();
        let ranges: Vec<_> = members.iter().map(|&t| self.stream_of(t as usize)).collect();
        self.run(&ranges, &mut scratch, |step, mask| {
            warp.count += 1;
            warp.active += u64::from(mask.count_ones());
            if record {
                let s = self.steps[step];
                warp.events.push(Synthetic { code: s.code, level: s.level, mask });
            }
        });
        warp
    }

    /// Memory for [`Replayer::run`].
    pub fn scratch(&self) -> Scratch {
        Scratch::new(self.steps.len())
    }

    /// The efficiency of a packing.
    pub fn efficiency(&self, packing: &Packing) -> Efficiency {
        let chunks: Vec<_> = chunks_of(packing.len(), 256).collect();
        let sums = chunks
            .into_par_iter()
            .map_init(
                || (self.scratch(), vec![]),
                |(scratch, ranges), warps| {
                    let mut sums = vec![(0u64, 0u64); self.steps.len()];
                    for warp in warps {
                        ranges.clear();
                        ranges.extend(packing.warp(warp).iter().map(|&t| self.stream_of(t as usize)));
                        self.run(ranges, scratch, |step, mask| {
                            let s = &mut sums[step];
                            *s = (s.0 + 1, s.1 + u64::from(mask.count_ones()));
                        });
                    }
                    sums
                },
            )
            .reduce(
                || vec![(0, 0); self.steps.len()],
                |mut a, b| {
                    a.iter_mut().zip(b).for_each(|(a, b)| *a = (a.0 + b.0, a.1 + b.1));
                    a
                },
            );
        self.by_code(&sums)
    }

    /// Sums of steps as sums of codes.
    pub fn by_code(&self, sums: &[(u64, u64)]) -> Efficiency {
        let mut codes = vec![(0, 0); self.codes];
        for (step, s) in self.steps.iter().zip(sums) {
            let c = &mut codes[usize::from(step.code)];
            *c = (c.0 + s.0, c.1 + s.1);
        }
        Efficiency { n: self.n, codes }
    }
}

/// Code and level of each call of some invocations, and how many each has.
type Calls = (Vec<(u16, u16)>, Vec<usize>);

/// Invocations in portions for workers.
fn chunks(threads: usize) -> impl Iterator<Item = Range<usize>> {
    chunks_of(threads, crate::events::CHUNK)
}

fn chunks_of(all: usize, of: usize) -> impl Iterator<Item = Range<usize>> {
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

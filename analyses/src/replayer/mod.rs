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
//! hardware reaches, the more the longer the traces are. *Synthetic efficiency* = Σ active / (N · events), over the events that
//! count in event-level efficiency (`events/event_level.rs`): callables are executed, and are in no sum.
//!
//! Guarantees: Σ active of a call is what the rays' events say, in any packing. Refuses subgroups of more than 128.

mod calls;
mod packing;
mod run;
#[cfg(test)]
mod tests;

pub use calls::{Replayer, Step};
pub use packing::Packing;
pub use run::Scratch;

use crate::events::Occupancy;
use calls::chunks_of;
use rayon::prelude::*;

/// What a packing's subgroups execute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Efficiency {
    /// Of each code.
    pub codes: Vec<Occupancy>,
    /// Of all that count in event-level efficiency.
    pub counted: Occupancy,
}

impl Efficiency {
    /// Synthetic efficiency in percent; none without events.
    pub fn percent(&self) -> Option<f64> {
        self.counted.percent()
    }

    /// Both together.
    #[must_use]
    pub fn and(mut self, other: &Efficiency) -> Efficiency {
        self.codes.resize(self.codes.len().max(other.codes.len()), Occupancy::default());
        self.codes.iter_mut().zip(&other.codes).for_each(|(a, b)| *a += *b);
        self.counted += other.counted;
        self
    }
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
    /// Of those that count in event-level efficiency.
    pub counted: Occupancy,
}

impl Replayer {
    /// What a subgroup of these invocations executes.
    ///
    /// # Panics
    /// If there are more than 128.
    pub fn warp(&self, members: &[u32], record: bool) -> Warp {
        let mut scratch = self.scratch();
        let mut warp = Warp::default();
        let ranges: Vec<_> = members.iter().map(|&t| self.stream_of(t as usize)).collect();
        self.run(&ranges, &mut scratch, |step, mask| {
            let s = self.steps[step];
            if self.counted[usize::from(s.code)] {
                warp.counted += Occupancy::new(1, mask.count_ones().into(), self.n.into());
            }
            if record {
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
        let mut e =
            Efficiency { codes: vec![Occupancy::default(); self.counted.len()], ..Efficiency::default() };
        for (step, (events, active)) in self.steps.iter().zip(sums) {
            let (code, sum) = (usize::from(step.code), Occupancy::new(*events, *active, self.n.into()));
            e.codes[code] += sum;
            if self.counted[code] {
                e.counted += sum;
            }
        }
        e
    }
}

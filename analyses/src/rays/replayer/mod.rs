//! Replayer: what subgroups would execute if invocations were put into them otherwise (Cheung 2024, §3.2.1).
//!
//! Of each invocation only its calls are looked at: begins (told apart by the place of the call), intersections, any-hits,
//! misses, closest hits, callables (told apart by shader), however many rays they lie in. Invocations of a subgroup that have the
//! same call next execute it together: a synthetic event of the subgroup. Where they have different ones next, that one is
//! executed
//!
//! 1. that is *needed* now: of all invocations that have it left most often, none would be left behind. Who has it less often
//!    joins one of the others' turns later, or another of their own;
//! 2. then by kind: intersections and any-hits, misses, closest hits, callables, begins, so that all have traversed before any
//!    leaves traversal, and all have returned before any goes on;
//! 3. then that which the fewest others come to later, so that these are waited for;
//! 4. then that which most have next; then that of the lowest lane.
//!
//! This looks ahead to the end of the launch, as no hardware does: it is an idealised execution, which says more than hardware
//! reaches, the more the longer the traces are. *Synthetic efficiency* = Σ active / (N · events), over the events that count in
//! event-level efficiency (`rays/events/event_level.rs`): callables are executed, and are in no sum.
//!
//! *Bound.* Which order is the best is a hard question (a shortest common supersequence), and these rules do not always find it:
//! an order with fewer events may exist. But a call needs as many events as the invocation that has it most often, in any order:
//! an event executes it once for each. These events are the needed ones, so that the *bound* = Σ active / (N · needed events) is
//! an efficiency that no execution of these subgroups exceeds, on any device, of all calls and of each. The best order lies
//! between the two.
//!
//! Guarantees: Σ active of a call is what the rays' events say, in any packing. Refuses subgroups of more than 128.

mod calls;
mod packing;
mod run;
#[cfg(test)]
mod tests;

pub use calls::Replayer;
pub use packing::Packing;
pub use run::{Scratch, Synthetic};

use crate::rays::events::Occupancy;
use calls::chunks_of;
use rayon::prelude::*;
use std::ops::{AddAssign, Range};

/// Events of subgroups as they are executed here, and as many as there are in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shares {
    /// As they are executed.
    pub synthetic: Occupancy,
    /// The needed ones, with all active invocations.
    pub bound: Occupancy,
}

impl AddAssign for Shares {
    fn add_assign(&mut self, o: Shares) {
        self.synthetic += o.synthetic;
        self.bound += o.bound;
    }
}

/// What subgroups execute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Efficiency {
    /// Of each code.
    pub codes: Vec<Shares>,
    /// Of all that count in event-level efficiency.
    pub counted: Shares,
}

impl Efficiency {
    /// Synthetic efficiency in percent; none without events.
    pub fn percent(&self) -> Option<f64> {
        self.counted.synthetic.percent()
    }

    /// Both together.
    #[must_use]
    pub fn and(mut self, other: &Efficiency) -> Efficiency {
        self.codes.resize(self.codes.len().max(other.codes.len()), Shares::default());
        self.codes.iter_mut().zip(&other.codes).for_each(|(a, b)| *a += *b);
        self.counted += other.counted;
        self
    }
}

impl Replayer {
    /// What a subgroup of these invocations executes, in order.
    ///
    /// # Panics
    /// If there are more than 128.
    pub fn warp(&self, members: &[u32]) -> Vec<Synthetic> {
        let mut events = vec![];
        let ranges: Vec<_> = members.iter().map(|&t| self.stream_of(t as usize)).collect();
        self.run(&ranges, &mut self.scratch(), |e| events.push(e));
        events
    }

    /// Memory for [`Replayer::run`].
    pub fn scratch(&self) -> Scratch {
        Scratch::new(self.codes())
    }

    /// The efficiency of some subgroups of a packing.
    pub fn efficiency_of(&self, packing: &Packing, warps: Range<usize>, scratch: &mut Scratch) -> Efficiency {
        let mut e = self.nothing();
        let mut ranges = vec![];
        for warp in warps {
            ranges.clear();
            ranges.extend(packing.warp(warp).iter().map(|&t| self.stream_of(t as usize)));
            self.run(&ranges, scratch, |event| self.add(&mut e, event));
        }
        e
    }

    /// The efficiency of a packing.
    pub fn efficiency(&self, packing: &Packing) -> Efficiency {
        let chunks: Vec<_> = chunks_of(packing.len(), 256).collect();
        chunks
            .into_par_iter()
            .map_init(|| self.scratch(), |scratch, warps| self.efficiency_of(packing, warps, scratch))
            .reduce(|| self.nothing(), |a, b| a.and(&b))
    }

    /// The efficiency of no subgroups.
    pub fn nothing(&self) -> Efficiency {
        Efficiency { codes: vec![Shares::default(); self.codes()], counted: Shares::default() }
    }

    /// Counts an event in.
    pub fn add(&self, e: &mut Efficiency, event: Synthetic) {
        let of = |events: u64| Occupancy::new(events, event.mask.count_ones().into(), self.n.into());
        let shares = Shares { synthetic: of(1), bound: of(event.needed.into()) };
        e.codes[usize::from(event.code)] += shares;
        if self.counted[usize::from(event.code)] {
            e.counted += shares;
        }
    }
}

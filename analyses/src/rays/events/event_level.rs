//! Event-level SIMT efficiency (Cheung 2024, §3.1.2): which events count, and sums of them.
//!
//! *Definition.* Begins, occlusion begins, and entries of intersection, any-hit, miss and closest-hit shaders count, each alike:
//! Σ popcount(m) / (Σ 1 · N) over the active masks m of the subgroups that had them, N being the device's subgroup size. The
//! thesis has no callable shaders: their entries are in no sum with others, and stand in a row of their own.
//!
//! A call by which some invocations of a subgroup begin rays and others occlusion rays is one event where executions of calls
//! are counted (pass `simt`), and two where events are told apart by their rays' flags (pass `rays`).
//!
//! Guarantees: every question that says event-level efficiency asks here which events count.

use crate::context::Context;
use crate::report::{Cell, most, percent, share};
use std::ops::AddAssign;
use trace::tables::RayEvent;

/// The row of all events that count.
pub const ALL: &str = "all";

/// Whether an event is in event-level efficiency.
pub fn counts(kind: RayEvent) -> bool {
    kind.of_warps() && kind != RayEvent::Callable
}

/// The event that entering a shader of this stage is.
pub fn entered(stage: &str) -> Option<RayEvent> {
    RayEvent::ALL.into_iter().find(|k| k.of_warps() && !k.begins() && k.name() == stage)
}

/// How full subgroups were at all events that count, and where most of what was idle is: by kind of event and entry point.
pub fn fullness(
    context: &Context,
    all: Occupancy,
    shaders: impl Iterator<Item = ((RayEvent, u64), Occupancy)>,
) -> Option<String> {
    let full = format!("Subgroups were {} full at events of rays", percent(all.percent()?));
    let worst = most(shaders.filter(|s| counts(s.0.0)), |s| s.1.idle()).map(|((kind, entry), of)| {
        // (a shader that is entered is called as the event is)
        let (kind, mut place) = (kind.name(), context.whose_words(entry));
        if !place.starts_with(kind) {
            place = format!("{kind} in {place}");
        }
        format!("; {} of what was idle was at {place}", share(of.idle(), all.idle()))
    });
    Some(full + &worst.unwrap_or_default() + ".")
}

/// Events of subgroups: how many, active invocations, and slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupancy {
    /// Events.
    pub events: u64,
    /// Invocations active in them, summed.
    pub active: u64,
    /// Invocations that would be active if every subgroup were full.
    pub slots: u64,
}

impl Occupancy {
    /// So many events of subgroups of `n`.
    pub fn new(events: u64, active: u64, n: u64) -> Occupancy {
        Occupancy { events, active, slots: events * n }
    }

    /// Efficiency in percent; none without events.
    pub fn percent(&self) -> Option<f64> {
        (self.slots > 0).then(|| 100.0 * self.active as f64 / self.slots as f64)
    }

    /// Slots in which no invocation was active.
    pub fn idle(&self) -> u64 {
        self.slots.saturating_sub(self.active)
    }

    /// Events, active invocations, efficiency in percent.
    pub fn cells(&self) -> [Cell; 3] {
        [self.events.into(), self.active.into(), self.percent().map_or(Cell::Missing, Cell::Number)]
    }
}

impl AddAssign for Occupancy {
    fn add_assign(&mut self, o: Occupancy) {
        self.events += o.events;
        self.active += o.active;
        self.slots += o.slots;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The six of §3.1.2, and no others.
    #[test]
    fn the_thesis_events_count() {
        let six = ["begin", "occlusion-begin", "intersection", "any-hit", "miss", "closest-hit"];
        let counted: Vec<&str> =
            RayEvent::ALL.into_iter().filter(|k| counts(*k)).map(RayEvent::name).collect();
        assert_eq!(counted, six);
        for stage in ["intersection", "any-hit", "miss", "closest-hit", "callable"] {
            assert_eq!(entered(stage).map(RayEvent::name), Some(stage));
        }
        assert!(["ray-generation", "begin", "end", "fragment"].iter().all(|s| entered(s).is_none()));
    }

    #[test]
    fn efficiency_is_of_slots() {
        let mut sum = Occupancy::new(3, 10, 8);
        sum += Occupancy::new(1, 32, 32);
        assert_eq!((sum.percent(), Occupancy::default().percent()), (Some(75.0), None));
    }
}

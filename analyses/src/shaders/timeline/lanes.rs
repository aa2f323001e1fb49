//! Spans side by side: a lane for each that is in flight at the same time.
//!
//! Guarantees: spans of one lane follow each other; the lowest free lane is taken, so that as many lanes are used as spans
//! were in flight at most. Lanes are no places on the device.

use super::spans::Span;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Where spans are drawn: for each unit, callers first, then what they call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lanes {
    /// (unit, called) and how many lanes it has.
    pub groups: BTreeMap<(u64, bool), u64>,
    /// Each span's lane in its group.
    pub of: Vec<u64>,
}

impl Lanes {
    /// For spans by begin.
    pub fn new(spans: &[Span]) -> Lanes {
        #[derive(Default)]
        struct Group {
            free: BinaryHeap<Reverse<u64>>,
            taken: BinaryHeap<Reverse<(u64, u64)>>,
            lanes: u64,
        }
        let mut groups: BTreeMap<(u64, bool), Group> = BTreeMap::new();
        let mut of = Vec::with_capacity(spans.len());
        for s in spans {
            let g = groups.entry((s.sm, s.called)).or_default();
            while let Some(&Reverse((end, lane))) = g.taken.peek().filter(|t| t.0.0 <= s.begin) {
                debug_assert!(end <= s.begin);
                g.taken.pop();
                g.free.push(Reverse(lane));
            }
            let lane = g.free.pop().map_or_else(
                || {
                    g.lanes += 1;
                    g.lanes - 1
                },
                |l| l.0,
            );
            g.taken.push(Reverse((s.end, lane)));
            of.push(lane);
        }
        Lanes { groups: groups.into_iter().map(|(k, g)| (k, g.lanes)).collect(), of }
    }
}

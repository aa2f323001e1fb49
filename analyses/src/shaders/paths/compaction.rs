//! Subgroups with their calls, and how many subgroups these would take if the invocations of several subgroups were put together for each.

use crate::report::Cell;
use std::collections::{BTreeMap, HashMap};

/// A subgroup and its calls.
pub struct Subgroup {
    pub frame: u64,
    /// Which of the frame's, where that was recorded.
    pub launch: u64,
    pub entry: u64,
    /// The work of its first invocation.
    pub first: u64,
    pub entered: u128,
    /// Place and mask of each call, in order.
    pub calls: Vec<(u64, u128)>,
}

/// The halves of a mask together.
pub fn mask(low: u64, high: u64) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

/// Subgroups that ran calls, and those that would have done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    pub ran: u64,
    pub needed: u64,
}

impl Saved {
    /// Both together.
    pub fn add(&mut self, other: Saved) {
        self.ran += other.ran;
        self.needed += other.needed;
    }

    /// Calls of subgroups that would not have run.
    pub fn saved(self) -> u64 {
        self.ran.saturating_sub(self.needed)
    }

    /// Under the columns of a window.
    pub fn cells(self, window: Option<usize>) -> Vec<Cell> {
        let window = window.map_or_else(|| "unbounded".to_owned(), |w| w.to_string());
        vec![window.into(), self.ran.into(), self.needed.into(), Cell::share(self.saved(), self.ran)]
    }
}

/// Subgroups of one launch, in the order of their work.
fn launches<'a>(subgroups: &[&'a Subgroup]) -> Vec<Vec<&'a Subgroup>> {
    let mut seen: HashMap<(u64, u64, u64), u64> = HashMap::new();
    let mut by: BTreeMap<(u64, u64, u64), Vec<&Subgroup>> = BTreeMap::new();
    for s in subgroups {
        let nth = seen.entry((s.frame, s.launch, s.first)).or_default();
        by.entry((s.frame, s.launch, *nth)).or_default().push(s);
        *nth += 1;
    }
    let mut all: Vec<_> = by.into_values().collect();
    all.iter_mut().for_each(|launch| launch.sort_by_key(|s| s.first));
    all
}

/// The subgroups that a window's calls take, and would take with subgroups of `n`.
fn window(of: &[&Subgroup], n: u64) -> Saved {
    // Place, and which call there: active invocations.
    let mut active: HashMap<(u64, u64), u64> = HashMap::new();
    let mut ran = 0;
    for s in of {
        let mut nth: HashMap<u64, u64> = HashMap::new();
        for (place, mask) in &s.calls {
            let call = nth.entry(*place).or_default();
            *active.entry((*place, *call)).or_default() += u64::from(mask.count_ones());
            *call += 1;
            ran += 1;
        }
    }
    Saved { ran, needed: active.values().map(|a| a.div_ceil(n.max(1))).sum() }
}

/// Windows of 1, 2, 4 and so on, as long as some launch has more subgroups, and the unbounded one.
pub fn windows(subgroups: &[&Subgroup], n: u64) -> Vec<(Option<usize>, Saved)> {
    let launches = launches(subgroups);
    let largest = launches.iter().map(Vec::len).max().unwrap_or(0);
    let sum = |size: usize| {
        let mut all = Saved::default();
        launches.iter().flat_map(|l| l.chunks(size)).for_each(|w| all.add(window(w, n)));
        all
    };
    let sizes = std::iter::successors(Some(1usize), |w| w.checked_mul(2)).take_while(|w| *w < largest.max(2));
    let mut all: Vec<_> = sizes.map(|w| (Some(w), sum(w))).collect();
    all.push((None, sum(largest.max(1))));
    all
}

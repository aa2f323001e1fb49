//! How large things are here that another driver made as large as it wanted.
//!
//! Every size that the capture's driver named (of a build, of a compacted copy, of a serialised one) is met by the size
//! that this driver names for the same thing. A size that the application passes on is looked up here; one that it
//! rounded up is found by the next smaller one that was named. Refuses nothing: a size nobody named is unknown.

use std::collections::BTreeMap;

/// What applications round sizes up to, at most.
const ROUNDED_BYTES: u64 = 64 << 10;

/// See the module's header.
#[derive(Default)]
pub struct Sizes {
    /// Captured -> live; the largest where one captured size had several.
    known: BTreeMap<u64, u64>,
}

impl Sizes {
    /// The capture's driver said `then`, this one says `now`.
    pub fn learn(&mut self, then: u64, now: u64) {
        if then != 0 {
            let known = self.known.entry(then).or_insert(now);
            *known = now.max(*known);
        }
    }
    /// What is to be made here where the application made `captured` bytes; none if that follows from nothing known.
    pub fn wanted(&self, captured: u64) -> Option<u64> {
        if let Some(&now) = self.known.get(&captured) {
            return Some(now.max(captured));
        }
        let below = self.known.range(captured.saturating_sub(ROUNDED_BYTES)..captured);
        below.map(|(then, now)| (*now).max(captured.saturating_add(now.saturating_sub(*then)))).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_size_becomes_this_drivers_and_never_smaller() {
        let mut s = Sizes::default();
        s.learn(1000, 1500);
        s.learn(1000, 1400);
        s.learn(5000, 300);
        s.learn(0, 7);
        assert_eq!(s.wanted(1000), Some(1500));
        assert_eq!(s.wanted(5000), Some(5000));
        assert_eq!(s.wanted(999), None);
    }

    #[test]
    fn a_size_that_was_rounded_up_is_found_by_the_one_below() {
        let mut s = Sizes::default();
        s.learn(1000, 1500);
        assert_eq!(s.wanted(1024), Some(1524));
        assert_eq!(s.wanted(1000 + ROUNDED_BYTES), Some(1500 + ROUNDED_BYTES));
        assert_eq!(s.wanted(1001 + ROUNDED_BYTES), None);
    }
}

//! Device addresses: captured -> live, interior pointers too.

use std::collections::BTreeMap;

/// Ranges of captured addresses and where they are now.
#[derive(Default)]
pub struct Addresses {
    /// captured base -> (live base, size).
    ranges: BTreeMap<u64, (u64, u64)>,
    /// How many ranges are not where they were; nothing is to look up where none is.
    moved: usize,
    /// Something was added since whoever mirrors this looked last.
    pub changed: bool,
    /// Addresses that fell into no known range and were passed on as they are.
    pub unknown: std::cell::Cell<u64>,
}

impl Addresses {
    /// A buffer or acceleration structure of `size` bytes that was at `captured` is at `live` now.
    pub fn insert(&mut self, captured: u64, live: u64, size: u64) {
        if captured == 0 || live == 0 {
            return;
        }
        self.changed = true;
        self.remove(captured);
        self.moved += usize::from(captured != live);
        self.ranges.insert(captured, (live, size.max(1)));
    }
    /// The object whose captured address this was is gone.
    pub fn remove(&mut self, captured: u64) {
        if let Some((live, _)) = self.ranges.remove(&captured) {
            self.moved -= usize::from(captured != live);
        }
    }
    /// Every range is where it was.
    pub fn nothing_moved(&self) -> bool {
        self.moved == 0
    }
    /// Below and above every captured address there is something to look up about; none if there is nothing.
    pub fn bounds(&self) -> Option<(u64, u64)> {
        let (low, _) = self.ranges.first_key_value().filter(|_| self.moved != 0)?;
        let (last, (_, size)) = self.ranges.last_key_value()?;
        Some((*low, last.saturating_add(*size)))
    }
    /// Where a captured address is now, if that is known.
    pub fn known(&self, captured: u64) -> Option<u64> {
        let (&base, &(live, size)) = self.ranges.range(..=captured).next_back()?;
        (captured - base < size).then(|| live.saturating_add(captured - base))
    }
    /// Every range: (captured, size, live), sorted by the first.
    pub fn ranges(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.ranges.iter().map(|(c, (l, s))| (*c, *s, *l))
    }
    /// Bytes from a captured address to the end of what it lies in; 0 if that is unknown.
    pub fn left(&self, captured: u64) -> u64 {
        match self.ranges.range(..=captured).next_back() {
            Some((&base, &(_, size))) if captured - base < size => size - (captured - base),
            _ => 0,
        }
    }
    /// Bytes from an address of this driver to the end of what it lies in; 0 if it lies in nothing known.
    pub fn room(&self, live: u64) -> u64 {
        let of = |(base, size): &(u64, u64)| live.checked_sub(*base).and_then(|at| size.checked_sub(at));
        self.ranges.values().filter_map(of).max().unwrap_or(0)
    }
    /// Where a captured address is now; itself if nothing is known about it.
    pub fn map(&self, captured: u64) -> u64 {
        if self.moved == 0 && !self.ranges.is_empty() {
            return captured;
        }
        self.known(captured).unwrap_or_else(|| {
            tracing::debug!("address {captured:#x} lies in no known buffer");
            self.unknown.set(self.unknown.get() + 1);
            captured
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_looked_up_where_nothing_moved() {
        let mut a = Addresses::default();
        assert_eq!(a.bounds(), None);
        a.insert(0x1000, 0x1000, 0x100);
        assert_eq!(a.bounds(), None);
        a.insert(0x2000, 0x3000, 0x100);
        assert_eq!(a.bounds(), Some((0x1000, 0x2100)));
    }

    #[test]
    fn interior_pointers_follow_their_range() {
        let mut a = Addresses::default();
        a.insert(0x1000, 0x9000, 0x100);
        a.insert(0x2000, 0x2000, 0x10);
        assert_eq!(a.map(0x10FF), 0x90FF);
        assert_eq!(a.map(0x1100), 0x1100);
        assert_eq!(a.unknown.get(), 1);
        assert_eq!(a.map(0x200F), 0x200F);
        assert_eq!(
            [0x9000, 0x90F0, 0x9100, 0x8FFF, 0x2001, u64::MAX].map(|l| a.room(l)),
            [0x100, 0x10, 0, 0, 0xF, 0]
        );
        assert_eq!(a.known(0x1100), None);
        assert_eq!(a.bounds(), Some((0x1000, 0x2010)));
    }
}

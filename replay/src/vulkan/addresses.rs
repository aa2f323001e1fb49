//! Device addresses: captured -> live, interior pointers too.

use world::ranges::Ranges;

/// Ranges of captured addresses and where they are now.
#[derive(Default)]
pub struct Addresses {
    /// Of captured addresses, by whose they are: where each begins now, and its size.
    ranges: Ranges<(u64, u64)>,
    /// How many ranges are not where they were; nothing is to look up where none is.
    moved: usize,
    /// Something was added since whoever mirrors this looked last.
    pub changed: bool,
    /// Addresses that fell into no known range and were passed on as they are.
    pub unknown: std::cell::Cell<u64>,
}

impl Addresses {
    /// A buffer of `size` bytes that was at `captured` is at `live` now.
    pub fn insert(&mut self, captured: u64, buffer: u64, live: u64, size: u64) {
        if captured == 0 || live == 0 {
            return;
        }
        self.changed = true;
        self.moved += usize::from(captured != live);
        let size = size.max(1);
        let before = self.ranges.insert(captured, buffer, size, (live, size));
        self.moved -= usize::from(before.is_some_and(|b| b.0 != captured));
    }
    /// The buffer whose captured address this was is gone.
    pub fn remove(&mut self, captured: u64, buffer: u64) {
        let before = self.ranges.remove(captured, buffer);
        self.moved -= usize::from(before.is_some_and(|b| b.0 != captured));
    }
    /// Every range is where it was.
    pub fn nothing_moved(&self) -> bool {
        self.moved == 0
    }
    /// Below and above every captured address there is something to look up about; none if there is nothing.
    pub fn bounds(&self) -> Option<(u64, u64)> {
        self.ranges.bounds().filter(|_| self.moved != 0)
    }
    /// Where a captured address is now, if that is known.
    pub fn known(&self, captured: u64) -> Option<u64> {
        self.ranges.at(captured).map(|(_, at, _, (live, _))| live.saturating_add(at))
    }
    /// Whether this buffer's address is known.
    pub fn has(&self, captured: u64, buffer: u64) -> bool {
        self.ranges.has(captured, buffer)
    }
    /// Where every captured address is now: (captured, size, live) of ranges that do not overlap, sorted by the first.
    pub fn segments(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.ranges
            .segments()
            .map(|(captured, size, at, (live, _))| (captured, size, live.saturating_add(at)))
    }
    /// Bytes from a captured address to the end of what it lies in; 0 if that is unknown.
    pub fn left(&self, captured: u64) -> u64 {
        self.ranges.at(captured).map_or(0, |a| a.2)
    }
    /// Bytes from an address of this driver to the end of what it lies in; 0 if it lies in nothing known.
    pub fn room(&self, live: u64) -> u64 {
        let of = |(base, size): &(u64, u64)| live.checked_sub(*base).and_then(|at| size.checked_sub(at));
        self.ranges.all().filter_map(|(_, r)| of(r)).max().unwrap_or(0)
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
        a.insert(0x1000, 1, 0x1000, 0x100);
        assert_eq!(a.bounds(), None);
        a.insert(0x2000, 2, 0x3000, 0x100);
        assert_eq!(a.bounds(), Some((0x1000, 0x2100)));
    }

    #[test]
    fn interior_pointers_follow_their_range() {
        let mut a = Addresses::default();
        a.insert(0x1000, 1, 0x9000, 0x100);
        a.insert(0x2000, 2, 0x2000, 0x10);
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

    #[test]
    fn an_address_behind_a_small_buffer_in_a_large_one_is_the_large_one_s() {
        let mut a = Addresses::default();
        a.insert(0x1000, 1, 0x9000, 0x100);
        a.insert(0x1010, 2, 0xA010, 0x10);
        assert_eq!([0x1018, 0x1020, 0x10FF].map(|c| a.known(c)), [Some(0xA018), Some(0x9020), Some(0x90FF)]);
        assert_eq!(a.left(0x1020), 0xE0);
        let segments = [(0x1000, 0x10, 0x9000), (0x1010, 0x10, 0xA010), (0x1020, 0xE0, 0x9020)];
        assert_eq!(a.segments().collect::<Vec<_>>(), segments);
        a.remove(0x1010, 2);
        assert_eq!(a.known(0x1018), Some(0x9018));
        a.remove(0x1000, 1);
        assert!(a.known(0x1018).is_none() && a.nothing_moved());
    }
}

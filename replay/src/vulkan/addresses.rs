//! Device addresses: captured -> live, interior pointers too.

use std::collections::VecDeque;
use world::ranges::Ranges;

/// Destroyed objects whose addresses are remembered: a fault that is reported late names one of the last.
const REMEMBERED: usize = 4096;

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
    /// What was destroyed last, for whoever explains a fault.
    gone: VecDeque<Gone>,
}

/// Something that had an address and was destroyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone {
    /// Its captured id.
    pub id: u64,
    /// It was an acceleration structure, not a buffer.
    pub structure: bool,
    /// Its address at capture.
    pub captured: u64,
    /// Its address here.
    pub live: u64,
    /// In bytes.
    pub size: u64,
    /// The block that destroyed it.
    pub block: u64,
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
    /// The buffer whose captured address this was is destroyed by this block.
    pub fn remove(&mut self, captured: u64, buffer: u64, block: u64) {
        let Some((live, size)) = self.ranges.remove(captured, buffer) else { return };
        self.moved -= usize::from(live != captured);
        self.forget(Gone { id: buffer, structure: false, captured, live, size, block });
    }
    /// Something that had an address is destroyed.
    pub fn forget(&mut self, gone: Gone) {
        if self.gone.len() == REMEMBERED {
            self.gone.pop_front();
        }
        self.gone.push_back(gone);
    }
    /// What was destroyed last, the latest at the end.
    pub fn gone(&self) -> impl Iterator<Item = &Gone> {
        self.gone.iter()
    }
    /// Every buffer whose address is known: its captured id, where it begins here, and its size.
    pub fn buffers(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.ranges.all().map(|(buffer, &(live, size))| (buffer, live, size))
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
        a.remove(0x1010, 2, 70);
        a.remove(0x1010, 2, 71);
        assert_eq!(a.known(0x1018), Some(0x9018));
        assert_eq!(a.buffers().collect::<Vec<_>>(), [(1, 0x9000, 0x100)]);
        a.remove(0x1000, 1, 80);
        assert!(a.known(0x1018).is_none() && a.nothing_moved());
        let gone =
            |id, captured, live, size, block| Gone { id, structure: false, captured, live, size, block };
        let both = [gone(2, 0x1010, 0xA010, 0x10, 70), gone(1, 0x1000, 0x9000, 0x100, 80)];
        assert_eq!(a.gone().copied().collect::<Vec<_>>(), both);
        (0..2 * REMEMBERED as u64).for_each(|id| a.forget(gone(id, 1, 1, 1, id)));
        assert_eq!(
            (a.gone().count(), a.gone().last().map(|g| g.id)),
            (REMEMBERED, Some(2 * REMEMBERED as u64 - 1))
        );
    }
}

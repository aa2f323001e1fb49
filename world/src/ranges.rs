//! Ranges of addresses that may lie in one another: which of them holds an address?
//!
//! Guarantees: an address that lies in any range is found, in a number of steps that grows with the logarithm of how many there
//! are; where the range that begins last before it holds it, it is that one. Several may begin at one place; each has a number
//! of its owner's by which it goes again. Refuses nothing: one that would reach beyond the last address ends there.

use std::collections::BTreeMap;

/// See the module's header.
#[derive(Clone, Debug)]
pub struct Ranges<T> {
    /// By where it begins, and whose it is.
    all: BTreeMap<(u64, u64), Range<T>>,
}

#[derive(Clone, Debug)]
struct Range<T> {
    end: u64,
    value: T,
    /// Of all that begin before it, and itself: the one that ends last, and where that is.
    last: ((u64, u64), u64),
}

impl<T> Default for Ranges<T> {
    fn default() -> Self {
        Ranges { all: BTreeMap::new() }
    }
}

impl<T> Ranges<T> {
    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
    /// The owners and values of all.
    pub fn all(&self) -> impl Iterator<Item = (u64, &T)> {
        self.all.iter().map(|(k, r)| (k.1, &r.value))
    }
    /// Where the first begins and the last ends.
    pub fn bounds(&self) -> Option<(u64, u64)> {
        let (first, (_, last)) = (self.all.first_key_value()?, self.all.last_key_value()?);
        Some((first.0.0, last.last.1))
    }
    /// Whether this owner has one that begins there.
    pub fn has(&self, start: u64, owner: u64) -> bool {
        self.all.contains_key(&(start, owner))
    }
    /// A range of `size` bytes from `start` on; in the place of one that the owner has there.
    pub fn insert(&mut self, start: u64, owner: u64, size: u64, value: T) -> Option<T> {
        let end = start.saturating_add(size);
        let old = self.all.insert((start, owner), Range { end, value, last: ((start, owner), end) });
        self.settle((start, owner));
        old.map(|r| r.value)
    }
    /// The range of this owner that begins there is gone.
    pub fn remove(&mut self, start: u64, owner: u64) -> Option<T> {
        let old = self.all.remove(&(start, owner))?;
        if let Some((&next, _)) = self.all.range((start, owner)..).next() {
            self.settle(next);
        }
        Some(old.value)
    }
    /// Finds again which ends last, from this one on until nothing changes.
    fn settle(&mut self, from: (u64, u64)) {
        let mut before = self.all.range(..from).next_back().map(|(_, r)| r.last);
        for (&key, r) in self.all.range_mut(from..) {
            let last = before.filter(|b| b.1 > r.end).unwrap_or((key, r.end));
            if r.last == last && key != from {
                break;
            }
            r.last = last;
            before = Some(last);
        }
    }
    /// The range that holds an address: its owner, how far in that is, how many bytes are left there, and the value.
    pub fn at(&self, address: u64) -> Option<(u64, u64, u64, &T)> {
        let (&near, r) = self.all.range(..=(address, u64::MAX)).next_back()?;
        let key = if address < r.end { near } else { r.last.0 };
        let r = self.all.get(&key).filter(|r| address < r.end)?;
        Some((key.1, address - key.0, r.end - address, &r.value))
    }
    /// The same for all addresses at once, in their order: (first address, bytes, how far in that is, the value).
    pub fn segments(&self) -> impl Iterator<Item = (u64, u64, u64, &T)> {
        let next = self.all.keys().skip(1).map(|k| k.0).chain([u64::MAX]);
        self.all.iter().zip(next).flat_map(|((&key, r), next)| {
            let own = (key.0, r.end.min(next), key, &r.value);
            let (holder, end) = r.last;
            let rest = (r.end, end.min(next), holder, &self.all[&holder].value);
            [own, rest].into_iter().filter(|s| s.0 < s.1).map(|(a, b, k, v)| (a, b - a, a - k.0, v))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everybody who holds an address, by looking at all.
    fn holders(all: &[(u64, u64, u64)], address: u64) -> Vec<(u64, u64)> {
        let holds = |r: &&(u64, u64, u64)| (r.0..r.0 + r.2).contains(&address);
        all.iter().filter(holds).map(|r| (r.1, address - r.0)).collect()
    }

    fn agrees(r: &Ranges<u64>, all: &[(u64, u64, u64)]) {
        let segments: Vec<_> = r.segments().collect();
        assert!(segments.is_sorted_by(|a, b| a.0 + a.1 <= b.0), "{segments:?}");
        for address in 0..70 {
            let held = holders(all, address);
            let at = r.at(address).map(|a| (a.0, a.1));
            assert_eq!(at.is_some(), !held.is_empty(), "{address}: {all:?}");
            assert!(at.is_none_or(|a| held.contains(&a)), "{address}: {at:?} of {held:?}");
            let segment = segments.iter().find(|s| (s.0..s.0 + s.1).contains(&address));
            assert_eq!(segment.map(|s| (*s.3, address - s.0 + s.2)), at, "{address}: {all:?}");
        }
    }

    #[test]
    fn an_address_behind_a_small_range_in_a_large_one_lies_in_the_large_one() {
        let mut r = Ranges::default();
        r.insert(10, 1, 50, 1);
        for (owner, start) in (2..).zip([12, 14, 16, 18]) {
            r.insert(start, owner, 1, owner);
        }
        assert_eq!(r.at(18).map(|a| (a.0, a.1, a.2)), Some((5, 0, 1)), "the nearest one");
        assert_eq!(r.at(59).map(|a| (a.0, a.1, a.2)), Some((1, 49, 1)));
        assert_eq!(r.at(60), None);
        assert_eq!(r.bounds(), Some((10, 60)));
    }

    #[test]
    fn ranges_come_and_go_in_any_order() {
        // (a small generator: what it makes is the same in each run)
        let mut seed = 7u64;
        let mut random = |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % n
        };
        let (mut r, mut all) = (Ranges::default(), Vec::new());
        for owner in 0..400 {
            if random(5) < 2 && !all.is_empty() {
                let (start, owner, _) = all.swap_remove(random(all.len() as u64) as usize);
                assert_eq!(r.remove(start, owner), Some(owner));
                assert_eq!(r.remove(start, owner), None);
            } else {
                let (start, size) = (random(50), 1 + random(1 + owner % 20));
                r.insert(start, owner, size, owner);
                all.push((start, owner, size));
            }
            agrees(&r, &all);
        }
        assert_eq!(r.insert(all[0].0, all[0].1, 3, 9), Some(all[0].1), "again");
    }
}

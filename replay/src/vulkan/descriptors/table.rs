//! Descriptors by their bytes: what each was at capture and what it is here, and where such bytes lie in data.
//!
//! Guarantees: matches do not overlap, and of two descriptors that begin at the same byte the longer one is found.
//! Null descriptors (zeros) are no bytes to look for. All that differ are kept until the end: a page that is written again
//! brings old ones again.

use std::collections::HashMap;
use std::ops::Range;

/// Descriptors of fewer bytes may be any numbers: they are looked for in descriptor buffers only.
pub(crate) const TELLING: usize = 16;

/// Descriptors begin at multiples of this.
const ALIGN: usize = 4;

/// First words that are looked for, by a hash of so many bits.
const HEAD_BITS: u32 = 16;

/// A part of written data that is to be other bytes.
pub(crate) type Piece = (Range<usize>, Vec<u8>);

/// See the module's header.
pub(crate) struct Table {
    live: HashMap<Box<[u8]>, Box<[u8]>>,
    /// Their sizes, largest first.
    sizes: Vec<usize>,
    /// One bit for each hash of a first word, so that most words are passed over without a look-up.
    heads: Vec<u64>,
}

impl Default for Table {
    fn default() -> Self {
        Table {
            live: HashMap::new(),
            sizes: Vec::new(),
            heads: vec![0; 1 << (HEAD_BITS - u64::BITS.trailing_zeros())],
        }
    }
}

fn head(bytes: &[u8]) -> Option<usize> {
    let word = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
    Some((word.wrapping_mul(0x9E37_79B1) >> (32 - HEAD_BITS)) as usize)
}

impl Table {
    /// The driver says `live` to what it answered `captured` at capture. What it said last counts.
    pub(crate) fn insert(&mut self, captured: &[u8], live: &[u8]) {
        if captured == live || captured.iter().all(|b| *b == 0) {
            self.live.remove(captured);
            return;
        }
        let Some(h) = head(captured) else { return };
        self.heads[h / 64] |= 1 << (h % 64);
        if let Err(at) = self.sizes.binary_search_by(|n| captured.len().cmp(n)) {
            self.sizes.insert(at, captured.len());
        }
        self.live.insert(captured.into(), live.into());
    }

    /// Every descriptor is what it was.
    pub(crate) fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    /// Bytes of the largest.
    pub(crate) fn largest(&self) -> usize {
        self.sizes.first().copied().unwrap_or(0)
    }

    /// Some are too small to be told from other data.
    pub(crate) fn any_small(&self) -> bool {
        self.sizes.last().is_some_and(|n| *n < TELLING)
    }

    /// Descriptors of at least `least` bytes in `data`, whose first byte is `at` bytes into a buffer: where they lie in
    /// it, and what is to lie there.
    pub(crate) fn find(&self, at: u64, data: &[u8], least: usize) -> Vec<(Range<usize>, &[u8])> {
        let mut found = Vec::new();
        let mut place = (at.next_multiple_of(ALIGN as u64) - at) as usize;
        while let Some(h) = data.get(place..).and_then(head) {
            let hit =
                if self.heads[h / 64] >> (h % 64) & 1 != 0 { self.at(&data[place..], least) } else { None };
            if let Some(live) = hit {
                found.push((place..place + live.len(), live));
                place += live.len().next_multiple_of(ALIGN);
            } else {
                place += ALIGN;
            }
        }
        found
    }

    /// The host writes `data` at byte `from` of a descriptor buffer of which `shadow` is what it wrote before: what of the
    /// data is to be other bytes, and what is to be other bytes around it, where descriptors lie that it ends or begins.
    pub(crate) fn rewritten(
        &self,
        shadow: &mut Vec<u8>,
        from: usize,
        data: &[u8],
    ) -> (Vec<Piece>, Vec<(usize, Vec<u8>)>) {
        let to = from + data.len();
        shadow.resize(shadow.len().max(to), 0);
        shadow[from..to].copy_from_slice(data);
        let reach = self.largest().saturating_sub(1);
        let window = from.saturating_sub(reach)..(to + reach).min(shadow.len());
        let (mut inside, mut outside) = (Vec::new(), Vec::new());
        for (at, live) in self.find(window.start as u64, &shadow[window.clone()], 0) {
            let at = at.start + window.start..at.end + window.start;
            let (a, b) = (at.start.max(from), at.end.min(to));
            if a >= b {
                continue;
            }
            inside.push((a - from..b - from, live[a - at.start..b - at.start].to_vec()));
            outside.push((at.start, live[..a - at.start].to_vec()));
            outside.push((b, live[b - at.start..].to_vec()));
        }
        outside.retain(|o| !o.1.is_empty());
        (inside, outside)
    }

    fn at(&self, data: &[u8], least: usize) -> Option<&[u8]> {
        let sizes = self.sizes.iter().filter(|n| **n >= least);
        sizes.filter_map(|n| data.get(..*n)).find_map(|d| self.live.get(d)).map(|live| &live[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(t: &Table, at: u64, data: &[u8], least: usize) -> Vec<(Range<usize>, u8)> {
        t.find(at, data, least).into_iter().map(|(r, live)| (r, live[0])).collect()
    }

    #[test]
    fn the_longest_is_found_where_it_is_aligned() {
        let mut t = Table::default();
        t.insert(&[7; 16], &[1; 16]);
        t.insert(&[7; 4], &[2; 4]);
        let mut data = vec![7u8; 16];
        data.extend([0, 0, 0, 0, 7, 7, 7, 7, 0, 7, 7, 7, 7]);
        assert_eq!(places(&t, 0, &data, 0), [(0..16, 1), (20..24, 2)]);
        assert_eq!(places(&t, 0, &data, TELLING), [(0..16, 1)]);
        assert_eq!(places(&t, 2, &data, 0), [(2..6, 2), (6..10, 2), (10..14, 2)], "aligned in the buffer");
        assert_eq!(places(&t, 3, &data, 0)[3], (25..29, 2));
        assert!(t.any_small() && t.largest() == 16);
    }

    #[test]
    fn a_descriptor_that_two_writes_make_is_found() {
        let mut t = Table::default();
        let captured: Vec<u8> = (1..=16).collect();
        let live: Vec<u8> = (101..=116).collect();
        t.insert(&captured, &live);
        let mut shadow = Vec::new();
        // Its first half: nothing yet; a page's end.
        assert_eq!(t.rewritten(&mut shadow, 0, &[&[9; 8], &captured[..8]].concat()), (vec![], vec![]));
        // Its second half: both halves are other bytes now.
        let (inside, outside) = t.rewritten(&mut shadow, 16, &[&captured[8..], &[9; 8]].concat());
        assert_eq!(inside, [(0..8, live[8..].to_vec())]);
        assert_eq!(outside, [(8, live[..8].to_vec())]);
        // What lies beside a write and is whole stays as it is.
        assert_eq!(t.rewritten(&mut shadow, 24, &[9; 8]), (vec![], vec![]));
        // Written whole.
        let (inside, outside) = t.rewritten(&mut shadow, 4, &[&[9; 4], &captured[..]].concat());
        assert_eq!((inside, outside), (vec![(4..20, live)], vec![]));
    }

    #[test]
    fn what_the_driver_said_last_counts() {
        let mut t = Table::default();
        t.insert(&[7; 16], &[1; 16]);
        t.insert(&[7; 16], &[2; 16]);
        assert_eq!(places(&t, 0, &[7; 20], 0), [(0..16, 2)]);
        t.insert(&[7; 16], &[7; 16]);
        assert!(t.is_empty() && places(&t, 0, &[7; 20], 0).is_empty());
        t.insert(&[0; 16], &[3; 16]);
        assert!(t.is_empty(), "zeros are everywhere");
    }
}

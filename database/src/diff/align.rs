//! Aligning two sequences: a longest common subsequence of their keys.
//!
//! What both begin and end with is set aside first. What is left is cut at keys that occur once on either side and in the same
//! order; what lies between is given to Myers' algorithm (crate `similar`), or, where it is longer than [`MOST`], is matched from front
//! to back, which finds less: [`Aligned::coarse`] says so. Guarantees: pairs go up on both sides, and their keys are equal. The same
//! sequences give the same pairs. Refuses nothing.

use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::HashMap;
use std::ops::Range;

/// Elements of both sides together that Myers' algorithm is given.
pub const MOST: usize = 8192;

/// What came of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Aligned {
    /// Places of equal keys.
    pub pairs: Vec<(usize, usize)>,
    /// A part was too long to be aligned well.
    pub coarse: bool,
}

/// Aligns two sequences of keys.
pub fn align(a: &[u64], b: &[u64]) -> Aligned {
    let mut found = Aligned::default();
    within(a, b, (0, 0), &mut found, true);
    found
}

fn within(a: &[u64], b: &[u64], at: (usize, usize), found: &mut Aligned, anchored: bool) {
    let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    found.pairs.extend((0..head).map(|i| (at.0 + i, at.1 + i)));
    let (a, b, at) = (&a[head..], &b[head..], (at.0 + head, at.1 + head));
    let tail = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let (inner_a, inner_b) = (&a[..a.len() - tail], &b[..b.len() - tail]);
    if !inner_a.is_empty() && !inner_b.is_empty() {
        middle(inner_a, inner_b, at, found, anchored);
    }
    found.pairs.extend((0..tail).map(|i| (at.0 + a.len() - tail + i, at.1 + b.len() - tail + i)));
}

fn middle(a: &[u64], b: &[u64], at: (usize, usize), found: &mut Aligned, anchored: bool) {
    if a.len() + b.len() <= MOST {
        for op in capture_diff_slices(Algorithm::Myers, a, b) {
            if let DiffOp::Equal { old_index, new_index, len } = op {
                found.pairs.extend((0..len).map(|i| (at.0 + old_index + i, at.1 + new_index + i)));
            }
        }
        return;
    }
    let anchors = if anchored { anchors(a, b) } else { vec![] };
    if anchors.is_empty() {
        found.coarse = true;
        return greedy(a, b, at, found);
    }
    let mut from = (0, 0);
    for (i, j) in anchors.into_iter().chain([(a.len(), b.len())]) {
        within(&a[from.0..i], &b[from.1..j], (at.0 + from.0, at.1 + from.1), found, false);
        if i < a.len() {
            found.pairs.push((at.0 + i, at.1 + j));
        }
        from = ((i + 1).min(a.len()), (j + 1).min(b.len()));
    }
}

/// Keys that occur once on either side: the longest list of them that goes up on both.
fn anchors(a: &[u64], b: &[u64]) -> Vec<(usize, usize)> {
    let mut seen: HashMap<u64, ([usize; 2], [usize; 2])> = HashMap::new();
    for (side, keys) in [a, b].into_iter().enumerate() {
        for (i, key) in keys.iter().enumerate() {
            let (times, place) = seen.entry(*key).or_default();
            times[side] += 1;
            place[side] = i;
        }
    }
    let once = seen.into_values().filter(|(times, _)| *times == [1, 1]).map(|(_, p)| (p[0], p[1]));
    let mut all: Vec<(usize, usize)> = once.collect();
    all.sort_unstable();
    // The longest increasing subsequence: piles by their last element, with the way back.
    let (mut piles, mut back): (Vec<usize>, Vec<Option<usize>>) = (vec![], vec![]);
    for (n, (_, j)) in all.iter().enumerate() {
        let pile = piles.partition_point(|p| all[*p].1 < *j);
        back.push(pile.checked_sub(1).map(|p| piles[p]));
        if pile == piles.len() { piles.push(n) } else { piles[pile] = n }
    }
    let mut chosen = vec![];
    let mut next = piles.last().copied();
    while let Some(n) = next {
        chosen.push(all[n]);
        next = back[n];
    }
    chosen.reverse();
    chosen
}

/// From front to back: each key with the next of its kind on the other side, if that is not far.
fn greedy(a: &[u64], b: &[u64], at: (usize, usize), found: &mut Aligned) {
    const FAR: usize = 4096;
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    for (j, key) in b.iter().enumerate() {
        places.entry(*key).or_default().push(j);
    }
    let mut from = 0;
    for (i, key) in a.iter().enumerate() {
        let Some(all) = places.get(key) else { continue };
        let Some(&j) = all.get(all.partition_point(|j| *j < from)) else { continue };
        if j - from <= FAR {
            found.pairs.push((at.0 + i, at.1 + j));
            from = j + 1;
        }
    }
}

/// What lies between pairs, where there is something.
pub fn gaps(pairs: &[(usize, usize)], a: usize, b: usize) -> Vec<(Range<usize>, Range<usize>)> {
    let mut from = (0, 0);
    let mut all = vec![];
    for &(i, j) in pairs.iter().chain(&[(a, b)]) {
        if i > from.0 || j > from.1 {
            all.push((from.0..i, from.1..j));
        }
        from = (i + 1, j + 1);
    }
    all
}

/// Aligns by the first keys, what is left between by the second, and so on. A key of 0 is none. Gives the pairs, each with which
/// keys found it.
pub fn by_tiers(a: &[Vec<u64>], b: &[Vec<u64>]) -> (Vec<(usize, usize, usize)>, bool) {
    let (mut pairs, mut coarse): (Vec<(usize, usize, usize)>, bool) = (vec![], false);
    let (Some(first), Some(_)) = (a.first(), b.first()) else { return (pairs, false) };
    for tier in 0..first.len() {
        let plain: Vec<(usize, usize)> = pairs.iter().map(|p| (p.0, p.1)).collect();
        for (ra, rb) in gaps(&plain, a.len(), b.len()) {
            if ra.is_empty() || rb.is_empty() {
                continue;
            }
            let of = |all: &[Vec<u64>], r: Range<usize>| -> Vec<(usize, u64)> {
                r.filter(|i| all[*i][tier] != 0).map(|i| (i, all[i][tier])).collect()
            };
            let (ka, kb) = (of(a, ra), of(b, rb));
            let keys = |of: &[(usize, u64)]| -> Vec<u64> { of.iter().map(|k| k.1).collect() };
            let found = align(&keys(&ka), &keys(&kb));
            coarse |= found.coarse;
            pairs.extend(found.pairs.iter().map(|(i, j)| (ka[*i].0, kb[*j].0, tier)));
        }
        pairs.sort_unstable();
    }
    (pairs, coarse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_equal_is_paired_and_the_rest_lies_between() {
        let found = align(&[1, 2, 3, 4, 5], &[1, 3, 9, 4, 5]);
        assert_eq!(found.pairs, [(0, 0), (2, 1), (3, 3), (4, 4)]);
        assert_eq!(gaps(&found.pairs, 5, 5), [(1..2, 1..1), (3..3, 2..3)]);
        assert_eq!(gaps(&[], 0, 2), [(0..0, 0..2)]);
    }

    #[test]
    fn long_sequences_are_aligned_by_what_occurs_once() {
        let a: Vec<u64> = (0..100_000).collect();
        let mut b = a.clone();
        _ = b.remove(500);
        b.insert(70_000, 1 << 40);
        b[99_000] = 1 << 41;
        let found = align(&a, &b);
        assert_eq!((found.pairs.len(), found.coarse), (99_998, false));
        assert!(found.pairs.iter().all(|(i, j)| a[*i] == b[*j]) && found.pairs.is_sorted());
    }

    #[test]
    fn long_sequences_of_few_keys_are_aligned_coarsely() {
        let a: Vec<u64> = (0..40_000).map(|i| i * i % 7).collect();
        let mut b: Vec<u64> = a.iter().rev().copied().collect();
        b.push(99);
        let found = align(&a, &b);
        assert!(found.coarse && !found.pairs.is_empty());
        assert!(found.pairs.iter().all(|(i, j)| a[*i] == b[*j]));
        assert!(found.pairs.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 < w[1].1));
    }

    #[test]
    fn later_keys_pair_what_earlier_ones_left() {
        let a = [vec![1, 10], vec![2, 20], vec![3, 0]];
        let b = [vec![1, 10], vec![7, 20], vec![8, 0]];
        assert_eq!(by_tiers(&a, &b), (vec![(0, 0, 0), (1, 1, 1)], false));
    }
}

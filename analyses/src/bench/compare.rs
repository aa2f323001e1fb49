//! Two samples of times beside each other: how much longer, how sure that is, and how often one is longer than the other.
//!
//! *Change*: the one's mean (or median) over the other's, less 1, in percent. Its *interval* is the 2.5th to the 97.5th
//! percentile of the changes of [`RESAMPLES`] samples of as many rounds, drawn with replacement; both take their times of the
//! rounds drawn, so that what hit a round hit both.
//!
//! *Mann–Whitney p*: two-sided, by the normal approximation with corrections for ties and continuity; how likely ranks as far
//! apart would be if both came of one distribution. *Cliff's delta*: P(one longer) − P(other longer) over all pairs, from −1 to
//! 1; above 0 the first is the longer one.

use crate::loop_times::stats::{RESAMPLES, Random, rank};
use crate::verdict::Ranked;

/// What is said of a plan against another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Change of the mean, in percent, and its interval.
    pub mean: (f64, [f64; 2]),
    /// Change of the median.
    pub median: (f64, [f64; 2]),
    /// Mann–Whitney's.
    pub p: f64,
    /// Cliff's.
    pub delta: f64,
}

/// Of one plan's times against another's, by round; rounds that lack one are left out. None of no rounds.
pub fn compare(one: &[Option<u64>], other: &[Option<u64>], seed: u64) -> Option<Comparison> {
    let pairs: Vec<(u64, u64)> = one.iter().zip(other).filter_map(|(a, b)| Some(((*a)?, (*b)?))).collect();
    if pairs.is_empty() {
        return None;
    }
    let n = pairs.len();
    let change = |a: f64, b: f64| if b > 0.0 { 100.0 * (a / b - 1.0) } else { 0.0 };
    let (mut left, mut right): (Vec<u64>, Vec<u64>) = pairs.iter().copied().unzip();
    let means = |l: &[u64], r: &[u64]| {
        let sum = |v: &[u64]| v.iter().map(|v| u128::from(*v)).sum::<u128>() as f64;
        change(sum(l), sum(r))
    };
    let medians = |l: &mut [u64], r: &mut [u64]| {
        let middle = rank(n, 50.0);
        change(*l.select_nth_unstable(middle).1 as f64, *r.select_nth_unstable(middle).1 as f64)
    };
    let mean = means(&left, &right);
    let (p, delta) = ranks(&left, &right);
    let median = medians(&mut left, &mut right);
    let mut random = Random::new(seed);
    let (mut of_means, mut of_medians) = (Vec::with_capacity(RESAMPLES), Vec::with_capacity(RESAMPLES));
    for _ in 0..RESAMPLES {
        for (l, r) in left.iter_mut().zip(&mut right) {
            (*l, *r) = pairs[random.below(n)];
        }
        of_means.push(means(&left, &right));
        of_medians.push(medians(&mut left, &mut right));
    }
    let interval = |mut all: Vec<f64>| {
        all.sort_by(f64::total_cmp);
        [all[rank(RESAMPLES, 2.5)], all[rank(RESAMPLES, 97.5)]]
    };
    Some(Comparison { mean: (mean, interval(of_means)), median: (median, interval(of_medians)), p, delta })
}

/// Mann–Whitney's p and Cliff's delta.
fn ranks(one: &[u64], other: &[u64]) -> (f64, f64) {
    let of = |v: &[u64]| v.iter().map(|v| *v as f64).collect::<Vec<_>>();
    let ranked = Ranked::new(&of(one), &of(other));
    (ranked.normal_p(), ranked.delta())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(values: impl IntoIterator<Item = u64>) -> Vec<Option<u64>> {
        values.into_iter().map(Some).collect()
    }

    #[test]
    fn ranks_by_hand() {
        // 1 2 3 against 4 5 6: U = 0, delta −1; z = (4.5 − 0.5) / √5.25 = 1.7457, p = 0.0809.
        let (p, delta) = ranks(&[1, 2, 3], &[4, 5, 6]);
        assert!((p - 0.0809).abs() < 1e-4 && delta == -1.0, "{p} {delta}");
        assert_eq!(ranks(&[4, 5, 6], &[1, 2, 3]).1, 1.0);
        // All alike: nothing is longer.
        assert_eq!(ranks(&[7, 7], &[7, 7]), (1.0, 0.0));
        // With ties: 1 2 2 against 2 3: ranks 1, 3, 3 and 3, 5; U = 7 − 6 = 1, delta = 2/6 − 1.
        assert!((ranks(&[1, 2, 2], &[2, 3]).1 + 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn changes_and_their_intervals() {
        let base: Vec<u64> = (0..400).map(|n| 1_000_000 + n * 7919 % 1000).collect();
        let slower = base.iter().map(|v| v + v / 4);
        let c = compare(&some(slower.clone()), &some(base.clone()), 1).expect("rounds");
        assert!((c.mean.0 - 25.0).abs() < 1e-3 && (c.median.0 - 25.0).abs() < 1e-3, "{c:?}");
        // Each round is slower by as much: whatever rounds are drawn.
        assert!(c.mean.1.iter().all(|m| (m - 25.0).abs() < 1e-3), "{c:?}");
        assert!(c.p < 1e-100 && c.delta == 1.0, "{c:?}");
        let same = compare(&some(base.clone()), &some(base.clone()), 1).expect("rounds");
        assert_eq!((same.mean.0, same.median.0, same.delta), (0.0, 0.0, 0.0));
        assert!(same.p > 0.99, "{same:?}");
        // The rounds in another order against each other: the interval holds the change, and the seed decides it.
        let moved: Vec<u64> = base.iter().rev().copied().collect();
        let [a, b] =
            [1, 1].map(|seed| compare(&some(moved.clone()), &some(base.clone()), seed).expect("rounds"));
        assert_eq!(a, b);
        assert!(a.mean.1[0] < 0.0 && a.mean.1[1] > 0.0, "{a:?}");
        assert_ne!(a, compare(&some(moved), &some(base), 2).expect("rounds"));
    }

    #[test]
    fn rounds_that_lack_a_time_are_left_out() {
        let c = compare(&[Some(2), None, Some(4)], &[Some(1), Some(9), None], 0).expect("one round");
        assert_eq!((c.mean.0, c.median.0), (100.0, 100.0));
        assert_eq!(compare(&[None], &[Some(1)], 0), None);
    }
}

//! Two samples of times beside each other: how much longer, how sure that is, and how often one is longer than the other.
//!
//! *Change*: the one's mean (or median) over the other's, less 1, in percent. Its *interval* is the 2.5th to the 97.5th
//! percentile of the changes of [`RESAMPLES`] samples of as many rounds, drawn with replacement; both take their times of the
//! rounds drawn, so that what hit a round hit both.
//!
//! *Mann–Whitney p*: two-sided, by the normal approximation with corrections for ties and continuity; how likely ranks as far
//! apart would be if both came of one distribution. *Cliff's delta*: P(one longer) − P(other longer) over all pairs, from −1 to
//! 1; above 0 the first is the longer one.

use crate::stats::percentiles::{RESAMPLES, interval};
use crate::stats::{Ranked, percentile_of};
use oorandom::Rand64;

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
    let both = |(a, b): (&Option<u64>, &Option<u64>)| Some(((*a)? as f64, (*b)? as f64));
    let pairs: Vec<(f64, f64)> = one.iter().zip(other).filter_map(both).collect();
    if pairs.is_empty() {
        return None;
    }
    let n = pairs.len();
    let change = |a: f64, b: f64| if b > 0.0 { 100.0 * (a / b - 1.0) } else { 0.0 };
    let (mut left, mut right): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let means = |l: &[f64], r: &[f64]| change(l.iter().sum(), r.iter().sum());
    let medians = |l: &mut [f64], r: &mut [f64]| {
        let of = |v: &mut [f64]| percentile_of(v, 50.0).unwrap_or(f64::NAN);
        change(of(l), of(r))
    };
    let mean = means(&left, &right);
    let ranked = Ranked::new(&left, &right);
    let median = medians(&mut left, &mut right);
    let mut random = Rand64::new(seed.into());
    let (mut of_means, mut of_medians) = (Vec::with_capacity(RESAMPLES), Vec::with_capacity(RESAMPLES));
    for _ in 0..RESAMPLES {
        for (l, r) in left.iter_mut().zip(&mut right) {
            (*l, *r) = pairs[random.rand_range(0..n as u64) as usize];
        }
        of_means.push(means(&left, &right));
        of_medians.push(medians(&mut left, &mut right));
    }
    let (mean, median) = ((mean, interval(of_means)), (median, interval(of_medians)));
    Some(Comparison { mean, median, p: ranked.p(), delta: ranked.delta() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(values: impl IntoIterator<Item = u64>) -> Vec<Option<u64>> {
        values.into_iter().map(Some).collect()
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

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
    let (n, m) = (one.len() as f64, other.len() as f64);
    let mut all: Vec<(u64, bool)> =
        one.iter().map(|v| (*v, true)).chain(other.iter().map(|v| (*v, false))).collect();
    all.sort_unstable();
    let (mut sum, mut ties, mut at) = (0.0, 0.0, 0);
    while at < all.len() {
        let end = at + all[at..].iter().take_while(|v| v.0 == all[at].0).count();
        let equal = (end - at) as f64;
        // Equals share the mean of their ranks, which count from 1.
        let rank = (at + 1 + end) as f64 / 2.0;
        sum += rank * all[at..end].iter().filter(|v| v.1).count() as f64;
        ties += equal * equal * equal - equal;
        at = end;
    }
    let u = sum - n * (n + 1.0) / 2.0;
    let delta = 2.0 * u / (n * m) - 1.0;
    let whole = n + m;
    let variance = n * m / 12.0 * (whole + 1.0 - ties / (whole * (whole - 1.0)));
    if variance <= 0.0 || variance.is_nan() {
        return (1.0, delta);
    }
    let z = ((u - n * m / 2.0).abs() - 0.5).max(0.0) / variance.sqrt();
    (erfc(z / std::f64::consts::SQRT_2).min(1.0), delta)
}

/// The complementary error function of a number that is not negative, to about seven digits: its series where that
/// converges fast, else its continued fraction, from the end.
fn erfc(x: f64) -> f64 {
    if x < 2.0 {
        let (mut term, mut sum) = (x, x);
        for n in 1..60 {
            term *= -x * x / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        return 1.0 - sum * std::f64::consts::FRAC_2_SQRT_PI;
    }
    let mut fraction = 0.0;
    for n in (1..=60).rev() {
        fraction = f64::from(n) / 2.0 / (x + fraction);
    }
    (-x * x).exp() / ((x + fraction) * std::f64::consts::PI.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(values: impl IntoIterator<Item = u64>) -> Vec<Option<u64>> {
        values.into_iter().map(Some).collect()
    }

    #[test]
    fn the_error_function_is_that_of_the_tables() {
        for (x, expected) in [
            (0.0, 1.0),
            (0.5, 0.479_500_122),
            (1.0, 0.157_299_207),
            (1.999, 4.698_41e-3),
            (2.0, 4.677_734_98e-3),
            (3.0, 2.209_049_7e-5),
            (5.0, 1.537_459_79e-12),
        ] {
            let e = erfc(x);
            assert!(
                (e / expected - 1.0).abs() < 2e-4_f64.min(1e-4 * (1.0 + x)),
                "erfc {x}: {e} for {expected}"
            );
        }
        assert_eq!(erfc(40.0), 0.0);
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

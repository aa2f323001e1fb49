//! Percentiles, mean and deviation, exact: no buckets. Definitions: the module above.
//!
//! *The interval of a median* at 95 % is drawn: the 2.5th and 97.5th percentile of the medians of [`RESAMPLES`] samples of n, drawn
//! with replacement. It takes values for independent, and describes.

use oorandom::Rand64;

/// Samples that are drawn.
pub const RESAMPLES: usize = 2000;

/// The places, from 0, of the two among `n` values in order whose mean is the percentile; mostly they are one.
pub fn places(n: usize, p: f64) -> (usize, usize) {
    let last = n.max(1) - 1;
    let rank = n as f64 * p / 100.0;
    // (ranks are counted from 1, places from 0)
    let low = (rank.ceil() as usize).saturating_sub(1).min(last);
    (low, (rank.floor() as usize).min(last).max(low))
}

/// Of values in order; none of nothing.
pub fn percentile(sorted: &[f64], p: f64) -> Option<f64> {
    let (low, high) = places(sorted.len(), p);
    Some(sorted.get(low)?.midpoint(*sorted.get(high)?))
}

/// Of values in any order, which may be put into another one; none of nothing.
pub fn percentile_of(values: &mut [f64], p: f64) -> Option<f64> {
    let (low, high) = places(values.len(), p);
    if values.is_empty() {
        return None;
    }
    let (below, at, _) = values.select_nth_unstable_by(high, f64::total_cmp);
    let before = if low < high { below.iter().copied().max_by(f64::total_cmp) } else { None };
    Some(before.unwrap_or(*at).midpoint(*at))
}

/// Sorted whole numbers: nanoseconds, counts.
pub struct Sample(Vec<u64>);

impl Sample {
    /// Of these values, in any order.
    pub fn new(mut values: Vec<u64>) -> Self {
        values.sort_unstable();
        Sample(values)
    }

    /// The values, sorted.
    pub fn values(&self) -> &[u64] {
        &self.0
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// None of nothing.
    pub fn percentile(&self, p: f64) -> Option<f64> {
        let (low, high) = places(self.count(), p);
        Some((*self.0.get(low)? as f64).midpoint(*self.0.get(high)? as f64))
    }

    /// None of nothing.
    pub fn median(&self) -> Option<f64> {
        self.percentile(50.0)
    }

    /// The largest.
    pub fn max(&self) -> Option<u64> {
        self.0.last().copied()
    }

    /// None of nothing.
    pub fn mean(&self) -> Option<f64> {
        let sum: u128 = self.0.iter().map(|v| u128::from(*v)).sum();
        (!self.0.is_empty()).then(|| sum as f64 / self.count() as f64)
    }

    /// None of fewer than two.
    pub fn deviation(&self) -> Option<f64> {
        let mean = self.mean()?;
        let squares: f64 = self.0.iter().map(|v| (*v as f64 - mean).powi(2)).sum();
        (self.count() > 1).then(|| (squares / (self.count() - 1) as f64).sqrt())
    }

    /// See the module's header; the same for the same seed.
    pub fn median_interval(&self, seed: u64) -> Option<[f64; 2]> {
        if self.0.is_empty() {
            return None;
        }
        let (n, mut random) = (self.count(), Rand64::new(seed.into()));
        let mut drawn = vec![0.0; n];
        let medians = (0..RESAMPLES).filter_map(|_| {
            drawn.iter_mut().for_each(|d| *d = self.0[random.rand_range(0..n as u64) as usize] as f64);
            percentile_of(&mut drawn, 50.0)
        });
        Some(interval(medians.collect()))
    }
}

/// The middle 95 % of what was drawn.
pub fn interval(mut drawn: Vec<f64>) -> [f64; 2] {
    drawn.sort_by(f64::total_cmp);
    [2.5, 97.5].map(|p| percentile(&drawn, p).unwrap_or(f64::NAN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_one_to_a_thousand() {
        // Mean (n + 1) / 2, sample variance n (n + 1) / 12, p-th percentile 10 p + 1/2.
        let s = Sample::new((1..=1000).rev().collect());
        assert_eq!(s.mean(), Some(500.5));
        let variance: f64 = 1000.0 * 1001.0 / 12.0;
        assert!((s.deviation().expect("two") - variance.sqrt()).abs() < 1e-9);
        assert_eq!([50.0, 90.0, 99.0].map(|p| s.percentile(p)), [500.5, 900.5, 990.5].map(Some));
        assert_eq!([0.0, 0.01, 99.99, 100.0].map(|p| s.percentile(p)), [1.0, 1.0, 1000.0, 1000.0].map(Some));
        assert_eq!(s.max(), Some(1000));
        // Nothing is whole of 1001: the rank above.
        let s = Sample::new((1..=1001).collect());
        assert_eq!([50.0, 90.0, 99.0].map(|p| s.percentile(p)), [501.0, 901.0, 991.0].map(Some));
    }

    #[test]
    fn of_few() {
        let none = Sample::new(Vec::new());
        assert_eq!((none.mean(), none.deviation(), none.median()), (None, None, None));
        assert_eq!(
            (none.median_interval(0), percentile(&[], 50.0), percentile_of(&mut [], 50.0)),
            (None, None, None)
        );
        let one = Sample::new(vec![7]);
        assert_eq!((one.mean(), one.deviation(), one.median_interval(3)), (Some(7.0), None, Some([7.0; 2])));
        assert_eq!(Sample::new(vec![4, 1]).median(), Some(2.5));
        // Whole numbers beyond 2^53 stay near what they are.
        assert_eq!(Sample::new(vec![u64::MAX, u64::MAX]).median(), Some(u64::MAX as f64));
    }

    #[test]
    fn sorted_or_not_it_is_the_same() {
        let mut random = Rand64::new(4);
        for n in 1..60 {
            let mut values: Vec<f64> = (0..n).map(|_| random.rand_range(0..20) as f64).collect();
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            for p in [0.0, 2.5, 10.0, 25.0, 50.0, 75.0, 95.0, 99.0, 100.0] {
                assert_eq!(percentile(&sorted, p), percentile_of(&mut values, p), "{p} of {sorted:?}");
            }
        }
    }

    #[test]
    fn the_interval_is_that_of_the_binomial_distribution() {
        // Of 1 … n with n = 101 the median of a resample is at most k with the probability that at least 51 of 101 draws
        // are at most k: Binomial(101, k / 101). Its normal limit gives 51 ± 1.96·√(101)/2, that is 41.2 to 60.8.
        let s = Sample::new((1..=101).collect());
        for seed in 0..8 {
            let [low, high] = s.median_interval(seed).expect("values");
            assert!(
                (40.0..=43.0).contains(&low) && (59.0..=62.0).contains(&high),
                "seed {seed}: {low} to {high}"
            );
        }
    }

    #[test]
    fn the_seed_decides_and_order_does_not_matter() {
        let values: Vec<u64> = (0..57).map(|i| i * i % 101).collect();
        let reversed = values.iter().rev().copied().collect();
        let (a, b) = (Sample::new(values), Sample::new(reversed));
        assert_eq!(a.median_interval(9), b.median_interval(9));
        let all: Vec<_> = (0..16).map(|seed| a.median_interval(seed)).collect();
        assert!(all.iter().any(|i| *i != all[0]), "{all:?}");
    }
}

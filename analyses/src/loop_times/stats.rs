//! Statistics of a few thousand times at most, exact: no buckets.
//!
//! Percentile: of n sorted values the one of rank ⌈n·p/100⌉, counted from 1 (the least value with at least p % at or below
//! it); for even n the median is the lower of the middle two. Standard deviation: of a sample (n − 1). Bootstrap interval:
//! the 2.5th and 97.5th percentile of the medians of [`RESAMPLES`] samples of n, drawn with replacement.

/// Samples that the bootstrap draws.
pub const RESAMPLES: usize = 2000;

/// Sorted values.
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

    /// See the module's header; none of nothing.
    pub fn percentile(&self, p: f64) -> Option<u64> {
        self.0.get(rank(self.count(), p)).copied()
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

    /// 95 % of what the median would be if the iterations were drawn again; the same for the same seed.
    pub fn median_interval(&self, seed: u64) -> Option<(u64, u64)> {
        if self.0.is_empty() {
            return None;
        }
        let (n, mut random) = (self.count(), Random(seed));
        // The values are sorted, so a resample's median is the value at the median of the drawn places.
        let mut places = vec![0usize; n];
        let mut medians: Vec<u64> = (0..RESAMPLES)
            .map(|_| {
                places.iter_mut().for_each(|p| *p = random.below(n));
                self.0[*places.select_nth_unstable(rank(n, 50.0)).1]
            })
            .collect();
        medians.sort_unstable();
        Some((medians[rank(RESAMPLES, 2.5)], medians[rank(RESAMPLES, 97.5)]))
    }
}

/// The place of a percentile among n sorted values.
pub fn rank(n: usize, p: f64) -> usize {
    ((n as f64 * p / 100.0).ceil() as usize).clamp(1, n.max(1)) - 1
}

/// SplitMix64.
#[derive(Clone, Copy, Debug)]
pub struct Random(u64);

impl Random {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From 0 to below 1, in steps of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Below n, which is far below 2^64: the bias is of no account.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_one_to_a_thousand() {
        // Mean (n + 1) / 2, sample variance n (n + 1) / 12, p-th percentile 10 p.
        let s = Sample::new((1..=1000).rev().collect());
        assert_eq!(s.mean(), Some(500.5));
        let variance: f64 = 1000.0 * 1001.0 / 12.0;
        assert!((s.deviation().expect("two") - variance.sqrt()).abs() < 1e-9);
        assert_eq!([50.0, 90.0, 99.0, 100.0].map(|p| s.percentile(p)), [500, 900, 990, 1000].map(Some));
        assert_eq!(s.max(), Some(1000));
    }

    #[test]
    fn of_few() {
        let none = Sample::new(Vec::new());
        assert_eq!((none.mean(), none.deviation(), none.percentile(50.0)), (None, None, None));
        assert_eq!(none.median_interval(0), None);
        let one = Sample::new(vec![7]);
        assert_eq!((one.mean(), one.deviation(), one.median_interval(3)), (Some(7.0), None, Some((7, 7))));
        assert_eq!(Sample::new(vec![4, 1]).percentile(50.0), Some(1));
    }

    #[test]
    fn the_interval_is_that_of_the_binomial_distribution() {
        // Of 1 … n with n = 101 the median of a resample is at most k with the probability that at least 51 of 101 draws
        // are at most k: Binomial(101, k / 101). Its normal limit gives 51 ± 1.96·√(101)/2, that is 41.2 to 60.8.
        let s = Sample::new((1..=101).collect());
        for seed in 0..8 {
            let (low, high) = s.median_interval(seed).expect("values");
            assert!((40..=43).contains(&low) && (59..=62).contains(&high), "seed {seed}: {low} to {high}");
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

    #[test]
    fn numbers_are_uniform() {
        // Pearson's test over ten cells: 9 degrees of freedom, the 99.9th percentile is 27.9.
        let (mut random, mut cells) = (Random(1), [0u32; 10]);
        (0..100_000).for_each(|_| cells[random.below(10)] += 1);
        let chi: f64 = cells.iter().map(|c| (f64::from(*c) - 1e4).powi(2) / 1e4).sum();
        assert!(chi < 27.9, "{chi}");
    }
}

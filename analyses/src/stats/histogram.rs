//! Times gathered into an HDR histogram, with an exact sum and exact ends.

use super::places;
use hdrhistogram::Histogram;
use trace::Nanos;

/// Three significant digits: a percentile is at most 0.1 % above the sample it stands for.
const SIGNIFICANT_DIGITS: u8 = 3;

/// An hour. Longer times count as this one in percentiles, and as themselves in mean and maximum.
const LONGEST: u64 = 3_600_000_000_000;

/// The statistics of some times.
pub struct Stats {
    histogram: Histogram<u64>,
    sum: u128,
    min: u64,
    max: u64,
}

impl FromIterator<Nanos> for Stats {
    fn from_iter<I: IntoIterator<Item = Nanos>>(times: I) -> Stats {
        let histogram = Histogram::new_with_bounds(1, LONGEST, SIGNIFICANT_DIGITS)
            .expect("1 ns to 1 h with 3 digits is valid");
        let mut stats = Stats { histogram, sum: 0, min: u64::MAX, max: 0 };
        for Nanos(time) in times {
            stats.histogram.saturating_record(time);
            stats.sum += u128::from(time);
            stats.min = stats.min.min(time);
            stats.max = stats.max.max(time);
        }
        stats
    }
}

impl Stats {
    /// How many times there are.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The mean in milliseconds; none of nothing.
    pub fn mean_ms(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum as f64 / self.count() as f64 / 1e6)
    }

    /// The longest; 0 of nothing.
    pub fn max(&self) -> Nanos {
        Nanos(self.max)
    }

    /// The percentile in nanoseconds, of the upper ends of buckets; 0 of nothing.
    pub fn percentile(&self, percentile: f64) -> f64 {
        if self.count() == 0 {
            return 0.0;
        }
        let (low, high) = places(self.count() as usize, percentile);
        // (half a place before the rank's share: it is that rank's, however a quotient is rounded)
        let at = |place: usize| {
            let share = (place as f64 + 0.5) / self.count() as f64;
            self.histogram.value_at_quantile(share).clamp(self.min, self.max) as f64
        };
        at(low).midpoint(at(high))
    }

    /// The filled buckets in rising order: where each begins (the first at the minimum), and how many it holds.
    pub fn buckets(&self) -> impl Iterator<Item = (Nanos, u64)> {
        self.histogram.iter_recorded().map(|step| {
            let begin = self.histogram.lowest_equivalent(step.value_iterated_to()).max(self.min);
            (Nanos(begin), step.count_at_value())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, Stats};
    use trace::Nanos;

    /// `actual` is `expected` or at most 0.1 % above it.
    fn assert_close(actual: f64, expected: f64) {
        assert!(actual >= expected && actual <= expected * 1.001, "{actual}, {expected}");
    }

    #[test]
    fn of_nothing() {
        let stats = Stats::from_iter([]);
        assert_eq!(
            (stats.count(), stats.mean_ms(), stats.percentile(50.0), stats.max()),
            (0, None, 0.0, Nanos(0))
        );
        assert_eq!(stats.buckets().count(), 0);
    }

    #[test]
    fn of_one_is_exact() {
        let stats = Stats::from_iter([Nanos(16_666_667)]);
        for percentile in [0.0, 50.0, 99.0, 100.0] {
            assert_eq!(stats.percentile(percentile), 16_666_667.0);
        }
        assert_eq!(stats.buckets().collect::<Vec<_>>(), [(Nanos(16_666_667), 1)]);
    }

    #[test]
    fn of_a_uniform_distribution() {
        // 1, 2, … 1000 µs: the p-th percentile is 10 p + 1/2 µs, the mean (1 + 1000) / 2 µs.
        let stats: Stats = (1..=1000).rev().map(|us| Nanos(us * 1000)).collect();
        for percentile in [1.0, 10.0, 50.0, 90.0, 99.0] {
            assert_close(stats.percentile(percentile), percentile * 10_000.0 + 500.0);
        }
        assert_eq!(stats.percentile(100.0), 1_000_000.0);
        assert_eq!(stats.mean_ms(), Some(0.5005));
        assert_eq!(stats.buckets().map(|(_, count)| count).sum::<u64>(), 1000);
    }

    #[test]
    fn of_a_geometric_distribution() {
        // 2^k ns for k = 0 … 19, and 2^k of each: the total is 2^20 − 1, and all up to k are 2^(k+1) − 1, so that
        // the median (rank 2^19) is the first of k = 19, and p25 (rank 2^18) the first of k = 18.
        let times = (0..20u32).flat_map(|k| (0..1 << k).map(move |_| Nanos(1 << k)));
        let stats = Stats::from_iter(times);
        assert_close(stats.percentile(50.0), f64::from(1 << 19));
        assert_close(stats.percentile(25.0), f64::from(1 << 18));
        // Σ 4^k / (2^20 − 1) = (4^20 − 1) / 3 / (2^20 − 1) = (2^20 + 1) / 3
        assert!((stats.mean_ms().unwrap() - ((1 << 20) + 1) as f64 / 3.0 / 1e6).abs() < 1e-12);
    }

    #[test]
    fn too_long_is_held_not_lost() {
        let stats = Stats::from_iter([Nanos(0), Nanos(u64::MAX)]);
        assert_eq!(stats.count(), 2);
        assert_eq!(stats.max(), Nanos(u64::MAX));
        assert!(stats.percentile(100.0) >= LONGEST as f64);
    }
}

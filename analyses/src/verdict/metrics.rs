//! Metrics of frames, named by their definition; each refuses samples smaller than it needs.
//!
//! | name | definition | needs |
//! |---|---|---|
//! | `median` | the time in the middle; of an even number the mean of the middle two | 3 frames |
//! | `mean` | their sum over their number | 1 |
//! | `p95`, `p99` | percentiles as the whole project has them (`stats`) | 20, 100: at least one frame lies above |
//! | `low1-p99` | 1 % low as 1000 over p99 in ms: frames a second that 99 % of frames reach | 100 |
//! | `low1-mean` | 1 % low as 1000 over the mean of the worst ⌈n/100⌉ frames' times in ms | 100 |
//! | `stutter` | share of frames that take over twice the median of the 19 around them (9 before, itself, 9 after; at the ends the nearest 19) | 19 in a row |
//!
//! Two definitions of "1 % low" go around, and both are here under names that say which.

use crate::stats::percentile_of;
use serde::Serialize;

/// Frames whose median a frame is held against.
const AROUND: usize = 19;

/// How two figures of a metric are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// By their ratio: figures are above 0.
    Ratio,
    /// By their difference: figures are shares, and may be 0.
    Difference,
}

/// A metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// See the module's header, as for all.
    Median,
    /// The mean.
    Mean,
    /// 95th percentile.
    P95,
    /// 99th percentile.
    P99,
    /// 1000 / p99.
    Low1P99,
    /// 1000 / mean of the worst 1 %.
    Low1Mean,
    /// Share of frames that stutter.
    Stutter,
}

/// All of them.
pub const METRICS: [Metric; 7] = [
    Metric::Median,
    Metric::Mean,
    Metric::P95,
    Metric::P99,
    Metric::Low1P99,
    Metric::Low1Mean,
    Metric::Stutter,
];

impl Metric {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Median => "median",
            Metric::Mean => "mean",
            Metric::P95 => "p95",
            Metric::P99 => "p99",
            Metric::Low1P99 => "low1-p99",
            Metric::Low1Mean => "low1-mean",
            Metric::Stutter => "stutter",
        }
    }

    /// The metric of this name.
    pub fn named(name: &str) -> Option<Metric> {
        METRICS.into_iter().find(|m| m.name() == name)
    }

    /// Its unit.
    pub fn unit(self) -> &'static str {
        match self {
            Metric::Low1P99 | Metric::Low1Mean => "FPS",
            Metric::Stutter => "% of frames",
            _ => "ms",
        }
    }

    /// Whether a greater value is the better one.
    pub fn more_is_better(self) -> bool {
        matches!(self, Metric::Low1P99 | Metric::Low1Mean)
    }

    /// How its figures are compared.
    pub fn scale(self) -> Scale {
        if self == Metric::Stutter { Scale::Difference } else { Scale::Ratio }
    }

    /// Frames that it needs.
    pub fn needs(self) -> usize {
        match self {
            Metric::Median => 3,
            Metric::Mean => 1,
            Metric::P95 => 20,
            Metric::P99 | Metric::Low1P99 | Metric::Low1Mean => 100,
            Metric::Stutter => AROUND,
        }
    }

    /// Of times in ms, in the order in which frames ran (which matters to `stutter` alone); they may be put into another order.
    pub fn of(self, times: &mut [f64]) -> Result<f64, TooFew> {
        let n = times.len();
        if n < self.needs() {
            return Err(TooFew { metric: self, here: n });
        }
        let percentile = |times: &mut [f64], p| percentile_of(times, p).unwrap_or(f64::NAN);
        Ok(match self {
            Metric::Median => percentile(times, 50.0),
            Metric::P95 => percentile(times, 95.0),
            Metric::P99 => percentile(times, 99.0),
            Metric::Low1P99 => 1000.0 / percentile(times, 99.0),
            Metric::Mean => times.iter().sum::<f64>() / n as f64,
            Metric::Low1Mean => {
                let worst = n.div_ceil(100);
                times.select_nth_unstable_by(n - worst, f64::total_cmp);
                1000.0 * worst as f64 / times[n - worst..].iter().sum::<f64>()
            }
            Metric::Stutter => 100.0 * stutters(times) as f64 / n as f64,
        })
    }
}

/// A sample is smaller than a metric needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFew {
    /// Which.
    pub metric: Metric,
    /// How many there are.
    pub here: usize,
}

impl std::fmt::Display for TooFew {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let TooFew { metric, here } = self;
        write!(f, "{} needs {} frames of each process, and there are {here}", metric.name(), metric.needs())
    }
}

/// Frames that stutter; 0 of fewer than [`AROUND`].
fn stutters(times: &[f64]) -> usize {
    let n = times.len();
    if n < AROUND {
        return 0;
    }
    let mut around = [0.0; AROUND];
    (0..n)
        .filter(|&at| {
            let from = at.saturating_sub(AROUND / 2).min(n - AROUND);
            around.copy_from_slice(&times[from..from + AROUND]);
            let median = *around.select_nth_unstable_by(AROUND / 2, f64::total_cmp).1;
            times[at] > 2.0 * median
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_one_to_a_thousand() {
        let all = || (1..=1000).rev().map(f64::from).collect::<Vec<_>>();
        let of = |m: Metric| m.of(&mut all()).expect("enough");
        assert_eq!((of(Metric::Median), of(Metric::Mean)), (500.5, 500.5));
        assert_eq!((of(Metric::P95), of(Metric::P99), of(Metric::Low1P99)), (950.5, 990.5, 1000.0 / 990.5));
        // The worst ten are 991 to 1000, 995.5 on average.
        assert!((of(Metric::Low1Mean) - 1000.0 / 995.5).abs() < 1e-12);
        assert_eq!(of(Metric::Stutter), 0.0);
    }

    #[test]
    fn too_few_are_refused_by_number() {
        for metric in METRICS {
            let mut just: Vec<f64> = vec![1.0; metric.needs()];
            assert!(metric.of(&mut just).is_ok(), "{metric:?}");
            let e = metric.of(&mut just[1..]).expect_err("one is missing");
            assert_eq!(e, TooFew { metric, here: metric.needs() - 1 });
            assert!(e.to_string().contains(&format!("needs {} frames", metric.needs())), "{e}");
            assert_eq!(Metric::named(metric.name()), Some(metric));
        }
    }

    #[test]
    fn frames_over_twice_the_median_around_stutter() {
        let mut times = vec![10.0; 100];
        (times[0], times[50], times[51], times[99]) = (20.5, 20.0, 21.0, 90.0);
        // 20 is not over 20; both ends are held against the nearest nineteen.
        assert_eq!(Metric::Stutter.of(&mut times), Ok(3.0));
        // A slow stretch of ten is what is usual around it; of nine it stutters.
        for (long, expected) in [(10, 0.0), (9, 9.0)] {
            let mut times = vec![10.0; 100];
            times[40..40 + long].fill(30.0);
            let n = Metric::Stutter.of(&mut times).expect("enough");
            assert_eq!(n, expected);
        }
    }
}

//! Bands of times: times gather around some values and not around those between (Cheung 2024, §3.4.3).
//!
//! *Band*: a maximum of the density (`report/summary.rs`, at [`POINTS`] places) that holds at least [`LEAST_SHARE`] of the times, between the
//! lowest places beside it, where the density falls to [`VALLEY`] of the lower maximum or less; else two are one.

use crate::report::summary::density;
use crate::stats::Sample;

/// Places at which the density is known.
const POINTS: usize = 512;
/// How far the density has to fall between two bands, as a share of the lower one's.
const VALLEY: f64 = 0.8;
/// Least share of times in a band.
const LEAST_SHARE: f64 = 0.02;

/// A gathering of times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// Where the density is greatest, in nanoseconds.
    pub at: f64,
    /// From where.
    pub from: f64,
    /// To where.
    pub to: f64,
    /// The share of times in it.
    pub share: f64,
}

/// The bands, from the lowest on.
pub fn bands(sample: &Sample) -> Vec<Band> {
    let sorted: Vec<f64> = sample.values().iter().map(|v| *v as f64).collect();
    let density = density(&sorted, POINTS);
    let height = |n: usize| density[n].1;
    let Some(last) = density.len().checked_sub(1) else { return vec![] };
    // Maxima, and the lowest place between each and the next.
    let higher = |a: usize, b: usize| height(a) > height(b);
    let mut peaks: Vec<usize> =
        (0..=last).filter(|&n| (n == 0 || higher(n, n - 1)) && (n == last || !higher(n + 1, n))).collect();
    let lowest = |a: usize, b: usize| (a..=b).min_by(|x, y| height(*x).total_cmp(&height(*y))).unwrap_or(a);
    let count = |from: f64, to: f64| {
        let values = sample.values();
        values.partition_point(|v| (*v as f64) <= to) - values.partition_point(|v| (*v as f64) <= from)
    };
    loop {
        let mut edges = vec![f64::NEG_INFINITY];
        edges.extend(peaks.windows(2).map(|p| density[lowest(p[0], p[1])].0));
        edges.push(f64::INFINITY);
        let n = sample.count() as f64;
        let shares: Vec<f64> = edges.windows(2).map(|e| count(e[0], e[1]) as f64 / n).collect();
        // What is no band of its own goes to the neighbour that it is least apart from.
        let shallow = (0..peaks.len().saturating_sub(1)).find(|&n| {
            let floor = height(lowest(peaks[n], peaks[n + 1]));
            floor > VALLEY * height(peaks[n]).min(height(peaks[n + 1]))
        });
        let gone = match shallow {
            Some(n) => Some(if higher(peaks[n], peaks[n + 1]) { n + 1 } else { n }),
            None if peaks.len() > 1 => shares
                .iter()
                .enumerate()
                .filter(|s| *s.1 < LEAST_SHARE)
                .min_by(|a, b| a.1.total_cmp(b.1))
                .map(|s| s.0),
            None => None,
        };
        let Some(gone) = gone else {
            let (low, high) = (sample.values()[0] as f64, sample.max().unwrap_or(0) as f64);
            return (peaks.iter().enumerate())
                .map(|(n, &peak)| Band {
                    at: density[peak].0,
                    from: edges[n].max(low),
                    to: edges[n + 1].min(high),
                    share: shares[n],
                })
                .collect();
        };
        peaks.remove(gone);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// About normal: sums of twelve numbers.
    fn around(centre: u64, width: u64, n: u64) -> impl Iterator<Item = u64> {
        (0..n).map(move |k| {
            let sum: u64 = (0..12).map(|j| crate::rays::events::hash(k, j * 77 + centre) >> 44).sum();
            centre + ((sum * width) >> 20) - 6 * width
        })
    }

    #[test]
    fn two_bands_with_the_shares_that_were_put_in() {
        let all = around(6_160_000, 20_000, 800).chain(around(7_300_000, 30_000, 200)).collect();
        let found = bands(&Sample::new(all));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!((found[0].at - 6.16e6).abs() < 2e4 && (found[1].at - 7.3e6).abs() < 3e4, "{found:?}");
        assert!((found[0].share - 0.8).abs() < 0.005 && (found[1].share - 0.2).abs() < 0.005, "{found:?}");
        assert!(found[0].to == found[1].from && found[0].from < found[0].at && found[1].at < found[1].to);
    }

    #[test]
    fn one_band_of_one_gathering_and_of_one_value() {
        let found = bands(&Sample::new(around(5_000_000, 50_000, 1000).collect()));
        assert_eq!((found.len(), found[0].share), (1, 1.0), "{found:?}");
        let found = bands(&Sample::new(vec![4; 30]));
        assert_eq!((found.len(), found[0].at, found[0].share), (1, 4.0, 1.0));
        assert!(bands(&Sample::new(vec![])).is_empty());
        // A few outliers make none.
        let all = around(5_000_000, 50_000, 1000).chain([9_000_000, 9_100_000]).collect();
        let found = bands(&Sample::new(all));
        assert_eq!((found.len(), found[0].share), (1, 1.0), "{found:?}");
    }
}

//! A histogram's bars, as they are drawn: what of its values falls into which.
//!
//! Guarantees: every value is in one bar. Whole values that are near each other have a bar each; others share [`BINS`] bars of equal widths, or,
//! where they are of several sizes, of equal ratios. Refuses nothing; of nothing there are no bars.

/// Bars, where values share them.
const BINS: usize = 48;
/// Whole values up to which each gets a bar.
const SINGLE: f64 = 64.0;
/// Bars that several samples share.
const SHARED: usize = 56;
/// How many times the least the greatest value is where values are of several sizes.
const SIZES: f64 = 50.0;

/// See the module's header.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bins {
    /// From, to (of a single value, the same), and how much is there.
    pub each: Vec<(f64, f64, f64)>,
    /// Bars are of equal ratios.
    pub log: bool,
    /// Each value has one of its own.
    pub single: bool,
}

/// Of values, and how much there is of each.
pub fn bins(points: &[(f64, f64)]) -> Bins {
    let values = || points.iter().map(|p| p.0);
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    if points.is_empty() {
        return Bins::default();
    }
    let single = values().all(|v| v.fract() == 0.0) && most - least < SINGLE;
    let log = !single && least > 0.0 && most / least > SIZES;
    let scale = |v: f64| if log { v.ln() } else { v };
    let back = |v: f64| if log { v.exp() } else { v };
    let (from, to) = if single { (least - 0.5, most + 0.5) } else { (scale(least), scale(most)) };
    let count = match (single, most > least) {
        (true, _) => (most - least) as usize + 1,
        (false, true) => BINS,
        (false, false) => 1,
    };
    let edge = |n: usize| match single {
        true => least + n as f64,
        false => back(from + (to - from) * n as f64 / count as f64),
    };
    let mut each: Vec<(f64, f64, f64)> =
        (0..count).map(|n| (edge(n), edge(if single { n } else { n + 1 }), 0.0)).collect();
    let wide = if to > from { to - from } else { 1.0 };
    for (x, y) in points {
        let n = ((scale(*x) - from) / wide * count as f64) as usize;
        each[n.min(count - 1)].2 += y;
    }
    Bins { each, log, single }
}

/// Bars of equal widths that several samples share.
#[derive(Clone, Debug, PartialEq)]
pub struct Shared {
    /// Where the first begins.
    pub from: f64,
    /// How wide each is.
    pub wide: f64,
    /// Of each sample, how many values are in each bar.
    pub counts: Vec<Vec<u64>>,
}

/// Of samples, from the least of their values to the greatest, or to where the axis ends: what lies beyond is left out.
pub fn shared(samples: &[Vec<f64>], end: Option<f64>) -> Shared {
    let all = || samples.iter().flatten().copied().filter(|v| v.is_finite());
    let from = all().fold(f64::INFINITY, f64::min);
    let to = end.unwrap_or_else(|| all().fold(f64::NEG_INFINITY, f64::max));
    let whole =
        [to - from, to.abs() * 0.01, 1.0].into_iter().find(|w| *w > 0.0 && w.is_finite()).unwrap_or(1.0);
    let wide = whole / SHARED as f64;
    let counts = samples.iter().map(|sample| {
        let mut counts = vec![0; SHARED];
        for v in sample.iter().filter(|v| v.is_finite() && **v <= to) {
            counts[(((v - from) / wide) as usize).min(SHARED - 1)] += 1;
        }
        counts
    });
    Shared { from, wide, counts: counts.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_whole_values_have_a_bar_each_and_so_have_gaps() {
        let found = bins(&[(1.0, 4.0), (3.0, 2.0)]);
        assert_eq!(found.each, [(1.0, 1.0, 4.0), (2.0, 2.0, 0.0), (3.0, 3.0, 2.0)]);
        assert!(found.single && !found.log);
        assert_eq!(bins(&[]), Bins::default());
        assert_eq!(bins(&[(0.5, 2.0), (0.5, 1.0)]).each, [(0.5, 0.5, 3.0)]);
    }

    #[test]
    fn samples_share_bars_up_to_where_the_axis_ends() {
        let found = shared(&[vec![1.0, 1.0, 57.0], vec![29.5, 900.0]], Some(57.0));
        assert_eq!((found.from, found.wide), (1.0, 1.0));
        let filled = |n: usize| {
            let of = found.counts[n].iter().enumerate().filter(|c| *c.1 > 0);
            of.map(|c| (c.0, *c.1)).collect::<Vec<_>>()
        };
        assert_eq!((filled(0), filled(1)), (vec![(0, 2), (55, 1)], vec![(28, 1)]));
        assert_eq!(shared(&[vec![4.0, 4.0]], None).counts[0][0], 2);
    }

    #[test]
    fn others_share_bars_of_equal_widths_or_ratios_and_none_is_lost() {
        let points: Vec<(f64, f64)> = (0..500).map(|n| (1.0 + f64::from(n) * 0.01, 1.0)).collect();
        for (points, log) in
            [(points.clone(), false), (points.iter().map(|p| (p.0.powi(5), p.1)).collect(), true)]
        {
            let found = bins(&points);
            assert_eq!((found.each.len(), found.log, found.single), (BINS, log, false));
            assert_eq!(found.each.iter().map(|b| b.2).sum::<f64>(), 500.0);
            let step = |b: &(f64, f64, f64)| if log { b.1 / b.0 } else { b.1 - b.0 };
            assert!(found.each.iter().all(|b| (step(b) / step(&found.each[0]) - 1.0).abs() < 1e-9));
            assert!(found.each.windows(2).all(|b| b[0].1 == b[1].0));
        }
    }
}

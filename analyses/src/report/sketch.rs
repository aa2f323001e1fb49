//! A histogram in one line of text.
//!
//! The line spans the lowest value to the 99th percentile, in [`WIDTH`] bins of equal width, so that one slow
//! frame does not squeeze all others into one bin; what lies above is said in words. A bin's character is one
//! of eight heights, in proportion to the fullest bin, rounded up: a bin with anything in it shows, and a blank
//! one is empty.

/// Bins in a line.
pub const WIDTH: usize = 40;

const HEIGHTS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A histogram, sketched.
#[derive(Clone, Debug, PartialEq)]
pub struct Sketch {
    /// Where the line begins: the lowest value.
    pub low: f64,
    /// Where it ends: the 99th percentile.
    pub high: f64,
    /// The line.
    pub bars: String,
    /// How many lie above the line's end.
    pub above: u64,
    /// The highest value of all.
    pub highest: f64,
}

/// The sketch of these buckets, (where it begins, how many) with rising beginnings. `None` when all are empty.
pub fn sketch(buckets: &[(f64, u64)]) -> Option<Sketch> {
    let buckets: Vec<_> = buckets.iter().copied().filter(|&(_, count)| count > 0).collect();
    let (&(low, _), &(highest, _)) = (buckets.first()?, buckets.last()?);
    let total: u64 = buckets.iter().map(|&(_, count)| count).sum();

    // The least value with 99 % of all at or below it.
    let rank = total - total / 100;
    let mut below = 0;
    let high = buckets.iter().find(|&&(_, count)| {
        below += count;
        below >= rank
    })?;
    let high = high.0;

    let mut bins = vec![0; if high > low { WIDTH } else { 1 }];
    let mut above = 0;
    for &(value, count) in &buckets {
        if value > high {
            above += count;
        } else if high > low {
            let bin = ((value - low) / (high - low) * WIDTH as f64) as usize;
            bins[bin.min(WIDTH - 1)] += count;
        } else {
            bins[0] += count;
        }
    }
    let fullest = bins.iter().copied().max()?;
    let bars = bins
        .iter()
        .map(|&count: &u64| HEIGHTS[(u128::from(count) * 8).div_ceil(u128::from(fullest)) as usize])
        .collect();
    Some(Sketch { low, high, bars, above, highest })
}

#[cfg(test)]
mod tests {
    use super::{Sketch, WIDTH, sketch};

    #[test]
    fn nothing_has_no_sketch() {
        assert_eq!(sketch(&[]), None);
        assert_eq!(sketch(&[(1.0, 0)]), None);
    }

    #[test]
    fn one_value_is_one_full_bar() {
        let expected = Sketch { low: 2.0, high: 2.0, bars: "█".into(), above: 0, highest: 2.0 };
        assert_eq!(sketch(&[(2.0, 5)]), Some(expected));
    }

    #[test]
    fn heights_are_in_proportion_and_nothing_vanishes() {
        // One bucket a bin; the fullest has 800, so an eighth is 100, and 1 still shows.
        let counts = [1, 100, 101, 400, 800, 0];
        let mut buckets: Vec<_> = counts.iter().enumerate().map(|(i, &count)| (i as f64, count)).collect();
        buckets.push((40.0, 100));
        let sketch = sketch(&buckets).unwrap();
        assert_eq!(sketch.bars.chars().count(), WIDTH);
        assert_eq!(sketch.bars, format!("▁▁▂▄█{}▁", " ".repeat(34)));
        assert_eq!((sketch.low, sketch.high, sketch.above), (0.0, 40.0, 0));
    }

    #[test]
    fn what_is_far_out_is_counted_not_drawn() {
        let sketch = sketch(&[(1.0, 50), (2.0, 149), (90.0, 1)]).unwrap();
        assert_eq!((sketch.high, sketch.above, sketch.highest), (2.0, 1, 90.0));
        assert!(sketch.bars.starts_with('▃') && sketch.bars.ends_with('█'), "{}", sketch.bars);
    }
}

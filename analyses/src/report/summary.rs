//! What is drawn of a sample: its box and its density.
//!
//! Percentiles are those of `stats`. Box: quartiles, and whiskers to the least and the greatest value within 1.5
//! times their distance; what lies beyond are outliers. Density: a Gaussian kernel at [`PLACES`] places from a little below the least value to a little above
//! the greatest; its width is Silverman's, 0.9 · min(standard deviation, IQR / 1.34) · n^(−1/5), or where the IQR is nothing
//! the deviation's alone. Its greatest is 1. Values that are no numbers are left out.

use crate::stats::percentile;

/// Places at which the density is known.
pub const PLACES: usize = 160;
/// Values from which on there is a density.
pub const FEWEST: usize = 20;

/// See the module's header.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// How many values.
    pub count: usize,
    /// The mean.
    pub mean: f64,
    /// Least, 25th, 50th, 75th percentile, greatest.
    pub at: [f64; 5],
    /// Where the box's whiskers end.
    pub whiskers: [f64; 2],
    /// The density's places, and its height there; none of fewer values than [`FEWEST`], whose shape is chance.
    pub density: Vec<(f64, f64)>,
}

/// Of these values; none of nothing.
pub fn summary(values: impl IntoIterator<Item = f64>) -> Option<Summary> {
    let mut sorted: Vec<f64> = values.into_iter().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let (&least, &greatest) = (sorted.first()?, sorted.last()?);
    let at =
        [least, percentile(&sorted, 25.0)?, percentile(&sorted, 50.0)?, percentile(&sorted, 75.0)?, greatest];
    let reach = 1.5 * (at[3] - at[1]);
    let inside = |v: &&f64| (at[1] - reach..=at[3] + reach).contains(*v);
    let whiskers = [*sorted.iter().find(inside)?, *sorted.iter().rfind(inside)?];
    let mean = sorted.iter().sum::<f64>() / n as f64;
    let density = if n < FEWEST { vec![] } else { density(&sorted, PLACES) };
    Some(Summary { count: n, mean, at, whiskers, density })
}

impl Summary {
    /// Whether a value lies beyond the whiskers.
    pub fn is_outlier(&self, value: f64) -> bool {
        value < self.whiskers[0] || value > self.whiskers[1]
    }
}

/// Where an axis ends that shows all of these, so that a few far outliers do not squeeze everything else; none where there are no such.
pub fn cut<'s>(all: impl Iterator<Item = &'s Summary> + Clone) -> Option<f64> {
    let most = |of: fn(&Summary) -> f64| all.clone().map(of).fold(f64::NEG_INFINITY, f64::max);
    let least = all.clone().map(|s| s.at[0]).fold(f64::INFINITY, f64::min);
    let usual = most(|s| s.whiskers[1]);
    (most(|s| s.at[4]) > usual + 2.0 * (usual - least)).then_some(usual + 0.6 * (usual - least))
}

/// The density of sorted values at so many places, and its height there; nothing of nothing.
pub fn density(sorted: &[f64], places: usize) -> Vec<(f64, f64)> {
    let n = sorted.len() as f64;
    let ends = sorted.first().copied().zip(sorted.last().copied());
    let quartiles = percentile(sorted, 25.0).zip(percentile(sorted, 75.0));
    let (Some((least, greatest)), Some((low, high))) = (ends, quartiles) else { return vec![] };
    let (mean, iqr) = (sorted.iter().sum::<f64>() / n, high - low);
    let squares: f64 = sorted.iter().map(|v| (v - mean).powi(2)).sum();
    let deviation = if n > 1.0 { (squares / (n - 1.0)).sqrt() } else { 0.0 };
    let narrow = if iqr > 0.0 { deviation.min(iqr / 1.34) } else { deviation };
    let width = 0.9 * narrow * n.powf(-0.2);
    if width <= 0.0 || !width.is_finite() {
        return vec![(least, 1.0)];
    }
    let (from, to) = (least - 3.0 * width, greatest + 3.0 * width);
    let apart = (to - from) / (places - 1) as f64;
    // (a kernel narrower than the places are apart would fall between them)
    let width = width.max(apart / 2.0);
    let mut all: Vec<(f64, f64)> = (0..places)
        .map(|p| {
            let place = from + apart * p as f64;
            let begin = sorted.partition_point(|v| *v < place - 8.0 * width);
            let end = sorted.partition_point(|v| *v <= place + 8.0 * width);
            let height =
                sorted[begin..end].iter().map(|v| (-((v - place) / width).powi(2) / 2.0).exp()).sum();
            (place, height)
        })
        .collect();
    let most = all.iter().map(|p| p.1).fold(0.0, f64::max);
    all.iter_mut().for_each(|p| p.1 /= most);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_by_hand() {
        let s = summary((1..=100).map(f64::from).chain([400.0, f64::NAN])).expect("there are values");
        assert_eq!((s.count, s.at), (101, [1.0, 26.0, 51.0, 76.0, 400.0]));
        assert_eq!(s.whiskers, [1.0, 100.0]);
        assert!((s.mean - 5450.0 / 101.0).abs() < 1e-12);
        assert_eq!(summary([f64::NAN]), None);
        assert_eq!(summary([2.0; 19]).expect("there are").density, []);
        assert_eq!(summary([2.0; 20]).expect("there are").density, [(2.0, 1.0)]);
    }

    #[test]
    fn outliers_lie_beyond_one_and_a_half_times_the_box_and_axes_end_before_far_ones() {
        let of = |more: &[f64]| {
            let values = [10., 11., 12., 13., 14., 15., 16., 17.].iter().chain(more).copied();
            summary(values).expect("there are values")
        };
        let far = of(&[100., 1.]);
        assert_eq!((far.at[1], far.at[3], far.whiskers), (11.0, 16.0, [10.0, 17.0]));
        assert_eq!(
            [1., 9.9, 10., 17., 17.1, 100.].map(|v| far.is_outlier(v)),
            [true, true, false, false, true, true]
        );
        // From 1 to 17 is 16: at 17 + 0.6 * 16.
        assert_eq!(cut([&far, &of(&[])].into_iter()), Some(26.6));
        assert_eq!(cut([&of(&[]), &of(&[20.])].into_iter()), None);
    }

    #[test]
    fn a_density_has_a_peak_where_values_gather() {
        let values = (0..200).map(|n| if n % 4 == 0 { 9.0 } else { 5.0 } + f64::from(n % 10) * 0.01);
        let d = summary(values).expect("there are values").density;
        let height =
            |at: f64| d.iter().min_by(|a, b| (a.0 - at).abs().total_cmp(&(b.0 - at).abs())).map(|p| p.1);
        let (low, middle, high) = (height(5.05), height(7.0), height(9.05));
        assert!(low > high && high > middle, "{low:?} {middle:?} {high:?}");
        assert_eq!(d.iter().map(|p| p.1).fold(0.0, f64::max), 1.0);
    }
}

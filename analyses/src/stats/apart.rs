//! How far two samples lie apart. These numbers describe; they decide nothing.
//!
//! *Mann–Whitney's U* counts pairs in which the first sample's value is the greater one; ties count a half. Its *p* is two-sided,
//! by the normal approximation with corrections for ties and continuity, and of independent values alone. *Cliff's delta* is
//! P(first greater) − P(second greater) over all pairs, from −1 to 1. *Kolmogorov–Smirnov's D*: the greatest distance between both
//! empirical distribution functions, from 0 to 1. *Wasserstein-1*: the area between both functions, in the values' unit: how far
//! values have to move on average to make one sample of the other.

use statrs::function::erf::erfc;

/// Two samples, ranked together.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    sizes: [usize; 2],
    /// U of the first.
    u: f64,
    /// Σ t³ − t over groups of equals.
    ties: f64,
}

impl Ranked {
    /// Ranks them: ranks count from 1, and equals share the mean of theirs. Values are to be numbers.
    pub fn new(first: &[f64], second: &[f64]) -> Ranked {
        let mut all: Vec<(f64, bool)> =
            first.iter().map(|v| (*v, true)).chain(second.iter().map(|v| (*v, false))).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut ranks, mut ties, mut before) = (0.0, 0.0, 0.0);
        for group in all.chunk_by(|a, b| a.0 == b.0) {
            let equal = group.len() as f64;
            ties += equal * equal * equal - equal;
            ranks += group.iter().filter(|v| v.1).count() as f64 * (before + (equal + 1.0) / 2.0);
            before += equal;
        }
        let n = first.len() as f64;
        Ranked { sizes: [first.len(), second.len()], u: ranks - n * (n + 1.0) / 2.0, ties }
    }

    /// U of the first sample.
    pub fn u(&self) -> f64 {
        self.u
    }

    /// Cliff's delta; 0 where a sample is empty.
    pub fn delta(&self) -> f64 {
        match self.sizes[0] * self.sizes[1] {
            0 => 0.0,
            pairs => 2.0 * self.u / pairs as f64 - 1.0,
        }
    }

    /// See the module's header.
    pub fn p(&self) -> f64 {
        let [n, m] = self.sizes.map(|n| n as f64);
        let whole = n + m;
        let variance = n * m / 12.0 * (whole + 1.0 - self.ties / (whole * (whole - 1.0)));
        if variance <= 0.0 || variance.is_nan() {
            return 1.0;
        }
        let z = ((self.u - n * m / 2.0).abs() - 0.5).max(0.0) / variance.sqrt();
        erfc(z / std::f64::consts::SQRT_2).min(1.0)
    }
}

/// D of two samples; none if one is empty.
pub fn ks(first: &[f64], second: &[f64]) -> Option<f64> {
    let mut most = 0.0f64;
    walk(first, second, |_, _, a, b| most = most.max((a - b).abs()))?;
    Some(most)
}

/// Wasserstein-1 of two samples; none if one is empty.
pub fn wasserstein(first: &[f64], second: &[f64]) -> Option<f64> {
    let mut area = 0.0;
    walk(first, second, |from, to, a, b| area += (to - from) * (a - b).abs())?;
    Some(area)
}

/// Tells each step from one value to the next, and both shares at or below the first of these.
fn walk(first: &[f64], second: &[f64], mut take: impl FnMut(f64, f64, f64, f64)) -> Option<()> {
    if first.is_empty() || second.is_empty() {
        return None;
    }
    let [a, b] = [first, second].map(|s| {
        let mut sorted = s.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted
    });
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let next = |i: usize, j: usize| match (a.get(i), b.get(j)) {
            (Some(x), Some(y)) => x.min(*y),
            (Some(x), None) => *x,
            (None, Some(y)) => *y,
            (None, None) => f64::NAN,
        };
        let at = next(i, j);
        while a.get(i).is_some_and(|v| *v == at) {
            i += 1;
        }
        while b.get(j).is_some_and(|v| *v == at) {
            j += 1;
        }
        let to = if i < a.len() || j < b.len() { next(i, j) } else { at };
        take(at, to, i as f64 / a.len() as f64, j as f64 / b.len() as f64);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use oorandom::Rand64;

    #[test]
    fn by_hand() {
        let (a, b) = ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]);
        // Wholly apart; each value moves by 3. Two of 20 ways are as far apart.
        assert_eq!(ks(&a, &b), Some(1.0));
        assert!((wasserstein(&a, &b).expect("values") - 3.0).abs() < 1e-12);
        assert_eq!((ks(&a, &a), wasserstein(&a, &a)), (Some(0.0), Some(0.0)));
        // Of unlike sizes: 0 against 0 and 1: half of the one has to move by 1.
        assert_eq!((ks(&[0.0], &[0.0, 1.0]), wasserstein(&[0.0], &[0.0, 1.0])), (Some(0.5), Some(0.5)));
        assert_eq!((ks(&[], &b), wasserstein(&a, &[])), (None, None));
    }

    #[test]
    fn a_sample_that_is_moved_is_as_far_as_it_was_moved() {
        let mut random = Rand64::new(5);
        let a: Vec<f64> = (0..200).map(|_| random.rand_float()).collect();
        for by in [0.25, 2.0, -3.0] {
            let moved: Vec<f64> = a.iter().map(|v| v + by).collect();
            let w = wasserstein(&a, &moved).expect("values");
            assert!((w - by.abs()).abs() < 1e-9, "{w} for {by}");
            assert_eq!(ks(&a, &moved), ks(&moved, &a));
        }
    }

    #[test]
    fn ranks_by_hand() {
        // 1 2 3 against 4 5 6: U = 0; z = (4.5 − 0.5) / √5.25 = 1.7457
        let r = Ranked::new(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]);
        assert_eq!((r.u(), r.delta()), (0.0, -1.0));
        assert!((r.p() - 0.0809).abs() < 1e-4);
        // 1 2 2 against 2 3: ranks 1, 3, 3 and 3, 5; U = 1.
        let r = Ranked::new(&[1.0, 2.0, 2.0], &[2.0, 3.0]);
        assert_eq!(r.u(), 1.0);
        assert!((r.delta() + 2.0 / 3.0).abs() < 1e-12);
        // All alike: nothing is greater.
        let r = Ranked::new(&[7.0, 7.0], &[7.0, 7.0]);
        assert_eq!((r.delta(), r.p()), (0.0, 1.0));
        assert_eq!(Ranked::new(&[], &[1.0]).p(), 1.0);
    }

    #[test]
    fn who_is_first_does_not_matter_to_p_and_turns_delta_round() {
        for seed in 0..40 {
            let mut random = Rand64::new(seed);
            let mut sample = |n: usize| (0..n).map(|_| random.rand_range(0..9) as f64).collect::<Vec<_>>();
            let (a, b) = (sample(3 + seed as usize % 5), sample(6));
            let (x, y) = (Ranked::new(&a, &b), Ranked::new(&b, &a));
            assert!((x.p() - y.p()).abs() < 1e-12 && (0.0..=1.0).contains(&x.p()), "{a:?} {b:?}");
            assert!((x.delta() + y.delta()).abs() < 1e-12 && x.u() + y.u() == (a.len() * b.len()) as f64);
            // Whatever grows with values leaves ranks alone.
            let grown = |v: &[f64]| v.iter().map(|v| v.exp() + 3.0).collect::<Vec<_>>();
            assert_eq!(Ranked::new(&grown(&a), &grown(&b)), x);
        }
    }
}

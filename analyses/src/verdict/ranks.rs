//! Mann–Whitney's U and Cliff's delta: which of two samples has the greater values.
//!
//! *U* counts pairs in which the first sample's value is the greater one; ties count a half. *p* is two-sided. It is *exact*
//! where both samples together have [`EXACT`] values at most: of all ways to deal the values out into samples of these sizes, the
//! share in which U lies at least as far from its mean; ties are dealt out like all others, so that it is exact with ties, too.
//! Beyond, it is the normal approximation with corrections for ties and continuity. *Delta* is P(first greater) − P(second
//! greater) over all pairs, from −1 to 1.

use statrs::function::erf::erfc;

/// Values up to which p is exact. (Ways to deal 50 values out are below 2^53: each is counted exactly.)
pub const EXACT: usize = 50;

/// Twice each rank of values in order (ranks count from 1, and equals share the mean of theirs: whole numbers, with ties, too), and
/// Σ t³ − t over groups of equals.
pub(super) fn doubled_ranks(sorted: &[f64]) -> (Vec<usize>, f64) {
    let (mut doubled, mut ties, mut at) = (Vec::with_capacity(sorted.len()), 0.0, 0);
    while at < sorted.len() {
        let end = at + sorted[at..].iter().take_while(|v| **v == sorted[at]).count();
        let equal = (end - at) as f64;
        ties += equal * equal * equal - equal;
        doubled.resize(end, at + 1 + end);
        at = end;
    }
    (doubled, ties)
}

/// Two samples, ranked together.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    sizes: [usize; 2],
    /// U of the first.
    u: f64,
    /// Twice each value's rank: whole numbers, with ties, too.
    doubled: Vec<usize>,
    /// Σ t³ − t over groups of equals.
    ties: f64,
}

impl Ranked {
    /// Ranks them. Values are to be numbers.
    pub fn new(first: &[f64], second: &[f64]) -> Ranked {
        let mut all: Vec<(f64, bool)> =
            first.iter().map(|v| (*v, true)).chain(second.iter().map(|v| (*v, false))).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (doubled, ties) = doubled_ranks(&all.iter().map(|v| v.0).collect::<Vec<_>>());
        let twice: usize = all.iter().zip(&doubled).filter(|v| v.0.1).map(|v| v.1).sum();
        let n = first.len() as f64;
        Ranked {
            sizes: [first.len(), second.len()],
            u: twice as f64 / 2.0 - n * (n + 1.0) / 2.0,
            doubled,
            ties,
        }
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

    /// The better p of both.
    pub fn p(&self) -> f64 {
        if self.doubled.len() <= EXACT { self.exact_p() } else { self.normal_p() }
    }

    /// By the normal approximation.
    pub fn normal_p(&self) -> f64 {
        let [n, m] = self.sizes.map(|n| n as f64);
        let whole = n + m;
        let variance = n * m / 12.0 * (whole + 1.0 - self.ties / (whole * (whole - 1.0)));
        if variance <= 0.0 || variance.is_nan() {
            return 1.0;
        }
        let z = ((self.u - n * m / 2.0).abs() - 0.5).max(0.0) / variance.sqrt();
        erfc(z / std::f64::consts::SQRT_2).min(1.0)
    }

    /// By counting: `ways[k][s]` are the ways to choose k values whose doubled ranks add up to s.
    fn exact_p(&self) -> f64 {
        let n = self.sizes[0];
        if n == 0 || self.sizes[1] == 0 {
            return 1.0;
        }
        let most: usize = self.doubled.iter().sum();
        let mut ways = vec![vec![0.0f64; most + 1]; n + 1];
        ways[0][0] = 1.0;
        let mut reached = 0;
        for (seen, rank) in self.doubled.iter().enumerate() {
            reached += rank;
            for k in (1..=n.min(seen + 1)).rev() {
                let (fewer, these) = ways.split_at_mut(k);
                for s in *rank..=reached {
                    these[0][s] += fewer[k - 1][s - rank];
                }
            }
        }
        // U less its mean, in doubled ranks: whole numbers.
        let centre = n * (self.doubled.len() + 1);
        let seen = (2.0 * self.u) as usize + n * (n + 1);
        let far = |s: usize| s.abs_diff(centre) >= seen.abs_diff(centre);
        let all: f64 = ways[n].iter().sum();
        let beyond: f64 = ways[n].iter().enumerate().filter(|w| far(w.0)).map(|w| w.1).sum();
        (beyond / all).min(1.0)
    }
}

/// The least p that samples of these sizes can have: both lie wholly apart.
pub fn least_p(n: usize, m: usize) -> f64 {
    if n > 0 && m > 0 && n + m <= EXACT {
        // Two ways of all there are to choose n values.
        return (1..=n).fold(2.0, |p, k| p * k as f64 / (m + k) as f64).min(1.0);
    }
    let apart: Vec<f64> = (0..n + m).map(|v| v as f64).collect();
    Ranked::new(&apart[..n], &apart[n..]).p()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // 1 2 3 against 4 5 6: U = 0; of 20 ways to deal, two are as far out.
        let r = Ranked::new(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]);
        assert_eq!((r.u(), r.delta(), r.p()), (0.0, -1.0, 0.1));
        // z = (4.5 − 0.5) / √5.25 = 1.7457
        assert!((r.normal_p() - 0.0809).abs() < 1e-4);
        // 1 2 2 against 2 3: ranks 1, 3, 3 and 3, 5; U = 1. Doubled ranks 2 6 6 6 10: sums of three are 14 (three ways), 18
        // (three ways: 2 6 10; and one: 6 6 6), 22 (three ways); the mean is 18, so 6 of 10 are as far out as 14.
        let r = Ranked::new(&[1.0, 2.0, 2.0], &[2.0, 3.0]);
        assert_eq!((r.u(), r.p()), (1.0, 0.6));
        assert!((r.delta() + 2.0 / 3.0).abs() < 1e-12);
        // All alike: nothing is greater.
        let r = Ranked::new(&[7.0, 7.0], &[7.0, 7.0]);
        assert_eq!((r.delta(), r.p(), r.normal_p()), (0.0, 1.0, 1.0));
        assert_eq!(Ranked::new(&[], &[1.0]).p(), 1.0);
    }

    #[test]
    fn the_least_p_is_two_ways_of_all() {
        // 2 / C(10, 5), 2 / C(20, 10)
        assert!((least_p(5, 5) - 2.0 / 252.0).abs() < 1e-12);
        assert!((least_p(10, 10) - 2.0 / 184_756.0).abs() < 1e-15);
        assert!(least_p(4, 4) > 0.01);
        // The closed form is what counting comes to.
        for (n, m) in [(1, 2), (3, 4), (5, 9), (20, 20), (7, 43)] {
            let apart: Vec<f64> = (0..n + m).map(|v| v as f64).collect();
            let counted = Ranked::new(&apart[..n], &apart[n..]).p();
            assert!((least_p(n, m) / counted - 1.0).abs() < 1e-9, "{n} {m}");
        }
        assert_eq!(least_p(1, 1), 1.0);
    }

    #[test]
    fn who_is_first_does_not_matter_to_p_and_turns_delta_round() {
        for seed in 0..40 {
            let mut random = crate::loop_times::stats::Random::new(seed);
            let mut sample = |n: usize| (0..n).map(|_| random.below(9) as f64).collect::<Vec<_>>();
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

//! Wilcoxon's signed ranks: whether one of two is the greater, pair by pair.
//!
//! *W* is the sum of ranks, by size, of the differences above 0; those of 0 are left out, equals share the mean of their ranks.
//! *p* is two-sided. It is *exact* up to [`EXACT`] differences: of all ways to give them signs, the share in which W lies at least
//! as far from its mean; with ties, too. Beyond, it is the normal approximation with corrections for ties and continuity.

use super::ranks::{EXACT, doubled_ranks};
use statrs::function::erf::erfc;

/// Differences, ranked.
struct Signed {
    /// Twice each one's rank: whole numbers, with ties, too.
    doubled: Vec<usize>,
    /// Σ t³ − t over groups of equals.
    ties: f64,
    /// Twice the distance of the doubled W to its mean.
    far: usize,
}

impl Signed {
    fn new(differences: &[f64]) -> Signed {
        let mut by: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
        by.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
        let (doubled, ties) = doubled_ranks(&by.iter().map(|d| d.abs()).collect::<Vec<_>>());
        let above: usize = by.iter().zip(&doubled).filter(|d| *d.0 > 0.0).map(|d| d.1).sum();
        let far = (2 * above).abs_diff(doubled.iter().sum());
        Signed { doubled, ties, far }
    }

    fn normal_p(&self) -> f64 {
        let n = self.doubled.len() as f64;
        let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - self.ties / 48.0;
        let z = (self.far as f64 / 4.0 - 0.5).max(0.0) / variance.sqrt();
        erfc(z / std::f64::consts::SQRT_2).min(1.0)
    }

    /// By counting: `ways[s]` is the share of all signs with which the doubled ranks of those above 0 add up to s.
    fn exact_p(&self) -> f64 {
        let all: usize = self.doubled.iter().sum();
        let mut ways = vec![0.0f64; all + 1];
        ways[0] = 1.0;
        let mut reached = 0;
        for &rank in &self.doubled {
            reached += rank;
            for s in (0..=reached).rev() {
                let with = if s >= rank { ways[s - rank] } else { 0.0 };
                ways[s] = 0.5 * (ways[s] + with);
            }
        }
        let beyond = ways.iter().enumerate().filter(|w| (2 * w.0).abs_diff(all) >= self.far);
        beyond.map(|w| w.1).sum::<f64>().min(1.0)
    }
}

/// Two-sided p of differences; 1 where all are 0.
pub fn signed_p(differences: &[f64]) -> f64 {
    let signed = Signed::new(differences);
    if signed.doubled.len() <= EXACT { signed.exact_p() } else { signed.normal_p() }
}

/// The least p that so many pairs can have: all of one sign.
pub fn least_signed_p(pairs: usize) -> f64 {
    2.0f64.powi(1 - pairs.min(1000) as i32).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // 1 2 3, all above: one way of 8 each way.
        assert_eq!(signed_p(&[1.0, 2.0, 3.0]), 0.25);
        assert_eq!(signed_p(&[-3.0, -1.0, -2.0]), 0.25);
        // 1 −2 3: W = 4 of 6; sums of subsets at least one from 3: all but the two that are 3.
        assert_eq!(signed_p(&[1.0, -2.0, 3.0]), 0.75);
        // Equals: ranks 1.5 and 1.5; W = 3, 1.5, 0.
        assert_eq!([signed_p(&[2.0, 2.0]), signed_p(&[2.0, -2.0])], [0.5, 1.0]);
        // What does not differ is left out.
        assert_eq!(signed_p(&[0.0, 1.0, 2.0, 3.0]), 0.25);
        assert_eq!((signed_p(&[0.0]), signed_p(&[])), (1.0, 1.0));
        for n in 1..=12 {
            let all: Vec<f64> = (1..=n).map(f64::from).collect();
            assert!((signed_p(&all) / least_signed_p(n as usize) - 1.0).abs() < 1e-12, "{n}");
        }
    }

    #[test]
    fn without_an_effect_p_is_no_smaller_than_it_says_and_meets_its_approximation() {
        let mut random = crate::loop_times::stats::Random::new(4);
        let mut of = |n: usize| (0..n).map(|_| random.unit() - 0.5).collect::<Vec<f64>>();
        let found = (0..2000).filter(|_| signed_p(&of(12)) <= 0.05).count();
        assert!((60..=140).contains(&found), "{found}");
        // Of as many as are counted the approximation is much the same, with ties, too.
        for grain in [1e-9, 0.1] {
            for _ in 0..20 {
                let many: Vec<f64> = of(EXACT).iter().map(|d| (d / grain).round() * grain).collect();
                let signed = Signed::new(&many);
                let (exact, near) = (signed.exact_p(), signed.normal_p());
                assert!((exact - near).abs() < 0.02, "{exact} {near}");
            }
        }
    }
}

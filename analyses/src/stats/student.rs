//! Means and differences of means, as well as few values let them be known: Student's t.
//!
//! *Of one sample* (of pairs: of their differences): mean ± t·s/√n, with n − 1 degrees of freedom. *Of two samples*: the difference of
//! their means, whose error is √(s₁²/n₁ + s₂²/n₂), with Welch and Satterthwaite's degrees of freedom. *p* is two-sided, of no mean
//! (no difference): the same t. Guarantees: p is at most 1 − level exactly where the interval of that level holds no 0. Refuses
//! fewer than two values a sample. Against SciPy: golden.json.

use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::beta::beta_reg;

/// A mean, or a difference of two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The estimate.
    pub at: f64,
    /// Its standard error; 0 where values do not differ at all, which says nothing of how well it is known.
    pub error: f64,
    /// Degrees of freedom.
    pub freedom: f64,
}

/// Mean, and its variance; that of values which differ in their last digits alone is 0.
fn mean(values: &[f64]) -> Option<(f64, f64)> {
    let n = values.len() as f64;
    if values.len() < 2 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n;
    let (least, most) =
        values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)));
    if most - least <= 1e-12 * least.abs().max(most.abs()).max(1e-3) {
        return Some((mean, 0.0));
    }
    Some((mean, values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0) / n))
}

impl Estimate {
    /// The mean of a sample.
    pub fn of(values: &[f64]) -> Option<Estimate> {
        let (at, variance) = mean(values)?;
        Some(Estimate { at, error: variance.sqrt(), freedom: values.len() as f64 - 1.0 })
    }

    /// How much greater the second sample's mean is.
    pub fn difference(first: &[f64], second: &[f64]) -> Option<Estimate> {
        let ((a, v), (b, w)) = (mean(first)?, mean(second)?);
        let [n, m] = [first, second].map(|s| s.len() as f64 - 1.0);
        let whole = v + w;
        let freedom = if whole > 0.0 { whole * whole / (v * v / n + w * w / m) } else { n + m };
        Some(Estimate { at: b - a, error: whole.sqrt(), freedom })
    }

    /// Half the interval's width at the level 1 − `alpha`.
    pub fn half(&self, alpha: f64) -> f64 {
        self.error * quantile(1.0 - alpha / 2.0, self.freedom)
    }

    /// Two-sided p of 0.
    pub fn p(&self) -> f64 {
        if self.at == 0.0 {
            return 1.0;
        }
        let t = self.at / self.error;
        // (of no error: t is infinite, and p 0)
        beta_reg(self.freedom / 2.0, 0.5, (self.freedom / (self.freedom + t * t)).clamp(0.0, 1.0))
    }
}

/// Student's t: its quantile.
pub fn quantile(p: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom.max(1.0)).map_or(f64::INFINITY, |t| t.inverse_cdf(p))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // 98 99 100 101 102: s² = 2.5, of the mean 0.5; t of 4 degrees at 99.5 % is 4.6041.
        let base = [99.0, 101.0, 100.0, 98.0, 102.0];
        let one = Estimate::of(&base).expect("five");
        assert_eq!((one.at, one.freedom), (100.0, 4.0));
        assert!((one.half(0.01) - 4.6041 * 0.5f64.sqrt()).abs() < 1e-4, "{one:?}");
        // Two such samples: 1 in all, as many degrees as both; t of 8 degrees is 3.3554.
        let other = base.map(|v| v + 3.0);
        let two = Estimate::difference(&base, &other).expect("five");
        assert!((two.at - 3.0).abs() < 1e-12 && (two.freedom - 8.0).abs() < 1e-12, "{two:?}");
        assert!((two.half(0.01) - 3.3554).abs() < 1e-4, "{two:?}");
        // One degree is Cauchy's distribution: p of t = 1 is 1/2.
        let cauchy = Estimate { at: 1.0, error: 1.0, freedom: 1.0 };
        assert!((cauchy.p() - 0.5).abs() < 1e-12);
    }

    #[test]
    fn the_interval_and_p_agree() {
        let mut random = oorandom::Rand64::new(3);
        for n in 2..40 {
            let values: Vec<f64> = (0..n).map(|_| random.rand_float() - 0.3).collect();
            let e = Estimate::of(&values).expect("two");
            for alpha in [0.01, 0.05, 0.3] {
                assert_eq!(e.p() <= alpha, e.at.abs() >= e.half(alpha), "{e:?} {alpha}");
            }
        }
    }

    #[test]
    fn too_few_and_values_that_do_not_differ() {
        assert_eq!((Estimate::of(&[1.0]), Estimate::difference(&[1.0, 2.0], &[1.0])), (None, None));
        // (the last digits of numbers that are meant to be the same are no difference)
        let same = Estimate::of(&[0.1 + 0.2, 0.3, 0.3]).expect("three");
        assert!(same.error == 0.0 && same.p() == 0.0, "{same:?}");
        assert_eq!(Estimate::difference(&[2.0, 2.0], &[2.0, 2.0]).map(|e| e.p()), Some(1.0));
    }
}

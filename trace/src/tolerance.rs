//! How far values of two pictures may be apart, and how many of them: `--image-tolerance`.
//!
//! One number says it: by how many units in the last place (ULP) of a 32-bit float the results of shaders may differ, e. A format
//! keeps `b` significant bits of such a result, whose float has 24, so that e ULP are `e · 2^(b-24)` of its steps:
//!
//! | | a value may be off by | and so may be | by any finite distance may be off |
//! |---|---|---|---|
//! | 32-bit floats (b = 24) | e ULP | all | the share `64 e · 2^-24` |
//! | UNORM and SRGB of b bits, smaller floats | `e · 2^(b-24)` steps, one at least | the share `e · 2^(b-24)`, one value at least | the share `64 e · 2^-24` |
//! | whole numbers, and bytes that are no texels | nothing | none | none |
//!
//! The third column is what branches do: a comparison of floats turns out otherwise where they lie within e ULP of each other, which of
//! evenly spread numbers is the share `e · 2^-24`, and a value may hang on [`COMPARISONS`] of them (a path tracer's: which triangle is
//! hit, which way a path goes on). Met on GPUs: 14 of 230,400 values of RayTracingInVulkan's Cornell box, by up to 41 steps.
//!
//! The second row is what rounding does: a result moves to the next step of the format where it lay within e ULP of the middle
//! between two, which of evenly spread results is that share; and Vulkan lets a conversion to a normalized format choose either of
//! the two steps around a result. With [`USUAL_ULPS`] it is one step in 2^-10, about a thousandth, of 8-bit values.
//! Numbers that are none (NaN) are alike; infinities are to themselves.

use std::fmt;
use std::str::FromStr;

/// What results may differ by where nothing else was said. Vulkan gives a division 2.5 ULP, a square root 3 or so, powers and
/// exponentials more, and leaves a compiler free to fuse a multiplication with an addition: dozens of such steps.
pub const USUAL_ULPS: u32 = 64;

/// Comparisons of floats that a value may hang on.
pub const COMPARISONS: u32 = 64;

/// Significant bits of a 32-bit float.
const FLOAT_BITS: i32 = 24;

/// See the module's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tolerance(Option<u32>);

impl Tolerance {
    /// Nothing may differ.
    pub const EXACT: Tolerance = Tolerance(None);

    /// Results may differ by so many ULP of 32-bit floats.
    pub fn ulps(ulps: u32) -> Self {
        Tolerance(Some(ulps))
    }

    /// What e ULP are in steps of a format with so many significant bits.
    fn steps(self, bits: u32) -> Option<f64> {
        Some(f64::from(self.0?) * f64::powi(2.0, bits as i32 - FLOAT_BITS))
    }

    /// How many steps of the format a value with so many significant bits may be off.
    pub fn most_off(self, bits: u32) -> f64 {
        self.steps(bits).map_or(0.0, |s| s.max(1.0))
    }

    /// How many of so many values may be off by any finite distance.
    pub fn most_far(self, values: u64) -> u64 {
        let share = self.steps(0).unwrap_or(0.0) * f64::from(COMPARISONS);
        (share.min(1.0) * values as f64) as u64
    }

    /// How many of so many values with so many significant bits may be off at all.
    pub fn most_values(self, bits: u32, values: u64) -> u64 {
        match self.steps(bits) {
            None => 0,
            Some(share) if share >= 1.0 => values,
            Some(share) => ((share * values as f64) as u64).max(1),
        }
    }
}

impl Default for Tolerance {
    fn default() -> Self {
        Tolerance::ulps(USUAL_ULPS)
    }
}

impl FromStr for Tolerance {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse()) {
            ("exact", _) => Ok(Tolerance::EXACT),
            (_, Ok(ulps)) if ulps > 0 => Ok(Tolerance::ulps(ulps)),
            _ => Err(format!(
                "\"{text}\": expected exact, or how many ULP of 32-bit floats, as in {USUAL_ULPS}"
            )),
        }
    }
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("exact"),
            Some(ulps) => write!(f, "{ulps}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rounding_does() {
        let usual = Tolerance::default();
        // 64 = 2^6 ULP of 2^-24 are 2^-10 steps of 2^-8.
        assert_eq!((usual.most_off(8), usual.most_values(8, 1 << 20)), (1.0, 1 << 10));
        assert_eq!((usual.most_off(10), usual.most_values(10, 1 << 20)), (1.0, 1 << 12));
        assert_eq!((usual.most_off(24), usual.most_values(24, 77)), (64.0, 77));
        // 64 comparisons of 2^-18 each: of a small picture no value may be far off.
        assert_eq!((usual.most_far(1 << 20), usual.most_far(4095)), (1 << 8, 0));
        assert_eq!((Tolerance::ulps(1 << 24).most_far(9), Tolerance::EXACT.most_far(1 << 30)), (9, 0));
        // One value of a small picture may always be off.
        assert_eq!(usual.most_values(8, 3), 1);
        // Four steps of 8 bits are 2^18 ULP.
        assert_eq!(
            (Tolerance::ulps(1 << 18).most_off(8), Tolerance::ulps(1 << 18).most_values(8, 9)),
            (4.0, 9)
        );
        assert_eq!((Tolerance::EXACT.most_off(24), Tolerance::EXACT.most_values(24, 9)), (0.0, 0));
    }

    #[test]
    fn words() {
        for text in ["exact", "64", "1"] {
            assert_eq!(text.parse::<Tolerance>().map(|t| t.to_string()).as_deref(), Ok(text));
        }
        assert_eq!(Tolerance::default().to_string(), "64");
        for text in ["", "0", "-1", "1.5", "Exact"] {
            assert!(text.parse::<Tolerance>().is_err(), "{text}");
        }
    }
}

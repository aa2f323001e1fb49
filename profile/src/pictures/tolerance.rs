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

use crate::hooks::screenshot::format::Stored;
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

/// How many steps of their format two values are apart, and its significant bits; infinitely many where nothing is between them
/// that could be rounded.
pub fn apart(a: Stored, b: Stored) -> (f64, u32) {
    match (a, b) {
        (Stored::Steps(x, bits), Stored::Steps(y, _)) => (f64::from(x.abs_diff(y)), bits),
        (Stored::Number { value: x, bits, spacing: s }, Stored::Number { value: y, spacing: t, .. }) => {
            let off = match (x == y || x.is_nan() && y.is_nan(), x.is_finite() && y.is_finite()) {
                (true, _) => 0.0,
                (false, true) => (x - y).abs() / s.max(t),
                (false, false) => f64::INFINITY,
            };
            (off, bits)
        }
        (a, b) => (if a == b { 0.0 } else { f64::INFINITY }, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::screenshot::format::stored;
    use replay::ash::vk::Format as F;

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
    fn distances_in_steps() {
        let of = |format, a: &[u8], b: &[u8]| apart(stored(format, a)[0], stored(format, b)[0]).0;
        let float = |a: f32, b: f32| of(F::R32_SFLOAT, &a.to_le_bytes(), &b.to_le_bytes());
        assert_eq!(of(F::R8_SRGB, &[205], &[204]), 1.0);
        assert_eq!(of(F::R8_UINT, &[205], &[204]), f64::INFINITY);
        assert_eq!(of(F::R8_UINT, &[205], &[205]), 0.0);
        assert_eq!(float(1.0, f32::from_bits(1f32.to_bits() + 3)), 3.0);
        assert_eq!(float(1000.0, f32::from_bits(1000f32.to_bits() - 5)), 5.0);
        assert_eq!((float(0.0, -0.0), float(f32::NAN, -f32::NAN)), (0.0, 0.0));
        assert_eq!(float(f32::INFINITY, f32::MAX), f64::INFINITY);
        assert_eq!(float(f32::INFINITY, f32::INFINITY), 0.0);
        assert_eq!(float(1.0, f32::NAN), f64::INFINITY);
        // What is smaller than the smallest normal number may be zero.
        assert!(float(1e-40, 0.0) < 1.0);
        // Half floats: 1.0 and the next one, 1 + 2^-10.
        assert_eq!(of(F::R16_SFLOAT, &0x3C00u16.to_le_bytes(), &0x3C01u16.to_le_bytes()), 1.0);
        // 10 bits of 32.
        let word = |r: u32| r.to_le_bytes();
        assert_eq!(of(F::A2B10G10R10_UNORM_PACK32, &word(1023), &word(1020)), 3.0);
        // Blue first in memory: the first channel is red all the same.
        assert_eq!(of(F::B8G8R8A8_UNORM, &[9, 9, 7, 9], &[1, 1, 5, 1]), 2.0);
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

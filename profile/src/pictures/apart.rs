//! How far two stored values are apart, in steps of their format.

use crate::hooks::screenshot::format::Stored;

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
}

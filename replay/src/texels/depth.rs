//! Depths of one format as those of another: 16 and 24 bits from 0 to 1, and floats.
//!
//! Guarantees: depths of 16 and 24 bits are found again in what they became in a wider one. Floats beyond 0 and 1 are cut off in 24
//! bits, and what is between two of these becomes the nearer one. Refuses (by `None`) formats without depth that every device has.

use world::formats::{DEPTH, STENCIL, aspects};

/// How a depth is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// 16 bits, from 0 to 1.
    D16,
    /// The lower 24 bits of 32.
    D24,
    /// A float.
    D32,
}

impl Depth {
    /// For a VkFormat with depth; D16_UNORM alone is on every device.
    pub fn of(format: u32) -> Option<Self> {
        match format {
            125 | 129 => Some(Depth::D24),
            126 | 130 => Some(Depth::D32),
            128 => Some(Depth::D16),
            _ => None,
        }
    }

    /// Of a texel in a buffer.
    pub fn bytes(self) -> usize {
        if self == Depth::D16 { 2 } else { 4 }
    }

    /// As shaders/pack.comp names it: its bits, of a float none.
    pub fn kind(self) -> u32 {
        match self {
            Depth::D16 => 16,
            Depth::D24 => 24,
            Depth::D32 => 0,
        }
    }

    /// One depth, as a stand-in of this format has it.
    pub(super) fn convert(self, from: &[u8], stand_in: u32, out: &mut [u8]) {
        let bits = from.iter().rev().fold(0u32, |all, b| all << 8 | u32::from(*b));
        let value = match self {
            Depth::D32 => f64::from(f32::from_bits(bits)),
            _ => f64::from(bits & self.most()) / f64::from(self.most()),
        };
        let to = Depth::of(stand_in).unwrap_or(self);
        let bits = match to {
            Depth::D32 => (value as f32).to_bits(),
            // (what is no number becomes 0)
            _ => (value.clamp(0.0, 1.0) * f64::from(to.most())).round() as u32,
        };
        out[..to.bytes()].copy_from_slice(&bits.to_le_bytes()[..to.bytes()]);
    }

    /// The number that means 1.
    fn most(self) -> u32 {
        (1 << self.kind()) - 1
    }
}

/// Whether a format has stencil beside depth.
pub(super) fn has_stencil(format: u32) -> bool {
    aspects(format as i32) == [DEPTH, STENCIL]
}

//! Colour formats whose channels are all in a wider one: three channels, and channels of a few bits.
//!
//! Formats and layouts are the registry's. Guarantees: each value of a channel becomes another one, from which it follows again.
//! Refuses (by `None`) all other formats.

/// The fourth channel of a format of three: how many bytes each has, and one as its bits.
pub(super) fn three(format: u32) -> Option<(usize, u32)> {
    // By kind: UNORM, SNORM, USCALED, SSCALED, UINT, SINT, and of the first size SRGB, of the second SFLOAT.
    let kind = |first: u32| (format - first) as usize;
    Some(match format {
        23..=29 => (1, [255, 127, 1, 1, 1, 1, 255][kind(23)]),
        30..=36 => (1, [255, 127, 1, 1, 1, 1, 255][kind(30)]),
        84..=90 => (2, [0xFFFF, 0x7FFF, 1, 1, 1, 1, 0x3C00][kind(84)]),
        104..=106 => (4, [1, 1, 1.0f32.to_bits()][kind(104)]),
        _ => return None,
    })
}

/// Where the channels of a packed format are: the first bit and the bits of red, green, blue and alpha; no bits where it lacks one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed {
    /// Of a texel.
    pub bytes: usize,
    /// See there.
    pub channels: [(u32, u32); 4],
}

impl Packed {
    /// For a VkFormat.
    pub fn of(format: u32) -> Option<Self> {
        const NONE: (u32, u32) = (0, 0);
        let (bytes, channels) = match format {
            1 => (1, [(4, 4), (0, 4), NONE, NONE]),                   // R4G4
            2 => (2, [(12, 4), (8, 4), (4, 4), (0, 4)]),              // R4G4B4A4
            3 => (2, [(4, 4), (8, 4), (12, 4), (0, 4)]),              // B4G4R4A4
            4 => (2, [(11, 5), (5, 6), (0, 5), NONE]),                // R5G6B5
            5 => (2, [(0, 5), (5, 6), (11, 5), NONE]),                // B5G6R5
            6 => (2, [(11, 5), (6, 5), (1, 5), (0, 1)]),              // R5G5B5A1
            7 => (2, [(1, 5), (6, 5), (11, 5), (0, 1)]),              // B5G5R5A1
            8 => (2, [(10, 5), (5, 5), (0, 5), (15, 1)]),             // A1R5G5B5
            1_000_340_000 => (2, [(8, 4), (4, 4), (0, 4), (12, 4)]),  // A4R4G4B4
            1_000_340_001 => (2, [(0, 4), (4, 4), (8, 4), (12, 4)]),  // A4B4G4R4
            1_000_470_000 => (2, [(0, 5), (5, 5), (10, 5), (15, 1)]), // A1B5G5R5
            1_000_470_001 => (1, [NONE, NONE, NONE, (0, 8)]),         // A8
            _ => return None,
        };
        Some(Packed { bytes, channels })
    }

    /// A texel in 8 bits a channel, rounded to the nearest; what is missing is 0, and alpha 1.
    pub(super) fn texel(self, bytes: &[u8]) -> [u8; 4] {
        let bits = bytes.iter().rev().fold(0u32, |all, b| all << 8 | u32::from(*b));
        std::array::from_fn(|i| match self.channels[i] {
            (_, 0) => {
                if i == 3 {
                    255
                } else {
                    0
                }
            }
            (first, n) => {
                let most = (1 << n) - 1;
                (((bits >> first & most) * 255 * 2 + most) / (most * 2)) as u8
            }
        })
    }
}

/// Channels that a format has: red, green, blue, alpha; all of those that are not known here.
pub fn channels(format: u32) -> [bool; 4] {
    match (three(format), Packed::of(format)) {
        (Some(_), _) => [true, true, true, false],
        (_, Some(p)) => p.channels.map(|c| c.1 > 0),
        _ => [true; 4],
    }
}

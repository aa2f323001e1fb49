//! What is known of image formats without a driver: their aspects, and the bytes of a texel block in each.
//!
//! Formats and aspects are the registry's numbers. Guarantees: the numbers of the specification's table of compatible
//! formats. Refuses (by `None`) formats it does not know.

/// VK_IMAGE_ASPECT_COLOR_BIT.
pub const COLOR: u32 = 1;
/// VK_IMAGE_ASPECT_DEPTH_BIT.
pub const DEPTH: u32 = 2;
/// VK_IMAGE_ASPECT_STENCIL_BIT.
pub const STENCIL: u32 = 4;
/// VK_IMAGE_ASPECT_PLANE_0_BIT; the next ones are twice and four times that.
pub const PLANE_0: u32 = 0x10;

/// One aspect (of depth and stencil formats) or plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plane {
    /// As subresources of copies name it.
    pub aspect: u32,
    /// Bytes of a block when copied to a buffer.
    pub block_bytes: u32,
    /// Texels of a block.
    pub block: (u32, u32),
    /// How much smaller the plane is than the image.
    pub divided: (u32, u32),
}

/// Aspects whose subresources are told apart, in a fixed order: colour; depth, stencil; planes.
pub fn aspects(format: i32) -> &'static [u32] {
    match format {
        124..=126 => &[DEPTH],
        127 => &[STENCIL],
        128..=130 => &[DEPTH, STENCIL],
        _ => match planar(format).map_or(1, |p| p.0) {
            3 => &[PLANE_0, PLANE_0 * 2, PLANE_0 * 4],
            2 => &[PLANE_0, PLANE_0 * 2],
            _ => &[COLOR],
        },
    }
}

/// Planes, bytes of a component, how much smaller the planes after the first are; of multi-planar formats.
fn planar(raw: i32) -> Option<(u32, u32, (u32, u32))> {
    const FIRST: i32 = 1_000_156_000;
    const TWO_444: i32 = 1_000_330_000;
    if (TWO_444..TWO_444 + 4).contains(&raw) {
        return Some((2, if raw == TWO_444 { 1 } else { 2 }, (1, 1)));
    }
    let (component, nth) = match raw - FIRST {
        n @ 2..=6 => (1, n - 2),
        n @ 12..=16 => (2, n - 12),
        n @ 22..=26 => (2, n - 22),
        n @ 29..=33 => (2, n - 29),
        _ => return None,
    };
    Some(match nth {
        0 => (3, component, (2, 2)),
        1 => (2, component, (2, 2)),
        2 => (3, component, (2, 1)),
        3 => (2, component, (2, 1)),
        _ => (3, component, (1, 1)),
    })
}

/// Every aspect or plane with its block, in the order of [`aspects`].
pub fn planes(format: i32) -> Option<Vec<Plane>> {
    let one = |aspect, block_bytes| Plane { aspect, block_bytes, block: (1, 1), divided: (1, 1) };
    if let Some((count, component, divided)) = planar(format) {
        let rest = if count == 2 { component * 2 } else { component };
        let plane = |i: usize, aspect| {
            let (block_bytes, divided) = if i == 0 { (component, (1, 1)) } else { (rest, divided) };
            Plane { aspect, block_bytes, block: (1, 1), divided }
        };
        return Some(aspects(format).iter().enumerate().map(|(i, a)| plane(i, *a)).collect());
    }
    // (depths of 24 bits come in 32)
    let depth = if matches!(format, 124 | 128) { 2 } else { 4 };
    match aspects(format) {
        [COLOR] => {
            let (block_bytes, block) = color(format)?;
            Some(vec![Plane { aspect: COLOR, block_bytes, block, divided: (1, 1) }])
        }
        all => Some(all.iter().map(|a| one(*a, if *a == DEPTH { depth } else { 1 })).collect()),
    }
}

/// A side of a mip level: half as long as that of the level before, and never nothing.
pub fn level_size(side: u32, level: u32) -> u32 {
    side.checked_shr(level).unwrap_or(0).max(1)
}

/// Bytes and texels of a block of a colour format with one plane.
fn color(raw: i32) -> Option<(u32, (u32, u32))> {
    const ASTC: [(u32, u32); 14] = [
        (4, 4),
        (5, 4),
        (5, 5),
        (6, 5),
        (6, 6),
        (8, 5),
        (8, 6),
        (8, 8),
        (10, 5),
        (10, 6),
        (10, 8),
        (10, 10),
        (12, 10),
        (12, 12),
    ];
    let texel = |bytes| Some((bytes, (1, 1)));
    match raw {
        1 | 9..=15 | 1_000_470_001 => texel(1),
        2..=8 | 16..=22 | 70..=76 | 1_000_340_000 | 1_000_340_001 | 1_000_470_000 => texel(2),
        23..=36 => texel(3),
        37..=69 | 77..=83 | 98..=100 | 122 | 123 | 1_000_464_000 => texel(4),
        84..=90 => texel(6),
        91..=97 | 101..=103 | 110..=112 => texel(8),
        104..=106 => texel(12),
        107..=109 | 113..=115 => texel(16),
        116..=118 => texel(24),
        119..=121 => texel(32),
        131..=134 | 139 | 140 | 147..=150 | 153 | 154 => Some((8, (4, 4))),
        135..=138 | 141..=146 | 151 | 152 | 155 | 156 => Some((16, (4, 4))),
        157..=184 => Some((16, ASTC[(raw - 157) as usize / 2])),
        1_000_066_000..=1_000_066_013 => Some((16, ASTC[(raw - 1_000_066_000) as usize])),
        1_000_156_000 | 1_000_156_001 => Some((4, (2, 1))),
        1_000_156_007 | 1_000_156_017 => texel(2),
        1_000_156_008 | 1_000_156_018 => texel(4),
        1_000_156_009 | 1_000_156_019 => texel(8),
        1_000_156_010 | 1_000_156_011 | 1_000_156_020 | 1_000_156_021 | 1_000_156_027 | 1_000_156_028 => {
            Some((8, (2, 1)))
        }
        _ => None,
    }
}

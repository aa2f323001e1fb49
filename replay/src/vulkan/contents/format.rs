//! What copies need to know of a format: its aspects, and the bytes of a texel block in each.
//!
//! Guarantees: the numbers of the specification's table of compatible formats. Refuses (by `None`) formats it does not
//! know: such images are copied as a whole and never looked into.

use ash::vk;
use vk::ImageAspectFlags as A;

/// One aspect (of depth and stencil formats) or plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plane {
    /// As subresources of copies name it.
    pub aspect: A,
    /// Bytes of a block when copied to a buffer.
    pub block_bytes: u32,
    /// Texels of a block.
    pub block: (u32, u32),
    /// How much smaller the plane is than the image.
    pub divided: (u32, u32),
}

/// Aspects whose subresources are told apart, in a fixed order: colour; depth, stencil; planes.
pub fn aspects(format: vk::Format) -> &'static [A] {
    match format {
        vk::Format::D16_UNORM | vk::Format::X8_D24_UNORM_PACK32 | vk::Format::D32_SFLOAT => &[A::DEPTH],
        vk::Format::S8_UINT => &[A::STENCIL],
        vk::Format::D16_UNORM_S8_UINT | vk::Format::D24_UNORM_S8_UINT | vk::Format::D32_SFLOAT_S8_UINT => {
            &[A::DEPTH, A::STENCIL]
        }
        _ => match planar(format).map_or(1, |p| p.0) {
            3 => &[A::PLANE_0, A::PLANE_1, A::PLANE_2],
            2 => &[A::PLANE_0, A::PLANE_1],
            _ => &[A::COLOR],
        },
    }
}

/// Planes, bytes of a component, how much smaller the planes after the first are; of multi-planar formats.
fn planar(format: vk::Format) -> Option<(u32, u32, (u32, u32))> {
    const FIRST: i32 = 1_000_156_000;
    const TWO_444: i32 = 1_000_330_000;
    let raw = format.as_raw();
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
pub fn planes(format: vk::Format) -> Option<Vec<Plane>> {
    let one = |aspect, block_bytes| Plane { aspect, block_bytes, block: (1, 1), divided: (1, 1) };
    if let Some((count, component, divided)) = planar(format) {
        let rest = if count == 2 { component * 2 } else { component };
        let plane = |i: usize, aspect| {
            let (block_bytes, divided) = if i == 0 { (component, (1, 1)) } else { (rest, divided) };
            Plane { aspect, block_bytes, block: (1, 1), divided }
        };
        return Some(aspects(format).iter().enumerate().map(|(i, a)| plane(i, *a)).collect());
    }
    let depth = match format {
        vk::Format::D16_UNORM | vk::Format::D16_UNORM_S8_UINT => 2,
        _ => 4,
    };
    match aspects(format) {
        [A::COLOR] => {
            let (block_bytes, block) = color(format.as_raw())?;
            Some(vec![Plane { aspect: A::COLOR, block_bytes, block, divided: (1, 1) }])
        }
        all => Some(all.iter().map(|a| one(*a, if *a == A::DEPTH { depth } else { 1 })).collect()),
    }
}

/// Depths of 24 bits come in 32, of which 8 mean nothing.
pub fn is_depth_24(format: vk::Format, aspect: A) -> bool {
    aspect == A::DEPTH && matches!(format, vk::Format::X8_D24_UNORM_PACK32 | vk::Format::D24_UNORM_S8_UINT)
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

#[cfg(test)]
mod tests {
    use super::*;
    use vk::Format as F;

    fn bytes(f: F) -> Vec<u32> {
        planes(f).unwrap_or_default().iter().map(|p| p.block_bytes).collect()
    }

    #[test]
    fn blocks_are_those_of_the_specification() {
        for (format, expected) in [
            (F::R8_UNORM, vec![1]),
            (F::R5G6B5_UNORM_PACK16, vec![2]),
            (F::B8G8R8_SRGB, vec![3]),
            (F::A2B10G10R10_SINT_PACK32, vec![4]),
            (F::R16G16B16_SFLOAT, vec![6]),
            (F::R32G32_SFLOAT, vec![8]),
            (F::R64G64B64A64_SFLOAT, vec![32]),
            (F::E5B9G9R9_UFLOAT_PACK32, vec![4]),
            (F::D24_UNORM_S8_UINT, vec![4, 1]),
            (F::D16_UNORM_S8_UINT, vec![2, 1]),
            (F::BC1_RGBA_SRGB_BLOCK, vec![8]),
            (F::BC7_SRGB_BLOCK, vec![16]),
            (F::EAC_R11_SNORM_BLOCK, vec![8]),
            (F::G8_B8R8_2PLANE_420_UNORM, vec![1, 2]),
            (F::G16_B16_R16_3PLANE_444_UNORM, vec![2, 2, 2]),
            (F::G10X6_B10X6R10X6_2PLANE_444_UNORM_3PACK16, vec![2, 4]),
            (F::UNDEFINED, vec![]),
        ] {
            assert_eq!(bytes(format), expected, "{format:?}");
        }
        let block = |f| planes(f).expect("known")[0].block;
        assert_eq!(block(F::ASTC_12X12_SRGB_BLOCK), (12, 12));
        assert_eq!(block(F::ASTC_5X4_SFLOAT_BLOCK), (5, 4));
        assert_eq!(block(F::B8G8R8G8_422_UNORM), (2, 1));
        let chroma = planes(F::G8_B8_R8_3PLANE_422_UNORM).expect("known")[2];
        assert_eq!((chroma.aspect, chroma.divided), (A::PLANE_2, (2, 1)));
    }
}

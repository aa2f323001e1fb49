//! Which formats can stand in for one that a device lacks, the best first; formats are the registry's numbers.
//!
//! Guarantees: sRGB stands in for sRGB, UNORM for UNORM, and so on for each kind of number, but for depth; channels of more than 8
//! bits have 16, and 8 only where the device lacks those; stencil has all of its bits. Refuses (by an empty list) what [`Codec`] does
//! not read.

use super::codec::Codec;
use super::texel::{D24, D24S8, D32, D32S8, R8, R16, RG8, RG16, RGBA8, RGBA8_SRGB, RGBA16_FLOAT};
use std::ops::RangeInclusive;
use world::formats::COLOR;

/// The formats that can, the best first.
pub fn stand_ins(format: u32) -> Vec<u32> {
    match Codec::of(format, COLOR) {
        None => Vec::new(),
        Some(Codec::Bc45 { channels, signed } | Codec::Eac { channels, signed }) => {
            let all = if channels == 1 { [R16, R8] } else { [RG16, RG8] };
            all.map(|f| f + u32::from(signed)).to_vec()
        }
        Some(Codec::Bc6 { .. }) => vec![RGBA16_FLOAT],
        // The formats of four channels follow those of three in the same order, of 8 bits behind both orders of three.
        Some(Codec::Three { bytes, .. }) => vec![format + [14, 7, 3][bytes / 2]],
        Some(Codec::Packed(_)) => vec![RGBA8],
        Some(Codec::Depth(_)) => match format {
            D24 => vec![D32],
            D32 => vec![D24],
            D24S8 => vec![D32S8],
            D32S8 => vec![D24S8],
            _ => vec![D24S8, D32S8],
        },
        // Of each two compressed formats the second is the one in sRGB; BC and ETC2 begin at odd numbers, and so does ASTC.
        Some(_) => vec![if format.is_multiple_of(2) { RGBA8_SRGB } else { RGBA8 }],
    }
}

/// The formats that views of such images may be of, or copies of texels as they are: these are replaced together.
pub fn family(format: u32) -> RangeInclusive<u32> {
    match format {
        23..=36 => 23..=36,
        84..=90 => 84..=90,
        104..=106 => 104..=106,
        // UNORM and sRGB, or UNORM and SNORM; of BC1 there are two with and two without alpha.
        131..=184 => (format - 1) / 2 * 2 + 1..=(format - 1) / 2 * 2 + 2,
        _ => format..=format,
    }
}

/// The feature that says that a device has a format.
pub fn feature(format: u32) -> Option<&'static str> {
    match format {
        131..=146 => Some("textureCompressionBC"),
        147..=156 => Some("textureCompressionETC2"),
        157..=184 => Some("textureCompressionASTC_LDR"),
        _ => None,
    }
}

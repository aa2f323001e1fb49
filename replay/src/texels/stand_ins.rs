//! Which uncompressed formats can stand in for a compressed one, the best first; formats are the registry's numbers.
//!
//! Guarantees: sRGB stands in for sRGB, UNORM for UNORM, SNORM for SNORM, half floats for half floats; channels of more than 8
//! bits have 16, and 8 only where the device lacks those. Refuses (by an empty list) what [`Codec`] does not read.

use super::codec::Codec;
use super::texel::{R8, R16, RG8, RG16, RGBA8, RGBA8_SRGB, RGBA16_FLOAT};

/// The formats that can, the best first.
pub fn stand_ins(format: u32) -> Vec<u32> {
    match Codec::of(format) {
        None => Vec::new(),
        Some(Codec::Bc45 { channels, signed } | Codec::Eac { channels, signed }) => {
            let all = if channels == 1 { [R16, R8] } else { [RG16, RG8] };
            all.map(|f| f + u32::from(signed)).to_vec()
        }
        Some(Codec::Bc6 { .. }) => vec![RGBA16_FLOAT],
        // Of each two formats the second is the one in sRGB; BC and ETC2 begin at odd numbers, and so does ASTC.
        Some(_) => vec![if format.is_multiple_of(2) { RGBA8_SRGB } else { RGBA8 }],
    }
}

/// The other format of the same blocks: UNORM and sRGB, or UNORM and SNORM.
pub fn twin(format: u32) -> u32 {
    if format.is_multiple_of(2) { format - 1 } else { format + 1 }
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

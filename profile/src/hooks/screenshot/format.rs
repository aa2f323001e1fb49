//! Texels of a Vulkan format as 8-bit RGBA, and the `WxH:FORMAT` that gives a buffer its shape.
//!
//! What is stored is what is shown: sRGB formats keep their bytes, linear floats are clamped to 0..1 and get no gamma,
//! as when gfxrecon-replay blits a swapchain image to 8 bits. Values are rounded to the nearest, ties to even; NaN is 0.
//! One channel, and depth, becomes grey; two become red and green; what has no alpha is opaque. Refuses, by name,
//! formats that are not in the table: signed, integers wider than 8 bits, compressed, multi-planar.

use gfxr_parse::schema::enum_named;
use replay::ash::vk::{self, Format as F};
use std::str::FromStr;

/// How a texel is stored, lowest byte or bit first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Texel {
    /// A byte a channel; which of R, G, B, A (0..4) each byte is.
    Bytes(&'static [u8]),
    /// 16 bits a channel, unsigned normalized; how many channels.
    Unorm16(usize),
    /// 16-bit floats.
    Half(usize),
    /// 32-bit floats.
    Float(usize),
    /// Bit fields of a 16-bit word: (shift, width) of R, G, B, A; width 0 is no channel.
    Packed16([(u8, u8); 4]),
    /// Bit fields of a 32-bit word.
    Packed32([(u8, u8); 4]),
    /// Three small floats without a sign: 11, 11 and 10 bits.
    Ufloat11,
    /// Three 9-bit mantissas and an exponent.
    SharedExponent,
    /// 24 bits of depth in a 32-bit word.
    Depth24,
}

const GREY: &[u8] = &[0];
const RG: &[u8] = &[0, 1];
const RGB: &[u8] = &[0, 1, 2];
const BGR: &[u8] = &[2, 1, 0];
const RGBA: &[u8] = &[0, 1, 2, 3];
const BGRA: &[u8] = &[2, 1, 0, 3];
const NONE: (u8, u8) = (0, 0);

fn texel_of(format: F) -> Option<Texel> {
    use Texel::{Bytes, Depth24, Float, Half, Packed16, Packed32, SharedExponent, Ufloat11, Unorm16};
    Some(match format {
        F::R8_UNORM | F::R8_SRGB | F::R8_UINT | F::S8_UINT => Bytes(GREY),
        F::R8G8_UNORM | F::R8G8_SRGB | F::R8G8_UINT => Bytes(RG),
        F::R8G8B8_UNORM | F::R8G8B8_SRGB | F::R8G8B8_UINT => Bytes(RGB),
        F::B8G8R8_UNORM | F::B8G8R8_SRGB | F::B8G8R8_UINT => Bytes(BGR),
        F::R8G8B8A8_UNORM | F::R8G8B8A8_SRGB | F::R8G8B8A8_UINT => Bytes(RGBA),
        // The packed name counts from the highest bit of a little-endian word: R, G, B, A in memory.
        F::A8B8G8R8_UNORM_PACK32 | F::A8B8G8R8_SRGB_PACK32 | F::A8B8G8R8_UINT_PACK32 => Bytes(RGBA),
        F::B8G8R8A8_UNORM | F::B8G8R8A8_SRGB | F::B8G8R8A8_UINT => Bytes(BGRA),
        F::R16_UNORM | F::D16_UNORM => Unorm16(1),
        F::R16G16_UNORM => Unorm16(2),
        F::R16G16B16_UNORM => Unorm16(3),
        F::R16G16B16A16_UNORM => Unorm16(4),
        F::R16_SFLOAT => Half(1),
        F::R16G16_SFLOAT => Half(2),
        F::R16G16B16_SFLOAT => Half(3),
        F::R16G16B16A16_SFLOAT => Half(4),
        F::R32_SFLOAT | F::D32_SFLOAT => Float(1),
        F::R32G32_SFLOAT => Float(2),
        F::R32G32B32_SFLOAT => Float(3),
        F::R32G32B32A32_SFLOAT => Float(4),
        F::R5G6B5_UNORM_PACK16 => Packed16([(11, 5), (5, 6), (0, 5), NONE]),
        F::B5G6R5_UNORM_PACK16 => Packed16([(0, 5), (5, 6), (11, 5), NONE]),
        F::R5G5B5A1_UNORM_PACK16 => Packed16([(11, 5), (6, 5), (1, 5), (0, 1)]),
        F::B5G5R5A1_UNORM_PACK16 => Packed16([(1, 5), (6, 5), (11, 5), (0, 1)]),
        F::A1R5G5B5_UNORM_PACK16 => Packed16([(10, 5), (5, 5), (0, 5), (15, 1)]),
        F::R4G4B4A4_UNORM_PACK16 => Packed16([(12, 4), (8, 4), (4, 4), (0, 4)]),
        F::B4G4R4A4_UNORM_PACK16 => Packed16([(4, 4), (8, 4), (12, 4), (0, 4)]),
        F::A4R4G4B4_UNORM_PACK16 => Packed16([(8, 4), (4, 4), (0, 4), (12, 4)]),
        F::A4B4G4R4_UNORM_PACK16 => Packed16([(0, 4), (4, 4), (8, 4), (12, 4)]),
        F::A2B10G10R10_UNORM_PACK32 => Packed32([(0, 10), (10, 10), (20, 10), (30, 2)]),
        F::A2R10G10B10_UNORM_PACK32 => Packed32([(20, 10), (10, 10), (0, 10), (30, 2)]),
        F::B10G11R11_UFLOAT_PACK32 => Ufloat11,
        F::E5B9G9R9_UFLOAT_PACK32 => SharedExponent,
        F::X8_D24_UNORM_PACK32 => Depth24,
        _ => return None,
    })
}

/// The format of one aspect of an image, as a copy to a buffer lays it out.
pub fn of_aspect(format: F, aspect: vk::ImageAspectFlags) -> F {
    let stencil = aspect == vk::ImageAspectFlags::STENCIL;
    match format {
        F::D16_UNORM_S8_UINT | F::D24_UNORM_S8_UINT | F::D32_SFLOAT_S8_UINT if stencil => F::S8_UINT,
        F::D16_UNORM_S8_UINT => F::D16_UNORM,
        F::D24_UNORM_S8_UINT => F::X8_D24_UNORM_PACK32,
        F::D32_SFLOAT_S8_UINT => F::D32_SFLOAT,
        other => other,
    }
}

/// Bytes of a texel; none for formats that cannot be shown.
pub fn texel_bytes(format: F) -> Option<usize> {
    Some(match texel_of(format)? {
        Texel::Bytes(channels) => channels.len(),
        Texel::Unorm16(n) | Texel::Half(n) => n * 2,
        Texel::Float(n) => n * 4,
        Texel::Packed16(_) => 2,
        Texel::Packed32(_) | Texel::Ufloat11 | Texel::SharedExponent | Texel::Depth24 => 4,
    })
}

/// `R8G8B8A8_UNORM`: the format's name without `VK_FORMAT_`.
pub fn name(format: F) -> String {
    let full = values().iter().find(|v| v.0 == i64::from(format.as_raw())).map(|v| v.1);
    full.map_or_else(
        || format!("VkFormat {}", format.as_raw()),
        |n| n.trim_start_matches("VK_FORMAT_").to_string(),
    )
}

/// The format of a name, with or without `VK_FORMAT_`, in any case.
pub fn named(text: &str) -> Option<F> {
    let upper = text.to_uppercase();
    let short = upper.trim_start_matches("VK_FORMAT_");
    let found = values().iter().find(|v| v.1.trim_start_matches("VK_FORMAT_") == short)?;
    Some(F::from_raw(i32::try_from(found.0).ok()?))
}

fn values() -> &'static [(i64, &'static str)] {
    enum_named("VkFormat").map_or(&[], |e| e.values)
}

/// Why a format cannot be shown.
#[cold]
pub fn refusal(format: F) -> String {
    format!("{} cannot be shown as 8-bit colours", name(format))
}

/// A channel of a texel, as it is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stored {
    /// A normalized number: how many steps of the format, and of how many bits.
    Steps(u32, u32),
    /// A whole number.
    Whole(u32),
    /// A number with a point, its significant bits, and how far the next one that the format holds is from it.
    Number {
        /// The number.
        value: f64,
        /// Of it, the leading one included.
        bits: u32,
        /// To the next one.
        spacing: f64,
    },
}

/// The channels of one texel in the order R, G, B, A, as they are stored. Empty for formats that are not in the table.
pub fn stored(format: F, b: &[u8]) -> Vec<Stored> {
    let u16_at = |i: usize| u16::from_le_bytes([b[i * 2], b[i * 2 + 1]]);
    let u32_at = |i: usize| u32::from_le_bytes([b[i * 4], b[i * 4 + 1], b[i * 4 + 2], b[i * 4 + 3]]);
    let whole = matches!(
        format,
        F::R8_UINT
            | F::S8_UINT
            | F::R8G8_UINT
            | F::R8G8B8_UINT
            | F::B8G8R8_UINT
            | F::R8G8B8A8_UINT
            | F::A8B8G8R8_UINT_PACK32
            | F::B8G8R8A8_UINT
    );
    let fields = |word: u32, fields: [(u8, u8); 4]| -> Vec<Stored> {
        let there = fields.into_iter().filter(|f| f.1 > 0);
        there.map(|(at, n)| Stored::Steps(word >> at & ((1 << n) - 1), n.into())).collect()
    };
    match texel_of(format) {
        None => vec![],
        Some(Texel::Bytes(channels)) => {
            let one = |c: usize| {
                let v = u32::from(b[channels.iter().position(|n| usize::from(*n) == c).unwrap_or(0)]);
                if whole { Stored::Whole(v) } else { Stored::Steps(v, 8) }
            };
            (0..channels.len()).map(one).collect()
        }
        Some(Texel::Unorm16(n)) => (0..n).map(|i| Stored::Steps(u16_at(i).into(), 16)).collect(),
        Some(Texel::Half(n)) => (0..n).map(|i| number(half(u16_at(i)).into(), 11, -14)).collect(),
        Some(Texel::Float(n)) => {
            // (a driver may take what is smaller than 2^-126 for zero)
            let one = |i| match number(f32::from_bits(u32_at(i)).into(), 24, -126) {
                Stored::Number { value, bits, spacing } => {
                    Stored::Number { value, bits, spacing: spacing.max(f64::from(f32::MIN_POSITIVE)) }
                }
                other => other,
            };
            (0..n).map(one).collect()
        }
        Some(Texel::Packed16(f)) => fields(u16_at(0).into(), f),
        Some(Texel::Packed32(f)) => fields(u32_at(0), f),
        Some(Texel::Ufloat11) => {
            let (word, halves) = (u32_at(0), |bits: u32| f64::from(half(bits as u16)));
            let all = [(halves((word & 0x7FF) << 4), 7), (halves((word >> 11 & 0x7FF) << 4), 7)];
            all.into_iter().chain([(halves((word >> 22) << 5), 6)]).map(|(v, p)| number(v, p, -14)).collect()
        }
        Some(Texel::SharedExponent) => {
            let word = u32_at(0);
            let spacing = f64::powi(2.0, (word >> 27) as i32 - 15 - 9);
            let one = |i: u32| Stored::Number {
                value: f64::from(word >> (9 * i) & 0x1FF) * spacing,
                bits: 9,
                spacing,
            };
            (0..3).map(one).collect()
        }
        Some(Texel::Depth24) => vec![Stored::Steps(u32_at(0) & 0xFF_FFFF, 24)],
    }
}

/// A number of a format with so many significant bits, whose smallest normal number has this exponent.
fn number(value: f64, bits: u32, least_exponent: i32) -> Stored {
    let exponent = match value.is_finite() && value != 0.0 {
        true => (value.abs().to_bits() >> 52) as i32 - 1023,
        false => least_exponent,
    };
    let spacing = f64::powi(2.0, exponent.max(least_exponent) - (bits as i32 - 1));
    Stored::Number { value, bits, spacing }
}

/// Rows of texels, `row_bytes` apart, as tightly packed RGBA. Texels that `data` lacks stay black and transparent.
pub fn to_rgba8(
    format: F,
    data: &[u8],
    width: u32,
    height: u32,
    row_bytes: usize,
) -> Result<Vec<u8>, String> {
    let (Some(texel), Some(size)) = (texel_of(format), texel_bytes(format)) else {
        return Err(refusal(format));
    };
    let width = width as usize;
    let mut out = vec![0; width * height as usize * 4];
    for (y, row) in out.chunks_exact_mut(width.max(1) * 4).enumerate() {
        let from = data.get(y * row_bytes..).unwrap_or(&[]);
        for (to, from) in row.chunks_exact_mut(4).zip(from.chunks_exact(size)) {
            to.copy_from_slice(&rgba(texel, from));
        }
    }
    Ok(out)
}

fn rgba(texel: Texel, b: &[u8]) -> [u8; 4] {
    let u16_at = |i: usize| u16::from_le_bytes([b[i * 2], b[i * 2 + 1]]);
    let u32_at = |i: usize| u32::from_le_bytes([b[i * 4], b[i * 4 + 1], b[i * 4 + 2], b[i * 4 + 3]]);
    match texel {
        Texel::Bytes(channels) => {
            let mut out = [0, 0, 0, 255];
            for (value, &channel) in b.iter().zip(channels) {
                out[usize::from(channel)] = *value;
            }
            spread(out, channels.len())
        }
        Texel::Unorm16(n) => channels(n, |i| unorm(u32::from(u16_at(i)), 16)),
        Texel::Half(n) => channels(n, |i| float(half(u16_at(i)))),
        Texel::Float(n) => channels(n, |i| float(f32::from_bits(u32_at(i)))),
        Texel::Packed16(fields) => packed(u32::from(u16_at(0)), fields),
        Texel::Packed32(fields) => packed(u32_at(0), fields),
        Texel::Ufloat11 => {
            let word = u32_at(0);
            // An unsigned small float is a half whose sign is missing and whose mantissa is shorter.
            let bits = [(word & 0x7FF) << 4, (word >> 11 & 0x7FF) << 4, (word >> 22) << 5];
            channels(3, |i| float(half(bits[i] as u16)))
        }
        Texel::SharedExponent => {
            let word = u32_at(0);
            let scale = f32::powi(2.0, (word >> 27) as i32 - 15 - 9);
            channels(3, |i| float((word >> (9 * i) & 0x1FF) as f32 * scale))
        }
        Texel::Depth24 => channels(1, |_| unorm(u32_at(0) & 0xFF_FFFF, 24)),
    }
}

/// One to four channels, each asked for.
fn channels(n: usize, mut each: impl FnMut(usize) -> u8) -> [u8; 4] {
    let mut out = [0, 0, 0, 255];
    out.iter_mut().take(n).enumerate().for_each(|(i, c)| *c = each(i));
    spread(out, n)
}

/// One channel is grey.
fn spread(c: [u8; 4], n: usize) -> [u8; 4] {
    if n == 1 { [c[0], c[0], c[0], 255] } else { c }
}

fn packed(word: u32, fields: [(u8, u8); 4]) -> [u8; 4] {
    fields.map(|(shift, width)| match width {
        0 => 255,
        _ => unorm(word >> shift & ((1 << width) - 1), u32::from(width)),
    })
}

/// An unsigned normalized number of that many bits, in 8.
fn unorm(v: u32, bits: u32) -> u8 {
    let most = f64::from((1u64 << bits) as u32 - 1);
    (f64::from(v) * 255.0 / most).round_ties_even() as u8
}

fn float(v: f32) -> u8 {
    // `as` turns NaN into 0.
    (v.clamp(0.0, 1.0) * 255.0).round_ties_even() as u8
}

pub(in crate::hooks) fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, mantissa) = (i32::from(bits >> 10 & 0x1F), f32::from(bits & 0x3FF));
    sign * match exponent {
        0 => mantissa * f32::powi(2.0, -24),
        31 if mantissa == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        e => (1024.0 + mantissa) * f32::powi(2.0, e - 25),
    }
}

/// How to show a buffer that holds no image: `640x320:R32_SFLOAT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Texels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// What each texel is.
    pub format: F,
}

impl Shape {
    /// Bytes it takes.
    pub fn bytes(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height) * texel_bytes(self.format).unwrap_or(0) as u64
    }
}

impl FromStr for Shape {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let parts =
            text.split_once(':').and_then(|(size, format)| Some((size.split_once(['x', 'X'])?, format)));
        let ((width, height), format) = parts.ok_or("expected WxH:FORMAT, as in 640x320:R32_SFLOAT")?;
        let number = |t: &str| match t.parse::<u32>() {
            Ok(n) if (1..=1 << 16).contains(&n) => Ok(n),
            _ => Err(format!("\"{t}\" is no width or height (1 to 65536)")),
        };
        let vk = named(format)
            .ok_or_else(|| format!("\"{format}\" is no VkFormat; R32_SFLOAT or R8G8B8A8_UNORM is"))?;
        texel_bytes(vk).ok_or_else(|| refusal(vk))?;
        Ok(Shape { width: number(width)?, height: number(height)?, format: vk })
    }
}

#[cfg(test)]
mod tests;

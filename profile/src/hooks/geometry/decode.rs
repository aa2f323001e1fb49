//! What the bytes that a build read mean.
//!
//! Primitives keep their indices; inactive ones (a first coordinate that is no number) are none. Corners are numbers as the
//! driver reads them: normalised integers lie between -1 or 0 and 1, missing coordinates are 0.

use crate::hooks::screenshot::format::half;
use replay::ash::vk;
use replay::vulkan::inputs::{DATA, Geometry, Kind, TRANSFORM};

/// An instance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instance {
    /// Three rows of four.
    pub transform: [f32; 12],
    /// 24 bits.
    pub custom_index: u64,
    /// 8 bits.
    pub mask: u64,
    /// 24 bits.
    pub sbt_offset: u64,
    /// 8 bits.
    pub flags: u64,
    /// What the capture refers to the bottom level by.
    pub reference: u64,
}

/// What a geometry is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Decoded {
    /// Three corners each, the geometry's transform applied.
    Triangles(Vec<Option<[f64; 9]>>),
    /// The least and the greatest corner each.
    Boxes(Vec<Option<[f64; 6]>>),
    /// All of them, active or not.
    Instances(Vec<Instance>),
}

impl Decoded {
    /// How many.
    pub fn len(&self) -> usize {
        match self {
            Decoded::Triangles(all) => all.len(),
            Decoded::Boxes(all) => all.len(),
            Decoded::Instances(all) => all.len(),
        }
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn f32_at(bytes: &[u8], at: usize) -> f32 {
    u32_at(bytes, at).map_or(f32::NAN, f32::from_bits)
}

/// A geometry; none if its bytes are not there.
pub fn geometry(g: &Geometry, bytes: Option<&[u8]>) -> Option<Decoded> {
    let nothing = match g.kind {
        Kind::Triangles { .. } => Decoded::Triangles(vec![]),
        Kind::Boxes => Decoded::Boxes(vec![]),
        Kind::Instances => Decoded::Instances(vec![]),
        Kind::Other => return None,
    };
    if g.most == 0 {
        return Some(nothing);
    }
    let bytes = bytes?;
    let count = u32_at(bytes, 0)?.min(g.most) as usize;
    let data = bytes.get(DATA..)?;
    Some(match g.kind {
        Kind::Triangles { format, words, transform } => {
            let matrix: [f64; 12] = std::array::from_fn(|n| f64::from(f32_at(bytes, TRANSFORM + n * 4)));
            let matrix = transform.then_some(matrix);
            let size = words as usize * 4;
            let all = data.chunks_exact(size * 3).take(count);
            Decoded::Triangles(all.map(|t| triangle(t, size, format, matrix.as_ref())).collect())
        }
        Kind::Boxes => {
            let all = data.chunks_exact(24).take(count);
            let one = |b: &[u8]| -> [f64; 6] { std::array::from_fn(|n| f32_at(b, n * 4).into()) };
            Decoded::Boxes(all.map(|b| Some(one(b)).filter(|b| !b.iter().any(|x| x.is_nan()))).collect())
        }
        _ => Decoded::Instances(data.chunks_exact(64).take(count).map(instance).collect()),
    })
}

fn triangle(bytes: &[u8], size: usize, format: vk::Format, m: Option<&[f64; 12]>) -> Option<[f64; 9]> {
    let mut corners = [0.0; 9];
    for k in 0..3 {
        let [x, y, z] = corner(format, &bytes[k * size..(k + 1) * size]);
        let at = match m {
            None => [x, y, z],
            Some(m) => [0, 4, 8].map(|r| m[r].mul_add(x, m[r + 1].mul_add(y, m[r + 2].mul_add(z, m[r + 3])))),
        };
        corners[k * 3..k * 3 + 3].copy_from_slice(&at);
    }
    (!corners.iter().any(|x| x.is_nan())).then_some(corners)
}

/// The place of a corner. Formats that are not here are not copied.
fn corner(format: vk::Format, bytes: &[u8]) -> [f64; 3] {
    use vk::Format as F;
    let byte = |n: usize| bytes.get(n).copied().unwrap_or(0);
    let short = |n: usize| u16::from_le_bytes([byte(n * 2), byte(n * 2 + 1)]);
    let packed = u32_at(bytes, 0).unwrap_or(0);
    let ten = |n: usize| (packed >> (n * 10)) & 0x3FF;
    let signed = |value: f64, most: f64| (value / most).max(-1.0);
    let of = |n: usize, f: &dyn Fn(usize) -> f64| std::array::from_fn(|k| if k < n { f(k) } else { 0.0 });
    match format {
        F::R32G32_SFLOAT => of(2, &|n| f32_at(bytes, n * 4).into()),
        F::R32G32B32_SFLOAT | F::R32G32B32A32_SFLOAT => of(3, &|n| f32_at(bytes, n * 4).into()),
        F::R64G64B64_SFLOAT => of(3, &|n| f64::from_le_bytes(std::array::from_fn(|k| byte(n * 8 + k)))),
        F::R16G16_SFLOAT => of(2, &|n| half(short(n)).into()),
        F::R16G16B16_SFLOAT | F::R16G16B16A16_SFLOAT => of(3, &|n| half(short(n)).into()),
        F::R16G16_SNORM => of(2, &|n| signed((short(n) as i16).into(), 32767.0)),
        F::R16G16B16_SNORM | F::R16G16B16A16_SNORM => of(3, &|n| signed((short(n) as i16).into(), 32767.0)),
        F::R16G16_UNORM => of(2, &|n| f64::from(short(n)) / 65535.0),
        F::R16G16B16_UNORM | F::R16G16B16A16_UNORM => of(3, &|n| f64::from(short(n)) / 65535.0),
        F::R8G8_SNORM => of(2, &|n| signed((byte(n) as i8).into(), 127.0)),
        F::R8G8B8_SNORM | F::R8G8B8A8_SNORM => of(3, &|n| signed((byte(n) as i8).into(), 127.0)),
        F::R8G8_UNORM => of(2, &|n| f64::from(byte(n)) / 255.0),
        F::R8G8B8_UNORM | F::R8G8B8A8_UNORM => of(3, &|n| f64::from(byte(n)) / 255.0),
        F::A2B10G10R10_UNORM_PACK32 => of(3, &|n| f64::from(ten(n)) / 1023.0),
        F::A2B10G10R10_SNORM_PACK32 => of(3, &|n| signed(((ten(n) << 22) as i32 >> 22).into(), 511.0)),
        _ => [f64::NAN; 3],
    }
}

fn instance(bytes: &[u8]) -> Instance {
    let word = |n: usize| u64::from(u32_at(bytes, n * 4).unwrap_or(0));
    Instance {
        transform: std::array::from_fn(|n| f32_at(bytes, n * 4)),
        custom_index: word(12) & 0xFF_FFFF,
        mask: word(12) >> 24,
        sbt_offset: word(13) & 0xFF_FFFF,
        flags: word(13) >> 24,
        reference: word(14) | word(15) << 32,
    }
}

//! Blocks of each format, made of numbers without a pattern; those that a format has no meaning for are left out.

use ash::vk;

/// What the textures are: name, format, texels and bytes of a block.
pub const FORMATS: [(&str, vk::Format, (u32, u32), u64); 16] = [
    ("ETC2 RGB8", vk::Format::ETC2_R8G8B8_UNORM_BLOCK, (4, 4), 8),
    ("ETC2 RGB8A1 sRGB", vk::Format::ETC2_R8G8B8A1_SRGB_BLOCK, (4, 4), 8),
    ("ETC2 RGBA8", vk::Format::ETC2_R8G8B8A8_UNORM_BLOCK, (4, 4), 16),
    ("ETC2 RGBA8 sRGB", vk::Format::ETC2_R8G8B8A8_SRGB_BLOCK, (4, 4), 16),
    ("EAC R11", vk::Format::EAC_R11_UNORM_BLOCK, (4, 4), 8),
    ("EAC R11 signed", vk::Format::EAC_R11_SNORM_BLOCK, (4, 4), 8),
    ("EAC RG11", vk::Format::EAC_R11G11_UNORM_BLOCK, (4, 4), 16),
    ("EAC RG11 signed", vk::Format::EAC_R11G11_SNORM_BLOCK, (4, 4), 16),
    ("ASTC 4x4", vk::Format::ASTC_4X4_UNORM_BLOCK, (4, 4), 16),
    ("ASTC 8x8 sRGB", vk::Format::ASTC_8X8_SRGB_BLOCK, (8, 8), 16),
    ("ASTC 12x10", vk::Format::ASTC_12X10_UNORM_BLOCK, (12, 10), 16),
    ("BC1", vk::Format::BC1_RGBA_UNORM_BLOCK, (4, 4), 8),
    ("BC4", vk::Format::BC4_UNORM_BLOCK, (4, 4), 8),
    ("BC5 signed", vk::Format::BC5_SNORM_BLOCK, (4, 4), 16),
    ("BC6H", vk::Format::BC6H_UFLOAT_BLOCK, (4, 4), 16),
    ("BC7 sRGB", vk::Format::BC7_SRGB_BLOCK, (4, 4), 16),
];

/// Numbers without a pattern.
pub struct Noise(u64);

impl Noise {
    /// From a beginning, which must not be nothing.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
}

/// A block of the texture with this number.
pub fn block(texture: usize, noise: &mut Noise) -> Vec<u8> {
    let (_, format, _, bytes) = FORMATS[texture];
    let mut block: Vec<u8> = [noise.next(), noise.next()].into_iter().flat_map(u64::to_le_bytes).collect();
    block.truncate(bytes as usize);
    match format {
        // (-128 and -127 are the same number, and drivers disagree)
        vk::Format::EAC_R11_SNORM_BLOCK
        | vk::Format::EAC_R11G11_SNORM_BLOCK
        | vk::Format::BC5_SNORM_BLOCK => {
            for half in block.chunks_exact_mut(8) {
                let ends = if format == vk::Format::BC5_SNORM_BLOCK { 2 } else { 1 };
                half[..ends].iter_mut().filter(|b| **b == 0x80).for_each(|b| *b = 0x81);
            }
        }
        vk::Format::BC6H_UFLOAT_BLOCK => block[0] = block[0] & 0xE0 | 0b00011,
        // One of the eight modes.
        vk::Format::BC7_SRGB_BLOCK => block[0] |= 1 << (block[1] % 8),
        vk::Format::ASTC_4X4_UNORM_BLOCK
        | vk::Format::ASTC_8X8_SRGB_BLOCK
        | vk::Format::ASTC_12X10_UNORM_BLOCK => {
            return astc(noise);
        }
        _ => {}
    }
    block
}

/// A constant colour, or 4x4 weights of two bits between two colours with alpha.
fn astc(noise: &mut Noise) -> Vec<u8> {
    let colours = noise.next();
    if colours.is_multiple_of(5) {
        let constant = 0xFFFF_FFFF_FFFF_FDFC | u128::from(colours) << 64;
        return constant.to_le_bytes().to_vec();
    }
    let (mode, endpoints) = (0x042u128, 12u128 << 13);
    let weights = u128::from(noise.next() as u32) << 96;
    (mode | endpoints | u128::from(colours) << 17 | weights).to_le_bytes().to_vec()
}

/// Blocks across and down of a box of texels.
pub fn blocks((x, y): (u32, u32), extent: vk::Extent2D) -> (u64, u64) {
    (extent.width.div_ceil(x).into(), extent.height.div_ceil(y).into())
}

//! The formats that stand in for compressed ones, as numbers of the registry, and the bytes of their texels.

/// VK_FORMAT_R8_UNORM; a SNORM one follows each UNORM one.
pub(super) const R8: u32 = 9;
/// VK_FORMAT_R8G8_UNORM.
pub(super) const RG8: u32 = 16;
/// VK_FORMAT_R8G8B8A8_UNORM.
pub(super) const RGBA8: u32 = 37;
/// VK_FORMAT_R8G8B8A8_SRGB.
pub(super) const RGBA8_SRGB: u32 = 43;
/// VK_FORMAT_R16_UNORM.
pub(super) const R16: u32 = 70;
/// VK_FORMAT_R16G16_UNORM.
pub(super) const RG16: u32 = 77;
/// VK_FORMAT_R16G16B16A16_SFLOAT.
pub(super) const RGBA16_FLOAT: u32 = 97;

/// Bytes of a texel of a format that stands in.
pub fn texel_bytes(stand_in: u32) -> usize {
    match stand_in {
        R8 | 10 => 1,
        RG8 | 17 | R16 | 71 => 2,
        RGBA16_FLOAT => 8,
        _ => 4,
    }
}

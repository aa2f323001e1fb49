//! The formats that stand in for others, as numbers of the registry, and the bytes of their texels.

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
/// VK_FORMAT_X8_D24_UNORM_PACK32.
pub(super) const D24: u32 = 125;
/// VK_FORMAT_D32_SFLOAT.
pub(super) const D32: u32 = 126;
/// VK_FORMAT_D24_UNORM_S8_UINT.
pub(super) const D24S8: u32 = 129;
/// VK_FORMAT_D32_SFLOAT_S8_UINT.
pub(super) const D32S8: u32 = 130;

/// Bytes of a texel of a format that stands in, of its first aspect.
pub(super) fn texel_bytes(stand_in: u32) -> usize {
    let planes = world::formats::planes(stand_in as i32);
    planes.and_then(|p| p.first().map(|p| p.block_bytes as usize)).unwrap_or(0)
}

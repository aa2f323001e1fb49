//! What copies need to know of a format ([`world::formats`]), in `ash`'s types.
//!
//! Guarantees: the numbers of the specification's table of compatible formats. Refuses (by `None`) formats it does not
//! know: such images are copied as a whole and never looked into.

use super::live::ImageState;
use ash::vk;
use vk::ImageAspectFlags as A;
use world::formats::{self, level_size};

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
    match formats::aspects(format.as_raw()) {
        [formats::DEPTH] => &[A::DEPTH],
        [formats::STENCIL] => &[A::STENCIL],
        [formats::DEPTH, formats::STENCIL] => &[A::DEPTH, A::STENCIL],
        [_, _, _] => &[A::PLANE_0, A::PLANE_1, A::PLANE_2],
        [_, _] => &[A::PLANE_0, A::PLANE_1],
        _ => &[A::COLOR],
    }
}

/// Every aspect or plane with its block, in the order of [`aspects`].
pub fn planes(format: vk::Format) -> Option<Vec<Plane>> {
    let planes = formats::planes(format.as_raw())?;
    let of = |p: formats::Plane| Plane {
        aspect: A::from_raw(p.aspect),
        block_bytes: p.block_bytes,
        block: p.block,
        divided: p.divided,
    };
    Some(planes.into_iter().map(of).collect())
}

/// Depths of 24 bits come in 32, of which 8 mean nothing.
pub fn is_depth_24(format: vk::Format, aspect: A) -> bool {
    aspect == A::DEPTH && matches!(format, vk::Format::X8_D24_UNORM_PACK32 | vk::Format::D24_UNORM_S8_UINT)
}

/// A level's size in an aspect.
pub(crate) fn extent(image: &ImageState, aspect: vk::ImageAspectFlags, level: u32) -> vk::Extent3D {
    let planes = planes(image.format);
    let divided = planes.iter().flatten().find(|p| p.aspect == aspect).map_or((1, 1), |p| p.divided);
    let size = |v: u32| level_size(v, level);
    vk::Extent3D {
        width: size(image.extent.width).div_ceil(divided.0),
        height: size(image.extent.height).div_ceil(divided.1),
        depth: size(image.extent.depth),
    }
}

/// Bytes of a part when it is copied to a buffer: of a row of blocks, rows of blocks, slices.
pub(crate) fn rows(plane: &Plane, extent: vk::Extent3D) -> (u64, u32, u32) {
    let row = u64::from(extent.width.div_ceil(plane.block.0)) * u64::from(plane.block_bytes);
    (row, extent.height.div_ceil(plane.block.1), extent.depth)
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

//! Whether a copy between a buffer of ours and an image lies inside both.
//!
//! Guarantees: of a region that passes, every level, layer and texel exists, and every byte lies in the buffer.
//! Refuses, with what was expected: other regions, aspects that the format has not, formats of unknown size.

use super::format::{self, extent, rows};
use crate::error::{Error, Kind, Result};
use crate::vulkan::live::ImageState;
use ash::vk;
use world::span::Span;

/// A copy between one mip level (of all or some layers) of an image and the staging buffer.
pub type Region = vk::BufferImageCopy;

/// Refuses a region that leaves the image or the `size` bytes of the buffer.
pub(crate) fn inside(image: &ImageState, region: &Region, size: u64) -> Result<()> {
    match leaves(image, region, size) {
        None => Ok(()),
        Some(what) => Err(Error::new(
            Kind::Capture,
            format!(
                "{what}: an image of {:?}, {} x {} x {} texels, {} mip levels and {} layers",
                image.format,
                image.extent.width,
                image.extent.height,
                image.extent.depth,
                image.levels,
                image.layers
            ),
        )),
    }
}

/// What does not fit, if anything.
fn leaves(image: &ImageState, region: &Region, size: u64) -> Option<String> {
    let part = region.image_subresource;
    let (level, aspect) = (part.mip_level, part.aspect_mask);
    if level >= image.levels {
        return Some(format!("a copy of mip level {level}"));
    }
    let layers = u64::from(part.layer_count);
    if layers == 0 || Span::within(part.base_array_layer.into(), layers, image.layers.into()).is_none() {
        return Some(format!("a copy of {layers} layers from layer {} on", part.base_array_layer));
    }
    let Some(planes) = format::planes(image.format) else {
        return Some("a copy of texels whose size is not known".into());
    };
    let Some(plane) = planes.into_iter().find(|p| p.aspect == aspect) else {
        return Some(format!("a copy of the aspect {aspect:?}"));
    };
    let (whole, at, texels) = (extent(image, aspect, level), region.image_offset, region.image_extent);
    let axes = [
        (at.x, texels.width, whole.width),
        (at.y, texels.height, whole.height),
        (at.z, texels.depth, whole.depth),
    ];
    let fits = |(at, n, whole): (i32, u32, u32)| {
        n > 0 && u64::try_from(at).is_ok_and(|at| Span::within(at, n.into(), whole.into()).is_some())
    };
    if !axes.into_iter().all(fits) {
        return Some(format!("a copy of {texels:?} at {at:?} of mip level {level}"));
    }
    let (row, high, deep) = rows(&plane, texels);
    // Rows and slices of the buffer may be longer than those that are copied.
    let wide = vk::Extent3D {
        width: region.buffer_row_length.max(texels.width),
        height: region.buffer_image_height.max(texels.height),
        depth: 1,
    };
    let (pitch, rows_apart, _) = rows(&plane, wide);
    let slices = u64::from(deep).saturating_mul(layers);
    let before = (slices - 1).saturating_mul(rows_apart.into()).saturating_add(u64::from(high) - 1);
    let bytes = before.saturating_mul(pitch).saturating_add(row);
    if Span::within(region.buffer_offset, bytes, size).is_none() {
        return Some(format!(
            "mip level {level} takes {bytes} bytes, {} are there",
            size.saturating_sub(region.buffer_offset)
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use ash::vk::Handle;

    fn image(format: vk::Format, width: u32, height: u32) -> ImageState {
        let info = vk::ImageCreateInfo {
            format,
            extent: vk::Extent3D { width, height, depth: 1 },
            mip_levels: 2,
            array_layers: 3,
            ..Default::default()
        };
        ImageState::new(1, vk::Image::from_raw(1), &info, 0)
    }

    fn region(image: &ImageState, level: u32) -> Region {
        Region {
            image_subresource: vk::ImageSubresourceLayers {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                mip_level: level,
                base_array_layer: 0,
                layer_count: image.layers,
            },
            image_extent: extent(image, vk::ImageAspectFlags::COLOR, level),
            ..Default::default()
        }
    }

    #[test]
    fn a_region_needs_every_byte_of_its_blocks() {
        // 5 x 5 texels are 2 x 2 blocks of 8 bytes, in 3 layers: 96 bytes.
        let i = image(vk::Format::BC1_RGB_UNORM_BLOCK, 5, 5);
        let r = region(&i, 0);
        assert!(inside(&i, &r, 96).is_ok());
        let said = inside(&i, &r, 95).expect_err("a byte too few").to_string();
        assert!(
            said.contains("mip level 0 takes 96 bytes, 95 are there") && said.contains("5 x 5 x 1"),
            "{said}"
        );
        let later = Region { buffer_offset: u64::MAX - 10, ..r };
        assert!(inside(&i, &later, u64::MAX).is_err(), "an end that would wrap");
        // Rows 16 texels (4 blocks) apart: 5 of 6 rows before the last one of 2 blocks.
        let apart = Region { buffer_row_length: 16, ..r };
        assert!(inside(&i, &apart, 5 * 32 + 16).is_ok() && inside(&i, &apart, 5 * 32 + 15).is_err());
    }

    #[test]
    fn a_region_outside_the_image_is_refused_by_what_leaves() {
        let i = image(vk::Format::R8_UNORM, 4, 4);
        let said = |r: Region| inside(&i, &r, 1 << 20).expect_err("refused").to_string();
        assert!(said(region(&i, 2)).starts_with("a copy of mip level 2"));
        let mut r = region(&i, 0);
        r.image_subresource.layer_count = 4;
        assert!(said(r).starts_with("a copy of 4 layers"));
        let mut r = region(&i, 0);
        r.image_subresource.base_array_layer = u32::MAX;
        assert!(said(r).starts_with("a copy of 3 layers from layer 4294967295"));
        let mut r = region(&i, 0);
        r.image_extent.width = 5;
        assert!(said(r).starts_with("a copy of Extent3D"));
        let mut r = region(&i, 0);
        r.image_offset.y = -1;
        assert!(said(r).contains("of mip level 0"));
        let mut r = region(&i, 0);
        r.image_subresource.aspect_mask = vk::ImageAspectFlags::DEPTH;
        assert!(said(r).starts_with("a copy of the aspect DEPTH"));
        let odd = image(vk::Format::UNDEFINED, 4, 4);
        assert!(inside(&odd, &region(&i, 0), 1 << 20).is_err());
    }
}

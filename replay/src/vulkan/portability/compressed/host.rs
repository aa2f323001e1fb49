//! Blocks that the host uploads by itself: vkCopyMemoryToImage, and a snapshot's contents.
//!
//! Guarantees: decoded texels live until the call was made, and are as many as it reads. Refuses regions outside of their image.

use super::copies::layers;
use crate::error::Result;
use crate::vulkan::linked_call::LinkedCall;
use crate::vulkan::region::{self, Region};
use crate::vulkan::{ImageState, Vulkan};
use ash::vk;
use gfxr_parse::view::View;
use std::time::Instant;
use world::bytes::texels::in_buffer;

/// vkCopyMemoryToImage.
pub(in super::super) fn host_copy(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk, call, linked, .. } = c;
    if vk.compressed.is_empty() {
        return Ok(());
    }
    vk.compressed.host.clear();
    let v = View::call(&call.image);
    let number = |v: View<'_>, name| v.u32(name).unwrap_or(0);
    for info in v.structs("pCopyMemoryToImageInfo") {
        let image = info.u64("dstImage").and_then(|i| vk.images.get(&i)).cloned();
        let Some(image) = image.filter(|i| i.codec().is_some()) else { continue };
        for r in info.structs("pRegions") {
            let (Some(extent), Some(part)) = (r.one("imageExtent"), r.one("imageSubresource")) else {
                continue;
            };
            let extent = ["width", "height", "depth"].map(|n| number(extent, n));
            let layers = layers(&image, number(part, "baseArrayLayer"), number(part, "layerCount"));
            let row = (number(r, "memoryRowLength"), number(r, "memoryImageHeight"));
            let at = r.one("imageOffset").map_or([0; 3], |o| ["x", "y", "z"].map(|n| number(o, n) as i32));
            region::inside(&image, &of(part, layers, at, extent), u64::MAX)?;
            let texels = decode(vk, &image, r.pointed("pHostPointer").unwrap_or(&[]), row, extent, layers);
            for name in ["memoryRowLength", "memoryImageHeight"] {
                if let Some((_, at)) = r.definition(name) {
                    linked.set_u32_at(at, 0);
                }
            }
            if let Some((_, at)) = r.definition("pHostPointer") {
                linked.set_word_at(at, texels.as_ptr() as u64);
            }
            vk.compressed.host.push(texels);
        }
    }
    Ok(())
}

/// The region of the image that is copied to, from rows without gaps.
fn of(part: View<'_>, layer_count: u32, [x, y, z]: [i32; 3], [width, height, depth]: [u32; 3]) -> Region {
    let number = |name| part.u32(name).unwrap_or(0);
    Region {
        image_subresource: vk::ImageSubresourceLayers {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            mip_level: number("mipLevel"),
            base_array_layer: number("baseArrayLayer"),
            layer_count,
        },
        image_offset: vk::Offset3D { x, y, z },
        image_extent: vk::Extent3D { width, height, depth },
        ..Region::default()
    }
}

/// A snapshot's contents of an image with a stand-in: regions of blocks, and the blocks, become regions of texels, and these.
pub(in crate::vulkan) fn snapshot(
    vk: &mut Vulkan,
    image: &ImageState,
    regions: &[Region],
    blocks: &[u8],
) -> (Vec<Region>, Vec<u8>) {
    let (mut all, mut texels) = (Vec::new(), Vec::new());
    for r in regions {
        let from = blocks.get(r.buffer_offset as usize..).unwrap_or(&[]);
        let extent = [r.image_extent.width, r.image_extent.height, r.image_extent.depth];
        let row = (r.buffer_row_length, r.buffer_image_height);
        let level = decode(vk, image, from, row, extent, r.image_subresource.layer_count);
        texels.resize(texels.len().next_multiple_of(16), 0);
        all.push(Region {
            buffer_offset: texels.len() as u64,
            buffer_row_length: 0,
            buffer_image_height: 0,
            ..*r
        });
        texels.extend(level);
    }
    (all, texels)
}

/// Layers one behind the other.
fn decode(
    vk: &mut Vulkan,
    image: &ImageState,
    blocks: &[u8],
    (row_length, image_height): (u32, u32),
    extent: [u32; 3],
    layers: u32,
) -> Vec<u8> {
    let planes = world::formats::planes(image.captured_format.as_raw());
    let (Some(codec), Some(plane)) = (image.codec(), planes.and_then(|p| p.first().copied())) else {
        return Vec::new();
    };
    let began = Instant::now();
    let rows = in_buffer(&plane, 0, row_length, image_height, extent);
    let layer = rows.stride.1.saturating_mul(rows.count.1);
    let mut texels = Vec::new();
    for n in 0..u64::from(layers) {
        let from = usize::try_from(n.saturating_mul(layer)).unwrap_or(usize::MAX);
        let source = blocks.get(from..).unwrap_or(&[]);
        texels.extend(codec.decode(image.format.as_raw() as u32, source, &rows, extent));
    }
    let cost = &mut vk.compressed.cost;
    cost.texels += extent.iter().map(|n| u64::from(*n)).product::<u64>() * u64::from(layers);
    cost.decoding += began.elapsed();
    texels
}

//! What the host copies by itself: vkCopyMemoryToImage and vkCopyImageToMemory, and a snapshot's contents.
//!
//! Guarantees: translated texels live until the call was made, and are as many as it reads; what it writes has room, and nobody
//! reads it, as the program that did is not there. Refuses regions outside of their image.

use super::copies::Part;
use crate::error::{Error, Kind, Result};
use crate::vulkan::linked_call::LinkedCall;
use crate::vulkan::region::{self, Region};
use crate::vulkan::{ImageState, Vulkan};
use ash::vk;
use gfxr_parse::view::View;
use std::time::Instant;
use world::bytes::texels::in_buffer;

/// vkCopyMemoryToImage, vkCopyImageToMemory.
pub(in super::super) fn host_copy(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk, call, linked, .. } = c;
    if vk.stand_ins.is_empty() {
        return Ok(());
    }
    vk.stand_ins.host.clear();
    let v = View::call(&call.image);
    let number = |v: View<'_>, name| v.u32(name).unwrap_or(0);
    let info = v.one("pCopyMemoryToImageInfo").or_else(|| v.one("pCopyImageToMemoryInfo"));
    let Some(info) = info else { return Ok(()) };
    let uploaded = info.u64("dstImage");
    let image = uploaded.or_else(|| info.u64("srcImage")).and_then(|i| vk.images.get(&i)).cloned();
    let Some(image) = image.filter(ImageState::stands_in) else { return Ok(()) };
    for r in info.structs("pRegions") {
        let (Some(p), Some(part)) = (Part::of(&image, r), r.one("imageSubresource")) else { continue };
        let row = (number(r, "memoryRowLength"), number(r, "memoryImageHeight"));
        let at = r.one("imageOffset").map_or([0; 3], |o| ["x", "y", "z"].map(|n| number(o, n) as i32));
        region::inside(&image, &of(part, p.layers, at, p.extent), u64::MAX)?;
        let texels = match uploaded {
            Some(_) => translate(
                vk,
                &image,
                r.pointed("pHostPointer").unwrap_or(&[]),
                row,
                &p,
                number(part, "aspectMask"),
            ),
            None => {
                let bytes = p.bytes().and_then(|b| usize::try_from(b).ok());
                let many = || Error::new(Kind::Memory, "a copy has more texels than any memory holds");
                vec![0; bytes.ok_or_else(many)?]
            }
        };
        for name in ["memoryRowLength", "memoryImageHeight"] {
            if let Some((_, at)) = r.definition(name) {
                linked.set_u32_at(at, 0);
            }
        }
        if let Some((_, at)) = r.definition("pHostPointer") {
            linked.set_word_at(at, texels.as_ptr() as u64);
        }
        vk.stand_ins.host.push(texels);
    }
    Ok(())
}

/// The region of the image that is copied, from or to rows without gaps.
fn of(part: View<'_>, layer_count: u32, [x, y, z]: [i32; 3], [width, height, depth]: [u32; 3]) -> Region {
    let number = |name| part.u32(name).unwrap_or(0);
    Region {
        image_subresource: vk::ImageSubresourceLayers {
            aspect_mask: vk::ImageAspectFlags::from_raw(number("aspectMask")),
            mip_level: number("mipLevel"),
            base_array_layer: number("baseArrayLayer"),
            layer_count,
        },
        image_offset: vk::Offset3D { x, y, z },
        image_extent: vk::Extent3D { width, height, depth },
        ..Region::default()
    }
}

/// A snapshot's contents of an image with a stand-in: regions and contents as captured become those of the stand-in.
pub(in crate::vulkan) fn snapshot(
    vk: &mut Vulkan,
    image: &ImageState,
    regions: &[Region],
    captured: &[u8],
) -> (Vec<Region>, Vec<u8>) {
    let (mut all, mut texels) = (Vec::new(), Vec::new());
    for r in regions {
        let aspect = r.image_subresource.aspect_mask;
        let Some(codec) = image.codec(aspect) else { continue };
        let part = Part {
            codec,
            extent: [r.image_extent.width, r.image_extent.height, r.image_extent.depth],
            layers: r.image_subresource.layer_count,
            texel_bytes: codec.texel_bytes(image.format.as_raw() as u32) as u64,
        };
        let from = captured.get(r.buffer_offset as usize..).unwrap_or(&[]);
        let row = (r.buffer_row_length, r.buffer_image_height);
        let level = translate(vk, image, from, row, &part, aspect.as_raw());
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
fn translate(
    vk: &mut Vulkan,
    image: &ImageState,
    captured: &[u8],
    (row_length, image_height): (u32, u32),
    part: &Part,
    aspect: u32,
) -> Vec<u8> {
    let planes = world::formats::planes(image.captured_format.as_raw()).unwrap_or_default();
    let Some(plane) = planes.iter().find(|p| p.aspect & aspect != 0) else { return Vec::new() };
    let began = Instant::now();
    let rows = in_buffer(plane, 0, row_length, image_height, part.extent);
    let layer = rows.stride.1.saturating_mul(rows.count.1);
    let mut texels = Vec::new();
    for n in 0..u64::from(part.layers) {
        let from = usize::try_from(n.saturating_mul(layer)).unwrap_or(usize::MAX);
        let source = captured.get(from..).unwrap_or(&[]);
        texels.extend(part.codec.decode(image.format.as_raw() as u32, source, &rows, part.extent));
    }
    let cost = &mut vk.stand_ins.cost;
    cost.texels += part.extent.iter().map(|n| u64::from(*n)).product::<u64>() * u64::from(part.layers);
    cost.decoding += began.elapsed();
    texels
}

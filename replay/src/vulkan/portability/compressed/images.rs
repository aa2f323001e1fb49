//! Images with a stand-in, as they are made, and what all of it took.
//!
//! Refuses nothing.

use crate::options::Bridge;
use crate::report::Report;
use crate::vulkan::{ImageState, Vulkan};
use ash::vk;
use world::bytes::texels::{Shape, Texels};

/// Flags of an image: its blocks are nothing to look at any more. Called for images with a stand-in.
pub(in crate::vulkan) fn flags(flags: vk::ImageCreateFlags) -> vk::ImageCreateFlags {
    flags & !vk::ImageCreateFlags::BLOCK_TEXEL_VIEW_COMPATIBLE
}

/// An image of a format with a stand-in was made.
pub(in crate::vulkan) fn made(vk: &mut Vulkan, image: &ImageState) {
    let blocks = Texels::new(&shape(image)).map_or(0, |t| t.size);
    let cost = &mut vk.compressed.cost;
    cost.images += 1;
    cost.more_bytes = cost.more_bytes.saturating_add(image.size.saturating_sub(blocks));
}

/// As it was captured.
fn shape(i: &ImageState) -> Shape {
    Shape {
        format: i.captured_format.as_raw(),
        extent: [i.extent.width, i.extent.height, i.extent.depth],
        levels: i.levels,
        layers: i.layers,
        samples: 1,
    }
}

/// What it took, for the report.
pub(in crate::vulkan) fn tell(vk: &Vulkan, report: &mut Report) {
    let c = &vk.compressed.cost;
    if c.images > 0 {
        report.bridges.entry(Bridge::Texels).or_default().memory += c.more_bytes + c.most_staged;
    }
    for (what, n) in [
        ("images of compressed formats made in uncompressed ones", c.images),
        ("bytes that these take beyond their blocks", c.more_bytes),
        ("texels decoded", c.texels),
        ("microseconds of decoding texels", c.decoding.as_micros() as u64),
        ("bytes of decoded texels kept for copies, at most", c.most_staged),
        ("regions whose blocks were read back from the device, which was waited for", c.read_back),
    ] {
        if n > 0 {
            report.notes.insert(what.to_owned(), n);
        }
    }
}

//! Images with a stand-in, as they are made, seen and cleared, and what all of it took.
//!
//! A channel that the captured format lacks is not read from the stand-in: views say 0 or 1 in its stead, and clears write
//! that, so that blits find it, too. Refuses nothing.

use crate::error::Result;
use crate::options::Bridge;
use crate::report::Report;
use crate::texels::{Codec, channels};
use crate::vulkan::linked_call::LinkedCall;
use crate::vulkan::{ImageState, Vulkan};
use ash::vk;
use gfxr_parse::param;
use gfxr_parse::view::View;
use world::bytes::texels::{Shape, Texels};
use world::formats::DEPTH;

/// VkComponentSwizzle: IDENTITY, ZERO, ONE; red to alpha follow.
const IDENTITY: u32 = 0;
const ZERO: u32 = 1;
const RED: u32 = 3;

/// vkCreateImageView: what the captured format lacks is 0, of alpha 1.
pub(in super::super) fn view(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk, call, linked, .. } = c;
    let Some(info) = View::call(&call.image).one("pCreateInfo").filter(|_| !vk.stand_ins.is_empty()) else {
        return Ok(());
    };
    let Some(has) = lacking(vk, info.u64("image")) else { return Ok(()) };
    let Some(components) = info.one("components") else { return Ok(()) };
    for (i, name) in (0..).zip(["r", "g", "b", "a"]) {
        if let Some((_, at)) = components.definition(name) {
            linked.set_u32_at(at, swizzle(&has, i, components.u32(name).unwrap_or(IDENTITY)));
        }
    }
    Ok(())
}

/// What a component of a view is, where the image has these channels.
fn swizzle(has: &[bool; 4], component: usize, asked: u32) -> u32 {
    let channel = match asked {
        IDENTITY => component,
        RED.. => (asked - RED) as usize,
        _ => return asked,
    };
    match has.get(channel) {
        Some(false) => ZERO + u32::from(channel == 3),
        _ => asked,
    }
}

/// vkCmdClearColorImage: what the captured format lacks is 0, of alpha 1.
pub(in super::super) fn clear(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk, call, linked, .. } = c;
    let v = View::call(&call.image);
    let image = v.u64("image").filter(|_| !vk.stand_ins.is_empty());
    let Some(has) = lacking(vk, image) else { return Ok(()) };
    let format = image.and_then(|i| vk.images.get(&i)).map_or(0, |i| i.captured_format.as_raw() as u32);
    let Some(at) = call.image.target(param!("vkCmdClearColorImage", "pColor")) else { return Ok(()) };
    for (i, there) in (0..).zip(has) {
        if !there {
            linked.set_u32_at(at + size_of::<u32>() as u32 * i, if i == 3 { one(format) } else { 0 });
        }
    }
    Ok(())
}

/// One, as a clear value of a format of fewer channels.
fn one(format: u32) -> u32 {
    // UINT and SINT of 8, 16 and 32 bits.
    match format {
        27 | 28 | 34 | 35 | 88 | 89 | 104 | 105 => 1,
        _ => 1.0f32.to_bits(),
    }
}

/// The channels of an image with a stand-in, where it lacks some.
fn lacking(vk: &Vulkan, image: Option<u64>) -> Option<[bool; 4]> {
    let image = image.and_then(|i| vk.images.get(&i)).filter(|i| i.stands_in())?;
    let has = channels(image.captured_format.as_raw() as u32);
    (has != [true; 4]).then_some(has)
}

/// vkCreateGraphicsPipelines, vkCmdSetDepthBias: the unit of a constant bias is that of the format.
pub(in super::super) fn depth_bias(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk, call, report, .. } = c;
    let depth = |f: &u32| matches!(Codec::of(*f, DEPTH), Some(Codec::Depth(_)));
    if !vk.stand_ins.formats.keys().any(depth) {
        return Ok(());
    }
    let v = View::call(&call.image);
    let constant = |v: View<'_>| v.u32("depthBiasConstantFactor").is_some_and(|f| f32::from_bits(f) != 0.0);
    let pipelines = v.structs("pCreateInfos").filter_map(|i| i.one("pRasterizationState"));
    let mut biased = pipelines.filter(|s| s.u32("depthBiasEnable") == Some(1));
    if biased.any(constant) || constant(v) || v.one("pDepthBiasInfo").is_some_and(constant) {
        report.note("depth biases whose constant part is in units of the format that stands in");
    }
    Ok(())
}

/// Flags of an image: its blocks are nothing to look at any more. Called for images with a stand-in.
pub(in crate::vulkan) fn flags(flags: vk::ImageCreateFlags) -> vk::ImageCreateFlags {
    flags & !vk::ImageCreateFlags::BLOCK_TEXEL_VIEW_COMPATIBLE
}

/// An image of a format with a stand-in was made.
pub(in crate::vulkan) fn made(vk: &mut Vulkan, image: &ImageState) {
    let captured = Texels::new(&shape(image)).map_or(image.size, |t| t.size);
    let cost = &mut vk.stand_ins.cost;
    cost.images += 1;
    cost.more_bytes = cost.more_bytes.saturating_add(image.size.saturating_sub(captured));
}

/// As it was captured.
fn shape(i: &ImageState) -> Shape {
    Shape {
        format: i.captured_format.as_raw(),
        extent: [i.extent.width, i.extent.height, i.extent.depth],
        levels: i.levels,
        layers: i.layers,
        samples: i.samples.as_raw(),
    }
}

/// What it took, for the report.
pub(in crate::vulkan) fn tell(vk: &Vulkan, report: &mut Report) {
    let c = &vk.stand_ins.cost;
    if c.images > 0 {
        report.bridges.entry(Bridge::Texels).or_default().memory += c.more_bytes + c.most_staged;
    }
    for (what, n) in [
        ("images made in a format that stands in for theirs", c.images),
        ("bytes that these take beyond their texels as captured", c.more_bytes),
        ("texels translated for images", c.texels),
        ("microseconds of translating texels", c.decoding.as_micros() as u64),
        ("bytes of translated texels kept for copies, at most", c.most_staged),
        ("regions whose texels were read back from the device, which was waited for", c.read_back),
        ("regions copied out of images with a stand-in, translated by a shader", c.copied_out),
    ] {
        if n > 0 {
            report.notes.insert(what.to_owned(), n);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_channels_are_constants_wherever_they_are_shown() {
        let (three, alpha) = ([true, true, true, false], [false, false, false, true]);
        // (identity; alpha asked for in red; blue in alpha; a constant)
        let asked = [(3, IDENTITY), (0, 6), (3, 5), (0, ZERO)];
        assert_eq!(asked.map(|(i, a)| swizzle(&three, i, a)), [2, 2, 5, 1]);
        assert_eq!(asked.map(|(i, a)| swizzle(&alpha, i, a)), [0, 6, 1, 1]);
        assert_eq!((one(23), one(34), one(106)), (0x3F80_0000, 1, 0x3F80_0000));
    }
}

//! Images: what is copied, cleared, viewed and drawn to lies within them, level by level.
//!
//! Guarantees: no level, layer or texel behind an image's last is named. Refuses the others. Rows of buffers that texels come
//! from or go to are held against the buffer where the format's blocks are known.

use super::check::{Check, Cx, at_most, each, n32, n64, one, within};
use super::memory;
use gfxr_parse::error::{Error, Result};
use gfxr_parse::view::View;
use world::formats;
use world::objects::Image;

/// VK_REMAINING_MIP_LEVELS, VK_REMAINING_ARRAY_LAYERS.
const REMAINING: u32 = u32::MAX;

/// By canonical name.
pub(super) const CHECKS: &[(&str, Check)] = &[
    ("vkCmdBeginRenderPass", begin_render_pass),
    ("vkCmdBeginRenderPass2", begin_render_pass),
    ("vkCmdBeginRendering", |c, v| one(v, "pRenderingInfo", |i| rendering(c, i))),
    ("vkCmdBlitImage", |c, v| blit(c, v)),
    ("vkCmdBlitImage2", |c, v| one(v, "pBlitImageInfo", |i| blit(c, i))),
    ("vkCmdClearColorImage", |c, v| clear(c, v)),
    ("vkCmdClearDepthStencilImage", |c, v| clear(c, v)),
    ("vkCmdCopyBufferToImage", |c, v| with_buffer(c, v, "srcBuffer", "dstImage")),
    ("vkCmdCopyBufferToImage2", |c, v| {
        one(v, "pCopyBufferToImageInfo", |i| with_buffer(c, i, "srcBuffer", "dstImage"))
    }),
    ("vkCmdCopyImage", |c, v| between(c, v)),
    ("vkCmdCopyImage2", |c, v| one(v, "pCopyImageInfo", |i| between(c, i))),
    ("vkCmdCopyImageToBuffer", |c, v| with_buffer(c, v, "dstBuffer", "srcImage")),
    ("vkCmdCopyImageToBuffer2", |c, v| {
        one(v, "pCopyImageToBufferInfo", |i| with_buffer(c, i, "dstBuffer", "srcImage"))
    }),
    ("vkCmdPipelineBarrier", |c, v| barriers(c, v)),
    ("vkCmdPipelineBarrier2", |c, v| one(v, "pDependencyInfo", |i| barriers(c, i))),
    ("vkCmdResolveImage", |c, v| between(c, v)),
    ("vkCmdResolveImage2", |c, v| one(v, "pResolveImageInfo", |i| between(c, i))),
    ("vkCreateFramebuffer", |c, v| one(v, "pCreateInfo", |i| framebuffer(c, i))),
    ("vkCreateImage", |c, v| one(v, "pCreateInfo", |i| create(c, i))),
    ("vkCreateImageView", |c, v| {
        one(v, "pCreateInfo", |i| {
            let id = n64(i, "image");
            let Some(image) = c.world.images.get(&id) else { return Ok(()) };
            memory::image(c, id, image, "image")?;
            one(i, "subresourceRange", |r| range(image, r))
        })
    }),
    ("vkCreateRenderPass", |c, v| one(v, "pCreateInfo", |i| render_pass(c, i))),
    ("vkCreateRenderPass2", |c, v| one(v, "pCreateInfo", |i| render_pass(c, i))),
    ("vkGetImageSubresourceLayout", |c, v| one(v, "pSubresource", |s| subresource(c, v, s))),
    ("vkGetImageSubresourceLayout2", |c, v| {
        one(v, "pSubresource", |s| one(s, "imageSubresource", |s| subresource(c, v, s)))
    }),
];

/// The device's limits of extents, layers and levels.
fn create(c: &Cx<'_>, v: View<'_>) -> Result<()> {
    let Some(limits) = c.limits else { return Ok(()) };
    const CUBE: u32 = 0x10;
    let (most, name) = match n32(v, "imageType") {
        0 => (limits.max_image_dimension1_d, "maxImageDimension1D"),
        2 => (limits.max_image_dimension3_d, "maxImageDimension3D"),
        _ if n32(v, "flags") & CUBE != 0 => (limits.max_image_dimension_cube, "maxImageDimensionCube"),
        _ => (limits.max_image_dimension2_d, "maxImageDimension2D"),
    };
    one(v, "extent", |e| {
        ["width", "height", "depth"]
            .iter()
            .try_for_each(|side| at_most(n32(e, side).into(), most.into(), name).map_err(|e| e.within(side)))
    })?;
    at_most(n32(v, "arrayLayers").into(), limits.max_image_array_layers.into(), "maxImageArrayLayers")
        .map_err(|e| e.within("arrayLayers"))
}

/// VkImageSubresourceRange.
fn range(image: &Image, r: View<'_>) -> Result<()> {
    // A view of a slice of a 3D image counts slices as layers.
    let layers = if image.kind == 2 { image.extent[2].max(image.layers) } else { image.layers };
    for (base, count, has, of) in [
        ("baseMipLevel", "levelCount", image.levels, "image's levels"),
        ("baseArrayLayer", "layerCount", layers, "image's layers"),
    ] {
        let n = match n32(r, count) {
            REMAINING => 1,
            n => n,
        };
        within(n32(r, base).into(), n.into(), has.into(), of).map_err(|e| e.within(base))?;
    }
    Ok(())
}

/// VkImageSubresource.
fn subresource(c: &Cx<'_>, v: View<'_>, s: View<'_>) -> Result<()> {
    let Some(image) = c.world.images.get(&n64(v, "image")) else { return Ok(()) };
    within(n32(s, "mipLevel").into(), 1, image.levels.into(), "image's levels")
        .map_err(|e| e.within("mipLevel"))?;
    within(n32(s, "arrayLayer").into(), 1, image.layers.into(), "image's layers")
        .map_err(|e| e.within("arrayLayer"))
}

/// VkImageSubresourceLayers, and the extent of its level.
fn layers(image: &Image, s: View<'_>) -> Result<[u32; 3]> {
    let level = n32(s, "mipLevel");
    within(level.into(), 1, image.levels.into(), "image's levels").map_err(|e| e.within("mipLevel"))?;
    if image.kind != 2 {
        let n = match n32(s, "layerCount") {
            REMAINING => 1,
            n => n,
        };
        within(n32(s, "baseArrayLayer").into(), n.into(), image.layers.into(), "image's layers")
            .map_err(|e| e.within("baseArrayLayer"))?;
    }
    // Planes of less than the image's size are the driver's to know.
    Ok(image.extent.map(|side| side.checked_shr(level).unwrap_or(0).max(1)))
}

/// An offset and an extent within a level; block-compressed levels end in whole blocks.
fn region(image: &Image, v: View<'_>, subresource: &str, offset: &str, extent: [u32; 3]) -> Result<()> {
    let Some(s) = v.one(subresource) else { return Ok(()) };
    let level = layers(image, s).map_err(|e| e.within(subresource))?;
    let (bw, bh) = block(image, n32(s, "aspectMask")).map_or((1, 1), |b| b.block);
    let Some(o) = v.one(offset) else { return Ok(()) };
    for (axis, name, block) in [(0, "x", bw), (1, "y", bh), (2, "z", 1)] {
        let (from, has) = (n32(o, name) as i32, u64::from(level[axis]).next_multiple_of(block.max(1).into()));
        let Ok(from) = u64::try_from(from) else {
            return Err(Error::malformed(format!("expected 0 or more, found {from}"))
                .within(name)
                .within(offset));
        };
        // One-dimensional copies may name more of what does not count.
        within(from, extent[axis].into(), has, "level").map_err(|e| e.within(name).within(offset))?;
    }
    Ok(())
}

fn block(image: &Image, aspects: u32) -> Option<formats::Plane> {
    let planes = formats::planes(image.format as i32)?;
    planes.iter().find(|p| p.aspect & aspects != 0).or(planes.first()).copied()
}

fn sides(v: View<'_>, name: &str) -> [u32; 3] {
    v.one(name).map_or([0; 3], |e| ["width", "height", "depth"].map(|n| n32(e, n)))
}

/// Copies and resolves between images.
fn between(c: &Cx<'_>, v: View<'_>) -> Result<()> {
    let of = |name| c.world.images.get(&n64(v, name));
    let (src, dst) = (of("srcImage"), of("dstImage"));
    each(v, "pRegions", |r| {
        let extent = sides(r, "extent");
        if let Some(image) = src {
            region(image, r, "srcSubresource", "srcOffset", extent)?;
        }
        match (src, dst) {
            // Between blocks and texels the extent is the source's.
            (Some(a), Some(b)) if block(a, 1).map(|p| p.block) != block(b, 1).map(|p| p.block) => Ok(()),
            // A slice of a 3D image becomes a layer.
            (Some(a), Some(b)) if a.kind != b.kind => {
                region(b, r, "dstSubresource", "dstOffset", [extent[0], extent[1], 1])
            }
            (_, Some(b)) => region(b, r, "dstSubresource", "dstOffset", extent),
            _ => Ok(()),
        }
    })
}

/// Copies between a buffer and an image.
fn with_buffer(c: &Cx<'_>, v: View<'_>, buffer: &str, image: &str) -> Result<()> {
    let Some(image) = c.world.images.get(&n64(v, image)) else { return Ok(()) };
    let id = n64(v, buffer);
    memory::buffer(c, id, buffer)?;
    let size = super::buffers::size(c, id);
    each(v, "pRegions", |r| {
        let extent = sides(r, "imageExtent");
        region(image, r, "imageSubresource", "imageOffset", extent)?;
        let Some((size, s)) = size.zip(r.one("imageSubresource")) else { return Ok(()) };
        let Some(p) = block(image, n32(s, "aspectMask")) else { return Ok(()) };
        let (bw, bh) = (u64::from(p.block.0.max(1)), u64::from(p.block.1.max(1)));
        let or = |name, own: u32| match n32(r, name) {
            0 => u64::from(own),
            n => u64::from(n),
        };
        let (row, rows) =
            (or("bufferRowLength", extent[0]).div_ceil(bw), or("bufferImageHeight", extent[1]).div_ceil(bh));
        let slices = u64::from(extent[2]).max(match n32(s, "layerCount") {
            REMAINING => 1,
            n => n.into(),
        });
        let [w, h] = [u64::from(extent[0]).div_ceil(bw), u64::from(extent[1]).div_ceil(bh)];
        if w == 0 || h == 0 || slices == 0 {
            return Ok(());
        }
        // Up to the last block of the last row of the last slice.
        let blocks =
            (u128::from(slices - 1) * u128::from(rows) + u128::from(h - 1)) * u128::from(row) + u128::from(w);
        let bytes = u64::try_from(blocks * u128::from(p.block_bytes)).unwrap_or(u64::MAX);
        within(n64(r, "bufferOffset"), bytes, size, "buffer").map_err(|e| e.within("bufferOffset"))
    })
}

/// Each end of a blit has two corners.
fn blit(c: &Cx<'_>, v: View<'_>) -> Result<()> {
    each(v, "pRegions", |r| {
        for (image, subresource, offsets) in
            [("srcImage", "srcSubresource", "srcOffsets"), ("dstImage", "dstSubresource", "dstOffsets")]
        {
            let Some(image) = c.world.images.get(&n64(v, image)) else { continue };
            let Some(s) = r.one(subresource) else { continue };
            let level = layers(image, s).map_err(|e| e.within(subresource))?;
            each(r, offsets, |corner| {
                for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
                    let at = n32(corner, name) as i32;
                    if at < 0 || at as u32 > level[axis] {
                        let text = format!("expected 0 to {}, found {at}", level[axis]);
                        return Err(Error::malformed(text).within(name));
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    })
}

fn clear(c: &Cx<'_>, v: View<'_>) -> Result<()> {
    match c.world.images.get(&n64(v, "image")) {
        Some(image) => each(v, "pRanges", |r| range(image, r)),
        None => Ok(()),
    }
}

fn barriers(c: &Cx<'_>, v: View<'_>) -> Result<()> {
    each(v, "pImageMemoryBarriers", |b| match c.world.images.get(&n64(b, "image")) {
        Some(image) => one(b, "subresourceRange", |r| range(image, r)),
        None => Ok(()),
    })
}

/// As many views as the pass has attachments, none smaller than the framebuffer.
fn framebuffer(c: &Cx<'_>, v: View<'_>) -> Result<()> {
    if let Some(limits) = c.limits {
        for (side, most, name) in [
            ("width", limits.max_framebuffer_width, "maxFramebufferWidth"),
            ("height", limits.max_framebuffer_height, "maxFramebufferHeight"),
            ("layers", limits.max_framebuffer_layers, "maxFramebufferLayers"),
        ] {
            at_most(n32(v, side).into(), most.into(), name).map_err(|e| e.within(side))?;
        }
    }
    let Some(pass) = c.world.render_passes.get(&n64(v, "renderPass")) else { return Ok(()) };
    let (has, wants) = (n32(v, "attachmentCount"), pass.attachments.len());
    if has as usize != wants {
        let text = format!("expected {wants}, as the render pass has, found {has}");
        return Err(Error::malformed(text).within("attachmentCount"));
    }
    for (i, view) in v.u64s("pAttachments").iter().enumerate() {
        let Some(view) = c.world.image_views.get(view) else { continue };
        let Some(image) = c.world.images.get(&view.image) else { continue };
        for (axis, side) in ["width", "height"].into_iter().enumerate() {
            let has = image.extent[axis].checked_shr(view.range.level).unwrap_or(0).max(1);
            at_most(n32(v, side).into(), has.into(), &format!("pAttachments[{i}]"))
                .map_err(|e| e.within(side))?;
        }
    }
    Ok(())
}

/// No subpass has more attachments than the device.
fn render_pass(c: &Cx<'_>, v: View<'_>) -> Result<()> {
    each(v, "pSubpasses", |s| rendering(c, s))
}

/// Attachments that the device has.
fn rendering(c: &Cx<'_>, v: View<'_>) -> Result<()> {
    let Some(limits) = c.limits else { return Ok(()) };
    at_most(n32(v, "colorAttachmentCount").into(), limits.max_color_attachments.into(), "maxColorAttachments")
        .map_err(|e| e.within("colorAttachmentCount"))
}

/// The area lies in the framebuffer, which is made for such a pass; what is cleared has a value.
fn begin_render_pass(c: &Cx<'_>, v: View<'_>) -> Result<()> {
    const CLEAR: u32 = 1;
    one(v, "pRenderPassBegin", |b| {
        let pass = c.world.render_passes.get(&n64(b, "renderPass"));
        let framebuffer = c.world.framebuffers.get(&n64(b, "framebuffer"));
        if let Some(pass) = pass {
            let clears = |a: &world::passes::AttachmentDescription| {
                a.load == CLEAR
                    || (a.stencil_load == CLEAR
                        && formats::aspects(a.format as i32).contains(&formats::STENCIL))
            };
            let wanted = pass.attachments.iter().rposition(clears).map_or(0, |i| i + 1);
            if (n32(b, "clearValueCount") as usize) < wanted {
                let text = format!(
                    "expected at least {wanted}, as the render pass clears, found {}",
                    n32(b, "clearValueCount")
                );
                return Err(Error::malformed(text).within("clearValueCount"));
            }
        }
        let Some(framebuffer) = framebuffer else { return Ok(()) };
        if let Some(pass) = pass
            && !framebuffer.views.is_empty()
            && framebuffer.views.len() != pass.attachments.len()
        {
            let text = format!(
                "expected one made for {} attachments, as the render pass has, found {}",
                pass.attachments.len(),
                framebuffer.views.len()
            );
            return Err(Error::malformed(text).within("framebuffer"));
        }
        let Some(area) = b.one("renderArea") else { return Ok(()) };
        let (Some(o), Some(e)) = (area.one("offset"), area.one("extent")) else { return Ok(()) };
        for (axis, (at, side)) in [("x", "width"), ("y", "height")].into_iter().enumerate() {
            let from = n32(o, at) as i32;
            let Ok(from) = u64::try_from(from) else {
                let text = format!("expected 0 or more, found {from}");
                return Err(Error::malformed(text).within(at).within("offset").within("renderArea"));
            };
            within(from, n32(e, side).into(), framebuffer.extent[axis].into(), "framebuffer")
                .map_err(|e| e.within(side).within("renderArea"))?;
        }
        Ok(())
    })
}

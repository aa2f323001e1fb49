//! Copies in place of resolves, recorded behind what these belonged to.
//!
//! Guarantees: both images are afterwards in the layouts in which they were; what was done before is seen by the copy, and the copy by what
//! comes. Refuses, by saying so, images that may not be copied from or to.
#![allow(unsafe_code)]

use super::edits::{DEPTH, Resolves, STENCIL, of_attachments};
use crate::changes::edit::WORD;
use crate::changes::memory;
use gfxr_parse::view::View;
use replay::ash::vk;
use replay::error::Result;
use replay::exec::Executor;
use replay::vulkan::wait_for_all;
use vk::Handle;
use world::World;
use world::objects::Subresources;

/// One copy: from which view to which, the layouts of both, and of their stencil if that is copied, the aspects, the area.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    views: [u64; 2],
    layouts: [u32; 2],
    stencil: Option<[u32; 2]>,
    aspects: u32,
    area: [u32; 4],
}

/// A VkRect2D: its words.
fn area(of: View<'_>) -> [u32; 4] {
    let at = of.definition("renderArea").map_or(0, |(_, at)| at);
    [0, 1, 2, 3].map(|word| of.image().u32(at + word * WORD))
}

/// What is copied behind a render pass that begins so.
pub fn of_pass(world: &World, begin: View<'_>, resolves: &Resolves) -> Vec<Copied> {
    let framebuffer = begin.u64("framebuffer").unwrap_or(0);
    let views = match begin.next("VkRenderPassAttachmentBeginInfo") {
        Some(own) if own.array("pAttachments").is_some_and(|a| a.1 > 0) => own.u64s("pAttachments"),
        _ => world.framebuffers.get(&framebuffer).map_or(vec![], |f| f.views.clone()),
    };
    let view = |n: u32| views.get(n as usize).copied().unwrap_or(0);
    let all = resolves.copied.iter().map(|c| Copied {
        views: [view(c.pair.0), view(c.pair.1)],
        layouts: c.layouts,
        stencil: Some(c.stencil),
        aspects: c.aspects,
        area: area(begin),
    });
    all.collect()
}

/// VkRenderingFlags: it goes on in another rendering.
const SUSPENDING: u32 = 2;

/// What is copied behind a rendering that begins so.
pub fn of_rendering(info: View<'_>) -> Vec<Copied> {
    if info.u32("flags").unwrap_or(0) & SUSPENDING != 0 {
        return vec![];
    }
    let mut all: Vec<Copied> = vec![];
    for (a, aspects, direct) in of_attachments(info) {
        let views = ["imageView", "resolveImageView"].map(|n| a.u64(n).unwrap_or(0));
        let layouts = ["imageLayout", "resolveImageLayout"].map(|n| a.u32(n).unwrap_or(0));
        let depth = all.iter_mut().find(|c| c.views == views && c.aspects == DEPTH && aspects == STENCIL);
        match depth {
            Some(both) => (both.stencil, both.aspects) = (Some(layouts), DEPTH | STENCIL),
            None if !direct => all.push(Copied { views, layouts, stencil: None, aspects, area: area(info) }),
            None => {}
        }
    }
    all
}

/// VkImageLayouts of depth or of stencil alone.
const APART: std::ops::RangeInclusive<u32> = 1_000_241_000..=1_000_241_003;

/// Everything of a range, as Vulkan says it.
fn range(r: &Subresources, aspects: vk::ImageAspectFlags) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange {
        aspect_mask: aspects,
        base_mip_level: r.level,
        level_count: 1,
        base_array_layer: r.layer,
        layer_count: r.layers,
    }
}

/// Records a copy; not if the images cannot be copied.
pub fn record(cx: &mut Executor, buffer: u64, copied: &Copied) -> Result<bool> {
    let world = cx.objects.world();
    let views = copied.views.map(|id| world.image_views.get(&id).copied().unwrap_or_default());
    let commands = vk::CommandBuffer::from_raw(cx.objects.live(buffer));
    let Some(vk) = cx.backend.vulkan() else { return Ok(false) };
    let (Some(from), Some(to)) = (vk.image(views[0].image), vk.image(views[1].image)) else {
        return Ok(false);
    };
    let able = |i: &replay::vulkan::ImageState, usage| i.usage.contains(usage);
    let flat = [from, to].iter().all(|i| i.kind != vk::ImageType::TYPE_3D);
    let apart = copied.stencil.is_some_and(|s| s != copied.layouts)
        || copied.layouts.iter().any(|l| APART.contains(l));
    if !flat || apart && from.aspects() != vk::ImageAspectFlags::COLOR {
        return Ok(false);
    }
    if !able(from, vk::ImageUsageFlags::TRANSFER_SRC)
        || !able(to, vk::ImageUsageFlags::TRANSFER_DST)
        || from.format != to.format
    {
        return Ok(false);
    }
    let aspects = from.aspects();
    let ranges = [range(&views[0].range, aspects), range(&views[1].range, aspects)];
    let left = |image: &replay::vulkan::ImageState, r: &Subresources| match r.layers {
        u32::MAX => image.layers.saturating_sub(r.layer),
        n => n,
    };
    let layers = left(from, &views[0].range).min(left(to, &views[1].range));
    let of = |r: &Subresources| vk::ImageSubresourceLayers {
        aspect_mask: aspects & vk::ImageAspectFlags::from_raw(copied.aspects),
        mip_level: r.level,
        base_array_layer: r.layer,
        layer_count: layers,
    };
    let [x, y, width, height] = copied.area;
    let offset = vk::Offset3D { x: x as i32, y: y as i32, z: 0 };
    let region = vk::ImageCopy {
        src_subresource: of(&views[0].range),
        src_offset: offset,
        dst_subresource: of(&views[1].range),
        dst_offset: offset,
        extent: vk::Extent3D { width, height, depth: 1 },
    };
    let (own, images) = (copied.layouts.map(|l| vk::ImageLayout::from_raw(l as i32)), [from.live, to.live]);
    let copy = [vk::ImageLayout::TRANSFER_SRC_OPTIMAL, vk::ImageLayout::TRANSFER_DST_OPTIMAL];
    let d = &vk.device(from.device)?.ash;
    let moved = |old: [vk::ImageLayout; 2], new: [vk::ImageLayout; 2]| {
        for i in 0..2 {
            memory::barrier(d, commands, (images[i], ranges[i]), old[i], new[i]);
        }
    };
    moved(own, copy);
    // SAFETY: as above; both are in these layouts, of one sample and format, and large enough, as the render area was within them.
    unsafe { d.cmd_copy_image(commands, images[0], copy[0], images[1], copy[1], &[region]) };
    moved(copy, own);
    Ok(true)
}

/// What comes in a command buffer waits for what was, and sees it.
pub fn wait(cx: &mut Executor, buffer: u64) -> Result<()> {
    let commands = vk::CommandBuffer::from_raw(cx.objects.live(buffer));
    let device = cx.objects.any(buffer).map_or(0, |e| e.owner);
    let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
    wait_for_all(&vk.device(device)?.ash, commands);
    Ok(())
}

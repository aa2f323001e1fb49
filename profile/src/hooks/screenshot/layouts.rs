//! Which layout each image is in, as the capture's barriers and render passes leave it.
//!
//! Follows one subresource of an image, the one that is read: mip level 0 of layer 0. Recording says what will change
//! ([`Layouts::recorded`]), executing makes it so ([`Layouts::set`]). Images nobody has moved are where the replay left
//! them when it made or loaded them. Refuses nothing; layouts of other levels and layers are not known here.

use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use replay::ash::vk;
use replay::vulkan::Vulkan;
use std::collections::HashMap;

/// Commands that say what views, render passes and framebuffers are, or that move an image at once.
pub const COMMANDS: &[&str] = &[
    "vkCreateImage",
    "vkCreateImageView",
    "vkCreateRenderPass",
    "vkCreateRenderPass2",
    "vkCreateFramebuffer",
    "vkTransitionImageLayout",
];
/// Commands that move images when they execute.
pub const RECORDED: &[&str] = &[
    "vkCmdPipelineBarrier",
    "vkCmdPipelineBarrier2",
    "vkCmdWaitEvents",
    "vkCmdWaitEvents2",
    "vkCmdBeginRenderPass",
    "vkCmdBeginRenderPass2",
];

/// An image and the layout it will be in.
pub type Moved = (u64, vk::ImageLayout);

/// See the module's header.
#[derive(Debug, Default)]
pub struct Layouts {
    images: HashMap<u64, vk::ImageLayout>,
    /// View -> image, if it holds level 0 of layer 0.
    views: HashMap<u64, u64>,
    /// Render pass -> final layouts of its attachments.
    passes: HashMap<u64, Vec<vk::ImageLayout>>,
    /// Framebuffer -> views.
    framebuffers: HashMap<u64, Vec<u64>>,
}

fn layout(v: View<'_>, member: &str) -> Option<vk::ImageLayout> {
    v.u32(member).map(|l| vk::ImageLayout::from_raw(l as i32))
}

/// Whether a VkImageSubresourceRange (or none) holds level 0 of layer 0, and more than its stencil.
fn is_first(range: Option<View<'_>>) -> bool {
    range.is_none_or(|r| {
        r.u32("baseMipLevel") == Some(0)
            && r.u32("baseArrayLayer") == Some(0)
            && r.u32("aspectMask") != Some(vk::ImageAspectFlags::STENCIL.as_raw())
    })
}

/// A VkImageMemoryBarrier of either kind, or a VkHostImageLayoutTransitionInfo.
fn moved(barrier: View<'_>) -> Option<Moved> {
    let to = layout(barrier, "newLayout").filter(|l| *l != vk::ImageLayout::UNDEFINED)?;
    let image = barrier.u64("image")?;
    is_first(barrier.one("subresourceRange")).then_some((image, to))
}

impl Layouts {
    /// One of [`COMMANDS`] has been made.
    pub fn see(&mut self, call: &Call) {
        let v = View::call(&call.image);
        let info = v.one("pCreateInfo");
        match (call.command.canonical, info) {
            ("vkCreateImage", _) => {
                // The id may have come again.
                v.u64("pImage").and_then(|id| self.images.remove(&id));
            }
            ("vkTransitionImageLayout", _) => {
                v.structs("pTransitions").filter_map(moved).for_each(|m| self.set(m))
            }
            ("vkCreateImageView", Some(info)) => {
                let Some(id) = v.u64("pView") else { return };
                match info.u64("image").filter(|_| is_first(info.one("subresourceRange"))) {
                    Some(image) => self.views.insert(id, image),
                    None => self.views.remove(&id),
                };
            }
            ("vkCreateFramebuffer", Some(info)) => {
                v.u64("pFramebuffer").and_then(|id| self.framebuffers.insert(id, info.u64s("pAttachments")));
            }
            ("vkCreateRenderPass" | "vkCreateRenderPass2", Some(info)) => {
                let last = info.structs("pAttachments").filter_map(|a| layout(a, "finalLayout")).collect();
                v.u64("pRenderPass").and_then(|id| self.passes.insert(id, last));
            }
            _ => {}
        }
    }

    /// What one of [`RECORDED`] will do when it executes.
    pub fn recorded(&self, call: &Call) -> Vec<Moved> {
        let v = View::call(&call.image);
        match call.command.canonical {
            "vkCmdPipelineBarrier" | "vkCmdWaitEvents" => {
                v.structs("pImageMemoryBarriers").filter_map(moved).collect()
            }
            "vkCmdPipelineBarrier2" => dependency(v, "pDependencyInfo"),
            "vkCmdWaitEvents2" => dependency(v, "pDependencyInfos"),
            _ => v.one("pRenderPassBegin").map_or(Vec::new(), |begin| self.render_pass(begin)),
        }
    }

    /// Where a render pass leaves its attachments.
    fn render_pass(&self, begin: View<'_>) -> Vec<Moved> {
        let passes = begin.u64("renderPass").and_then(|id| self.passes.get(&id));
        let imageless = begin.next("VkRenderPassAttachmentBeginInfo").map(|a| a.u64s("pAttachments"));
        let bound = begin.u64("framebuffer").and_then(|id| self.framebuffers.get(&id));
        let views = imageless.as_ref().filter(|v| !v.is_empty()).or(bound);
        let pairs = views.into_iter().flatten().zip(passes.into_iter().flatten());
        pairs.filter_map(|(view, to)| Some((*self.views.get(view)?, *to))).collect()
    }

    /// It has executed.
    pub fn set(&mut self, (image, to): Moved) {
        self.images.insert(image, to);
    }

    /// The layout of an image.
    pub fn of(&self, vk: &Vulkan, image: u64) -> vk::ImageLayout {
        let made = || vk.image(image).map_or(vk::ImageLayout::UNDEFINED, |i| i.layout);
        self.images.get(&image).copied().unwrap_or_else(made)
    }
}

fn dependency(v: View<'_>, member: &str) -> Vec<Moved> {
    v.structs(member).flat_map(|d| d.structs("pImageMemoryBarriers")).filter_map(moved).collect()
}

#[cfg(test)]
mod tests {
    use super::super::recorded::{self, Recorded, Step};
    use super::*;
    use gfxr_parse::ahead::{self, What};
    use gfxr_parse::container::{Capture, FrameCounter, Scratch, read_file};
    use replay::objects::Objects;
    use std::path::Path;

    /// Follows a capture to the end of a frame.
    fn followed(file: &str, frame: u64) -> Layouts {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../captures/samples").join(file);
        let capture = Capture::open(&path, read_file).expect("it is committed");
        let (mut layouts, mut recorded, objects) =
            (Layouts::default(), Recorded::default(), Objects::default());
        let (mut frames, mut scratch) = (FrameCounter::new(capture.header()), Scratch::new());
        for block in capture.blocks() {
            let place = frames.feed(&block);
            if place.frame > frame {
                break;
            }
            let Ok(What::Call(call)) = ahead::read(&block, place, None, &mut scratch) else {
                continue;
            };
            let name = call.command.canonical;
            if COMMANDS.contains(&name) {
                layouts.see(&call);
            } else if RECORDED.contains(&name) {
                let moved = layouts.recorded(&call);
                recorded.moves(call.image.u64(0), moved);
            } else if recorded::COMMANDS.contains(&name) {
                recorded.see(&call, &objects);
            } else if name == "vkQueueSubmit" {
                recorded.play(&recorded::submitted(&call), &mut |s| {
                    if let Step::Moved(m) = s {
                        layouts.set(m);
                    }
                });
            }
        }
        layouts
    }

    #[test]
    fn render_passes_leave_attachments_in_their_final_layouts() {
        let l = followed("cubes.gfxr", 2);
        let of = |image: u64| l.images.get(&image).copied();
        // The ids of the sample: a swapchain image that is presented, one that never is, colour and depth.
        assert_eq!(of(7), Some(vk::ImageLayout::PRESENT_SRC_KHR));
        assert_eq!(of(8), None);
        assert_eq!(of(38), Some(vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL));
        assert_eq!(of(41), Some(vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL));
        assert_eq!(followed("cubes.gfxr", 0).images.len(), 0);
    }
}

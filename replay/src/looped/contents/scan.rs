//! What calls do to images and acceleration structures, read from the calls themselves.
//!
//! Views, render passes and framebuffers are remembered ([`Scan::see`]) so that what a command buffer records can be
//! said in terms of images ([`Scan::recorded`]). Layout transitions are exact, by subresource. Guarantees: needs no device.
//! Refuses nothing: a call about an object that is not known says nothing.

use super::layouts::Range;
use ash::vk;
use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use std::collections::HashMap;
use vk::ImageAspectFlags as A;

/// Calls for [`Scan::see`].
pub const OBJECTS: &[&str] = &[
    "vkCreateImageView",
    "vkDestroyImageView",
    "vkCreateRenderPass",
    "vkCreateRenderPass2",
    "vkDestroyRenderPass",
    "vkCreateFramebuffer",
    "vkDestroyFramebuffer",
];

/// Calls for [`Scan::recorded`]: the effect comes when the command buffer executes.
pub const RECORDED: &[&str] = &[
    "vkCmdPipelineBarrier",
    "vkCmdPipelineBarrier2",
    "vkCmdWaitEvents",
    "vkCmdWaitEvents2",
    "vkCmdBeginRenderPass",
    "vkCmdBeginRenderPass2",
    "vkCmdBeginRendering",
    "vkCmdExecuteCommands",
    "vkCmdCopyImage",
    "vkCmdCopyImage2",
    "vkCmdBlitImage",
    "vkCmdBlitImage2",
    "vkCmdResolveImage",
    "vkCmdResolveImage2",
    "vkCmdCopyBufferToImage",
    "vkCmdCopyBufferToImage2",
    "vkCmdClearColorImage",
    "vkCmdClearDepthStencilImage",
    "vkCmdBuildAccelerationStructuresKHR",
    "vkCmdBuildAccelerationStructuresIndirectKHR",
    "vkCmdCopyAccelerationStructureKHR",
    "vkCmdCopyMemoryToAccelerationStructureKHR",
];

/// Calls for [`Scan::recorded`] whose effect comes at once.
pub const HOST: &[&str] = &[
    "vkTransitionImageLayout",
    "vkCopyMemoryToImage",
    "vkCopyImageToImage",
    "vkBuildAccelerationStructuresKHR",
    "vkCopyAccelerationStructureKHR",
    "vkCopyMemoryToAccelerationStructureKHR",
];

/// Something that happens to an object of this captured id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Subresources are in this layout from now on.
    Layout(u64, Range, vk::ImageLayout),
    /// A queue family owns the image from now on.
    Owner(u64, u32),
    /// The image's contents may change.
    Write(u64),
    /// The acceleration structure is built, updated or copied into.
    Structure(u64),
    /// Secondary command buffers execute.
    Execute(Vec<u64>),
}

/// An attachment of a render pass: its layout afterwards, and that of its stencil.
type Attachment = (vk::ImageLayout, vk::ImageLayout);

/// See the module's header.
#[derive(Debug, Default)]
pub struct Scan {
    views: HashMap<u64, (u64, Range)>,
    passes: HashMap<u64, Vec<Attachment>>,
    framebuffers: HashMap<u64, Vec<u64>>,
}

impl Scan {
    /// One of [`OBJECTS`].
    pub fn see(&mut self, call: &Call) {
        let v = View::call(&call.image);
        match (call.command.canonical, v.one("pCreateInfo")) {
            ("vkCreateImageView", Some(info)) => {
                let range = range(info.one("subresourceRange"));
                if let (Some(id), Some(image), Some(range)) = (v.u64("pView"), info.u64("image"), range) {
                    self.views.insert(id, (image, range));
                }
            }
            ("vkCreateFramebuffer", Some(info)) => {
                v.u64("pFramebuffer").and_then(|id| self.framebuffers.insert(id, info.u64s("pAttachments")));
            }
            ("vkCreateRenderPass" | "vkCreateRenderPass2", Some(info)) => {
                let last = info.structs("pAttachments").filter_map(attachment).collect();
                v.u64("pRenderPass").and_then(|id| self.passes.insert(id, last));
            }
            ("vkDestroyImageView", _) => drop(v.u64("imageView").map(|id| self.views.remove(&id))),
            ("vkDestroyFramebuffer", _) => {
                drop(v.u64("framebuffer").map(|id| self.framebuffers.remove(&id)));
            }
            ("vkDestroyRenderPass", _) => drop(v.u64("renderPass").map(|id| self.passes.remove(&id))),
            _ => {}
        }
    }

    /// What one of [`RECORDED`] will do when it executes, or one of [`HOST`] has done.
    pub fn recorded(&self, call: &Call) -> Vec<Event> {
        let v = View::call(&call.image);
        // The newer commands have the older ones' parameters in a struct.
        let infos = [
            "pCopyImageInfo",
            "pBlitImageInfo",
            "pResolveImageInfo",
            "pCopyBufferToImageInfo",
            "pCopyMemoryToImageInfo",
            "pCopyImageToImageInfo",
        ];
        match call.command.canonical {
            "vkCmdPipelineBarrier" | "vkCmdWaitEvents" => barriers(v),
            "vkCmdPipelineBarrier2" => v.structs("pDependencyInfo").flat_map(barriers).collect(),
            "vkCmdWaitEvents2" => v.structs("pDependencyInfos").flat_map(barriers).collect(),
            "vkTransitionImageLayout" => v.structs("pTransitions").flat_map(barrier).collect(),
            "vkCmdBeginRenderPass" | "vkCmdBeginRenderPass2" => {
                v.one("pRenderPassBegin").map_or(Vec::new(), |begin| self.render_pass(begin))
            }
            "vkCmdBeginRendering" => v.one("pRenderingInfo").map_or(Vec::new(), |info| self.rendering(info)),
            "vkCmdExecuteCommands" => vec![Event::Execute(v.u64s("pCommandBuffers"))],
            "vkCmdClearColorImage" | "vkCmdClearDepthStencilImage" => {
                v.u64("image").map(Event::Write).into_iter().collect()
            }
            name if name.contains("AccelerationStructure") => structures(v),
            _ => {
                let info = infos.iter().find_map(|name| v.one(name)).unwrap_or(v);
                info.u64("dstImage").map(Event::Write).into_iter().collect()
            }
        }
    }

    /// Where a render pass leaves its attachments.
    fn render_pass(&self, begin: View<'_>) -> Vec<Event> {
        let attachments = begin.u64("renderPass").and_then(|id| self.passes.get(&id));
        let imageless = begin.next("VkRenderPassAttachmentBeginInfo").map(|a| a.u64s("pAttachments"));
        let bound = begin.u64("framebuffer").and_then(|id| self.framebuffers.get(&id));
        let views = imageless.as_ref().filter(|v| !v.is_empty()).or(bound);
        let mut events = Vec::new();
        for (view, (last, stencil)) in views.into_iter().flatten().zip(attachments.into_iter().flatten()) {
            let Some((image, range)) = self.views.get(view).copied() else { continue };
            events.push(Event::Write(image));
            // A view of depth or stencil alone is an attachment of both.
            if range.aspects.intersects(A::DEPTH | A::STENCIL) {
                events.push(Event::Layout(image, range.of(A::DEPTH), *last));
                events.push(Event::Layout(image, range.of(A::STENCIL), *stencil));
            } else {
                events.push(Event::Layout(image, range, *last));
            }
        }
        events
    }

    /// Dynamic rendering writes and moves nothing.
    fn rendering(&self, info: View<'_>) -> Vec<Event> {
        let attachments = ["pColorAttachments", "pDepthAttachment", "pStencilAttachment"];
        let views = attachments.into_iter().flat_map(|a| info.structs(a)).flat_map(|a| {
            [a.u64("imageView"), a.u64("resolveImageView")].into_iter().flatten().filter(|v| *v != 0)
        });
        views.filter_map(|v| self.views.get(&v)).map(|(image, _)| Event::Write(*image)).collect()
    }
}

/// Command buffers of a vkQueueSubmit or vkQueueSubmit2, in order.
pub fn submitted(call: &Call) -> Vec<u64> {
    let v = View::call(&call.image);
    let batches = v.structs("pSubmits");
    if call.command.canonical == "vkQueueSubmit" {
        batches.flat_map(|b| b.u64s("pCommandBuffers")).collect()
    } else {
        batches
            .flat_map(|b| b.structs("pCommandBufferInfos"))
            .filter_map(|i| i.u64("commandBuffer"))
            .collect()
    }
}

fn layout(v: View<'_>, member: &str) -> Option<vk::ImageLayout> {
    v.u32(member).map(|l| vk::ImageLayout::from_raw(l as i32))
}

fn range(v: Option<View<'_>>) -> Option<Range> {
    let v = v?;
    Some(Range {
        aspects: A::from_raw(v.u32("aspectMask")?),
        levels: (v.u32("baseMipLevel")?, v.u32("levelCount")?),
        layers: (v.u32("baseArrayLayer")?, v.u32("layerCount")?),
    })
}

fn attachment(v: View<'_>) -> Option<Attachment> {
    let last = layout(v, "finalLayout")?;
    let stencil =
        v.next("VkAttachmentDescriptionStencilLayout").and_then(|s| layout(s, "stencilFinalLayout"));
    Some((last, stencil.unwrap_or(last)))
}

fn barriers(v: View<'_>) -> Vec<Event> {
    v.structs("pImageMemoryBarriers").flat_map(barrier).collect()
}

/// A VkImageMemoryBarrier of either kind, or a VkHostImageLayoutTransitionInfo.
fn barrier(v: View<'_>) -> Vec<Event> {
    let Some(image) = v.u64("image") else { return Vec::new() };
    let mut events = Vec::new();
    let (from, to) = (layout(v, "oldLayout"), layout(v, "newLayout"));
    // Equal layouts mean that nothing moves, whatever layout that is.
    if let (Some(to), Some(range)) = (to.filter(|to| from != Some(*to)), range(v.one("subresourceRange"))) {
        events.push(Event::Layout(image, range, to));
    }
    let (src, dst) = (v.u32("srcQueueFamilyIndex"), v.u32("dstQueueFamilyIndex"));
    if let (Some(src), Some(dst)) = (src, dst)
        && src != dst
    {
        events.push(Event::Owner(image, dst));
    }
    events
}

/// Builds and copies of acceleration structures.
fn structures(v: View<'_>) -> Vec<Event> {
    let built = v.structs("pInfos").filter_map(|i| i.u64("dstAccelerationStructure"));
    let copied = v.one("pInfo").and_then(|i| i.u64("dst"));
    built.chain(copied).filter(|id| *id != 0).map(Event::Structure).collect()
}

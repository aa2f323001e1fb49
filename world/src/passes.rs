//! Render passes: attachments, subpasses and dependencies, from either way of making them.
//!
//! Refuses nothing.

use super::read::{n32, u32s};
use gfxr_parse::view::View;

/// What waits for what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scopes {
    /// VkPipelineStageFlags2 that are waited for.
    pub src_stages: u64,
    /// VkAccessFlags2 that are made available.
    pub src_access: u64,
    /// VkPipelineStageFlags2 that wait.
    pub dst_stages: u64,
    /// VkAccessFlags2 that they are made visible to.
    pub dst_access: u64,
}

/// A VkRenderPass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RenderPass {
    /// Its attachments.
    pub attachments: Vec<AttachmentDescription>,
    /// Its subpasses.
    pub subpasses: Vec<Subpass>,
    /// Its dependencies.
    pub dependencies: Vec<Dependency>,
}

/// VkAttachmentDescription2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the registry's names")]
pub struct AttachmentDescription {
    pub flags: u32,
    pub format: u32,
    pub samples: u32,
    pub load: u32,
    pub store: u32,
    pub stencil_load: u32,
    pub stencil_store: u32,
    pub initial_layout: u32,
    pub final_layout: u32,
    /// That of the stencil, where it has one of its own.
    pub stencil_final_layout: u32,
}

/// An attachment that a subpass uses: its index and its VkImageLayout there.
pub type Reference = (u32, u32);

/// VkSubpassDescription2. References to no attachment are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the registry's names")]
pub struct Subpass {
    pub view_mask: u32,
    pub inputs: Vec<Reference>,
    pub colours: Vec<Reference>,
    pub resolves: Vec<Reference>,
    pub depth: Option<Reference>,
    pub depth_resolve: Option<Reference>,
    /// Read for the rate of shading.
    pub rate: Option<Reference>,
    pub preserved: Vec<u32>,
}

/// VkSubpassDependency2; `u32::MAX` is what lies outside of the render pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the registry's names")]
pub struct Dependency {
    pub src: u32,
    pub dst: u32,
    pub scopes: Scopes,
    pub flags: u32,
}

/// VK_ATTACHMENT_UNUSED.
const UNUSED: u32 = u32::MAX;

fn references(v: View<'_>, name: &str) -> Vec<Reference> {
    v.structs(name).map(reference).filter(|r| r.0 != UNUSED).collect()
}

fn reference(v: View<'_>) -> Reference {
    (n32(v, "attachment"), n32(v, "layout"))
}

fn attachment(v: View<'_>) -> AttachmentDescription {
    let stencil = v.next("VkAttachmentDescriptionStencilLayout").map(|s| n32(s, "stencilFinalLayout"));
    AttachmentDescription {
        flags: n32(v, "flags"),
        format: n32(v, "format"),
        samples: n32(v, "samples"),
        load: n32(v, "loadOp"),
        store: n32(v, "storeOp"),
        stencil_load: n32(v, "stencilLoadOp"),
        stencil_store: n32(v, "stencilStoreOp"),
        initial_layout: n32(v, "initialLayout"),
        final_layout: n32(v, "finalLayout"),
        stencil_final_layout: stencil.unwrap_or_else(|| n32(v, "finalLayout")),
    }
}

fn subpass(v: View<'_>) -> Subpass {
    let resolve = v.next("VkSubpassDescriptionDepthStencilResolve");
    let rate = v.next("VkFragmentShadingRateAttachmentInfoKHR");
    let used = |v: View<'_>| Some(reference(v)).filter(|r| r.0 != UNUSED);
    Subpass {
        view_mask: n32(v, "viewMask"),
        inputs: references(v, "pInputAttachments"),
        colours: references(v, "pColorAttachments"),
        resolves: references(v, "pResolveAttachments"),
        depth: v.one("pDepthStencilAttachment").and_then(used),
        depth_resolve: resolve.and_then(|r| r.one("pDepthStencilResolveAttachment")).and_then(used),
        rate: rate.and_then(|r| r.one("pFragmentShadingRateAttachment")).and_then(used),
        preserved: u32s(v, "pPreserveAttachments"),
    }
}

fn dependency(v: View<'_>) -> Dependency {
    // The chain may say it with 64-bit masks.
    let (b, wide) = match v.next("VkMemoryBarrier2") {
        Some(b) => (b, true),
        None => (v, false),
    };
    let bits = |n: &str| if wide { b.u64(n).unwrap_or(0) } else { n32(b, n).into() };
    Dependency {
        src: n32(v, "srcSubpass"),
        dst: n32(v, "dstSubpass"),
        scopes: Scopes {
            src_stages: bits("srcStageMask"),
            src_access: bits("srcAccessMask"),
            dst_stages: bits("dstStageMask"),
            dst_access: bits("dstAccessMask"),
        },
        flags: n32(v, "dependencyFlags"),
    }
}

impl RenderPass {
    /// Of a VkRenderPassCreateInfo, or 2.
    pub fn of(info: View<'_>) -> Self {
        let mut subpasses: Vec<Subpass> = info.structs("pSubpasses").map(subpass).collect();
        if let Some(views) = info.next("VkRenderPassMultiviewCreateInfo") {
            let masks = u32s(views, "pViewMasks");
            subpasses.iter_mut().zip(masks).for_each(|(subpass, mask)| subpass.view_mask = mask);
        }
        RenderPass {
            attachments: info.structs("pAttachments").map(attachment).collect(),
            subpasses,
            dependencies: info.structs("pDependencies").map(dependency).collect(),
        }
    }
}

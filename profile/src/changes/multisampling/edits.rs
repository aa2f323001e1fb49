//! What becomes of resolves in calls: of render passes, of dynamic rendering, of commands.
//!
//! Guarantees: as many attachments and references as there were, so that framebuffers and pipelines fit as before. Refuses a
//! render pass that uses what it has resolved.

use crate::changes::edit::{Edit, WORD, set};
use gfxr_parse::schema::generated::STRUCTS;
use gfxr_parse::schema::struct_named;
use gfxr_parse::view::View;
use world::passes::{RenderPass, Subpass};

/// By number: an attachment of several samples, and that to which it is resolved.
pub type Pair = (u32, u32);

/// What becomes of a render pass's resolves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolves {
    /// The second is drawn to in place of the first.
    pub direct: Vec<Pair>,
    /// The first is copied to the second behind the render pass.
    pub copied: Vec<Copy>,
}

/// What is copied behind a render pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    /// From which attachment to which.
    pub pair: Pair,
    /// The layouts of both there.
    pub layouts: [u32; 2],
    /// Those of their stencil.
    pub stencil: [u32; 2],
    /// VkImageAspectFlags.
    pub aspects: u32,
}

/// VK_ATTACHMENT_UNUSED.
const UNUSED: u32 = u32::MAX;
/// VkAttachmentLoadOp, VkAttachmentStoreOp.
const LOAD: u32 = 0;
const STORE: u32 = 0;
const DONT_STORE: u32 = 1;
/// VkImageAspectFlags.
const COLOUR: u32 = 1;
/// See [`COLOUR`].
pub const DEPTH: u32 = 2;
/// See [`COLOUR`].
pub const STENCIL: u32 = 4;
/// VK_IMAGE_LAYOUT_RENDERING_LOCAL_READ.
const LOCAL_READ: u32 = 1_000_232_000;
/// Bytes of a VkClearValue.
const CLEAR_VALUE: u32 = 4 * WORD;
/// VkRenderingFlags: suspending, resuming.
const PARTS: u32 = 2 | 4;

/// A pair that is resolved, the aspects, and the last subpass that does.
type Resolved = (Pair, u32, usize);

/// Which attachments a render pass resolves to which, each pair once.
fn pairs(info: View<'_>) -> Vec<Resolved> {
    let mut all: Vec<Resolved> = vec![];
    let number = |r: View<'_>| r.u32("attachment").unwrap_or(UNUSED);
    for (n, subpass) in info.structs("pSubpasses").enumerate() {
        let colours = subpass.structs("pColorAttachments").map(number);
        let colours = colours.zip(subpass.structs("pResolveAttachments").map(number)).map(|p| (p, COLOUR));
        let depth = subpass.one("pDepthStencilAttachment").map(number);
        let resolve = subpass.next("VkSubpassDescriptionDepthStencilResolve");
        let asked = |name: &str, aspect: u32| match resolve.and_then(|r| r.u32(name)) {
            Some(0) | None => 0,
            Some(_) => aspect,
        };
        let aspects = asked("depthResolveMode", DEPTH) | asked("stencilResolveMode", STENCIL);
        let target = resolve.and_then(|r| r.one("pDepthStencilResolveAttachment")).map(number);
        for (pair, aspects) in colours.chain(depth.zip(target).map(|p| (p, aspects))) {
            match all.iter_mut().find(|p| p.0 == pair) {
                Some(known) => (known.1, known.2) = (known.1 | aspects, n),
                None => all.push((pair, aspects, n)),
            }
        }
    }
    all.retain(|(p, aspects, _)| p.0 != UNUSED && p.1 != UNUSED && *aspects != 0);
    all
}

/// Whether a subpass draws to an attachment.
fn drawn(s: &Subpass, attachment: u32) -> bool {
    s.colours.iter().chain(&s.depth).any(|r| r.0 == attachment)
}

/// Whether a subpass reads one.
fn read(s: &Subpass, attachment: u32) -> bool {
    s.inputs.iter().any(|r| r.0 == attachment)
}

impl Resolves {
    /// Of this create info.
    pub fn of(info: View<'_>) -> Result<Self, &'static str> {
        let (pass, pairs) = (RenderPass::of(info), pairs(info));
        let mut all = Resolves::default();
        for ((of, to), aspects, last) in &pairs {
            let attachment = |n: u32| pass.attachments.get(n as usize).copied();
            let (Some(from), Some(target)) = (attachment(*of), attachment(*to)) else { continue };
            if pass.subpasses.iter().any(|s| drawn(s, *to) || read(s, *to)) {
                return Err("a render pass uses what it has resolved itself");
            }
            if pass.subpasses.iter().skip(last + 1).any(|s| drawn(s, *of)) {
                return Err("a render pass draws on in what it has resolved");
            }
            let once = pairs.iter().filter(|p| p.0.0 == *of || p.0.1 == *to).count() == 1;
            let alone = once && !pass.subpasses.iter().any(|s| read(s, *of));
            // (depth is written at another stage than it is resolved at, which is what the application waits for)
            match *aspects == COLOUR && alone && from.load != LOAD && from.store == DONT_STORE {
                true => all.direct.push((*of, *to)),
                false => all.copied.push(Copy {
                    pair: (*of, *to),
                    layouts: [from.final_layout, target.final_layout],
                    stencil: [from.stencil_final_layout, target.stencil_final_layout],
                    aspects: *aspects,
                }),
            }
        }
        Ok(all)
    }

    fn instead(&self, attachment: u32) -> u32 {
        self.direct.iter().find(|p| p.0 == attachment).map_or(attachment, |p| p.1)
    }

    /// What is edited in a render pass's create info.
    pub fn edits(&self, info: View<'_>) -> Vec<Edit> {
        let attachments: Vec<View<'_>> = info.structs("pAttachments").collect();
        let mut edits: Vec<Edit> = vec![];
        for (of, to) in &self.direct {
            let (of, to) = (attachments[*of as usize], attachments[*to as usize]);
            for op in ["loadOp", "stencilLoadOp"] {
                edits.extend(of.u32(op).and_then(|value| set(to, op, value)));
            }
            edits.extend(set(to, "storeOp", STORE));
        }
        for copy in &self.copied {
            let of = attachments[copy.pair.0 as usize];
            edits.extend(["storeOp", "stencilStoreOp"].iter().filter_map(|op| set(of, op, STORE)));
        }
        for subpass in info.structs("pSubpasses") {
            let single = subpass.next("VkMultisampledRenderToSingleSampledInfoEXT");
            edits.extend(single.and_then(|s| set(s, "multisampledRenderToSingleSampledEnable", 0)));
            let depth = subpass.next("VkSubpassDescriptionDepthStencilResolve");
            let drawn = subpass.structs("pColorAttachments").chain(subpass.one("pDepthStencilAttachment"));
            for r in drawn {
                let attachment = r.u32("attachment").unwrap_or(UNUSED);
                edits.extend(set(r, "attachment", self.instead(attachment)));
            }
            let resolved = depth.and_then(|d| d.one("pDepthStencilResolveAttachment"));
            let resolved = subpass.structs("pResolveAttachments").chain(resolved);
            edits.extend(resolved.filter_map(|r| set(r, "attachment", UNUSED)));
            if let Some((at, n)) = subpass.array("pPreserveAttachments") {
                let kept = (0..n as u32).map(|i| at + i * WORD);
                edits.extend(kept.map(|at| Edit { at, value: self.instead(info.image().u32(at)) }));
            }
        }
        edits
    }

    /// With which values attachments are cleared that are drawn to in place of others, by number.
    pub fn clears(&self, begin: View<'_>) -> Vec<Option<[u32; 4]>> {
        let (at, n) = begin.array("pClearValues").unwrap_or((0, 0));
        let mut all = vec![];
        for (of, to) in self.direct.iter().filter(|p| u64::from(p.0) < n) {
            all.resize(all.len().max(*to as usize + 1), None);
            all[*to as usize] =
                Some([0, 1, 2, 3].map(|word| begin.image().u32(at + of * CLEAR_VALUE + word * WORD)));
        }
        all
    }
}

/// An attachment of a rendering that is resolved.
fn resolved(a: View<'_>) -> bool {
    a.u32("resolveMode").unwrap_or(0) != 0
        && ["imageView", "resolveImageView"].iter().all(|view| a.u64(view).unwrap_or(0) != 0)
}

/// The attachments of a rendering that are resolved: the aspect, and whether what each is resolved to is drawn to itself.
pub fn of_attachments(info: View<'_>) -> Vec<(View<'_>, u32, bool)> {
    let parts = info.u32("flags").unwrap_or(0) & PARTS != 0;
    let alone = |a: View<'_>| {
        let transient = a.u32("loadOp") != Some(LOAD) && a.u32("storeOp") == Some(DONT_STORE);
        !parts && transient && a.u32("imageLayout") != Some(LOCAL_READ)
    };
    let colours = info.structs("pColorAttachments").map(|a| (a, COLOUR, alone(a)));
    // (depth is written at another stage than it is resolved at, which is what the application waits for)
    let others = [("pDepthAttachment", DEPTH), ("pStencilAttachment", STENCIL)];
    let others = others.into_iter().filter_map(|(name, aspect)| Some((info.one(name)?, aspect, false)));
    colours.chain(others).filter(|a| resolved(a.0)).collect()
}

/// What is edited in a rendering, and how many attachments are drawn to in place of others.
pub fn of_rendering(info: View<'_>) -> (Vec<Edit>, usize) {
    let mut edits: Vec<Edit> = vec![];
    let single = info.next("VkMultisampledRenderToSingleSampledInfoEXT");
    edits.extend(single.and_then(|s| set(s, "multisampledRenderToSingleSampledEnable", 0)));
    let all = of_attachments(info);
    for (a, _, direct) in &all {
        edits.extend(set(*a, "resolveMode", 0));
        edits.extend(set(*a, "storeOp", STORE));
        if *direct {
            let view = a.u64("resolveImageView").unwrap_or(0);
            let at = a.definition("imageView").map(|(_, at)| at);
            edits.extend(at.into_iter().flat_map(|at| {
                [Edit { at, value: view as u32 }, Edit { at: at + WORD, value: (view >> 32) as u32 }]
            }));
            edits.extend(a.u32("resolveImageLayout").and_then(|layout| set(*a, "imageLayout", layout)));
        }
    }
    (edits, all.iter().filter(|a| a.2).count())
}

/// Empties a struct's chain.
fn unchained(of: View<'_>) -> Vec<Edit> {
    let at = of.definition("pNext").map(|(_, at)| at);
    at.into_iter().flat_map(|at| [at, at + WORD].map(|at| Edit { at, value: 0 })).collect()
}

/// What is edited so that a command that resolves is one that copies: what its structs are called, and what says how to resolve.
pub fn of_copy(v: View<'_>) -> Vec<Edit> {
    let Some(info) = v.one("pResolveImageInfo") else { return vec![] };
    let kind = |name: &str| struct_named(name).and_then(|id| STRUCTS[usize::from(id)].stype).unwrap_or(0);
    let of =
        |v: View<'_>, name| set(v, "sType", kind(name)).into_iter().chain(unchained(v)).collect::<Vec<_>>();
    let regions = info.structs("pRegions").flat_map(|r| of(r, "VkImageCopy2"));
    of(info, "VkCopyImageInfo2").into_iter().chain(regions).collect()
}

/// As many places of samples as one sample has: one for each pixel of the grid.
fn places(of: View<'_>) -> Option<Edit> {
    let grid = of.one("sampleLocationGridSize");
    let side = |name: &str| grid.and_then(|g| g.u32(name)).unwrap_or(0);
    let one = side("width").saturating_mul(side("height"));
    set(of, "sampleLocationsCount", one.min(of.u32("sampleLocationsCount").unwrap_or(0)))
}

/// What is edited in a pipeline's create info: its samples have no places of their own.
pub fn of_pipeline(info: View<'_>) -> Vec<Edit> {
    let state =
        info.one("pMultisampleState").and_then(|m| m.next("VkPipelineSampleLocationsStateCreateInfoEXT"));
    let Some(state) = state else { return vec![] };
    let places = state.one("sampleLocationsInfo").and_then(places);
    set(state, "sampleLocationsEnable", 0).into_iter().chain(places).collect()
}

/// What is edited where a command, or the begin of a render pass, says where samples are.
pub fn of_locations(v: View<'_>) -> Vec<Edit> {
    let own = v.one("pSampleLocationsInfo").and_then(places);
    let begin = v.next("VkRenderPassSampleLocationsBeginInfoEXT");
    let counts = ["attachmentInitialSampleLocationsCount", "postSubpassSampleLocationsCount"];
    let none = begin.into_iter().flat_map(|b| counts.map(|n| set(b, n, 0))).flatten();
    own.into_iter().chain(none).collect()
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;

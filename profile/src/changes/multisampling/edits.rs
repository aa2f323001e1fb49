//! What becomes of resolves in calls: of render passes, of dynamic rendering, of commands.
//!
//! Guarantees: as many attachments and references as there were, so that framebuffers and pipelines fit as before. Refuses a
//! render pass that uses what it has resolved.

use crate::changes::edit::{Edit, set};
use gfxr_parse::schema::generated::STRUCTS;
use gfxr_parse::schema::struct_named;
use gfxr_parse::view::View;
use world::passes::RenderPass;

/// By number: an attachment of several samples, and that to which it is resolved.
pub type Pair = (u32, u32);

/// What becomes of a render pass's resolves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolves {
    /// The second is drawn to in place of the first.
    pub direct: Vec<Pair>,
    /// The first is copied to the second behind the render pass: the layouts of both there.
    pub copied: Vec<(Pair, [u32; 2])>,
}

/// VK_ATTACHMENT_UNUSED.
const UNUSED: u32 = u32::MAX;
/// VkAttachmentLoadOp, VkAttachmentStoreOp.
const LOAD: u32 = 0;
const STORE: u32 = 0;
const DONT_STORE: u32 = 1;
/// VK_IMAGE_ASPECT_STENCIL_BIT.
const STENCIL: u32 = 4;
/// Bytes of a number, and of a VkClearValue.
const WORD: u32 = size_of::<u32>() as u32;
const CLEAR_VALUE: u32 = 4 * WORD;
/// VkRenderingFlags: suspending, resuming.
const PARTS: u32 = 2 | 4;

/// Which attachments a render pass resolves to which.
fn pairs(info: View<'_>) -> Vec<Pair> {
    let mut all: Vec<Pair> = vec![];
    let number = |r: View<'_>| r.u32("attachment").unwrap_or(UNUSED);
    for subpass in info.structs("pSubpasses") {
        let colours = subpass.structs("pColorAttachments").map(number);
        all.extend(colours.zip(subpass.structs("pResolveAttachments").map(number)));
        let depth = subpass.one("pDepthStencilAttachment").map(number);
        let resolve = subpass.next("VkSubpassDescriptionDepthStencilResolve");
        all.extend(depth.zip(resolve.and_then(|r| r.one("pDepthStencilResolveAttachment")).map(number)));
    }
    all.retain(|p| p.0 != UNUSED && p.1 != UNUSED);
    all
}

impl Resolves {
    /// Of this create info.
    pub fn of(info: View<'_>) -> Result<Self, &'static str> {
        let (pass, pairs) = (RenderPass::of(info), pairs(info));
        let mut all = Resolves::default();
        for (of, to) in &pairs {
            let attachment = |n: u32| pass.attachments.get(n as usize).copied();
            let (Some(from), Some(target)) = (attachment(*of), attachment(*to)) else { continue };
            let mut uses =
                pass.subpasses.iter().flat_map(|s| s.inputs.iter().chain(&s.colours).chain(&s.depth));
            if uses.any(|r| r.0 == *to) {
                return Err("a render pass uses what it has resolved itself");
            }
            let stencil = world::formats::aspects(from.format as i32).contains(&STENCIL);
            let loaded = from.load == LOAD || stencil && from.stencil_load == LOAD;
            let stored = from.store != DONT_STORE || stencil && from.stencil_store != DONT_STORE;
            let once = pairs.iter().filter(|p| p.0 == *of || p.1 == *to).count() == 1;
            match loaded || stored || !once {
                true => all.copied.push(((*of, *to), [from.final_layout, target.final_layout])),
                false => all.direct.push((*of, *to)),
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
        for ((of, _), _) in &self.copied {
            edits.extend(
                ["storeOp", "stencilStoreOp"]
                    .iter()
                    .filter_map(|op| set(attachments[*of as usize], op, STORE)),
            );
        }
        for subpass in info.structs("pSubpasses") {
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
pub fn resolved(a: View<'_>) -> bool {
    a.u32("resolveMode").unwrap_or(0) != 0
        && ["imageView", "resolveImageView"].iter().all(|view| a.u64(view).unwrap_or(0) != 0)
}

/// The attachments of a rendering that are resolved, and whether what each is resolved to is drawn to itself.
pub fn of_attachments(info: View<'_>) -> Vec<(View<'_>, bool)> {
    let parts = info.u32("flags").unwrap_or(0) & PARTS != 0;
    let transient = |a: &View<'_>| a.u32("loadOp") != Some(LOAD) && a.u32("storeOp") == Some(DONT_STORE);
    let colours = info.structs("pColorAttachments").filter(|a| resolved(*a));
    let mut all: Vec<(View<'_>, bool)> = colours.map(|a| (a, !parts && transient(&a))).collect();
    let others: Vec<View<'_>> =
        ["pDepthAttachment", "pStencilAttachment"].iter().filter_map(|n| info.one(n)).collect();
    let others: Vec<View<'_>> = others.into_iter().filter(|a| a.u64("imageView").unwrap_or(0) != 0).collect();
    // (both are of one image, which is drawn to or not)
    let same =
        others.iter().all(|a| resolved(*a) && a.u64("resolveImageView") == others[0].u64("resolveImageView"));
    let direct = !parts && same && others.iter().all(transient);
    all.extend(others.into_iter().filter(|a| resolved(*a)).map(|a| (a, direct)));
    all
}

/// What is edited in a rendering, and how many attachments are drawn to in place of others.
pub fn of_rendering(info: View<'_>) -> (Vec<Edit>, usize) {
    let mut edits: Vec<Edit> = vec![];
    let single = info.next("VkMultisampledRenderToSingleSampledInfoEXT");
    edits.extend(single.and_then(|s| set(s, "multisampledRenderToSingleSampledEnable", 0)));
    let all = of_attachments(info);
    for (a, direct) in &all {
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
    (edits, all.iter().filter(|a| a.1).count())
}

/// What is edited so that a command that resolves is one that copies: what its structs are called.
pub fn of_copy(v: View<'_>) -> Vec<Edit> {
    let Some(info) = v.one("pResolveImageInfo") else { return vec![] };
    let kind = |name: &str| struct_named(name).and_then(|id| STRUCTS[usize::from(id)].stype).unwrap_or(0);
    let own = set(info, "sType", kind("VkCopyImageInfo2"));
    let regions = info.structs("pRegions").filter_map(|r| set(r, "sType", kind("VkImageCopy2")));
    own.into_iter().chain(regions).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changes::edit;
    use gfxr_parse::ahead::Call;

    const CLEAR: u32 = 1;

    /// A render pass of a colour of four samples (0), depth of four (1) and what the colour is resolved to (2), which subpasses of these numbers
    /// have as an input.
    fn pass(load: u32, store: u32, inputs: &[u32]) -> Call {
        Call::written("vkCreateRenderPass", |w| {
            w.u64(1);
            w.structure(|w| {
                w.u32(38).null_struct().u32(0).u32(3);
                w.structures(3, |w, i| {
                    let (format, samples) = ([44, 129, 44][i], [4, 4, 1][i]);
                    let (load, store) = if i < 2 { (load, store) } else { (2, 0) };
                    w.u32(0)
                        .u32(format)
                        .u32(samples)
                        .u32(load)
                        .u32(store)
                        .u32(load)
                        .u32(store)
                        .u32(0)
                        .u32(10 + i as u32);
                });
                w.u32(2);
                w.structures(2, |w, subpass| {
                    let own = inputs.contains(&(subpass as u32));
                    w.u32(0).u32(0).u32(u32::from(own));
                    if own {
                        w.structures(1, |w, _| {
                            w.u32(2).u32(5);
                        });
                    } else {
                        w.null_structs();
                    }
                    w.u32(1);
                    w.structures(1, |w, _| {
                        w.u32(0).u32(2);
                    });
                    if subpass == 1 {
                        w.structures(1, |w, _| {
                            w.u32(2).u32(2);
                        });
                    } else {
                        w.null_structs();
                    }
                    w.structure(|w| {
                        w.u32(1).u32(3);
                    });
                    w.u32(0).null_array();
                });
                w.u32(0).null_structs();
            });
            w.null_struct().u64_ptr(7).i32(0);
        })
        .expect("a call")
    }

    fn info(call: &Call) -> View<'_> {
        View::call(&call.image).one("pCreateInfo").expect("there")
    }

    /// A subpass's colour, and what it is resolved to.
    type Drawn = (u32, Option<u32>);

    /// What a call's create info says of attachments (how they are loaded and stored) and of each subpass.
    fn said(call: &Call) -> (Vec<[u32; 2]>, Vec<Drawn>) {
        let n = |v: View<'_>, name| v.u32(name).unwrap_or(UNUSED);
        let attachments =
            info(call).structs("pAttachments").map(|a| [n(a, "loadOp"), n(a, "storeOp")]).collect();
        let first = |s: View<'_>, name| s.structs(name).next().map(|r| n(r, "attachment"));
        let subpasses = info(call).structs("pSubpasses");
        let of = subpasses
            .map(|s| (first(s, "pColorAttachments").unwrap_or(UNUSED), first(s, "pResolveAttachments")));
        (attachments, of.collect())
    }

    #[test]
    fn what_is_only_resolved_is_not_drawn_to() {
        let mut call = pass(CLEAR, DONT_STORE, &[]);
        let resolves = Resolves::of(info(&call)).expect("it can be");
        assert_eq!(resolves, Resolves { direct: vec![(0, 2)], copied: vec![] });
        let edits = resolves.edits(info(&call));
        assert!(edit::apply(&mut call.image, &edits));
        let (attachments, subpasses) = said(&call);
        assert_eq!(attachments, [[CLEAR, DONT_STORE], [CLEAR, DONT_STORE], [CLEAR, STORE]]);
        assert_eq!(subpasses, [(2, None), (2, Some(UNUSED))], "in each subpass");
    }

    #[test]
    fn what_is_loaded_or_stored_is_copied() {
        for (load, store) in [(LOAD, DONT_STORE), (CLEAR, STORE)] {
            let mut call = pass(load, store, &[]);
            let resolves = Resolves::of(info(&call)).expect("it can be");
            assert_eq!(resolves, Resolves { direct: vec![], copied: vec![((0, 2), [10, 12])] });
            let edits = resolves.edits(info(&call));
            edit::apply(&mut call.image, &edits);
            let (attachments, subpasses) = said(&call);
            assert_eq!(attachments[0], [load, STORE], "there is something to copy");
            assert_eq!(subpasses, [(0, None), (0, Some(UNUSED))]);
        }
        assert!(Resolves::of(info(&pass(LOAD, STORE, &[1]))).is_err(), "it reads what it has resolved");
    }

    #[test]
    fn clear_values_go_to_what_is_drawn_to() {
        let begin = Call::written("vkCmdBeginRenderPass", |w| {
            w.u64(1);
            w.structure(|w| {
                w.u32(43).null_struct().u64(7).u64(8).i32(0).i32(0).u32(4).u32(4).u32(2);
                w.structures(2, |w, i| {
                    w.u32_array(&[1, 2, 3, 4].map(|n| n + 10 * i as u32));
                });
            });
            w.u32(0);
        })
        .expect("a call");
        let v = View::call(&begin.image).one("pRenderPassBegin").expect("there");
        let resolves = Resolves { direct: vec![(1, 3), (5, 4)], copied: vec![] };
        assert_eq!(resolves.clears(v), [None, None, None, Some([11, 12, 13, 14])]);
    }

    /// A rendering with one colour and depth, both resolved.
    fn rendering(flags: u32, load: u32, store: u32, depth_store: u32) -> Call {
        let attachment = |w: &mut gfxr_parse::writer::ParamWriter, view: u64, store: u32| {
            w.u32(1_000_044_001)
                .null_struct()
                .u64(view)
                .u32(2)
                .u32(1)
                .u64(view + 1)
                .u32(7)
                .u32(load)
                .u32(store);
            w.u32_array(&[0; 4]);
        };
        Call::written("vkCmdBeginRendering", |w| {
            w.u64(1);
            w.structure(|w| {
                w.u32(1_000_044_000)
                    .null_struct()
                    .u32(flags)
                    .i32(0)
                    .i32(0)
                    .u32(4)
                    .u32(4)
                    .u32(1)
                    .u32(0)
                    .u32(1);
                w.structures(1, |w, _| attachment(w, 1 << 40, store));
                w.structure(|w| attachment(w, 50, depth_store));
                w.null_struct();
            });
        })
        .expect("a call")
    }

    #[test]
    fn a_rendering_draws_to_what_it_would_resolve_to() {
        for (flags, load, store, depth_store, colour, depth) in [
            (0, CLEAR, DONT_STORE, DONT_STORE, true, true),
            (0, CLEAR, DONT_STORE, STORE, true, false),
            (0, LOAD, DONT_STORE, DONT_STORE, false, false),
            (2, CLEAR, DONT_STORE, DONT_STORE, false, false),
        ] {
            let mut call = rendering(flags, load, store, depth_store);
            let info = View::call(&call.image).one("pRenderingInfo").expect("there");
            let (edits, direct) = of_rendering(info);
            assert_eq!(direct, usize::from(colour) + usize::from(depth));
            assert!(edit::apply(&mut call.image, &edits));
            let info = View::call(&call.image).one("pRenderingInfo").expect("there");
            let of = |a: View<'_>| {
                (a.u64("imageView"), a.u32("imageLayout"), a.u32("resolveMode"), a.u32("storeOp"))
            };
            let expected = |view: u64, direct: bool| {
                let (view, layout) = if direct { (view + 1, 7) } else { (view, 2) };
                (Some(view), Some(layout), Some(0), Some(STORE))
            };
            assert_eq!(info.one("pColorAttachments").map(of), Some(expected(1 << 40, colour)));
            assert_eq!(info.one("pDepthAttachment").map(of), Some(expected(50, depth)));
        }
    }

    #[test]
    fn a_resolving_command_becomes_one_that_copies() {
        let call = Call::written("vkCmdResolveImage2KHR", |w| {
            w.u64(1);
            w.structure(|w| {
                w.u32(1_000_337_005).null_struct().u64(3).u32(6).u64(4).u32(7).u32(1);
                w.structures(1, |w, _| {
                    w.u32(1_000_337_010).null_struct();
                    for place in 0..2 {
                        w.u32(1).u32(0).u32(place).u32(1).i32(5).i32(6).i32(0);
                    }
                    w.u32(8).u32(9).u32(1);
                });
            });
        })
        .expect("a call");
        let mut copy = call.as_command("vkCmdCopyImage2KHR").expect("it is there");
        edit::apply(&mut copy.image, &of_copy(View::call(&call.image)));
        let info = View::call(&copy.image).one("pCopyImageInfo").expect("its parameter");
        let n = |v: View<'_>, name| v.u64(name).unwrap_or(0);
        let region = info.one("pRegions").expect("a region");
        assert_eq!((n(info, "sType"), n(region, "sType")), (1_000_337_001, 1_000_337_007));
        assert_eq!(
            ["srcImage", "srcImageLayout", "dstImage", "dstImageLayout"].map(|m| n(info, m)),
            [3, 6, 4, 7]
        );
        let of = |place, member| region.one(place).map(|v| n(v, member));
        assert_eq!((of("dstSubresource", "baseArrayLayer"), of("dstOffset", "y")), (Some(1), Some(6)));
        assert_eq!(of("extent", "width"), Some(8));
    }
}

//! What becomes of resolves, in calls as applications make them.

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
    let attachments = info(call).structs("pAttachments").map(|a| [n(a, "loadOp"), n(a, "storeOp")]).collect();
    let first = |s: View<'_>, name| s.structs(name).next().map(|r| n(r, "attachment"));
    let subpasses = info(call).structs("pSubpasses");
    let of =
        subpasses.map(|s| (first(s, "pColorAttachments").unwrap_or(UNUSED), first(s, "pResolveAttachments")));
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
        let copy = Copy { pair: (0, 2), layouts: [10, 12], stencil: [10, 12], aspects: COLOUR };
        assert_eq!(resolves, Resolves { direct: vec![], copied: vec![copy] });
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
        w.u32(1_000_044_001).null_struct().u64(view).u32(2).u32(1).u64(view + 1).u32(7).u32(load).u32(store);
        w.u32_array(&[0; 4]);
    };
    Call::written("vkCmdBeginRendering", |w| {
        w.u64(1);
        w.structure(|w| {
            w.u32(1_000_044_000).null_struct().u32(flags).i32(0).i32(0).u32(4).u32(4).u32(1).u32(0).u32(1);
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
        (0, CLEAR, DONT_STORE, DONT_STORE, true, false),
        (0, CLEAR, STORE, STORE, false, false),
        (0, LOAD, DONT_STORE, DONT_STORE, false, false),
        (2, CLEAR, DONT_STORE, DONT_STORE, false, false),
    ] {
        let mut call = rendering(flags, load, store, depth_store);
        let info = View::call(&call.image).one("pRenderingInfo").expect("there");
        let (edits, direct) = of_rendering(info);
        assert_eq!(direct, usize::from(colour) + usize::from(depth));
        assert!(edit::apply(&mut call.image, &edits));
        let info = View::call(&call.image).one("pRenderingInfo").expect("there");
        let of =
            |a: View<'_>| (a.u64("imageView"), a.u32("imageLayout"), a.u32("resolveMode"), a.u32("storeOp"));
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

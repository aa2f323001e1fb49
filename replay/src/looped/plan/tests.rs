//! Plans of frames of the sample `feedback`, whose source says what a frame leaves to the next.

use super::*;
use gfxr_parse::ahead::{self, What};
use gfxr_parse::container::Capture;
use gfxr_parse::writer::ParamWriter;
use std::ops::ControlFlow;
use std::path::Path;
use world::layouts::Binding;

/// Nothing has happened yet.
fn follow() -> Follow {
    let mut follow = Follow::default();
    follow.keep_calls(true);
    follow
}

/// The plan of a frame.
fn planned(frame: u64) -> Result<Plan> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../captures/samples/feedback.gfxr");
    let bytes = std::fs::read(&file).expect("the sample is committed");
    let capture = Capture::new(bytes).expect("a capture");
    let (mut follow, mut calls) = (follow(), Vec::new());
    ahead::run(&capture, |item| {
        if let What::Call(call) = &mut item.what {
            match item.place.frame.cmp(&frame) {
                std::cmp::Ordering::Less => follow.call(call, Outcome::captured(call), &mut ()),
                std::cmp::Ordering::Equal => calls.push((**call).clone()),
                std::cmp::Ordering::Greater => return ControlFlow::Break(()),
            }
        }
        ControlFlow::Continue(())
    });
    assert!(!calls.is_empty(), "frame {frame} is there");
    plan(&mut follow, calls.iter())
}

#[test]
fn a_frame_that_leans_on_the_one_before() {
    for frame in [4, 5] {
        let p = planned(frame).expect("a plan");
        // `paint` is submitted as it was recorded in the frame before, and then recorded again.
        assert_eq!(p.recordings.len(), 1, "frame {frame}");
        let paint = &p.recordings[0];
        let ends = [0, paint.len() - 1].map(|i| paint[i].command.name);
        assert_eq!(ends, ["vkBeginCommandBuffer", "vkEndCommandBuffer"]);
        assert_eq!(paint.iter().filter(|c| c.command.name == "vkCmdDispatch").count(), 1);
        assert!(p.half.is_empty());
        // Its set has binding 2 written over; the set of `count` is allocated in the frame.
        let written: Vec<_> = p.descriptors.values().collect();
        assert_eq!(written, [&BTreeMap::from([(2, (0, 1))])], "frame {frame}");
        assert_eq!(p.allocated.values().map(Vec::len).sum::<usize>(), 1);
        // One query is written without a reset, the other read and then reset.
        let (new, old) = (frame as u32 % 2, (frame as u32 + 1) % 2);
        let only = |q: &BTreeMap<u64, BTreeSet<u32>>| q.values().flatten().copied().collect::<Vec<_>>();
        assert_eq!((only(&p.reset), only(&p.revive)), (vec![new], vec![old]), "frame {frame}");
        assert_eq!(p.notes.values().copied().collect::<Vec<_>>(), [1]);
        // Each image's semaphore is signalled and waited for within the frame.
        assert!(p.consumed.is_empty() && p.left.is_empty() && p.presents);
        let timelines = p.sync.values().filter(|s| s.is_timeline()).count();
        assert_eq!((timelines, p.created.len()), (1, 0));
        // A set and its name; a pool reset.
        assert_eq!(p.calls[1..], [2, 1], "frame {frame}");
    }
}

#[test]
fn the_first_frame_creates_everything() {
    let p = planned(1).expect("a plan");
    assert!(p.recordings.is_empty() && p.descriptors.is_empty() && p.half.is_empty());
    assert!(p.created.len() > 5, "{:?}", p.created);
    assert!(p.created.iter().all(|id| p.sync.contains_key(id) || p.pools.contains_key(id)));
    assert!(p.calls[1] > 50, "{:?}", p.calls);
}

#[test]
fn what_does_not_fit_into_a_binding_goes_on_in_the_next() {
    let counts = [(0, 2), (3, 1), (4, 0), (7, 5)];
    let l = counts.map(|(binding, count)| Binding { binding, ty: 6, count, ..Binding::default() });
    let l = SetLayout::new(1, 0, l.into());
    assert_eq!(spans(&l, 0, 1, 1), [(0, (1, 2))]);
    assert_eq!(spans(&l, 0, 1, 4), [(0, (1, 2)), (3, (0, 1)), (7, (0, 2))]);
    assert_eq!(spans(&l, 0, 2, 1), [(3, (0, 1))]);
    assert_eq!(spans(&l, 7, 4, 9), [(7, (4, 5))]);
}

#[test]
fn waiting_for_a_later_frame_is_refused() {
    let mut t = follow();
    let call = |name: &str, params: &dyn Fn(&mut ParamWriter)| Call::written(name, params).expect(name);
    let timeline = call("vkCreateSemaphore", &|w| {
        w.u64(1).structure(|w| {
            w.u32(9).structure(|w| {
                w.u32(1_000_207_002).null_struct().i32(1).u64(3);
            });
            w.u32(0);
        });
        w.null_struct().u64_ptr(9).i32(0);
    });
    let waits = call("vkQueueSubmit", &|w| {
        w.u64(2).u32(1);
        w.structures(1, |w, _| {
            w.u32(4).structure(|w| {
                w.u32(1_000_207_003).null_struct().u32(1).u64_array(&[4]).u32(0).null_array();
            });
            w.u32(1).u64_array(&[9]).u32_array(&[1]).u32(0).null_array().u32(0).null_array();
        });
        w.u64(0).i32(0);
    });
    let signals = call("vkSignalSemaphore", &|w| {
        w.u64(1).structure(|w| {
            w.u32(1_000_207_005).null_struct().u64(9).u64(4);
        });
        w.i32(0);
    });
    let text = |who: &str| {
        format!(
            "{who} submitted work that waits for timeline semaphore 9 to reach 4, which only later work signals: it \
             cannot finish on its own; choose another --loop-frame, or another --frame-by"
        )
    };
    let refused = |t: &mut Follow, frame: &[Call]| plan(t, frame.iter()).err().map(|e| e.to_string());
    t.call(&timeline, Outcome::captured(&timeline), &mut ());
    assert_eq!(refused(&mut t, std::slice::from_ref(&waits)), Some(text("the frame")));
    assert_eq!(refused(&mut t, &[waits.clone(), signals.clone()]), None);
    t.call(&waits, Outcome::captured(&waits), &mut ());
    assert_eq!(refused(&mut t, std::slice::from_ref(&signals)), Some(text("the frames before it")));
    t.call(&signals, Outcome::captured(&signals), &mut ());
    assert_eq!(refused(&mut t, &[]), None);
}

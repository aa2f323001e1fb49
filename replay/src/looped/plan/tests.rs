//! Plans of frames of the sample `feedback`, whose source says what a frame leaves to the next.

use super::*;
use gfxr_parse::ahead::{self, What};
use gfxr_parse::container::Capture;
use std::ops::ControlFlow;
use std::path::Path;

/// The plan of a frame.
fn planned(frame: u64) -> Result<Plan> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../captures/samples/feedback.gfxr");
    let bytes = std::fs::read(&file).expect("the sample is committed");
    let capture = Capture::new(bytes).expect("a capture");
    let (mut tracker, mut calls) = (Tracker::default(), Vec::new());
    ahead::run(&capture, |item| {
        if let What::Call(call) = &mut item.what {
            match item.place.frame.cmp(&frame) {
                std::cmp::Ordering::Less => tracker.see(call),
                std::cmp::Ordering::Equal => calls.push((**call).clone()),
                std::cmp::Ordering::Greater => return ControlFlow::Break(()),
            }
        }
        ControlFlow::Continue(())
    });
    assert!(!calls.is_empty(), "frame {frame} is there");
    plan(&mut tracker, calls.iter())
}

#[test]
fn a_frame_that_leans_on_the_one_before() {
    for frame in [4, 5] {
        let p = planned(frame).expect("a plan");
        // `paint` is submitted as it was recorded in the frame before, and then recorded again.
        assert_eq!(p.recordings.len(), 1, "frame {frame}");
        let paint = &p.recordings[0];
        assert!(paint.ended && paint.calls[0].command.name == "vkBeginCommandBuffer");
        assert_eq!(paint.calls.iter().filter(|c| c.command.name == "vkCmdDispatch").count(), 1);
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
        let timelines = p.sync.values().filter(|s| matches!(s.kind, SyncKind::Timeline(_))).count();
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
    let mut l = Layout::default();
    for (number, count) in [(0, 2), (3, 1), (4, 0), (7, 5)] {
        l.bindings.insert(number, crate::looped::track::Binding { ty: 6, count });
    }
    assert_eq!(spans(&l, 0, 1, 1), [(0, (1, 2))]);
    assert_eq!(spans(&l, 0, 1, 4), [(0, (1, 2)), (3, (0, 1)), (7, (0, 2))]);
    assert_eq!(spans(&l, 0, 2, 1), [(3, (0, 1))]);
    assert_eq!(spans(&l, 7, 4, 9), [(7, (4, 5))]);
}

#[test]
fn waiting_for_a_later_frame_is_refused() {
    let mut t = Tracker::default();
    t.sync.insert(9, Sync { device: 1, kind: SyncKind::Timeline(3) });
    t.promised.insert(9, (3, 4));
    let e = plan(&mut t, [].iter()).err().expect("refused");
    assert_eq!(
        e.to_string(),
        "the frames before it submitted work that waits for timeline semaphore 9 to reach 4, which only later work \
         signals: it cannot finish on its own; choose another --loop-frame, or another --frame-by"
    );
    t.promised.insert(9, (4, 4));
    assert!(plan(&mut t, [].iter()).is_ok());
}

//! `--loop-frame`: every iteration shows what the frame shows in a straight replay, under a silent validation layer; a
//! frame that feeds on itself drifts as soon as contents are not put back; what is refused, and how.
//!
//! Pictures are read by the screenshot hook, which knows nothing of the loop and its hashes.

use crate::device::device;
use crate::support::{run, sample, shared_capture as shared, text};
use gfxr_parse::container::{Capture, read_file};
use profile::hooks::screenshot::{ScreenshotHook, What, Wish};
use replay::error::{Error, Kind};
use replay::hook::Hook;
use replay::looped::{Compared, Loop};
use replay::options::{MemoryMode, Options};
use replay::session::{On, Summary, replay};
use serde_json::Value;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A replay, and the pictures of one frame, one for each time that it ran.
fn pictures(
    file: &Path,
    frame: u64,
    memory: MemoryMode,
    looped: Option<Loop>,
) -> (Result<Summary, Error>, Vec<Vec<u8>>) {
    let capture = Capture::open(file, read_file).expect("it opens");
    let shots = Rc::new(RefCell::new(Vec::new()));
    let to = shots.clone();
    let wish = Wish {
        what: What::Presented,
        frames: Some(vec![(frame, frame)]),
        shape: None,
        watchdog_ns: 120_000_000_000,
    };
    let take = Box::new(move |shot: profile::hooks::screenshot::Shot| {
        to.borrow_mut().push(shot.rgba);
        Ok(())
    });
    let (hook, _) = ScreenshotHook::new(wish, take);
    let hooks: Vec<Box<dyn Hook>> = vec![Box::new(hook)];
    let frames = looped.is_none().then_some((frame, frame));
    let options = Options { memory, frames, looped, ..Options::default() };
    let r = replay(&capture, &options, On::Vulkan, hooks, 0, &mut ());
    (r, shots.take())
}

fn wish(frame: u64, iterations: u32) -> Loop {
    Loop { frame, iterations, warmup: 2, allow_drift: false, leave_contents: false, or_once: false }
}

/// Loops a frame and compares each iteration's picture with that of a straight replay.
fn same_as_straight(file: &Path, frame: u64, iterations: u32, memory: MemoryMode) {
    let what = format!("{}, frame {frame}, memory {}", file.display(), memory.name());
    let (r, straight) = pictures(file, frame, memory, None);
    r.unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_eq!(straight.len(), 1, "{what}");
    let (r, looped) = pictures(file, frame, memory, Some(wish(frame, iterations)));
    let l = r.unwrap_or_else(|e| panic!("{what}: {e}")).looped.expect("it looped");
    assert_eq!(looped.len(), iterations as usize + 2, "{what}");
    for (i, picture) in looped.iter().enumerate() {
        assert!(
            *picture == straight[0],
            "{what}: iteration {i} (the first two are warm-up) shows another picture"
        );
    }
    assert_eq!((l.iterations.len(), l.drifted, l.first_drift), (iterations as usize, 0, None), "{what}");
    assert_eq!((l.compared, l.hashes.len()), (Compared::Presented, 1), "{what}");
    assert!(l.changed_same, "{what}");
    assert_eq!(l.made, 0, "{what}: buffers of the replay's own are made in timed iterations");
    assert!(l.iterations.iter().all(|i| i.wall_ns > 0 && i.restore_ns > 0), "{what}");
}

#[test]
fn every_iteration_shows_the_straight_replays_picture() {
    if !device("every_iteration_shows") {
        return;
    }
    for memory in [MemoryMode::Auto, MemoryMode::Rebind] {
        for frame in [1, 2, 5, 6] {
            same_as_straight(&sample("feedback.gfxr"), frame, 6, memory);
        }
        same_as_straight(&sample("cubes.gfxr"), 7, 2, memory);
        same_as_straight(&sample("msaa_frames_10_12.gfxr"), 11, 4, memory);
        same_as_straight(&sample("rays.gfxr"), 4, 2, memory);
    }
    // Everything is created in the frame, acceleration structures among it.
    same_as_straight(&sample("rays.gfxr"), 1, 2, MemoryMode::Auto);
}

#[test]
fn frames_of_applications_too() {
    if !device("frames_of_applications") {
        return;
    }
    for (name, frame, iterations) in [
        ("vkcube.gfxr", 1, 5),
        ("vkcube.gfxr", 50, 50),
        ("vkcube_trim_10_19.gfxr", 15, 10),
        ("vkd3d_gears_trim_40_59.gfxr", 47, 10),
    ] {
        if let Some(file) = shared(name) {
            same_as_straight(&file, frame, iterations, MemoryMode::Auto);
        }
    }
}

#[test]
fn without_restoring_contents_the_picture_drifts() {
    if !device("without_restoring") {
        return;
    }
    let file = sample("feedback.gfxr");
    let drifting = Loop { leave_contents: true, ..wish(5, 3) };
    let e = pictures(&file, 5, MemoryMode::Auto, Some(drifting)).0.expect_err("it differs");
    assert_eq!(e.kind(), Kind::Divergence);
    let said = e.to_string();
    let expected =
        "warm-up iteration 2 of frame 5 differs: the image that it presents is not the first iteration's";
    assert!(said.starts_with(expected), "{said}");

    let counted = Loop { allow_drift: true, ..drifting };
    let (r, shots) = pictures(&file, 5, MemoryMode::Auto, Some(counted));
    let l = r.expect("drift is allowed").looped.expect("it looped");
    assert_eq!((l.drifted, l.first_drift, l.iterations.len()), (3, Some(1), 3));
    assert!(!l.changed_same);
    assert!(shots[1..].iter().all(|s| *s != shots[0]));
}

#[test]
fn what_a_frame_leaves_to_the_next_is_put_back() {
    if !device("what_a_frame_leaves") {
        return;
    }
    let (r, _) = pictures(&sample("feedback.gfxr"), 6, MemoryMode::Auto, Some(wish(6, 3)));
    let s = r.expect("it loops");
    // An event that was not put back is waited for, and a query too; then these say so.
    assert!(s.report.notes.keys().all(|n| !n.contains("were not")), "{:?}", s.report.notes);
    let l = s.looped.expect("it looped");
    // The timeline, the host's event, `paint`'s descriptor and its recording, two queries.
    assert!(l.iterations.iter().all(|i| i.objects == 6), "{:?}", l.iterations);
    assert!(l.iterations.iter().all(|i| i.resources >= 3 && i.bytes > 96 * 64 * 4), "{:?}", l.iterations);
    assert_eq!(l.calls[1..], [2, 1]);
    let copied = "queries of earlier frames whose results the frame copies and then replaces";
    assert_eq!(l.not_restored.get(copied), Some(&1), "{:?}", l.not_restored);
}

/// What a loop says as JSON; it must end well.
fn json(file: &Path, flags: &[&str]) -> Value {
    let mut args = vec![file.to_str().expect("a plain name"), "--json"];
    args.extend(flags);
    let out = run(&args);
    assert!(out.status.success(), "{args:?}: {:?}\n{}", out.status, text(&out.stderr));
    serde_json::from_slice(&out.stdout).expect("stdout is JSON")
}

#[test]
fn the_validation_layer_has_nothing_to_say() {
    if !device("the_validation_layer") {
        return;
    }
    let mut all: Vec<(PathBuf, &str)> = vec![
        (sample("feedback.gfxr"), "1"),
        (sample("feedback.gfxr"), "6"),
        (sample("cubes.gfxr"), "1"),
        (sample("msaa_frames_10_12.gfxr"), "11"),
        (sample("rays.gfxr"), "4"),
    ];
    for (name, frame) in [
        ("vkcube.gfxr", "1"),
        ("vkcube.gfxr", "50"),
        ("vkcube_trim_10_19.gfxr", "15"),
        ("vkd3d_gears_trim_40_59.gfxr", "47"),
        ("taichi_julia.gfxr", "4"),
    ] {
        all.extend(shared(name).map(|f| (f, frame)));
    }
    for (file, frame) in all {
        let v = json(&file, &["--validate", "--loop-frame", frame, "--iterations", "2", "--warmup", "2"]);
        assert_eq!(v["validation"], serde_json::json!([]), "{}, frame {frame}", file.display());
        assert_eq!((&v["loop"]["equal"], &v["loop"]["drifted"]), (&2.into(), &0.into()), "{}", v["loop"]);
    }
}

#[test]
fn what_never_presents_is_compared_by_what_it_changes() {
    if !device("what_never_presents") {
        return;
    }
    for (name, frame, iterations) in [("taichi_julia.gfxr", "4", "5"), ("sapien_rt_llvmpipe.gfxr", "6", "2")]
    {
        let Some(file) = shared(name) else { continue };
        let flags =
            ["--frame-by", "submit", "--loop-frame", frame, "--iterations", iterations, "--warmup", "1"];
        let v = json(&file, &flags);
        let l = &v["loop"];
        assert_eq!(
            (&l["compared"], &l["drifted"], &l["changed_same"]),
            (&"changed".into(), &0.into(), &true.into())
        );
        assert_eq!(l["hashes"].as_array().map(Vec::len), Some(1), "{l}");
    }
}

#[test]
fn the_report_has_every_iteration_and_times_within() {
    if !device("the_report_has") {
        return;
    }
    let flags =
        ["--loop-frame", "7", "--iterations", "4", "--warmup", "2", "--seed", "5", "--times", "command"];
    let v = json(&sample("cubes.gfxr"), &flags);
    let (report, l) = (&v["report"], &v["loop"]);
    assert_eq!(report["analysis"], "loop-times");
    let rows = report["tables"][0]["rows"].as_array().expect("rows");
    let names: Vec<_> = rows.iter().map(|r| (r[0].as_str().expect("a name"), r[1].as_u64())).collect();
    assert_eq!(names, [("GPU", Some(4)), ("CPU", Some(4)), ("until idle", Some(4))]);
    for row in rows {
        let n = |i: usize| row[i].as_f64().expect("a number");
        let (median, p99, max) = (n(3), n(5), n(6));
        assert!(0.0 < n(2) && median <= p99 && p99 <= max && n(9) <= median && median <= n(10), "{row}");
    }
    assert_eq!(v["frame_times"].as_array().map(Vec::len), Some(4), "warm-up is in no record");
    assert_eq!((l["warmup"].as_u64(), l["seed"].as_u64()), (Some(2), Some(5)));
    assert_eq!(l["iterations"].as_array().map(Vec::len), Some(4));
    // A dispatch, a barrier and 201 draws, in each timed iteration.
    let spans = v["times"]["spans"].as_array().expect("spans");
    let commands = spans.iter().filter(|s| s["kind"] == "command");
    assert!(commands.clone().all(|s| s["frame"] == 7));
    assert_eq!(commands.count(), 4 * 203);
}

#[test]
fn what_cannot_be_looped_is_refused() {
    let cubes = sample("cubes.gfxr");
    let cubes = cubes.to_str().expect("plain");
    for flags in [
        &["--iterations", "5"][..],
        &["--warmup", "5"],
        &["--allow-drift"],
        &["--loop-frame", "0"],
        &["--loop-frame", "3", "--frames", "1-2"],
        &["--loop-frame", "3", "--repeat", "2"],
        &["--loop-frame", "3", "--echo"],
        &["--loop-frame", "3", "--warmup", "0"],
    ] {
        let out = run([&[cubes], flags].concat());
        assert_eq!(out.status.code(), Some(2), "{flags:?}: {}", text(&out.stderr));
    }
    if !device("what_cannot_be_looped") {
        return;
    }
    let refused = |flags: &[&str]| {
        let out = run([&[cubes], flags].concat());
        assert_eq!((out.status.code(), text(&out.stdout)), (Some(1), String::new()), "{flags:?}");
        text(&out.stderr)
    };
    let said = refused(&["--loop-frame", "31"]);
    assert!(said.contains("--loop-frame 31: the capture has frames 1 to 30 (--frame-by present)"), "{said}");
    let said = refused(&["--loop-frame", "1", "--frame-by", "file"]);
    assert!(said.contains("--frame-by submit"), "{said}");
    let said = refused(&["--loop-frame", "2", "--frame-by", "label:no such label"]);
    assert!(said.contains("--frame-by label:no such label: no label of the capture has that name"), "{said}");
}

#[test]
fn frames_by_submission_and_by_label() {
    if !device("frames_by_submission") {
        return;
    }
    // `feedback` submits twice a frame: its 8th submission paints, its 9th counts and shows.
    for (by, frame) in [("submit", "9"), ("submit", "10"), ("label:paint", "5"), ("label:count", "4")] {
        let flags = ["--frame-by", by, "--loop-frame", frame, "--iterations", "4", "--validate"];
        let v = json(&sample("feedback.gfxr"), &flags);
        assert_eq!(v["loop"]["drifted"], 0, "{by} {frame}: {}", v["loop"]);
        assert_eq!(v["validation"], serde_json::json!([]), "{by} {frame}");
    }
}

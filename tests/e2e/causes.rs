//! The scene `causes` (captures/README.md): a frame of planted causes, a label each, beside siblings without them.
//!
//! Held to what no load of the machine changes: what `what-if` takes for parts, that leaving a part out shows what the capture without
//! its calls shows, and which tiles of the picture each change touches. What parts cost is for a GPU that nobody else uses.

#[allow(dead_code, reason = "it is a program of its own; tests need what it does to a capture")]
#[path = "../../gfxr-parse/examples/without.rs"]
mod edited;

use crate::device::device;
use crate::rays::{rgb, sample};
use crate::support::{Scratch, run, text};
use gfxr_parse::container::Capture;
use std::path::Path;
use trace::run::Run;
use trace::what_if::{WHAT_IF_FILE, WhatIf};

/// The labels in the order of the frame: how many draws and dispatches each is, and the tile that shows what it does, if one does.
const PARTS: [(&str, usize, Option<usize>); 11] = [
    ("texture large", 1, Some(0)),
    ("texture small", 1, Some(1)),
    ("shading dear", 1, Some(2)),
    ("shading plain", 1, Some(3)),
    ("pass redundant", 2, None),
    ("pass needed", 1, Some(4)),
    ("barriers pointless", 16, Some(5)),
    ("barriers none", 16, Some(6)),
    ("draws many", 300, Some(7)),
    ("draws one", 1, Some(8)),
    ("nothing", 1, Some(9)),
];

/// The side of a tile, and how many there are.
const TILE: usize = 32;
const TILES: usize = 10;

/// The tiles of a picture.
fn tiles(file: &Path) -> Vec<Vec<u8>> {
    let (width, height, pixels) = rgb(file);
    assert_eq!((width as usize, height as usize), (TILE * TILES, TILE), "{}", file.display());
    let row = TILE * 3;
    let of = |t: usize| pixels.chunks_exact(row * TILES).flat_map(|r| r[t * row..][..row].to_vec()).collect();
    (0..TILES).map(of).collect()
}

/// The tiles of frame 2 of a capture, under these changes.
fn shown(scratch: &Scratch, capture: &Path, name: &str, changes: &[&str]) -> Vec<Vec<u8>> {
    let to = scratch.path(name);
    let [file, folder] = [capture, &to].map(|p| p.to_str().expect("a plain path"));
    let mut args = vec!["screenshot", file, "--frames", "2", "-o", folder];
    changes.iter().for_each(|c| args.extend(["--change", c]));
    let out = run(args);
    assert!(out.status.success(), "{changes:?}: {}", text(&out.stderr));
    tiles(&to.join("frame_2.png"))
}

/// Which tiles differ.
fn differing(a: &[Vec<u8>], b: &[Vec<u8>]) -> Vec<usize> {
    (0..TILES).filter(|t| a[*t] != b[*t]).collect()
}

#[test]
fn leaving_a_part_out_shows_what_the_capture_without_it_shows() {
    if !device("causes: without a part") {
        return;
    }
    let scratch = Scratch::new("causes-without");
    let file = sample("causes.gfxr");
    let plain = shown(&scratch, &file, "plain", &[]);
    assert_eq!((&plain[5], &plain[7]), (&plain[6], &plain[8]), "siblings show the same");
    let capture = Capture::new(std::fs::read(&file).expect("a sample")).expect("a capture");
    let header = capture.bytes().len() - capture.blocks().map(|b| b.raw().len()).sum::<usize>();
    for (label, actions, tile) in
        PARTS.into_iter().filter(|p| ["shading dear", "pass redundant", "draws many"].contains(&p.0))
    {
        let wanted = edited::Wanted { labels: [label.to_owned()].into(), ..Default::default() };
        let (bytes, left_out) = edited::without(&capture, &wanted).expect("it can be edited");
        assert_eq!(left_out, actions as u64, "{label}");
        assert_eq!(bytes[..header], capture.bytes()[..header], "{label}");
        let to = scratch.path(&format!("{label}.gfxr"));
        std::fs::write(&to, bytes).expect("written");
        let verified = run(["verify", to.to_str().expect("a plain path")]);
        assert!(verified.status.success(), "{label}: {}", text(&verified.stderr));
        let removed = shown(&scratch, &to, &format!("{label} removed"), &[]);
        let skipped = shown(&scratch, &file, &format!("{label} skipped"), &[&format!("skip:label={label}")]);
        assert!(removed == skipped, "{label}: {:?}", differing(&removed, &skipped));
        // What is overwritten shows nowhere.
        assert_eq!(differing(&plain, &removed), tile.into_iter().collect::<Vec<_>>(), "{label}");
    }
    let none = edited::Wanted { labels: ["no such label".to_owned()].into(), ..Default::default() };
    let refused = edited::without(&capture, &none).expect_err("there is no such label");
    assert_eq!(refused, "no command buffer begins a label 'no such label'");
}

#[test]
fn changes_touch_the_parts_that_they_are_for() {
    if !device("causes: changes") {
        return;
    }
    let scratch = Scratch::new("causes-changes");
    let file = sample("causes.gfxr");
    let plain = shown(&scratch, &file, "plain", &[]);
    let asked: [(&str, &str, &[usize]); 5] = [
        ("textures", "small-textures", &[0, 1]),
        ("barriers", "no-barriers:label=barriers pointless", &[]),
        ("wide", "wide-barriers", &[]),
        ("needed", "skip:label=pass needed", &[4]),
        ("all", "skip", &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
    ];
    for (name, change, tiles) in asked {
        let changed = shown(&scratch, &file, name, &[change]);
        assert_eq!(differing(&plain, &changed), tiles, "{change}");
    }
}

#[test]
#[ignore = "what-if runs some 25 processes, which takes software minutes; benches/runs has it on a GPU"]
fn every_label_is_a_part_and_every_action_is_in_one() {
    if !device("causes: what-if") {
        return;
    }
    let scratch = Scratch::new("causes-what-if");
    let (file, to) = (sample("causes.gfxr"), scratch.path("why"));
    let [capture, own] = [&file, &to].map(|p| p.to_str().expect("a plain path"));
    let mut args = vec!["what-if", capture, "--frame", "2", "--by", "label", "-o", own];
    let few = ["--processes", "1", "--iterations", "1", "--warmup", "0", "--budget", "1s", "--causes", "0"];
    args.extend(few);
    let out = run(args);
    assert!(out.status.success(), "{}{}", text(&out.stdout), text(&out.stderr));
    let read = std::fs::read(to.join(WHAT_IF_FILE)).expect("what was asked");
    let of = WhatIf::parse(&read, &to).expect("what was asked");
    let parts: Vec<(&str, usize)> = of.parts[1..].iter().map(|p| (&*p.name, p.actions.len())).collect();
    let names: Vec<String> = PARTS.iter().map(|p| format!("frame 2 › {}", p.0)).collect();
    let expected: Vec<(&str, usize)> = names.iter().zip(PARTS).map(|(name, p)| (&**name, p.1)).collect();
    assert_eq!(parts, expected);
    // The frame is its parts: no action is outside of one or in two, and own times add up.
    let mut all: Vec<usize> = of.parts[1..].iter().flat_map(|p| p.actions.clone()).collect();
    all.sort_unstable();
    assert_eq!(all, of.parts[0].actions);
    assert_eq!(all.len(), of.actions.len());
    let times: Vec<u64> = of.parts.iter().map(|p| p.own.expect("it was timed")).collect();
    assert_eq!(times[0], times[1..].iter().sum::<u64>());
    // Each was left out, and each change says of what.
    let costs: Vec<(usize, &str)> =
        of.experiments.iter().filter(|e| e.asks == "cost").map(|e| (e.part, &*e.change)).collect();
    assert_eq!(costs, (0..of.parts.len()).map(|part| (part, "skip")).collect::<Vec<_>>());
    let run = Run::open(&to.join("costs")).expect("a run");
    assert_eq!((run.note.plans.len(), run.note.refused.len()), (of.parts.len() + 1, 0));
    // A part that is overwritten is left out with the same picture, others are not.
    let shown = |plan: usize| &run.note.workers.iter().find(|w| w.plan == plan).expect("it ran").hashes;
    for (part, p) in (1..).zip(PARTS) {
        assert_eq!(shown(part + 1) == shown(0), p.2.is_none(), "{}", p.0);
    }
}

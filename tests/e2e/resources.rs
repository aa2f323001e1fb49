//! `resources`: what captures bind, followed without a device, and compared with one.

use crate::device::device;
use crate::rays::sample;
use crate::support::{Scratch, reray, shared_captures, text};
use std::path::Path;
use std::process::Output;
use trace::dir::Dir;
use trace::tables::{
    CONTENT_WORDS, DESCRIPTORS, INVOCATION_BLOCKS, INVOCATION_SETS, INVOCATIONS, RESOURCE_MEMBERS,
    RESOURCE_PIPELINES, RESOURCE_SLOTS, SET_CONTENTS, UPLOADS,
};
use trace::{Columns, Source, Table};

fn resources(capture: &Path, arguments: &[&str]) -> Output {
    reray().arg("resources").arg(capture).args(arguments).output().expect("the program starts")
}

fn done(out: &Output) -> String {
    assert!(out.status.success(), "{}\n{}", text(&out.stdout), text(&out.stderr));
    text(&out.stdout)
}

/// The trace of a capture.
fn followed(scratch: &Scratch, name: &str, arguments: &[&str]) -> Dir {
    let folder = scratch.path(name);
    let folder_text = folder.to_string_lossy().into_owned();
    let arguments = [arguments, &["--no-answers", "-o", &folder_text]].concat();
    done(&resources(&sample(name), &arguments));
    Dir::open(&folder).expect("a trace")
}

fn read(dir: &Dir, table: &'static Table) -> Columns {
    dir.read(table).expect("a table")
}

#[test]
fn cubes_bind_what_their_source_says() {
    let scratch = Scratch::new("resources-cubes");
    let dir = followed(&scratch, "cubes.gfxr", &[]);
    // 30 frames: a dispatch, 200 draws, a post-processing draw.
    let all = read(&dir, &INVOCATIONS);
    assert_eq!(all.len(), 30 * 202);
    let of = |kind: &str| all.text("kind").iter().filter(|k| &***k == kind).count();
    assert_eq!((of("Dispatch"), of("DrawIndexed") + of("Draw")), (30, 30 * 201));
    assert_eq!(read(&dir, &RESOURCE_PIPELINES).len(), 3);
    // The camera's block is known, what the dispatch wrote is not.
    let blocks = read(&dir, &INVOCATION_BLOCKS);
    for i in 0..blocks.len() {
        let (space, binding) = (&*blocks.text("space")[i], blocks.u64("binding")[i]);
        let expected = match (space, binding) {
            ("push", _) => (8, ""),
            (_, 0) => (96, ""),
            _ => (0, "written by a shader"),
        };
        assert_eq!((blocks.u64("known_bytes")[i], &*blocks.text("unknown")[i]), expected, "row {i}");
        assert_eq!(blocks.u64("contents")[i] == 0, expected.0 == 0);
    }
    // Dynamic offsets are part of where a block is.
    let mut offsets: Vec<u64> = (0..blocks.len())
        .filter(|i| blocks.u64("binding")[*i] == 1)
        .map(|i| blocks.u64("offset")[i])
        .collect();
    offsets.sort_unstable();
    offsets.dedup();
    assert_eq!(offsets.len(), 200);
    let slots = read(&dir, &RESOURCE_SLOTS);
    let names: Vec<&str> = slots.text("name").iter().map(|n| &**n).collect();
    assert!(names.contains(&"camera") && names.contains(&"cube"), "{names:?}");
    assert!(read(&dir, &RESOURCE_MEMBERS).text("name").iter().any(|n| n.contains("view")));
}

#[test]
fn every_number_that_is_referred_to_is_there() {
    let scratch = Scratch::new("resources-uniforms");
    let dir = followed(&scratch, "uniforms.gfxr", &[]);
    let numbers = |table, column| read(&dir, table).u64(column).to_vec();
    let has = |all: &[u64], wanted: Vec<u64>, what: &str| {
        let missing = wanted.iter().find(|n| **n != 0 && !all.contains(n));
        assert_eq!(missing, None, "{what}");
    };
    has(&numbers(&SET_CONTENTS, "contents"), numbers(&INVOCATION_SETS, "contents"), "sets");
    has(&numbers(&DESCRIPTORS, "descriptor"), numbers(&SET_CONTENTS, "descriptor"), "descriptors");
    has(&numbers(&CONTENT_WORDS, "contents"), numbers(&INVOCATION_BLOCKS, "contents"), "contents");
    has(&numbers(&RESOURCE_PIPELINES, "pipeline"), numbers(&INVOCATIONS, "pipeline"), "pipelines");
    let uploads = read(&dir, &UPLOADS);
    let (bytes, same) = (uploads.u64("bytes"), uploads.u64("same_bytes"));
    assert!(bytes.iter().zip(same).all(|(b, s)| s <= b));
    let causes: Vec<&str> = uploads.text("cause").iter().map(|c| &**c).collect();
    for cause in ["mapped", "CopyBuffer", "push", "inline"] {
        assert!(causes.contains(&cause), "no {cause} among {causes:?}");
    }
}

#[test]
fn frames_are_a_choice_and_what_is_before_them_is_followed() {
    let scratch = Scratch::new("resources-frames");
    let all = followed(&scratch, "cubes.gfxr", &[]);
    let some = Scratch::new("resources-frames-some");
    let some = followed(&some, "cubes.gfxr", &["--frames", "20-21"]);
    let frames = read(&some, &INVOCATIONS);
    assert_eq!(frames.len(), 2 * 202);
    assert!(frames.u64("frame").iter().all(|f| matches!(f, 20 | 21)));
    // The same invocations have the same bytes.
    let camera = |dir: &Dir, number: u64| {
        let (blocks, words) = (read(dir, &INVOCATION_BLOCKS), read(dir, &CONTENT_WORDS));
        let of = |i: &usize| {
            blocks.u64("invocation")[*i] == number
                && &*blocks.text("space")[*i] == "block"
                && blocks.u64("binding")[*i] == 0
        };
        let row = (0..blocks.len()).find(of).expect("a draw has a camera");
        let contents = blocks.u64("contents")[row];
        let of = (0..words.len()).filter(|i| words.u64("contents")[*i] == contents);
        of.map(|i| words.u64("word")[i]).collect::<Vec<_>>()
    };
    let first = frames.u64("invocation")[1];
    let words = camera(&some, first);
    assert_eq!(words.len(), 24);
    assert_eq!(words, camera(&all, first));
    let out = resources(&sample("cubes.gfxr"), &["--frames", "99"]);
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
    assert!(text(&out.stderr).contains("there is no frame 99"), "{}", text(&out.stderr));
}

#[test]
fn answers_are_those_of_the_trace() {
    let scratch = Scratch::new("resources-answers");
    let folder = scratch.path("trace");
    let folder_text = folder.to_string_lossy().into_owned();
    let kept = resources(&sample("monolithic.gfxr"), &["--format", "json", "-o", &folder_text]);
    let kept = done(&kept);
    let passing = done(&resources(&sample("monolithic.gfxr"), &["--format", "json"]));
    assert_eq!(kept, passing);
    let again = reray().arg("analyze").arg(&folder).args(["--format", "json"]).output().expect("it starts");
    assert_eq!(text(&again.stdout), kept);
    serde_json::from_str::<serde_json::Value>(&kept).expect("JSON");
    let out = resources(&sample("monolithic.gfxr"), &["-o", &folder_text]);
    assert_eq!(out.status.code(), Some(2), "a folder that holds something");
}

/// What `--check` says: blocks compared, and that they are equal.
fn checked(capture: &Path) -> u64 {
    let out = done(&resources(capture, &["--check", "--questions", "bindings"]));
    let line = out.lines().find(|l| l.starts_with("compared with the device: ")).expect("it says so");
    assert!(line.ends_with(": equal"), "{}: {line}", capture.display());
    line.split(' ').nth(4).and_then(|n| n.parse().ok()).expect("a number")
}

#[test]
fn what_is_followed_is_what_the_device_has() {
    if !device("what_is_followed_is_what_the_device_has") {
        return;
    }
    for (name, least) in [("cubes", 12_000), ("uniforms", 180), ("monolithic", 8), ("pointers", 3)] {
        let blocks = checked(&sample(&format!("{name}.gfxr")));
        assert!(blocks >= least, "{name}: {blocks}");
    }
    let Some(shared) = shared_captures() else { return };
    for (name, least) in [
        ("vkcube", 100),
        ("vkcube_trim_10_19", 10),
        ("taichi_julia", 21),
        ("vkd3d_gears_trim_40_59", 120),
        ("sapien_rt_llvmpipe", 3),
    ] {
        let blocks = checked(&shared.join(format!("{name}.gfxr")));
        assert!(blocks >= least, "{name}: {blocks}");
    }
}

#[test]
fn a_difference_is_found_and_explained() {
    if !device("a_difference_is_found_and_explained") {
        return;
    }
    let out = resources(&sample("monolithic.gfxr"), &["--check", "--spoil"]);
    assert_eq!(out.status.code(), Some(5), "{}", text(&out.stdout));
    let said = text(&out.stderr);
    assert!(said.contains("of VkBuffer") && said.contains("followed as written by CopyBuffer"), "{said}");
}

#[test]
fn what_shaders_wrote_is_read_back() {
    if !device("what_shaders_wrote_is_read_back") {
        return;
    }
    let scratch = Scratch::new("resources-read-back");
    let dir = followed(&scratch, "cubes.gfxr", &["--read-back", "--frames", "1-2"]);
    let blocks = read(&dir, &INVOCATION_BLOCKS);
    let of = |i: &usize| &*blocks.text("space")[*i] == "block" && blocks.u64("binding")[*i] == 1;
    let cubes: Vec<usize> = (0..blocks.len()).filter(of).collect();
    assert_eq!(cubes.len(), 400);
    assert!(
        cubes.iter().all(|i| blocks.u64("known_bytes")[*i] == 96 && blocks.text("unknown")[*i].is_empty())
    );
    // Every cube is another, and moves from frame to frame.
    let mut contents: Vec<u64> = cubes.iter().map(|i| blocks.u64("contents")[*i]).collect();
    contents.sort_unstable();
    contents.dedup();
    assert!(contents.len() > 200, "{}", contents.len());
}

//! `bindings`: what captures bind, followed without a device, and compared with one.

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
    reray().arg("bindings").arg(capture).args(arguments).output().expect("the program starts")
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

/// What `--check` says.
#[derive(Debug, PartialEq)]
struct Compared {
    blocks: u64,
    /// Of these, at their very point.
    at_point: u64,
    /// Draws, dispatches and traces all of whose blocks were; those that have any; all of them.
    invocations: [u64; 3],
}

/// What `--check` says, and that everything is equal.
fn checked(capture: &Path) -> Compared {
    let out = done(&resources(capture, &["--check", "--questions", "bindings"]));
    let line = |beginning: &str| {
        let line = out.lines().find(|l| l.starts_with(beginning)).expect("it says so");
        let numbers = line.split(' ').filter_map(|n| n.parse().ok()).collect::<Vec<u64>>();
        (line, numbers)
    };
    let (first, compared) = line("compared with the device: ");
    assert!(first.ends_with(": equal"), "{}: {first}", capture.display());
    let (_, points) = line("at their very point: ");
    Compared { blocks: compared[0], at_point: points[0], invocations: [points[1], points[2], points[3]] }
}

#[test]
fn what_is_followed_is_what_the_device_has() {
    if !device("what_is_followed_is_what_the_device_has") {
        return;
    }
    for (name, least) in [("cubes", 12_000), ("uniforms", 180), ("monolithic", 8), ("pointers", 3)] {
        let c = checked(&sample(&format!("{name}.gfxr")));
        assert!(c.blocks >= least, "{name}: {c:?}");
        assert_eq!((c.at_point, c.invocations[0]), (c.blocks, c.invocations[1]), "{name}: every one");
    }
    let Some(shared) = shared_captures() else { return };
    for (name, least) in [
        ("vkcube", 100),
        ("vkcube_trim_10_19", 10),
        ("taichi_julia", 21),
        ("vkd3d_gears_trim_40_59", 120),
        ("sapien_rt_llvmpipe", 3),
    ] {
        let c = checked(&shared.join(format!("{name}.gfxr")));
        assert!(c.blocks >= least, "{name}: {c:?}");
        assert_eq!((c.at_point, c.invocations[0]), (c.blocks, c.invocations[1]), "{name}: every one");
    }
}

#[test]
fn what_the_validation_layer_says_is_printed() {
    if !device("what_the_validation_layer_says_is_printed") {
        return;
    }
    let scratch = Scratch::new("resources-validation");
    let said = |name: &str, more: &[&str]| {
        let folder = scratch.path(name).to_string_lossy().into_owned();
        let arguments = [&["--validate", "--no-answers", "-o", &folder], more].concat();
        let out = resources(&sample("monolithic.gfxr"), &arguments);
        assert!(out.status.success(), "{}", text(&out.stderr));
        text(&out.stderr)
    };
    assert!(said("device", &["--check"]).contains("0 validation messages"));
    assert!(said("none", &[]).contains("nothing ran on a device"));
}

#[test]
fn what_is_written_between_draws_is_compared_at_them() {
    if !device("what_is_written_between_draws_is_compared_at_them") {
        return;
    }
    // Twice: eight dispatches that read the value, a draw that does, one that reads the list and what its pass writes.
    let c = checked(&sample("rewrites.gfxr"));
    assert_eq!((c.at_point, c.invocations), (20, [18, 20, 32]));
    // Nothing that shaders write is followed: at no edge of the submit call does that show.
    let out = resources(&sample("rewrites.gfxr"), &["--check", "--spoil-writes"]);
    assert_eq!(out.status.code(), Some(5), "{}", text(&out.stdout));
    let said = text(&out.stderr);
    let first = said.lines().find(|l| l.contains("VkBuffer")).unwrap_or_default();
    for part in [
        "frame 1, submission ",
        ", Dispatch recorded in block ",
        " of VkCommandBuffer ",
        "set 0 binding 0[0], byte 0 of VkBuffer ",
        ", directly before it: followed 0x01, on the device 0x09; followed as written by UpdateBuffer in block ",
    ] {
        assert!(first.contains(part), "{part:?} is not in {first:?}");
    }
    assert!(said.contains("before its render pass: followed "), "{said}");
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

#[test]
fn what_shaders_wrote_is_read_back_where_it_is_read() {
    if !device("what_shaders_wrote_is_read_back_where_it_is_read") {
        return;
    }
    let scratch = Scratch::new("resources-read-back-rewrites");
    let dir = followed(&scratch, "rewrites.gfxr", &["--read-back"]);
    let (blocks, words) = (read(&dir, &INVOCATION_BLOCKS), read(&dir, &CONTENT_WORDS));
    let value = |contents: u64| {
        let row = (0..words.len()).find(|i| words.u64("contents")[*i] == contents);
        row.map(|i| words.u64("word")[i])
    };
    let all = (0..blocks.len()).filter(|i| &*blocks.text("space")[*i] == "block");
    let values: Vec<Option<u64>> = all.map(|i| value(blocks.u64("contents")[i])).collect();
    // As the scene says it.
    let of = |frame: u64| [frame, 2 * frame + 7, 100, 201, 403, 807, 1617, 3237, 3237, 3238].map(Some);
    assert_eq!(values, [of(1), of(2)].concat());
}

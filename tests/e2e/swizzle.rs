//! Pass `swizzle` on captures: random permutations leave every picture as it is and change who shares a subgroup; the identity
//! changes nothing that can be counted; what a file is not for is said.

use crate::device::device;
use crate::support::{Scratch, root, run, text};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use trace::swizzle::Swizzle;

/// A permutation that the seed decides.
fn random(frame: u64, size: [u32; 3], seed: u64) -> Swizzle {
    let n = size.iter().product::<u32>();
    let mut indices: Vec<u32> = (0..n).collect();
    let mut state = seed;
    for i in (1..n as usize).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        indices.swap(i, (state >> 33) as usize % (i + 1));
    }
    Swizzle { frame, launch: 0, size, method: "random".into(), seed, indices }
}

fn identity(frame: u64, size: [u32; 3]) -> Swizzle {
    let indices = (0..size.iter().product()).collect();
    Swizzle { frame, launch: 0, size, method: "identity".into(), seed: 0, indices }
}

pub const RAYS: [u32; 3] = [256, 144, 1];
const CLOSED: [u32; 3] = [64, 32, 1];

/// Writes swizzles; the pass's name with them as options.
fn written(scratch: &Scratch, swizzles: &[Swizzle]) -> String {
    let files: Vec<String> = (swizzles.iter().enumerate())
        .map(|(n, s)| {
            let path: PathBuf = scratch.path(&format!("{}{n}.swizzle", s.method));
            std::fs::write(&path, s.bytes()).expect("it is written");
            path.to_str().expect("a plain path").to_owned()
        })
        .collect();
    format!("swizzle:{}", files.join("+"))
}

/// Profiles a sample; exit code, stdout, stderr, and the table `events` of report simt.
fn profiled(
    scratch: &Scratch,
    name: &str,
    scene: &str,
    passes: &str,
    more: &[&str],
) -> (i32, String, String, Value) {
    let capture = root().join("captures/samples").join(format!("{scene}.gfxr"));
    let trace = scratch.path(name).to_str().expect("a plain path").to_owned();
    let args = [
        "profile",
        capture.to_str().expect("a plain path"),
        "--passes",
        passes,
        "--assume-subgroups",
        "-o",
        &trace,
    ];
    let out = run(args.iter().chain(more));
    let mut events = Value::Null;
    if out.status.success() && passes.ends_with("simt") {
        let said = run(["analyze", &trace, "simt", "--format", "json"]);
        assert!(said.status.success(), "{}", text(&said.stderr));
        let report: Value = serde_json::from_str(&text(&said.stdout)).expect("JSON");
        let tables = report["reports"][0]["tables"].as_array().expect("tables");
        events = tables.iter().find(|t| t["name"] == "events").expect("it traces")["rows"].clone();
    }
    (out.status.code().unwrap_or(-1), text(&out.stdout), text(&out.stderr), events)
}

fn executed(events: &Value) -> u64 {
    events.as_array().expect("rows").iter().filter_map(|r| r.as_array()?.iter().find_map(Value::as_u64)).sum()
}

/// Every stage of ray tracing, and nested rays: pictures are compared by `profile` itself.
fn permuted(scene: &str, size: [u32; 3], frames: &[u64]) {
    if !device(&format!("swizzles on {scene}")) {
        return;
    }
    let scratch = Scratch::new(&format!("swizzle-{scene}"));
    let (first, last) = (frames[0], frames[frames.len() - 1]);
    let more = ["--frames".to_owned(), format!("{first}-{last}")];
    let more: Vec<&str> = more.iter().map(String::as_str).collect();
    let all = |make: &dyn Fn(u64) -> Swizzle| frames.iter().map(|f| make(*f)).collect::<Vec<_>>();
    let (code, _, errors, plain) = profiled(&scratch, "plain", scene, "simt", &more);
    assert_eq!(code, 0, "{errors}");
    let same = format!("{},simt", written(&scratch, &all(&|f| identity(f, size))));
    let (code, said, errors, same) = profiled(&scratch, "identity", scene, &same, &more);
    assert_eq!(code, 0, "{said}{errors}");
    assert_eq!(plain, same, "the identity moves nobody");
    let mixed = format!("{},simt", written(&scratch, &all(&|f| random(f, size, f))));
    let (code, said, errors, mixed) = profiled(&scratch, "random", scene, &mixed, &more);
    assert_eq!(code, 0, "{said}{errors}");
    assert!(!said.contains("stayed as it is") && !said.contains("has no launch"), "{said}");
    assert!(executed(&mixed) > executed(&plain), "less of each subgroup is there: {mixed} against {plain}");
}

#[test]
fn random_permutations_keep_every_picture_of_rays() {
    permuted("rays", RAYS, &[2, 3]);
}

#[test]
fn random_permutations_keep_what_every_stage_writes() {
    permuted("closed_rays", CLOSED, &[1, 2]);
}

/// Launches of several sizes and pipelines in a frame: each has its own swizzle, and one alone moves only its own.
#[test]
fn several_launches_of_a_frame_are_permuted_each_by_its_own() {
    if !device("swizzles of several launches") {
        return;
    }
    let scratch = Scratch::new("swizzle-several");
    let sizes = [[32, 16, 1], [32, 8, 1]];
    let of = |launch: usize| Swizzle { launch: launch as u64, ..random(2, sizes[launch], 7) };
    let counted = |name: &str, swizzles: &[Swizzle]| {
        let passes = match swizzles {
            [] => "simt".to_owned(),
            some => format!("{},simt", written(&scratch, some)),
        };
        let (code, said, errors, events) = profiled(&scratch, name, "recursion", &passes, &["--frames", "2"]);
        assert_eq!(code, 0, "{said}{errors}");
        assert!(!said.contains("stayed as it is") && !said.contains("has no launch"), "{said}");
        executed(&events)
    };
    let [plain, first, second, both] = [
        counted("plain", &[]),
        counted("first", &[of(0)]),
        counted("second", &[of(1)]),
        counted("both", &[of(0), of(1)]),
    ];
    assert!(plain < first && plain < second, "{plain} {first} {second}");
    assert_eq!(first - plain + (second - plain), both - plain, "they do not meet");
}

/// The table is read: what is no permutation of the launch's work shows, and by which pixel.
#[test]
fn a_picture_that_changes_is_an_error_that_says_which_pixel() {
    if !device("a picture that changes") {
        return;
    }
    let scratch = Scratch::new("swizzle-wrong");
    let swizzle = written(&scratch, &[random(2, RAYS, 5)]);
    let passes = format!("{swizzle},wrong");
    let (code, _, errors, _) = profiled(&scratch, "trace", "rays", &passes, &["--frames", "2"]);
    assert_eq!(code, 5, "{errors}");
    assert!(errors.contains("because of pass wrong, first at pixel ("), "{errors}");
    let manifest =
        std::fs::read_to_string(scratch.path("trace").join("manifest.json")).expect("the trace is kept");
    assert!(manifest.contains("because of pass wrong"), "it is not marked: {manifest}");
}

/// Launches of another size, and frames and launches that there are not, stay as they are; that is said.
#[test]
fn what_a_swizzle_is_not_for_is_said() {
    if !device("swizzles of other launches") {
        return;
    }
    let scratch = Scratch::new("swizzle-others");
    let late = Swizzle { launch: 3, ..random(2, CLOSED, 1) };
    let swizzle = written(&scratch, &[random(1, [32, 32, 1], 1), late, random(9, CLOSED, 1)]);
    let (code, _, errors, _) = profiled(&scratch, "trace", "closed_rays", &format!("{swizzle},its"), &[]);
    assert_eq!(code, 0, "{errors}");
    let manifest = std::fs::read_to_string(scratch.path("trace").join("manifest.json")).expect("it is there");
    for said in [
        "launch 0 of frame 1 is of 64 x 32 x 1, its swizzle of 32 x 32 x 1: it stayed as it is",
        "frame 2 has no launch 3 that could be given its swizzle",
        "frame 9 has no launch 0 that could be given its swizzle",
    ] {
        assert!(manifest.contains(said), "{said}: {manifest}");
    }
    let nowhere = run(["profile", "a.gfxr", "--passes", "swizzle:/nowhere", "-o", "b"]);
    assert_ne!(nowhere.status.code(), Some(0));
}

/// `replay --passes` takes it as well.
#[test]
fn a_replay_is_timed_with_it() {
    if !device("a replay with a swizzle") {
        return;
    }
    let scratch = Scratch::new("swizzle-replay");
    let swizzle = written(&scratch, &[random(2, RAYS, 5)]);
    let capture = root().join("captures/samples/rays.gfxr");
    let capture = capture.to_str().expect("a plain path");
    let loops = ["--loop-frame", "2", "--iterations", "2", "--warmup", "1"];
    let out = run([capture, "--passes", &swizzle].iter().chain(&loops));
    assert!(out.status.success(), "{}", text(&out.stderr));
    assert!(text(&out.stdout).contains("The presented image is the same"), "{}", text(&out.stdout));
}

/// A table of a trace of one frame of closed_rays, row by row, without the columns that say where and when something ran.
fn events(scratch: &Scratch, name: &str, passes: &str) -> BTreeMap<u64, Vec<String>> {
    let (code, _, errors, _) = profiled(scratch, name, "closed_rays", passes, &["--frames", "1"]);
    assert_eq!(code, 0, "{errors}");
    let trace = scratch.path(name);
    let out = run(["analyze", trace.to_str().expect("a plain path"), "--table", "rays", "--format", "json"]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let mut all: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for line in text(&out.stdout).lines() {
        let mut row: Value = serde_json::from_str(line).expect("a line of JSON");
        let cells = row.as_object_mut().expect("a row");
        cells.retain(|column, _| !["subgroup", "lane", "clock", "sm", "warp"].contains(&column.as_str()));
        let invocation = cells["invocation"].as_u64().expect("a number");
        all.entry(invocation).or_default().push(row.to_string());
    }
    all
}

/// What pass `rays` calls an invocation is the work that is done: with a swizzle each has the events that it has without, in
/// whatever order the passes stand.
#[test]
fn rays_are_those_of_the_work_that_is_done() {
    if !device("rays with a swizzle") {
        return;
    }
    let scratch = Scratch::new("swizzle-events");
    let swizzle = written(&scratch, &[random(1, CLOSED, 8)]);
    let plain = events(&scratch, "plain", "rays");
    // (the others of 2,048 trace nothing)
    assert!(plain.len() == 1792 && plain.values().any(|e| e.len() > 4), "{}", plain.len());
    assert!(plain == events(&scratch, "before", &format!("{swizzle},rays")), "the swizzle first");
    assert!(plain == events(&scratch, "behind", &format!("rays,{swizzle}")), "the rays first");
}

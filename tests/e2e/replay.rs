//! Replays: every raster and compute capture at hand to its end on a real driver, in every memory mode, with nothing
//! said by the validation layer; the Echo backend on every capture; frame rules, ranges, repetitions and exit codes.
//!
//! Refuses to pass for want of a device when `RERAY_REQUIRE_DEVICE` is set (as in CI).

use crate::device::device;
use crate::support::{captures, reray, root, run, sample, shared_capture as shared, text};
use serde_json::Value;
use std::path::Path;
use std::process::Output;

/// What one replay says as JSON; fails unless it ended well.
fn replay(file: &Path, flags: &[&str]) -> Value {
    let out = replay_raw(file, flags);
    let err = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{} {flags:?}: {:?}\n{err}", file.display(), out.status);
    serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("stdout is not JSON: {e}"))
}

fn replay_raw(file: &Path, flags: &[&str]) -> Output {
    let mut args = vec![file.to_str().expect("a plain name"), "--json"];
    args.extend(flags);
    run(&args)
}

pub fn validation_layer() -> bool {
    Path::new("/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json").exists()
}

/// What the samples do is ordered by what they record: synchronization validation finds no hazard in any. (Before its second
/// execution waited for the first, `nested` had four.)
#[test]
fn the_samples_have_no_hazards_of_their_own() {
    if !device("the_samples_have_no_hazards") || !validation_layer() {
        return;
    }
    for file in captures().iter().filter(|f| f.starts_with(root().join("captures/samples"))) {
        if file.ends_with("objects.gfxr") {
            continue; // (the layer crashes in it: see below)
        }
        let out = reray()
            .arg(file)
            .args(["--validate", "--json"])
            .env("VK_LAYER_ENABLES", "VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT")
            .output()
            .expect("it starts");
        let name = file.display();
        assert!(out.status.success(), "{name}: {}", text(&out.stderr));
        let report: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
        assert_eq!(report["validation"], serde_json::json!([]), "{name}");
    }
}

#[test]
fn every_capture_replays_in_every_memory_mode_and_the_validation_layer_is_silent() {
    if !device("every_capture_replays") {
        return;
    }
    for file in captures() {
        let name = file.display().to_string();
        let info: Value =
            serde_json::from_slice(&run(["info", "--json", &name]).stdout).expect("info prints JSON");
        // Captures of another driver replay in memory of their own only.
        let foreign = name.contains("h200") || name.contains("compressed_textures");
        for memory in ["none", "remap", "rebind"].into_iter().filter(|m| !foreign || *m == "rebind") {
            let mut flags = vec!["--memory", memory];
            // (the packaged layer crashes where there are shader objects)
            if validation_layer() && !name.ends_with("objects.gfxr") {
                flags.push("--validate");
            }
            let r = replay(&file, &flags);
            assert_eq!(r["validation"], serde_json::json!([]), "{name} --memory {memory}");
            assert_eq!(r["divergences"]["count"], 0, "{name} --memory {memory}");
            assert_eq!(r["undecoded"]["count"], 0, "{name} --memory {memory}");
            assert_eq!(r["memory"], memory, "{name}");
            assert_eq!(r["calls"], info["calls"]["total"], "{name}: every call was run");
            let times = r["frame_times"].as_array().expect("an array");
            // (the state that a trimmed capture begins with is no frame)
            let state = u64::from(r["load_frame"] == 0);
            assert_eq!(
                times.len() as u64,
                r["frames"].as_u64().expect("a number") + state,
                "{name}: one record a frame"
            );
            assert!(times.iter().all(|t| t["cpu"].as_u64().expect("nanoseconds") > 0), "{name}: CPU times");
            let gpu = times.iter().filter_map(|t| t["gpu"].as_u64()).filter(|n| *n > 0).count() as u64;
            assert!(gpu > 0, "{name}: GPU times");
            assert!(r["submits"]["timed"].as_u64() >= Some(gpu) && r["submits"]["untimed"] == 0, "{name}");
        }
    }
    assert!(
        validation_layer() || std::env::var_os("RERAY_REQUIRE_DEVICE").is_none(),
        "install vulkan-validationlayers"
    );
}

#[test]
fn echo_runs_every_call_of_every_capture() {
    for file in captures() {
        let name = file.display().to_string();
        let info: Value =
            serde_json::from_slice(&run(["info", "--json", &name]).stdout).expect("info prints JSON");
        let r = replay(&file, &["--echo"]);
        assert_eq!(r["calls"], info["calls"]["total"], "{name}");
        assert_eq!((&r["undecoded"]["count"], &r["divergences"]["count"]), (&0.into(), &0.into()), "{name}");
    }
}

#[test]
fn frames_end_where_the_user_says() {
    let file = sample("cubes.gfxr");
    let frames = |rule: &str| replay(&file, &["--echo", "--frame-by", rule])["frames"].as_u64();
    assert_eq!(frames("auto"), Some(30));
    assert_eq!(frames("present"), Some(30));
    assert_eq!(frames("file"), Some(1));
    // One submission a frame, and one that uploads before the first.
    let submits = String::from_utf8(
        run(["dump", file.to_str().expect("plain"), "--commands", "vkQueueSubmit*"]).stdout,
    );
    let submits = submits.expect("UTF-8").lines().filter(|l| l.contains("vkQueueSubmit")).count() as u64;
    assert_eq!(frames("submit"), Some(submits));
    // From the label to the end of the file; a label that never comes is an error, and so is a cycle that there is none of.
    assert_eq!(frames("label:frame 15"), Some(1));
    for (rule, says) in
        [("label:no such label", "there are animate, band 0"), ("cycle", "repeat in no cycle of several")]
    {
        let out = run([file.to_str().expect("plain"), "--echo", "--frame-by", rule]);
        assert_eq!(out.status.code(), Some(1), "{rule}");
        let why = String::from_utf8_lossy(&out.stderr);
        assert!(why.contains(says), "{rule}: {why}");
    }
    // Labels of command buffers that are recorded once a frame.
    assert!(frames("label:develop") >= Some(1));
}

#[test]
fn a_capture_that_never_presents_has_a_frame_a_submission() {
    let Some(file) = shared("taichi_julia.gfxr") else { return };
    let r = replay(&file, &["--echo"]);
    assert_eq!(r["frame_by"], "submit");
    assert!(r["frames"].as_u64() > Some(1));
}

#[test]
fn only_the_frames_asked_for_are_measured_and_repetitions_add_up() {
    if !device("only_the_frames_asked_for") {
        return;
    }
    let r = replay(&sample("cubes.gfxr"), &["--frames", "3-5", "--repeat", "2"]);
    let numbers: Vec<u64> =
        r["frame_times"].as_array().expect("array").iter().filter_map(|t| t["frame"].as_u64()).collect();
    assert_eq!(numbers, [3, 4, 5, 3, 4, 5]);
    // The replay stops with the last frame that is wanted.
    assert_eq!(r["frames"], 5);
}

#[test]
fn a_trimmed_capture_begins_with_its_snapshot_as_the_load() {
    if !device("a_trimmed_capture") {
        return;
    }
    let Some(file) = shared("vkcube_trim_10_19.gfxr") else { return };
    let r = replay(&file, &[]);
    assert_eq!(r["load_frame"], 0);
    let numbers: Vec<u64> =
        r["frame_times"].as_array().expect("array").iter().filter_map(|t| t["frame"].as_u64()).collect();
    assert_eq!(numbers, (0..=0).chain(10..=19).collect::<Vec<_>>());
}

#[test]
fn compression_changes_nothing() {
    let calls = |n: &str| replay(&sample(n), &["--echo"])["calls"].clone();
    assert_eq!(calls("cubes.gfxr"), calls("cubes_zstd.gfxr"));
    assert_eq!(calls("cubes.gfxr"), calls("cubes_zlib.gfxr"));
}

#[test]
fn gpu_times_can_be_left_out() {
    if !device("gpu_times_can_be_left_out") {
        return;
    }
    let r = replay(&sample("cubes.gfxr"), &["--no-gpu-times"]);
    assert!(r["frame_times"].as_array().expect("array").iter().all(|t| t["gpu"].is_null()));
    assert_eq!(r["report"]["cost"]["kind"], "nothing");
}

#[test]
fn what_cannot_be_is_said_and_has_its_exit_code() {
    let code = |args: &[&str]| {
        let out = run(args.iter());
        (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    let cubes = sample("cubes.gfxr");
    let cubes = cubes.to_str().expect("plain");
    let (c, e) = code(&["no/such/file.gfxr"]);
    assert!(c == Some(1) && e.contains("no/such/file.gfxr"), "{c:?} {e}");
    let (c, e) = code(&[cubes, "--memory", "elsewhere"]);
    assert!(c == Some(2) && e.contains("none, remap or rebind"), "{c:?} {e}");
    let (c, e) = code(&[cubes, "--frames", "5-3"]);
    assert!(c == Some(2) && e.contains("backwards"), "{c:?} {e}");
    let (c, _) = code(&[]);
    assert_eq!(c, Some(2));
    if device("what_cannot_be_is_said") {
        let (c, e) = code(&[cubes, "--gpu", "a device nobody has"]);
        assert!(c == Some(77) && e.contains("there are: 0"), "{c:?} {e}");
    }
    // No loader finds a driver: the code for "no device", not a crash.
    let out = std::process::Command::new(env!("CARGO_BIN_EXE_reray-replay"))
        .args([cubes])
        .env("VK_DRIVER_FILES", "/nonexistent.json")
        .output()
        .expect("it runs");
    assert_eq!(out.status.code(), Some(77), "{}", String::from_utf8_lossy(&out.stderr));
}

/// A capture cut off, and one with a call that cannot be decoded.
#[test]
fn damaged_captures_replay_as_far_as_they_go() {
    let bytes = std::fs::read(sample("cubes.gfxr")).expect("the sample is there");
    let folder = std::env::temp_dir().join(format!("reray-damaged-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let cut = folder.join("cut.gfxr");
    std::fs::write(&cut, &bytes[..bytes.len() - 5]).expect("written");
    let out = replay_raw(&cut, &["--echo"]);
    let r: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(
        (out.status.code(), &r["undecoded"]["count"]),
        (Some(0), &1.into()),
        "the cut-off block is a warning"
    );

    // The last call's id becomes one that nobody knows.
    let mut bad = bytes;
    let (mut at, mut last_call) = (24, 0);
    while at + 16 <= bad.len() {
        let size = u64::from_le_bytes(bad[at..at + 8].try_into().expect("8 bytes")) as usize;
        if bad[at + 8] == 4 {
            last_call = at + 12;
        }
        at += 12 + size;
    }
    bad[last_call..last_call + 4].copy_from_slice(&0x0001_FFFFu32.to_le_bytes());
    let file = folder.join("bad.gfxr");
    std::fs::write(&file, &bad).expect("written");
    let out = replay_raw(&file, &["--echo"]);
    let err = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.code() == Some(1) && err.contains("0x1ffff"), "{err}");
    let r = replay(&file, &["--echo", "--keep-going"]);
    assert_eq!(r["undecoded"]["count"], 1);
    std::fs::remove_dir_all(&folder).expect("removed");
}

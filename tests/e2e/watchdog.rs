//! The watchdog: a capture whose fourth frame does not end in time stops with what there was until then, names the
//! submission, and with `--breadcrumbs` the command; breadcrumbs change nothing else.

use crate::device::device;
use crate::support::{Scratch, root, run, text};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Steps under the label `heavy`, as the scene has them.
const HEAVY: u32 = 100_003;

fn steps() -> PathBuf {
    root().join("captures/samples/steps.gfxr")
}

/// The sample, with the heavy walk of frame 4 made as long as a number of steps can be.
fn endless(scratch: &Scratch) -> PathBuf {
    let plain = scratch.path("plain.gfxr");
    let out = run([
        "compress".as_ref(),
        steps().as_os_str(),
        "--to".as_ref(),
        "none".as_ref(),
        "-o".as_ref(),
        plain.as_os_str(),
    ]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let mut bytes = std::fs::read(&plain).expect("just written");
    let heavy = HEAVY.to_le_bytes();
    let places: Vec<usize> = (0..bytes.len() - 4).filter(|&i| bytes[i..i + 4] == heavy).collect();
    assert_eq!(places.len(), 6, "one a frame");
    bytes[places[3]..places[3] + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    let file = scratch.path("endless.gfxr");
    std::fs::write(&file, &bytes).expect("written");
    file
}

/// stdout, stderr; the code must be 6, and soon.
fn hang(file: &Path, flags: &[&str]) -> (String, String) {
    let start = Instant::now();
    let out = run([file.to_str().expect("plain"), "--watchdog", "0.4"].iter().chain(flags));
    assert_eq!(out.status.code(), Some(6), "{}", text(&out.stderr));
    assert!(start.elapsed() < Duration::from_secs(6), "it ended after {:?}", start.elapsed());
    (text(&out.stdout), text(&out.stderr))
}

/// The block that submits frame 4, its command buffer, and the number of its second dispatch.
fn what_hangs(file: &Path) -> (u64, u64, u64) {
    let out = run(["dump".as_ref(), file.as_os_str(), "--frames".as_ref(), "4".as_ref()]);
    let lines: Vec<Value> =
        text(&out.stdout).lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    let named = |name: &str| lines.iter().filter(|l| l["function"]["name"] == name).collect::<Vec<_>>();
    let dispatch = &named("vkCmdDispatch")[1]["function"];
    // Numbers count the commands of this recording.
    let recorded = lines.iter().map(|l| &l["function"]);
    let recorded = recorded.filter(|f| f["name"].as_str().is_some_and(|n| n.starts_with("vkCmd")));
    let before = recorded.take_while(|f| f["sub_index"].is_null() && *f != dispatch).count() as u64;
    (
        named("vkQueueSubmit")[0]["index"].as_u64().expect("a number"),
        dispatch["args"]["commandBuffer"].as_u64().expect("an id"),
        before + 1,
    )
}

#[test]
fn a_hang_ends_with_what_there_was_and_names_the_submission() {
    if !device("a_hang_ends") {
        return;
    }
    let scratch = Scratch::new("hang");
    let file = endless(&scratch);
    let (block, ..) = what_hangs(&file);
    let (out, err) = hang(&file, &[]);
    assert!(out.contains("4 frames") && out.contains("Frame times"), "{out}");
    assert!(err.contains("the GPU did not finish within 0.4 s (--watchdog)"), "{err}");
    assert!(err.contains(&format!("Not finished: submission 4 (block {block}, frame 4, queue ")), "{err}");
    assert!(err.contains("--breadcrumbs says in which command"), "{err}");

    let (out, _) = hang(&file, &["--json"]);
    let r: Value = serde_json::from_str(&out).expect("whole JSON");
    assert_eq!((&r["stopped"]["why"], &r["frames"]), (&"hang".into(), &4.into()));
    assert_eq!(r["stopped"]["in_flight"][0]["block"], block);
    assert_eq!(r["frame_times"].as_array().map(Vec::len), Some(4));

    // What is written to files is there whole.
    let (csv, timeline) = (scratch.path("times.csv"), scratch.path("times.json"));
    let files = ["--csv", csv.to_str().expect("plain"), "--perfetto", timeline.to_str().expect("plain")];
    // The reference replay before the measured one hangs, too: there are no times to write.
    let (_, err) = hang(&file, &[&["--times", "pass"], &files[..]].concat());
    assert!(err.contains("Not finished: submission 4"), "{err}");
    assert!(!csv.exists() && !timeline.exists(), "no half-written file");
}

#[test]
fn breadcrumbs_name_the_command() {
    if !device("breadcrumbs_name") {
        return;
    }
    let scratch = Scratch::new("breadcrumbs");
    let file = endless(&scratch);
    let (block, buffer, index) = what_hangs(&file);
    let (out, err) = hang(&file, &["--breadcrumbs", "--json"]);
    let place = format!("in command buffer {buffer} at command {index}, vkCmdDispatch, in frame 4 > heavy");
    assert!(err.contains(&place), "{err}\nexpected {place}");
    assert!(!err.contains("--breadcrumbs says"), "{err}");
    let r: Value = serde_json::from_str(&out).expect("whole JSON");
    let f = &r["stopped"]["in_flight"][0];
    assert_eq!((&f["submit"], &f["block"], &f["frame"]), (&4.into(), &block.into(), &4.into()));
    assert_eq!(
        (&f["command_buffer"], &f["index"], &f["last_index"]),
        (&buffer.into(), &index.into(), &index.into())
    );
    assert_eq!(f["labels"], serde_json::json!(["frame 4", "heavy"]));
    assert_eq!(f["begun"], true);
}

#[test]
fn breadcrumbs_change_no_pixel_and_the_validation_layer_is_silent() {
    if !device("breadcrumbs_change_no_pixel") {
        return;
    }
    let scratch = Scratch::new("crumbs");
    for (name, frames) in [("cubes.gfxr", "1,15"), ("rays.gfxr", "1,4"), ("msaa_frames_10_12.gfxr", "10,12")]
    {
        let file = root().join("captures/samples").join(name);
        let file = file.to_str().expect("plain");
        let shots = |folder: &str, flags: &[&str]| {
            let into = scratch.path(folder);
            let into = into.to_str().expect("plain");
            let out = run(["screenshot", file, "--frames", frames, "-o", into].iter().chain(flags));
            assert!(out.status.success(), "{name} {flags:?}: {}", text(&out.stderr));
            let files = text(&out.stdout);
            files.lines().map(|f| std::fs::read(f).expect("written")).collect::<Vec<_>>()
        };
        let plain = shots("plain", &[]);
        assert_eq!(plain.len(), 2);
        assert!(shots("marked", &["--breadcrumbs"]) == plain, "{name}");
        let out = run([file, "--breadcrumbs", "--validate", "--json"]);
        assert!(out.status.success(), "{name}: {}", text(&out.stderr));
        let r: Value = serde_json::from_slice(&out.stdout).expect("JSON");
        assert_eq!(r["validation"], serde_json::json!([]), "{name}");
    }
}

#[test]
fn the_watchdogs_time_is_a_time() {
    for bad in ["0", "-1", "soon", "nan"] {
        let flag = format!("--watchdog={bad}");
        let out = run([steps().as_os_str(), flag.as_ref()]);
        assert_eq!(out.status.code(), Some(2), "{bad}: {}", text(&out.stderr));
    }
}

//! `screenshot --after`: what attachments hold behind passes, draws and labels.

use crate::device::device;
use crate::ordering::without;
use crate::support::{Scratch, reray, sample, text};
use serde_json::Value;
use std::path::Path;

/// The hashes of what is shown, by the ends of files' names; nothing else is said but that the layer has nothing to say.
fn shown(capture: &Path, flags: &[&str], to: &Path) -> Vec<(String, String)> {
    let out = reray()
        .arg("screenshot")
        .arg(capture)
        .args(flags)
        .args(["--hash", "--validate", "-o"])
        .arg(to)
        .output();
    let out = out.expect("the program starts");
    let said = text(&out.stderr);
    assert!(out.status.success(), "{flags:?}: {said}");
    assert!(!said.contains("validation messages") || said.contains(": 0 validation messages"), "{said}");
    let lines = text(&out.stdout);
    let of = |line: &str| {
        let (hash, file) = line.split_once("  ")?;
        let name = Path::new(file).file_stem()?.to_str()?;
        Some((name.splitn(3, '_').nth(2).unwrap_or_default().to_owned(), hash.to_owned()))
    };
    lines.lines().map(|l| of(l).unwrap_or_else(|| panic!("{l}"))).collect()
}

#[test]
fn behind_the_last_pass_lies_what_the_frame_shows() {
    if !device("attachments") {
        return;
    }
    // Render passes, several samples and what they are resolved to, a trimmed capture, dynamic rendering.
    for (name, frame, attachment) in [
        ("cubes.gfxr", "15", "pass_2_color0"),
        ("triangle_4.gfxr", "2", "pass_1_resolve0"),
        ("triangle_4_stored.gfxr", "2", "pass_1_resolve0"),
        ("msaa_frames_10_12.gfxr", "12", "pass_2_color0"),
        ("effects.gfxr", "1", "pass_1_color0"),
    ] {
        let scratch = Scratch::new(&format!("attachments-{name}"));
        let frames = ["--frames", frame];
        let whole = shown(&sample(name), &frames, &scratch.path("whole"));
        let passes =
            shown(&sample(name), &[&frames[..], &["--after", "pass"]].concat(), &scratch.path("passes"));
        let last = passes.iter().find(|p| p.0 == attachment).unwrap_or_else(|| panic!("{name}: {passes:?}"));
        assert_eq!(last.1, whole[0].1, "{name}");
    }
}

#[test]
fn behind_a_draw_lies_what_a_capture_shows_without_those_that_follow() {
    if !device("attachments of draws") {
        return;
    }
    let scratch = Scratch::new("attachments-draws");
    let cubes = sample("cubes.gfxr");
    let all = shown(&cubes, &["--frames", "15", "--after", "draw:180-201"], &scratch.path("draws"));
    let index = std::fs::read(scratch.path("draws/frame_15_attachments.json")).expect("the index");
    let index: Value = serde_json::from_slice(&index).expect("JSON");
    let rows = index["attachments"].as_array().expect("rows");
    assert_eq!((rows.len(), all.len()), (2 * 22, 2 * 22), "a colour and a depth for each");
    let draw = |row: &Value| row["draw"].as_u64().expect("a number");
    let hash = |name: &str| all.iter().find(|p| p.0 == name).unwrap_or_else(|| panic!("{name}")).1.clone();
    for (row, shown) in rows.iter().zip(&all) {
        assert_eq!(row["blake3"], *shown.1);
        assert_eq!(row["pass_name"], "render pass 'world pass'");
        assert!(scratch.path("draws").join(row["file"].as_str().expect("a file")).is_file());
    }
    // Each draw adds a cube: no two pictures of colours are the same, or few, where cubes lie behind others.
    let mut colours: Vec<&Value> =
        rows.iter().filter(|r| r["attachment"] == "color0").map(|r| &r["blake3"]).collect();
    colours.dedup();
    assert!(colours.len() > 10, "{}", colours.len());
    // The capture without the calls that follow, as another program shows it.
    for at in [182, 195] {
        let later: Vec<u64> = rows
            .iter()
            .filter(|r| draw(r) > at && r["attachment"] == "color0")
            .map(|r| r["block"].as_u64().expect("a block"))
            .collect();
        let changed = scratch.path("changed.gfxr");
        without(&cubes, &later, &changed);
        let passes =
            shown(&changed, &["--frames", "15", "--after", "pass"], &scratch.path(&format!("changed-{at}")));
        for attachment in ["color0", "depth"] {
            let pass = passes.iter().find(|p| p.0 == format!("pass_1_{attachment}")).expect("the pass");
            assert_eq!(pass.1, hash(&format!("draw_{at}_{attachment}")), "{attachment} behind draw {at}");
        }
    }
    // Behind the last draw lies what lies behind the pass; a label is its last draw.
    let passes = shown(&cubes, &["--frames", "15", "--after", "pass"], &scratch.path("passes"));
    assert_eq!(passes.iter().find(|p| p.0 == "pass_1_color0").expect("it").1, hash("draw_201_color0"));
    let label = shown(&cubes, &["--frames", "15", "--after", "label:band 7"], &scratch.path("label"));
    assert_eq!(label.iter().find(|p| p.0.ends_with("color0")).expect("it").1, hash("draw_201_color0"));
}

#[test]
fn what_cannot_be_shown_is_said() {
    if !device("attachments that are not there") {
        return;
    }
    let scratch = Scratch::new("attachments-errors");
    let run = |name: &str, flags: &[&str]| {
        let out = reray()
            .arg("screenshot")
            .arg(sample(name))
            .args(flags)
            .arg("-o")
            .arg(scratch.path("out"))
            .output();
        let out = out.expect("the program starts");
        assert!(out.stdout.is_empty());
        (out.status.code(), text(&out.stderr))
    };
    let (code, said) = run("feedback.gfxr", &["--frames", "7", "--after", "pass"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("frame 7 has no render passes"), "{said}");
    let (code, said) = run("cubes.gfxr", &["--frames", "1-2", "--after", "pass"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("--frames N"), "{said}");
    let (code, said) = run("cubes.gfxr", &["--frames", "3", "--after", "label:nothing"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("no draw within such a label"), "{said}");
    let (code, said) = run("cubes.gfxr", &["--frames", "400", "--after", "draw"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("the last is frame 30"), "{said}");
}

//! `screenshot --after`: what attachments hold behind passes, draws and labels.

use crate::device::device;
use crate::ordering::without;
use crate::support::{Scratch, reray, sample, skip, swiftshader, text};
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
    let mut told = said.lines().filter(|l| l.contains("validation message"));
    assert!(told.all(|l| l.contains(": 0 validation messages")), "{said}");
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
        // Of several samples it is what the pass resolves them into.
        if attachment.ends_with("resolve0") {
            let colour =
                passes.iter().find(|p| p.0 == "pass_1_color0").unwrap_or_else(|| panic!("{passes:?}"));
            assert_eq!(colour.1, last.1, "{name}");
        }
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

/// Exit code, stdout and stderr of a comparison of a frame of cubes.
fn compared(flags: &[&str], to: &Path) -> (Option<i32>, String, String) {
    let cubes = sample("cubes.gfxr");
    let out = reray()
        .args(["screenshot", "--frames", "15"])
        .arg(cubes)
        .args(flags)
        .arg("-o")
        .arg(to)
        .output()
        .expect("the program starts");
    (out.status.code(), text(&out.stdout), text(&out.stderr))
}

#[test]
fn the_first_draw_behind_which_two_sides_differ_is_found() {
    if !device("attachments compared") {
        return;
    }
    let scratch = Scratch::new("attachments-compared");
    // The same device is the same: its own number is a name of it, too.
    let (code, said, why) = compared(&["--compare", "0", "--gpu", "0"], &scratch.path("same"));
    assert_eq!(code, Some(0), "{said}{why}");
    assert!(said.contains("3 attachments are the same"), "{said}");
    // One draw of 200 writes no colours on this side: behind it the pass differs, and behind no draw before it.
    let change = ["--change", "no-color:at=587-587"];
    let to = scratch.path("draw");
    let (code, said, why) = compared(&[&["--compare", "0", "--gpu", "0"][..], &change].concat(), &to);
    assert_eq!(code, Some(5), "{said}{why}");
    assert!(said.contains("first differ behind pass 1 \"world\" · draw 190 (DrawIndexed)"), "{said}");
    assert!(said.contains("with pipeline 37 \"lit cube\", in \"band 7\""), "{said}");
    let found = std::fs::read(to.join("compare.json")).expect("it is written");
    let found: Value = serde_json::from_slice(&found).expect("JSON");
    let draw = &found["draw"][0];
    assert_eq!((&draw["here"]["draw"], &draw["here"]["block"]), (&190.into(), &587.into()), "{draw}");
    assert_eq!(draw["here"]["attachment"], "color0");
    assert_eq!(found["draw"].as_array().map(Vec::len), Some(1), "depth is the same");
    for (side, row) in [("here", &draw["here"]), ("there", &draw["there"])] {
        let files = ["file", "texels"].map(|f| to.join(side).join(row[f].as_str().expect("a file")));
        let [png, texels] = files.map(|f| std::fs::metadata(f).expect("a file").len());
        assert!(png > 0 && texels == 960 * 540 * 8, "texels of 16-bit floats: {texels}");
    }
    // What its fragment shader reads at the pixel that differs is what the scene has put there.
    let sun = [0.62f64, 0.60, 0.52];
    let length = sun.iter().map(|x| x * x).sum::<f64>().sqrt();
    for (part, of) in ["x", "y", "z"].iter().zip(sun) {
        let name = format!("camera.sun.{part}");
        let rows = found["read"].as_array().expect("what is read");
        let row = rows.iter().find(|r| r["read"] == *name).unwrap_or_else(|| panic!("{name}: {rows:?}"));
        for side in ["here", "there"] {
            let value: f64 = row[side].as_str().and_then(|v| v.parse().ok()).expect("one value");
            assert!((value - of / length).abs() < 1e-6, "{name}: {row}");
        }
    }
    // A tolerance that allows everything that is a number allows this.
    let (code, said, _) = compared(
        &[&["--compare", "0", "--gpu", "0", "--image-tolerance", "4000000000"][..], &change].concat(),
        &scratch.path("tolerant"),
    );
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("3 attachments are the same within the tolerance"), "{said}");
}

#[test]
fn two_drivers_are_compared() {
    if !device("attachments of two drivers") {
        return;
    }
    let Some(swift) = swiftshader() else {
        assert!(std::env::var_os("RERAY_REQUIRE_DEVICE").is_none(), "chromium is required");
        return skip("attachments of two drivers", "SwiftShader is not installed");
    };
    let scratch = Scratch::new("attachments-drivers");
    let of = |name: &str, to: &Path| {
        let out = reray()
            .args(["screenshot", "--frames", "2", "--compare", swift])
            .arg(sample(name))
            .arg("-o")
            .arg(to)
            .output()
            .expect("the program starts");
        (out.status.code(), text(&out.stdout), text(&out.stderr))
    };
    // Whole texels are the same on any driver; edges of a triangle are where each rounds them to.
    let (code, said, why) = of("formats.gfxr", &scratch.path("formats"));
    assert_eq!(code, Some(0), "{said}{why}");
    assert!(said.contains("3 attachments are the same") && said.contains("SwiftShader"), "{said}");
    let (code, said, why) = of("triangle_1.gfxr", &scratch.path("triangle"));
    assert_eq!(code, Some(5), "{said}{why}");
    assert!(said.contains("first differ behind pass 1 ") && said.contains(" · draw 1 (Draw)"), "{said}");
    let found = std::fs::read(scratch.path("triangle").join("compare.json")).expect("it is written");
    let found: Value = serde_json::from_slice(&found).expect("JSON");
    let devices = found["devices"].as_array().expect("both").clone();
    assert!(devices[1].as_str().is_some_and(|d| d.contains("SwiftShader")) && devices[0] != devices[1]);
}

#[test]
fn what_another_machine_wrote_is_compared_with_what_is_shown_here() {
    if !device("attachments compared with a folder") {
        return;
    }
    let scratch = Scratch::new("attachments-folder");
    let there = scratch.path("there");
    let (code, _, why) =
        compared(&["--after", "draw:188-192", "--texels", "--change", "no-color:at=587-587"], &there);
    assert_eq!(code, Some(0), "{why}");
    let there = there.to_str().expect("plain");
    let to = scratch.path("out");
    let (code, said, why) = compared(&["--compare", there], &to);
    assert_eq!(code, Some(5), "{said}{why}");
    assert!(said.contains("first differ behind pass 1 \"world\" · draw 190 (DrawIndexed)"), "{said}");
    assert!(said.contains(&format!("{there}/frame_15_draw_190_color0.png")), "{said}");
    // (nothing covers that cube in the three draws behind it)
    assert!(said.contains("3 of 10 attachments differ"), "{said}");
    let (code, _, why) = compared(&["--compare", there], &to);
    assert_eq!(code, Some(2), "{why}");
    assert!(why.contains("it is not empty; name a new folder"), "{why}");
    // Behind other draws nothing is the same, and nothing differs.
    let (code, _, why) = compared(&["--after", "draw:5", "--compare", there], &scratch.path("others"));
    assert_eq!(code, Some(1), "{why}");
    assert!(
        why.contains(
            "no attachment is shown on both sides, here behind draw:5, and there behind draw:188-192"
        ),
        "{why}"
    );
    let (code, _, why) = compared(&["--texels"], &scratch.path("texels"));
    assert_eq!((code, why.contains("--texels goes with --after or --compare")), (Some(2), true), "{why}");
    let none = scratch.path("none");
    std::fs::create_dir(&none).expect("a folder");
    let (code, _, why) = compared(&["--compare", none.to_str().expect("plain")], &scratch.path("other"));
    assert_eq!(code, Some(1), "{why}");
    assert!(why.contains("screenshot --frames 15 --after"), "{why}");
    let (code, _, why) = compared(&["--compare", "no/such.json"], &scratch.path("other"));
    assert_eq!(code, Some(2), "{why}");
}

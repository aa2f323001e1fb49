//! `diff`: pairs of captures whose only differences are known, by the command line; what is an edit is made where the library's own
//! tests make it (`database/tests/edits`).

#[path = "../../database/tests/edits/mod.rs"]
mod edits;

use crate::device::device;
use crate::support::{Scratch, root, run, text};
use edits::{EDITS, fits, renumbered, sample};
use serde_json::Value;
use std::path::Path;

fn path(p: &Path) -> &str {
    p.to_str().expect("plain")
}

/// Runs it and wants this exit code.
fn diff(arguments: &[&str], code: i32) -> String {
    let out = run([&["diff"], arguments].concat());
    assert_eq!(out.status.code(), Some(code), "{arguments:?}: {}", text(&out.stderr));
    text(&out.stdout)
}

/// Two files and a folder for their databases.
struct Two {
    scratch: Scratch,
}

impl Two {
    fn new(name: &str, a: &[u8], b: &[u8]) -> Two {
        let scratch = Scratch::new(&format!("diff-{name}"));
        std::fs::write(scratch.path("a.gfxr"), a).expect("written");
        std::fs::write(scratch.path("b.gfxr"), b).expect("written");
        Two { scratch }
    }

    fn text(&self, flags: &[&str], code: i32) -> String {
        let (a, b) = (self.scratch.path("a.gfxr"), self.scratch.path("b.gfxr"));
        diff(&[&[path(&a), path(&b)], flags].concat(), code)
    }

    fn json(&self, flags: &[&str]) -> Value {
        serde_json::from_str(&self.text(&[&["--json"], flags].concat(), 0)).expect("JSON")
    }
}

#[test]
fn edited_pairs_differ_in_their_edits_and_in_nothing_else() {
    assert!(EDITS.len() >= 10);
    for edit in EDITS {
        let bytes = sample(root(), edit.sample);
        let two = Two::new("edits", &bytes, &(edit.make)(&bytes));
        let json = two.json(&[]);
        let changes = json["changes"].as_array().expect("changes");
        assert_eq!(changes.len(), edit.expected.len(), "{}: {json:#}", edit.name);
        for (e, found) in edit.expected.iter().zip(changes) {
            assert!(fits(e, found), "{}: {e:#?}\n{found:#}", edit.name);
        }
        assert_eq!(json["equal"], Value::Bool(false));
    }
}

#[test]
fn what_is_the_same_is_said_to_be_with_other_ids_and_addresses() {
    for name in ["cubes", "builds", "uniforms", "objects"] {
        let bytes = sample(root(), name);
        let two = Two::new("same", &bytes, &renumbered(&bytes));
        let said = two.text(&["--exit-code"], 0);
        assert!(said.starts_with("The captures do the same.\n"), "{name}: {said}");
        let json = two.json(&[]);
        assert_eq!((&json["equal"], &json["schema_version"]), (&Value::Bool(true), &Value::from(1)));
    }
}

#[test]
fn exit_codes_frames_and_output_are_as_they_are_asked_for() {
    let bytes = sample(root(), "cubes");
    let edit = &EDITS[0];
    let two = Two::new("codes", &bytes, &(edit.make)(&bytes));
    let said = two.text(&[], 0);
    assert!(said.starts_with("30 of "), "{said}");
    assert!(said.contains("  ~ vkCmdDraw 1 in \"develop\" (in all 30 frames)\n"), "{said}");
    assert!(said.contains("      vertexCount: 3 -> 6\n"), "{said}");
    assert!(said.lines().all(|l| l.chars().count() <= 100), "{said}");
    assert_eq!(two.text(&["--exit-code"], 5), said);
    let few = two.text(&["--frames", "3-9"], 0);
    assert!(few.contains("in frames 3-9; everything") && few.contains("(in all 7 frames)"), "{few}");
    // (no frame of either)
    two.text(&["--frames", "900"], 1);
    let file = two.scratch.path("diff.json");
    assert_eq!(two.text(&["--json", "-o", path(&file)], 0), "");
    let page = two.scratch.path("page.html");
    let out = run(["report", path(&file), "-o", path(&page)]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    assert!(text(&out.stdout).contains("1 analysis"), "{}", text(&out.stdout));
    let out = run(["diff", "none.gfxr", "none.gfxr"]);
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
}

#[test]
fn a_shader_that_changed_is_shown_as_text() {
    let edit = EDITS.iter().find(|e| e.name.contains("shader")).expect("an edit");
    let bytes = sample(root(), edit.sample);
    let two = Two::new("shader", &bytes, &(edit.make)(&bytes));
    let json = two.json(&[]);
    let shader = json["changes"][0]["shader"].as_str().expect("text");
    let lines =
        |sign: &str| shader.lines().filter(|l| l.starts_with(sign) && l.contains("OpConstant")).count();
    assert_eq!((lines("-"), lines("+")), (1, 1), "{shader}");
    assert_eq!(json["changes"][0]["reaches"], Value::from(30));
}

#[test]
fn a_trimmed_capture_does_what_its_source_does() {
    for (name, trimmed, frames) in [
        ("formats", "formats_frames_2_3", "2-3"),
        ("compressed_textures", "compressed_textures_frames_3_4", "3-4"),
    ] {
        let two = Two::new("trimmed", &sample(root(), name), &sample(root(), trimmed));
        let json = two.json(&["--frames", frames]);
        let changes = json["changes"].as_array().expect("changes");
        let run: Vec<&Value> =
            changes.iter().filter(|c| c["kind"] == "command" || c["kind"] == "frame").collect();
        assert!(run.is_empty(), "{name}: {run:#?}");
    }
}

#[test]
fn a_trim_of_one_frame_lacks_the_other_frames_and_nothing_else() {
    if !device("a trim and its source") {
        return;
    }
    for (name, frame, others) in [
        ("builds", 2, "frames 1, 3-4"),
        ("cubes", 4, "frames 1-3, 5-30"),
        ("feedback", 4, "frames 1-3, 5-12"),
        ("formats", 2, "frames 1, 3"),
        ("triangle_1", 2, "frame 1"),
        ("triangle_4", 2, "frame 1"),
        ("uniforms", 4, "frames 1-3"),
    ] {
        let scratch = Scratch::new("diff-trim");
        let (whole, part) = (crate::support::sample(&format!("{name}.gfxr")), scratch.path("part.gfxr"));
        let number = frame.to_string();
        let out = run(["trim", path(&whole), "--frames", &number, "--unchecked", "-o", path(&part)]);
        assert!(out.status.success(), "{name}: {}", text(&out.stderr));
        let databases = scratch.path("databases");
        let of = [path(&whole), path(&part), "--cache", path(&databases)];
        let said = diff(&of, 0);
        assert!(said.contains(&format!(" removed, in {others}; everything")), "{name}: {said}");
        let json: Value = serde_json::from_str(&diff(&[&of[..], &["--json"]].concat(), 0)).expect("JSON");
        let changes = json["changes"].as_array().expect("changes");
        let more: Vec<&Value> =
            changes.iter().filter(|c| c["kind"] != "frame" || c["what"] != "removed").collect();
        assert!(more.is_empty(), "{name}: {more:#?}");
        let one = diff(&[&of[..], &["--frames", &number]].concat(), 0);
        assert!(one.starts_with("The captures do the same.\n"), "{name}: {one}");
        let back = diff(&[path(&part), path(&whole), "--cache", path(&databases), "--frames", &number], 0);
        assert!(back.starts_with("The captures do the same.\n"), "{name}: {back}");
    }
}

#[test]
fn times_stand_beside_changes() {
    if !device("times in a difference") {
        return;
    }
    let bytes = sample(root(), "cubes");
    let two = Two::new("times", &bytes, &(EDITS[0].make)(&bytes));
    let [a, b] = ["a", "b"].map(|side| {
        let capture = two.scratch.path(&format!("{side}.gfxr"));
        let out = run([path(&capture), "--times", "command", "--frames", "2", "--json"]);
        assert!(out.status.success(), "{}", text(&out.stderr));
        let file = two.scratch.path(&format!("{side}.json"));
        std::fs::write(&file, out.stdout).expect("written");
        file
    });
    let json = two.json(&["--of-a", path(&a), "--of-b", path(&b), "--frames", "2"]);
    let times = &json["changes"][0]["time_ns"];
    assert!(times["a"].as_f64() > Some(0.0) && times["b"].as_f64() > Some(0.0), "{json:#}");
}

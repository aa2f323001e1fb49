//! `report`: a page of a benchmarked frame and one of a real program's capture, opened in a browser by `tests/browser/check.py`:
//! every section shows something, values under the pointer and under the keys are the analyses' own, it is read in light and
//! dark, on a narrow window and on paper, and asks nothing of a network.
//!
//! Where `tests/browser/setup` has not run, the browser's part is skipped by name; in CI that is a failure. What the browser
//! saw is kept in the build folder's `tmp/report`.

use crate::device::device;
use crate::schema::wrong;
use crate::support::{Scratch, root, run, sample, shared_capture, skip, text};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

fn words(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

fn ran(arguments: &[&str]) -> String {
    let out = run(arguments);
    assert!(out.status.success(), "{arguments:?}: {}{}", text(&out.stdout), text(&out.stderr));
    text(&out.stdout)
}

/// Opens a page; false where there is no browser.
pub fn looked_at(page: &Path, name: &str, expected: &Value) -> bool {
    let seen = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report").join(name);
    std::fs::create_dir_all(&seen).expect("a folder for pictures");
    let file = seen.join("expected.json");
    std::fs::write(&file, expected.to_string()).expect("it is written");
    let venv =
        std::env::var_os("BROWSER_VENV").map_or_else(|| root().join("target/browser-venv"), PathBuf::from);
    let python = venv.join("bin/python");
    let missing = |why: &str| {
        assert!(std::env::var_os("RERAY_REQUIRE_DEVICE").is_none(), "{why}: tests/browser/setup is required");
        skip("the report in a browser", why);
        false
    };
    if !python.is_file() {
        return missing("tests/browser/setup has not run");
    }
    let check = root().join("tests/browser/check.py");
    let out = Command::new(python).arg(check).args([page, &seen, &file]).output().expect("python runs");
    let said = text(&out.stdout) + &text(&out.stderr);
    match out.status.code() {
        Some(2) => missing(said.trim()),
        code => {
            assert_eq!(code, Some(0), "{name}: {said}");
            assert!(std::fs::read(seen.join("page.pdf")).is_ok_and(|pdf| pdf.starts_with(b"%PDF")));
            true
        }
    }
}

/// Pixels of a map and what the question says that they are.
fn pixels(trace: &str, question: &str) -> Vec<Value> {
    let all: Value =
        serde_json::from_str(&ran(&["analyze", trace, question, "--format", "json"])).expect("JSON");
    assert_eq!(wrong("analyze", &all), Vec::<String>::new());
    let images = all["reports"][0]["images"].as_array().expect("maps").clone();
    assert!(!images.is_empty(), "{question} has maps");
    let of = |(n, image): (usize, &Value)| {
        let (wide, x, y) = (image["width"].as_u64().expect("a width"), 17, 9);
        let value = image["pixels"][(y * wide + x) as usize].clone();
        json!({ "section": question, "image": n, "x": x, "y": y, "value": value })
    };
    images.iter().enumerate().step_by(4).take(3).map(of).collect()
}

#[test]
fn a_benchmarked_frame() {
    if !device("report of a bench") {
        return;
    }
    let scratch = Scratch::new("report-bench");
    let (study, page) = (scratch.path("study"), scratch.path("report.html"));
    let capture = root().join("captures/samples/weekend.gfxr");
    ran(&[
        "study",
        "rays",
        words(&capture),
        "--frame",
        "2",
        "--assume-subgroups",
        "--iterations",
        "12",
        "--warmup",
        "1",
        "--processes",
        "1",
        "--method",
        "random,rounds",
        "--no-efficiency",
        "-o",
        words(&study),
    ]);
    let report = std::fs::read(study.join("report.json")).expect("a run has its report");
    assert_eq!(wrong("report", &serde_json::from_slice(&report).expect("JSON")), Vec::<String>::new());
    let plots = scratch.path("plots");
    let said = ran(&["report", words(&study), "-o", words(&page), "--plots", words(&plots)]);
    assert!(said.starts_with(words(&page)) && said.contains(" analyses, "), "{said}");
    let sections =
        ["overview", "bench", "rays", "ray-maps", "repack", "reorder", "unnecessary-tests", "environment"];
    let expected = json!({
        "sections": sections,
        "pixels": pixels(words(&study.join("rays")), "ray-maps"),
        "texts": [
            { "section": "bench", "text": "unmodified" },
            { "section": "bench", "text": "Times of frame 2: distribution" },
            { "section": "repack", "text": "rounds" },
            { "section": "environment", "text": "pipeline cache uuid" },
        ],
    });
    // The figures are there as files, too, and are what they say that they are.
    let names: Vec<String> = std::fs::read_dir(&plots)
        .expect("figures")
        .map(|e| e.expect("a file").file_name().to_string_lossy().into_owned())
        .collect();
    for figure in
        ["study.bench.plans_violins", "study.bench.plans_in_order", "study_rays.rays.distances_of_hits"]
    {
        let of = |ending: &str| std::fs::read(plots.join(format!("{figure}.{ending}")));
        assert!(of("png").is_ok_and(|b| b.starts_with(b"\x89PNG")), "{figure}: {names:?}");
        assert!(of("svg").is_ok_and(|b| b.starts_with(b"<svg ") && b.ends_with(b"</svg>\n")), "{figure}");
    }
    assert!(names.iter().any(|n| n.starts_with("study_rays.ray-maps.") && n.ends_with(".png")), "{names:?}");
    looked_at(&page, "bench", &expected);
    // A verdict beside the capture that it is of.
    let of = words(&study.join("run")).to_owned();
    let judged = run(["compare", &of, &of, "--against", "identity", "--json"]);
    let verdict = scratch.path("verdict.json");
    std::fs::write(&verdict, &judged.stdout).expect("a file");
    let value: Value = serde_json::from_slice(&judged.stdout).expect("JSON");
    assert_eq!(wrong("report", &value["report"]), Vec::<String>::new());
    ran(&["report", words(&verdict), words(&study), "-o", words(&page)]);
    let texts = [json!({ "section": "compare", "text": "rounds against identity" })];
    looked_at(&page, "verdict", &json!({ "sections": ["overview", "compare", "bench"], "texts": texts }));
    // A folder of several processes (docs/runs.md) is a run, too.
    let unread = scratch.path("unread");
    std::fs::create_dir_all(&unread).expect("a folder");
    std::fs::write(unread.join("run.json"), "{}").expect("a file");
    let out = run(["report", words(&unread), "-o", words(&page)]);
    assert!(out.status.code() == Some(1) && text(&out.stderr).contains("run.json"), "{}", text(&out.stderr));
}

#[test]
fn a_real_program() {
    if !device("report of a capture") {
        return;
    }
    let scratch = Scratch::new("report-program");
    let sample = root().join("captures/samples/cubes.gfxr");
    let capture = shared_capture("vkcube.gfxr").unwrap_or(sample);
    let [trace, resources, times, page] =
        ["trace", "resources", "times.json", "report.html"].map(|name| scratch.path(name));
    let capture = words(&capture);
    ran(&[
        "profile",
        capture,
        "--assume-subgroups",
        "--passes",
        "simt,divergence,blocks,timeline,uniformity",
        "--frames",
        "2-4",
        "-o",
        words(&trace),
    ]);
    ran(&["bindings", capture, "--no-answers", "-o", words(&resources)]);
    std::fs::write(&times, ran(&[capture, "--times", "command", "--json"])).expect("it is written");
    // What is printed is what the schemas describe.
    let printed: Value = serde_json::from_slice(&std::fs::read(&times).expect("it is there")).expect("JSON");
    for report in [&printed["report"], &printed["times"]["report"]] {
        assert_eq!(wrong("report", report), Vec::<String>::new());
    }
    for trace in [words(&trace), words(&resources)] {
        let all: Value = serde_json::from_str(&ran(&["analyze", trace, "--format", "json"])).expect("JSON");
        assert!(all["reports"].as_array().is_some_and(|r| r.len() > 2));
        assert_eq!(wrong("analyze", &all), Vec::<String>::new());
    }
    let inputs = [words(&times), words(&trace), words(&resources)];
    ran(&[&["report"], &inputs[..], &["-o", words(&page), "--title", "A <real> program"]].concat());
    let sections = [
        "frame-times",
        "command-times",
        "simt",
        "divergence",
        "blocks",
        "hotspots",
        "uniformity",
        "annotate",
        "timeline",
        "bindings",
        "uniforms",
        "advice",
        "environment",
    ];
    let expected = json!({
        "sections": sections,
        "texts": [
            { "section": "overview", "text": "A <real> program" },
            { "section": "command-times", "text": "What frames are made of" },
            { "section": "annotate", "text": "OpLabel" },
            { "section": "environment", "text": "Cost of measuring" },
        ],
    });
    looked_at(&page, "program", &expected);
    // The same inputs give the same page.
    let again = scratch.path("again.html");
    ran(&[&["report"], &inputs[..], &["-o", words(&again), "--title", "A <real> program"]].concat());
    assert!(std::fs::read(&page).expect("a page") == std::fs::read(&again).expect("a page"));
}

#[test]
fn a_capture_in_one_go() {
    if !device("the page of a capture") {
        return;
    }
    let scratch = Scratch::new("report-capture");
    let (page, trace) = (scratch.path("page.html"), scratch.path("trace"));
    let cubes = sample("cubes.gfxr");
    let said =
        ran(&["report", words(&cubes), "--frame", "15", "--assume-subgroups", "-q", "-o", words(&page)]);
    // Of the scene: a dispatch, two hundred cubes, and one draw that develops the picture.
    assert!(said.starts_with("Frame 15, draw by draw\n"), "{said}");
    assert!(said.contains("Frame 15 has 201 draws and 1 dispatch in 2 render passes"), "{said}");
    // The same as asked one by one.
    ran(&[
        "profile",
        words(&cubes),
        "--frames",
        "15",
        "--ask",
        "simt,hotspots",
        "--assume-subgroups",
        "-q",
        "-o",
        words(&trace),
    ]);
    let all = ran(&["analyze", words(&trace), "simt", "hotspots", "--format", "json"]);
    let all: Value = serde_json::from_str(&all).expect("JSON");
    for report in all["reports"].as_array().expect("two") {
        for line in report["headlines"].as_array().expect("headlines") {
            let line = line.as_str().expect("words");
            assert!(said.contains(line), "{line}: {said}");
        }
    }
    assert!(said.contains("never change"), "what uniform data never changes: {said}");
    let expected = json!({
        "sections": ["overview", "frame", "hotspots", "simt", "uniforms", "advice", "frame-times", "command-times", "environment"],
        "texts": [
            { "section": "overview", "text": "Frame 15" },
            { "section": "frame", "text": "Behind pass 2 \"develop\": color0" },
            { "section": "frame", "text": "pipeline 37 \"lit cube\"" },
            { "section": "frame", "text": "stageCount" },
            { "section": "frame", "text": "BindIndexBuffer" },
            { "section": "frame", "text": "image 38 \"world colour\"" },
            { "section": "command-times", "text": "What queues ran in frame" },
        ],
        "links": ["draw", "pass", "pipeline", "shader", "block"],
        "most_bytes": 2_500_000,
    });
    looked_at(&page, "capture", &expected);
    // Frames of vkd3d begin with a submission of no command buffers: draws have their times all the same.
    if let Some(gears) = shared_capture("vkd3d_gears_trim_40_59.gfxr") {
        let said = ran(&["report", words(&gears), "--questions", "uniforms", "-q", "-o", words(&page)]);
        assert!(said.contains("draw by draw\n  Frame 4"), "{said}");
    }
    // The shortest way; what this device does not say that it has is named, and the rest is there.
    let page = scratch.path("short.html");
    let out = run([words(&cubes), "--report", words(&page)]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    assert!(text(&out.stdout).contains("draw by draw"), "{}", text(&out.stdout));
    assert!(
        text(&out.stderr).contains("Shaders were not instrumented: profile: --assume-subgroups"),
        "{}",
        text(&out.stderr)
    );
    assert!(page.is_file());
}

#[test]
fn what_is_no_input_is_refused() {
    let scratch = Scratch::new("report-refused");
    let (folder, file, page) = (scratch.path("empty"), scratch.path("x.json"), scratch.path("p.html"));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(&file, "{\"frames\": 3}").expect("a file");
    let refused = |arguments: &[&str], why: &str, code: i32| {
        let out = run([&["report", "-o", words(&page)], arguments].concat());
        assert_eq!(out.status.code(), Some(code), "{arguments:?}");
        assert!(text(&out.stderr).contains(why), "{arguments:?}: {}", text(&out.stderr));
        assert!(!page.exists(), "{arguments:?}");
    };
    refused(&[words(&folder)], "no trace and no run", 1);
    refused(&[words(&file)], "no report in it", 1);
    refused(&[words(&scratch.path("absent"))], "absent", 1);
    refused(&[words(&sample("cubes.gfxr")), "--frame", "99"], "no frame 99", 1);
    refused(&[], "INPUT", 2);
}

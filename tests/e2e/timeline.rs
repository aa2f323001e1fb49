//! Timelines of subgroups: spans as many as the scene has subgroups, each with the exits that its shader has; pictures
//! that can be read; a file that Perfetto takes.

use crate::device::device;
use crate::support::{Scratch, root, run, text};
use serde_json::Value;
use std::collections::BTreeMap;

fn succeed(args: &[&str]) -> Vec<u8> {
    let out = run(args);
    assert!(out.status.success(), "{args:?}: {}", text(&out.stderr));
    out.stdout
}

/// A table of the report: its rows, by the names of its columns; of two of one name the first.
fn table(report: &Value, name: &str) -> Vec<BTreeMap<String, Value>> {
    let tables = report["tables"].as_array().expect("an array");
    let table = tables.iter().find(|t| t["name"] == name).unwrap_or_else(|| panic!("no table {name}"));
    let columns = table["columns"].as_array().expect("an array");
    let row = |row: &Value| {
        let mut cells = BTreeMap::new();
        for (c, cell) in columns.iter().zip(row.as_array().expect("an array")) {
            cells.entry(c["name"].as_str().expect("a name").to_owned()).or_insert_with(|| cell.clone());
        }
        cells
    };
    table["rows"].as_array().expect("an array").iter().map(row).collect()
}

#[test]
fn every_subgroup_has_its_span() {
    if !device("every_subgroup_has_its_span") {
        return;
    }
    let scratch = Scratch::new("timeline");
    let capture = root().join("captures/samples/closed_compute.gfxr");
    let (trace, out) = (scratch.path("trace"), scratch.path("out"));
    let (capture, trace, out) =
        [&capture, &trace, &out].map(|p| p.to_str().expect("plain").to_owned()).into();
    succeed(&["profile", &capture, "--passes", "timeline,its,simt", "-o", &trace]);
    let answer = |question: &str| -> Value {
        let json = succeed(&["analyze", &trace, question, "--format", "json"]);
        let json: Value = serde_json::from_slice(&json).expect("it is JSON");
        json["reports"][0].clone()
    };
    let (report, its) = (answer("timeline"), answer("its"));
    // Another pass counted the same entries and exits.
    let (spans, counted) = (table(&report, "shaders"), table(&its, "shaders"));
    assert!(spans.len() > 5, "{}", spans.len());
    for (s, c) in spans.iter().zip(&counted) {
        assert_eq!((&s["pipeline"], &s["spans"]), (&c["pipeline"], &c["entries"]));
        assert_eq!(s["pieces"], c["exits / entries"], "{s:?}");
        let (min, median, max) = (&s["min"], &s["50 %"], &s["max"]);
        assert!(
            min.as_f64() <= median.as_f64() && median.as_f64() <= max.as_f64() && max.as_f64() > Some(0.0)
        );
        assert!(s["SIMT efficiency"].as_f64().is_some_and(|e| e > 0.0 && e <= 100.0));
    }
    assert!(spans.iter().any(|s| s["pieces"].as_f64() > Some(1.0)), "one shader returns at several places");
    let frames = table(&report, "frames");
    let all: u64 = frames.iter().filter_map(|f| f["spans"].as_u64()).sum();
    assert_eq!(all, spans.iter().filter_map(|s| s["spans"].as_u64()).sum::<u64>());
    // With -o a folder: pictures and the file for Perfetto.
    succeed(&["analyze", &trace, "timeline", "-o", &out]);
    let read = |name: &str| std::fs::read(std::path::Path::new(&out).join(name)).expect("it was written");
    let json: Value = serde_json::from_slice(&read("timeline.perfetto.json")).expect("it is JSON");
    let slices = json["traceEvents"].as_array().expect("an array").iter().filter(|e| e["ph"] == "X");
    assert_eq!(slices.count() as u64, all);
    for f in &frames {
        let picture = read(&format!("timeline_frame_{}.png", f["frame"]));
        assert!(picture.starts_with(b"\x89PNG") && picture.len() > 500);
    }
}

//! `what-if` on a frame whose cause is planted: work in one pipeline's mesh stage. The part that has it is the dearest, it is bound by
//! what comes before fragments, and nothing is called a gain that keeps the picture.

use crate::device::device;
use crate::report::looked_at;
use crate::support::{Scratch, root, run, text};
use serde_json::{Value, json};
use trace::run::Run;
use trace::what_if::{WHAT_IF_FILE, WhatIf};

#[test]
fn a_planted_cause_is_found_where_it_is() {
    if !device("what-if") {
        return;
    }
    let scratch = Scratch::new("what-if");
    let capture = root().join("captures/samples/stages.gfxr");
    let to = scratch.path("why");
    let [capture, own] = [&capture, &to].map(|p| p.to_str().expect("a plain path"));
    let planted = "planted passes=burn:stage=mesh+turns=2000000";
    let args = [
        "what-if",
        capture,
        "--frame",
        "2",
        "--on",
        planted,
        // (more than the four that decide, so that intervals are narrow beside other tests, too)
        "--processes",
        "6",
        "--iterations",
        "3",
        "--warmup",
        "2",
        "--budget",
        "10m",
        "--causes",
        "1",
        "-o",
        own,
    ];
    let out = run(args);
    assert!(out.status.success(), "{}{}", text(&out.stdout), text(&out.stderr));
    let report = text(&std::fs::read(to.join("report.txt")).expect("a report"));
    assert_eq!(text(&out.stdout), report);
    let said: Vec<&str> = report.lines().skip(2).take(2).collect();
    // (`stages` draws a tile under each label, the second with mesh shaders)
    assert!(said[0].contains("what costs most is part 4, frame 2 › tile 1: without it "), "{report}");
    assert!(said[1].starts_with("Part 4, frame 2 › tile 1 is bound by vertices"), "{report}");
    let read = std::fs::read(to.join(WHAT_IF_FILE)).expect("what was asked");
    let of = WhatIf::parse(&read, &to).expect("what was asked");
    assert_eq!((of.by.as_str(), of.frame, of.base.as_str()), ("label", 2, "planted"));
    assert!(of.parts.iter().all(|p| p.own.is_some()), "{:?}", of.parts);
    // Every experiment is a plan of its run, with a change, on what was planted; those that the device refused say why.
    let whys = [("subgroup-size", "subgroups of "), ("half-floats", "shaderFloat16")];
    for (name, refused) in [("costs", &[][..]), ("causes", &whys[..])] {
        let run = Run::open(&to.join(name)).expect("a run");
        let asked: Vec<&str> = of.experiments.iter().filter(|e| e.run == name).map(|e| &*e.plan).collect();
        assert_eq!(run.note.plans[1..].iter().map(|p| &*p.name).collect::<Vec<_>>(), asked);
        // (one change more than the base's, or a pass)
        let burn = "burn:stage=mesh+turns=2000000";
        assert!(run.note.plans.iter().all(|p| p.passes.to_string().starts_with(burn)));
        assert!(run.note.plans[1..].iter().all(|p| p.changes.len() + p.passes.0.len() == 2));
        for r in &run.note.refused {
            assert!(
                refused.iter().any(|(name, why)| r.plan.starts_with(name) && r.why.contains(why)),
                "{r:?}"
            );
        }
        assert_eq!(run.note.refused.is_empty(), refused.is_empty());
    }
    // The page begins with the same words.
    let page = scratch.path("page.html");
    let made = run(["report", own, "-o", page.to_str().expect("a plain path")]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    // It shows the frame and what each pass leaves.
    let shown = std::fs::read_dir(to.join("shown")).expect("pictures").count();
    let passes = std::fs::read(to.join("passes/frame_2_attachments.json")).expect("an index");
    let passes: Value = serde_json::from_slice(&passes).expect("JSON");
    let first = passes["attachments"].as_array().expect("rows").iter().find(|r| r["file"].is_string());
    let first = first.unwrap_or_else(|| panic!("{passes:#}"));
    assert_eq!(shown, 1);
    // (labels lie within the pass, and the one around it counts frames)
    assert_eq!(first["pass_labels"], json!(["frame 2"]));
    let (name, attachment) = (first["pass_name"].as_str().expect("a name"), &first["attachment"]);
    let name = match name.strip_prefix("render pass '").and_then(|n| n.strip_suffix('\'')) {
        Some(debug) => format!("\"{debug}\""),
        None => format!("({name})"),
    };
    let behind = format!("Behind pass {} {name}: {}", first["pass"], attachment.as_str().expect("a name"));
    let texts = ["Frame 2", &behind].map(|text| json!({ "section": "what-if", "text": text }));
    looked_at(&page, "what-if", &json!({ "sections": ["overview", "what-if"], "texts": texts }));
}

#[test]
fn a_frame_that_is_not_there_or_does_nothing_is_said() {
    let scratch = Scratch::new("what-if-none");
    let capture = root().join("captures/samples/stages.gfxr");
    let to = scratch.path("none");
    let [capture, to] = [&capture, &to].map(|p| p.to_str().expect("a plain path"));
    let out = run(["what-if", capture, "--frame", "77", "-o", to]);
    assert_eq!(out.status.code(), Some(1));
    assert!(text(&out.stderr).contains("there is no frame 77"), "{}", text(&out.stderr));
    assert!(!std::path::Path::new(to).exists());
}

//! `repartition`: descriptors in other sets, the same pictures; what cannot be rewritten is named and stays.

use crate::device::device;
use crate::rays::sample;
use crate::replay::validation_layer;
use crate::support::{Scratch, run, text};
use serde_json::Value;
use std::fs;
use std::path::Path;

fn repartition(scene: &str, partition: &Path, more: &[&str]) -> std::process::Output {
    let capture = sample(&format!("{scene}.gfxr"));
    let args = ["repartition", capture.to_str().expect("a plain path"), "--partition"];
    run(args.iter().copied().chain([partition.to_str().expect("a plain path")]).chain(more.iter().copied()))
}

/// The same, which has to go well: the report, and what was said beside it.
fn done(scene: &str, partition: &Path) -> (Value, String) {
    let validate = validation_layer().then_some("--validate");
    let more: Vec<&str> = ["--rounds", "1", "--json"].into_iter().chain(validate).collect();
    let out = repartition(scene, partition, &more);
    let said = text(&out.stderr);
    assert!(out.status.success(), "{scene}: {}{said}", text(&out.stdout));
    assert!(!said.contains("validation messages"), "{scene}: {said}");
    (serde_json::from_slice(&out.stdout).expect("JSON"), said)
}

#[test]
fn what_the_analysis_writes_makes_of_24_descriptors_16() {
    if !device("repartitioned_layouts") {
        return;
    }
    let scratch = Scratch::new("repartition-figures");
    let at = |name: &str| scratch.path(name).to_str().expect("a plain path").to_owned();
    let capture = sample("monolithic.gfxr");
    let capture = capture.to_str().expect("a plain path");
    let out = run(["resources", capture, "--no-answers", "-o", &at("trace")]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let out = run(["analyze", &at("trace"), "bindings", "-o", &at("answers")]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let (report, said) = done("monolithic", &scratch.path("answers").join("repartition-classes.json"));
    assert_eq!(said, "");
    let bound = &report["bound"];
    let of = |when: &str, what: &str| bound[when][what].as_u64();
    assert_eq!((of("before", "sets"), of("before", "descriptors")), (Some(4), Some(24)), "{report}");
    assert_eq!((of("after", "sets"), of("after", "descriptors")), (Some(7), Some(16)), "{report}");
    assert_eq!((report["pictures"].as_u64(), report["pipelines"].as_u64()), (Some(1), Some(1)), "{report}");
    // The application's own sets are neither allocated nor written.
    let calls = &report["repartitioned"]["calls"];
    assert_eq!(calls["vkAllocateDescriptorSets"], 7, "{report}");
    assert_eq!(calls["vkCmdBindDescriptorSets"], 7, "{report}");
    let calls = &report["plain"]["calls"];
    assert_eq!(
        (&calls["vkAllocateDescriptorSets"], &calls["vkCmdBindDescriptorSets"]),
        (&4.into(), &4.into())
    );
    assert!(report["plain"]["descriptor_cpu_ns"].as_u64() > Some(0), "{report}");
}

/// Every layout of a capture with all of its slots in one set, the other way round; by `dump`.
fn turned_round(scene: &str) -> String {
    let capture = sample(&format!("{scene}.gfxr"));
    let out = run(["dump", capture.to_str().expect("a plain path")]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let (mut sets, mut layouts) = (std::collections::BTreeMap::new(), serde_json::Map::new());
    for line in text(&out.stdout).lines() {
        let block: Value = serde_json::from_str(line).expect("JSON");
        let call = &block["function"];
        let info = &call["args"]["pCreateInfo"];
        match call["name"].as_str() {
            Some("vkCreateDescriptorSetLayout") => {
                let bindings = info["pBindings"].as_array().cloned().unwrap_or_default();
                let numbers: Vec<u64> = bindings.iter().filter_map(|b| b["binding"].as_u64()).collect();
                sets.insert(call["args"]["pSetLayout"].as_u64().expect("an id"), numbers);
            }
            Some("vkCreatePipelineLayout") => {
                let of = info["pSetLayouts"].as_array().cloned().unwrap_or_default();
                let slots: Vec<(usize, u64)> = of
                    .iter()
                    .enumerate()
                    .flat_map(|(set, id)| sets[&id.as_u64().expect("an id")].iter().map(move |b| (set, *b)))
                    .collect();
                let moves = slots.iter().rev().enumerate();
                let moves: Vec<Value> =
                    moves.map(|(to, (set, binding))| serde_json::json!([set, binding, 0, to])).collect();
                if !moves.is_empty() {
                    layouts.insert(call["args"]["pPipelineLayout"].to_string(), moves.into());
                }
            }
            _ => {}
        }
    }
    Value::Object(layouts).to_string()
}

#[test]
fn every_way_of_binding_is_moved_or_named() {
    if !device("repartitioned_layouts_of_all_kinds") {
        return;
    }
    let scratch = Scratch::new("repartition-kinds");
    let file = scratch.path("partition.json");
    // Dynamic offsets, templates, copies, shared sets, samplers of layouts, secondary command buffers, compute, rays; beside
    // pipelines that stay. Pictures of every frame are compared by the command itself.
    fs::write(&file, turned_round("uniforms")).expect("written");
    let (report, said) = done("uniforms", &file);
    assert_eq!(report["pictures"], 4, "{report}");
    assert_eq!(report["pipelines"], 16, "{report}");
    let refused = report["refused"].as_object().expect("an object");
    let why: Vec<&str> = refused.values().filter_map(Value::as_str).collect();
    assert_eq!(why.len(), 3, "{why:?}");
    for part in ["push descriptors", "an inline uniform block", "updated after it is bound"] {
        assert!(why.iter().any(|w| w.contains(part)), "{part}: {why:?}");
        assert!(said.contains(part), "{said}");
    }
    // A program that writes its sets over, resets their pools and keeps them bound from frame to frame.
    fs::write(&file, turned_round("feedback")).expect("written");
    assert_eq!(done("feedback", &file).0["pictures"], 12);
}

#[test]
fn what_cannot_be_is_refused() {
    let scratch = Scratch::new("repartition-refused");
    let file = scratch.path("partition.json");
    let fails = |scene: &str, partition: &str, code: i32, says: &str| {
        fs::write(&file, partition).expect("written");
        let out = repartition(scene, &file, &[]);
        let said = text(&out.stderr);
        assert_eq!(out.status.code(), Some(code), "{said}");
        assert!(said.contains(says), "{says}: {said}");
    };
    fails("monolithic", "{\"18\": 5}", 2, "partition.json");
    fails("monolithic", "{\"18\": [[0,0,0,0],[0,1,0,0]]}", 2, "two slots go to set 0, binding 0");
    fails("monolithic", "{\"18\": [[0,0,0,0]]}", 1, "does not say where set 0, binding 1 goes");
    fails("monolithic", "{\"7\": [[0,0,0,0]]}", 1, "the capture makes no such pipeline layout");
    fails("stages", &turned_round("stages"), 1, "it is of pipeline libraries");
}

//! `bindings split`: descriptors in other sets, the same pictures; what cannot be rewritten is named and stays; and shaders that are
//! rewritten wrongly show another picture.

use crate::device::device;
use crate::rays::sample;
use crate::replay::validation_layer;
use crate::support::{Scratch, run, text};
use gfxr_parse::container::{Capture, read_file};
use profile::hooks::call_costs::CallClock;
use profile::hooks::repartition::{Partition, Plan, RepartitionHook, scan};
use profile::hooks::screenshot::{ScreenshotHook, Shot, What, Wish};
use replay::hook::Hook;
use replay::options::Options;
use replay::session::{On, replay};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

fn repartition(scene: &str, partition: &Path, more: &[&str]) -> std::process::Output {
    let capture = sample(&format!("{scene}.gfxr"));
    let args = ["bindings", "split", capture.to_str().expect("a plain path"), "--partition"];
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
    let out = run(["bindings", capture, "--no-answers", "-o", &at("trace")]);
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

/// The slots of every layout of a capture, by `dump`; where they go is for another to say.
fn every_layout(scene: &str, to: impl Fn(&[(u64, u64)]) -> Vec<[u64; 4]>) -> String {
    let capture = sample(&format!("{scene}.gfxr"));
    let out = run(["dump", capture.to_str().expect("a plain path")]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let (mut sets, mut layouts) = (BTreeMap::new(), serde_json::Map::new());
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
                let slots: Vec<(u64, u64)> = (0..)
                    .zip(&of)
                    .flat_map(|(set, id)| sets[&id.as_u64().expect("an id")].iter().map(move |b| (set, *b)))
                    .collect();
                if !slots.is_empty() {
                    let moves = serde_json::to_value(to(&slots)).expect("numbers");
                    layouts.insert(call["args"]["pPipelineLayout"].to_string(), moves);
                }
            }
            _ => {}
        }
    }
    Value::Object(layouts).to_string()
}

/// All slots in one set, the other way round.
fn turned_round(scene: &str) -> String {
    every_layout(scene, |slots| {
        (0..).zip(slots.iter().rev()).map(|(to, (set, b))| [*set, *b, 0, to]).collect()
    })
}

/// The last set is the first, and so on; the first of all is empty.
fn sets_turned_round(scene: &str) -> String {
    every_layout(scene, |slots| {
        let last = slots.iter().map(|s| s.0).max().unwrap_or(0);
        slots.iter().map(|(set, b)| [*set, *b, 1 + last - set, b * 2 + 1]).collect()
    })
}

#[test]
fn every_way_of_binding_is_moved_or_named() {
    if !device("repartitioned_layouts_of_all_kinds") {
        return;
    }
    let scratch = Scratch::new("repartition-kinds");
    let file = scratch.path("partition.json");
    // Dynamic offsets, templates, copies, shared sets, samplers of layouts, inline blocks, secondary command buffers, compute,
    // rays; beside pipelines that stay. Pictures of every frame are compared by the command itself.
    fs::write(&file, turned_round("uniforms")).expect("written");
    let (report, said) = done("uniforms", &file);
    assert_eq!(report["pictures"], 4, "{report}");
    assert_eq!(report["pipelines"], 17, "{report}");
    let refused = report["refused"].as_object().expect("an object");
    let why: Vec<&str> = refused.values().filter_map(Value::as_str).collect();
    assert_eq!(why.len(), 2, "{why:?}");
    for part in ["have the push descriptors of set 0 beside others", "whose count is variable"] {
        assert!(why.iter().any(|w| w.contains(part)), "{part}: {why:?}");
        assert!(said.contains(part), "{said}");
    }
    // Each set under another number, its bindings in their order: there is nothing left that has to stay.
    fs::write(&file, sets_turned_round("uniforms")).expect("written");
    let (report, said) = done("uniforms", &file);
    assert_eq!((&report["refused"], said.as_str()), (&serde_json::json!({}), ""), "{report}");
    assert_eq!((report["pictures"].as_u64(), report["pipelines"].as_u64()), (Some(4), Some(19)), "{report}");
    // Four draws of four frames, each with another buffer than the one before.
    assert_eq!(report["pushed"], 16, "{report}");
    let calls = |which: &str, name: &str| report[which]["calls"][name].as_u64().unwrap_or(0);
    assert_eq!(calls("plain", "vkCmdPushDescriptorSetKHR"), 12, "{report}");
    assert_eq!(calls("plain", "vkCmdPushDescriptorSetWithTemplateKHR"), 4, "{report}");
    assert_eq!(calls("repartitioned", "vkCmdPushDescriptorSet"), 16, "{report}");
    assert_eq!(calls("repartitioned", "vkCmdPushDescriptorSetKHR"), 0, "{report}");
    // A program that writes its sets over, resets their pools and keeps them bound from frame to frame.
    fs::write(&file, turned_round("feedback")).expect("written");
    assert_eq!(done("feedback", &file).0["pictures"], 12);
}

/// Pipelines made of libraries: of graphics, with the words of their shaders inlined; of rays.
#[test]
fn libraries_get_the_layout_of_what_is_made_of_them() {
    if !device("repartitioned_libraries") {
        return;
    }
    let scratch = Scratch::new("repartition-libraries");
    let file = scratch.path("partition.json");
    for (scene, pictures) in [("stages", 2), ("rays", 8)] {
        fs::write(&file, turned_round(scene)).expect("written");
        let (report, said) = done(scene, &file);
        assert_eq!((&report["refused"], said.as_str()), (&serde_json::json!({}), ""), "{scene}: {report}");
        assert_eq!(report["pictures"], pictures, "{scene}: {report}");
        assert!(report["pipelines"].as_u64() > Some(1), "{scene}: {report}");
    }
}

/// What frames show with a plan, by frame.
fn pictures(scene: &str, plan: Plan) -> replay::error::Result<BTreeMap<u64, Vec<u8>>> {
    let file = sample(&format!("{scene}.gfxr"));
    let capture = Capture::open(&file, read_file).expect("it opens");
    let taken = Rc::new(RefCell::new(BTreeMap::new()));
    let into = taken.clone();
    let take = move |shot: Shot| {
        into.borrow_mut().insert(shot.frame, shot.rgba);
        Ok(())
    };
    let wish = Wish {
        what: What::Presented,
        frames: Some(vec![(1, u64::MAX)]),
        shape: None,
        watchdog_ns: 120_000_000_000,
    };
    let (screenshots, _) = ScreenshotHook::new(wish, Box::new(take));
    let (hook, _) = RepartitionHook::new(Arc::new(plan), CallClock::default());
    let hooks: Vec<Box<dyn Hook>> = vec![Box::new(screenshots), Box::new(hook)];
    replay(&capture, &Options::default(), On::Vulkan, hooks, 0, &mut ())?;
    Ok(taken.take())
}

/// The comparison of pictures can fail: shaders that look into another slot's place show something else.
#[test]
fn a_wrong_decoration_is_seen_in_the_picture() {
    if !device("mutated_partition") {
        return;
    }
    let file = sample("monolithic.gfxr");
    let capture = Capture::open(&file, read_file).expect("it opens");
    let partition = Partition::read(&turned_round("monolithic")).expect("a partition");
    let plan = scan(&capture, &partition, 4);
    assert_eq!((plan.layouts.len(), plan.refused.len()), (1, 0));
    let plain = pictures("monolithic", Plan::default()).expect("it replays");
    assert_eq!(plain.len(), 1);
    assert_eq!(pictures("monolithic", plan.clone()).expect("it replays"), plain);
    // Every two slots that are alike (what lies outside of a shorter array is no descriptor): whatever draws have in both is
    // another number, and the picture shows it.
    let layout = *plan.layouts.keys().next().expect("one");
    let bindings = plan.layouts[&layout].iter().flat_map(|s| &s.bindings);
    let slots: Vec<_> = bindings.map(|m| (m.from, (m.binding.ty, m.binding.count))).collect();
    let mut swapped = 0;
    for (n, (a, kind)) in slots.iter().enumerate() {
        for (b, _) in slots[n + 1..].iter().filter(|o| o.1 == *kind) {
            let mut wrong = plan.clone();
            let to = &mut wrong.places.get_mut(&layout).expect("its places").to;
            let (at_a, at_b) = (to[a], to[b]);
            to.extend([(*a, at_b), (*b, at_a)]);
            assert_ne!(pictures("monolithic", wrong).expect("it replays"), plain, "{a:?} and {b:?}");
            swapped += 1;
        }
    }
    assert!(swapped > 0, "{slots:?}");
}

/// A plan of `bench --ab` beside plain and a pass.
#[test]
fn a_partition_is_timed_beside_other_plans() {
    if !device("bench_repartition") {
        return;
    }
    let scratch = Scratch::new("repartition-bench");
    let capture = sample("uniforms.gfxr");
    let at = |name: &str| scratch.path(name).to_str().expect("a plain path").to_owned();
    fs::write(at("other.json"), sets_turned_round("uniforms")).expect("written");
    fs::write(at("one.json"), turned_round("uniforms")).expect("written");
    let bench = |to: &str, plans: &str, more: &[&str]| {
        let to = at(to);
        let words = [
            "bench",
            capture.to_str().expect("a plain path"),
            "--frame",
            "2",
            "--iterations",
            "3",
            "-o",
            &to,
        ];
        run(words.iter().chain(&["--warmup", "1", "--ab", plans]).chain(more))
    };
    let plans = format!("plain,repartition:{},repartition:{},prune", at("other.json"), at("one.json"));
    let out = bench("a", &plans, &["--assume-subgroups"]);
    assert!(out.status.success(), "{}{}", text(&out.stdout), text(&out.stderr));
    let report = text(&out.stdout);
    assert!(report.contains("Every iteration of every plan presents the same image"), "{report}");
    let rows = |file: &str| -> Vec<Vec<String>> {
        let all = fs::read_to_string(scratch.path("a").join(file)).expect("a table");
        all.lines().skip(1).map(|l| l.split(',').map(str::to_owned).collect()).collect()
    };
    let calls = rows("calls.csv");
    let of = |kind: &str, plan: &str| -> [u64; 2] {
        let row = calls
            .iter()
            .find(|r| r[0] == kind && r[1] == plan)
            .unwrap_or_else(|| panic!("{plan}: {calls:?}"));
        [2, 3].map(|n| row[n].parse().unwrap_or_else(|_| panic!("{row:?}")))
    };
    for plan in ["unmodified", "repartition:other", "repartition:one", "prune"] {
        for kind in ["descriptors", "recording"] {
            let [calls, nanos] = of(kind, plan);
            assert!(calls > 0 && nanos > 0, "{plan}: {calls} {nanos}");
        }
    }
    // A pass leaves calls alone; what records is recorded in all plans, but for what is for other sets.
    assert_eq!(of("descriptors", "unmodified")[0], of("descriptors", "prune")[0]);
    assert_eq!(of("recording", "unmodified")[0], of("recording", "repartition:other")[0]);
    assert_ne!(of("descriptors", "unmodified")[0], of("descriptors", "repartition:one")[0]);
    assert_eq!(rows("times.csv").len(), 4);
    let out = bench("b", &format!("plain,repartition:{}", at("none.json")), &[]);
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
    let out = bench("c", &plans, &["--maps"]);
    assert_eq!(out.status.code(), Some(2), "{}", text(&out.stderr));
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
    fails("monolithic", "{\"18\": [[0,0,0,0],[0,1,40,1]]}", 1, "it would have more than the ");
}

//! Counters of actions: the driver's (a layer that says numbers known beforehand), and those of shaders of our own.

use super::device::device;
use super::support::{Scratch, reray, root, text};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The layer, as the loader wants it: a folder with its manifest.
pub fn layer(scratch: &Scratch) -> PathBuf {
    let folder = scratch.path("layer");
    std::fs::create_dir_all(&folder).expect("a folder");
    let here = std::env::current_exe().expect("this test");
    let beside = here.parent().expect("a folder").join("libarm_layer.so");
    let above = here.parent().and_then(Path::parent).expect("a folder").join("libarm_layer.so");
    let library =
        [beside, above].into_iter().find(|p| p.is_file()).expect("cargo builds the layer with the tests");
    let manifest = arm_layer::manifest(&library.to_string_lossy());
    std::fs::write(folder.join("arm.json"), manifest).expect("a file");
    folder
}

/// Runs a program below the layer.
pub fn with_layer(c: &mut Command, folder: &Path) {
    // Whichever of the two the loader knows.
    c.env("VK_ADD_LAYER_PATH", folder).env("VK_LAYER_PATH", folder);
    c.env("VK_INSTANCE_LAYERS", arm_layer::LAYER);
}

fn capture(name: &str) -> PathBuf {
    root().join("captures/samples").join(name)
}

fn profile(name: &str, arguments: &[&str], to: &Path, layer: Option<&Path>) -> Output {
    let mut c = reray();
    c.arg("profile").arg(capture(name)).args(arguments).arg("-o").arg(to);
    if let Some(folder) = layer {
        with_layer(&mut c, folder);
    }
    c.output().expect("the program starts")
}

fn profiled(name: &str, arguments: &[&str], to: &Path, layer: Option<&Path>) {
    let out = profile(name, arguments, to, layer);
    let said = text(&out.stderr);
    assert!(out.status.success(), "{name} {arguments:?}: {said}{}", text(&out.stdout));
    assert!(!said.contains(arm_layer::COMPLAINT), "{name}: the layer complains: {said}");
}

/// A table of a trace.
fn table(trace: &Path, name: &str) -> Vec<Value> {
    let out = reray()
        .arg("analyze")
        .arg(trace)
        .args(["--table", name, "--format", "json"])
        .output()
        .expect("the program starts");
    assert!(out.status.success(), "{name}: {}", text(&out.stderr));
    text(&out.stdout).lines().map(|l| serde_json::from_str(l).expect("JSON Lines")).collect()
}

fn n(row: &Value, name: &str) -> u64 {
    row[name].as_u64().unwrap_or_else(|| panic!("{name} of {row}"))
}

#[test]
fn a_driver_s_counters_are_recorded_number_by_number() {
    if !device("a_driver_s_counters_are_recorded_number_by_number") {
        return;
    }
    let scratch = Scratch::new("counters-arm");
    let layer = layer(&scratch);
    // Dispatches, draws, traces of several groups.
    let (compute, drawing) = (vec![0x20], vec![0x1, 0x10]);
    for (name, stages) in [
        ("closed_compute.gfxr", vec![&compute]),
        ("cubes.gfxr", vec![&compute, &drawing]),
        ("closed_rays.gfxr", vec![]),
    ] {
        let trace = scratch.path(name);
        profiled(name, &["--passes", "counters", "--counters", "arm"], &trace, Some(&layer));
        let metrics = table(&trace, "metrics");
        let names: Vec<&str> = metrics.iter().filter_map(|m| m["name"].as_str()).collect();
        assert_eq!(names, arm_layer::METRICS.map(|m| m.0), "{name}");
        assert!(metrics.iter().all(|m| m["source"] == "arm"));
        let key = |r: &Value| (n(r, "frame"), n(r, "range"), n(r, "result_index"));
        let actions: BTreeMap<_, u64> =
            table(&trace, "actions").iter().map(|a| (key(a), n(a, "executions"))).collect();
        assert!(!actions.is_empty(), "{name}: no action");
        let mut seen: BTreeMap<_, BTreeSet<(u64, u64, u64, u64)>> = BTreeMap::new();
        for c in table(&trace, "counters") {
            let part = ["result_sub_index", "stages", "basic_block_index", "metric"].map(|m| n(&c, m));
            let [sub, stage, block, metric] = part.map(|v| u32::try_from(v).expect("32 bits"));
            let index = u32::try_from(n(&c, "result_index")).expect("32 bits");
            let executions = actions[&key(&c)];
            let value = n(&c, "value");
            if name == "closed_rays.gfxr" {
                // Before rays are traced the replay may dispatch on its own account: the driver counts indices for that.
                let rest = arm_layer::value(0, sub, stage, block, metric);
                assert!(
                    executions == 1 && value >= rest && (value - rest).is_multiple_of(1_000_000),
                    "{name}: {c}"
                );
            } else {
                let wanted = arm_layer::value(index, sub, stage, block, metric) * executions;
                assert_eq!(value, wanted, "{name}: {c}");
            }
            assert_eq!(n(&c, "entry"), 0);
            let new = seen.entry(key(&c)).or_default().insert((part[0], part[1], part[2], part[3]));
            assert!(new, "{name}: {c} twice");
        }
        assert_eq!(seen.len(), actions.len(), "{name}: every action has values");
        let each = arm_layer::BLOCKS as usize * arm_layer::METRICS.len();
        for (key, parts) in &seen {
            let places: BTreeSet<(u64, u64)> = parts.iter().map(|p| (p.0, p.1)).collect();
            assert_eq!(parts.len(), places.len() * each, "{name}: {key:?}");
            if !stages.is_empty() {
                let found: Vec<u64> = places.iter().map(|p| p.1).collect();
                assert!(stages.contains(&&found), "{name}: {key:?}: {found:?}");
            }
        }
        if name == "closed_rays.gfxr" {
            assert!(seen.values().any(|p| p.iter().any(|p| p.0 > 1)), "several shader groups");
        }
        let indices: BTreeSet<u64> = actions.keys().filter(|k| k.0 == 1).map(|k| k.2).collect();
        assert_eq!(indices.first(), Some(&0), "{name}: indices begin at 0");
    }
}

#[test]
fn the_driver_s_counters_are_taken_where_it_has_them_and_asked_for_where_not() {
    if !device("the_driver_s_counters_are_taken_where_it_has_them_and_asked_for_where_not") {
        return;
    }
    let scratch = Scratch::new("counters-auto");
    let layer = layer(&scratch);
    let with = scratch.path("with");
    profiled("closed_compute.gfxr", &["--passes", "counters"], &with, Some(&layer));
    assert!(table(&with, "metrics").iter().all(|m| m["source"] == "arm"));
    let without = scratch.path("without");
    profiled("closed_compute.gfxr", &["--passes", "counters"], &without, None);
    assert!(table(&without, "metrics").iter().all(|m| m["source"] == "portable"));
    // One shape, whoever counts.
    let columns = |t: &Path| -> Vec<String> {
        let rows = table(t, "counters");
        rows[0].as_object().expect("an object").keys().cloned().collect()
    };
    assert_eq!(columns(&with), columns(&without));
    let identity = |t: &Path| -> Vec<(u64, u64, u64, u64)> {
        let of = |a: &Value| (n(a, "frame"), n(a, "range"), n(a, "result_index"), n(a, "index"));
        table(t, "actions").iter().map(of).collect()
    };
    assert_eq!(identity(&with), identity(&without));
    let out = profile(
        "closed_compute.gfxr",
        &["--passes", "counters", "--counters", "arm"],
        &scratch.path("no"),
        None,
    );
    assert!(!out.status.success());
    assert!(text(&out.stderr).contains("--counters portable"), "{}", text(&out.stderr));
}

/// Instructions by class, from blocks that were counted for whole frames by another pass.
fn by_blocks(counters: &Path, blocks: &Path) -> BTreeMap<(u64, usize), u64> {
    let classes = ["fma", "cvt", "sfu", "ls", "tex", "var"];
    let mut of = BTreeMap::new();
    for c in table(counters, "classes") {
        of.insert(["entry", "function", "block"].map(|m| n(&c, m)), classes.map(|m| n(&c, m)));
    }
    let mut sums = BTreeMap::new();
    for b in table(blocks, "block_counts") {
        let Some(counts) = of.get(&["entry", "function", "block"].map(|m| n(&b, m))) else {
            panic!("{b}: its block has no classes");
        };
        for (metric, count) in counts.iter().enumerate() {
            *sums.entry((n(&b, "frame"), metric)).or_default() += n(&b, "executions") * count;
        }
    }
    sums
}

#[test]
fn actions_add_up_to_what_whole_frames_count() {
    if !device("actions_add_up_to_what_whole_frames_count") {
        return;
    }
    let scratch = Scratch::new("counters-sums");
    // (stages.gfxr has a pipeline whose push constants are full: it counts by frame)
    for name in
        ["closed_compute.gfxr", "closed_fragment.gfxr", "closed_rays.gfxr", "cubes.gfxr", "stages.gfxr"]
    {
        let (counters, blocks) = (scratch.path(&format!("{name}-c")), scratch.path(&format!("{name}-b")));
        let lanes = scratch.path(&format!("{name}-l"));
        profiled(name, &["--passes", "counters:mode=lane", "--counters", "portable"], &counters, None);
        profiled(name, &["--passes", "blocks:mode=lane+early=off", "--assume-subgroups"], &blocks, None);
        let subgroups = ["--passes", "counters", "--counters", "portable", "--assume-subgroups"];
        profiled(name, &subgroups, &lanes, None);
        let sums = |trace: &Path| {
            let mut sums: BTreeMap<(u64, usize), u64> = BTreeMap::new();
            for c in table(trace, "counters") {
                *sums.entry((n(&c, "frame"), n(&c, "metric") as usize)).or_default() += n(&c, "value");
            }
            sums.retain(|_, v| *v != 0);
            sums
        };
        let mut wanted = by_blocks(&counters, &blocks);
        wanted.retain(|_, v| *v != 0);
        assert!(!wanted.is_empty(), "{name}: nothing was counted");
        assert_eq!(sums(&counters), wanted, "{name}: each invocation counts itself");
        assert_eq!(sums(&lanes), wanted, "{name}: one counts for its subgroup");
        let actions = table(&counters, "actions");
        let by_frame = table(&counters, "counters").iter().any(|c| n(c, "range") == u64::from(u32::MAX));
        assert_eq!(by_frame, name == "stages.gfxr", "{name}");
        let counted: BTreeSet<_> = table(&counters, "counters")
            .iter()
            .map(|c| (n(c, "frame"), n(c, "range"), n(c, "result_index")))
            .collect();
        for a in &actions {
            let key = (n(a, "frame"), n(a, "range"), n(a, "result_index"));
            assert_eq!(a["uncounted"] == "", counted.contains(&key), "{name}: {a}");
        }
        let out = reray().arg("analyze").arg(&counters).arg("counters").output().expect("it starts");
        assert!(
            out.status.success() && text(&out.stdout).contains("Fused multiply accumulate"),
            "{}",
            text(&out.stderr)
        );
    }
}

#[test]
fn pushing_actions_breaks_no_rule_and_no_picture() {
    if !device("pushing_actions_breaks_no_rule_and_no_picture") {
        return;
    }
    let scratch = Scratch::new("counters-rules");
    for name in ["cubes.gfxr", "nested.gfxr", "pointers.gfxr"] {
        let trace = scratch.path(name);
        let arguments = ["--passes", "counters:mode=lane", "--counters", "portable", "--validate"];
        let out = profile(name, &arguments, &trace, None);
        let said = text(&out.stderr);
        assert!(out.status.success(), "{name}: {said}");
        assert!(!said.contains("VUID-vkCmdPushConstants") && !said.contains("07987"), "{name}: {said}");
    }
}

#[test]
fn what_a_driver_compiled_is_recorded() {
    if !device("what_a_driver_compiled_is_recorded") {
        return;
    }
    let scratch = Scratch::new("registers");
    let layer = layer(&scratch);
    let trace = scratch.path("trace");
    profiled("closed_fragment.gfxr", &["--passes", "registers"], &trace, Some(&layer));
    let rows = table(&trace, "executables");
    assert!(!rows.is_empty());
    for r in &rows {
        let stage = u32::try_from(n(r, "stages")).expect("32 bits");
        let all = arm_layer::statistics(stage);
        let (_, format, value) = all.iter().find(|s| r["name"] == s.0).expect("one of the layer's");
        assert_eq!((r["format"].as_str(), r["value"].as_f64()), (Some(*format), Some(*value)), "{r}");
        assert_eq!(n(r, "subgroup_size"), u64::from(arm_layer::SUBGROUP_SIZE));
        assert_eq!(n(r, "instrumented"), 0);
    }
    let pipelines: BTreeSet<(u64, u64)> = rows.iter().map(|r| (n(r, "pipeline"), n(r, "stages"))).collect();
    assert_eq!(rows.len(), pipelines.len() * 4, "each statistic of each stage once");
    let out = reray().arg("analyze").arg(&trace).arg("registers").output().expect("it starts");
    assert!(out.status.success() && text(&out.stdout).contains("Register Count"), "{}", text(&out.stderr));
    // Beside other passes it says that the pipelines are not the application's.
    let both = scratch.path("both");
    let passes = ["--passes", "registers,counters:mode=lane", "--counters", "portable"];
    profiled("closed_fragment.gfxr", &passes, &both, Some(&layer));
    assert!(table(&both, "executables").iter().all(|r| n(r, "instrumented") == 1));
    // A driver that says nothing is refused by name.
    let out = profile("closed_fragment.gfxr", &["--passes", "registers"], &scratch.path("no"), None);
    let said = text(&out.stderr);
    assert!(out.status.success() || said.contains("VK_KHR_pipeline_executable_properties"), "{said}");
}

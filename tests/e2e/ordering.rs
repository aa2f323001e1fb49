//! Synchronisation and the cost of calls, on captures whose answers are planted.

use super::support::{Scratch, reray, root, text};
use gfxr_parse::container::Capture;
use serde_json::Value;
use std::path::Path;

fn recorded(command: &str, name: &str, arguments: &[&str], to: &Path) {
    let capture = root().join("captures/samples").join(name);
    let out = reray().arg(command).arg(capture).args(arguments).arg("-o").arg(to).output();
    let out = out.expect("the program starts");
    assert!(out.status.success(), "{}{}", text(&out.stderr), text(&out.stdout));
}

fn answer(trace: &Path, question: &str) -> Value {
    let out = reray().arg("analyze").arg(trace).args([question, "--format", "json"]).output();
    let out = out.expect("the program starts");
    assert!(out.status.success(), "{}", text(&out.stderr));
    let all: Value = serde_json::from_str(&text(&out.stdout)).expect("JSON");
    all["reports"][0].clone()
}

fn rows(report: &Value, table: &str) -> Vec<Vec<Value>> {
    let tables = report["tables"].as_array().expect("tables");
    let found = tables.iter().find(|t| t["name"] == table).unwrap_or_else(|| panic!("no table {table}"));
    let rows = found["rows"].as_array().expect("rows");
    rows.iter().map(|r| r.as_array().expect("cells").clone()).collect()
}

/// The labels in a table's second column.
fn labels(report: &Value, table: &str) -> Vec<String> {
    let mut all: Vec<String> =
        rows(report, table).iter().map(|r| r[1].as_str().unwrap_or_default().to_owned()).collect();
    all.sort();
    all
}

/// Labels in front of barriers that nothing needs.
const NOT_NEEDED: [&str; 5] =
    ["event for nothing", "execution only", "host wrote before", "memory again", "orders nothing"];

#[test]
fn what_is_planted_is_found_and_nothing_else() {
    let scratch = Scratch::new("ordering-sync");
    let trace = scratch.path("trace");
    recorded("bindings", "ordering.gfxr", &["--sync", "--no-answers"], &trace);
    let report = answer(&trace, "sync");
    assert_eq!(labels(&report, "nothing"), NOT_NEEDED, "{report:#}");
    assert_eq!(labels(&report, "wide"), ["too many accesses", "too wide"], "{report:#}");
    assert_eq!(labels(&report, "layouts"), ["there, back"], "{report:#}");
    // `early` and `later`, in each of the two frames.
    let submits = rows(&report, "submissions");
    assert_eq!(submits.len(), 2, "{report:#}");
    assert!(submits.iter().all(|r| r[0] == 2), "{report:#}");
}

#[test]
fn only_frames_that_were_asked_for_are_reported() {
    let scratch = Scratch::new("ordering-frames");
    let [all, second] = ["all", "second"].map(|n| scratch.path(n));
    recorded("bindings", "ordering.gfxr", &["--sync", "--no-answers"], &all);
    recorded("bindings", "ordering.gfxr", &["--sync", "--no-answers", "--frames", "2"], &second);
    let (all, second) = (answer(&all, "sync"), answer(&second, "sync"));
    // What the first frame did is known: what waits for it in the second is needed as before.
    assert_eq!(labels(&second, "wide"), labels(&all, "wide"));
    assert_eq!(labels(&second, "layouts"), labels(&all, "layouts"));
    // (barriers of all memory in the last frame may serve what comes after the capture)
    assert_eq!(labels(&second, "nothing"), ["event for nothing", "orders nothing"]);
    for (table, frame) in [("nothing", 5), ("wide", 5), ("layouts", 5), ("submissions", 1)] {
        let found = rows(&second, table);
        assert!(!found.is_empty() && found.iter().all(|r| r[frame] == 2), "{table}: {found:?}");
    }
}

/// The trace's rows of a table as the command prints them: (label, block) of barriers.
fn barriers(trace: &Path) -> Vec<(String, u64)> {
    let out =
        reray().arg("analyze").arg(trace).args(["--table", "sync_barriers", "--format", "json"]).output();
    let out = out.expect("the program starts");
    assert!(out.status.success(), "{}", text(&out.stderr));
    let row = |line: &str| {
        let v: Value = serde_json::from_str(line).expect("JSON");
        (v["label"].as_str().expect("a label").to_owned(), v["block"].as_u64().expect("a block"))
    };
    let mut all: Vec<_> = text(&out.stdout).lines().map(row).collect();
    all.dedup();
    all
}

/// A copy of a capture without these blocks.
pub fn without(capture: &Path, blocks: &[u64], to: &Path) {
    let read = Capture::new(std::fs::read(capture).expect("readable")).unwrap_or_else(|e| panic!("{e}"));
    let mut file = vec![];
    read.header().write(&mut file);
    for (n, block) in (0..).zip(read.blocks()) {
        if !blocks.contains(&n) {
            file.extend_from_slice(block.raw());
        }
    }
    std::fs::write(to, file).expect("it is written");
}

/// What synchronisation validation says while a capture is replayed; `None` without the layer.
fn hazards(scratch: &Scratch, capture: &Path) -> Option<Vec<String>> {
    let (settings, log) = (scratch.path("vk_layer_settings.txt"), scratch.path("log"));
    let _ = std::fs::remove_file(&log);
    let lines = format!(
        "khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG\n\
         khronos_validation.report_flags = error,warn,info\n\
         khronos_validation.log_filename = {}\n\
         khronos_validation.enables = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT\n",
        log.display()
    );
    std::fs::write(&settings, lines).expect("it is written");
    let mut command = reray();
    command
        .arg("screenshot")
        .arg(capture)
        .args(["--hash", "--frames", "2", "-o"])
        .arg(scratch.path("pictures"));
    command.env("VK_LAYER_SETTINGS_PATH", &settings).env("VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation");
    let out = command.output().expect("the program starts");
    let said = std::fs::read_to_string(&log).unwrap_or_default();
    // (its first message says that it is there)
    if !said.contains("status-message") {
        return None;
    }
    let mut found: Vec<String> = said.lines().filter(|l| l.contains("ERROR")).map(str::to_owned).collect();
    if out.status.success() {
        found.extend(text(&out.stdout).split_whitespace().next().map(|h| format!("picture {h}")));
    }
    Some(found)
}

#[test]
fn what_is_called_unnecessary_can_go_and_what_is_needed_cannot() {
    let scratch = Scratch::new("ordering-mutation");
    let capture = root().join("captures/samples/ordering.gfxr");
    let Some(plain) = hazards(&scratch, &capture) else {
        let required = std::env::var_os("RERAY_REQUIRE_DEVICE").is_some();
        assert!(!required, "the validation layer did not report for duty");
        return;
    };
    assert!(plain.len() == 1 && plain[0].starts_with("picture"), "{plain:?}");
    let trace = scratch.path("trace");
    recorded("bindings", "ordering.gfxr", &["--sync", "--no-answers"], &trace);
    let barriers = barriers(&trace);
    let of = |label: &str| barriers.iter().filter(|b| b.0 == label).map(|b| b.1).collect::<Vec<u64>>();
    let found = labels(&answer(&trace, "sync"), "nothing");
    let unneeded: Vec<u64> = found.iter().flat_map(|l| of(l)).collect();
    assert_eq!(unneeded.len(), 2 * NOT_NEEDED.len(), "each in both frames: {unneeded:?}");
    let changed = scratch.path("changed.gfxr");
    // All of them at once.
    without(&capture, &unneeded, &changed);
    assert_eq!(hazards(&scratch, &changed).as_ref(), Some(&plain));
    // (what orders several submissions, and two dispatches that both write, is beyond what this version of the layer follows)
    for label in ["for a copy", "for the event", "needed"] {
        without(&capture, &[*of(label).last().expect("it is there")], &changed);
        let said = hazards(&scratch, &changed).expect("the layer is there");
        assert!(said.iter().any(|l| l.contains("SYNC-HAZARD")), "{label}: {said:?}");
    }
}

#[test]
fn calls_cost_something() {
    let scratch = Scratch::new("ordering-costs");
    let trace = scratch.path("trace");
    recorded("profile", "cubes.gfxr", &["--passes", "call-costs"], &trace);
    let report = answer(&trace, "call-costs");
    let commands = rows(&report, "commands");
    let of =
        |name: &str| commands.iter().find(|r| r[0] == name).unwrap_or_else(|| panic!("{name}: {report:#}"));
    let draws = of("vkCmdDrawIndexed");
    let (calls, time, clock, net) = (&draws[1], &draws[4], &draws[5], &draws[6]);
    assert!(calls.as_u64() > Some(0), "{report:#}");
    let [time, clock, net] = [time, clock, net].map(|n| n.as_f64().expect("a number"));
    assert!(time > 0.0 && clock > 0.0 && clock <= time && (time - clock - net).abs() < 0.01, "{draws:?}");
    of("vkQueueSubmit");
}

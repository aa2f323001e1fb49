//! Synchronisation and the cost of calls, on captures whose answers are planted.

use super::support::{Scratch, reray, root, text};
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

#[test]
fn what_is_planted_is_found_and_nothing_else() {
    let scratch = Scratch::new("ordering-sync");
    let trace = scratch.path("trace");
    recorded("resources", "ordering.gfxr", &["--sync", "--no-answers"], &trace);
    let report = answer(&trace, "sync");
    assert_eq!(labels(&report, "nothing"), ["orders nothing"], "{report:#}");
    assert_eq!(labels(&report, "wide"), ["too wide"], "{report:#}");
    assert_eq!(labels(&report, "layouts"), ["there, back"], "{report:#}");
    // `early` and `later`, in each of the two frames.
    let submits = rows(&report, "submissions");
    assert_eq!(submits.len(), 2, "{report:#}");
    assert!(submits.iter().all(|r| r[0] == 2), "{report:#}");
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

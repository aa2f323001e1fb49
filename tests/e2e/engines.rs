//! What docs/engines gives to existing engines, run as their users run it: a Slurm job array (on a cluster of this machine alone),
//! a Kubernetes Indexed Job (its containers' commands, and its fields against the API's), a GitHub Actions workflow (its steps).
//!
//! Each ends with the same question: is what shards left, merged, what one machine measures?

mod actions;
mod expressions;
mod kubernetes;
mod slurm;
mod workflow;
mod yaml;

use crate::support::{root, run, text};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A file of docs/engines.
fn engine(name: &str) -> String {
    let path = root().join("docs/engines").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// A suite of four units that take about a second each: suite.toml in a folder, with the captures that it names.
fn suite(folder: &Path, processes: u32, plan: &str) {
    suite_of(folder, &CAPTURES, processes, plan);
}

/// A suite of these captures.
fn suite_of(folder: &Path, captures: &[&str], processes: u32, plan: &str) {
    let mut file = format!(
        "schema_version = 1\nname = \"engines\"\n\n[defaults]\nprocesses = {processes}\niterations = 4\nwarmup = 2\ndetailed = 0\n\n{plan}"
    );
    std::fs::create_dir_all(folder.join("captures")).expect("a folder");
    for name in captures {
        let capture = format!("captures/{name}.gfxr");
        std::fs::copy(root().join("captures/samples").join(format!("{name}.gfxr")), folder.join(&capture))
            .expect("a capture");
        file += &format!("\n[[bench]]\nname = \"{name}\"\ncapture = \"{capture}\"\nframes = 2\n");
    }
    std::fs::write(folder.join("suite.toml"), file).expect("a suite file");
}

/// Its captures, a frame of each.
const CAPTURES: [&str; 4] = ["vm", "mesh", "nested", "effects"];
/// Its units: what `suite` calls these frames.
const UNITS: [&str; 4] = ["vm-f2", "mesh-f2", "nested-f2", "effects-f2"];

/// A plan that changes nothing.
const PLAIN: &str = "[[plan]]\nname = \"plain\"\n";

/// PATH with our program on it, and what else lies in a folder of the test's own, first.
fn path(folder: &Path) -> OsString {
    let own = folder.join("bin");
    std::fs::create_dir_all(&own).expect("a folder");
    let link = own.join("reray-replay");
    if !link.exists() {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_reray-replay"), link).expect("a link");
    }
    let before = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(own).chain(std::env::split_paths(&before))).expect("a PATH")
}

/// A suite's results, read: the units that are done, and of which call each is.
struct Results {
    /// Name, bench, capture, frame, plans; and of its run: plans and how many processes each had.
    units: Vec<Value>,
    /// The parts of units: which calls of `suite run` measured them.
    parts: Vec<u64>,
}

/// Reads a folder, or a file that `suite merge` wrote (which is unpacked beside it).
fn results(place: &Path) -> Results {
    let mut folder = place.to_owned();
    if place.is_file() {
        folder = place.with_extension("unpacked");
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder).expect("a folder");
        said(Command::new("tar").arg("-xzf").arg(place).arg("-C").arg(&folder), Some(0));
    }
    let read = |path: PathBuf| -> Value {
        let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        serde_json::from_slice(&bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    };
    let suite = read(folder.join("suite.json"));
    let mut out = Results { units: vec![], parts: vec![] };
    for u in suite["units"].as_array().expect("units") {
        if u["state"] != "done" {
            continue;
        }
        let run = read(folder.join("units").join(u["name"].as_str().expect("a name")).join("run.json"));
        let workers = run["workers"].as_array().expect("workers");
        let of: Vec<_> = workers.iter().map(|w| json!([w["capture"], w["plan"], w["process"]])).collect();
        out.units.push(json!([
            u["name"],
            u["bench"],
            u["capture"],
            u["frame"],
            u["plans"],
            run["captures"],
            run["plans"],
            run["frame"],
            sorted(of)
        ]));
        out.parts.push(u["part"].as_u64().expect("a part"));
    }
    out
}

fn sorted(mut all: Vec<Value>) -> Vec<Value> {
    all.sort_by_key(Value::to_string);
    all
}

/// What one machine measures, unsharded: a folder.
fn unsharded(folder: &Path) -> PathBuf {
    let to = folder.join("unsharded");
    let suite = folder.join("suite.toml");
    let words = [Path::new("suite"), Path::new("run"), &suite, Path::new("-o"), &to];
    let out = run(words);
    assert!(out.status.success(), "{}{}", text(&out.stdout), text(&out.stderr));
    to
}

/// Whether what was merged is what one machine measures: every unit once, the same captures, plans and processes.
fn same_units(merged: &Path, unsharded: &Path) -> Results {
    let (merged, whole) = (results(merged), results(unsharded));
    let names: Vec<&Value> = merged.units.iter().map(|u| &u[0]).collect();
    assert_eq!(names, UNITS, "every unit once, in the suite's order");
    assert_eq!(merged.units, whole.units);
    merged
}

/// Runs a command that has to end with this code, or with any; stdout and stderr together.
fn said(command: &mut Command, code: Option<i32>) -> String {
    let (out, all) = ended(command);
    assert!(code.is_none_or(|c| out.status.code() == Some(c)), "{command:?}: {}\n{all}", out.status);
    all
}

fn ended(command: &mut Command) -> (Output, String) {
    let out = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let all = text(&out.stdout) + &text(&out.stderr);
    (out, all)
}

//! `profile`: traces of the sample captures, their laws, and what it refuses.
//!
//! That measured frames show what they show without probes, every run here checks (`--verify-image` is on).

use crate::device::device;
use crate::rays::sample;
use crate::support::{Scratch, reray, text};
use std::path::Path;
use std::process::{Command, Output};
use trace::dir::Dir;
use trace::tables::{ENTRIES, FRAMES, SIMT};
use trace::{ColumnData, Source, Table};

/// Runs `profile` on a sample; variants are kept in the scratch folder.
fn profile(scratch: &Scratch, capture: &str, arguments: &[&str], into: &str) -> Output {
    profile_by(reray(), scratch, capture, arguments, into)
}

fn profile_by(
    mut program: Command,
    scratch: &Scratch,
    capture: &str,
    arguments: &[&str],
    into: &str,
) -> Output {
    program
        .arg("profile")
        .arg(sample(capture))
        .args(arguments)
        .arg("-o")
        .arg(scratch.path(into))
        .env("XDG_CACHE_HOME", scratch.path("cache"))
        .output()
        .expect("the program starts")
}

fn done(out: &Output) {
    assert!(out.status.success(), "{}\n{}", text(&out.stdout), text(&out.stderr));
}

/// A table's rows as text, sorted: the order in which records are appended is not the same twice.
fn rows(folder: &Path, table: &'static Table) -> Vec<String> {
    let all = Dir::open(folder).expect("a trace").read(table).expect("a table");
    let row = |i: usize| -> String {
        let cell = |c: &ColumnData| match c {
            ColumnData::U64(v) => v[i].to_string(),
            ColumnData::F64(v) => v[i].to_string(),
            ColumnData::Text(v) => v[i].to_string(),
        };
        all.columns().iter().map(cell).collect::<Vec<_>>().join(" ")
    };
    let mut rows: Vec<String> = (0..all.len()).map(row).collect();
    rows.sort();
    rows
}

#[test]
fn every_invocation_that_is_launched_enters() {
    if !device("every_invocation_that_is_launched") {
        return;
    }
    let scratch = Scratch::new("profile-rays");
    let arguments = ["--passes", "simt", "--assume-subgroups", "--frames", "2-3"];
    done(&profile(&scratch, "rays.gfxr", &arguments, "trace"));
    let folder = scratch.path("trace");
    let dir = Dir::open(&folder).expect("a trace");
    assert!(dir.warnings().is_empty(), "{:?}", dir.warnings());
    let entries = dir.read(&ENTRIES).expect("a table");
    let of_stage = |stage: &str| {
        let at = entries.text("stage").iter().position(|s| &**s == stage);
        entries.u64("entry")[at.unwrap_or_else(|| panic!("no {stage} shader was instrumented"))]
    };
    let frames = dir.read(&FRAMES).expect("a table");
    assert_eq!(frames.u64("frame"), [2, 3]);
    let pixels = frames.u64("width")[0] * frames.u64("height")[0];
    let simt = dir.read(&SIMT).expect("a table");
    let entered = |entry: u64, frame: u64| -> u64 {
        let column = |name| simt.u64(name);
        (0..simt.len())
            .filter(|&i| column("frame")[i] == frame && column("entry")[i] == entry)
            .filter(|&i| column("function")[i] == 0 && column("block")[i] == 0)
            .map(|i| column("active")[i] * column("executions")[i])
            .sum()
    };
    // The scene launches a ray for each pixel, and dispatches 32 invocations.
    for frame in [2, 3] {
        assert_eq!(entered(of_stage("ray-generation"), frame), pixels, "frame {frame}");
        assert_eq!(entered(of_stage("compute"), frame), 32, "frame {frame}");
    }
    for hash in entries.text("shader") {
        assert!(folder.join(format!("shaders/{hash}.spv")).is_file(), "{hash}");
    }
}

#[test]
fn stages_without_subgroup_operations_are_refused_before_anything_runs() {
    if !device("stages_without_subgroup_operations") {
        return;
    }
    let scratch = Scratch::new("profile-refused");
    let out = profile(&scratch, "rays.gfxr", &["--passes", "simt"], "trace");
    if out.status.success() {
        return; // this device has them in every stage
    }
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(77), "{said}");
    assert!(said.contains("subgroup operations in ray-generation shaders (for simt)"), "{said}");
    assert!(said.contains("--assume-subgroups") && said.contains("--stages compute"), "{said}");
    assert!(!scratch.path("trace").exists(), "nothing was measured");
    // Folders are as they were: what was not there is gone, what was there is empty.
    let out = profile(&scratch, "rays.gfxr", &["--passes", "simt"], "new/er/trace");
    assert!(!out.status.success() && !scratch.path("new").exists(), "{}", text(&out.stderr));
    std::fs::create_dir(scratch.path("empty")).expect("a folder");
    let out = profile(&scratch, "rays.gfxr", &["--passes", "simt"], "empty");
    assert!(!out.status.success(), "{}", text(&out.stderr));
    assert_eq!(scratch.path("empty").read_dir().expect("it is there").count(), 0);
    let chosen = ["--passes", "simt", "--stages", "compute", "--frames", "2"];
    done(&profile(&scratch, "rays.gfxr", &chosen, "trace"));
    let out = profile(&scratch, "rays.gfxr", &chosen, "trace");
    assert_eq!(out.status.code(), Some(2), "the folder is not empty: {}", text(&out.stderr));
    let out = profile(&scratch, "rays.gfxr", &["--passes", "nothing"], "other");
    assert_eq!(out.status.code(), Some(2), "{}", text(&out.stderr));
}

#[test]
fn a_trace_says_where_it_was_made_and_what_that_cost() {
    if !device("a_trace_says_where_it_was_made") {
        return;
    }
    let scratch = Scratch::new("profile-cost");
    let run = |into: &str, more: &[&str]| {
        let arguments =
            [&["--passes", "simt,uniformity", "--assume-subgroups", "--frames", "2-3", "--no-cache"], more];
        // As the user would start it.
        let mut program = reray();
        program.env_remove("MESA_SHADER_CACHE_DISABLE");
        let out = profile_by(program, &scratch, "cubes.gfxr", &arguments.concat(), into);
        done(&out);
        (Dir::open(&scratch.path(into)).expect("a trace").manifest().clone(), text(&out.stdout))
    };
    let (m, said) = run("both", &[]);
    assert!(!m.device.driver.is_empty() && !m.device.name.is_empty(), "{:?}", m.device);
    let frame = m.cost.expect("both replays ran");
    assert!(frame.without.0 > 0 && frame.with.0 > 0, "{frame:?}");
    assert!(
        frame.of.starts_with("GPU time of frame 3, run again with everything compiled, median of "),
        "{frame:?}"
    );
    let others: Vec<&str> = m.other_costs.iter().map(|c| c.of.as_str()).collect();
    assert_eq!(
        others,
        [
            "compiling at first use and the like: how much longer frame 3 took when it first ran (drivers' caches on disk: off)",
            "GPU time of 2 measured frames as they first ran, compiling at first use with it (drivers' caches on disk: off)",
            "making pipelines and shader objects, in 3 calls of the driver (drivers' caches on disk: off)",
            "the longest of these calls",
            "rewriting 5 entry points, summed over threads"
        ]
    );
    assert!(m.other_costs[1..].iter().all(|c| c.with.0 > 0) && m.other_costs[2].without.0 > 0);
    // The two first runs hold the one of frame 3, which is not shorter than what it is when all is compiled.
    assert!(m.other_costs[1].with.0 >= m.other_costs[0].with.0, "{:?}", m.other_costs);
    assert!(
        said.contains("run again with everything compiled") && said.contains("ms without probes"),
        "{said}"
    );
    assert!(said.contains("Check uniformity: passed"), "{said}");
    // Where the plain replay is not made, nothing is known of it.
    let (m, _) = run("alone", &["--no-verify-image"]);
    assert!(m.cost.is_none() && m.other_costs.len() == 1, "{:?}", m.other_costs);
    // A variable that the user has set stays, and is said; a frame that cannot run again says why, and what its time may hold.
    let cost = |into: &str, more: &[&str], variable: &str| {
        let out = reray()
            .arg("profile")
            .arg(sample("cubes.gfxr"))
            .args(["--passes", "simt", "--assume-subgroups", "--frames"])
            .args(more)
            .arg("-o")
            .arg(scratch.path(into))
            .env("MESA_SHADER_CACHE_DISABLE", variable)
            .env("XDG_CACHE_HOME", scratch.path("cache"))
            .output()
            .expect("the program starts");
        done(&out);
        text(&out.stdout)
    };
    let said = cost("user", &["2"], "false");
    assert!(said.contains("as the user has them, MESA_SHADER_CACHE_DISABLE=false"), "{said}");
    let said = cost("whole", &["1", "--frame-by", "file"], "true");
    assert!(said.contains("which may hold compiling (the whole file is one frame"), "{said}");
    assert!(said.contains("drivers' caches on disk: off") && !said.contains("run again"), "{said}");
}

/// What runs again to be timed counts once: a frame's counters are the same as where no frame runs again, as there is no replay to
/// hold it against.
#[test]
fn a_frame_that_runs_again_counts_once() {
    if !device("a_frame_that_runs_again_counts_once") {
        return;
    }
    let scratch = Scratch::new("profile-again");
    let stages = "vertex,fragment,compute";
    for (capture, passes, table) in [
        ("cubes.gfxr", "simt", &SIMT),
        ("closed_compute.gfxr", "divergence", &trace::tables::DIVERGENCE),
        ("closed_compute.gfxr", "counters", &trace::tables::COUNTERS),
    ] {
        let of = |name: &str, more: &[&str]| {
            let arguments = ["--passes", passes, "--assume-subgroups", "--frames", "1-2", "--stages", stages];
            let into = format!("{name}-{passes}");
            let out = profile(&scratch, capture, &[&arguments[..], more].concat(), &into);
            done(&out);
            (rows(&scratch.path(&into), table), text(&out.stdout))
        };
        let (again, said) = of("again", &[]);
        assert!(said.contains("run again with everything compiled"), "{capture}: {said}");
        let (once, said) = of("once", &["--no-verify-image"]);
        assert!(!said.contains("run again"), "{capture}: {said}");
        assert!(!again.is_empty(), "{capture}");
        assert_eq!(again, once, "{capture}, {passes}");
    }
}

#[test]
fn shaders_are_rewritten_once_across_runs() {
    if !device("shaders_are_rewritten_once") {
        return;
    }
    let scratch = Scratch::new("profile-cache");
    let arguments = ["--passes", "simt", "--assume-subgroups", "--frames", "2"];
    let kept = || {
        let folder = scratch.path("cache").join("reray-replay/variants");
        let mut all: Vec<_> = folder.read_dir().map_or(vec![], |d| {
            d.flatten()
                .map(|e| (e.path(), e.metadata().and_then(|m| m.modified()).expect("a time")))
                .collect()
        });
        all.sort();
        all
    };
    done(&profile(&scratch, "cubes.gfxr", &[&arguments[..], &["--no-cache"]].concat(), "none"));
    assert!(kept().is_empty());
    done(&profile(&scratch, "cubes.gfxr", &arguments, "first"));
    let first = kept();
    assert_eq!(first.len(), rows(&scratch.path("first"), &ENTRIES).len(), "one for each: {first:?}");
    done(&profile(&scratch, "cubes.gfxr", &arguments, "second"));
    assert_eq!(kept(), first, "nothing was written again");
    for table in [&SIMT, &ENTRIES] {
        let of = |name: &str| rows(&scratch.path(name), table);
        assert!(!of("first").is_empty());
        assert_eq!(of("first"), of("second"), "{}", table.name);
        assert_eq!(of("first"), of("none"), "{}", table.name);
    }
}

#[test]
fn frames_that_the_log_does_not_hold_run_again() {
    if !device("frames_that_the_log_does_not_hold") {
        return;
    }
    let scratch = Scratch::new("profile-windows");
    let stages = ["--stages", "compute,ray-generation", "--frames", "2-3", "--assume-subgroups"];
    let run = |into: &str, log: &[&str]| {
        let out =
            profile(&scratch, "rays.gfxr", &[&["--passes", "divergence"], &stages[..], log].concat(), into);
        done(&out);
        (rows(&scratch.path(into), &trace::tables::DIVERGENCE), text(&out.stdout))
    };
    let (ample, said) = run("ample", &[]);
    assert!(!ample.is_empty() && !said.contains("ran again"), "{said}");
    let (again, said) = run("again", &["--log-bytes", "4096"]);
    assert!(said.contains("2 frames did not fit and ran again, in 1 replay;"), "{said}");
    assert_eq!(again, ample);
    // 6 MB in 4 MB: no frame fits whole.
    let (windows, said) = run("windows", &["--log-bytes", "4096", "--max-log-bytes", "4000000"]);
    assert!(said.contains("2 frames did not fit and ran again"), "{said}");
    assert_eq!(windows, ample);
    // Counters that depend on the log: those of compute shaders, where it is read who has left.
    let alone =
        ["--passes", "divergence:leaving=read", "--stages", "compute", "--frames", "1", "--assume-subgroups"];
    let compute = |into: &str, log: &[&str]| {
        let out = profile(&scratch, "closed_compute.gfxr", &[&alone[..], log].concat(), into);
        done(&out);
        (rows(&scratch.path(into), &trace::tables::DIVERGENCE), text(&out.stdout))
    };
    let (ample, said) = compute("counted", &[]);
    assert!(!ample.is_empty() && !said.contains("ran again"), "{said}");
    let (again, said) = compute("counted-again", &["--log-bytes", "1024"]);
    assert!(said.contains("ran again, in 1 replay;"), "{said}");
    assert_eq!(again, ample);
    let (windows, said) = compute("counted-windows", &["--log-bytes", "1024", "--max-log-bytes", "3000"]);
    assert!(said.contains("ran again") && !said.contains("in 1 replay;"), "{said}");
    assert_eq!(windows, ample);
    let few = ["--passes", "divergence", "--log-bytes", "4096", "--max-log-bytes", "4096"];
    let out = profile(&scratch, "rays.gfxr", &[&few[..], &stages].concat(), "few");
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
    assert!(text(&out.stderr).contains("alone appends"), "{}", text(&out.stderr));
}

//! `bench --processes` and `compare`: a run is whole, an A/A is no regression, a slowdown is found and named, and what cannot be
//! compared is refused.
//!
//! llvmpipe's times are the machine's that does other things as well; so the slowdown that is planted here is a large one. What is
//! found of 3 % is tested on data that are made up (analyses/src/verdict), and on a GPU by scripts/verdict.

use crate::device::device;
use crate::rays::sample;
use crate::support::{Scratch, run, text};
use crate::unread::made_up;
use serde_json::Value;
use std::path::Path;
use trace::run::Run;

fn bench(to: &Path, capture: &str, more: &[&str]) -> std::process::Output {
    let capture = sample(capture);
    let fixed = ["bench", capture.to_str().expect("a plain path"), "-o", to.to_str().expect("a plain path")];
    run(fixed.iter().chain(more))
}

fn compare(args: &[&str]) -> (Option<i32>, String, String) {
    let out = run(["compare"].iter().chain(args));
    (out.status.code(), text(&out.stdout), text(&out.stderr))
}

#[test]
fn a_planted_slowdown_is_found_and_named_and_the_same_again_is_not() {
    if !device("verdict") {
        return;
    }
    let scratch = Scratch::new("verdict");
    // On a machine that does much else the times of six processes may not be enough: what is inconclusive is measured with more
    // of them, as one would. Anything else is what it is.
    let run = |processes: u32| {
        let to = scratch.path(&format!("run-{processes}"));
        let number = processes.to_string();
        let more =
            ["--frame", "2", "--iterations", "6", "--warmup", "9", "--detailed", "7", "--processes", &number];
        let slow = "slow passes=burn:turns=30000+stage=fragment env=FOO=1";
        let plans = ["--plan", "plain", "--plan", "again", "--plan", slow];
        let out = bench(&to, "vm.gfxr", &[&more[..], &plans].concat());
        assert!(out.status.success(), "{}{}", text(&out.stdout), text(&out.stderr));
        assert!(text(&out.stdout).contains("All processes ran"), "{}", text(&out.stdout));
        to
    };
    let junit = scratch.path("verdict.xml");
    let write = format!("junit={}", junit.display());
    let judged = |to: &Path| {
        let folder = to.to_str().expect("a plain path");
        let common = ["--against", "plain", "--min-effect", "25%", "--format", "json", "--write", &write];
        compare(&[&[folder, folder], &common[..]].concat())
    };
    let mut to = run(6);
    let (mut code, mut out, mut err) = judged(&to);
    let mut processes = 6;
    while code == Some(4) && processes < 24 {
        processes *= 2;
        to = run(processes);
        (code, out, err) = judged(&to);
    }
    assert_eq!(code, Some(3), "{out}{err}");

    let whole = Run::open(&to).expect("a run");
    let n = &whole.note;
    let number = 3 * processes as usize;
    assert_eq!((n.workers.len(), n.frame, n.stopped.as_str()), (number, Some(2), "done"));
    assert_eq!(n.plans[2].env.get("FOO").map(String::as_str), Some("1"));
    assert!(n.machine["before"]["cpus"].as_u64().is_some_and(|n| n > 0), "{}", n.machine);
    for (at, w) in n.workers.iter().enumerate() {
        assert_eq!(w.of_device("pipeline_cache_uuid").len(), 32, "{w:?}");
        assert_eq!(w.hashes, n.workers[0].hashes, "burning changes no picture");
        let of: Vec<_> = whole.frames.iter().filter(|f| f.worker == at).collect();
        assert_eq!(of.iter().filter(|f| f.timed).count(), 6, "{w:?}");
        assert_eq!(of.iter().filter(|f| !f.timed).count() as u32, w.warmup, "{w:?}");
        // (warm-up ends for all plans of a number in one round)
        let together = n.workers.iter().filter(|o| o.process == w.process);
        assert!(together.map(|o| o.warmup).all(|of| of == w.warmup), "{:?}", n.workers);
        assert!(of.iter().all(|f| f.frame == 2 && f.gpu.is_some_and(|n| n.0 > 0)), "{w:?}");
        let turns: std::collections::BTreeSet<u64> =
            whole.spans.iter().filter(|s| s.worker == at).map(|s| s.turn).collect();
        assert_eq!(turns.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6], "{w:?}");
    }
    // Turns of all plans alternate: of one number of processes, none is done before another has begun.
    let positions = |plan: usize| {
        let of = |w: usize| n.workers[w].process == 0 && n.workers[w].plan == plan;
        let all: Vec<u64> = whole.frames.iter().filter(|f| of(f.worker)).map(|f| f.position).collect();
        (all[0], all[all.len() - 1])
    };
    let spans: Vec<(u64, u64)> = (0..3).map(positions).collect();
    assert!(spans.iter().all(|a| spans.iter().all(|b| a.0 < b.1)), "{spans:?}");

    let folder = to.to_str().expect("a plain path");
    let all: Value = serde_json::from_str(&out).expect("JSON");
    let found = |level: &str| -> Vec<(String, String)> {
        let rows = all["rows"].as_array().expect("rows");
        let of = |r: &&Value| r["level"] == level && r["verdict"] == "regression";
        let name = |r: &Value| r["place"]["name"].as_str().unwrap_or_default().to_owned();
        rows.iter().filter(of).map(|r| (r["plan"].as_str().unwrap_or_default().to_owned(), name(r))).collect()
    };
    assert_eq!(found("capture"), [("slow against plain".to_owned(), String::new())], "{out}");
    let commands = found("command");
    assert!(
        !commands.is_empty() && commands.iter().all(|(p, c)| p.starts_with("slow ") && c.contains("Draw")),
        "{out}"
    );
    assert!(found("pass").iter().all(|(p, _)| p.starts_with("slow ")) && !found("pass").is_empty(), "{out}");
    let xml = std::fs::read_to_string(junit).expect("it was written");
    assert!(xml.contains("<failure type=\"regression\"") && xml.ends_with("</testsuites>\n"), "{xml}");

    // What cannot be asked.
    let (code, _, err) = compare(&[folder, folder]);
    assert!(code == Some(1) && err.contains("--against"), "{code:?} {err}");
    assert_eq!(compare(&[folder, folder, "--metric", "best"]).0, Some(2));
    let (code, out, _) = compare(&[folder, folder, "--against", "plain", "--metric", "p99"]);
    assert!(
        code == Some(4) && out.contains("p99 needs 100 frames of each process, and there are 6"),
        "{out}"
    );
}

#[test]
fn whole_captures_are_replayed_and_other_captures_are_refused() {
    if !device("verdict-whole") {
        return;
    }
    let scratch = Scratch::new("verdict-whole");
    let to = scratch.path("run");
    let other = sample("closed_compute.gfxr");
    let more = [
        other.to_str().expect("a plain path"),
        "--processes",
        "2",
        "--iterations",
        "3",
        "--warmup",
        "1",
        "--detailed",
        "1",
    ];
    let out = bench(&to, "vm.gfxr", &more);
    assert!(out.status.success(), "{}{}", text(&out.stdout), text(&out.stderr));
    // So few cannot decide, which is said beforehand.
    assert!(
        text(&out.stderr).contains("2 processes of each plan: `compare` decides nothing"),
        "{}",
        text(&out.stderr)
    );
    let whole = Run::open(&to).expect("a run");
    assert_eq!((whole.note.captures.len(), whole.note.workers.len(), whole.note.frame), (2, 4, None));
    assert!(whole.frames.iter().any(|f| f.load) && whole.frames.iter().any(|f| !f.load && f.timed));
    assert!(whole.places.iter().any(|p| p.capture == 0) && whole.places.iter().any(|p| p.capture == 1));
    let again = scratch.path("again");
    std::fs::create_dir(&again).expect("a folder");
    for file in to.read_dir().expect("a folder").flatten() {
        std::fs::copy(file.path(), again.join(file.file_name())).expect("a file");
    }
    let note = std::fs::read_to_string(again.join("run.json")).expect("it is there");
    std::fs::write(again.join("run.json"), note.replace("\"seed\": 0", "\"seed\": 1"))
        .expect("it can be written");
    let of = |p: &Path| p.to_str().expect("a plain path").to_owned();
    let (code, out, err) = compare(&[&of(&to), &of(&again)]);
    // (the same times on both sides, of too few processes)
    assert!(code == Some(4) && out.contains("2 processes of a side do not decide"), "{code:?} {out}{err}");
    assert!(out.contains("closed_compute.gfxr") && out.contains("vm.gfxr"), "{out}");
    std::fs::write(again.join("run.json"), note.replacen("\"blake3\": \"", "\"blake3\": \"0", 1))
        .expect("written");
    let (code, _, err) = compare(&[&of(&to), &of(&again)]);
    assert!(code == Some(1) && err.contains("other captures"), "{code:?} {err}");
    // A run is a trace as well.
    let out = run(["analyze", &of(&to), "--table", "bench_frames"]);
    assert!(out.status.success() && text(&out.stdout).lines().count() > 10, "{}", text(&out.stderr));
}

/// Commands that were timed in too few processes are not said to be the same.
#[test]
fn what_is_inconclusive_is_counted() {
    let scratch = Scratch::new("verdict-inconclusive");
    let base = made_up(&scratch, "base", 10, 10_000_000);
    let new = made_up(&scratch, "new", 10, 35_500_000);
    let (code, out, err) = compare(&[base.to_str().expect("plain"), new.to_str().expect("plain")]);
    assert_eq!(code, Some(3), "{out}{err}");
    assert!(out.contains("+255.00 %"), "{out}");
    let says = "0 of 3 commands changed; 3 are inconclusive, as 3 processes of a side do not decide; 4 may.";
    assert!(out.contains(says), "{out}");
}

#[test]
fn what_makes_no_run_leaves_nothing() {
    let scratch = Scratch::new("verdict-refused");
    for more in [
        &["--plan", "x colour=red"][..],
        &["--plan", "x", "--plan", "x"],
        &["--processes", "0"],
        &["--processes", "2", "--budget", "soon"],
        &["--plan", "x method=random"],
        &[],
    ] {
        let out = bench(&scratch.path("run"), "vm.gfxr", more);
        assert_eq!(out.status.code(), Some(2), "{more:?}: {}", text(&out.stderr));
    }
    if device("verdict-refused") {
        let out = bench(&scratch.path("run"), "vm.gfxr", &["--processes", "1", "--plan", "x passes=nothing"]);
        assert!(!out.status.success() && text(&out.stderr).contains("plan x"), "{}", text(&out.stderr));
    }
    assert_eq!(scratch.path("").read_dir().expect("it is there").count(), 0);
    let nothing = scratch.path("");
    let (code, _, err) = compare(&[nothing.to_str().expect("plain"), nothing.to_str().expect("plain")]);
    assert!(code == Some(1) && err.contains("run.json"), "{code:?} {err}");
}

#[test]
fn a_device_is_kept_busy_before_each_turn_and_shows_the_same() {
    if !device("verdict busy") {
        return;
    }
    let scratch = Scratch::new("verdict-busy");
    let few = ["--frame", "2", "--processes", "1", "--iterations", "3", "--warmup", "2", "--detailed", "0"];
    let made = |name: &str, more: &[&str]| {
        let to = scratch.path(name);
        let out = bench(&to, "vm.gfxr", &[&few[..], more].concat());
        assert!(out.status.success(), "{}{}", text(&out.stdout), text(&out.stderr));
        Run::open(&to).expect("a run")
    };
    // (unasked, software is left alone)
    let (idle, busy) = (made("idle", &[]), made("busy", &["--busy", "400"]));
    assert_eq!((idle.note.busy_ms, busy.note.busy_ms), (0, 400));
    assert_eq!(busy.note.workers[0].hashes, idle.note.workers[0].hashes);
    // Its turns, warm-up among them, take that long more; the frame itself does not.
    let turns = busy.frames.len() as u64;
    assert!(turns >= 4 && busy.note.wall.0 >= turns * 400_000_000, "{turns} turns in {:?}", busy.note.wall);
    assert!(busy.frames.iter().all(|f| f.gpu.is_some_and(|n| n.0 < 400_000_000)), "{:?}", busy.frames);
    // Captures that are replayed whole have no turns of a frame.
    let out = bench(&scratch.path("whole"), "vm.gfxr", &["--processes", "1", "--busy", "5"]);
    assert_eq!(out.status.code(), Some(2), "{}", text(&out.stderr));
    assert!(text(&out.stderr).contains("--frame"), "{}", text(&out.stderr));
}

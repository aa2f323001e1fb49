//! Passes that change shaders for what a trace says of them: on the machine for byte code, of whose 71 instructions one is used.

use crate::device::device;
use crate::support::{Scratch, root, run, text};
use std::path::Path;

fn sample() -> String {
    of("vm")
}

fn of(name: &str) -> String {
    root().join(format!("captures/samples/{name}.gfxr")).to_str().expect("a plain path").to_owned()
}

fn profile(frames: &str, passes: &str, to: &Path) -> std::process::Output {
    profile_of("vm", frames, passes, to)
}

fn profile_of(name: &str, frames: &str, passes: &str, to: &Path) -> std::process::Output {
    let to = to.to_str().expect("a plain path");
    run(["profile", &of(name), "--frames", frames, "--passes", passes, "--assume-subgroups", "-o", to])
}

/// What is never run goes, and the picture stays.
#[test]
fn what_was_never_executed_goes() {
    if !device("learnt") {
        return;
    }
    let scratch = Scratch::new("learnt-prune");
    let (known, to, dump) = (scratch.path("known"), scratch.path("to"), scratch.path("dump"));
    let out = profile("1-2", "blocks", &known);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let pass = format!("prune:{}", known.display());
    let out = run([
        "profile".as_ref(),
        sample().as_ref(),
        "--frames".as_ref(),
        "1-2".as_ref(),
        "--passes".as_ref(),
        pass.as_ref(),
        "--dump-shaders".as_ref(),
        dump.as_os_str(),
        "-o".as_ref(),
        to.as_os_str(),
    ]);
    assert!(out.status.success(), "{}{}", text(&out.stdout), text(&out.stderr));
    let manifest = std::fs::read_to_string(to.join("manifest.json")).expect("it is a trace");
    // Of 71 cases one is run; the default of the switch is not either.
    let said = manifest.split("prune: ").nth(1).unwrap_or_else(|| panic!("{manifest}"));
    let gone: u32 = said
        .split(": ")
        .nth(1)
        .and_then(|s| s.split(' ').next())
        .and_then(|n| n.parse().ok())
        .unwrap_or_else(|| panic!("{said}"));
    assert!(gone >= 70, "{said}");
    // A trace that is no trace of blocks is refused before anything runs.
    let values = scratch.path("values");
    assert!(profile("1", "values", &values).status.success());
    let out = profile("1", &format!("prune:{}", values.display()), &scratch.path("none"));
    assert_eq!(out.status.code(), Some(2), "{}", text(&out.stderr));
    assert!(text(&out.stderr).contains("no counts of blocks"), "{}", text(&out.stderr));
}

/// A weight that is zero in eleven pixels of twelve: the effect that it weighs is left out where it is, and the picture stays.
#[test]
fn what_is_mostly_weighed_by_zero_is_left_out() {
    if !device("learnt") {
        return;
    }
    let scratch = Scratch::new("learnt-zero");
    let (known, to) = (scratch.path("known"), scratch.path("to"));
    let out = profile_of("effects", "1-2", "values", &known);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let out = profile_of("effects", "1-2", &format!("zero-path:{}", known.display()), &to);
    assert!(out.status.success(), "{}{}", text(&out.stdout), text(&out.stderr));
    let manifest = std::fs::read_to_string(to.join("manifest.json")).expect("it is a trace");
    let said = manifest.split("zero-path: ").nth(1).unwrap_or_else(|| panic!("{manifest}"));
    assert!(said.contains("main: 1 of 1 loads that are mostly zero"), "{said}");
    // Not so mostly, and not at that price.
    for (n, option) in ["share=92", "least=1000"].iter().enumerate() {
        let to = scratch.path(&format!("none-{n}"));
        let out = profile_of("effects", "1", &format!("zero-path:{}+{option}", known.display()), &to);
        assert!(out.status.success(), "{}", text(&out.stderr));
        let manifest = std::fs::read_to_string(to.join("manifest.json")).expect("it is a trace");
        assert!(!manifest.contains("zero-path: shader"), "{option}: {manifest}");
    }
}

/// The study of plans side by side.
#[test]
fn plans_are_timed_side_by_side() {
    if !device("learnt") {
        return;
    }
    let scratch = Scratch::new("learnt-bench");
    let bench = |name: &str, ab: &str| {
        let to = scratch.path(name);
        let own = to.to_str().expect("a plain path").to_owned();
        let all =
            ["bench", &sample(), "--frame", "2", "--assume-subgroups", "--iterations", "2", "--warmup", "1"];
        let out = run(all.into_iter().chain(["--ab", ab, "-o", &own]));
        (to, out)
    };
    let (to, out) = bench("a", "plain,prune,zero-path,specialize,specialize+prune");
    assert!(out.status.success(), "{}{}", text(&out.stdout), text(&out.stderr));
    let read = |name: &str| std::fs::read_to_string(to.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let order = read("order.csv");
    for plan in ["unmodified", "prune", "zero-path", "specialize", "specialize+prune"] {
        let turns = order.lines().filter(|l| l.split(',').nth(2) == Some(plan)).count();
        assert_eq!(turns, 3, "{plan}: {order}");
        assert!(read("times.csv").lines().any(|l| l.starts_with(&format!("{plan},2,"))), "{plan}");
    }
    let report = read("report.txt");
    assert!(report.contains("Every iteration of every plan presents the same image"), "{report}");
    assert!(report.contains("prune: shader") && report.contains("specialize: shader"), "{report}");
    assert!(
        to.join("known/blocks/manifest.json").exists() && to.join("checked/prune/manifest.json").exists()
    );
    assert!(!to.join("rays").exists());
    for wrong in ["plain", "plain,simt", "prune,prune"] {
        assert_eq!(bench("b", wrong).1.status.code(), Some(2), "{wrong}");
    }
}

/// A plan that knows other frames than the one that is timed shows another picture: the others are timed.
#[test]
fn a_plan_that_differs_is_refused_and_the_others_are_timed() {
    if !device("learnt") {
        return;
    }
    let scratch = Scratch::new("learnt-refused");
    let (known, to) = (scratch.path("known"), scratch.path("to"));
    let cubes = of("cubes");
    let known = known.to_str().expect("a plain path");
    let out = run(["bindings", "--no-answers", "--frames", "1-1", "-o", known, &cubes]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let own = to.to_str().expect("a plain path").to_owned();
    let all = ["bench", &cubes, "--frame", "2", "--assume-subgroups", "--iterations", "2", "--warmup", "1"];
    let ab = "plain,specialize,prune:helpers=ignore:precise=yes";
    let out = run(all.into_iter().chain(["--resources", known, "--ab", ab, "-o", &own]));
    assert_eq!(out.status.code(), Some(5), "{}{}", text(&out.stdout), text(&out.stderr));
    let said = text(&out.stderr);
    assert!(said.contains("plan specialize is refused: frame 2 shows another picture"), "{said}");
    let read = |name: &str| std::fs::read_to_string(to.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let report = read("report.txt");
    for part in ["Plan specialize is refused and was not timed: frame 2", "first at pixel (", "] and not ["] {
        assert!(report.contains(part), "{part}: {report}");
    }
    assert!(
        report.contains("What prune knows was recorded in this run, of frames 1 to 2: pass blocks."),
        "{report}"
    );
    let times = read("times.csv");
    assert!(times.lines().any(|l| l.starts_with("prune:helpers=ignore:precise=yes,2,")), "{times}");
    assert!(!times.contains("specialize"), "{times}");
    let refused = read("refused.csv");
    assert!(refused.lines().nth(1).is_some_and(|l| l.starts_with("specialize,")), "{refused}");
    let manifest: serde_json::Value = serde_json::from_str(&read("manifest.json")).expect("it is JSON");
    assert_eq!(manifest["refused"][0]["plan"], "specialize");
    assert_eq!(manifest["refused"][0]["instead"], serde_json::Value::Null);
}

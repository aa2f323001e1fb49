//! Passes that change shaders for what a trace says of them: on the machine for byte code, of whose 71 instructions one is used.

use crate::device::device;
use crate::support::{Scratch, root, run, text};
use std::path::Path;

fn sample() -> String {
    root().join("captures/samples/vm.gfxr").to_str().expect("a plain path").to_owned()
}

fn profile(frames: &str, passes: &str, to: &Path) -> std::process::Output {
    let to = to.to_str().expect("a plain path");
    run(["profile", &sample(), "--frames", frames, "--passes", passes, "--assume-subgroups", "-o", to])
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

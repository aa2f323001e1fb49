//! Drivers that do not return from a call, or crash in it: the tests' layer does either in a call that it is asked for.

use super::counters::{layer, with_layer};
use super::device::device;
use super::support::{Scratch, reray, root, run, text};
use serde_json::Value;
use std::os::unix::process::ExitStatusExt;
use std::process::Output;
use std::time::{Duration, Instant};

/// Replays the sample with this asked of the layer.
fn replay(name: &str, asked: &str, flags: &[&str]) -> Output {
    let scratch = Scratch::new(&asked.replace(' ', "-"));
    let mut c = reray();
    c.arg(root().join("captures/samples").join(name)).args(flags).env(arm_layer::ASKS, asked);
    with_layer(&mut c, &layer(&scratch));
    c.output().expect("the program starts")
}

/// The block of the nth call of a command.
fn block(name: &str, command: &str, nth: usize) -> u64 {
    let out = run(["dump".as_ref(), root().join("captures/samples").join(name).as_os_str()]);
    let lines = text(&out.stdout);
    let calls = lines.lines().map(|l| serde_json::from_str::<Value>(l).expect("JSON"));
    let mut blocks = calls.filter(|l| l["function"]["name"] == command).map(|l| l["index"].clone());
    blocks.nth(nth - 1).and_then(|b| b.as_u64()).unwrap_or_else(|| panic!("{command} {nth} in {name}"))
}

/// It must end with code 6, soon, and have said so.
fn ends_with_6(out: &Output, start: Instant, said: &str) {
    let err = text(&out.stderr);
    assert_eq!(out.status.code(), Some(6), "{err}");
    assert!(start.elapsed() < Duration::from_secs(8), "it ended after {:?}", start.elapsed());
    assert!(err.contains(said), "{err}\nexpected {said}");
}

#[test]
fn a_submission_that_blocks_ends_with_what_there_was() {
    if !device("a_submission_that_blocks") {
        return;
    }
    // The load submits once and waits for its queue (one submission of the replay's own); each frame acquires an image (one
    // more) and submits once. Breadcrumbs add one before and one after each of the capture's.
    let block = block("steps.gfxr", "vkQueueSubmit", 5);
    for (nth, flag) in [(2 + 3 * 2 + 2, "--quiet"), (4 + 3 * 4 + 3, "--breadcrumbs")] {
        let start = Instant::now();
        let flags = ["--watchdog", "0.4", "--json", "--no-gpu-times", flag];
        let out = replay("steps.gfxr", &format!("hang vkQueueSubmit {nth}"), &flags);
        let said =
            format!("block {block}, vkQueueSubmit: the driver did not return within 0.4 s (--watchdog)");
        ends_with_6(&out, start, &said);
        let r: Value = serde_json::from_slice(&out.stdout).expect("whole JSON");
        assert_eq!((&r["stopped"]["why"], &r["frames"]), (&"hang".into(), &3.into()), "{flag}");
        assert_eq!(r["frame_times"].as_array().map(Vec::len), Some(3), "{flag}");
        if flag == "--quiet" {
            let last = r["stopped"]["in_flight"].as_array().and_then(|a| a.last()).expect("it is under way");
            assert_eq!(last["block"], block);
        }
    }
}

#[test]
fn a_pipeline_that_is_compiled_for_ever_ends_the_replay() {
    if !device("a_pipeline_that_is_compiled") {
        return;
    }
    let block = block("cubes.gfxr", "vkCreateGraphicsPipelines", 1);
    let start = Instant::now();
    let out = replay("cubes.gfxr", "hang vkCreateGraphicsPipelines 1", &["--watchdog", "0.4"]);
    ends_with_6(
        &out,
        start,
        &format!("block {block}, vkCreateGraphicsPipelines: the driver did not return within"),
    );
}

#[test]
fn any_other_call_that_blocks_says_where() {
    if !device("any_other_call_that_blocks") {
        return;
    }
    let block = block("cubes.gfxr", "vkCmdBindPipeline", 9);
    let start = Instant::now();
    let out = replay("cubes.gfxr", "hang vkCmdBindPipeline 9", &["--watchdog", "0.4"]);
    let said = format!(
        "reray-replay: block {block}, vkCmdBindPipeline: in the driver: did not return within 0.4 s (--watchdog)"
    );
    ends_with_6(&out, start, &said);
    assert!(out.stdout.is_empty(), "{}", text(&out.stdout));
}

#[test]
fn a_crash_in_the_driver_says_in_which_call() {
    if !device("a_crash_in_the_driver") {
        return;
    }
    const SIGABRT: i32 = 6;
    const SIGSEGV: i32 = 11;
    for (asked, command, nth, signal, name) in [
        ("fault vkCmdBindPipeline 9", "vkCmdBindPipeline", 9, SIGSEGV, "SIGSEGV"),
        ("abort vkCmdDrawIndexed 3", "vkCmdDrawIndexed", 3, SIGABRT, "SIGABRT"),
        // Handed to the thread beside.
        ("fault vkQueueSubmit 1", "vkQueueSubmit", 1, SIGSEGV, "SIGSEGV"),
        ("abort vkCreateGraphicsPipelines 1", "vkCreateGraphicsPipelines", 1, SIGABRT, "SIGABRT"),
    ] {
        let out = replay("cubes.gfxr", asked, &["--no-gpu-times"]);
        let err = text(&out.stderr);
        assert_eq!(out.status.signal(), Some(signal), "{asked}: {err}");
        let block = block("cubes.gfxr", command, nth);
        let line = format!("reray-replay: {name} in the driver, in block {block}, {command}");
        assert!(err.lines().any(|l| l == line), "{asked}: {err}\nexpected {line}");
        assert!(!err.contains("itself"), "{asked}: {err}");
    }
}

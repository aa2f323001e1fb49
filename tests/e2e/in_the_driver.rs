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
    // One submission a frame: the sixth is the fourth frame's or later.
    let block = block("cubes.gfxr", "vkQueueSubmit", 6);
    for flags in [&["--watchdog", "0.4", "--json"][..], &["--watchdog", "0.4", "--json", "--breadcrumbs"]] {
        let start = Instant::now();
        // Breadcrumbs make submissions of their own, before and after each.
        let nth = if flags.len() == 3 { 6 } else { 17 };
        let out = replay("cubes.gfxr", &format!("hang vkQueueSubmit {nth}"), flags);
        ends_with_6(&out, start, "the driver did not return within 0.4 s (--watchdog)");
        let r: Value = serde_json::from_slice(&out.stdout).expect("whole JSON");
        assert_eq!(r["stopped"]["why"], "hang", "{flags:?}");
        assert!(r["frames"].as_u64().is_some_and(|n| n >= 2), "{flags:?}: {}", r["frames"]);
        if flags.len() == 3 {
            let err = text(&out.stderr);
            assert!(err.contains(&format!("block {block}, vkQueueSubmit: the driver did not")), "{err}");
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
        ("abort vkEndCommandBuffer 2", "vkEndCommandBuffer", 2, SIGABRT, "SIGABRT"),
        // Handed to the thread beside.
        ("fault vkQueueSubmit 3", "vkQueueSubmit", 3, SIGSEGV, "SIGSEGV"),
        ("abort vkCreateGraphicsPipelines 1", "vkCreateGraphicsPipelines", 1, SIGABRT, "SIGABRT"),
    ] {
        let out = replay("cubes.gfxr", asked, &[]);
        let err = text(&out.stderr);
        assert_eq!(out.status.signal(), Some(signal), "{asked}: {err}");
        let block = block("cubes.gfxr", command, nth);
        let line = format!("reray-replay: {name} in the driver, in block {block}, {command}");
        assert!(err.lines().any(|l| l == line), "{asked}: {err}\nexpected {line}");
        assert!(!err.contains("itself"), "{asked}: {err}");
    }
}

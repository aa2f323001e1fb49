//! Drivers that do not return from a call, crash in it, or lose the device: the tests' layer does so in a call that it is
//! asked for, and says of a lost device what drivers with the extensions for it say.

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

/// The JSON of the calls of a frame.
fn calls(name: &str, frame: &str) -> Vec<Value> {
    let file = root().join("captures/samples").join(name);
    let out = run(["dump".as_ref(), file.as_os_str(), "--frames".as_ref(), frame.as_ref()]);
    text(&out.stdout).lines().map(|l| serde_json::from_str(l).expect("JSON")).collect()
}

#[test]
fn a_lost_device_says_what_lies_where_it_failed() {
    if !device("a_lost_device_says_what") {
        return;
    }
    // The first buffer whose address the capture asks for.
    let all = run(["dump".as_ref(), root().join("captures/samples/pointers.gfxr").as_os_str()]);
    let all = text(&all.stdout);
    let of = |name: &str| {
        let line = all.lines().find(|l| l.contains(&format!("\"{name}\""))).expect("it is called");
        serde_json::from_str::<Value>(line).expect("JSON")["function"]["args"].clone()
    };
    let buffer = of("vkGetBufferDeviceAddress")["pInfo"]["buffer"].clone();
    let submit = block("pointers.gfxr", "vkQueueSubmit", 11);

    // Nine copies are submitted and waited for (one submission of the replay's own); each frame acquires an image (one more)
    // and submits once: this is that of the second frame.
    let nth = 9 * 2 + 2 + 2;
    let out = replay("pointers.gfxr", &format!("lose vkQueueSubmit {nth}"), &["--json", "--no-gpu-times"]);
    let err = text(&out.stderr);
    assert_eq!(out.status.code(), Some(6), "{err}");
    assert!(!err.contains(arm_layer::COMPLAINT), "{err}");
    let lost = "the capture recorded VK_SUCCESS, the driver now returned VK_ERROR_DEVICE_LOST";
    assert!(err.contains(&format!("block {submit}, vkQueueSubmit: {lost}")), "{err}");
    assert!(
        err.contains(&format!("The driver says of the fault: {}", arm_layer::lost::DESCRIPTION)),
        "{err}"
    );
    let (first, last) = (arm_layer::lost::OFFSET, arm_layer::lost::OFFSET + arm_layer::lost::PRECISION - 1);
    let place = format!(": bytes {first} to {last} of buffer {buffer} ");
    assert!(
        err.lines().any(|l| l.contains("Invalid read at 0x") && l.contains(&place)),
        "{err}\nexpected {place}"
    );
    assert!(err.contains("Instruction that faulted at 0x1000"), "{err}");
    let (words, code, data) = arm_layer::lost::VENDOR;
    assert!(err.contains(&format!("{words} (code {code:#x}, data {data:#x})")), "{err}");

    let r: Value = serde_json::from_slice(&out.stdout).expect("whole JSON");
    assert_eq!((&r["stopped"]["why"], &r["frames"]), (&"lost".into(), &1.into()));
    let f = &r["stopped"]["faults"][0];
    assert_eq!(f["description"], arm_layer::lost::DESCRIPTION);
    let p = &f["addresses"][0]["places"][0];
    assert_eq!((&p["how"], &p["type"], &p["id"]), (&"in".into(), &"VkBuffer".into(), &buffer));
    assert_eq!((&p["offset"], &p["last_offset"]), (&first.into(), &last.into()));
    assert_eq!(p["destroyed_by_block"], Value::Null);
    assert_eq!((&f["vendor"][0]["code"], &f["vendor"][0]["data"]), (&code.into(), &data.into()));
}

#[test]
fn a_lost_device_says_how_far_its_queues_came() {
    if !device("a_lost_device_says_how_far") {
        return;
    }
    // Commands that do work, which have a checkpoint each: the layer has done the first and begun the third.
    let frame = calls("pointers.gfxr", "2");
    let recorded =
        frame.iter().filter(|l| l["function"]["name"].as_str().is_some_and(|n| n.starts_with("vkCmd")));
    let work: Vec<(u64, &Value)> = (1..)
        .zip(recorded)
        .filter(|(_, l)| {
            let name = l["function"]["name"].as_str().expect("a name");
            ["vkCmdPipelineBarrier", "vkCmdDispatch", "vkCmdBlitImage"].contains(&name)
        })
        .collect();
    let said = |n: usize| {
        let (index, call) = work[n];
        let (name, args) = (&call["function"]["name"], &call["function"]["args"]);
        let (name, buffer) = (name.as_str().expect("a name"), &args["commandBuffer"]);
        format!("command {index} of command buffer {buffer}, {name} (block {})", call["index"])
    };

    // As above; breadcrumbs add one submission before and one after each of the capture's.
    let nth = 9 * 4 + 4 + 3;
    let flags = ["--json", "--no-gpu-times", "--breadcrumbs"];
    let out = replay("pointers.gfxr", &format!("lose vkQueueSubmit {nth}"), &flags);
    let err = text(&out.stderr);
    assert_eq!(out.status.code(), Some(6), "{err}");
    assert!(!err.contains(arm_layer::COMPLAINT), "{err}");
    let line = format!(
        "by its checkpoints: the last command that began is {}; the last that is known to be done is {}",
        said(2),
        said(0)
    );
    assert!(err.contains(&line), "{err}\nexpected {line}");

    let r: Value = serde_json::from_slice(&out.stdout).expect("whole JSON");
    // The first frame's may not be done yet.
    let submit = block("pointers.gfxr", "vkQueueSubmit", 11);
    let in_flight = r["stopped"]["in_flight"].as_array().expect("a list");
    let f = in_flight.iter().find(|f| f["block"] == submit).expect("it is under way");
    assert_eq!((&f["index"], &f["last_index"]), (&work[1].0.into(), &work[2].0.into()));
    assert_eq!(f["command"], work[1].1["function"]["name"]);
    for (key, n) in [("done", 0), ("not_done", 1), ("begun", 2)] {
        let c = &f["checkpoints"][key];
        assert_eq!((&c["index"], &c["block"]), (&work[n].0.into(), &work[n].1["index"]), "{key}");
    }
}

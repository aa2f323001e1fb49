//! Times within frames: as many commands as were recorded and submitted, nested as the scene is, adding up to no more
//! than what encloses them; exports that parse; the same pixels, and a silent validation layer.

use crate::device::device;
use crate::support::{Scratch, root, run, shared_capture as shared, text};
use gfxr_parse::container::{Capture, read_file};
use profile::hooks::command_times::{CommandTimes, CommandTimesHook, Level, Settings};
use profile::hooks::screenshot::{ScreenshotHook, What, Wish};
use replay::hook::Hook;
use replay::options::Options;
use replay::session::{On, replay};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

fn cubes() -> PathBuf {
    root().join("captures/samples/cubes.gfxr")
}

/// What a replay with these flags says as JSON.
fn timed(file: &Path, flags: &[&str]) -> Value {
    let mut args = vec![file.to_str().expect("a plain name"), "--json"];
    args.extend(flags);
    let out = run(&args);
    assert!(out.status.success(), "{args:?}: {:?}\n{}", out.status, text(&out.stderr));
    serde_json::from_slice(&out.stdout).expect("stdout is JSON")
}

fn spans<'v>(v: &'v Value, kind: &str) -> Vec<&'v Value> {
    let all = v["times"]["spans"].as_array().expect("an array");
    all.iter().filter(|s| s["kind"] == kind).collect()
}

fn path(span: &Value) -> Vec<&str> {
    span["path"].as_array().expect("an array").iter().filter_map(Value::as_str).collect()
}

/// Commands that work, counted for each submission from the capture itself: (command buffer, commands).
fn submitted(file: &Path) -> Vec<(u64, u64)> {
    let works =
        ["vkCmdDraw", "vkCmdDispatch", "vkCmdCopy", "vkCmdPipelineBarrier", "vkCmdClear", "vkCmdBlit"];
    let dump = text(&run(["dump", file.to_str().expect("plain"), "--commands", "vk*"]).stdout);
    let (mut recorded, mut submitted) = (HashMap::<u64, u64>::new(), Vec::new());
    for line in dump.lines().filter(|l| l.contains("\"function\"")) {
        let call: Value = serde_json::from_str(line).expect("a line is JSON");
        let (name, args) = (call["function"]["name"].as_str().expect("a name"), &call["function"]["args"]);
        let buffer = args["commandBuffer"].as_u64().unwrap_or(0);
        match name {
            "vkBeginCommandBuffer" => {
                recorded.insert(buffer, 0);
            }
            "vkQueueSubmit" => {
                let batches = args["pSubmits"].as_array().into_iter().flatten();
                let buffers = batches.flat_map(|b| b["pCommandBuffers"].as_array().into_iter().flatten());
                submitted.extend(buffers.filter_map(Value::as_u64).map(|b| (b, recorded[&b])));
            }
            _ if works.iter().any(|w| name.starts_with(w)) => *recorded.entry(buffer).or_default() += 1,
            _ => {}
        }
    }
    submitted
}

#[test]
fn every_command_of_every_submission_is_timed_once() {
    if !device("every_command_of_every_submission") {
        return;
    }
    let v = timed(&cubes(), &["--times", "command"]);
    let mut found: HashMap<u64, u64> = HashMap::new();
    for s in spans(&v, "command") {
        *found.entry(s["command_buffer"].as_u64().expect("an id")).or_default() += 1;
    }
    let mut expected: HashMap<u64, u64> = HashMap::new();
    submitted(&cubes()).into_iter().for_each(|(b, n)| *expected.entry(b).or_default() += n);
    assert_eq!(found, expected);
    // A dispatch, a barrier and 201 draws in each of 30 frames, and two copies before.
    assert_eq!(found.values().sum::<u64>(), 30 * 203 + 2);
    assert_eq!(spans(&v, "submit").len(), 32);

    // Nested as the scene is: a draw of the world in frame 15 is in one of eight bands.
    let draws: Vec<_> = spans(&v, "command")
        .into_iter()
        .filter(|s| s["frame"] == 15 && path(s).last() == Some(&"vkCmdDrawIndexed"))
        .collect();
    assert_eq!(draws.len(), 200);
    for (i, d) in draws.iter().enumerate() {
        let band = format!("band {}", i / 25);
        let expected = ["frame 15", "world", "render pass 'world pass'", &band, "vkCmdDrawIndexed"];
        assert_eq!(path(d), expected);
        assert_eq!(d["pipeline_name"], "lit cube");
    }

    // What lies side by side adds up to no more than what is around it; and nothing is outside of it.
    let ns = |s: &Value| s["time_ns"].as_u64().expect("nanoseconds");
    let mut of_submit: HashMap<u64, u64> = HashMap::new();
    for s in spans(&v, "command") {
        *of_submit.entry(s["submit"].as_u64().expect("a number")).or_default() += ns(s);
    }
    let submits = spans(&v, "submit");
    for s in &submits {
        let commands = of_submit[&s["submit"].as_u64().expect("a number")];
        assert!(0 < commands && commands <= ns(s), "{commands} of {s}");
    }
    let cost = &v["times"]["report"]["cost"];
    assert_eq!(cost["kind"], "measured");
    assert!(cost["with"].as_u64() > Some(0) && cost["without"].as_u64() > Some(0), "{cost}");
}

#[test]
fn passes_and_submissions_are_levels_of_their_own() {
    if !device("passes_and_submissions") {
        return;
    }
    let v = timed(&cubes(), &["--times", "pass", "--frames", "3-4"]);
    let count = |kind| spans(&v, kind).len();
    // `animate`, `world` with eight bands, `develop`; two passes; what `animate` runs.
    assert_eq!((count("submit"), count("label"), count("pass"), count("run")), (2, 2 * 11, 2 * 2, 2));
    assert_eq!(count("command"), 0);
    assert!(
        v["times"]["spans"].as_array().expect("array").iter().all(|s| s["frame"] == 3 || s["frame"] == 4)
    );

    let v = timed(&cubes(), &["--times", "submit", "--repeat", "2"]);
    assert_eq!(spans(&v, "submit").len(), 64);
    assert_eq!(v["times"]["spans"].as_array().map(Vec::len), Some(64));
    // A repetition goes on where the one before ended.
    let begins: Vec<u64> = spans(&v, "submit").iter().filter_map(|s| s["begin_ns"].as_u64()).collect();
    assert!(begins.is_sorted(), "{begins:?}");
}

#[test]
fn what_is_isolated_says_so() {
    if !device("what_is_isolated") {
        return;
    }
    let v = timed(&cubes(), &["--times", "command", "--isolate", "--frames", "2-2"]);
    for s in spans(&v, "command") {
        let outside = !path(s).iter().any(|p| p.starts_with("render pass"));
        assert_eq!(s["isolated"], outside, "{s}");
    }
    let notes = v["times"]["report"]["notes"].to_string();
    assert!(notes.contains("inside render passes, where nothing can be isolated"), "{notes}");
}

#[test]
fn exports_are_whole_and_follow_their_formats() {
    if !device("exports_are_whole") {
        return;
    }
    let folder = Scratch::new("times");
    let (csv, perfetto) = (folder.path("spans.csv"), folder.path("trace.json"));
    let (csv_name, perfetto_name) = (csv.display().to_string(), perfetto.display().to_string());
    let flags = ["--times", "command", "--frames", "2-3", "--csv", &csv_name, "--perfetto", &perfetto_name];
    let v = timed(&cubes(), &flags);
    let spans = v["times"]["spans"].as_array().expect("array").len();

    let csv = std::fs::read_to_string(csv).expect("written");
    let header: Vec<&str> = csv.lines().next().expect("a header").split(',').collect();
    assert_eq!(csv.lines().count(), spans + 1);
    assert!(csv.lines().all(|l| l.split(',').count() == header.len()), "no field of this scene needs quotes");
    let time = header.iter().position(|h| *h == "time_ns").expect("a column");
    assert!(csv.lines().skip(1).all(|l| l.split(',').nth(time).is_some_and(|t| t.parse::<u64>().is_ok())));

    let trace: Value = serde_json::from_slice(&std::fs::read(perfetto).expect("written")).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("an array");
    let (mut complete, mut named) = (Vec::new(), Vec::new());
    for e in events {
        assert!(e["pid"].is_u64() && e["tid"].is_u64() && e["name"].is_string(), "{e}");
        match e["ph"].as_str() {
            Some("X") => {
                assert!(
                    e["ts"].as_f64() >= Some(0.0) && e["dur"].as_f64() >= Some(0.0) && e["cat"].is_string(),
                    "{e}"
                );
                complete.push(e);
            }
            Some("M") => {
                assert!(e["args"]["name"].is_string(), "{e}");
                named.push((e["name"].as_str().expect("a string"), e["pid"].as_u64(), e["tid"].as_u64()));
            }
            other => panic!("{other:?} is no phase of ours"),
        }
    }
    // Every span, and what the CPU did: two frames, each with a submission and a present.
    let cpu = v["times"]["cpu"].as_array().expect("array");
    assert_eq!(complete.len(), spans + cpu.len());
    let named_so = |n: &str| cpu.iter().filter(|c| c["name"] == n).count();
    assert_eq!((named_so("frame"), named_so("vkQueueSubmit"), named_so("vkQueuePresentKHR")), (2, 2, 2));
    for e in &complete {
        assert!(named.contains(&("thread_name", e["pid"].as_u64(), e["tid"].as_u64())), "{e}");
        assert!(named.iter().any(|n| n.0 == "process_name" && n.1 == e["pid"].as_u64()), "{e}");
    }
    let calibrated = v["times"]["calibrations"].as_array().is_some_and(|c| !c.is_empty());
    if calibrated {
        // One axis: the device begins a submission when the CPU has begun to submit it, and not long after the frame.
        let slices = |cat: &str| complete.iter().filter(|e| e["cat"] == cat).collect::<Vec<_>>();
        let begin = |e: &Value| e["ts"].as_f64().expect("a number");
        let end = |e: &Value| begin(e) + e["dur"].as_f64().expect("a number");
        let slack = 1e3;
        for gpu in slices("submit") {
            let call = slices("cpu").into_iter().find(|c| c["args"]["submit"] == gpu["args"]["submit"]);
            let call = call.expect("each submission has its call");
            assert!(begin(gpu) + slack > begin(call), "{gpu} before {call}");
            assert!(begin(gpu) < end(slices("frame").last().expect("frames")) + 1e6, "{gpu}");
        }
    }
    // Slices of a thread nest: each ends before the one around it does.
    let mut open: Vec<((&Value, &Value), f64)> = Vec::new();
    for e in complete {
        let (thread, ts) = ((&e["pid"], &e["tid"]), e["ts"].as_f64().expect("a number"));
        let end = ts + e["dur"].as_f64().expect("a number");
        while open.last().is_some_and(|o| o.0 != thread || o.1 <= ts + 1e-6) {
            open.pop();
        }
        assert!(open.last().is_none_or(|o| end <= o.1 + 1e-3), "{e} sticks out");
        open.push((thread, end));
    }
}

/// A counter of a span by the middle of its name.
fn counter(span: &Value, name: &str) -> u64 {
    let name = format!("VK_QUERY_PIPELINE_STATISTIC_{name}_BIT");
    span["statistics"][&name].as_u64().unwrap_or_else(|| panic!("{name} of {span}"))
}

#[test]
fn counters_are_what_the_scene_draws() {
    if !device("counters_are_what") {
        return;
    }
    let capture = cubes();
    let v = timed(&capture, &["--times", "command", "--statistics", "--frames", "4-5"]);
    let named =
        |n: &str| spans(&v, "command").into_iter().filter(|s| path(s).last() == Some(&n)).collect::<Vec<_>>();
    // A cube: 36 indices of 24 vertices, 12 triangles.
    let cubes = named("vkCmdDrawIndexed");
    assert_eq!(cubes.len(), 2 * 200);
    for d in &cubes {
        assert_eq!(counter(d, "INPUT_ASSEMBLY_VERTICES"), 36);
        assert_eq!(counter(d, "INPUT_ASSEMBLY_PRIMITIVES"), 12);
        assert!((24..=36).contains(&counter(d, "VERTEX_SHADER_INVOCATIONS")), "{d}");
        assert_eq!(counter(d, "COMPUTE_SHADER_INVOCATIONS"), 0);
    }
    // A triangle that covers 480x270 pixels.
    for d in named("vkCmdDraw") {
        assert_eq!(counter(d, "INPUT_ASSEMBLY_VERTICES"), 3);
        assert_eq!(counter(d, "VERTEX_SHADER_INVOCATIONS"), 3);
        assert_eq!(counter(d, "FRAGMENT_SHADER_INVOCATIONS"), 480 * 270);
    }
    // 4 workgroups of 64.
    let dispatches = named("vkCmdDispatch");
    assert_eq!(dispatches.len(), 2);
    assert!(dispatches.iter().all(|d| counter(d, "COMPUTE_SHADER_INVOCATIONS") == 4 * 64));
    assert!(named("vkCmdPipelineBarrier").iter().all(|b| b["statistics"].is_null()));

    // By pass: what is drawn in a band of 25 cubes belongs to the band; the report adds up what lies within.
    let v = timed(&capture, &["--times", "pass", "--statistics", "--frames", "4-4"]);
    let of = |kind: &str, name: &str| {
        spans(&v, kind)
            .into_iter()
            .find(|s| path(s).last() == Some(&name))
            .unwrap_or_else(|| panic!("{name}"))
    };
    for band in 0..8 {
        assert_eq!(counter(of("label", &format!("band {band}")), "INPUT_ASSEMBLY_VERTICES"), 25 * 36);
    }
    assert!(of("pass", "render pass 'world pass'")["statistics"].is_null());
    assert_eq!(counter(of("pass", "render pass 'develop pass'"), "INPUT_ASSEMBLY_VERTICES"), 3);
    let tables = v["times"]["report"]["tables"].as_array().expect("tables");
    let table = tables.iter().find(|t| t["name"] == "statistics").expect("a table");
    let rows = table["rows"].as_array().expect("rows");
    let world = rows.iter().find(|r| r[0] == "render pass 'world pass'").expect("a row");
    assert_eq!(
        (&table["columns"][2]["name"], &world[2]),
        (&"input assembly vertices".into(), &(200 * 36).into())
    );
}

#[test]
fn flags_that_do_not_fit_are_refused() {
    let cubes = cubes();
    let cubes = cubes.to_str().expect("plain");
    for flags in [
        &["--csv", "x.csv"][..],
        &["--isolate"],
        &["--times", "submit", "--isolate"],
        &["--statistics"],
        &["--times", "often"],
    ] {
        let out = run([&[cubes], flags].concat());
        assert_eq!(out.status.code(), Some(2), "{flags:?}: {}", text(&out.stderr));
    }
    assert_eq!(run([cubes, "--times", "pass", "--echo"]).status.code(), Some(2));
}

#[test]
fn the_validation_layer_is_silent_at_every_level() {
    let layer = Path::new("/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json");
    if !device("the_validation_layer_is_silent") || !layer.exists() {
        return;
    }
    let others = ["vkcube", "vkd3d_gears_trim_40_59", "taichi_julia", "sapien_rt_llvmpipe"];
    let files = others.iter().filter_map(|n| shared(&format!("{n}.gfxr"))).chain([cubes()]);
    for file in files {
        for flags in [&["pass", "--statistics"][..], &["command", "--statistics"], &["command", "--isolate"]]
        {
            let v = timed(&file, &[&["--validate", "--times"], flags].concat());
            assert_eq!(v["validation"], serde_json::json!([]), "{} {flags:?}", file.display());
            let kind = if flags[0] == "command" { "command" } else { "submit" };
            assert!(!spans(&v, kind).is_empty(), "{} {flags:?}", file.display());
        }
    }
}

/// The pixels of these frames, with the hook at this level.
fn pixels(file: &Path, level: Option<(Level, bool)>) -> Vec<(u64, Vec<u8>)> {
    let capture = Capture::open(file, read_file).expect("it opens");
    let shots = Rc::new(RefCell::new(Vec::new()));
    let to = shots.clone();
    let wish = Wish {
        what: What::Presented,
        frames: Some(vec![(1, 3), (30, 30)]),
        shape: None,
        watchdog_ns: 120_000_000_000,
    };
    let (screenshot, _) = ScreenshotHook::new(
        wish,
        Box::new(move |shot| {
            to.borrow_mut().push((shot.frame, shot.rgba));
            Ok(())
        }),
    );
    let mut hooks: Vec<Box<dyn Hook>> = vec![Box::new(screenshot)];
    let mut found = None;
    if let Some((level, isolate)) = level {
        let settings = Settings { level, isolate, statistics: isolate, hash: |_| String::new() };
        let (hook, out) = CommandTimesHook::new(settings, CommandTimes::default());
        hooks.push(Box::new(hook));
        found = Some(out);
    }
    let options = Options { ..Options::default() };
    replay(&capture, &options, On::Vulkan, hooks, 0, &mut ()).expect("it replays");
    assert!(found.is_none_or(|f| !f.borrow().records.is_empty()));
    shots.take()
}

#[test]
fn each_execution_of_a_secondary_command_buffer_is_timed_on_its_own() {
    if !device("each_execution") {
        return;
    }
    let v = timed(&nested(), &["--times", "command", "--validate"]);
    assert_eq!(v["validation"], serde_json::json!([]));
    assert_eq!(v["times"]["not_timed"], serde_json::json!({}));
    // In each of four frames `fill` runs twice, then `tile` twice.
    let executions = |kind: &str, name: &str| {
        let named = spans(&v, kind).into_iter().filter(|s| path(s).last() == Some(&name) && s["frame"] == 3);
        named.map(|s| (s["execution"].as_u64(), s["index"].as_u64())).collect::<Vec<_>>()
    };
    let of = |n: u64, all: &[u64]| all.iter().map(|i| (Some(n), Some(*i))).collect::<Vec<_>>();
    assert_eq!(executions("secondary", "secondary 'fill'"), [of(1, &[1]), of(2, &[1])].concat());
    assert_eq!(executions("command", "vkCmdFillBuffer"), [of(1, &[2, 3]), of(2, &[2, 3])].concat());
    let tiles = [of(3, &[2, 3, 4]), of(4, &[2, 3, 4])].concat();
    // And one in the pass before it is suspended, two after.
    assert_eq!(executions("command", "vkCmdClearAttachments"), [tiles, of(0, &[10, 2, 3])].concat());
    let inside: Vec<_> =
        spans(&v, "command").into_iter().filter(|s| s["execution"] == 4 && s["frame"] == 3).collect();
    let expected =
        ["frame 3", "tiles", "rendering 64x64", "secondary 'tile'", "tile", "vkCmdClearAttachments"];
    assert!(inside.iter().all(|s| path(s) == expected), "{inside:?}");
    // Each execution has times of its own: they follow each other.
    let begins: Vec<u64> = spans(&v, "secondary").iter().filter_map(|s| s["begin_ns"].as_u64()).collect();
    assert_eq!(begins.len(), 4 * 4);
    assert!(begins.is_sorted_by(|a, b| a < b), "{begins:?}");
    let identities: std::collections::HashSet<String> = v["times"]["spans"]
        .as_array()
        .expect("an array")
        .iter()
        .map(|s| {
            ["submit", "position", "execution", "index", "kind", "depth"].map(|k| s[k].to_string()).join(" ")
        })
        .collect();
    assert_eq!(identities.len(), v["times"]["spans"].as_array().map_or(0, Vec::len));

    // A pass in two pieces: both timed, and at the level of passes too.
    let v = timed(&nested(), &["--times", "pass", "--validate", "--frames", "2-2"]);
    assert_eq!(v["validation"], serde_json::json!([]));
    let passes: Vec<_> = spans(&v, "pass").iter().map(|s| s["position"].as_u64()).collect();
    assert_eq!(passes, [Some(0), Some(0), Some(1)]);
}

fn nested() -> PathBuf {
    root().join("captures/samples/nested.gfxr")
}

#[test]
fn pixels_stay_as_they_are() {
    if !device("pixels_stay") {
        return;
    }
    let plain = pixels(&cubes(), None);
    assert_eq!(plain.len(), 4);
    for level in [(Level::Pass, false), (Level::Command, false), (Level::Command, true)] {
        assert!(pixels(&cubes(), Some(level)) == plain, "{level:?}");
    }
    let plain = pixels(&nested(), None);
    assert_eq!(plain.len(), 3);
    assert!(plain[0].1.chunks(4).any(|p| p[..3] != plain[0].1[..3]), "a picture of several colours");
    for level in [(Level::Pass, false), (Level::Command, false), (Level::Command, true)] {
        assert!(pixels(&nested(), Some(level)) == plain, "{level:?}");
    }
}

//! `trim`: frames of captures as captures of their own, which show what the whole shows, here and in gfxrecon-replay.

use crate::device::device;
use crate::screenshot;
use crate::support::{Scratch, reray, run, sample, shared_capture, skip, text};
use gfxr_parse::container::{BlockKind, Capture, MarkerKind};
use gfxr_parse::meta::Meta;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Output;

fn trim(file: &Path, frames: &str, to: &Path) -> Output {
    let mut command = reray();
    command.arg("trim").arg(file).args(["--frames", frames, "--json", "-o"]).arg(to);
    command.output().expect("the program starts")
}

/// What it says, where it ends well.
fn trimmed(file: &Path, frames: &str, to: &Path) -> Value {
    let out = trim(file, frames, to);
    assert!(out.status.success(), "{}: {}", file.display(), text(&out.stderr));
    serde_json::from_slice(&out.stdout).expect("JSON")
}

fn open(file: &Path) -> Capture {
    Capture::new(std::fs::read(file).expect("readable")).unwrap_or_else(|e| panic!("{e}"))
}

/// The blocks behind the state section, each as it is in the file.
fn frames_of(file: &Path) -> Vec<Vec<u8>> {
    let capture = open(file);
    let ends = |b: &gfxr_parse::container::Block<'_>| matches!(b.kind(), Ok(BlockKind::StateMarker(m)) if m.kind == MarkerKind::End);
    capture.blocks().skip_while(|b| !ends(b)).skip(1).map(|b| b.raw().to_vec()).collect()
}

/// Captures, frames of them, and what of these is unlike the others.
const RANGES: [(&str, &str, &str); 21] = [
    ("cubes.gfxr", "2-3", "command buffers that were recorded before"),
    ("cubes_zlib.gfxr", "29-30", "the last frames, of a compressed file"),
    ("builds.gfxr", "3-4", "structures of many kinds"),
    ("closed_compute.gfxr", "2", "a texture that is sampled"),
    ("cornell.gfxr", "2", "a structure that the frame updates"),
    ("feedback.gfxr", "6-7", "events that the device set, queries, counters of transform feedback"),
    ("formats.gfxr", "2-3", "formats that the capture knows texels of"),
    ("memory.gfxr", "3", "memory that buffers share"),
    ("objects.gfxr", "2-3", "shader objects and descriptor buffers"),
    ("pointers.gfxr", "2-3", "addresses in buffers"),
    ("rays.gfxr", "4-5", "instances that a shader writes"),
    (
        "rays.gfxr",
        "2",
        "a command buffer of before that builds and traces, and is used again behind the frame",
    ),
    ("rays.gfxr", "8", "structures that were updated many times"),
    ("feedback.gfxr", "5", "events that other command buffers wait for"),
    ("feedback.gfxr", "12", "the last frame, and queries of many before"),
    ("rays_frames_4_5.gfxr", "5", "what a state section built"),
    ("rays_frames_4_5.gfxr", "4", "the first frame of a trimmed capture, and what its state section built"),
    ("msaa_frames_10_12.gfxr", "10-11", "contents that a state section has, of several samples a texel"),
    ("compressed_textures_frames_3_4.gfxr", "3", "contents of compressed textures that a state section has"),
    ("triangle_4.gfxr", "2", "pictures of four samples that the frame clears"),
    ("uniforms.gfxr", "3-4", "many sets"),
];

#[test]
fn frames_of_samples_stand_alone() {
    if !device("trim") {
        return;
    }
    let scratch = Scratch::new("trim");
    for (name, frames, what) in RANGES {
        let (whole, part) = (sample(name), scratch.path(name));
        let said = trimmed(&whole, frames, &part);
        let pictures = ["compared", "differing"].map(|of| said["pictures"][of].as_u64());
        assert!(pictures[0] > Some(0) && pictures[1] == Some(0), "{name}, {what}: {said}");
        // (what Vulkan lets drivers discard none of the samples needs)
        assert_eq!(said["discarded_but_kept"], json!([]), "{name}");
        // The frames are the capture's, byte for byte, and everything comes back as it was written.
        let (of_whole, of_part) = (open(&whole), frames_of(&part));
        let all: Vec<&[u8]> = of_whole.blocks().map(|b| b.raw()).collect();
        let first = all.iter().position(|b| **b == of_part[0][..]).expect("it is there");
        assert!(all.windows(of_part.len()).any(|w| w == of_part), "{name}: from block {first} on");
        assert!(
            said["lacks"].as_object().is_some_and(|l| l.keys().all(|k| k.contains("several samples"))),
            "{said}"
        );
        let verified = run([Path::new("verify"), &part]);
        assert!(verified.status.success(), "{name}: {}", text(&verified.stderr));
        // Nothing that the validation layer says of it, it does not say of the whole (it crashes in vkCreateShadersEXT).
        if name == "objects.gfxr" {
            continue;
        }
        let messages = |file: &Path| {
            let out =
                reray().arg("replay").arg(file).args(["--validate", "--quiet"]).output().expect("starts");
            assert!(out.status.success(), "{name}: {}", text(&out.stderr));
            text(&out.stderr).matches("VUID-").count()
        };
        assert!(messages(&part) <= messages(&whole), "{name}, {what}");
    }
}

#[test]
fn the_whole_is_the_whole() {
    let scratch = Scratch::new("trim-whole");
    for (name, frames) in
        [("cubes.gfxr", "1-30"), ("msaa_frames_10_12.gfxr", "10-12"), ("nested.gfxr", "1-4")]
    {
        let to = scratch.path(name);
        let mut command = reray();
        command.arg("trim").arg(sample(name)).args(["--frames", frames, "--unchecked", "-o"]).arg(&to);
        let out = command.output().expect("the program starts");
        assert!(out.status.success(), "{}", text(&out.stderr));
        let read = |file: PathBuf| std::fs::read(file).expect("readable");
        assert!(read(to) == read(sample(name)), "{name}");
    }
}

#[test]
fn a_state_section_is_cut_down_to_what_the_frames_use() {
    if !device("trims of trims") {
        return;
    }
    let scratch = Scratch::new("trim-again");
    let before = |said: &Value| {
        assert_eq!(said["pictures"]["differing"], 0, "{said}");
        ["total", "kept"].map(|of| said["blocks_before_the_frames"][of].as_u64().expect("a number"))
    };
    // The first frame of two; then this alone, without all but its first draw: what is left in the second is what the others needed.
    let [two, one, first] = ["two.gfxr", "one.gfxr", "first.gfxr"].map(|name| scratch.path(name));
    trimmed(&sample("cubes.gfxr"), "15-16", &two);
    let said = trimmed(&two, "15", &one);
    let [total, kept] = before(&said);
    assert!(kept < total, "what frame 16 alone used is gone: {said}");
    let out = reray()
        .arg("trim")
        .arg(&one)
        .args(["--commands", "draw=1", "--json", "-o"])
        .arg(&first)
        .output()
        .expect("the program starts");
    assert!(out.status.success(), "{}", text(&out.stderr));
    before(&serde_json::from_slice(&out.stdout).expect("JSON"));
    let pipelines = |file: &Path| {
        let dump = text(&run([Path::new("dump"), file]).stdout);
        ["Graphics", "Compute"].map(|of| dump.matches(&format!("\"name\":\"vkCreate{of}Pipelines\"")).count())
    };
    let (of_one, of_first) = (pipelines(&one), pipelines(&first));
    assert!(of_first[0] + of_first[1] < of_one[0] + of_one[1], "{of_one:?}, {of_first:?}");
}

#[test]
fn what_a_driver_keeps_though_it_may_discard_it_is_kept_where_pictures_need_it() {
    if !device("discarded contents in trims") {
        return;
    }
    let devices = text(&run(["devices"]).stdout);
    if !devices.contains("llvmpipe") {
        return skip(
            "discarded contents in trims",
            "other drivers than llvmpipe may discard what they are told to",
        );
    }
    let scratch = Scratch::new("trim-discarded");
    // Every frame moves its picture out of the layout UNDEFINED and draws it anew; the third does not draw it any more.
    let file = sample("closed_compute.gfxr");
    let dump = text(&run([Path::new("dump"), &file]).stdout);
    let mut presents = 0;
    let mut edits = String::new();
    for line in dump.lines() {
        presents += usize::from(line.contains("\"name\":\"vkQueuePresentKHR\""));
        if presents == 2 && line.contains("\"name\":\"vkCmdDispatch\"") {
            let index = &line[..line.find(",\"function\"").expect("a call")];
            edits.push_str(&format!("{index},\"function\":null}}\n"));
        }
    }
    let [lines, to] = ["edits.jsonl", "third.gfxr"].map(|name| scratch.path(name));
    std::fs::write(&lines, edits).expect("a file");
    let third = |flags: &[&str]| {
        let mut command = reray();
        command.arg("trim").arg(&file).args(["--frames", "3", "--edits"]).arg(&lines);
        let out = command.args(flags).arg("-o").arg(&to).output().expect("the program starts");
        assert!(out.status.success(), "{}", text(&out.stderr));
        text(&out.stdout)
    };
    let said: Value = serde_json::from_str(&third(&["--json"])).expect("JSON");
    assert_eq!(said["schema_version"], 1);
    assert_eq!(said["pictures"], json!({ "compared": 1, "differing": 0 }), "{said}");
    let kept = said["discarded_but_kept"].as_array().expect("a list");
    assert!(kept.len() == 1 && kept[0].as_str().is_some_and(|k| k.contains("image 57")), "{said}");
    let of_images = |file: &Path| {
        let of = |b: gfxr_parse::container::Block<'_>| match b.kind() {
            Ok(BlockKind::Meta(m)) => match m.meta {
                Meta::InitImage(i) if !i.level_bytes.is_empty() => Some(i.image),
                _ => None,
            },
            _ => None,
        };
        open(file).blocks().filter_map(of).collect::<Vec<u64>>()
    };
    assert!(of_images(&to).contains(&57));
    assert!(third(&[]).contains("Vulkan lets the driver discard"));
    // Nothing is compared, and so nothing is found.
    let said: Value = serde_json::from_str(&third(&["--unchecked", "--json"])).expect("JSON");
    assert_eq!((&said["pictures"], &said["discarded_but_kept"]), (&Value::Null, &json!([])), "{said}");
    assert!(!of_images(&to).contains(&57));
}

/// Contents, elements, texts and metadata that were edited in what `dump` printed, and blocks left out: printed again, the result says so, and nothing
/// else is another.
#[test]
fn edits_of_contents_elements_texts_and_metadata_go_back() {
    let scratch = Scratch::new("trim-edits");
    let dump = |file: &Path, folder: &str| {
        let mut command = reray();
        command.arg("dump").arg(file).arg("--binaries").arg(scratch.path(folder));
        let out = command.output().expect("the program starts");
        assert!(out.status.success(), "{}", text(&out.stderr));
        let lines = text(&out.stdout);
        lines.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect::<Vec<Value>>()
    };
    let before = dump(&sample("cubes.gfxr"), "before");
    let mut wanted = before.clone();
    let mut done = std::collections::BTreeSet::new();
    let mut contents = String::new();
    for line in &mut wanted {
        let name =
            ["function", "meta"].iter().find_map(|k| line[*k]["name"].as_str()).unwrap_or("").to_owned();
        match &*name {
            _ if !done.insert(name.clone()) => {}
            "vkCmdSetViewport" => {
                let args = &mut line["function"]["args"];
                let mut second = args["pViewports"][0].clone();
                second["width"] = 5.0.into();
                args["pViewports"].as_array_mut().expect("viewports").push(second);
                args["viewportCount"] = 2.into();
            }
            "vkCreateInstance" => {
                let info = &mut line["function"]["args"]["pCreateInfo"]["pApplicationInfo"];
                info["pApplicationName"] = "another program".into();
            }
            "FillMemoryCommand" => {
                contents = line["meta"]["args"]["data"].as_str().expect("a file").to_owned();
                let file = scratch.path("before").join(&contents);
                let bytes = std::fs::read(&file).expect("contents");
                std::fs::write(file, bytes.iter().map(|b| b ^ 1).collect::<Vec<u8>>()).expect("a file");
            }
            "SetDevicePropertiesCommand" => {
                line["meta"]["args"]["vendor_id"] = 77.into();
                line["meta"]["args"]["device_name"] = "another device".into();
            }
            "ExeFileInfo" => line["meta"] = Value::Null,
            "vkDeviceWaitIdle" => line["function"] = Value::Null,
            _ => {
                done.remove(&name);
            }
        }
    }
    assert_eq!(done.len(), 6, "{done:?}");
    let lines: Vec<String> = wanted.iter().map(Value::to_string).collect();
    let (edits, to) = (scratch.path("before").join("edits.jsonl"), scratch.path("edited.gfxr"));
    std::fs::write(&edits, lines.join("\n")).expect("a file");
    let mut command = reray();
    command.arg("trim").arg(sample("cubes.gfxr")).arg("--unchecked").arg("--edits").arg(&edits);
    let out = command.arg("-o").arg(&to).output().expect("the program starts");
    assert!(out.status.success(), "{}", text(&out.stderr));
    let after = dump(&to, "after");
    // (two blocks fewer, and numbers of blocks, also in names of files, are others)
    let plain = |lines: &[Value]| {
        let kept =
            lines.iter().filter(|l| !["function", "meta"].iter().any(|k| l.get(*k) == Some(&Value::Null)));
        kept.filter(|l| l.get("header").is_none())
            .map(|l| {
                let mut line = l.clone();
                if line.get("index").is_some() {
                    line["index"] = 0.into();
                }
                if let Some(name) = line.pointer_mut("/meta/args/data") {
                    *name = "contents".into();
                }
                for counted in ["/function/args/pCreateInfo/pCode", "/function/args/pValues"] {
                    if let Some(name) = line.pointer_mut(counted) {
                        *name = "contents".into();
                    }
                }
                line
            })
            .collect::<Vec<Value>>()
    };
    assert_eq!(plain(&after), plain(&wanted));
    let of = |folder: &str, lines: &[Value]| {
        let file = lines.iter().find_map(|l| l["meta"]["args"]["data"].as_str()).expect("contents");
        std::fs::read(scratch.path(folder).join(file)).expect("contents")
    };
    assert_eq!(of("after", &after), of("before", &wanted));
    // Contents that are not there are an error, with the line.
    std::fs::remove_file(scratch.path("before").join(&contents)).expect("it was there");
    let mut command = reray();
    command.arg("trim").arg(sample("cubes.gfxr")).arg("--unchecked").arg("--edits").arg(&edits);
    let out = command.arg("-o").arg(&to).output().expect("the program starts");
    let said = text(&out.stderr);
    assert!(
        !out.status.success() && said.contains("/data cannot be edited so") && said.contains("line "),
        "{said}"
    );
}

#[test]
fn it_is_said_where_frames_count_anew() {
    if !device("numbers of frames of trims") {
        return;
    }
    let scratch = Scratch::new("trim-anew");
    let to = scratch.path("anew.gfxr");
    let said = |flags: &[&str]| {
        let mut command = reray();
        command.arg("trim").arg(sample("cubes.gfxr")).args(["--frames", "9-10", "--unchecked"]).args(flags);
        let out = command.arg("-o").arg(&to).output().expect("the program starts");
        assert!(out.status.success(), "{}", text(&out.stderr));
        text(&out.stdout)
    };
    let submissions = said(&["--frame-by", "submit"]);
    assert!(submissions.contains("frame 9 of the capture is frame 1 of the result"), "{submissions}");
    let json: Value = serde_json::from_str(&said(&["--frame-by", "submit", "--json"])).expect("JSON");
    assert_eq!(json["first_frame"], json!({ "capture": 9, "trim": 1 }));
    let presents = said(&[]);
    assert!(!presents.contains("anew"), "{presents}");
}

#[test]
fn programs_that_are_not_ours_stand_alone_and_are_smaller() {
    if !device("trim of other programs") {
        return;
    }
    let scratch = Scratch::new("trim-others");
    // A tenth of the frames; what of the bytes is left.
    for (name, frames, share) in [
        ("vkcube.gfxr", "50-52", 1.0 / 3.0),
        ("vkd3d_gears_trim_40_59.gfxr", "45-46", 1.0 / 3.0),
        ("foreign/rtiv_320.gfxr", "3", 1.0),
    ] {
        let Some(file) = shared_capture(name) else { continue };
        let said = trimmed(&file, frames, &scratch.path("part.gfxr"));
        let bytes = |of: &str| said["bytes"][of].as_u64().expect("a number") as f64;
        assert!(bytes("trim") <= share * bytes("capture"), "{name}: {said}");
        assert_eq!(said["pictures"]["differing"], 0, "{name}");
    }
}

#[test]
fn gfxrecon_replay_plays_what_was_trimmed() {
    if !device("trims in gfxrecon-replay") {
        return;
    }
    let scratch = Scratch::new("trim-peer");
    for (name, frames, shown) in
        [("cubes.gfxr", "20-21", [(20, 1), (21, 2)]), ("memory.gfxr", "2-3", [(2, 1), (3, 2)])]
    {
        let part = scratch.path(name);
        trimmed(&sample(name), frames, &part);
        screenshot::equals(&part, &format!("trimmed-{name}"), &shown);
    }
}

#[test]
fn blocks_count_as_they_do_in_the_whole() {
    if !device("counts of trims") {
        return;
    }
    let scratch = Scratch::new("trim-counts");
    let part = scratch.path("part.gfxr");
    trimmed(&sample("rays.gfxr"), "4-5", &part);
    let counted = |file: &Path, to: &str| {
        let folder = scratch.path(to);
        let mut command = reray();
        command.arg("profile").arg(file).args([
            "--frames",
            "4-5",
            "--passes",
            "blocks",
            "--assume-subgroups",
            "--quiet",
            "-o",
        ]);
        let out = command.arg(&folder).output().expect("the program starts");
        assert!(out.status.success(), "{}", text(&out.stderr));
        let out = reray().arg("analyze").arg(&folder).args(["hotspots", "--format", "json"]).output();
        let said: Value = serde_json::from_slice(&out.expect("starts").stdout).expect("JSON");
        said["reports"][0]["tables"].clone()
    };
    let (whole, part) = (counted(&sample("rays.gfxr"), "whole"), counted(&part, "part"));
    assert!(whole.is_array() && whole == part, "{whole}\n{part}");
}

#[test]
fn what_cannot_be_trimmed_is_told_and_nothing_is_written() {
    let scratch = Scratch::new("trim-errors");
    let to = scratch.path("none.gfxr");
    for (file, frames, says) in [
        ("cubes.gfxr", "31", "there is no frame 31; the last is frame 30"),
        ("cubes.gfxr", "1,3", "--frames: expected one range"),
        ("rays_frames_4_5.gfxr", "3", "the first is frame 4"),
        ("nested.gfxr", "0", "frames are counted from 1"),
    ] {
        let out = trim(&sample(file), frames, &to);
        assert!(!out.status.success() && text(&out.stderr).contains(says), "{}", text(&out.stderr));
        assert!(!to.exists(), "{file}");
    }
}

#[test]
fn changes_are_written_into_the_result() {
    if !device("changes in trims") {
        return;
    }
    let scratch = Scratch::new("trim-changes");
    let to = scratch.path("changed.gfxr");
    let changed = |capture: &str, change: &str, flags: &[&str]| {
        let mut command = reray();
        command
            .arg("trim")
            .arg(sample(capture))
            .args(["--change", change, "--json", "-o"])
            .arg(&to)
            .args(flags);
        let out = command.output().expect("the program starts");
        assert!(out.status.success(), "{change}: {}", text(&out.stderr));
        let said: Value = serde_json::from_slice(&out.stdout).expect("JSON");
        // (the pictures are those of the capture with the change)
        assert_eq!(said["pictures"]["differing"], 0, "{change}: {said}");
        assert!(said["blocks_changed"].as_u64() > Some(0), "{change}: {said}");
        text(&run([Path::new("dump"), &to]).stdout)
    };
    let count = |dump: &str, command: &str| dump.matches(&format!("\"name\":\"{command}")).count();
    let whole = text(&run([Path::new("dump"), &sample("cubes.gfxr")]).stdout);
    let skipped = changed("cubes.gfxr", "skip", &[]);
    assert!(count(&whole, "vkCmdDraw") > 60 && count(&skipped, "vkCmdDraw") == 0);
    // What only these draws would use is not bound, and everything else is as it was.
    assert_eq!(count(&skipped, "vkCmdBindPipeline"), 0);
    assert_eq!(count(&skipped, "vkCmdBeginRenderPass"), count(&whole, "vkCmdBeginRenderPass"));
    let one = changed("cubes.gfxr", "skip", &["--frames", "3"]);
    assert!(count(&one, "vkQueuePresentKHR") == 1 && count(&one, "vkCmdDraw") == 0);
    let opaque = changed("weekend_anyhit.gfxr", "opaque", &[]);
    assert!(
        opaque.matches("VK_GEOMETRY_OPAQUE_BIT").count() > 0 || opaque.contains("\"flags\":\"0x00000001\"")
    );
    // Another shader: a triangle of half the size.
    let (own, other) = (scratch.path("own"), scratch.path("other"));
    std::fs::create_dir(&other).expect("a folder");
    let vertex = |file: &Path| {
        // (OpEntryPoint of execution model Vertex)
        let words: Vec<u32> = std::fs::read(file)
            .expect("a module")
            .chunks_exact(4)
            .map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]))
            .collect();
        words.windows(2).any(|w| w[0] & 0xffff == 15 && w[1] == 0).then_some(words)
    };
    let out = run([Path::new("extract"), &sample("triangle_1.gfxr"), Path::new("-o"), &own]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let mut halved = 0;
    for file in std::fs::read_dir(&own).expect("a folder").map(|f| f.expect("a file").path()) {
        let Some(mut words) = vertex(&file).filter(|_| file.extension().is_some_and(|e| e == "spv")) else {
            continue;
        };
        // (OpConstant 0.8)
        for n in 5..words.len() - 3 {
            if words[n] == 4 << 16 | 43 && words[n + 3] == 0.8f32.to_bits() {
                (words[n + 3], halved) = (0.4f32.to_bits(), halved + 1);
            }
        }
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        std::fs::write(other.join(file.file_name().expect("a name")), bytes).expect("a file");
    }
    assert!(halved > 0, "no vertex shader has a constant 0.8");
    changed("triangle_1.gfxr", &format!("shaders:{}", other.display()), &[]);
    let shown = |file: &Path| {
        let shots = scratch.path("shots");
        let words = ["screenshot", "--hash", "--frames", "2", "-o"].map(Path::new);
        let out = run(words.into_iter().chain([&*shots, file]));
        assert!(out.status.success(), "{}", text(&out.stderr));
        text(&out.stdout).split_whitespace().next().expect("a hash").to_owned()
    };
    assert_ne!(shown(&to), shown(&sample("triangle_1.gfxr")));
    for (change, says) in [
        ("no-depth", "more than a change of calls"),
        ("structures:compacted", "more than a change of calls"),
        ("half-instances", "no call becomes another"),
    ] {
        let out =
            reray().arg("trim").arg(sample("cubes.gfxr")).args(["--change", change, "-o"]).arg(&to).output();
        let out = out.expect("the program starts");
        assert!(!out.status.success() && text(&out.stderr).contains(says), "{change}: {}", text(&out.stderr));
    }
}

#[test]
fn only_some_draws_are_kept() {
    if !device("some draws in trims") {
        return;
    }
    let scratch = Scratch::new("trim-commands");
    let to = scratch.path("some.gfxr");
    let some = |words: &[&str]| {
        let out = reray()
            .arg("trim")
            .arg(sample("cubes.gfxr"))
            .args(words)
            .args(["--json", "-o"])
            .arg(&to)
            .output();
        out.expect("the program starts")
    };
    let kept = |words: &[&str]| {
        let out = some(words);
        assert!(out.status.success(), "{words:?}: {}", text(&out.stderr));
        let said: Value = serde_json::from_slice(&out.stdout).expect("JSON");
        // (its pictures are those of the capture without the other draws)
        let frames = if words[1].contains('-') { 2 } else { 1 };
        assert_eq!(said["pictures"], json!({ "compared": frames, "differing": 0 }), "{words:?}");
        let dump = text(&run([Path::new("dump"), &to]).stdout);
        ["vkCmdDraw", "vkCmdDispatch"].map(|c| dump.matches(&format!("\"name\":\"{c}")).count())
    };
    // Of the scene: a dispatch, two hundred cubes in bands, and one draw that develops the picture.
    assert_eq!(kept(&["--frames", "15", "--commands", "draw=1-21,202"]), [21, 1]);
    assert_eq!(kept(&["--frames", "15", "--commands", "pass=2"]), [1, 0]);
    let both = ["--frames", "15", "--commands", "draw=100-202", "--commands", "label=develop"];
    assert_eq!(kept(&both), [1, 0]);
    assert_eq!(kept(&["--frames", "15", "--commands", "label=develop"]), [1, 0]);
    // Of each of several frames.
    assert_eq!(kept(&["--frames", "15-16", "--commands", "label=develop"]), [2, 0]);
    assert_eq!(kept(&["--frames", "15-16", "--commands", "draw=1-21,202"]), [42, 2]);
    // Without its rays a frame still names structures, whose instances refer to others.
    for capture in ["cornell.gfxr", "rays.gfxr"] {
        let mut command = reray();
        command.arg("trim").arg(sample(capture)).args(["--frames", "2", "--change", "skip", "-o"]).arg(&to);
        let out = command.output().expect("the program starts");
        // (what no ray has written nobody knows)
        assert!(
            matches!(out.status.code(), Some(0 | 5)),
            "{capture}: {:?} {}",
            out.status,
            text(&out.stderr)
        );
    }
    for (words, says) in [
        (&["--frames", "15", "--commands", "draw=203"][..], "frame 15 has no draw 203: the last is draw 202"),
        (
            &["--frames", "15-16", "--commands", "label=nothing"],
            "none of the frames 15 to 16 has label=nothing",
        ),
        (&["--frames", "15", "--commands", "draw"], "expected draw=A-B, pass=A-B, label=GLOB"),
    ] {
        let out = some(words);
        assert!(
            !out.status.success() && text(&out.stderr).contains(says),
            "{words:?}: {}",
            text(&out.stderr)
        );
    }
}

#[test]
fn values_edited_by_hand_are_written_into_the_calls() {
    let scratch = Scratch::new("trim-edits");
    let (lines, to) = (scratch.path("edited.jsonl"), scratch.path("edited.gfxr"));
    let edit = |text: &str| {
        std::fs::write(&lines, text).expect("a file");
        let mut command = reray();
        command.arg("trim").arg(sample("cubes.gfxr")).args(["--unchecked", "--edits"]).arg(&lines);
        command.arg("-o").arg(&to).output().expect("the program starts")
    };
    let dump = |file: &Path, words: &[&str]| {
        let words = [&["dump", file.to_str().expect("UTF-8")], words].concat();
        // (the header names the file)
        text(&run(words).stdout).split_once('\n').expect("lines").1.to_owned()
    };
    let whole = dump(&sample("cubes.gfxr"), &[]);
    // What is not edited stays; nothing edited is an error.
    let out = edit(&whole);
    assert!(
        !out.status.success() && text(&out.stderr).contains("nothing in it differs"),
        "{}",
        text(&out.stderr)
    );
    let edited = whole.replace("\"instanceCount\":1,", "\"instanceCount\":2,").replace(
        "\"cullMode\":\"0x00000002\"",
        "\"cullMode\":\"VK_CULL_MODE_FRONT_BIT|VK_CULL_MODE_BACK_BIT\"",
    );
    assert_ne!(edited, whole);
    let out = edit(&edited);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let expected = edited.replace("VK_CULL_MODE_FRONT_BIT|VK_CULL_MODE_BACK_BIT", "0x00000003");
    assert!(dump(&to, &[]) == expected, "printed again, it says what was wanted");
    let (own, new) = (open(&sample("cubes.gfxr")), open(&to));
    let same = own.blocks().zip(new.blocks()).filter(|(a, b)| a.raw() == b.raw()).count();
    assert_eq!(own.blocks().count(), new.blocks().count());
    let lines_changed = whole.lines().zip(edited.lines()).filter(|(a, b)| a != b).count();
    assert_eq!(own.blocks().count() - same, lines_changed, "everything else is as it was, byte for byte");
    // A few lines are enough, and a null leaves a call out.
    let draws = dump(&sample("cubes.gfxr"), &["--commands", "vkCmdDrawIndexed"]);
    let first = draws.lines().next().expect("a draw");
    let index = &first[..first.find(",\"function\"").expect("a call")];
    let out = edit(&format!("{index},\"function\":null}}\n"));
    assert!(out.status.success(), "{}", text(&out.stderr));
    assert_eq!(open(&to).blocks().count(), own.blocks().count() - 1);
    for (line, says) in [
        (
            first.replace("\"firstIndex\":0,", ""),
            "line 1: /args/firstIndex cannot be edited so: the member is missing",
        ),
        (
            first.replace("\"indexCount\":36", "\"indexCount\":-1"),
            "line 1: /args/indexCount cannot be edited so",
        ),
        (first.replace("vkCmdDrawIndexed", "vkCmdDraw"), "line 1: /name cannot be edited so"),
        ("{\"index\":99999999,\"function\":null}".into(), "block 99999999: the capture has no such block"),
        (format!("{first}\n{first}"), "line 2: block"),
        ("[1".into(), "line 1: expected a line of JSON"),
    ] {
        let _ = std::fs::remove_file(&to);
        let out = edit(&line);
        assert!(!out.status.success() && text(&out.stderr).contains(says), "{line}: {}", text(&out.stderr));
        assert!(!to.exists(), "nothing is written: {line}");
    }
}

#[test]
fn the_capture_itself_is_not_written_over() {
    let scratch = Scratch::new("trim-itself");
    let file = scratch.path("it.gfxr");
    std::fs::copy(sample("nested.gfxr"), &file).expect("a copy");
    let out = trim(&file, "2", &file);
    assert!(text(&out.stderr).contains("it is read, and cannot be written, too"), "{}", text(&out.stderr));
    assert_eq!(
        std::fs::read(&file).expect("readable"),
        std::fs::read(sample("nested.gfxr")).expect("readable")
    );
}

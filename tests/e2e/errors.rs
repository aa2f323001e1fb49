//! What cannot be done is said in words that help, with its exit code, and leaves nothing half-written behind.
//!
//! One table: arguments, exit code, what stderr must say.

use crate::device::device;
use crate::support::{Scratch, root, run, text};
use gfxr_parse::container::Capture;
use serde_json::Value;
use std::path::{Path, PathBuf};
use trace::dir::{Manifest, Writer};

/// `steps`, not compressed.
fn plain(scratch: &Scratch) -> (PathBuf, Vec<u8>) {
    let file = scratch.path("plain.gfxr");
    let steps = root().join("captures/samples/steps.gfxr");
    let out = run([
        "compress".as_ref(),
        steps.as_os_str(),
        "--to".as_ref(),
        "none".as_ref(),
        "-o".as_ref(),
        file.as_os_str(),
    ]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let bytes = std::fs::read(&file).expect("just written");
    (file, bytes)
}

fn write(scratch: &Scratch, name: &str, bytes: &[u8]) -> String {
    let file = scratch.path(name);
    std::fs::write(&file, bytes).expect("written");
    file.to_str().expect("plain").to_owned()
}

/// A capture of Direct3D 12: every call has an id of that API.
fn direct3d(bytes: &[u8]) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    let capture = Capture::new(bytes.to_vec()).expect("a capture");
    for b in capture.blocks().filter(|b| b.call_id().is_some()) {
        // Size (8 bytes), type (4), call id.
        let at = b.offset as usize + 12;
        changed[at + 2..at + 4].copy_from_slice(&3u16.to_le_bytes());
    }
    changed
}

/// The capture with one allocation larger than any memory.
fn hungry(file: &Path, bytes: &[u8]) -> Vec<u8> {
    let out = run(["dump".as_ref(), file.as_os_str(), "--commands".as_ref(), "vkAllocateMemory".as_ref()]);
    let line = text(&out.stdout).lines().nth(1).expect("it allocates").to_owned();
    let call: Value = serde_json::from_str(&line).expect("JSON");
    let size = call["function"]["args"]["pAllocateInfo"]["allocationSize"].as_u64().expect("a size");
    let mut changed = bytes.to_vec();
    let capture = Capture::new(bytes.to_vec()).expect("a capture");
    let block = capture.blocks().find(|b| Some(b.index) == call["index"].as_u64()).expect("there");
    let (start, end) = (block.offset as usize, block.offset as usize + block.raw().len());
    // Other numbers of the call may be the same; behind this one stands the type's index, 0.
    let size = [size.to_le_bytes().as_slice(), &[0; 4]].concat();
    let at = (start..end - 12).rfind(|&i| bytes[i..i + 12] == size).expect("the size");
    changed[at..at + 8].copy_from_slice(&(1u64 << 50).to_le_bytes());
    changed
}

/// A trace of a capture in which nothing was recorded.
fn no_rays(scratch: &Scratch) -> String {
    let folder = scratch.path("no-rays");
    let capture = trace::dir::Capture { name: "cap.gfxr".into(), ..Default::default() };
    let manifest = Manifest { program: "a test".into(), capture, ..Manifest::default() };
    Writer::create(&folder, manifest).and_then(Writer::finish).expect("it can be written");
    folder.to_str().expect("plain").to_owned()
}

#[test]
fn what_cannot_be_done_is_said_with_what_to_do() {
    let scratch = Scratch::new("errors");
    let (plain, bytes) = plain(&scratch);
    let plain_name = plain.to_str().expect("plain").to_owned();
    let folder = scratch.path("").to_str().expect("plain").to_owned();
    let missing = scratch.path("missing.gfxr").to_str().expect("plain").to_owned();
    let nowhere = scratch.path("no/such/folder/out").to_str().expect("plain").to_owned();
    let under_a_file = format!("{plain_name}/shots");
    let d3d = write(&scratch, "d3d12.gfxr", &direct3d(&bytes));
    let empty = write(&scratch, "empty.gfxr", &[]);
    let header = write(&scratch, "header.gfxr", &bytes[..24]);
    let hungry = write(&scratch, "hungry.gfxr", &hungry(&plain, &bytes));
    let (p, d) = (plain_name.as_str(), d3d.as_str());
    let no_device: &[(&[&str], i32, &[&str])] = &[
        (&[&missing], 1, &["missing.gfxr: No such file", "name a capture (.gfxr)"]),
        (&["info", &missing], 1, &["No such file"]),
        (&[&folder], 1, &["is a directory", "name a capture (.gfxr) in it"]),
        (&["info", &folder], 1, &["is a directory"]),
        (&[&empty], 1, &["empty.gfxr"]),
        (&[&header, "--echo"], 1, &["holds no call of the Vulkan API"]),
        (&[d], 1, &["holds no call of Vulkan", "of Direct3D 12", "vkd3d-proton"]),
        (&["screenshot", d, "-o", &folder], 1, &["Direct3D 12"]),
        (&[p, "--frames", "50-60"], 1, &["there is no frame 50; the last is frame 6"]),
        (&[p, "--frames", "5-7"], 1, &["there is no frame 7; the last is frame 6"]),
        (
            &["screenshot", p, "--frames", "9", "-o", &folder],
            1,
            &["there is no frame 9; the last is frame 6"],
        ),
        (&["dump", p, "-o", &nowhere], 1, &["no/such/folder/out", "make its folder first"]),
        (&["dump", p, "-o", &folder], 1, &["name a file, not a folder"]),
        (&["extract", p, "-o", &under_a_file], 1, &["plain.gfxr/shots"]),
        (&["compress", p, "--to", "zstd", "-o", &nowhere], 1, &["make its folder first"]),
        (&[p, "--memory", "elsewhere"], 2, &["none, remap or rebind"]),
        (&[p, "--frame-by", "moon"], 2, &["expected auto, present"]),
        (&[p, "--csv", &nowhere], 2, &["--csv and --perfetto want --times"]),
    ];
    // What was named is something else: the error says what it is, and what comes first.
    let first = |pass: &str| format!("plain.gfxr --passes {pass} -o trace");
    let (simt, rays, blocks) = (first("simt"), first("rays"), first("blocks"));
    let profiled = |pass| ["that is a capture; profile it first", pass];
    let (simt, rays, blocks) = (profiled(&*simt), profiled(&*rays), profiled(&*blocks));
    let sum = format!("{folder}/a.blocks");
    let no_rays = no_rays(&scratch);
    let without = ["the trace has no rays; record them: reray-replay profile cap.gfxr --passes rays -o"];
    let wrong_input: &[(&[&str], i32, &[&str])] = &[
        (&["analyze", p], 1, &simt),
        (&["analyze", p, "hotspots"], 1, &simt),
        (&["rays", "dump", p], 1, &rays),
        (&["rays", "repack", p], 1, &rays),
        (&["rays", "reorder", p], 1, &rays),
        (&["merge-profiles", p, p, "-o", &sum], 1, &blocks),
        (&["rays", "dump", &no_rays], 1, &without),
        (&["rays", "dump", &no_rays, "--warps", "--format", "csv"], 1, &without),
        (&["rays", "repack", &no_rays], 1, &without),
        (&["rays", "reorder", &no_rays], 1, &without),
        (&["anlyze", &no_rays], 2, &["there is no command \"anlyze\"; did you mean analyze?"]),
        (&["screnshot"], 2, &["did you mean screenshot?"]),
    ];
    let with_device: &[(&[&str], i32, &[&str])] = &[
        (&[p, "--gpu", "a device nobody has"], 77, &["no device matches", "there are: 0"]),
        (&["check", p, "--gpu", "a device nobody has"], 77, &["no device matches", "there are: 0"]),
        (&[&hungry], 1, &["vkAllocateMemory: 1125899906842624 bytes", "no memory left", "--frames"]),
        (&[&hungry, "--memory", "remap"], 1, &["vkAllocateMemory: 1125899906842624 bytes", "no memory left"]),
        (&[p, "--times", "pass", "--csv", &nowhere], 1, &["make its folder first"]),
        (&["screenshot", p, "-o", &under_a_file], 1, &["plain.gfxr/shots"]),
        (
            &[p, "--frame-by", "submit", "--frames", "90-91"],
            1,
            &["there is no frame 90", "the last is frame 7"],
        ),
    ];
    let no_device = [no_device, wrong_input].concat();
    let before = std::fs::read_dir(scratch.path("")).expect("readable").count();
    let device = device("errors of a replay");
    for (args, code, says) in no_device.iter().chain(with_device.iter().filter(|_| device)) {
        let out = run(args.iter());
        let err = text(&out.stderr);
        assert_eq!(out.status.code(), Some(*code), "{args:?}: {err}");
        assert!(out.stdout.is_empty(), "{args:?} printed a result: {}", text(&out.stdout));
        for s in *says {
            assert!(err.contains(s), "{args:?} does not say {s:?}: {err}");
        }
        assert!(err.starts_with("reray-replay: ") || *code == 2, "{args:?}: {err}");
    }
    let after = std::fs::read_dir(scratch.path("")).expect("readable").count();
    assert_eq!(after, before, "nothing half-written is left");
}

#[test]
fn info_says_what_a_capture_of_another_api_is() {
    let scratch = Scratch::new("other-api");
    let (_, bytes) = plain(&scratch);
    let d3d = write(&scratch, "d3d12.gfxr", &direct3d(&bytes));
    let out = run(["info", &d3d]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    assert!(
        text(&out.stdout).contains("calls that are not Vulkan's (307 of Direct3D 12)"),
        "{}",
        text(&out.stdout)
    );
    let out = run(["info", "--json", &d3d]);
    let info: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert!(info["warnings"].to_string().contains("307 of Direct3D 12"), "{}", info["warnings"]);
}

//! `check` and the negotiation of a replay: what a capture asks for is compared by name, all that is missing is listed at
//! once, and a replay on another driver refuses it before the device is made.

use crate::device::device;
use crate::support::{Scratch, captures, root, run, text};
use gfxr_parse::container::Capture;
use gfxr_parse::schema::command_named;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// `cubes`, not compressed.
fn plain(scratch: &Scratch) -> Vec<u8> {
    let file = scratch.path("plain.gfxr");
    let cubes = root().join("captures/samples/cubes.gfxr");
    let out = run([
        "compress".as_ref(),
        cubes.as_os_str(),
        "--to".as_ref(),
        "none".as_ref(),
        "-o".as_ref(),
        file.as_os_str(),
    ]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    std::fs::read(&file).expect("just written")
}

/// Replaces bytes in the blocks that `of` picks; `n` times at least once.
fn replace(bytes: &mut [u8], of: impl Fn(&gfxr_parse::container::Block<'_>) -> bool, from: &[u8], to: &[u8]) {
    assert_eq!(from.len(), to.len());
    let capture = Capture::new(bytes.to_vec()).expect("a capture");
    let mut found = 0;
    for b in capture.blocks().filter(|b| of(b)) {
        let (start, end) = (b.offset as usize, b.offset as usize + b.raw().len());
        for i in start..=end - from.len() {
            if &bytes[i..i + from.len()] == from {
                bytes[i..i + to.len()].copy_from_slice(to);
                found += 1;
            }
        }
    }
    assert!(found > 0, "{from:?} is not there");
}

/// The capture says that it was taken on another version of the driver.
fn foreign(bytes: &mut [u8]) {
    let capture = Capture::new(bytes.to_vec()).expect("a capture");
    let b = capture.blocks().find(|b| b.meta_type() == Some(11)).expect("properties of the device");
    let (start, end) = (b.offset as usize, b.offset as usize + b.raw().len());
    // vendorID of software drivers by Mesa; driverVersion is the word before it.
    let vendor = 0x0001_0005u32.to_le_bytes();
    let at = (start..end - 4).find(|&i| bytes[i..i + 4] == vendor).expect("the vendor");
    bytes[at - 4..at].copy_from_slice(&7u32.to_le_bytes());
}

fn write(scratch: &Scratch, name: &str, bytes: &[u8]) -> PathBuf {
    let file = scratch.path(name);
    std::fs::write(&file, bytes).expect("written");
    file
}

fn check(file: &Path, flags: &[&str]) -> (Option<i32>, Value) {
    let out = run(["check", file.to_str().expect("plain"), "--json"].iter().chain(flags));
    let v = serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(&out.stderr)));
    (out.status.code(), v)
}

/// Lines of a kind: (what, asked, found, done).
fn lines(v: &Value, sort: &str) -> Vec<(String, String, String, String)> {
    let all = v["negotiation"].as_array().expect("a list").iter().filter(|l| l["sort"] == sort);
    let s = |l: &Value, k: &str| l[k].as_str().expect("a text").to_owned();
    all.map(|l| (s(l, "what"), s(l, "asked"), s(l, "found"), s(l, "done"))).collect()
}

#[test]
fn every_capture_here_would_replay_and_does_so_with_the_same_table() {
    if !device("check") {
        return;
    }
    for file in captures() {
        let (code, v) = check(&file, &[]);
        assert_eq!((code, &v["replays"]), (Some(0), &true.into()), "{}: {}", file.display(), v["refused"]);
        assert!(!lines(&v, "queues").is_empty() && !lines(&v, "version").is_empty(), "{}", file.display());
        assert!(!lines(&v, "memory").is_empty(), "{}", file.display());
    }
    let cubes = root().join("captures/samples/cubes.gfxr");
    let (_, v) = check(&cubes, &[]);
    let formats = lines(&v, "format");
    let canvas = "VK_FORMAT_R16G16B16A16_SFLOAT for SAMPLED | COLOR_ATTACHMENT";
    assert!(formats.iter().any(|l| l.0 == canvas && l.1 == "960×540" && l.3 == "kept"), "{formats:?}");
    let out = run([cubes.as_os_str(), "--json".as_ref(), "--negotiation".as_ref()]);
    let r: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(r["negotiation"], v["negotiation"]);
    let table = text(&out.stderr);
    assert!(table.contains("asked for") && table.contains(canvas), "{table}");
}

#[test]
fn all_that_is_missing_is_named_at_once_before_anything_runs() {
    if !device("check") {
        return;
    }
    let scratch = Scratch::new("check");
    let mut bytes = plain(&scratch);
    let of = |name: &'static str| {
        let id = command_named(name).expect("known").id;
        move |b: &gfxr_parse::container::Block<'_>| b.call_id() == Some(id)
    };
    foreign(&mut bytes);
    let elsewhere = write(&scratch, "elsewhere.gfxr", &bytes);
    let (code, v) = check(&elsewhere, &[]);
    assert_eq!((code, &v["same_driver"], &v["memory"]), (Some(0), &false.into(), &"rebind".into()));
    let out = run([elsewhere.as_os_str(), "--json".as_ref()]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let r: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(r["negotiation"], v["negotiation"], "a foreign driver is compared in whole");

    // No llvmpipe has ASTC, whose blocks a view in another format looks at, and nobody has this extension.
    replace(&mut bytes, of("vkCreateImage"), &[1, 0, 0, 0, 97, 0, 0, 0], &[1, 0, 0, 0, 157, 0, 0, 0]);
    replace(&mut bytes, of("vkCreateDevice"), b"VK_KHR_swapchain", b"VK_NOT_swapchain");
    let lacking = write(&scratch, "lacking.gfxr", &bytes);
    let format = "VK_FORMAT_ASTC_4x4_UNORM_BLOCK for SAMPLED | COLOR_ATTACHMENT";
    let (code, v) = check(&lacking, &[]);
    assert_eq!((code, &v["replays"]), (Some(77), &false.into()));
    assert_eq!(v["refused"], serde_json::json!(["VK_NOT_swapchain", format]));
    let out = run(["check".as_ref(), lacking.as_os_str()]);
    let page = text(&out.stdout);
    assert!(
        page.contains("would not replay") && page.contains(&format!("because {format} is not here")),
        "{page}"
    );

    let out = run([lacking.as_os_str()]);
    let err = text(&out.stderr);
    assert_eq!(out.status.code(), Some(77), "{err}");
    assert!(
        err.contains("VK_NOT_swapchain")
            && err
                .contains(&format!("{format} (asked: 960×540; here: not supported, and views of its texels")),
        "{err}"
    );
    assert!(
        err.contains("--remove-unsupported") && err.contains("--keep-going") && err.contains("--gpu"),
        "{err}"
    );
    assert!(out.stdout.is_empty());
    // Extensions can be dropped, formats cannot.
    let (code, v) = check(&lacking, &["--remove-unsupported"]);
    assert_eq!((code, &v["refused"]), (Some(77), &serde_json::json!([format])));
    let (code, _) = check(&lacking, &["--remove-unsupported", "--keep-going"]);
    assert_eq!(code, Some(0));
}

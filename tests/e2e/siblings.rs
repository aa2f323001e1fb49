//! A capture whose blocks lie in a file beside it is the same capture to every command; without one that is
//! not there as much is replayed as can be; one that is no file is an error and never a wait.

use crate::support::{Scratch, root, run, text};
use gfxr_parse::container::{Capture, FileHeader};
use gfxr_parse::meta::{ExecuteBlocks, Meta};
use gfxr_parse::schema::command_named;
use gfxr_parse::writer::Writer;
use serde_json::Value;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A capture that runs all blocks of `sibling`, which is a capture compressed as `like`.
fn runs(sibling: &str, like: &Path) -> Vec<u8> {
    let like = Capture::new(std::fs::read(like).expect("a sample")).expect("a capture");
    let header: FileHeader = like.header().clone();
    let mut w = Writer::new(vec![], &header).expect("memory");
    let offset = header.size() as i64;
    w.meta(0, Meta::ExecuteBlocks(ExecuteBlocks { blocks: 0, offset, file: sibling.into() }))
        .expect("memory");
    w.finish().expect("memory")
}

/// The capture `sample` with one call in a file of its own, "one.gfxa"; the rest is in "all.gfxa".
fn with_one_call_apart(scratch: &Scratch, sample: &str, name: &str) -> PathBuf {
    let whole = root().join("captures/samples").join(sample);
    let bytes = std::fs::read(&whole).expect("a sample");
    let capture = Capture::new(bytes.clone()).expect("a capture");
    let id = command_named(name).expect("a command").id;
    let blocks: Vec<(u64, bool)> = capture.blocks().map(|b| (b.offset, b.call_id() == Some(id))).collect();
    let at = blocks.iter().position(|b| b.1).expect("it has that call");
    let mut w = Writer::new(vec![], capture.header()).expect("memory");
    for (blocks, offset, file) in [
        (at as u32, capture.header().size() as u64, "all.gfxa"),
        (1, blocks[at].0, "one.gfxa"),
        (0, blocks[at + 1].0, "all.gfxa"),
    ] {
        let run = ExecuteBlocks { blocks, offset: offset as i64, file: file.into() };
        w.meta(0, Meta::ExecuteBlocks(run)).expect("memory");
    }
    std::fs::write(scratch.path("split.gfxr"), w.finish().expect("memory")).expect("written");
    for file in ["all.gfxa", "one.gfxa"] {
        std::fs::write(scratch.path(file), &bytes).expect("written");
    }
    scratch.path("split.gfxr")
}

/// The scene of eight steps, behind one block.
fn split(scratch: &Scratch) -> (PathBuf, PathBuf) {
    let whole = root().join("captures/samples/steps.gfxr");
    std::fs::copy(&whole, scratch.path("all.gfxa")).expect("copied");
    std::fs::write(scratch.path("split.gfxr"), runs("all.gfxa", &whole)).expect("written");
    (whole, scratch.path("split.gfxr"))
}

fn json(arguments: &[&str], file: &Path) -> Value {
    let out = run(arguments.iter().map(AsRef::as_ref).chain([file.as_os_str()]));
    assert!(out.status.success(), "{arguments:?}: {}", text(&out.stderr));
    serde_json::from_slice(&out.stdout).expect("JSON")
}

#[test]
fn a_capture_behind_one_block_is_the_same_capture() {
    let scratch = Scratch::new("split");
    let (whole, split) = split(&scratch);
    let info = [json(&["info", "--json"], &whole), json(&["info", "--json"], &split)];
    for part in ["frames", "calls", "pipelines", "shaders", "memory", "devices"] {
        assert_eq!(info[1][part], info[0][part], "{part}");
    }
    assert!(info[0]["frames"]["count"].as_u64().is_some_and(|n| n > 1), "{}", info[0]["frames"]);
    let echo = [json(&["--echo", "--json"], &whole), json(&["--echo", "--json"], &split)];
    for part in ["calls", "frames", "frame_by"] {
        assert_eq!(echo[1][part], echo[0][part], "{part}");
    }
    // Frames that are there are known before anything runs, and so are those that are not.
    let out = run(["--echo".as_ref(), "--frames".as_ref(), "900".as_ref(), split.as_os_str()]);
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
    assert!(text(&out.stderr).contains("900"), "{}", text(&out.stderr));
    let out = run(["verify".as_ref(), split.as_os_str()]);
    assert!(out.status.success(), "{}{}", text(&out.stdout), text(&out.stderr));
}

#[test]
fn errors_in_a_sibling_name_it() {
    let scratch = Scratch::new("split-damaged");
    let (_, split) = split(&scratch);
    let mut bytes = std::fs::read(scratch.path("all.gfxa")).expect("there");
    let (offset, index) = {
        let sibling = Capture::new(bytes.clone()).expect("a capture");
        let call = sibling.blocks().filter(|b| b.call_id().is_some()).nth(3).expect("it has calls");
        (call.offset as usize, call.index + 1)
    };
    // A call that nobody knows, in front of whose block the naming one counts.
    bytes[offset + 12..offset + 16].copy_from_slice(&[0xFF, 0xFF, 1, 0]);
    std::fs::write(scratch.path("all.gfxa"), bytes).expect("written");
    let place = format!("all.gfxa: block {index}, offset {offset:#x}: call id 0x1ffff is not known");
    let out = run(["verify".as_ref(), split.as_os_str()]);
    assert_eq!(out.status.code(), Some(5));
    assert!(text(&out.stdout).contains(&place), "{}", text(&out.stdout));
    let out = run(["--echo".as_ref(), split.as_os_str()]);
    assert!(!out.status.success());
    assert!(text(&out.stderr).contains(&place), "{}", text(&out.stderr));
}

#[test]
fn what_does_not_need_a_missing_sibling_is_replayed() {
    let scratch = Scratch::new("missing-sibling");
    let split = with_one_call_apart(&scratch, "cubes.gfxr", "vkCreateGraphicsPipelines");
    let whole = json(&["--json"], &split);
    assert_eq!(whole["need_missing_files"]["count"], 0, "{whole}");
    std::fs::remove_file(scratch.path("one.gfxa")).expect("removed");
    let without = json(&["--json"], &split);
    assert_eq!(
        without["missing_files"],
        serde_json::json!({"file \"one.gfxa\" is not beside the capture": 1})
    );
    assert_eq!(without["frames"], whole["frames"]);
    let left_out = without["need_missing_files"]["first"].as_array().expect("a list");
    let names = |what: &str| left_out.iter().any(|c| c.as_str().is_some_and(|c| c.contains(what)));
    assert!(names("vkCmdBindPipeline") && names("vkCmdDraw"), "{left_out:?}");
    assert_eq!(without["divergences"]["count"], 0, "{without}");
    for (command, code) in [("check", 0), ("dump", 0), ("verify", 5)] {
        let out = run([command.as_ref(), split.as_os_str()]);
        let said = text(&out.stderr) + &text(&out.stdout);
        assert_eq!(out.status.code(), Some(code), "{command}: {said}");
        assert!(said.contains("one.gfxa\" is not beside the capture"), "{command}: {said}");
    }
}

#[test]
fn a_sibling_that_cannot_be_read_is_an_error() {
    let scratch = Scratch::new("no-sibling");
    let (_, split) = split(&scratch);
    let sibling = scratch.path("all.gfxa");
    let mut tried = 0;
    let mut tells = |what: &str| {
        for arguments in [&["info"][..], &["info", "--json"], &["dump"], &["verify"], &["--echo"]] {
            let out = run(arguments.iter().map(AsRef::as_ref).chain([split.as_os_str()]));
            let said = text(&out.stderr) + &text(&out.stdout);
            assert!(matches!(out.status.code(), Some(1 | 5)), "{arguments:?}: {:?} {said}", out.status);
            assert!(said.contains(what), "{arguments:?}: expected {what}, found {said}");
            tried += 1;
        }
    };
    let elsewhere = scratch.path("elsewhere");
    std::fs::rename(&sibling, &elsewhere).expect("moved");
    symlink(&elsewhere, &sibling).expect("a link");
    tells("expected a regular file, found a symbolic link");
    std::fs::remove_file(&sibling).expect("removed");
    std::fs::create_dir(&sibling).expect("a folder");
    tells("is a directory");
    std::fs::remove_dir(&sibling).expect("removed");
    let pipe = Command::new("mkfifo").arg(&sibling).status().expect("mkfifo is there");
    assert!(pipe.success());
    tells("expected a regular file, found a pipe");
    assert_eq!(tried, 15);
}

#[test]
fn a_capture_that_is_no_file_is_an_error() {
    let scratch = Scratch::new("no-file");
    let pipe = scratch.path("pipe.gfxr");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo is there").success());
    for (file, what) in [
        (pipe.as_path(), "expected a regular file, found a pipe; write it to a file first"),
        (Path::new("/dev/zero"), "expected a regular file, found a device; write it to a file first"),
        (root(), "is a directory; name a capture (.gfxr) in it"),
    ] {
        for command in ["info", "verify", "dump", "--echo"] {
            let out = run([command.as_ref(), file.as_os_str()]);
            assert_eq!(out.status.code(), Some(1), "{command} {file:?}");
            assert_eq!(text(&out.stderr), format!("reray-replay: {}: {what}\n", file.display()));
        }
    }
}

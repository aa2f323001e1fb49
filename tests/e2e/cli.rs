//! The command line of info, dump, extract and verify: what is printed where, and how it ends.

use crate::support::{Scratch, reray, root, run, shared_capture, text};
use serde_json::Value;
use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::Stdio;

/// A capture of our own.
fn cubes() -> PathBuf {
    root().join("captures/samples/cubes.gfxr")
}

fn lines(out: &[u8]) -> Vec<Value> {
    text(out).lines().map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{e} in {l}"))).collect()
}

fn dump(arguments: &[&str]) -> Vec<Value> {
    let out = run(["dump"]
        .iter()
        .copied()
        .chain(arguments.iter().copied())
        .chain([cubes().to_str().expect("UTF-8")]));
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    assert!(out.stderr.is_empty(), "{}", text(&out.stderr));
    lines(&out.stdout)
}

#[test]
fn dump_writes_one_object_a_block() {
    let all = dump(&[]);
    assert!(all[0]["header"]["vulkan-version"].is_string());
    let indices: Vec<u64> = all.iter().filter_map(|l| l["index"].as_u64()).collect();
    assert!(indices.is_sorted() && indices.len() > 1000);
    for kind in ["function", "meta", "annotation"] {
        assert!(all.iter().any(|l| l.get(kind).is_some()), "{kind}");
    }
    // Running numbers: every submission has the next one; commands count per command buffer.
    let submits: Vec<u64> = all.iter().filter_map(|l| l["function"]["sub_index"].as_u64()).collect();
    assert_eq!(submits, (1..=submits.len() as u64).collect::<Vec<_>>());
    let mut last = std::collections::HashMap::new();
    for f in all.iter().map(|l| &l["function"]).filter(|f| f["cmd_index"].is_u64()) {
        let n = last.entry(f["args"]["commandBuffer"].as_u64()).or_insert(0);
        *n += 1;
        assert_eq!(f["cmd_index"], *n);
    }
    assert!(last.len() > 1);
}

#[test]
fn dump_selects_without_changing_lines() {
    let all = dump(&[]);
    let wanted =
        |f: &dyn Fn(&Value) -> bool| all.iter().skip(1).filter(|l| f(l)).cloned().collect::<Vec<_>>();
    let draws = dump(&["--commands", "vkCmdDraw*", "--commands", "vkQueueSubmit"]);
    let is_draw = |l: &Value| {
        l["function"]["name"].as_str().is_some_and(|n| n.starts_with("vkCmdDraw") || n == "vkQueueSubmit")
    };
    assert_eq!(draws[1..], wanted(&is_draw)[..]);
    let in_range = |l: &Value| l["index"].as_u64().is_some_and(|i| i == 5 || (100..=300).contains(&i));
    assert_eq!(dump(&["--blocks", "5,100-300"])[1..], wanted(&in_range)[..]);
    let fills = dump(&["--commands", "FillMemory*"]);
    assert_eq!(fills[1..], wanted(&|l| l["meta"]["name"] == "FillMemoryCommand")[..]);
}

#[test]
fn dump_selects_frames() {
    let frames = |f: &str| dump(&["--frames", f]).len() - 1;
    let (first, rest, all) = (frames("1"), frames("2-"), dump(&[]).len() - 1);
    assert!(first > 100 && rest > 100 && first + rest == all, "{first} {rest} {all}");
    let presents: Vec<Value> = dump(&["--frames", "7-9", "--commands", "vkQueuePresentKHR"]);
    assert_eq!(presents.len() - 1, 3);
    let Some(trimmed) = shared_capture("vkcube_trim_10_19.gfxr") else { return };
    let snapshot =
        lines(&run(["dump".as_ref(), trimmed.as_os_str(), "--frames".as_ref(), "0".as_ref()]).stdout);
    assert_eq!(snapshot[1]["state"]["marker_type"], "BeginMarker");
    assert_eq!(snapshot.last().expect("lines")["state"]["marker_type"], "EndMarker");
}

#[test]
fn dump_does_with_bytes_what_it_is_told() {
    let first = |flags: &[&str], name: &str, member: &str| {
        let all = dump(&[flags, &["--commands", name]].concat());
        all.iter().skip(1).map(|l| l.pointer(member).cloned().unwrap_or_default()).find(|v| !v.is_null())
    };
    let code = "/function/args/pCreateInfo/pCode";
    assert_eq!(first(&[], "vkCreateShaderModule", code), Some("[Binary data]".into()));
    assert_eq!(first(&["--no-binaries"], "vkCreateShaderModule", code), Some("[Binary data]".into()));
    let data = "/meta/args/data";
    assert_eq!(first(&[], "FillMemoryCommand", data), Some("[Binary data]".into()));
    let scratch = Scratch::new("binaries");
    let folder = scratch.path("bytes");
    let flags = ["--binaries", folder.to_str().expect("UTF-8")];
    let Some(Value::String(name)) = first(&flags, "vkCreateShaderModule", code) else {
        panic!("a file name")
    };
    let spirv = fs::read(folder.join(name)).expect("the file is there");
    assert_eq!(spirv[..4], 0x0723_0203u32.to_le_bytes());
}

#[test]
fn dump_writes_text_for_people() {
    let out = run(["dump".as_ref(), cubes().as_os_str(), "--format".as_ref(), "text".as_ref()]);
    let page = text(&out.stdout);
    let create = page.split("\n#").find(|r| r.contains(" vkCreateInstance (thread ")).expect("there is one");
    assert!(create.contains(
        " = VK_SUCCESS\n    pCreateInfo:\n        sType: VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO\n"
    ));
}

#[test]
fn a_file_is_there_whole_or_not_at_all() {
    let scratch = Scratch::new("atomic");
    let file = scratch.path("out.jsonl");
    let out = run(["dump".as_ref(), cubes().as_os_str(), "-o".as_ref(), file.as_os_str()]);
    assert!(out.status.success() && out.stdout.is_empty());
    assert_eq!(fs::read(&file).expect("written"), run(["dump".as_ref(), cubes().as_os_str()]).stdout);
    let only = |f: &PathBuf| fs::read_dir(f.parent().expect("a folder")).expect("readable").count();
    assert_eq!(only(&file), 1, "no temporary file is left");
    let nowhere = scratch.path("no/such/folder/out.jsonl");
    let out = run(["dump".as_ref(), cubes().as_os_str(), "-o".as_ref(), nowhere.as_os_str()]);
    assert_eq!(out.status.code(), Some(1));
    assert!(text(&out.stderr).starts_with("reray-replay: "));
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let mut child = reray()
        .args(["dump".as_ref(), cubes().as_os_str()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut some = [0; 100];
    child.stdout.take().expect("piped").read_exact(&mut some).expect("a line");
    let out = child.wait_with_output().expect("it ends");
    assert_eq!((out.status.code(), text(&out.stderr)), (Some(0), String::new()));
}

/// A copy of the sample whose first vkCreateShaderModule is damaged and whose last block is cut.
pub fn damaged(scratch: &Scratch) -> (PathBuf, u64) {
    let bytes = fs::read(cubes()).expect("readable");
    let capture = gfxr_parse::container::Capture::new(bytes.clone()).expect("a capture");
    let id = gfxr_parse::schema::command_named("vkCreateShaderModule").expect("a command").id;
    let block = capture.blocks().find(|b| b.call_id() == Some(id)).expect("there is one");
    let mut bytes = bytes;
    let at = block.offset as usize;
    bytes[at + 20..at + block.raw().len()].fill(0xFF);
    bytes.truncate(bytes.len() - 3);
    let file = scratch.path("damaged.gfxr");
    fs::write(&file, &bytes).expect("written");
    (file, block.index)
}

#[test]
fn a_bad_call_does_not_end_the_file() {
    let scratch = Scratch::new("damaged");
    let (file, bad) = damaged(&scratch);
    let out = run(["dump".as_ref(), file.as_os_str()]);
    assert_eq!(out.status.code(), Some(1));
    let complaints = text(&out.stderr);
    assert!(complaints.contains(&format!("block {bad}, offset 0x")), "{complaints}");
    assert!(complaints.contains("the file ends inside this block"), "{complaints}");
    let indices: Vec<u64> = lines(&out.stdout).iter().filter_map(|l| l["index"].as_u64()).collect();
    assert!(!indices.contains(&bad) && indices.contains(&(bad + 1)));

    let out = run(["verify".as_ref(), file.as_os_str()]);
    assert_eq!(out.status.code(), Some(5), "{}", text(&out.stderr));
    assert!(text(&out.stdout).contains(&format!("block {bad}, offset 0x")));
    let out = run(["verify".as_ref(), "--json".as_ref(), file.as_os_str()]);
    let report: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!((&report["different"], &report["differences"][0]["block"]), (&1.into(), &bad.into()));
    assert!(report["truncated"].is_string());

    let out = run(["info".as_ref(), "--json".as_ref(), file.as_os_str()]);
    assert_eq!(out.status.code(), Some(0));
    let info: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert!(
        info["file"]["truncated"].is_string() && info["warnings"].as_array().is_some_and(|w| !w.is_empty())
    );
}

#[test]
fn what_is_no_capture_is_refused() {
    let scratch = Scratch::new("refused");
    let file = scratch.path("x.gfxr");
    fs::write(&file, "not a capture").expect("written");
    for command in ["info", "dump", "verify"] {
        let out = run([command.as_ref(), file.as_os_str()]);
        assert_eq!(out.status.code(), Some(1), "{command}");
        assert!(
            text(&out.stderr).contains("expected \"GFXR\" at the start, found \"not \""),
            "{}",
            text(&out.stderr)
        );
        let out = run([command.as_ref(), scratch.path("missing.gfxr").as_os_str()]);
        assert_eq!(out.status.code(), Some(1), "{command}");
    }
    assert_eq!(run(["dump", "--blocks", "9-1", "x"]).status.code(), Some(2));
    assert_eq!(run(["dump", "--no-such-flag", "x"]).status.code(), Some(2));
}

#[test]
fn info_says_what_is_in_it() {
    let out = run(["info".as_ref(), "--json".as_ref(), cubes().as_os_str()]);
    let info: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(info["schema_version"], 1);
    assert_eq!(info["frames"]["count"], 30);
    assert_eq!(info["frames"]["trimmed"], false);
    assert_eq!(info["file"]["compression"], "lz4");
    assert_eq!(info["decodable"]["undecodable"], Value::Array(Vec::new()));
    assert_eq!(info["decodable"]["calls"], info["calls"]["total"]);
    let by_command = info["calls"]["by_command"].as_object().expect("an object");
    let all = dump(&[]);
    for (name, count) in by_command {
        let n = all.iter().filter(|l| l["function"]["name"] == **name).count();
        assert_eq!(count.as_u64(), Some(n as u64), "{name}");
    }
    assert!(
        info["pipelines"]["graphics"].as_u64() > Some(0) && info["pipelines"]["compute"].as_u64() > Some(0)
    );
    assert!(info["memory"]["peak_bytes"].as_u64() > Some(0));
    let page = text(&run(["info".as_ref(), cubes().as_os_str()]).stdout);
    for heading in
        ["File\n", "Application\n", "Device (used)\n", "Frames\n", "Device memory\n", "Calls by command\n"]
    {
        assert!(page.contains(heading), "{heading} in {page}");
    }
}

#[test]
fn extract_writes_each_module_once() {
    let scratch = Scratch::new("extract");
    let folder = scratch.path("shaders");
    let out = run(["extract".as_ref(), cubes().as_os_str(), "-o".as_ref(), folder.as_os_str()]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let index: Value =
        serde_json::from_slice(&fs::read(folder.join("index.json")).expect("there")).expect("JSON");
    let files = index["files"].as_object().expect("an object");
    assert!(files.len() > 2);
    for (name, file) in files {
        let spirv = fs::read(folder.join(format!("{name}.spv"))).expect("there");
        assert_eq!(file["size_bytes"].as_u64(), Some(spirv.len() as u64));
        assert_eq!(blake3::hash(&spirv).to_hex().as_str()[..16], **name);
        assert!(!file["module"]["entry_points"][0]["name"].is_null());
    }
    let created = dump(&["--commands", "vkCreateShaderModule"]).len() - 1;
    let creations = index["creations"].as_array().expect("an array");
    assert_eq!(creations.len(), created);
    assert!(creations.iter().any(|c| !c["used"].is_null()));
    assert!(fs::read_to_string(folder.join("index.txt")).expect("there").contains(".spv"));
}

//! Edits of blocks that are no calls, and of contents, held against what is printed of them again.

use super::*;
use crate::ahead::Call;
use crate::container::{Capture, Compression, FileHeader};
use crate::decode::decode_found;
use crate::image::Image;
use crate::meta::Environment;
use crate::print::{Binaries, Counts, Form, Options, Printer};
use crate::writer::Writer;
use std::collections::BTreeMap;

/// Numbers and texts of metadata and annotations, in a block of each type that captures have.
#[test]
fn fields_of_blocks_that_are_no_calls_can_be_edited() {
    let mut editor = Editor::default();
    let mut edited = BTreeMap::<String, usize>::new();
    let mut refused = vec![];
    for sample in ["triangle_1", "rays", "cubes"] {
        let bytes = std::fs::read(format!("../captures/samples/{sample}.gfxr")).expect("a sample");
        let capture = Capture::new(bytes).expect("a capture");
        let mut written = Writer::new(vec![], capture.header()).expect("a writer");
        written
            .meta(1, Meta::DisplayMessage(crate::meta::DisplayMessage { message: "wait".into() }))
            .expect("written");
        let more = Capture::new(written.finish().expect("written")).expect("a capture");
        for block in capture.blocks_of_main_file().chain(more.blocks_of_main_file()) {
            let Some(own) = editor.printed_block(&block) else { continue };
            let Some(kind) = ["meta", "annotation"].into_iter().find(|k| own.get(*k).is_some()) else {
                continue;
            };
            let name = own[kind]["name"].as_str().unwrap_or(kind).to_owned();
            if edited.get(&name).is_some_and(|n| *n > 40) {
                continue;
            }
            // What is written another way is no edit.
            let mut named = Printer::new(Form::Json, Options { expand_flags: true, ..Options::default() });
            named.block(&block).expect("printed");
            let mut line = vec![];
            named.drain_into(&mut Counts::default(), &mut line);
            let named: Value = serde_json::from_slice(&line).expect("JSON");
            assert_eq!(editor.edit_block(&block, &named).expect("the same"), None, "{name}");
            let mut paths = vec![];
            leaves(&own[kind], &format!("/{kind}"), &mut paths);
            for path in paths {
                let mut wanted = own.clone();
                let value = wanted.pointer_mut(&path).expect("it is there");
                *value = match &*value {
                    Value::Number(n) => Value::from(n.as_u64().unwrap_or(0) ^ 1),
                    Value::String(text) if text == "0x00000001" => "0x00000003".into(),
                    Value::String(text) if text.starts_with("0x") => "0x00000001".into(),
                    Value::String(text) => format!("{text}; changed").into(),
                    _ => continue,
                };
                // (how many bytes follow is no field of its own)
                match editor.edit_block(&block, &wanted) {
                    Ok(Some(raw)) => {
                        let now = editor.printed_block(&block.with_raw(&raw)).expect("printed");
                        assert_eq!(now, wanted, "{path}");
                        *edited.entry(name.clone()).or_default() += 1;
                    }
                    Ok(None) => panic!("{path} is another"),
                    Err(_) => refused.push(format!("{name}{path}")),
                }
            }
        }
    }
    assert!(edited.len() >= 6, "{edited:?}");
    refused.sort();
    refused.dedup();
    // Contents and their sizes, and what says how an annotation or a block is read.
    let fixed = [
        "Command/meta/args/data",
        "/data_size",
        "FillMemoryCommand/meta/args/size",
        "/geometryCount",
        "/pipeline_cache_uuid",
        "/meta/name",
        "annotation/annotation/type",
    ];
    refused.retain(|r| fixed.iter().all(|f| !r.ends_with(f)) && !r.contains("/level_sizes/"));
    assert_eq!(refused, Vec::<String>::new());
}

fn leaves(of: &Value, path: &str, to: &mut Vec<String>) {
    match of {
        Value::Object(o) => o.iter().for_each(|(k, v)| leaves(v, &format!("{path}/{k}"), to)),
        Value::Array(a) => a.iter().enumerate().for_each(|(i, v)| leaves(v, &format!("{path}/{i}"), to)),
        _ => to.push(path.to_owned()),
    }
}

/// Environment variables become longer and shorter, and what is not printed of them, the NUL at the end, stays.
#[test]
fn environment_variables_can_be_edited() {
    let mut written = Writer::new(vec![], &FileHeader::new(Compression::None)).expect("a writer");
    let raw = b"ONE=first\xFFTWO/~=second\xFFTHREE=\0";
    written.meta(1, Meta::Environment(Environment { raw: Text(raw) })).expect("written");
    let capture = Capture::new(written.finish().expect("written")).expect("a capture");
    let block = capture.blocks_of_main_file().next().expect("a block");
    let mut editor = Editor::default();
    let own = editor.printed_block(&block).expect("printed");
    for (name, value) in [("ONE", "a longer one"), ("ONE", ""), ("TWO/~", "2"), ("THREE", "3")] {
        let mut wanted = own.clone();
        wanted["meta"]["args"][name] = value.into();
        let raw = editor.edit_block(&block, &wanted).expect(name).expect("another");
        let edited = block.with_raw(&raw);
        assert_eq!(editor.printed_block(&edited).expect("printed"), wanted, "{name}");
        let BlockKind::Meta(m) = edited.kind().expect("read") else { panic!("metadata") };
        assert!(
            m.tail.is_empty() && matches!(m.meta, Meta::Environment(e) if e.raw.0.ends_with(b"\0")),
            "{name}"
        );
    }
}

/// Contents that are in files: those that are the same are no edit, others bring their size with them, and a size without contents is refused.
#[test]
fn contents_come_from_files_and_sizes_follow_them() {
    let folder = std::env::temp_dir().join(format!("gfxr-edit-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut editor = Editor::new(folder.clone());
    let mut kinds = BTreeMap::<String, u64>::new();
    for sample in ["rays_frames_4_5", "cubes"] {
        let bytes = std::fs::read(format!("../captures/samples/{sample}.gfxr")).expect("a sample");
        let capture = Capture::new(bytes).expect("a capture");
        let options = Options { binaries: Binaries::Collect, ..Options::default() };
        let mut printer = Printer::new(Form::Json, options);
        for block in capture.blocks_of_main_file() {
            let mut line = vec![];
            printer.block(&block).expect("printed");
            printer.drain_into(&mut Counts::default(), &mut line);
            let blobs = printer.take_blobs();
            let [blob] = &blobs[..] else { continue };
            let print: Value = serde_json::from_slice(&line).expect("JSON");
            let name = ["meta", "function"].iter().find_map(|k| print[*k]["name"].as_str());
            let name = name.expect("a name");
            let n = kinds.entry(name.to_owned()).or_default();
            *n += 1;
            if *n > 5 || blob.bytes.is_empty() {
                continue;
            }
            let file = folder.join(&blob.name);
            std::fs::write(&file, &blob.bytes).expect("a file");
            if let Some(wanted) = print.get("function") {
                let mut call = called(&block);
                assert_eq!(editor.edit(&mut call, wanted).expect(name), 0, "{name}");
                std::fs::write(&file, [&blob.bytes[..], &[1, 2, 3, 4]].concat()).expect("a file");
                if name == "vkCreateShaderModule" {
                    assert_eq!(editor.edit(&mut call, wanted).expect(name), 2, "{name}");
                    let now = editor.printed(&mut call).expect("printed");
                    assert_eq!(now["args"]["pCreateInfo"]["codeSize"], blob.bytes.len() + 4);
                }
                continue;
            }
            assert_eq!(editor.edit_block(&block, &print).expect(name), None, "{name}");
            // Fewer bytes, and another member beside them.
            let half = blob.bytes.len() / 2;
            std::fs::write(&file, &blob.bytes[..half]).expect("a file");
            let mut wanted = print.clone();
            let args = wanted["meta"]["args"].as_object_mut().expect("members");
            let one = |names: [&'static str; 2]| {
                names.into_iter().find(|k| args.contains_key(*k)).expect("it has one")
            };
            let (id, size) = (one(["memory_id", "device_id"]), one(["size", "data_size"]));
            args[id] = (args[id].as_u64().expect("a number") + 1000).into();
            if print["meta"]["args"].get("level_sizes").is_some() {
                let e = editor.edit_block(&block, &wanted).expect_err("the levels have as many").to_string();
                assert!(e.contains("/meta/args/level_sizes cannot be edited so"), "{e}");
                continue;
            }
            let raw = editor.edit_block(&block, &wanted).expect(name).expect("another");
            let now = editor.printed_block(&block.with_raw(&raw)).expect("printed");
            assert_eq!(now["meta"]["args"][id], wanted["meta"]["args"][id], "{name}");
            assert_eq!(now["meta"]["args"][size], half, "{name}");
            // A size alone contradicts the contents.
            let mut wanted = editor.printed_block(&block).expect("printed");
            wanted["meta"]["args"][size] = (blob.bytes.len() as u64 - 1).into();
            assert!(editor.edit_block(&block, &wanted).is_err(), "{name}");
        }
    }
    std::fs::remove_dir_all(&folder).expect("it is there");
    let with_contents = [
        "FillMemoryCommand",
        "InitImageCommand",
        "SetRayTracingShaderGroupHandlesCommand",
        "vkCreateShaderModule",
    ];
    assert!(with_contents.iter().all(|name| kinds.contains_key(*name)), "{kinds:?}");
}

fn called(block: &Block) -> Call {
    let of = block.call().expect("read").expect("a call");
    let def = crate::schema::command(of.call_id).expect("known");
    let index = crate::schema::command_index(of.call_id).expect("known");
    let mut image = Image::default();
    decode_found(def, block, &of, &mut Scratch::new(), &mut image).expect("read");
    Call { command: def, index, image, block: block.index, thread: of.thread, frame: 0, in_state: false }
}

/// Contents that are never compressed bring their size, too; and a text of a field of so many bytes has its NUL, and what is behind it.
#[test]
fn handles_and_fields_of_fixed_size_keep_their_form() {
    let folder = std::env::temp_dir().join(format!("gfxr-edit-handles-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("handles"), [3; 32]).expect("a file");
    let mut editor = Editor::new(folder.clone());
    let mut written = Writer::new(vec![], &FileHeader::new(Compression::None)).expect("a writer");
    let handles = crate::meta::ShaderGroups { device: 1, pipeline: 2, handles: &[7; 64] };
    written.meta(1, Meta::ShaderGroups(handles)).expect("written");
    let mut name = [b'j'; 256];
    name[..5].copy_from_slice(b"game\0");
    let exe = crate::meta::ExeInfo { app_name: Text(&name), ..Default::default() };
    written.meta(1, Meta::ExeInfo(exe)).expect("written");
    let capture = Capture::new(written.finish().expect("written")).expect("a capture");
    let blocks: Vec<Block> = capture.blocks_of_main_file().collect();
    let mut wanted = editor.printed_block(&blocks[0]).expect("printed");
    wanted["meta"]["args"]["data_size"] = 32.into();
    assert!(editor.edit_block(&blocks[0], &wanted).is_err(), "64 bytes are there");
    wanted["meta"]["args"]["data"] = "handles".into();
    let raw = editor.edit_block(&blocks[0], &wanted).expect("edited").expect("another");
    let BlockKind::Meta(m) = blocks[0].with_raw(&raw).kind().expect("read") else { panic!("metadata") };
    assert!(m.tail.is_empty() && matches!(m.meta, Meta::ShaderGroups(s) if s.handles == [3; 32]));
    for (text, fits) in
        [("a longer name", true), ("x", true), (&*"x".repeat(255), true), (&*"x".repeat(256), false)]
    {
        let mut wanted = editor.printed_block(&blocks[1]).expect("printed");
        wanted["meta"]["args"]["app_name"] = text.into();
        let edited = editor.edit_block(&blocks[1], &wanted);
        assert_eq!(edited.is_ok(), fits, "{text}");
        let Ok(raw) = edited else { continue };
        let raw = raw.expect("another");
        let BlockKind::Meta(m) = blocks[1].with_raw(&raw).kind().expect("read") else { panic!("metadata") };
        let Meta::ExeInfo(exe) = m.meta else { panic!("a program") };
        let (field, end) = (exe.app_name.0, text.len());
        assert!(field.starts_with(text.as_bytes()) && field[end] == 0 && field[end + 1..] == name[end + 1..]);
    }
    std::fs::remove_dir_all(&folder).expect("it is there");
}

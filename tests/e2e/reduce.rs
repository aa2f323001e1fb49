//! `reduce`: planted faults, what is left of the capture, and that the fault is still there.

use crate::device::device;
use crate::ordering::without;
use crate::support::{Scratch, reray, run, sample, text};
use gfxr_parse::container::{self, Block, BlockKind, Capture};
use gfxr_parse::decode::decode_found;
use gfxr_parse::elements::{encode_arrays, without as without_elements};
use gfxr_parse::image::Image;
use gfxr_parse::schema::command;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// What `reduce` says of it, as JSON.
fn reduced(capture: &Path, still: &str, flags: &[&str], to: &Path) -> Value {
    let out = reray()
        .arg("reduce")
        .arg(capture)
        .args(["--still", still, "--json", "-o"])
        .arg(to)
        .args(flags)
        .output();
    let out = out.expect("the program starts");
    assert!(out.status.success(), "{}", text(&out.stderr));
    serde_json::from_slice(&out.stdout).expect("JSON")
}

/// Whether a block is the capture's, but for elements of arrays and functions of shaders that went, and data that were made zero.
fn is_of(part: &Block<'_>, whole: &Block<'_>) -> bool {
    const WITH_CODE: [&str; 3] = ["vkCreateShaderModule", "vkCreateShadersEXT", "vkCreateGraphicsPipelines"];
    const WITH_ARRAYS: [&str; 3] =
        ["vkUpdateDescriptorSets", "vkCmdPipelineBarrier", "vkCmdPipelineBarrier2"];
    if part.raw() == whole.raw() {
        return true;
    }
    if let (Some(a), Some(b)) = (part.call_id(), whole.call_id()) {
        let of =
            command(a).filter(|c| a == b && (WITH_CODE.contains(&c.name) || WITH_ARRAYS.contains(&c.name)));
        return of.is_some_and(|c| WITH_CODE.contains(&c.name) || less(part, whole));
    }
    let data = |block: &Block<'_>| {
        let Ok(BlockKind::Meta(meta)) = block.kind() else { return None };
        meta.meta.payload()?.to_vec(&mut container::Scratch::new()).ok()
    };
    match (data(part), data(whole)) {
        (Some(a), Some(b)) => a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| *a == 0 || a == b),
        _ => false,
    }
}

/// Whether a call is another without elements of its arrays.
fn less(part: &Block<'_>, whole: &Block<'_>) -> bool {
    let encoded = |block: &Block<'_>| {
        let Ok(BlockKind::Call(call)) = block.kind() else { panic!("a call") };
        let (mut image, mut scratch) = (Image::default(), container::Scratch::new());
        decode_found(command(call.call_id).expect("known"), block, &call, &mut scratch, &mut image)
            .expect("read");
        let mut bytes = vec![];
        let arrays = encode_arrays(&image, &mut bytes);
        (bytes, arrays)
    };
    let ((left, now), (all, arrays)) = (encoded(part), encoded(whole));
    let gone = |n: usize| -> Vec<bool> {
        let of = now.iter().find(|a| a.name == arrays[n].name);
        let mut kept = of.iter().flat_map(|a| &a.elements).map(|e| &left[e.clone()]).peekable();
        arrays[n].elements.iter().map(|e| kept.next_if_eq(&&all[e.clone()]).is_none()).collect()
    };
    let gone: Vec<Vec<bool>> = (0..arrays.len()).map(gone).collect();
    without_elements(&all, &arrays, |array, element| gone[array][element]) == left
}

/// Every block that is left is one of the capture's, in its order.
fn is_part_of(part: &Path, whole: &Path) {
    let open =
        |file: &Path| Capture::new(std::fs::read(file).expect("readable")).unwrap_or_else(|e| panic!("{e}"));
    let (part, whole) = (open(part), open(whole));
    let mut all = whole.blocks();
    for block in part.blocks() {
        assert!(all.any(|b| is_of(&block, &b)), "block {} is not the capture's", block.index);
    }
}

/// Every block of a capture, as it is stored.
fn blocks_of(file: &Path) -> Vec<Vec<u8>> {
    let capture = Capture::new(std::fs::read(file).expect("readable")).expect("a capture");
    capture.blocks().map(|b| b.raw().to_vec()).collect()
}

/// The commands that are left, in their order.
fn commands(capture: &Path) -> Vec<String> {
    let out = run([Path::new("dump"), capture]);
    let lines = text(&out.stdout);
    let name = |line: &str| {
        let line: Value = serde_json::from_str(line).expect("JSON");
        line["function"]["name"].as_str().map(str::to_owned)
    };
    lines.lines().filter_map(name).collect()
}

#[test]
fn a_message_of_the_validation_layer_is_left_with_what_it_is_about() {
    if !device("reduce") {
        return;
    }
    let scratch = Scratch::new("reduce-validation");
    let (whole, planted, small) =
        (sample("cubes.gfxr"), scratch.path("planted.gfxr"), scratch.path("small.gfxr"));
    // The viewport is not set any more, in one frame.
    let dumped = text(&run([Path::new("dump"), &whole]).stdout);
    let block = |line: &str| {
        let line: Value = serde_json::from_str(line).expect("JSON");
        (line["function"]["name"] == "vkCmdSetViewport").then(|| line["index"].as_u64().expect("an index"))
    };
    let sets: Vec<u64> = dumped.lines().filter_map(block).collect();
    without(&whole, &[*sets.last().expect("it sets them")], &planted);
    let fault = "VUID-vkCmdDraw-";
    let found = reduced(&planted, &format!("validation:{fault}"), &[], &small);
    assert_eq!(found["minimal"], true, "{found}");
    let calls: Vec<u64> = found["calls"].as_array().expect("two").iter().filter_map(Value::as_u64).collect();
    assert!(calls[1] * 20 < calls[0], "{found}");
    is_part_of(&small, &planted);
    let left = commands(&small);
    assert_eq!(left.iter().filter(|c| c.starts_with("vkCmdDraw")).count(), 1, "{left:?}");
    assert!(left.iter().all(|c| !c.starts_with("vkQueue")), "it is said when it is recorded: {left:?}");
    let said = reray()
        .arg("replay")
        .arg(&small)
        .args(["--validate", "--quiet"])
        .output()
        .expect("the program starts");
    assert!(text(&said.stderr).contains(fault));
    // What is minimal stays as it is, and nothing is left beside it.
    let again = reduced(&small, &format!("validation:{fault}"), &[], &scratch.path("again.gfxr"));
    assert_eq!(again["calls"][0], again["calls"][1], "{again}");
    let beside: Vec<_> = std::fs::read_dir(scratch.path(""))
        .expect("there")
        .filter_map(Result::ok)
        .map(|e| e.file_name())
        .collect();
    assert!(
        beside
            .iter()
            .all(|n| !n.to_string_lossy().contains("reducing") && !n.to_string_lossy().contains("trial")),
        "{beside:?}"
    );
}

#[test]
fn a_search_that_was_ended_goes_on_and_a_script_may_say_what_is_wrong() {
    let scratch = Scratch::new("reduce-script");
    let small = scratch.path("small.gfxr");
    // No device: two dispatches are to be there still.
    let program = env!("CARGO_BIN_EXE_reray-replay");
    let script = format!(
        "script:test $('{program}' dump \"$1\" --commands vkCmdDispatch | grep -c vkCmdDispatch) -ge 2"
    );
    let notes = scratch.path("small.gfxr.reducing.json");
    let some = reduced(&sample("cubes.gfxr"), &script, &["--budget", "1s"], &small);
    assert_eq!(some["minimal"], false, "{some}");
    let known = std::fs::read(&notes).expect("it has come somewhere");
    let all = reduced(&sample("cubes.gfxr"), &script, &[], &small);
    assert_eq!(all["minimal"], true, "{all}");
    assert!(!notes.exists());
    // From the beginning it takes more processes; from where everything of it is done, one for all of the blocks that are gone.
    let anew = reduced(&sample("cubes.gfxr"), &script, &[], &scratch.path("anew.gfxr"));
    let tried = |of: &Value| of["tried"].as_u64().expect("a number");
    assert!(tried(&all) < tried(&anew), "{all} {anew}");
    let mut done: Value = serde_json::from_slice(&known).expect("JSON");
    let gone = {
        let left = blocks_of(&small);
        let whole = blocks_of(&sample("cubes.gfxr"));
        let mut left = left.iter().peekable();
        let numbered = whole.iter().enumerate();
        numbered.filter(|(_, b)| left.next_if_eq(b).is_none()).map(|b| b.0).collect::<Vec<_>>()
    };
    (done["gone"], done["done"]) = (
        json!({ "blocks": gone }),
        json!([
            "blocks",
            "elements of arrays",
            "blocks behind these",
            "functions of shaders",
            "pieces of data"
        ]),
    );
    std::fs::write(&notes, done.to_string()).expect("notes");
    let at_once = reduced(&sample("cubes.gfxr"), &script, &[], &small);
    assert_eq!((&at_once["minimal"], tried(&at_once)), (&true.into(), 2), "{at_once}");
    assert_eq!(at_once["calls"], all["calls"]);
    // What they name stays, and what that names.
    let left = commands(&small);
    let expected =
        ["vkCreateInstance", "vkEnumeratePhysicalDevices", "vkCreateDevice", "vkCreateCommandPool"];
    assert_eq!(left[..4], expected, "{left:?}");
    assert_eq!(left[left.len() - 2..], ["vkCmdDispatch", "vkCmdDispatch"], "{left:?}");
    assert!(left.len() <= 9, "{left:?}");
    is_part_of(&small, &sample("cubes.gfxr"));
}

#[test]
fn functions_that_the_fault_does_not_need_do_nothing_and_data_are_zero() {
    let scratch = Scratch::new("reduce-functions");
    let small = scratch.path("small.gfxr");
    // No device: some shader is to have a switch.
    let program = env!("CARGO_BIN_EXE_reray-replay");
    let out = scratch.path("shaders").display().to_string();
    let script = format!(
        "script:rm -rf '{out}'; '{program}' extract \"$1\" -o '{out}' > /dev/null && \
         for f in '{out}'/*.spv; do spirv-dis \"$f\"; done | grep -q OpSwitch"
    );
    let whole = sample("closed_compute.gfxr");
    let found = reduced(&whole, &script, &[], &small);
    assert_eq!(found["minimal"], true, "{found}");
    is_part_of(&small, &whole);
    let extracted = scratch.path("left");
    assert!(run([Path::new("extract"), &small, Path::new("-o"), &extracted]).status.success());
    let modules: Vec<_> =
        std::fs::read_dir(&extracted).expect("there").filter_map(Result::ok).map(|e| e.path()).collect();
    let modules: Vec<_> = modules.iter().filter(|p| p.extension().is_some_and(|e| e == "spv")).collect();
    let [module] = modules[..] else { panic!("{modules:?}") };
    let tool = |name: &str| {
        let out = Command::new(name).arg(module).output().expect("it is installed");
        assert!(out.status.success(), "{name}: {}", text(&out.stderr));
        text(&out.stdout)
    };
    tool("spirv-val");
    let code = tool("spirv-dis");
    assert_eq!(code.matches("OpSwitch").count(), 1, "{code}");
    // One function has it, and those that call it stay.
    let functions = found["functions"].as_array().expect("two");
    assert!(functions[1].as_u64() <= functions[0].as_u64() && functions[1].as_u64() >= Some(1), "{found}");
    assert_eq!(functions[1].as_u64(), Some(code.matches("OpFunctionEnd").count() as u64), "{found}\n{code}");
    assert_eq!(found["data"][1], 0, "{found}");
}

#[test]
fn what_is_not_wrong_is_not_reduced() {
    let scratch = Scratch::new("reduce-none");
    let out = scratch.path("none.gfxr");
    let run = |still: &str| {
        let out = reray()
            .arg("reduce")
            .arg(sample("triangle_1.gfxr"))
            .args(["--still", still, "-o"])
            .arg(&out)
            .output();
        let out = out.expect("the program starts");
        (out.status.code(), text(&out.stderr))
    };
    let (code, said) = run("script:false");
    assert_eq!(code, Some(1));
    assert!(said.contains("does not show this fault: script:false"), "{said}");
    let (code, said) = run("broken");
    assert_eq!(code, Some(2));
    assert!(said.contains("expected crash, hang, lost"), "{said}");
    assert!(!out.exists());
}

#[test]
fn of_a_barrier_what_the_fault_needs_stays() {
    let scratch = Scratch::new("reduce-elements");
    let small = scratch.path("small.gfxr");
    // No device: a barrier of some buffer is to be there, which stands beside another's.
    let program = env!("CARGO_BIN_EXE_reray-replay");
    let script =
        format!("script:'{program}' dump \"$1\" --commands vkCmdPipelineBarrier | grep -q '\"buffer\":65,'");
    let whole = sample("triangle_4.gfxr");
    let found = reduced(&whole, &script, &[], &small);
    assert_eq!((&found["minimal"], &found["elements"]), (&true.into(), &json!([2, 1])), "{found}");
    is_part_of(&small, &whole);
    let dumped = text(&run([Path::new("dump"), &small]).stdout);
    let mut barriers = dumped.lines().filter(|l| l.contains("vkCmdPipelineBarrier"));
    let barrier: Value = serde_json::from_str(barriers.next().expect("it")).expect("JSON");
    let args = &barrier["function"]["args"];
    // The other buffer went, too.
    assert_eq!(dumped.matches("\"vkCreateBuffer\"").count(), 1, "{dumped}");
    assert_eq!(
        (&args["bufferMemoryBarrierCount"], &args["pBufferMemoryBarriers"][0]["buffer"]),
        (&1.into(), &65.into())
    );
    assert_eq!((args["pBufferMemoryBarriers"].as_array().map(Vec::len), barriers.next()), (Some(1), None));
}

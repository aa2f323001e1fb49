//! `reduce`: planted faults, what is left of the capture, and that the fault is still there.

use crate::counters::{layer, with_layer};
use crate::device::device;
use crate::ordering::without;
use crate::support::{Scratch, reray, run, sample, text};
use gfxr_parse::container::{self, Block, BlockKind, Capture};
use gfxr_parse::decode::decode_found;
use gfxr_parse::elements::{Array, encode_arrays, units, without as without_elements};
use gfxr_parse::image::Image;
use gfxr_parse::schema::command;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

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
        encode_arrays(&image)
    };
    // Each with the call that has it alone: a descriptor says then where it is written to.
    let alone = |bytes: &[u8], arrays: &[Array]| -> Vec<((usize, usize), Vec<u8>)> {
        let all: Vec<(usize, usize)> = (0..arrays.len()).flat_map(|n| units(arrays, n)).flatten().collect();
        let others = |unit: (usize, usize)| all.iter().copied().filter(|u| *u != unit).collect::<Vec<_>>();
        let call = |gone: &[(usize, usize)]| without_elements(bytes, arrays, |a, e| gone.contains(&(a, e)));
        all.iter().map(|unit| (*unit, call(&others(*unit)))).collect()
    };
    let ((left, now), (all, arrays)) = (encoded(part), encoded(whole));
    let kept = alone(&left, &now);
    let mut kept = kept.iter().map(|(_, call)| call).peekable();
    let gone = alone(&all, &arrays).into_iter().filter(|(_, call)| kept.next_if_eq(&call).is_none());
    let gone: Vec<(usize, usize)> = gone.map(|(unit, _)| unit).collect();
    kept.next().is_none() && without_elements(&all, &arrays, |a, e| gone.contains(&(a, e))) == left
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
    // No device: two dispatches are to be there still, and their shader as it was.
    let program = env!("CARGO_BIN_EXE_reray-replay");
    let modules = [Path::new("dump"), &sample("cubes.gfxr"), Path::new("--commands=vkCreateShaderModule")];
    let modules = text(&run(modules).stdout);
    // (the compute shader's is the first)
    let size = modules.split_once("\"codeSize\":").expect("a module").1.split(',').next().expect("its size");
    let script = format!(
        "script:test $('{program}' dump \"$1\" --commands vkCmdDispatch | grep -c vkCmdDispatch) -ge 2 && \
         '{program}' dump \"$1\" --commands vkCreateShaderModule | grep -q '\"codeSize\":{size},'"
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
    // (and three for what is left at the end)
    assert_eq!((&at_once["minimal"], tried(&at_once)), (&true.into(), 5), "{at_once}");
    assert_eq!(at_once["shown"], json!([3, 3]), "{at_once}");
    assert_eq!(at_once["calls"], all["calls"]);
    // What they name stays, and what that names.
    let left = commands(&small);
    let expected = ["vkCreateInstance", "vkEnumeratePhysicalDevices", "vkCreateDevice"];
    assert_eq!(left[..3], expected, "{left:?}");
    let at = left.iter().position(|c| c == "vkBeginCommandBuffer").expect("what is recorded begins");
    // (nothing is submitted, so that no dispatch needs its pipeline)
    let only = ["vkBeginCommandBuffer", "vkCmdDispatch"];
    assert!(left[at..].iter().all(|c| only.contains(&c.as_str())), "{left:?}");
    assert_eq!(left.iter().filter(|c| *c == "vkCmdDispatch").count(), 2, "{left:?}");
    assert!(left.len() <= 16, "{left:?}");
    is_part_of(&small, &sample("cubes.gfxr"));
}

/// Ctrl-C ends the trial that runs, too, and what was known stays.
#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_trial_and_the_same_command_line_goes_on() {
    let scratch = Scratch::new("reduce-interrupted");
    let [small, asked, pid] = ["small.gfxr", "asked", "pid"].map(|name| scratch.path(name));
    let notes = scratch.path("small.gfxr.reducing.json");
    // No device: the whole capture and the first trial show the fault, after a while; the second trial is waited for longer than that.
    let script = format!(
        "script:echo >> '{asked}'; test $(wc -l < '{asked}') -le 2 && exec sleep 3; \
         echo $$ > '{pid}.part'; mv '{pid}.part' '{pid}'; exec sleep 600",
        asked = asked.display(),
        pid = pid.display()
    );
    let mut command = reray();
    command.arg("reduce").arg(sample("triangle_1.gfxr")).args(["--still", &script, "-o"]).arg(&small);
    let process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let began = Instant::now();
    while !pid.exists() {
        assert!(began.elapsed() < Duration::from_secs(60), "no second trial");
        std::thread::sleep(Duration::from_millis(10));
    }
    let known = std::fs::read(&notes).expect("the first trial showed it");
    let kill = |words: [&str; 2]| Command::new("kill").args(words).status().expect("kill").success();
    assert!(kill(["-INT", &process.id().to_string()]));
    let out = process.wait_with_output().expect("it ends");
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(said.contains("interrupted: it ends with what is left so far"), "{said}");
    let trial = std::fs::read_to_string(&pid).expect("a number");
    assert!(!kill(["-0", trial.trim()]), "the trial is there still");
    assert_eq!(std::fs::read(&notes).expect("it is kept"), known);
    is_part_of(&small, &sample("triangle_1.gfxr"));
    assert!(blocks_of(&small).len() < blocks_of(&sample("triangle_1.gfxr")).len());
}

#[test]
fn a_fault_that_is_not_there_at_the_end_is_said_to_be_none() {
    let scratch = Scratch::new("reduce-flaky");
    let [small, asked] = ["small.gfxr", "asked"].map(|name| scratch.path(name));
    let notes = scratch.path("small.gfxr.reducing.json");
    // No device: the whole capture and the first trial show the fault, and nothing after that.
    let file = asked.display();
    let script = format!("script:echo >> '{file}'; test $(wc -l < '{file}') -le 2");
    let search = |flags: &[&str]| {
        let mut command = reray();
        command.arg("reduce").arg(sample("triangle_1.gfxr")).args(["--still", &script, "-o"]).arg(&small);
        let out = command.args(flags).output().expect("the program starts");
        (out.status.code(), text(&out.stdout), text(&out.stderr))
    };
    let (code, said, why) = search(&[]);
    assert_eq!(code, Some(1), "{said}{why}");
    assert!(said.contains("the fault is not there any more, in none of 3 tries"), "{said}{why}");
    assert!(why.contains("nothing is final"), "{said}{why}");
    assert!(notes.exists(), "the same command line tries again");
    std::fs::remove_file(&asked).expect("it was there");
    let (code, said, why) = search(&["--json"]);
    let found: Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!((code, &found["minimal"], &found["shown"]), (Some(1), &false.into(), &json!([0, 3])), "{why}");
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

#[test]
fn a_device_that_is_lost_is_looked_for_and_one_that_stays_lost_ends_the_search() {
    if !device("a_device_that_is_lost_is_looked_for") {
        return;
    }
    let scratch = Scratch::new("reduce-lost");
    let (layer, whole) = (layer(&scratch), sample("steps.gfxr"));
    let lost = |nth: u32, arguments: &[&Path]| {
        let mut c = reray();
        c.args(arguments).env(arm_layer::ASKS, format!("lose vkQueueSubmit {nth}"));
        with_layer(&mut c, &layer);
        let out = c.output().expect("the program starts");
        (out.status.code(), text(&out.stdout), text(&out.stderr))
    };
    let search = |nth, to: &Path| {
        let words = ["--still", "lost", "--json", "-o"].map(Path::new);
        lost(nth, &[&[Path::new("reduce"), &whole][..], &words, &[to]].concat())
    };
    // Submissions of the replay's own count, too.
    let small = scratch.path("small.gfxr");
    let (code, out, err) = search(12, &small);
    assert_eq!(code, Some(0), "{err}");
    let found: Value = serde_json::from_str(&out).expect("JSON");
    let calls = found["calls"].as_array().expect("two").iter().filter_map(Value::as_u64).collect::<Vec<_>>();
    assert!(calls[1] < calls[0], "{found}");
    assert_eq!((&found["shown"], &found["zero_memory"]), (&json!([3, 3]), &true.into()));
    is_part_of(&small, &whole);
    let again = |nth| lost(nth, &[Path::new("replay"), Path::new("--zero-memory"), &small]);
    assert_eq!(again(12).0, Some(6));
    assert_ne!(again(1000).0, Some(6), "it is the device that is lost");

    // A device that is lost whatever is submitted is one that nothing can be tried on.
    let none = scratch.path("none.gfxr");
    let (code, _, err) = search(1, &none);
    assert_eq!(code, Some(6), "{err}");
    assert!(err.contains("the GPU is of no use any more"), "{err}");
    assert!(!none.exists() && scratch.path("none.gfxr.reducing.json").exists());
}

//! The rewrite against every module of the scenes and against blocks of push constants of all kinds; decoding.

use super::*;
use crate::ShaderHash;
use crate::pass::{ActionData, EntryData};
use crate::rewrite::{Device, Variant, actions, entries, instrument};
use crate::spirv::{Module, Op, Operand};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use trace::{Memory, Source, tables};

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes(c.try_into().expect("4 bytes"))).collect()
}

/// Runs a tool of SPIRV-Tools over its stdin. `None` if it is not installed, which fails where devices are required.
fn tool(name: &str, args: &[&str], input: &[u8]) -> Option<std::result::Result<Vec<u8>, String>> {
    let piped = || Stdio::piped();
    let child = Command::new(name).args(args).stdin(piped()).stdout(piped()).stderr(piped()).spawn();
    let Ok(mut child) = child else {
        assert!(std::env::var_os("RERAY_REQUIRE_DEVICE").is_none(), "{name} is required");
        eprintln!("skipped: {name} is not installed");
        return None;
    };
    child.stdin.take().expect("piped").write_all(input).expect("it reads");
    let out = child.wait_with_output().expect("it ends");
    Some(match out.status.success() {
        true => Ok(out.stdout),
        false => Err(String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned()),
    })
}

fn valid(words: &[u32], what: &str) {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    if let Some(Err(e)) = tool("spirv-val", &["--target-env", "vulkan1.3", "-"], &bytes) {
        panic!("{what}: {e}");
    }
}

fn assembled(text: &str, env: &str) -> Option<Vec<u32>> {
    let binary = tool("spirv-as", &["--target-env", env, "-o", "-", "-"], text.as_bytes())?;
    let words = words(&binary.expect("the text is an assembly"));
    valid(&words, "the original");
    Some(words)
}

fn rewritten(words: &[u32], options: &str) -> Result<Option<Variant>> {
    rewritten_for(words, options, Device::default())
}

fn rewritten_for(words: &[u32], options: &str, device: Device) -> Result<Option<Variant>> {
    let (model, name, _) = entries(words).swap_remove(0);
    let passes: Vec<Box<dyn Pass>> =
        vec![Box::new(Counters::new(&crate::passes::options(options)).expect("options"))];
    instrument(words, ShaderHash::of(words), model, &name, &passes, device)
}

#[test]
fn every_module_of_the_scenes_counts_its_actions() {
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../captures/src/scenes");
    let (mut seen, mut own, mut full) = (0, 0, 0);
    for scene in std::fs::read_dir(scenes).expect("the scenes are beside this crate") {
        for file in std::fs::read_dir(scene.expect("an entry").path()).into_iter().flatten() {
            let path = file.expect("an entry").path();
            if path.extension().is_none_or(|x| x != "spv") {
                continue;
            }
            let w = words(&std::fs::read(&path).expect("a file"));
            let is_push = |i: &&Inst| {
                i.inst.operands.first()
                    == Some(&Operand::StorageClass(rspirv::spirv::StorageClass::PushConstant))
                    && i.op() == Op::Variable
            };
            own += Module::read(&w).expect("a module").globals.iter().filter(is_push).count();
            for (options, atomic_64) in [("", false), ("mode=lane", false), ("", true)] {
                let device = Device { atomic_64, ..Device::default() };
                let v = rewritten_for(&w, options, device);
                let v = v.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                let v = v.expect("every shader has blocks");
                let blocks: usize =
                    v.facts.functions.iter().flat_map(|f| &f.blocks).filter(|b| b.reached).count();
                // One scene pushes all 256 bytes: it counts by frame.
                if let Some(why) = &v.not_by_action {
                    assert!(why.contains("its push constants reach to byte 256"), "{why}");
                    valid(&v.words, &path.display().to_string());
                    assert_eq!((v.action_counters, v.counters as usize), (0, blocks));
                    full += 1;
                    continue;
                }
                let mut words = v.words.clone();
                assert_eq!(words[v.action_offset.expect("it has one") as usize], actions::USUAL);
                valid(&words, &path.display().to_string());
                v.set_offsets(&mut words, 120);
                valid(&words, &path.display().to_string());
                assert_eq!((v.action_counters as usize, v.counters), (blocks, 0));
                seen += 1;
            }
        }
    }
    assert!(
        seen > 45 && own > 0 && full < seen / 2,
        "{seen} modules, {own} with push constants, {full} full"
    );
}

/// A block that is loaded whole, copied whole, read by member and used as the type of something else.
const WHOLE: &str = r#"
    OpCapability Shader
    OpMemoryModel Logical GLSL450
    OpEntryPoint GLCompute %main "main"
    OpExecutionMode %main LocalSize 1 1 1
    OpDecorate %block Block
    OpMemberDecorate %block 0 Offset 0
    OpMemberDecorate %block 1 Offset 16
    OpDecorate %buffer DescriptorSet 0
    OpDecorate %buffer Binding 0
    %void = OpTypeVoid
    %f = OpTypeFunction %void
    %uint = OpTypeInt 32 0
    %float = OpTypeFloat 32
    %v4 = OpTypeVector %float 4
    %zero = OpConstant %uint 0
    %one = OpConstant %uint 1
    %block = OpTypeStruct %v4 %uint
    %in_push = OpTypePointer PushConstant %block
    %in_buffer = OpTypePointer StorageBuffer %block
    %member = OpTypePointer PushConstant %uint
    %number = OpTypePointer StorageBuffer %uint
    %push = OpVariable %in_push PushConstant
    %buffer = OpVariable %in_buffer StorageBuffer
    %main = OpFunction %void None %f
    %l = OpLabel
    %all = OpLoad %block %push
    OpStore %buffer %all
    OpCopyMemory %buffer %push
    %at = OpAccessChain %member %push %one
    %n = OpLoad %uint %at
    %again = OpCopyObject %in_push %push
    %at2 = OpAccessChain %member %again %one
    %n2 = OpLoad %uint %at2
    %sum = OpIAdd %uint %n %n2
    %to = OpAccessChain %number %buffer %one
    OpStore %to %sum
    OpReturn
    OpFunctionEnd"#;

#[test]
fn a_block_that_is_used_as_a_whole_gets_its_member() {
    for env in ["spv1.3", "spv1.5"] {
        let interface = if env == "spv1.5" { "\"main\" %push %buffer" } else { "\"main\"" };
        let Some(w) = assembled(&WHOLE.replace("\"main\"", interface), env) else { return };
        let v = rewritten(&w, "").expect("no error").expect("it has a block");
        valid(&v.words, env);
        let m = Module::read(&v.words).expect("ours");
        let class = Operand::StorageClass(rspirv::spirv::StorageClass::PushConstant);
        let push = |i: &&Inst| i.op() == Op::Variable && i.inst.operands[0] == class;
        let push: Vec<_> = m.globals.iter().filter(push).collect();
        assert_eq!(push.len(), 1, "{env}: one block of push constants");
        let to = m.global(push[0].inst.result_type.expect("a pointer")).and_then(|p| p.id_at(1));
        let block = m.global(to.expect("a struct")).expect("a struct");
        assert_eq!(block.inst.operands.len(), 3, "{env}: one more member");
        // The load and the copy of a whole block are loads of two members each; two more were there, and one is ours.
        let f = &m.functions[m.function(m.entries()[0].function).expect("main")];
        let loads = f.insts().filter(|i| i.op() == Op::Load).count();
        assert_eq!(loads, 2 + 2 + 2 + 1, "{env}");
        assert!(!f.insts().any(|i| matches!(i.op(), Op::CopyObject | Op::CopyMemory)), "{env}");
    }
}

#[test]
fn blocks_that_reach_the_top_count_by_frame() {
    let Some(w) = assembled(&WHOLE.replace("1 Offset 16", "1 Offset 252"), "spv1.3") else { return };
    for options in ["", "mode=lane"] {
        let v = rewritten(&w, options).expect("no error").expect("it has a block");
        let why = v.not_by_action.clone().expect("it reaches the top");
        assert_eq!(why, "its push constants reach to byte 256; from 248 on they are the replay's");
        assert_eq!((v.action_counters, v.counters), (0, 1));
        valid(&v.words, options);
        let counters = [24u64];
        let entry = EntryData {
            entry: 5,
            pipeline: 7,
            variant: &v,
            region: &v.regions[0],
            counters: (&counters[..]).into(),
        };
        let to = decoded(entry, vec![]);
        let c = to.read(&tables::COUNTERS).expect("in memory");
        assert_eq!(c.u64("value"), [0, 24, 0, 24 * 6, 0, 0]);
        for of in ["range", "result_index", "result_sub_index"] {
            assert!(c.u64(of).iter().all(|n| *n == tables::NOWHERE), "{of}");
        }
    }
}

#[test]
fn unknown_options_are_refused() {
    let e = Counters::new(&crate::passes::options("mode=all")).err().expect("no such mode");
    assert_eq!(e, "pass counters knows mode=lanes and mode=lane; \"mode=all\" was given");
}

/// The records of a frame of one entry point.
fn decoded(entry: EntryData<'_>, actions: Vec<ActionData<'_>>) -> Memory {
    let mut to = Memory::default();
    let frame =
        FrameData { frame: 3, subgroup_size: 8, entries: vec![entry], actions, ..FrameData::default() };
    Counters::default().decode(&frame, &mut to).expect("as written");
    to
}

/// What the one block of `WHOLE` is made of, and what one action of 8 invocations comes to.
#[test]
fn records_are_executions_times_instructions() {
    let Some(w) = assembled(WHOLE, "spv1.3") else { return };
    let v = rewritten(&w, "").expect("no error").expect("it has a block");
    let counters = [8u64];
    let entry =
        EntryData { entry: 5, pipeline: 7, variant: &v, region: &v.regions[0], counters: (&[][..]).into() };
    let action = ActionData { range: 2, result_index: 7, result_sub_index: 0, entry: 0, counters: &counters };
    let to = decoded(entry, vec![action]);
    let classes = to.read(&tables::CLASSES).expect("in memory");
    let of = |name| classes.u64(name)[0];
    // Loads of the block and of two members, two stores and a copy; one addition; three chains, a copy and the return.
    assert_eq!(["fma", "cvt", "sfu", "ls", "tex", "var", "other"].map(of), [0, 1, 0, 6, 0, 0, 5]);
    assert_eq!(&*classes.text("unknown")[0], "");
    let c = to.read(&tables::COUNTERS).expect("in memory");
    assert_eq!(c.u64("value"), [0, 8, 0, 48, 0, 0]);
    assert_eq!(c.u64("metric"), [0, 1, 2, 3, 4, 5]);
    let first = |name| c.u64(name)[0];
    let names =
        ["result_index", "result_sub_index", "stages", "basic_block_index", "frame", "range", "entry"];
    assert_eq!(names.map(first), [7, 0, 0x20, 0, 3, 2, 6]);
    assert_eq!(to.read(&tables::METRICS).expect("in memory").len(), 6);
}

#[test]
fn unknown_instructions_are_named() {
    let data = pack([0; 6], 2, &["OpFrob".into(), "SPV_X 3".into()]);
    assert_eq!(unknown_of(&data), "OpFrob, SPV_X 3");
    assert_eq!(unknown_of(&pack([0; 6], 0, &[])), "");
}

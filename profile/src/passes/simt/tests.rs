use super::{BLOCK, Simt, TRACE as TRACE_SITE};
use crate::pass::Pass;
use crate::passes::by_name;
use crate::rewrite::Device;
use crate::testing::{
    BRANCH, TRACE, disassembled, entry, everywhere, frame, function_text, glsl, of_text, rewritten, rows,
};
use crate::{Error, Stage};
use trace::Memory;
use trace::tables::{SIMT, SIMT_HELPERS, SIMT_TRACES};

#[test]
fn golden_assembly() {
    let Some(v) = of_text(by_name("simt").expect("it is registered"), BRANCH) else { return };
    let expected = "\
%main = OpFunction %void None %1
%2 = OpLabel
OpFunctionCall %void %simt_here %uint_0 %uint_64
%3 = OpLoad %uint %lane
%4 = OpULessThan %bool %3 %uint_4
OpSelectionMerge %5 None
OpBranchConditional %4 %6 %5
%6 = OpLabel
OpFunctionCall %void %simt_here %uint_66 %uint_64
OpReturn
%5 = OpLabel
OpFunctionCall %void %simt_here %uint_132 %uint_64
OpReturn
OpFunctionEnd
";
    assert_eq!(function_text(&v.words, "main").as_deref(), Some(expected));
    assert_eq!((v.counters, v.probes), (3 * 66, 0));
}

#[test]
fn golden_assembly_of_a_trace() {
    let Some(v) = of_text(by_name("simt:exact=32").expect("it is registered"), TRACE) else { return };
    let expected = "\
%main = OpFunction %void None %1
%2 = OpLabel
OpFunctionCall %void %simt_here %uint_34 %uint_32
%3 = OpLoad %4 %world
OpFunctionCall %void %simt_here %uint_0 %uint_32
OpTraceRayKHR %3 %uint_0 %uint_0 %uint_0 %uint_0 %uint_0 %5 %float_0 %5 %float_0 %hits
OpReturn
OpFunctionEnd
";
    assert_eq!(function_text(&v.words, "main").as_deref(), Some(expected));
}

/// Each site has counters of its own, one for each block that is reached, and one for each trace call; a block that only
/// goes on with another has that one's.
#[test]
fn every_block_of_every_stage_has_its_counters() {
    for v in everywhere(&|| by_name("simt").expect("it is registered")) {
        let sites = &v.regions[0].sites;
        let n = 66 + u32::from(v.stage == Stage::Fragment);
        let mut at: Vec<u32> = sites.iter().map(|s| s.counter.expect("it has")).collect();
        at.sort_unstable();
        at.dedup();
        assert_eq!(at, (0..at.len() as u32).map(|i| i * n).collect::<Vec<_>>());
        for s in sites.iter().filter(|s| s.kind == BLOCK) {
            let blocks = &v.facts.functions[s.function as usize].blocks;
            let mut same = sites.iter().filter(|o| o.counter == s.counter && o.block < s.block);
            let before = same.next_back().map(|o| o.block);
            let into: Vec<usize> = (0..blocks.len())
                .filter(|b| blocks[*b].reached && blocks[*b].successors.contains(&s.block))
                .collect();
            let rest = before.is_none_or(|b| into == [b as usize] && blocks[into[0]].successors.len() == 1);
            assert!(rest, "{s:?}: {into:?}");
        }
        let reached = v.facts.functions.iter().flat_map(|f| &f.blocks).filter(|b| b.reached).count();
        assert_eq!(sites.iter().filter(|s| s.kind == BLOCK).count(), reached);
        assert_eq!(v.counters, at.len() as u32 * n);
    }
}

/// What a loop repeats is held: an update where a block begins, and one function that adds all where invocations leave.
#[test]
fn golden_assembly_of_a_loop() {
    let source = "#version 460
        layout(local_size_x = 8) in;
        layout(set = 0, binding = 0) buffer B { uint at[]; };
        void main() {
            uint i = gl_LocalInvocationIndex;
            while (at[i] > 3u)
                at[i] /= 3u;
        }";
    let Some(module) = glsl("comp", source, &["--target-env", "vulkan1.1"]) else { return };
    let passes = vec![by_name("simt").expect("it is registered")];
    let v = rewritten("a loop", &module, "vulkan1.3", &passes, Device::default()).swap_remove(0);
    let text = function_text(&v.words, "main").unwrap_or_default();
    let expected = "\
%4 = OpLabel
%5 = OpLoad %uint %6
%7 = OpFunctionCall %uint %simt_held %uint_66 %uint_64 %5
OpStore %6 %7
OpLoopMerge %8 %9 None
OpBranch %10
%10 = OpLabel
%11 = OpLoad %uint %i
";
    assert!(text.contains(expected), "{text}");
    let expected = "\
OpBranch %9
%9 = OpLabel
OpBranch %4
%8 = OpLabel
OpFunctionCall %void %simt_here %uint_198 %uint_64
OpFunctionCall %void %24
OpReturn
OpFunctionEnd
";
    assert!(text.ends_with(expected), "{text}");
    let all = disassembled(&v.words).expect("there are tools");
    let flush = all.rsplit("OpFunction %void None").next().expect("the last function");
    assert_eq!(flush.matches("OpFunctionCall %void %simt_flush ").count(), 2, "{flush}");
}

#[test]
fn counters_become_records() {
    let pass = Simt::new(&crate::passes::options("exact=0")).expect("an option");
    let Some(mut v) = of_text(Box::new(pass), BRANCH) else { return };
    // Of a fragment shader, so that helpers are counted too; told apart: 1 and 2.
    v.stage = Stage::Fragment;
    let pass = Simt { exact_counts: 2, most_held: 16 };
    for (n, site) in v.regions[0].sites.iter_mut().enumerate() {
        site.counter = Some(5 * n as u32);
    }
    v.regions[0].sites[2].kind = TRACE_SITE;
    let counters = [4, 0, 0, 0, 0, 1, 2, 3, 25, 6, 0, 9, 0, 0, 0];
    let data = frame(8, vec![entry(&v, &counters)], vec![]);
    let mut out = Memory::default();
    pass.decode(&data, &mut out).expect("the counters are there");
    let expected =
        [[2, 3, 0, 0, 1, 4, 4], [2, 3, 0, 1, 1, 1, 1], [2, 3, 0, 1, 2, 2, 4], [2, 3, 0, 1, 0, 3, 25]];
    assert_eq!(rows(&out, &SIMT), expected);
    assert_eq!(rows(&out, &SIMT_HELPERS), [[2, 3, 0, 1, 6]]);
    let at = u64::from(v.regions[0].sites[2].word_offset);
    assert_eq!(rows(&out, &SIMT_TRACES), [[2, 3, 0, 2, at, 2, 9, 18]]);
}

#[test]
fn too_few_counters_and_unknown_options_are_refused() {
    let Some(v) = of_text(by_name("simt").expect("it is registered"), BRANCH) else { return };
    let data = frame(8, vec![entry(&v, &[0; 70])], vec![]);
    let e = by_name("simt").expect("it is registered").decode(&data, &mut Memory::default());
    let why = "the counters of block 1 are not there".to_owned();
    assert_eq!(e, Err(Error::Record { word_offset: 66, why }));
    assert!(by_name("simt:exact=7").is_err_and(|e| e.contains("exact=7")));
}

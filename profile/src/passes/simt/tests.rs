use super::put::{Counting, FLOW};
use super::{Simt, TRACE as TRACE_SITE};
use crate::pass::Pass;
use crate::passes::by_name;
use crate::rewrite::Device;
use crate::rewrite::placement::{Flow, Way};
use crate::testing::{
    BRANCH, TRACE, disassembled, entry, everywhere, frame, function_text, glsl, of_text, rewritten, rows,
};
use crate::{Error, Stage};
use std::collections::BTreeSet;
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

/// Directly, and in ray-tracing stages, each block that is reached has counters of its own; by flow each function has some,
/// fewer than blocks, and the count of each block follows. Each trace call has counters of its own.
#[test]
fn every_block_of_every_stage_has_its_counters_or_follows_from_some() {
    let (mut measured, mut blocks) = (0, 0);
    for (pass, v) in ["simt", "simt:placement=direct"].into_iter().flat_map(|pass| {
        everywhere(&|| by_name(pass).expect("it is registered")).into_iter().map(move |v| (pass, v))
    }) {
        let sites = &v.regions[0].sites;
        let n = 66 + u32::from(v.stage == Stage::Fragment);
        let flows = pass == "simt" && !v.stage.is_ray_tracing();
        let mut at: Vec<u32> = Vec::new();
        let mut has: BTreeSet<(u32, u32)> = BTreeSet::new();
        for s in sites {
            let first = s.counter.expect("it has");
            if s.kind != FLOW {
                at.push(first);
                assert!(s.kind == TRACE_SITE || has.insert((s.function, s.block)), "{s:?}");
                continue;
            }
            assert!(flows, "{s:?}");
            let placement = Flow::of_words(&s.data).expect("its words").placement;
            let counted = placement.measured().count() as u32;
            at.extend((0..counted).map(|k| first + k * n));
            let of = placement.links.iter().filter_map(|l| match l.way {
                Way::Block(b) => Some((s.function, b as u32)),
                _ => None,
            });
            has.extend(of);
            measured += counted;
        }
        at.sort_unstable();
        assert_eq!(at, (0..at.len() as u32).map(|i| i * n).collect::<Vec<_>>());
        assert_eq!(v.counters, at.len() as u32 * n);
        let functions = v.facts.functions.iter().enumerate();
        let reached = functions.flat_map(|(f, of)| {
            let reached = of.blocks.iter().enumerate().filter(|b| b.1.reached);
            reached.map(move |(b, _)| (f as u32, b as u32))
        });
        assert_eq!(has, reached.collect(), "{:?}", v.stage);
        blocks += if flows { has.len() } else { 0 };
    }
    // (Of shaders that are made to part their subgroups.)
    assert!(measured > 0 && (measured as usize) < blocks * 9 / 10, "{measured} of {blocks}");
}

/// What a loop repeats in which invocations part is held: an update in each round, and one function that adds all where they leave.
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
%6 = OpLabel
%18 = OpLoad %uint %19
%20 = OpFunctionCall %uint %simt_held %uint_66 %uint_64 %18
OpStore %19 %20
OpBranch %4
%5 = OpLabel
OpFunctionCall %void %simt_here %uint_132 %uint_64
OpFunctionCall %void %21
OpReturn
OpFunctionEnd
";
    assert!(text.ends_with(expected), "{text}");
    // The header and the condition follow from the entry and the rounds.
    assert_eq!(text.matches("%simt_").count(), 3, "{text}");
    let all = disassembled(&v.words).expect("there are tools");
    let flush = all.rsplit("OpFunction %void None").next().expect("the last function");
    assert_eq!(flush.matches("OpFunctionCall %void %simt_flush ").count(), 1, "{flush}");
}

/// Of a loop that all go round together only the rounds are counted, by an addition in each, and added where it is left.
#[test]
fn golden_assembly_of_a_steady_loop() {
    let source = "#version 460
        layout(local_size_x = 8) in;
        layout(push_constant) uniform P { uint n; };
        layout(set = 0, binding = 0) buffer B { uint at[]; };
        void main() {
            uint i = gl_LocalInvocationIndex;
            for (uint k = 0; k < n; k++)
                at[i] = at[i] * 5u + k;
        }";
    let Some(module) = glsl("comp", source, &["--target-env", "vulkan1.1"]) else { return };
    let passes = vec![by_name("simt").expect("it is registered")];
    let v = rewritten("a steady loop", &module, "vulkan1.3", &passes, Device::default()).swap_remove(0);
    let text = function_text(&v.words, "main").unwrap_or_default();
    assert_eq!(text.matches("%simt_here ").count(), 1, "{text}");
    assert_eq!(text.matches("%simt_repeated ").count(), 1, "{text}");
    assert!(!text.contains("%simt_held") && !text.contains("%simt_flush"), "{text}");
    let (round, behind) = text.split_once("%simt_repeated ").expect("it is there");
    assert!(
        !round.rsplit("OpLoopMerge").next().expect("the loop").contains("OpFunctionCall %uint"),
        "{text}"
    );
    assert!(round.contains("OpIAdd %uint") && behind.contains("OpReturn"), "{text}");

    // Three subgroups of 8 and one of 5; the first go round four times, the last not at all.
    let pass = Simt::new(&[]).expect("no option");
    let site = v.regions[0].sites.iter().find(|s| s.kind == FLOW).expect("its function");
    let placement = Flow::of_words(&site.data).expect("its words").placement;
    let mut counters = vec![0; v.counters as usize];
    for (way, k) in placement.measured() {
        let here = &mut counters[k as usize * 66..][..66];
        (here[7], here[4]) = match way {
            Way::Edge(..) => (12, 0),
            Way::Block(b) if v.facts.functions[0].blocks[b].depth > 0 => (12, 0),
            _ => (3, 1),
        };
    }
    let mut out = Memory::default();
    pass.decode(&frame(8, vec![entry(&v, &counters)], vec![]), &mut out).expect("the counters are there");
    let rows = rows(&out, &SIMT);
    let of = |block: usize, active: u64| {
        let row = rows.iter().find(|r| r[3] == block as u64 && r[4] == active);
        row.map_or(0, |r| r[5])
    };
    let blocks = &v.facts.functions[0].blocks;
    let header = blocks.iter().position(|b| b.depth > 0).expect("the loop's header");
    assert_eq!((of(0, 8), of(0, 5)), (3, 1));
    assert_eq!((of(header, 8), of(header, 5)), (15, 1), "{rows:?}");
    let last = (0..blocks.len()).rfind(|b| blocks[*b].reached && blocks[*b].successors.is_empty());
    assert_eq!((of(last.expect("the end"), 8), of(last.expect("the end"), 5)), (3, 1), "{rows:?}");
}

#[test]
fn counters_become_records() {
    let pass = Simt::new(&crate::passes::options("exact=0+placement=direct")).expect("options");
    let Some(mut v) = of_text(Box::new(pass), BRANCH) else { return };
    // Of a fragment shader, so that helpers are counted too; told apart: 1 and 2.
    v.stage = Stage::Fragment;
    let pass = Simt { counting: Counting { exact_counts: 2, most_held: 16 }, direct: true };
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
    for (pass, block, word_offset) in [("simt:placement=direct", 1, 66), ("simt", 0, 0)] {
        let pass = || by_name(pass).expect("it is registered");
        let Some(v) = of_text(pass(), BRANCH) else { return };
        let data = frame(8, vec![entry(&v, &[0; 70])], vec![]);
        let e = pass().decode(&data, &mut Memory::default());
        let why = format!("the counters of block {block} are not there");
        assert_eq!(e, Err(Error::Record { word_offset, why }));
    }
    assert!(by_name("simt:exact=7").is_err_and(|e| e.contains("exact=7")));
}

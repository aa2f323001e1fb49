use crate::passes::by_name;
use crate::rewrite::sample::{GROUPS, Sampling};
use crate::rewrite::{Device, Variant};
use crate::spirv::{Function, Module, Op};
use crate::testing::{BRANCH, assembled, corpus, disassembled, glsl, rewritten, scenes};
use crate::{Pass, Stage};

fn sampled() -> Device {
    Device { sampling: Sampling { every: 16, seed: 7 }, ..Device::default() }
}

fn passes() -> Vec<Box<dyn Pass>> {
    ["simt", "divergence"].map(|p| by_name(p).expect("it is registered")).into()
}

fn ops(f: &Function) -> Vec<Op> {
    f.insts().map(|i| i.op()).filter(|op| !matches!(op, Op::Line | Op::NoLine)).collect()
}

/// The two functions that the entry point calls: with probes, and as the application made it.
fn bodies(v: &Variant) -> (Module, usize, usize) {
    let m = Module::read(&v.words).expect("it is a module");
    let entry = &m.functions[m.function(v.facts.functions[0].id).expect("the entry point's")];
    let ways = &entry.blocks[1..3];
    let [with, without] = [0, 1].map(|n| {
        let call = ways[n].body.iter().find(|i| i.op() == Op::FunctionCall).expect("a way is a call");
        m.function(call.id_at(0).expect("of a function")).expect("which is there")
    });
    (m, with, without)
}

/// Every shader that may count a sample stays valid (`rewritten` asks spirv-val), and has the application's code a second time.
#[test]
fn who_is_not_in_the_sample_runs_the_shader_as_it_was() {
    let mut seen = 0;
    for (path, module) in scenes().into_iter().chain(corpus()) {
        let what = path.display().to_string();
        for v in rewritten(&what, &module, "vulkan1.3", &passes(), sampled()) {
            use Stage::{Compute, Fragment, Geometry, TessellationEvaluation, Vertex};
            let may = [Vertex, TessellationEvaluation, Geometry, Fragment, Compute].contains(&v.stage);
            let Some(sample) = v.sample else {
                let text = disassembled(&v.words).unwrap_or_default();
                assert!(!may || text.contains("InvocationInterlock"), "{what}: {:?}", v.stage);
                continue;
            };
            assert!(may && sample.every == 16 && sample.groups == GROUPS, "{what}: {:?}", v.stage);
            assert_eq!(v.all_counters(), v.counters * GROUPS);
            let original = Module::read(&module).expect("it is a module");
            let (m, with, without) = bodies(&v);
            let entry = original.function(v.facts.functions[0].id).expect("it has its entry point");
            assert_eq!(ops(&m.functions[without]), ops(&original.functions[entry]), "{what}");
            assert!(ops(&m.functions[with]).len() > ops(&m.functions[without]).len(), "{what}");
            seen += 1;
        }
    }
    assert!(seen > 10 || corpus().is_empty(), "{seen}");
}

/// All of a workgroup go the same way where they have to meet.
#[test]
fn workgroups_with_barriers_are_in_the_sample_as_a_whole() {
    let source = |barrier: &str| {
        format!(
            "#version 460
            layout(local_size_x = 64) in;
            layout(set = 0, binding = 0) buffer B {{ uint at[]; }};
            shared uint all[64];
            void main() {{
                all[gl_LocalInvocationIndex] = at[gl_GlobalInvocationID.x];
                {barrier}
                at[gl_GlobalInvocationID.x] = all[63u - gl_LocalInvocationIndex];
            }}"
        )
    };
    for (barrier, calls) in [("barrier();", "in_sample"), ("", "subgroup_in_sample")] {
        let Some(module) = glsl("comp", &source(barrier), &["--target-env", "vulkan1.1"]) else { return };
        let v = rewritten("a workgroup", &module, "vulkan1.3", &passes(), sampled()).swap_remove(0);
        let (m, ..) = bodies(&v);
        let entry = &m.functions[m.function(v.facts.functions[0].id).expect("the entry point's")];
        let call = entry.blocks[0].body.iter().rfind(|i| i.op() == Op::FunctionCall).expect("it asks");
        let text = disassembled(&v.words).expect("there are tools");
        let name = format!("OpName %{calls} \"{calls}\"");
        assert!(text.contains(&name), "{barrier}: {text}");
        let result = call.id_at(0).expect("a function");
        let of_name = m.names.iter().find(|n| n.id_at(0) == Some(result)).expect("it has a name");
        assert_eq!(of_name.inst.operands[1], rspirv::dr::Operand::LiteralString(calls.into()), "{barrier}");
    }
}

/// Everything counts where nothing else was asked for, and with a pass that counts no samples.
#[test]
fn everything_counts_unless_a_sample_was_asked_for() {
    let Some(module) = assembled(BRANCH, "vulkan1.2") else { return };
    let of = |passes: &[Box<dyn Pass>], device| {
        rewritten("a text", &module, "vulkan1.3", passes, device).swap_remove(0)
    };
    assert_eq!(of(&passes(), Device::default()).sample, None);
    assert!(of(&passes(), sampled()).sample.is_some());
    let mut with_another = passes();
    with_another.push(by_name("its").expect("it is registered"));
    assert_eq!(of(&with_another, sampled()).sample, None);
}

//! The library against real modules: the scenes' shaders, all stages of them, checked by spirv-val.

use super::*;
use crate::testing::{self, scenes as modules};
use std::collections::BTreeSet;

/// What is wrong with a module; nothing where spirv-val is absent.
fn wrong(m: &Module) -> Option<String> {
    testing::invalid(&m.words(), "vulkan1.3")
}

fn assembled(text: &str) -> Option<Module> {
    Some(Module::read(&testing::assembled(text, "vulkan1.2")?).expect("it is a module"))
}

#[test]
fn modules_come_back_word_for_word_and_know_where_everything_stood() {
    for (path, w) in modules() {
        let m = Module::read(&w).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert_eq!(m.words(), w);
        let mut seen = 0;
        for i in m.functions.iter().flat_map(Function::insts).chain(&m.globals) {
            let at = i.at.expect("it is from the original") as usize;
            assert_eq!(w[at] & 0xffff, i.op() as u32, "{}: word {at}", path.display());
            seen += 1;
        }
        assert!(seen > 3, "{}", path.display());
    }
}

#[test]
fn modules_of_empty_functions_are_valid_and_only_entry_points_are_left() {
    for (path, w) in modules() {
        let whole = Module::read(&w).expect("it was read before");
        let busy = whole.busy_functions();
        if busy.is_empty() {
            let task = whole.entries().iter().all(|e| stage_of(e.model) == Some(crate::Stage::Task));
            assert!(task, "{}", path.display());
            continue;
        }
        for some in busy.iter().map(|f| BTreeSet::from([*f])).chain([busy.iter().copied().collect()]) {
            let mut m = whole.clone();
            m.empty(&some);
            assert!(m.busy_functions().iter().all(|f| !some.contains(f)), "{}", path.display());
            assert_eq!(wrong(&m), None, "{}: {some:?}", path.display());
        }
        let mut m = whole.clone();
        m.empty(&busy.into_iter().collect());
        let entries: BTreeSet<u32> = whole.entries().iter().map(|e| e.function).collect();
        assert_eq!(m.functions.iter().map(Function::id).collect::<BTreeSet<u32>>(), entries);
    }
}

/// A block on every edge that takes one, and a call of an imported function at every block's beginning and end.
#[test]
fn what_is_put_in_everywhere_is_valid() {
    static PROBES: crate::rewrite::Probes = crate::probes!("blocks");
    for (path, w) in modules() {
        let mut m = Module::read(&w).expect("it was read before");
        let entry = m.entries()[0].clone();
        m.isolate(entry.model, &entry.name).expect("it has it");
        let (mut types, mut done) = (Types::new(&m), Imported::default());
        m.physical_addresses();
        let library = PROBES.of(&m, stage_of(entry.model).expect("a stage"), false);
        let helpers = ["count_subgroup_plain", "count_subgroup", "count_lanes"]
            .map(|h| library.import(&mut m, &mut types, &mut done, h).expect("the library has it"));
        let void = types.void(&mut m);
        let number = types.u32(&mut m, 7);
        let call = |m: &mut Module, n: usize| {
            let operands = vec![Operand::IdRef(helpers[n % 3]), Operand::IdRef(number)];
            let id = m.fresh();
            vec![Inst::new(Op::FunctionCall, Some(void), Some(id), operands)]
        };
        let mut put = 0;
        for f in m.reachable(entry.function) {
            let cfg = Cfg::new(&m.functions[f]).expect("it is one");
            let mut edges = vec![];
            for e in cfg.edges.iter().filter(|e| e.splits) {
                edges.push((e.from, e.to, call(&mut m, e.from)));
            }
            put += edges.len();
            m.split_edges(f, edges);
            let mut places = vec![];
            for b in 0..m.functions[f].blocks.len() {
                for at in [Place::begin(&m.functions[f], b), Place::end(&m.functions[f], b)] {
                    places.push((at, call(&mut m, b)));
                }
            }
            put += places.len();
            m.functions[f].insert(places);
        }
        let calls = |m: &Module| {
            m.functions.iter().flat_map(Function::insts).filter(|i| i.id_at(0) == Some(helpers[0])).count()
        };
        assert!(put > 1 && calls(&m) > 0, "{}", path.display());
        assert_eq!(wrong(&m), None, "{}", path.display());
    }
}

const TWO_ENTRIES: &str = "
    OpCapability Shader
    OpMemoryModel Logical GLSL450
    OpEntryPoint GLCompute %a \"a\"
    OpEntryPoint Fragment %b \"b\"
    OpExecutionMode %a LocalSize 4 1 1
    OpExecutionMode %b OriginUpperLeft
    OpName %only_a \"only_a\"
    OpName %both \"both\"
    %void = OpTypeVoid
    %f = OpTypeFunction %void
    %both = OpFunction %void None %f
    %1 = OpLabel
    OpReturn
    OpFunctionEnd
    %only_a = OpFunction %void None %f
    %2 = OpLabel
    %3 = OpFunctionCall %void %both
    OpReturn
    OpFunctionEnd
    %a = OpFunction %void None %f
    %4 = OpLabel
    %5 = OpFunctionCall %void %only_a
    OpReturn
    OpFunctionEnd
    %b = OpFunction %void None %f
    %6 = OpLabel
    %7 = OpFunctionCall %void %both
    OpReturn
    OpFunctionEnd";

#[test]
fn one_entry_point_is_left_with_what_it_reaches() {
    let Some(m) = assembled(TWO_ENTRIES) else { return };
    let of = |name: &str| m.entries().into_iter().find(|e| e.name == name).expect("it has it");
    let (a, b) = (of("a"), of("b"));
    let mut only_b = m.clone();
    only_b.isolate(b.model, "b").expect("it has it");
    assert_eq!((only_b.functions.len(), only_b.modes.len(), only_b.names.len()), (2, 1, 1));
    assert_eq!(wrong(&only_b), None);
    let mut only_a = m.clone();
    only_a.isolate(a.model, "a").expect("it has it");
    assert_eq!((only_a.functions.len(), only_a.names.len()), (3, 2));
    assert_eq!(wrong(&only_a), None);
    let e = m.clone().isolate(a.model, "b").expect_err("b is a fragment shader");
    assert_eq!(e.to_string(), "there is no GLCompute entry point called \"b\"");
}

#[test]
fn what_is_no_module_is_refused_with_its_place() {
    let (_, w) = modules().swap_remove(0);
    assert_eq!(
        Module::read(&w[..3]).expect_err("short").to_string(),
        "word 3: 3 words are no SPIR-V module: its header has 5"
    );
    for cut in [6, w.len() / 2, w.len() - 1] {
        assert!(Module::read(&w[..cut]).is_err(), "{cut} of {} words", w.len());
    }
    let mut odd = w.clone();
    odd[5] = odd[5] & 0xffff_0000 | 0xfff0;
    let e = Module::read(&odd).expect_err("no such opcode").to_string();
    assert!(e.starts_with("word 5: "), "{e}");
}

//! The rewriting against walks through the rewritten modules: a walker takes branches at random and runs nothing but what
//! the pass put in. What the counters then say must be what was walked.

use super::*;
use crate::pass::EntryData;
use crate::rewrite::{Device, Variant};
use crate::spirv::{Module, Op, Operand};
use crate::testing::{BRANCH, function_text, glsl, invalid, of_text, rewritten, scenes};
use std::collections::HashMap;
use trace::{Memory, Source, Value};

/// Blocks and edges as they were come by: (function, block), (function, from, to).
#[derive(Default)]
struct Walked {
    blocks: HashMap<(u64, u64), u64>,
    edges: HashMap<(u64, u64, u64), u64>,
    entries: u64,
}

/// Runs what was put in.
struct Walker<'a> {
    m: Module,
    v: &'a Variant,
    names: HashMap<u32, String>,
    /// Labels of the original, as (function, block).
    labels: HashMap<u32, (u64, u64)>,
    values: HashMap<u32, u64>,
    variables: HashMap<u32, u64>,
    counters: Vec<u64>,
    walked: Walked,
    seed: u64,
    steps: u32,
}

/// How a walk went on.
enum Ended {
    Returned,
    /// The invocation is over.
    Left,
    /// Nothing of it counts.
    TooLong,
}

impl<'a> Walker<'a> {
    fn new(v: &'a Variant, seed: u64) -> Self {
        let m = Module::read(&v.words).expect("it is a module");
        let mut names = HashMap::new();
        let known = ["count_lane", "flush_lane", "count_lane_if"];
        // Functions that were brought have no names: they are known by what they take and do.
        let own: Vec<u32> = v.facts.functions.iter().map(|f| f.id).collect();
        for f in m.functions.iter().filter(|f| !own.contains(&f.id())) {
            let calls = f.insts().any(|i| i.op() == Op::FunctionCall);
            let name = match (f.params.len(), calls, f.blocks.len()) {
                (0, ..) => "flush",
                (1, ..) => known[0],
                (2, ..) => {
                    let ty = f.params[1].inst.result_type.and_then(|t| m.global(t)).expect("it has one");
                    if ty.op() == Op::TypeBool {
                        known[2]
                    } else if f.insts().any(|i| i.op() == Op::AtomicIAdd) {
                        "add"
                    } else {
                        known[1]
                    }
                }
                other => panic!("a function of {other:?}"),
            };
            names.insert(f.id(), name.to_owned());
        }
        let mut labels = HashMap::new();
        for (f, function) in v.facts.functions.iter().enumerate() {
            for (b, block) in function.blocks.iter().enumerate() {
                labels.insert(block.label, (f as u64, b as u64));
            }
        }
        let counters = vec![0; v.counters as usize];
        let (values, variables, walked) = Default::default();
        Walker { m, v, names, labels, values, variables, counters, walked, seed, steps: 0 }
    }

    fn below(&mut self, n: usize) -> usize {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        (self.seed % n as u64) as usize
    }

    fn value(&self, id: u32) -> u64 {
        if let Some(&v) = self.values.get(&id) {
            return v;
        }
        match self.m.global(id).map(|i| (i.op(), i.inst.operands.first())) {
            Some((Op::Constant, Some(Operand::LiteralBit32(n)))) => (*n).into(),
            Some((Op::ConstantTrue, _)) => 1,
            Some((Op::ConstantNull, _)) => 0,
            other => panic!("nothing is known of %{id}: {other:?}"),
        }
    }

    /// What the terminator decides, beforehand: its condition or selector, and where it goes.
    fn decide(&mut self, end: &crate::spirv::Inst) -> Option<u32> {
        match end.op() {
            Op::Branch => end.id_at(0),
            Op::BranchConditional => {
                let yes = self.below(2) == 1;
                self.values.insert(end.id_at(0)?, yes.into());
                end.id_at(if yes { 1 } else { 2 })
            }
            Op::Switch => {
                let pairs: Vec<_> = end.inst.operands[2..].chunks_exact(2).collect();
                let pick = self.below(pairs.len() + 1);
                let literal = |o: &Operand| match o {
                    Operand::LiteralBit32(n) => u64::from(*n),
                    other => panic!("{other:?}"),
                };
                let (value, to) = match pairs.get(pick) {
                    Some(pair) => (literal(&pair[0]), pair[1].id_ref_any()),
                    None => (0xdead_beef, end.id_at(1)),
                };
                self.values.insert(end.id_at(0)?, value);
                to
            }
            _ => None,
        }
    }

    /// Whether something that is known of the place happens: a function that may not come back does not.
    fn call(&mut self, function: u32) -> Ended {
        let f = self.m.function(function).expect("it is there");
        let own = self.v.facts.functions.iter().any(|f| f.id == function);
        let mut block = 0;
        let mut at = None;
        loop {
            self.steps += 1;
            if self.steps > 4000 {
                return Ended::TooLong;
            }
            let label = self.m.functions[f].blocks[block].label;
            let here = self.labels.get(&label).copied();
            if let Some((function, b)) = here.filter(|_| own) {
                *self.walked.blocks.entry((function, b)).or_default() += 1;
                if let Some(from) = at {
                    *self.walked.edges.entry((function, from, b)).or_default() += 1;
                }
                at = Some(b);
            }
            let body = self.m.functions[f].blocks[block].body.clone();
            let end = body.last().expect("its terminator");
            let to = self.decide(end);
            let out = |w: &mut Self| {
                let (function, b) = here.expect("only blocks of the original end functions");
                let outside = w.v.facts.functions[function as usize].blocks.len() as u64;
                *w.walked.edges.entry((function, b, outside)).or_default() += 1;
            };
            for i in &body {
                match i.op() {
                    Op::FunctionCall => {
                        let callee = i.id_at(0).expect("it has one");
                        let arguments: Vec<u32> =
                            (1..i.inst.operands.len()).filter_map(|n| i.id_at(n)).collect();
                        match self.names.get(&callee).map(String::as_str) {
                            Some("count_lane") => {
                                let n = self.value(arguments[0]) as usize;
                                self.counters[n] += 1;
                            }
                            Some("count_lane_if") => {
                                let n = self.value(arguments[0]) as usize;
                                self.counters[n] += self.value(arguments[1]);
                            }
                            Some("flush_lane") => {
                                let n = self.value(arguments[0]) as usize;
                                self.counters[n] += self.value(arguments[1]);
                            }
                            Some("flush") => {
                                let _ = self.call(callee);
                            }
                            Some(other) => panic!("a call of {other}"),
                            None => match self.call(callee) {
                                Ended::Returned => {}
                                Ended::Left => {
                                    out(self);
                                    return Ended::Left;
                                }
                                Ended::TooLong => return Ended::TooLong,
                            },
                        }
                    }
                    // What else the pass puts in: what the original does is of no interest here.
                    _ if i.at.is_some() && own && self.original(i) => {}
                    Op::Load if self.is_ours(i.id_at(0)) => {
                        let v = self.variables.get(&i.id_at(0).expect("ours")).copied().unwrap_or(0);
                        self.values.insert(i.id().expect("a load"), v);
                    }
                    Op::Store if self.is_ours(i.id_at(0)) => {
                        let v = self.value(i.id_at(1).expect("a store"));
                        self.variables.insert(i.id_at(0).expect("ours"), v);
                    }
                    Op::IAdd | Op::IEqual | Op::LogicalOr if self.known(i, 2) => {
                        let (a, b) = (self.value(i.id_at(0).expect("2")), self.value(i.id_at(1).expect("2")));
                        let v = match i.op() {
                            Op::IAdd => a + b,
                            Op::IEqual => u64::from(a == b),
                            _ => a | b,
                        };
                        self.values.insert(i.id().expect("a value"), v);
                    }
                    Op::LogicalNot if self.known(i, 1) => {
                        let v = 1 - self.value(i.id_at(0).expect("1"));
                        self.values.insert(i.id().expect("a value"), v);
                    }
                    Op::Select if self.known(i, 3) => {
                        let pick = if self.value(i.id_at(0).expect("3")) == 1 { 1 } else { 2 };
                        let v = self.value(i.id_at(pick).expect("3"));
                        self.values.insert(i.id().expect("a value"), v);
                    }
                    // Ours is not counted from here on; for the walk that is the invocation's end.
                    Op::DemoteToHelperInvocation => {
                        out(self);
                        return Ended::Left;
                    }
                    _ => {}
                }
            }
            match to {
                Some(to) => {
                    let blocks = &self.m.functions[f].blocks;
                    block = blocks.iter().position(|b| b.label == to).expect("a label");
                }
                None => {
                    if own {
                        out(self);
                    }
                    return if matches!(end.op(), Op::Return | Op::ReturnValue) {
                        Ended::Returned
                    } else {
                        Ended::Left
                    };
                }
            }
        }
    }

    /// Nothing here computes: the original's instructions have the results that branches decide on.
    fn original(&self, i: &crate::spirv::Inst) -> bool {
        i.id().is_some_and(|id| id < self.first_of_ours())
    }

    /// Ids from here on are the pass's.
    fn first_of_ours(&self) -> u32 {
        self.v.facts.functions.iter().flat_map(|f| &f.blocks).map(|b| b.label).max().unwrap_or(0)
    }

    fn is_ours(&self, variable: Option<u32>) -> bool {
        variable.is_some_and(|id| {
            self.m.global(id).is_some_and(|v| {
                // The only private variables with an initializer of null that the scenes' shaders do not have.
                v.op() == Op::Variable
                    && v.inst.operands.len() == 2
                    && v.inst.operands[0] == Operand::StorageClass(rspirv::spirv::StorageClass::Private)
            })
        })
    }

    fn known(&self, i: &crate::spirv::Inst, n: usize) -> bool {
        (0..n).all(|n| {
            i.id_at(n).is_some_and(|id| {
                self.values.contains_key(&id)
                    || self.m.global(id).is_some_and(|g| {
                        matches!(g.op(), Op::ConstantNull | Op::ConstantTrue)
                            || matches!(g.inst.operands[..], [Operand::LiteralBit32(_)])
                    })
            })
        })
    }

    /// Many walks; those that do not end are taken back.
    fn walk(&mut self, times: u32) {
        let entry = self.v.facts.functions[0].id;
        for _ in 0..times {
            self.steps = 0;
            let (counters, walked) = (self.counters.clone(), std::mem::take(&mut self.walked));
            self.variables.clear();
            let ended = self.call(entry);
            let now = std::mem::replace(&mut self.walked, walked);
            if matches!(ended, Ended::TooLong) {
                self.counters = counters;
                continue;
            }
            self.walked.entries += 1;
            now.blocks.into_iter().for_each(|(k, n)| *self.walked.blocks.entry(k).or_default() += n);
            now.edges.into_iter().for_each(|(k, n)| *self.walked.edges.entry(k).or_default() += n);
        }
    }
}

struct Out(Memory);

impl Sink for Out {
    fn put(&mut self, table: &'static trace::Table, values: &[Value<'_>]) {
        self.0.put(table, values);
    }
}

fn decoded(pass: &Blocks, v: &Variant, counters: &[u64]) -> Memory {
    let region = v.regions.iter().find(|r| r.pass == pass.name()).expect("it has a part");
    let first = region.first_counter as usize;
    let counters = &counters[first..first + region.counters as usize];
    let entries = vec![EntryData { entry: 3, pipeline: 7, variant: v, region, counters: counters.into() }];
    let mut out = Out(Memory::default());
    let frame = FrameData { frame: 5, subgroup_size: 8, entries, ..FrameData::default() };
    pass.decode(&frame, &mut out).expect("its own sites");
    out.0
}

/// Walks a module and compares every block and edge. Of the derived ones, how many there were.
fn check(what: &str, module: &[u32], options: &str, seed: u64) -> (usize, usize) {
    let passes: Vec<Box<dyn Pass>> =
        vec![Box::new(Blocks::new(&crate::passes::options(options)).expect("options"))];
    let pass = Blocks::new(&crate::passes::options(options)).expect("options");
    let (mut blocks, mut edges) = (0, 0);
    for v in rewritten(what, module, "vulkan1.3", &passes, Device::default()) {
        let mut w = Walker::new(&v, seed);
        w.walk(60);
        let out = decoded(&pass, &v, &w.counters);
        let t = out.read(&trace::tables::BLOCK_COUNTS).expect("it is in memory");
        let mut got = HashMap::new();
        for row in 0..t.len() {
            assert_eq!((t.u64("frame")[row], t.u64("entry")[row], &*t.text("pass")[row]), (5, 3, "blocks"));
            got.insert((t.u64("function")[row], t.u64("block")[row]), t.u64("executions")[row]);
        }
        assert_eq!(got.get(&(0, 0)), Some(&w.walked.entries), "{what} {options}");
        got.retain(|_, n| *n > 0);
        assert_eq!(got, w.walked.blocks, "{what} {options}");
        blocks += got.len();
        let t = out.read(&trace::tables::EDGE_COUNTS).expect("it is in memory");
        let mut got = HashMap::new();
        for row in 0..t.len() {
            let at = ["function", "from", "to"].map(|c| t.u64(c)[row]);
            *got.entry((at[0], at[1], at[2])).or_insert(0) += t.u64("executions")[row];
        }
        if !options.contains("direct:") {
            assert_eq!(got, w.walked.edges, "{what} {options}");
        }
        edges += got.len();
    }
    (blocks, edges)
}

#[test]
fn counts_are_what_was_walked_in_every_shader_of_the_scenes() {
    let (mut blocks, mut edges) = (0, 0);
    for (n, (path, module)) in scenes().into_iter().enumerate() {
        for options in [
            "mode=lane:flush=direct",
            "mode=lane:flush=exit",
            "mode=lane:placement=direct:flush=direct",
            "mode=lane:placement=direct:flush=exit",
        ] {
            let (b, e) = check(&path.display().to_string(), &module, options, 99 + n as u64);
            blocks += b;
            edges += e;
        }
    }
    assert!(blocks > 400 && edges > 200, "{blocks} blocks, {edges} edges");
}

/// Switches that are fallen into, breaks out of nested selections, early returns, kills in functions that are called in
/// loops: what makes edges take no block and functions not return.
const HARD: &str = "#version 460
    layout(location = 0) flat in int a;
    layout(location = 1) flat in int b;
    layout(location = 0) out vec4 colour;
    int inner(int n) {
        for (int i = 0; i < n; i++) {
            if (i == a) discard;
            if (i == b) return i;
        }
        return n;
    }
    int fall(int n) {
        int sum = 0;
        switch (n) {
        case 0: sum += 1;
        case 1: sum += 2;
        case 2: sum += 3; break;
        case 3:
        case 4: if (a > 3) break; sum += 7;
        case 5: return 5;
        default: sum += 4;
        case 9: sum += 8;
        }
        return sum;
    }
    void main() {
        int sum = 0;
        for (int i = 0; i < a; i++) {
            for (int j = 0; j < b; j++) {
                if (j == 3) { if (i == 4) break; else continue; }
                switch (j) {
                case 1: if (i == 2) continue; sum += fall(i);
                case 2: if (i == 3) break; sum += inner(j); break;
                case 7: return;
                }
                do { sum++; if (sum == 9) break; if (sum == 8) continue; sum += fall(sum); } while (sum < a);
            }
            if (sum > 100) break;
            if (sum > 90) discard;
        }
        colour = vec4(sum + inner(a) + inner(b));
    }";

#[test]
fn counts_are_what_was_walked_where_control_flow_is_hard() {
    for env in [&["--target-env", "vulkan1.1"][..], &["--target-env", "spirv1.6"]] {
        let Some(module) = glsl("frag", HARD, env) else { return };
        for options in ["mode=lane:flush=direct", "mode=lane", "mode=lane:placement=direct:flush=direct"] {
            for seed in 1..20 {
                let (blocks, _) = check("hard", &module, options, seed * 7919);
                assert!(blocks > 30, "{blocks}");
            }
        }
    }
}

#[test]
fn a_plan_may_have_the_pass_twice_and_its_edges_are_shared() {
    let Some(module) = glsl("frag", HARD, &["--target-env", "vulkan1.1"]) else { return };
    let options = ["mode=lane", "mode=lane:as=again:flush=direct", "mode=lane:placement=direct:as=direct"];
    let make = || -> Vec<Box<dyn Pass>> {
        options
            .iter()
            .map(|o| Box::new(Blocks::new(&crate::passes::options(o)).expect("options")) as Box<dyn Pass>)
            .collect()
    };
    let all = rewritten("hard", &module, "vulkan1.3", &make(), Device::default());
    assert_eq!(all[0].regions.iter().map(|r| &*r.pass).collect::<Vec<_>>(), ["blocks", "again", "direct"]);
    assert!(all[0].regions[0].counters < all[0].regions[2].counters, "fewer than blocks");
    assert_eq!(all[0].regions[0].counters, all[0].regions[1].counters);
    let one = rewritten("hard", &module, "vulkan1.3", &make()[..1], Device::default());
    assert!(all[0].words.len() > one[0].words.len());
}

#[test]
fn every_option_leaves_valid_modules() {
    let all = [
        "mode=lane",
        "mode=lane:add=plain",
        "mode=lane:sample=4:copies=4",
        "mode=lane:placement=direct",
        "mode=lanes",
        "mode=lanes:flush=direct:copies=8",
        "mode=lanes:add=plain:placement=direct",
        "mode=lanes:sample=16",
        "mode=subgroup",
        "mode=subgroup:flush=direct:placement=direct",
        "mode=subgroup:add=plain",
        "mode=subgroup:sample=3:copies=2",
    ];
    let device = Device { atomic_64: true, keep_calls: true, ..Device::default() };
    let hard = glsl("frag", HARD, &["--target-env", "vulkan1.1"]);
    for options in all {
        let passes: Vec<Box<dyn Pass>> =
            vec![Box::new(Blocks::new(&crate::passes::options(options)).expect("options"))];
        let some = scenes().into_iter().enumerate().filter(|s| s.0 % 3 == 0).map(|s| s.1);
        let hard = hard.iter().map(|m| ("hard".into(), m.clone()));
        for (path, module) in some.chain(hard) {
            for v in rewritten(&path.display().to_string(), &module, "vulkan1.3", &passes, device) {
                assert_eq!(
                    v.regions[0].counters
                        % Options::read(&crate::passes::options(options)).expect("ok").copies,
                    0
                );
                assert_eq!(invalid(&v.words, "vulkan1.3"), None);
            }
        }
    }
}

#[test]
fn lost_additions_give_no_negative_counts_and_copies_are_summed() {
    let Some(module) = glsl("frag", HARD, &["--target-env", "vulkan1.1"]) else { return };
    let pass = Blocks::new(&crate::passes::options("mode=lane:copies=2")).expect("options");
    let passes: Vec<Box<dyn Pass>> =
        vec![Box::new(Blocks::new(&crate::passes::options("mode=lane:copies=2")).expect("options"))];
    let v = &rewritten("hard", &module, "vulkan1.3", &passes, Device::default())[0];
    let stride = v.counters / 2;
    let mut split: Vec<u64> = (0..v.counters).map(|n| u64::from(n % 7 * 3 + n / stride)).collect();
    let rows = |m: Memory| m.read(&trace::tables::BLOCK_COUNTS).expect("it is in memory");
    let apart = rows(decoded(&pass, v, &split));
    assert!(apart.u64("executions").iter().all(|&n| n < 1 << 32), "nothing is below 0");
    for n in 0..stride as usize {
        split[n] += std::mem::take(&mut split[n + stride as usize]);
    }
    assert_eq!(rows(decoded(&pass, v, &split)), apart);
}

/// Two ways, a counter each; the entry's count is their sum.
#[test]
fn golden_assembly() {
    let Some(v) = of_text(Box::new(Blocks::default()), BRANCH) else { return };
    let expected = "\
%main = OpFunction %void None %1
%2 = OpLabel
%3 = OpLoad %uint %lane
%4 = OpULessThan %bool %3 %uint_4
OpSelectionMerge %5 None
OpBranchConditional %4 %6 %5
%6 = OpLabel
OpFunctionCall %void %count_lane %uint_0
OpReturn
%5 = OpLabel
OpFunctionCall %void %count_lane %uint_1
OpReturn
OpFunctionEnd
";
    assert_eq!(function_text(&v.words, "main").as_deref(), Some(expected));
    assert_eq!((v.counters, v.probes), (2, 0));
}

/// A loop for half of the invocations: its iterations are held in a private variable and added in the end; where it is
/// left is counted once, for all that came.
const LOOP: &str = "
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\" %lane
OpExecutionMode %main LocalSize 8 1 1
OpName %main \"main\"
OpName %lane \"lane\"
OpDecorate %lane BuiltIn LocalInvocationIndex
%void = OpTypeVoid
%to = OpTypeFunction %void
%uint = OpTypeInt 32 0
%bool = OpTypeBool
%uint_4 = OpConstant %uint 4
%in = OpTypePointer Input %uint
%lane = OpVariable %in Input
%main = OpFunction %void None %to
%first = OpLabel
%n = OpLoad %uint %lane
%low = OpULessThan %bool %n %uint_4
OpBranch %header
%header = OpLabel
OpLoopMerge %rest %again None
OpBranchConditional %low %body %rest
%body = OpLabel
OpBranch %again
%again = OpLabel
OpBranch %header
%rest = OpLabel
OpReturn
OpFunctionEnd
";

#[test]
fn golden_assembly_of_a_loop() {
    let Some(v) = of_text(Box::new(Blocks::default()), LOOP) else { return };
    let expected = "\
%main = OpFunction %void None %1
%2 = OpLabel
%3 = OpLoad %uint %lane
%4 = OpULessThan %bool %3 %uint_4
OpBranch %5
%5 = OpLabel
OpLoopMerge %6 %7 None
OpBranchConditional %4 %8 %6
%8 = OpLabel
OpBranch %7
%7 = OpLabel
%9 = OpLoad %uint %10
%11 = OpIAdd %uint %9 %uint_1
OpStore %10 %11
OpBranch %5
%6 = OpLabel
OpFunctionCall %void %count_lane %uint_1
OpFunctionCall %void %12
OpReturn
OpFunctionEnd
";
    assert_eq!(function_text(&v.words, "main").as_deref(), Some(expected));
    assert_eq!(v.counters, 2);
}

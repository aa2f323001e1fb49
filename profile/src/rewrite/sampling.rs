//! Shaders that count a sample: one subgroup in so many runs the body with probes, the others run the body as the application
//! made it.
//!
//! The entry point becomes a branch between the two, which all of a subgroup take alike: by a hash of a seed and of the work
//! that its first invocation does; in compute shaders with barriers, of the workgroup, as all of that have to meet at the same
//! barrier. So what is not in the sample costs what the application's shader does, but for the registers of the larger body. Units
//! that are in the sample are in one of [`GROUPS`] groups, by the same hash, with counters of their own each: how far these lie
//! apart says how far an estimate may be off (random groups; Wolter, "Introduction to Variance Estimation", ch. 2).
//!
//! Refused, so that such entry points count everything: ray tracing, where what a subgroup calls is another's; task, mesh and
//! tessellation control shaders, whose invocations work together in ways that may not part; and what may stand in the entry
//! point's own function alone.

use super::chosen::{COUNTERS, redirect};
use super::facts::debug_sets;
use super::libraries::{PROLOGUE, SAMPLE};
use super::prologue::{group, work};
use super::sample::{GROUPS, Sample};
use super::shader::Shader;
use crate::Stage;
use crate::spirv::{Block, Function, Inst, Module, Op, Operand, Result};
use rspirv::spirv::{FunctionControl, SelectionControl};
use std::collections::HashMap;

/// Whether an entry point's subgroups may go different ways.
pub fn may(s: &Shader) -> bool {
    let stages =
        [Stage::Vertex, Stage::TessellationEvaluation, Stage::Geometry, Stage::Fragment, Stage::Compute];
    let only_there =
        |i: &Inst| matches!(i.op(), Op::BeginInvocationInterlockEXT | Op::EndInvocationInterlockEXT);
    stages.contains(&s.stage)
        && !s.device.chosen_only
        && !s.original.functions.iter().flat_map(Function::insts).any(only_there)
}

/// Puts the branch in. To be called when everything else is in its place.
pub fn split(s: &mut Shader, every: u32, seed: u32) -> Result<Sample> {
    let entry = s.entry.function;
    let plain = copy(&mut s.module, &s.original.clone(), entry);
    let with_probes = rename(&mut s.module, entry);
    let mut insts = Vec::new();
    let barriers =
        s.original.functions.iter().flat_map(Function::insts).any(|i| i.op() == Op::ControlBarrier);
    let numbers = [seed, every, GROUPS, s.counters * 8].map(|n| s.constant(n));
    let (name, arguments) = if s.stage == Stage::Compute && barriers {
        ("in_sample", [&[group(s, &mut insts)?][..], &numbers].concat())
    } else {
        work(s, &PROLOGUE, &mut insts)?;
        ("subgroup_in_sample", numbers.to_vec())
    };
    let choose = s.import(&SAMPLE, name)?;
    let bool = s.types.bool(&mut s.module);
    let (call, chosen) = s.call_for(choose, bool, &arguments);
    insts.push(call);
    let [first, sampled, other, end] = [0; 4].map(|_| s.module.fresh());
    let id = Operand::IdRef;
    insts.push(Inst::new(
        Op::SelectionMerge,
        None,
        None,
        vec![id(end), Operand::SelectionControl(SelectionControl::NONE)],
    ));
    insts.push(Inst::new(Op::BranchConditional, None, None, vec![id(chosen), id(sampled), id(other)]));
    let block = |label, body| Block { label, at: None, lines: vec![], body };
    let way = |s: &mut Shader, label, function| {
        let call = s.call(function, &[]);
        block(label, vec![call, Inst::new(Op::Branch, None, None, vec![id(end)])])
    };
    let blocks = vec![
        block(first, insts),
        way(s, sampled, with_probes),
        way(s, other, plain),
        block(end, vec![Inst::new(Op::Return, None, None, vec![])]),
    ];
    let void = s.types.void(&mut s.module);
    let ty = s.types.function(&mut s.module, void, &[]);
    let control = vec![Operand::FunctionControl(FunctionControl::NONE), id(ty)];
    let def = Inst::new(Op::Function, Some(void), Some(entry), control);
    s.module.functions.push(Function::new(def, vec![], blocks));
    let chooser = s.import(&SAMPLE, "in_sample")?;
    redirect(s, chooser, &[COUNTERS])?;
    Ok(Sample { every, groups: GROUPS })
}

/// The entry point's function, which is to be called, under another id; that id.
fn rename(m: &mut Module, entry: u32) -> u32 {
    let fresh = m.fresh();
    let f = m.function(entry).expect("an entry point has its function");
    m.functions[f].def.inst.result_id = Some(fresh);
    fresh
}

/// Copies of a function of the original and of all that it calls; its own copy's id.
fn copy(m: &mut Module, original: &Module, function: u32) -> u32 {
    let all: Vec<&Function> = original.reachable(function).iter().map(|&f| &original.functions[f]).collect();
    let mut ids = HashMap::new();
    for f in &all {
        let results = f.params.iter().chain(f.insts()).filter_map(Inst::id);
        for id in results.chain([f.id()]).chain(f.blocks.iter().map(|b| b.label)) {
            ids.insert(id, m.fresh());
        }
    }
    let renamed = |i: &Inst| {
        let mut i = Inst { at: None, ..i.clone() };
        let new = |id: &mut u32| *id = ids.get(id).copied().unwrap_or(*id);
        i.inst.result_id.iter_mut().for_each(new);
        i.inst.result_type.iter_mut().for_each(new);
        i.inst.operands.iter_mut().filter_map(Operand::id_ref_any_mut).for_each(new);
        i
    };
    // (Debug information describes the function that has probes.)
    let debug = debug_sets(original);
    let is_debug = |i: &Inst| i.op() == Op::ExtInst && i.id_at(0).is_some_and(|set| debug.contains(&set));
    let spoken = |i: &&Inst| !matches!(i.op(), Op::Line | Op::NoLine) && !is_debug(i);
    for f in &all {
        let blocks = f.blocks.iter().map(|b| Block {
            label: ids[&b.label],
            at: None,
            lines: vec![],
            body: b.body.iter().filter(spoken).map(renamed).collect(),
        });
        let params = f.params.iter().filter(|i| i.op() == Op::FunctionParameter).map(renamed).collect();
        m.functions.push(Function::new(renamed(&f.def), params, blocks.collect()));
    }
    let of_copies = |a: &&Inst| a.id_at(0).is_some_and(|id| ids.contains_key(&id));
    let decorations: Vec<Inst> = original.annotations.iter().filter(of_copies).map(renamed).collect();
    m.annotations.extend(decorations);
    ids[&function]
}

#[cfg(test)]
mod tests;

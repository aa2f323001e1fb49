//! Functions that do nothing but give a value, of which a call may be left out where nobody needs that.
//!
//! Guarantees: such a function writes to nothing but its own variables, reads nothing that a shader may write to while it runs
//! but what it is given, looks at no neighbour, and ends no invocation.

use super::fold::is_pure;
use super::locals::Locals;
use crate::spirv::{Inst, Module, Op, Operand};
use rspirv::spirv::{Decoration, StorageClass};
use std::collections::{HashMap, HashSet};

/// The quiet functions of a module, and how many instructions a call of each stands for.
pub fn quiet(m: &Module, glsl: Option<u32>) -> HashMap<u32, usize> {
    let types: HashMap<u32, u32> = m
        .functions
        .iter()
        .flat_map(|f| f.params.iter().chain(f.insts()))
        .chain(&m.globals)
        .filter_map(|i| Some((i.id()?, i.inst.result_type?)))
        .collect();
    let block = Operand::Decoration(Decoration::Block);
    let blocks: HashSet<u32> = m
        .annotations
        .iter()
        .filter(|a| a.inst.operands.get(1) == Some(&block))
        .filter_map(|a| a.id_at(0))
        .collect();
    let mut all: HashMap<u32, usize> = HashMap::new();
    // (a function is quiet once all that it calls is)
    loop {
        let before = all.len();
        for f in m.functions.iter().filter(|f| !f.blocks.is_empty()) {
            let locals = Locals::of(m, f);
            let fixed = |p: u32| is_fixed(m, &types, &blocks, p);
            let ok = |i: &Inst| match i.op() {
                Op::Load => i.id_at(0).is_some_and(|p| locals.root(p).is_some() || fixed(p)),
                Op::Store => i.id_at(0).is_some_and(|p| locals.root(p).is_some()),
                Op::FunctionCall => i.id_at(0).is_some_and(|c| all.contains_key(&c)),
                Op::Variable
                | Op::AccessChain
                | Op::InBoundsAccessChain
                | Op::Phi
                | Op::Branch
                | Op::BranchConditional
                | Op::Switch
                | Op::SelectionMerge
                | Op::LoopMerge
                | Op::Return
                | Op::ReturnValue
                | Op::SampledImage
                | Op::Image
                | Op::ImageSampleExplicitLod
                | Op::ImageSampleDrefExplicitLod
                | Op::ImageFetch
                | Op::Line
                | Op::NoLine => true,
                _ => is_pure(i, glsl),
            };
            if !all.contains_key(&f.id()) && f.insts().all(ok) {
                let calls = f.insts().filter(|i| i.op() == Op::FunctionCall).filter_map(|i| i.id_at(0));
                let inner: usize = calls.filter_map(|c| all.get(&c)).sum();
                let own = f.insts().filter(|i| !matches!(i.op(), Op::Line | Op::NoLine)).count();
                all.insert(f.id(), own + inner);
            }
        }
        if all.len() == before {
            return all;
        }
    }
}

/// Memory that no shader writes to while it runs, and variables of the invocation's own that functions are given.
fn is_fixed(m: &Module, types: &HashMap<u32, u32>, blocks: &HashSet<u32>, pointer: u32) -> bool {
    let Some(ty) = types.get(&pointer).and_then(|t| m.global(*t)) else { return false };
    match ty.inst.operands.first() {
        Some(Operand::StorageClass(class)) => match class {
            StorageClass::PushConstant | StorageClass::UniformConstant | StorageClass::Input => true,
            StorageClass::Function => true,
            StorageClass::Uniform => is_of_block(m, types, blocks, pointer),
            _ => false,
        },
        _ => false,
    }
}

/// Whether a pointer leads into a block that shaders do not write.
fn is_of_block(m: &Module, types: &HashMap<u32, u32>, blocks: &HashSet<u32>, pointer: u32) -> bool {
    let mut at = pointer;
    for _ in 0..32 {
        let inside = || m.functions.iter().find_map(|f| f.insts().find(|i| i.id() == Some(at)));
        match m.global(at).or_else(inside) {
            Some(i) if i.op() == Op::Variable => {
                let pointee = types.get(&at).and_then(|t| m.global(*t)).and_then(|t| t.id_at(1));
                let element =
                    |t: u32| m.global(t).filter(|i| i.op() == Op::TypeArray).and_then(|i| i.id_at(0));
                return pointee
                    .is_some_and(|t| blocks.contains(&t) || element(t).is_some_and(|e| blocks.contains(&e)));
            }
            Some(i) => match i.id_at(0) {
                Some(next) => at = next,
                None => return false,
            },
            None => return false,
        }
    }
    false
}

//! Which values of a shader go to its built-in outputs: positions, depths, clip distances, tessellation levels.
//!
//! Values are followed backwards through operations, variables as a whole, calls and what calls are given; which way a branch
//! went is not. Guarantees: no value is missing that reaches such an output by these ways; values that do not may be there.
//! Refuses nothing.

use crate::spirv::{Inst, Module, Op, Operand};
use rspirv::spirv::{Decoration, StorageClass};
use std::collections::{HashMap, HashSet};

/// See the module's header.
pub fn lead_to_built_ins(m: &Module, functions: &[usize]) -> HashSet<u32> {
    let ways = Ways::of(m, functions);
    let mut found = HashSet::new();
    let mut asked = built_in_outputs(m);
    while let Some(id) = asked.pop() {
        if found.insert(id) {
            asked.extend(ways.from.get(&id).into_iter().flatten());
        }
    }
    found
}

/// Variables that are built-in outputs, or blocks with one.
fn built_in_outputs(m: &Module) -> Vec<u32> {
    let built_in = |a: &&Inst| {
        let at = if a.op() == Op::MemberDecorate { 2 } else { 1 };
        a.inst.operands.get(at) == Some(&Operand::Decoration(Decoration::BuiltIn))
    };
    let decorated: HashSet<u32> = m.annotations.iter().filter(built_in).filter_map(|a| a.id_at(0)).collect();
    let is_one = |v: &&Inst| {
        let output = v.inst.operands.first() == Some(&Operand::StorageClass(StorageClass::Output));
        let pointee = v.inst.result_type.and_then(|t| m.global(t)).and_then(|p| p.id_at(1));
        let block = pointee.map(|mut ty| {
            while let Some(array) = m.global(ty).filter(|t| t.op() == Op::TypeArray) {
                ty = array.id_at(0).unwrap_or(0);
            }
            ty
        });
        let names = [v.id(), block];
        output && names.into_iter().flatten().any(|id| decorated.contains(&id))
    };
    m.globals.iter().filter(|i| i.op() == Op::Variable).filter(is_one).filter_map(Inst::id).collect()
}

/// GLSL's functions that store a second result: Modf and Frexp.
const STORING: [Operand; 2] = [Operand::LiteralExtInstInteger(35), Operand::LiteralExtInstInteger(51)];

/// Where values come from.
#[derive(Default)]
struct Ways {
    from: HashMap<u32, Vec<u32>>,
    /// What pointers lead into: a variable, a parameter, or a pointer that is no part of another.
    root: HashMap<u32, u32>,
}

impl Ways {
    fn of(m: &Module, functions: &[usize]) -> Ways {
        let mut ways = Ways::default();
        let insts = || functions.iter().flat_map(|f| m.functions[*f].insts());
        for i in insts() {
            let base = i
                .id_at(0)
                .filter(|_| matches!(i.op(), Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject));
            if let (Some(id), Some(base)) = (i.id(), base) {
                ways.root.insert(id, ways.root_of(base));
            }
        }
        for f in functions {
            ways.add_function(m, *f);
        }
        ways
    }

    fn root_of(&self, pointer: u32) -> u32 {
        self.root.get(&pointer).copied().unwrap_or(pointer)
    }

    fn add(&mut self, to: u32, from: u32) {
        self.from.entry(to).or_default().push(from);
    }

    fn add_function(&mut self, m: &Module, f: usize) {
        let function = &m.functions[f];
        for i in function.insts() {
            let used: Vec<u32> = i.inst.operands.iter().filter_map(Operand::id_ref_any).collect();
            for (from, id) in used.iter().filter_map(|from| Some((*from, i.id()?))) {
                self.add(id, from);
            }
            match i.op() {
                Op::Store | Op::CopyMemory => {
                    if let [to, rest @ ..] = &used[..] {
                        let to = self.root_of(*to);
                        rest.iter().for_each(|from| self.add(to, *from));
                    }
                }
                Op::ReturnValue => used.iter().for_each(|from| self.add(function.id(), *from)),
                Op::FunctionCall => {
                    let callee = used.first().and_then(|c| m.function(*c)).map(|c| &m.functions[c]);
                    let params = callee.into_iter().flat_map(|c| &c.params);
                    let params = params.filter_map(|p| Some((p.id()?, p.inst.result_type?)));
                    for ((param, ty), argument) in params.zip(used.iter().skip(1)) {
                        self.add(param, *argument);
                        // What the function stores there is stored in the variable.
                        if m.global(ty).is_some_and(|t| t.op() == Op::TypePointer) {
                            self.add(self.root_of(*argument), param);
                        }
                    }
                }
                Op::ExtInst => {
                    let second = i.inst.operands.get(1).is_some_and(|n| STORING.contains(n));
                    if let (Some(id), Some(to)) = (i.id(), used.get(2).filter(|_| second)) {
                        self.add(self.root_of(*to), id);
                    }
                }
                _ => {}
            }
        }
    }
}

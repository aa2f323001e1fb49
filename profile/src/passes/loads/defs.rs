//! The definitions of a module, by id.
//!
//! Guarantees: what is defined in functions is found as globals are. An id that nothing defines has no definition, no type
//! and no storage class; nothing is refused.

use crate::spirv::{Inst, Module, Op, Operand};
use rspirv::spirv::{Decoration, StorageClass};
use std::collections::{HashMap, HashSet};

/// What a module's definitions are, for quick looks.
pub struct Defs {
    by_id: HashMap<u32, Inst>,
    pub(super) blocks: HashSet<u32>,
    pub(super) constants: HashSet<u32>,
}

impl Defs {
    /// Of a module as it is now.
    pub fn of(m: &Module) -> Self {
        let inside = m.functions.iter().flat_map(|f| f.params.iter().chain(f.insts()));
        let all = m.globals.iter().chain(inside);
        let decorated = |d: Decoration| {
            let has = move |a: &&Inst| a.inst.operands.get(1) == Some(&Operand::Decoration(d));
            m.annotations.iter().filter(has).filter_map(|a| a.id_at(0)).collect()
        };
        let constant = |i: &&Inst| {
            let op = format!("{:?}", i.op());
            op.starts_with("Constant") || op.starts_with("SpecConstant")
        };
        Defs {
            by_id: all.filter_map(|i| Some((i.id()?, i.clone()))).collect(),
            blocks: decorated(Decoration::Block),
            constants: m.globals.iter().filter(constant).filter_map(Inst::id).collect(),
        }
    }

    /// The instruction that defines an id.
    pub fn get(&self, id: u32) -> Option<&Inst> {
        self.by_id.get(&id)
    }

    /// The type of a value.
    pub fn type_of(&self, id: u32) -> Option<&Inst> {
        self.get(self.get(id)?.inst.result_type?)
    }

    pub(super) fn class_of(&self, pointer: u32) -> Option<StorageClass> {
        match self.type_of(pointer)?.inst.operands.first() {
            Some(Operand::StorageClass(c)) => Some(*c),
            _ => None,
        }
    }

    /// What a pointer starts from, and the indices on the way, the last first.
    pub(super) fn chain(&self, pointer: u32) -> (u32, Vec<u32>) {
        let (mut at, mut indices) = (pointer, Vec::new());
        while let Some(i) = self.get(at) {
            match i.op() {
                Op::AccessChain
                | Op::InBoundsAccessChain
                | Op::PtrAccessChain
                | Op::InBoundsPtrAccessChain => {
                    indices.extend((1..i.inst.operands.len()).rev().filter_map(|k| i.id_at(k)));
                }
                Op::CopyObject => {}
                _ => break,
            }
            match i.id_at(0) {
                Some(next) => at = next,
                None => break,
            }
        }
        (at, indices)
    }
}

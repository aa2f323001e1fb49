//! Functions that do nothing any more, and a module without what nobody calls then.
//!
//! Guarantees: the module stays valid: an emptied function returns zeros, or what is not defined where its type has none; what is said of what is gone
//! goes with it. Entry points stay. Refuses nothing: ids that are no functions change nothing.

use super::{Block, Function, Inst, Module, Op, Operand, Types};
use std::collections::{BTreeSet, HashSet};

impl Module {
    /// The ids of its functions that do something: more than to return.
    pub fn busy_functions(&self) -> Vec<u32> {
        let busy = |f: &&Function| f.insts().count() > 1;
        self.functions.iter().filter(busy).map(Function::id).collect()
    }

    /// These functions do nothing any more; what nobody calls then is gone.
    pub fn empty(&mut self, functions: &BTreeSet<u32>) {
        let (mut types, mut gone) = (Types::new(self), HashSet::new());
        for n in 0..self.functions.len() {
            let of = &self.functions[n];
            let Some(first) = of.blocks.first().filter(|_| functions.contains(&of.id())) else { continue };
            let (ty, label) = (of.def.inst.result_type.unwrap_or(0), first.label);
            let labels = of.blocks.iter().map(|b| b.label).filter(|l| *l != label);
            gone.extend(labels.chain(of.insts().filter_map(Inst::id)));
            let body = match self.global(ty).map(Inst::op) {
                Some(Op::TypeVoid) => vec![Inst::new(Op::Return, None, None, vec![])],
                _ if self.has_zero(ty) => vec![returns(types.null(self, ty))],
                _ => {
                    let id = self.fresh();
                    vec![Inst::new(Op::Undef, Some(ty), Some(id), vec![]), returns(id)]
                }
            };
            self.functions[n].blocks = vec![Block { label, at: None, lines: vec![], body }];
        }
        let entries: Vec<u32> = self.entries().iter().map(|e| e.function).collect();
        let keep = entries.into_iter().flat_map(|f| self.reachable(f)).collect();
        self.keep_functions(&keep, gone);
    }

    /// Whether a type has a zero: numbers, truth values, and what is made of them.
    fn has_zero(&self, ty: u32) -> bool {
        let Some(of) = self.global(ty) else { return false };
        let has = |n: usize| of.id_at(n).is_some_and(|of| self.has_zero(of));
        match of.op() {
            Op::TypeBool | Op::TypeInt | Op::TypeFloat => true,
            Op::TypeVector | Op::TypeMatrix | Op::TypeArray => has(0),
            Op::TypeStruct => (0..of.inst.operands.len()).all(has),
            _ => false,
        }
    }
}

fn returns(id: u32) -> Inst {
    Inst::new(Op::ReturnValue, None, None, vec![Operand::IdRef(id)])
}

//! Functions that do nothing any more, and a module without what nobody calls then.
//!
//! Guarantees: the module stays valid: an emptied function returns zeros; what is said of what is gone goes with it, and so does debug information (but for
//! lines and names). Entry points stay. Refuses nothing: ids of no function, and of those that cannot return zero, change nothing.

use super::{Block, Function, Inst, Module, Op, Operand, Types, stage_of};
use crate::Stage;
use std::collections::{BTreeSet, HashSet};

impl Module {
    /// The ids of its functions that do something, more than to return, and can be emptied: those that return nothing, or what has a zero; but for
    /// task shaders, which end by saying what they start.
    pub fn busy_functions(&self) -> Vec<u32> {
        let tasks: HashSet<u32> = self
            .entries()
            .iter()
            .filter(|e| stage_of(e.model) == Some(Stage::Task))
            .map(|e| e.function)
            .collect();
        let busy = |f: &&Function| {
            let ty = f.def.inst.result_type.unwrap_or(0);
            f.insts().count() > 1 && !tasks.contains(&f.id()) && (self.is_void(ty) || self.has_zero(ty))
        };
        self.functions.iter().filter(busy).map(Function::id).collect()
    }

    fn is_void(&self, ty: u32) -> bool {
        self.global(ty).is_some_and(|t| t.op() == Op::TypeVoid)
    }

    /// These functions do nothing any more; what nobody calls then is gone.
    pub fn empty(&mut self, functions: &BTreeSet<u32>) {
        self.drop_debug_information();
        let (mut types, mut gone) = (Types::new(self), HashSet::new());
        for n in 0..self.functions.len() {
            let of = &self.functions[n];
            let Some(first) = of.blocks.first().filter(|_| functions.contains(&of.id())) else { continue };
            let (ty, label) = (of.def.inst.result_type.unwrap_or(0), first.label);
            if !self.is_void(ty) && !self.has_zero(ty) {
                continue;
            }
            let labels = of.blocks.iter().map(|b| b.label).filter(|l| *l != label);
            gone.extend(labels.chain(of.insts().filter_map(Inst::id)));
            let body = match self.is_void(ty) {
                true => Inst::new(Op::Return, None, None, vec![]),
                false => {
                    let zero = types.null(self, ty);
                    Inst::new(Op::ReturnValue, None, None, vec![Operand::IdRef(zero)])
                }
            };
            let body = vec![body];
            self.functions[n].blocks = vec![Block { label, at: None, lines: vec![], body }];
        }
        let entries: Vec<u32> = self.entries().iter().map(|e| e.function).collect();
        let keep = entries.into_iter().flat_map(|f| self.reachable(f)).collect();
        self.keep_functions(&keep, gone);
    }

    /// Takes away what instruction sets of debug information say: it names functions, and what they define.
    fn drop_debug_information(&mut self) {
        let is_debug = |i: &&Inst| {
            let name = i.inst.operands.first();
            matches!(name, Some(Operand::LiteralString(n)) if n.contains("DebugInfo"))
        };
        let sets: HashSet<u32> = self.imports.iter().filter(is_debug).filter_map(Inst::id).collect();
        if sets.is_empty() {
            return;
        }
        let mut gone = HashSet::new();
        let mut stays = |i: &Inst| {
            let extended = matches!(i.op(), Op::ExtInst | Op::ExtInstWithForwardRefsKHR);
            let stays = !extended || i.id_at(0).is_none_or(|set| !sets.contains(&set));
            gone.extend(i.id().filter(|_| !stays));
            stays
        };
        let mut sections = vec![&mut self.globals, &mut self.tail];
        for f in &mut self.functions {
            sections.extend([&mut f.lines, &mut f.params, &mut f.end]);
            sections.extend(f.blocks.iter_mut().flat_map(|b| [&mut b.lines, &mut b.body]));
        }
        sections.into_iter().for_each(|s| s.retain(&mut stays));
        for section in [&mut self.names, &mut self.annotations] {
            section.retain(|i| i.id_at(0).is_none_or(|id| !gone.contains(&id)));
        }
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

//! The fixed point: what differs makes more differ, until nothing new does.

use super::cells::Def;
use super::control::Source;
use super::rules::{Rule, class_is_read_only, rule};
use super::{Solver, State, value_differs};
use crate::spirv::{Inst, Op, Operand};
use rspirv::spirv::{MemoryAccess, StorageClass};
use std::collections::HashSet;

impl Solver<'_> {
    /// Invocations that come back from a call of another shader may be in different iterations of the loop around it.
    pub(super) fn part_repacking_loops(&mut self, reached: &[usize], repacking: &HashSet<u32>) {
        for &f in reached {
            let mut s = self.out.functions.remove(&f).expect("every reached function has its state");
            for l in 0..s.flow.loops.len() {
                let blocks = s.flow.loops[l].nodes.iter().map(|&b| &self.m.functions[f].blocks[b]);
                let calls = |i: &Inst| {
                    let callee = i.id_at(0).filter(|_| i.op() == Op::FunctionCall);
                    super::repacks(i.op()) || callee.is_some_and(|c| repacking.contains(&c))
                };
                if blocks.flat_map(|b| &b.body).any(calls) {
                    s.joins[s.flow.loops[l].header] = true;
                    self.part(&mut s, Source::Loop(l), true);
                }
            }
            self.out.functions.insert(f, s);
        }
    }

    /// Everything of a function, once.
    pub(super) fn function(&mut self, f: usize) {
        let m = self.m;
        let mut s = self.out.functions.remove(&f).expect("every reached function has its state");
        let order = if s.flow.cfg.graph.is_empty() { vec![] } else { s.flow.cfg.graph.order(0) };
        let mut returned = None;
        for &b in &order {
            for i in &m.functions[f].blocks[b].body {
                if self.differs(&mut s, i, b)
                    && let Some(id) = i.id()
                {
                    self.mark(id);
                }
            }
            let end = m.functions[f].blocks[b].end();
            match (end.op(), end.id_at(0)) {
                (Op::BranchConditional | Op::Switch, Some(on)) if value_differs(&self.out, &s, on, b) => {
                    self.part(&mut s, Source::Block(b), false);
                }
                (Op::ReturnValue, Some(value)) => {
                    let other = returned.is_some_and(|r| r != value) && s.joins_at_end;
                    returned = Some(value);
                    if other || value_differs(&self.out, &s, value, b) {
                        self.changed |= !std::mem::replace(&mut s.result_differs, true);
                    }
                }
                _ => {}
            }
        }
        self.cells(&mut s);
        self.out.functions.insert(f, s);
    }

    fn mark(&mut self, id: u32) {
        if let Some(differs) = self.out.differs.get_mut(id as usize) {
            self.changed |= !std::mem::replace(differs, true);
        }
    }

    /// Lanes part at a source; a loop's may be left in different iterations.
    pub(super) fn part(&mut self, s: &mut State, source: Source, in_other_iterations: bool) {
        let mut next = Some((source, in_other_iterations));
        while let Some((source, in_other_iterations)) = next.take() {
            if let (Source::Loop(l), true) = (source, in_other_iterations) {
                self.changed |= !std::mem::replace(&mut s.parted[l], true);
            }
            if !s.sources.insert(source) {
                return;
            }
            self.changed = true;
            let effect = s.flow.effect(source);
            effect.joins.iter().for_each(|&b| s.joins[b] = true);
            effect.touched.iter().for_each(|&b| s.touched[b] = true);
            s.joins_at_end |= effect.joins_at_end;
            next = effect.leaves.map(|(l, other)| (Source::Loop(l), other));
        }
    }

    /// Whether an instruction's result differs, as far as is known; what it does to memory and functions is noted.
    fn differs(&mut self, s: &mut State, i: &Inst, b: usize) -> bool {
        let differs = |id: u32| value_differs(&self.out, s, id, b);
        let any_from = |k: usize| i.inst.operands.iter().skip(k).filter_map(Operand::id_ref_any).any(differs);
        match i.op() {
            Op::Variable | Op::UntypedVariableKHR => false,
            Op::Phi => {
                // Pairs of a value and the block that it comes from.
                let mut values = i.inst.operands.iter().step_by(2).filter_map(Operand::id_ref_any);
                let first = values.clone().next();
                values.clone().any(differs) || s.joins[b] && values.any(|v| Some(v) != first)
            }
            Op::Load => self.load_differs(s, i, b),
            Op::Store => {
                self.store(s, i, b);
                false
            }
            Op::FunctionCall => self.call_differs(s, i, b),
            Op::ExtInst if self.facts.is_debug(i) => false,
            _ => match rule(&self.facts, i) {
                Rule::Pure => any_from(0),
                Rule::Subgroup => self.repacks,
                Rule::SubgroupIf(k) => self.repacks || any_from(k),
                Rule::Differs => true,
            },
        }
    }

    fn load_differs(&self, s: &State, i: &Inst, b: usize) -> bool {
        let (Some(id), Some(pointer)) = (i.id(), i.id_at(0)) else { return true };
        let volatile = i
            .inst
            .operands
            .iter()
            .any(|o| matches!(o, Operand::MemoryAccess(a) if a.contains(MemoryAccess::VOLATILE)));
        if volatile {
            return true;
        }
        if let Some((defs, indices)) = s.cells.loads.get(&id) {
            return defs.iter().any(|&d| s.cell_differs(d, b))
                || indices.iter().any(|&n| value_differs(&self.out, s, n, b));
        }
        let uniform = match self.facts.class_of(pointer) {
            None | Some(StorageClass::Function) => false,
            Some(StorageClass::Private) => {
                let (root, _) = self.facts.root(pointer);
                let variable = self.facts.def(root).is_some_and(|v| v.op() == Op::Variable);
                variable && !self.private_differs.contains(&root)
            }
            Some(class) => class_is_read_only(&self.facts, pointer, class, self.stage),
        };
        !uniform || value_differs(&self.out, s, pointer, b)
    }

    /// A store to a variable of the module that is not followed: it may be another one in each invocation.
    fn store(&mut self, s: &State, i: &Inst, b: usize) {
        let (Some(pointer), Some(value)) = (i.id_at(0), i.id_at(1)) else { return };
        if self.facts.class_of(pointer) != Some(StorageClass::Private) {
            return;
        }
        let apart = s.touched[b] || s.called_apart;
        let differs = |id| value_differs(&self.out, s, id, b);
        if apart || differs(pointer) || differs(value) {
            self.changed |= self.private_differs.insert(self.facts.root(pointer).0);
        }
    }

    fn call_differs(&mut self, s: &State, i: &Inst, b: usize) -> bool {
        let (Some(call), Some(callee)) = (i.id(), i.id_at(0)) else { return true };
        let Some(index) = self.m.function(callee) else { return true };
        // A function that calls itself is no shader's; nothing is said of what it gives.
        let Some(mut to) = self.out.functions.remove(&index) else { return true };
        let apart = (s.called_apart || s.touched[b]) && !to.called_apart;
        to.called_apart |= apart;
        let mut changed = apart;
        for k in 0..to.parameters.len() {
            let Some(argument) = i.id_at(k + 1) else { continue };
            if value_differs(&self.out, s, argument, b) {
                self.mark(to.parameters[k]);
            }
            if self.facts.class_of(argument) != Some(StorageClass::Function) {
                continue;
            }
            let held = s.cells.calls.get(&call).and_then(|c| c.iter().find(|a| a.0 == k));
            if held.is_none_or(|(_, defs)| defs.iter().any(|&d| s.cell_differs(d, b))) {
                changed |= !std::mem::replace(&mut to.held_before[k], true);
            }
        }
        let result = to.result_differs;
        self.changed |= changed;
        self.out.functions.insert(index, to);
        result
    }

    /// What the function's own memory holds.
    fn cells(&mut self, s: &mut State) {
        let mut again = true;
        while std::mem::take(&mut again) {
            for d in 0..s.cells.defs.len() {
                if s.cell_differs[d] {
                    continue;
                }
                let (b, def) = &s.cells.defs[d];
                let differs = match def {
                    Def::Undefined => true,
                    Def::Stored { value, kept, indices } => {
                        let differs = |&id: &u32| value_differs(&self.out, s, id, *b);
                        value.as_ref().is_none_or(differs)
                            || kept.is_some_and(|k| s.cell_differs(k, *b))
                            || indices.iter().any(differs)
                    }
                    Def::Parameter(k) => s.held_before[*k],
                    Def::Left { callee, parameter } => {
                        let to = self.m.function(*callee).and_then(|c| self.out.functions.get(&c));
                        to.is_none_or(|to| to.held_after.get(*parameter) != Some(&false))
                    }
                    Def::Phi(from) => {
                        let meet = s.joins[*b] && from.iter().any(|d| *d != from[0]);
                        meet || from.iter().any(|&d| s.cell_differs(d, *b))
                    }
                };
                if differs {
                    s.cell_differs[d] = true;
                    (again, self.changed) = (true, true);
                }
            }
        }
        for &(k, b, def) in &s.cells.at_returns {
            let others = s.cells.at_returns.iter().any(|r| r.0 == k && r.2 != def);
            if s.cell_differs(def, b) || s.joins_at_end && others {
                self.changed |= !std::mem::replace(&mut s.held_after[k], true);
            }
        }
    }
}

//! Which values all active invocations of a subgroup are sure to share: a divergence analysis.
//!
//! A value is *uniform* if no two invocations of a subgroup that execute the instruction together can get different
//! results. It is not if it depends on a value that differs (data dependence); if it is an OpPhi where lanes meet that
//! came different ways (sync dependence); if it is used behind a loop that lanes leave in different iterations (temporal
//! divergence). Memory of one invocation is followed as values (`cells`); memory that is only read is uniform at a
//! uniform address; all other memory is not. Functions are looked at once for all their calls.
//!
//! Guarantees: what is called uniform is so on a device whose invocations meet again where their ways do (maximal
//! reconvergence), in shaders that read nothing undefined that they have not declared so. What is not known to be
//! uniform differs: unknown opcodes, OpUndef, variables before they are written, implicit levels of detail, atomics,
//! volatile loads. NonUniform changes nothing: it allows a value to differ, and proves nothing.
//!
//! In ray-tracing stages a call of another shader may gather other invocations around: what subgroup operations give is
//! not uniform in functions of an entry point that does so, and what changes from iteration to iteration of a loop with
//! such a call is not either.

mod cells;
mod control;
mod module_facts;
mod rules;
mod solve;
#[cfg(test)]
mod tests;

use super::{EntryPoint, Inst, Module, Op, Operand, Result, malformed, stage_of};
use crate::Stage;
use cells::{Cells, cells};
use control::{Flow, Source};
use module_facts::ModuleFacts;
use rspirv::spirv::StorageClass;
use rules::repacks;
use std::collections::{HashMap, HashSet};

/// See the module's header.
pub struct Uniformity {
    /// By id: its values differ, or may.
    differs: Vec<bool>,
    /// By id: the function (as an index into the module's) and block that define it.
    defined: Vec<Option<(u32, u32)>>,
    functions: HashMap<usize, State>,
}

/// What is known of a function while it is looked at.
struct State {
    flow: Flow,
    cells: Cells,
    /// Definitions of cells that differ.
    cell_differs: Vec<bool>,
    sources: HashSet<Source>,
    joins: Vec<bool>,
    joins_at_end: bool,
    /// Blocks that some lanes execute and others do not.
    touched: Vec<bool>,
    /// Loops that lanes leave in different iterations.
    parted: Vec<bool>,
    /// Whether it is called where some lanes are not.
    called_apart: bool,
    /// By parameter: what it points to differs at the beginning, at the end.
    held_before: Vec<bool>,
    held_after: Vec<bool>,
    parameters: Vec<u32>,
    result_differs: bool,
}

struct Solver<'m> {
    m: &'m Module,
    facts: ModuleFacts<'m>,
    stage: Stage,
    out: Uniformity,
    /// Private variables that are followed nowhere, and differ.
    private_differs: HashSet<u32>,
    /// The entry point may find itself among others after a call.
    repacks: bool,
    changed: bool,
}

impl Uniformity {
    /// Of one entry point and everything that it reaches.
    pub fn of(m: &Module, entry: &EntryPoint) -> Result<Self> {
        let Some(stage) = stage_of(entry.model) else {
            return malformed(format!("{:?} is no stage of Vulkan", entry.model));
        };
        let reached = m.reachable(entry.function);
        let facts = ModuleFacts::new(m, &reached);
        let bound = m.bound as usize;
        let mut out =
            Uniformity { differs: vec![false; bound], defined: vec![None; bound], functions: HashMap::new() };
        for g in &m.globals {
            let from = || g.inst.operands.iter().filter_map(Operand::id_ref_any);
            let differs = g.op() == Op::Undef || from().any(|id| out.differs.get(id as usize) == Some(&true));
            if let Some(id) = g.id().filter(|_| differs) {
                out.differs[id as usize] = true;
            }
        }
        let mut privates = Privates::of(m, &reached);
        for &f in &reached {
            let function = &m.functions[f];
            let is_entry = function.id() == entry.function;
            let flow = Flow::new(function, is_entry)?;
            let own = if is_entry { privates.only_in(f) } else { vec![] };
            let cells = cells(&facts, function, &flow, &own);
            privates.followed.extend(own.iter().filter(|v| !cells.loose.contains(v)));
            let mut define = |id: Option<u32>, b: usize| {
                if let Some(slot) = id.and_then(|id| out.defined.get_mut(id as usize)) {
                    *slot = Some((f as u32, b as u32));
                }
            };
            let parameters = function.params.iter().filter(|i| i.op() == Op::FunctionParameter);
            let parameters: Vec<u32> = parameters.filter_map(Inst::id).collect();
            parameters.iter().for_each(|&p| define(Some(p), 0));
            for (b, block) in function.blocks.iter().enumerate() {
                block.body.iter().for_each(|i| define(i.id(), b));
            }
            out.functions.insert(f, State::new(flow, cells, parameters, function.blocks.len()));
        }
        let mut private_differs = privates.loose.clone();
        let begun = privates.stored_first(m, entry.function);
        let holds = |v: &u32| facts.initializer(*v).is_some() || begun.contains(v);
        private_differs.extend(privates.used_in.keys().filter(|v| !holds(v)));
        private_differs.retain(|v| !privates.followed.contains(v));
        let repacking = repacking(m, &reached);
        let mut solver = Solver {
            m,
            facts,
            stage,
            out,
            private_differs,
            repacks: stage.is_ray_tracing() && repacking.contains(&entry.function),
            changed: true,
        };
        if solver.repacks {
            solver.part_repacking_loops(&reached, &repacking);
        }
        while std::mem::take(&mut solver.changed) {
            for &f in &reached {
                solver.function(f);
            }
        }
        Ok(solver.out)
    }

    /// Whether a value is the same for all invocations of a subgroup that are in this block together. Constants are.
    pub fn is_uniform(&self, id: u32, function: usize, block: usize) -> bool {
        let Some(state) = self.functions.get(&function) else { return false };
        !value_differs(self, state, id, block)
    }

    /// Whether invocations of a subgroup that come to the end of this block together may go on by different ways.
    pub fn parts(&self, function: usize, block: usize) -> bool {
        let parts = |s: &State| s.flow.irreducible || s.sources.contains(&Source::Block(block));
        self.functions.get(&function).is_none_or(parts)
    }

    /// Whether invocations of a subgroup that were apart may be in this block together: they came by different ways, or left a
    /// loop in different iterations.
    pub fn meets(&self, function: usize, block: usize) -> bool {
        self.functions.get(&function).is_none_or(|s| s.meets(block))
    }
}

impl State {
    fn new(flow: Flow, cells: Cells, parameters: Vec<u32>, blocks: usize) -> Self {
        let odd = flow.irreducible;
        State {
            cell_differs: vec![false; cells.defs.len()],
            sources: HashSet::new(),
            joins: vec![odd; blocks],
            joins_at_end: odd,
            touched: vec![odd; blocks],
            parted: vec![odd; flow.loops.len()],
            called_apart: false,
            held_before: vec![false; parameters.len()],
            // What nobody follows may hold anything.
            held_after: parameters.iter().map(|p| cells.loose.contains(p)).collect(),
            result_differs: false,
            parameters,
            flow,
            cells,
        }
    }

    /// Whether lanes in block `at` may have what `from` gave them in different iterations.
    fn is_parted(&self, from: usize, at: usize) -> bool {
        let apart = |l: usize| self.flow.is_inside(l, from) && !self.flow.is_inside(l, at);
        self.parted.iter().enumerate().any(|(l, &parted)| parted && apart(l))
    }

    fn meets(&self, block: usize) -> bool {
        let before = &self.flow.cfg.graph.pred[block];
        let left = |(l, natural): (usize, &super::Loop)| {
            let apart = self.parted[l] || self.sources.contains(&Source::Loop(l));
            let is_in = |b: &usize| natural.nodes.binary_search(b).is_ok();
            let out_of = |p: &usize| {
                is_in(p) && !is_in(&block) || self.flow.is_inside(l, *p) && !self.flow.is_inside(l, block)
            };
            apart && before.iter().any(out_of)
        };
        // Where lanes only end, nobody asks whether they do so together.
        let end_together = self.flow.ends(block) && before.len() > 1;
        self.joins[block] || end_together || self.flow.loops.iter().enumerate().any(left)
    }

    fn cell_differs(&self, def: usize, at: usize) -> bool {
        self.cell_differs[def] || self.is_parted(self.cells.defs[def].0, at)
    }
}

/// Module-scope variables of one invocation.
#[derive(Default)]
struct Privates {
    /// The functions that each is used in.
    used_in: HashMap<u32, HashSet<usize>>,
    /// Those whose addresses go where nobody follows.
    loose: HashSet<u32>,
    /// Those that are followed as values.
    followed: HashSet<u32>,
}

impl Privates {
    fn of(m: &Module, reached: &[usize]) -> Self {
        let mut out = Privates::default();
        for g in m.globals.iter().filter(|g| g.op() == Op::Variable) {
            if g.inst.operands.first() == Some(&Operand::StorageClass(StorageClass::Private)) {
                out.used_in.extend(g.id().map(|id| (id, HashSet::new())));
            }
        }
        for &f in reached {
            let mut from: HashMap<u32, u32> = out.used_in.keys().map(|&v| (v, v)).collect();
            for i in m.functions[f].insts() {
                for k in 0..i.inst.operands.len() {
                    let Some(&v) = i.id_at(k).and_then(|id| from.get(&id)) else { continue };
                    out.used_in.entry(v).or_default().insert(f);
                    match (i.op(), k) {
                        (Op::AccessChain | Op::InBoundsAccessChain, 0) => {
                            from.extend(i.id().map(|id| (id, v)));
                        }
                        (Op::Load | Op::Store, 0) => {}
                        _ => {
                            out.loose.insert(v);
                        }
                    }
                }
            }
        }
        out
    }

    /// Those that the entry point stores to before anything else happens to them: compilers initialize so.
    fn stored_first(&self, m: &Module, entry: u32) -> HashSet<u32> {
        let Some(f) = m.function(entry) else { return HashSet::new() };
        let first = m.functions[f].blocks.first().map_or(&[][..], |b| &b.body);
        let (mut out, mut seen) = (HashSet::new(), HashSet::new());
        for i in first.iter().take_while(|i| i.op() != Op::FunctionCall) {
            let to = i.id_at(0).filter(|v| i.op() == Op::Store && self.used_in.contains_key(v));
            out.extend(to.filter(|v| !seen.contains(v)));
            seen.extend(i.ids());
        }
        out
    }

    fn only_in(&self, f: usize) -> Vec<u32> {
        let only = |(v, used): (&u32, &HashSet<usize>)| (used.len() == 1 && used.contains(&f)).then_some(*v);
        let mut all: Vec<u32> = self.used_in.iter().filter_map(only).collect();
        all.sort_unstable();
        all
    }
}

/// The functions, by id, that call other shaders, or call functions that do.
fn repacking(m: &Module, reached: &[usize]) -> HashSet<u32> {
    let mut out = HashSet::new();
    loop {
        let before = out.len();
        for &f in reached {
            let f = &m.functions[f];
            let calls = |i: &Inst| i.op() == Op::FunctionCall && i.id_at(0).is_some_and(|c| out.contains(&c));
            if f.insts().any(|i| repacks(i.op()) || calls(i)) {
                out.insert(f.id());
            }
        }
        if out.len() == before {
            return out;
        }
    }
}

/// Whether a value may differ between lanes that are in a block together.
fn value_differs(out: &Uniformity, s: &State, id: u32, at: usize) -> bool {
    let differs = out.differs.get(id as usize).copied().unwrap_or(true);
    differs || out.defined[id as usize].is_some_and(|(_, from)| s.is_parted(from as usize, at))
}

//! Memory that belongs to one invocation, as values: what a load of a function's variable may see.
//!
//! Compilers that do not optimise keep everything in variables. A variable that is only loaded, stored and handed to
//! functions is followed as if it were a value: each store defines it, and where definitions meet stands a phi of our own
//! (Cytron et al., "Efficiently Computing Static Single Assignment Form", 1991). A variable whose parts are always named
//! by constants (members of structs, components) is followed part by part. A store into a part of a part, or at an
//! index that is no constant, keeps what was there beside what is new. What else is done with a pointer makes the variable
//! *loose*: nothing is known of what it holds.

use super::control::Flow;
use super::module_facts::ModuleFacts;
use crate::spirv::{Function, Inst, Op};
use rspirv::spirv::StorageClass;
use std::collections::{HashMap, HashSet};

/// The most parts that a variable is taken apart into.
const PARTS: u32 = 32;

/// Where a cell's content comes from.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Def {
    /// Nobody wrote it.
    Undefined,
    /// A value: an initializer or what is stored; kept beside what was there if only a part is stored; the indices that
    /// say which.
    Stored { value: Option<u32>, kept: Option<usize>, indices: Vec<u32> },
    /// What the caller's variable holds, for the parameter.
    Parameter(usize),
    /// What a called function leaves in its parameter.
    Left { callee: u32, parameter: usize },
    /// What comes from each way that leads here.
    Phi(Vec<usize>),
}

/// What is known of a function's own memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells {
    /// Definitions, each with its block.
    pub defs: Vec<(usize, Def)>,
    /// For a load (by its result): what it may see, and the indices that say which part.
    pub loads: HashMap<u32, (Vec<usize>, Vec<u32>)>,
    /// For a call (by its result): the argument's number, and what is in the variable that it points to.
    pub calls: HashMap<u32, Vec<(usize, Vec<usize>)>>,
    /// What is in the variable that a parameter points to when a block returns: parameter, block, definition.
    pub at_returns: Vec<(usize, usize, usize)>,
    /// Variables of which nothing is known.
    pub loose: HashSet<u32>,
}

/// A pointer into a variable: which part (`None`: the whole), whether it goes on into that part, by which indices that
/// are no constants.
#[derive(Clone, Debug)]
struct Into {
    variable: u32,
    part: Option<u32>,
    deeper: bool,
    indices: Vec<u32>,
}

/// One use of memory, in a block.
enum Use {
    Load(u32),
    Store(Option<u32>),
    Call { call: u32, callee: u32, argument: usize },
}

struct Variable {
    parts: u32,
    first: usize,
    split: bool,
}

/// Looks at a function. `globals` are Private variables that only this function uses.
pub(super) fn cells(m: &ModuleFacts<'_>, f: &Function, flow: &Flow, globals: &[u32]) -> Cells {
    let mut out = Cells::default();
    let mut pointers: HashMap<u32, Into> = HashMap::new();
    let whole = |variable| Into { variable, part: None, deeper: false, indices: vec![] };
    let parameters: Vec<u32> =
        f.params.iter().filter(|i| i.op() == Op::FunctionParameter).filter_map(Inst::id).collect();
    let is_memory = |id: u32| m.class_of(id) == Some(StorageClass::Function);
    for &p in parameters.iter().filter(|&&p| is_memory(p)) {
        pointers.insert(p, whole(p));
    }
    let variables = f.insts().filter(|i| i.op() == Op::Variable).filter_map(Inst::id);
    variables.chain(globals.iter().copied()).for_each(|v| {
        pointers.insert(v, whole(v));
    });
    // Chains come after what they start from in every order of blocks that dominance allows.
    let order = if flow.cfg.graph.is_empty() { vec![] } else { flow.cfg.graph.order(0) };
    let mut unsplittable: HashSet<u32> = parameters.iter().copied().collect();
    for i in order.iter().flat_map(|&b| &f.blocks[b].body) {
        if matches!(i.op(), Op::AccessChain | Op::InBoundsAccessChain)
            && let (Some(id), Some(base)) = (i.id(), i.id_at(0).and_then(|b| pointers.get(&b)).cloned())
        {
            let mut into = base;
            for k in 1..i.inst.operands.len() {
                let Some(index) = i.id_at(k) else { continue };
                let constant = m.constant(index);
                match (constant, into.part, into.deeper) {
                    (Some(n), None, false) => into.part = Some(n),
                    (None, None, false) => {
                        unsplittable.insert(into.variable);
                        into.deeper = true;
                    }
                    _ => into.deeper = true,
                }
                if constant.is_none() {
                    into.indices.push(index);
                }
            }
            pointers.insert(id, into);
        }
    }
    find_loose(m, f, flow, &pointers, &mut out.loose);

    let mut known: HashMap<u32, Variable> = HashMap::new();
    let mut parts = 0;
    let mut entry_defs = Vec::new();
    let mut in_order: Vec<u32> = pointers.values().map(|p| p.variable).collect();
    in_order.sort_unstable();
    in_order.dedup();
    for v in in_order.into_iter().filter(|v| !out.loose.contains(v)) {
        let split = m.parts(v).filter(|&n| n <= PARTS && !unsplittable.contains(&v));
        let of_type = split.unwrap_or(1);
        known.insert(v, Variable { parts: of_type, first: parts, split: split.is_some() });
        let def = match parameters.iter().position(|&p| p == v) {
            Some(k) => Def::Parameter(k),
            None => match m.initializer(v) {
                Some(value) => Def::Stored { value: Some(value), kept: None, indices: vec![] },
                None => Def::Undefined,
            },
        };
        for _ in 0..of_type {
            entry_defs.push(out.defs.len());
            out.defs.push((0, def.clone()));
        }
        parts += of_type as usize;
    }
    let cells_of = |p: &Into| -> Vec<usize> {
        let Some(v) = known.get(&p.variable) else { return vec![] };
        match p.part.filter(|_| v.split) {
            Some(n) if n < v.parts => vec![v.first + n as usize],
            _ => (v.first..v.first + v.parts as usize).collect(),
        }
    };

    // Where each cell is written, and so where phis are wanted.
    let uses: Vec<Vec<(Use, Into)>> = f.blocks.iter().map(|b| uses_in(m, &b.body, &pointers)).collect();
    let frontiers = frontiers(flow);
    let mut phis: Vec<HashMap<usize, usize>> = vec![HashMap::new(); f.blocks.len()];
    let mut writers: Vec<HashSet<usize>> = vec![HashSet::new(); parts];
    for (b, in_block) in uses.iter().enumerate().filter(|u| flow.cfg.reached[u.0]) {
        for (_, p) in in_block.iter().filter(|u| !matches!(u.0, Use::Load(_))) {
            cells_of(p).into_iter().for_each(|c| {
                writers[c].insert(b);
            });
        }
    }
    for (cell, blocks) in writers.iter().enumerate() {
        let mut work: Vec<usize> = blocks.iter().copied().collect();
        work.sort_unstable();
        while let Some(b) = work.pop() {
            for &j in &frontiers[b] {
                phis[j].entry(cell).or_insert_with(|| {
                    work.push(j);
                    out.defs.push((j, Def::Phi(vec![])));
                    out.defs.len() - 1
                });
            }
        }
    }

    // Down the dominator tree: what each cell holds.
    let mut at_end: Vec<Vec<usize>> = vec![vec![]; f.blocks.len()];
    for &b in &order {
        let up = flow.cfg.dominators[b].filter(|&up| up != b);
        let mut now = up.map_or_else(|| entry_defs.clone(), |up| at_end[up].clone());
        phis[b].iter().for_each(|(&cell, &def)| now[cell] = def);
        for (what, p) in &uses[b] {
            let cells = cells_of(p);
            if cells.is_empty() {
                continue;
            }
            // All of a variable that is not taken apart is only written by a pointer to all of it.
            let v = &known[&p.variable];
            let partly = p.deeper || p.part.is_some_and(|n| !v.split || n >= v.parts);
            match what {
                Use::Load(id) => {
                    out.loads.insert(*id, (cells.iter().map(|&c| now[c]).collect(), p.indices.clone()));
                }
                Use::Store(value) => {
                    for c in cells {
                        let kept = partly.then_some(now[c]);
                        let def = Def::Stored { value: *value, kept, indices: p.indices.clone() };
                        now[c] = out.defs.len();
                        out.defs.push((b, def));
                    }
                }
                Use::Call { call, callee, argument } => {
                    let held = cells.iter().map(|&c| now[c]).collect();
                    out.calls.entry(*call).or_default().push((*argument, held));
                    for c in cells {
                        now[c] = out.defs.len();
                        out.defs.push((b, Def::Left { callee: *callee, parameter: *argument }));
                    }
                }
            }
        }
        if matches!(f.blocks[b].end().op(), Op::Return | Op::ReturnValue) {
            for (k, p) in parameters.iter().enumerate() {
                if let Some(v) = known.get(p) {
                    out.at_returns.push((k, b, now[v.first]));
                }
            }
        }
        at_end[b] = now;
    }
    for (j, of_block) in phis.iter().enumerate() {
        for (&cell, &def) in of_block {
            let preds = flow.cfg.graph.pred[j].iter().filter(|&&p| flow.cfg.reached[p]);
            out.defs[def].1 = Def::Phi(preds.map(|&p| at_end[p][cell]).collect());
        }
    }
    out
}

/// The uses of memory in a block, in order.
fn uses_in(m: &ModuleFacts<'_>, body: &[Inst], pointers: &HashMap<u32, Into>) -> Vec<(Use, Into)> {
    let mut uses = Vec::new();
    for i in body {
        let at = |k: usize| i.id_at(k).and_then(|p| pointers.get(&p)).cloned();
        match i.op() {
            Op::Load => uses.extend(i.id().zip(at(0)).map(|(id, p)| (Use::Load(id), p))),
            Op::Store => uses.extend(at(0).map(|p| (Use::Store(i.id_at(1)), p))),
            // Modf and frexp: what they store depends on what they are given, as their result does.
            Op::ExtInst if m.is_glsl(i) => {
                uses.extend((2..i.inst.operands.len()).filter_map(at).map(|p| (Use::Store(i.id()), p)))
            }
            Op::FunctionCall => {
                let (Some(call), Some(callee)) = (i.id(), i.id_at(0)) else { continue };
                for k in 1..i.inst.operands.len() {
                    uses.extend(at(k).map(|p| (Use::Call { call, callee, argument: k - 1 }, p)));
                }
            }
            _ => {}
        }
    }
    uses
}

/// Variables that pointers lead to which are used in ways that are not followed.
fn find_loose(
    m: &ModuleFacts<'_>,
    f: &Function,
    flow: &Flow,
    pointers: &HashMap<u32, Into>,
    loose: &mut HashSet<u32>,
) {
    let reached = f.blocks.iter().enumerate().filter(|b| flow.cfg.reached[b.0]);
    for i in reached.flat_map(|b| &b.1.body) {
        let mut in_call = HashSet::new();
        for k in 0..i.inst.operands.len() {
            let Some(p) = i.id_at(k).and_then(|id| pointers.get(&id)) else { continue };
            let followed = match (i.op(), k) {
                (Op::Load | Op::Store | Op::AccessChain | Op::InBoundsAccessChain, 0) => true,
                (Op::ExtInst, 2..) => m.is_glsl(i) || m.is_debug(i),
                // Two pointers to one variable would be two variables in the called function.
                (Op::FunctionCall, 1..) => {
                    let whole = p.part.is_none() && !p.deeper;
                    whole
                        && m.class_of(p.variable) == Some(StorageClass::Function)
                        && in_call.insert(p.variable)
                }
                _ => false,
            };
            if !followed {
                loose.insert(p.variable);
            }
        }
    }
}

/// Dominance frontiers (Cooper, Harvey and Kennedy).
fn frontiers(flow: &Flow) -> Vec<Vec<usize>> {
    let (graph, idom) = (&flow.cfg.graph, &flow.cfg.dominators);
    let mut out = vec![vec![]; graph.len()];
    for b in (0..graph.len()).filter(|&b| flow.cfg.reached[b]) {
        let preds: Vec<usize> = graph.pred[b].iter().copied().filter(|&p| flow.cfg.reached[p]).collect();
        // The entry may be a loop's header in graphs that are no SPIR-V; it then has a way in that is no edge.
        if preds.len() < 2 && (b != 0 || preds.is_empty()) {
            continue;
        }
        for p in preds {
            let mut up = p;
            while Some(up) != idom[b] || b == 0 {
                if !out[up].contains(&b) {
                    out[up].push(b);
                }
                match idom[up] {
                    Some(next) if next != up => up = next,
                    _ => break,
                }
            }
        }
    }
    out
}

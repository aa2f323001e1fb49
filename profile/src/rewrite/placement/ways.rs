//! Puts instructions on the ways that control takes: at a block's beginning or end, or on an edge. An edge gets a block of its
//! own; where it takes none, what is to happen on it happens before the branch, under the branch's condition.

use super::knuth::Way;
use crate::rewrite::Shader;
use crate::spirv::{Inst, Op, Operand, Place, Result, malformed};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What is put in, by function of the module.
#[derive(Default)]
pub struct Insertions {
    places: BTreeMap<usize, Vec<(Place, Vec<Inst>)>>,
    /// Edges by the labels of their blocks.
    edges: BTreeMap<usize, Vec<(u32, u32, Vec<Inst>)>>,
}

impl Insertions {
    /// At a place of a function of the module.
    pub fn at(&mut self, function: usize, place: Place, insts: Vec<Inst>) {
        self.places.entry(function).or_default().push((place, insts));
    }

    /// On a way of a function of the facts. `make` gives the instructions; it is told the condition under which the way is
    /// taken where they have to stand before the branch.
    pub fn on(
        &mut self,
        s: &mut Shader,
        function: u32,
        way: Way,
        make: impl FnOnce(&mut Shader, Option<u32>) -> Result<Vec<Inst>>,
    ) -> Result<()> {
        let block = |b: usize| s.block(function, b as u32);
        let label = |b: usize| s.facts.functions[function as usize].blocks[b].label;
        match way {
            Way::Entry | Way::Block(_) => {
                let (f, b) = block(if let Way::Block(b) = way { b } else { 0 });
                let place = Place::begin(&s.module.functions[f], b);
                let insts = make(s, None)?;
                self.at(f, place, insts);
            }
            Way::End(b) | Way::Exit(b) => {
                let (f, b) = block(b);
                let place = Place::end(&s.module.functions[f], b);
                let insts = make(s, None)?;
                self.at(f, place, insts);
            }
            Way::Edge(a, b) => {
                let (from, to) = (label(a), label(b));
                let (f, a) = block(a);
                if splits(s, function, f, a, to) {
                    let insts = make(s, None)?;
                    self.edges.entry(f).or_default().push((from, to, insts));
                } else {
                    let place = Place::end(&s.module.functions[f], a);
                    let mut insts = Vec::new();
                    let taken = taken(s, f, a, to, &mut insts)?;
                    insts.extend(make(s, Some(taken))?);
                    self.at(f, place, insts);
                }
            }
            Way::Leave(_) | Way::Part(_) | Way::Meet(_) => unreachable!("those are never measured"),
        }
        Ok(())
    }

    /// Puts everything in.
    pub fn put(self, s: &mut Shader) -> Result<()> {
        for (f, places) in self.places {
            s.module.functions[f].insert(places);
        }
        let blocks = s.facts.functions.iter().flat_map(|f| &f.blocks);
        let original: HashSet<u32> = blocks.map(|b| b.label).collect();
        for (f, edges) in self.edges {
            on_edges(s, f, edges, &original)?;
        }
        Ok(())
    }
}

/// An instruction that gives a value of a type.
pub fn value(s: &mut Shader, op: Op, ty: u32, operands: &[u32], insts: &mut Vec<Inst>) -> u32 {
    let id = s.module.fresh();
    let operands = operands.iter().copied().map(Operand::IdRef).collect();
    insts.push(Inst::new(op, Some(ty), Some(id), operands));
    id
}

/// Whether the edge from block `a` of the module to a label takes a block: see `crate::spirv::Edge::splits`.
fn splits(s: &Shader, function: u32, f: usize, a: usize, to: u32) -> bool {
    let from = &s.module.functions[f].blocks[a];
    let facts = &s.facts.functions[function as usize].blocks;
    let of = facts.iter().find(|b| b.label == from.label).map_or(0, |b| b.successors.len());
    let merge = from.merge().and_then(|m| m.id_at(0));
    let target = facts.iter().position(|b| b.label == to).map(|t| t as u32);
    let into =
        facts.iter().filter(|b| b.reached && target.is_some_and(|t| b.successors.contains(&t))).count();
    let fallen_into = from.end().op() == Op::Switch && merge != Some(to) && into > 1;
    !fallen_into && (of < 2 || merge.is_some())
}

/// Whether the branch at a block's end is about to go to a label.
fn taken(s: &mut Shader, f: usize, block: usize, to: u32, insts: &mut Vec<Inst>) -> Result<u32> {
    let end = s.module.functions[f].blocks[block].end().clone();
    let bool = s.types.bool(&mut s.module);
    let on = end.id_at(0).unwrap_or(0);
    if end.op() == Op::BranchConditional {
        return Ok(if end.id_at(1) == Some(to) { on } else { value(s, Op::LogicalNot, bool, &[on], insts) });
    }
    let Some(ty) = type_of(s, f, on).filter(|_| end.op() == Op::Switch) else {
        return malformed(format!("block {block} ends with {:?} and has more than one way out", end.op()));
    };
    let default = end.id_at(1) == Some(to);
    // The literals that lead there; with the default, those that lead elsewhere.
    let mut any = None;
    for pair in end.inst.operands[2..].chunks_exact(2) {
        if (pair[1] == Operand::IdRef(to)) != default {
            let literal = s.types.get(&mut s.module, Op::Constant, Some(ty), vec![pair[0].clone()]);
            let equal = value(s, Op::IEqual, bool, &[on, literal], insts);
            any = Some(match any {
                None => equal,
                Some(before) => value(s, Op::LogicalOr, bool, &[before, equal], insts),
            });
        }
    }
    match any {
        Some(any) if default => Ok(value(s, Op::LogicalNot, bool, &[any], insts)),
        Some(any) => Ok(any),
        None => Ok(s.types.truth(&mut s.module)),
    }
}

fn type_of(s: &Shader, f: usize, id: u32) -> Option<u32> {
    let f = &s.module.functions[f];
    let there = f.params.iter().chain(f.insts()).chain(&s.module.globals).find(|i| i.id() == Some(id));
    there?.inst.result_type
}

/// Puts what is to happen on edges there: into a block of its own, or into the one that another pass has put there.
fn on_edges(
    s: &mut Shader,
    f: usize,
    edges: Vec<(u32, u32, Vec<Inst>)>,
    original: &HashSet<u32>,
) -> Result<()> {
    let function = &s.module.functions[f];
    let at: HashMap<u32, usize> = function.blocks.iter().enumerate().map(|(n, b)| (b.label, n)).collect();
    let (mut split, mut there) = (Vec::new(), Vec::new());
    for (from, to, insts) in edges {
        let goes = |b: usize, to: u32| {
            let end = function.blocks[b].end();
            matches!(end.op(), Op::Branch | Op::BranchConditional | Op::Switch)
                && end.ids().any(|id| id == to)
        };
        let source = at[&from];
        if goes(source, to) {
            split.push((source, at[&to], insts));
            continue;
        }
        let between = function.blocks[source]
            .end()
            .ids()
            .find(|id| !original.contains(id) && at.get(id).is_some_and(|&b| goes(b, to)));
        let Some(between) = between else {
            return malformed(format!("there is no way from {from} to {to} any more"));
        };
        there.push((Place::begin(function, at[&between]), insts));
    }
    s.module.functions[f].insert(there);
    s.module.split_edges(f, split);
    Ok(())
}

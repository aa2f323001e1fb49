//! Puts counters where a [`Placement`] wants them.
//!
//! A count at a place is a call of a helper function. An edge gets a block of its own; where it takes none, its count is
//! made before the branch, under the branch's condition. With `flush=exit`, what a loop may repeat is held in a private
//! variable until invocations leave (`rewrite/held.rs`), where the stage may hold numbers.

use super::options::{Merge, Mode, Options};
use super::placement::Way;
use crate::rewrite::{Probes, Shader};
use crate::spirv::{Inst, Op, Operand, Place, Result, malformed};
use std::collections::{BTreeMap, HashMap, HashSet};

static PROBES: Probes = crate::probes!("blocks");
static LANE_PROBES: Probes = crate::probes!("blocks_lane");

/// A counter and where it belongs.
pub struct Count {
    /// Which function of the facts.
    pub function: u32,
    /// What it counts.
    pub way: Way,
    /// Its number in the first copy, from 0.
    pub counter: u32,
    /// Whether one invocation may come by more than once.
    pub repeated: bool,
    /// How often one is expected to.
    pub often: f64,
}

/// What is put in, by function of the module.
#[derive(Default)]
struct Plan {
    places: BTreeMap<usize, Vec<(Place, Vec<Inst>)>>,
    /// Edges by the labels of their blocks.
    edges: BTreeMap<usize, Vec<(u32, u32, Vec<Inst>)>>,
}

impl Plan {
    fn at(&mut self, function: usize, place: Place, insts: Vec<Inst>) {
        self.places.entry(function).or_default().push((place, insts));
    }
}

/// Rewrites a shader: its counters begin at `first`, a copy of them has `stride`.
pub fn put(s: &mut Shader, o: &Options, counts: &[Count], first: u32, stride: u32) -> Result<()> {
    let mut plan = Plan::default();
    prologue(s, o, stride, &mut plan)?;
    let hold = o.hold && !o.plain && s.may_hold();
    let mut held = Vec::new();
    let to_hold = to_hold(counts, o.most_held);
    for c in counts {
        let counter = first + c.counter;
        let held_in = (hold && to_hold.contains(&c.counter)).then(|| s.held());
        held.extend(held_in.map(|v| (counter, v)));
        let count = |s: &mut Shader, taken: Option<u32>| match held_in {
            Some(v) => raise(s, o, v, taken),
            None => call(s, o, counter, taken),
        };
        let block = |b: usize| s.block(c.function, b as u32);
        let label = |b: usize| s.facts.functions[c.function as usize].blocks[b].label;
        match c.way {
            Way::Entry | Way::Block(_) => {
                let (f, b) = block(if let Way::Block(b) = c.way { b } else { 0 });
                let place = Place::begin(&s.module.functions[f], b);
                let insts = count(s, None)?;
                plan.at(f, place, insts);
            }
            Way::End(b) | Way::Exit(b) => {
                let (f, b) = block(b);
                let place = Place::end(&s.module.functions[f], b);
                let insts = count(s, None)?;
                plan.at(f, place, insts);
            }
            Way::Edge(a, b) => {
                let (from, to) = (label(a), label(b));
                let (f, a) = block(a);
                if splits(s, c.function, f, a, to) {
                    let insts = count(s, None)?;
                    plan.edges.entry(f).or_default().push((from, to, insts));
                } else {
                    let place = Place::end(&s.module.functions[f], a);
                    let mut insts = Vec::new();
                    let taken = taken(s, f, a, to, &mut insts)?;
                    insts.extend(count(s, Some(taken))?);
                    plan.at(f, place, insts);
                }
            }
            Way::Leave(_) => unreachable!("those are never measured"),
        }
    }
    for (f, places) in plan.places {
        s.module.functions[f].insert(places);
    }
    if !held.is_empty() {
        let flush = flush(s, o, &held)?;
        s.at_exits(flush);
    }
    let original: HashSet<u32> = s.facts.functions.iter().flat_map(|f| &f.blocks).map(|b| b.label).collect();
    for (f, edges) in plan.edges {
        on_edges(s, f, edges, &original)?;
    }
    Ok(())
}

/// The counters that are held: of those that are come by again, the `most` that are come by most often.
fn to_hold(counts: &[Count], most: usize) -> HashSet<u32> {
    let mut all: Vec<&Count> = counts.iter().filter(|c| c.repeated).collect();
    all.sort_by(|a, b| b.often.total_cmp(&a.often));
    all.iter().take(most).map(|c| c.counter).collect()
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

fn probes(o: &Options) -> &'static Probes {
    if o.mode == Mode::Lane { &LANE_PROBES } else { &PROBES }
}

/// Who is in the sample, and which copy is added to.
fn prologue(s: &mut Shader, o: &Options, stride: u32, plan: &mut Plan) -> Result<()> {
    let mut insts = Vec::new();
    let lane = o.mode == Mode::Lane;
    if o.every > 1 {
        let f = s.import(probes(o), if lane { "sample_lanes" } else { "sample_subgroups" })?;
        let every = s.constant(o.every);
        insts.push(s.call(f, &[every]));
    }
    if o.copies > 1 {
        let f = s.import(probes(o), if lane { "choose_copy" } else { "choose_copy_of_subgroup" })?;
        let arguments = [s.constant(o.copies), s.constant(stride)];
        insts.push(s.call(f, &arguments));
    }
    if !insts.is_empty() {
        let (f, b) = s.block(0, 0);
        let place = Place::begin(&s.module.functions[f], b);
        plan.at(f, place, insts);
    }
    Ok(())
}

/// A counter's number in the copy that is added to.
fn number(s: &mut Shader, o: &Options, counter: u32, insts: &mut Vec<Inst>) -> Result<u32> {
    let number = s.constant(counter);
    if o.copies == 1 {
        return Ok(number);
    }
    let (f, uint) = (s.import(probes(o), "in_copy")?, s.types.uvec(&mut s.module, 1));
    let (call, number) = s.call_for(f, uint, &[number]);
    insts.push(call);
    Ok(number)
}

/// Adds to a counter at once.
fn call(s: &mut Shader, o: &Options, counter: u32, taken: Option<u32>) -> Result<Vec<Inst>> {
    let apart = apart(o) && o.merge != Merge::Subgroup;
    let probes = if apart { &LANE_PROBES } else { probes(o) };
    let name = match o.mode {
        _ if apart => "count_lane",
        Mode::Lane => "count_lane",
        Mode::Lanes => "count_lanes",
        Mode::Subgroup => "count_subgroup",
    };
    let how = if o.plain {
        "_plain"
    } else if o.every > 1 {
        "_sampled"
    } else {
        ""
    };
    let f = s.import(probes, &format!("{name}{how}{}", if taken.is_some() { "_if" } else { "" }))?;
    let mut insts = Vec::new();
    let mut arguments = vec![number(s, o, counter, &mut insts)?];
    arguments.extend(taken);
    insts.push(s.call(f, &arguments));
    Ok(insts)
}

fn value(s: &mut Shader, op: Op, ty: u32, operands: &[u32], insts: &mut Vec<Inst>) -> u32 {
    let id = s.module.fresh();
    let operands = operands.iter().copied().map(Operand::IdRef).collect();
    insts.push(Inst::new(op, Some(ty), Some(id), operands));
    id
}

/// Adds to a private number. That of an invocation that is not counted is never added to a counter.
fn raise(s: &mut Shader, o: &Options, variable: u32, taken: Option<u32>) -> Result<Vec<Inst>> {
    let mut insts = Vec::new();
    let uint = s.types.uvec(&mut s.module, 1);
    let mut by = s.constant(1);
    if o.mode == Mode::Subgroup {
        let f = s.import(&PROBES, "one_of_here")?;
        let (call, one) = s.call_for(f, uint, &[]);
        insts.push(call);
        by = one;
    }
    if let Some(taken) = taken {
        let none = s.constant(0);
        by = value(s, Op::Select, uint, &[taken, by, none], &mut insts);
    }
    let now = s.load_held(variable, &mut insts);
    let sum = value(s, Op::IAdd, uint, &[now, by], &mut insts);
    s.store_held(variable, sum, &mut insts);
    Ok(insts)
}

/// Whether each invocation may add for itself: samples and copies are chosen by subgroups.
fn apart(o: &Options) -> bool {
    o.mode == Mode::Lanes && !o.plain && o.every == 1 && o.copies == 1
}

/// Private numbers that a subgroup sums. Measured on an NVIDIA H200: with 70 and more, sums took 61 % of a frame (pygfx: 33 %)
/// where additions one by one took 14 % (21 %); with few, sums took 13 % where additions one by one took several times the
/// frame (taichi).
const MOST_SUMS: usize = 8;

/// Adds all private numbers to their counters.
fn flush(s: &mut Shader, o: &Options, held: &[(u32, u32)]) -> Result<Vec<Inst>> {
    let many = apart(o) && o.merge == Merge::Auto && held.len() > MOST_SUMS;
    let apart_each = many || o.mode == Mode::Lane;
    let add =
        if apart_each { s.import(&LANE_PROBES, "flush_lane")? } else { s.import(probes(o), "flush_lanes")? };
    let uint = s.types.uvec(&mut s.module, 1);
    let mut body = Vec::new();
    let sampled = (o.every > 1).then(|| {
        let bool = s.types.bool(&mut s.module);
        let variable = s.imported.shared("rr_sampled").expect("the prologue sets it");
        value(s, Op::Load, bool, &[variable], &mut body)
    });
    let values: Vec<u32> = held.iter().map(|&(_, variable)| s.load_held(variable, &mut body)).collect();
    if !apart_each {
        let begin = s.import(probes(o), "flush_begin")?;
        let or = |s: &mut Shader, body: &mut Vec<Inst>, a: u32, b: u32| {
            value(s, Op::BitwiseOr, uint, &[a, b], body)
        };
        let mut all = values[0];
        for &v in &values[1..] {
            all = or(s, &mut body, all, v);
        }
        body.push(s.call(begin, &[all]));
    }
    for (&(counter, _), mut n) in held.iter().zip(values) {
        let number = number(s, o, counter, &mut body)?;
        if let Some(sampled) = sampled {
            let none = s.constant(0);
            n = value(s, Op::Select, uint, &[sampled, n, none], &mut body);
        }
        body.push(s.call(add, &[number, n]));
    }
    Ok(body)
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

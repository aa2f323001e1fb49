//! Puts counters where a placement wants them.
//!
//! A count at a place is a call of a helper function. With `flush=exit`, what a loop may repeat is held in a private
//! variable until invocations leave (`rewrite/held.rs`), where the stage may hold numbers.

use super::options::{Merge, Mode, Options};
use crate::rewrite::placement::{Insertions, Way, value};
use crate::rewrite::{Probes, Shader};
use crate::spirv::{Inst, Op, Place, Result};
use std::collections::HashSet;

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

/// Rewrites a shader: its counters begin at `first`, a copy of them has `stride`.
pub fn put(s: &mut Shader, o: &Options, counts: &[Count], first: u32, stride: u32) -> Result<()> {
    let mut plan = Insertions::default();
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
        plan.on(s, c.function, c.way, count)?;
    }
    plan.put(s)?;
    if !held.is_empty() {
        let flush = flush(s, o, &held)?;
        s.at_exits(flush);
    }
    Ok(())
}

/// The counters that are held: of those that are come by again, the `most` that are come by most often.
fn to_hold(counts: &[Count], most: usize) -> HashSet<u32> {
    let mut all: Vec<&Count> = counts.iter().filter(|c| c.repeated).collect();
    all.sort_by(|a, b| b.often.total_cmp(&a.often));
    all.iter().take(most).map(|c| c.counter).collect()
}

fn probes(o: &Options) -> &'static Probes {
    if o.mode == Mode::Lane { &LANE_PROBES } else { &PROBES }
}

/// Who is in the sample, and which copy is added to.
fn prologue(s: &mut Shader, o: &Options, stride: u32, plan: &mut Insertions) -> Result<()> {
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

/// Adds to a private number. That of an invocation that is not counted is never added to a counter.
fn raise(s: &mut Shader, o: &Options, variable: u32, taken: Option<u32>) -> Result<Vec<Inst>> {
    let mut insts = Vec::new();
    let mut by = s.constant(1);
    if o.mode == Mode::Subgroup {
        let uint = s.types.uvec(&mut s.module, 1);
        let f = s.import(&PROBES, "one_of_here")?;
        let (call, one) = s.call_for(f, uint, &[]);
        insts.push(call);
        by = one;
    }
    s.raise_held(variable, by, taken, &mut insts);
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

//! What a trace counts that another may count as well: columns, of everything, and of each pipeline, entry point and block.
//!
//! ```text
//! instructions            SPIR-V's, times the invocations that executed them               passes simt, divergence, blocks
//! subgroup-instructions   the same, times the subgroups                                    passes simt, divergence
//! efficiency              invocation slots of these that were active                       passes simt, divergence
//! event-efficiency        of subgroups' ray events (`rays/events/event_level.rs`)               pass rays
//! rays begin, …           events of rays by kind                                           pass rays
//! counter NAME            what pass counters or the driver counts under this name
//! compiled NAME           registers, code … (`registers`): what the driver says of pipelines without probes
//! draws, dispatches, traces                                                                pass counters, command `bindings`
//! bound-bytes             buffers' ranges that descriptors of draws, dispatches and traces name, each as often as it is bound
//! uploaded-bytes          that the application wrote into what they read
//! ```
//!
//! All but efficiencies and what is compiled are of a frame: sums over the frames that were measured, divided by their number.
//!
//! Guarantees: a column is there if the trace has the records. What a sample counted, or lost additions, is said.

use super::identity::Shaders;
use crate::rays::events::counts as event_counts;
use crate::rays::ray_counts;
use crate::report::Unit;
use crate::report::sheet::Meaning;
use crate::shaders::registers::{SUMMARY, compiled};
use std::collections::{BTreeMap, HashMap};
use trace::tables::{
    ACTIONS, BLOCK_COUNTS, BLOCK_RUNS, COUNTERS, DESCRIPTORS, DIVERGENCE, INVOCATION_SETS, INVOCATIONS,
    METRICS, RayEvent, SAMPLES, SET_CONTENTS, SIMT, UPLOADS,
};
use trace::{Source, Unreadable};

/// What a number is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Part {
    Whole,
    Pipeline(u64),
    Shader(u64),
    Block(u64, u64, u64),
}

/// How a column's records come to one number.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fold {
    /// Their sum, of a frame.
    PerFrame,
    /// In percent, of a sum of their own.
    Share,
    /// Their sum.
    Sum,
    /// The largest.
    Largest,
    /// The least.
    Least,
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Column {
    pub name: String,
    pub unit: Unit,
    fold: Fold,
}

/// Whether more of a column is better.
pub fn more_is_better(column: &str) -> bool {
    matches!(column, "efficiency" | "event-efficiency" | "compiled occupancy")
}

/// All columns of a trace.
#[derive(Debug, Default)]
pub(super) struct Counted {
    pub columns: Vec<Column>,
    /// By column and part: what was added up, and of what.
    sums: HashMap<(usize, Part), [f64; 2]>,
    frames: f64,
    /// Why numbers are not exact; empty where they are.
    pub inexact: String,
}

impl Counted {
    /// A column's number of a part.
    pub fn value(&self, column: &str, part: Part) -> Option<f64> {
        let at = self.columns.iter().position(|c| c.name == column)?;
        let [sum, of] = *self.sums.get(&(at, part))?;
        match self.columns[at].fold {
            Fold::PerFrame => Some(sum / self.frames),
            Fold::Share => (of > 0.0).then(|| 100.0 * sum / of),
            Fold::Sum | Fold::Largest | Fold::Least => Some(sum),
        }
    }

    fn column(&mut self, name: &str, unit: Unit, fold: Fold) -> usize {
        if let Some(at) = self.columns.iter().position(|c| c.name == name) {
            return at;
        }
        self.columns.push(Column { name: name.to_owned(), unit, fold });
        self.columns.len() - 1
    }

    fn add(&mut self, column: usize, parts: &[Part], sum: f64, of: f64) {
        let fold = self.columns[column].fold;
        for &part in parts {
            let all = self.sums.entry((column, part));
            let there = matches!(all, std::collections::hash_map::Entry::Occupied(_));
            let [s, o] = all.or_insert([0.0; 2]);
            match fold {
                Fold::Largest if there => *s = s.max(sum),
                Fold::Least if there => *s = s.min(sum),
                _ => *s += sum,
            }
            *o += of;
        }
    }
}

/// Reads everything that `frames` frames of a trace counted.
pub(super) fn gather(trace: &dyn Source, shaders: &Shaders, frames: usize) -> Result<Counted, Unreadable> {
    let mut all = Counted { frames: frames.max(1) as f64, ..Counted::default() };
    let samples = trace.read(&SAMPLES)?;
    if let Some(every) = samples.u64("every").iter().max() {
        all.inexact = format!("one subgroup in {every} was counted; profile without --sample");
    }
    shader_counts(trace, shaders, &mut all)?;
    rays(trace, shaders, &mut all)?;
    counters(trace, shaders, &mut all)?;
    driver(trace, &mut all)?;
    bound(trace, &mut all)?;
    Ok(all)
}

/// The parts that a shader is in; of none, the whole.
fn parts_of(shaders: &Shaders, entry: Option<u64>) -> Vec<Part> {
    let pipeline = entry.and_then(|e| shaders.context.entry(e)).map(|e| Part::Pipeline(e.pipeline));
    [Some(Part::Whole), entry.map(Part::Shader), pipeline].into_iter().flatten().collect()
}

/// The parts that a block is in.
fn parts_of_block(shaders: &Shaders, entry: u64, function: u64, block: u64) -> Vec<Part> {
    [parts_of(shaders, Some(entry)), vec![Part::Block(entry, function, block)]].concat()
}

/// Of passes simt, divergence or blocks, whichever comes first.
fn shader_counts(trace: &dyn Source, shaders: &Shaders, all: &mut Counted) -> Result<(), Unreadable> {
    for (table, active) in [(&SIMT, "invocations"), (&DIVERGENCE, "active")] {
        let t = trace.read(table)?;
        if t.is_empty() {
            continue;
        }
        let instructions = all.column("instructions", Unit::Instructions, Fold::PerFrame);
        let subgroups = all.column("subgroup-instructions", Unit::Instructions, Fold::PerFrame);
        let efficiency = all.column("efficiency", Unit::Percent, Fold::Share);
        for row in 0..t.len() {
            let [frame, entry, function, block, executions, active] =
                ["frame", "entry", "function", "block", "executions", active].map(|c| t.u64(c)[row]);
            let parts = parts_of_block(shaders, entry, function, block);
            let weight = shaders.context.instructions(entry, function, block) as f64;
            let (executed, active) = (executions as f64 * weight, active as f64 * weight);
            let n = shaders.context.subgroup_size(frame).unwrap_or(0) as f64;
            all.add(instructions, &parts, active, 0.0);
            all.add(subgroups, &parts, executed, 0.0);
            all.add(efficiency, &parts, active, executed * n);
        }
        return Ok(());
    }
    let runs = trace.read(&BLOCK_RUNS)?;
    // (a plan may have the pass more than once: the first one's counts are taken)
    let Some(pass) = runs.text("pass").first().cloned() else { return Ok(()) };
    if runs.u64("sample").iter().any(|s| *s > 1) || runs.text("add").iter().any(|a| &**a == "plain") {
        all.inexact = "pass blocks did not count everything (sample, add=plain)".into();
    }
    let name = match &*runs.text("unit")[0] {
        "subgroups" => "subgroup-instructions",
        _ => "instructions",
    };
    let column = all.column(name, Unit::Instructions, Fold::PerFrame);
    let t = trace.read(&BLOCK_COUNTS)?;
    for row in (0..t.len()).filter(|row| t.text("pass")[*row] == pass) {
        let [entry, function, block, executions] =
            ["entry", "function", "block", "executions"].map(|c| t.u64(c)[row]);
        let weight = shaders.context.instructions(entry, function, block) as f64;
        all.add(column, &parts_of_block(shaders, entry, function, block), executions as f64 * weight, 0.0);
    }
    Ok(())
}

/// Of pass rays.
fn rays(trace: &dyn Source, shaders: &Shaders, all: &mut Counted) -> Result<(), Unreadable> {
    for ((kind, entry), [events, _]) in ray_counts::rays(trace)?.into_values().flatten() {
        if let Some(kind) = RayEvent::of(kind) {
            let column = all.column(&format!("rays {}", kind.name()), Unit::Count, Fold::PerFrame);
            all.add(column, &parts_of(shaders, Some(entry)), events as f64, 0.0);
        }
    }
    for ((frame, _), events) in ray_counts::warps(trace)? {
        let n = shaders.context.subgroup_size(frame).unwrap_or(0) as f64;
        for ((kind, entry), [events, active]) in events {
            if RayEvent::of(kind).is_some_and(event_counts) {
                let column = all.column("event-efficiency", Unit::Percent, Fold::Share);
                all.add(column, &parts_of(shaders, Some(entry)), active as f64, events as f64 * n);
            }
        }
    }
    Ok(())
}

/// Of pass counters, or of the driver's.
fn counters(trace: &dyn Source, shaders: &Shaders, all: &mut Counted) -> Result<(), Unreadable> {
    let metrics = trace.read(&METRICS)?;
    let names: BTreeMap<u64, String> = metrics
        .u64("metric")
        .iter()
        .copied()
        .zip(metrics.text("name").iter().map(|n| n.to_string()))
        .collect();
    let t = trace.read(&COUNTERS)?;
    for row in 0..t.len() {
        let Some(name) = names.get(&t.u64("metric")[row]) else { continue };
        let column = all.column(&format!("counter {name}"), Unit::Count, Fold::PerFrame);
        let entry = t.u64("entry")[row].checked_sub(1);
        all.add(column, &parts_of(shaders, entry), t.u64("value")[row] as f64, 0.0);
    }
    let t = trace.read(&ACTIONS)?;
    for row in 0..t.len() {
        let command = t.text("command")[row].to_string();
        called(all, command.trim_start_matches("vkCmd"), t.u64("executions")[row] as f64);
    }
    Ok(())
}

fn called(all: &mut Counted, command: &str, times: f64) {
    let kinds = [("Draw", "draws"), ("Dispatch", "dispatches"), ("TraceRays", "traces")];
    if let Some((_, name)) = kinds.into_iter().find(|k| command.starts_with(k.0)) {
        let column = all.column(name, Unit::Count, Fold::PerFrame);
        all.add(column, &[Part::Whole], times, 0.0);
    }
}

/// What the driver says of compiled pipelines, those without probes.
fn driver(trace: &dyn Source, all: &mut Counted) -> Result<(), Unreadable> {
    for (pipeline, statistics) in compiled(trace)? {
        for (&Meaning { name, unit, .. }, value) in SUMMARY.iter().zip(statistics) {
            let Some(value) = value else { continue };
            let fold = match name {
                "registers" | "shared memory" => Fold::Largest,
                "occupancy" => Fold::Least,
                _ => Fold::Sum,
            };
            let column = all.column(&format!("compiled {name}"), unit, fold);
            all.add(column, &[Part::Whole, Part::Pipeline(pipeline)], value, 0.0);
        }
    }
    Ok(())
}

/// Of command `bindings`.
fn bound(trace: &dyn Source, all: &mut Counted) -> Result<(), Unreadable> {
    let t = trace.read(&INVOCATIONS)?;
    // (pass counters has them, too)
    if trace.read(&ACTIONS)?.is_empty() {
        t.text("kind").iter().for_each(|kind| called(all, kind, 1.0));
    }
    let descriptors = trace.read(&DESCRIPTORS)?;
    let ranges: HashMap<u64, u64> =
        descriptors.u64("descriptor").iter().copied().zip(descriptors.u64("range").iter().copied()).collect();
    let contents = trace.read(&SET_CONTENTS)?;
    let mut bytes: HashMap<u64, f64> = HashMap::new();
    for (of, descriptor) in contents.u64("contents").iter().zip(contents.u64("descriptor")) {
        *bytes.entry(*of).or_default() += ranges.get(descriptor).copied().unwrap_or(0) as f64;
    }
    let sets = trace.read(&INVOCATION_SETS)?;
    for of in sets.u64("contents") {
        let column = all.column("bound-bytes", Unit::Bytes, Fold::PerFrame);
        all.add(column, &[Part::Whole], bytes.get(of).copied().unwrap_or(0.0), 0.0);
    }
    let uploads = trace.read(&UPLOADS)?;
    for bytes in uploads.u64("bytes") {
        let column = all.column("uploaded-bytes", Unit::Bytes, Fold::PerFrame);
        all.add(column, &[Part::Whole], *bytes as f64, 0.0);
    }
    Ok(())
}

//! SIMT efficiency: how full the subgroups were that executed basic blocks.
//!
//! *Definition* (Vulkan Vision, §V-D1). Each execution of a basic block by a subgroup has an active mask m; N is the
//! device's subgroup size. Over any set of executions, efficiency = Σ popcount(m) / (Σ 1 · N), in percent. Each execution
//! counts alike in *efficiency*; in *weighted* each counts as often as the block has instructions, so that it is the share
//! of instruction slots that did something: Σ popcount(m) · i / (Σ i · N). Instructions are SPIR-V's, as table `blocks`
//! counts them: what a driver makes of one is not known here.
//!
//! *Event-level* (Cheung 2024, §3.1.2; `rays/events/event_level.rs`) is the same formula over two kinds of events only: calls that trace
//! a ray, and entries of intersection, any-hit, miss and closest-hit shaders. It stands by itself and is in no other number. It is
//! not told apart by subgroup, nor occlusion rays from others: the records are counts. Entries of callable shaders, which the
//! thesis does not have, are a row of their own and in no sum.
//!
//! Question `annotate` writes the same over each block of the shaders' texts.
//!
//! *Caveats.* Helper invocations are not active; how many there were is a column of its own, and what only helpers execute is
//! in no number. A subgroup that a device splits executes a block once for each part. The memory that probes write keeps
//! devices from rejecting fragments before they are shaded, so that more fragments may be seen than without probes.

mod columns;
mod sums;

use crate::context::Context;
use crate::rays::events::{ALL, Occupancy, counts, entered};
use crate::report::{Cell, Mark, Report, Series, Table, share};
use crate::shaders::sampled;
use crate::shaders::scopes::Scopes;
use crate::{Question, Session};
use std::collections::BTreeMap;
use sums::Sums;
use trace::tables::{SIMT, SIMT_HELPERS, SIMT_TRACES};
use trace::{Source, Unreadable};

/// The question.
pub static QUESTION: Question = Question {
    name: "simt",
    about: "how full the subgroups were that executed basic blocks: SIMT efficiency per block, shader, stage, pipeline, frame",
    wants: &[&SIMT],
    sheets: columns::SHEETS,
    events: None,
    answer,
};

fn answer(session: &Session<'_>) -> Result<Report, Unreadable> {
    let trace = session.trace;
    // Rays are never sampled.
    let measured = |t: &Table| if t.name == "events" { 0 } else { columns::SUMS };
    sampled::answer(trace, &SIMT, measured, report)
}

fn report(trace: &dyn Source) -> Result<Report, Unreadable> {
    let context = Context::read(trace)?;
    let folded = Folded::of(trace, &context)?;
    let mut report = Report::new(QUESTION.name, "SIMT efficiency");
    report.headlines = folded.headlines(&context);
    report.tables = folded.tables(&context);
    report.tables.insert(1, events_table(&events(trace, &context, None)?));
    report.series = folded.histograms.iter().map(|(of, h)| histogram(of, h)).collect();
    if folded.more != 0 {
        report.notes.push(format!(
            "{} executions had more active invocations than the histograms tell apart; they are in every efficiency.",
            folded.more
        ));
    }
    if folded.sums.whole.executions == 0 {
        report.notes.push("No instrumented basic block was executed.".into());
    }
    Ok(report)
}

#[derive(Default)]
struct Folded {
    sums: Scopes<Sums>,
    /// Popcount: executions; of everything, and by stage.
    histograms: BTreeMap<String, BTreeMap<u64, u64>>,
    more: u64,
}

impl Folded {
    /// How full, and where most of what is idle is.
    fn headlines(&self, context: &Context) -> Vec<String> {
        let whole = &self.sums.whole;
        let (idle, all) = (whole.wasted(), whole.weighted_slots());
        if all == 0 {
            return vec![];
        }
        let active = format!("{} of the instruction slots of subgroups were active.", share(all - idle, all));
        let worst = self.sums.headline(context, |s| [s.wasted(), s.weighted_slots()]);
        [active].into_iter().chain(worst).collect()
    }

    fn of(trace: &dyn Source, context: &Context) -> Result<Self, Unreadable> {
        let mut f = Folded::default();
        let t = trace.read(&SIMT)?;
        for row in 0..t.len() {
            let [frame, entry, function, block, active, executions, invocations] =
                ["frame", "entry", "function", "block", "active", "executions", "invocations"]
                    .map(|c| t.u64(c)[row]);
            let n = size(context, frame)?;
            let weight = context.instructions(entry, function, block);
            let add = |s: &mut Sums| s.add(executions, invocations, n, weight);
            f.sums.add(context, frame, (entry, function, block), add);
            if active == 0 {
                f.more += executions;
            } else {
                for of in ["all", context.entry(entry).map_or("?", |e| &*e.stage)] {
                    *f.histograms.entry(of.to_owned()).or_default().entry(active).or_default() += executions;
                }
            }
        }
        let t = trace.read(&SIMT_HELPERS)?;
        for row in 0..t.len() {
            let [frame, entry, function, block, helpers] =
                ["frame", "entry", "function", "block", "helpers"].map(|c| t.u64(c)[row]);
            f.sums.add(context, frame, (entry, function, block), |s| s.helpers += helpers);
        }
        Ok(f)
    }

    fn tables(&self, context: &Context) -> Vec<Table> {
        let whole = [vec!["all".into()], self.sums.whole.cells()].concat();
        let below = self.sums.tables(context, &columns::SCOPES, Sums::cells, Sums::wasted);
        [columns::WHOLE.table([whole])].into_iter().chain(below).collect()
    }
}

/// Event-level sums by kind of event, and of all that count, of a frame or of all.
pub(crate) fn events(
    trace: &dyn Source,
    context: &Context,
    frame: Option<u64>,
) -> Result<BTreeMap<String, Occupancy>, Unreadable> {
    let mut all = BTreeMap::<String, Occupancy>::new();
    for table in [&SIMT, &SIMT_TRACES] {
        let t = trace.read(table)?;
        let [frames, entries, functions, blocks, executions, invocations] =
            ["frame", "entry", "function", "block", "executions", "invocations"].map(|c| t.u64(c));
        for row in (0..t.len()).filter(|&row| frame.is_none_or(|f| f == frames[row])) {
            let (of, counted) = if table.name == SIMT_TRACES.name {
                ("ray traced".to_owned(), true)
            } else {
                let entry = context.entry(entries[row]).filter(|_| (functions[row], blocks[row]) == (0, 0));
                let Some(kind) = entry.and_then(|e| entered(&e.stage)) else { continue };
                (format!("{} entered", kind.name()), counts(kind))
            };
            let sum = Occupancy::new(executions[row], invocations[row], size(context, frames[row])?);
            for of in [Some(of), counted.then(|| ALL.to_owned())].into_iter().flatten() {
                *all.entry(of).or_default() += sum;
            }
        }
    }
    Ok(all)
}

fn events_table(events: &BTreeMap<String, Occupancy>) -> Table {
    let row = |(of, s): (&String, &Occupancy)| [of.as_str().into()].into_iter().chain(s.cells()).collect();
    columns::EVENTS.table(events.iter().map(row))
}

fn size(context: &Context, frame: u64) -> Result<u64, Unreadable> {
    context
        .subgroup_size(frame)
        .filter(|n| *n != 0)
        .ok_or_else(|| Unreadable("table frames says no subgroup size; record the trace again".into()))
}

fn histogram(of: &str, popcounts: &BTreeMap<u64, u64>) -> Series {
    let points = popcounts.iter().map(|(&n, &count)| (Cell::Count(n), Cell::Count(count)));
    let name = format!("popcounts_{}", of.replace('-', "_"));
    Series { name, ..columns::POPCOUNTS.series(&format!("Active invocations, {of}"), Mark::Bars, points) }
}

#[cfg(test)]
mod tests;

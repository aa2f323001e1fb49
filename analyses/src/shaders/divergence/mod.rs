//! Divergence by its causes: why slots of subgroups were inactive.
//!
//! *Definition* (Vulkan Vision, §V-D2). A subgroup that executes a basic block takes N slots, N the device's subgroup size;
//! N − popcount(mask) of them are inactive. Pass `divergence` says of each why: the invocation had left the entry point for
//! good (*early return*), it was absent where the shader was entered (*indirect call*), it was elsewhere (*control flow*), or,
//! in fragment shaders, it had entered as a helper (*helper*). Each inactive slot has one cause, so the causes sum to all
//! inactive slots. *Weighted* counts a slot as often as its block has instructions: instruction slots, as Vulkan Vision
//! reports them; the plain count is of blocks.
//!
//! *Not launched* is the part of indirect call that is of stages which nothing calls: slots that never held an invocation,
//! as at a launch's edge.
//!
//! *Caveats.* Unattributed slots are those of subgroups whose entry was lost because the log was full: with any, the shares
//! are of the others. In shaders that rays call, invocations whose ray generation has ended count as early returns, others that
//! are not there as indirect call, though it may have been control flow that kept them from tracing.

mod columns;

use crate::Question;
use crate::context::Context;
use crate::explain::Sheet;
use crate::report::{Cell, Report, Table, share};
use crate::shaders::inactive;
use crate::shaders::sampled;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use trace::tables::DIVERGENCE;
use trace::{Source, Unreadable};

/// The question.
#[derive(Clone, Copy, Debug)]
pub struct Divergence;

/// The causes, as columns of the table are called.
const CAUSES: [&str; 4] = ["early_return", "indirect_call", "control_flow", "helper"];

impl Question for Divergence {
    fn name(&self) -> &'static str {
        "divergence"
    }

    fn about(&self) -> &'static str {
        "why invocations were inactive: early return, indirect call, control flow"
    }

    fn wants(&self) -> &'static [&'static trace::Table] {
        static TABLES: &[&trace::Table] = &[&DIVERGENCE];
        TABLES
    }

    fn sheets(&self) -> &'static [Sheet] {
        columns::SHEETS
    }

    fn answer(&self, trace: &dyn Source) -> Result<Report, Unreadable> {
        let measured = |t: &Table| if t.name == "causes" { t.columns.len() - 1 } else { columns::MEASURED };
        sampled::answer(trace, &DIVERGENCE, measured, |trace| self.report(trace))
    }
}

impl Divergence {
    fn report(&self, trace: &dyn Source) -> Result<Report, Unreadable> {
        let context = Context::read(trace)?;
        let folded = Folded::of(trace, &context)?;
        let mut report = Report::new(self.name(), "Divergence by cause");
        report.headlines = folded.headlines(&context);
        report.tables = folded.tables(&context);
        let lost = folded.whole.slots.unattributed;
        if lost != 0 {
            report.notes.push(format!(
                "{lost} inactive slots have no cause: nothing is known of where their subgroups entered. Shares are of the others."
            ));
        }
        if folded.contradictions != 0 {
            report.notes.push(format!(
                "{} rows do not sum to the slots that their executions have: the trace is damaged.",
                folded.contradictions
            ));
        }
        if folded.whole.slots.all() == 0 {
            report.notes.push("No instrumented basic block was executed.".into());
        }
        Ok(report)
    }
}

/// Slots by what they were.
#[derive(Clone, Copy, Debug, Default)]
struct Slots {
    active: u128,
    by_cause: [u128; 4],
    not_launched: u128,
    unattributed: u128,
}

impl Slots {
    fn inactive(&self) -> u128 {
        self.by_cause.iter().sum()
    }

    fn all(&self) -> u128 {
        self.active + self.inactive() + self.unattributed
    }

    fn add(&mut self, other: &Slots, times: u128) {
        self.active += other.active * times;
        for (into, of) in self.by_cause.iter_mut().zip(other.by_cause) {
            *into += of * times;
        }
        self.not_launched += other.not_launched * times;
        self.unattributed += other.unattributed * times;
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Both {
    slots: Slots,
    weighted: Slots,
}

#[derive(Default)]
struct Folded {
    whole: Both,
    frames: BTreeMap<u64, Both>,
    stages: BTreeMap<String, Both>,
    pipelines: BTreeMap<u64, Both>,
    entries: BTreeMap<u64, Both>,
    blocks: BTreeMap<(u64, u64, u64), Both>,
    contradictions: u64,
}

impl Folded {
    fn of(trace: &dyn Source, context: &Context) -> Result<Self, Unreadable> {
        let mut f = Folded::default();
        let t = trace.read(&DIVERGENCE)?;
        for row in 0..t.len() {
            let of = |column: &str| u128::from(t.u64(column)[row]);
            let (frame, entry) = (t.u64("frame")[row], t.u64("entry")[row]);
            let (function, block) = (t.u64("function")[row], t.u64("block")[row]);
            let slots = Slots {
                active: of("active"),
                by_cause: CAUSES.map(of),
                not_launched: of("not_launched"),
                unattributed: of("unattributed"),
            };
            let n = context.subgroup_size(frame).map(u128::from);
            f.contradictions += u64::from(n.is_some_and(|n| n * of("executions") != slots.all()));
            let known = context.entry(entry);
            let stage = known.map_or("?", |e| &*e.stage).to_owned();
            let weight = context.instructions(entry, function, block).into();
            for into in [
                &mut f.whole,
                f.frames.entry(frame).or_default(),
                f.stages.entry(stage).or_default(),
                f.pipelines.entry(known.map_or(0, |e| e.pipeline)).or_default(),
                f.entries.entry(entry).or_default(),
                f.blocks.entry((entry, function, block)).or_default(),
            ] {
                into.slots.add(&slots, 1);
                into.weighted.add(&slots, weight);
            }
        }
        Ok(f)
    }

    /// How much was inactive, why, and where most of it is.
    fn headlines(&self, context: &Context) -> Vec<String> {
        let (all, inactive) = (self.whole.weighted.all(), self.whole.weighted.inactive());
        if all == 0 {
            return vec![];
        }
        let mut causes: Vec<_> =
            CAUSES.iter().zip(self.whole.weighted.by_cause).filter(|c| c.1 != 0).collect();
        causes.sort_by_key(|c| Reverse(c.1));
        let why: Vec<String> = causes
            .iter()
            .map(|(cause, n)| format!("{} {}", cause.replace('_', " "), share(*n, all)))
            .collect();
        let why = if why.is_empty() { String::new() } else { format!(": {}", why.join(", ")) };
        let inactive =
            format!("{} of the instruction slots of subgroups were inactive{why}.", share(inactive, all));
        let of = |b: &Both| [b.weighted.inactive(), b.weighted.all()];
        let worst = inactive::headline(context, &self.entries, &self.blocks, of);
        [inactive].into_iter().chain(worst).collect()
    }

    fn tables(&self, context: &Context) -> Vec<Table> {
        let mut blocks: Vec<_> = self.blocks.iter().collect();
        blocks.sort_by_key(|(place, b)| (std::cmp::Reverse(b.weighted.inactive()), **place));
        vec![
            self.causes(),
            table(columns::STAGES, self.stages.iter().map(|(k, b)| (vec![k.as_str().into()], b))),
            table(
                columns::PIPELINES,
                self.pipelines.iter().map(|(k, b)| (vec![context.pipeline_words(*k).into()], b)),
            ),
            table(columns::SHADERS, self.entries.iter().map(|(k, b)| (context.entry_cells(*k), b))),
            table(columns::FRAMES, self.frames.iter().map(|(k, b)| (vec![Cell::Count(*k)], b))),
            table(
                columns::BLOCKS,
                blocks.into_iter().map(|(&(e, f, b), both)| (context.block_cells(e, f, b), both)),
            ),
        ]
    }

    /// The causes one below the other: what most readers want.
    fn causes(&self) -> Table {
        let (s, w) = (&self.whole.slots, &self.whole.weighted);
        let row = |name: &str, of: &dyn Fn(&Slots) -> u128| {
            vec![
                name.into(),
                count(of(s)),
                Cell::share(of(s), s.inactive()),
                Cell::share(of(s), s.all()),
                count(of(w)),
                Cell::share(of(w), w.inactive()),
                Cell::share(of(w), w.all()),
            ]
        };
        let mut rows: Vec<_> = CAUSES
            .iter()
            .enumerate()
            .map(|(i, name)| row(&name.replace('_', " "), &|s: &Slots| s.by_cause[i]))
            .collect();
        rows.push(row("all inactive", &Slots::inactive));
        rows.push(row("(of indirect call: not launched)", &|s| s.not_launched));
        columns::CAUSES.table(rows)
    }
}

fn count(n: u128) -> Cell {
    Cell::Count(u64::try_from(n).unwrap_or(u64::MAX))
}

fn table<'a>(of: Sheet, rows: impl Iterator<Item = (Vec<Cell>, &'a Both)>) -> Table {
    let cells = |(mut cells, b): (Vec<Cell>, &Both)| {
        cells.extend([count(b.slots.all()), count(b.slots.inactive())]);
        cells.extend(b.slots.by_cause.map(count));
        cells.push(count(b.weighted.inactive()));
        cells.extend(b.weighted.by_cause.map(|c| Cell::share(c, b.weighted.inactive())));
        cells
    };
    of.table(rows.map(cells))
}

#[cfg(test)]
mod tests;

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

use crate::context::Context;
use crate::report::{Cell, Report, Table, share};
use crate::shaders::sampled;
use crate::shaders::scopes::Scopes;
use crate::{Question, Session};
use std::cmp::Reverse;
use trace::tables::DIVERGENCE;
use trace::{Source, Unreadable};

/// The question.
pub static QUESTION: Question = Question {
    name: "divergence",
    about: "why invocations were inactive: early return, indirect call, control flow",
    wants: &[&DIVERGENCE],
    sheets: columns::SHEETS,
    events: None,
    answer,
};

/// The causes, as columns of the table are called.
const CAUSES: [&str; 4] = ["early_return", "indirect_call", "control_flow", "helper"];

fn answer(session: &Session<'_>) -> Result<Report, Unreadable> {
    let trace = session.trace;
    let measured = |t: &Table| if t.name == "causes" { t.columns.len() - 1 } else { columns::MEASURED };
    sampled::answer(trace, &DIVERGENCE, measured, report)
}

fn report(trace: &dyn Source) -> Result<Report, Unreadable> {
    let context = Context::read(trace)?;
    let folded = Folded::of(trace, &context)?;
    let mut report = Report::new(QUESTION.name, "Divergence by cause");
    report.headlines = folded.headlines(&context);
    report.tables = folded.tables(&context);
    let lost = folded.sums.whole.slots.unattributed;
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
    if folded.sums.whole.slots.all() == 0 {
        report.notes.push("No instrumented basic block was executed.".into());
    }
    Ok(report)
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

impl Both {
    /// Under the columns of the tables.
    fn cells(&self) -> Vec<Cell> {
        let (slots, weighted) = (&self.slots, &self.weighted);
        let mut cells = vec![count(slots.all()), count(slots.inactive())];
        cells.extend(slots.by_cause.map(count));
        cells.push(count(weighted.inactive()));
        cells.extend(weighted.by_cause.map(|c| Cell::share(c, weighted.inactive())));
        cells
    }
}

#[derive(Default)]
struct Folded {
    sums: Scopes<Both>,
    contradictions: u64,
}

impl Folded {
    fn of(trace: &dyn Source, context: &Context) -> Result<Self, Unreadable> {
        let mut f = Folded::default();
        let t = trace.read(&DIVERGENCE)?;
        for row in 0..t.len() {
            let of = |column: &str| u128::from(t.u64(column)[row]);
            let [frame, entry, function, block] =
                ["frame", "entry", "function", "block"].map(|c| t.u64(c)[row]);
            let slots = Slots {
                active: of("active"),
                by_cause: CAUSES.map(of),
                not_launched: of("not_launched"),
                unattributed: of("unattributed"),
            };
            let n = context.subgroup_size(frame).map(u128::from);
            f.contradictions += u64::from(n.is_some_and(|n| n * of("executions") != slots.all()));
            let weight = context.instructions(entry, function, block).into();
            f.sums.add(context, frame, (entry, function, block), |both| {
                both.slots.add(&slots, 1);
                both.weighted.add(&slots, weight);
            });
        }
        Ok(f)
    }

    /// How much was inactive, why, and where most of it is.
    fn headlines(&self, context: &Context) -> Vec<String> {
        let (all, inactive) = (self.sums.whole.weighted.all(), self.sums.whole.weighted.inactive());
        if all == 0 {
            return vec![];
        }
        let mut causes: Vec<_> =
            CAUSES.iter().zip(self.sums.whole.weighted.by_cause).filter(|c| c.1 != 0).collect();
        causes.sort_by_key(|c| Reverse(c.1));
        let why: Vec<String> = causes
            .iter()
            .map(|(cause, n)| format!("{} {}", cause.replace('_', " "), share(*n, all)))
            .collect();
        let why = if why.is_empty() { String::new() } else { format!(": {}", why.join(", ")) };
        let inactive =
            format!("{} of the instruction slots of subgroups were inactive{why}.", share(inactive, all));
        let worst = self.sums.headline(context, |b| [b.weighted.inactive(), b.weighted.all()]);
        [inactive].into_iter().chain(worst).collect()
    }

    fn tables(&self, context: &Context) -> Vec<Table> {
        let below = self.sums.tables(context, &columns::SCOPES, Both::cells, |b| b.weighted.inactive());
        [self.causes()].into_iter().chain(below).collect()
    }

    /// The causes one below the other: what most readers want.
    fn causes(&self) -> Table {
        let (s, w) = (&self.sums.whole.slots, &self.sums.whole.weighted);
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

#[cfg(test)]
mod tests;

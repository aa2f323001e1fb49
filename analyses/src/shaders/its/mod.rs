//! Independent thread scheduling: subgroups that enter an entry point as one and leave it in parts.
//!
//! *Definition* (Vulkan Vision, §V-C). Entries and exits of an entry point are counted by subgroup: exits / entries is 1 where
//! every subgroup leaves as it came, and more where subgroups were split. *Split* is the exact number of subgroups that were:
//! entries less the exits by all invocations that had entered together; a subgroup has at most one of those.
//!
//! An exit is an execution of one place where invocations leave. A subgroup whose invocations return at two places has two
//! exits on any device; the table of places tells such shaders: *entries* at one place can only be exceeded by scheduling.
//!
//! *Caveats.* Demoted fragments go on as helpers, which nobody counts: subgroups of which some were demoted have no whole
//! exit, and those of which all were have none.

mod columns;

use crate::context::Context;
use crate::report::sheet::Sheet;
use crate::report::{Cell, Report, Table, most, share};
use crate::{Question, Session};
use std::collections::BTreeMap;
use trace::Unreadable;
use trace::tables::ITS;

/// The question.
pub static QUESTION: Question = Question {
    name: "its",
    about: "how often subgroups leave their entry point for each time that they enter it: subgroups that were split",
    wants: &[&ITS],
    sheets: columns::SHEETS,
    events: None,
    answer,
};

fn answer(session: &Session<'_>) -> Result<Report, Unreadable> {
    let trace = session.trace;
    let context = session.context()?;
    let mut whole = Sums::default();
    let mut stages: BTreeMap<String, Sums> = BTreeMap::new();
    let mut entries: BTreeMap<u64, Sums> = BTreeMap::new();
    let mut places: BTreeMap<(u64, u64), Place> = BTreeMap::new();
    let t = trace.read(&ITS)?;
    for row in 0..t.len() {
        let (entry, kind) = (t.u64("entry")[row], &t.text("kind")[row]);
        let (executions, invocations) = (t.u64("executions")[row], t.u64("invocations")[row]);
        let whole_exits = t.u64("whole")[row];
        let stage = context.entry(entry).map_or("?", |e| &*e.stage).to_owned();
        for into in [&mut whole, stages.entry(stage).or_default(), entries.entry(entry).or_default()] {
            if &**kind == "entry" {
                into.entries += executions;
            } else {
                into.exits += executions;
                into.whole += whole_exits;
            }
        }
        if &**kind != "entry" {
            let into = places.entry((entry, t.u64("word_offset")[row])).or_insert_with(|| Place {
                function: t.u64("function")[row],
                block: t.u64("block")[row],
                kind: kind.to_string(),
                executions: 0,
                invocations: 0,
                whole: 0,
            });
            into.executions += executions;
            into.invocations += invocations;
            into.whole += whole_exits;
        }
    }
    let mut report = Report::new(QUESTION.name, "Independent thread scheduling");
    report.headlines.extend(headline(context, &whole, &entries));
    report.tables = vec![
        table(columns::WHOLE, vec![(vec!["all".into()], whole)]),
        table(columns::STAGES, stages.into_iter().map(|(k, s)| (vec![k.into()], s)).collect()),
        table(columns::SHADERS, entries.iter().map(|(k, s)| (context.entry_cells(*k), *s)).collect()),
        exits(context, &entries, &places),
    ];
    if whole.entries == 0 {
        report.notes.push("No instrumented entry point was entered.".into());
    }
    Ok(report)
}

#[derive(Clone, Copy, Default)]
struct Sums {
    entries: u64,
    exits: u64,
    whole: u64,
}

impl Sums {
    fn split(&self) -> u64 {
        self.entries.saturating_sub(self.whole)
    }

    fn words(&self) -> String {
        format!("{} of {} ({})", self.split(), self.entries, share(self.split(), self.entries))
    }
}

/// How many subgroups were split, and where most of them.
fn headline(context: &Context, whole: &Sums, entries: &BTreeMap<u64, Sums>) -> Option<String> {
    let worst = most(entries, |e| e.1.split()).map(|(entry, s)| {
        let whose = context.whose_words(*entry);
        format!("Subgroups that were split: {}; most in {whose}: {}.", whole.words(), s.words())
    });
    worst
        .or((whole.entries != 0)
            .then(|| format!("No subgroup was split, of {} that entered.", whole.entries)))
}

struct Place {
    function: u64,
    block: u64,
    kind: String,
    executions: u64,
    invocations: u64,
    whole: u64,
}

fn ratio(a: u64, b: u64) -> Cell {
    if b == 0 { Cell::Missing } else { Cell::Number(a as f64 / b as f64) }
}

fn table(of: Sheet, rows: Vec<(Vec<Cell>, Sums)>) -> Table {
    let cells = |(mut cells, s): (Vec<Cell>, Sums)| {
        cells.extend([s.entries.into(), s.exits.into(), ratio(s.exits, s.entries)]);
        cells.extend([s.split().into(), Cell::share(s.split(), s.entries)]);
        cells
    };
    of.table(rows.into_iter().map(cells))
}

fn exits(context: &Context, entries: &BTreeMap<u64, Sums>, places: &BTreeMap<(u64, u64), Place>) -> Table {
    let row = |(&(entry, _), p): (&(u64, u64), &Place)| {
        let mut cells = context.block_cells(entry, p.function, p.block);
        cells.extend([
            p.kind.as_str().into(),
            p.executions.into(),
            p.invocations.into(),
            p.whole.into(),
            ratio(p.executions, entries.get(&entry).map_or(0, |s| s.entries)),
        ]);
        cells
    };
    columns::EXITS.table(places.iter().map(row))
}

#[cfg(test)]
mod tests;

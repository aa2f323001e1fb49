//! What of a frame's GPU time goes where: the commands (or passes, or submissions) that took the most, with their names,
//! and the totals of labels and passes.
//!
//! *Input.* [`CommandTime`] records and the names they refer to; what their ends mean is said there.
//!
//! *Definitions.* A span's time is its end less the later of its begin and the end of the span before it ([`nest`]): what
//! overlaps counts once, for the one that began first. The table of the most expensive sums equal spans (same command
//! buffer position, recorded index and name) over frames: `times` is how often, mean and max are of one time, share is
//! the sum's part of all submissions' time, and cumulative share adds the rows up from the top. The tree sums every
//! span by its path of labels and passes; a row holds what lies within it.
//!
//! *Unit.* Milliseconds.
//!
//! *Caveats.* Commands run side by side on a GPU: without `--isolate` a time says how much longer the queue was busy for
//! the command's sake, with it how long the command takes alone. A short command after a long one is thus nearly free, and
//! a barrier takes what it waits for. Inside render passes nothing can be isolated; on tiled devices a timestamp inside a
//! pass says little, and on some drivers it ends the batching of draws. The load frame is left out.

mod export;
mod nest;

pub use export::{perfetto, rows};
pub use nest::{Place, places};

use crate::report::{Cell, Column, Report, SCHEMA_VERSION, Table, Unit};
use crate::{Analysis, Fold, Run};
use std::collections::HashMap;
use trace::{Batch, CommandTime, RecordKind, RecordKinds, SpanKind, TimeNames};

/// Rows of the table of the most expensive.
const TOP: usize = 20;
/// Rows of the tree.
const TREE: usize = 60;

/// The analysis.
#[derive(Clone, Copy, Debug)]
pub struct CommandTimes;

impl Analysis for CommandTimes {
    fn name(&self) -> &'static str {
        "command-times"
    }

    fn wants(&self) -> RecordKinds {
        RecordKinds::of(RecordKind::CommandTime)
    }

    fn start(&self, run: &Run) -> Box<dyn Fold> {
        Box::new(Times { run: run.clone(), names: TimeNames::default(), records: Vec::new() })
    }
}

/// The report on these records; the short way where all are at hand.
pub fn report(run: &Run, names: &TimeNames, records: &[CommandTime]) -> Report {
    let mut fold = CommandTimes.start(run);
    fold.fold(Batch::CommandTimes(names, records));
    fold.finish()
}

struct Times {
    run: Run,
    names: TimeNames,
    records: Vec<CommandTime>,
}

impl Fold for Times {
    fn fold(&mut self, batch: Batch<'_>) {
        if let Batch::CommandTimes(names, records) = batch {
            self.names = names.clone();
            self.records.extend_from_slice(records);
        }
    }

    fn finish(self: Box<Self>) -> Report {
        let only_load = self.records.iter().all(|r| Some(r.frame) == self.run.load_frame);
        let placed: Vec<(&CommandTime, Place)> = self
            .records
            .iter()
            .zip(places(&self.records))
            .filter(|(r, _)| only_load || Some(r.frame) != self.run.load_frame)
            .collect();
        let total: u64 = of_kind(&placed, SpanKind::Submit).map(|(_, p)| p.time().0).sum();
        let finest = placed.iter().map(|(r, _)| r.kind).max().unwrap_or(SpanKind::Submit);
        Report {
            schema_version: SCHEMA_VERSION,
            analysis: CommandTimes.name().to_owned(),
            title: format!("GPU time by {}", finest.name()),
            tables: vec![top(&placed, finest, total, &self.names), tree(&placed, total, &self.names)],
            series: Vec::new(),
            images: Vec::new(),
            notes: notes(&placed, only_load),
            cost: self.run.cost,
        }
    }
}

fn of_kind<'p>(
    placed: &'p [(&'p CommandTime, Place)],
    kind: SpanKind,
) -> impl Iterator<Item = &'p (&'p CommandTime, Place)> {
    placed.iter().filter(move |(r, _)| r.kind == kind)
}

/// What one row of the table of the most expensive sums.
#[derive(Default)]
struct Sum {
    times: u64,
    total: u64,
    max: u64,
}

impl Sum {
    fn add(&mut self, time: u64) {
        self.times += 1;
        self.total += time;
        self.max = self.max.max(time);
    }
}

fn ms(nanos: u64) -> Cell {
    Cell::Number(nanos as f64 / 1e6)
}

fn percent(part: u64, total: u64) -> Cell {
    if total == 0 { Cell::Missing } else { Cell::Number(part as f64 / total as f64 * 100.0) }
}

/// An object for people: its debug name, or its id.
fn object(names: &TimeNames, id: u64) -> String {
    match names.objects.get(&id).filter(|n| !n.is_empty()) {
        Some(n) => n.clone(),
        None if id == 0 => String::new(),
        None => format!("#{id}"),
    }
}

/// A label that counts (`frame 1`, `frame 2`, …) is one place in all frames: digits become `#`.
fn placeless(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        match c {
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            c => out.push(c),
        }
    }
    out
}

/// The path around a span, its outermost label with its number left out where it names a queue's frame.
fn around(names: &TimeNames, record: &CommandTime) -> Vec<String> {
    let mut path: Vec<String> = names.path(record.node).into_iter().map(str::to_owned).collect();
    let own = path.pop();
    if record.kind == SpanKind::Label || record.kind == SpanKind::Pass {
        path.extend(own);
    }
    if let Some(first) = path.first_mut() {
        *first = placeless(first);
    }
    path
}

fn top(placed: &[(&CommandTime, Place)], finest: SpanKind, total: u64, names: &TimeNames) -> Table {
    // At the level of passes what runs between them is as fine as they are.
    let counts = |r: &CommandTime, p: Place| r.kind == finest || (finest == SpanKind::Run || finest == SpanKind::Pass) && r.kind == SpanKind::Pass && p.leaf;
    let mut sums: HashMap<(String, u32, u32, u64), (Sum, &CommandTime)> = HashMap::new();
    for (r, p) in placed.iter().filter(|(r, p)| counts(r, *p)) {
        let path: Vec<String> = around(names, r);
        let key = (path.join(" › ") + "\0" + names.path(r.node).last().unwrap_or(&""), r.position, r.index, r.pipeline);
        sums.entry(key).or_insert_with(|| (Sum::default(), r)).0.add(p.time().0);
    }
    let mut rows: Vec<_> = sums.into_iter().collect();
    rows.sort_by(|a, b| b.1.0.total.cmp(&a.1.0.total).then_with(|| a.0.cmp(&b.0)));
    let mut cumulative = 0;
    let rows = rows.into_iter().take(TOP).map(|((key, position, index, pipeline), (sum, r))| {
        cumulative += sum.total;
        let (path, name) = key.split_once('\0').unwrap_or((&key, ""));
        let buffer = if r.command_buffer == 0 { String::new() } else { format!("{position}:{index}") };
        vec![
            Cell::Text(name.to_owned()),
            Cell::Text(buffer),
            Cell::Text(object(names, pipeline)),
            Cell::Text(path.to_owned()),
            Cell::Count(sum.times),
            ms(sum.total / sum.times.max(1)),
            ms(sum.max),
            percent(sum.total, total),
            percent(cumulative, total),
        ]
    });
    Table {
        name: "top".to_owned(),
        columns: vec![
            Column::new(finest.name(), Unit::Text),
            Column::new("at", Unit::Text),
            Column::new("pipeline", Unit::Text),
            Column::new("within", Unit::Text),
            Column::new("times", Unit::Count),
            Column::new("mean", Unit::Milliseconds),
            Column::new("max", Unit::Milliseconds),
            Column::new("share", Unit::Percent),
            Column::new("cumulative", Unit::Percent),
        ],
        rows: rows.collect(),
    }
}

/// Totals of submissions, labels and passes, in the order they first began.
fn tree(placed: &[(&CommandTime, Place)], total: u64, names: &TimeNames) -> Table {
    let mut order: Vec<Vec<String>> = Vec::new();
    let mut sums: HashMap<Vec<String>, Sum> = HashMap::new();
    for (r, p) in placed.iter().filter(|(r, _)| matches!(r.kind, SpanKind::Submit | SpanKind::Label | SpanKind::Pass)) {
        let path = around(names, r);
        sums.entry(path.clone())
            .or_insert_with(|| {
                order.push(path);
                Sum::default()
            })
            .add(p.time().0);
    }
    let rows = order.iter().take(TREE).map(|path| {
        let sum = &sums[path];
        let name = path.last().map_or("everything", String::as_str);
        vec![
            Cell::Text("  ".repeat(path.len().saturating_sub(1)) + name),
            Cell::Count(sum.times),
            ms(sum.total / sum.times.max(1)),
            ms(sum.max),
            percent(sum.total, total),
        ]
    });
    Table {
        name: "tree".to_owned(),
        columns: vec![
            Column::new("labels and passes", Unit::Text),
            Column::new("times", Unit::Count),
            Column::new("mean", Unit::Milliseconds),
            Column::new("max", Unit::Milliseconds),
            Column::new("share", Unit::Percent),
        ],
        rows: rows.collect(),
    }
}

fn notes(placed: &[(&CommandTime, Place)], only_load: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if placed.is_empty() {
        notes.push("Nothing was timed.".to_owned());
    } else if only_load {
        notes.push("Only the load frame was timed.".to_owned());
    }
    let alone = placed.iter().filter(|(r, _)| r.isolated).count();
    if alone > 0 {
        let commands = |alone| of_kind(placed, SpanKind::Command).filter(|(r, _)| r.isolated == alone).count();
        notes.push(format!(
            "Isolated: barriers let {} commands run alone; {} are inside render passes, where nothing can be isolated.",
            commands(true),
            commands(false)
        ));
    }
    notes
}

#[cfg(test)]
mod tests;

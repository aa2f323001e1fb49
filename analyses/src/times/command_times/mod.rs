//! What of a frame's GPU time goes where: the commands (or passes, or submissions) that took the most, with their names,
//! and the totals of labels and passes.
//!
//! *Input.* [`CommandTime`] records and the names they refer to; what their ends mean is said there.
//!
//! *Definitions.* A span's time is its end less the later of its begin and the end of the span before it (`nest.rs`): what
//! overlaps counts once, for the one that began first. The table of the most expensive sums equal spans (the same name, and
//! the same command buffer position and recorded index) over frames; one that has the same number of draw or pass in all of them is called by it: `times` is how often, mean and max are of one time, share is
//! the sum's part of all submissions' time, and cumulative share adds the rows up from the top. The tree sums every
//! span by its path of labels and passes; a row holds what lies within it.
//!
//! *Counters.* Where pipeline statistics were counted ([`CommandCounters`]), a table has them for the same rows, each the
//! mean of one time; what lies within a span counts for it, too.
//!
//! *Unit.* Milliseconds; counters are counts.
//!
//! *Caveats.* Commands run side by side on a GPU: without `--isolate` a time says how much longer the queue was busy for
//! the command's sake, with it how long the command takes alone. A short command after a long one is thus nearly free, and
//! a barrier takes what it waits for. Inside render passes nothing can be isolated; on tiled devices a timestamp inside a
//! pass says little, and on some drivers it ends the batching of draws. The load frame is left out.

mod axis;
mod columns;
mod counters;
mod export;
mod line;
mod nest;
mod parts;
mod sums;

pub use axis::{Axis, clock_note};
pub use export::{Recorded, perfetto, rows};
pub use nest::{Place, places};
pub use sums::object;

use crate::Run;
use crate::report::{Cell, Column, Report, SCHEMA_VERSION, Table, share};
use crate::times::frame_times::only_the_load_frame;
pub(crate) use columns::SHEETS;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use sums::{Counts, Sum, Timed, Top, around, at, ms, pipeline};
use trace::{CommandCounters, CommandTime, SpanKind, TimeNames};

/// Rows of the table of the most expensive.
const TOP: usize = 20;
/// Rows of the tree.
const TREE: usize = 60;

/// The name of the report.
pub const NAME: &str = "command-times";

/// The report on these records, and what was counted while they ran.
pub fn report(run: &Run, names: &TimeNames, records: &[CommandTime], counted: &[CommandCounters]) -> Report {
    let only_load = records.iter().all(|r| Some(r.frame) == run.load_frame);
    let mut queue_labels = 0;
    let counts = counters::inclusive(records, counted);
    let placed: Vec<Timed<'_>> = records
        .iter()
        .zip(places(records))
        .enumerate()
        .map(|(at, (record, place))| {
            if record.kind == SpanKind::Submit {
                queue_labels = names.path(record.node).len().saturating_sub(1);
            }
            Timed { record, at, place, queue_labels }
        })
        .filter(|t| only_load || Some(t.record.frame) != run.load_frame)
        .collect();
    let submits = placed.iter().filter(|t| t.record.kind == SpanKind::Submit);
    let total: u64 = submits.map(|t| t.place.time().0).sum();
    let finest = match placed.iter().map(|t| t.record.kind).max() {
        Some(SpanKind::Command) => SpanKind::Command,
        None | Some(SpanKind::Submit) => SpanKind::Submit,
        // What runs between passes is as fine as they are.
        _ => SpanKind::Pass,
    };
    let top = most(&placed, finest, names, &counts);
    let headlines = headline(&top, finest, total, names).into_iter().collect();
    let mut tables = vec![top_table(&top, finest, total, names)];
    tables.extend(counters::table(&top, finest));
    tables.push(tree(&placed, total, names));
    Report {
        schema_version: SCHEMA_VERSION,
        analysis: NAME.to_owned(),
        title: format!("GPU time by {}", finest.name()),
        headlines,
        tables,
        trees: parts::tree(&placed, total, names).into_iter().collect(),
        timelines: line::timeline(&placed, names).into_iter().collect(),
        notes: notes(&placed, only_load.then_some(run)),
        cost: run.cost.clone(),
        ..Report::new("", "")
    }
}

/// Equal spans together, the most expensive first.
fn most<'r>(
    placed: &[Timed<'r>],
    finest: SpanKind,
    names: &TimeNames,
    counts: &HashMap<usize, Counts>,
) -> Vec<Top<'r>> {
    let listed = |t: &&Timed<'_>| match t.record.kind {
        SpanKind::Run => finest == SpanKind::Pass,
        kind => kind == finest,
    };
    let mut sums: HashMap<_, (Sum, &CommandTime)> = HashMap::new();
    for t in placed.iter().filter(listed) {
        let r = t.record;
        let mut path = around(names, t);
        if r.kind == SpanKind::Pass {
            path.pop();
        }
        let own = names.path(r.node).last().copied().unwrap_or_default();
        let key = (path.join(" › "), own.to_owned(), r.position, r.execution, r.index, r.pipeline);
        let (sum, first) = sums.entry(key).or_insert_with(|| (Sum::default(), r));
        sum.add(t.place.time().0);
        // (where frames have other numbers of draws, one place has several numbers)
        sum.numbered &= (r.draw, r.pass) == (first.draw, first.pass);
        if let Some(of) = counts.get(&t.at) {
            sums::add(sum.counts.get_or_insert_with(Default::default), of);
        }
    }
    let mut rows: HashMap<_, (Sum, &CommandTime)> = HashMap::new();
    for ((path, own, position, execution, index, pipeline), (sum, r)) in sums {
        // (what has a number in the frame is the same thing wherever it was recorded)
        let numbered = sum.numbered && (r.draw > 0 || r.kind == SpanKind::Pass && r.pass > 0);
        let place = match numbered {
            true => (None, r.draw, r.pass),
            false => (Some((position, execution, index)), 0, 0),
        };
        match rows.entry((path, own, place, pipeline)) {
            Entry::Vacant(new) => drop(new.insert((sum, r))),
            Entry::Occupied(mut of) => {
                let (all, first) = of.get_mut();
                all.join(sum);
                let place = |r: &CommandTime| (r.frame, r.position, r.execution, r.index);
                if place(r) < place(first) {
                    *first = r;
                }
            }
        }
    }
    let mut rows: Vec<_> = rows.into_iter().collect();
    rows.sort_by(|a, b| b.1.0.total.cmp(&a.1.0.total).then_with(|| a.0.cmp(&b.0)));
    rows.truncate(TOP);
    rows.into_iter().map(|((path, name, ..), (sum, record))| Top { path, name, sum, record }).collect()
}

/// What took most.
fn headline(top: &[Top<'_>], finest: SpanKind, total: u64, names: &TimeNames) -> Option<String> {
    let most = top.first().filter(|_| total != 0)?;
    let pipeline = pipeline(names, most.record.pipeline);
    let pipeline = if pipeline.is_empty() { pipeline } else { format!(" with {pipeline}") };
    let within = if most.path.is_empty() { String::new() } else { format!(" in {}", most.path) };
    let times = if most.sum.times == 1 { "once".into() } else { format!("{} times", most.sum.times) };
    Some(format!(
        "The {} that took most GPU time is {}{pipeline}{within}: {} of it, {times}, {:.3} ms each.",
        finest.name(),
        named(most),
        share(most.sum.total, total),
        most.sum.total as f64 / most.sum.times.max(1) as f64 / 1e6
    ))
}

/// What is said of the headline where the timestamps of one span take so many nanoseconds, and the most expensive less.
pub fn below_cost(report: &Report, each: f64) -> Option<String> {
    let table = report.tables.first().filter(|_| !report.headlines.is_empty())?;
    let mean = table.columns.iter().position(|c| c.name == "mean")?;
    let most = table.rows.first()?.get(mean)?.number()?;
    (most * 1e6 < each).then(|| {
        format!(
            "By this measurement the timestamps of one span take {each:.0} ns of GPU time, more than that: which {} takes most is not known.",
            table.columns[0].name
        )
    })
}

/// A command by its number in the frame, or by its own name.
fn named(top: &Top<'_>) -> String {
    match top.sum.numbered && top.record.draw > 0 {
        true => trace::names::draw(None, None, top.record.draw.into(), &top.name),
        false => top.name.clone(),
    }
}

fn top_table(top: &[Top<'_>], finest: SpanKind, total: u64, names: &TimeNames) -> Table {
    let mut cumulative = 0;
    let rows = top.iter().map(|t| {
        let sum = &t.sum;
        cumulative += sum.total;
        vec![
            Cell::Text(t.name.clone()),
            Cell::Text(at(t)),
            Cell::Text(pipeline(names, t.record.pipeline)),
            Cell::Text(t.path.clone()),
            Cell::Count(sum.times),
            ms(sum.total / sum.times.max(1)),
            ms(sum.max),
            Cell::share(sum.total, total),
            Cell::share(cumulative, total),
        ]
    });
    columns::TOP.table_with(|m| vec![Column::new(finest.name(), m.unit)], rows)
}

/// Totals of submissions, labels and passes, in the order they first began.
fn tree(placed: &[Timed<'_>], total: u64, names: &TimeNames) -> Table {
    let mut order: Vec<Vec<String>> = Vec::new();
    let mut sums: HashMap<Vec<String>, Sum> = HashMap::new();
    let holds = |t: &&Timed<'_>| !matches!(t.record.kind, SpanKind::Run | SpanKind::Command);
    for t in placed.iter().filter(holds) {
        let path = around(names, t);
        sums.entry(path.clone())
            .or_insert_with(|| {
                order.push(path);
                Sum::default()
            })
            .add(t.place.time().0);
    }
    let rows = order.iter().take(TREE).map(|path| {
        let sum = &sums[path];
        let name = path.last().map_or("everything", String::as_str);
        vec![
            Cell::Text("  ".repeat(path.len().saturating_sub(1)) + name),
            Cell::Count(sum.times),
            ms(sum.total / sum.times.max(1)),
            ms(sum.max),
            Cell::share(sum.total, total),
        ]
    });
    columns::TREE.table(rows)
}

fn notes(placed: &[Timed<'_>], only_load: Option<&Run>) -> Vec<String> {
    let mut notes = Vec::new();
    if placed.is_empty() {
        notes.push("Nothing was timed.".to_owned());
    } else if let Some(run) = only_load {
        notes.push(only_the_load_frame(run));
    }
    let alone = |alone: bool| {
        let holds = |t: &&Timed<'_>| matches!(t.record.kind, SpanKind::Submit | SpanKind::Label);
        let works = placed.iter().filter(|t| !holds(t));
        works.filter(|t| t.record.isolated == alone).count()
    };
    if alone(true) > 0 {
        notes.push(format!(
            "Isolated: full barriers let {} spans run alone; {} are inside render passes, where nothing can be isolated.",
            alone(true),
            alone(false)
        ));
    }
    notes
}

#[cfg(test)]
mod tests;

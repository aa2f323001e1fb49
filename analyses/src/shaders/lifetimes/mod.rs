//! Lifetimes: how many basic blocks invocations and subgroups executed.
//!
//! *Definition* (Vulkan Vision, §V-D4). The lifetime of an invocation is the number of basic blocks that it executed in its
//! entry point and the functions that this calls; that of a subgroup the number of executions of a block by any of its
//! invocations. Shaders that a ray or a callable's execution calls have lifetimes of their own.
//!
//! Count and mean are exact. Percentiles are by nearest rank, and exact up to 255 blocks; above, lifetimes fall into a bucket
//! for each power of two, and a percentile (and the maximum) is its bucket's upper end: a column says so.
//!
//! *Balance* is the mean lifetime of invocations over that of subgroups: 1 where all invocations of a subgroup execute the
//! same blocks, ½ where each executes half of what its subgroup does.

mod columns;

use crate::context::Context;
use crate::report::sheet::Sheet;
use crate::report::{Cell, Mark, Report, Series, Table, most, percent};
use crate::{Question, Session};
use std::collections::BTreeMap;
use trace::Unreadable;
use trace::tables::{LIFETIME_SUMS, LIFETIMES};

/// The question.
pub static QUESTION: Question = Question {
    name: "lifetimes",
    about: "how many basic blocks invocations and subgroups executed",
    wants: &[&LIFETIME_SUMS],
    sheets: columns::SHEETS,
    events: None,
    answer,
};

fn answer(session: &Session<'_>) -> Result<Report, Unreadable> {
    let trace = session.trace;
    let context = session.context()?;
    let mut all: BTreeMap<(u64, String), Lives> = BTreeMap::new();
    let t = trace.read(&LIFETIMES)?;
    for row in 0..t.len() {
        let into = all.entry((t.u64("entry")[row], t.text("of")[row].to_string())).or_default();
        *into.histogram.entry((t.u64("from")[row], t.u64("to")[row])).or_default() += t.u64("count")[row];
    }
    let t = trace.read(&LIFETIME_SUMS)?;
    for row in 0..t.len() {
        let into = all.entry((t.u64("entry")[row], t.text("of")[row].to_string())).or_default();
        into.count += t.u64("count")[row];
        into.blocks += u128::from(t.u64("blocks")[row]);
        into.unfinished += t.u64("unfinished")[row];
    }
    let mut stages: BTreeMap<(String, String), Lives> = BTreeMap::new();
    for ((entry, of), lives) in &all {
        let stage = context.entry(*entry).map_or("?", |e| &*e.stage).to_owned();
        stages.entry((stage, of.clone())).or_default().add(lives);
    }
    let mut report = Report::new(QUESTION.name, "Lifetimes");
    let balances = balances(&all);
    report.headlines = headlines(context, &all, &balances);
    report.tables = vec![
        table(
            columns::STAGES,
            stages.iter().map(|((stage, of), l)| (vec![stage.as_str().into()], of.as_str(), l)),
        ),
        table(
            columns::SHADERS,
            all.iter().map(|((entry, of), l)| (context.entry_cells(*entry), of.as_str(), l)),
        ),
        balance(context, &balances),
    ];
    report.series = stages.iter().map(|((stage, of), l)| l.series(stage, of)).collect();
    let unfinished: u64 = all.values().map(|l| l.unfinished).sum();
    if unfinished != 0 {
        report.notes.push(format!(
            "{unfinished} subgroups were not seen to leave whole, because the log was full; they are in no number."
        ));
    }
    if all.is_empty() {
        report.notes.push("No instrumented entry point was left.".into());
    }
    Ok(report)
}

#[derive(Default)]
struct Lives {
    /// Bucket's first and last number of blocks: how many.
    histogram: BTreeMap<(u64, u64), u64>,
    count: u64,
    blocks: u128,
    unfinished: u64,
}

impl Lives {
    fn add(&mut self, other: &Lives) {
        for (bucket, count) in &other.histogram {
            *self.histogram.entry(*bucket).or_default() += count;
        }
        self.count += other.count;
        self.blocks += other.blocks;
        self.unfinished += other.unfinished;
    }

    fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.blocks as f64 / self.count as f64)
    }

    /// The bucket of the k-th of them, from 1.
    fn nth(&self, k: u64) -> Option<(u64, u64)> {
        let mut before = 0;
        self.histogram.iter().find_map(|(bucket, count)| {
            before += count;
            (before >= k).then_some(*bucket)
        })
    }

    fn percentile(&self, p: u64) -> Option<(u64, u64)> {
        self.nth((u128::from(self.count) * u128::from(p)).div_ceil(100).max(1) as u64)
    }

    fn series(&self, stage: &str, of: &str) -> Series {
        let points = self.histogram.iter().map(|(b, &n)| (Cell::Count(b.0), Cell::Count(n)));
        let mut series = columns::HISTOGRAMS.series(&format!("Blocks, {stage}, {of}s"), Mark::Bars, points);
        series.name = format!("{}_{of}", stage.replace('-', "_"));
        series.y.name = format!("{of}s");
        series
    }
}

fn table<'a>(of: Sheet, rows: impl Iterator<Item = (Vec<Cell>, &'a str, &'a Lives)>) -> Table {
    let cells = |(mut cells, of, l): (Vec<Cell>, &str, &Lives)| {
        let ends = [l.nth(1), l.percentile(50), l.percentile(90), l.percentile(99), l.percentile(100)];
        cells.extend([of.into(), l.count.into(), l.mean().map_or(Cell::Missing, Cell::Number)]);
        cells.push(ends[0].map_or(Cell::Missing, |b| Cell::Count(b.0)));
        cells.extend(ends[1..].iter().map(|b| b.map_or(Cell::Missing, |b| Cell::Count(b.1))));
        let exact = ends.iter().flatten().all(|b| b.0 == b.1);
        cells.push(if exact { "yes" } else { "upper ends of buckets" }.into());
        cells
    };
    of.table(rows.map(cells))
}

/// Of entry points whose invocations and subgroups were counted.
fn balances(all: &BTreeMap<(u64, String), Lives>) -> Vec<(u64, f64)> {
    let of = |entry: u64, of: &str| all.get(&(entry, of.to_owned())).and_then(Lives::mean);
    let invocations = all.keys().filter(|k| k.1 == "invocation");
    let balance = |k: &(u64, String)| {
        let (one, subgroups) = (of(k.0, "invocation")?, of(k.0, "subgroup")?);
        (subgroups > 0.0).then_some((k.0, one / subgroups))
    };
    invocations.filter_map(balance).collect()
}

/// Where subgroups execute most that few of their invocations do, and where the longest life was.
fn headlines(
    context: &Context,
    all: &BTreeMap<(u64, String), Lives>,
    balances: &[(u64, f64)],
) -> Vec<String> {
    let least = most(balances, |b| 1.0 - b.1).map(|&(entry, balance)| {
        let whose = context.whose_words(entry);
        let of = percent(100.0 * balance);
        format!("Least alike are invocations of {whose}: on average they execute {of} of the blocks that their subgroup does.")
    });
    let own = all.iter().filter(|l| l.0.1 == "invocation");
    let longest = most(own, |l| l.1.percentile(100).map_or(0, |b| b.1)).and_then(|((entry, _), lives)| {
        let (from, to) = lives.percentile(100)?;
        let longest = if from == to { to.to_string() } else { format!("{from} to {to}") };
        let whose = context.whose_words(*entry);
        Some(format!(
            "The longest invocation executed {longest} blocks, in {whose}, where the mean is {:.2}.",
            lives.mean()?
        ))
    });
    least.into_iter().chain(longest).collect()
}

fn balance(context: &Context, balances: &[(u64, f64)]) -> Table {
    let row =
        |&(entry, balance): &(u64, f64)| [context.entry_cells(entry), vec![Cell::Number(balance)]].concat();
    columns::BALANCE.table(balances.iter().map(row))
}

#[cfg(test)]
mod tests;

//! Which basic blocks ran how often; which are hot, cold, and never run (Neubauer, "Profiling GPU Shaders
//! for Profile-Guided Optimizations").
//!
//! *Input.* `block_runs`, `block_counts` of pass `blocks`, over all frames of the trace.
//!
//! *Definitions.* A block is *unused* if it never ran though its shader did; *nearly unused* if it ran in less than
//! 0.001 % of the shader's entries (the thesis's threshold). Blocks that no way leads to are not counted, and shaders that
//! never ran have no unused blocks: nothing is known of them. Size is the number of instructions that do something. *Hot*
//! are the blocks that ran most, as many as it takes for 99 % of all executions; *cold* are those beyond 99.9999 %
//! (LLVM's default cut-offs); *warm* what is between. The histograms are of blocks that ran: executions a frame, and
//! executions a frame and pixel of what was presented, by powers of two.
//!
//! *Caveats.* A block's executions are how often it was begun: where invocations leave in its middle (a call that may
//! discard), its last instructions ran less often. What comes from a sample is an estimate, and says so; blocks that no
//! sampled invocation ran may not be unused.

mod columns;
pub mod counts;
pub mod merge;
pub mod profile;
#[cfg(test)]
mod tests;

use crate::context::Context;
use crate::report::sheet::Sheet;
use crate::report::{Cell, Mark, Report, Series, Table, counted, most, share};
use crate::{Question, Session};
use counts::Counts;
use std::collections::BTreeMap;
use trace::Unreadable;
use trace::tables::{BLOCK_COUNTS, BLOCK_RUNS};

/// Below this share of a shader's entries a block is nearly unused.
pub const NEARLY: f64 = 0.00001;

/// How many blocks the table of the hottest has.
const HOTTEST: usize = 50;

/// The question.
pub static QUESTION: Question = Question {
    name: "blocks",
    about: "which basic blocks ran how often: hot, cold, never run",
    wants: &[&BLOCK_RUNS, &BLOCK_COUNTS],
    sheets: columns::SHEETS,
    events: None,
    answer,
};

fn answer(session: &Session<'_>) -> Result<Report, Unreadable> {
    let trace = session.trace;
    let (context, counts) = (session.context()?, Counts::read(trace, None)?);
    let all = blocks(context, &counts);
    let mut report = Report::new("blocks", "Executions of basic blocks");
    let (by_work, total) = by_work(&all);
    report.headlines = headlines(context, &all, &by_work, total);
    report.tables.push(shaders(context, &counts, &all));
    report.tables.push(unused(context, &all));
    report.tables.push(hottest(context, &by_work, total, &counts));
    report.tables.push(frames(context, &counts));
    report.series = histograms(&counts, &all);
    report.notes = counts.notes();
    Ok(report)
}

/// A block of a shader.
struct Block {
    /// The first entry point of its shader: it names it.
    entry: u64,
    function: u64,
    block: u64,
    instructions: u64,
    executions: u64,
    /// How often the shader was entered.
    entries: u64,
    heat: &'static str,
}

impl Block {
    fn used(&self) -> bool {
        self.executions > 0
    }

    fn work(&self) -> u64 {
        self.executions.saturating_mul(self.instructions)
    }

    fn nearly_unused(&self) -> bool {
        (self.executions as f64) < self.entries as f64 * NEARLY
    }
}

/// Every block that can be reached, shader by shader; an entry point's own function first.
fn blocks(context: &Context, counts: &Counts) -> Vec<Block> {
    let mut all = Vec::new();
    for entries in counts.shaders(context) {
        let (entry, entered) = (entries[0], counts.of_all(&entries, (0, 0)));
        for (f, function) in (0..).zip(context.functions(entry)) {
            for (b, block) in (0..).zip(&function.blocks).filter(|b| b.1.reached) {
                all.push(Block {
                    entry,
                    function: f,
                    block: b,
                    instructions: block.instructions,
                    executions: counts.of_all(&entries, (f, b)),
                    entries: entered,
                    heat: "",
                });
            }
        }
    }
    let total: u128 = all.iter().map(|b| u128::from(b.executions)).sum();
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|&b| std::cmp::Reverse(all[b].executions));
    let mut before: u128 = 0;
    for b in order {
        let block = &mut all[b];
        block.heat = match () {
            () if block.entries == 0 => "not run",
            () if !block.used() => "unused",
            () if before * 100 < total * 99 => "hot",
            () if before * 1_000_000 < total * 999_999 => "warm",
            () => "cold",
        };
        before += u128::from(block.executions);
    }
    all
}

/// Blocks that were executed, those that did most work first, and the work of all.
fn by_work(all: &[Block]) -> (Vec<&Block>, u64) {
    let mut order: Vec<&Block> = all.iter().filter(|b| b.used()).collect();
    order.sort_by_key(|b| std::cmp::Reverse((b.work(), b.executions)));
    (order, all.iter().fold(0, |n, b| n.saturating_add(b.work())))
}

fn size<'b>(of: impl IntoIterator<Item = &'b Block>) -> u64 {
    of.into_iter().map(|b| b.instructions).sum()
}

/// Which block did most work, and how much of the shaders that ran was never executed.
fn headlines(context: &Context, all: &[Block], by_work: &[&Block], total: u64) -> Vec<String> {
    let words = |b: &Block| context.block_words(b.entry, b.function, b.block);
    let hottest = by_work.first().filter(|b| b.work() != 0).map(|b| {
        format!(
            "The hottest block, with {} of all executed instructions, is {}.",
            share(b.work(), total),
            words(b)
        )
    });
    let ran: Vec<&Block> = all.iter().filter(|b| b.entries != 0).collect();
    let unused: Vec<&Block> = ran.iter().copied().filter(|b| b.heat == "unused").collect();
    let blocks = counted(ran.len() as u64, "block");
    let never = match most(&unused, |b| b.instructions) {
        Some(largest) => Some(format!(
            "Never executed: {} of {blocks} of shaders that ran, {} of their instructions; the largest is {}.",
            unused.len(),
            share(size(unused.iter().copied()), size(ran)),
            words(largest)
        )),
        None => {
            (!ran.is_empty()).then(|| format!("Every block of the shaders that ran was executed: {blocks}."))
        }
    };
    hottest.into_iter().chain(never).collect()
}

/// A number of executions: a count, or an estimate.
fn executions(counts: &Counts, n: u64) -> Cell {
    if counts.estimated() { Cell::Number(n as f64) } else { Cell::Count(n) }
}

fn shaders(context: &Context, counts: &Counts, all: &[Block]) -> Table {
    let mut rows = Vec::new();
    for entries in counts.shaders(context) {
        let own: Vec<&Block> = all.iter().filter(|b| b.entry == entries[0]).collect();
        let heat = |h: &str| Cell::Count(own.iter().filter(|b| b.heat == h).count() as u64);
        let unused = size(own.iter().copied().filter(|b| b.heat == "unused"));
        let whole = size(own.iter().copied());
        let entered = counts.of_all(&entries, (0, 0));
        let nearly = own.iter().filter(|b| b.entries > 0 && b.nearly_unused()).count();
        let ran = own.iter().fold(0u64, |n, b| n.saturating_add(b.work()));
        let mut row = context.entry_cells(entries[0]);
        row[0] = Cell::Count(entries.len() as u64);
        row.extend([executions(counts, entered), Cell::Count(own.len() as u64)]);
        row.extend(["hot", "warm", "cold", "unused"].map(heat));
        row.push(Cell::Count(nearly as u64));
        row.extend([Cell::Count(whole), Cell::Count(unused)]);
        row.push(if entered == 0 { Cell::Missing } else { Cell::share(unused, whole) });
        row.push(executions(counts, ran));
        rows.push((ran, row));
    }
    rows.sort_by_key(|r| std::cmp::Reverse(r.0));
    columns::SHADERS.table(rows.into_iter().map(|r| r.1))
}

fn unused(context: &Context, all: &[Block]) -> Table {
    let row = |b: &Block| {
        let mut row = context.block_cells(b.entry, b.function, b.block);
        row.extend([Cell::Count(b.instructions), Cell::Count(b.entries)]);
        row
    };
    columns::UNUSED_BLOCKS.table(all.iter().filter(|b| b.heat == "unused").map(row))
}

fn hottest(context: &Context, order: &[&Block], total: u64, counts: &Counts) -> Table {
    columns::HOTTEST_BLOCKS.table(order.iter().take(HOTTEST).map(|b| {
        let mut row = context.block_cells(b.entry, b.function, b.block);
        let of = if b.entries == 0 { f64::NAN } else { b.executions as f64 / b.entries as f64 };
        row.extend([executions(counts, b.executions), Cell::Number(of), Cell::Count(b.instructions)]);
        row.extend([Cell::share(b.work(), total), b.heat.into()]);
        row
    }))
}

fn frames(context: &Context, counts: &Counts) -> Table {
    let row = |(&frame, &pixels): (&u64, &u64)| {
        let (mut blocks, mut instructions) = (0u64, 0u64);
        for ((_, entry), of) in counts.by_frame.range((frame, 0)..=(frame, u64::MAX)) {
            for (&(f, b), &n) in of {
                let n = n.saturating_mul(counts.sample);
                blocks = blocks.saturating_add(n);
                instructions =
                    instructions.saturating_add(n.saturating_mul(context.instructions(*entry, f, b)));
            }
        }
        let a_pixel =
            if pixels == 0 { Cell::Missing } else { Cell::Number(instructions as f64 / pixels as f64) };
        vec![
            Cell::Count(frame),
            if pixels == 0 { Cell::Missing } else { Cell::Count(pixels) },
            executions(counts, blocks),
            executions(counts, instructions),
            a_pixel,
        ]
    };
    columns::FRAMES.table(counts.frames.iter().map(row))
}

/// How many blocks ran how often in a frame, and in a frame for each pixel.
fn histograms(counts: &Counts, all: &[Block]) -> Vec<Series> {
    let frames = counts.frames.len() as f64;
    let presented: Vec<u64> = counts.frames.values().copied().filter(|&p| p > 0).collect();
    let pixels = presented.iter().sum::<u64>() as f64;
    let series = |sheet: Sheet, title: &str, of: f64| {
        let mut buckets: BTreeMap<i32, u64> = BTreeMap::new();
        for b in all.iter().filter(|b| b.used()) {
            *buckets.entry((b.executions as f64 / of).log2().floor() as i32).or_default() += 1;
        }
        let point = |(at, n)| (Cell::Number(2f64.powi(at)), Cell::Count(n));
        sheet.series(title, Mark::Bars, buckets.into_iter().map(point))
    };
    let mut all = vec![series(columns::A_FRAME, "a frame", frames)];
    // Frames that present nothing have no pixels: their executions would be divided by others' pixels.
    if pixels > 0.0 && presented.len() == counts.frames.len() {
        all.push(series(columns::A_PIXEL, "a pixel", pixels));
    }
    all
}

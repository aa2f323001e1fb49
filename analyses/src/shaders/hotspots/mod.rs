//! Where the work is: how often each instruction and each source line was executed (Usher, "Vulkan Vision", figure 15).
//!
//! *Input.* `instructions`, and the counts of pass `blocks` over all frames of the trace.
//!
//! *Definitions.* An instruction's dynamic count is the executions of its block, summed over the pipelines that use its
//! shader: invocations that executed it (or comings-by of subgroups, where those were counted). A line's is the sum over
//! its instructions. *Relative* is the count over the largest of its table. A block's work is its executions times its
//! instructions. The series `instructions` and the image are all instructions that ran at least in part of their shader,
//! shader after shader in the module's order; the image's colour is the shader's number in table `shaders`.
//!
//! *Caveats.* Instructions of SPIR-V are not the device's: some become none, some many. Where invocations leave in the
//! middle of a block, what stands behind counts as before. An image wider than 2048 instructions shows of neighbours the
//! one that was executed most.

mod columns;
#[cfg(test)]
mod tests;

use crate::context::{Context, source_words};
use crate::report::sheet::Meaning;
use crate::report::{Cell, Column, Image, Mark, Report, Series, Table, Unit, capitalized, share};
use crate::shaders::blocks::counts::Counts;
use crate::{Question, Session};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use trace::tables::{BLOCK_COUNTS, BLOCK_RUNS, INSTRUCTIONS};
use trace::{Source, Unreadable};

/// Rows of the tables of the hottest.
const HOTTEST: usize = 100;
/// Pixels of the image.
const WIDEST: usize = 2048;
const HEIGHT: usize = 128;

/// The question.
pub static QUESTION: Question = Question {
    name: "hotspots",
    about: "which instructions and source lines were executed most",
    wants: &[&INSTRUCTIONS, &BLOCK_RUNS, &BLOCK_COUNTS],
    sheets: columns::SHEETS,
    events: None,
    answer,
};

/// An instruction.
struct Instruction {
    /// Which of the shaders.
    shader: usize,
    /// The shader's first entry point.
    entry: u64,
    function: u64,
    block: u64,
    word_offset: u64,
    opcode: Arc<str>,
    file: Arc<str>,
    line: u64,
    executions: u64,
}

fn answer(session: &Session<'_>) -> Result<Report, Unreadable> {
    let trace = session.trace;
    let (context, counts) = (session.context()?, Counts::read(trace, None)?);
    let shaders = counts.shaders(context);
    let all = instructions(trace, context, &counts, &shaders)?;
    let unit = if &*counts.unit == "subgroups" { Unit::Subgroups } else { Unit::Invocations };
    let number = |n: u64| if counts.estimated() { Cell::Number(n as f64) } else { Cell::Count(n) };
    let mut report = Report::new("hotspots", "Hot spots");
    let (by_shader, by_block) = (by_shader(shaders.len(), &all), by_block(&all));
    let most = by_shader.first().and_then(|s| headline(context, shaders[s.0][0], &by_shader, &by_block));
    report.headlines.extend(most);
    report.tables = vec![
        of_shaders(context, &shaders, &all, &by_shader, &number),
        of_instructions(context, &all, unit, &number),
        of_blocks(context, &by_block, unit, &number),
        of_lines(context, &all, &number),
        of_opcodes(&all, &number),
    ];
    report.series =
        shaders.iter().enumerate().filter_map(|(n, entries)| course(context, n, entries[0], &all)).collect();
    report.images.extend(bars(&all));
    report.notes = counts.notes();
    Ok(report)
}

fn instructions(
    trace: &dyn Source,
    context: &Context,
    counts: &Counts,
    shaders: &[Vec<u64>],
) -> Result<Vec<Instruction>, Unreadable> {
    let of: HashMap<u64, usize> = shaders
        .iter()
        .enumerate()
        .filter_map(|(n, entries)| context.entry(entries[0]).map(|e| (e.variant, n)))
        .collect();
    let t = trace.read(&INSTRUCTIONS)?;
    let mut all: Vec<Instruction> = Vec::new();
    for r in 0..t.len() {
        let Some(&shader) = of.get(&t.u64("variant")[r]) else { continue };
        let (function, block) = (t.u64("function")[r], t.u64("block")[r]);
        all.push(Instruction {
            shader,
            entry: shaders[shader][0],
            function,
            block,
            word_offset: t.u64("word_offset")[r],
            opcode: t.text("opcode")[r].clone(),
            file: t.text("file")[r].clone(),
            line: t.u64("line")[r],
            executions: counts.of_all(&shaders[shader], (function, block)),
        });
    }
    all.sort_by_key(|i| i.shader);
    Ok(all)
}

fn sum(of: impl Iterator<Item = u64>) -> u64 {
    of.fold(0, u64::saturating_add)
}

/// Shaders with the instructions that they executed, most first.
fn by_shader(shaders: usize, all: &[Instruction]) -> Vec<(usize, u64)> {
    let executed = |n: usize| sum(all.iter().filter(|i| i.shader == n).map(|i| i.executions));
    let mut order: Vec<(usize, u64)> = (0..shaders).map(|n| (n, executed(n))).collect();
    order.sort_by_key(|s| Reverse(s.1));
    order
}

/// A block: its shader, function, number; the shader's first entry point, executions, work.
type Block = ((usize, u64, u64), (u64, u64, u64));

/// Blocks that were executed, most work first.
fn by_block(all: &[Instruction]) -> Vec<Block> {
    let mut blocks: BTreeMap<_, (u64, u64, u64)> = BTreeMap::new();
    for i in all {
        let block = blocks.entry((i.shader, i.function, i.block)).or_insert((i.entry, i.executions, 0));
        block.2 = block.2.saturating_add(i.executions);
    }
    let mut order: Vec<_> = blocks.into_iter().filter(|b| b.1.2 > 0).collect();
    order.sort_by_key(|b| Reverse(b.1.2));
    order
}

/// Which shader executes most instructions, and which block.
fn headline(context: &Context, entry: u64, shaders: &[(usize, u64)], blocks: &[Block]) -> Option<String> {
    let total = sum(shaders.iter().map(|s| s.1));
    let (shader, ((_, function, block), (own, _, work))) = (shaders.first()?, blocks.first()?);
    Some(format!(
        "{} executed {} of all instructions; the hottest block, with {}, is {}.",
        capitalized(&context.entry_words(entry)),
        share(shader.1, total),
        share(*work, total),
        context.block_words(*own, *function, *block)
    ))
}

fn relative(n: u64, largest: u64) -> Cell {
    if largest == 0 { Cell::Missing } else { Cell::Number(n as f64 / largest as f64) }
}

type Number<'a> = &'a dyn Fn(u64) -> Cell;

/// Columns of executions in what was counted.
fn counted_in(unit: Unit) -> impl Fn(&Meaning) -> Vec<Column> {
    move |m| vec![Column::new(m.name, unit)]
}

fn of_shaders(
    context: &Context,
    shaders: &[Vec<u64>],
    all: &[Instruction],
    order: &[(usize, u64)],
    number: Number<'_>,
) -> Table {
    let total = sum(order.iter().map(|s| s.1));
    let row = |&(n, executed): &(usize, u64)| {
        let mut row = vec![Cell::Count(n as u64)];
        row.extend(context.entry_cells(shaders[n][0]).into_iter().skip(1));
        row.push(Cell::Count(all.iter().filter(|i| i.shader == n).count() as u64));
        row.extend([number(executed), Cell::share(executed, total)]);
        row
    };
    columns::SHADERS.table(order.iter().map(row))
}

fn of_instructions(context: &Context, all: &[Instruction], unit: Unit, number: Number<'_>) -> Table {
    let mut order: Vec<&Instruction> = all.iter().filter(|i| i.executions > 0).collect();
    order.sort_by_key(|i| Reverse(i.executions));
    let largest = order.first().map_or(0, |i| i.executions);
    let row = |i: &&Instruction| {
        let mut row = context.block_cells(i.entry, i.function, i.block);
        let source = source_words(&i.file, i.line);
        if let Some(cell) = row.last_mut() {
            *cell = if source.is_empty() { Cell::Missing } else { Cell::Text(source) };
        }
        row.extend([Cell::Count(i.word_offset), (&*i.opcode).into()]);
        row.extend([number(i.executions), relative(i.executions, largest)]);
        row
    };
    columns::INSTRUCTIONS.table_with(counted_in(unit), order.iter().take(HOTTEST).map(row))
}

fn of_blocks(context: &Context, order: &[Block], unit: Unit, number: Number<'_>) -> Table {
    let largest = order.first().map_or(0, |b| b.1.2);
    let row = |&((_, function, block), (entry, executions, work)): &Block| {
        let mut row = context.block_cells(entry, function, block);
        row.extend([number(executions), number(work), relative(work, largest)]);
        row
    };
    columns::BLOCKS.table_with(counted_in(unit), order.iter().take(HOTTEST).map(row))
}

/// A shader, its file, the line.
type Line = (usize, Arc<str>, u64);
/// The shader's first entry point, instructions, executions.
type Work = (u64, u64, u64);

fn of_lines(context: &Context, all: &[Instruction], number: Number<'_>) -> Table {
    let mut lines: BTreeMap<Line, Work> = BTreeMap::new();
    for i in all.iter().filter(|i| i.line > 0) {
        let line = lines.entry((i.shader, i.file.clone(), i.line)).or_insert((i.entry, 0, 0));
        line.1 += 1;
        line.2 = line.2.saturating_add(i.executions);
    }
    let mut order: Vec<_> = lines.into_iter().filter(|l| l.1.2 > 0).collect();
    order.sort_by_key(|l| Reverse(l.1.2));
    let largest = order.first().map_or(0, |l| l.1.2);
    let row = |((_, file, line), (entry, size, executed)): &(Line, Work)| {
        let mut row: Vec<Cell> = context.entry_cells(*entry).into_iter().skip(1).collect();
        row.extend([Cell::Text(source_words(file, *line)), Cell::Count(*size)]);
        row.extend([number(*executed), relative(*executed, largest)]);
        row
    };
    columns::LINES.table(order.iter().take(HOTTEST).map(row))
}

fn of_opcodes(all: &[Instruction], number: Number<'_>) -> Table {
    let mut opcodes: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for i in all {
        let opcode = opcodes.entry(&i.opcode).or_default();
        opcode.0 += 1;
        opcode.1 = opcode.1.saturating_add(i.executions);
    }
    let mut order: Vec<_> = opcodes.into_iter().filter(|o| o.1.1 > 0).collect();
    order.sort_by_key(|o| Reverse(o.1.1));
    let largest = order.first().map_or(0, |o| o.1.1);
    let row = |(opcode, (size, n)): &(&str, (u64, u64))| {
        vec![(*opcode).into(), Cell::Count(*size), number(*n), relative(*n, largest)]
    };
    columns::OPCODES.table(order.iter().map(row))
}

fn largest(all: &[Instruction]) -> u64 {
    all.iter().map(|i| i.executions).max().unwrap_or(0)
}

/// A shader's instructions in their order.
fn course(context: &Context, n: usize, entry: u64, all: &[Instruction]) -> Option<Series> {
    let largest = largest(all);
    let own = all.iter().enumerate().filter(|i| i.1.shader == n);
    let points: Vec<_> =
        own.map(|(at, i)| (Cell::Count(at as u64), relative(i.executions, largest))).collect();
    (largest > 0 && !points.is_empty()).then(|| Series {
        name: format!("instructions_{n}"),
        ..columns::COURSES.series(&context.entry_words(entry), Mark::Line, points)
    })
}

/// A bar an instruction, coloured by shader.
fn bars(all: &[Instruction]) -> Option<Image> {
    let largest = largest(all);
    if largest == 0 {
        return None;
    }
    let width = all.len().min(WIDEST);
    let mut pixels = vec![f32::NAN; width * HEIGHT];
    for x in 0..width {
        // The neighbours that share a column.
        let (from, to) = (x * all.len() / width, ((x + 1) * all.len()).div_ceil(width));
        let most = all[from..to].iter().max_by_key(|i| i.executions).filter(|i| i.executions > 0);
        let Some(most) = most else { continue };
        let height = (most.executions as f64 / largest as f64 * HEIGHT as f64).ceil() as usize;
        for y in HEIGHT - height.clamp(1, HEIGHT)..HEIGHT {
            pixels[y * width + x] = most.shader as f32;
        }
    }
    Some(Image {
        name: "hotspots".into(),
        title: "Executions of instructions in their order, over the largest".into(),
        value: Column::new("shader", Unit::Count),
        width: width as u32,
        height: HEIGHT as u32,
        pixels,
    })
}

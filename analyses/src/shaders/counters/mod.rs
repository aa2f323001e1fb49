//! Question `counters`: what each draw, dispatch and trace cost, metric by metric, in the shape that
//! VK_ARM_shader_instrumentation gives: {result_index, result_sub_index, stages, basic_block_index, counters}.
//!
//! The metrics are those of whoever counted. Shaders of our own count, for each class of SPIR-V instructions (fma, cvt, sfu,
//! ls, tex, var), the instructions of a basic block times the invocations that came by it; helper invocations do not
//! count. A driver counts what it says it counts. An action's total is the sum over its blocks, stages and shader groups; a
//! command buffer that a frame submits several times leaves the sum of all. Rows are in the order of the trace, those of
//! `values` sorted as the extension sorts them.

mod columns;
#[cfg(test)]
mod tests;

use crate::context::Context;
use crate::report::sheet::Meaning;
use crate::report::{Cell, Column, Report, Table, Unit, most, share};
use crate::{Question, Session};
use std::collections::BTreeMap;
use trace::names;
use trace::tables::{ACTIONS, CLASSES, COUNTERS, METRICS, NOWHERE};
use trace::{Source, Unreadable};

/// The question.
pub static QUESTION: Question = Question {
    name: "counters",
    about: "what each draw, dispatch and trace executed, by class of instructions, stage and basic block",
    wants: &[&METRICS, &ACTIONS, &COUNTERS],
    sheets: columns::SHEETS,
    events: None,
    answer,
};

/// What stands for the actions of shaders that could not be told them.
const ALL: &str = "all of shaders that could not be told";

/// How many actions the table of the dearest has.
const TOP: usize = 20;

fn answer(session: &Session<'_>) -> Result<Report, Unreadable> {
    let trace = session.trace;
    let context = session.context()?;
    let metrics = metrics(trace)?;
    let values = values(trace, metrics.len())?;
    let mut report = Report::new("counters", "Counters of actions");
    let mut totals: BTreeMap<Key, Vec<u64>> = BTreeMap::new();
    let mut sums = vec![0u64; metrics.len()];
    for (place, counters) in &values {
        let of = totals.entry(place.key()).or_insert_with(|| vec![0; metrics.len()]);
        for (m, v) in counters.iter().enumerate() {
            of[m] = of[m].saturating_add(*v);
            sums[m] = sums[m].saturating_add(*v);
        }
    }
    report.tables.push(metrics_table(&metrics, &sums));
    let actions = actions(trace)?;
    let rows = |keys: Vec<Key>| -> Vec<Vec<Cell>> {
        keys.iter().map(|k| action_row(*k, &actions, &totals, context, metrics.len())).collect()
    };
    let mut top: Vec<Key> = totals.keys().copied().collect();
    top.sort_by_key(|k| (std::cmp::Reverse(totals[k].iter().sum::<u64>()), *k));
    top.truncate(TOP);
    if let Some(key) = top.first() {
        report.headlines.extend(headline(key, &actions, &totals[key], &sums, &metrics, context));
    }
    report.tables.push(columns::DEAREST.table_with(of_metrics(&metrics), rows(top)));
    let all = actions.keys().chain(totals.keys()).copied().collect::<std::collections::BTreeSet<_>>();
    report.tables.push(columns::ACTIONS.table_with(of_metrics(&metrics), rows(all.into_iter().collect())));
    report.tables.push(values_table(&metrics, &values, context));
    report.notes = notes(trace, &metrics)?;
    Ok(report)
}

/// A metric: its name, its description, who counted.
struct Metric {
    name: String,
    about: String,
    source: String,
}

impl Metric {
    fn unit(&self) -> Unit {
        if self.source == "portable" { Unit::Instructions } else { Unit::Count }
    }
}

fn metrics(trace: &dyn Source) -> Result<Vec<Metric>, Unreadable> {
    let t = trace.read(&METRICS)?;
    let mut all: BTreeMap<u64, Metric> = BTreeMap::new();
    for row in 0..t.len() {
        let metric = Metric {
            name: t.text("name")[row].to_string(),
            about: t.text("about")[row].to_string(),
            source: t.text("source")[row].to_string(),
        };
        let there = all.entry(t.u64("metric")[row]).or_insert(metric);
        if *there.name != *t.text("name")[row] {
            return Err(Unreadable(format!(
                "table metrics, row {row}: metric {} is called {:?} and {:?}; traces of two sources cannot be told apart",
                t.u64("metric")[row],
                there.name,
                t.text("name")[row]
            )));
        }
    }
    let n = all.len() as u64;
    if all.keys().next_back().is_some_and(|last| *last != n - 1) {
        return Err(Unreadable(format!(
            "table metrics: {n} metrics are not numbered from 0; record the trace again"
        )));
    }
    Ok(all.into_values().collect())
}

/// An action: frame, range, result index.
type Key = (u64, u64, u64);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    frame: u64,
    range: u64,
    result_index: u64,
    stages: u64,
    result_sub_index: u64,
    entry: u64,
    basic_block_index: u64,
}

impl Place {
    fn key(&self) -> Key {
        (self.frame, self.range, self.result_index)
    }
}

fn values(trace: &dyn Source, metrics: usize) -> Result<BTreeMap<Place, Vec<u64>>, Unreadable> {
    let t = trace.read(&COUNTERS)?;
    let mut all: BTreeMap<Place, Vec<u64>> = BTreeMap::new();
    for row in 0..t.len() {
        let of = |name| t.u64(name)[row];
        let place = Place {
            frame: of("frame"),
            range: of("range"),
            result_index: of("result_index"),
            stages: of("stages"),
            result_sub_index: of("result_sub_index"),
            entry: of("entry"),
            basic_block_index: of("basic_block_index"),
        };
        let counters = all.entry(place).or_insert_with(|| vec![0; metrics]);
        let metric = of("metric");
        match usize::try_from(metric).ok().and_then(|m| counters.get_mut(m)) {
            Some(c) => *c = c.saturating_add(of("value")),
            None => {
                return Err(Unreadable(format!(
                    "table counters, row {row}: there is no metric {metric}; record the trace again"
                )));
            }
        }
    }
    Ok(all)
}

struct Action {
    command: String,
    index: u64,
    buffer: u64,
    pipeline: u64,
    draw: u64,
    executions: u64,
    uncounted: String,
}

fn actions(trace: &dyn Source) -> Result<BTreeMap<Key, Action>, Unreadable> {
    let t = trace.read(&ACTIONS)?;
    let of = |row: usize| {
        let key = (t.u64("frame")[row], t.u64("range")[row], t.u64("result_index")[row]);
        let action = Action {
            command: t.text("command")[row].to_string(),
            index: t.u64("index")[row],
            buffer: t.u64("command_buffer")[row],
            pipeline: t.u64("pipeline")[row],
            draw: t.u64("draw")[row],
            executions: t.u64("executions")[row],
            uncounted: t.text("uncounted")[row].to_string(),
        };
        (key, action)
    };
    Ok((0..t.len()).map(of).collect())
}

/// Which action cost most, and of what.
fn headline(
    key: &Key,
    actions: &BTreeMap<Key, Action>,
    of: &[u64],
    sums: &[u64],
    metrics: &[Metric],
    context: &Context,
) -> Option<String> {
    let sum = |of: &[u64]| of.iter().map(|n| u128::from(*n)).sum::<u128>();
    let (metric, n) = most(metrics.iter().zip(of), |m| *m.1)?;
    let frame = key.0;
    let action = match actions.get(key) {
        Some(a) => {
            let pipeline = context.pipeline_words(a.pipeline);
            // (older traces do not number draws)
            let draw = match a.draw {
                0 => format!("{} in frame {frame}", a.command),
                n => names::draw(Some(frame), None, n, &a.command),
            };
            format!("{draw}, with {pipeline}")
        }
        None if key.1 == NOWHERE => format!("{ALL}, in frame {frame}"),
        None => format!("action {} of range {} of frame {frame}", key.2, key.1),
    };
    Some(format!(
        "What cost most, {} of all that was counted, is {action}: mostly {} ({n}).",
        share(sum(of), sum(sums)),
        metric.name
    ))
}

/// A column for each metric.
fn of_metrics(metrics: &[Metric]) -> impl Fn(&Meaning) -> Vec<Column> {
    |_| metrics.iter().map(|m| Column::new(m.name.as_str(), m.unit())).collect()
}

fn metrics_table(metrics: &[Metric], sums: &[u64]) -> Table {
    let row = |(m, sum): (&Metric, &u64)| {
        vec![m.name.as_str().into(), m.about.as_str().into(), m.source.as_str().into(), Cell::Count(*sum)]
    };
    columns::METRICS.table(metrics.iter().zip(sums).map(row))
}

fn action_row(
    key: Key,
    actions: &BTreeMap<Key, Action>,
    totals: &BTreeMap<Key, Vec<u64>>,
    context: &Context,
    metrics: usize,
) -> Vec<Cell> {
    let action = actions.get(&key);
    let draw = action.map(|a| a.draw).filter(|draw| *draw > 0).map_or(Cell::Missing, Cell::Count);
    let mut row = vec![Cell::Count(key.0), draw, Cell::Count(key.1), Cell::Count(key.2)];
    match action {
        Some(a) => row.extend([
            a.command.as_str().into(),
            Cell::Count(a.buffer),
            Cell::Count(a.index),
            context.pipeline_words(a.pipeline).into(),
            Cell::Count(a.executions),
        ]),
        None if key.1 == NOWHERE => {
            row = vec![Cell::Count(key.0), Cell::Missing, Cell::Missing, Cell::Missing, ALL.into()];
            row.extend(vec![Cell::Missing; 4]);
        }
        None => row.extend(vec![Cell::Missing; 5]),
    }
    match totals.get(&key) {
        Some(of) => row.extend(of.iter().map(|v| Cell::Count(*v))),
        None => row.extend(vec![Cell::Missing; metrics]),
    }
    let why = action.map(|a| a.uncounted.as_str()).unwrap_or_default();
    row.push(match (why, totals.contains_key(&key)) {
        ("", true) => Cell::Missing,
        ("", false) => "none of its shaders is instrumented".into(),
        (why, _) => why.into(),
    });
    row
}

/// VkShaderStageFlagBits, by bit.
const STAGES: [&str; 14] = [
    "vertex",
    "tessellation-control",
    "tessellation-evaluation",
    "geometry",
    "fragment",
    "compute",
    "task",
    "mesh",
    "ray-generation",
    "any-hit",
    "closest-hit",
    "miss",
    "intersection",
    "callable",
];

/// The stages of a mask, in words.
pub fn stage_words(mask: u64) -> String {
    let known = STAGES.iter().enumerate().filter(|s| mask >> s.0 & 1 != 0).map(|s| (*s.1).to_owned());
    let rest = mask >> STAGES.len() << STAGES.len();
    let mut words: Vec<String> = known.collect();
    if rest != 0 {
        words.push(format!("{rest:#x}"));
    }
    words.join("|")
}

fn values_table(metrics: &[Metric], values: &BTreeMap<Place, Vec<u64>>, context: &Context) -> Table {
    let row = |(p, counters): (&Place, &Vec<u64>)| {
        let number = |n| if p.range == NOWHERE { Cell::Missing } else { Cell::Count(n) };
        let mut row = vec![Cell::Count(p.frame)];
        row.extend([p.range, p.result_index, p.result_sub_index].map(number));
        row.push(Cell::Text(stage_words(p.stages)));
        row.push(Cell::Count(p.basic_block_index));
        row.extend(counters.iter().map(|c| Cell::Count(*c)));
        row.push(block_cell(p, context));
        row
    };
    columns::VALUES.table_with(of_metrics(metrics), values.iter().map(row))
}

/// The SPIR-V block that an index means; a driver's own mean none.
fn block_cell(p: &Place, context: &Context) -> Cell {
    let Some(entry) = p.entry.checked_sub(1) else { return Cell::Missing };
    let mut left = p.basic_block_index;
    for (n, f) in context.functions(entry).iter().enumerate() {
        let here = f.blocks.len() as u64;
        if left < here {
            return Cell::Text(context.block_words(entry, n as u64, left));
        }
        left -= here;
    }
    Cell::Text(context.entry_words(entry))
}

fn notes(trace: &dyn Source, metrics: &[Metric]) -> Result<Vec<String>, Unreadable> {
    let mut notes = vec![
        "result_index counts every action command of a recording of a command buffer (range), instrumented or not; \
         result_sub_index is the shader group where rays are traced"
            .to_owned(),
        "A command buffer that a frame submits several times leaves the sum of all executions".to_owned(),
    ];
    if metrics.iter().any(|m| m.source == "portable") {
        notes.push(
            "Counted are SPIR-V instructions by class times the invocations that came by their block, not what a compiler \
             made of them; helper invocations are left out"
                .to_owned(),
        );
    }
    if metrics.iter().any(|m| m.source == "arm") {
        notes.push(
            "Counted by the driver; basic blocks are its own, and nothing says which of SPIR-V's they are"
                .into(),
        );
    }
    if trace.read(&COUNTERS)?.u64("range").contains(&NOWHERE) {
        notes.push(format!(
            "Shaders whose pipeline's push constants leave no room cannot be told their action: they count by frame, in \
             the row \u{201c}{ALL}\u{201d}"
        ));
    }
    let t = trace.read(&CLASSES)?;
    let unknown: std::collections::BTreeSet<&str> =
        t.text("unknown").iter().flat_map(|u| u.split(", ")).filter(|u| !u.is_empty()).collect();
    if !unknown.is_empty() {
        let names: Vec<&str> = unknown.into_iter().collect();
        notes.push(format!("No class is known of {}; they count in none", names.join(", ")));
    }
    Ok(notes)
}

//! Paths through trace calls, and what compacting subgroups before each would save.
//!
//! *Path* (Vulkan Vision, §V-D5). An invocation's path has a bit for each trace call of its subgroup, in order: 1 where it
//! took part. Zeros behind its last call are dropped, so that paths are told apart by what the invocation did and not by
//! how long others went on: who traces once has the path 1 beside whomever. An invocation that traces never has the empty
//! path. Paths are compared as bits alone, whatever the calls' places.
//!
//! *Compaction* (§V-B). Each call of a subgroup takes one subgroup's slot, however few invocations are active. With a
//! compaction window of w subgroups, the same call of these takes ⌈active invocations of all of them / N⌉. *Saved* = 1 −
//! needed / ran. *The same call* is the n-th that a subgroup makes at one place of the shader. Windows are of consecutive
//! subgroups of one launch, in the order of the work of their first invocations, which is the same in every run (the order in
//! which they came is not); the last window of a launch may be smaller; *unbounded* is the whole launch. A subgroup that a device
//! splits makes a call by itself for each part: window 1 shows what is saved by joining these alone.
//!
//! *Launches* are told apart by the first invocations' work: a second subgroup with the same first work is of the next launch of
//! the frame. Each entry point is by itself: a closest-hit shader that traces has paths of its own.

mod compaction;
mod rays;

pub use rays::RayPaths;

use crate::Question;
use crate::context::Context;
use crate::report::{Cell, Column, Report, Table, Unit};
use compaction::Saved;
use std::collections::{BTreeMap, HashMap};
use trace::tables::{PATH_CALLS, PATH_SUBGROUPS};
use trace::{Source, Unreadable};

/// The question.
#[derive(Clone, Copy, Debug)]
pub struct Paths;

/// How many paths a table shows of each entry point.
const TOP: usize = 10;

impl Question for Paths {
    fn name(&self) -> &'static str {
        "paths"
    }

    fn about(&self) -> &'static str {
        "which trace calls invocations take part in, and how many subgroups compaction would save"
    }

    fn wants(&self) -> &'static [&'static trace::Table] {
        static TABLES: &[&trace::Table] = &[&PATH_SUBGROUPS];
        TABLES
    }

    fn answer(&self, trace: &dyn Source) -> Result<Report, Unreadable> {
        let context = Context::read(trace)?;
        let (subgroups, strays) = read(trace)?;
        let mut report = report(self.name(), "Paths of trace calls", &context, &subgroups);
        if strays != 0 {
            report.notes.push(format!(
                "{strays} calls are of subgroups whose entry is not in the trace; they are in no number."
            ));
        }
        if subgroups.is_empty() {
            report.notes.push("No entry point that may trace rays was entered.".into());
        }
        Ok(report)
    }
}

/// What these subgroups' calls come to.
fn report(name: &str, title: &str, context: &Context, subgroups: &[Subgroup]) -> Report {
    let mut by_entry: BTreeMap<u64, Vec<&Subgroup>> = BTreeMap::new();
    for s in subgroups {
        by_entry.entry(s.entry).or_default().push(s);
    }
    let mut report = Report::new(name, title);
    let (mut counts, mut top, mut rows) = (vec![], vec![], vec![]);
    let mut whole = Saved::default();
    for (entry, subgroups) in &by_entry {
        let paths = paths(subgroups);
        counts.push(counted(context, *entry, subgroups, &paths));
        top.extend(tops(context, *entry, &paths));
        let n = subgroups.first().and_then(|s| context.subgroup_size(s.frame)).unwrap_or(0);
        for (window, saved) in compaction::windows(subgroups, n) {
            rows.push(context.entry_cells(*entry).into_iter().chain(saved.cells(window)).collect());
            if window.is_none() {
                whole.add(saved);
            }
        }
    }
    report.tables = vec![
        Table { name: "paths".into(), columns: count_columns(), rows: counts },
        Table { name: "frequent_paths".into(), columns: top_columns(), rows: top },
        Table {
            name: "compaction".into(),
            columns: Context::entry_columns().into_iter().chain(compaction::columns()).collect(),
            rows,
        },
    ];
    if by_entry.len() > 1 {
        report.tables.push(Table {
            name: "compaction_of_all".into(),
            columns: compaction::columns(),
            rows: vec![whole.cells(None)],
        });
    }
    report
}

/// A subgroup and its calls.
pub(crate) struct Subgroup {
    frame: u64,
    /// Which of the frame's, where that was recorded.
    launch: u64,
    entry: u64,
    /// The work of its first invocation.
    first: u64,
    entered: u128,
    /// Place and mask of each call, in order.
    calls: Vec<(u64, u128)>,
}

fn mask(low: u64, high: u64) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

/// All subgroups in the order in which they came, and how many calls are of none.
fn read(trace: &dyn Source) -> Result<(Vec<Subgroup>, u64), Unreadable> {
    let t = trace.read(&PATH_SUBGROUPS)?;
    let mut known = HashMap::new();
    let mut all: Vec<Subgroup> = Vec::with_capacity(t.len());
    for row in 0..t.len() {
        let (frame, entry) = (t.u64("frame")[row], t.u64("entry")[row]);
        known.insert((frame, t.u64("subgroup")[row]), all.len());
        let entered = mask(t.u64("mask")[row], t.u64("mask_high")[row]);
        all.push(Subgroup { frame, launch: 0, entry, first: t.u64("first")[row], entered, calls: vec![] });
    }
    let t = trace.read(&PATH_CALLS)?;
    let mut strays = 0;
    for row in 0..t.len() {
        match known.get(&(t.u64("frame")[row], t.u64("subgroup")[row])) {
            Some(&s) => {
                let active = mask(t.u64("mask")[row], t.u64("mask_high")[row]);
                all[s].calls.push((t.u64("word_offset")[row], active));
            }
            None => strays += 1,
        }
    }
    Ok((all, strays))
}

/// Bits of a path, the last a 1.
type Path = Vec<bool>;

/// How many invocations took each path.
fn paths(subgroups: &[&Subgroup]) -> HashMap<Path, u64> {
    let mut all: HashMap<Path, u64> = HashMap::new();
    for s in subgroups {
        for lane in (0..128).filter(|lane| s.entered >> lane & 1 == 1) {
            let mut path: Path = s.calls.iter().map(|c| c.1 >> lane & 1 == 1).collect();
            let len = path.iter().rposition(|b| *b).map_or(0, |i| i + 1);
            path.truncate(len);
            *all.entry(path).or_default() += 1;
        }
    }
    all
}

fn count_columns() -> Vec<Column> {
    let mut columns = Context::entry_columns();
    columns.extend([
        Column::new("entered", Unit::Subgroups),
        Column::new("entered", Unit::Invocations),
        Column::new("calls", Unit::Subgroups),
        Column::new("rays", Unit::Invocations),
        Column::new("paths", Unit::Count),
    ]);
    columns
}

fn counted(context: &Context, entry: u64, subgroups: &[&Subgroup], paths: &HashMap<Path, u64>) -> Vec<Cell> {
    let calls = || subgroups.iter().flat_map(|s| &s.calls);
    let mut cells = context.entry_cells(entry);
    cells.extend([
        Cell::Count(subgroups.len() as u64),
        Cell::Count(subgroups.iter().map(|s| u64::from(s.entered.count_ones())).sum()),
        Cell::Count(calls().count() as u64),
        Cell::Count(calls().map(|c| u64::from(c.1.count_ones())).sum()),
        Cell::Count(paths.len() as u64),
    ]);
    cells
}

fn top_columns() -> Vec<Column> {
    let mut columns = Context::entry_columns();
    columns.extend([
        Column::new("path", Unit::Text),
        Column::new("rays", Unit::Count),
        Column::new("took it", Unit::Invocations),
        Column::new("took it", Unit::Percent),
    ]);
    columns
}

/// The most frequent paths; of equally frequent ones the shorter first, then by bits.
fn tops(context: &Context, entry: u64, paths: &HashMap<Path, u64>) -> Vec<Vec<Cell>> {
    let all: u64 = paths.values().sum();
    let mut sorted: Vec<_> = paths.iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(a.1).then_with(|| (a.0.len(), a.0).cmp(&(b.0.len(), b.0))));
    let row = |(path, &count): (&Path, &u64)| {
        let mut cells = context.entry_cells(entry);
        cells.extend([
            words(path).into(),
            Cell::Count(path.iter().filter(|b| **b).count() as u64),
            Cell::Count(count),
            Cell::Number(100.0 * count as f64 / all as f64),
        ]);
        cells
    };
    sorted.into_iter().take(TOP).map(row).collect()
}

/// Ones and zeros, the first call first; long ones are cut.
fn words(path: &[bool]) -> String {
    const SHOWN: usize = 64;
    let bits = |p: &[bool]| p.iter().map(|b| if *b { '1' } else { '0' }).collect::<String>();
    match path.len() {
        0 => "none".into(),
        n if n > SHOWN => format!("{}… ({n} calls)", bits(&path[..SHOWN])),
        _ => bits(path),
    }
}

#[cfg(test)]
mod tests;

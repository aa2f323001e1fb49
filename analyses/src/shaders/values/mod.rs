//! Values: which values the places where shaders read memory see. Zeros first: code that is special for a zero is where
//! published gains are (Cheung 2024, section 4.5.2).
//!
//! *Definitions.* A place is a 32-bit word of what a load gives, of one entry point of one pipeline. *Executions*: by
//! invocations. *Zeros*: all bits zero (so not −0.0). *Distinct*: how many different values there were over all frames, zero
//! among them; exact while every value found a slot, and so every value is known; marked `~` where it is estimated by
//! HyperLogLog (256 registers: standard error 6.5 %). *Most frequent*: with exact counts for values that have slots;
//! where others overflowed, one of those might be as frequent if it is at most the overflow.
//!
//! *Changes*: of the pairs of consecutive actions (draws, dispatches, traces) of the entry point in one recording of a
//! command buffer that read the place, the share in which the value changed; pairs of which one saw several values are left
//! out, and said; so are places that were not followed. *From frame to frame*: of the pairs of consecutive measured frames, the share in which the set of
//! values changed; where something overflowed it is not known.
//!
//! *Constant*: a place that saw one value in all frames. It may be made a specialization constant, as far as these frames
//! say.

mod columns;

use crate::context::Context;
use crate::report::{Cell, Report, Table, counted, share};
use crate::{Question, Session};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use trace::tables::{
    VALUE_CHANGES, VALUE_REGISTERS, VALUE_SITES, VALUES, VALUES_SEEN, hyperloglog, register_of,
};
use trace::{Source, Unreadable};

/// The question.
pub static QUESTION: Question = Question {
    name: "values",
    about: "which values loads give: zeros, distinct values, the most frequent, how often they change",
    wants: &[&VALUE_SITES, &VALUES],
    sheets: columns::SHEETS,
    events: None,
    answer,
};

/// Rows of the tables that list places.
const LISTED: usize = 40;
/// Values of a place that are listed.
const TOP: usize = 8;

fn answer(session: &Session<'_>) -> Result<Report, Unreadable> {
    let trace = session.trace;
    let context = session.context()?;
    let sites = sites(trace, context)?;
    let mut report = Report::new(QUESTION.name, "Values that loads give");
    report.headlines = headlines(&sites);
    report.tables.push(classes(&sites));
    report.tables.push(zeros(&sites));
    report.tables.push(constant(&sites));
    report.tables.push(changes(&sites));
    report.tables.push(all(&sites));
    report.tables.push(top(&sites));
    let estimated = sites.iter().filter(|s| s.overflow != 0).count();
    if estimated != 0 {
        report.notes.push(format!(
            "{estimated} of {} places saw more values than there are slots: how many is estimated there (~), and the most \
             frequent are of those that found a slot.",
            sites.len()
        ));
    }
    let followed = |s: &&Site| matches!(&*s.class, "uniform" | "push");
    let lost = sites.iter().filter(followed).filter(|s| s.changes[0] == 0).count();
    if lost != 0 {
        report.notes.push(format!(
            "{lost} places in uniform blocks and push constants were not followed from action to action: the pipeline's \
             push constants leave no room to tell its shaders which action they run in, the device generated the \
             actions itself, or changes=no was asked for."
        ));
    }
    if sites.is_empty() {
        report.notes.push("Nothing that is looked at was read.".into());
    }
    for (n, what) in [(sites.len(), "places"), (zeros_of(&sites).len(), "places with zeros")] {
        if n > LISTED {
            report.notes.push(format!(
                "Of {n} {what} the first {LISTED} are listed; the tables of the trace have all."
            ));
        }
    }
    Ok(report)
}

/// What a place gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// What is read.
    pub name: String,
    /// The kind of memory.
    pub memory: String,
    /// Where in the shader.
    pub place: String,
    /// Its values, the most frequent first, with `,` between them.
    pub values: String,
}

/// What every place gave, in the order of entry points and their places.
pub fn given(trace: &dyn Source) -> Result<Vec<Given>, Unreadable> {
    let one = |s: Site| {
        let values: Vec<String> = s.top().into_iter().take(TOP).map(|v| s.words(v.0)).collect();
        let (name, memory) = (s.name.to_string(), s.class.to_string());
        Given { name, memory, place: s.place, values: values.join(", ") }
    };
    Ok(sites(trace, &Context::read(trace)?)?.into_iter().map(one).collect())
}

/// A place, over all frames.
#[derive(Clone, Debug, Default)]
struct Site {
    class: Arc<str>,
    kind: Arc<str>,
    name: Arc<str>,
    place: String,
    executions: u64,
    zeros: u64,
    overflow: u64,
    seen: BTreeMap<u64, u64>,
    registers: Vec<u64>,
    /// By frame: the values, if all are known.
    frames: BTreeMap<u64, Option<BTreeSet<u64>>>,
    /// Actions, pairs, changes, unknown.
    changes: [u64; 4],
}

impl Site {
    /// How many distinct values there were, and whether that is exact.
    fn distinct(&self) -> (f64, bool) {
        let zero = f64::from(u8::from(self.zeros != 0));
        if self.overflow == 0 {
            return (self.seen.len() as f64 + zero, true);
        }
        let mut registers = self.registers.clone();
        registers.resize(256, 0);
        for &v in self.seen.keys() {
            let (n, rank) = register_of(v as u32);
            registers[n] = registers[n].max(rank);
        }
        // What is known for sure is the least there can be.
        (hyperloglog(&registers).max(self.seen.len() as f64) + zero, false)
    }

    fn distinct_words(&self) -> Cell {
        match self.distinct() {
            (n, true) => Cell::Text(format!("{n:.0}")),
            (n, false) => Cell::Text(format!("~{n:.0}")),
        }
    }

    /// Values by frequency, zero among them.
    fn top(&self) -> Vec<(u64, u64)> {
        let zero = (self.zeros != 0).then_some((0, self.zeros));
        let mut all: Vec<(u64, u64)> = self.seen.iter().map(|(&v, &n)| (v, n)).chain(zero).collect();
        all.sort_by_key(|&(v, n)| (std::cmp::Reverse(n), v));
        all
    }

    /// A value as its kind writes it.
    fn words(&self, value: u64) -> String {
        let bits = value as u32;
        match &*self.kind {
            "float" => format!("{:?}", f32::from_bits(bits)),
            "int" => format!("{}", bits as i32),
            "uint" => format!("{bits}"),
            "bool" => format!("{}", bits != 0),
            _ => format!("{bits:#010x}"),
        }
    }

    /// Pairs of consecutive frames of which it is known, and those in which the values changed.
    fn frame_changes(&self) -> (u64, u64) {
        let known: Vec<&Option<BTreeSet<u64>>> = self.frames.values().collect();
        let pairs = known.windows(2).filter_map(|w| Some((w[0].as_ref()?, w[1].as_ref()?)));
        pairs.fold((0, 0), |(n, changed), (a, b)| (n + 1, changed + u64::from(a != b)))
    }
}

/// Every place that was read.
fn sites(trace: &dyn Source, context: &Context) -> Result<Vec<Site>, Unreadable> {
    let mut all: BTreeMap<(u64, u64), Site> = BTreeMap::new();
    let t = trace.read(&VALUES)?;
    for row in 0..t.len() {
        let site = all.entry((t.u64("entry")[row], t.u64("site")[row])).or_default();
        let [zeros, overflow] = ["zeros", "overflow"].map(|c| t.u64(c)[row]);
        site.executions += t.u64("executions")[row];
        site.zeros += zeros;
        site.overflow += overflow;
        let values = (overflow == 0).then(|| (zeros != 0).then_some(0).into_iter().collect());
        site.frames.insert(t.u64("frame")[row], values);
    }
    let t = trace.read(&VALUES_SEEN)?;
    for row in 0..t.len() {
        let Some(site) = all.get_mut(&(t.u64("entry")[row], t.u64("site")[row])) else { continue };
        let value = t.u64("value")[row];
        *site.seen.entry(value).or_default() += t.u64("executions")[row];
        if let Some(Some(values)) = site.frames.get_mut(&t.u64("frame")[row]) {
            values.insert(value);
        }
    }
    let t = trace.read(&VALUE_REGISTERS)?;
    for row in 0..t.len() {
        let Some(site) = all.get_mut(&(t.u64("entry")[row], t.u64("site")[row])) else { continue };
        site.registers.resize(256, 0);
        if let Some(r) = site.registers.get_mut(t.u64("register")[row] as usize) {
            *r = t.u64("rank")[row].max(*r);
        }
    }
    let t = trace.read(&VALUE_CHANGES)?;
    for row in 0..t.len() {
        let Some(site) = all.get_mut(&(t.u64("entry")[row], t.u64("site")[row])) else { continue };
        for (sum, column) in site.changes.iter_mut().zip(["actions", "pairs", "changes", "unknown"]) {
            *sum += t.u64(column)[row];
        }
    }
    let t = trace.read(&VALUE_SITES)?;
    for row in 0..t.len() {
        let entry = t.u64("entry")[row];
        let Some(site) = all.get_mut(&(entry, t.u64("site")[row])) else { continue };
        site.class = t.text("class")[row].clone();
        site.kind = t.text("kind")[row].clone();
        site.name = t.text("name")[row].clone();
        let pipeline = context.entry(entry).map(|e| context.pipeline_words(e.pipeline));
        let place = context.block_words(entry, t.u64("function")[row], t.u64("block")[row]);
        let word = format!("word {}", t.u64("word_offset")[row]);
        site.place = [pipeline.unwrap_or_default(), place, word].join(", ");
    }
    Ok(all.into_values().collect())
}

/// What is read, summed by kind of memory.
fn classes(sites: &[Site]) -> Table {
    let mut groups: BTreeMap<&str, Vec<&Site>> = BTreeMap::new();
    sites.iter().for_each(|s| groups.entry(&s.class).or_default().push(s));
    let row = |(class, of): (&str, Vec<&Site>)| {
        let sum = |f: fn(&Site) -> u64| of.iter().map(|s| f(s)).sum::<u64>();
        let count = |f: &dyn Fn(&Site) -> bool| Cell::Count(of.iter().filter(|s| f(s)).count() as u64);
        let executions = sum(|s| s.executions);
        vec![
            class.into(),
            Cell::Count(of.len() as u64),
            Cell::Count(executions),
            Cell::share(sum(|s| s.zeros), executions),
            count(&|s| s.zeros == s.executions),
            count(&|s| s.distinct() == (1.0, true)),
            count(&|s| s.overflow != 0),
        ]
    };
    columns::MEMORY.table(groups.into_iter().map(row))
}

/// What always gave one value, and where most zeros come from.
fn headlines(sites: &[Site]) -> Vec<String> {
    let (all, constant) = (counted(sites.len() as u64, "place"), constant_of(sites));
    let constant = match constant.first() {
        Some(s) => Some(format!(
            "One value wherever it was read: {} of {all}, most read {} ({}, {}) at {}.",
            constant.len(),
            s.name,
            s.top().first().map(|v| s.words(v.0)).unwrap_or_default(),
            counted(s.executions, "time"),
            s.place
        )),
        None => (!sites.is_empty()).then(|| format!("No place gave one value only, of {all}.")),
    };
    let zeros = zeros_of(sites).first().map(|s| {
        let (n, of) = (s.zeros, share(s.zeros, s.executions));
        format!("Most zeros are read from {}: {n} ({of} of what it gave) at {}.", s.name, s.place)
    });
    constant.into_iter().chain(zeros).collect()
}

fn zeros_of(sites: &[Site]) -> Vec<&Site> {
    let mut of: Vec<&Site> = sites.iter().filter(|s| s.zeros != 0).collect();
    of.sort_by_key(|s| std::cmp::Reverse(s.zeros));
    of
}

/// Where zeros come from, most first.
fn zeros(sites: &[Site]) -> Table {
    let row = |s: &&Site| {
        vec![
            (&*s.name).into(),
            (&*s.class).into(),
            Cell::Count(s.executions),
            Cell::Count(s.zeros),
            Cell::share(s.zeros, s.executions),
            s.place.clone().into(),
        ]
    };
    columns::ZEROS.table(zeros_of(sites).iter().take(LISTED).map(row))
}

/// Places that saw one value, most read first.
fn constant_of(sites: &[Site]) -> Vec<&Site> {
    let mut of: Vec<&Site> = sites.iter().filter(|s| s.distinct() == (1.0, true)).collect();
    of.sort_by_key(|s| std::cmp::Reverse(s.executions));
    of
}

fn constant(sites: &[Site]) -> Table {
    let row = |s: &&Site| {
        let value = s.top().first().map(|v| s.words(v.0)).unwrap_or_default();
        vec![
            (&*s.name).into(),
            (&*s.class).into(),
            value.into(),
            Cell::Count(s.executions),
            Cell::Count(s.frames.len() as u64),
            s.place.clone().into(),
        ]
    };
    columns::CONSTANT.table(constant_of(sites).iter().take(LISTED).map(row))
}

/// How often values change from action to action, and from frame to frame.
fn changes(sites: &[Site]) -> Table {
    let followed =
        |s: &&Site| s.changes[1] != 0 || (s.frames.len() > 1 && matches!(&*s.class, "uniform" | "push"));
    let mut of: Vec<&Site> = sites.iter().filter(followed).collect();
    of.sort_by_key(|s| std::cmp::Reverse((s.changes[2], s.frame_changes().1)));
    let row = |s: &&Site| {
        let [actions, pairs, changes, unknown] = s.changes;
        let (frame_pairs, frame_changes) = s.frame_changes();
        vec![
            (&*s.name).into(),
            Cell::Count(actions),
            Cell::Count(pairs),
            Cell::share(changes, pairs.saturating_sub(unknown)),
            Cell::Count(unknown),
            Cell::share(frame_changes, frame_pairs),
            s.place.clone().into(),
        ]
    };
    columns::CHANGES.table(of.iter().take(LISTED).map(row))
}

fn by_executions(sites: &[Site]) -> Vec<&Site> {
    let mut of: Vec<&Site> = sites.iter().collect();
    of.sort_by_key(|s| std::cmp::Reverse(s.executions));
    of.truncate(LISTED);
    of
}

/// Every place, most read first.
fn all(sites: &[Site]) -> Table {
    let row = |s: &&Site| {
        let top = s.top();
        let first = top.first();
        vec![
            (&*s.name).into(),
            (&*s.class).into(),
            Cell::Count(s.executions),
            Cell::share(s.zeros, s.executions),
            s.distinct_words(),
            first.map_or(Cell::Missing, |v| s.words(v.0).into()),
            first.map_or(Cell::Missing, |v| Cell::share(v.1, s.executions)),
            s.place.clone().into(),
        ]
    };
    columns::PLACES.table(by_executions(sites).iter().map(row))
}

/// The most frequent values of each place.
fn top(sites: &[Site]) -> Table {
    let mut rows = Vec::new();
    for s in by_executions(sites).into_iter().filter(|s| s.distinct().0 > 1.0) {
        for (value, n) in s.top().into_iter().take(TOP) {
            rows.push(vec![
                (&*s.name).into(),
                s.words(value).into(),
                Cell::Count(n),
                Cell::share(n, s.executions),
            ]);
        }
    }
    columns::TOP.table(rows)
}

#[cfg(test)]
mod tests;

//! Uniformity: which branch conditions, load addresses and loaded values are the same for all of a subgroup.
//!
//! *Definition* (Neubauer 2019, sections 3.6, 3.7, 5.3, 5.4). A place is *static uniform* if the divergence analysis of the
//! module proves it; *dynamic uniform* if it is not proven, and no execution saw two active invocations of a subgroup
//! differ; *divergent* if some did, with the share of executions by subgroups in which they did. Places that are not
//! proven and were not executed, or cannot be measured, are in none of these. Only entry points that were executed count,
//! static places included, as in the thesis. Entry points of one module that several pipelines use count as one; their
//! executions are summed.
//!
//! *Shares.* Of places: each counts once. Of executions: each place counts as often as subgroups came by.
//!
//! *Soundness.* What is static uniform is measured like everything else (unless `skip=static` was asked for). One execution
//! in which it differed makes the report a failed check, and `analyze` ends with exit code 5: the analysis was wrong, or the
//! device does not bring invocations together again where their ways meet.
//!
//! *Caveats.* A subgroup of one active invocation is always uniform. A place that is executed seldom is easily dynamic
//! uniform. What is read through a function's parameter has an address that is not seen.

mod columns;

use crate::context::{Context, source_words};
use crate::report::sheet::Sheet;
use crate::report::{Cell, Report, Table, counted, most, share};
use crate::{Question, Session};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use trace::tables::{UNIFORMITY, UNIFORMITY_SITES};
use trace::{Source, Unreadable};

/// The question.
pub static QUESTION: Question = Question {
    name: "uniformity",
    about: "which branches, addresses and loaded values are alike for a whole subgroup: proven, measured, or divergent",
    wants: &[&UNIFORMITY_SITES, &UNIFORMITY],
    sheets: columns::SHEETS,
    events: None,
    answer,
};

/// Rows of the tables that list places.
const LISTED: usize = 40;

fn answer(session: &Session<'_>) -> Result<Report, Unreadable> {
    let trace = session.trace;
    let context = session.context()?;
    let sites = sites(trace, context)?;
    let mut report = Report::new(QUESTION.name, "Uniformity");
    let kinds: BTreeMap<&str, Vec<&Site>> = group(&sites, |s| &*s.kind);
    report.headlines = kinds.get("branch").and_then(|of| branches(of)).into_iter().collect();
    report.headlines.extend(always(&sites));
    report.tables.push(classes(columns::CLASSES, &kinds));
    let memory: Vec<Site> = sites.iter().filter(|s| &*s.kind != "branch").cloned().collect();
    let by_memory = group(&memory, |s| (&*s.kind, &*s.class));
    let named: BTreeMap<String, Vec<&Site>> =
        by_memory.into_iter().map(|((kind, class), of)| (format!("{kind}, {class}"), of)).collect();
    report.tables.push(classes(columns::MEMORY, &named));
    report.tables.push(shaders(&sites, context));
    report.tables.push(divergent(&sites));
    report.tables.push(unproven(&sites));
    soundness(&sites, &mut report);
    let unmeasured = group(&sites, |s| &*s.unmeasured);
    for (why, of) in unmeasured.iter().filter(|u| !u.0.is_empty()) {
        report.notes.push(format!("Places that are not measured because {why}: {}.", of.len()));
    }
    if sites.is_empty() {
        report.notes.push("No entry point with branches or loads was executed.".into());
    }
    Ok(report)
}

/// What a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Static,
    Dynamic,
    Divergent,
    NotExecuted,
    NotMeasured,
}

/// A place of a shader.
#[derive(Clone, Debug)]
struct Site {
    shader: String,
    place: String,
    kind: Arc<str>,
    class: Arc<str>,
    name: Arc<str>,
    proven: bool,
    unmeasured: Arc<str>,
    executions: u64,
    diverged: u64,
    invocations: u64,
}

impl Site {
    fn what(&self) -> Class {
        match self {
            s if s.proven => Class::Static,
            s if !s.unmeasured.is_empty() => Class::NotMeasured,
            s if s.executions == 0 => Class::NotExecuted,
            s if s.diverged == 0 => Class::Dynamic,
            _ => Class::Divergent,
        }
    }
}

/// Every place of executed entry points: those of one module and entry point together.
fn sites(trace: &dyn Source, context: &Context) -> Result<Vec<Site>, Unreadable> {
    let mut counts: BTreeMap<(u64, u64), [u64; 3]> = BTreeMap::new();
    let t = trace.read(&UNIFORMITY)?;
    for row in 0..t.len() {
        let of = counts.entry((t.u64("entry")[row], t.u64("site")[row])).or_default();
        for (sum, column) in of.iter_mut().zip(["executions", "diverged", "invocations"]) {
            *sum += t.u64(column)[row];
        }
    }
    let executed: BTreeSet<u64> = counts.keys().map(|k| k.0).collect();
    let t = trace.read(&UNIFORMITY_SITES)?;
    let mut all: BTreeMap<(String, u64), Site> = BTreeMap::new();
    for row in 0..t.len() {
        let (entry, number) = (t.u64("entry")[row], t.u64("site")[row]);
        if !executed.contains(&entry) {
            continue;
        }
        let (function, block) = (t.u64("function")[row], t.u64("block")[row]);
        let key = context
            .entry(entry)
            .map_or_else(|| format!("entry {entry}"), |e| format!("{} {} {}", e.shader, e.stage, e.name));
        let mut place = context.block_words(entry, function, block);
        let source = source_words(&t.text("file")[row], t.u64("line")[row]);
        if !source.is_empty() && !place.ends_with(&source) {
            place = format!("{place}, {source}");
        }
        let site = all.entry((key, number)).or_insert_with(|| Site {
            shader: context.entry_words(entry),
            place: format!("{place}, word {}", t.u64("word_offset")[row]),
            kind: t.text("kind")[row].clone(),
            class: t.text("class")[row].clone(),
            name: t.text("name")[row].clone(),
            proven: t.u64("static")[row] != 0,
            unmeasured: t.text("unmeasured")[row].clone(),
            executions: 0,
            diverged: 0,
            invocations: 0,
        });
        // (said again, it is counted once)
        if let Some(counts) = counts.remove(&(entry, number)) {
            site.executions += counts[0];
            site.diverged += counts[1];
            site.invocations += counts[2];
        }
    }
    Ok(all.into_values().collect())
}

fn group<'s, K: Ord>(sites: &'s [Site], key: impl Fn(&'s Site) -> K) -> BTreeMap<K, Vec<&'s Site>> {
    let mut groups: BTreeMap<K, Vec<&Site>> = BTreeMap::new();
    for s in sites {
        groups.entry(key(s)).or_default().push(s);
    }
    groups
}

fn class_cells(of: &[&Site]) -> Vec<Cell> {
    let count = |c: Class| of.iter().filter(|s| s.what() == c).count() as u64;
    let classes = [Class::Static, Class::Dynamic, Class::Divergent].map(count);
    let known: u64 = classes.iter().sum();
    let mut cells = vec![Cell::Count(of.len() as u64)];
    cells.extend(classes.map(Cell::Count));
    cells.extend([Class::NotExecuted, Class::NotMeasured].map(|c| Cell::Count(count(c))));
    cells.extend(classes.map(|n| Cell::share(n, known)));
    let executions: u64 = of.iter().map(|s| s.executions).sum();
    cells.extend([
        Cell::Count(executions),
        Cell::share(of.iter().map(|s| s.diverged).sum::<u64>(), executions),
    ]);
    cells
}

fn classes<K: AsRef<str>>(sheet: Sheet, groups: &BTreeMap<K, Vec<&Site>>) -> Table {
    let row = |(key, of): (&K, &Vec<&Site>)| {
        std::iter::once(key.as_ref().into()).chain(class_cells(of)).collect::<Vec<Cell>>()
    };
    sheet.table(groups.iter().map(row))
}

/// How often branches diverged, and which most.
fn branches(of: &[&Site]) -> Option<String> {
    let [executions, diverged] =
        [|s: &Site| s.executions, |s: &Site| s.diverged].map(|f| of.iter().map(|s| f(s)).sum::<u64>());
    let all = counted(executions, "execution");
    let worst = most(of, |s| s.diverged).map(|s| {
        let (n, of) = (s.diverged, s.executions);
        format!(
            "{} of {all} of branches diverged; most at {}: {n} of {of}.",
            share(diverged, executions),
            s.place
        )
    });
    worst.or((executions != 0).then(|| format!("No branch diverged, in {all}.")))
}

/// What a test at run time would find alike, the most executed of it.
fn always(sites: &[Site]) -> Option<String> {
    let of = unproven_of(sites);
    let first = of.first()?;
    Some(format!(
        "Alike in every execution though nothing proves it: {} of {}, most executed {} {} at {}.",
        of.len(),
        counted(sites.len() as u64, "place"),
        first.kind,
        first.name,
        first.place
    ))
}

/// Per shader, the branches and everything, shaders with most divergent executions first.
fn shaders(sites: &[Site], _: &Context) -> Table {
    let groups = group(sites, |s| &*s.shader);
    let mut rows: Vec<(u64, Vec<Cell>)> = groups
        .into_iter()
        .map(|(shader, of)| {
            let diverged = of.iter().map(|s| s.diverged).sum();
            (diverged, std::iter::once(shader.into()).chain(class_cells(&of)).collect())
        })
        .collect();
    rows.sort_by_key(|r| std::cmp::Reverse(r.0));
    columns::SHADERS.table(rows.into_iter().map(|r| r.1))
}

/// Where invocations differ most often.
fn divergent(sites: &[Site]) -> Table {
    let mut of: Vec<&Site> = sites.iter().filter(|s| s.what() == Class::Divergent).collect();
    of.sort_by_key(|s| std::cmp::Reverse(s.diverged));
    let row = |s: &&Site| {
        vec![
            (&*s.kind).into(),
            (&*s.name).into(),
            Cell::Count(s.executions),
            Cell::share(s.diverged, s.executions),
            Cell::Number(s.invocations as f64 / s.diverged as f64),
            s.place.clone().into(),
        ]
    };
    columns::DIVERGENT.table(of.iter().take(LISTED).map(row))
}

fn unproven_of(sites: &[Site]) -> Vec<&Site> {
    let mut of: Vec<&Site> = sites.iter().filter(|s| s.what() == Class::Dynamic).collect();
    of.sort_by_key(|s| std::cmp::Reverse(s.executions));
    of
}

/// What was always uniform though nothing proves it: where a test at run time would pay.
fn unproven(sites: &[Site]) -> Table {
    let row = |s: &&Site| {
        vec![(&*s.kind).into(), (&*s.name).into(), Cell::Count(s.executions), s.place.clone().into()]
    };
    columns::DYNAMIC.table(unproven_of(sites).iter().take(LISTED).map(row))
}

/// Whether what was proven held.
fn soundness(sites: &[Site], report: &mut Report) {
    let proven: Vec<&Site> = sites.iter().filter(|s| s.proven).collect();
    let checked: Vec<&&Site> = proven.iter().filter(|s| s.executions != 0).collect();
    let wrong: Vec<&&&Site> = checked.iter().filter(|s| s.diverged != 0).collect();
    report.tables.push(columns::SOUNDNESS.table([vec![
        Cell::Count(proven.len() as u64),
        Cell::Count(checked.len() as u64),
        Cell::Count(checked.iter().map(|s| s.executions).sum()),
        Cell::Count(wrong.len() as u64),
    ]]));
    for s in wrong {
        report.failures.push(format!(
            "{} {} was proven uniform, and differed in {} of {} executions: {}",
            s.kind, s.name, s.diverged, s.executions, s.place
        ));
    }
}

#[cfg(test)]
mod tests;

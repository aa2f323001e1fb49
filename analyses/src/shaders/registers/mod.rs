//! Question `registers`: what the driver says of the code that it compiled pipelines to
//! (VK_KHR_pipeline_executable_properties), beside how often that code was begun.
//!
//! Statistics are the driver's own: all are listed as it names them. Those that NVIDIA's, Mesa's, AMD's and Intel's drivers
//! are known to give are recognised by name for the summary: registers, spills, occupancy, instructions, bytes of code,
//! of scratch and of shared memory. A column is missing where a driver says nothing of it; drivers count in units of their
//! own, so that numbers of two drivers do not compare. Begun: the sum of the first block's executions over all frames, from
//! pass `blocks` or `simt`, whichever the trace has, for entry points of the executable's pipeline and stages; missing
//! where neither ran.

mod columns;
mod known;
#[cfg(test)]
mod tests;

use crate::context::Context;
use crate::report::{Cell, Report, Table, counted, most};
use crate::shaders::counters::stage_words;
use crate::{Question, Session};
pub(crate) use columns::SUMMARY;
use known::recognise;
use std::collections::BTreeMap;
use trace::tables::{BLOCK_COUNTS, EXECUTABLES, SIMT};
use trace::{Source, Unreadable};

/// The question.
pub static QUESTION: Question = Question {
    name: "registers",
    about: "registers, spills and occupancy of compiled shaders, as the driver gives them",
    wants: &[&EXECUTABLES],
    sheets: columns::SHEETS,
    events: None,
    answer,
};

fn answer(session: &Session<'_>) -> Result<Report, Unreadable> {
    let trace = session.trace;
    let context = session.context()?;
    let executables = executables(trace)?;
    let begun = begun(trace, context)?;
    let mut report = Report::new("registers", "What drivers compiled shaders to");
    report.headlines = headlines(&executables, context);
    report.tables.push(summary(&executables, &begun, context));
    report.tables.push(statistics(&executables, context));
    report.notes = vec![
        "Statistics are the driver's own; what the summary leaves empty the driver does not say".to_owned(),
    ];
    let probed = executables.keys().filter(|k| k.instrumented).count();
    if probed > 0 {
        report.notes.push(format!(
            "{probed} executables were compiled from rewritten modules: their numbers are those of the probes, too"
        ));
    }
    Ok(report)
}

/// One executable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    pipeline: u64,
    instrumented: bool,
    executable: u64,
}

#[derive(Debug, Default)]
struct Executable {
    name: String,
    stages: u64,
    subgroup_size: u64,
    /// Name, description, format, value.
    statistics: Vec<Statistic>,
}

type Statistic = (String, String, String, f64);

impl Executable {
    /// What it says under this column of the summary. Scalar and vector registers, spills of either kind: the largest is what limits.
    fn largest(&self, column: usize) -> Option<&Statistic> {
        let of = self.statistics.iter().filter(|s| recognise(&s.0) == Some(column));
        of.max_by(|a, b| a.3.total_cmp(&b.3))
    }
}

fn executables(trace: &dyn Source) -> Result<BTreeMap<Key, Executable>, Unreadable> {
    let t = trace.read(&EXECUTABLES)?;
    let mut all: BTreeMap<Key, Executable> = BTreeMap::new();
    for row in 0..t.len() {
        let key = Key {
            pipeline: t.u64("pipeline")[row],
            instrumented: t.u64("instrumented")[row] != 0,
            executable: t.u64("executable")[row],
        };
        let of = all.entry(key).or_insert_with(|| Executable {
            name: t.text("executable_name")[row].to_string(),
            stages: t.u64("stages")[row],
            subgroup_size: t.u64("subgroup_size")[row],
            statistics: vec![],
        });
        let name = t.text("name")[row].to_string();
        if name.is_empty() {
            continue;
        }
        let value = t.f64("value")[row];
        // A pipeline that was made anew under the same id says it again.
        match of.statistics.iter_mut().find(|s| s.0 == name) {
            Some(s) => s.3 = value,
            None => of.statistics.push((
                name,
                t.text("about")[row].to_string(),
                t.text("format")[row].to_string(),
                value,
            )),
        }
    }
    Ok(all)
}

/// What an executable says under each column of [`SUMMARY`].
pub(crate) type Compiled = [Option<f64>; SUMMARY.len()];

/// The same of each executable of a pipeline without probes.
pub(crate) fn compiled(trace: &dyn Source) -> Result<Vec<(u64, Compiled)>, Unreadable> {
    let plain = executables(trace)?.into_iter().filter(|(k, _)| !k.instrumented);
    Ok(plain.map(|(k, e)| (k.pipeline, std::array::from_fn(|c| e.largest(c).map(|s| s.3)))).collect())
}

/// How often entry points were begun, by pipeline and stage.
fn begun(trace: &dyn Source, context: &Context) -> Result<BTreeMap<(u64, String), u64>, Unreadable> {
    let mut all = BTreeMap::new();
    let mut seen_pass: Option<String> = None;
    for (table, pass) in [(&BLOCK_COUNTS, true), (&SIMT, false)] {
        let t = trace.read(table)?;
        if t.is_empty() || !all.is_empty() {
            continue;
        }
        for row in 0..t.len() {
            if t.u64("function")[row] != 0 || t.u64("block")[row] != 0 {
                continue;
            }
            // A plan may have the pass more than once: the first one's counts are taken.
            if pass
                && *seen_pass.get_or_insert_with(|| t.text("pass")[row].to_string()) != *t.text("pass")[row]
            {
                continue;
            }
            if let Some(e) = context.entry(t.u64("entry")[row]) {
                *all.entry((e.pipeline, e.stage.to_string())).or_default() += t.u64("executions")[row];
            }
        }
    }
    Ok(all)
}

fn number(format: &str, value: f64) -> Cell {
    match format {
        "u64" | "bool" => Cell::Count(value as u64),
        _ => Cell::Number(value),
    }
}

/// Who spills most and who takes most registers, of executables as the application has them where there are any.
fn headlines(executables: &BTreeMap<Key, Executable>, context: &Context) -> Vec<String> {
    let own = executables.keys().any(|k| !k.instrumented);
    let of: Vec<_> = executables.iter().filter(|e| own != e.0.instrumented).collect();
    let say = |name: &str| {
        let column = SUMMARY.iter().position(|s| s.name == name)?;
        let all: Vec<_> = of.iter().filter_map(|(k, e)| Some((k, e, e.largest(column)?.3))).collect();
        if all.is_empty() {
            return None;
        }
        Some(match most(&all, |a| a.2) {
            Some((k, e, n)) => {
                let rewritten = if k.instrumented { ", rewritten" } else { "" };
                format!(
                    "Most {name}: {n}, by {} of {}{rewritten}.",
                    e.name,
                    context.pipeline_words(k.pipeline)
                )
            }
            None => format!("No {name}, in {}.", counted(all.len() as u64, "executable")),
        })
    };
    ["spills", "registers"].into_iter().filter_map(say).collect()
}

fn summary(
    executables: &BTreeMap<Key, Executable>,
    begun: &BTreeMap<(u64, String), u64>,
    context: &Context,
) -> Table {
    let mut rows = Vec::new();
    for (k, e) in executables {
        let stages = stage_words(e.stages);
        let mut row = vec![
            context.pipeline_words(k.pipeline).into(),
            e.name.as_str().into(),
            stages.as_str().into(),
            if k.instrumented { "yes" } else { "no" }.into(),
            if e.subgroup_size == 0 { Cell::Missing } else { Cell::Count(e.subgroup_size) },
        ];
        for n in 0..SUMMARY.len() {
            row.push(e.largest(n).map_or(Cell::Missing, |s| number(&s.2, s.3)));
        }
        let known: Vec<u64> =
            stages.split('|').filter_map(|s| begun.get(&(k.pipeline, s.to_owned()))).copied().collect();
        row.push(if known.is_empty() { Cell::Missing } else { Cell::Count(known.iter().sum()) });
        rows.push(row);
    }
    columns::EXECUTABLES.table(rows)
}

fn statistics(executables: &BTreeMap<Key, Executable>, context: &Context) -> Table {
    let mut rows = Vec::new();
    for (k, e) in executables {
        for (name, about, format, value) in &e.statistics {
            rows.push(vec![
                context.pipeline_words(k.pipeline).into(),
                e.name.as_str().into(),
                name.as_str().into(),
                number(format, *value),
                about.as_str().into(),
            ]);
        }
    }
    columns::STATISTICS.table(rows)
}

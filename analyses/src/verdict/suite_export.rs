//! A suite's comparison for whoever reads it, in the formats that one comparison has (`export`): first a table of units, each with
//! what its verdict comes from, then unit by unit what `compare` says.

use super::compare::Row;
use super::export::{self, bencher_entries, benchmark_entries, junit_suites};
use super::headlines::headlines;
use super::judge::Verdict;
use super::suite::{Standing, SuiteCompared, SuiteUnit, worst};
use super::words::{changed, range};
use crate::report::escape::{markdown, xml};
use crate::report::{Cell, Column, Cost, Report, Table, Unit, csv, text};
use std::fmt::Write;

impl SuiteUnit {
    /// Its verdict, or where it stands.
    fn word(&self) -> &'static str {
        self.compared.as_ref().map_or(self.standing.name(), |c| c.verdict.name())
    }
}

/// One line that says it all.
pub fn headline(of: &SuiteCompared) -> String {
    let mut counts: Vec<(&str, usize)> = vec![];
    for u in &of.units {
        match counts.iter_mut().find(|c| c.0 == u.word()) {
            Some(c) => c.1 += 1,
            None => counts.push((u.word(), 1)),
        }
    }
    // (what matters most first)
    let order = ["regression", "failed", "missing", "refused", "inconclusive"];
    counts.sort_by_key(|c| order.iter().position(|o| *o == c.0).unwrap_or(order.len()));
    let counts: Vec<String> = counts.iter().map(|(w, n)| format!("{n} {w}")).collect();
    let lacks = if of.complete { "" } else { ", and not complete" };
    format!(
        "{}{lacks}: suite {}, {} units: {}",
        of.verdict.name(),
        of.suite,
        of.units.len(),
        counts.join(", ")
    )
}

/// A unit's row: unit, verdict, plan, metric, base, new, change, interval, p.
fn words(u: &SuiteUnit) -> [String; 9] {
    let mut out: [String; 9] = Default::default();
    (out[0], out[1]) = (u.name.clone(), u.word().to_owned());
    if let Some(r) = u.compared.as_ref().and_then(worst) {
        let j = &r.judged;
        let frame = r.frame.map_or(String::new(), |f| format!(", frame {f}"));
        out[2] = format!("{}{frame}", r.plan);
        out[3] = r.metric.clone();
        (out[4], out[5]) = (r.value(j.base), r.value(j.new));
        out[6] = changed(r);
        out[7] = range(r);
        out[8] = format!("{:.2e}", j.p_adjusted);
    }
    out
}

const COLUMNS: [&str; 9] = ["unit", "verdict", "plan", "metric", "base", "new", "change", "interval", "p"];

/// Sentences about units that were not compared, and what is to be said of the whole.
fn notes(of: &SuiteCompared) -> Vec<String> {
    let lacking = of.units.iter().filter(|u| !u.why.is_empty());
    lacking
        .map(|u| format!("{}: {}, {}.", u.name, u.standing.name(), u.why))
        .chain(of.notes.iter().cloned())
        .collect()
}

/// The whole as a report: units, and what is to be said.
pub fn report(of: &SuiteCompared) -> Report {
    let mut report = Report::new("suite", &headline(of));
    report.cost = Cost::Nothing { why: "both sides were measured alike".into() };
    let decides = |u: &&SuiteUnit| u.compared.as_ref().is_some_and(|c| c.verdict == of.verdict);
    let first = of.units.iter().find(decides).and_then(|u| Some((u, headlines(u.compared.as_ref()?))));
    report.headlines.extend(first.and_then(|(u, said)| Some(format!("{}: {}", u.name, said.first()?))));
    report.tables.push(Table {
        name: "units".into(),
        columns: COLUMNS.iter().map(|n| Column::new(*n, Unit::Text)).collect(),
        rows: of.units.iter().map(|u| words(u).map(Cell::Text).into()).collect(),
    });
    report.notes = notes(of);
    report
}

/// Text for a terminal.
pub fn as_text(of: &SuiteCompared) -> String {
    let mut out = text::render(&report(of));
    for u in &of.units {
        if let Some(c) = &u.compared {
            let report = export::report(c);
            let title = format!("{}: {}", u.name, report.title);
            let _ = write!(out, "\n{}", text::render(&Report { title, ..report }));
        }
    }
    out
}

/// JSON.
pub fn as_json(of: &SuiteCompared) -> String {
    export::with_report(of, &report(of))
}

/// Markdown for a pull request: units that are worse, or not known to be no worse, are open.
pub fn as_markdown(of: &SuiteCompared) -> String {
    let mut out = format!("### {}\n\n| {} |\n", markdown(&headline(of)), COLUMNS.join(" | "));
    out.push_str("|---|---|---|---|--:|--:|--:|---|--:|\n");
    for u in &of.units {
        let mut row = words(u).map(|w| markdown(&w));
        let verdict = u.compared.as_ref().map(|c| c.verdict);
        if u.standing.lacks() || matches!(verdict, Some(Verdict::Regression | Verdict::Inconclusive)) {
            row[1] = format!("**{}**", row[1]);
        }
        let _ = writeln!(out, "| {} |", row.join(" | "));
    }
    out.push('\n');
    for note in notes(of) {
        let _ = writeln!(out, "- {}", markdown(&note));
    }
    for u in &of.units {
        let Some(c) = &u.compared else { continue };
        let open = if c.verdict >= Verdict::Inconclusive { " open" } else { "" };
        let name = xml(&format!("{}: {}", u.name, c.verdict.name()));
        let _ = write!(
            out,
            "\n<details{open}><summary>{name}</summary>\n\n{}\n</details>\n",
            export::as_markdown(c)
        );
    }
    out
}

/// JUnit's XML: of each unit the suites that it has by itself. A unit that is missing, failed or refused is an error; one that is new
/// is skipped.
pub fn as_junit(of: &SuiteCompared) -> String {
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\">\n",
        xml(&format!("reray-replay suite compare {}", of.suite))
    );
    for u in &of.units {
        if let Some(c) = &u.compared {
            out += &junit_suites(c, &format!("{}: ", u.name));
            continue;
        }
        let (name, word, why) = (xml(&u.name), u.standing.name(), xml(&u.why));
        let (errors, skipped, inner) = match u.standing {
            Standing::New => (0, 1, format!("<skipped message=\"{why}\"/>")),
            _ => (1, 0, format!("<error type=\"{word}\" message=\"{why}\"/>")),
        };
        let _ = writeln!(
            out,
            "  <testsuite name=\"{name}\" tests=\"1\" failures=\"0\" errors=\"{errors}\" skipped=\"{skipped}\">\n    \
             <testcase classname=\"{name}\" name=\"{word}\">{inner}</testcase>\n  </testsuite>"
        );
    }
    out + "</testsuites>\n"
}

/// github-action-benchmark's `customSmallerIsBetter`: the new result's figures, called by their units.
pub fn as_benchmark(of: &SuiteCompared) -> String {
    let mut entries = vec![];
    for u in &of.units {
        if let Some(c) = &u.compared {
            entries.extend(benchmark_entries(c, &|r: &Row| format!("{}, {}", u.name, r.plan)));
        }
    }
    serde_json::to_string_pretty(&entries).unwrap_or_default() + "\n"
}

/// Bencher's metric format, called by units.
pub fn as_bencher(of: &SuiteCompared) -> String {
    let mut all = serde_json::Map::new();
    for u in &of.units {
        if let Some(c) = &u.compared {
            bencher_entries(c, &|r: &Row| format!("{}, {}", u.name, r.plan), &mut all);
        }
    }
    serde_json::to_string_pretty(&all).unwrap_or_default() + "\n"
}

/// A line a process's value, as of one comparison, behind the unit's name (`bench`).
pub fn as_csv(of: &SuiteCompared) -> String {
    let mut whole: Option<Table> = None;
    for u in &of.units {
        let Some(c) = &u.compared else { continue };
        let mut table = export::series(c);
        table.columns.insert(0, Column::new("bench", Unit::Text));
        table.rows.iter_mut().for_each(|r| r.insert(0, u.name.as_str().into()));
        match &mut whole {
            Some(all) => all.rows.append(&mut table.rows),
            None => whole = Some(table),
        }
    }
    whole.map_or(String::new(), |table| csv::render(&table))
}

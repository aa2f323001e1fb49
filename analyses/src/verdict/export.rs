//! A comparison for whoever reads it: people (text, Markdown for a pull request), CI (JUnit, github-action-benchmark), programs
//! (JSON), and tools that look for change points in a history (CSV).

use super::compare::{Clock, Compared, Row, SideNote};
use super::counts;
use super::headlines::headlines;
use super::judge::{Test, Verdict};
use super::words::{changed, range, shown, what};
use crate::report::escape::{markdown, xml};
use crate::report::{Cell, Column, Cost, Report, Table, Unit, csv, text};
use serde::Serialize;
use serde_json::json;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Rows of frames, passes and commands that text and Markdown show, of each level.
const SHOWN: usize = 20;

/// Levels below captures, and what several of each are called.
const LEVELS: [(&str, &str); 7] = [
    ("picture", "pictures"),
    ("frame", "frames"),
    ("pass", "passes"),
    ("command", "commands"),
    ("pipeline", "pipelines"),
    ("shader", "shaders"),
    ("block", "blocks"),
];

/// Reasons for which parts are inconclusive that are said, of each level.
const REASONS: usize = 2;

/// Of how many parts of a level it cannot be said whether they changed, and why: the commonest reasons.
fn unsaid(of: &Compared, level: &str) -> String {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    let open = |r: &&Row| r.level == level && r.judged.verdict == Verdict::Inconclusive;
    of.rows.iter().filter(open).for_each(|r| *reasons.entry(&r.judged.why).or_default() += 1);
    let number: usize = reasons.values().sum();
    if number == 0 {
        return String::new();
    }
    let mut reasons: Vec<(&str, usize)> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, n)| Reverse(*n));
    let rest: usize = reasons.iter().skip(REASONS).map(|(_, n)| n).sum();
    let more =
        if rest > 0 { format!("; {rest} for other reasons, which are in the JSON") } else { String::new() };
    let are = if number == 1 { "is" } else { "are" };
    if let [(why, _)] = reasons[..] {
        return format!("; {number} {are} inconclusive, as {why}");
    }
    let said: Vec<String> = reasons.iter().take(REASONS).map(|(why, n)| format!("{why} ({n})")).collect();
    format!("; {number} {are} inconclusive: {}{more}", said.join("; "))
}

/// One line that says it all.
pub fn headline(of: &Compared) -> String {
    let (verdict, effect) = (of.verdict.name(), 100.0 * of.min_effect);
    let clock = match of.clock {
        None => return format!("{verdict}: counts, least effect {effect} %"),
        Some(Clock::Gpu) => "GPU",
        Some(Clock::Cpu) => "CPU",
    };
    format!("{verdict}: {clock} times, least effect {effect} %, alpha {}", of.alpha)
}

/// The same as a report of tables.
pub fn report(of: &Compared) -> Report {
    let mut report = Report::new("compare", &headline(of));
    report.headlines = headlines(of);
    let counted = of.clock.is_none();
    let why = match counted {
        true => "what is counted is the same however long it takes",
        false => "frames are of turns without finer timestamps; both sides were measured alike",
    };
    report.cost = Cost::Nothing { why: why.into() };
    let column = |name: &str, unit| Column::new(name, unit);
    // (what is counted has no interval, and no distribution)
    let columns = |first: &[&str]| -> Vec<Column> {
        let words: &[&str] = match counted {
            true => &["base", "new", "change", "verdict"],
            false => &["base", "new", "change", "interval", "verdict"],
        };
        let timed =
            [("p", Unit::Ratio), ("delta", Unit::Ratio), ("KS D", Unit::Ratio), ("W1", Unit::Milliseconds)];
        let timed = timed.into_iter().filter(|_| !counted).map(|(n, unit)| column(n, unit));
        first.iter().chain(words).map(|n| column(n, Unit::Text)).chain(timed).collect()
    };
    let cells = |first: Vec<Cell>, r: &Row| -> Vec<Cell> {
        let j = &r.judged;
        let interval = (!counted).then(|| range(r));
        let words = [r.value(j.base), r.value(j.new), changed(r)].into_iter().chain(interval);
        let words = words.chain([j.verdict.name().to_owned()]).map(Cell::Text);
        let timed = [j.p_adjusted, j.delta, j.ks, j.wasserstein_ms].map(Cell::Number);
        first.into_iter().chain(words).chain(timed.into_iter().filter(|_| !counted)).collect()
    };
    let captures = of.rows.iter().filter(|r| r.level == "capture");
    report.tables.push(Table {
        name: "captures".into(),
        columns: columns(&["capture", "plan", "metric"]),
        rows: captures
            .map(|r| {
                cells(vec![r.capture.as_str().into(), r.plan.as_str().into(), r.metric.as_str().into()], r)
            })
            .collect(),
    });
    for (level, name) in LEVELS {
        let (rows, asked) = (shown(of, level), of.rows.iter().filter(|r| r.level == level).count());
        if asked > 0 {
            let left = rows.len().saturating_sub(SHOWN);
            let more =
                if left > 0 { format!("; {left} of these are in the JSON alone") } else { String::new() };
            let unsaid = unsaid(of, level);
            report.notes.push(format!("{} of {asked} {name} changed{more}{unsaid}.", rows.len()));
        }
        if !rows.is_empty() {
            report.tables.push(Table {
                name: name.into(),
                columns: columns(match counted {
                    true => &["what", "metric"],
                    false => &["capture", "plan", "what"],
                }),
                rows: rows
                    .iter()
                    .take(SHOWN)
                    .map(|r| {
                        let first: Vec<Cell> = match counted {
                            true => vec![what(r).into(), r.metric.as_str().into()],
                            false => vec![r.capture.as_str().into(), r.plan.as_str().into(), what(r).into()],
                        };
                        cells(first, r)
                    })
                    .collect(),
            });
        }
    }
    for r in of.rows.iter().filter(|r| r.level == "picture" && !r.judged.why.is_empty()) {
        report.notes.push(format!("{}: {}.", r.title(), r.judged.why));
    }
    for r in of.rows.iter().filter(|r| r.level == "capture") {
        let [a, b] = r.judged.processes;
        let [n, m] = r.judged.times;
        if !r.judged.why.is_empty() {
            report.notes.push(format!("{}, {}: {}.", r.title(), r.metric, r.judged.why));
        }
        if let (Some([x, y]), true) = (&r.bands, r.metric == "median")
            && (x.len() > 1 || y.len() > 1)
        {
            let words = |b: &[(f64, f64)]| {
                b.iter()
                    .map(|(at, s)| format!("{at:.3} ms ({:.0} %)", 100.0 * s))
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            report.notes.push(format!("{}: bands at {}; now at {}.", r.title(), words(x), words(y)));
        }
        if r.judged.test == Test::Counted {
            continue;
        }
        let how = if r.judged.paired { "; pairs of one number, alive together" } else { "" };
        let title = r.title();
        report.notes.push(format!("{title}, {}: {n} times of {a} processes, {m} of {b}{how}.", r.metric));
    }
    report.notes.extend(of.notes.iter().cloned());
    report
}

/// Text for a terminal.
pub fn as_text(of: &Compared) -> String {
    text::render(&report(of))
}

/// JSON.
pub fn as_json(of: &Compared) -> String {
    with_report(of, &report(of))
}

/// A comparison as JSON, and the report that a page takes.
pub(super) fn with_report(of: &impl Serialize, report: &Report) -> String {
    #[derive(Serialize)]
    struct Whole<'a, T> {
        #[serde(flatten)]
        of: &'a T,
        report: &'a Report,
    }
    // (text keys and plain values only: nothing in it can fail to be written; what is not finite becomes null)
    serde_json::to_string_pretty(&Whole { of, report }).unwrap_or_default() + "\n"
}

/// Markdown for a pull request.
pub fn as_markdown(of: &Compared) -> String {
    let mut out = format!("### {}\n\n", markdown(&headline(of)));
    let mut table = |first: &str, rows: &[&Row], name: &dyn Fn(&Row) -> String| {
        let _ = writeln!(out, "| {first} | base | new | change | interval | p | verdict |");
        out.push_str("|---|--:|--:|--:|---|--:|---|\n");
        for r in rows {
            let j = &r.judged;
            let verdict = match j.verdict {
                Verdict::Regression | Verdict::Inconclusive => format!("**{}**", j.verdict.name()),
                v => v.name().to_owned(),
            };
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {} | {:.2e} | {verdict} |",
                markdown(&name(r)),
                r.value(j.base),
                r.value(j.new),
                changed(r),
                range(r),
                j.p_adjusted,
            );
        }
        out.push('\n');
    };
    let captures: Vec<&Row> = of.rows.iter().filter(|r| r.level == "capture").collect();
    table("capture, plan, metric", &captures, &|r| format!("{}, {}", r.title(), r.metric));
    for (level, _) in LEVELS {
        let rows: Vec<&Row> = shown(of, level).into_iter().take(SHOWN).collect();
        if !rows.is_empty() {
            table(level, &rows, &|r| match of.clock {
                Some(_) => r.title(),
                None => format!("{}, {}", what(r), r.metric),
            });
        }
    }
    for note in report(of).notes {
        let _ = writeln!(out, "- {}", markdown(&note));
    }
    let devices = |side: &SideNote| markdown(&side.devices.join("; "));
    let _ = writeln!(out, "\nBase: {}. New: {}.", devices(&of.base), devices(&of.new));
    out
}

/// JUnit's XML: a suite a capture and plan, a case a metric; frames, passes and commands are cases where they are regressions. A
/// regression is a failure; what is inconclusive is an error, as CI would pass over what is skipped.
pub fn as_junit(of: &Compared) -> String {
    let begin = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"reray-replay compare\">\n";
    format!("{begin}{}</testsuites>\n", junit_suites(of, ""))
}

/// The suites alone, their names behind `before`.
pub(super) fn junit_suites(of: &Compared, before: &str) -> String {
    let mut suites: Vec<((&str, &str), Vec<&Row>)> = vec![];
    for r in &of.rows {
        if !matches!(r.level, "capture" | "picture") && r.judged.verdict != Verdict::Regression {
            continue;
        }
        let key = (r.capture.as_str(), r.plan.as_str());
        match suites.iter_mut().find(|s| s.0 == key) {
            Some(s) => s.1.push(r),
            None => suites.push((key, vec![r])),
        }
    }
    let count = |rows: &[&Row], v: Verdict| rows.iter().filter(|r| r.judged.verdict == v).count();
    let mut out = String::new();
    for ((capture, plan), rows) in &suites {
        let _ = writeln!(
            out,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\">",
            xml(&format!("{before}{capture}, {plan}")),
            rows.len(),
            count(rows, Verdict::Regression),
            count(rows, Verdict::Inconclusive),
        );
        for r in rows {
            let name = match (r.level, of.clock) {
                ("capture", _) => r.metric.clone(),
                ("picture", _) => format!("picture, {}", what(r)),
                (level, Some(_)) => format!("{level} {}", what(r)),
                (level, None) => format!("{level} {}, {}", what(r), r.metric),
            };
            let j = &r.judged;
            let said = match r.level {
                "picture" => j.why.clone(),
                _ => {
                    format!("{}, {} (base {}, new {})", changed(r), range(r), r.value(j.base), r.value(j.new))
                }
            };
            let (class, name) = (xml(&format!("{before}{capture}.{plan}")), xml(&name));
            let _ = match j.verdict {
                Verdict::Regression => writeln!(
                    out,
                    "    <testcase classname=\"{class}\" name=\"{name}\"><failure type=\"regression\" message=\"{}\"/></testcase>",
                    xml(&said)
                ),
                Verdict::Inconclusive => writeln!(
                    out,
                    "    <testcase classname=\"{class}\" name=\"{name}\"><error type=\"inconclusive\" message=\"{}\"/></testcase>",
                    xml(&format!("{said}; {}", j.why))
                ),
                _ => writeln!(out, "    <testcase classname=\"{class}\" name=\"{name}\"/>"),
            };
        }
        out.push_str("  </testsuite>\n");
    }
    out
}

/// github-action-benchmark's `customSmallerIsBetter`: the new side's figures. Metrics of which more is better are not in it.
pub fn as_benchmark(of: &Compared) -> String {
    serde_json::to_string_pretty(&benchmark_entries(of, &|r| r.title())).unwrap_or_default() + "\n"
}

/// The entries alone, called as `title` says.
pub(super) fn benchmark_entries(of: &Compared, title: &dyn Fn(&Row) -> String) -> Vec<serde_json::Value> {
    let rows = of.rows.iter().filter(|r| {
        r.level == "capture"
            && r.judged.new.is_finite()
            && r.unit != "FPS"
            && (of.clock.is_some() || !counts::more_is_better(&r.metric))
    });
    let entry = |r: &Row| {
        let v = &r.values[1];
        json!({
            "name": format!("{}, {}", title(r), r.metric),
            "unit": r.unit,
            "value": r.judged.new,
            "range": format!("± {:.4}", deviation(v)),
            "extra": format!(
                "{} processes\nagainst the base: {} ({})",
                v.len(), changed(r), r.judged.verdict.name()
            ),
        })
    };
    rows.map(entry).collect()
}

/// Bencher's metric format (BMF): of each capture and plan the new side's figures, with a standard deviation below and above.
pub fn as_bencher(of: &Compared) -> String {
    let mut all = serde_json::Map::new();
    bencher_entries(of, &|r| r.title(), &mut all);
    serde_json::to_string_pretty(&all).unwrap_or_default() + "\n"
}

/// The entries alone, called as `title` says.
pub(super) fn bencher_entries(
    of: &Compared,
    title: &dyn Fn(&Row) -> String,
    all: &mut serde_json::Map<String, serde_json::Value>,
) {
    for r in of.rows.iter().filter(|r| r.level == "capture" && r.judged.new.is_finite()) {
        let (value, deviation) = (r.judged.new, deviation(&r.values[1]));
        all.entry(title(r)).or_insert_with(|| json!({}))[&r.metric] =
            json!({ "value": value, "lower_value": value - deviation, "upper_value": value + deviation });
    }
}

/// The standard deviation of a side's processes.
fn deviation(of: &[f64]) -> f64 {
    let mean = of.iter().sum::<f64>() / of.len().max(1) as f64;
    let squares: f64 = of.iter().map(|x| (x - mean).powi(2)).sum();
    (squares / (of.len().max(2) - 1) as f64).sqrt()
}

/// A line a process's value, for tools that look for change points: the time of its run, which side, what, and the value.
pub fn as_csv(of: &Compared) -> String {
    csv::render(&series(of))
}

/// The lines as a table.
pub(super) fn series(of: &Compared) -> Table {
    let mut table = Table {
        name: "series".into(),
        columns: [("time", Unit::Count), ("side", Unit::Text), ("capture", Unit::Text), ("plan", Unit::Text)]
            .into_iter()
            .chain([
                ("metric", Unit::Text),
                ("unit", Unit::Text),
                ("process", Unit::Count),
                ("value", Unit::Ratio),
            ])
            .map(|(n, u)| Column::new(n, u))
            .collect(),
        rows: vec![],
    };
    for r in of.rows.iter().filter(|r| r.level == "capture") {
        for (s, (side, note)) in [("base", &of.base), ("new", &of.new)].into_iter().enumerate() {
            for (n, value) in r.values[s].iter().enumerate() {
                table.rows.push(vec![
                    Cell::Count(note.began),
                    side.into(),
                    r.capture.as_str().into(),
                    r.plan.as_str().into(),
                    r.metric.as_str().into(),
                    r.unit.into(),
                    Cell::Count(n as u64),
                    Cell::Number(*value),
                ]);
            }
        }
    }
    table
}

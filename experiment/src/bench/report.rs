//! What `bench` prints of a run: each capture's and plan's figures, and how well they are known.

use super::budget::INTERRUPTED;
use super::known::{clock, half_of, half_of_change};
use analyses::report::{Cell, Cost, Report, Table, medians};
use analyses::times::bench::{PLANS, REFUSED, calls};
use analyses::verdict::compare::{Clock, processes};
use analyses::verdict::{Metric, figure, values};
use trace::run::{RefusedPlan, Run, RunNote};

/// What is printed: each capture's and plan's figures.
pub fn report(run: &Run) -> Report {
    let clock = clock(run);
    let words = if clock == Clock::Gpu { "GPU" } else { "CPU" };
    let n = &run.note;
    let mut report = Report::new("bench", &format!("{} processes, {words} times of frames", n.workers.len()));
    report.cost = Cost::Unknown {
        why: "a pair of timestamps stands around each submission; finer ones are in turns of their own"
            .into(),
    };
    let mut rows = vec![];
    for (c, capture) in n.captures.iter().enumerate() {
        for (p, plan) in n.plans.iter().enumerate() {
            let side = processes(run, (c, p), clock);
            let of = |metric| values(&side, metric).map(|v| figure(&v, metric));
            let number = |metric| of(metric).map_or(Cell::Missing, Cell::Number);
            let percent = |half: Option<f64>| half.map_or(Cell::Missing, |h| Cell::Number(100.0 * h));
            let turns: usize = side.iter().map(Vec::len).sum();
            rows.push(vec![
                capture.name.as_str().into(),
                plan.name.as_str().into(),
                Cell::Count(side.len() as u64),
                Cell::Count(turns as u64),
                number(Metric::Median),
                percent(half_of(run, (c, p), clock)),
                percent(half_of_change(run, (c, p), clock).filter(|_| p > 0)),
                number(Metric::Mean),
                number(Metric::P99),
            ]);
        }
    }
    for of in rows.chunks(n.plans.len().max(1)).take(2) {
        let known: Vec<(&str, f64)> =
            of.iter().zip(&n.plans).filter_map(|(r, p)| Some((p.name.as_str(), r[4].number()?))).collect();
        report.headlines.extend(medians(&known).map(|said| match (&of[0][0], n.captures.len()) {
            (Cell::Text(capture), 2..) => format!("{capture}: {said}"),
            _ => said,
        }));
    }
    report.tables.push(PLANS.table(rows));
    let calls = calls(run);
    if !calls.rows.is_empty() {
        report.tables.push(calls);
    }
    if !n.refused.is_empty() {
        report.tables.push(refused(n));
        report.notes.extend(n.refused.iter().map(sentence));
    }
    let why = match n.stopped.as_str() {
        "tight" if n.plans.len() > 1 => "Every change is known well enough.",
        "tight" => "Every median is known well enough.",
        "budget" => "Time was out.",
        INTERRUPTED => "It was interrupted: what processes had measured to their end is kept.",
        _ => "All processes ran.",
    };
    report.notes.push(format!("{why} {:.0} s.", n.wall.0 as f64 / 1e9));
    if n.plans.len() > 1 {
        let first = &n.plans[0].name;
        report.notes.push(format!(
            "The change is that of the median against plan {first}, process by process of those that were alive together."
        ));
    }
    report.notes.push(
        "Figures are geometric means over processes; those that a process has too few frames for are missing.".into(),
    );
    report.notes.extend(n.notes.iter().cloned());
    let mut said: Vec<&String> = n.workers.iter().flat_map(|w| &w.notes).collect();
    said.sort();
    said.dedup();
    report.notes.extend(said.into_iter().map(|s| format!("{s}.")));
    report
}

/// The refused plans as a table.
fn refused(note: &RunNote) -> Table {
    let row = |r: &RefusedPlan| -> Vec<Cell> {
        let instead = r.instead.as_deref().map_or(Cell::Missing, Cell::from);
        vec![r.plan.as_str().into(), r.why.as_str().into(), instead]
    };
    REFUSED.table(note.refused.iter().map(row))
}

/// The same as a sentence.
fn sentence(r: &RefusedPlan) -> String {
    match &r.instead {
        None => format!("Plan {} is refused and was not timed: {}.", r.plan, r.why),
        Some(instead) => format!(
            "Plan {} is refused and was not timed: {}. That is rounding alone: the driver's compiler reorders arithmetic by what \
             stands around it, and where it may not, plan {instead}, nothing differs.",
            r.plan, r.why
        ),
    }
}

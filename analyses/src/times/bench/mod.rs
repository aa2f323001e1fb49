//! How the times of one frame lie under several plans of a run: as the application made it, and with swizzles of several methods
//! (Cheung 2024, §3.4).
//!
//! *Input.* For each plan the GPU time of each timed turn of all its processes, in the order in which they ran, and where it is known
//! SIMT efficiency: *synthetic*, of the swizzle and the rays that were recorded without it, and *actual*, counted again with the
//! swizzle in force. In each round the processes of every plan take one turn, in a seeded order, each from the same state of the
//! device's memory; so what drifts, drifts for all alike.
//!
//! *Definitions.* Percentiles are those of `stats`. IQR is p75 − p25; *outliers* lie more than 1.5 IQR
//! below p25 or above p75. Bands: `bands.rs`.
//! Efficiency is event-level (Cheung 2024, §3.1.2; `rays/events/event_level.rs`): Σ popcount(m) / (Σ 1 · N) over calls that trace and
//! entries of intersection, any-hit, miss and closest-hit shaders.
//!
//! *Caveats.* This describes turns, and turns of one process are not independent of each other: whether a plan changes times is for a
//! verdict to say, which takes a process as a unit (docs/compare.md). Each turn begins on an idle device unless it is kept busy. Actual
//! efficiency is counted by probes, in replays of their own.

mod bands;
mod calls;
mod columns;
mod plan;
#[cfg(test)]
mod tests;

pub use bands::{Band, bands};
pub use calls::calls;
pub(crate) use columns::SHEETS;
pub use columns::{CLOCKS, PLANS, REFUSED};
pub use plan::{About, Calls, Plan};

use crate::context::Context;
use crate::rays::events::{ALL, Occupancy};
use crate::report::shapes::{Distribution, Group, Node, Tree};
use crate::report::sheet::Meaning;
use crate::report::{Cell, Column, Mark, Report, Series, Table, Unit, medians};
use crate::shaders::simt;
use crate::stats::Stats;
use trace::run::{FrameSample, Run};
use trace::{Source, Unreadable};

/// The first plan: the application's own shaders.
pub const UNMODIFIED: &str = "unmodified";
/// The honest baseline.
pub const IDENTITY: &str = "identity";

/// A run's plans: every timed turn of a capture's frames, in the order in which they ran.
pub fn plans(run: &Run, capture: usize) -> Vec<Plan> {
    let of = |(n, plan): (usize, &trace::plan::Plan)| {
        let own = |f: &&FrameSample| {
            run.note.workers.get(f.worker).is_some_and(|w| (w.capture, w.plan) == (capture, n))
        };
        let mut turns: Vec<&FrameSample> = run.frames.iter().filter(|f| f.timed).filter(own).collect();
        turns.sort_by_key(|f| (f.position, f.frame));
        Plan { name: plan.name.clone(), times: turns.iter().map(|f| f.gpu).collect(), ..Plan::default() }
    };
    run.note.plans.iter().enumerate().map(of).collect()
}

/// The report; the first plan is what others are held against.
pub fn report(about: &About, plans: &[Plan]) -> Report {
    let mut report = Report::new("bench", &format!("Frame {} under {} plans", about.frame, plans.len()));
    let known: Vec<(&str, f64)> =
        plans.iter().filter_map(|p| Some((p.name.as_str(), p.sample().median()? / 1e6))).collect();
    report.headlines.extend(medians(&known));
    report.tables = vec![times(plans), spread(plans), band_table(plans), efficiencies(plans)];
    report.tables.retain(|t| !t.rows.is_empty());
    report.series = plans.iter().filter_map(histogram).chain(plans.iter().filter_map(course)).collect();
    report.distributions = vec![Distribution {
        name: "plans".into(),
        title: format!("Times of frame {}", about.frame),
        groups: plans.iter().filter(|p| p.times.iter().any(Option::is_some)).map(group).collect(),
    }];
    report.trees.extend(efficiency(plans));
    report.notes = about.notes.clone();
    let rounds = plans.iter().map(|p| p.times.len()).max().unwrap_or(0);
    for p in plans {
        let timed = p.times.iter().flatten().count();
        if timed < rounds {
            report.notes.push(format!("{}: {timed} of {rounds} turns have a GPU time.", p.name));
        }
    }
    report.cost = about.cost.clone();
    report
}

fn number(n: Option<f64>) -> Cell {
    n.filter(|n| n.is_finite()).map_or(Cell::Missing, Cell::Number)
}

fn ms(n: f64) -> Cell {
    Cell::Number(n / 1e6)
}

fn times(plans: &[Plan]) -> Table {
    let row = |p: &Plan| {
        let (s, summary) = (p.sample(), p.summary()?);
        let percentile = |at: f64| number(s.percentile(at).map(|n| n / 1e6));
        let outliers = s.values().iter().filter(|v| summary.is_outlier(**v as f64)).count() as u64;
        Some(vec![
            p.name.as_str().into(),
            Cell::Count(s.count() as u64),
            number(s.mean().map(|m| m / 1e6)),
            ms(summary.at[2]),
            ms(summary.at[3] - summary.at[1]),
            number(s.deviation().map(|d| d / 1e6)),
            percentile(0.0),
            percentile(99.0),
            percentile(100.0),
            Cell::Count(outliers),
            Cell::Number(100.0 * outliers as f64 / s.count() as f64),
        ])
    };
    columns::TIMES.table(plans.iter().filter_map(row))
}

const PERCENTILES: [f64; 9] = [1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0];

fn spread(plans: &[Plan]) -> Table {
    let row = |p: &Plan| {
        let s = p.sample();
        s.mean()?;
        let mut row = vec![Cell::from(p.name.as_str())];
        row.extend(PERCENTILES.map(|at| number(s.percentile(at).map(|n| n / 1e6))));
        Some(row)
    };
    let columns = |m: &Meaning| PERCENTILES.map(|p| Column::new(format!("p{p}"), m.unit)).into();
    columns::PERCENTILES.table_with(columns, plans.iter().filter_map(row))
}

fn band_table(plans: &[Plan]) -> Table {
    let rows = plans.iter().flat_map(|p| {
        let all = bands(&p.sample());
        let row = move |(n, b): (usize, Band)| {
            let name = p.name.as_str().into();
            let number = Cell::Count(n as u64 + 1);
            vec![name, number, ms(b.at), ms(b.from), ms(b.to), Cell::Number(100.0 * b.share)]
        };
        all.into_iter().enumerate().map(row).collect::<Vec<_>>()
    });
    columns::BANDS.table(rows)
}

/// Figure 3.8 of the thesis in numbers; changes are against identity.
fn efficiencies(plans: &[Plan]) -> Table {
    let identity = plans.iter().find(|p| p.name == IDENTITY);
    let change = |n: Option<f64>, of: Option<f64>| number(n.zip(of).map(|(a, b)| 100.0 * (a / b - 1.0)));
    let row = |p: &Plan| {
        p.synthetic.or(p.actual)?;
        Some(vec![
            p.name.as_str().into(),
            number(p.synthetic),
            change(p.synthetic, identity.and_then(|i| i.synthetic)),
            number(p.actual),
            change(p.actual, identity.and_then(|i| i.actual)),
        ])
    };
    columns::EFFICIENCY.table(plans.iter().filter_map(row))
}

/// The same as bars (Cheung 2024, Figure 3.8); none where nothing is known.
fn efficiency(plans: &[Plan]) -> Option<Tree> {
    let node = |depth, name: &str, value: Option<f64>| Node {
        depth,
        name: name.to_owned(),
        values: vec![value.map_or(Cell::Missing, Cell::Number)],
    };
    let known = plans.iter().filter(|p| p.actual.or(p.synthetic).is_some());
    let nodes: Vec<Node> = known
        .flat_map(|p| {
            let of =
                [("actual", p.actual), ("synthetic", p.synthetic)].into_iter().filter(|of| of.1.is_some());
            [node(0, &p.name, None)].into_iter().chain(of.map(|(what, value)| node(1, what, value)))
        })
        .collect();
    let columns = vec![Column::new("efficiency", Unit::Percent)];
    let (name, title) = ("simt_efficiency".to_owned(), "SIMT efficiency of events of rays".to_owned());
    (!nodes.is_empty()).then_some(Tree { name, title, columns, nodes })
}

/// The times in an HDR histogram's buckets, as question frame-times has them.
fn histogram(plan: &Plan) -> Option<Series> {
    let stats: Stats = plan.times.iter().flatten().copied().collect();
    (stats.count() > 0).then(|| Series {
        name: format!("histogram_{}", plan.name),
        ..columns::HISTOGRAM.series(
            &plan.name,
            Mark::Bars,
            stats.buckets().map(|(at, n)| (Cell::Number(at.as_millis()), Cell::Count(n))),
        )
    })
}

/// Every turn's time.
fn course(plan: &Plan) -> Option<Series> {
    let points = (1..)
        .zip(&plan.times)
        .filter_map(|(round, time)| time.map(|t| (Cell::Count(round), Cell::Number(t.as_millis()))));
    let points: Vec<_> = points.collect();
    (!points.is_empty()).then(|| Series {
        name: format!("times_{}", plan.name),
        ..columns::COURSES.series(&plan.name, Mark::Line, points)
    })
}

/// Where a plan's times are.
fn group(plan: &Plan) -> Group {
    let name = &plan.name;
    Group { name: name.clone(), course: format!("times_{name}"), histogram: format!("histogram_{name}") }
}

/// Actual SIMT efficiency of a frame's rays, in percent, from what pass `simt` counted; none without events.
pub fn actual(trace: &dyn Source, frame: u64) -> Result<Option<f64>, Unreadable> {
    let events = simt::events(trace, &Context::read(trace)?, Some(frame))?;
    Ok(events.get(ALL).and_then(Occupancy::percent))
}

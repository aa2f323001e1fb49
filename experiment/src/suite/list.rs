//! `suite list`: what a suite file measures, and which shard does.

use super::read::Read;
use super::shard::Shard;
use analyses::report::{Cell, Column, Cost, Report, Table, Unit};

/// A suite's units as a report; where a shard is named, with what is in it.
pub fn list(of: &Read, shard: Option<Shard>) -> Report {
    let Read { suite, units, shards, .. } = of;
    let whole: f64 = units.iter().map(|u| u.cost).sum();
    let mut report = Report::new("suite", &format!("{}: {} units", suite.name, units.len()));
    report.cost = Cost::Nothing { why: "nothing was replayed".into() };
    let column = |name: &str, unit| Column::new(name, unit);
    let columns = vec![
        column("unit", Unit::Text),
        column("capture", Unit::Text),
        column("frame", Unit::Count),
        column("plans", Unit::Text),
        column("processes", Unit::Count),
        column("share", Unit::Percent),
        column("shard", Unit::Count),
    ];
    let rows = units.iter().zip(shards).map(|(u, at)| {
        vec![
            u.name.as_str().into(),
            u.file.as_str().into(),
            u.frame.map_or(Cell::Missing, Cell::Count),
            u.plans.join(", ").into(),
            Cell::Count(u.processes.into()),
            Cell::Number(100.0 * u.cost / whole),
            Cell::Count((*at).into()),
        ]
    });
    report.tables.push(Table { name: "units".into(), columns, rows: rows.collect() });
    if let Some(s) = shard {
        let mine: Vec<f64> = units.iter().zip(shards).filter(|u| *u.1 == s.index).map(|u| u.0.cost).collect();
        report.notes.push(format!(
            "Shard {} of {}: {} of {} units, {:.1} % of the work.",
            s.index,
            s.of,
            mine.len(),
            units.len(),
            100.0 * mine.iter().sum::<f64>() / whole
        ));
    }
    report
        .notes
        .push("Without a frame a capture is replayed whole. Processes are those of each plan.".into());
    report
}

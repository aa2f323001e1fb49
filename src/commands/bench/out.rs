//! The folder that a study leaves.
//!
//! ```text
//! report.txt, report.json     the tables, as text and as JSON
//! TABLE.csv                   changes, times, percentiles, bands, efficiency, histogram_PLAN
//! iterations.csv              every iteration: position, round, plan, nanoseconds; warm-up rounds have none
//! order.csv                   which plan ran when
//! FIGURE.svg, FIGURE.png      efficiency, violins, times_PLAN
//! manifest.json               capture, device, driver, clocks, seed
//! swizzles/                   METHOD_frameF_launchL.swizzle and .npy
//! rays/, efficiency/PLAN/     the traces
//! ```

use super::maps::plain;
use super::order::Turn;
use crate::cli::BenchArgs;
use crate::exit::Failure;
use crate::output::write_file;
use analyses::bench::{Plan, figures};
use analyses::report::{Cell, Column, Report, Table, Unit, csv, json, text};
use serde_json::Value;
use std::path::Path;

/// Writes all of it but what is there already.
pub fn write(
    to: &Path,
    report: &Report,
    plans: &[Plan],
    args: &BenchArgs,
    turns: &[Turn],
    manifest: &Value,
) -> Result<(), Failure> {
    let put = |name: &str, bytes: &[u8]| write_file(&to.join(name), bytes);
    put("report.txt", text::render(report).as_bytes())?;
    put("report.json", json::render(report).as_bytes())?;
    for table in report.sheets() {
        put(&format!("{}.csv", plain(&table.name)), csv::render(&table).as_bytes())?;
    }
    put("order.csv", csv::render(&iterations(plans, args, turns, false)).as_bytes())?;
    put("iterations.csv", csv::render(&iterations(plans, args, turns, true)).as_bytes())?;
    for picture in figures(plans, args.frame) {
        put(&format!("{}.svg", plain(&picture.name)), picture.figure.svg().as_bytes())?;
        put(&format!("{}.png", plain(&picture.name)), &picture.figure.png().map_err(Failure::new)?)?;
    }
    let manifest = serde_json::to_string_pretty(manifest).map_err(Failure::new)? + "\n";
    put("manifest.json", manifest.as_bytes())
}

/// A row an iteration, in the order in which they ran.
fn iterations(plans: &[Plan], args: &BenchArgs, turns: &[Turn], timed: bool) -> Table {
    let mut columns = vec![
        Column::new("position", Unit::Count),
        Column::new("round", Unit::Count),
        Column::new("plan", Unit::Text),
    ];
    if timed {
        columns.push(Column::new("gpu", Unit::Nanoseconds));
    }
    let row = |(position, turn): (usize, &Turn)| {
        let plan = &plans[turn.plan];
        let mut row =
            vec![Cell::Count(position as u64), Cell::Count(turn.round.into()), plan.name.as_str().into()];
        if timed {
            let time = turn.round.checked_sub(args.warmup).and_then(|r| *plan.times.get(r as usize)?);
            row.push(time.map_or(Cell::Missing, |n| Cell::Count(n.0)));
        }
        row
    };
    Table { name: "iterations".into(), columns, rows: turns.iter().enumerate().map(row).collect() }
}

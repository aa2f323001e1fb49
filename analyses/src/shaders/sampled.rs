//! How far estimates may be off: intervals of what a report says of a trace in which some shaders counted a sample.
//!
//! *Definition.* The work that counted is in G groups, by a hash, and each group alone gives an estimate of everything
//! (`profile`'s `rewrite/sampling.rs`). The report is made again from the trace without each group in turn. Of a number θ with
//! θ₋ᵢ without group i, the standard error is √((G−1)/G · Σ (θ₋ᵢ − θ̄)²), and the interval at 99 % is θ ± t · that, with
//! Student's t for G − 1 degrees of freedom (delete-a-group jackknife; Kott 2001, "The Delete-a-Group Jackknife", Journal of Official
//! Statistics 17). Half of it stands in a column "± NAME" behind the number's own.
//!
//! *Caveats.* A number that only one group knows anything of has no interval, and what no group met is not seen at all: a block that
//! seldom runs may be missing. Units are drawn by their work, so that the same pixel of several draws is in the sample or not in
//! all of them; groups see that. Where nothing was sampled, the report is as it is without this.

use crate::report::{Cell, Column, Report, Table};
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::collections::{BTreeMap, HashMap};
use trace::tables::{SAMPLED, SAMPLES};
use trace::{Columns, Memory, Parts, Source, Unreadable, Value};

/// The level of the intervals.
const LEVEL: f64 = 0.99;

/// An answer, with intervals where a sample counted. `measured`: how many columns of a table, its last ones, are numbers that may
/// be estimates.
pub fn answer(
    trace: &dyn Source,
    table: &'static trace::Table,
    measured: impl Fn(&Table) -> usize,
    of: impl Fn(&dyn Source) -> Result<Report, Unreadable>,
) -> Result<Report, Unreadable> {
    let mut report = of(trace)?;
    let samples = trace.read(&SAMPLES)?;
    if samples.is_empty() {
        return Ok(report);
    }
    let groups = samples.u64("groups").iter().copied().max().unwrap_or(0);
    let without = (0..groups).map(|g| of(&Without::group(trace, table, groups, g)?));
    let without: Vec<Report> = without.collect::<Result<_, Unreadable>>()?;
    for n in 0..report.tables.len() {
        let columns = measured(&report.tables[n]);
        let others: Vec<&Table> = without.iter().map(|r| &r.tables[n]).collect();
        intervals(&mut report.tables[n], &others, columns);
    }
    let of = |every: &u64| format!("one in {every}");
    let mut everies = samples.u64("every").to_vec();
    everies.sort_unstable();
    everies.dedup();
    report.notes.push(format!(
        "Of {} entry points a sample counted ({}): their numbers are estimates, and the columns with ± say how far they may be off at {} %.",
        samples.len(),
        everies.iter().map(of).collect::<Vec<_>>().join(", "),
        LEVEL * 100.0
    ));
    Ok(report)
}

/// Puts a column with the interval behind each of a table's last columns, from the same tables without each group.
fn intervals(table: &mut Table, without: &[&Table], measured: usize) {
    let keys = table.columns.len() - measured;
    let key = |row: &[Cell]| format!("{:?}", &row[..keys]);
    let rows: Vec<HashMap<String, &Vec<Cell>>> =
        without.iter().map(|t| t.rows.iter().map(|r| (key(r), r)).collect()).collect();
    for row in &mut table.rows {
        let key = key(row);
        for column in (keys..keys + measured).rev() {
            let of = |r: &HashMap<String, &Vec<Cell>>| r.get(&key)?.get(column)?.number();
            let all: Option<Vec<f64>> = rows.iter().map(of).collect();
            row.insert(column + 1, all.and_then(|all| half(&all)).map_or(Cell::Missing, Cell::Number));
        }
    }
    for column in (keys..keys + measured).rev() {
        let Column { name, unit } = table.columns[column].clone();
        table.columns.insert(column + 1, Column::new(format!("± {name}"), unit));
    }
}

/// Half of the interval, from what the number is without each group.
fn half(without: &[f64]) -> Option<f64> {
    let g = without.len() as f64;
    let mean = without.iter().sum::<f64>() / g;
    let squares: f64 = without.iter().map(|x| (x - mean).powi(2)).sum();
    let t = StudentsT::new(0.0, 1.0, g - 1.0).ok()?.inverse_cdf(1.0 - (1.0 - LEVEL) / 2.0);
    Some(t * ((g - 1.0) / g * squares).sqrt())
}

/// A trace without what one group counted.
struct Without<'t> {
    trace: &'t dyn Source,
    table: &'static trace::Table,
    rows: Memory,
}

impl<'t> Without<'t> {
    fn group(
        trace: &'t dyn Source,
        table: &'static trace::Table,
        groups: u64,
        group: u64,
    ) -> Result<Self, Unreadable> {
        let sampled = SAMPLED.iter().find(|s| s.of.name == table.name).expect("it may hold estimates");
        let (all, parts) = (trace.read(table)?, trace.read(sampled.groups)?);
        let estimated: Vec<u64> = trace.read(&SAMPLES)?.u64("entry").to_vec();
        let (entries, mut rows) = (all.u64("entry"), Memory::default());
        let names: Vec<&str> = table.columns.iter().map(|c| c.name).collect();
        let row = |of: &Columns, n: usize| names.iter().map(|c| of.u64(c)[n]).collect::<Vec<u64>>();
        let mut put = |row: &[u64]| rows.put(table, &row.iter().map(|&n| Value::U64(n)).collect::<Vec<_>>());
        (0..all.len()).filter(|&n| !estimated.contains(&entries[n])).for_each(|n| put(&row(&all, n)));
        // What the others say of everything, as if they had been all that there is.
        let is_sum = |n: usize| sampled.sums.contains(&names[n]);
        let mut sums: BTreeMap<Vec<u64>, Vec<u128>> = BTreeMap::new();
        for n in (0..parts.len()).filter(|&n| parts.u64("group")[n] != group) {
            let row = row(&parts, n);
            let key = (0..row.len()).filter(|&c| !is_sum(c)).map(|c| row[c]).collect();
            let into = sums.entry(key).or_insert_with(|| vec![0; row.len()]);
            into.iter_mut().zip(&row).for_each(|(sum, &n)| *sum += u128::from(n));
        }
        for (key, sums) in sums {
            let mut key = key.into_iter();
            let left = u128::from(groups - 1).max(1);
            let scaled = |n: u128| ((n * u128::from(groups) + left / 2) / left) as u64;
            let of = |c: usize| if is_sum(c) { scaled(sums[c]) } else { key.next().unwrap_or(0) };
            let row: Vec<u64> = (0..sums.len()).map(of).collect();
            put(&row);
        }
        Ok(Without { trace, table, rows })
    }
}

impl Source for Without<'_> {
    fn read(&self, table: &'static trace::Table) -> Result<Columns, Unreadable> {
        if table.name == self.table.name { self.rows.read(table) } else { self.trace.read(table) }
    }

    fn parts(
        &self,
        table: &'static trace::Table,
        columns: &[&str],
    ) -> Result<Box<dyn Parts + '_>, Unreadable> {
        let of: &dyn Source = if table.name == self.table.name { &self.rows } else { self.trace };
        of.parts(table, columns)
    }
}

#[cfg(test)]
mod tests;

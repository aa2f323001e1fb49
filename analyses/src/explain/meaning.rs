//! What a column means, and the columns of a table.
//!
//! Guarantees: columns are held to their names, units and order. Describes no table itself.

use crate::report::{Column, Table, Unit};

/// A column: its name and unit as a report has them, and what a number in it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// The column's name, or several with `|` between where it depends on what was asked for; [`OTHERS`] stands for any number
    /// of columns.
    pub name: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Its unit where subgroups were counted instead of invocations.
    pub or: Option<Unit>,
    /// What it says, in a line.
    pub about: &'static str,
}

impl Meaning {
    fn is(&self, column: &Column) -> bool {
        self.name.split('|').any(|n| n == column.name)
            && [Some(self.unit), self.or].contains(&Some(column.unit))
    }
}

/// Stands for columns whose names and number are of the capture or driver.
pub const OTHERS: &str = "…";

/// What a column says that stands behind an estimate.
const INTERVAL: &str =
    "half of the interval in which the number before it lies at 99 %, where a sample counted";

/// A table of a report, or a series as a table of two columns.
#[derive(Clone, Copy, Debug)]
pub struct Sheet {
    /// Its name; with `*` at its end the beginning of several names.
    pub table: &'static str,
    /// What a row is, in a line.
    pub about: &'static str,
    /// Its columns in order, in groups that tables share.
    pub columns: &'static [&'static [Meaning]],
}

impl Sheet {
    /// The columns, one after the other.
    pub fn meanings(&self) -> impl Iterator<Item = &'static Meaning> + Clone + use<> {
        self.columns.iter().flat_map(|group| group.iter())
    }

    /// Whether it describes the table of this name.
    pub(super) fn is(&self, table: &str) -> bool {
        self.table.strip_suffix('*').map_or(self.table == table, |start| table.starts_with(start))
    }

    /// What each of these columns means; or the first that is not described, or is described and missing. An interval is
    /// described by what it stands behind.
    pub(super) fn of(&self, table: &Table) -> Result<Vec<&'static str>, String> {
        let columns = &table.columns;
        let is_interval = |n: usize| {
            n > 0
                && *columns[n].name == format!("± {}", columns[n - 1].name)
                && columns[n].unit == columns[n - 1].unit
        };
        let numbers: Vec<&Column> =
            (0..columns.len()).filter(|&n| !is_interval(n)).map(|n| &columns[n]).collect();
        let mut found = self.of_numbers(&numbers)?.into_iter();
        let of = |n| if is_interval(n) { Some(INTERVAL) } else { found.next() };
        Ok((0..columns.len()).filter_map(of).collect())
    }

    fn of_numbers(&self, columns: &[&Column]) -> Result<Vec<&'static str>, String> {
        let mut found = vec![];
        let mut columns = columns.iter();
        let mut wanted = self.meanings();
        while let Some(m) = wanted.next() {
            if m.name == OTHERS {
                let others = columns.len().saturating_sub(wanted.clone().count());
                found.extend(columns.by_ref().take(others).map(|_| m.about));
                continue;
            }
            match columns.next() {
                Some(c) if m.is(c) => found.push(m.about),
                Some(c) => return Err(format!("{} ({:?})", c.name, c.unit)),
                None => return Err(format!("{}, which is described and not there", m.name)),
            }
        }
        match columns.next() {
            Some(c) => Err(format!("{} ({:?})", c.name, c.unit)),
            None => Ok(found),
        }
    }
}

/// A column of one unit.
pub(super) const fn m(name: &'static str, unit: Unit, about: &'static str) -> Meaning {
    Meaning { name, unit, or: None, about }
}

/// Counted by invocations, or by subgroups.
pub(super) const fn either(name: &'static str, about: &'static str) -> Meaning {
    Meaning { name, unit: Unit::Invocations, or: Some(Unit::Subgroups), about }
}

//! What a column means, and the columns of a table: a question says them once, and builds its tables of that.
//!
//! Guarantees: a table that is made of its sheet has its columns, with their names, units and order; of one that is not, columns are
//! held to these. Describes no table itself.

use super::{Cell, Column, Mark, Series, Table, Unit};

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
    /// What its cells name, where that is something which other tables name, too.
    pub thing: Option<Thing>,
}

/// What several tables name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thing {
    /// A frame, by its number.
    Frame,
    /// A draw, dispatch or trace, by its number in the frame.
    Draw,
    /// A render pass, by its number in the frame.
    Pass,
    /// A pipeline, by its id or name; its shaders may stand behind it.
    Pipeline,
    /// A shader, or several, by the first digits of their hashes.
    Shader,
    /// A basic block of the row's shader, by its label.
    Block,
    /// A line of the row's shader's source: file and number.
    Line,
}

impl Thing {
    /// Its name on pages.
    pub fn name(self) -> &'static str {
        match self {
            Thing::Frame => "frame",
            Thing::Draw => "draw",
            Thing::Pass => "pass",
            Thing::Pipeline => "pipeline",
            Thing::Shader => "shader",
            Thing::Block => "block",
            Thing::Line => "line",
        }
    }
}

impl Meaning {
    /// Its cells name such things.
    pub(crate) const fn names(self, thing: Thing) -> Meaning {
        Meaning { thing: Some(thing), ..self }
    }

    /// The column, where its name and unit do not depend on anything.
    pub fn column(&self) -> Column {
        Column::new(self.name, self.unit)
    }

    /// Whether what it is depends on what was asked for or recorded.
    fn is_open(&self) -> bool {
        self.name == OTHERS || self.name.contains('|') || self.or.is_some()
    }

    fn is(&self, column: &Column) -> bool {
        self.name.split('|').any(|n| n == column.name)
            && [Some(self.unit), self.or].contains(&Some(column.unit))
    }
}

/// Stands for columns whose names and number are of the capture or driver.
pub const OTHERS: &str = "…";

/// What a column is that stands behind an estimate.
const INTERVAL: Meaning = m(
    "±",
    Unit::Text,
    "half of the interval in which the number before it lies at 99 %, where a sample counted",
);

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
    /// A table of it: these rows under its columns.
    pub fn table(&self, rows: impl IntoIterator<Item = Vec<Cell>>) -> Table {
        self.table_with(|m| vec![m.column()], rows)
    }

    /// The same where columns depend on what was asked for or recorded: `open` says what comes in the place of one that has several
    /// names or units, or is [`OTHERS`].
    pub fn table_with(
        &self,
        open: impl Fn(&Meaning) -> Vec<Column>,
        rows: impl IntoIterator<Item = Vec<Cell>>,
    ) -> Table {
        let columns = self.meanings().flat_map(|m| if m.is_open() { open(m) } else { vec![m.column()] });
        Table { name: self.table.into(), columns: columns.collect(), rows: rows.into_iter().collect() }
    }

    /// A series of it, whose columns are two: these points. Who has several gives each a name of its own.
    pub fn series(&self, title: &str, mark: Mark, points: impl IntoIterator<Item = (Cell, Cell)>) -> Series {
        let mut columns = self.meanings().map(Meaning::column);
        let [x, y] = std::array::from_fn(|_| columns.next().expect("a series has two columns"));
        let points = points.into_iter().collect();
        Series { name: self.table.into(), title: title.to_owned(), mark, x, y, points }
    }

    /// The columns, one after the other.
    pub fn meanings(&self) -> impl Iterator<Item = &'static Meaning> + Clone + use<> {
        self.columns.iter().flat_map(|group| group.iter())
    }

    /// Whether it describes the table of this name.
    pub(crate) fn is(&self, table: &str) -> bool {
        self.table.strip_suffix('*').map_or(self.table == table, |start| table.starts_with(start))
    }

    /// The meaning of each of these columns; or the first that is not described, or is described and missing. An interval is
    /// described by what it stands behind.
    pub(crate) fn of(&self, table: &Table) -> Result<Vec<&'static Meaning>, String> {
        let columns = &table.columns;
        let is_interval = |n: usize| {
            n > 0
                && *columns[n].name == format!("± {}", columns[n - 1].name)
                && columns[n].unit == columns[n - 1].unit
        };
        let numbers: Vec<&Column> =
            (0..columns.len()).filter(|&n| !is_interval(n)).map(|n| &columns[n]).collect();
        let mut found = self.of_numbers(&numbers)?.into_iter();
        let of = |n| if is_interval(n) { Some(&INTERVAL) } else { found.next() };
        Ok((0..columns.len()).filter_map(of).collect())
    }

    fn of_numbers(&self, columns: &[&Column]) -> Result<Vec<&'static Meaning>, String> {
        let mut found = vec![];
        let mut columns = columns.iter();
        let mut wanted = self.meanings();
        while let Some(m) = wanted.next() {
            if m.name == OTHERS {
                let others = columns.len().saturating_sub(wanted.clone().count());
                found.extend(columns.by_ref().take(others).map(|_| m));
                continue;
            }
            match columns.next() {
                Some(c) if m.is(c) => found.push(m),
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

/// A table, what a row of it is, and its columns.
pub(crate) const fn sheet(
    table: &'static str,
    about: &'static str,
    columns: &'static [&'static [Meaning]],
) -> Sheet {
    Sheet { table, about, columns }
}

/// A column of one unit.
pub(crate) const fn m(name: &'static str, unit: Unit, about: &'static str) -> Meaning {
    Meaning { name, unit, or: None, about, thing: None }
}

/// Counted by invocations, or by subgroups.
pub(crate) const fn either(name: &'static str, about: &'static str) -> Meaning {
    Meaning { name, unit: Unit::Invocations, or: Some(Unit::Subgroups), about, thing: None }
}

//! A table's records in memory, by columns; and where analyses get them from.

use crate::table::{Kind, Table, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One column's values.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnData {
    /// Whole numbers.
    U64(Vec<u64>),
    /// Numbers.
    F64(Vec<f64>),
    /// Words.
    Text(Vec<Arc<str>>),
}

impl ColumnData {
    /// So many more rows, of which nothing is known.
    pub(crate) fn grow(&mut self, rows: usize) {
        match self {
            ColumnData::U64(c) => c.resize(c.len() + rows, 0),
            ColumnData::F64(c) => c.resize(c.len() + rows, 0.0),
            ColumnData::Text(c) => c.resize(c.len() + rows, "".into()),
        }
    }
}

/// Records of one table.
#[derive(Clone, Debug, PartialEq)]
pub struct Columns {
    table: &'static Table,
    columns: Vec<ColumnData>,
}

impl Columns {
    /// None yet.
    pub fn new(table: &'static Table) -> Self {
        let of = |kind| match kind {
            Kind::U64 => ColumnData::U64(vec![]),
            Kind::F64 => ColumnData::F64(vec![]),
            Kind::Text => ColumnData::Text(vec![]),
        };
        Columns { table, columns: table.columns.iter().map(|c| of(c.kind)).collect() }
    }

    /// Adds one.
    ///
    /// # Panics
    /// If the values are not one of its kind for each column: that is a mistake in a pass.
    pub fn push(&mut self, values: &[Value<'_>]) {
        assert_eq!(values.len(), self.columns.len(), "table {}", self.table.name);
        for (column, value) in self.columns.iter_mut().zip(values) {
            match (column, value) {
                (ColumnData::U64(c), Value::U64(v)) => c.push(*v),
                (ColumnData::F64(c), Value::F64(v)) => c.push(*v),
                (ColumnData::Text(c), Value::Text(v)) => c.push((*v).into()),
                (column, value) => panic!("table {}: {value:?} in {column:?}", self.table.name),
            }
        }
    }

    /// Takes all rows away; the room stays.
    pub fn clear(&mut self) {
        self.columns.iter_mut().for_each(|c| match c {
            ColumnData::U64(c) => c.clear(),
            ColumnData::F64(c) => c.clear(),
            ColumnData::Text(c) => c.clear(),
        });
    }

    /// The table that they are of.
    pub fn table(&self) -> &'static Table {
        self.table
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        // (columns that were not asked for are empty)
        let rows = |c: &ColumnData| match c {
            ColumnData::U64(c) => c.len(),
            ColumnData::F64(c) => c.len(),
            ColumnData::Text(c) => c.len(),
        };
        self.columns.iter().map(rows).max().unwrap_or(0)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn column(&self, name: &str) -> &ColumnData {
        let at = self.table.columns.iter().position(|c| c.name == name);
        &self.columns[at.unwrap_or_else(|| panic!("table {} has no column {name}", self.table.name))]
    }

    /// All columns, as the table has them.
    pub fn columns(&self) -> &[ColumnData] {
        &self.columns
    }

    /// The same, to add rows to; each must get as many.
    pub(crate) fn columns_mut(&mut self) -> &mut [ColumnData] {
        &mut self.columns
    }

    /// A column of whole numbers.
    ///
    /// # Panics
    /// If the table has no such column: that is a mistake in an analysis.
    pub fn u64(&self, name: &str) -> &[u64] {
        match self.column(name) {
            ColumnData::U64(c) => c,
            _ => panic!("{}.{name} holds no whole numbers", self.table.name),
        }
    }

    /// A column of numbers.
    ///
    /// # Panics
    /// As [`Columns::u64`].
    pub fn f64(&self, name: &str) -> &[f64] {
        match self.column(name) {
            ColumnData::F64(c) => c,
            _ => panic!("{}.{name} holds no numbers", self.table.name),
        }
    }

    /// A column of words.
    ///
    /// # Panics
    /// As [`Columns::u64`].
    pub fn text(&self, name: &str) -> &[Arc<str>] {
        match self.column(name) {
            ColumnData::Text(c) => c,
            _ => panic!("{}.{name} holds no words", self.table.name),
        }
    }
}

/// A table in parts, which may be read in any order and on any thread: rows of a part come after those of the parts before.
pub trait Parts: Sync {
    /// How many parts there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows of a part, of the columns that were asked for; what was there before goes.
    fn read(&self, part: usize, into: &mut Columns) -> Result<(), Unreadable>;
}

/// Where analyses get records from. A table that nothing was recorded in is empty.
pub trait Source: Sync {
    /// All records of a table, in the order in which they were recorded.
    fn read(&self, table: &'static Table) -> Result<Columns, Unreadable>;

    /// The same records, some at a time, so that a long table need not be in memory as a whole.
    fn each(
        &self,
        table: &'static Table,
        take: &mut dyn FnMut(&Columns) -> Result<(), Unreadable>,
    ) -> Result<(), Unreadable> {
        take(&self.read(table)?)
    }

    /// The same, of these columns alone: what others hold is not said, so that they need not be unpacked.
    ///
    /// # Panics
    /// If the table has no column of such a name: that is a mistake in an analysis.
    fn each_of(
        &self,
        table: &'static Table,
        columns: &[&str],
        take: &mut dyn FnMut(&Columns) -> Result<(), Unreadable>,
    ) -> Result<(), Unreadable> {
        table.chosen(columns);
        self.each(table, take)
    }

    /// The same, for several threads at once.
    ///
    /// # Panics
    /// As [`Source::each_of`].
    fn parts(&self, table: &'static Table, columns: &[&str]) -> Result<Box<dyn Parts + '_>, Unreadable>;
}

/// Why a table cannot be read: what is wrong, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable(pub String);

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreadable {}

/// Records that lie in memory only: for tests, and for what is analysed at once.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    tables: BTreeMap<&'static str, Columns>,
}

impl Memory {
    /// Adds a record.
    pub fn put(&mut self, table: &'static Table, values: &[Value<'_>]) {
        self.tables.entry(table.name).or_insert_with(|| Columns::new(table)).push(values);
    }
}

impl Source for Memory {
    fn read(&self, table: &'static Table) -> Result<Columns, Unreadable> {
        Ok(self.tables.get(table.name).cloned().unwrap_or_else(|| Columns::new(table)))
    }

    fn each(
        &self,
        table: &'static Table,
        take: &mut dyn FnMut(&Columns) -> Result<(), Unreadable>,
    ) -> Result<(), Unreadable> {
        self.tables.get(table.name).map_or(Ok(()), take)
    }
    fn parts(&self, table: &'static Table, columns: &[&str]) -> Result<Box<dyn Parts + '_>, Unreadable> {
        Ok(Box::new(Whole { rows: self.tables.get(table.name), chosen: table.chosen(columns) }))
    }
}

/// A table in memory: one part.
struct Whole<'a> {
    rows: Option<&'a Columns>,
    chosen: Vec<bool>,
}

impl Parts for Whole<'_> {
    fn len(&self) -> usize {
        usize::from(self.rows.is_some())
    }

    fn read(&self, _: usize, into: &mut Columns) -> Result<(), Unreadable> {
        into.clear();
        let Some(rows) = self.rows else { return Ok(()) };
        let both = into.columns.iter_mut().zip(&rows.columns).zip(&self.chosen);
        both.filter(|(_, chosen)| **chosen).for_each(|((to, from), _)| to.clone_from(from));
        Ok(())
    }
}

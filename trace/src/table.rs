//! What a table of records is: its columns, their kinds and units.

/// A kind of record, as a table: a row each.
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name: of its file, of exports.
    pub name: &'static str,
    /// What a row says.
    pub about: &'static str,
    /// Goes up when a column comes, changes its meaning, or goes.
    pub version: u32,
    /// Its columns.
    pub columns: &'static [Column],
}

impl Table {
    /// The columns, by their places, of a file of this version; none where it has others than columns that came since.
    pub(crate) fn of_version(&self, version: u32) -> Option<Vec<usize>> {
        let came = |v: u32| self.columns.iter().any(|c| c.since == v);
        let known = (1..=self.version).contains(&version) && (version + 1..=self.version).all(came);
        let there = self.columns.iter().enumerate().filter(|(_, c)| c.since <= version);
        known.then(|| there.map(|(n, _)| n).collect())
    }

    /// Which of its columns have these names.
    ///
    /// # Panics
    /// If it has no column of such a name.
    pub(crate) fn chosen(&self, names: &[&str]) -> Vec<bool> {
        for name in names {
            assert!(self.columns.iter().any(|c| c.name == *name), "table {} has no column {name}", self.name);
        }
        self.columns.iter().map(|c| names.contains(&c.name)).collect()
    }
}

/// A column of a [`Table`].
#[derive(Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What its values are.
    pub kind: Kind,
    /// What they count or measure.
    pub unit: &'static str,
    /// What they mean.
    pub about: &'static str,
    /// The version of its table with which it came. Of an earlier one's rows it is 0, or nothing.
    pub since: u32,
}

impl Column {
    /// The same, which came with this version of its table.
    pub const fn since(self, since: u32) -> Column {
        Column { since, ..self }
    }

    /// Whether its values may be added up, as far as its unit says: they are neither names of something nor points in time.
    /// Nanoseconds are added as [`crate::Nanos`], which stay at the largest value.
    pub fn adds_up(&self) -> bool {
        const NAMES: [&str; 18] = [
            "",
            "number",
            "index",
            "id",
            "words",
            "flag",
            "bits",
            "ticks",
            "ns",
            "line",
            "layout",
            "block",
            "aspects",
            "address",
            "0 or 1",
            "byte or place",
            "work id",
            "stages",
        ];
        self.kind == Kind::U64 && !NAMES.contains(&self.unit) && !self.unit.starts_with("Vk")
    }
}

/// What a column's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers.
    U64,
    /// Numbers.
    F64,
    /// Words.
    Text,
}

/// One value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A whole number.
    U64(u64),
    /// A number.
    F64(f64),
    /// Words.
    Text(&'a str),
}

/// A whole number's column.
pub const fn count(name: &'static str, unit: &'static str, about: &'static str) -> Column {
    Column { name, kind: Kind::U64, unit, about, since: 1 }
}

/// A column of words.
pub const fn text(name: &'static str, about: &'static str) -> Column {
    Column { name, kind: Kind::Text, unit: "", about, since: 1 }
}

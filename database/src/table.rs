//! What a table of the database is: columns with a kind, a unit and a meaning, its key and its indexes.
//!
//! A description is written into the database beside the rows (`schema_tables`, `schema_columns`), so that a database explains
//! itself wherever it goes. Refuses nothing.

use std::borrow::Cow;

/// Words that are mostly known beforehand.
pub type Word = Cow<'static, str>;

/// A table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name in SQL.
    pub name: Word,
    /// What a row is.
    pub about: Word,
    /// Its columns.
    pub columns: Vec<Column>,
    /// The first column is the key: a row each.
    pub keyed: bool,
    /// Columns to find rows by, an index each.
    pub indexes: Vec<Vec<Word>>,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name in SQL.
    pub name: Word,
    /// What its values are.
    pub kind: Kind,
    /// What they count or measure; empty for words.
    pub unit: Word,
    /// What they mean.
    pub about: Word,
}

/// What a column's values are; any may be NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers of 64 bits.
    Integer,
    /// Numbers.
    Real,
    /// Words.
    Text,
}

impl Kind {
    /// Its type in SQL.
    pub fn sql(self) -> &'static str {
        match self {
            Kind::Integer => "INTEGER",
            Kind::Real => "REAL",
            Kind::Text => "TEXT",
        }
    }
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// There is none.
    Null,
    /// A whole number. One of 2^63 and more is the negative number of the same bits, as SQL has no others.
    Integer(i64),
    /// A number.
    Real(f64),
    /// Words.
    Text(Box<str>),
    /// Words that the program knows.
    Word(&'static str),
}

impl From<u64> for Value {
    fn from(n: u64) -> Value {
        Value::Integer(n.cast_signed())
    }
}

impl From<u32> for Value {
    fn from(n: u32) -> Value {
        Value::Integer(n.into())
    }
}

impl From<i32> for Value {
    fn from(n: i32) -> Value {
        Value::Integer(n.into())
    }
}

impl From<i64> for Value {
    fn from(n: i64) -> Value {
        Value::Integer(n)
    }
}

impl From<usize> for Value {
    fn from(n: usize) -> Value {
        Value::from(n as u64)
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Value {
        Value::Integer(b.into())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text.into())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Null, Into::into)
    }
}

/// An id, or NULL where it is 0: there is no object.
pub fn id(id: u64) -> Value {
    if id == 0 { Value::Null } else { id.into() }
}

/// A number of bytes, or NULL where it stands for all that is left.
pub fn rest(bytes: u64) -> Value {
    if bytes == u64::MAX { Value::Null } else { bytes.into() }
}

/// A name as SQL quotes it.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

impl Table {
    /// A table whose first column is its key, if `keyed`; `indexes` name columns, separated by commas.
    pub fn new(
        name: &'static str,
        about: &'static str,
        keyed: bool,
        columns: &[Column],
        indexes: &[&'static str],
    ) -> Table {
        let parts = |of: &&'static str| of.split(',').map(Cow::Borrowed).collect();
        Table {
            name: name.into(),
            about: about.into(),
            columns: columns.to_vec(),
            keyed,
            indexes: indexes.iter().map(parts).collect(),
        }
    }

    /// The statement that makes it.
    pub fn create(&self) -> String {
        let column = |(i, c): (usize, &Column)| {
            let key = if self.keyed && i == 0 { " PRIMARY KEY" } else { "" };
            format!("{} {}{key}", quoted(&c.name), c.kind.sql())
        };
        let columns: Vec<String> = self.columns.iter().enumerate().map(column).collect();
        format!("CREATE TABLE {} ({})", quoted(&self.name), columns.join(", "))
    }

    /// The statement that puts a row into it.
    pub fn insert(&self) -> String {
        let places = vec!["?"; self.columns.len()].join(", ");
        format!("INSERT INTO {} VALUES ({places})", quoted(&self.name))
    }

    /// The statements that make its indexes.
    pub fn index(&self) -> impl Iterator<Item = String> + '_ {
        self.indexes.iter().map(|columns| {
            let names: Vec<String> = columns.iter().map(|c| quoted(c)).collect();
            let name = quoted(&format!("{}_by_{}", self.name, columns.join("_")));
            format!("CREATE INDEX {name} ON {} ({})", quoted(&self.name), names.join(", "))
        })
    }
}

/// A column of whole numbers.
pub const fn count(name: &'static str, unit: &'static str, about: &'static str) -> Column {
    let [name, unit, about] = [Cow::Borrowed(name), Cow::Borrowed(unit), Cow::Borrowed(about)];
    Column { name, kind: Kind::Integer, unit, about }
}

/// A column of words.
pub const fn text(name: &'static str, about: &'static str) -> Column {
    Column {
        name: Cow::Borrowed(name),
        kind: Kind::Text,
        unit: Cow::Borrowed(""),
        about: Cow::Borrowed(about),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_quote_names() {
        let t = Table::new("a\"b", "", true, &[count("set", "index", ""), text("order", "")], &["order,set"]);
        assert_eq!(t.create(), "CREATE TABLE \"a\"\"b\" (\"set\" INTEGER PRIMARY KEY, \"order\" TEXT)");
        assert_eq!(t.insert(), "INSERT INTO \"a\"\"b\" VALUES (?, ?)");
        let index: Vec<String> = t.index().collect();
        assert_eq!(index, ["CREATE INDEX \"a\"\"b_by_order_set\" ON \"a\"\"b\" (\"order\", \"set\")"]);
    }

    #[test]
    fn what_is_not_there_is_null() {
        assert_eq!((id(0), id(7)), (Value::Null, Value::Integer(7)));
        assert_eq!((rest(u64::MAX), rest(5)), (Value::Null, Value::Integer(5)));
        assert_eq!(Value::from(u64::MAX), Value::Integer(-1), "the same bits");
    }
}

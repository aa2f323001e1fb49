//! Tables: rows of cells under columns that carry a unit.
//!
//! Guarantees: a unit says what its numbers count or measure, and how many digits tell them apart. Refuses nothing; whoever
//! fills a table gives every row a cell for each column.

use serde::{Deserialize, Serialize};

/// Rows under columns. Every row has a cell for each column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Its name in exports.
    pub name: String,
    /// What the columns are.
    pub columns: Vec<Column>,
    /// The rows, from top to bottom.
    pub rows: Vec<Vec<Cell>>,
}

/// What a column's cells, or an axis's values, are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Its name; two columns may share one when their units differ.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
}

impl Column {
    /// A column of this name and unit.
    pub fn new(name: impl Into<String>, unit: Unit) -> Column {
        Column { name: name.into(), unit }
    }
}

/// What a number counts or measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Unit {
    /// No number: words.
    Text,
    /// Whole things, counted or numbered.
    Count,
    /// Milliseconds.
    Milliseconds,
    /// Frames in a second.
    FramesPerSecond,
    /// Hundredths.
    Percent,
    /// Bytes.
    Bytes,
    /// Invocations of a shader.
    Invocations,
    /// Subgroups: full or not.
    Subgroups,
    /// How often something ran.
    Executions,
    /// Instructions: of the module where nothing else is said.
    Instructions,
    /// A share of 1, or one number over another.
    Ratio,
    /// Pixels.
    Pixels,
    /// Nanoseconds.
    Nanoseconds,
    /// Cycles of the clock that a shader reads.
    Cycles,
}

impl Unit {
    /// As it stands under a column's name; empty where the name says it all.
    pub fn symbol(self) -> &'static str {
        match self {
            Unit::Text | Unit::Count | Unit::Ratio => "",
            Unit::Milliseconds => "ms",
            Unit::FramesPerSecond => "FPS",
            Unit::Percent => "%",
            Unit::Bytes => "bytes",
            Unit::Invocations => "invocations",
            Unit::Subgroups => "subgroups",
            Unit::Executions => "executions",
            Unit::Instructions => "instructions",
            Unit::Pixels => "pixels",
            Unit::Nanoseconds => "ns",
            Unit::Cycles => "cycles",
        }
    }

    /// Digits behind the point that tell numbers of this unit apart for a reader.
    pub fn decimals(self) -> usize {
        match self {
            Unit::Milliseconds => 3,
            Unit::Ratio => 4,
            Unit::FramesPerSecond => 1,
            Unit::Percent => 2,
            // (numbers of whole things are means and the like)
            Unit::Invocations | Unit::Subgroups | Unit::Executions | Unit::Instructions => 2,
            Unit::Nanoseconds | Unit::Cycles => 1,
            Unit::Text | Unit::Count | Unit::Bytes | Unit::Pixels => 0,
        }
    }
}

/// One value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    /// A whole number.
    Count(u64),
    /// A measured or derived number. (In JSON, one that is not finite becomes [`Cell::Missing`].)
    Number(f64),
    /// Words.
    Text(String),
    /// There is no value here.
    Missing,
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl Cell {
    /// A number between whole ones or one of them, as the percentile of counts is: a count where it is whole.
    pub fn whole(number: f64) -> Cell {
        match number.fract() == 0.0 && (0.0..=9e15).contains(&number) {
            true => Cell::Count(number as u64),
            false => Cell::Number(number),
        }
    }

    /// The number in it, if there is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Cell::Count(n) => Some(*n as f64),
            Cell::Number(n) => Some(*n).filter(|n| n.is_finite()),
            Cell::Text(_) | Cell::Missing => None,
        }
    }

    /// A part of a whole in hundredths; nothing of nothing.
    pub fn share(part: impl Into<u128>, whole: impl Into<u128>) -> Cell {
        match (part.into(), whole.into()) {
            (_, 0) => Cell::Missing,
            (part, whole) => Cell::Number(100.0 * part as f64 / whole as f64),
        }
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Cell {
        Cell::Count(count)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Cell {
        Cell::Number(number)
    }
}

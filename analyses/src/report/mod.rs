//! What an analysis answers with: tables whose columns carry a unit, series, images, notes, and what measuring
//! cost.
//!
//! A report holds numbers, not their looks: how many digits to print, and how wide, is the exporter's affair.

pub mod csv;
pub mod escape;
mod font;
pub mod html;
pub mod json;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod perfetto;
pub mod plot;
pub mod png;
pub mod records;
pub mod shapes;
mod sketch;
pub mod summary;
pub mod text;

use serde::{Deserialize, Serialize};
use shapes::{Distribution, Listing, Timeline, Tree};
use trace::Nanos;

/// The version of the report's shape in JSON. It goes up by one when a field changes its meaning or goes.
pub const SCHEMA_VERSION: u32 = 1;

/// An analysis's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA_VERSION`] of the build that made it.
    pub schema_version: u32,
    /// The analysis's name.
    pub analysis: String,
    /// A heading for people.
    pub title: String,
    /// Short tables, the most important first.
    pub tables: Vec<Table>,
    /// Curves and histograms.
    pub series: Vec<Series>,
    /// Pictures, a value a pixel.
    pub images: Vec<Image>,
    /// Which series are samples of one thing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distributions: Vec<Distribution>,
    /// What is made of parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trees: Vec<Tree>,
    /// What took place when. Not in JSON: the trace's tables have it.
    #[serde(skip)]
    pub timelines: Vec<Timeline>,
    /// Texts with values beside their lines. Not in JSON: the trace's tables have them.
    #[serde(skip)]
    pub listings: Vec<Listing>,
    /// Whole files that are an answer by themselves: annotated shaders, timelines, pictures. Written to a folder, and nowhere else.
    #[serde(skip)]
    pub files: Vec<File>,
    /// What a reader has to know to read the numbers rightly; a sentence each.
    pub notes: Vec<String>,
    /// Checks that failed: what the records say cannot be. A sentence each; `analyze` ends with exit code 5 if there are any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<String>,
    /// What measuring cost. Every report says so.
    pub cost: Cost,
}

impl Report {
    /// An answer with nothing in it yet, whose cost is not known.
    pub fn new(analysis: &str, title: &str) -> Report {
        Report {
            schema_version: SCHEMA_VERSION,
            analysis: analysis.to_owned(),
            title: title.to_owned(),
            tables: vec![],
            series: vec![],
            images: vec![],
            distributions: vec![],
            trees: vec![],
            timelines: vec![],
            listings: vec![],
            files: vec![],
            notes: vec![],
            failures: vec![],
            cost: crate::context::cost(),
        }
    }
}

impl Report {
    /// Everything in it that is rows under columns: its tables, and its series as tables of two columns. Their names are
    /// unique.
    pub fn sheets(&self) -> Vec<Table> {
        let series = self.series.iter().map(|s| Table {
            name: s.name.clone(),
            columns: vec![s.x.clone(), s.y.clone()],
            rows: s.points.iter().map(|(x, y)| vec![x.clone(), y.clone()]).collect(),
        });
        let mut all: Vec<Table> = vec![];
        for mut t in self.tables.iter().cloned().chain(series) {
            while all.iter().any(|other| other.name == t.name) {
                t.name.push('_');
            }
            all.push(t);
        }
        all
    }
}

/// What measuring changed about the thing measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Cost {
    /// Measured as well: the same work, with and without the measuring.
    Measured {
        /// What took these times.
        of: String,
        /// Without measuring.
        without: Nanos,
        /// With it.
        with: Nanos,
    },
    /// Nothing, and why: for what is derived without running anything.
    Nothing {
        /// Why.
        why: String,
    },
    /// Not known, and why.
    Unknown {
        /// Why.
        why: String,
    },
}

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

/// Points in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Its name in exports.
    pub name: String,
    /// A word for people.
    pub title: String,
    /// How it is drawn.
    pub mark: Mark,
    /// What a point's first value is.
    pub x: Column,
    /// What a point's second value is.
    pub y: Column,
    /// The points.
    pub points: Vec<(Cell, Cell)>,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// A value over each x; the x need not be in order.
    Line,
    /// A histogram: `x` is where a bucket begins, rising; `y` is how many fell into it. Empty buckets are left
    /// out.
    Bars,
}

/// A file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name: a name only, with its ending, and no folder.
    pub name: String,
    /// What is in it, in a line.
    pub about: String,
    /// What is in it: bytes, as pictures are files too.
    pub content: Vec<u8>,
}

/// A value a pixel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Image {
    /// Its name in exports.
    pub name: String,
    /// A word for people.
    pub title: String,
    /// What a pixel's value is.
    pub value: Column,
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// The values, row by row from the top; a pixel without one is not a number.
    #[serde(deserialize_with = "pixels")]
    pub pixels: Vec<f32>,
}

/// JSON has no NaN: a pixel without a value is null there.
fn pixels<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<f32>, D::Error> {
    let all = Vec::<Option<f32>>::deserialize(from)?;
    Ok(all.into_iter().map(|v| v.unwrap_or(f32::NAN)).collect())
}

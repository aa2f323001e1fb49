//! Shapes of an answer beside tables: series, images, distributions, trees, timelines, listings and files.
//!
//! They are there so that an exporter can draw what an analysis means without knowing which analysis it was.

use super::table::{Cell, Column};
use serde::{Deserialize, Serialize};

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

impl Series {
    /// Points that are numbers on both axes.
    pub fn numbers(&self) -> Vec<(f64, f64)> {
        let finite = |c: &Cell| c.number().filter(|n| n.is_finite());
        self.points.iter().filter_map(|(x, y)| Some((finite(x)?, finite(y)?))).collect()
    }
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

/// A picture as it was seen: PNG.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// A word for people.
    pub title: String,
    /// What it shows, in a line.
    pub about: String,
    /// The render pass of the frame behind which it was taken, if it was.
    pub pass: Option<u64>,
    /// The file.
    pub png: Vec<u8>,
}

/// JSON has no NaN: a pixel without a value is null there.
fn pixels<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<f32>, D::Error> {
    let all = Vec::<Option<f32>>::deserialize(from)?;
    Ok(all.into_iter().map(|v| v.unwrap_or(f32::NAN)).collect())
}

/// Series that are samples of one thing under several circumstances, to be held against each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Distribution {
    /// Its name in exports.
    pub name: String,
    /// A word for people.
    pub title: String,
    /// Who is held against whom, the one that others are held against first.
    pub groups: Vec<Group>,
}

/// One of a distribution's samples. Its series are the report's, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// What it is called.
    pub name: String,
    /// The series of single values in the order in which they were taken.
    pub course: String,
    /// The series that has how many values fell into which bucket.
    pub histogram: String,
}

impl Distribution {
    /// Its groups with the series of their values, of those that the list has.
    pub fn courses<'a>(&'a self, series: &'a [Series]) -> impl Iterator<Item = (&'a Group, &'a Series)> {
        self.groups.iter().filter_map(|g| Some((g, series.iter().find(|s| s.name == g.course)?)))
    }
}

/// What is made of parts that are made of parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tree {
    /// Its name in exports; a table of the same name says the same as rows.
    pub name: String,
    /// A word for people.
    pub title: String,
    /// What a node's values are; the last is a share of the whole, if its unit is percent.
    pub columns: Vec<Column>,
    /// Every node, each before its parts.
    pub nodes: Vec<Node>,
}

/// A node of a tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// How many nodes it lies within.
    pub depth: u32,
    /// Its name.
    pub name: String,
    /// A value a column.
    pub values: Vec<Cell>,
}

/// What took place from when to when, side by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// Its name in exports.
    pub name: String,
    /// A word for people.
    pub title: String,
    /// What times are.
    pub time: Column,
    /// What a span's `value` is.
    pub value: Column,
    /// The frame whose draws and passes kinds name, where they name any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<u64>,
    /// The lanes, from top to bottom; lanes of the same name belong together.
    pub lanes: Vec<String>,
    /// What takes place.
    pub kinds: Vec<SpanKind>,
    /// The spans by begin. Those of one lane do not overlap.
    pub spans: Vec<Span>,
}

/// What spans are of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpanKind {
    /// In full.
    pub name: String,
    /// What gets one colour.
    pub group: String,
}

/// From when to when.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// Its lane's place in the list.
    pub lane: u32,
    /// Its kind's place in the list.
    pub kind: u32,
    /// When it began.
    pub begin: f64,
    /// When it ended.
    pub end: f64,
    /// Its value.
    pub value: f64,
}

/// A text with values beside some of its lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    /// Its name in exports.
    pub name: String,
    /// A word for people.
    pub title: String,
    /// What the values beside a line are; of the first, more is hotter.
    pub columns: Vec<Column>,
    /// The lines.
    pub lines: Vec<Line>,
}

/// A line of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// It, without its end.
    pub text: String,
    /// The values beside it: nothing, or a set a column. A line may have several sets.
    pub values: Vec<Vec<Cell>>,
}

//! Shapes of an answer beside tables, series and images: distributions, trees, timelines and listings.
//!
//! They are there so that an exporter can draw what an analysis means without knowing which analysis it was.

use super::{Cell, Column, Series};
use serde::{Deserialize, Serialize};

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
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// Its name in exports.
    pub name: String,
    /// A word for people.
    pub title: String,
    /// What times are.
    pub time: Column,
    /// What a span's `value` is.
    pub value: Column,
    /// The lanes, from top to bottom; lanes of the same name belong together.
    pub lanes: Vec<String>,
    /// What takes place.
    pub kinds: Vec<SpanKind>,
    /// The spans by begin. Those of one lane do not overlap.
    pub spans: Vec<Span>,
}

/// What spans are of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpanKind {
    /// In full.
    pub name: String,
    /// What gets one colour.
    pub group: String,
}

/// From when to when.
#[derive(Clone, Copy, Debug, PartialEq)]
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

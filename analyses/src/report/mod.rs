//! What an analysis answers with: tables whose columns carry a unit, series, images, notes, and what measuring
//! cost.
//!
//! A report holds numbers, not their looks: how many digits to print, and how wide, is the exporter's affair.

mod bins;
pub mod csv;
pub mod escape;
mod font;
mod headline;
pub mod html;
pub mod json;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod perfetto;
pub mod plot;
pub mod png;
#[cfg(test)]
pub mod printed;
pub mod records;
pub mod shapes;
pub mod sheet;
mod sketch;
pub mod summary;
mod table;
pub mod text;

pub use headline::{capitalized, counted, medians, most, percent, share};
pub use shapes::{File, Image, Mark, Picture, Series};
pub use table::{Cell, Column, Table, Unit};

use serde::{Deserialize, Serialize};
use shapes::{Distribution, Listing, Timeline, Tree};
use trace::Nanos;

/// Rows of a table, and spans of a timeline, that a page still takes.
pub const MOST_ROWS: usize = 20_000;

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
    /// The answer, in sentences that can be read without the tables, the most important first; empty where nobody has put it so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headlines: Vec<String>,
    /// Short tables, the most important first.
    pub tables: Vec<Table>,
    /// Curves and histograms.
    pub series: Vec<Series>,
    /// Pictures, a value a pixel.
    pub images: Vec<Image>,
    /// Pictures as they were seen, those that belong together in threes: before, after, where they differ. On the page alone.
    #[serde(skip)]
    pub pictures: Vec<Picture>,
    /// Which series are samples of one thing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distributions: Vec<Distribution>,
    /// What is made of parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trees: Vec<Tree>,
    /// What took place when.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
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
            headlines: vec![],
            tables: vec![],
            series: vec![],
            images: vec![],
            pictures: vec![],
            distributions: vec![],
            trees: vec![],
            timelines: vec![],
            listings: vec![],
            files: vec![],
            notes: vec![],
            failures: vec![],
            // (`analyze` puts what the manifest says in its place)
            cost: Cost::Unknown { why: "the frame was not timed without the probes".into() },
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

//! A capture as a database: calls, objects, frames, submissions, what command buffers hold and what the device runs, as
//! tables of SQL; beside them the tables of traces and the answers to questions.
//!
//! ```text
//! capture -> calls -> world (the one tracker) -> rows -+-> SQLite
//! traces, answers ------------------------------> rows-+
//! ```
//!
//! Guarantees: what a call's arguments are is what `gfxr_parse::print` prints, what objects are and what is bound is what
//! `world` knows: nothing is followed a second time here. A database explains itself: every table and column with its unit
//! and meaning is in its tables `schema_tables` and `schema_columns`. The same inputs give the same rows. Refuses nothing of its
//! own: blocks that cannot be read are counted and left out.
#![forbid(unsafe_code)]

pub mod answers;
pub mod capture;
pub mod diff;
mod error;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod print;
pub mod query;
pub mod schema;
pub mod table;
pub mod times;
pub mod traces;
mod words;
mod writer;

pub use error::Error;
pub use writer::{TableId, Writer};

//! What a change is: what became of a command, a call, an object or written bytes, where, and how often.
//!
//! Guarantees: it names no id and no address. Refuses nothing.

use super::found::Kind;
use crate::query::Database;
use gfxr_parse::container::Capture;
use std::collections::BTreeSet;

/// A capture and its database.
pub struct Side<'c> {
    /// What it is called.
    pub name: String,
    /// The capture.
    pub capture: &'c Capture,
    /// Its database.
    pub db: &'c Database,
}

/// What became of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum What {
    /// Both have it, and it differs.
    Changed,
    /// Only the second has it.
    Added,
    /// Only the first has it.
    Removed,
}

impl What {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            What::Changed => "changed",
            What::Added => "added",
            What::Removed => "removed",
        }
    }
}

/// A member that differs: where, and what it is on either side.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Member {
    /// Its path.
    pub path: String,
    /// In the first capture; empty if it has none.
    pub a: String,
    /// In the second.
    pub b: String,
}

impl Member {
    pub(super) fn new(path: &str, a: &str, b: &str) -> Member {
        Member { path: path.to_owned(), a: a.to_owned(), b: b.to_owned() }
    }
}

/// A change, which may repeat.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What became of it.
    pub what: What,
    /// Of what kind it is.
    pub kind: Kind,
    /// What it is: a command with its number, an object with its name.
    pub subject: String,
    /// Of commands the labels around, of calls what they are about.
    pub place: String,
    /// What differs in it.
    pub members: Vec<Member>,
    /// Of shaders: their text, as a unified diff.
    pub shader: Option<String>,
    /// The frames, of either side.
    pub frames: [BTreeSet<u64>; 2],
    /// How often it is run, called or written.
    pub times: [u64; 2],
    /// The first block of either side that has it.
    pub blocks: [Option<u64>; 2],
    /// Mean GPU time in nanoseconds, where the databases have times.
    pub time_ns: [Option<f64>; 2],
    /// Of objects: how many draws, dispatches and traces have it bound.
    pub reaches: Option<u64>,
}

//! What a replay says about itself besides its results: how much was called, what was answered from the capture, what
//! diverged. Everything is counted; only the first of each kind keeps its text.

use std::collections::BTreeMap;

/// See the module's header.
#[derive(Debug, Default)]
pub struct Report {
    /// Calls run.
    pub calls: u64,
    /// Blocks that could not be decoded, with the first messages.
    pub undecoded: Tally,
    /// Divergences that were passed over.
    pub divergences: Tally,
    /// Things done differently from the capture, by what was done.
    pub notes: BTreeMap<String, u64>,
    /// What the validation layers said, if they were on.
    pub validation: Vec<String>,
}

/// A count with its first few texts.
#[derive(Debug, Default)]
pub struct Tally {
    /// How many.
    pub count: u64,
    /// The first of them.
    pub first: Vec<String>,
}

/// How many texts a [`Tally`] keeps.
const KEEP: usize = 16;

impl Tally {
    /// One more.
    pub fn add(&mut self, text: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.len() < KEEP {
            self.first.push(text());
        }
    }
}

impl Report {
    /// One more thing done differently.
    pub fn note(&mut self, what: &str) {
        match self.notes.get_mut(what) {
            Some(n) => *n += 1,
            None => {
                self.notes.insert(what.to_string(), 1);
            }
        }
    }
    /// One more divergence passed over.
    pub fn divergence(&mut self, e: &crate::error::Error) {
        self.divergences.add(|| e.to_string());
    }
}

//! What a change did and what it could not reach, counted, for the replay's notes.
//!
//! Guarantees: a change that did nothing says so. Refuses nothing.

use replay::exec::Executor;
use std::collections::BTreeMap;

/// How what a replay notes of a change begins.
pub const NOTE: &str = "change ";

/// See the module's header.
pub struct Tally {
    change: &'static str,
    done: BTreeMap<&'static str, u64>,
    beyond: BTreeMap<&'static str, u64>,
}

impl Tally {
    /// Of this change.
    pub fn new(change: &'static str) -> Self {
        Tally { change, done: BTreeMap::new(), beyond: BTreeMap::new() }
    }

    /// One thing was changed.
    pub fn done(&mut self, what: &'static str) {
        *self.done.entry(what).or_default() += 1;
    }

    /// So many could not be.
    pub fn beyond(&mut self, what: &'static str, n: u64) {
        *self.beyond.entry(what).or_default() += n;
    }

    /// The replay has ended: what is to be said goes into its report.
    pub fn say(&mut self, cx: &mut Executor) {
        let nothing = self.done.is_empty().then_some(("nothing that it is for came", 1));
        let all = std::mem::take(&mut self.done).into_iter().chain(std::mem::take(&mut self.beyond));
        for (what, n) in all.chain(nothing) {
            *cx.report.notes.entry(format!("{NOTE}{}: {what}", self.change)).or_default() += n;
        }
    }
}

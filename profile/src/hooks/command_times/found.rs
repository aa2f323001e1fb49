//! What is asked of times, and what was found.
//!
//! Refuses nothing.

use std::collections::BTreeMap;
use std::time::Instant;
use trace::{Calibration, CommandCounters, CommandTime, CpuSpan, TimeNames};

/// How much is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Each submission.
    Submit,
    /// And in it labels, render passes, and what runs between passes.
    Pass,
    /// And in these each command that does work.
    Command,
}

/// What is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How much is timed.
    pub level: Level,
    /// Full barriers around each span.
    pub isolate: bool,
    /// Pipeline statistics are counted, too.
    pub statistics: bool,
    /// Names code by its content.
    pub hash: fn(&[u8]) -> String,
}

/// What the hook found; shared with whoever made it.
#[derive(Debug, Default)]
pub struct CommandTimes {
    /// The spans of each submission, in the order of submitting.
    pub records: Vec<CommandTime>,
    /// What was counted in them, in their order.
    pub counters: Vec<CommandCounters>,
    /// What the replay did on the CPU: each frame, then what lies within it.
    pub cpu: Vec<CpuSpan>,
    /// Moments on a device's clock and the CPU's.
    pub calibrations: Vec<Calibration>,
    /// Submissions so far, measured or not.
    pub submits: u64,
    /// When the CPU's clock began.
    pub origin: Option<Instant>,
    /// Query pools created, of those made ahead and after.
    pub pools_created: u64,
    /// What they refer to.
    pub names: TimeNames,
    /// What could not be timed, and how often.
    pub notes: BTreeMap<String, u64>,
}

impl CommandTimes {
    /// Something could not be timed.
    pub(super) fn note(&mut self, what: &str) {
        match self.notes.get_mut(what) {
            Some(n) => *n += 1,
            None => {
                self.notes.insert(what.to_owned(), 1);
            }
        }
    }
}

impl Settings {
    /// Whether command buffers are looked into.
    pub(super) fn inside(&self) -> bool {
        self.level > Level::Submit
    }
}

//! What a replay says about itself besides its results: how much was called, what was answered from the capture, what
//! diverged. Everything is counted; only the first of each kind keeps its text.

use crate::options::Bridge;
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
    /// Files that the capture names and that are not beside it, with how often blocks of theirs would have run.
    pub missing_files: BTreeMap<String, u64>,
    /// Calls that were left out because they need what those files hold.
    pub need_missing_files: Tally,
    /// Things done differently from the capture, by what was done.
    pub notes: BTreeMap<String, u64>,
    /// What bridging the differences between the captured device and this one took.
    pub bridges: BTreeMap<Bridge, BridgeCost>,
    /// What the validation layers said, if they were on.
    pub validation: Vec<String>,
}

/// What a bridge did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BridgeCost {
    /// Calls whose arguments were exchanged.
    pub changed: u64,
    /// Calls that the capture does not have.
    pub added: u64,
    /// Bytes of memory that the capture does not take.
    pub memory: u64,
    /// Bytes that commands of the bridge copy, each recording counted once.
    pub copied: u64,
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

/// A submission that was not done when the replay stopped, and as far as is known, where in it the device was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InFlight {
    /// Which submission of the replay, from 0.
    pub submit: u64,
    /// The block that submitted it.
    pub block: u64,
    /// The frame it was submitted in.
    pub frame: u64,
    /// The queue, by the capture's id.
    pub queue: u64,
    /// Whether the device had begun it, where that is known.
    pub begun: Option<bool>,
    /// The command buffer that was running, by the capture's id.
    pub command_buffer: Option<u64>,
    /// The commands of it among which is the one that ran: first and last, counted from 1.
    pub index: Option<(u32, u32)>,
    /// The first of them.
    pub command: Option<&'static str>,
    /// Debug labels around it, the outermost first.
    pub labels: Vec<String>,
}

impl std::fmt::Display for InFlight {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { submit, block, frame, queue, .. } = self;
        write!(f, "submission {submit} (block {block}, frame {frame}, queue {queue})")?;
        match (self.command_buffer, self.index, self.command) {
            (Some(c), Some((a, b)), Some(name)) => {
                write!(f, ": in command buffer {c} at command {a}, {name}")?;
                if a != b {
                    write!(f, ", or one after it up to command {b}")?;
                }
                if !self.labels.is_empty() {
                    write!(f, ", in {}", self.labels.join(" > "))?;
                }
                Ok(())
            }
            (Some(c), ..) => {
                write!(f, ": at the beginning of command buffer {c}, which waits for what came before")
            }
            _ if self.begun == Some(false) => write!(f, ": not begun"),
            _ => Ok(()),
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
        self.divergences.add(|| e.in_one_line());
    }
    /// Blocks of a file that is not there would run now.
    pub fn missing_file(&mut self, e: &gfxr_parse::error::Error) {
        *self.missing_files.entry(e.message().to_owned()).or_default() += 1;
    }
}

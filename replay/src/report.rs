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
    /// What its queue's checkpoints say.
    pub checkpoints: Option<Checkpoints>,
}

/// A recorded command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedCommand {
    /// Its command buffer, by the capture's id.
    pub command_buffer: u64,
    /// Its place in the recording, counted from 1.
    pub index: u32,
    /// Its name.
    pub command: &'static str,
    /// The block that recorded it.
    pub block: u64,
}

/// How far a queue came, as the driver of a lost device knows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checkpoints {
    /// The last command that had begun.
    pub begun: Option<RecordedCommand>,
    /// The first that is not known to be done: everything before it is.
    pub not_done: Option<RecordedCommand>,
    /// The last that is, of those that are marked in the same command buffer.
    pub done: Option<RecordedCommand>,
}

impl Checkpoints {
    /// The first and the last command of a command buffer that it may be.
    pub fn range_in(&self, command_buffer: u64) -> Option<(u32, u32)> {
        let here =
            |r: Option<RecordedCommand>| r.filter(|r| r.command_buffer == command_buffer).map(|r| r.index);
        let (from, to) = (here(self.not_done), here(self.begun));
        Some((from.or(to)?, to.max(from)?))
    }
    /// Of the commands of a command buffer that one may be, those that had begun and are not known to be done.
    pub fn narrow(&self, command_buffer: u64, (first, last): (u32, u32)) -> (u32, u32) {
        let here =
            |r: Option<RecordedCommand>| r.filter(|r| r.command_buffer == command_buffer).map(|r| r.index);
        let from = here(self.not_done).filter(|n| (first..=last).contains(n)).unwrap_or(first);
        let to = here(self.begun).filter(|n| (from..=last).contains(n)).unwrap_or(last);
        (from, to)
    }
}

impl std::fmt::Display for RecordedCommand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { command_buffer, index, command, block } = self;
        write!(f, "command {index} of command buffer {command_buffer}, {command} (block {block})")
    }
}

impl std::fmt::Display for Checkpoints {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(begun) = self.begun {
            write!(f, "the last command that began is {begun}")?;
        }
        if self.begun.is_some() && self.not_done.is_some() {
            f.write_str("; ")?;
        }
        match (self.done, self.not_done) {
            (Some(done), _) => write!(f, "the last that is known to be done is {done}"),
            (None, Some(first)) => write!(f, "the first that is not known to be done is {first}"),
            _ => Ok(()),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(command_buffer: u64, index: u32) -> Option<RecordedCommand> {
        Some(RecordedCommand { command_buffer, index, command: "vkCmdDraw", block: 100 + u64::from(index) })
    }

    #[test]
    fn checkpoints_leave_what_had_begun_and_is_not_done() {
        let c = Checkpoints { begun: recorded(7, 6), not_done: recorded(7, 5), done: None };
        assert_eq!(c.narrow(7, (3, 9)), (5, 6));
        assert_eq!(c.narrow(7, (6, 9)), (6, 6), "what is done is known better from the mark");
        assert_eq!(c.narrow(7, (7, 9)), (7, 9), "another run of the same recording");
        assert_eq!(c.narrow(8, (3, 9)), (3, 9), "another command buffer");
        let begun_only = Checkpoints { not_done: None, ..c };
        let ranges = [c.range_in(7), c.range_in(8), begun_only.range_in(7)];
        assert_eq!(ranges, [Some((5, 6)), None, Some((6, 6))]);
        assert_eq!(Checkpoints { begun: None, ..c }.narrow(7, (3, 9)), (5, 9));
    }

    #[test]
    fn checkpoints_are_said() {
        let c = Checkpoints { begun: recorded(7, 6), not_done: recorded(7, 5), done: recorded(7, 3) };
        assert_eq!(
            c.to_string(),
            "the last command that began is command 6 of command buffer 7, vkCmdDraw (block 106); the last that is known to \
             be done is command 3 of command buffer 7, vkCmdDraw (block 103)"
        );
        assert_eq!(
            Checkpoints { begun: None, done: None, ..c }.to_string(),
            "the first that is not known to be done is command 5 of command buffer 7, vkCmdDraw (block 105)"
        );
    }
}

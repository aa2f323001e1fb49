//! What became of a mutant, in one word.
//!
//! Guarantees: a crash that is not known to be the driver's counts as ours, and so does every hang and runaway. Refuses nothing.

use super::places::{Place, Whose};
use super::process::{End, Ended};

/// See the module's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// Replayed: what was wrong did no harm.
    Done,
    /// It ended with an error and said so on stderr; whether that names the block is not looked at here.
    Refused,
    /// An exit status or an error that says nothing.
    Unclear,
    /// The program panicked.
    Panic,
    /// It crashed, in its own code.
    Ours,
    /// It crashed in the driver.
    Driver,
    /// It did not end.
    Hang,
    /// It took too much memory.
    Runaway,
}

/// Exit statuses with a meaning: failed, diverged, hung or lost, no device.
const ERRORS: [i32; 4] = [1, 5, 6, 77];
/// What Rust ends with after a panic.
const PANIC: i32 = 101;
const PANICKED: &str = "panicked at";
/// What it says when there is no memory.
const NO_MEMORY: &str = "memory allocation of ";

impl Outcome {
    /// All there are.
    pub const ALL: [Outcome; 8] = [
        Self::Done,
        Self::Refused,
        Self::Unclear,
        Self::Panic,
        Self::Ours,
        Self::Driver,
        Self::Hang,
        Self::Runaway,
    ];
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        ["done", "refused", "unclear", "panic", "ours", "driver", "hang", "runaway"][self as usize]
    }
    /// What must not be.
    pub fn is_bad(self) -> bool {
        !matches!(self, Self::Done | Self::Refused | Self::Unclear)
    }
    /// What must not be, whatever the driver does.
    pub fn is_ours(self) -> bool {
        self.is_bad() && self != Self::Driver
    }

    /// What became of it; `place` is asked for where it crashed, if it did.
    pub fn of(ended: &Ended, place: Option<&Place>) -> Self {
        match ended.end {
            End::Late => Self::Hang,
            End::Large => Self::Runaway,
            _ if ended.text.contains(NO_MEMORY) => Self::Runaway,
            End::Exit(PANIC) => Self::Panic,
            _ if ended.text.contains(PANICKED) => Self::Panic,
            End::Exit(0) => Self::Done,
            End::Exit(status) if ERRORS.contains(&status) && !ended.text.trim().is_empty() => Self::Refused,
            End::Exit(_) => Self::Unclear,
            End::Signal(_) => match place.map(|p| p.whose) {
                Some(Whose::Driver) => Self::Driver,
                _ => Self::Ours,
            },
        }
    }
}

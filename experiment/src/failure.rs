//! How an experiment ends: exit codes, and the one type of failure that ends it early.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | done |
//! | 1 | failed: input that cannot be read, or that only in part could be; output that cannot be written |
//! | 2 | usage: flags that make no sense |
//! | 3 | `compare`: a regression |
//! | 4 | `compare`: inconclusive |
//! | 5 | verification failed, or the replay diverged from the capture |
//! | 6 | the GPU hung or was lost; what had finished until then is reported |
//! | 77 | no usable Vulkan device |
//!
//! Guarantees: a failure's message is escaped (`analyses::report::escape`): no name from a capture moves a terminal's cursor or begins
//! a line. Refuses nothing.

use analyses::report::escape;
use std::fmt;
use std::process::ExitCode;

/// See the module's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All went well.
    Done = 0,
    /// Something did not.
    Failed = 1,
    /// The command line makes no sense.
    Usage = 2,
    /// A run is slower than another.
    Regression = 3,
    /// Whether it is cannot be said.
    Inconclusive = 4,
    /// Verification failed, or the replay diverged.
    Diverged = 5,
    /// The device hangs or is lost.
    Gone = 6,
    /// No device here can do it.
    NoDevice = 77,
}

impl Exit {
    /// With which a process of this program that failed ended; [`Exit::Failed`] where the code says no more, or a signal ended it.
    pub fn of_failed(code: Option<i32>) -> Exit {
        let codes = [Exit::Usage, Exit::Diverged, Exit::Gone, Exit::NoDevice];
        codes.into_iter().find(|e| code == Some(*e as i32)).unwrap_or(Exit::Failed)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// Why the program ends early: with which code, after which message, whose line ends are ours.
#[derive(Debug)]
pub struct Failure(pub Exit, pub String);

impl Failure {
    /// Ends with this code.
    pub fn with(exit: Exit, message: impl fmt::Display) -> Self {
        Failure(exit, escape::line(&message.to_string()).into_owned())
    }
    /// Something failed.
    pub fn new(message: impl fmt::Display) -> Self {
        Failure::with(Exit::Failed, message)
    }
    /// The command line makes no sense.
    pub fn usage(message: impl fmt::Display) -> Self {
        Failure::with(Exit::Usage, message)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.1)
    }
}

impl From<gfxr_parse::error::Error> for Failure {
    fn from(e: gfxr_parse::error::Error) -> Self {
        Failure::new(e)
    }
}

//! This program again, as a process of its own: for what may not live in the same one as the rest (another driver, another device, a
//! driver that crashes).
//!
//! Guarantees: what it says on stderr is kept, and its last line is the reason of a failure. Refuses nothing.

use crate::failure::{Exit, Failure};
use std::process::{Command, Stdio};

/// The program.
pub fn program() -> Result<Command, Failure> {
    let itself = std::env::current_exe().map_err(|e| Failure::new(format_args!("this program: {e}")))?;
    Ok(Command::new(itself))
}

/// A process that has ended.
pub struct Ended {
    /// Its exit code; none where a signal ended it.
    pub code: Option<i32>,
    /// What it wrote to stdout.
    pub out: Vec<u8>,
    /// What it said last.
    pub said: String,
}

impl Ended {
    /// Why it failed, with its exit code; whose it is stands before it.
    pub fn failure(&self, whose: &str) -> Failure {
        let codes = [Exit::Usage, Exit::Diverged, Exit::Gone, Exit::NoDevice];
        let exit = codes.into_iter().find(|e| self.code == Some(*e as i32)).unwrap_or(Exit::Failed);
        Failure::with(exit, format_args!("{whose}: {}", self.said))
    }
}

/// Runs it to its end.
pub fn ended(command: &mut Command) -> Result<Ended, Failure> {
    let piped = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let done = piped.output().map_err(|e| Failure::new(format_args!("a process of this program: {e}")))?;
    let said = String::from_utf8_lossy(&done.stderr);
    let last = said.lines().rev().find(|l| !l.trim().is_empty());
    let last = last.map(|l| l.strip_prefix("reray-replay: ").unwrap_or(l));
    let said = match (last, done.status.code()) {
        (Some(last), Some(_)) => last.to_owned(),
        // (what ended by a signal did not say why)
        (Some(last), None) => format!("it ended with {}; before that: {last}", done.status),
        (None, _) => format!("it ended without a word ({})", done.status),
    };
    Ok(Ended { code: done.status.code(), out: done.stdout, said })
}

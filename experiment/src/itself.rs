//! This program again, as a process of its own: for what may not live in the same one as the rest (another driver, another device, a
//! driver that crashes).
//!
//! Guarantees: what it says on stderr is kept, and its last line is the reason of a failure. Refuses nothing.

use crate::failure::{Exit, Failure};
use crate::how::How;
use crate::say::PROGRAM;
use std::path::Path;
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
        Failure::with(Exit::of_failed(self.code), format_args!("{whose}: {}", self.said))
    }
}

/// What a command wrote to stdout, and, where its replay diverged, what it said of that.
pub type Written = (Vec<u8>, Option<Failure>);

/// Runs a command on a capture to its end; without one, a replay.
pub fn on_capture(command: Option<&str>, words: &[&str], run: &How, file: &Path) -> Result<Written, Failure> {
    let mut process = program()?;
    process.args(command).args(words).arg("--quiet").args(run.arguments(None)).arg("--").arg(file);
    let done = ended(&mut process)?;
    let failure = done.failure(command.unwrap_or("replay"));
    match failure.0 {
        _ if done.code == Some(0) => Ok((done.out, None)),
        // (a replay that diverged has said what it found all the same)
        Exit::Diverged => Ok((done.out, Some(failure))),
        _ => Err(failure),
    }
}

/// The last line that it said on stderr, without the program's name; none where it said nothing.
pub fn last_line(stderr: &[u8]) -> Option<String> {
    let said = String::from_utf8_lossy(stderr);
    let last = said.lines().rev().find(|l| !l.trim().is_empty())?;
    Some(last.strip_prefix(PROGRAM).unwrap_or(last).to_owned())
}

/// Runs it to its end.
pub fn ended(command: &mut Command) -> Result<Ended, Failure> {
    let piped = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let done = piped.output().map_err(|e| Failure::new(format_args!("a process of this program: {e}")))?;
    let said = match (last_line(&done.stderr), done.status.code()) {
        (Some(last), Some(_)) => last,
        // (what ended by a signal did not say why)
        (Some(last), None) => format!("it ended with {}; before that: {last}", done.status),
        (None, _) => format!("it ended without a word ({})", done.status),
    };
    Ok(Ended { code: done.status.code(), out: done.stdout, said })
}

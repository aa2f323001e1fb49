//! How the program ends: exit codes, and the one type of failure that ends it early.
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
//! Guarantees: a failure is reported once, on stderr, in one line unless its own advice takes more; readers that closed our stdout or
//! stderr change no exit code. What is said on stderr is said here, and escaped (`analyses::report::escape`): no name from a capture moves a
//! terminal's cursor or begins a line.

use analyses::report::escape;
use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU8, Ordering};

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

/// The text of the exit codes, for `--help`.
pub const HELP: &str = "\
Examples:
  reray-replay cap.gfxr
  reray-replay cap.gfxr --frames 10-50 --times pass
  reray-replay cap.gfxr --loop-frame 20 --iterations 200
  reray-replay cap.gfxr --screenshots 1,50 --screenshot-dir shots

Exit codes:
  0   done
  1   failed, or done only in part (what was wrong is on stderr)
  2   usage: the flags make no sense
  3   compare: a regression
  4   compare: inconclusive
  5   verification failed, or the replay diverged from the capture
  6   the GPU hung or was lost (the frames until then are reported)
  77  no usable Vulkan device";

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
    /// Says why on stderr, and with which code to end.
    pub fn report(&self) -> ExitCode {
        several("reray-replay: ", &self.1);
        if self.0 == Exit::Gone {
            let _ = io::stdout().flush();
            // Drivers' own clean-up would wait for the device that hangs.
            replay::vulkan::driver::leave(Exit::Gone as u8)
        }
        self.0.into()
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

/// How much is said on stderr beside what is wrong: 0 nothing, 1 notes and progress, 2 what was done on the way.
static TALK: AtomicU8 = AtomicU8::new(1);

/// Sets it, once, from the flags.
pub fn talk(quiet: bool, verbose: bool) {
    TALK.store(if quiet { 0 } else { 1 + u8::from(verbose) }, Ordering::Relaxed);
}

/// Nothing but what is wrong is wanted.
pub fn quiet() -> bool {
    TALK.load(Ordering::Relaxed) == 0
}

/// What was done on the way is wanted.
pub fn verbose() -> bool {
    TALK.load(Ordering::Relaxed) == 2
}

/// One line on stderr that nobody has to act on.
pub fn note(message: impl fmt::Display) {
    if !quiet() {
        say("reray-replay: ", message);
    }
}

/// One line on stderr of something wrong, or that may be.
pub fn complain(message: impl fmt::Display) {
    say("reray-replay: ", message);
}

/// One line on stderr that belongs to the one before.
pub fn detail(message: impl fmt::Display) {
    say("  ", message);
}

fn say(before: &str, message: impl fmt::Display) {
    line(before, &escape::line(&message.to_string()));
}

/// Lines on stderr whose ends are ours: what is in them is escaped already, line by line.
pub fn several(before: &str, text: &str) {
    line(before, &escape::lines(text));
}

fn line(before: &str, text: &str) {
    // (nobody may be reading stderr, either; the exit code is left to say it)
    let _ = writeln!(io::stderr(), "{before}{text}");
}

//! What is said on the way: complaints, notes, and how far work is. All of it goes to one listener, which the program sets once, as it
//! sets who hears its log; without one nothing is heard.
//!
//! Guarantees: what reaches the listener is escaped (`analyses::report::escape`): no name from a capture moves a terminal's cursor or
//! begins a line. Refuses a second listener.

use analyses::report::escape;
use indicatif::{ProgressBar, ProgressStyle};
use std::fmt;
use std::sync::OnceLock;

/// What stands before a line of the program's own.
pub(crate) const PROGRAM: &str = "reray-replay: ";

/// How much is wanted beside what is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Talk {
    /// Nothing.
    Wrong,
    /// Notes and progress.
    Notes,
    /// What was done on the way.
    Everything,
}

/// Hears what is said.
pub trait Listener: Send + Sync {
    /// How much is wanted.
    fn talk(&self) -> Talk;
    /// Whether somebody watches how far work is.
    fn watched(&self) -> bool;
    /// How many columns results have, if it is a terminal that shows them.
    fn columns(&self) -> Option<usize>;
    /// A line, or several; the first part is what stands before it.
    fn line(&self, before: &str, text: &str);
    /// A bar up to this number, hidden where nobody watches.
    fn bar(&self, total: u64, what: &'static str, style: ProgressStyle) -> ProgressBar;
    /// Does something while no bar is to be seen, so that a terminal shows its lines whole.
    fn without_bars(&self, work: &mut dyn FnMut());
}

static LISTENER: OnceLock<Box<dyn Listener>> = OnceLock::new();

/// How many columns results have; as many as they take where no terminal shows them.
pub fn columns() -> Option<usize> {
    listener().and_then(Listener::columns)
}

/// Sets who listens; the first one stays.
pub fn listen(listener: Box<dyn Listener>) {
    let _ = LISTENER.set(listener);
}

/// Who listens, if anybody does.
pub(crate) fn listener() -> Option<&'static dyn Listener> {
    LISTENER.get().map(|l| &**l)
}

/// Does something while no bar is to be seen.
pub(crate) fn without_bars<T>(work: impl FnOnce() -> T) -> T {
    let Some(listener) = listener() else { return work() };
    let (mut work, mut done) = (Some(work), None);
    listener.without_bars(&mut || done = work.take().map(|work| work()));
    done.expect("a listener does it once")
}

fn talk() -> Talk {
    listener().map_or(Talk::Wrong, Listener::talk)
}

/// What was done on the way is wanted.
pub fn verbose() -> bool {
    talk() == Talk::Everything
}

/// One line that nobody has to act on.
pub fn note(message: impl fmt::Display) {
    if talk() > Talk::Wrong {
        line(PROGRAM, message);
    }
}

/// One line of something wrong, or that may be.
pub fn complain(message: impl fmt::Display) {
    line(PROGRAM, message);
}

/// One line that belongs to the one before.
pub fn detail(message: impl fmt::Display) {
    line("  ", message);
}

fn line(before: &str, message: impl fmt::Display) {
    if let Some(listener) = listener() {
        listener.line(before, &escape::line(&message.to_string()));
    }
}

/// Why the program ends.
pub fn last(text: &str) {
    several(PROGRAM, text);
}

/// Lines whose ends are ours: what is in them is escaped already, line by line.
pub fn several(before: &str, text: &str) {
    if let Some(listener) = listener() {
        listener.line(before, &escape::lines(text));
    }
}

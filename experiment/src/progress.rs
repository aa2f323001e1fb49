//! How far work is, for those who watch: a bar, or what is being done.
//!
//! Guarantees: who listens ([`crate::say`]) says whether a bar is seen; a bar that is not costs nothing.

use crate::say;
use indicatif::{ProgressBar, ProgressStyle};

/// A bar over `total` bytes.
pub fn bytes(total: u64, what: &'static str) -> ProgressBar {
    say::listener().map_or_else(ProgressBar::hidden, |l| l.bar(total, what))
}

/// How a bar counts iterations.
pub fn iterations() -> ProgressStyle {
    let style = ProgressStyle::with_template("{msg} {bar:40} {pos}/{len} iterations {eta}");
    style.unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// How a bar counts a suite's units.
pub fn units() -> ProgressStyle {
    let style = ProgressStyle::with_template("{msg} {bar:40} {pos}/{len} units {eta}");
    style.unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// What is being done, for those who watch.
pub fn step(what: &str) {
    if say::listener().is_some_and(|l| l.watched()) {
        say::note(what);
    }
}

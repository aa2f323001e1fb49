//! How far work is, for those who watch: a bar, or what is being done.
//!
//! Guarantees: who listens ([`crate::say`]) says whether a bar is seen; a bar that is not costs nothing.

use crate::say;
use indicatif::{ProgressBar, ProgressStyle};

/// A bar that counts so.
fn style(count: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(&format!("{{msg}} {{bar:40}} {count} {{eta}}"));
    style.unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// A bar over `total` bytes.
pub fn bytes(total: u64, what: &'static str) -> ProgressBar {
    bar(total, what, style("{bytes}/{total_bytes}"))
}

/// A bar over `total` of these.
pub fn counted(total: u64, what: &'static str, units: &str) -> ProgressBar {
    bar(total, what, style(&format!("{{pos}}/{{len}} {units}")))
}

fn bar(total: u64, what: &'static str, style: ProgressStyle) -> ProgressBar {
    say::listener().map_or_else(ProgressBar::hidden, |l| l.bar(total, what, style))
}

/// How a bar counts iterations.
pub fn iterations() -> ProgressStyle {
    style("{pos}/{len} iterations")
}

/// What is being done, for those who watch.
pub fn step(what: &str) {
    if say::listener().is_some_and(|l| l.watched()) {
        say::note(what);
    }
}

//! How far work is, on stderr, for those who watch: a bar, or what is being done.
//!
//! Guarantees: nothing is written unless stderr is a terminal, nobody asked for quiet, and the work takes longer than a blink.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// A bar over `total` bytes.
pub fn bytes(total: u64, what: &'static str) -> ProgressBar {
    if !std::io::stderr().is_terminal() || crate::exit::quiet() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(10));
    let style = ProgressStyle::with_template("{msg} {bar:40} {bytes}/{total_bytes} {eta}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message(what);
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
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
    if std::io::stderr().is_terminal() {
        crate::exit::note(what);
    }
}

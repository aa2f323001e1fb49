//! How the program ends, and what it says on stderr: the flags decide how much.
//!
//! Guarantees: a failure is reported once, on stderr, in one line unless its own advice takes more; readers that closed our stdout or
//! stderr change no exit code. Bars are seen on a terminal alone, where nobody asked for quiet. What exit codes mean is
//! `experiment::failure`'s to say, and in [`HELP`].

pub use experiment::failure::{Exit, Failure};
pub use experiment::say::{columns, complain, detail, note, several, verbose};

use experiment::say::{self, Listener, Talk};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::LazyLock;
use std::time::Duration;
use terminal_size::terminal_size;

/// The text of the exit codes, for `--help`.
pub const HELP: &str = "\
Examples:
  reray-replay cap.gfxr
  reray-replay cap.gfxr --report page.html
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

/// Says why on stderr, and with which code to end.
pub fn report(failure: &Failure) -> ExitCode {
    say::last(&failure.1);
    if failure.0 == Exit::Gone {
        let _ = io::stdout().flush();
        // Drivers' own clean-up would wait for the device that hangs.
        replay::vulkan::driver::leave(Exit::Gone as u8)
    }
    failure.0.into()
}

/// Has what is said go to stderr, as much of it as the flags want.
pub fn talk(quiet: bool, verbose: bool, wide: bool) {
    let talk = match (quiet, verbose) {
        (true, _) => Talk::Wrong,
        (_, true) => Talk::Everything,
        _ => Talk::Notes,
    };
    say::listen(Box::new(Stderr { talk, wide }));
}

struct Stderr {
    talk: Talk,
    wide: bool,
}

/// The bars on stderr.
static BARS: LazyLock<MultiProgress> =
    LazyLock::new(|| MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(10)));

/// Columns of a terminal that does not say how many it has.
const COLUMNS: u16 = 80;

impl Listener for Stderr {
    fn talk(&self) -> Talk {
        self.talk
    }

    fn watched(&self) -> bool {
        io::stderr().is_terminal()
    }

    fn columns(&self) -> Option<usize> {
        let shown = !self.wide && io::stdout().is_terminal();
        shown.then(|| usize::from(terminal_size().map_or(COLUMNS, |s| s.0.0)))
    }

    fn line(&self, before: &str, text: &str) {
        // (nobody may be reading stderr, either; the exit code is left to say it)
        BARS.suspend(|| drop(writeln!(io::stderr(), "{before}{text}")));
    }

    fn without_bars(&self, work: &mut dyn FnMut()) {
        BARS.suspend(work);
    }

    fn bar(&self, total: u64, what: &'static str, style: ProgressStyle) -> ProgressBar {
        if !self.watched() || self.talk == Talk::Wrong {
            return ProgressBar::hidden();
        }
        let bar = BARS.add(ProgressBar::new(total).with_style(style).with_message(what));
        bar.enable_steady_tick(Duration::from_millis(250));
        bar
    }
}

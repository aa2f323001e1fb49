//! Ctrl-C, for what can keep what it has measured: the first one asks it to end, and says so; a second one ends the program.
//!
//! Guarantees: who does not listen is ended at once, as any program is. Refuses nothing: where signals cannot be listened to, the same.

use crate::say::complain;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The exit code of a program that a second Ctrl-C ended, as shells have it.
const INTERRUPTED: i32 = 130;

/// Whether it was asked to end.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Option<Arc<AtomicBool>>);

impl Interrupt {
    /// Listens from here on; `keeps` says what is kept.
    pub fn listen(keeps: &'static str) -> Interrupt {
        let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else { return Interrupt(None) };
        let asked = Arc::new(AtomicBool::new(false));
        let heard = asked.clone();
        std::thread::spawn(move || {
            for _ in signals.forever() {
                if heard.swap(true, Ordering::Relaxed) {
                    std::process::exit(INTERRUPTED);
                }
                complain(format_args!("interrupted: {keeps}; once more ends it at once"));
            }
        });
        Interrupt(Some(asked))
    }

    /// Whether anybody listens.
    pub fn listens(&self) -> bool {
        self.0.is_some()
    }

    /// Whether a signal came.
    pub fn asked(&self) -> bool {
        self.0.as_ref().is_some_and(|asked| asked.load(Ordering::Relaxed))
    }
}

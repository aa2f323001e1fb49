//! Ctrl-C, for what can keep what it has measured: the first one asks it to end, and says so; a second one ends the program.
//!
//! Guarantees: who does not listen is ended at once, as any program is. Refuses nothing: where signals cannot be listened to, the same.

use crate::say::complain;
use replay::vulkan::driver::leave;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::register;
use signal_hook::iterator::Signals;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The exit code of a program that a second Ctrl-C ended, as shells have it.
const INTERRUPTED: u8 = 130;
/// Within this time a signal that ended another process has been heard here, too.
const HEARD: Duration = Duration::from_millis(200);

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
                    // (a driver that hangs is not waited for)
                    leave(INTERRUPTED);
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

    /// Whether one came, now that another process has ended: it may be why.
    pub fn asked_by_now(&self) -> bool {
        if self.listens() && !self.asked() {
            std::thread::sleep(HEARD);
        }
        self.asked()
    }
}

/// Signals that end programs are somebody else's from here on.
pub fn ignore() {
    for signal in [SIGINT, SIGTERM] {
        // (a signal that cannot be taken ends the process, as it does everybody's)
        let _ = register(signal, Arc::default());
    }
}

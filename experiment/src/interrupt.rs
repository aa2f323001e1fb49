//! Ctrl-C, for what can keep what it has measured: the first one asks it to end, and says so; a second one ends the program.
//!
//! Guarantees: who does not listen is ended at once, as any program is. Refuses nothing: where signals cannot be listened to, the same.

use crate::say::complain;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The exit code of a program that a second Ctrl-C ended, as shells have it.
const INTERRUPTED: i32 = 130;
/// How often it is looked whether one came.
const LOOKED: Duration = Duration::from_millis(50);
/// Within this time a signal that ended another process has been heard here, too.
const HEARD: Duration = Duration::from_millis(200);

/// Whether it was asked to end.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Option<Arc<Asked>>);

#[derive(Debug, Default)]
struct Asked {
    asked: Arc<AtomicBool>,
    /// It has been said, so that another signal is meant to end it at once.
    said: Arc<AtomicBool>,
    keeps: &'static str,
}

impl Asked {
    fn is(&self) -> bool {
        let asked = self.asked.load(Ordering::Relaxed);
        if asked && !self.said.swap(true, Ordering::Relaxed) {
            complain(format_args!("interrupted: {}; once more ends it at once", self.keeps));
        }
        asked
    }
}

impl Interrupt {
    /// Listens from here on; `keeps` says what is kept.
    pub fn listen(keeps: &'static str) -> Interrupt {
        let all = Arc::new(Asked { keeps, ..Asked::default() });
        let listens = [SIGINT, SIGTERM].map(|signal| {
            // (a second one ends it whatever a driver does, which may hang; those that come together are one)
            let second = register_conditional_shutdown(signal, INTERRUPTED, all.said.clone());
            second.is_ok() && register(signal, all.asked.clone()).is_ok()
        });
        if listens == [false; 2] {
            return Interrupt(None);
        }
        let heard = all.clone();
        std::thread::spawn(move || {
            while !heard.is() {
                std::thread::sleep(LOOKED);
            }
        });
        Interrupt(Some(all))
    }

    /// Whether anybody listens.
    pub fn listens(&self) -> bool {
        self.0.is_some()
    }

    /// Whether a signal came.
    pub fn asked(&self) -> bool {
        self.0.as_ref().is_some_and(|asked| asked.is())
    }

    /// Whether one came, now that another process has ended: it may be why.
    pub fn asked_by_now(&self) -> bool {
        if self.listens() && !self.asked() {
            std::thread::sleep(HEARD);
        }
        self.asked()
    }
}

#[cfg(test)]
impl Interrupt {
    /// One that a test asks for, without a signal.
    pub(crate) fn tried() -> (Interrupt, Arc<AtomicBool>) {
        let asked = Arc::new(AtomicBool::new(false));
        let all = Asked { asked: asked.clone(), ..Asked::default() };
        (Interrupt(Some(Arc::new(all))), asked)
    }
}

/// Signals that end programs are somebody else's from here on.
pub fn ignore() {
    for signal in [SIGINT, SIGTERM] {
        // (a signal that cannot be taken ends the process, as it does everybody's)
        let _ = register(signal, Arc::default());
    }
}

//! Calls that never return, calls that crash, and calls that lose the device: what drivers do with what they should not have
//! been given.
//!
//! [`ASKS`] names what happens (`hang`, `fault`, `abort` or `lose`), the command, and the how manieth call of it. Every call
//! before that one goes on as it would have; from it on every call of the command says that the device is lost. Commands with more than six parameters, or with fractions among them, cannot be asked
//! for.

use crate::chain::Function;
use crate::{any, lost};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// The environment variable, as `hang vkQueueSubmit 3`.
pub const ASKS: &str = "RERAY_ARM_MISBEHAVES";

/// A command of up to six parameters, each of which comes in a register.
type Any = unsafe extern "system" fn(u64, u64, u64, u64, u64, u64) -> u64;

static NEXT: OnceLock<Any> = OnceLock::new();
static CALLS: AtomicU64 = AtomicU64::new(0);

/// What is asked for.
fn asked() -> Option<(String, String, u64)> {
    let all = std::env::var(ASKS).ok()?;
    let mut words = all.split(' ').map(str::to_owned);
    Some((words.next()?, words.next()?, words.next()?.parse().ok()?))
}

/// Whether this is what is asked for.
pub fn is_asked(what: &str) -> bool {
    asked().is_some_and(|a| a.0 == what)
}

/// The command as it is asked for, in place of the one that is there.
pub fn instead(name: &str, next: Function) -> Function {
    if asked().is_none_or(|(_, command, _)| command != name) {
        return next;
    }
    // SAFETY: both are functions; the arguments go on as they came.
    let next = unsafe { std::mem::transmute::<unsafe extern "system" fn(), Any>(next?) };
    NEXT.get_or_init(|| next);
    any!(misbehaves, Any)
}

unsafe extern "system" fn misbehaves(a: u64, b: u64, c: u64, d: u64, e: u64, f: u64) -> u64 {
    let (what, command, when) = asked().expect("it was, when the command was looked for");
    let call = CALLS.fetch_add(1, SeqCst) + 1;
    if what == "lose" && call >= when {
        // SAFETY: the caller's arguments.
        unsafe { lost::lose(&command, (b, c)) };
        return ash::vk::Result::ERROR_DEVICE_LOST.as_raw() as u32 as u64;
    }
    if call == when {
        match what.as_str() {
            "hang" => loop {
                std::thread::sleep(std::time::Duration::from_secs(1));
            },
            // SAFETY: not at all: this is the crash that was asked for.
            "fault" => unsafe { std::ptr::null_mut::<u64>().write_volatile(1) },
            _ => std::process::abort(),
        }
    }
    let next = NEXT.get().expect("there before this function was given out");
    // SAFETY: the caller's arguments.
    unsafe { next(a, b, c, d, e, f) }
}

//! What a thread that replays is doing: block, command, and whether the driver has the call.
//!
//! Written by that thread alone, some stores a call; read by the thread beside it that watches
//! ([`vulkan::driver`](crate::vulkan::driver)) and by the handler of crashes ([`vulkan::crash`](crate::vulkan::crash)),
//! which may interrupt it anywhere. Guarantees: reading takes no lock and allocates nothing. Refuses nothing.

use gfxr_parse::schema::generated::COMMANDS;
use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// No command: before the first one, and in blocks of metadata.
const NO_COMMAND: usize = usize::MAX;

/// See the module's header.
pub struct UnderWay {
    /// One more than the block's index; 0 before the first.
    block: AtomicU64,
    command: AtomicUsize,
    /// Odd while a call is in the driver.
    driver: AtomicU64,
    /// How long a call may be there; as long as it likes, before anybody said.
    pub(crate) watchdog_ns: AtomicU64,
    /// The driver is software.
    pub(crate) software: AtomicBool,
}

/// The one that threads share which call no driver.
static READS: UnderWay = UnderWay::new();

/// The first thread of the process that replays: a process has one.
static LATEST: OnceLock<&UnderWay> = OnceLock::new();

thread_local! {
    static HERE: Cell<Option<&'static UnderWay>> = const { Cell::new(None) };
}

/// This thread's. It is made once for each thread that replays, and stays as long as the process: whoever watches may read
/// it at any time.
pub fn here() -> &'static UnderWay {
    HERE.get().unwrap_or_else(|| {
        let new: &'static UnderWay = Box::leak(Box::new(UnderWay::new()));
        HERE.set(Some(new));
        let _ = LATEST.set(new);
        new
    })
}

/// What the process replays, whatever thread this is.
pub fn latest() -> Option<&'static UnderWay> {
    LATEST.get().copied()
}

/// This thread's, if it replays.
pub fn known() -> Option<&'static UnderWay> {
    HERE.get().or_else(|| gfxr_parse::ahead::reads_here().then_some(&READS))
}

/// This thread makes calls for that one from now on.
pub(crate) fn stand_in(for_whom: &'static UnderWay) {
    HERE.set(Some(for_whom));
}

impl UnderWay {
    const fn new() -> UnderWay {
        UnderWay {
            block: AtomicU64::new(0),
            command: AtomicUsize::new(NO_COMMAND),
            driver: AtomicU64::new(0),
            watchdog_ns: AtomicU64::new(u64::MAX),
            software: AtomicBool::new(false),
        }
    }

    /// A call begins.
    #[inline]
    pub(crate) fn call(&self, block: u64, command: usize) {
        self.block.store(block.wrapping_add(1), Relaxed);
        self.command.store(command, Relaxed);
    }

    /// A block begins that is no call.
    pub(crate) fn block(&self, block: u64) {
        self.call(block, NO_COMMAND);
    }

    /// Nothing is under way any more.
    pub(crate) fn nothing(&self) {
        self.block.store(0, Relaxed);
    }

    /// The block, once there is one, and its command.
    pub fn place(&self) -> (Option<u64>, Option<&'static str>) {
        let name = COMMANDS.get(self.command.load(Relaxed)).map(|c| c.name);
        (self.block.load(Relaxed).checked_sub(1), name)
    }

    /// Runs `call`, which is one into the driver.
    #[inline]
    pub(crate) fn in_driver<R>(&self, call: impl FnOnce() -> R) -> R {
        let n = self.driver.load(Relaxed);
        self.driver.store(n | 1, Relaxed);
        let r = call();
        // Another number than before: a watching thread sees that it is not the same call any more.
        self.driver.store((n | 1).wrapping_add(1), Relaxed);
        r
    }

    /// The call that is in the driver, by a number that no other one has; none if there is none.
    pub(crate) fn driver_call(&self) -> Option<u64> {
        Some(self.driver.load(Relaxed)).filter(|n| n % 2 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_in_the_driver_are_told_apart() {
        let u = here();
        assert!(std::ptr::eq(u, known().expect("made above")));
        assert_eq!(u.driver_call(), None);
        let first = u.in_driver(|| u.driver_call());
        let second = u.in_driver(|| u.driver_call());
        assert!(first.is_some() && second.is_some() && first != second);
        assert_eq!(u.driver_call(), None);
    }

    #[test]
    fn the_place_is_a_block_and_perhaps_a_command() {
        let u = here();
        let draw = COMMANDS.iter().position(|c| c.name == "vkCmdDraw").expect("core");
        u.call(0, draw);
        assert_eq!(u.place(), (Some(0), Some("vkCmdDraw")));
        u.block(7);
        assert_eq!(u.place(), (Some(7), None));
        u.nothing();
        assert_eq!(u.place(), (None, None));
    }
}

//! Calls into the driver that may not return, and the thread beside the replay that makes them.
//!
//! Whichever of the two threads is not in the driver watches the other. A call that may block or compile for long is handed
//! to the thread beside, and the replay waits for its answer as long as the watchdog says: what there was until then can
//! still be reported. Every other call the replay makes itself, and the thread beside looks now and then whether it is still
//! the same one; if it is for too long, nothing can be reported but where.
//!
//! Guarantees: no call into the driver holds the process up for much longer than the watchdog's time. A call that was handed
//! over and has not returned is stopped where it is, for good, before its arguments can go away; it may hold locks of the
//! driver, so nothing may be called there afterwards but by [`bounded`]. Where no thread can be stopped (elsewhere than on
//! Linux) the process ends. Refuses nothing.
//!
//! What handing over costs is in docs/reports.md.

use crate::error::{Error, Result, Vk};
use crate::under_way::{self, UnderWay};
use ash::vk;
use std::cell::RefCell;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering::*};
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant};

/// Compilers in drivers recurse deeply, and rely on the stack of a program's first thread.
const STACK_BYTES: usize = 16 << 20;

/// How often a call that the replay makes itself is looked at, within the watchdog's time.
const LOOKS: u32 = 4;

/// The longest time between two looks.
const LOOK_AT_LEAST: Duration = Duration::from_secs(1);

/// How long a thread that is to be stopped may take for it. Longer takes only one that the kernel holds.
const STOPS_WITHIN: Duration = Duration::from_secs(1);

/// How long a driver may take to say whether a fence is signalled.
const STATUS_WAIT_NS: u64 = 1_000_000_000;

/// Ends the process with what a hang ends with; `src/exit.rs` has the list.
const GONE: u8 = 6;

/// A call that was handed over, on the stack of the thread that waits for it.
struct Job<'a>(&'a mut dyn FnMut());

struct Shared {
    /// Null once it has been done.
    job: AtomicPtr<Job<'static>>,
    /// The replay's thread.
    caller: Thread,
    watched: &'static UnderWay,
    /// The thread beside is stopped for good.
    stopped: AtomicBool,
    /// Nobody needs it any more.
    done: AtomicBool,
}

/// The thread beside this one.
struct Beside {
    shared: Arc<Shared>,
    thread: JoinHandle<()>,
}

thread_local! {
    static BESIDE: RefCell<Option<Beside>> = const { RefCell::new(None) };
}

/// From now on calls of this thread into the driver are watched.
pub(super) fn watch(watchdog_ns: u64) -> Result<()> {
    under_way::here().watchdog_ns.store(watchdog_ns, Relaxed);
    let beside = BESIDE.take().map_or_else(Beside::start, Ok)?;
    BESIDE.set(Some(beside));
    Ok(())
}

/// Makes a call into the driver that may block; it has `limit_ns` for it.
pub fn bounded<R>(limit_ns: u64, call: impl FnOnce() -> R) -> Result<R> {
    let beside = BESIDE.take().map_or_else(Beside::start, Ok)?;
    let (mut call, mut answer) = (Some(call), None);
    let mut run = || answer = call.take().map(|c| catch_unwind(AssertUnwindSafe(c)));
    if !under_way::here().in_driver(|| beside.run(limit_ns, Job(&mut run))) {
        return Err(Error::hang("the driver did not return", limit_ns));
    }
    if !beside.shared.stopped.load(Acquire) {
        BESIDE.set(Some(beside));
    }
    answer.expect("it was run").map_err(|panic| resume_unwind(panic))
}

/// vkQueueSubmit of what is the replay's own, or a hook's.
///
/// # Safety
/// As of vkQueueSubmit.
pub unsafe fn submit(
    device: &ash::Device,
    queue: vk::Queue,
    submits: &[vk::SubmitInfo<'_>],
    fence: vk::Fence,
) -> Result<()> {
    // SAFETY: the caller's promise.
    submission(|| unsafe { device.queue_submit(queue, submits, fence) })?.what("vkQueueSubmit")
}

/// A driver that is software was found: its submissions are work done at once, not work to be done.
pub(super) fn is_software() {
    under_way::here().software.store(true, Relaxed);
}

/// Makes a submission, which a driver for hardware returns from at once: there, handing it over would take as long again.
pub(super) fn submission<R>(call: impl FnOnce() -> R) -> Result<R> {
    let here = under_way::here();
    match here.software.load(Relaxed) {
        true => bounded(here.watchdog_ns.load(Relaxed), call),
        false => Ok(here.in_driver(call)),
    }
}

/// Whether a fence is signalled, as far as the driver says so soon: a call that never returned may hold what it waits for.
///
/// # Safety
/// As of vkGetFenceStatus.
pub unsafe fn signalled(device: &ash::Device, fence: vk::Fence) -> Result<bool> {
    // SAFETY: the caller's promise.
    bounded(STATUS_WAIT_NS, || unsafe { device.get_fence_status(fence) }).map(|status| status == Ok(true))
}

impl Beside {
    fn start() -> Result<Beside> {
        let shared = Arc::new(Shared {
            job: AtomicPtr::default(),
            caller: std::thread::current(),
            watched: under_way::here(),
            stopped: AtomicBool::new(false),
            done: AtomicBool::new(false),
        });
        let theirs = shared.clone();
        let thread = std::thread::Builder::new()
            .name("driver".into())
            .stack_size(STACK_BYTES)
            .spawn(move || theirs.serve())
            .map_err(|e| {
                Error::new(crate::error::Kind::Internal, format!("no thread for the driver: {e}"))
            })?;
        Ok(Beside { shared, thread })
    }

    /// Has the other thread do it; false if that was not done in time and never will be.
    fn run(&self, limit_ns: u64, mut job: Job<'_>) -> bool {
        let shared = &self.shared;
        shared.job.store((&raw mut job).cast(), Release);
        self.thread.thread().unpark();
        let (start, limit) = (Instant::now(), Duration::from_nanos(limit_ns));
        while !shared.job.load(Acquire).is_null() {
            match limit.checked_sub(start.elapsed()) {
                Some(left) if !left.is_zero() => std::thread::park_timeout(left),
                _ => {
                    // From here on the job, and what it refers to, is nobody's but ours.
                    if !stop::for_good(self) {
                        give_up(shared.watched, limit);
                    }
                    return shared.job.load(Acquire).is_null();
                }
            }
        }
        true
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        self.shared.done.store(true, Release);
        self.thread.thread().unpark();
    }
}

impl Shared {
    /// What the thread beside does.
    fn serve(&self) {
        under_way::stand_in(self.watched);
        stop::may_reach(&self.stopped);
        let mut look = Look::default();
        while !self.done.load(Acquire) {
            let job = self.job.load(Acquire);
            if job.is_null() {
                let limit = Duration::from_nanos(self.watched.watchdog_ns.load(Relaxed));
                let pause = (limit / LOOKS).min(LOOK_AT_LEAST);
                let start = Instant::now();
                std::thread::park_timeout(pause);
                if look.too_long(self.watched.driver_call(), start.elapsed().min(pause * 2), limit) {
                    give_up(self.watched, limit);
                }
                continue;
            }
            look = Look::default();
            // SAFETY: whoever stored it waits until it is null again, or until this thread is stopped for good; it does
            // nothing meanwhile, so that what the job refers to is this thread's alone.
            unsafe { ((*job).0)() };
            self.job.store(std::ptr::null_mut(), Release);
            self.caller.unpark();
        }
    }
}

/// How long the same call has been in the driver, as far as it was looked at. A process that was stopped for a while did not
/// look.
#[derive(Default)]
struct Look {
    call: Option<u64>,
    seen: Duration,
}

impl Look {
    /// Whether that is longer than the watchdog's time. Calls that have a time of their own come to its end before.
    fn too_long(&mut self, call: Option<u64>, since: Duration, limit: Duration) -> bool {
        if call.is_none() || call != self.call {
            *self = Look { call, seen: Duration::ZERO };
            return false;
        }
        self.seen += since;
        self.seen > limit + limit / LOOKS
    }
}

/// Nothing can be saved: says where the driver has the call, and ends the process.
fn give_up(watched: &UnderWay, limit: Duration) -> ! {
    let place = match watched.place() {
        (Some(block), Some(command)) => format!("block {block}, {command}: "),
        (Some(block), None) => format!("block {block}: "),
        _ => String::new(),
    };
    // (where stderr is closed, the exit code is left to say it)
    let _ = writeln!(
        std::io::stderr(),
        "{}: {place}in the driver: did not return within {} s (--watchdog); nothing can be reported of what was before",
        super::crash::PROGRAM,
        limit.as_secs_f64()
    );
    leave(GONE)
}

#[cfg(target_os = "linux")]
mod stop {
    //! Stops a thread where it is, by a signal whose handler never returns.

    use super::{Beside, STOPS_WITHIN};
    use std::cell::Cell;
    use std::os::unix::thread::JoinHandleExt;
    use std::sync::Once;
    use std::sync::atomic::{AtomicBool, Ordering::*};
    use std::time::{Duration, Instant};

    thread_local! {
        static STOPPED: Cell<*const AtomicBool> = const { Cell::new(std::ptr::null()) };
    }

    /// One of the real-time signals, which mean nothing to anybody.
    fn signal() -> libc::c_int {
        libc::SIGRTMAX() - 1
    }

    /// This thread can be stopped, and says so there; `said` lives as long as the thread.
    pub(super) fn may_reach(said: &AtomicBool) {
        STOPPED.set(said);
        static HANDLER: Once = Once::new();
        HANDLER.call_once(|| {
            // SAFETY: a zeroed action is a valid one; the handler only stores and waits.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = stay as *const () as usize;
                action.sa_flags = libc::SA_ONSTACK;
                libc::sigfillset(&mut action.sa_mask);
                libc::sigaction(signal(), &action, std::ptr::null_mut());
            }
        });
    }

    extern "C" fn stay(_: libc::c_int) {
        // SAFETY: null, or what `may_reach` was given, which lives as long as this thread: from here on for ever.
        let Some(said) = (unsafe { STOPPED.get().as_ref() }) else { return };
        said.store(true, Release);
        loop {
            // SAFETY: it only waits.
            unsafe { libc::pause() };
        }
    }

    /// Stops it; whether it has stopped.
    pub(super) fn for_good(beside: &Beside) -> bool {
        // SAFETY: the thread was not joined.
        unsafe { libc::pthread_kill(beside.thread.as_pthread_t(), signal()) };
        let start = Instant::now();
        while !beside.shared.stopped.load(Acquire) && start.elapsed() < STOPS_WITHIN {
            std::thread::sleep(Duration::from_millis(1));
        }
        beside.shared.stopped.load(Acquire)
    }
}

#[cfg(not(target_os = "linux"))]
mod stop {
    //! No thread can be stopped here.

    pub(super) fn may_reach(_: &std::sync::atomic::AtomicBool) {}

    pub(super) fn for_good(_: &super::Beside) -> bool {
        false
    }
}

/// Ends the program at once, without what drivers do at exit: with a device that hangs, some wait for it there. What was
/// written must have been flushed.
pub fn leave(code: u8) -> ! {
    unsafe extern "C" {
        fn _exit(code: std::ffi::c_int) -> !;
    }
    // SAFETY: POSIX's and the C runtime's; it takes any code and does not return.
    unsafe { _exit(code.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    #[test]
    fn an_answer_comes_back_and_may_borrow() {
        let numbers = [1, 2, 3];
        assert_eq!(bounded(60_000_000_000, || numbers.iter().sum::<i32>()).expect("it returns"), 6);
        let mut seen = 0;
        bounded(60_000_000_000, || seen += 1).expect("it returns");
        assert_eq!(seen, 1);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_does_not_return_is_a_hang_and_does_not_run_on() {
        let beats = AtomicPtr::<u8>::default();
        let e = bounded(30_000_000, || {
            loop {
                beats.store(beats.load(Relaxed).wrapping_add(1), Relaxed);
            }
        });
        let e = e.map(|()| "it returned").expect_err("it never returns");
        assert_eq!(e.kind(), Kind::Hang);
        assert_eq!(e.message(), "the driver did not return within 0.03 s (--watchdog)");
        let then = beats.load(Relaxed);
        assert!(!then.is_null());
        std::thread::sleep(Duration::from_millis(30));
        assert_eq!(beats.load(Relaxed), then, "its memory may be given back");
        // Another thread takes its place.
        assert_eq!(bounded(60_000_000_000, || 5).expect("it returns"), 5);
    }

    #[test]
    fn a_panic_comes_back_as_one() {
        let r = catch_unwind(|| bounded(60_000_000_000, || panic!("in a callback")));
        let text = r.expect_err("it panicked");
        assert_eq!(text.downcast_ref::<&str>(), Some(&"in a callback"));
        assert_eq!(bounded(60_000_000_000, || 5).expect("it returns"), 5);
    }

    #[test]
    fn the_same_call_is_looked_at_for_the_whole_time() {
        let (mut look, limit, step) = (Look::default(), Duration::from_secs(4), Duration::from_secs(1));
        let mut at = |call| look.too_long(call, step, limit);
        assert_eq!([1, 1, 1, 1, 1].map(|c| at(Some(c))), [false; 5]);
        assert!(!at(Some(3)), "another call");
        assert_eq!([3; 4].map(|c| at(Some(c))), [false; 4]);
        assert!(!at(None), "it came back");
        assert_eq!([3; 6].map(|c| at(Some(c))), [false; 6]);
        assert!(at(Some(3)), "five seconds of it were seen");
    }
}

//! The last words of a process that crashes: which signal, whose code, and what was being replayed.
//!
//! A capture may be the fault of neither: drivers trust what they are given, and crash on what the specification forbids. A
//! crash is the driver's (or the loader's, or a layer's) if the instruction that crashed is not this program's, or is the C
//! library's while the driver has a call or on a thread that is the driver's; it is ours if the instruction is this program's,
//! called back by the driver or not. The C library between calls is ours, but where it aborts: the heap that a driver has
//! written past the end of is found to be so by whoever allocates next.
//!
//! Guarantees: one line on stderr, written with `write` alone from memory that is there; then whoever handled the signal
//! before does so (Rust's own handler says when a stack has overflowed), and the process ends by the signal as it would
//! have. A panic is followed by one line more, and stays a panic. Refuses nothing; elsewhere than on Linux only panics say
//! where they were.

use crate::under_way::{self, UnderWay};
use std::fmt::Write as _;
use std::io::Write as _;

/// What lines on stderr begin with.
pub const PROGRAM: &str = "reray-replay";

/// Room for the line; what is longer is cut off.
const LINE_BYTES: usize = 384;

/// Whose code crashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    Ours,
    Drivers,
    Unknown,
}

/// Where an instruction lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Code {
    Program,
    CLibrary,
    /// A driver, what it compiled, the loader, a layer; or nowhere.
    Other,
}

/// See the module's header. `thread` is what the thread does, if it is one of ours.
fn whose(code: Code, aborts: bool, thread: Option<&UnderWay>) -> Whose {
    match (code, thread) {
        (Code::Program, _) => Whose::Ours,
        (Code::Other, _) => Whose::Drivers,
        (Code::CLibrary, Some(t)) if t.driver_call().is_none() => {
            if aborts {
                Whose::Unknown
            } else {
                Whose::Ours
            }
        }
        (Code::CLibrary, _) => Whose::Drivers,
    }
}

/// The line.
fn line(signal: &str, whose: Whose, thread: Option<&UnderWay>, latest: Option<&UnderWay>) -> Line {
    let mut text = Line::default();
    let who = match whose {
        Whose::Ours => "reray-replay itself",
        Whose::Drivers => "the driver",
        Whose::Unknown => "the C library, between calls into the driver",
    };
    // What does not fit is cut off: there is no failure.
    let _ = write!(text, "{PROGRAM}: {signal} in {who}");
    if whose == Whose::Drivers && thread.is_none() {
        let _ = text.write_str(", in a thread of its own");
    }
    let _ = place(&mut text, thread.or(latest));
    let _ = text.write_str(match whose {
        Whose::Ours => ": please report this capture\n",
        Whose::Drivers => "\n",
        Whose::Unknown => {
            ": a driver has overwritten what it should not have, or reray-replay has; please report this capture\n"
        }
    });
    text
}

/// What is under way, as the end of a sentence.
fn place(text: &mut impl std::fmt::Write, what: Option<&UnderWay>) -> std::fmt::Result {
    match what.map(UnderWay::place) {
        Some((Some(block), Some(command))) => write!(text, ", in block {block}, {command}"),
        Some((Some(block), None)) => write!(text, ", in block {block}"),
        _ => Ok(()),
    }
}

/// Text on the stack: formatting numbers and strings into it allocates nothing and takes no lock.
struct Line {
    bytes: [u8; LINE_BYTES],
    len: usize,
}

impl Default for Line {
    fn default() -> Self {
        Line { bytes: [0; LINE_BYTES], len: 0 }
    }
}

impl std::fmt::Write for Line {
    fn write_str(&mut self, s: &str) -> std::fmt::Result {
        let n = s.len().min(LINE_BYTES - self.len);
        self.bytes[self.len..self.len + n].copy_from_slice(&s.as_bytes()[..n]);
        self.len += n;
        Ok(())
    }
}

/// From now on crashes and panics of this process say where they were. Once is enough.
pub fn install() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        before(info);
        let mut text = String::new();
        let _ = place(&mut text, under_way::known());
        // (a panic in here, as stderr may be closed, would hide the first)
        let _ = writeln!(
            std::io::stderr(),
            "{PROGRAM}: a bug of reray-replay itself{text}: please report this capture"
        );
    }));
    #[cfg(target_os = "linux")]
    signals::install();
}

#[cfg(target_os = "linux")]
mod signals {
    //! The handler.

    use super::{Code, line, whose};
    use crate::under_way;
    use libc::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, c_int, c_void};
    use std::ffi::CStr;
    use std::mem::MaybeUninit;
    use std::ops::Range;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    const SIGNALS: [(c_int, &str); 5] = [
        (SIGSEGV, "SIGSEGV"),
        (SIGBUS, "SIGBUS"),
        (SIGILL, "SIGILL"),
        (SIGFPE, "SIGFPE"),
        (SIGABRT, "SIGABRT"),
    ];

    /// What the handler reads; written before it is there.
    struct Known {
        program: Vec<Range<usize>>,
        c_library: Vec<Range<usize>>,
        before: [libc::sigaction; SIGNALS.len()],
    }

    static KNOWN: OnceLock<Known> = OnceLock::new();

    /// One crash is reported: another thread's, or the abort that follows, goes the old way.
    static SAID: AtomicBool = AtomicBool::new(false);

    pub(super) fn install() {
        // SAFETY: a null action only asks.
        let before = SIGNALS.map(|(signal, _)| unsafe {
            let mut action = MaybeUninit::zeroed();
            libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr());
            action.assume_init()
        });
        let mut known = Known { program: Vec::new(), c_library: Vec::new(), before };
        // SAFETY: the callback is called with this argument, before the call returns.
        unsafe { libc::dl_iterate_phdr(Some(object), (&raw mut known).cast()) };
        if KNOWN.set(known).is_err() {
            return;
        }
        for (signal, _) in SIGNALS {
            // SAFETY: a zeroed action is a valid one; the handler keeps to what a handler may do.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = crashed as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigaction(signal, &action, std::ptr::null_mut());
            }
        }
    }

    /// An object of the process: the program comes first, and without a name.
    unsafe extern "C" fn object(info: *mut libc::dl_phdr_info, _: usize, known: *mut c_void) -> c_int {
        // SAFETY: the linker's own description, and what `install` passed; names end with a zero, headers are as many as
        // it says.
        let (info, known, headers) = unsafe {
            let info = &*info;
            (
                info,
                &mut *known.cast::<Known>(),
                std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()),
            )
        };
        // SAFETY: as above.
        let name = if info.dlpi_name.is_null() { c"" } else { unsafe { CStr::from_ptr(info.dlpi_name) } };
        let file = name.to_bytes().rsplit(|b| *b == b'/').next().unwrap_or_default();
        let list = if file.is_empty() && known.program.is_empty() {
            &mut known.program
        } else if [b"libc.".as_slice(), b"libc-", b"ld-", b"libpthread", b"libm.", b"libm-"]
            .iter()
            .any(|n| file.starts_with(n))
        {
            &mut known.c_library
        } else {
            return 0;
        };
        for h in headers.iter().filter(|h| h.p_type == libc::PT_LOAD && h.p_flags & libc::PF_X != 0) {
            let from = (info.dlpi_addr + h.p_vaddr) as usize;
            list.push(from..from + h.p_memsz as usize);
        }
        0
    }

    fn code(known: &Known, pc: usize) -> Code {
        let within = |list: &[Range<usize>]| list.iter().any(|r| r.contains(&pc));
        match () {
            () if within(&known.program) => Code::Program,
            () if within(&known.c_library) => Code::CLibrary,
            () => Code::Other,
        }
    }

    /// The instruction at which a thread was interrupted.
    fn interrupted_at(context: &libc::ucontext_t) -> usize {
        #[cfg(target_arch = "x86_64")]
        return context.uc_mcontext.gregs[libc::REG_RIP as usize] as usize;
        #[cfg(target_arch = "aarch64")]
        return context.uc_mcontext.pc as usize;
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        return {
            let _ = context;
            0
        };
    }

    unsafe extern "C" fn crashed(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
        let Some(known) = KNOWN.get() else { return };
        if !SAID.swap(true, Relaxed) {
            // SAFETY: the kernel's own record of the interrupted thread.
            let pc = interrupted_at(unsafe { &*context.cast::<libc::ucontext_t>() });
            let thread = under_way::known();
            let name = SIGNALS.iter().find(|s| s.0 == signal).map_or("a signal", |s| s.1);
            let text =
                line(name, whose(code(known, pc), signal == SIGABRT, thread), thread, under_way::latest());
            // SAFETY: bytes on the stack.
            unsafe { libc::write(libc::STDERR_FILENO, text.bytes.as_ptr().cast(), text.len) };
        }
        // SAFETY: actions that were in force before, or the default one; both calls may be made here.
        unsafe {
            for ((signal, _), before) in SIGNALS.iter().zip(&known.before) {
                libc::sigaction(*signal, before, std::ptr::null_mut());
            }
            // A fault comes again when the instruction is tried again; what somebody sent does not.
            if (*info).si_code <= 0 {
                libc::signal(signal, libc::SIG_DFL);
                libc::raise(signal);
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn code_is_told_apart() {
            let mut known = Known {
                program: Vec::new(),
                c_library: Vec::new(),
                before: SIGNALS.map(|_| unsafe {
                    // SAFETY: a zeroed action is a valid one.
                    std::mem::zeroed()
                }),
            };
            // SAFETY: as in `install`.
            unsafe { libc::dl_iterate_phdr(Some(object), (&raw mut known).cast()) };
            assert_eq!(code(&known, code_is_told_apart as *const () as usize), Code::Program);
            assert_eq!(code(&known, libc::getpid as *const () as usize), Code::CLibrary);
            assert_eq!(code(&known, (&raw const known) as usize), Code::Other, "the stack");
            assert_eq!(code(&known, 0), Code::Other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::under_way::here;
    use gfxr_parse::schema::generated::COMMANDS;

    fn said(line: &Line) -> &str {
        std::str::from_utf8(&line.bytes[..line.len]).expect("text")
    }

    #[test]
    fn a_crash_is_whose_code_it_is() {
        let idle = here();
        assert_eq!(whose(Code::Program, false, None), Whose::Ours);
        assert_eq!(whose(Code::Other, false, Some(idle)), Whose::Drivers, "a call of our own objects");
        assert_eq!(whose(Code::CLibrary, true, Some(idle)), Whose::Unknown);
        assert_eq!(whose(Code::CLibrary, false, Some(idle)), Whose::Ours, "a null string");
        assert_eq!(whose(Code::CLibrary, true, None), Whose::Drivers, "a worker of the driver's");
        idle.in_driver(|| {
            assert_eq!(whose(Code::CLibrary, true, Some(idle)), Whose::Drivers);
            assert_eq!(whose(Code::Program, true, Some(idle)), Whose::Ours, "a callback");
        });
    }

    #[test]
    fn the_line_says_what_where_and_what_to_do() {
        let u = here();
        let draw = COMMANDS.iter().position(|c| c.name == "vkCmdDrawIndexed").expect("core");
        u.call(1234, draw);
        let text = line("SIGSEGV", Whose::Drivers, Some(u), None);
        assert_eq!(said(&text), "reray-replay: SIGSEGV in the driver, in block 1234, vkCmdDrawIndexed\n");
        let text = line("SIGABRT", Whose::Drivers, None, Some(u));
        assert_eq!(
            said(&text),
            "reray-replay: SIGABRT in the driver, in a thread of its own, in block 1234, vkCmdDrawIndexed\n"
        );
        u.block(u64::MAX - 1);
        let text = line("SIGBUS", Whose::Ours, Some(u), None);
        assert_eq!(
            said(&text),
            "reray-replay: SIGBUS in reray-replay itself, in block 18446744073709551614: please report this capture\n"
        );
        u.nothing();
        let text = line("SIGABRT", Whose::Unknown, Some(u), None);
        assert_eq!(
            said(&text),
            "reray-replay: SIGABRT in the C library, between calls into the driver: a driver has overwritten what it should \
             not have, or reray-replay has; please report this capture\n"
        );
        let text = line("SIGFPE", Whose::Ours, Some(u), None);
        assert_eq!(said(&text), "reray-replay: SIGFPE in reray-replay itself: please report this capture\n");
    }

    #[test]
    fn a_line_that_is_too_long_is_cut() {
        let mut text = Line::default();
        for _ in 0..100 {
            text.write_str("0123456789").expect("it never fails");
        }
        assert_eq!(text.len, LINE_BYTES);
    }
}

//! Where a process crashed or hangs: in the driver, or in the program.
//!
//! The program says so itself where it has a handler for that (a line of stderr). Where it says nothing, gdb is asked, if
//! it is there: the innermost frame decides that is not the C library's.
//!
//! Guarantees: none; a stack that was overwritten says what it says. Refuses nothing: without an answer a place is unknown.

use std::path::Path;
use std::time::Duration;

use super::process::{Limits, run};

/// What gdb may take.
const LIMITS: Limits = Limits { time: Duration::from_secs(60), memory: 8 << 30 };
/// Frames read.
const FRAMES: &str = "bt 48";
/// The line in which the program says where it crashed has one of these words.
const IN_DRIVER: &str = "in the driver";
const IN_PROGRAM: &str = "in reray-replay";

/// Whose code it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Whose {
    /// The program's.
    Ours,
    /// The driver's (or the loader's, or that of a shader).
    Driver,
    /// That cannot be said.
    Unknown,
}

/// A place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Whose code it is.
    pub whose: Whose,
    /// The function, or where in its library it lies.
    pub function: String,
    /// The innermost function of the program around it.
    pub caller: String,
}

/// What the program said of its own crash: `said` is its stderr.
pub fn told(said: &str) -> Option<Place> {
    let line = said.lines().find(|l| l.contains(IN_DRIVER) || l.contains(IN_PROGRAM))?;
    let whose = if line.contains(IN_DRIVER) { Whose::Driver } else { Whose::Ours };
    // Grouped by command: numbers of blocks and addresses differ.
    let command = line.split(|c: char| !c.is_ascii_alphanumeric()).find(|w| w.starts_with("vk"));
    Some(Place {
        whose,
        function: command.unwrap_or("no command").to_string(),
        caller: line.trim().to_string(),
    })
}

/// Runs it again under gdb.
pub fn crash(
    program: &Path,
    arguments: &[String],
    environment: &[(String, String)],
    said: &Path,
) -> Option<Place> {
    let mut words: Vec<String> =
        ["-nx", "-q", "-batch", "-ex", "set debuginfod enabled off"].map(String::from).into();
    words.extend(["-ex", "run", "-ex", FRAMES, "-ex", "info sharedlibrary"].map(String::from));
    words.extend(["--args".to_string(), program.to_string_lossy().into_owned()]);
    words.extend_from_slice(arguments);
    ask(&words, environment, said)
}

/// Looks where the first thread of a process is.
pub fn at(process: u32, said: &Path) -> Option<Place> {
    let mut words: Vec<String> =
        ["-nx", "-q", "-batch", "-ex", "set debuginfod enabled off"].map(String::from).into();
    words.extend(["-ex", "thread 1", "-ex", FRAMES, "-ex", "info sharedlibrary", "-p"].map(String::from));
    words.push(process.to_string());
    ask(&words, &[], said)
}

fn ask(words: &[String], environment: &[(String, String)], said: &Path) -> Option<Place> {
    let ended = run(Path::new("gdb"), words, environment, said, true, LIMITS, &mut |_| ()).ok()?;
    of_frames(&ended.text)
}

/// One frame of a stack.
struct Frame<'a> {
    address: Option<u64>,
    function: &'a str,
    /// The library it lies in, if gdb names one.
    library: Option<&'a str>,
    /// The source it was made of, if gdb knows it.
    source: Option<&'a str>,
}

impl<'a> Frame<'a> {
    /// `#3  0x00007ffff7 in name<..> (..) at ./file.rs:12`, or `.. from /lib/x.so`
    fn read(line: &'a str) -> Option<Self> {
        let rest = line.strip_prefix('#')?.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
        let (address, rest) = match rest.strip_prefix("0x").and_then(|r| r.split_once(" in ")) {
            Some((address, rest)) => (u64::from_str_radix(address, 16).ok(), rest),
            None => (None, rest),
        };
        let library = rest.rsplit_once(" from ").map(|r| r.1.trim());
        let source = rest.rsplit_once(" at ").map(|r| r.1.trim());
        let function = rest.split(" (").next().unwrap_or(rest);
        Some(Frame { address, function, library, source })
    }
    /// Of the C library: where it crashes, who called it is to blame.
    fn is_libc(&self) -> bool {
        const OF_LIBC: [&str; 6] =
            ["../sysdeps/", "./nptl/", "./string/", "./stdlib/", "./malloc/", "./assert/"];
        self.source.is_some_and(|s| OF_LIBC.iter().any(|l| s.starts_with(l)) || s.starts_with("./"))
            && !self.source.is_some_and(|s| s.contains(".rs:"))
            || self.library.is_some_and(|l| l.contains("/libc.so") || l.contains("/libc-"))
    }
    fn is_ours(&self) -> bool {
        self.source.is_some_and(|s| s.contains(".rs:"))
            || self.library.is_none() && self.source.is_none() && self.function != "??"
    }
}

/// The place that a stack, innermost frame first, says; with the libraries' addresses behind it.
fn of_frames(text: &str) -> Option<Place> {
    // gdb may show the frame it stops at before the stack.
    let lines: Vec<&str> = text.lines().filter(|l| l.starts_with('#')).collect();
    let first = lines.iter().rposition(|l| l.starts_with("#0 "))?;
    let stack: Vec<Frame> = lines[first..].iter().filter_map(|l| Frame::read(l)).collect();
    let frame = stack.iter().find(|f| !f.is_libc()).or(stack.first())?;
    let ours = stack.iter().find(|f| f.is_ours() && f.source.is_some_and(|s| !s.contains("library/")));
    let caller =
        ours.map_or(String::new(), |f| format!("{} at {}", short(f.function), f.source.unwrap_or("?")));
    let whose = if frame.is_ours() { Whose::Ours } else { Whose::Driver };
    let function = match (frame.library, frame.function) {
        _ if whose == Whose::Ours => caller.clone(),
        (Some(library), "??") => format!("{}+{:#x}", file(library), offset(text, library, frame.address)),
        (Some(library), name) => format!("{}: {name}", file(library)),
        (None, name) => format!("generated code: {name}"),
    };
    Some(Place { whose, function, caller })
}

/// A function's name without its type arguments.
fn short(name: &str) -> &str {
    name.split('<').next().filter(|n| !n.is_empty()).unwrap_or(name)
}

fn file(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// How far behind the start of its library's code an address lies.
fn offset(text: &str, library: &str, address: Option<u64>) -> u64 {
    let line = text.lines().find(|l| l.starts_with("0x") && l.contains(" Yes ") && l.ends_with(library));
    let from =
        line.and_then(|l| u64::from_str_radix(l.split_whitespace().next()?.strip_prefix("0x")?, 16).ok());
    address.zip(from).map_or(0, |(a, f)| a.wrapping_sub(f))
}

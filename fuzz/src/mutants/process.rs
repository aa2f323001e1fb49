//! A program in a process of its own, with a limit on time and on memory.
//!
//! Guarantees: [`run`] comes back soon after the limit of time, and what it started is gone then; no core is dumped. What
//! the process says on stderr is kept up to [`MOST_TEXT`]. Refuses nothing but programs that do not start.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Bytes kept of what a process says.
const MOST_TEXT: u64 = 64 << 10;
/// How often it is looked at whether a process has ended.
const LOOK: Duration = Duration::from_millis(2);
/// Every so many looks, its memory is looked at, too.
const LOOKS: u32 = 5;

/// What a process may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Wall time.
    pub time: Duration,
    /// Resident memory, in bytes.
    pub memory: u64,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With this exit status.
    Exit(i32),
    /// By this signal.
    Signal(i32),
    /// It took longer than it may, and was killed.
    Late,
    /// It took more memory than it may, and was killed.
    Large,
}

/// What became of a process.
#[derive(Clone, Debug)]
pub struct Ended {
    /// How it ended.
    pub end: End,
    /// What it said on stderr.
    pub text: String,
    /// How long it took.
    pub time: Duration,
    /// Most resident memory seen, in bytes.
    pub memory: u64,
}

/// Runs `program`; what it says (stdout as well, if `all`) goes through the file `said`. Before a process that takes too
/// much is killed, `look` gets its number.
pub fn run(
    program: &Path,
    arguments: &[String],
    environment: &[(String, String)],
    said: &Path,
    all: bool,
    limits: Limits,
    look: &mut dyn FnMut(u32),
) -> io::Result<Ended> {
    let err = File::create(said)?;
    let out = if all { Stdio::from(err.try_clone()?) } else { Stdio::null() };
    // The shell is there for its `ulimit` alone, and becomes the program.
    let mut child = Command::new("sh")
        .args(["-c", "ulimit -c 0; exec \"$0\" \"$@\""])
        .arg(program)
        .args(arguments)
        .envs(environment.iter().map(|(k, v)| (k, v)))
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err)
        .spawn()?;
    let start = Instant::now();
    let mut memory = 0;
    let end = watch(&mut child, start, limits, &mut memory, look)?;
    let mut text = vec![];
    File::open(said)?.take(MOST_TEXT).read_to_end(&mut text)?;
    Ok(Ended { end, text: String::from_utf8_lossy(&text).into_owned(), time: start.elapsed(), memory })
}

fn watch(
    child: &mut Child,
    start: Instant,
    limits: Limits,
    memory: &mut u64,
    look: &mut dyn FnMut(u32),
) -> io::Result<End> {
    let mut looks = 0;
    loop {
        if let Some(status) = child.try_wait()? {
            let signal = status.signal().map(End::Signal);
            return Ok(status.code().map(End::Exit).or(signal).unwrap_or(End::Signal(0)));
        }
        if looks % LOOKS == 0 {
            *memory = (*memory).max(resident(child.id()));
        }
        looks += 1;
        let end = match () {
            () if *memory > limits.memory => End::Large,
            () if start.elapsed() > limits.time => End::Late,
            () => {
                std::thread::sleep(LOOK);
                continue;
            }
        };
        look(child.id());
        child.kill()?;
        child.wait()?;
        return Ok(end);
    }
}

/// The most resident memory that a process had so far, in bytes; 0 if it has ended.
fn resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.and_then(|l| l.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()).unwrap_or(0) << 10
}

//! Instructions a replayer executes itself, counted by callgrind on both sides.
//!
//! Two windows of the long capture, cut off after a short and a longer number of frames, are replayed once each by each
//! side; what is claimed is the difference, by call of the difference: starting up (the loader, the driver's shaders, our
//! option parser) is in both and falls out. Counted are instructions in the replayer's own object file and in shared ones
//! (libc, the allocator, the decompressor) on its behalf; the driver, LLVM and the loader are apart. It is claimed with and
//! without the rounds of loops that wait for the driver (see `callgrind.rs`): the peer polls fences, and how often
//! depends on how slow the driver is under callgrind. Refuses nothing; what is missing is a reason to skip.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use super::args::Args;
use super::callgrind::{self, Profile};
use super::measure::{last_lines, shown};
use super::peers::{LONG, find_program};
use super::xvfb::Xvfb;
use gfxr_parse::container::{Capture, FrameCounter, FrameRule, read_file};

/// Its name on the command line.
pub const NAME: &str = "instructions";
/// Ours over the peer's, at most.
pub const TARGET: f64 = 0.5;
/// Frames of the two windows.
const FRAMES: [u64; 2] = [200, 1000];

/// One side.
pub struct Side {
    /// What it is called in tables.
    pub label: &'static str,
    /// The command, without valgrind.
    pub command: String,
    /// What was counted: in the longer window, and not in the shorter one.
    pub profile: Profile,
    /// Instructions of its own in the whole of the shorter window, start included.
    pub start: f64,
}

/// See the module's header.
pub struct Counted {
    /// The capture's name.
    pub capture: String,
    /// How many calls the longer window has more than the shorter one.
    pub calls: u64,
    /// The peer, then ours.
    pub sides: Vec<Side>,
}

/// Counts; the inner error is a reason to skip.
pub fn count(args: &Args, display: Option<&Xvfb>) -> Result<Result<Counted, String>, String> {
    let capture = args.captures.join(LONG);
    for program in ["valgrind".as_ref(), "gfxrecon-replay".as_ref(), args.replayer.as_path()] {
        if find_program(program).is_none() {
            return Ok(Err(format!("{} is not here", program.display())));
        }
    }
    if !capture.is_file() {
        return Ok(Err(format!("{LONG} is not among the captures")));
    }
    let Some(display) = display else { return Ok(Err("Xvfb is not here".to_string())) };
    let windows = FRAMES.map(|n| args.scratch.join(format!("{n}-frames.gfxr")));
    let mut calls = [0; 2];
    for (i, window) in windows.iter().enumerate() {
        calls[i] = cut(&capture, FRAMES[i], window)?;
    }
    let ours = args.replayer.clone().into_os_string();
    let sides: [(&str, Vec<OsString>); 3] = [
        ("gfxrecon-replay", vec!["gfxrecon-replay".into(), "--wsi".into(), "headless".into()]),
        ("replay", vec![ours.clone()]),
        ("replay --no-gpu-times", vec![ours, "--no-gpu-times".into()]),
    ];
    let more = calls[1] - calls[0];
    let what = format!("{LONG}, its first {} frames without its first {}", FRAMES[1], FRAMES[0]);
    let mut counted = Counted { capture: what, calls: more, sides: vec![] };
    for (label, command) in sides {
        let mut profiles = vec![];
        for (window, &calls) in windows.iter().zip(&calls) {
            let command = [&command[..], &[window.clone().into_os_string()]].concat();
            profiles.push(profiled(&command, calls, args, display)?);
        }
        let start = profiles[0].own + profiles[0].for_own - profiles[0].polling;
        let profile = profiles[1].without(&profiles[0]);
        let own = (profile.own + profile.for_own) / more as f64;
        let working = own - profile.polling / more as f64;
        eprintln!("{NAME} {label:<28} {own:>9.0} instructions a call, {working:>9.0} without polling");
        counted.sides.push(Side { label, command: shown(&command), profile, start });
    }
    Ok(Ok(counted))
}

/// Writes the beginning of a capture, up to the end of frame number `frames`, and says how many calls that is.
fn cut(capture: &Path, frames: u64, to: &Path) -> Result<u64, String> {
    let whole = Capture::open(capture, read_file).map_err(|e| e.to_string())?;
    let mut counter = FrameCounter::with_rule(FrameRule::detect(&whole));
    let mut calls = 0;
    for block in whole.blocks() {
        calls += u64::from(block.call_id().is_some());
        let place = counter.feed(&block);
        if place.ends_frame && place.frame == frames {
            let end = block.offset as usize + block.raw().len();
            std::fs::write(to, &whole.bytes()[..end]).map_err(|e| format!("{}: {e}", to.display()))?;
            return Ok(calls);
        }
    }
    Err(format!("{}: expected more than {frames} frames", capture.display()))
}

fn profiled(command: &[OsString], calls: u64, args: &Args, display: &Xvfb) -> Result<Profile, String> {
    let out = args.scratch.join("callgrind.out");
    let mut option = OsString::from("--callgrind-out-file=");
    option.push(&out);
    let run = Command::new("timeout")
        .args(["-k", "5", "1800", "valgrind", "--tool=callgrind"])
        .arg(option)
        .args(command)
        .env("DISPLAY", display.name())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .output()
        .map_err(|e| format!("timeout: {e}"))?;
    if !run.status.success() {
        return Err(format!("valgrind {}: {}, {}", shown(command), run.status, last_lines(&run.stderr)));
    }
    let bytes = std::fs::read(&out).map_err(|e| format!("{}: {e}", out.display()))?;
    let _ = std::fs::remove_file(&out);
    let program =
        Path::new(&command[0]).file_name().map_or(String::new(), |n| n.to_string_lossy().into_owned());
    callgrind::read(&String::from_utf8_lossy(&bytes), &program, calls)
}

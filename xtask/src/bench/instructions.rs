//! Instructions a replayer executes itself, counted by callgrind on both sides.
//!
//! Each side runs twice under callgrind; the second run counts, so that the driver's shaders come from its cache on both
//! sides. What is claimed: instructions in the replayer's own object file and in shared ones (libc, the allocator, the
//! decompressor) on its behalf, by call of the capture; the driver, LLVM and the loader are apart. It is claimed with and
//! without the rounds of loops that wait for the driver (see `callgrind.rs`): the peer polls fences, and how often
//! depends on how slow the driver is under callgrind. Refuses nothing; what is missing is a reason to skip.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use super::Args;
use super::callgrind::{self, Profile};
use super::measure::{last_lines, shown};
use super::peers::{SHORT, find_program};
use super::xvfb::Xvfb;

/// Its name on the command line.
pub const NAME: &str = "instructions";
/// Ours over the peer's, at most.
pub const TARGET: f64 = 0.5;

/// One side.
pub struct Side {
    /// What it is called in tables.
    pub label: &'static str,
    /// The command, without valgrind.
    pub command: String,
    /// What was counted.
    pub profile: Profile,
}

/// See the module's header.
pub struct Counted {
    /// The capture's name.
    pub capture: String,
    /// How many calls it has.
    pub calls: u64,
    /// The peer, then ours.
    pub sides: Vec<Side>,
}

/// Counts; the inner error is a reason to skip.
pub fn count(args: &Args, display: Option<&Xvfb>) -> Result<Result<Counted, String>, String> {
    let capture = args.captures.join(SHORT);
    for program in ["valgrind".as_ref(), "gfxrecon-replay".as_ref(), args.replayer.as_path()] {
        if find_program(program).is_none() {
            return Ok(Err(format!("{} is not here", program.display())));
        }
    }
    if !capture.is_file() {
        return Ok(Err(format!("{SHORT} is not among the captures")));
    }
    let Some(display) = display else { return Ok(Err("Xvfb is not here".to_string())) };
    let calls = calls_of(&args.replayer, &capture)?;
    let (ours, file) = (args.replayer.clone().into_os_string(), capture.into_os_string());
    let sides = [
        ("gfxrecon-replay", vec!["gfxrecon-replay".into(), "--wsi".into(), "headless".into(), file.clone()]),
        ("replay", vec![ours.clone(), file.clone()]),
        ("replay --no-gpu-times", vec![ours, "--no-gpu-times".into(), file]),
    ];
    let mut counted = Counted { capture: SHORT.to_string(), calls, sides: vec![] };
    for (label, command) in sides {
        let mut profile = Profile::default();
        for round in 0..2 {
            profile = profiled(&command, calls, args, display)?;
            let own = (profile.own + profile.for_own) / calls as f64;
            let working = own - profile.polling / calls as f64;
            eprintln!(
                "{NAME} {round}/1 {label:<28} {own:>9.0} instructions a call, {working:>9.0} without polling"
            );
        }
        counted.sides.push(Side { label, command: shown(&command), profile });
    }
    Ok(Ok(counted))
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

/// How many calls a capture has, as `info --json` says.
fn calls_of(replayer: &Path, capture: &Path) -> Result<u64, String> {
    let output = Command::new(replayer)
        .args(["info", "--json"])
        .arg(capture)
        .output()
        .map_err(|e| format!("info: {e}"))?;
    let json: serde_json::Value =
        serde_json::from_slice(&output.stdout).map_err(|e| format!("info --json: {e}"))?;
    find_calls(&json).ok_or("info --json: no number of calls".to_string())
}

fn find_calls(json: &serde_json::Value) -> Option<u64> {
    ["/calls/total", "/calls", "/counts/calls"].iter().find_map(|place| json.pointer(place)?.as_u64())
}

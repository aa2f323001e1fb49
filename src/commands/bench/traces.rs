//! The traces that a study takes: rays once, to make swizzles of; and with each swizzle how full subgroups are, which proves as
//! well that the frame shows what it shows without.
//!
//! They are made by `profile`, as a user would make them. Guarantees: a trace that is not whole, a picture that differs because
//! of a swizzle, a swizzle that found no launch, is an error. Where the counting alone changes the picture (a driver may round
//! otherwise in a shader that has probes) that is a note.

use crate::cli::{BenchArgs, Cli, Command, ProfileArgs};
use crate::commands::profile;
use crate::exit::{Exit, Failure};
use crate::mmap;
use clap::Parser;
use std::path::{Path, PathBuf};
use trace::dir::Dir;

/// The flags of a profile of the frame.
fn flags(
    args: &BenchArgs,
    passes: &str,
    (first, last): (u64, u64),
    to: &Path,
    verify: bool,
) -> Result<ProfileArgs, Failure> {
    let frame = format!("{first}-{last}");
    let words = ["reray-replay", "profile", "a.gfxr", "--passes", passes, "--frames", &frame, "-o", "a"];
    let Some(Command::Profile(mut p)) = Cli::try_parse_from(words).map_err(Failure::new)?.command else {
        return Err(Failure::new("profile has no flags"));
    };
    p.file = Some(args.file.clone());
    p.output = Some(to.to_owned());
    p.run = args.run.clone();
    p.assume_subgroups = args.assume_subgroups;
    p.no_verify_image = !verify;
    p.image_tolerance = args.image_tolerance;
    Ok(p)
}

/// A trace of some frames.
pub fn record(
    args: &BenchArgs,
    passes: &str,
    frames: (u64, u64),
    to: &Path,
    verify: bool,
) -> Result<(), Failure> {
    let recorded = profile::record(&flags(args, passes, frames, to, verify)?)?;
    match (recorded.differs, recorded.exit) {
        (Some(why), exit) => Err(Failure::with(exit, why)),
        (None, Exit::Done) => Ok(()),
        (None, exit) => Err(Failure::with(exit, format!("the trace with {passes} is not whole"))),
    }
}

/// The frame's rays.
pub fn rays(args: &BenchArgs, to: &Path) -> Result<(), Failure> {
    record(args, "rays", (args.frame, args.frame), to, true)
}

/// A trace; where the probes change the picture, and no swizzle does, that is said.
pub fn recorded(args: &BenchArgs, passes: &str, to: &Path, probes: &str) -> Result<Vec<String>, Failure> {
    recorded_in(args, passes, (args.frame, args.frame), to, probes)
}

/// The same, of some frames.
pub fn recorded_in(
    args: &BenchArgs,
    passes: &str,
    frames: (u64, u64),
    to: &Path,
    probes: &str,
) -> Result<Vec<String>, Failure> {
    match record(args, passes, frames, to, true) {
        // (the trace is there, and says it)
        Err(Failure(Exit::Diverged, why))
            if why.contains(" than without probes") && !why.contains("because of pass swizzle") =>
        {
            Ok(vec![format!("With the probes {probes} {why}.")])
        }
        other => other.map(|()| vec![]),
    }
}

/// Actual SIMT efficiency of rays' events, in percent, with these swizzles in force; and what is to be said of it.
pub fn efficiency(
    args: &BenchArgs,
    swizzles: &[PathBuf],
    to: &Path,
) -> Result<(Option<f64>, Vec<String>), Failure> {
    let files: Vec<String> = swizzles.iter().map(|f| f.display().to_string()).collect();
    let passes = match files.is_empty() {
        true => "simt".to_owned(),
        false => format!("swizzle:{},simt", files.join("+")),
    };
    let mut notes = recorded(args, &passes, to, "that count actual efficiency")?;
    let dir = Dir::open_with(to, mmap::open_plain).map_err(Failure::new)?;
    let missing = |n: &&String| n.contains("without pass simt");
    notes.extend(
        dir.manifest().notes.iter().filter(missing).map(|n| format!("Not in actual efficiency: {n}.")),
    );
    Ok((analyses::bench::actual(&dir, args.frame).map_err(Failure::new)?, notes))
}

//! The traces that a run takes: rays, of which swizzles are made; what passes have to know; and what proves that a plan's frame shows
//! the same.
//!
//! They are made by `profile` and `bindings`, as a user would make them. Guarantees: a trace that is not whole, a picture that
//! differs because of a plan, is an error. Where the counting alone changes the picture (a driver may round otherwise in a shader
//! that has probes) that is a note.

use super::settings::Settings;
use crate::cli::{BindingsArgs, Cli, Command, ProfileArgs};
use crate::commands::{bindings, profile};
use crate::exit::{Exit, Failure};
use clap::Parser;
use std::path::{Path, PathBuf};
use trace::plan::{Passes, Use};

/// The flags of a profile of some frames.
fn flags(
    settings: &Settings,
    file: &Path,
    passes: &[Use],
    (first, last): (u64, u64),
    to: &Path,
) -> Result<ProfileArgs, Failure> {
    let frames = format!("{first}-{last}");
    let words = ["reray-replay", "profile", "a.gfxr", "--passes", "simt", "--frames", &frames, "-o", "a"];
    let Some(Command::Profile(p)) = Cli::try_parse_from(words).map_err(Failure::new)?.command else {
        return Err(Failure::new("profile has no flags"));
    };
    Ok(ProfileArgs {
        file: Some(file.to_owned()),
        passes: Some(Passes(passes.to_vec())),
        output: Some(to.to_owned()),
        run: settings.run.clone(),
        assume_subgroups: settings.assume_subgroups,
        image_tolerance: settings.image_tolerance,
        ..p
    })
}

/// A trace of some frames.
pub fn record(
    settings: &Settings,
    file: &Path,
    passes: &[Use],
    frames: (u64, u64),
    to: &Path,
) -> Result<(), Failure> {
    let recorded = profile::record(&flags(settings, file, passes, frames, to)?)?;
    match (recorded.differs, recorded.exit) {
        (Some(why), exit) => Err(Failure::with(exit, why)),
        (None, Exit::Done) => Ok(()),
        (None, exit) => {
            let passes = Passes(passes.to_vec());
            Err(Failure::with(exit, format!("the trace with {passes} is not whole")))
        }
    }
}

/// A trace; where the probes change the picture, and no swizzle does, that is said.
pub fn recorded(
    settings: &Settings,
    file: &Path,
    passes: &[Use],
    frames: (u64, u64),
    to: &Path,
    probes: &str,
) -> Result<Vec<String>, Failure> {
    match record(settings, file, passes, frames, to) {
        // (the trace is there, and says it)
        Err(Failure(Exit::Diverged, why))
            if why.contains(" than without probes") && !why.contains("because of pass swizzle") =>
        {
            Ok(vec![format!("With the probes {probes} {why}.")])
        }
        other => other.map(|()| vec![]),
    }
}

/// What draws, dispatches and traces of some frames bind.
pub fn resources(file: &Path, (first, last): (u64, u64), to: &Path) -> Result<(), Failure> {
    let frames = format!("{first}-{last}");
    let words = ["reray-replay", "bindings", "--no-answers", "--format", "json", "--frames", &frames, "-o"];
    let words = words.iter().map(PathBuf::from).chain([to.to_owned(), file.to_owned()]);
    let Some(Command::Bindings(BindingsArgs { followed: flags, .. })) =
        Cli::try_parse_from(words).map_err(Failure::new)?.command
    else {
        return Err(Failure::new("bindings has no flags"));
    };
    match bindings::run(&flags)? {
        Exit::Done => Ok(()),
        exit => Err(Failure::with(exit, "the trace of resources is not whole")),
    }
}

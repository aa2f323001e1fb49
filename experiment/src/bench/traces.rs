//! The traces that a run takes: rays, of which swizzles are made; what passes have to know; and what proves that a plan's frame shows
//! the same.
//!
//! They are made by `profile` and `bindings`, as a user would make them. Guarantees: a trace that is not whole, a picture that
//! differs because of a plan, is an error. Where the counting alone changes the picture (a driver may round otherwise in a shader
//! that has probes) that is a note.

use super::settings::Settings;
use crate::failure::{Exit, Failure};
use crate::files::folder::refuse_full;
use crate::how::How;
use crate::{follow, record};
use std::path::Path;
use trace::plan::{Passes, Use};

/// A profile of some frames.
fn wanted(
    settings: &Settings,
    file: &Path,
    passes: &[Use],
    (first, last): (u64, u64),
    to: &Path,
) -> Result<record::Settings, Failure> {
    let run = settings.run.clone();
    Ok(record::Settings {
        frames: Some(format!("{first}-{last}").parse().map_err(Failure::new)?),
        assume_subgroups: settings.assume_subgroups,
        image_tolerance: settings.image_tolerance,
        ..record::Settings::of(file.to_owned(), Passes(passes.to_vec()), to.to_owned(), run)
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
    let recorded = record::record(&wanted(settings, file, passes, frames, to)?)?;
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
    let frames = Some(format!("{first}-{last}").parse().map_err(Failure::new)?);
    refuse_full(to)?;
    // (how the plan is replayed says nothing of what the capture binds)
    let wanted = follow::Settings { frames, ..follow::Settings::of(file.to_owned(), How::default()) };
    follow::follow(&wanted, to).map(drop)
}

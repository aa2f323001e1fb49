//! `trim`: some frames as a capture of their own.
//!
//! How it is done is `experiment::trim`'s; here it is said what came of it.

use crate::cli::TrimArgs;
use crate::exit::{Exit, Failure, complain};
use crate::output;
use experiment::trim::{Pictures, Settings, trim};
use trace::select::Ranges;

/// Runs the sub-command.
pub fn run(args: &TrimArgs) -> Result<Exit, Failure> {
    let frames = match args.frames.as_ref().map(Ranges::all) {
        None => None,
        Some(&[one]) => Some(one),
        Some(_) => return Err(Failure::usage("--frames: expected one range, as 20 or 20-22")),
    };
    if frames.is_none() && args.change.is_empty() && args.commands.is_empty() && args.edits.is_none() {
        return Err(Failure::usage("nothing to do: name --frames, --commands, --edits, or a --change"));
    }
    let settings = Settings {
        file: args.file.clone(),
        frames,
        edits: args.edits.clone(),
        commands: args.commands.clone(),
        changes: args.change.clone(),
        check: !args.unchecked,
        run: args.run.how(),
    };
    let done = trim(&settings, &args.output)?;
    if args.json {
        output::print(output::json(&done)?.as_bytes())?;
    } else {
        output::print(done.to_string().as_bytes())?;
    }
    for (what, n) in &done.lacks {
        complain(format_args!("not in {}: {n} {what}", args.output.display()));
    }
    match done.pictures {
        Some(Pictures { compared, differing }) if differing > 0 => {
            complain(format_args!("{differing} of {compared} pictures are others than those of the capture"));
            Ok(Exit::Diverged)
        }
        Some(Pictures { compared: 0, .. }) => {
            complain("the frames show nothing that could be compared");
            Ok(Exit::Done)
        }
        _ => Ok(Exit::Done),
    }
}

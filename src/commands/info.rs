//! `info`: what a capture is, as text or JSON.
//!
//! The gathering is `gfxr_parse::summary`; here it is only written down. Guarantees: `--json` has a `schema_version`;
//! the exit code is 1 if blocks of a sibling file could not be read.

use crate::cli::InfoArgs;
use crate::exit::{Exit, Failure, columns, complain};
use crate::output::Output;
use crate::{input, progress};
use gfxr_parse::apis;
use gfxr_parse::summary::summarize;

/// Runs the sub-command.
pub fn run(args: &InfoArgs) -> Result<Exit, Failure> {
    let capture = input::open(&args.file, args.memory)?;
    let bar = progress::bytes(capture.bytes().len() as u64, "info");
    let mut summary = summarize(&capture, |done| bar.set_position(done));
    bar.finish_and_clear();
    summary.warnings.extend(apis::others(&apis::apis(&capture)));
    let mut bytes = if args.json {
        serde_json::to_vec_pretty(&summary).map_err(Failure::new)?
    } else {
        let within = columns().filter(|_| args.output.is_none());
        experiment::info::render(&summary, within).into_bytes()
    };
    if args.json {
        bytes.push(b'\n');
    }
    let mut out = Output::create(args.output.as_deref())?;
    out.write(&bytes)?;
    out.finish()?;
    // What the siblings hold is missing in every number.
    summary.file.unread.iter().for_each(|why| complain(format_args!("{}: {why}", capture.name())));
    Ok(if summary.file.unread.is_empty() { Exit::Done } else { Exit::Failed })
}

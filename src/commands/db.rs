//! `db`: a capture, and what was measured of it, as a database (`experiment::base`).
//!
//! Guarantees: the database is there whole or not at all; the exit code is 1 where not all of the capture could be read. Refuses folders
//! that hold something.

use crate::cli::DbArgs;
use crate::exit::{Exit, Failure};
use crate::output;
use database::capture::Written;
use experiment::base::make;
use experiment::files::folder::{refuse_full, whole};
#[cfg(not(feature = "parquet"))]
use std::path::Path;

/// Runs the sub-command.
pub fn run(args: &DbArgs) -> Result<Exit, Failure> {
    if let Some(folder) = &args.parquet {
        refuse_full(folder)?;
    }
    let made = make(&args.file, &args.inputs, !args.no_bindings, &args.output, args.reading.into())?;
    if let Some(folder) = &args.parquet {
        let failed = |e| Failure::new(format_args!("{e}"));
        whole(folder, |part| parquet(&args.output, part).map_err(failed))?;
    }
    let Written { calls, invocations } = made.written;
    let text =
        format!("{}: {calls} calls; {invocations} draws, dispatches and traces\n", args.output.display());
    output::print(text.as_bytes())?;
    Ok(made.exit)
}

#[cfg(feature = "parquet")]
use database::parquet::write as parquet;

/// Says that this build has no Parquet.
#[cfg(not(feature = "parquet"))]
fn parquet(_: &Path, _: &Path) -> Result<(), &'static str> {
    Err("this program was built without its feature `parquet`")
}

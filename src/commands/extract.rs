//! `extract` (`experiment::extract`).
//!
//! Guarantees: stdout carries the headline alone. Refuses nothing of its own.

use crate::cli::ExtractArgs;
use crate::exit::{Exit, Failure};
use crate::output;

/// Runs it.
pub fn run(args: &ExtractArgs) -> Result<Exit, Failure> {
    let (headline, exit) = experiment::extract::extract(&args.file, &args.output, args.memory.into())?;
    output::print(headline.as_bytes())?;
    Ok(exit)
}

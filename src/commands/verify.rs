//! `verify` (`experiment::verify`).
//!
//! Guarantees: exit code 0 only if every block comes back and the calls fit each other. Refuses nothing.

use crate::cli::VerifyArgs;
use crate::exit::{Exit, Failure};
use crate::{input, output};
use experiment::verify::{render, verify};

/// Runs it.
pub fn run(args: &VerifyArgs) -> Result<Exit, Failure> {
    let report = verify(&input::open(&args.file, args.memory)?)?;
    match args.json {
        true => output::print(output::json(&report)?.as_bytes())?,
        false => output::print_sentences(&(render(&report) + "\n"))?,
    }
    Ok(if report.is_good() { Exit::Done } else { Exit::Diverged })
}

//! `extract`
use crate::cli::ExtractArgs;
use crate::exit::{Exit, Failure};

/// Runs the sub-command.
pub fn run(_args: &ExtractArgs) -> Result<Exit, Failure> {
    Err(Failure::new("to come"))
}

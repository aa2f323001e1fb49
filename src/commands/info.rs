//! `info`
use crate::cli::InfoArgs;
use crate::exit::{Exit, Failure};

/// Runs the sub-command.
pub fn run(_args: &InfoArgs) -> Result<Exit, Failure> {
    Err(Failure::new("to come"))
}

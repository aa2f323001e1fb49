//! `verify`
use crate::cli::VerifyArgs;
use crate::exit::{Exit, Failure};

/// Runs the sub-command.
pub fn run(_args: &VerifyArgs) -> Result<Exit, Failure> {
    Err(Failure::new("to come"))
}

//! `suite`: many captures, on one machine or on many (docs/suites.md).
//!
//! A suite file says what is measured (`file`, `keys`); that is a list of units (`units`), each in one shard (`shard`): `read` reads it all. `run`
//! measures units one by one, each in a process of its own; `merge` puts what shards measured together; `compare` judges two
//! results unit by unit. What lies on disk is `trace::suite`'s, in a folder or in one file (`results`, `crate::archive`).

mod beside;
mod compare;
mod file;
mod keys;
mod list;
mod merge;
#[cfg(test)]
mod plans_tests;
mod read;
mod results;
mod run;
mod shard;
mod units;

use crate::cli::SuiteCommand;
use crate::exit::{Exit, Failure};

/// Runs it.
pub fn run(command: &SuiteCommand) -> Result<Exit, Failure> {
    match command {
        SuiteCommand::List(args) => list::run(args),
        SuiteCommand::Run(args) => run::run(args),
        SuiteCommand::Merge(args) => merge::run(args),
        SuiteCommand::Compare(args) => compare::run(args),
    }
}

//! `suite`: many captures, on one machine or on many (docs/suites.md).
//!
//! A suite file says what is measured (`file`, `keys`); that is a list of units (`units`), each in one shard (`shard`). `run`
//! measures units one by one, each in a process of its own; `merge` puts what shards measured together; `compare` judges two
//! results unit by unit. What lies on disk is `trace::suite`'s, in a folder or in one file (`results`, `crate::archive`).

mod compare;
mod file;
mod keys;
mod list;
mod merge;
mod results;
mod run;
mod shard;
mod units;

use crate::cli::{Shard, SuiteCommand};
use crate::exit::{Exit, Failure};
use file::Suite;
use std::path::{Path, PathBuf};
use units::Unit;

/// Who writes results.
const PROGRAM: &str = concat!("reray-replay ", env!("CARGO_PKG_VERSION"));

/// Runs it.
pub fn run(command: &SuiteCommand) -> Result<Exit, Failure> {
    match command {
        SuiteCommand::List(args) => list::run(args),
        SuiteCommand::Run(args) => run::run(args),
        SuiteCommand::Merge(args) => merge::run(args),
        SuiteCommand::Compare(args) => compare::run(args),
    }
}

/// A suite, the folder that its names are seen from, its units, and the shard of each.
struct Read {
    suite: Suite,
    folder: PathBuf,
    units: Vec<Unit>,
    shards: Vec<u32>,
}

/// Reads a suite file.
fn read(path: &Path, shard: Option<Shard>) -> Result<Read, Failure> {
    let name = path.display().to_string();
    let fail = |e: &dyn std::fmt::Display| Failure::new(format_args!("{name}: {e}"));
    let meta = std::fs::metadata(path).map_err(|e| fail(&e))?;
    if meta.is_dir() {
        return Err(fail(&"a folder; name a suite file (docs/suites.md)"));
    }
    if meta.len() > file::MOST_BYTES {
        return Err(fail(&format_args!(
            "{} bytes; a suite file has {} at most",
            meta.len(),
            file::MOST_BYTES
        )));
    }
    let text = std::fs::read(path).map_err(|e| fail(&e))?;
    let text = String::from_utf8(text).map_err(|e| fail(&format_args!("no text in UTF-8: {e}")))?;
    let suite = file::parse(&text, &name).map_err(Failure::new)?;
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    let units = units::units(&suite, &folder).map_err(Failure::new)?;
    let costs: Vec<f64> = units.iter().map(|u| u.cost).collect();
    let shards = shard::split(&costs, shard.map_or(1, |s| s.of));
    Ok(Read { suite, folder, units, shards })
}

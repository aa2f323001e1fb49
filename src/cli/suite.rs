//! The arguments of `suite` and what is below it.

use super::verdict::{CompareFormat, written};
use crate::select::Glob;
use clap::{Args, Subcommand};
use experiment::suite::Shard;
use experiment::values::percent;
use std::path::PathBuf;

/// `suite`
#[derive(Clone, Debug, Subcommand)]
pub enum SuiteCommand {
    /// Say what a suite file measures: its units, and which shard each is in
    List(SuiteListArgs),
    /// Measure a suite's units, or one shard of them, one after the other
    Run(SuiteRunArgs),
    /// Put what shards measured together, in a folder or in one file
    Merge(SuiteMergeArgs),
    /// Say unit by unit whether one result of a suite is slower than another; exit code 3 if one is, 4 if that cannot be said
    Compare(SuiteCompareArgs),
}

/// `suite list`
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
A unit is one capture, looped at one frame or replayed whole, under all its plans. docs/suites.md has every key of the file.

Examples:
  reray-replay suite list nightly.toml
  reray-replay suite list nightly.toml --shard 2/8 --json")]
pub struct SuiteListArgs {
    /// The suite file
    #[arg(value_name = "SUITE")]
    pub suite: PathBuf,
    /// Split the units over N shards, and say which are in shard I (from 1)
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Print JSON (with a schema_version) instead of a table
    #[arg(long)]
    pub json: bool,
}

/// `suite run`
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Each unit is a run of `reray-replay bench` in a process of its own, DIR/units/UNIT; DIR/suite.json says where each stands, and is
written anew after each. A unit that fails leaves the others. Exit code 0 if all are done, 1 if one is not.

Examples:
  reray-replay suite run nightly.toml -o results
  reray-replay suite run nightly.toml --shard 2/8 -o results-2     (on one of eight machines)
  reray-replay suite run nightly.toml -o results --resume
  reray-replay suite run nightly.toml -o results --only 'pygfx-*'")]
pub struct SuiteRunArgs {
    /// The suite file
    #[arg(value_name = "SUITE")]
    pub suite: PathBuf,
    /// The folder to write to; it must be new or empty, or hold what --resume goes on with
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Only the units of shard I of N (I from 1): every unit is in exactly one
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Only units of these names; * and ? are wildcards
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub only: Vec<Glob>,
    /// Go on in a folder of the same suite file: measure the units that are not done
    #[arg(long)]
    pub resume: bool,
    /// Stop at the first unit that fails
    #[arg(long)]
    pub fail_fast: bool,
    /// Print JSON (with a schema_version) instead of a table
    #[arg(long)]
    pub json: bool,
}

/// `suite merge`
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
What is written holds every unit once, and is whole or not there. A name that ends in .tar.gz or .tgz makes one file, to keep as
a baseline.

Examples:
  reray-replay suite merge results-1 results-2 -o results
  reray-replay suite merge results-* -o baseline.tar.gz")]
pub struct SuiteMergeArgs {
    /// Folders, or .tar.gz files, of `suite run` or `suite merge`
    #[arg(value_name = "DIR", required = true)]
    pub parts: Vec<PathBuf>,
    /// What to write: a folder, new or empty, or a file NAME.tar.gz
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Write it although units are missing
    #[arg(long)]
    pub partial: bool,
    /// Merge results of other program versions, or of other captures of one name, all the same
    #[arg(long)]
    pub force: bool,
}

/// `suite compare`
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Metrics, --min-effect and --alpha are those of NEW's suite file, unit by unit. Each unit is compared as `reray-replay compare` does,
p adjusted over all units together. The verdict is the worst unit's.

Exit codes: 0 no change or better, 3 regression, 4 inconclusive; 1 if a unit of BASE is missing in NEW, failed there, or cannot be
compared (unless --partial); others as of all commands.

Examples:
  reray-replay suite compare baseline.tar.gz results
  reray-replay suite compare baseline.tar.gz results --format markdown --write junit=verdict.xml
  reray-replay suite compare baseline.tar.gz results --page differences.html
  reray-replay suite compare results results --against plain       (plans of one result beside its plan `plain`)")]
pub struct SuiteCompareArgs {
    /// The result that it is held against: a folder or a .tar.gz file of `suite run` or `suite merge`
    #[arg(value_name = "BASE")]
    pub base: PathBuf,
    /// The result that is judged
    #[arg(value_name = "NEW")]
    pub new: PathBuf,
    /// Hold every plan of NEW against this one of BASE, instead of the one of its own name [default: where NEW is BASE, the suite
    /// file's]
    #[arg(long, value_name = "PLAN")]
    pub against: Option<String>,
    /// Metrics, of all units [default: the suite file's, else median]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub metric: Vec<String>,
    /// The least change that matters, of all units [default: the suite file's, else 2%]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub min_effect: Option<f64>,
    /// The greatest p that is significant, of all units [default: the suite file's, else 0.01]
    #[arg(long, value_name = "P")]
    pub alpha: Option<f64>,
    /// Units that are missing or failed are no failure; they are said all the same
    #[arg(long)]
    pub partial: bool,
    /// Write a page for a browser: the verdicts, and of pictures that differ before, after, and where
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// Compare results of other devices or captures all the same
    #[arg(long)]
    pub force: bool,
    /// What to print
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    pub format: CompareFormat,
    /// Print JSON: --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Write another format to a file as well: json=FILE, markdown=FILE, junit=FILE, benchmark=FILE, bencher=FILE, csv=FILE, text=FILE
    #[arg(long, value_name = "FORMAT=FILE", value_parser = written)]
    pub write: Vec<(CompareFormat, PathBuf)>,
}

//! The command line of `diff`.

use super::memory::MemoryArgs;
use crate::select::Ranges;
use clap::Args;
use std::path::PathBuf;

/// `diff`
#[derive(Debug, Args)]
#[command(after_help = "\
What differs in what the program does: draws, dispatches, copies, barriers and state with their arguments, objects as they were made,
shaders as text, descriptors, push constants, bytes written to buffers and images, names and labels. Ids, addresses,
pointers and what a driver answered are no changes. No GPU is needed. Databases are made as those of `sql` are, and kept.

Exit codes: 0 whether the captures differ or not; with --exit-code 5 if they do; others as of all commands.

Examples:
  reray-replay diff before.gfxr after.gfxr
  reray-replay diff before.gfxr after.gfxr --frames 10-20 --json > diff.json && reray-replay report diff.json
  reray-replay diff before.gfxr after.gfxr --of-a before.json --of-b after.json     (JSON of --times command)
  reray-replay diff a.gfxr b.gfxr --exit-code && echo the same")]
#[cfg_attr(not(feature = "database"), allow(dead_code, reason = "no such database"))]
pub struct DiffArgs {
    /// The first capture
    #[arg(value_name = "A")]
    pub a: PathBuf,
    /// The capture that is held against it
    #[arg(value_name = "B")]
    pub b: PathBuf,
    /// Compare these frames only, by their numbers in A; objects are compared all the same
    #[arg(long, value_name = "A-B")]
    pub frames: Option<Ranges>,
    /// What was measured of A, again and again: JSON of a replay with --times command adds times to changes
    #[arg(long, value_name = "FILE")]
    pub of_a: Vec<PathBuf>,
    /// The same of B
    #[arg(long, value_name = "FILE")]
    pub of_b: Vec<PathBuf>,
    /// Print everything as JSON (with a schema_version); `report` and `db` read it
    #[arg(long)]
    pub json: bool,
    /// List this many changes at most in the text
    #[arg(long, value_name = "N", default_value_t = 100, conflicts_with = "json")]
    pub limit: usize,
    /// End with exit code 5 if the captures differ
    #[arg(long)]
    pub exit_code: bool,
    /// Write to this file
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Keep the databases in this folder
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// How much memory reading may take.
    #[command(flatten)]
    pub reading: MemoryArgs,
}

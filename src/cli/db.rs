//! The command lines of `db` and `sql`.

use super::memory::MemoryArgs;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `db`
#[derive(Debug, Args)]
#[command(after_help = "\
The database holds the capture's calls with their arguments, objects and their lives, frames, submissions, what command buffers
hold and what the device runs of it, and what every draw, dispatch and trace had bound; no GPU is needed. Of traces it
holds their tables and what they answer, of runs and of replays' JSON the reports. It explains itself: `reray-replay sql` with
--schema, or its tables schema_tables and schema_columns (docs/database.md).

Examples:
  reray-replay db cap.gfxr -o cap.sqlite
  reray-replay db cap.gfxr trace times.json -o cap.sqlite
  reray-replay db cap.gfxr -o cap.sqlite --parquet tables")]
#[cfg_attr(not(feature = "database"), allow(dead_code, reason = "no such database"))]
pub struct DbArgs {
    /// The capture
    #[arg(value_name = "CAPTURE")]
    pub file: PathBuf,
    /// What was measured of it: traces of `profile`, runs of `bench`, JSON that replays or `analyze` printed
    #[arg(value_name = "TRACE|RUN|JSON")]
    pub inputs: Vec<PathBuf>,
    /// The database to write
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Leave out what draws, dispatches and traces bind, and the answers to that: faster
    #[arg(long)]
    pub no_bindings: bool,
    /// Write every table as a Parquet file into this folder, too; it must be new or empty
    #[arg(long, value_name = "DIR")]
    pub parquet: Option<PathBuf>,
    /// How much memory reading may take.
    #[command(flatten)]
    pub reading: MemoryArgs,
}

/// `sql`
#[derive(Debug, Args)]
#[command(after_help = "\
The database of a capture is made once, and kept beside the capture (or in $XDG_CACHE_HOME/reray-replay, where the capture's folder
cannot be written to) under a name made of what the capture contains: a capture that changed gets another. Nothing is ever
changed by a question.

Examples:
  reray-replay sql cap.gfxr 'SELECT * FROM call_counts ORDER BY calls DESC'
  reray-replay sql cap.gfxr 'SELECT kind, count(*) FROM executions GROUP BY kind' --format csv
  reray-replay sql cap.gfxr --schema
  reray-replay sql cap.sqlite 'SELECT * FROM traces'")]
#[cfg_attr(not(feature = "database"), allow(dead_code, reason = "no such database"))]
pub struct SqlArgs {
    /// The capture, or a database that `db` wrote
    #[arg(value_name = "CAPTURE|DATABASE")]
    pub file: PathBuf,
    /// The question, one statement of SQLite; - reads it from stdin
    #[arg(value_name = "SQL", required_unless_present = "schema")]
    pub query: Option<String>,
    /// Say which tables, columns and views there are, with units and meanings
    #[arg(long, conflicts_with = "query")]
    pub schema: bool,
    /// The form of the answer
    #[arg(long, value_enum, default_value_t = SqlFormat::Text)]
    pub format: SqlFormat,
    /// Write to this file
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Keep the database in this folder
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// How much memory reading may take.
    #[command(flatten)]
    pub reading: MemoryArgs,
}

/// Forms of `sql`'s output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[cfg_attr(not(feature = "database"), allow(dead_code, reason = "no such database"))]
pub enum SqlFormat {
    /// An aligned table, for reading
    Text,
    /// An array of objects, a row each
    Json,
    /// CSV; NULL is an empty field
    Csv,
}

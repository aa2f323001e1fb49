//! The command line of `analyze`, and the forms that answers have.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `analyze`
#[derive(Debug, Args)]
#[command(after_help = "\
The trace is a folder that `reray-replay profile` wrote; no GPU is needed. With -o FOLDER each question gets files of its
own, QUESTION.txt, QUESTION.json, or QUESTION.TABLE.csv and .parquet, its pictures as QUESTION.PICTURE.png, and whatever
else it writes (annotated shaders, timelines). Parquet files carry units and descriptions as key/value metadata.

Examples:
  reray-replay analyze trace --list
  reray-replay analyze trace simt
  reray-replay analyze trace annotate -o annotated
  reray-replay analyze trace --table simt | head
  reray-replay analyze trace --format parquet -o parquet     (the trace's own tables, too)")]
pub struct AnalyzeArgs {
    /// The trace
    #[arg(value_name = "DIR", required_unless_present = "list")]
    pub trace: Option<PathBuf>,
    /// Which questions [default: all that the trace can answer]
    #[arg(value_name = "QUESTION")]
    pub questions: Vec<String>,
    /// Say which questions and tables there are, and which questions the trace can answer
    #[arg(long)]
    pub list: bool,
    /// Instead of answers: this table of the trace as it is, as CSV where --format says nothing; may be given more than once
    #[arg(long, value_name = "NAME", conflicts_with_all = ["questions", "list"])]
    pub table: Vec<String>,
    /// Instead of answers: every table of the trace
    #[arg(long, conflicts_with_all = ["questions", "list", "table"])]
    pub tables: bool,
    /// The form of the output [default: text]
    #[arg(long, value_enum)]
    pub format: Option<AnalyzeFormat>,
    /// Write to this folder (made if it is not there), or to a file if the name has an ending, as in a.csv
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
}

/// Forms of `analyze`'s output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AnalyzeFormat {
    /// Aligned tables, for reading
    Text,
    /// JSON (with a schema_version); a trace's own tables as JSON Lines
    Json,
    /// CSV, a file a table
    Csv,
    /// Apache Parquet, a file a table
    Parquet,
}

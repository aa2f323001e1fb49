//! The arguments of `report`.

use clap::Args;
use std::path::PathBuf;

/// `report`.
#[derive(Debug, Args)]
#[command(after_help = "\
An input is a trace that `profile` or `bindings` wrote, the folder of a `bench` (and the traces in it), or JSON that a replay or
`analyze` printed. Each is answered by every question that it can answer; a page may hold several.

Examples:
  reray-replay report trace -o report.html
  reray-replay report study trace resources --title 'Weekend, before the change'
  reray-replay weekend.gfxr --times command --json > times.json && reray-replay report times.json trace
  reray-replay report trace --questions simt,annotate --plots figures")]
pub struct ReportArgs {
    /// Traces, runs, JSON of replays
    #[arg(value_name = "INPUT", required = true)]
    pub inputs: Vec<PathBuf>,
    /// The file to write: one page that opens from disk, without any network
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub output: PathBuf,
    /// The page's heading [default: the captures' names]
    #[arg(long, value_name = "WORDS")]
    pub title: Option<String>,
    /// Only these questions, with commas between; runs and JSON are shown whole
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub questions: Vec<String>,
    /// Write the same plots as SVG and PNG to this folder, too (made if it is not there)
    #[arg(long, value_name = "DIR")]
    pub plots: Option<PathBuf>,
}

//! The arguments of `report`.

use super::RunArgs;
use clap::Args;
use std::path::{Path, PathBuf};

/// `report`.
#[derive(Debug, Args)]
#[command(after_help = "\
An input is a capture, a trace that `profile` or `bindings` wrote, a run of `bench`, the folder of a `study` (and the traces in it), or
JSON that a replay or `analyze` printed. A capture is replayed: all of its frames are timed, one is looked into draw by draw, with
pictures of it and of its passes, and the questions are asked of it. Each other input is answered by every question that it can
answer; a page may hold several.

Examples:
  reray-replay report cap.gfxr
  reray-replay report trace -o report.html
  reray-replay report study trace resources --title 'Weekend, before the change'
  reray-replay weekend.gfxr --times command --json > times.json && reray-replay report times.json trace
  reray-replay report trace --questions simt,annotate --plots figures")]
pub struct ReportArgs {
    /// Captures, traces, runs, JSON of replays
    #[arg(value_name = "INPUT", required = true)]
    pub inputs: Vec<PathBuf>,
    /// The file to write: one page that opens from disk, without any network
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub output: PathBuf,
    /// The page's heading [default: the captures' names]
    #[arg(long, value_name = "WORDS")]
    pub title: Option<String>,
    /// Only these questions, with commas between; runs and JSON are shown whole [default of a capture: hotspots, simt, ray-counts,
    /// advice, uniforms; of a trace: all]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub questions: Vec<String>,
    /// Of captures: the frame that is looked into [default: the slowest]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub frame: Option<u64>,
    /// Of captures: take subgroup operations for granted in stages in which the device does not say that it has them
    #[arg(long)]
    pub assume_subgroups: bool,
    /// Write the same plots as SVG and PNG to this folder, too (made if it is not there)
    #[arg(long, value_name = "DIR")]
    pub plots: Option<PathBuf>,
    /// How captures are replayed.
    #[command(flatten)]
    pub run: RunArgs,
}

impl ReportArgs {
    /// One capture on a page, as `--report` of a replay asks for it.
    pub fn of_capture(file: &Path, page: &Path, assume_subgroups: bool, run: &RunArgs) -> ReportArgs {
        ReportArgs {
            inputs: vec![file.to_owned()],
            output: page.to_owned(),
            title: None,
            questions: vec![],
            frame: None,
            assume_subgroups,
            plots: None,
            run: run.clone(),
        }
    }
}

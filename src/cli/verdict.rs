//! The arguments of `compare`, and of the worker that `bench` runs.

use super::run::RunArgs;
use clap::{Args, ValueEnum};
use experiment::values::percent;
use std::path::PathBuf;
use trace::plan::{Passes, Use};

/// `compare`
#[derive(Debug, Args)]
#[command(after_help = "\
A run is a folder that `reray-replay bench` wrote, or a .tar.gz file of one. A change of its times is a regression if its whole interval
lies beyond --min-effect: Student's t of the logarithms of one value a process (of plans of one run, of pairs of processes that were
alive together; else Welch's). Among many questions its p, adjusted, has to be at most alpha, too. It is inconclusive if the interval
straddles that bound, or if a side has fewer than 4 processes. docs/compare.md defines every number.

Two traces (folders that `profile` or `bindings -o` wrote) are compared by what they count: instructions, SIMT efficiency, ray events,
registers, bytes bound, draws. Counts are exact, so that one trace a side decides, on software Vulkan, too; a change of a column is a
regression if it is worse by --threshold. An edited shader is held against its former self, block by block.

Exit codes: 0 no change or better, 3 regression, 4 inconclusive; others as of all commands.

Examples:
  reray-replay compare before after
  reray-replay compare before after --metric median,p99 --min-effect 1% --alpha 0.05 --format markdown
  reray-replay compare run run --against plain                  (plans of one run beside its plan `plain`)
  reray-replay compare trace-before trace-after --threshold efficiency=1%,instructions=0.5%
  reray-replay compare before after --write junit=verdict.xml --write benchmark=bench.json")]
pub struct CompareArgs {
    /// The run, or trace, that it is held against
    #[arg(value_name = "BASE")]
    pub base: PathBuf,
    /// The run, or trace, that is judged
    #[arg(value_name = "NEW")]
    pub new: PathBuf,
    /// Metrics of captures: median, mean, p95, p99, low1-p99 (1000/p99), low1-mean (of the worst 1 %), stutter [default: median]; of
    /// traces, columns [default: all that both have]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub metric: Vec<String>,
    /// The least change that matters
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = percent)]
    pub min_effect: f64,
    /// Of traces: the least change of a column that matters [default: --min-effect]; of efficiencies in percentage points
    #[arg(long, value_name = "COLUMN=PERCENT,…", value_delimiter = ',', value_parser = threshold)]
    pub threshold: Vec<(String, f64)>,
    /// Intervals are at the level 1 - alpha; among many questions, the greatest adjusted p that is significant
    #[arg(long, value_name = "P", default_value_t = 0.01)]
    pub alpha: f64,
    /// Whose times [default: the GPU's where all frames have one, else the CPU's]
    #[arg(long, value_enum, value_name = "WHOSE")]
    pub clock: Option<Clock>,
    /// Hold every plan of NEW against this one of BASE, instead of the one of its own name
    #[arg(long, value_name = "PLAN")]
    pub against: Option<String>,
    /// Only these plans of NEW
    #[arg(long, value_name = "PLAN,…", value_delimiter = ',')]
    pub plans: Vec<String>,
    /// Compare runs of other devices or captures all the same
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

/// Whose times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Clock {
    /// The device's
    Gpu,
    /// The replay's on the CPU
    Cpu,
}

/// What `compare` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// Tables for a terminal
    Text,
    /// Everything, with a schema_version
    Json,
    /// For a pull request
    Markdown,
    /// For CI
    Junit,
    /// github-action-benchmark's customSmallerIsBetter
    Benchmark,
    /// Bencher's metric format (BMF JSON)
    Bencher,
    /// Values of processes, for tools that look for change points
    Csv,
}

impl CompareFormat {
    /// JSON where that is asked for; else it.
    pub fn or_json(self, json: bool) -> CompareFormat {
        if json { CompareFormat::Json } else { self }
    }
}

/// `efficiency=1%`.
fn threshold(text: &str) -> Result<(String, f64), String> {
    let (column, least) = text.rsplit_once('=').ok_or("expected COLUMN=PERCENT")?;
    Ok((column.to_owned(), percent(least)?))
}

/// `junit=FILE`.
pub fn written(text: &str) -> Result<(CompareFormat, PathBuf), String> {
    let (format, file) = text.split_once('=').ok_or("expected FORMAT=FILE")?;
    Ok((CompareFormat::from_str(format, false)?, file.into()))
}

/// `bench-worker`: a process of a run. It takes its turns from stdin and answers on stdout; nobody but `bench` calls it.
#[derive(Clone, Debug, Args)]
pub struct WorkerArgs {
    /// The capture
    pub file: PathBuf,
    /// The frame to loop; without it the capture is replayed whole
    #[arg(long)]
    pub frame: Option<u64>,
    /// Passes in its shaders
    #[arg(long)]
    pub passes: Option<Passes>,
    /// Changes to its calls
    #[arg(long)]
    pub change: Vec<Use>,
    /// A file that says which sets descriptors are in
    #[arg(long)]
    pub descriptors: Option<PathBuf>,
    /// Turns at most, and turns with finer timestamps
    #[arg(long, num_args = 2)]
    pub turns: Vec<u32>,
    /// Milliseconds of work before each iteration
    #[arg(long)]
    pub busy: Option<u64>,
    /// As of `bench`
    #[arg(long)]
    pub assume_subgroups: bool,
    /// Signals that end programs are for who gives turns
    #[arg(long)]
    pub spared: bool,
    /// How to replay.
    #[command(flatten)]
    pub run: RunArgs,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_and_their_files() {
        assert_eq!(written("junit=a=b.xml"), Ok((CompareFormat::Junit, "a=b.xml".into())));
        assert!(written("junit").is_err() && written("yaml=x").is_err());
        assert_eq!(threshold("counter a=b=1%"), Ok(("counter a=b".into(), 0.01)));
        assert!(threshold("efficiency").is_err() && threshold("efficiency=x").is_err());
    }
}

//! The arguments of `compare`, of `bench`'s processes, and of the worker that it runs.

use super::run::RunArgs;
use super::values::{duration, percent};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// `compare`
#[derive(Debug, Args)]
#[command(after_help = "\
A run is a folder that `reray-replay bench --processes` wrote, or a .tar.gz file of one. A change is a regression if its whole interval
lies beyond --min-effect: Student's t of the logarithms of one value a process (of plans of one run, of pairs of processes that were
alive together; else Welch's). Among many questions its p, adjusted, has to be at most alpha, too. It is inconclusive if the interval
straddles that bound, or if a side has fewer than 4 processes. docs/compare.md defines every number.

Exit codes: 0 no change or better, 3 regression, 4 inconclusive; others as of all commands.

Examples:
  reray-replay compare before after
  reray-replay compare before after --metric median,p99 --min-effect 1% --alpha 0.05 --format markdown
  reray-replay compare run run --against plain                  (plans of one run beside its plan `plain`)
  reray-replay compare before after --write junit=verdict.xml --write benchmark=bench.json")]
pub struct CompareArgs {
    /// The run that it is held against
    #[arg(value_name = "BASE")]
    pub base: PathBuf,
    /// The run that is judged
    #[arg(value_name = "NEW")]
    pub new: PathBuf,
    /// Metrics of captures: median, mean, p95, p99, low1-p99 (1000/p99), low1-mean (of the worst 1 %), stutter
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_value = "median")]
    pub metric: Vec<String>,
    /// The least change that matters
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = percent)]
    pub min_effect: f64,
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
    /// Write another format to a file as well: json=FILE, markdown=FILE, junit=FILE, benchmark=FILE, csv=FILE, text=FILE
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
    /// Values of processes, for tools that look for change points
    Csv,
}

/// `junit=FILE`.
pub fn written(text: &str) -> Result<(CompareFormat, PathBuf), String> {
    let (format, file) = text.split_once('=').ok_or("expected FORMAT=FILE")?;
    Ok((CompareFormat::from_str(format, false)?, file.into()))
}

/// What `bench` takes for a run of several processes.
#[derive(Clone, Debug, Args)]
pub struct ProcessesArgs {
    /// Make a run for `compare` and `report`: this many processes of each capture and plan, whose turns alternate. 10 is a good
    /// number; fewer than 4 decide nothing. Without --frame captures are replayed whole
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub processes: Option<u32>,
    /// A plan of a run, as in 'slow passes=burn:turns=300 env=FOO=1': a name, and any of passes=LIST, method=NAME (of `rays repack`),
    /// shaders=DIR (replacements, HASH.spv as `extract` names them), driver=FILE (VK_DRIVER_FILES), gpu=N, env=NAME=VALUE. Words
    /// are a shell's, so a value with blanks is quoted: 'slow env="A=x y"'. May be given more than once [default: plain, and
    /// those of --with and --ab]
    #[arg(long, value_name = "NAME KEY=VALUE…")]
    pub plan: Vec<String>,
    /// Of a run: turns of each process with timestamps around passes and commands, of which `compare` tells where a change is
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub detailed: u32,
    /// Keep the device busy for so long before each turn of the frame, by filling memory: one that has little to do lowers its clock
    /// [default: of a run 5, and 0 where the device is the processor; else 0]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(0..=10_000),
          requires = "looped")]
    pub busy: Option<u64>,
    /// Of a run: stop when this much time is over (90s, 10m, 2h), or when what it is for is known well enough (--tight)
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub budget: Option<Duration>,
    /// With --budget: how well every median, or with several plans every change against the first plan, has to be known: half
    /// its 99 % interval, in percent
    #[arg(long, value_name = "PERCENT", default_value = "0.5%", value_parser = percent, requires = "budget")]
    pub tight: f64,
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
    #[arg(long, default_value = "")]
    pub passes: String,
    /// Turns at most, and turns with finer timestamps
    #[arg(long, num_args = 2)]
    pub turns: Vec<u32>,
    /// Milliseconds of work before each iteration
    #[arg(long)]
    pub busy: Option<u64>,
    /// As of `bench`
    #[arg(long)]
    pub assume_subgroups: bool,
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
    }
}

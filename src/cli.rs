//! Every flag, documented once: `--help`, the man page and completions are made from this file and those below.
//!
//! `reray-replay FILE` without a sub-command is `replay`: the flags of that are also beside `command` in [`Cli`], flattened
//! (`args_conflicts_with_subcommands` keeps the two apart). A new sub-command is a variant of [`Command`] and a file in
//! `commands/`.

mod analyze;
mod bench;
mod bindings;
mod db;
mod diff;
mod dump_resources;
mod habits;
mod help;
mod memory;
mod overwritten;
mod profile;
mod rays;
mod reduce;
mod report;
mod run;
mod screenshot;
mod study;
mod suite;
mod trim;
mod upstream;
mod verdict;
mod what_if;

pub use self::profile::{CountersBy, ProfileArgs};
pub use analyze::{AnalyzeArgs, AnalyzeFormat};
pub use bench::BenchArgs;
pub use bindings::{BindingsArgs, BindingsCommand, ResourcesArgs, SplitArgs};
#[cfg(feature = "database")]
pub use db::SqlFormat;
pub use db::{DbArgs, SqlArgs};
pub use diff::DiffArgs;
pub use dump_resources::DumpResourcesArgs;
pub use habits::{CompletionsArgs, HabitArgs, ManArgs, McpArgs};
pub use help::parse;
pub use memory::MemoryArgs;
pub use rays::{DumpForm, RaysCommand, RaysDumpArgs, ReorderArgs, RepackArgs};
pub use reduce::ReduceArgs;
pub use report::ReportArgs;
pub use run::RunArgs;
pub use screenshot::ScreenshotArgs;
pub use study::StudyCommand;
pub use suite::{SuiteCommand, SuiteCompareArgs, SuiteListArgs, SuiteMergeArgs, SuiteRunArgs};
pub use trim::TrimArgs;
pub use upstream::{ShotFormat, UpstreamArgs};
pub use verdict::{Clock, CompareArgs, CompareFormat, WorkerArgs};
pub use what_if::WhatIfArgs;

use crate::exit::HELP;
use crate::select::{Glob, Ranges};
use clap::{Args, Parser, Subcommand, ValueEnum};
use gfxr_parse::container::Compression;
use std::path::PathBuf;
use trace::plan::{Passes, Use};

/// Reads a GFXReconstruct capture (.gfxr) and says what the GPU did.
#[derive(Debug, Parser)]
#[command(name = "reray-replay", version, after_help = HELP, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// What to do; without one, replay FILE.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// What every sub-command has.
    #[command(flatten)]
    pub habits: HabitArgs,
    /// The flags of a replay; they have a heading of their own at the end, and so come last.
    #[command(flatten)]
    pub replay: ReplayArgs,
}

/// `reray-replay FILE`: replays a capture and says how long its frames took.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The capture to replay
    pub file: Option<PathBuf>,
    /// How to replay.
    #[command(flatten)]
    pub run: RunArgs,
    /// Measure only these frames, by number; nothing after the last is replayed
    #[arg(long, value_name = "A-B")]
    pub frames: Option<Ranges>,
    /// Replay the capture this often, from the start each time; all repetitions count
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// Run one frame again and again.
    #[command(flatten)]
    pub looped: LoopArgs,
    /// Leave submissions as they are: CPU times only, and no cost of measuring
    #[arg(long)]
    pub no_gpu_times: bool,
    /// What to time on the GPU; below frames the capture is replayed once more, to say what measuring cost
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t = TimesLevel::Frame, conflicts_with_all = ["no_gpu_times", "echo"])]
    pub times: TimesLevel,
    /// With --times pass or command: let each one run alone, between full barriers (not inside render passes)
    #[arg(long)]
    pub isolate: bool,
    /// With --times pass or command: count vertices, primitives and shader invocations, too (slower; see docs/reports.md)
    #[arg(long)]
    pub statistics: bool,
    /// With --times submit, pass or command: write every span as a line of CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// With --times submit, pass or command: write a timeline that ui.perfetto.dev opens
    #[arg(long, value_name = "FILE")]
    pub perfetto: Option<PathBuf>,
    /// Put the probes of these passes into the shaders, to see what they cost; what they measure is not read (`profile` does)
    #[arg(long, value_name = "PASS[:OPTION+…],…", conflicts_with = "echo")]
    pub passes: Option<Passes>,
    /// Change calls on their way to the driver, for experiments (NAME:OPTION+…; docs/runs.md lists what there is); again and
    /// again, the first outermost
    #[arg(long, value_name = "CHANGE", conflicts_with = "echo")]
    pub change: Vec<Use>,
    /// With --passes: take subgroup operations for granted in stages in which the device does not say that it has them
    #[arg(long)]
    pub assume_subgroups: bool,
    /// With --passes: how much of the work counts, as `profile --sample`
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub sample: u32,
    /// Ask the driver's compiler not to inline what probes call
    #[arg(long, hide = true)]
    pub keep_calls: bool,
    /// Count with 32-bit atomics even where the device has wider ones
    #[arg(long, hide = true)]
    pub narrow: bool,
    /// Print everything as JSON (with a schema_version) instead of the table
    #[arg(long)]
    pub json: bool,
    /// Write what can be said of the capture to one page for a browser, as `report FILE` does, and print its headlines
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "echo", "frames", "repeat", "loop_frame", "times", "passes", "change", "no_gpu_times", "csv", "perfetto", "isolate", "statistics", "sample", "screenshots", "screenshot_all", "measurement_frame_range", "measurement_file"])]
    pub report: Option<PathBuf>,
    /// Answer every call with what the capture recorded instead of calling a driver; no times
    #[arg(long)]
    pub echo: bool,
    /// Names of gfxrecon-replay.
    #[command(flatten)]
    pub upstream: UpstreamArgs,
}

/// `--loop-frame`: one frame again and again.
#[derive(Clone, Debug, Args)]
pub struct LoopArgs {
    /// Run this frame again and again: those before it run once, and between iterations all that it changes is restored
    #[arg(long, value_name = "K", conflicts_with_all = ["frames", "repeat", "echo"], value_parser = clap::value_parser!(u64).range(1..))]
    pub loop_frame: Option<u64>,
    /// With --loop-frame: how often it is timed
    #[arg(long, value_name = "N", default_value_t = 100, requires = "loop_frame", value_parser = clap::value_parser!(u32).range(1..))]
    pub iterations: u32,
    /// With --loop-frame: untimed iterations before; the first creates what the frame creates
    #[arg(long, value_name = "W", default_value_t = 3, requires = "loop_frame", value_parser = clap::value_parser!(u32).range(1..))]
    pub warmup: u32,
    /// With --loop-frame: where the random numbers begin that the median's interval is found with
    #[arg(long, value_name = "S", default_value_t = 0, requires = "loop_frame")]
    pub seed: u64,
    /// With --loop-frame: count iterations whose picture is not the first one's, instead of stopping with exit code 5
    #[arg(long, requires = "loop_frame")]
    pub allow_drift: bool,
}

/// What `--times` times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TimesLevel {
    /// Frames
    Frame,
    /// Each submission
    Submit,
    /// Labels, render passes, and what runs between passes
    Pass,
    /// Each draw, dispatch, trace, build, copy, clear, barrier …
    Command,
}

/// The sub-commands. What stands in the first line is all that the first page of help says of each; `cli/help.rs` groups them.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Replay a capture and time its frames (also without `replay`)
    Replay(Box<ReplayArgs>),
    /// Write what frames show as PNGs
    Screenshot(ScreenshotArgs),
    /// Say whether a capture would replay here, without replaying it
    Check(CheckArgs),
    /// Say what this machine's devices can replay and instrument
    Devices(DevicesArgs),
    /// Say what is in a capture: program, devices, frames, shaders
    Info(InfoArgs),
    /// Print a capture's blocks as JSON Lines or text
    Dump(DumpArgs),
    /// Write what draws and dispatches read and write to files
    DumpResources(DumpResourcesArgs),
    /// Write every shader module of a capture to a file of its own
    Extract(ExtractArgs),
    /// Check that a capture is understood to the last byte
    Verify(VerifyArgs),
    /// Write a capture compressed another way (lz4, zlib, zstd, none)
    Compress(CompressArgs),
    /// Replay with instrumented shaders, and write down what they did
    Profile(ProfileArgs),
    /// Answer questions to a trace that `profile` wrote
    ///
    /// Without names, every question that it can answer.
    Analyze(AnalyzeArgs),
    /// Add up how often blocks ran in several traces of `profile`
    ///
    /// Inputs may also be profiles that it wrote earlier.
    MergeProfiles(MergeProfilesArgs),
    /// Find the smallest part of a capture that still shows a fault
    Reduce(ReduceArgs),
    /// Make a capture of its own of some frames
    Trim(TrimArgs),
    /// Say what commands bind and read; time other descriptor sets
    Bindings(BindingsArgs),
    /// Make a database of a capture, for questions in SQL
    Db(DbArgs),
    /// Ask a capture a question in SQL
    Sql(SqlArgs),
    /// Say what differs between two captures of a program
    Diff(DiffArgs),
    /// Print events of rays; say what sorting invocations would gain
    #[command(
        subcommand,
        after_help = "\
Examples:
  reray-replay rays dump trace --at 320,200
  reray-replay rays repack trace
  reray-replay rays reorder trace --window 8,64,all"
    )]
    Rays(RaysCommand),
    /// Time captures, or one frame, under several plans: a run
    ///
    /// Processes of all plans take turns. A plan is a named list of changes to the replay: passes in its shaders, a method of
    /// repacking, other shaders or descriptor sets, a driver, a device, environment variables.
    Bench(BenchArgs),
    /// Say whether one run of `bench` is slower than another
    ///
    /// Exit code 3 if it is slower, 4 if that cannot be said.
    Compare(CompareArgs),
    /// Answer one question of timing whole: what repacking rays does
    #[command(
        subcommand,
        after_help = "\
Example:
  reray-replay study rays weekend.gfxr --frame 2 -o study"
    )]
    Study(StudyCommand),
    /// Ask why a frame takes its time: leave parts out, change others
    WhatIf(WhatIfArgs),
    /// Measure many captures, on one machine or many, and compare
    #[command(
        subcommand,
        after_help = "\
Examples:
  reray-replay suite run nightly.toml -o results
  reray-replay suite compare baseline.tar.gz results"
    )]
    Suite(SuiteCommand),
    /// Put a capture, or what was measured, on one page for a browser
    ///
    /// Captures, traces, runs and what replays say, with tables, plots and maps.
    Report(ReportArgs),
    /// Serve agents: these commands as tools of the Model Context Protocol
    Mcp(McpArgs),
    /// Print what a shell needs to complete this command's flags
    Completions(CompletionsArgs),
    /// Print the manual page, or write one for each sub-command
    Man(ManArgs),
    /// A process of a run
    #[command(hide = true)]
    BenchWorker(WorkerArgs),
    /// `rays repack`, as it was called.
    #[command(hide = true)]
    Repack(RepackArgs),
    /// `rays reorder`, as it was called.
    #[command(hide = true)]
    Reorder(ReorderArgs),
    /// `bindings`, as it was called.
    #[command(hide = true)]
    Resources(ResourcesArgs),
    /// `bindings split`, as it was called.
    #[command(hide = true)]
    Repartition(SplitArgs),
    /// `compress`, as it was called.
    #[command(hide = true)]
    Recompress(CompressArgs),
}

/// `merge-profiles`
#[derive(Debug, Args)]
#[command(after_help = "\
Traces must have counts of pass blocks, counted in the same way. What is written goes by the output's name:
  NAME.proftext  LLVM's text profile format: a record a function, named SHADER.ENTRY.FUNCTION, a counter a block
  NAME.blocks    the same in binary
  DIR            a trace that `analyze` reads (of traces of one capture only)
Sums are exact; shaders of one name and different structure, and counts of different things, are refused.

Examples:
  reray-replay merge-profiles run1 run2 run3 -o all.proftext && llvm-profdata show --all-functions --counts all.proftext
  reray-replay merge-profiles run1 run2 -o both && reray-replay analyze both")]
pub struct MergeProfilesArgs {
    /// Traces (folders) and profiles (files)
    #[arg(required = true)]
    pub inputs: Vec<PathBuf>,
    /// What to write
    #[arg(short, long, value_name = "DIR|FILE")]
    pub output: PathBuf,
    /// Where a trace has more than one pass that counted blocks: which [default: the first that counted all]
    #[arg(long, value_name = "NAME")]
    pub pass: Option<String>,
}

/// `info`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  reray-replay info cap.gfxr
  reray-replay info --json cap.gfxr | jq '.calls.by_command | to_entries | max_by(.value)'")]
pub struct InfoArgs {
    /// The capture
    pub file: PathBuf,
    /// Print JSON (with a schema_version) instead of text
    #[arg(long)]
    pub json: bool,
    /// Write to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// How much memory reading may take.
    #[command(flatten)]
    pub memory: MemoryArgs,
}

/// `dump`
#[derive(Debug, Args)]
#[command(after_help = "\
One line a block, in the shape of the newest gfxrecon-convert (calls, metadata, annotations, markers):
  {\"index\":2,\"function\":{\"name\":\"vkCreateInstance\",\"thread\":1,\"return\":\"VK_SUCCESS\",\"args\":{…}}}
A block that cannot be read is reported on stderr, the others are printed, and the exit code is 1.

Examples:
  reray-replay dump cap.gfxr -o cap.jsonl
  reray-replay dump cap.gfxr --commands 'vkQueue*' --commands vkCreateDevice
  reray-replay dump cap.gfxr --frames 100 --format text | less
  reray-replay dump cap.gfxr --blocks 0-50,200- --expand-flags")]
pub struct DumpArgs {
    /// The capture
    pub file: PathBuf,
    /// Only these blocks, by index from 0 (A-B, A-, lists with commas)
    #[arg(long, value_name = "A-B")]
    pub blocks: Option<Ranges>,
    /// Only these frames, from 1; frame 0 is the state snapshot of a trimmed capture
    #[arg(long, value_name = "A-B")]
    pub frames: Option<Ranges>,
    /// Only calls (and metadata) of this name; * and ? are wildcards; may be given more than once
    #[arg(long, value_name = "GLOB")]
    pub commands: Vec<Glob>,
    /// Write "[Binary data]" for every array of bytes (without it, only where gfxrecon-convert does)
    #[arg(long, conflicts_with = "binaries")]
    pub no_binaries: bool,
    /// Write contents of memory, shader code and the like to files in this folder, and their names into the output
    #[arg(long, value_name = "DIR")]
    pub binaries: Option<PathBuf>,
    /// Write flags as the names of their bits instead of a hexadecimal number
    #[arg(long)]
    pub expand_flags: bool,
    /// The form of the output
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    pub format: Format,
    /// Write to this file instead of stdout; it is there whole or not at all
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// How much memory reading may take.
    #[command(flatten)]
    pub memory: MemoryArgs,
}

/// Forms of `dump`'s output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One JSON object a line
    Jsonl,
    /// Indented text, for reading
    Text,
}

/// `extract`
#[derive(Debug, Args)]
#[command(after_help = "\
Files are named by what is in them, <hash>.spv, so the same shader is written once however often it was created.
index.json and index.txt say where each came from: block, handle, debug name, entry points, stages.

Example:
  reray-replay extract cap.gfxr -o shaders && spirv-dis shaders/*.spv")]
pub struct ExtractArgs {
    /// The capture
    pub file: PathBuf,
    /// The folder to write to; made if it is not there
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// How much memory reading may take.
    #[command(flatten)]
    pub memory: MemoryArgs,
}

/// `verify`
#[derive(Debug, Args)]
#[command(after_help = "\
Every call is decoded and encoded again, every metadata block read and written again; both must give the same bytes.
Then the capture is replayed without a driver, with the answers that were recorded: calls must fit each other.
What does not is listed, blocks with their offsets. Exit code 0 only if there is nothing, 5 otherwise.

Example:
  reray-replay verify cap.gfxr && echo understood")]
pub struct VerifyArgs {
    /// The capture
    pub file: PathBuf,
    /// Print JSON (with a schema_version) instead of text
    #[arg(long)]
    pub json: bool,
    /// How much memory reading may take.
    #[command(flatten)]
    pub memory: MemoryArgs,
}

/// `check`
#[derive(Debug, Args)]
#[command(after_help = "\
The table has everything that the capture asks for: version, extensions, each feature by name, limits, queues, memory,
and every format with its use; beside it what this device has, and what a replay does:
  kept      used as asked
  dropped   left out; it only watches, or only concerns windows or addresses, which are handled otherwise
  replaced  something else stands in for it
  risked    tried all the same; it may fail
  unused    left out: no call, format or shader of the capture uses it
  removed   left out because of --remove-unsupported or --keep-going; the replay may differ
  refused   the capture cannot replay here
Exit code 0 if it would replay, 77 if something is refused.

Example:
  reray-replay check cap.gfxr --gpu 1")]
pub struct CheckArgs {
    /// The capture
    pub file: PathBuf,
    /// Print JSON (with a schema_version) instead of text
    #[arg(long)]
    pub json: bool,
    /// How it would be replayed.
    #[command(flatten)]
    pub run: RunArgs,
}

/// `devices`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  reray-replay devices
  reray-replay devices --json | jq '.devices[].name'")]
pub struct DevicesArgs {
    /// Print JSON (with a schema_version) instead of text
    #[arg(long)]
    pub json: bool,
}

/// `compress`
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  reray-replay compress cap.gfxr --to zstd -o small.gfxr")]
pub struct CompressArgs {
    /// The capture
    pub file: PathBuf,
    /// lz4, zlib, zstd or none
    #[arg(long, value_name = "METHOD")]
    pub to: Compression,
    /// The file to write; it is there whole or not at all
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// How much memory reading may take.
    #[command(flatten)]
    pub memory: MemoryArgs,
}

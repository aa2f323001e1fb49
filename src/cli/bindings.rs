//! The command line of what frames bind: `bindings CAPTURE` follows it without a GPU, `bindings split` replays with descriptors in
//! other sets.

use super::analyze::AnalyzeFormat;
use super::run::RunArgs;
use crate::select::Ranges;
use clap::{Args, Subcommand};
use profile::pictures::Tolerance;
use std::path::PathBuf;

/// `bindings`
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct BindingsArgs {
    /// What to do; without one, follow what CAPTURE binds and reads.
    #[command(subcommand)]
    pub command: Option<BindingsCommand>,
    /// Which capture, and what of it.
    #[command(flatten)]
    pub followed: ResourcesArgs,
}

/// What there is below `bindings`.
#[derive(Debug, Subcommand)]
pub enum BindingsCommand {
    /// Replay with the descriptors of pipeline layouts spread over sets in another way, in turn with plain replays, and say
    /// what descriptors cost
    Split(SplitArgs),
}

/// `bindings CAPTURE`
#[derive(Debug, Args)]
#[command(after_help = "\
Follows descriptors and memory through the whole capture, writes what every draw, dispatch and trace of the frames bound and which bytes
its uniform blocks had, and answers the questions to that (docs/resources.md). No GPU is needed, but for --check and
--read-back: those replay.

--check compares uniform blocks, and storage buffers that shaders only read, with the device's memory at every draw, dispatch
and trace: what they read is copied directly before them, or before their render pass. What cannot be copied there is compared
at the edges of its submit call, or counted as not compared. The exit code is 5 if a byte differs.

Examples:
  reray-replay bindings cap.gfxr
  reray-replay bindings cap.gfxr --frames 10-20 -o trace && reray-replay analyze trace --table uploads
  reray-replay bindings cap.gfxr --check")]
pub struct ResourcesArgs {
    /// The capture
    #[arg(required = true)]
    pub file: Option<PathBuf>,
    /// Only draws of these frames; what is before them is followed all the same
    #[arg(long, value_name = "A-B")]
    pub frames: Option<Ranges>,
    /// Keep the trace in this folder, for `analyze`; made if it is not there
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Only these questions [default: all that the trace can answer]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub questions: Vec<String>,
    /// Write the trace and answer nothing
    #[arg(long, requires = "output", conflicts_with = "questions")]
    pub no_answers: bool,
    /// Follow barriers, submissions and what commands access, too, for question sync; of all frames up to the last
    #[arg(long)]
    pub sync: bool,
    /// Replay, and compare blocks as they are followed with what the device has, at every draw
    #[arg(long)]
    pub check: bool,
    /// Replay, and read what shaders write into uniform buffers, at the draws that read it
    #[arg(long)]
    pub read_back: bool,
    /// For tests: follow one byte wrongly
    #[arg(long, hide = true, requires = "check")]
    pub spoil: bool,
    /// For tests: follow nothing that shaders write
    #[arg(long, hide = true, requires = "check")]
    pub spoil_writes: bool,
    /// The form of the answers [default: text]
    #[arg(long, value_enum)]
    pub format: Option<AnalyzeFormat>,
    /// How to replay.
    #[command(flatten)]
    pub run: RunArgs,
}

/// `bindings split`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  reray-replay bindings split cap.gfxr --partition layouts.json
  reray-replay bindings split cap.gfxr --partition layouts.json --rounds 20 --json

The partition says where slots go, by the capture's id of the pipeline layout: {\"12\": [[set,binding,new set,new binding],…]}")]
pub struct SplitArgs {
    /// The capture
    pub file: PathBuf,
    /// How to replay.
    #[command(flatten)]
    pub run: RunArgs,
    /// Where slots go
    #[arg(long, value_name = "FILE")]
    pub partition: PathBuf,
    /// Replays of each kind that count
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: u32,
    /// Most sets of a layout [default: maxBoundDescriptorSets of the device]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=32))]
    pub max_sets: Option<u32>,
    /// By how much pictures may differ: exact, or how many units in the last place of a 32-bit float shaders' results may be
    /// off (docs/profile.md)
    #[arg(long, value_name = "ULPS|exact", default_value_t)]
    pub image_tolerance: Tolerance,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

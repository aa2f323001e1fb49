//! The command line of `trim`.

use super::run::RunArgs;
use clap::Args;
use std::path::PathBuf;
use trace::plan::Use;
use trace::select::Ranges;

/// `trim`
#[derive(Debug, Args)]
#[command(after_help = "\
What the frames use of what comes before them becomes a state section, as GFXReconstruct's layer writes it: the calls that make objects, structures built
again, contents of buffers and images as a replay finds them there, fences and semaphores. What the frames do not read is left out.

Examples:
  reray-replay trim cap.gfxr --frames 20-22 -o small.gfxr
  reray-replay trim cap.gfxr --frames 100 -o one.gfxr --unchecked
  reray-replay trim cap.gfxr --frames 20 --commands draw=3-5 -o three_draws.gfxr
  reray-replay trim cap.gfxr --edits edited.jsonl -o edited.gfxr
  reray-replay trim cap.gfxr --change 'skip:label=shadow*' -o without_shadows.gfxr")]
pub struct TrimArgs {
    /// The capture
    #[arg(value_name = "CAPTURE")]
    pub file: PathBuf,
    /// The frames: one, or a range [default: all]
    #[arg(long, value_name = "A-B")]
    pub frames: Option<Ranges>,
    /// Keep only these draws, dispatches and traces of each frame: draw=A-B, pass=A-B, label=GLOB, pipeline=ID or its name, at=A-B
    /// (blocks); may be given more than once
    #[arg(long, value_name = "WHAT")]
    pub commands: Vec<String>,
    /// Write back what was edited by hand: FILE is what `dump` printed, as JSON, of all or some blocks; a line whose "function" or "meta" is
    /// null leaves the block out
    #[arg(long, value_name = "FILE")]
    pub edits: Option<PathBuf>,
    /// Write this change to calls into the result: skip, half, half-instances, opaque, structures, wide-barriers or no-barriers, with the
    /// options that docs/runs.md lists; may be given more than once
    #[arg(long, value_name = "CHANGE")]
    pub change: Vec<Use>,
    /// The capture to write
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Do not compare pictures of the frames with those of the capture
    #[arg(long)]
    pub unchecked: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// How to replay.
    #[command(flatten)]
    pub run: RunArgs,
}

//! The command line of `dump-resources`.

use super::run::RunArgs;
use crate::select::Ranges;
use clap::Args;
use std::path::PathBuf;
use trace::plan::Use;

/// `dump-resources`
#[derive(Debug, Args)]
#[command(after_help = "\
Written are attachments, vertex, index and indirect buffers, shader binding tables and what descriptors lead to, before and after the command where it
may write them; the structures that rays are traced through as Wavefront OBJ; and an index, frame_N_resources.json. Dispatches and traces take one replay
together, N neighbouring draws N+1.

Examples:
  reray-replay dump-resources cap.gfxr --frames 20 --commands draw=12 -o draw
  reray-replay dump-resources cap.gfxr --frames 20 --commands label=blur* -o blur")]
pub struct DumpResourcesArgs {
    /// The capture
    #[arg(value_name = "CAPTURE")]
    pub file: PathBuf,
    /// The frame [default: the last]
    #[arg(long, value_name = "N")]
    pub frames: Option<Ranges>,
    /// Which draws, dispatches and traces: draw=A-B, pass=A-B, label=GLOB, pipeline=ID or its name, at=A-B (blocks); may be given more
    /// than once
    #[arg(long, value_name = "WHAT", required = true)]
    pub commands: Vec<String>,
    /// The folder to write to; made if it is not there
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Of images, write every mip level and array layer that their views name (of 3D images every slice), and not the base alone
    #[arg(long)]
    pub all_subresources: bool,
    /// Keep the alpha channel of pictures
    #[arg(long)]
    pub alpha: bool,
    /// Change calls on their way to the driver, for experiments (docs/runs.md lists what there is); again and again, the first outermost
    #[arg(long, value_name = "CHANGE")]
    pub change: Vec<Use>,
    /// How to replay.
    #[command(flatten)]
    pub run: RunArgs,
}

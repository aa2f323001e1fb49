//! The command line of `reduce`.

use super::run::RunArgs;
use clap::Args;
use experiment::reduce::Still;
use experiment::values::duration;
use std::path::PathBuf;
use std::time::Duration;

/// `reduce`
#[derive(Debug, Args)]
#[command(after_help = "\
What is left is replayed again and again, without more and more of it: frames, command buffers, render passes, objects, single calls, each with all
that uses it. Each trial is a process of its own. FAULT is one of

  crash                 the process ends by a signal, with the same words
  hang, lost            the GPU does not finish in time; the device is lost
  slow[:PERCENT]        the longest frame takes this much of what it took (50)
  validation:TEXT       the validation layer says this: a VUID, for one
  says:TEXT             a replay says this on stderr
  image-differs:DRIVER  a driver, by its manifest, shows other pictures
  script:COMMAND        a shell's command ends with 0; the capture is its $1

What is known is kept in FILE.reducing.json until nothing can go any more: the same command line goes on from there.

Examples:
  reray-replay reduce cap.gfxr --still crash -o min.gfxr
  reray-replay reduce cap.gfxr --still validation:VUID-vkCmdDraw-None-08114 -o min.gfxr
  reray-replay reduce cap.gfxr --still slow:80 --budget 30m -o min.gfxr
  reray-replay reduce cap.gfxr --still 'script:./still-wrong.sh \"$1\"' -o min.gfxr")]
pub struct ReduceArgs {
    /// The capture
    #[arg(value_name = "CAPTURE")]
    pub file: PathBuf,
    /// What is wrong with it, and has to stay wrong
    #[arg(long, value_name = "FAULT")]
    pub still: Still,
    /// The capture to write
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Stop when this much time is over (90s, 15m, 2h)
    #[arg(long, value_name = "TIME", default_value = "15m", value_parser = duration)]
    pub budget: Duration,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// How to replay.
    #[command(flatten)]
    pub run: RunArgs,
}

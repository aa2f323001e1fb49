//! The arguments of `what-if`.

use super::run::RunArgs;
use analyses::verdict::what_if::parts::By;
use clap::{Args, ValueEnum};
use experiment::values::{duration, percent};
use std::path::PathBuf;
use std::time::Duration;
use trace::plan::{PLAIN, Plan};

/// What parts of a frame are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PartsBy {
    /// The first of these that parts the frame
    Auto,
    /// Debug labels
    Label,
    /// Render passes, and what runs between them
    Pass,
    /// Pipelines
    Pipeline,
    /// Every draw, dispatch and trace
    Draw,
}

impl PartsBy {
    /// If it was said.
    pub fn said(self) -> Option<By> {
        match self {
            PartsBy::Auto => None,
            PartsBy::Label => Some(By::Label),
            PartsBy::Pass => Some(By::Pass),
            PartsBy::Pipeline => Some(By::Pipeline),
            PartsBy::Draw => Some(By::Draw),
        }
    }
}

/// `what-if`
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Each experiment is a plan that changes the replay (docs/runs.md lists the changes), timed in turn with the frame as it is, in processes
that are alive together. First every part is left out: what the frame takes less is what that part costs, which is not the part's own
time, as parts overlap. Then the dearest parts, and the frame, are changed in other ways, to see what binds them: fragments, output,
textures, waiting, traversal, how much work there is. While there is time, optimisations that keep the picture are tried at the end.

In -o DIR: report.txt, report.json, what-if.json, the runs that they are of (own, costs, causes, optimisations: what `compare`
takes), and pictures of the frame (shown) and of what its render passes leave (passes).

Examples:
  reray-replay what-if cap.gfxr --frame 20 -o why
  reray-replay what-if cap.gfxr --frame 20 --by pipeline --budget 5m -o why
  reray-replay what-if cap.gfxr --frame 20 --on 'burnt passes=burn:stage=fragment' -o why")]
pub struct WhatIfArgs {
    /// The capture
    #[arg(value_name = "CAPTURE")]
    pub file: PathBuf,
    /// The frame, which is looped
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    pub frame: u64,
    /// What its parts are
    #[arg(long, value_name = "WHAT", value_enum, default_value = "auto")]
    pub by: PartsBy,
    /// Most parts; those with the least time of their own are one
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u16).range(1..=200))]
    pub parts: u16,
    /// Parts, the dearest, that are asked what binds them, besides the frame
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub causes: u16,
    /// The replay that is experimented on, as a plan of `bench`
    #[arg(long, value_name = "NAME KEY=VALUE…", default_value = PLAIN)]
    pub on: Plan,
    /// Processes of each experiment at most
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub processes: u32,
    /// Timed turns of each process
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    pub iterations: u32,
    /// Turns at most before times have settled, which are left out
    #[arg(long, value_name = "W", default_value_t = 20)]
    pub warmup: u32,
    /// Stop when this much time is over (90s, 10m, 2h), or when every gain is known to within a quarter of --min-effect. Four
    /// processes of an experiment decide: where there is no time for these, the last experiments are given up
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10m")]
    pub budget: Duration,
    /// The least share of the frame that counts as a gain, in percent
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = percent)]
    pub min_effect: f64,
    /// Experiments whose processes are alive at once
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..))]
    pub together: u16,
    /// What the order of turns is seeded with
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// Take subgroup operations for granted in stages in which the device does not say that it has them
    #[arg(long)]
    pub assume_subgroups: bool,
    /// The folder to write to; it must be new or empty
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// How to replay.
    #[command(flatten)]
    pub run: RunArgs,
}

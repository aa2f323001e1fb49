//! The arguments of `study` and what is below it.

use super::run::RunArgs;
use clap::{Args, Subcommand};
use profile::pictures::Tolerance;
use std::path::PathBuf;
use trace::plan::{Passes, Plan};

/// `study`
#[derive(Debug, Subcommand)]
pub enum StudyCommand {
    /// What repacking a frame's rays does to its time and its SIMT efficiency, method by method
    Rays(StudyRaysArgs),
}

/// `study rays`
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
A run of `bench` whose plans are the application's own shaders (unmodified), the identity through the table, every method of
`rays repack`, and, where the device can, shader execution reordering (ser) and the same without the reordering (ser-still). Beside it
how full subgroups are with each swizzle in force (passes swizzle, simt), which proves that the frame shows the same, and what
`compare` says of each plan against unmodified.

In -o DIR: run/ (what `compare` and `report` take), report.txt, report.json, tables and every turn as CSV, figures as SVG and PNG
(simt_efficiency, plans_violins, plans_in_order), rays/, and the traces. docs/reports.md says what each number means.

Examples:
  reray-replay study rays weekend.gfxr --frame 2 -o study
  reray-replay study rays weekend.gfxr --frame 2 --method random,tiled-objects:tile=32x32 --iterations 50 -o study
  reray-replay study rays weekend.gfxr --frame 2 --method none --plan 'ser passes=ser' --maps -o study
  reray-replay study rays weekend.gfxr --frame 2 --trace trace --plan unmodified-again -o study")]
pub struct StudyRaysArgs {
    /// The capture
    #[arg(value_name = "CAPTURE")]
    pub file: PathBuf,
    /// The frame, which is looped
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    pub frame: u64,
    /// Methods of `rays repack`, as plans have them; identity is always there. none: no rays are recorded, and there are no swizzles
    /// [default: all]
    #[arg(long, value_name = "NAME[:OPTION+…],…")]
    pub method: Option<Passes>,
    /// Another plan, as of `bench`. May be given more than once
    #[arg(long, value_name = "NAME KEY=VALUE…")]
    pub plan: Vec<Plan>,
    /// Processes of each plan, whose turns alternate
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub processes: u32,
    /// Timed turns of each process
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub iterations: u32,
    /// Turns at most before times have settled, which are left out
    #[arg(long, value_name = "W", default_value_t = 40)]
    pub warmup: u32,
    /// What the order of turns, and the method random, are seeded with
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// Make swizzles of this trace's rays instead of recording them
    #[arg(long, value_name = "TRACE")]
    pub trace: Option<PathBuf>,
    /// Draw how long each invocation of ray generation shaders takes, and on which multiprocessor, side by side for the
    /// application's own shaders and each plan with passes: three replays a plan, with pass shader-clock
    #[arg(long)]
    pub maps: bool,
    /// Do not count actual SIMT efficiency, which takes two replays up to the frame for each plan
    #[arg(long)]
    pub no_efficiency: bool,
    /// By how much pictures of plans may differ from the application's own: exact, or how many units in the last place of a
    /// 32-bit float shaders' results may be off (docs/profile.md)
    #[arg(long, value_name = "ULPS|exact", default_value_t)]
    pub image_tolerance: Tolerance,
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

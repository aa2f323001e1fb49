//! The arguments of `bench`.

use super::run::RunArgs;
use clap::Args;
use experiment::bench::Settings;
use experiment::values::{duration, percent};
use profile::pictures::Tolerance;
use std::path::PathBuf;
use std::time::Duration;
use trace::plan::{PLAIN, Plan};

/// `bench`
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
A plan is a name and what is changed, as in 'slow passes=burn:turns=300+stage=fragment env=FOO=1':
  passes=PASS[:OPTION+…],…       passes in the shaders; prune, specialize and zero-path without a trace record what they have to
                                 know first, of all frames up to the one that is timed
  method=NAME[:tile=WxH+seed=N]  swizzles of a method of `rays repack`, of the frame's rays, which are recorded first
  shaders=DIR                    replacements, HASH.spv as `extract` names them
  descriptors=FILE               descriptors in other sets, as `analyze` of question bindings writes them
  driver=FILE                    a manifest of a Vulkan driver (VK_DRIVER_FILES)
  gpu=N|NAME                     another device
  env=NAME=VALUE                 an environment variable, again and again
Words are a shell's, so a value with blanks is quoted: 'slow env=\"A=x y\"'. A plan that changes shaders for what was seen, or
moves descriptors, has its picture compared with the application's own: one that differs is refused by name, the others are timed,
and the exit code is 5.

Examples:
  reray-replay bench vkcube.gfxr --frame 5 --processes 10 -o before
  reray-replay bench a.gfxr b.gfxr --processes 20 --budget 10m --plan plain --plan 'old driver=/opt/old/icd.json' -o run
  reray-replay bench weekend.gfxr --frame 2 --plan plain --plan 'sorted method=tiled-objects:tile=128x128' -o run
  reray-replay bench vm.gfxr --frame 2 --plan plain --plan 'pruned passes=prune' --plan 'both passes=prune,specialize' -o run")]
pub struct BenchArgs {
    /// The captures
    #[arg(value_name = "CAPTURE", required = true)]
    pub files: Vec<PathBuf>,
    /// The frame, which is looped; without it captures are replayed whole
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    pub frame: Option<u64>,
    /// A plan: a name, and any of passes=, method=, shaders=, descriptors=, driver=, gpu=, env= (below). May be given more than
    /// once [default: plain]
    #[arg(long, value_name = "NAME KEY=VALUE…")]
    pub plan: Vec<Plan>,
    /// Processes of each capture and plan, whose turns alternate; fewer than 4 decide nothing [default: 10, with --budget at
    /// most 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub processes: Option<u32>,
    /// Timed turns of each process [default: 30, without --frame 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub iterations: Option<u32>,
    /// Turns at most before times have settled, which are left out [default: 40, without --frame 10]
    #[arg(long, value_name = "W")]
    pub warmup: Option<u32>,
    /// Turns of each process with timestamps around passes and commands and with calls timed on the CPU, of which `compare`
    /// tells where a change is
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub detailed: u32,
    /// Keep the device busy for so long before each turn of the frame, by filling memory: one that has little to do lowers its
    /// clock [default: 5, and 0 where the device is the processor]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(0..=10_000), requires = "frame")]
    pub busy: Option<u64>,
    /// Stop when this much time is over (90s, 10m, 2h), or when what it is for is known well enough (--tight)
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub budget: Option<Duration>,
    /// With --budget: how well every median, or with several plans every change against the first plan, has to be known: half
    /// its 99 % interval, in percent
    #[arg(long, value_name = "PERCENT", default_value = "0.5%", value_parser = percent, requires = "budget")]
    pub tight: f64,
    /// What the order of turns, and the method random, are seeded with
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// By how much pictures may differ that have to be the application's own: exact, or how many units in the last place of a
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

impl From<&BenchArgs> for Settings {
    fn from(args: &BenchArgs) -> Settings {
        Settings {
            captures: args.files.clone(),
            frame: args.frame,
            plans: if args.plan.is_empty() { vec![Plan::named(PLAIN)] } else { args.plan.clone() },
            processes: args.processes,
            iterations: args.iterations,
            warmup: args.warmup,
            detailed: args.detailed,
            busy: args.busy,
            budget: args.budget,
            tight: args.tight,
            seed: args.seed,
            assume_subgroups: args.assume_subgroups,
            image_tolerance: args.image_tolerance,
            rays: None,
            together: None,
            experiments: false,
            run: args.run.how(),
        }
    }
}

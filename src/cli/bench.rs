//! The arguments of `bench`.

use super::run::RunArgs;
use super::values::tile;
use super::verdict::ProcessesArgs;
use clap::Args;
use profile::pictures::Tolerance;
use std::path::PathBuf;

/// `bench`
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Records the frame's rays (pass rays), makes swizzles of them as `rays repack` does, counts with each in force how full subgroups
are (passes swizzle, simt), and then runs all plans in turn, in an order that the seed decides: the application's own shaders
(unmodified), the identity through the table, and every method. Everything that the frame changes is put back before each
iteration, and every iteration's image is compared.

In -o DIR: report.txt, report.json, tables and every time as CSV, figures as SVG and PNG (efficiency, violins, times_PLAN),
manifest.json, swizzles/, and the traces. docs/reports.md says what each number means.

Examples:
  reray-replay bench weekend.gfxr --frame 2 -o study
  reray-replay bench weekend.gfxr --frame 2 --methods random,rounds --iterations 200 --seed 7 -o study
  reray-replay bench weekend.gfxr --frame 2 --trace trace -o study      (the rays are there already)
  reray-replay bench vm.gfxr --frame 2 --ab plain,prune,specialize,prune+specialize --again -o study
  reray-replay bench cap.gfxr --frame 2 --ab plain,repartition:repartition-classes.json -o study

With --processes (or --plan, or several captures) it leaves a run instead, for `compare` and `report` (docs/runs.md):
  reray-replay bench vkcube.gfxr --frame 5 --processes 10 -o before
  reray-replay bench a.gfxr b.gfxr --processes 20 --budget 10m --plan plain --plan 'old driver=/opt/old/icd.json' -o run")]
pub struct BenchArgs {
    /// The capture
    #[arg(value_name = "CAPTURE")]
    pub file: PathBuf,
    /// More captures, of a run
    #[arg(value_name = "CAPTURE")]
    pub more: Vec<PathBuf>,
    /// The frame; of a run, where it is left out, captures are replayed whole
    #[arg(long = "frame", value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    pub looped: Option<u64>,
    /// The same, where one is needed.
    #[arg(skip)]
    pub frame: u64,
    /// A run.
    #[command(flatten)]
    pub processes: ProcessesArgs,
    /// Methods, with commas between, as `rays repack` names them, or all; identity is always there. With none, no rays are recorded
    /// and nothing is swizzled
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_value = "all")]
    pub methods: Vec<String>,
    /// How often each plan is timed; of a run, in each process [default: 1000, of a run 30]
    #[arg(long = "iterations", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: Option<u32>,
    /// The same, as it is.
    #[arg(skip)]
    pub iterations: u32,
    /// Rounds before these that are left out; of a run, turns at most before times have settled [default: 3, of a run 40]
    #[arg(long = "warmup", value_name = "W")]
    pub left_out: Option<u32>,
    /// The same, as it is.
    #[arg(skip)]
    pub warmup: u32,
    /// What the order of plans, the method random and the intervals are seeded with
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// The tile of tiled methods, in pixels
    #[arg(long, value_name = "WxH", default_value = "256x256", value_parser = tile)]
    pub tile: [u32; 2],
    /// The folder to write to; it must be new or empty
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Make swizzles of this trace's rays instead of recording them
    #[arg(long, value_name = "TRACE")]
    pub trace: Option<PathBuf>,
    /// Use the .swizzle files of this folder instead of making some
    #[arg(long, value_name = "DIR", conflicts_with = "trace")]
    pub swizzles: Option<PathBuf>,
    /// Run the application's own shaders as another plan once more, on a device object of its own: what differs is noise
    #[arg(long)]
    pub again: bool,
    /// Run the frame with these passes in its shaders as another plan, as in `ser` or `ser:reorder=no`; may be given more than
    /// once
    #[arg(long, value_name = "PASS[:OPTIONS],…")]
    pub with: Vec<String>,
    /// Beside each such plan with pass ser, another one that leaves the reordering out
    #[arg(long, requires = "with")]
    pub no_reorder: bool,
    /// Draw how long each invocation of ray generation shaders takes, and on which multiprocessor, side by side for the
    /// application's own shaders and each --with: three replays a plan, with pass shader-clock
    #[arg(long)]
    pub maps: bool,
    /// Instead of swizzles: plain, and passes that change shaders for what was seen of them: prune, specialize, zero-path, or
    /// several joined by +, each with its options behind colons; what they have to know is recorded first. Or repartition:FILE:
    /// descriptors in other sets, as `analyze` of question bindings writes them. Each one's picture is compared: a plan that
    /// differs is refused, the others are timed, and the command ends with 5
    #[arg(long, value_name = "PLAN,…", value_delimiter = ',', conflicts_with_all = ["swizzles", "trace"])]
    pub ab: Vec<String>,
    /// The trace that `bindings -o` wrote, for specialize in --ab, instead of writing one
    #[arg(long, value_name = "DIR", requires = "ab")]
    pub resources: Option<PathBuf>,
    /// By how much pictures of plans may differ from the application's own: exact, or how many units in the last place of a
    /// 32-bit float shaders' results may be off (docs/profile.md)
    #[arg(long, value_name = "ULPS|exact", default_value_t)]
    pub image_tolerance: Tolerance,
    /// Do not count actual SIMT efficiency, which takes two replays up to the frame for each plan
    #[arg(long)]
    pub no_efficiency: bool,
    /// Take subgroup operations for granted in stages in which the device does not say that it has them
    #[arg(long)]
    pub assume_subgroups: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// How to replay.
    #[command(flatten)]
    pub run: RunArgs,
}

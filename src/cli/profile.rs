//! The flags of `profile`.

use super::RunArgs;
use crate::select::{Glob, Ranges};
use clap::{Args, ValueEnum};
use profile::Stage;
use profile::pictures::Tolerance;
use std::path::PathBuf;
use trace::plan::{Passes, Use};

/// `profile`
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
A pass puts probes into shaders on their way to the driver; what they write becomes a trace, a folder of tables, which
`reray-replay analyze DIR` turns into reports. `reray-replay profile --list` says which passes there are. A pass may have
options, behind a colon and with plus signs between.

Examples:
  reray-replay profile cap.gfxr --passes simt -o trace && reray-replay analyze trace
  reray-replay profile cap.gfxr --ask simt,hotspots -o trace
  reray-replay profile cap.gfxr --passes simt --frames 10-12 --stages fragment,compute -o trace
  reray-replay profile cap.gfxr --passes simt --shaders 3f2a --dump-shaders shaders -o trace
  reray-replay profile cap.gfxr --passes simt --labels 'shadow*' --render-pass-numbers 1-3 -o trace")]
pub struct ProfileArgs {
    /// The capture
    #[arg(required_unless_present = "list")]
    pub file: Option<PathBuf>,
    /// What to measure: passes, with commas between
    #[arg(long, value_name = "PASS[:OPTION+…],…", required_unless_present_any = ["list", "ask"])]
    pub passes: Option<Passes>,
    /// What to answer: questions of `analyze --list`, with commas between; the passes that they want are chosen, and the
    /// summary begins with the answers
    #[arg(long, value_name = "QUESTION,…", value_delimiter = ',')]
    pub ask: Vec<String>,
    /// Say which passes there are
    #[arg(long)]
    pub list: bool,
    /// The folder to write the trace to; it must be new or empty
    #[arg(short, long, value_name = "DIR", required_unless_present = "list")]
    pub output: Option<PathBuf>,
    /// Measure only these frames (N, A-B, A-, lists with commas); nothing after the last is replayed
    #[arg(long, value_name = "A-B")]
    pub frames: Option<Ranges>,
    /// Instrument only shaders of these stages: vertex, fragment, compute, ray-generation …
    #[arg(long, value_name = "STAGE,…", value_delimiter = ',', value_parser = stage)]
    pub stages: Vec<Stage>,
    /// Instrument only these pipelines and shader objects, by captured id or debug name; * and ? are wildcards
    #[arg(long, value_name = "ID|GLOB")]
    pub pipelines: Vec<Glob>,
    /// Instrument only shaders whose hash (as `extract` names files) begins so
    #[arg(long, value_name = "HASH")]
    pub shaders: Vec<String>,
    /// Count only what runs in render passes with this captured id or debug name; dynamic ones are called `rendering WxH`,
    /// as `--times pass` calls them; * and ? are wildcards
    #[arg(long, value_name = "ID|GLOB")]
    pub render_passes: Vec<Glob>,
    /// Count only what runs in render passes with these numbers, counted from 1 in each frame (N, A-B, A-, lists with commas)
    #[arg(long, value_name = "A-B")]
    pub render_pass_numbers: Option<Ranges>,
    /// Count only what runs within debug labels of this name, of command buffers or of queues; * and ? are wildcards
    #[arg(long, value_name = "GLOB")]
    pub labels: Vec<Glob>,
    /// Who counts for pass counters: the driver (arm: VK_ARM_shader_instrumentation), shaders of our own (portable), or the
    /// driver where the device has the extension (auto; with several devices and no --gpu, where all have it)
    #[arg(long, value_enum, value_name = "WHO", default_value = "auto")]
    pub counters: CountersBy,
    /// Of passes that write records (not counters): only of work with these ids, from A to before B (see docs/profile.md)
    #[arg(long, value_name = "A-B", value_parser = window)]
    pub window: Option<(u32, u32)>,
    /// Bytes of the log that probes append to, in the device's memory
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 20, value_parser = clap::value_parser!(u64).range(1024..))]
    pub log_bytes: u64,
    /// Most bytes that the log may take when frames that it did not hold run again [default: what the device's memory
    /// holds]; where that is not enough, such frames run in windows of work ids
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1024..))]
    pub max_log_bytes: Option<u64>,
    /// Read back what acceleration structures hold that measured frames trace rays through, in a replay of its own; with
    /// pass rays it is always done
    #[arg(long)]
    pub geometry: bool,
    /// Do not compare what measured frames show (or, where nothing is presented, leave in memory) with a replay without
    /// probes
    #[arg(long)]
    pub no_verify_image: bool,
    /// By how much pictures may differ: exact, or how many units in the last place of a 32-bit float shaders' results may be
    /// off (docs/profile.md)
    #[arg(long, value_name = "ULPS|exact", default_value_t, conflicts_with = "no_verify_image")]
    pub image_tolerance: Tolerance,
    /// Take subgroup operations for granted in stages in which the device does not say that it has them
    #[arg(long)]
    pub assume_subgroups: bool,
    /// Of passes simt and divergence: one subgroup in N counts, and estimates of everything come with intervals
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub sample: u32,
    /// Which work is in the sample: another number, another choice
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub sample_seed: u32,
    /// Of passes blocks, simt and divergence: over how many replays places that count are spread; 1 counts everything in one
    /// [default: as many as keep shaders small enough for drivers to compile soon]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub replays: Option<u32>,
    /// Ask the driver's compiler not to inline what probes call
    #[arg(long, hide = true)]
    pub keep_calls: bool,
    /// Count with 32-bit atomics even where the device has wider ones
    #[arg(long, hide = true)]
    pub narrow: bool,
    /// Rewrite shaders anew, instead of using those kept in the user's cache folder, and keep none
    #[arg(long)]
    pub no_cache: bool,
    /// Write every shader before and after to this folder
    #[arg(long, value_name = "DIR")]
    pub dump_shaders: Option<PathBuf>,
    /// Change calls on their way to the driver, in all of its replays (NAME:OPTION+…; docs/runs.md lists what there is); again
    /// and again, the first outermost
    #[arg(long, value_name = "CHANGE")]
    pub change: Vec<Use>,
    /// How to replay.
    #[command(flatten)]
    pub run: RunArgs,
}

/// Who counts for pass `counters`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CountersBy {
    /// The driver where it can.
    Auto,
    /// Shaders of our own.
    Portable,
    /// The driver.
    Arm,
}

fn stage(name: &str) -> Result<Stage, String> {
    let all = profile::Stage::ALL;
    all.into_iter().find(|s| s.name() == name).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|s| s.name()).collect();
        format!("there are {}", names.join(", "))
    })
}

fn window(text: &str) -> Result<(u32, u32), String> {
    let number = |t: &str| t.trim().parse::<u32>().map_err(|_| format!("\"{t}\" is not a number"));
    let (a, b) = text.split_once('-').ok_or("expected A-B")?;
    match (number(a)?, number(b)?) {
        (a, b) if a < b => Ok((a, b)),
        _ => Err("nothing is in it".to_owned()),
    }
}

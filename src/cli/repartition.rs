//! The arguments of `repartition`.

use super::run::RunArgs;
use clap::Args;
use profile::pictures::Tolerance;
use std::path::PathBuf;

/// `repartition`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  reray-replay repartition cap.gfxr --partition layouts.json
  reray-replay repartition cap.gfxr --partition layouts.json --rounds 20 --json

The partition says where slots go, by the capture's id of the pipeline layout: {\"12\": [[set,binding,new set,new binding],…]}")]
pub struct RepartitionArgs {
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

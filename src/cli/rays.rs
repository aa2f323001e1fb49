//! The command line of what reads a trace's rays: `rays dump`, `rays repack` and `rays reorder`.

use crate::select::Ranges;
use analyses::rays::reorder::{Hints, Side};
use clap::{Args, Subcommand, ValueEnum};
use experiment::values::tile;
use std::path::PathBuf;

/// `rays`
#[derive(Debug, Subcommand)]
pub enum RaysCommand {
    /// Write events of a trace's rays as text, indented as they nest, or as JSON or CSV, a line each
    Dump(RaysDumpArgs),
    /// Sort invocations of traced launches into subgroups otherwise: write swizzles, and say what they would gain
    Repack(RepackArgs),
    /// Say what reordering invocations before hit and miss shaders would gain, for chosen windows, hints and cells
    Reorder(ReorderArgs),
}

/// `rays dump`
#[derive(Debug, Args)]
#[command(after_help = "\
Text names an event's shader by a number that the launch's first lines explain. Numbers and units of JSON and CSV are those of
tables `rays` and `warps` in docs/trace.md; beside them stand the event's name and how many rays it lies in.

Examples:
  reray-replay rays dump trace --at 320,200
  reray-replay rays dump trace --invocation 0-31 --kind begin,miss,closest-hit
  reray-replay rays dump trace --warps --frame 3 --limit 100
  reray-replay rays dump trace --format csv -o rays.csv")]
pub struct RaysDumpArgs {
    /// A trace with rays (a folder)
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,
    /// Only of these frames (N, A-B, A-, lists with commas)
    #[arg(long, value_name = "A-B")]
    pub frame: Option<Ranges>,
    /// Only of these launches of each frame, from 0
    #[arg(long, value_name = "A-B")]
    pub launch: Option<Ranges>,
    /// Only of invocations with these linear launch indices
    #[arg(long, value_name = "A-B", conflicts_with_all = ["at", "warps"])]
    pub invocation: Option<Ranges>,
    /// Only of the invocation of this column, row and layer
    #[arg(long, value_name = "X,Y[,Z]", value_parser = at, conflicts_with = "warps")]
    pub at: Option<[u64; 3]>,
    /// Only of these kinds: begin, occlusion-begin, intersection, report-intersection, any-hit, miss, closest-hit …
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub kind: Vec<String>,
    /// At most so many events
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
    /// Events of subgroups instead
    #[arg(long)]
    pub warps: bool,
    /// How they are written
    #[arg(long, value_enum, value_name = "FORM", default_value = "text")]
    pub format: DumpForm,
    /// The file to write to
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Forms of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DumpForm {
    /// Indented, for reading
    Text,
    /// A JSON object a line
    Json,
    /// Comma-separated, with a line of names
    Csv,
}

/// `X,Y` or `X,Y,Z`.
fn at(text: &str) -> Result<[u64; 3], String> {
    let numbers: Option<Vec<u64>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
    match numbers.as_deref() {
        Some([x, y]) => Ok([*x, *y, 0]),
        Some([x, y, z]) => Ok([*x, *y, *z]),
        _ => Err("say it as X,Y or X,Y,Z: 320,200 for one".into()),
    }
}

/// `rays repack`
#[derive(Debug, Args)]
#[command(after_help = "\
A swizzle says for each linear launch index whose work is done there. Written to -o for each launch and method:
  METHOD_frameF_launchL.npy       for NumPy: unsigned 32-bit numbers
  METHOD_frameF_launchL.swizzle   our own, with a checksum and what it was made from
Efficiency is synthetic: what the recorded rays would make of subgroups packed so, ideally scheduled.

Examples:
  reray-replay rays repack trace
  reray-replay rays repack trace --method numrays,tiled-objects --tile 32x32 -o swizzles
  reray-replay rays repack trace --method random --seed 7 -o swizzles")]
pub struct RepackArgs {
    /// A trace with rays (a folder)
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,
    /// Methods, with commas between [default: all]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub method: Vec<String>,
    /// The tile of tiled methods, in pixels [default: the one that `analyze` of question warp-order finds, else 256x256]
    #[arg(long, value_name = "WxH", value_parser = tile)]
    pub tile: Option<[u32; 2]>,
    /// What random is seeded with
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// The folder to write swizzles to
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `rays reorder`
#[derive(Debug, Args)]
#[command(after_help = "\
Each window is tried with each cell size and each kind of hints. Efficiency is synthetic: what the recorded rays would make of
subgroups reordered so; what reordering costs is not in it.

Examples:
  reray-replay rays reorder trace --window 8,64,all --hints none,instance:4
  reray-replay rays reorder trace --window 256 --hints none --cell 0.1,0.5,auto --json")]
pub struct ReorderArgs {
    /// A trace with rays (a folder)
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,
    /// Subgroups whose invocations may mix, or all
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "4,32,256,all", value_parser = subgroups)]
    pub window: Vec<Subgroups>,
    /// Lowest bits of what was hit that are handed over: none, instance:N, geometry:N, primitive:N
    #[arg(long, value_name = "BITS,…", value_delimiter = ',', default_value = "none,instance:8", value_parser = hints)]
    pub hints: Vec<Hints>,
    /// Side of the cubes of space that are told apart: none, a length, or auto (a 32nd of the longest extent)
    #[arg(long, value_name = "LENGTH,…", value_delimiter = ',', default_value = "none,auto", value_parser = side)]
    pub cell: Vec<Side>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// How many subgroups mix; none: all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subgroups(pub Option<usize>);

fn subgroups(text: &str) -> Result<Subgroups, String> {
    match text.parse() {
        _ if text == "all" => Ok(Subgroups(None)),
        Ok(n) if n > 0 => Ok(Subgroups(Some(n))),
        _ => Err("say how many, or all".into()),
    }
}

fn hints(text: &str) -> Result<Hints, String> {
    Hints::parse(text)
        .ok_or_else(|| "there are none, instance:N, geometry:N, primitive:N with 1 to 32 bits".into())
}

fn side(text: &str) -> Result<Side, String> {
    match text.parse::<f32>() {
        _ if text == "none" => Ok(Side::None),
        _ if text == "auto" => Ok(Side::Auto),
        Ok(side) if side.is_finite() && side > 0.0 => Ok(Side::Of(side)),
        _ => Err("say a length, none or auto".into()),
    }
}

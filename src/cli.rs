//! Every flag, documented once: `--help`, the man page and completions are made from this file.
//!
//! `reray-replay FILE` without a sub-command is for replaying: its flags go beside `command` in [`Cli`], flattened
//! (`args_conflicts_with_subcommands` keeps the two apart). A new sub-command is a variant of [`Command`] and a file in
//! `commands/`.

use crate::exit::HELP;
use crate::select::{Glob, Ranges};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Reads a GFXReconstruct capture (.gfxr) and says what is in it and what the GPU did.
#[derive(Debug, Parser)]
#[command(name = "reray-replay", version, after_help = HELP, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The sub-commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Say what is in a capture: application, driver, devices, frames, calls, pipelines, shaders, memory
    Info(InfoArgs),
    /// Print a capture's blocks as JSON Lines or text
    Dump(DumpArgs),
    /// Write every shader module of a capture to a file of its own
    Extract(ExtractArgs),
    /// Check that every block of a capture is understood to the last byte
    Verify(VerifyArgs),
}

/// `info`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  reray-replay info cap.gfxr
  reray-replay info --json cap.gfxr | jq '.calls.by_command | to_entries | max_by(.value)'")]
pub struct InfoArgs {
    /// The capture
    pub file: PathBuf,
    /// Print JSON (with a schema_version) instead of text
    #[arg(long)]
    pub json: bool,
    /// Write to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `dump`
#[derive(Debug, Args)]
#[command(
    after_help = "\
One line a block, in the shape of the newest gfxrecon-convert (calls, metadata, annotations, markers):
  {\"index\":2,\"function\":{\"name\":\"vkCreateInstance\",\"thread\":1,\"return\":\"VK_SUCCESS\",\"args\":{…}}}
A block that cannot be read is reported on stderr, the others are printed, and the exit code is 1.

Examples:
  reray-replay dump cap.gfxr -o cap.jsonl
  reray-replay dump cap.gfxr --commands 'vkQueue*' --commands vkCreateDevice
  reray-replay dump cap.gfxr --frames 100 --format text | less
  reray-replay dump cap.gfxr --blocks 0-50,200- --expand-flags"
)]
pub struct DumpArgs {
    /// The capture
    pub file: PathBuf,
    /// Only these blocks, by index from 0 (A-B, A-, lists with commas)
    #[arg(long, value_name = "A-B")]
    pub blocks: Option<Ranges>,
    /// Only these frames, from 1; frame 0 is the state snapshot of a trimmed capture
    #[arg(long, value_name = "A-B")]
    pub frames: Option<Ranges>,
    /// Only calls (and metadata) of this name; * and ? are wildcards; may be given more than once
    #[arg(long, value_name = "GLOB")]
    pub commands: Vec<Glob>,
    /// Write "[Binary data]" for every array of bytes (without it, only where gfxrecon-convert does)
    #[arg(long, conflicts_with = "binaries")]
    pub no_binaries: bool,
    /// Write contents of memory, shader code and the like to files in this folder, and their names into the output
    #[arg(long, value_name = "DIR")]
    pub binaries: Option<PathBuf>,
    /// Write flags as the names of their bits instead of a hexadecimal number
    #[arg(long)]
    pub expand_flags: bool,
    /// The form of the output
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    pub format: Format,
    /// Write to this file instead of stdout; it is there whole or not at all
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Forms of `dump`'s output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One JSON object a line
    Jsonl,
    /// Indented text, for reading
    Text,
}

/// `extract`
#[derive(Debug, Args)]
#[command(after_help = "\
Files are named by what is in them, <hash>.spv, so the same shader is written once however often it was created.
index.json and index.txt say where each came from: block, handle, debug name, entry points, stages.

Example:
  reray-replay extract cap.gfxr -o shaders && spirv-dis shaders/*.spv")]
pub struct ExtractArgs {
    /// The capture
    pub file: PathBuf,
    /// The folder to write to; made if it is not there
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
}

/// `verify`
#[derive(Debug, Args)]
#[command(after_help = "\
Every call is decoded and encoded again, every metadata block read and written again; both must give the same bytes.
Blocks that do not are listed with their offsets. Exit code 0 only if there are none, 5 otherwise.

Example:
  reray-replay verify cap.gfxr && echo understood")]
pub struct VerifyArgs {
    /// The capture
    pub file: PathBuf,
    /// Print JSON (with a schema_version) instead of text
    #[arg(long)]
    pub json: bool,
}

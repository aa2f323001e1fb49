//! `--max-memory`: shared by every sub-command that reads captures.

use clap::Args;
use experiment::files::memory::{self, Memory};

/// How much memory reading a capture may take.
#[derive(Clone, Copy, Debug, Args)]
pub struct MemoryArgs {
    /// Memory for what is decoded ahead of its use (512M, 8G); a block of the capture that needs more is refused
    /// [default: a quarter of what is available, 256M to 2G]
    #[arg(long, value_name = "SIZE", value_parser = memory::size)]
    pub max_memory: Option<u64>,
}

impl From<MemoryArgs> for Memory {
    fn from(args: MemoryArgs) -> Memory {
        Memory { most: args.max_memory }
    }
}

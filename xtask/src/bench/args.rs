//! What the command line said.

use std::path::PathBuf;

/// See the module's header.
pub struct Args {
    pub captures: PathBuf,
    pub replayer: PathBuf,
    pub runs: usize,
    pub only: Vec<String>,
    pub out: PathBuf,
    pub scratch: PathBuf,
}

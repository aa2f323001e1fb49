//! What is served: a program, and what it may do.

use std::path::PathBuf;

/// See the module's header.
#[derive(Debug)]
pub struct Served {
    /// The program, whose sub-commands are run.
    pub program: PathBuf,
    /// How its command line is defined.
    pub commands: clap::Command,
    /// Whether tools may replay captures: run what they hold on a GPU, and write traces and runs.
    pub replays: bool,
}

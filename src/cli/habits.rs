//! What every sub-command has, and what makes the command at home in a shell: completions and manual pages.

use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

/// How much is said on stderr. stdout has results alone, whatever these say.
#[derive(Clone, Copy, Debug, Args)]
pub struct HabitArgs {
    /// Say on stderr only what is wrong: no notes, no progress
    #[arg(short, long, global = true, display_order = 900, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say on stderr what was done, and what the libraries note
    #[arg(short, long, global = true, display_order = 901)]
    pub verbose: bool,
}

impl HabitArgs {
    /// What of the libraries' own log is shown, unless RERAY_LOG says otherwise.
    pub fn log(self) -> &'static str {
        match (self.quiet, self.verbose) {
            (true, _) => "error",
            (_, true) => "info",
            _ => "warn",
        }
    }
}

/// `completions`
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  reray-replay completions bash > ~/.local/share/bash-completion/completions/reray-replay
  reray-replay completions zsh > ~/.zfunc/_reray-replay
  reray-replay completions fish > ~/.config/fish/completions/reray-replay.fish")]
pub struct CompletionsArgs {
    /// Which shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// `man`
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  reray-replay man | man -l -
  reray-replay man -o ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Write reray-replay.1, and one page for each sub-command, to this folder (made if it is not there)
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

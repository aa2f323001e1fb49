//! What every sub-command has, and what makes the command at home elsewhere: completions and manual pages for shells, tools for agents.

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
    /// In a terminal: do not fit results into its columns
    #[arg(long, global = true, display_order = 902)]
    pub wide: bool,
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

/// `mcp`
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
The server speaks the Model Context Protocol on stdin and stdout, until stdin ends. Its tools are this program's commands, each run
as a process of its own, and answer with what these print as JSON (docs/commands/mcp.md lists them).

Example, for a client that reads a file of servers:
  { \"mcpServers\": { \"reray-replay\": { \"command\": \"reray-replay\", \"args\": [\"mcp\", \"--allow-replay\"] } } }")]
#[cfg_attr(not(feature = "mcp"), allow(dead_code, reason = "no such server"))]
pub struct McpArgs {
    /// Let tools replay captures, on the GPU, and write traces, runs and pictures; without it they only read files
    #[arg(long)]
    pub allow_replay: bool,
}

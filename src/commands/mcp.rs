//! `mcp`: this program's commands as tools of the Model Context Protocol.
//!
//! The server is `mcp`'s; here it learns the command line. Guarantees: stdout has the protocol's messages alone.

use crate::cli::{Cli, McpArgs};
use crate::exit::{Exit, Failure};
use clap::CommandFactory;
use mcp::Served;

/// Runs the sub-command.
pub fn run(args: &McpArgs) -> Result<Exit, Failure> {
    let program = std::env::current_exe().map_err(|e| Failure::new(format_args!("this program: {e}")))?;
    let mut commands = Cli::command();
    // (positions of arguments are known from then on)
    commands.build();
    mcp::serve(Served { program, commands, replays: args.allow_replay }).map_err(Failure::new)?;
    Ok(Exit::Done)
}

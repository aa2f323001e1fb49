//! The sub-commands, one file or folder each.

mod analyze;
mod bench;
mod bindings;
mod check;
mod compare;
mod compress;
#[cfg(feature = "database")]
mod db;
mod devices;
#[cfg(feature = "database")]
mod diff;
mod dump;
mod dump_resources;
mod extract;
mod habits;
mod info;
#[cfg(feature = "mcp")]
mod mcp;
mod merge_profiles;
mod profile;
mod rays;
mod reduce;
mod reorder;
mod repack;
mod replay;
mod report;
mod screenshot;
#[cfg(feature = "database")]
mod sql;
mod study;
mod suite;
mod trim;
mod upstream;
mod verify;
mod what_if;

use crate::cli::{BindingsArgs, BindingsCommand, Cli, Command, RaysCommand};
use crate::exit::{Exit, Failure};

/// Runs what the command line asks for.
pub fn run(cli: Cli) -> Result<Exit, Failure> {
    let Some(command) = cli.command else { return replay::run(&cli.replay) };
    match command {
        Command::Replay(args) => replay::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Dump(args) => dump::run(&args),
        Command::DumpResources(args) => dump_resources::run(&args),
        Command::Extract(args) => extract::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Compress(args) | Command::Recompress(args) => compress::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Devices(args) => devices::run(&args),
        Command::Screenshot(args) => screenshot::run(&args),
        Command::Bindings(BindingsArgs { command: Some(BindingsCommand::Split(args)), .. })
        | Command::Repartition(args) => bindings::split(&args),
        Command::Bindings(BindingsArgs { followed: args, .. }) | Command::Resources(args) => {
            bindings::run(&args)
        }
        #[cfg(feature = "database")]
        Command::Db(args) => db::run(&args),
        #[cfg(feature = "database")]
        Command::Sql(args) => sql::run(&args),
        #[cfg(feature = "database")]
        Command::Diff(args) => diff::run(&args),
        #[cfg(not(feature = "database"))]
        Command::Db(_) | Command::Sql(_) | Command::Diff(_) => {
            Err(Failure::usage("this program was built without its feature `database`"))
        }
        #[cfg(feature = "mcp")]
        Command::Mcp(args) => mcp::run(&args),
        #[cfg(not(feature = "mcp"))]
        Command::Mcp(_) => Err(Failure::usage("this program was built without its feature `mcp`")),
        Command::Analyze(args) => analyze::run(&args),
        Command::Profile(args) => profile::run(&args),
        Command::MergeProfiles(args) => merge_profiles::run(&args),
        Command::Reduce(args) => reduce::run(&args),
        Command::Trim(args) => trim::run(&args),
        Command::Rays(RaysCommand::Reorder(args)) | Command::Reorder(args) => reorder::run(&args),
        Command::Rays(RaysCommand::Dump(args)) => rays::run(&args),
        Command::Rays(RaysCommand::Repack(args)) | Command::Repack(args) => repack::run(&args),
        Command::Completions(args) => habits::completions(&args),
        Command::Man(args) => habits::man(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::BenchWorker(args) => bench::work(&args),
        Command::Report(args) => report::run(&args),
        Command::Study(command) => study::run(&command),
        Command::Suite(command) => suite::run(&command),
        Command::WhatIf(args) => what_if::run(&args),
    }
}

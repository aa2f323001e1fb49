//! `reray-replay`: reads a GFXReconstruct capture and says what is in it and what the GPU did.
//!
//! This crate is the command line alone: flags (`cli`), one file or folder a sub-command (`commands`), what is said on stderr and how the
//! program ends (`exit`). Guarantees: stdout carries results and nothing else; what is
//! wrong goes to stderr; a closed pipe changes no exit code and nothing is said of it; names from captures reach a terminal escaped. Refuses what the flags do not say, with exit code 2.

mod cli;
mod commands;
mod exit;

use analyses::report::escape;
use experiment::files::{archive, input, output};
use experiment::progress;
use std::io::IsTerminal;
use std::process::ExitCode;
use trace::select;

/// Only a terminal is coloured, and not where NO_COLOR (no-color.org) is set; clap keeps to the same for its own texts.
fn colours() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

fn main() -> ExitCode {
    replay::vulkan::crash::install();
    let cli: cli::Cli = cli::parse();
    if matches!(&cli.command, Some(cli::Command::Profile(p)) if !p.list) {
        experiment::driver_caches::off();
    }
    exit::talk(cli.habits.quiet, cli.habits.verbose, cli.habits.wide);
    // What the libraries have to say goes to stderr; RERAY_LOG chooses how much of it.
    let filter =
        tracing_subscriber::EnvFilter::try_from_env("RERAY_LOG").unwrap_or_else(|_| cli.habits.log().into());
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(colours())
        .fmt_fields(tracing_subscriber::fmt::format::debug_fn(|out, field, value| {
            let text = format!("{value:?}");
            match field.name() {
                "message" => write!(out, "{}", escape::line(&text)),
                name => write!(out, "{name}={}", escape::line(&text)),
            }
        }))
        .without_time()
        // (saying that stderr is closed would panic)
        .log_internal_errors(false)
        .init();
    match commands::run(cli) {
        Ok(exit) => exit.into(),
        Err(failure) => exit::report(&failure),
    }
}

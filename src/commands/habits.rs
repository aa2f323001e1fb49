//! `completions` and `man`: made from the flags, so that they say what `--help` says.

use crate::cli::{Cli, CompletionsArgs, ManArgs};
use crate::exit::{Exit, Failure};
use crate::output::{self, Output};
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use std::fs;
use std::path::Path;

/// Prints what a shell needs.
pub fn completions(args: &CompletionsArgs) -> Result<Exit, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "reray-replay", &mut text);
    print(&text)
}

/// Prints the manual page of the whole, or writes all.
pub fn man(args: &ManArgs) -> Result<Exit, Failure> {
    let mut root = Cli::command();
    root.build();
    let Some(folder) = &args.output else { return print(&page(root, "reray-replay")?) };
    fs::create_dir_all(folder)
        .map_err(|e| Failure::new(format_args!("{}: {e}{}", folder.display(), output::advice(&e))))?;
    pages(root, "reray-replay".to_owned(), folder)?;
    Ok(Exit::Done)
}

/// A page of this command and of all below it.
fn pages(command: Command, name: String, folder: &Path) -> Result<(), Failure> {
    for below in command.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help") {
        pages(below.clone(), format!("{name}-{}", below.get_name()), folder)?;
    }
    output::write_file(&folder.join(format!("{name}.1")), &page(command, &name)?)
}

fn page(command: Command, name: &str) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    let version = env!("CARGO_PKG_VERSION");
    // (a page's name is a command's whole one; the usage line has it with spaces)
    let command = command.name(name.to_owned()).version(version);
    Man::new(command).render(&mut text).map_err(|e| Failure::write(name, &e))?;
    Ok(text)
}

fn print(text: &[u8]) -> Result<Exit, Failure> {
    let mut out = Output::create(None)?;
    out.write(text)?;
    out.finish()?;
    Ok(Exit::Done)
}

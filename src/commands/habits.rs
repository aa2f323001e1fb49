//! `completions` and `man`: made from the flags, so that they say what `--help` says.

use crate::cli::{Cli, CompletionsArgs, ManArgs};
use crate::exit::{Exit, Failure};
use crate::output;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use std::path::Path;

/// Prints what a shell needs.
pub fn completions(args: &CompletionsArgs) -> Result<Exit, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "reray-replay", &mut text);
    if args.shell == Shell::Bash {
        // The generator names a sub-command in two ways where the program's own name has a hyphen (clap-rs/clap#6421).
        let whole = String::from_utf8_lossy(&text).replace("reray__subcmd__replay", "reray__replay");
        text = whole.into_bytes();
    }
    output::print(&text)?;
    Ok(Exit::Done)
}

/// Prints the manual page of the whole, or writes all.
pub fn man(args: &ManArgs) -> Result<Exit, Failure> {
    let mut root = Cli::command().disable_help_subcommand(true);
    root.build();
    match &args.output {
        Some(folder) => {
            output::folder(folder)?;
            pages(root, "reray-replay".to_owned(), folder)?;
        }
        None => output::print(&page(root, "reray-replay")?)?,
    }
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
    // (pages leave out a flag's other names)
    let command = command.mut_args(|flag| {
        let others = flag.get_visible_aliases().unwrap_or_default();
        let others: String = others.iter().map(|name| format!(" [alias: --{name}]")).collect();
        let help = flag.get_help().map(ToString::to_string).unwrap_or_default();
        if others.is_empty() { flag } else { flag.help(help + &others) }
    });
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let below = command.has_subcommands();
    // (a page's name is a command's whole one; the usage line has it with spaces)
    let man = Man::new(command.name(name.to_owned()).version(env!("CARGO_PKG_VERSION")));
    let mut text = Vec::new();
    let render = |text: &mut Vec<u8>| {
        man.render_title(text)?;
        man.render_name_section(text)?;
        man.render_synopsis_section(text)?;
        man.render_description_section(text)?;
        man.render_options_section(text)?;
        if below { man.render_subcommands_section(text) } else { Ok(()) }
    };
    render(&mut text).map_err(|e| Failure::new(format_args!("{name}: {e}")))?;
    text.extend(sections(&after).bytes());
    Ok(text)
}

/// What stands behind the flags in a help, as sections: examples and exit codes keep their lines, prose is filled.
fn sections(after: &str) -> String {
    let mut text = String::new();
    let mut open = "";
    for block in after.split("\n\n").filter(|b| !b.trim().is_empty()) {
        let (title, lines) = match block.split_once('\n') {
            Some(("Examples:" | "Example:", rest)) => ("EXAMPLES", rest),
            Some(("Exit codes:", rest)) => ("EXIT STATUS", rest),
            _ => ("NOTES", block),
        };
        text += &if title == open { ".PP\n".to_owned() } else { format!(".SH \"{title}\"\n") };
        open = title;
        // (a line that is set in stands as it is)
        let mut fixed = false;
        for line in lines.lines() {
            if line.starts_with(' ') != fixed {
                fixed = !fixed;
                text += if fixed { ".nf\n" } else { ".fi\n" };
            }
            text += &format!("\\&{}\n", line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq"));
        }
        if fixed {
            text += ".fi\n";
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::sections;

    #[test]
    fn examples_keep_their_lines() {
        let page = sections("Prose\nover lines.\n\nExamples:\n  a --b 'c'\n  d\n\nMore:\n  .e\n");
        let says = [
            ".SH \"NOTES\"",
            "\\&Prose",
            "\\&over lines.",
            ".SH \"EXAMPLES\"",
            ".nf",
            "\\&  a \\-\\-b \\(aqc\\(aq",
            "\\&  d",
            ".fi",
            ".SH \"NOTES\"",
            "\\&More:",
            ".nf",
            "\\&  .e",
            ".fi",
        ];
        assert_eq!(page.lines().collect::<Vec<_>>(), says);
    }
}

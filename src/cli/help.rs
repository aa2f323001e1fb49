//! The first page of help: what there is to do, in groups, on one screen. What each sub-command takes is its own help's.
//!
//! Guarantees: every sub-command that is not hidden is in one group, with its own first line. The flags of `replay`, which
//! `reray-replay FILE` takes as well, are only explained there.

use super::overwritten::overwritten;
use crate::exit::HELP;
use clap::error::ErrorKind;
use clap::{Command, CommandFactory, FromArgMatches};
use std::ffi::OsString;
use std::fmt::Write;
use std::path::Path;

/// Sub-commands as people look for them.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Replay", &["replay", "screenshot", "check", "devices"]),
    ("Look into a capture", &["info", "dump", "dump-resources", "verify", "bindings", "sql"]),
    ("Look into its shaders", &["profile", "analyze", "rays"]),
    ("Say what is faster", &["bench", "compare", "what-if", "study", "suite", "report"]),
];

/// Those that are seldom wanted, or about this program itself: they are only named.
const OTHERS: [&str; 10] =
    ["compress", "db", "diff", "extract", "merge-profiles", "mcp", "reduce", "trim", "completions", "man"];

const EXAMPLES: &str = "\
Examples: reray-replay cap.gfxr --report page.html
          reray-replay profile cap.gfxr --ask simt,hotspots -o trace
Exit codes, and the flags of a replay: reray-replay replay --help";

/// Reads the command line; ends the process where it makes no sense, or asks for help.
pub fn parse<Cli: CommandFactory + FromArgMatches>() -> Cli {
    let words: Vec<OsString> = std::env::args_os().collect();
    let mut command = command::<Cli>();
    if let Some((word, meant)) = misspelt(&command, &words) {
        let says = format!("there is no command {word:?}; did you mean {meant}?");
        command.error(ErrorKind::InvalidSubcommand, says).exit();
    }
    if let Some(says) = two_words(&command, &words) {
        command.error(ErrorKind::InvalidSubcommand, says).exit();
    }
    let matches = command.clone().get_matches_from(words);
    if let Some(file) = overwritten(&command, &matches) {
        let says = format!("{}: it is read, and cannot be written, too; name another file", file.display());
        command.error(ErrorKind::ValueValidation, says).exit();
    }
    Cli::from_arg_matches(&matches).unwrap_or_else(|e| e.exit())
}

/// A first word that is neither a command nor a file, but nearly the name of a command; and that name.
fn misspelt(command: &Command, words: &[OsString]) -> Option<(String, String)> {
    let word = words.get(1)?.to_str()?;
    if command.find_subcommand(word).is_some() || Path::new(word).exists() {
        return None;
    }
    let shown = command.get_subcommands().filter(|c| !c.is_hide_set()).map(Command::get_name);
    let near = shown.map(|name| (strsim::osa_distance(word, name), name)).min()?;
    // (one letter of four to seven, two of more; were it a file, it would not be there)
    (near.0 <= near.1.len().min(word.len()) / 4).then(|| (word.to_owned(), near.1.to_owned()))
}

/// What is wrong where two words stand first that are no flags, and the first is no command: it was meant to be one, or a second capture
/// is given.
fn two_words(command: &Command, words: &[OsString]) -> Option<String> {
    let [first, second] = [words.get(1)?.to_str()?, words.get(2)?.to_str()?];
    // (`help` is a command that is only there once the line is read)
    let known = first == "help" || command.find_subcommand(first).is_some();
    if first.starts_with('-') || second.starts_with('-') || known {
        return None;
    }
    if Path::new(first).exists() {
        return Some(format!("{second:?}: one capture is replayed at a time; `diff` and `compare` take two"));
    }
    let shown = command.get_subcommands().filter(|c| !c.is_hide_set()).map(Command::get_name);
    let near = shown.map(|name| (strsim::osa_distance(first, name), name)).min()?;
    let meant =
        if near.0 <= 2 { format!("did you mean {}?", near.1) } else { "--help lists them".to_owned() };
    Some(format!("there is no command {first:?}; {meant}"))
}

/// The command with that page.
fn command<Cli: CommandFactory>() -> Command {
    let all = Cli::command();
    let mut groups = String::new();
    for (title, names) in GROUPS {
        _ = writeln!(groups, "{title}:");
        for name in names {
            let about = all.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
            _ = writeln!(groups, "  {name:<15} {}", about.unwrap_or_default());
        }
    }
    _ = writeln!(groups, "Also: {}", OTHERS.join(" "));
    let all = all.mut_subcommands(flowing);
    all.mut_args(|flag| if shown(flag.get_id().as_str()) { flag } else { flag.hide(true) })
        .mut_subcommand("replay", |replay| replay.after_help(HELP))
        .override_usage("reray-replay CAPTURE [OPTIONS]\n       reray-replay COMMAND …")
        .help_template(format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}\nOptions:\n{{options}}{{after-help}}"))
        .after_help(EXAMPLES)
}

/// A command, and those in it, with paragraphs in one line behind their flags: they are wrapped as wide as the terminal is.
fn flowing(command: Command) -> Command {
    let text = command.get_after_help().map(|text| paragraphs(&text.to_string()));
    let command = command.mut_subcommands(flowing);
    match text {
        Some(text) => command.after_help(text),
        None => command,
    }
}

/// Lines that go on where others end are joined to them; what is indented stays as it is.
fn paragraphs(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let goes_on = |before: &str| {
            let last = before.rsplit('\n').next().unwrap_or_default();
            [last, line].iter().all(|l| !l.is_empty() && !l.starts_with(' ')) && !last.ends_with(':')
        };
        let between = match out.is_empty() {
            true => "",
            false if goes_on(&out) => " ",
            false => "\n",
        };
        out += between;
        out += line;
    }
    out
}

/// What all sub-commands take.
fn shown(flag: &str) -> bool {
    matches!(flag, "quiet" | "verbose" | "wide" | "version")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use std::collections::BTreeMap;

    #[test]
    fn paragraphs_are_one_line() {
        let text = "One\nand the same.\n\nTwo:\n  a  b\n  c  d\n\nThree\nfour";
        assert_eq!(paragraphs(text), "One and the same.\n\nTwo:\n  a  b\n  c  d\n\nThree four");
    }

    #[test]
    fn every_command_is_in_one_group() {
        let mut times: BTreeMap<&str, usize> = BTreeMap::new();
        GROUPS.iter().flat_map(|g| g.1).chain(&OTHERS).for_each(|name| *times.entry(*name).or_default() += 1);
        let all = Cli::command();
        for name in all.get_subcommands().filter(|c| !c.is_hide_set()).map(Command::get_name) {
            assert_eq!(times.remove(name), Some(1), "{name}");
        }
        assert!(times.is_empty(), "no commands: {times:?}");
    }

    #[test]
    fn it_fits_one_screen() {
        for width in [80, 100] {
            let text = command::<Cli>().term_width(width).render_help().to_string();
            assert!(text.lines().count() <= 40, "{} lines:\n{text}", text.lines().count());
            assert!(text.lines().all(|l| l.chars().count() <= 80), "wider than 80:\n{text}");
        }
    }

    #[test]
    fn what_is_nearly_a_command_was_meant_to_be_one() {
        let meant =
            |word: &str| misspelt(&command::<Cli>(), &["reray-replay".into(), word.into()]).map(|m| m.1);
        for (word, name) in
            [("anlyze", "analyze"), ("veirfy", "verify"), ("screnshot", "screenshot"), ("inf", "")]
        {
            assert_eq!(meant(word).unwrap_or_default(), name, "{word}");
        }
        for file in ["a.gfxr", "rays.gfxr", "analyze", "repack", "--json", "game", "Cargo.toml"] {
            assert_eq!(meant(file), None, "{file}");
        }
    }

    #[test]
    fn a_word_before_another_is_a_command() {
        let says = |words: &[&str]| {
            let words = ["reray-replay"].iter().chain(words).map(OsString::from).collect::<Vec<_>>();
            two_words(&command::<Cli>(), &words).unwrap_or_default()
        };
        assert_eq!(says(&["trm", "a.gfxr"]), "there is no command \"trm\"; did you mean trim?");
        assert_eq!(says(&["frobnicate", "a.gfxr"]), "there is no command \"frobnicate\"; --help lists them");
        assert!(says(&["Cargo.toml", "a.gfxr"]).contains("one capture is replayed at a time"));
        for words in [
            &["trim", "a.gfxr"][..],
            &["a.gfxr", "--json"],
            &["--json", "a.gfxr"],
            &["a.gfxr"],
            &["help", "trim"],
        ] {
            assert_eq!(says(words), "", "{words:?}");
        }
    }

    #[test]
    fn names_that_were_there_are_read_as_the_same() {
        for (was, is) in [
            ("repack trace", "rays repack trace"),
            ("reorder trace --window 8", "rays reorder trace --window 8"),
            ("resources cap.gfxr --sync", "bindings cap.gfxr --sync"),
            ("repartition cap.gfxr --partition p.json", "bindings split cap.gfxr --partition p.json"),
            ("recompress cap.gfxr --to none -o a.gfxr", "compress cap.gfxr --to none -o a.gfxr"),
        ] {
            let read = |words: &str| {
                let words = ["reray-replay"].into_iter().chain(words.split(' '));
                let matches = command::<Cli>().try_get_matches_from(words);
                let cli = matches.and_then(|m| Cli::from_arg_matches(&m)).unwrap_or_else(|e| panic!("{e}"));
                format!("{:?}", cli.command.expect("one"))
            };
            let (was, is) = (read(was), read(is));
            let args = |text: &str| {
                text[text.find("Args").unwrap_or_else(|| panic!("no flags: {text}"))..].to_owned()
            };
            let inner = args(is.trim_start_matches("Bindings(BindingsArgs"));
            assert!(inner.starts_with(args(&was).trim_end_matches(')')), "{was}\n{is}");
        }
    }

    #[test]
    fn a_capture_needs_no_command() {
        for words in
            [&["reray-replay", "a.gfxr", "--json"][..], &["reray-replay", "replay", "a.gfxr", "--json"]]
        {
            let matches = command::<Cli>().try_get_matches_from(words).expect("flags");
            let cli = Cli::from_arg_matches(&matches).expect("flags");
            let args = match cli.command {
                Some(crate::cli::Command::Replay(args)) => *args,
                _ => cli.replay,
            };
            assert_eq!((args.file, args.json), (Some("a.gfxr".into()), true));
        }
    }
}

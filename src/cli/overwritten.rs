//! A file that is written is not one that is read: results that would take the place of a capture, a run or a report are refused before
//! anything is read.
//!
//! Guarantees: whatever sub-command it is, and however both are spelt; what is not a regular file (`/dev/stdout`) may be both.

use clap::{ArgMatches, Command};
use std::ffi::OsStr;
use std::path::PathBuf;

/// Flags that name a file to write, with what stands before it, if anything does (`json=FILE`). What else names a file names one to read.
const WRITTEN: [&str; 7] = ["output", "report", "csv", "perfetto", "page", "measurement_file", "write"];

/// What a command line would write over, of what it reads.
pub fn overwritten(command: &Command, matches: &ArgMatches) -> Option<PathBuf> {
    let (mut read, mut written) = (vec![], vec![]);
    let (mut command, mut matches) = (Some(command), Some(matches));
    while let Some((of, given)) = command.zip(matches) {
        for arg in of.get_arguments() {
            let id = arg.get_id().as_str();
            let files = given.try_get_raw(id).ok().flatten().into_iter().flatten();
            let named = |f: &OsStr| match f.to_str().and_then(|f| f.split_once('=')) {
                Some((_, file)) if id == "write" => PathBuf::from(file),
                _ => PathBuf::from(f),
            };
            let files = files.filter_map(|f| named(f).canonicalize().ok()).filter(|f| f.is_file());
            if WRITTEN.contains(&id) { written.extend(files) } else { read.extend(files) }
        }
        let inner = given.subcommand();
        command = inner.and_then(|(name, _)| of.find_subcommand(name));
        matches = inner.map(|(_, given)| given);
    }
    written.into_iter().find(|file| read.contains(file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;
    use std::ffi::OsString;

    /// Every flag that this program has for a file to write is among those that are looked at; a new one is to be put there.
    #[test]
    fn flags_that_write_files_are_known() {
        fn all<'c>(command: &'c Command, to: &mut Vec<&'c clap::Arg>) {
            to.extend(command.get_arguments());
            command.get_subcommands().for_each(|c| all(c, to));
        }
        let command = Cli::command();
        let mut args = vec![];
        all(&command, &mut args);
        for arg in args {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            let file = arg.get_value_names().is_some_and(|n| n.iter().any(|n| n.as_str().ends_with("FILE")));
            // (what `trim --edits` writes are values, from a file)
            if file && help.starts_with("Write") && !arg.is_positional() && arg.get_id() != "edits" {
                assert!(WRITTEN.contains(&arg.get_id().as_str()), "{}: {help}", arg.get_id());
            }
        }
    }

    #[test]
    fn what_is_read_is_not_written_over() {
        let folder = std::env::temp_dir().join(format!("reray-replay-overwritten-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let [a, b, new] = ["a.gfxr", "b.gfxr", "new.gfxr"].map(|name| folder.join(name));
        for file in [&a, &b] {
            std::fs::write(file, "x").expect("it can be written");
        }
        let other_way = folder.join(".").join("a.gfxr");
        let found = |words: &[OsString]| {
            let words = [OsString::from("reray-replay")].into_iter().chain(words.iter().cloned());
            let matches = Cli::command().try_get_matches_from(words).expect("it can be read");
            overwritten(&Cli::command(), &matches)
        };
        let word = |w: &str| OsString::from(w);
        let file = |f: &PathBuf| f.clone().into_os_string();
        let a_is = a.canonicalize().ok();
        assert_eq!(found(&[word("dump"), file(&a), word("-o"), file(&a)]), a_is);
        assert_eq!(found(&[word("diff"), file(&b), file(&a), word("-o"), file(&other_way)]), a_is);
        assert_eq!(found(&[file(&a), word("--report"), file(&other_way)]), a_is);
        assert_eq!(found(&[word("report"), file(&b), file(&a), word("-o"), file(&a)]), a_is);
        let json = OsString::from(format!("json={}", a.display()));
        assert_eq!(found(&[word("compare"), file(&a), file(&b), word("--write"), json]), a_is);
        assert_eq!(found(&[word("dump"), file(&a), word("-o"), file(&new)]), None);
        assert_eq!(found(&[word("dump"), file(&a), word("-o"), file(&b)]), None);
        assert_eq!(found(&[word("dump"), file(&a), word("-o"), word("/dev/null")]), None);
        let _ = std::fs::remove_dir_all(&folder);
    }
}

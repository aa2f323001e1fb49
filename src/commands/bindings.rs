//! `bindings`: what a capture's draws bind and read, followed without a GPU (`experiment::follow`), with the answers to that; and
//! `bindings split` (`experiment::split`).
//!
//! Guarantees: without `-o` the trace is made where temporary files are and taken away. With `--check` a byte that differs makes the exit
//! code 5. Refuses folders that hold something.

use super::analyze;
use crate::cli::{AnalyzeArgs, AnalyzeFormat, ResourcesArgs, SplitArgs};
use crate::exit::{Exit, Failure, complain, detail};
use crate::output;
use experiment::files::folder::{refuse_full, temporary};
use experiment::follow::{Settings, follow, summary};
use experiment::split;

/// Runs it.
pub fn run(args: &ResourcesArgs) -> Result<Exit, Failure> {
    let made;
    let folder = match args.output.as_deref() {
        Some(folder) => folder,
        None => {
            made = temporary()?;
            made.path()
        }
    };
    refuse_full(folder)?;
    let settings = Settings {
        file: args.file.clone().expect("it is required"),
        frames: args.frames.clone(),
        sync: args.sync,
        check: args.check,
        read_back: args.read_back,
        spoil: args.spoil,
        spoil_writes: args.spoil_writes,
        run: args.run.how(),
    };
    let found = follow(&settings, folder)?;
    let text = args.format.is_none_or(|f| f == AnalyzeFormat::Text);
    if text {
        output::print_sentences(&summary(&settings, &found))?;
    }
    let mut exit = Exit::Done;
    if !args.no_answers && found.followed.written > 0 {
        exit = analyze::run(&AnalyzeArgs {
            trace: Some(folder.to_owned()),
            questions: args.questions.clone(),
            list: false,
            table: vec![],
            tables: false,
            format: args.format,
            output: None,
        })?;
    }
    for d in &found.checked.differences {
        complain(format_args!("{d}"));
    }
    if args.run.validate && !(args.check || args.read_back) {
        complain("nothing ran on a device: --validate says something with --check or --read-back");
    } else if args.run.validate {
        complain(format_args!("{} validation messages", found.validation.len()));
        found.validation.iter().take(50).for_each(detail);
    }
    Ok(if found.checked.different > 0 { Exit::Diverged } else { exit })
}

/// Runs `bindings split`.
pub fn split(args: &SplitArgs) -> Result<Exit, Failure> {
    let report = split::split(&split::Settings {
        file: args.file.clone(),
        run: args.run.how(),
        partition: args.partition.clone(),
        rounds: args.rounds,
        max_sets: args.max_sets,
        image_tolerance: args.image_tolerance,
    })?;
    match args.json {
        true => output::print(output::json(&report)?.as_bytes())?,
        false => output::print_sentences(&split::said(&report))?,
    }
    Ok(Exit::Done)
}

//! `suite` (`experiment::suite`): what each of its commands is asked, what is printed of it, and how `bench` reads the words of units.
//!
//! Guarantees of `suite compare`: the exit code is the verdict's, unless the new result lacks a unit, which is 1 and said by name; whatever
//! the code, everything is printed; files are there whole or not at all.

#[cfg(test)]
mod plans_tests;
#[cfg(test)]
mod units_tests;

use super::compare::metrics;
use crate::cli::{
    Cli, Command, CompareFormat, SuiteCommand, SuiteCompareArgs, SuiteListArgs, SuiteMergeArgs, SuiteRunArgs,
};
use crate::exit::{Exit, Failure, columns, complain};
use crate::output::{self, write_file};
use analyses::report::html::{self, Input};
use analyses::report::{Report, json, text};
use analyses::verdict::suite::SuiteCompared;
use analyses::verdict::{Verdict, suite_export as export};
use clap::Parser;
use experiment::bench::Settings;
use experiment::suite::{self, AsRead, Merge, Question, Task};

/// Runs it.
pub fn run(command: &SuiteCommand) -> Result<Exit, Failure> {
    match command {
        SuiteCommand::List(args) => list(args),
        SuiteCommand::Run(args) => measure(args),
        SuiteCommand::Merge(args) => merge(args),
        SuiteCommand::Compare(args) => compare(args),
    }
}

fn list(args: &SuiteListArgs) -> Result<Exit, Failure> {
    let all = suite::read(&args.suite, args.shard, words)?;
    print(&suite::list(&all, args.shard), args.json)?;
    Ok(Exit::Done)
}

fn measure(args: &SuiteRunArgs) -> Result<Exit, Failure> {
    let all = suite::read(&args.suite, args.shard, words)?;
    let task = Task {
        output: args.output.clone(),
        shard: args.shard,
        only: args.only.clone(),
        resume: args.resume,
        fail_fast: args.fail_fast,
    };
    let (report, exit) = suite::run(&task, &all)?;
    print(&report, args.json)?;
    Ok(exit)
}

fn merge(args: &SuiteMergeArgs) -> Result<Exit, Failure> {
    let line = suite::merge(&Merge {
        parts: args.parts.clone(),
        output: args.output.clone(),
        partial: args.partial,
        force: args.force,
    })?;
    output::print(line.as_bytes())?;
    Ok(Exit::Done)
}

fn compare(args: &SuiteCompareArgs) -> Result<Exit, Failure> {
    if args.alpha.is_some_and(|alpha| !(alpha > 0.0 && alpha < 0.5)) {
        return Err(Failure::usage("--alpha: above 0 and below 0.5"));
    }
    let (all, pictures) = suite::compare(&Question {
        base: args.base.clone(),
        new: args.new.clone(),
        against: args.against.clone(),
        metrics: metrics(&args.metric)?,
        min_effect: args.min_effect,
        alpha: args.alpha,
        force: args.force,
    })?;
    for (format, file) in &args.write {
        write_file(file, rendered(*format, &all).as_bytes())?;
    }
    output::print(rendered(args.format.or_json(args.json), &all).as_bytes())?;
    if let Some(page) = &args.page {
        let report =
            (Report { pictures, ..export::report(&all) }, "two results of a suite beside each other".into());
        let input = Input {
            name: all.suite.clone(),
            kind: "suite".into(),
            reports: vec![report],
            ..Input::default()
        };
        let page_of = html::render(&format!("suite {}", all.suite), &[input]).map_err(Failure::new)?;
        write_file(page, page_of.as_bytes())?;
    }
    let lacking: Vec<String> = all
        .units
        .iter()
        .filter(|u| u.standing.lacks())
        .map(|u| format!("{} ({}: {})", u.name, u.standing.name(), u.why))
        .collect();
    if !lacking.is_empty() {
        complain(format_args!("not compared: {}", lacking.join("; ")));
        if !args.partial {
            return Ok(Exit::Failed);
        }
    }
    Ok(match all.verdict {
        Verdict::Regression => Exit::Regression,
        Verdict::Inconclusive => Exit::Inconclusive,
        Verdict::NoChange | Verdict::NotWorse | Verdict::Improvement => Exit::Done,
    })
}

fn print(report: &Report, as_json: bool) -> Result<(), Failure> {
    output::print(
        if as_json { json::render(report) } else { text::render_within(report, columns()) }.as_bytes(),
    )
}

fn rendered(format: CompareFormat, of: &SuiteCompared) -> String {
    match format {
        CompareFormat::Text => export::as_text(of),
        CompareFormat::Json => export::as_json(of),
        CompareFormat::Markdown => export::as_markdown(of),
        CompareFormat::Junit => export::as_junit(of),
        CompareFormat::Benchmark => export::as_benchmark(of),
        CompareFormat::Bencher => export::as_bencher(of),
        CompareFormat::Csv => export::as_csv(of),
    }
}

/// A unit's words, as `bench` reads them.
fn words(words: &[String]) -> Result<AsRead, String> {
    let words = ["reray-replay"].into_iter().chain(words.iter().map(String::as_str)).chain(["-o", "x"]);
    match Cli::try_parse_from(words).map_err(|e| said(&e))?.command {
        Some(Command::Bench(args)) => Ok(AsRead { settings: Settings::from(&args), other: args.json }),
        _ => Err("this is no bench".into()),
    }
}

/// What the reader of flags says, on one line and without its help.
fn said(e: &clap::Error) -> String {
    let text = e.to_string();
    let text = text.split("\n\nUsage").next().unwrap_or_default();
    let text = text.split("\n\nFor more information").next().unwrap_or_default();
    let text = text.trim_start_matches("error: ").split_whitespace().collect::<Vec<_>>().join(" ");
    format!("as flags of bench: {text}")
}

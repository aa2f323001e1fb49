//! `cargo xtask bench-peers`: this project's commands and GFXReconstruct's, side by side, on the same machine.
//!
//! ```text
//! cargo xtask bench-peers [--captures DIR] [--runs N] [--only NAME]... [--replayer PATH] [-o DIR]
//! ```
//!
//! The sides of a comparison are run in turn, after one run each that does not count; what is claimed are ratios of
//! medians. Everything lands in the output folder: `README.md` (machine, commands, tables), `runs.csv` (every run),
//! `objects.csv` and `functions.csv` (instructions by object file, and of the replayers' own functions), `summary.json`.
//! A comparison whose tool or capture is not here is skipped by name. Guarantees: an existing folder is not touched; a
//! run that fails fails the whole. Refuses fewer than one run; says so when there are fewer than five.

mod args;
mod callgrind;
mod instructions;
mod machine;
mod measure;
mod peers;
mod report;
mod results;
mod sample;
mod xvfb;

use std::path::{Path, PathBuf};

use args::Args;
use results::{Measured, Results};

/// The sub-command's entry.
pub fn run(args: &[String]) -> Result<(), String> {
    if args.first().is_some_and(|a| a == measure::HELPER) {
        return measure::helper(&args[1..]);
    }
    let args = parse(args)?;
    if args.runs < 5 {
        eprintln!("bench-peers: {} runs are too few to claim anything; five are asked for", args.runs);
    }
    if args.out.exists() {
        return Err(format!("{} exists: a folder of measurements is never changed", args.out.display()));
    }
    std::fs::create_dir_all(&args.scratch).map_err(|e| format!("{}: {e}", args.scratch.display()))?;
    let display = xvfb::Xvfb::start()?;
    let before = machine::load();
    let results = compare(&args, display.as_ref())?;
    let machine = machine::describe(&args.replayer, display.as_ref(), &before);
    report::write(&args, &machine, &results)?;
    let _ = std::fs::remove_dir_all(&args.scratch);
    println!("{}", args.out.display());
    Ok(())
}

fn compare(args: &Args, display: Option<&xvfb::Xvfb>) -> Result<Results, String> {
    let mut results = Results { measured: vec![], instructions: None, skipped: vec![] };
    for comparison in peers::all(args) {
        let name = comparison.name;
        if !args.only.is_empty() && !args.only.iter().any(|o| o == name) {
            continue;
        }
        if let Some(why) = comparison.missing(display.is_some()) {
            eprintln!("{name}: skipped, {why}");
            results.skipped.push((name.to_string(), why));
            continue;
        }
        let samples = measure::interleaved(&comparison, args.runs, display)?;
        results.measured.push(Measured { comparison, samples });
    }
    if args.only.is_empty() || args.only.iter().any(|o| o == instructions::NAME) {
        match instructions::count(args, display)? {
            Ok(counted) => results.instructions = Some(counted),
            Err(why) => {
                eprintln!("{}: skipped, {why}", instructions::NAME);
                results.skipped.push((instructions::NAME.to_string(), why));
            }
        }
    }
    Ok(results)
}

fn parse(args: &[String]) -> Result<Args, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("the workspace has no folder")?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    let mut parsed = Args {
        captures: std::env::var_os("RERAY_CAPTURES").map_or(target.join("live"), PathBuf::from),
        replayer: target.join("release/reray-replay"),
        runs: 5,
        only: vec![],
        out: root.join("benches/runs").join(format!("{}-peers", machine::today())),
        scratch: target.join("tmp").join(format!("bench-peers-{}", std::process::id())),
    };
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word}: a value is missing"));
        match word.as_str() {
            "--captures" => parsed.captures = value()?.into(),
            "--replayer" => parsed.replayer = value()?.into(),
            "--runs" => {
                parsed.runs =
                    value()?.parse().ok().filter(|&n| n > 0).ok_or("--runs: not a number above 0")?
            }
            "--only" => parsed.only.push(value()?.clone()),
            "-o" => parsed.out = value()?.into(),
            _ => return Err(format!("unknown option {word}: --captures, --replayer, --runs, --only, -o")),
        }
    }
    Ok(parsed)
}

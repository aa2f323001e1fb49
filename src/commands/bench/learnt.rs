//! Plans of passes that change shaders for what was seen of them (`--ab`): what they have to know is recorded first, of all
//! frames up to the one that is timed, as those before it are replayed with the same shaders.
//!
//! ```text
//! known/blocks       what prune reads: profile --passes blocks
//! known/values       what zero-path reads: profile --passes values
//! known/resources    what specialize reads: resources -o
//! checked/PLAN       a profile of the frame with the plan's shaders
//! ```
//!
//! Guarantees: each is recorded once, whatever many plans read it; a plan whose frame does not show, or leave in memory, what it
//! does with the application's own shaders, is an error that names the pass and the first pixel or byte.

use super::traces::{record, recorded_in};
use super::{With, complain_progress, maps};
use crate::cli::{BenchArgs, Cli};
use crate::exit::{Exit, Failure};
use clap::Parser;
use std::path::{Path, PathBuf};

/// What is replayed as the application made it.
const PLAIN: &str = "plain";

/// Passes that read a trace, and what of it.
const LEARN: [(&str, &str); 3] = [("prune", "blocks"), ("zero-path", "values"), ("specialize", "resources")];

/// The plans that were asked for, but for the plain one; passes of one plan have a plus sign between them. And what is to be
/// said.
pub fn plans(args: &BenchArgs, first: u64, to: &Path) -> Result<(Vec<With>, Vec<String>), Failure> {
    let (mut all, mut notes) = (vec![], vec![]);
    for name in args.ab.iter().filter(|n| *n != PLAIN) {
        let mut passes = vec![];
        for pass in name.split('+') {
            let Some((_, what)) = LEARN.iter().find(|l| l.0 == pass) else {
                let known: Vec<&str> = LEARN.iter().map(|l| l.0).collect();
                let text = format!("--ab {name}: there are {PLAIN}, {}, joined by +", known.join(", "));
                return Err(Failure::usage(text));
            };
            passes.push(format!("{pass}:{}", known(args, what, first, to, &mut notes)?.display()));
        }
        if all.iter().any(|w: &With| w.name == *name) {
            return Err(Failure::usage(format_args!("--ab: {name} is there twice")));
        }
        all.push(With { name: name.clone(), list: passes.join(",") });
    }
    match all.is_empty() {
        true => Err(Failure::usage(format_args!("--ab: besides {PLAIN} there is no plan"))),
        false => Ok((all, notes)),
    }
}

/// The trace that a pass reads, recorded if it is not there yet.
fn known(
    args: &BenchArgs,
    what: &str,
    first: u64,
    to: &Path,
    notes: &mut Vec<String>,
) -> Result<PathBuf, Failure> {
    if what == "resources"
        && let Some(folder) = &args.resources
    {
        return Ok(folder.clone());
    }
    let folder = to.join("known").join(what);
    if folder.exists() {
        return Ok(folder);
    }
    complain_progress(&format!("recording {what}"));
    if what == "resources" {
        let frames = format!("{first}-{}", args.frame);
        let words =
            ["reray-replay", "resources", "--no-answers", "--format", "json", "--frames", &frames, "-o"];
        let words = words.iter().map(PathBuf::from).chain([folder.clone(), args.file.clone()]);
        let cli = Cli::try_parse_from(words).map_err(Failure::new)?;
        return match crate::commands::run(cli)? {
            Exit::Done => Ok(folder),
            exit => Err(Failure::Error(exit, "the trace of resources is not whole".into())),
        };
    }
    notes.extend(recorded_in(args, what, (first, args.frame), &folder, &format!("of pass {what}"))?);
    Ok(folder)
}

/// Proves that each plan's frame shows the same.
pub fn check(args: &BenchArgs, plans: &[With], to: &Path) -> Result<(), Failure> {
    for plan in plans {
        complain_progress(&format!("comparing pictures: {}", plan.name));
        record(
            args,
            &plan.list,
            (args.frame, args.frame),
            &to.join("checked").join(maps::plain(&plan.name)),
            true,
        )?;
    }
    Ok(())
}

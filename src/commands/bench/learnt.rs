//! Plans of passes that change shaders for what was seen of them (`--ab`): what they have to know is recorded first, of all
//! frames up to the one that is timed, as those before it are replayed with the same shaders. And plans that move descriptors to
//! other sets, as a file says (`repartition:FILE`).
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
use super::{How, With, complain_progress, maps};
use crate::cli::{BenchArgs, Cli};
use crate::commands::repartition;
use crate::commands::replay::options;
use crate::exit::{Exit, Failure};
use clap::Parser;
use gfxr_parse::container::Capture;
use replay::options::Options;
use std::path::{Path, PathBuf};

/// What is replayed as the application made it.
const PLAIN: &str = "plain";

/// What a plan begins with that moves descriptors to other sets, as a file says.
pub const REPARTITION: &str = "repartition:";

/// Passes that read a trace, and what of it.
const LEARN: [(&str, &str); 3] = [("prune", "blocks"), ("zero-path", "values"), ("specialize", "resources")];

/// The plans that were asked for, but for the plain one; passes of one plan have a plus sign between them. And what is to be
/// said.
pub fn plans(
    args: &BenchArgs,
    capture: &Capture,
    first: u64,
    to: &Path,
) -> Result<(Vec<With>, Vec<String>), Failure> {
    let (mut all, mut notes) = (vec![], vec![]);
    for name in args.ab.iter().filter(|n| *n != PLAIN) {
        if args.ab.iter().filter(|n| *n == name).count() > 1 {
            return Err(Failure::usage(format_args!("--ab: {name} is there twice")));
        }
        if let Some(file) = name.strip_prefix(REPARTITION) {
            let how =
                How::Repartition(repartition::plan(capture, &options(&args.run)?, Path::new(file), None)?);
            let stem = Path::new(file).file_stem().unwrap_or_default().to_string_lossy();
            let short = format!("{REPARTITION}{stem}");
            let taken = all.iter().any(|w: &With| w.name == short);
            all.push(With { name: if taken { name.clone() } else { short }, how });
            continue;
        }
        let mut passes = vec![];
        for pass in name.split('+') {
            let Some((_, what)) = LEARN.iter().find(|l| l.0 == pass) else {
                let known: Vec<&str> = LEARN.iter().map(|l| l.0).collect();
                let text = format!(
                    "--ab {name}: there are {PLAIN}, {}, joined by +, and {REPARTITION}FILE",
                    known.join(", ")
                );
                return Err(Failure::usage(text));
            };
            passes.push(format!("{pass}:{}", known(args, what, first, to, &mut notes)?.display()));
        }
        all.push(With::passes(name.clone(), passes.join(",")));
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
pub fn check(args: &BenchArgs, capture: &Capture, plans: &[With], to: &Path) -> Result<(), Failure> {
    for plan in plans {
        complain_progress(&format!("comparing pictures: {}", plan.name));
        let frames = (args.frame, args.frame);
        match &plan.how {
            How::Passes(list) => {
                record(args, list, frames, &to.join("checked").join(maps::plain(&plan.name)), true)?;
            }
            How::Repartition(layouts) => {
                let options = Options { frames: Some(frames), ..options(&args.run)? };
                repartition::verify(capture, &options, layouts)?;
            }
        }
    }
    Ok(())
}

//! Plans of passes that change shaders for what was seen of them (`--ab`): what they have to know is recorded first, of all
//! frames up to the one that is timed, as those before it are replayed with the same shaders. And plans that move descriptors to
//! other sets, as a file says (`repartition:FILE`).
//!
//! ```text
//! known/blocks       what prune reads: profile --passes blocks
//! known/values       what zero-path reads: profile --passes values
//! known/resources    what specialize reads: bindings -o
//! checked/PLAN       a profile of the frame with the plan's shaders
//! ```
//!
//! Guarantees: each is recorded once, whatever many plans read it. A plan whose frame does not show, or leave in memory, what it
//! does with the application's own shaders, is refused, with the pass and the first pixel or byte: it is not timed, the others
//! are, and the run ends as one that diverged. How far it may be off is `--image-tolerance`'s to say. Beyond that the same plan
//! with `precise=yes` is tried, whose code the driver may not compile otherwise: it is timed instead where it is within.

use super::maps::plain;
use super::plan::{How, With};
use super::traces::{record, recorded_in};

use crate::cli::{BenchArgs, BindingsArgs, Cli, Command};
use crate::commands::replaying::options;
use crate::commands::{bindings, split};
use crate::exit::{Exit, Failure, complain};
use crate::progress;
use analyses::report::{Cell, Column, Table, Unit};
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
            let how = How::Repartition(split::plan(capture, &options(&args.run)?, Path::new(file), None)?);
            let short = short(file);
            let taken = all.iter().any(|w: &With| w.name == short);
            all.push(With { name: if taken { name.clone() } else { short }, how });
            continue;
        }
        let mut passes = vec![];
        for pass in name.split('+') {
            let (pass, options) = pass.split_once(':').unwrap_or((pass, ""));
            let Some((_, what)) = LEARN.iter().find(|l| l.0 == pass) else {
                let known: Vec<&str> = LEARN.iter().map(|l| l.0).collect();
                let known = known.join(", ");
                let text = format!(
                    "--ab {name}: there are {PLAIN}, {known}, joined by +, their options behind colons, and {REPARTITION}FILE"
                );
                return Err(Failure::usage(text));
            };
            let folder = known(args, what, first, to, &mut notes)?.display().to_string();
            let given = [folder.as_str()].into_iter().chain(options.split(':').filter(|o| !o.is_empty()));
            passes.push(format!("{pass}:{}", given.collect::<Vec<_>>().join("+")));
        }
        all.push(With::passes(name.clone(), passes.join(",")));
    }
    match all.is_empty() {
        true => Err(Failure::usage(format_args!("--ab: besides {PLAIN} there is no plan"))),
        false => Ok((all, notes)),
    }
}

/// The name of a plan that moves descriptors as this file says.
pub fn short(file: &str) -> String {
    let stem = Path::new(file).file_stem().unwrap_or_default().to_string_lossy();
    format!("{REPARTITION}{stem}")
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
    progress::step(&format!("recording {what}"));
    let (pass, _) = LEARN.iter().find(|l| l.1 == what).unwrap_or(&LEARN[0]);
    notes.push(format!(
        "What {pass} knows was recorded in this run, of frames {first} to {}: {}.",
        args.frame,
        if what == "resources" { "what invocations bound".into() } else { format!("pass {what}") }
    ));
    if what == "resources" {
        let frames = format!("{first}-{}", args.frame);
        let words =
            ["reray-replay", "bindings", "--no-answers", "--format", "json", "--frames", &frames, "-o"];
        let words = words.iter().map(PathBuf::from).chain([folder.clone(), args.file.clone()]);
        let Some(Command::Bindings(BindingsArgs { followed: flags, .. })) =
            Cli::try_parse_from(words).map_err(Failure::new)?.command
        else {
            return Err(Failure::new("bindings has no flags"));
        };
        return match bindings::run(&flags)? {
            Exit::Done => Ok(folder),
            exit => Err(Failure::with(exit, "the trace of resources is not whole")),
        };
    }
    notes.extend(recorded_in(args, what, (first, args.frame), &folder, &format!("of pass {what}"))?);
    Ok(folder)
}

/// A plan that is not timed.
pub struct Refused {
    /// The plan.
    pub name: String,
    /// What differs first.
    pub why: String,
    /// The same plan, computed precisely, if that shows the same.
    pub instead: Option<String>,
}

/// Compares each plan's frame with the application's own: the plans to time, and those that are refused.
pub fn check(
    args: &BenchArgs,
    capture: &Capture,
    plans: Vec<With>,
    to: &Path,
) -> Result<(Vec<With>, Vec<Refused>), Failure> {
    let compare = |plan: &With| compare(args, capture, plan, to);
    let names: Vec<String> = plans.iter().map(|p| p.name.clone()).collect();
    let (mut good, mut refused) = (vec![], vec![]);
    for plan in plans {
        let Some(why) = compare(&plan)? else {
            good.push(plan);
            continue;
        };
        let mut instead = None;
        if let How::Passes(list) = &plan.how {
            let precise = With::passes(precise(&plan.name, '+', ":"), precise(list, ',', "+"));
            if !names.contains(&precise.name) && compare(&precise)?.is_none() {
                instead = Some(precise.name.clone());
                good.push(precise);
            }
        }
        complain(format_args!("plan {} is refused: {why}", plan.name));
        refused.push(Refused { name: plan.name, why, instead });
    }
    Ok((good, refused))
}

/// Compares a plan's frame with the application's own: what differs beyond the tolerance. A plan that was compared is not again.
pub fn compare(
    args: &BenchArgs,
    capture: &Capture,
    plan: &With,
    to: &Path,
) -> Result<Option<String>, Failure> {
    let (frames, folder) = ((args.frame, args.frame), to.join("checked").join(plain(&plan.name)));
    if folder.exists() {
        return Ok(None);
    }
    progress::step(&format!("comparing pictures: {}", plan.name));
    let compared = match &plan.how {
        How::Passes(list) => record(args, list, frames, &folder, true),
        How::Repartition(layouts) => {
            let options = Options { frames: Some(frames), ..options(&args.run)? };
            split::verify(capture, &options, layouts, args.image_tolerance).map(|_| ())
        }
    };
    match compared {
        Ok(()) => Ok(None),
        Err(Failure(Exit::Diverged, why)) => Ok(Some(said(&why, to))),
        Err(other) => Err(other),
    }
}

/// A list of passes with another option each, unless it says something of that already.
fn precise(list: &str, between: char, before: &str) -> String {
    let one = |pass: &str| match pass.contains("precise=") {
        true => pass.to_owned(),
        false => format!("{pass}{before}precise=yes"),
    };
    list.split(between).map(one).collect::<Vec<_>>().join(&between.to_string())
}

/// What a comparison says, without the folder in which the study is made.
fn said(why: &str, to: &Path) -> String {
    why.replace(&format!("{}/", to.display()), "")
}

/// The refused plans as a table.
pub fn table(refused: &[Refused]) -> Table {
    let columns = ["plan", "why", "timed instead"].map(|name| Column::new(name, Unit::Text)).to_vec();
    let row = |r: &Refused| -> Vec<Cell> {
        let instead = r.instead.as_deref().map_or(Cell::Missing, Cell::from);
        vec![r.name.as_str().into(), r.why.as_str().into(), instead]
    };
    Table { name: "refused".into(), columns, rows: refused.iter().map(row).collect() }
}

/// The same as sentences.
pub fn notes(refused: &[Refused]) -> Vec<String> {
    let one = |r: &Refused| match &r.instead {
        None => format!("Plan {} is refused and was not timed: {}.", r.name, r.why),
        Some(instead) => format!(
            "Plan {} is refused and was not timed: {}. That is rounding alone: the driver's compiler reorders arithmetic by what \
             stands around it, and where it may not, plan {instead}, nothing differs.",
            r.name, r.why
        ),
    };
    refused.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_plans() {
        assert_eq!(precise("prune+specialize", '+', ":"), "prune:precise=yes+specialize:precise=yes");
        assert_eq!(
            precise("prune:a/b,zero-path:c+precise=no", ',', "+"),
            "prune:a/b+precise=yes,zero-path:c+precise=no"
        );
        let why = "frame 2 shows another picture than without probes, because of pass prune:/x/.a.part/known/blocks, first at \
                   pixel 3, 4";
        let short = said(why, Path::new("/x/.a.part"));
        assert!(short.ends_with("because of pass prune:known/blocks, first at pixel 3, 4"), "{short}");
    }
}

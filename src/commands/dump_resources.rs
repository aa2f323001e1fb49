//! `dump-resources`: what chosen draws, dispatches and traces read and write, as files (`experiment::dump_resources`).
//!
//! Guarantees: a file's name is on stdout only once it is there. Refuses more than one frame.

use crate::cli::DumpResourcesArgs;
use crate::exit::{Exit, Failure, complain};
use crate::{input, output};
use experiment::dump_resources::{To, dump};
use experiment::files::folder::made_for;
use experiment::frames;
use experiment::readback::Asked;
use std::collections::BTreeMap;
use trace::actions::Choice;

/// Runs the sub-command.
pub fn run(args: &DumpResourcesArgs) -> Result<Exit, Failure> {
    let choice = Choice::read(&args.commands).map_err(|e| Failure::usage(format_args!("--commands: {e}")))?;
    let capture = input::open(&args.file, args.run.reading)?;
    let run = args.run.how();
    let frame = frames::one(&capture, &run, args.frames.as_ref(), "draws of one frame are looked at")?;
    let to = To { folder: &args.output, alpha: args.alpha, all_subresources: args.all_subresources };
    let asked = Asked { frame, changes: &args.change, run: &run };
    let said = |file: &str| output::print(format!("{file}\n").as_bytes());
    let (kept, index) = made_for(&args.output, || dump(&capture, &asked, &choice, &to, said))?;
    let mut unread = BTreeMap::<String, u64>::new();
    let some = index.commands.iter().flat_map(|c| &c.resources).any(|r| r.file.is_some());
    for resource in index.commands.iter().flat_map(|c| &c.resources) {
        if let Some(why) = &resource.not_read {
            *unread.entry(format!("{} {why}", resource.kind)).or_default() += 1;
        }
    }
    for (what, n) in unread {
        complain(format_args!("not read: {what} ({n})"));
    }
    if !some {
        complain("nothing of it could be read");
    }
    Ok(match (kept, some) {
        (false, _) => Exit::Diverged,
        (_, true) => Exit::Done,
        _ => Exit::Failed,
    })
}

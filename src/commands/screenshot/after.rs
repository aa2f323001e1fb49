//! `screenshot --after` and `--compare` (`experiment::attachments`).
//!
//! Guarantees: a file's name is on stdout only once it is there. Refuses more than one frame.

use crate::cli::ScreenshotArgs;
use crate::exit::{Exit, Failure, complain};
use crate::output;
use experiment::attachments::After;
use experiment::attachments::compare::{Comparison, Other, compare as compared};
use experiment::attachments::index::{Row, To, write};
use experiment::frames;
use experiment::readback::Asked;
use gfxr_parse::container::Capture;
use std::collections::BTreeMap;

/// The one frame that is looked at.
fn frame(args: &ScreenshotArgs, capture: &Capture) -> Result<u64, Failure> {
    frames::one(capture, &args.run.how(), args.frames.as_ref(), "--after and --compare look at one frame")
}

/// Shows what was asked for.
pub fn run(args: &ScreenshotArgs, after: &After, capture: &Capture) -> Result<Exit, Failure> {
    let (run, frame) = (args.run.how(), frame(args, capture)?);
    let said = |row: &Row| {
        let Some(written) = &row.written else { return Ok(()) };
        let hash = if args.hash { format!("{}  ", written.blake3) } else { String::new() };
        output::print(format!("{hash}{}\n", args.output.join(&written.file).display()).as_bytes())
    };
    let to = To { folder: &args.output, alpha: args.alpha, texels: args.texels };
    let asked = Asked { frame, changes: &args.change, run: &run };
    let (kept, index) = write(capture, &asked, after, &to, said)?;
    let mut unseen = BTreeMap::<String, u64>::new();
    for row in &index.attachments {
        if let Some(why) = &row.not_shown {
            *unseen.entry(format!("{} {why}", row.place.attachment)).or_default() += 1;
        }
    }
    for (what, n) in unseen {
        complain(format_args!("not shown: {what} ({n})"));
    }
    Ok(match (kept, index.attachments.iter().any(|r| r.written.is_some())) {
        (false, _) => Exit::Diverged,
        (_, true) => Exit::Done,
        _ => Exit::Failed,
    })
}

/// Compares with another device, driver or run.
pub fn compare(args: &ScreenshotArgs, other: &Other, capture: &Capture) -> Result<Exit, Failure> {
    let of = Comparison {
        file: &args.file,
        frame: frame(args, capture)?,
        after: args.after.as_ref(),
        changes: &args.change,
        tolerance: args.image_tolerance,
        alpha: args.alpha,
        run: &args.run.how(),
        other,
        output: &args.output,
    };
    let found = compared(capture, &of)?;
    output::print(found.text(&of).as_bytes())?;
    Ok(if found.differs() { Exit::Diverged } else { Exit::Done })
}

//! `screenshot`: writes what frames showed as PNGs.
//!
//! Guarantees: a file is there whole or not at all, and its name is on stdout only once it is; pixels are encoded on a
//! thread of their own while the capture goes on. Refuses frames that the capture does not have, naming the last one it
//! has: before replaying where presents say how many there are, else after.

mod after;
mod write;

use crate::cli::ScreenshotArgs;
use crate::exit::{Exit, Failure, complain};
use crate::select::Ranges;
use crate::{input, output, progress};
use experiment::files::folder::made_for;
use experiment::frames::{self, missing, no_such_frame};
use experiment::replaying::{breadcrumbs, changes, failure, options, validation};
use experiment::shots::{hash, watched, written_beside};
use gfxr_parse::container::Capture;
use profile::hooks::screenshot::{ScreenshotHook, Seen, Shot, What, Wish};
use replay::options::Options;
use replay::session::{On, Progress, Summary, replay};
use write::write;

/// Shots that may wait to be written.
const AHEAD: usize = 4;

/// Runs the sub-command.
pub fn run(args: &ScreenshotArgs) -> Result<Exit, Failure> {
    made_for(&args.output, || take(args))
}

fn take(args: &ScreenshotArgs) -> Result<Exit, Failure> {
    let capture = input::open(&args.file, args.run.reading)?;
    if args.texels && args.after.is_none() && args.compare.is_none() {
        return Err(Failure::usage("--texels goes with --after or --compare"));
    }
    if let Some(other) = &args.compare {
        return self::after::compare(args, other, &capture);
    }
    if let Some(after) = &args.after {
        return self::after::run(args, after, &capture);
    }
    let mut options = options(&args.run.how())?;
    let changed = changes(&args.change)?;
    let (what, frames) = plan(args, &capture, &options)?;
    options.frames = frames.as_ref().map(|f| (f.all().iter().map(|r| r.0).min().unwrap_or(0), f.last()));
    output::folder(&args.output)?;
    let wish = Wish {
        what,
        frames: frames.as_ref().map(|f| f.all().to_vec()),
        shape: args.shape,
        watchdog_ns: options.watchdog_ns(),
    };

    let ((replayed, seen), written) = written_beside(
        AHEAD,
        |shot: Shot| frame(args, &shot),
        |to| {
            let (hook, seen) = ScreenshotHook::new(wish, Box::new(move |shot| to.send(shot)));
            let bar = progress::bytes(capture.bytes().len() as u64, "replaying");
            let mut hooks = changed;
            hooks.push(Box::new(hook));
            breadcrumbs(&args.run.how(), &mut hooks);
            let replayed = replay(&capture, &options, On::Vulkan, hooks, 0, &mut Bar(&bar));
            bar.finish_and_clear();
            (replayed, seen)
        },
    );
    written?;
    let summary = replayed.map_err(failure)?;
    let seen = seen.borrow();
    Ok(judge(args, &summary, &seen, frames.as_ref()))
}

struct Bar<'b>(&'b indicatif::ProgressBar);

impl Progress for Bar<'_> {
    fn at(&mut self, bytes: u64, _: u64) {
        self.0.set_position(bytes);
    }
}

/// What of which frames: a capture that presents ends its frames there, and has as many as it says.
fn plan(
    args: &ScreenshotArgs,
    capture: &Capture,
    options: &Options,
) -> Result<(What, Option<Ranges>), Failure> {
    let what = args.image.as_ref().map_or_else(|| watched(capture), |name| What::Named(name.clone()));
    let there = frames::there(capture, &options.frame_by);
    let frames = match (&args.frames, there) {
        (Some(f), Some(there)) => {
            if let Some(n) = missing(f, there) {
                return Err(no_such_frame(n, there));
            }
            Some(f.clone())
        }
        (None, Some((_, last))) if what != What::CopiedOut => last.to_string().parse().ok(),
        (f, _) => f.clone(),
    };
    Ok((what, frames))
}

/// Writes what a frame showed.
fn frame(args: &ScreenshotArgs, shot: &Shot) -> Result<(), Failure> {
    let swapchain = shot.swapchain.map_or(String::new(), |id| format!("_swapchain_{id}"));
    let file = format!("frame_{}{swapchain}.png", shot.frame);
    write(args, &file, shot, args.hash.then(|| hash(shot, args.alpha)))
}

/// Says what went wrong, and what that makes of the exit code.
fn judge(args: &ScreenshotArgs, s: &Summary, seen: &Seen, frames: Option<&Ranges>) -> Exit {
    seen.problems.iter().for_each(complain);
    let mut exit = if seen.problems.is_empty() { Exit::Done } else { Exit::Failed };
    if !seen.copied.is_empty() && !seen.problems.is_empty() {
        let some: Vec<String> = seen.copied.iter().take(20).map(u64::to_string).collect();
        let more = if seen.copied.len() > some.len() { ", …" } else { "" };
        complain(format_args!("frames that copied something out: {}{more}", some.join(", ")));
    }
    let there = (0, seen.last_frame);
    if let Some(n) = frames.and_then(|f| missing(f, there)) {
        crate::exit::report(&no_such_frame(n, there));
        exit = Exit::Failed;
    }
    experiment::replaying::tallies(s);
    validation(s, args.run.validate);
    if s.report.divergences.count > 0 { Exit::Diverged } else { exit }
}

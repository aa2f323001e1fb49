//! `bindings`: what a capture's invocations bind and read, followed without a GPU.
//!
//! Guarantees: the trace's folder is whole, or as it was before; without `-o` it is made where temporary files are and taken
//! away. With `--check` a byte that differs makes the exit code 5. Refuses folders that hold something, and frames that the
//! capture does not have.

use super::folder::{Missing, refuse_full};
use super::frames::{missing, no_such_frame, there};
use super::replaying::{Bar, failure, options};
use super::{analyze, profile};
use crate::cli::{AnalyzeArgs, AnalyzeFormat, ResourcesArgs};
use crate::exit::{Exit, Failure, complain, detail};
use crate::{input, output, progress};
use ::profile::hooks::resources::{Checked, Followed, OnDevice, Plan, PlanHook, ResourcesHook};
use ::profile::hooks::sync::Synchronisation;
use gfxr_parse::container::Capture;
use replay::error::{Error, Kind};
use replay::hook::Hook;
use replay::options::Options;
use replay::session::{On, Summary, replay};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use trace::dir::Writer;

/// Runs it.
pub fn run(args: &ResourcesArgs) -> Result<Exit, Failure> {
    let temporary = Temporary::new();
    let folder = args.output.as_deref().unwrap_or(&temporary.0);
    if args.output.is_some() {
        refuse_full(folder)?;
    }
    let missing = Missing::of(folder);
    let (done, checked, validation) = write(args, folder, &missing)?;
    let text = args.format.is_none_or(|f| f == AnalyzeFormat::Text);
    if text {
        output::print(summary(args, &done, &checked).as_bytes())?;
    }
    let mut exit = Exit::Done;
    if !args.no_answers && done.written > 0 {
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
    for d in &checked.differences {
        complain(format_args!("{d}"));
    }
    if args.run.validate && !(args.check || args.read_back) {
        complain("nothing ran on a device: --validate says something with --check or --read-back");
    } else if args.run.validate {
        complain(format_args!("{} validation messages", validation.len()));
        validation.iter().take(50).for_each(detail);
    }
    Ok(if checked.different > 0 { Exit::Diverged } else { exit })
}

/// The capture, without which there are no such flags.
fn file(args: &ResourcesArgs) -> &Path {
    args.file.as_deref().expect("it is required")
}

/// Follows the capture without a device and writes all of it, what orders commands included, into a folder.
#[cfg(feature = "database")]
pub(super) fn follow(capture: &Capture, options: &Options, folder: &Path) -> Result<(), Failure> {
    let manifest = profile::manifest(capture, vec![]);
    let writer = Rc::new(RefCell::new(Writer::create(folder, manifest).map_err(Failure::new)?));
    let (hook, _) = ResourcesHook::new(profile::sink(&writer), Box::new(|_| true), None);
    let hook = hook.with_sync(Synchronisation::new(profile::sink(&writer), Box::new(|_| true)));
    let bar = progress::bytes(capture.bytes().len() as u64, "following");
    let mut told = Bar { bar: &bar, map: None, released: 0 };
    let done = replay(capture, options, On::Echo, vec![Box::new(hook)], 0, &mut told);
    bar.finish_and_clear();
    done.map_err(failure)?;
    let writer = Rc::into_inner(writer).map(RefCell::into_inner);
    writer
        .ok_or_else(|| Failure::new("a hook has kept the trace"))?
        .finish()
        .map(|_| ())
        .map_err(Failure::new)
}

/// Follows the capture and writes the trace. The last are messages of the validation layer.
fn write(
    args: &ResourcesArgs,
    folder: &Path,
    missing: &Missing,
) -> Result<(Followed, Checked, Vec<String>), Failure> {
    let capture = input::open(file(args), &args.run.reading)?;
    let mut options = options(&args.run)?;
    let on_device = args.check || args.read_back;
    if let Some(f) = &args.frames {
        if let Some(there) = there(&capture, &options.frame_by)
            && let Some(n) = self::missing(f, there)
        {
            return Err(no_such_frame(n, there));
        }
        // (what lies before the first is followed, too; and what comes after the last may want what orders things there)
        if !args.sync || on_device {
            options.frames = Some((0, f.last()));
        }
    }
    let manifest = profile::manifest(&capture, vec![]);
    let writer = Rc::new(RefCell::new(Writer::create(folder, manifest).map_err(Failure::new)?));
    let seen = Rc::new(RefCell::new(BTreeSet::new()));
    let checked = Rc::new(RefCell::new(Checked::default()));
    let plan = if on_device { Rc::new(planned(args, &capture, &options)?) } else { Rc::default() };
    let on = on_device.then(|| OnDevice {
        check: args.check,
        read_back: args.read_back,
        plan,
        spoil: args.spoil,
        spoil_writes: args.spoil_writes,
        done: checked.clone(),
    });
    let chosen = chosen(args);
    let noted = seen.clone();
    let wants = Rc::new(move |frame: u64| {
        let wanted = chosen(frame);
        if wanted {
            noted.borrow_mut().insert(frame);
        }
        wanted
    });
    let also = wants.clone();
    let (mut hook, followed) = ResourcesHook::new(profile::sink(&writer), Box::new(move |f| also(f)), on);
    if args.sync {
        hook = hook.with_sync(Synchronisation::new(profile::sink(&writer), Box::new(move |f| wants(f))));
    }
    let bar = progress::bytes(capture.bytes().len() as u64, "following");
    let mut told = Bar { bar: &bar, map: None, released: 0 };
    let on = if on_device { On::Vulkan } else { On::Echo };
    let within = hook.at_the_driver();
    let mut hooks: Vec<Box<dyn Hook>> = vec![Box::new(hook)];
    hooks.extend(within);
    let r = replay(&capture, &options, on, hooks, 0, &mut told);
    bar.finish_and_clear();
    let writer = Rc::into_inner(writer).map(RefCell::into_inner);
    let Some(mut writer) = writer else {
        // What hangs keeps its hooks, and these the trace.
        return Err(failure(
            r.err().unwrap_or_else(|| Error::new(Kind::Internal, "a hook has kept the trace")),
        ));
    };
    let summary: Summary = match r {
        Ok(s) => s,
        Err(e) => {
            writer.abandon();
            missing.take_away();
            return Err(failure(e));
        }
    };
    let manifest = writer.manifest();
    manifest.device.name = summary.gpu.unwrap_or_default();
    manifest.frames = seen.borrow().iter().copied().collect();
    writer.finish().map_err(Failure::new)?;
    let done = *followed.borrow();
    let checked = checked.borrow().clone();
    Ok((done, checked, summary.report.validation))
}

/// Whether a frame is asked for.
fn chosen(args: &ResourcesArgs) -> impl Fn(u64) -> bool + use<> {
    let frames = args.frames.clone();
    move |frame| frames.as_ref().is_none_or(|f| f.all().iter().any(|(a, b)| (*a..=*b).contains(&frame)))
}

/// What the replay has to copy, from a walk over the capture before it.
fn planned(args: &ResourcesArgs, capture: &Capture, options: &Options) -> Result<Plan, Failure> {
    let (hook, plan) = PlanHook::new(Box::new(chosen(args)), args.check);
    let bar = progress::bytes(capture.bytes().len() as u64, "looking for what to copy");
    let mut told = Bar { bar: &bar, map: None, released: 0 };
    let r = replay(capture, options, On::Echo, vec![Box::new(hook)], 0, &mut told);
    bar.finish_and_clear();
    r.map_err(failure)?;
    Ok(plan.take())
}

/// What there was, in lines.
fn summary(args: &ResourcesArgs, f: &Followed, c: &Checked) -> String {
    let mut text = format!(
        "{}: {} draws, dispatches and traces, {} in the frames asked for; {} uniform blocks, {} with bytes that are not known\n\
         device memory at most {} bytes, followed in {}\n",
        file(args).display(),
        f.invocations,
        f.written,
        f.blocks,
        f.unknown_blocks,
        f.live_bytes,
        f.held_bytes
    );
    if args.check {
        text += &format!(
            "compared with the device: {} blocks, {} bytes ({} not known): {}\n\
             at their very point: {} blocks; all those of {} of {} draws, dispatches and traces with blocks in memory, of {}\n",
            c.blocks,
            c.bytes,
            c.unknown,
            if c.different == 0 { "equal".to_owned() } else { format!("{} blocks differ", c.different) },
            c.blocks_at_point,
            c.at_point,
            c.with_blocks,
            c.invocations,
        );
        for (n, of, what) in [
            (c.storage, "compared", "blocks are storage buffers that shaders only read"),
            (c.before, "compared before their submit call", "blocks"),
            (c.behind, "compared behind their submit call", "blocks"),
            (c.in_pass, "no point", "blocks that shaders of the same render pass may write"),
            (c.again, "no point", "blocks of command buffers that run again before they could be read"),
            (c.uncopied, "no point", "blocks that could not be copied"),
            (c.between, "not compared", "blocks that their submit call writes before and behind the draw"),
            (c.later, "not compared", "blocks of command buffers that ran later than they were submitted"),
            (c.unreadable.0, "not compared", &format!("blocks ({})", c.unreadable.1)),
            (c.beyond, "not compared", "bytes of storage buffers behind their first mebibyte"),
            (
                c.by_calls,
                "nothing to compare",
                "push constants and inline uniform blocks, whose bytes are in calls",
            ),
        ] {
            if n > 0 {
                text += &format!("{of}: {n} {what}\n");
            }
        }
    }
    if args.read_back {
        text += &format!(
            "read back: {} bytes behind submit calls, {} bytes at their very point\n",
            c.read_back, c.filled
        );
    }
    text
}

/// A folder among temporary files, gone with its owner.
pub(super) struct Temporary(pub(super) PathBuf);

impl Temporary {
    pub(super) fn new() -> Self {
        Temporary(std::env::temp_dir().join(format!("reray-replay-resources-{}", std::process::id())))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // (where a folder was named, none was made)
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

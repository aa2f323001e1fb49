//! `bindings`: what a capture's draws bind and read, followed without a GPU.
//!
//! Guarantees: the trace's folder is whole, or as it was before. Refuses frames that the capture does not have.

use crate::failure::Failure;
use crate::files::folder::Missing;
use crate::files::input;
use crate::frames::{missing as missing_frame, no_such_frame, there};
use crate::how::How;
use crate::record;
use crate::replaying::{options, replay_with_bar};
use gfxr_parse::container::Capture;
use profile::hooks::resources::{Checked, Followed, OnDevice, Plan, PlanHook, ResourcesHook};
use profile::hooks::sync::Synchronisation;
use replay::hook::Hook;
use replay::options::Options;
use replay::session::On;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use trace::dir::Writer;
use trace::select::Ranges;

/// What is followed.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The capture.
    pub file: PathBuf,
    /// Only draws of these frames.
    pub frames: Option<Ranges>,
    /// Barriers, submissions and what commands access are followed, too.
    pub sync: bool,
    /// The capture is replayed, and blocks are compared with what the device has.
    pub check: bool,
    /// The capture is replayed, and what shaders write into uniform buffers is read.
    pub read_back: bool,
    /// For tests: one byte is followed wrongly.
    pub spoil: bool,
    /// For tests: nothing that shaders write is followed.
    pub spoil_writes: bool,
    /// How to replay.
    pub run: How,
}

impl Settings {
    /// A whole capture, without a device.
    pub fn of(file: PathBuf, run: How) -> Settings {
        Settings {
            file,
            frames: None,
            sync: false,
            check: false,
            read_back: false,
            spoil: false,
            spoil_writes: false,
            run,
        }
    }
}

/// What came of it.
pub struct Found {
    /// What was followed.
    pub followed: Followed,
    /// How it compares with the device.
    pub checked: Checked,
    /// Messages of the validation layer.
    pub validation: Vec<String>,
}

/// Follows an open capture without a device and writes all of it, what orders commands included, into a folder.
pub fn all(capture: &Capture, run: How, folder: &Path) -> Result<(), Failure> {
    let args = Settings { sync: true, ..Settings::of(capture.name().into(), run) };
    of_capture(&args, capture, folder).map(drop)
}

/// Follows the capture and writes the trace.
pub fn follow(args: &Settings, folder: &Path) -> Result<Found, Failure> {
    of_capture(args, &input::open(&args.file, args.run.reading)?, folder)
}

/// The same of a capture that is open.
fn of_capture(args: &Settings, capture: &Capture, folder: &Path) -> Result<Found, Failure> {
    let missing = Missing::of(folder);
    let mut options = options(&args.run)?;
    let on_device = args.check || args.read_back;
    if let Some(f) = &args.frames {
        if let Some(there) = there(capture, &options.frame_by)
            && let Some(n) = missing_frame(f, there)
        {
            return Err(no_such_frame(n, there));
        }
        // (what lies before the first is followed, too; and what comes after the last may want what orders things there)
        if !args.sync || on_device {
            options.frames = Some((0, f.last()));
        }
    }
    let manifest = record::manifest(capture, vec![]);
    let writer = Rc::new(RefCell::new(Writer::create(folder, manifest).map_err(Failure::new)?));
    let seen = Rc::new(RefCell::new(BTreeSet::new()));
    let checked = Rc::new(RefCell::new(Checked::default()));
    let plan = if on_device { Rc::new(planned(args, capture, &options)?) } else { Rc::default() };
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
    let (mut hook, followed) = ResourcesHook::new(record::sink(&writer), Box::new(move |f| also(f)), on);
    if args.sync {
        hook = hook.with_sync(Synchronisation::new(record::sink(&writer), Box::new(move |f| wants(f))));
    }
    let on = if on_device { On::Vulkan } else { On::Echo };
    let within = hook.at_the_driver();
    let mut hooks: Vec<Box<dyn Hook>> = vec![Box::new(hook)];
    hooks.extend(within);
    let done = replay_with_bar(capture, &options, on, hooks, 0, "following");
    let writer = Rc::into_inner(writer).map(RefCell::into_inner);
    let Some(mut writer) = writer else {
        // What hangs keeps its hooks, and these the trace.
        return Err(done.err().unwrap_or_else(|| Failure::new("a hook has kept the trace")));
    };
    let summary = match done {
        Ok(s) => s,
        Err(e) => {
            writer.abandon();
            missing.take_away();
            return Err(e);
        }
    };
    let manifest = writer.manifest();
    manifest.device.name = summary.gpu.unwrap_or_default();
    manifest.frames = seen.borrow().iter().copied().collect();
    writer.finish().map_err(Failure::new)?;
    let (followed, checked) = (*followed.borrow(), checked.borrow().clone());
    Ok(Found { followed, checked, validation: summary.report.validation })
}

/// Whether a frame is asked for.
fn chosen(args: &Settings) -> impl Fn(u64) -> bool + use<> {
    let frames = args.frames.clone();
    move |frame| frames.as_ref().is_none_or(|f| f.all().iter().any(|(a, b)| (*a..=*b).contains(&frame)))
}

/// What the replay has to copy, from a walk over the capture before it.
fn planned(args: &Settings, capture: &Capture, options: &Options) -> Result<Plan, Failure> {
    let (hook, plan) = PlanHook::new(Box::new(chosen(args)), args.check);
    replay_with_bar(capture, options, On::Echo, vec![Box::new(hook)], 0, "looking for what to copy")?;
    Ok(plan.take())
}

/// What there was, in lines.
pub fn summary(args: &Settings, of: &Found) -> String {
    let (f, c) = (&of.followed, &of.checked);
    let mut text = format!(
        "{}: {} draws, dispatches and traces, {} in the frames asked for; {} uniform blocks, {} with bytes that are not known\n\
         device memory at most {} bytes, followed in {}\n",
        args.file.display(),
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

//! `profile`: replays with instrumented shaders and writes what they did as a trace.
//!
//! Guarantees: the trace's folder is whole, or as it was before if nothing was measured or what frames show differs, or
//! marked as one whose writing broke off; stdout carries a summary that names
//! what was left as it was and why; frames show what they show without probes, or it is an error (exit code 5) that names
//! the pass. Refuses folders that hold something, and frames that the capture does not have.

mod checks;
mod costs;
mod geometry;
pub mod pictures;
pub mod plan;
mod replays;
mod summary;

use super::folder::{self, Missing};
use super::frames::{self, missing, no_such_frame};
use super::replaying::failure;
use crate::cli::ProfileArgs;
use crate::exit::{Exit, Failure};
use crate::{input, mmap, output};
use costs::Timing;
use gfxr_parse::container::Capture;
use pictures::{Compare, Pictures};
use profile::hooks::arm::ArmCountersHook;
use profile::hooks::call_costs::CallCostsHook;
use profile::hooks::executables::ExecutablesHook;
use profile::hooks::instrument::{self, Measurement, Plan};
use profile::passes::PASSES;
use profile::passes::drivers::{CALL_COSTS, COUNTERS, REGISTERS};
use replay::error::{Error, Kind};
use replay::hook::Hook;
use replay::vulkan::inspect::devices;
use replays::Replays;
use std::cell::RefCell;
use std::rc::Rc;
use trace::Value::U64;
use trace::dir::{Dir, Manifest, PassNote, Writer};
use trace::tables::FRAMES;

/// Runs it.
pub fn run(args: &ProfileArgs) -> Result<Exit, Failure> {
    if args.list {
        return list();
    }
    let (text, exit) = record(args)?;
    output::print(text.as_bytes())?;
    Ok(exit)
}

/// Writes the trace; what is to be said of it, and how it went.
pub fn record(args: &ProfileArgs) -> Result<(String, Exit), Failure> {
    let file = args.file.as_ref().ok_or_else(|| Failure::usage("which capture?"))?;
    let folder = args.output.as_ref().ok_or_else(|| Failure::usage("where to? -o DIR"))?;
    folder::refuse_full(folder)?;
    let capture = input::open(file, &args.run.reading)?;
    let mut options = super::replaying::options(&args.run)?;
    if let Some(f) = &args.frames {
        if let Some(there) = frames::there(&capture, &options.frame_by)
            && let Some(n) = missing(f, there)
        {
            return Err(no_such_frame(n, there));
        }
        options.frames = Some((f.all().iter().map(|r| r.0).min().unwrap_or(0), f.last()));
    }
    let plan = Rc::new(plan::plan(args, &capture)?);
    let replays = Replays { args, capture: &capture, options: &options };
    let notes = plan::notes(args, &plan);
    let missing = Missing::of(folder);
    let writer = Writer::create(folder, manifest(&capture, notes)).map_err(Failure::new)?;
    let writer = Rc::new(RefCell::new(writer));
    let verify = pictures::wanted(&replays);
    let measured = measure(args, &replays, &plan, &writer, verify);
    let Some(mut writer) = Rc::into_inner(writer).map(RefCell::into_inner) else {
        // What hangs keeps its hooks, and these the trace: it stays, as far as it is written.
        return Err(measured.err().unwrap_or_else(|| Failure::new("a hook has kept the trace")));
    };
    let abandon = |writer: Writer, why: Failure| {
        writer.abandon();
        missing.take_away();
        why
    };
    let (outcome, taken, timing) = match measured {
        Ok(measured) => measured,
        Err(e) if writer.is_empty() => return Err(abandon(writer, e)),
        Err(e) => return Err(e),
    };
    let mut without = None;
    if let Some(compare) = verify {
        let one = |pass: &str| plan::only(args, pass, &capture);
        let judged = pictures::plain(&replays, compare, true).map_err(failure).and_then(|(plain, timing)| {
            without = timing;
            pictures::judge(&replays, compare, &plain, &taken, &plan::names(args), &one)
        });
        if let Err(e) = judged {
            return Err(abandon(writer, e));
        }
    }
    let manifest = writer.manifest();
    manifest.cost = without.as_ref().and_then(|w| costs::of_a_frame(w, &timing, &outcome));
    manifest.other_costs = costs::others(without.as_ref(), &timing, &plan.variants);
    let costs: Vec<_> = manifest.cost.iter().chain(&manifest.other_costs).map(costs::line).collect();
    finish(&mut writer, &plan, &outcome);
    instrument::tables::originals(&folder.join("shaders"), &outcome.done).map_err(Failure::new)?;
    writer.finish().map_err(Failure::new)?;
    let trace = Dir::open_with(folder, mmap::open_plain).map_err(Failure::new)?;
    let (checked, failed) = checks::ask(&trace)?;
    let rays: Vec<String> = checks::rays(&trace)?.into_iter().collect();
    let text = summary::text(&capture, folder, &outcome, &[costs, rays, checked].concat());
    let exit = summary::judge(args, &outcome);
    let exit = match checks::judge(&failed) {
        Exit::Done => exit,
        failed => failed,
    };
    Ok((text, exit))
}

fn list() -> Result<Exit, Failure> {
    let width = PASSES.iter().map(|p| p.name.len()).max().unwrap_or(0);
    let mut out = output::Output::create(None)?;
    for p in PASSES {
        out.write(format!("{:width$}  {}\n", p.name, p.about).as_bytes())?;
    }
    out.finish()?;
    Ok(Exit::Done)
}

/// As many replays with the plan's shaders as it takes, and the pictures and times of the first.
fn measure(
    args: &ProfileArgs,
    replays: &Replays<'_>,
    plan: &Rc<Plan>,
    writer: &Rc<RefCell<Writer>>,
    verify: Option<Compare>,
) -> Result<(Measurement, Pictures, Timing), Failure> {
    let (mut taken, mut times) = (Pictures::new(), None);
    let mut notes = Rc::default();
    let outcome = instrument::measure(plan, args.max_log_bytes, writer, &mut |session, hook| {
        let mut hooks = vec![hook];
        let again = session.windows.is_some();
        if !again {
            notes = drivers(plan, writer, &mut hooks);
            times = Some(Timing::of(&mut hooks));
        }
        let what = if again { "measuring what the log did not hold" } else { "measuring" };
        let pictures = verify.filter(|_| !again).map(|compare| {
            let (hook, pictures) = pictures::hook(replays, compare);
            hooks.push(hook);
            pictures
        });
        let summary = replays.once(session.bounds(), hooks, what)?;
        if let Some(p) = pictures {
            taken = p.take();
        }
        match writer.borrow().failed() {
            None => Ok(summary),
            Some(e) => Err(Error::new(Kind::Internal, e.to_string())),
        }
    });
    let mut outcome = outcome.map_err(failure)?;
    outcome.done.notes.extend(notes.take());
    if geometry::wanted(args, plan) {
        geometry::read(replays, plan, sink(writer))?;
    }
    let times = times.ok_or_else(|| Failure::new("there was no replay"))?;
    Ok((outcome, taken, times))
}

/// Takes rows for the trace.
pub type Put = Box<dyn FnMut(&'static trace::Table, &[trace::Value<'_>]) -> replay::error::Result<()>>;

/// What hooks write rows with.
pub fn sink(writer: &Rc<RefCell<Writer>>) -> Put {
    let writer = writer.clone();
    Box::new(move |table, values| {
        let mut writer = writer.borrow_mut();
        writer.put(table, values);
        match writer.failed() {
            None => Ok(()),
            Some(e) => Err(Error::new(Kind::Internal, e.to_string())),
        }
    })
}

/// What the driver measures by itself; and what that has to say at the end.
fn drivers(
    plan: &Rc<Plan>,
    writer: &Rc<RefCell<Writer>>,
    hooks: &mut Vec<Box<dyn Hook>>,
) -> Rc<RefCell<Vec<String>>> {
    let passes = plan.variants.passes();
    let untouched = |name: &str| {
        passes.iter().any(|p| p.name() == name && profile::Stage::ALL.iter().all(|s| p.needs(*s).is_none()))
    };
    let mut notes = Rc::default();
    if untouched(COUNTERS) {
        let plan = plan.clone();
        let (hook, said) = ArmCountersHook::new(sink(writer), Box::new(move |frame| plan.wants_frame(frame)));
        hooks.push(Box::new(hook));
        notes = said;
    }
    if untouched(REGISTERS) {
        let instrumented = profile::Stage::ALL.iter().any(|s| plan.wants_stage(*s));
        hooks.push(Box::new(ExecutablesHook::new(sink(writer), instrumented)));
    }
    if untouched(CALL_COSTS) {
        hooks.push(Box::new(CallCostsHook::new(sink(writer))));
    }
    notes
}

/// What the trace of a capture says of it.
pub fn manifest(capture: &Capture, passes: Vec<PassNote>) -> Manifest {
    let name = std::path::Path::new(capture.name()).file_name().unwrap_or_default();
    Manifest {
        program: format!("reray-replay {}", env!("CARGO_PKG_VERSION")),
        capture: trace::dir::Capture {
            name: name.to_string_lossy().into_owned(),
            size_bytes: capture.bytes().len() as u64,
            blake3: blake3::hash(capture.bytes()).to_hex().to_string(),
        },
        passes,
        ..Manifest::default()
    }
}

/// What is known at the end alone.
fn finish(writer: &mut Writer, plan: &Plan, o: &Measurement) {
    let size = u64::from(o.done.subgroup_size);
    for (frame, m) in &o.frames {
        let row = [*frame, size, m.size.0.into(), m.size.1.into(), m.wanted, m.lost];
        writer.put(&FRAMES, &row.map(U64));
    }
    instrument::tables::write(plan, &o.done, writer);
    let manifest = writer.manifest();
    manifest.device.name = o.summary.gpu.clone().unwrap_or_default();
    let known = devices().unwrap_or_default();
    let device = known.into_iter().find(|d| d.name == manifest.device.name);
    manifest.device.driver = device.map(|d| d.driver.trim().to_owned()).unwrap_or_default();
    manifest.device.subgroup_size = o.done.subgroup_size;
    manifest.frames = o.frames.keys().copied().collect();
    manifest.notes.extend(summary::left_alone(&o.done));
    manifest.notes.extend(o.done.notes.iter().cloned());
}

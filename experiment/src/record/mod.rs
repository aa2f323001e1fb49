//! `profile`: replays with instrumented shaders and writes what they did as a trace (`settings`: what is asked for; `plan`: what that means
//! for passes).
//!
//! Guarantees: the trace's folder is whole, or as it was before if nothing was measured, or
//! marked as one whose writing broke off; the summary names
//! what was left as it was and why; where frames show something else than without probes the trace says so, and beyond
//! `--image-tolerance` it is an error (exit code 5) that names the pass. Refuses folders that hold something, and frames that
//! the capture does not have.

mod checks;
mod geometry;
mod pictures;
pub mod plan;
mod replays;
mod settings;
mod summary;

pub use settings::{Counted, Settings};

use crate::driver_caches;
use crate::failure::{Exit, Failure};
use crate::files::folder::{self, Missing};
use crate::files::{input, mmap};
use crate::frames::{self, missing, no_such_frame};
use crate::replaying::failure;
use crate::say::complain;
use analyses::report::text::described;
use gfxr_parse::container::Capture;
use profile::costs::{self, Times, Timing};
use profile::hooks::arm::ArmCountersHook;
use profile::hooks::call_costs::CallCostsHook;
use profile::hooks::executables::ExecutablesHook;
use profile::hooks::first_run::FirstRun;
use profile::hooks::instrument::{self, Measurement, Plan};
use profile::passes::PASSES;
use profile::passes::drivers::{CALL_COSTS, COUNTERS, REGISTERS};
use profile::pictures::{Asked, Pictures};
use replay::error::{Error, Kind};
use replay::frames::last_submit;
use replay::hook::Hook;
use replay::session::prologue;
use replay::vulkan::inspect::devices;
use replays::{Replays, Taken};
use std::cell::RefCell;
use std::rc::Rc;
use trace::Value::U64;
use trace::dir::{Dir, Manifest, PassNote, Writer};
use trace::tables::FRAMES;

/// What came of a profile.
pub struct Recorded {
    /// What is to be said of the trace.
    pub text: String,
    /// How it went.
    pub exit: Exit,
    /// What frames show that differs beyond the tolerance.
    pub differs: Option<String>,
}

/// Writes the trace.
pub fn record(args: &Settings) -> Result<Recorded, Failure> {
    let args = &plan::with_questions(args)?;
    let (file, folder) = (&args.file, &args.output);
    folder::refuse_full(folder)?;
    let capture = input::open(file, args.run.reading)?;
    let mut options = crate::replaying::options(&args.run)?;
    crate::replaying::changes(&args.changes)?;
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
    let (last, why) = match verify.is_some() {
        true => again(&replays, &plan),
        false => (None, String::new()),
    };
    let measured = measure(&replays, &plan, &writer, verify.as_ref(), last);
    let Some(mut writer) = Rc::into_inner(writer).map(RefCell::into_inner) else {
        // What hangs keeps its hooks, and these the trace: it stays, as far as it is written.
        return Err(measured.err().unwrap_or_else(|| Failure::new("a hook has kept the trace")));
    };
    let abandon = |writer: Writer, why: Failure| {
        writer.abandon();
        missing.take_away();
        why
    };
    let (outcome, taken) = match measured {
        Ok(measured) => measured,
        Err(e) if writer.is_empty() => return Err(abandon(writer, e)),
        Err(e) => return Err(e),
    };
    let (mut without, mut verdict) = (None, None);
    if let Some(asked) = &verify {
        let judged = plain(&replays, asked, last).and_then(|(plain, times)| {
            without = Some(times);
            pictures::judge(&replays, asked, &plain, &taken)
        });
        match judged {
            Err(e) => return Err(abandon(writer, e)),
            Ok(v) => verdict = Some(v),
        }
    }
    verdict.iter().flat_map(|v| v.remarks()).for_each(complain);
    let manifest = writer.manifest();
    manifest.pictures = verdict.as_ref().map(pictures::note);
    manifest.notes.extend(verdict.as_ref().and_then(pictures::mark));
    let times: Vec<Times> = taken.into_iter().map(|t| t.times).collect();
    manifest.cost = without.as_ref().and_then(|w| costs::of_a_frame(w, &times, &why));
    manifest.other_costs = costs::others(without.as_ref(), &times, &driver_caches::said(), &plan.variants);
    let costs: Vec<_> = manifest.cost.iter().chain(&manifest.other_costs).map(costs::line).collect();
    let changes: Vec<String> = args.changes.iter().map(ToString::to_string).collect();
    if !changes.is_empty() {
        writer.manifest().notes.push(format!("Replayed with calls changed: {}.", changes.join(", ")));
    }
    finish(&mut writer, &plan, &outcome);
    instrument::tables::originals(&folder.join("shaders"), &outcome.done).map_err(Failure::new)?;
    writer.finish().map_err(Failure::new)?;
    let trace = Dir::open_with(folder, mmap::open_plain).map_err(Failure::new)?;
    let answers = checks::ask(&trace, &args.passes.0, &args.ask)?;
    let rays: Vec<String> = checks::rays(&trace)?.into_iter().collect();
    let near = verdict.as_ref().filter(|v| !v.failed()).and_then(pictures::mark).into_iter().collect();
    let more = [costs, near, rays, answers.said].concat();
    let text = summary::text(&capture, folder, &outcome, &answers.headlines, &more);
    let others = plan.variants.passes().iter().any(|p| untouched(&**p));
    let only_probes = !others && !geometry::wanted(args, &plan);
    let exit = summary::judge(args, only_probes, &outcome);
    let exit = match checks::judge(&answers.failed) {
        Exit::Done => exit,
        failed => failed,
    };
    let differs = verdict.filter(|v| v.failed()).and_then(|v| v.first("without probes"));
    let exit = if differs.is_some() { Exit::Diverged } else { exit };
    Ok(Recorded { text, exit, differs })
}

/// The frame that runs again to be timed, the last that is measured; or why none does.
fn again(replays: &Replays<'_>, plan: &Plan) -> (Option<u64>, String) {
    let (args, by) = (replays.args, &replays.options.frame_by);
    let why = |text: &str| (None, text.to_owned());
    if args.run.breadcrumbs || args.run.validate {
        return why("with --breadcrumbs and --validate no frame runs again");
    }
    if plan.variants.passes().iter().any(|p| untouched(&**p)) {
        return why("no frame runs again where the driver itself measures");
    }
    let there = || {
        frames::there(replays.capture, by)
            .map(|t| t.1)
            .or_else(|| last_submit(by, replays.capture, prologue(replays.capture).1))
    };
    match args.frames.as_ref().map(|f| f.last()).filter(|n| *n != u64::MAX).or_else(there) {
        // (its time says nothing of probes that it does not run)
        Some(frame)
            if frames::work(replays.capture, &args.run, frame, None).is_ok_and(|w| w.actions.is_empty()) =>
        {
            why(&format!(
                "frame {frame}, the last that is measured, has no draws, dispatches and traces; --frames names others"
            ))
        }
        Some(frame) => (Some(frame), String::new()),
        None => why("which frame is the last is not known; --frames says it"),
    }
}

/// Pictures and times of a replay without probes.
fn plain(replays: &Replays<'_>, asked: &Asked, last: Option<u64>) -> Result<(Pictures, Times), Failure> {
    let (hook, pictures) = asked.taker();
    let mut hooks: Vec<Box<dyn Hook>> = vec![Box::new(FirstRun(hook))];
    let timing = Timing::of(&mut hooks);
    let summary = replays.timed(last, hooks, "replaying without probes").map_err(failure)?;
    Ok((pictures.take(), timing.taken(summary.looped.as_ref())))
}

/// The passes that there are, in so many columns.
pub fn list(within: Option<usize>) -> String {
    described(PASSES.iter().map(|p| (p.name, p.about.to_owned())), within)
}

/// As many replays with the plan's shaders as it takes, and what is kept of those that do not run anything again.
fn measure(
    replays: &Replays<'_>,
    plan: &Rc<Plan>,
    writer: &Rc<RefCell<Writer>>,
    verify: Option<&Asked>,
    last: Option<u64>,
) -> Result<(Measurement, Vec<Taken>), Failure> {
    let args = replays.args;
    let mut all = vec![];
    let mut notes = Rc::default();
    let outcome = instrument::measure(plan, args.max_log_bytes, writer, &mut |session, hook| {
        let mut hooks = vec![hook];
        let summary = if session.again {
            replays.once(session.bounds(), hooks, "measuring what the log did not hold")?
        } else {
            if session.windows.is_none() {
                notes = drivers(plan, writer, &mut hooks);
            }
            let pictures = verify.map(|asked| {
                let (hook, pictures) = asked.taker();
                hooks.push(Box::new(FirstRun(hook)));
                pictures
            });
            let timing = Timing::of(&mut hooks);
            // (without a replay that has no probes there is nothing to hold a time against)
            let summary = replays.timed(last.filter(|_| verify.is_some()), hooks, "measuring")?;
            all.push(Taken {
                replay: session.replay,
                pictures: pictures.map_or_else(Pictures::new, |p| p.take()),
                times: timing.taken(summary.looped.as_ref()),
            });
            summary
        };
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
    Ok((outcome, all))
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

/// Whether a pass leaves every shader as it is: others than probes measure for it.
fn untouched(pass: &dyn profile::Pass) -> bool {
    profile::Stage::ALL.iter().all(|s| pass.needs(*s).is_none())
}

/// What the driver measures by itself; and what that has to say at the end.
fn drivers(
    plan: &Rc<Plan>,
    writer: &Rc<RefCell<Writer>>,
    hooks: &mut Vec<Box<dyn Hook>>,
) -> Rc<RefCell<Vec<String>>> {
    let passes = plan.variants.passes();
    let untouched = |name: &str| passes.iter().any(|p| p.name() == name && untouched(&**p));
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

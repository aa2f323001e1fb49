//! `profile`: replays with instrumented shaders and writes what they did as a trace.
//!
//! Guarantees: the trace's folder is whole, or marked as one whose writing broke off; stdout carries a summary that names
//! what was left as it was and why. Refuses folders that hold something, and frames that the capture does not have.

pub mod plan;
mod summary;

use super::frames::{self, missing, no_such_frame};
use super::replay::{Bar, breadcrumbs, failure};
use crate::cli::ProfileArgs;
use crate::exit::{Exit, Failure};
use crate::{input, output, progress};
use gfxr_parse::container::Capture;
use profile::hooks::instrument::{self, Done, InstrumentHook, Plan, Raw};
use profile::passes::PASSES;
use replay::error::{Error, Kind};
use replay::hook::Hook;
use replay::options::Options;
use replay::session::{On, Summary, replay};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use trace::Value::U64;
use trace::dir::{Manifest, PassNote, Writer};
use trace::tables::FRAMES;

/// What was measured of a frame beside its records.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    size: (u32, u32),
    wanted: u64,
    lost: u64,
}

/// What a run came to.
pub struct Outcome {
    summary: Summary,
    done: Done,
    frames: BTreeMap<u64, Measured>,
}

/// Runs it.
pub fn run(args: &ProfileArgs) -> Result<Exit, Failure> {
    if args.list {
        return list();
    }
    let file = args.file.as_ref().ok_or_else(|| Failure::usage("which capture?"))?;
    let folder = args.output.as_ref().ok_or_else(|| Failure::usage("where to? -o DIR"))?;
    plan::refuse_full(folder)?;
    let capture = input::open(file)?;
    let mut options = super::replay::options(&args.run)?;
    if let Some(f) = &args.frames {
        if let Some(there) = frames::there(&capture, &options.frame_by)
            && let Some(n) = missing(f, there)
        {
            return Err(no_such_frame(n, there));
        }
        options.frames = Some((f.all().iter().map(|r| r.0).min().unwrap_or(0), f.last()));
    }
    let plan = Rc::new(plan::plan(args, &capture)?);
    let notes = plan::notes(args, &plan);
    let writer = Writer::create(folder, manifest(&capture, notes)).map_err(Failure::new)?;
    let writer = Rc::new(RefCell::new(writer));
    let outcome = measure(args, &capture, &options, &plan, &writer)?;
    let mut writer = Rc::into_inner(writer).expect("the hook is gone").into_inner();
    finish(&mut writer, &plan, &outcome);
    instrument::tables::originals(&folder.join("shaders"), &outcome.done).map_err(Failure::new)?;
    writer.finish().map_err(Failure::new)?;
    let text = summary::text(&capture, folder, &outcome);
    let mut out = output::Output::create(None)?;
    out.write(text.as_bytes())?;
    out.finish()?;
    Ok(summary::judge(args, &outcome))
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

/// One replay with the plan's shaders.
fn measure(
    args: &ProfileArgs,
    capture: &Capture,
    options: &Options,
    plan: &Rc<Plan>,
    writer: &Rc<RefCell<Writer>>,
) -> Result<Outcome, Failure> {
    let measured = Rc::new(RefCell::new(BTreeMap::new()));
    let take = {
        let (plan, writer, measured) = (plan.clone(), writer.clone(), measured.clone());
        move |mut raw: Raw, done: &Done| {
            let m = Measured { size: raw.size, wanted: raw.wanted, lost: raw.lost };
            measured.borrow_mut().insert(raw.frame, m);
            if raw.lost > 0 {
                // What is there has holes.
                raw.words.clear();
            }
            let mut writer = writer.borrow_mut();
            instrument::decode(plan.variants.passes(), &raw, done, &mut *writer)
                .map_err(|e| Error::new(Kind::Internal, e.to_string()))?;
            match writer.failed() {
                None => Ok(()),
                Some(e) => Err(Error::new(Kind::Internal, e.to_string())),
            }
        }
    };
    let (hook, done) = InstrumentHook::new(plan.clone(), Box::new(take));
    let mut hooks: Vec<Box<dyn Hook>> = vec![Box::new(hook)];
    breadcrumbs(&args.run, &mut hooks);
    let bar = progress::bytes(capture.bytes().len() as u64, "measuring");
    let mut told = Bar { bar: &bar, map: None, released: 0 };
    let summary = replay(capture, options, On::Vulkan, hooks, 0, &mut told);
    bar.finish_and_clear();
    let summary = summary.map_err(failure)?;
    let (done, frames) = (done.take(), measured.take());
    Ok(Outcome { summary, done, frames })
}

fn manifest(capture: &Capture, passes: Vec<PassNote>) -> Manifest {
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
fn finish(writer: &mut Writer, plan: &Plan, o: &Outcome) {
    let size = u64::from(o.done.subgroup_size);
    for (frame, m) in &o.frames {
        let row = [*frame, size, m.size.0.into(), m.size.1.into(), m.wanted, m.lost];
        writer.put(&FRAMES, &row.map(U64));
    }
    instrument::tables::write(plan, &o.done, writer);
    let manifest = writer.manifest();
    manifest.device.name = o.summary.gpu.clone().unwrap_or_default();
    manifest.device.subgroup_size = o.done.subgroup_size;
    manifest.frames = o.frames.keys().copied().collect();
    manifest.notes.extend(summary::left_alone(&o.done));
}

//! `study rays`: what repacking a frame's launches does to its time and its SIMT efficiency, method by method (Cheung, §3.4).
//!
//! It is a run of `bench` with the thesis's plans (`plans`), and beside it what no run has: how full subgroups are with each swizzle
//! in force, which proves as well that the frame shows the same, maps of where and when invocations run (`maps`), how all turns'
//! times lie, and the verdicts of `compare`, process by process of those that were alive together.
//!
//! ```text
//! run/                        the run (docs/runs.md)
//! report.txt, report.json     the tables, as text and as JSON
//! TABLE.csv                   verdicts, times, percentiles, bands, efficiency, clocks
//! turns.csv                   every turn: position, process, turn, plan, whether it is timed, nanoseconds
//! FIGURE.svg, FIGURE.png      simt_efficiency, plans_violins, plans_in_order
//! rays/, efficiency/PLAN/     the traces
//! ```
//!
//! Guarantees: the folder is there whole or not at all; the same seed gives the same order and swizzles; every turn's picture is compared
//! with its process's first one, all processes' with each other, and plans' with the application's own, as near as
//! `--image-tolerance` wants it: one that differs is an error (exit code 5). Refuses folders that hold something.

mod efficiency;
mod maps;

use crate::bench::{Measured, Settings, differs, measure_and_keep, traces};
use crate::failure::{Exit, Failure};
use crate::files::folder::{self, refuse_full};
use crate::files::input;
use crate::files::output::write_file;
use crate::how::How;
use crate::interrupt::Interrupt;
use crate::page::plots::of_report;
use crate::progress;
use analyses::rays::repack::METHODS;
use analyses::report::{Cell, Column, Cost, Report, Table, Unit, csv, json, text};
use analyses::times::bench::{About, IDENTITY, UNMODIFIED, plans as described, report};
use analyses::verdict::compare::{Wanted, compare};
use analyses::verdict::{Ask, Metric, export};
use profile::pictures::Tolerance;
use replay::vulkan::inspect::able;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use trace::plan::{Passes, Plan, Use};
use trace::run::Run;

/// The least change that matters, and the greatest p that is significant, as `compare` has them.
const ASK: Ask = Ask { effect: 0.02, alpha: 0.01 };
/// The feature that pass ser needs.
const REORDERS: &str = "rayTracingInvocationReorder";

/// What is studied.
#[derive(Clone, Debug)]
pub struct Rays {
    /// The capture.
    pub file: PathBuf,
    /// The frame, which is looped.
    pub frame: u64,
    /// Methods of repacking, if not all.
    pub method: Option<Passes>,
    /// Other plans.
    pub plan: Vec<Plan>,
    /// Processes of each plan.
    pub processes: u32,
    /// Timed turns of each process.
    pub iterations: u32,
    /// Turns at most before times have settled.
    pub warmup: u32,
    /// Where random numbers begin.
    pub seed: u64,
    /// A trace whose rays swizzles are made of, instead of recording them.
    pub trace: Option<PathBuf>,
    /// Maps are drawn.
    pub maps: bool,
    /// Actual SIMT efficiency is not counted.
    pub no_efficiency: bool,
    /// By how much pictures may differ.
    pub image_tolerance: Tolerance,
    /// Subgroup operations are taken for granted.
    pub assume_subgroups: bool,
    /// How to replay.
    pub run: How,
}

/// Studies it, into a new folder.
pub fn study(args: &Rays, output: &Path) -> Result<(Report, Exit), Failure> {
    refuse_full(output)?;
    folder::whole(output, |part| rays(args, part))
}

/// The plans, and what is to be said of them.
fn plans(args: &Rays) -> (Vec<Plan>, Vec<String>) {
    let none = args.method.as_ref().is_some_and(|m| m.0.iter().all(|m| m.name == "none"));
    let mut methods = match &args.method {
        _ if none => vec![],
        Some(methods) => methods.0.clone(),
        None => METHODS.iter().map(|m| Use::new(m.name(), [""; 0])).collect(),
    };
    match methods.iter().position(|m| m.name == IDENTITY) {
        Some(at) => methods[..=at].rotate_right(1),
        None if none => {}
        None => methods.insert(0, Use::new(IDENTITY, [""; 0])),
    }
    let mut all = vec![Plan::named(UNMODIFIED)];
    for method in &methods {
        let alone = methods.iter().filter(|m| m.name == method.name).count() == 1;
        let name = if alone { method.name.clone() } else { method.to_string() };
        all.push(Plan { method: Some(method.clone()), ..Plan::named(name) });
    }
    let mut notes = vec![];
    if !none {
        if able(args.run.gpu.as_deref(), REORDERS).unwrap_or(false) {
            for (name, options) in [("ser", vec![]), ("ser-still", vec!["reorder=no"])] {
                all.push(Plan { passes: Passes(vec![Use::new("ser", options)]), ..Plan::named(name) });
            }
        } else {
            notes.push("There is no plan ser: the device does not reorder invocations.".into());
        }
    }
    all.extend(args.plan.iter().cloned());
    (all, notes)
}

/// Everything, into a folder.
fn rays(args: &Rays, to: &Path) -> Result<(Report, Exit), Failure> {
    let (plans, mut notes) = plans(args);
    let mut settings = Settings {
        processes: Some(args.processes),
        iterations: Some(args.iterations),
        warmup: Some(args.warmup),
        seed: args.seed,
        assume_subgroups: args.assume_subgroups,
        image_tolerance: args.image_tolerance,
        rays: args.trace.clone(),
        ..Settings::of_frame(&args.file, args.frame, plans, &args.run)
    };
    crate::bench::check(&settings)?;
    if settings.rays.is_none() && settings.plans.iter().any(|p| p.method.is_some()) {
        progress::step("recording rays");
        let trace = to.join("rays");
        let frames = (args.frame, args.frame);
        traces::record(&settings, &args.file, &[Use::new("rays", [""; 0])], frames, &trace)?;
        settings.rays = Some(trace);
    }
    // (before the first process there is nothing to keep)
    let mut interrupt = Interrupt::default();
    let measured = measure_and_keep(&settings, &to.join("run"), || {
        interrupt = Interrupt::listen("it ends, and tells what processes have measured to their end");
        interrupt.clone()
    })?;
    let (run, prepared) = (&measured.run, &measured.prepared[0]);
    let mut all = described(run, 0);
    all.iter_mut().zip(prepared).for_each(|(plan, of)| plan.synthetic = of.synthetic);
    for (n, plan) in all.iter_mut().enumerate() {
        let swizzles = &prepared[n].swizzles;
        if !args.no_efficiency && !interrupt.asked() && (plan.name == UNMODIFIED || !swizzles.is_empty()) {
            progress::step(&format!("counting SIMT efficiency: {}", plan.name));
            let folder = to.join("efficiency").join(maps::plain(&plan.name));
            let (actual, said) = match efficiency::actual(&settings, args.frame, swizzles, &folder) {
                Err(_) if interrupt.asked_by_now() => break,
                found => found?,
            };
            plan.actual = actual;
            notes.extend(said.into_iter().filter(|n| !notes.contains(n)).collect::<Vec<_>>());
        }
    }
    let counted = !args.no_efficiency && !interrupt.asked();
    let compared = match said(args, &settings, (&measured, counted), to) {
        Err(_) if interrupt.asked_by_now() => vec![],
        found => found?,
    };
    notes.splice(0..0, compared);
    let drawn = match args.maps && !interrupt.asked() {
        true => match maps::maps(&settings, args.frame, run, prepared, to) {
            Err(_) if interrupt.asked_by_now() => None,
            found => Some(found?),
        },
        false => None,
    };
    if interrupt.asked() {
        notes.push("It was interrupted: processes that had measured to their end are told, and what comes behind them is missing.".into());
    }
    let cost = Cost::Unknown {
        why: "a pair of timestamps stands around each submission, in all plans alike; actual efficiency is counted in \
              other replays than those that are timed"
            .into(),
    };
    let mut report = report(&About { frame: args.frame, notes, cost }, &all);
    let (verdicts, judged) = verdicts(run)?;
    report.tables.splice(0..0, verdicts);
    report.notes.extend(judged);
    if let Some((table, notes)) = drawn {
        report.tables.push(table);
        report.notes.extend(notes);
    }
    let other = crate::bench::report(run);
    report.tables.extend(other.tables.into_iter().filter(|t| t.name == "refused"));
    report.notes.extend(other.notes);
    write(to, &report, run)?;
    Ok((
        report,
        match (run.note.refused.is_empty(), interrupt.asked()) {
            (false, _) => Exit::Diverged,
            (true, true) => Exit::Failed,
            (true, false) => Exit::Done,
        },
    ))
}

/// What `compare` says of each plan against the application's own shaders, and against identity.
fn verdicts(run: &Run) -> Result<(Option<Table>, Vec<String>), Failure> {
    let (mut table, mut notes): (Option<Table>, Vec<String>) = (None, vec![]);
    for against in [UNMODIFIED, IDENTITY] {
        let others = run.note.plans.iter().filter(|p| p.name != against).count();
        if others == 0 || run.note.plans.iter().all(|p| p.name != against) {
            continue;
        }
        let wanted = Wanted {
            metrics: vec![Metric::Median, Metric::Mean],
            ask: ASK,
            clock: None,
            against: Some(against.into()),
            plans: vec![],
            force: false,
        };
        let judged = export::report(&compare(run, run, &wanted).map_err(Failure::new)?);
        let captures = judged.tables.into_iter().find(|t| t.name == "captures");
        match (&mut table, captures) {
            (Some(table), Some(more)) => table.rows.extend(more.rows),
            (None, more) => table = more.map(|t| Table { name: "verdicts".into(), ..t }),
            _ => {}
        }
        notes.extend(judged.notes.into_iter().filter(|n| !notes.contains(n)).collect::<Vec<_>>());
    }
    Ok((table, notes))
}

/// What was compared; fails where a plan shows something else than the application's own shaders.
fn said(
    args: &Rays,
    settings: &Settings,
    (measured, counted): (&Measured, bool),
    to: &Path,
) -> Result<Vec<String>, Failure> {
    let note = &measured.run.note;
    let mut notes = vec![format!(
        "{} turns of each of {} processes a plan, in an order of seed {}, behind those that warmed up; everything that the frame \
         changes was put back before each turn.",
        args.iterations,
        note.workers.iter().filter(|w| w.plan == 0).count(),
        args.seed
    )];
    let shown = |plan: usize| note.workers.iter().find(|w| w.plan == plan).map(|w| &w.hashes[..]);
    let first = shown(0).unwrap_or_default();
    if first.is_empty() {
        notes.push(
            "Every turn leaves in memory what the first one of its process left (nothing is presented)."
                .into(),
        );
    } else {
        let mut near = vec![];
        for (n, plan) in note.plans.iter().enumerate().filter(|p| shown(p.0) != Some(first)) {
            let capture = input::open(&args.file, args.run.reading)?;
            let passes = &measured.prepared[0][n].passes;
            if let Some(why) =
                differs(settings, (&args.file, &capture), plan, passes, &to.join("run/made/0"))?
            {
                let text = format!(
                    "the frame does not present the same image under plan {} and without: {why}",
                    plan.name
                );
                return Err(Failure::with(Exit::Diverged, text));
            }
            near.push(plan.name.as_str());
        }
        let hash = &first[0][..first[0].len().min(16)];
        notes.push(match &near[..] {
            [] => format!("Every turn of every plan presents the same image: {hash}."),
            near => format!(
                "Every turn of a plan presents the same image; those of {} differ from the application's own, {hash}, within \
                 the tolerance ({}).",
                near.join(" and of "),
                args.image_tolerance
            ),
        });
    }
    notes.extend(note.plans.iter().any(|p| p.method.is_some()).then(|| match counted {
        true => format!(
            "With each swizzle the frame shows, or leaves in memory, what it does without: compared while efficiency was \
             counted, within --image-tolerance {}.",
            args.image_tolerance
        ),
        false => "What each swizzle leaves where nothing is presented was not compared: efficiency was not counted for each."
            .into(),
    }));
    Ok(notes)
}

/// Writes all of it but what is there already.
fn write(to: &Path, report: &Report, run: &Run) -> Result<(), Failure> {
    let put = |name: &str, bytes: &[u8]| write_file(&to.join(name), bytes);
    put("report.txt", text::render(report).as_bytes())?;
    put("report.json", json::render(report).as_bytes())?;
    for table in report.sheets() {
        put(&format!("{}.csv", maps::plain(&table.name)), csv::render(&table).as_bytes())?;
    }
    put("turns.csv", csv::render(&turns(run)).as_bytes())?;
    of_report(to, report, maps::plain, &mut HashSet::new())?;
    Ok(())
}

/// A row a turn, in the order in which they ran.
fn turns(run: &Run) -> Table {
    let mut frames: Vec<_> = run.frames.iter().collect();
    frames.sort_by_key(|f| f.position);
    let columns = ["position", "process", "turn"].map(|n| Column::new(n, Unit::Count)).into_iter();
    let rest = [("plan", Unit::Text), ("timed", Unit::Count), ("gpu", Unit::Nanoseconds)];
    let rows = frames.iter().map(|f| {
        let w = &run.note.workers[f.worker];
        vec![
            Cell::Count(f.position),
            Cell::Count(w.process.into()),
            Cell::Count(f.turn),
            run.note.plans[w.plan].name.as_str().into(),
            Cell::Count(f.timed.into()),
            f.gpu.map_or(Cell::Missing, |n| Cell::Count(n.0)),
        ]
    });
    Table {
        name: "turns".into(),
        columns: columns.chain(rest.map(|(n, unit)| Column::new(n, unit))).collect(),
        rows: rows.collect(),
    }
}

//! `bench`: what repacking a frame's launches does to its time and its SIMT efficiency, method by method (Cheung, §3.4), in one
//! command.
//!
//! One profile records the frame's rays; every method makes swizzles of them (`swizzles`); with each in force a profile counts
//! how full subgroups are, and proves that the frame shows the same (`traces`). Then all plans run in turn, each round in
//! another order (`order`): two replays that loop the frame in this process, one with the application's own shaders, one with
//! swizzled ones whose table is written anew between iterations (`session`). What comes of it is a folder (`out`).
//!
//! Guarantees: the folder is there whole or not at all; the same seed gives the same order, swizzles and figures but for times;
//! every iteration's image is compared with the first one's, and plans' images with each other, as near as `--image-tolerance`
//! wants it. Refuses folders that hold something.
//!
//! With `--ab` the plans are passes that change shaders for what was seen of them, and descriptors in other sets; there are no
//! swizzles (`learnt`), and what calls that record and bind cost the CPU is timed, too. Those that do not
//! show the same are refused; the folder is there all the same, and the run has diverged.
//!
//! With `--maps` times and places of invocations are drawn for plans side by side (`maps`).

mod learnt;
mod machine;
pub mod many;
mod maps;
mod nvml;
mod order;
mod out;
mod plan;
mod session;
mod swizzles;
mod traces;
pub mod worker;

use crate::cli::BenchArgs;
use crate::commands::folder::{self, refuse_full};
use crate::commands::frames::{self, no_such_frame};
use crate::commands::replaying::options;
use crate::exit::{Exit, Failure};
use crate::{input, output, progress};
use analyses::bench::{About, Calls, Plan, UNMODIFIED, report};
use analyses::report::{Cost, Report, json, text};
use order::{Turn, order};
use plan::{How, With, of_plan, with};
use profile::hooks::busy::Busy;
use replay::looped::{Compared, Loop};
use replay::options::AddressMode;
use serde_json::{Value, json};
use session::{LOOP_WARMUP, Outcome, Session, Shaders, Wanted};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use swizzles::Made;
use trace::Nanos;

/// A plan that runs: its name, its replay, and its set of swizzles there.
struct Runs {
    name: String,
    session: usize,
    set: u32,
}

/// What the loops came to.
struct Loops {
    turns: Vec<Turn>,
    /// By plan and round, warm-up left out.
    times: Vec<Vec<Option<Nanos>>>,
    /// The same of what calls cost; empty where they are not timed.
    calls: Vec<Vec<Calls>>,
    outcomes: Vec<Outcome>,
    clocks: [Value; 2],
    /// Plans whose image is another one, within the tolerance.
    near: Vec<String>,
}

/// Runs it.
pub fn run(args: &BenchArgs) -> Result<Exit, Failure> {
    refuse_full(&args.output)?;
    if many::wanted(args) {
        return many::run(args);
    }
    let frame = args.looped.ok_or_else(|| Failure::usage("which frame? --frame K, or --processes N"))?;
    let (iterations, warmup) = (args.rounds.unwrap_or(1000), args.left_out.unwrap_or(3));
    let args = &BenchArgs { frame, iterations, warmup, ..args.clone() };
    if args.output.to_string_lossy().contains([',', '+']) {
        return Err(Failure::usage("-o: a name without commas and plus signs"));
    }
    let capture = input::open(&args.file, &args.run.reading)?;
    let run_options = options(&args.run)?;
    if let Some(there) = frames::there(&capture, &run_options.frame_by)
        && !(there.0..=there.1).contains(&args.frame)
    {
        return Err(no_such_frame(args.frame, there));
    }
    let (report, exit) = folder::whole(&args.output, |part| study(args, &capture, part))?;
    output::print(if args.json { json::render(&report) } else { text::render(&report) }.as_bytes())?;
    Ok(exit)
}

/// Everything, into a folder.
fn study(
    args: &BenchArgs,
    capture: &gfxr_parse::container::Capture,
    to: &Path,
) -> Result<(Report, Exit), Failure> {
    let made = swizzles::made(args, to)?;
    let files = swizzles::write(&to.join("swizzles"), &made)?;
    let mut plans = vec![Plan { name: UNMODIFIED.into(), ..Plan::default() }];
    plans.extend(made.iter().map(|m| Plan {
        name: m.method.clone(),
        synthetic: m.synthetic,
        ..Plan::default()
    }));
    let mut uncounted = Vec::new();
    if !args.no_efficiency && args.ab.is_empty() {
        let nothing = Vec::new();
        for (plan, files) in plans.iter_mut().zip(std::iter::once(&nothing).chain(&files)) {
            progress::step(&format!("counting SIMT efficiency: {}", plan.name));
            let (actual, said) = traces::efficiency(args, files, &to.join("efficiency").join(&plan.name))?;
            plan.actual = actual;
            uncounted.extend(said.into_iter().filter(|n| !uncounted.contains(n)).collect::<Vec<_>>());
        }
    }
    let mut with = with(args)?;
    let mut refused = vec![];
    if args.maps && args.ab.iter().any(|n| n.starts_with(learnt::REPARTITION)) {
        return Err(Failure::usage("--maps: not of repartition, which no pass goes with"));
    }
    if !args.ab.is_empty() {
        let first = frames::there(capture, &options(&args.run)?.frame_by).map_or(1, |there| there.0);
        let (plans, said) = learnt::plans(args, capture, first.max(1), to)?;
        let (plans, others) = learnt::check(args, capture, plans, to)?;
        refused = others;
        uncounted.extend(said);
        uncounted.extend(learnt::notes(&refused));
        with.splice(0..0, plans);
    }
    let maps = match args.maps {
        true => Some(maps::maps(args, &with, to)?),
        false => None,
    };
    let compare = |plan: &With| learnt::compare(args, capture, plan, to);
    let loops = loops(args, &with, &made, &mut plans, &compare)?;
    for (plan, times) in plans.iter_mut().zip(&loops.times) {
        plan.times = times.clone();
    }
    for (plan, calls) in plans.iter_mut().zip(&loops.calls) {
        plan.calls = calls.clone();
    }
    let cost = Cost::Unknown {
        why: "a pair of timestamps stands around each submission, in all plans alike; actual efficiency is counted in \
              other replays than those that are timed"
            .into(),
    };
    let mut notes = notes(args, &loops);
    notes.extend(uncounted);
    let about = About { frame: args.frame, seed: args.seed, notes, cost };
    let mut report = report(&about, &plans);
    if let Some((table, notes)) = maps {
        report.tables.push(table);
        report.notes.extend(notes);
    }
    let mut manifest = manifest(args, capture, &plans, &loops);
    if !refused.is_empty() {
        report.tables.push(learnt::table(&refused));
        let all = refused.iter().map(|r| json!({ "plan": r.name, "why": r.why, "instead": r.instead }));
        manifest["refused"] = all.collect();
    }
    out::write(to, &report, &plans, args, &loops.turns, &manifest)?;
    Ok((report, if refused.is_empty() { Exit::Done } else { Exit::Diverged }))
}

/// All plans in turn.
fn loops(
    args: &BenchArgs,
    with: &[With],
    made: &[Made],
    plans: &mut Vec<Plan>,
    compare: &dyn Fn(&With) -> Result<Option<String>, Failure>,
) -> Result<Loops, Failure> {
    let sets = Arc::new(made.iter().map(|m| m.swizzles.clone()).collect::<Vec<_>>());
    let mut runs = vec![Runs { name: UNMODIFIED.into(), session: 0, set: 0 }];
    runs.extend((0..).zip(made).map(|(set, m)| Runs { name: m.method.clone(), session: 1, set }));
    let mut own = vec![Shaders::Own];
    if !made.is_empty() {
        own.push(Shaders::Swizzles(sets));
    }
    let again = args.again.then(|| (format!("{UNMODIFIED}-again"), Shaders::Own));
    let rewritten = with.iter().map(|w| match &w.how {
        How::Passes(list) => (w.name.clone(), Shaders::Passes(list.clone())),
        How::Repartition(plan) => (w.name.clone(), Shaders::Repartitioned(plan.clone())),
    });
    for (name, shaders) in again.into_iter().chain(rewritten) {
        plans.push(Plan { name: name.clone(), ..Plan::default() });
        runs.push(Runs { name, session: own.len(), set: 0 });
        own.push(shaders);
    }
    let mut options = options(&args.run)?;
    if options.addresses == AddressMode::Auto {
        // (an address can be had once in a process, and all plans are to go the same way)
        options.addresses = AddressMode::Translate;
    }
    let turns = order(runs.len(), args.warmup + args.iterations, args.seed);
    let mut sessions = Vec::new();
    for (n, shaders) in own.into_iter().enumerate() {
        let iterations = turns.iter().filter(|t| runs[t.plan].session == n).count() as u32;
        let looped = Loop {
            frame: args.frame,
            iterations,
            warmup: LOOP_WARMUP,
            allow_drift: false,
            leave_contents: false,
            or_once: false,
        };
        let wanted = Wanted {
            capture: args.file.clone(),
            memory: args.run.reading,
            options: replay::options::Options { looped: Some(looped), ..options.clone() },
            shaders,
            assume_subgroups: args.assume_subgroups,
            calls: !args.ab.is_empty(),
            detailed: false,
            busy: Busy { time: Duration::from_millis(args.processes.busy.unwrap_or(0)), processors: true },
        };
        sessions.push(Session::start(wanted)?);
    }
    let bar = progress::bytes(turns.len() as u64, "timing");
    bar.set_style(progress::iterations());
    let before = machine::clocks();
    for turn in &turns {
        let run = &runs[turn.plan];
        sessions[run.session].turn(run.set).map_err(|e| of_plan(e, &run.name))?;
        bar.inc(1);
    }
    let clocks = [before, machine::clocks()];
    bar.finish_and_clear();
    let outcomes: Vec<Outcome> = sessions.into_iter().map(Session::finish).collect::<Result<_, _>>()?;
    let shown: Vec<(&str, &Outcome)> = (0..)
        .zip(&outcomes)
        .map(|(n, o)| (runs.iter().find(|r| r.session == n).map_or("", |r| &r.name), o))
        .collect();
    let near = same_image(&shown, with, compare)?;
    let mut times: Vec<Vec<Option<Nanos>>> = vec![vec![]; runs.len()];
    let mut calls: Vec<Vec<Calls>> = vec![vec![]; runs.len()];
    let mut left: Vec<_> = outcomes.iter().map(|o| (o.times.frames.iter(), o.calls.iter())).collect();
    for turn in &turns {
        let left = &mut left[runs[turn.plan].session];
        let time = left.0.next().ok_or_else(|| Failure::new("an iteration has no record of its time"))?;
        let cost = left.1.next();
        if turn.round >= args.warmup {
            times[turn.plan].push(time.gpu);
            calls[turn.plan].extend(cost);
        }
    }
    Ok(Loops { turns, times, calls, outcomes, clocks, near })
}

/// All replays present the same image, but for plans whose image was compared and is within the tolerance: these are named.
fn same_image(
    outcomes: &[(&str, &Outcome)],
    with: &[With],
    compare: &dyn Fn(&With) -> Result<Option<String>, Failure>,
) -> Result<Vec<String>, Failure> {
    let of = |o: &Outcome| (o.looped.compared == Compared::Presented).then(|| o.looped.hashes.clone());
    let Some(first) = outcomes.first().and_then(|o| of(o.1)) else { return Ok(vec![]) };
    let mut near = vec![];
    for (name, _) in outcomes.iter().filter(|o| of(o.1).as_ref() != Some(&first)) {
        let why = match with.iter().find(|w| w.name == *name) {
            Some(plan) => compare(plan)?,
            None => Some("its swizzles change it".to_owned()),
        };
        if let Some(why) = why {
            let text = format!(
                "the frame does not present the same image with the shaders of plan {name} and without: {why}"
            );
            return Err(Failure::with(Exit::Diverged, text));
        }
        near.push((*name).to_owned());
    }
    Ok(near)
}

fn notes(args: &BenchArgs, loops: &Loops) -> Vec<String> {
    let mut notes = vec![format!(
        "{} rounds of each plan, in an order of seed {}, behind {} that are left out; everything that the frame changes was put \
         back before each iteration.",
        args.iterations, args.seed, args.warmup
    )];
    let o = &loops.outcomes[0].looped;
    notes.push(match o.compared {
        Compared::Presented => {
            let hash: String = o.hashes.iter().flatten().take(8).map(|b| format!("{b:02x}")).collect();
            match &loops.near[..] {
                [] => format!("Every iteration of every plan presents the same image: {hash}."),
                near => format!(
                    "Every iteration of a plan presents the same image; those of {} differ from the application's own, {hash}, \
                     within the tolerance ({}).",
                    near.join(" and of "),
                    args.image_tolerance
                ),
            }
        }
        Compared::Changed => {
            "Every iteration leaves in memory what the first one of its replay left (nothing is presented)."
                .into()
        }
    });
    notes.extend((!args.ab.is_empty()).then(|| {
        format!(
            "With each of --ab's plans that was timed the frame shows, or leaves in memory, what it does without: compared in \
             replays of their own, within --image-tolerance {}.",
            args.image_tolerance
        )
    }));
    notes.extend(swizzles::wanted(args).then(|| match args.no_efficiency {
        false => format!(
            "With each swizzle the frame shows, or leaves in memory, what it does without: compared while efficiency was \
             counted, within --image-tolerance {}.",
            args.image_tolerance
        ),
        true => "What each swizzle shows was compared within its own replay alone: --no-efficiency.".into(),
    }));
    let mut said: Vec<&String> = loops.outcomes.iter().flat_map(|o| &o.notes).collect();
    said.dedup();
    notes.extend(said.into_iter().map(|n| format!("{n}.")));
    notes
}

fn manifest(
    args: &BenchArgs,
    capture: &gfxr_parse::container::Capture,
    plans: &[Plan],
    loops: &Loops,
) -> Value {
    let file = PathBuf::from(capture.name());
    let gpu = loops.outcomes.first().map_or("", |o| &o.gpu);
    json!({
        "schema_version": 1,
        "tool": { "name": "reray-replay", "version": env!("CARGO_PKG_VERSION") },
        "capture": {
            "name": file.file_name().unwrap_or_default().to_string_lossy(),
            "size_bytes": capture.bytes().len(),
            "blake3": blake3::hash(capture.bytes()).to_hex().to_string(),
        },
        "frame": args.frame,
        "rounds": args.iterations,
        "warmup_rounds": args.warmup,
        "seed": args.seed,
        "tile": args.tile,
        "plans": plans.iter().map(|p| &p.name).collect::<Vec<_>>(),
        "device": machine::device(gpu),
        "clocks_before": loops.clocks[0],
        "clocks_after": loops.clocks[1],
    })
}

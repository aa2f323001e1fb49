//! `bench`: what repacking a frame's launches does to its time and its SIMT efficiency, method by method (Cheung, §3.4), in one
//! command.
//!
//! One profile records the frame's rays; every method makes swizzles of them (`swizzles`); with each in force a profile counts
//! how full subgroups are, and proves that the frame shows the same (`traces`). Then all plans run in turn, each round in
//! another order (`order`): two replays that loop the frame in this process, one with the application's own shaders, one with
//! swizzled ones whose table is written anew between iterations (`session`). What comes of it is a folder (`out`).
//!
//! Guarantees: the folder is there whole or not at all; the same seed gives the same order, swizzles and figures but for times;
//! every iteration's image is compared with the first one's. Refuses folders that hold something.
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
mod session;
mod swizzles;
mod traces;
pub mod worker;

use super::profile::folder::{Missing, refuse_full};
use crate::cli::BenchArgs;
use crate::commands::frames::{self, no_such_frame};
use crate::commands::repack::methods;
use crate::commands::replay::options;
use crate::exit::{Exit, Failure, note};
use crate::{input, output, progress};
use analyses::bench::{About, Calls, IDENTITY, Plan, UNMODIFIED, report};
use analyses::repack::{Options, by_name};
use analyses::report::{Cost, Report, json, text};
use order::{Turn, order};
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

/// A plan whose shaders are rewritten.
#[derive(Clone, Debug)]
struct With {
    name: String,
    how: How,
}

/// What rewrites them.
#[derive(Clone, Debug)]
enum How {
    /// Passes, as on the command line.
    Passes(String),
    /// Descriptors are in other sets.
    Repartition(Arc<profile::hooks::repartition::Plan>),
}

impl With {
    /// A plan of passes.
    fn passes(name: String, list: String) -> Self {
        With { name, how: How::Passes(list) }
    }
}

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
    let (report, exit) = whole_folder(&args.output, |part| study(args, &capture, part))?;
    output::print(if args.json { json::render(&report) } else { text::render(&report) }.as_bytes())?;
    Ok(exit)
}

/// Makes a folder that is there whole or not at all.
pub fn whole_folder<T>(output: &Path, make: impl FnOnce(&Path) -> Result<T, Failure>) -> Result<T, Failure> {
    let name = output.file_name().ok_or_else(|| Failure::usage("-o: not a folder's name"))?;
    let part = output.with_file_name(format!(".{}.{}.part", name.to_string_lossy(), std::process::id()));
    let missing = Missing::of(&part);
    output::folder(&part)?;
    let done = make(&part).and_then(|made| {
        // (an empty folder may be there)
        let _ = std::fs::remove_dir(output);
        std::fs::rename(&part, output)
            .map_err(|e| Failure::new(format_args!("{}: {e}", output.display())))?;
        Ok(made)
    });
    if done.is_err() {
        let _ = std::fs::remove_dir_all(&part);
        missing.take_away();
    }
    done
}

/// Everything, into a folder.
fn study(
    args: &BenchArgs,
    capture: &gfxr_parse::container::Capture,
    to: &Path,
) -> Result<(Report, Exit), Failure> {
    let made = made(args, to)?;
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
            complain_progress(&format!("counting SIMT efficiency: {}", plan.name));
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
    let loops = loops(args, &with, &made, &mut plans)?;
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

/// The methods' swizzles; those of identity come first.
fn made(args: &BenchArgs, to: &Path) -> Result<Vec<Made>, Failure> {
    if !swizzles_wanted(args) {
        return Ok(vec![]);
    }
    let all = args.methods.iter().any(|m| m == "all");
    let mut made = match (&args.swizzles, &args.trace) {
        (Some(folder), _) => {
            swizzles::of_files(folder, args.frame, &|m| all || args.methods.iter().any(|n| n == m))?
        }
        (None, trace) => {
            let mut chosen = if all { methods(&[])? } else { methods(&args.methods)? };
            if chosen.iter().all(|m| m.name() != IDENTITY) {
                chosen.extend(by_name(IDENTITY));
            }
            let folder = match trace {
                Some(folder) => folder.clone(),
                None => {
                    complain_progress("recording rays");
                    let folder = to.join("rays");
                    traces::rays(args, &folder)?;
                    folder
                }
            };
            let options = Options { tile: args.tile, seed: args.seed };
            swizzles::of_trace(&folder, args.frame, &options, &chosen)?
        }
    };
    match made.iter().position(|m| m.method == IDENTITY) {
        Some(at) => made[..=at].rotate_right(1),
        None => made.insert(0, swizzles::identity(&made[0])),
    }
    Ok(made)
}

/// Whether some plans swizzle.
fn swizzles_wanted(args: &BenchArgs) -> bool {
    args.ab.is_empty() && args.methods != ["none"]
}

/// What is being done, for those who watch.
fn complain_progress(what: &str) {
    use std::io::IsTerminal;
    if std::io::stderr().is_terminal() {
        note(what);
    }
}

/// The passes of plans with passes: those that were asked for, and behind each with pass ser one that does not reorder.
fn with(args: &BenchArgs) -> Result<Vec<With>, Failure> {
    let mut all = Vec::new();
    for list in &args.with {
        all.push(list.clone());
        let still = still(list);
        if args.no_reorder && still != *list && !args.with.contains(&still) {
            all.push(still);
        }
    }
    match args.no_reorder && all == args.with && !args.with.iter().any(|l| l.contains("reorder=no")) {
        true => Err(Failure::usage("--no-reorder: no --with has pass ser")),
        false => Ok(all.into_iter().map(|list| With::passes(list.clone(), list)).collect()),
    }
}

/// A list of passes whose `ser` leaves the reordering, and what it is told, out.
fn still(list: &str) -> String {
    let one = |pass: &str| match pass.split_once(':').unwrap_or((pass, "")) {
        ("ser", options) => {
            let kept = options
                .split('+')
                .filter(|o| !o.is_empty() && !o.starts_with("hints") && !o.starts_with("reorder"));
            let options: Vec<&str> = kept.chain(["reorder=no"]).collect();
            format!("ser:{}", options.join("+"))
        }
        _ => pass.to_owned(),
    };
    list.split(',').map(one).collect::<Vec<_>>().join(",")
}

/// All plans in turn.
fn loops(args: &BenchArgs, with: &[With], made: &[Made], plans: &mut Vec<Plan>) -> Result<Loops, Failure> {
    let sets = Arc::new(made.iter().map(|m| m.swizzles.clone()).collect::<Vec<_>>());
    let mut runs = vec![Runs { name: UNMODIFIED.into(), session: 0, set: 0 }];
    runs.extend((0..).zip(made).map(|(set, m)| Runs { name: m.method.clone(), session: 1, set }));
    let mut own = vec![Shaders::Own];
    if !made.is_empty() {
        own.push(Shaders::Swizzles(sets));
    }
    let again = args.again.then(|| (format!("{UNMODIFIED}-again"), Shaders::Own));
    let with = with.iter().map(|w| match &w.how {
        How::Passes(list) => (w.name.clone(), Shaders::Passes(list.clone())),
        How::Repartition(plan) => (w.name.clone(), Shaders::Repartitioned(plan.clone())),
    });
    for (name, shaders) in again.into_iter().chain(with) {
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
    same_image(&shown)?;
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
    Ok(Loops { turns, times, calls, outcomes, clocks })
}

fn of_plan(failure: Failure, plan: &str) -> Failure {
    match failure {
        Failure::Error(exit, text) => Failure::Error(exit, format!("plan {plan}: {text}")),
        closed => closed,
    }
}

/// All replays present the same image.
fn same_image(outcomes: &[(&str, &Outcome)]) -> Result<(), Failure> {
    let of = |o: &Outcome| (o.looped.compared == Compared::Presented).then(|| o.looped.hashes.clone());
    let Some(first) = outcomes.first().and_then(|o| of(o.1)) else { return Ok(()) };
    match outcomes.iter().find(|o| of(o.1).as_ref() != Some(&first)) {
        None => Ok(()),
        Some((plan, _)) => {
            let text = format!(
                "the frame does not present the same image with the shaders of plan {plan} and without; `profile --passes` \
                 with its passes says which pixel"
            );
            Err(Failure::with(Exit::Diverged, text))
        }
    }
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
            format!("Every iteration of every plan presents the same image: {hash}.")
        }
        Compared::Changed => {
            "Every iteration leaves in memory what the first one of its replay left (nothing is presented)."
                .into()
        }
    });
    notes.extend((!args.ab.is_empty()).then(|| {
        "With each of --ab's plans that was timed the frame shows, or leaves in memory, what it does without: compared bit for bit in replays \
         of their own."
            .into()
    }));
    notes.extend(swizzles_wanted(args).then(|| match args.no_efficiency {
        false => "With each swizzle the frame shows, or leaves in memory, what it does without: compared bit for bit while \
                  efficiency was counted."
            .into(),
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

#[cfg(test)]
mod tests {
    use super::still;

    #[test]
    fn what_does_not_reorder_keeps_its_other_options() {
        assert_eq!(still("ser"), "ser:reorder=no");
        assert_eq!(still("simt,ser:api=ext+hints=instance:4"), "simt,ser:api=ext+reorder=no");
        assert_eq!(still("ser:reorder=no"), "ser:reorder=no");
        assert_eq!(still("ser:reorder=yes"), "ser:reorder=no");
        assert_eq!(still("simt:exact=4"), "simt:exact=4");
    }
}

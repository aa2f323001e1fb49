//! `bench --processes`: a run, of several captures under several plans in several processes each (docs/runs.md).
//!
//! Processes are numbered; of one number, and of one capture, those of all plans are alive together, and take turns in an order
//! that the seed shuffles anew for each round: so what drifts within seconds or minutes drifts for all plans alike. A worker is
//! this program again (`worker.rs`), which times as a study of one process does (`session.rs`).
//!
//! *Warm-up*: turns are left out until the times of all processes of a number have settled (`analyses::verdict::settled`), or until
//! `--warmup`: it ends for all of them in the same round, so that each has as many timed turns, and of the same rounds.
//! *Budget*: after each number of processes the time is looked at, and, from the fifth on, how well each capture's median, or with
//! several plans each one's change against the first, is known: half its 99 % interval.
//!
//! Guarantees: the folder is there whole or not at all; one worker works at a time; with looped frames all processes of a capture
//! and plan have to show the same picture. Refuses folders that hold something.

mod known;
mod plans;
mod process;
mod report;
mod state;
#[cfg(test)]
mod tests;

use super::order::shuffled;
use super::worker::{BUSY_MS, Found};
use crate::cli::BenchArgs;
use crate::commands::folder;
use crate::commands::frames::{self, no_such_frame};
use crate::commands::replaying::options;
use crate::exit::{Exit, Failure, complain};
use crate::output::{self, write_file};
use crate::{input, progress};
use analyses::report::{json, text};
use analyses::verdict::{FEWEST as FEWEST_TO_DECIDE, settled};
use known::tight;
use oorandom::Rand64;
use plans::Asked;
use process::{Process, Spec};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};
use trace::dir::{Capture, Device, Manifest, Writer};
use trace::run::{FrameSample, Place, RUN_FILE, RUN_VERSION, Run, RunNote, SpanSample, Worker};
use trace::tables::{BENCH_FRAMES, BENCH_PLACES, BENCH_SPANS, UNTIMED};
use trace::{Nanos, Value as V};

/// Processes where none are asked for; and with a budget, at most.
pub const PROCESSES: [u32; 2] = [10, 1000];
/// Timed turns where none are asked for: of a looped frame, of whole captures.
pub const ITERATIONS: [u32; 2] = [30, 10];
/// Most turns that warm up, likewise.
pub const WARMUP: [u32; 2] = [40, 10];
/// Processes below which nobody asks how well a median, or a change, is known.
const FEWEST: u32 = 5;

pub use report::report;
pub use state::host;

/// Refuses plans that make no sense, before anything is measured.
pub fn check(args: &BenchArgs) -> Result<(), Failure> {
    plans::asked(args).map(drop)
}

/// Whether a run is asked for.
pub fn wanted(args: &BenchArgs) -> bool {
    let p = &args.processes;
    p.processes.is_some() || p.budget.is_some() || !p.plan.is_empty() || !args.more.is_empty()
}

/// Runs it.
pub fn run(args: &BenchArgs) -> Result<Exit, Failure> {
    if let Some(few) = args.processes.processes.filter(|n| (*n as usize) < FEWEST_TO_DECIDE) {
        complain(format_args!(
            "{few} processes of each plan: `compare` decides nothing with fewer than {FEWEST_TO_DECIDE} a side, and 10 are a good number"
        ));
    }
    let run = folder::whole(&args.output, |part| study(args, part))?;
    let report = report(&run);
    output::print(if args.json { json::render(&report) } else { text::render(&report) }.as_bytes())?;
    Ok(Exit::Done)
}

/// A capture, and the passes of each plan for it.
struct Source {
    file: PathBuf,
    note: Capture,
    passes: Vec<String>,
}

/// How many turns.
#[derive(Clone, Copy)]
struct Turns {
    iterations: u32,
    warmup: u32,
    detailed: u32,
}

fn study(args: &BenchArgs, to: &Path) -> Result<Run, Failure> {
    let began = Instant::now();
    let writer = Writer::create(to, Manifest::default()).map_err(Failure::new)?;
    let asked = plans::asked(args)?;
    let whole = usize::from(args.looped.is_none());
    let turns = Turns {
        iterations: args.rounds.unwrap_or(ITERATIONS[whole]),
        warmup: args.left_out.unwrap_or(WARMUP[whole]),
        detailed: args.processes.detailed,
    };
    let mut notes = vec![];
    let sources = sources(args, &asked, to, &mut notes)?;
    let before = state::host();
    let seconds = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let mut run = Run {
        note: RunNote {
            schema_version: RUN_VERSION,
            program: concat!("reray-replay ", env!("CARGO_PKG_VERSION")).into(),
            command_line: std::env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned()).collect(),
            began: seconds,
            seed: args.seed,
            frame: args.looped,
            iterations: turns.iterations,
            detailed: turns.detailed,
            stopped: "done".into(),
            captures: sources.iter().map(|s| s.note.clone()).collect(),
            plans: asked.iter().map(|p| p.note.clone()).collect(),
            notes,
            ..RunNote::default()
        },
        ..Run::default()
    };
    let budget = args.processes.budget;
    let most = args.processes.processes.unwrap_or(PROCESSES[usize::from(budget.is_some())]);
    let (mut random, mut known) = (Rand64::new(args.seed.into()), HashMap::new());
    let bar = progress::bytes(u64::from(most) * sources.len() as u64, "processes");
    bar.set_style(progress::iterations());
    for number in 0..most {
        for capture in shuffled(sources.len(), &mut random) {
            block(
                args,
                &asked,
                &sources[capture],
                (capture, number),
                turns,
                &mut random,
                &mut run,
                &mut known,
            )?;
            bar.inc(1);
        }
        let Some(budget) = budget else { continue };
        if number + 1 >= FEWEST && tight(&run, args.processes.tight) {
            run.note.stopped = "tight".into();
            break;
        }
        // (another number takes about as long as those before it)
        let next = began.elapsed().mul_f64(f64::from(number + 2) / f64::from(number + 1));
        if next > budget {
            run.note.stopped = "budget".into();
            break;
        }
    }
    bar.finish_and_clear();
    run.note.wall = Nanos(began.elapsed().as_nanos() as u64);
    run.note.busy_ms = busy(args, &run.note.workers);
    run.note.machine = serde_json::json!({ "before": before, "after": state::host() });
    unsettled(&mut run.note);
    moved(&mut run.note);
    run.note.notes.extend(state::throttled(&run.note.workers));
    same_pictures(&run.note)?;
    write(&run, writer, to)?;
    Ok(run)
}

/// Every capture is there, has the frame, and what plans read of it is made.
fn sources(
    args: &BenchArgs,
    asked: &[Asked],
    to: &Path,
    notes: &mut Vec<String>,
) -> Result<Vec<Source>, Failure> {
    let mut all: Vec<Source> = vec![];
    for (n, file) in std::iter::once(&args.file).chain(&args.more).enumerate() {
        let capture = input::open(file, &args.run.reading)?;
        if let (Some(frame), Some(there)) =
            (args.looped, frames::there(&capture, &options(&args.run)?.frame_by))
            && !(there.0..=there.1).contains(&frame)
        {
            return Err(no_such_frame(frame, there));
        }
        let name = PathBuf::from(capture.name());
        let note = Capture {
            name: name.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            size_bytes: capture.bytes().len() as u64,
            blake3: blake3::hash(capture.bytes()).to_hex().to_string(),
        };
        if all.iter().any(|s| s.note.blake3 == note.blake3) {
            return Err(Failure::usage(format_args!("{} is there twice", file.display())));
        }
        let frame = args.looped.unwrap_or_default();
        let one = BenchArgs { file: file.clone(), frame, ..args.clone() };
        let (passes, said) = plans::passes(&one, asked, &to.join("made").join(n.to_string()))?;
        notes.extend(said);
        all.push(Source { file: file.clone(), note, passes });
    }
    Ok(all)
}

/// A worker that takes its turns.
struct Alive {
    process: Process,
    plan: usize,
    startup: Nanos,
    /// Times that are known, by turn.
    seen: Vec<f64>,
    /// Whether they had settled when its warm-up ended.
    settled: bool,
    /// The position of each of its turns in the whole run.
    positions: Vec<u64>,
}

/// All plans of one capture, in processes of one number.
#[allow(clippy::too_many_arguments, reason = "all that a run has, once")]
fn block(
    args: &BenchArgs,
    asked: &[Asked],
    source: &Source,
    (capture, number): (usize, u32),
    turns: Turns,
    random: &mut Rand64,
    run: &mut Run,
    known: &mut HashMap<Place, usize>,
) -> Result<(), Failure> {
    let mut alive: Vec<Alive> = vec![];
    // (as many start at once as there are processors; nothing is timed meanwhile)
    let at_once = std::thread::available_parallelism().map_or(1, usize::from);
    for some in shuffled(asked.len(), random).chunks(at_once) {
        let started = Instant::now();
        let first = alive.len();
        for &plan in some {
            let process = Process::start(&Spec {
                capture: &source.file,
                frame: args.looped,
                plan: &asked[plan].note,
                passes: &source.passes[plan],
                // (a time is known a turn later, so that one more may warm up)
                turns: [
                    turns.warmup + turns.iterations + 1,
                    if turns.detailed > 0 { turns.detailed + 1 } else { 0 },
                ],
                busy: args.processes.busy,
                assume_subgroups: args.assume_subgroups,
                run: &args.run,
            })?;
            alive.push(Alive {
                process,
                plan,
                startup: Nanos(0),
                seen: vec![],
                settled: false,
                positions: vec![],
            });
        }
        for a in &mut alive[first..] {
            a.process.ready()?;
            a.startup = Nanos(started.elapsed().as_nanos() as u64);
        }
    }
    let before = state::device();
    let mut position = run.frames.iter().map(|f| f.position + 1).max().unwrap_or(0);
    // (of all together, as what pairs of processes differ by is of the same rounds then)
    let mut warmup = None;
    for round in 0.. {
        if warmup.is_none() {
            alive.iter_mut().for_each(|a| a.settled = settled(&a.seen));
            warmup = (alive.iter().all(|a| a.settled) || round >= turns.warmup).then_some(round);
        }
        if warmup.is_some_and(|w| round >= w + turns.iterations) {
            break;
        }
        for at in shuffled(alive.len(), random) {
            let a = &mut alive[at];
            a.seen.extend(a.process.turn()?);
            a.positions.push(position);
            position += 1;
        }
    }
    // (the first of these makes what the others use, and is left out)
    for _ in 0..if turns.detailed > 0 { turns.detailed + 1 } else { 0 } {
        for at in shuffled(alive.len(), random) {
            alive[at].process.detail()?;
        }
    }
    let after = state::device();
    alive.sort_by_key(|a| a.plan);
    for a in alive {
        let plan = a.plan;
        let found = a.process.end()?;
        let worker = Worker {
            capture,
            plan,
            process: number,
            warmup: warmup.unwrap_or_default(),
            settled: a.settled,
            startup: a.startup,
            device: found.device.clone(),
            before: before.clone(),
            after: after.clone(),
            hashes: found.hashes.clone(),
            notes: found.notes.clone(),
        };
        add(run, worker, &a.positions, found, known);
    }
    Ok(())
}

/// What a worker found, as rows.
fn add(run: &mut Run, worker: Worker, positions: &[u64], found: Found, known: &mut HashMap<Place, usize>) {
    let (at, capture, warmup) = (run.note.workers.len(), worker.capture, u64::from(worker.warmup));
    run.note.workers.push(worker);
    for (turn, frame, load, gpu, cpu) in found.frames {
        run.frames.push(FrameSample {
            worker: at,
            position: positions.get(turn as usize).copied().unwrap_or_default(),
            turn,
            timed: turn >= warmup,
            frame,
            load,
            gpu: gpu.map(Nanos),
            cpu: Nanos(cpu),
        });
    }
    let places: Vec<usize> = found
        .places
        .into_iter()
        .map(|p| {
            let place = Place { capture, ..p };
            let next = run.places.len();
            *known.entry(place).or_insert_with_key(|p| {
                run.places.push(p.clone());
                next
            })
        })
        .collect();
    run.spans.extend(found.spans.into_iter().filter_map(|(turn, place, time)| {
        Some(SpanSample { worker: at, turn, place: *places.get(place)?, time: Nanos(time) })
    }));
}

fn unsettled(note: &mut RunNote) {
    let n = note.workers.iter().filter(|w| !w.settled).count();
    if n > 0 {
        let all = note.workers.len();
        note.notes.push(format!(
            "{n} of {all} processes had not settled when their warm-up was cut off (--warmup)."
        ));
    }
}

/// For how long devices were kept busy before each turn.
fn busy(args: &BenchArgs, workers: &[Worker]) -> u64 {
    let any = workers.iter().any(|w| w.of_device("kind") != "CPU");
    match (args.looped, args.processes.busy) {
        (None, _) => 0,
        (_, Some(asked)) => asked,
        (_, None) => {
            if any {
                BUSY_MS
            } else {
                0
            }
        }
    }
}

/// A device that has little to do lowers its clock while it is timed.
fn moved(note: &mut RunNote) {
    let firsts: Vec<&Worker> = note.workers.iter().filter(|w| w.plan == 0).collect();
    let n = firsts.iter().filter(|w| state::clock_moved(&w.before, &w.after)).count();
    if n > 0 {
        let all = firsts.len();
        note.notes.push(format!(
            "A device's clock was another one after the turns than before them in {n} of {all} numbers of processes: lock it \
             (nvidia-smi --lock-gpu-clocks), keep the device busy for longer (--busy), or take fewer plans or turns at a time. Changes between plans of this run are pairs', \
             which share their moment; figures of their own are not to be held against another run's."
        ));
    }
}

/// Processes of one capture and plan show the same.
fn same_pictures(note: &RunNote) -> Result<(), Failure> {
    for (n, w) in note.workers.iter().enumerate() {
        let like = |o: &&Worker| (o.capture, o.plan) == (w.capture, w.plan);
        if let Some(other) = note.workers[..n].iter().find(like)
            && other.hashes != w.hashes
        {
            let (capture, plan) = (&note.captures[w.capture].name, &note.plans[w.plan].name);
            let text = format!(
                "{capture}, plan {plan}: process {} does not show what process {} shows",
                w.process, other.process
            );
            return Err(Failure::with(Exit::Diverged, text));
        }
    }
    Ok(())
}

fn write(run: &Run, mut writer: Writer, to: &Path) -> Result<(), Failure> {
    let first = run.note.workers.first();
    let of = |key: &str| first.map_or("", |w| w.of_device(key)).to_owned();
    let manifest = writer.manifest();
    manifest.program = run.note.program.clone();
    manifest.capture = run.note.captures[0].clone();
    manifest.device = Device { name: of("name"), driver: of("driver"), subgroup_size: 0 };
    manifest.notes = vec![format!("A run of bench: {RUN_FILE} says what these tables are of.")];
    let n = |v: usize| V::U64(v as u64);
    for f in &run.frames {
        writer.put(
            &BENCH_FRAMES,
            &[
                n(f.worker),
                V::U64(f.position),
                V::U64(f.turn),
                V::U64(f.timed.into()),
                V::U64(f.frame),
                V::U64(f.load.into()),
                V::U64(f.gpu.map_or(UNTIMED, |n| n.0)),
                V::U64(f.cpu.0),
            ],
        );
    }
    for (at, p) in run.places.iter().enumerate() {
        let whole = [p.frame, p.submission, p.position, p.execution, p.index, p.depth].map(V::U64);
        let words = [&p.level, &p.name, &p.within, &p.pipeline, &p.shaders].map(|t| V::Text(t));
        writer.put(&BENCH_PLACES, &[&[n(at), n(p.capture)][..], &whole, &words].concat());
    }
    for s in &run.spans {
        writer.put(&BENCH_SPANS, &[n(s.worker), V::U64(s.turn), n(s.place), V::U64(s.time.0)]);
    }
    writer.finish().map_err(Failure::new)?;
    write_file(&to.join(RUN_FILE), run.note.render().as_bytes())
}

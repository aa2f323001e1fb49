//! Processes that take turns.
//!
//! Processes are numbered; of one number, and of one capture, those of all plans are alive together, and take turns in an order
//! that the seed shuffles anew for each round: so what drifts within seconds or minutes drifts for all plans alike.
//!
//! *Warm-up*: turns are left out until the times of all processes of a number have settled (`analyses::verdict::settled`), or until
//! `--warmup`: it ends for all of them in the same round, so that each has as many timed turns, and of the same rounds.
//! *Budget*: after each number of processes the time is looked at, and, from the fifth on, how well each capture's median, or with
//! several plans each one's change against the first, is known: half its 99 % interval. Experiments get the processes that decide them
//! before the next ones get any.
//!
//! Guarantees: one worker works at a time; with looped frames all processes of a capture and plan have to show the same picture.

use super::budget::{self, INTERRUPTED};
use super::order::shuffled;
use super::prepare;
use super::settings::{Prepared, Settings};
use super::state;
use super::together::{Together, Turns, said_by};
use super::worker::BUSY_MS;
use crate::failure::{Exit, Failure};
use crate::files::input;
use crate::files::output::write_file;
use crate::frames::{self, no_such_frame};
use crate::interrupt::Interrupt;
use crate::progress;
use crate::replaying::options;
use oorandom::Rand64;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};
use trace::dir::{Capture, Device, Manifest, Writer};
use trace::run::{RUN_FILE, RUN_VERSION, Run, RunNote, Worker};
use trace::tables::{BENCH_CALLS, BENCH_FRAMES, BENCH_PLACES, BENCH_SPANS, UNTIMED};
use trace::{Nanos, Value as V};

/// Processes where none are asked for; and with a budget, at most.
pub const PROCESSES: [u32; 2] = [10, 1000];
/// Timed turns where none are asked for: of a looped frame, of whole captures.
pub const ITERATIONS: [u32; 2] = [30, 10];
/// Most turns that warm up, likewise.
pub const WARMUP: [u32; 2] = [40, 10];

/// What was measured.
pub struct Measured {
    /// The run.
    pub run: Run,
    /// What its plans were, by capture and plan.
    pub prepared: Vec<Vec<Prepared>>,
}

/// Measures it all, into a folder.
pub fn measure(settings: &Settings, to: &Path) -> Result<Measured, Failure> {
    measure_and_keep(settings, to, Interrupt::default)
}

/// The same; who listens does so from the first process on: asked to end, the run is of the processes that had taken all of their
/// turns until then, and of experiments those are given up that are not decided.
pub fn measure_and_keep(
    settings: &Settings,
    to: &Path,
    listens: impl FnOnce() -> Interrupt,
) -> Result<Measured, Failure> {
    let began = Instant::now();
    prepare::check(settings)?;
    let writer = Writer::create(to, Manifest::default()).map_err(Failure::new)?;
    let whole = usize::from(settings.frame.is_none());
    let turns = Turns {
        iterations: settings.iterations.unwrap_or(ITERATIONS[whole]),
        warmup: settings.warmup.unwrap_or(WARMUP[whole]),
        detailed: settings.detailed,
    };
    let (captures, notes) = captures(settings)?;
    let prepare::All { plans, prepared, refused, notes: said } = prepare::all(settings, &captures, to)?;
    drop(captures);
    let before = state::host();
    let seconds = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let run = Run {
        note: RunNote {
            schema_version: RUN_VERSION,
            program: concat!("reray-replay ", env!("CARGO_PKG_VERSION")).into(),
            command_line: std::env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned()).collect(),
            began: seconds,
            seed: settings.seed,
            frame: settings.frame,
            iterations: turns.iterations,
            detailed: turns.detailed,
            stopped: "done".into(),
            captures: notes,
            plans,
            refused,
            notes: said,
            ..RunNote::default()
        },
        ..Run::default()
    };
    let most = settings.processes.unwrap_or(PROCESSES[usize::from(settings.budget.is_some())]);
    let others: Vec<usize> = (1..run.note.plans.len()).collect();
    let together = settings.together.unwrap_or(others.len()).max(1);
    let all_of_them = u64::from(most) * others.len().div_ceil(together).max(1) as u64;
    let bar = progress::counted(all_of_them, "measuring", "processes");
    let random = Rand64::new(settings.seed.into());
    let interrupt = &listens();
    let mut all = Together {
        settings,
        interrupt,
        prepared: &prepared,
        turns,
        to,
        bar: &bar,
        number: 0,
        started: 0,
        random,
        known: HashMap::new(),
        run,
    };
    // (experiments are decided in the order in which they are asked, some at a time: what is left behind when time is over was never begun)
    let (decide, measured) = (budget::to_decide(settings, most), Instant::now());
    'deciding: for (n, some) in others.chunks(together).enumerate().filter(|_| decide > 0) {
        for number in 0..decide {
            // (the first of all says what a process takes)
            if number == u32::from(n == 0) {
                let took = (all.took(&measured), began.elapsed());
                budget::give_up(settings, &mut all.run.note, some, (decide - number, n == 0), took);
            }
            let whole = all.number_of(some)?;
            if !whole || interrupt.asked() {
                let decided = n * together + if whole && number + 1 == decide { some.len() } else { 0 };
                budget::interrupted(&mut all.run.note, others.get(decided..).unwrap_or_default());
                break 'deciding;
            }
        }
    }
    for number in decide..most {
        if decide > 0 && all.run.note.stopped == INTERRUPTED {
            break;
        }
        if number > 0
            && let Some(why) = budget::over(settings, &all.run, number, most, began.elapsed())
        {
            all.run.note.stopped = why.into();
            break;
        }
        let order: Vec<usize> =
            shuffled(others.len(), &mut all.random).into_iter().map(|p| others[p]).collect();
        let mut whole = true;
        match order.is_empty() {
            true => whole = all.number_of(&[])?,
            false => {
                for some in order.chunks(together) {
                    whole = whole && all.number_of(some)?;
                }
            }
        }
        if !whole || interrupt.asked() && number + 1 < most {
            all.run.note.stopped = INTERRUPTED.into();
            break;
        }
    }
    if all.run.note.stopped == INTERRUPTED && all.run.note.workers.is_empty() {
        return Err(Failure::new("interrupted before the first processes were done: nothing is kept"));
    }
    let mut run = all.run;
    bar.finish_and_clear();
    // (what nobody said anything in)
    for file in (0..run.note.plans.len()).map(|plan| said_by(to, plan)) {
        if file.metadata().is_ok_and(|m| m.len() == 0) {
            let _ = std::fs::remove_file(file);
        }
    }
    run.note.wall = Nanos(began.elapsed().as_nanos() as u64);
    run.note.busy_ms = busy(settings, &run.note.workers);
    run.note.machine = serde_json::json!({ "before": before, "after": state::host() });
    unsettled(&mut run.note);
    moved(&mut run.note);
    run.note.notes.extend(state::throttled(&run.note.workers));
    if !settings.experiments {
        same_pictures(&run.note)?;
    }
    write(&run, writer, to)?;
    Ok(Measured { run, prepared })
}

type Opened = (PathBuf, gfxr_parse::container::Capture);

/// Every capture is there once, and has the frame.
fn captures(settings: &Settings) -> Result<(Vec<Opened>, Vec<Capture>), Failure> {
    let (mut all, mut notes): (Vec<Opened>, Vec<Capture>) = (vec![], vec![]);
    for file in &settings.captures {
        let capture = input::open(file, settings.run.reading)?;
        if let (Some(frame), Some(there)) =
            (settings.frame, frames::there(&capture, &options(&settings.run)?.frame_by))
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
        if notes.iter().any(|n| n.blake3 == note.blake3) {
            return Err(Failure::usage(format_args!("{} is there twice", file.display())));
        }
        notes.push(note);
        all.push((file.clone(), capture));
    }
    Ok((all, notes))
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
fn busy(settings: &Settings, workers: &[Worker]) -> u64 {
    let any = workers.iter().any(|w| w.of_device("kind") != "CPU");
    match (settings.frame, settings.busy) {
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
        let numbers = [p.frame, p.submission, p.position, p.execution, p.index, p.pass, p.draw, p.depth];
        let words = [&p.level, &p.name, &p.within, &p.pipeline, &p.shaders].map(|t| V::Text(t));
        writer.put(&BENCH_PLACES, &[&[n(at), n(p.capture)][..], &numbers.map(V::U64), &words].concat());
    }
    for s in &run.spans {
        writer.put(&BENCH_SPANS, &[n(s.worker), V::U64(s.turn), n(s.place), V::U64(s.time.0)]);
    }
    for c in &run.calls {
        let row = [n(c.worker), V::U64(c.turn), V::Text(&c.kind), V::U64(c.calls), V::U64(c.time.0)];
        writer.put(&BENCH_CALLS, &row);
    }
    writer.finish().map_err(Failure::new)?;
    write_file(&to.join(RUN_FILE), run.note.render().as_bytes())
}

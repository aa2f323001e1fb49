//! `bench-worker`: a process of a run. It replays one capture under one plan, a turn at a time, when it is told to.
//!
//! On stdin a word a line: `turn` (frames are timed), `detail` (passes and commands, too), `end`. On stdout a line of JSON for
//! each: `{"ready":true}` before the first, `{"turn":{"gpu":ns,"cpu":ns}}` with the latest time that is known (that of a looped
//! frame is known one turn later), and behind `end` everything that was found ([`Found`]). What is wrong goes to stderr, and the
//! exit code says what kind it is.
//!
//! With `--frame` a turn is an iteration of that frame, in a `session`; else it is a replay of the
//! whole capture. Finer timestamps are in turns of their own, in a second session.

use super::machine;
use super::session::{Hooks, LOOP_WARMUP, Outcome, Session, Shaders, Wanted};
use crate::failure::{Exit, Failure};
use crate::files::{input, output};
use crate::how::How;
use crate::interrupt;
use crate::replaying::{failure, options};
use crate::split;
use analyses::times::bench::Calls;
use analyses::times::command_times::{object, places};
use gfxr_parse::container::Capture;
use profile::hooks::busy::Busy;
use profile::hooks::command_times::CommandTimes;
use replay::looped::{Compared, Loop};
use replay::options::AddressMode;
use replay::session::{On, replay};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::BufRead;
use std::path::PathBuf;
use std::time::Duration;
use trace::plan::{Passes, Use};
use trace::run::Place;
use trace::{FrameTime, SpanKind};

/// For how long a device is kept busy before each turn where nobody says it, in milliseconds: enough for an H200, which lowers its
/// clock within seconds otherwise (benches/runs/2026-11-22-verdict-2). Devices that are the processor are left alone then.
pub const BUSY_MS: u64 = 5;

/// What a worker leaves.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Found {
    /// Frames: turn, number, whether it loads, GPU and CPU time.
    pub frames: Vec<(u64, u64, bool, Option<u64>, u64)>,
    /// The parts that it timed; of no capture yet.
    pub places: Vec<Place>,
    /// Turn with finer timestamps, place, and time.
    pub spans: Vec<(u64, usize, u64)>,
    /// Turn with finer timestamps, kind of calls, how many, and their time on the CPU.
    pub calls: Vec<(u64, String, u64, u64)>,
    /// What the looped frame shows, or leaves.
    pub hashes: Vec<String>,
    /// What is to be said.
    pub notes: Vec<String>,
    /// The device.
    pub device: Value,
}

impl Found {
    fn frame(&mut self, turn: u64, f: &FrameTime, load: bool) {
        self.frames.push((turn, f.frame, load, f.gpu.map(|n| n.0), f.cpu.0));
    }

    /// Adds what calls of a turn cost.
    fn calls(&mut self, turn: u64, of: &Calls) {
        for (kind, (calls, time)) in of.kinds() {
            self.calls.push((turn, kind.to_owned(), calls, time.0));
        }
    }

    fn note(&mut self, notes: Vec<String>) {
        for n in notes {
            if !self.notes.contains(&n) {
                self.notes.push(n);
            }
        }
    }

    /// Adds spans; a record's repetition, or `turn`, is the turn. The first turn made what later ones use again, and is left out.
    fn spans(&mut self, times: &CommandTimes, turn: Option<u64>, known: &mut HashMap<Place, usize>) {
        let names = &times.names;
        // Submissions count from 0 in each frame of each turn.
        let mut first: HashMap<(u64, u64), u64> = HashMap::new();
        for (r, place) in times.records.iter().zip(places(&times.records)) {
            let turn = turn.unwrap_or(r.repeat.into());
            let first = *first.entry((turn, r.frame)).or_insert(r.submit);
            if turn == 0 || r.frame == u64::MAX {
                continue;
            }
            let path = names.path(r.node);
            let (own, around) = path.split_last().unwrap_or((&"", &[]));
            let shaders = names.shaders.get(&r.pipeline).into_iter().flatten();
            let shaders = shaders.map(|(stage, hash)| format!("{stage}:{hash}")).collect::<Vec<_>>();
            let of = Place {
                capture: 0,
                frame: r.frame,
                submission: r.submit - first,
                position: r.position.into(),
                execution: r.execution.into(),
                index: r.index.into(),
                pass: r.pass.into(),
                draw: r.draw.into(),
                depth: r.depth.into(),
                level: r.kind.name().to_owned(),
                name: if r.kind == SpanKind::Submit { "submit".into() } else { (*own).to_owned() },
                within: around.join(" › "),
                pipeline: object(names, r.pipeline),
                shaders: shaders.join(" "),
            };
            let next = self.places.len();
            let at = *known.entry(of).or_insert_with_key(|of| {
                self.places.push(of.clone());
                next
            });
            self.spans.push((turn - 1, at, place.time().0));
        }
        let said = times.notes.iter().map(|(what, n)| format!("{n} × {what}")).collect();
        self.note(said);
    }
}

/// What a worker is told when it is started.
#[derive(Clone, Debug)]
pub struct Task {
    /// The capture.
    pub file: PathBuf,
    /// The frame to loop; without it the capture is replayed whole.
    pub frame: Option<u64>,
    /// Passes in its shaders.
    pub passes: Option<Passes>,
    /// Changes to its calls.
    pub change: Vec<Use>,
    /// A file that says which sets descriptors are in.
    pub descriptors: Option<PathBuf>,
    /// Turns at most, and turns with finer timestamps.
    pub turns: [u32; 2],
    /// Milliseconds of work before each iteration.
    pub busy: Option<u64>,
    /// Subgroup operations are taken for granted.
    pub assume_subgroups: bool,
    /// Signals that end programs are for who gives turns: it ends when nobody does.
    pub spared: bool,
    /// How to replay.
    pub run: How,
}

/// Takes turns, until it is told to end.
pub fn work(args: &Task) -> Result<Exit, Failure> {
    if args.spared {
        interrupt::ignore();
    }
    let [turns, details] = args.turns;
    let mut replays = Replays::start(args, turns, details)?;
    say(&json!({ "ready": true }))?;
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|e| Failure::new(format_args!("stdin: {e}")))?;
        match line.trim() {
            "turn" => say(&json!({ "turn": replays.turn()?.map(known) }))?,
            "detail" => {
                replays.detail()?;
                say(&json!({ "turn": null }))?;
            }
            "end" => {
                let found = replays.end()?;
                say(&serde_json::to_value(&found).map_err(Failure::new)?)?;
                return Ok(Exit::Done);
            }
            other => return Err(Failure::usage(format_args!("stdin: {other}"))),
        }
    }
    // (whoever gave turns is gone)
    Ok(Exit::Failed)
}

fn known(f: FrameTime) -> Value {
    json!({ "gpu": f.gpu.map(|n| n.0), "cpu": f.cpu.0 })
}

fn say(value: &Value) -> Result<(), Failure> {
    output::print(format!("{value}\n").as_bytes())
}

/// The replays of a worker.
enum Replays {
    Looped {
        plain: Session,
        detailed: Option<Session>,
    },
    Whole {
        capture: Box<Capture>,
        wanted: Box<Wanted>,
        found: Box<Found>,
        known: HashMap<Place, usize>,
        turns: u64,
        details: u64,
        gpu: String,
    },
}

impl Replays {
    fn start(args: &Task, turns: u32, details: u32) -> Result<Replays, Failure> {
        let mut options = options(&args.run)?;
        if options.addresses == AddressMode::Auto {
            // (an address can be had once in a process, and all its replays are to go the same way)
            options.addresses = AddressMode::Translate;
        }
        let shaders = match (&args.passes, &args.descriptors) {
            (Some(passes), _) => Shaders::Passes(passes.clone()),
            // (what stays as it is was said when the plan was compared)
            (None, Some(file)) => {
                let capture = input::open(&args.file, args.run.reading)?;
                Shaders::Repartitioned(split::plan_of(&capture, &options, file, None)?)
            }
            (None, None) => Shaders::Own,
        };
        let wanted = Wanted {
            capture: args.file.clone(),
            memory: args.run.reading,
            options,
            shaders,
            changes: args.change.clone(),
            assume_subgroups: args.assume_subgroups,
            detailed: false,
            busy: Busy {
                time: Duration::from_millis(args.busy.unwrap_or(BUSY_MS)),
                processors: args.busy.is_some(),
            },
        };
        let Some(frame) = args.frame else {
            let capture = Box::new(input::open(&args.file, args.run.reading)?);
            return Ok(Replays::Whole {
                capture,
                wanted: Box::new(wanted),
                found: Box::default(),
                known: HashMap::new(),
                turns: 0,
                details: 0,
                gpu: String::new(),
            });
        };
        let session = |iterations: u32, detailed: bool| {
            let looped = Loop {
                frame,
                iterations,
                warmup: LOOP_WARMUP,
                allow_drift: false,
                leave_contents: false,
                or_once: false,
            };
            let options = replay::options::Options { looped: Some(looped), ..wanted.options.clone() };
            Session::start(Wanted { options, detailed, ..wanted.clone() })
        };
        let detailed = if details > 0 { Some(session(details, true)?) } else { None };
        Ok(Replays::Looped { plain: session(turns, false)?, detailed })
    }

    /// One turn; the latest time that is known.
    fn turn(&mut self) -> Result<Option<FrameTime>, Failure> {
        match self {
            Replays::Looped { plain, .. } => plain.turn(),
            Replays::Whole { capture, wanted, found, turns, gpu, .. } => {
                let (times, load, ..) = whole(capture, wanted, false, *turns, found, gpu)?;
                let loads = |f: &FrameTime| Some(f.frame) == load;
                times.iter().for_each(|f| found.frame(*turns, f, loads(f)));
                *turns += 1;
                // Of all frames together.
                let sum = times.iter().filter(|f| !loads(f) || times.len() == 1);
                Ok(sum.copied().reduce(|a, b| FrameTime {
                    frame: a.frame,
                    gpu: a.gpu.zip(b.gpu).map(|(a, b)| trace::Nanos(a.0 + b.0)),
                    cpu: trace::Nanos(a.cpu.0 + b.cpu.0),
                }))
            }
        }
    }

    fn detail(&mut self) -> Result<(), Failure> {
        match self {
            Replays::Looped { detailed, .. } => detailed.as_ref().map_or(Ok(()), |s| s.turn().map(drop)),
            Replays::Whole { capture, wanted, found, known, details, gpu, .. } => {
                let (_, load, times, calls) = whole(capture, wanted, true, *details, found, gpu)?;
                // (the first turn made what later ones use again)
                if *details > 0 {
                    found.calls(*details - 1, &calls.into_iter().fold(Calls::default(), Calls::and));
                }
                if let Some(mut times) = times {
                    times.records.retain(|r| Some(r.frame) != load);
                    found.spans(&times, Some(*details), known);
                }
                *details += 1;
                Ok(())
            }
        }
    }

    fn end(self) -> Result<Found, Failure> {
        let (mut found, gpu) = match self {
            Replays::Whole { found, gpu, .. } => (*found, gpu),
            Replays::Looped { plain, detailed } => {
                let mut found = Found::default();
                let Outcome { times, looped, notes, gpu, .. } = plain.finish()?;
                (0..).zip(&times.frames).for_each(|(turn, f)| found.frame(turn, f, false));
                found.hashes =
                    looped.hashes.iter().map(|h| h.iter().map(|b| format!("{b:02x}")).collect()).collect();
                found.note(notes);
                if looped.compared == Compared::Changed {
                    // (what a frame leaves may hold addresses, which differ from process to process)
                    found.hashes.clear();
                }
                if let Some(session) = detailed {
                    let outcome = session.finish()?;
                    (0..).zip(outcome.calls.iter().skip(1)).for_each(|(turn, c)| found.calls(turn, c));
                    if let Some(times) = &outcome.detail {
                        found.spans(times, None, &mut HashMap::new());
                    }
                }
                (found, gpu)
            }
        };
        found.device = machine::device(&gpu);
        Ok(found)
    }
}

type Times = (Vec<FrameTime>, Option<u64>, Option<CommandTimes>, Vec<Calls>);

/// Replays the whole capture once.
fn whole(
    capture: &Capture,
    wanted: &Wanted,
    detailed: bool,
    repeat: u64,
    found: &mut Found,
    gpu: &mut String,
) -> Result<Times, Failure> {
    let wanted = Wanted { detailed, ..wanted.clone() };
    let mut all = Hooks::new(&wanted, capture)?;
    let hooks = std::mem::take(&mut all.hooks);
    let summary =
        replay(capture, &wanted.options, On::Vulkan, hooks, repeat as u32, &mut ()).map_err(failure)?;
    let (times, notes, detail, calls) = all.found()?;
    found.note(notes);
    *gpu = summary.gpu.unwrap_or_default();
    Ok((times.frames, summary.load_frame, detail, calls))
}

//! A run of `bench`: a trace whose tables are `bench_frames`, `bench_places`, `bench_spans` and `bench_calls`, and beside its
//! `manifest.json` a `run.json` that says what they are of: captures, plans, processes, and the machine.
//!
//! A run's sampling unit is the *process*: a worker replays one capture under one plan; turns of one process are not independent
//! of each other, processes are held to be.
//!
//! Guarantees: `run.json` is written last, so that a folder that has one is a whole run; fields that a reader does not know are
//! passed over. Refuses another `schema_version`, and rows that refer to workers, captures or places that are not there.

use crate::dir::{Bytes, Capture, Dir};
use crate::note::{self, Kind};
use crate::plan::Plan;
use crate::tables::{BENCH_CALLS, BENCH_FRAMES, BENCH_PLACES, BENCH_SPANS, UNTIMED};
use crate::{Nanos, Source, Unreadable};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

/// The version of the shape of `run.json`.
pub const RUN_VERSION: u32 = 1;

/// Its file.
pub const RUN_FILE: &str = "run.json";

/// Most bytes of it.
const MOST_BYTES: usize = 256 << 20;

/// What `run.json` holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunNote {
    /// [`RUN_VERSION`].
    pub schema_version: u32,
    /// The program and its version.
    pub program: String,
    /// As it was called, without the program.
    pub command_line: Vec<String>,
    /// When it began: seconds since 1970, UTC.
    pub began: u64,
    /// How long it took.
    pub wall: Nanos,
    /// What orders and intervals were seeded with.
    pub seed: u64,
    /// The frame that was looped; none where captures were replayed whole.
    #[serde(default)]
    pub frame: Option<u64>,
    /// Timed turns that each process was to run.
    pub iterations: u32,
    /// Turns with finer timestamps that each process was to run.
    pub detailed: u32,
    /// Milliseconds for which the device was kept busy before each turn of a looped frame.
    #[serde(default)]
    pub busy_ms: u64,
    /// Why there are no more processes: `done`, `tight` (every interval is narrow enough) or `budget` (time was out).
    pub stopped: String,
    /// The machine, and the processor's side of its state, before and after.
    pub machine: Value,
    /// Captures.
    pub captures: Vec<Capture>,
    /// Plans.
    pub plans: Vec<Plan>,
    /// Plans that were not timed, as their picture is not what it has to be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedPlan>,
    /// Processes.
    pub workers: Vec<Worker>,
    /// What is to be said, a sentence each.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// A plan that was not timed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedPlan {
    /// Its name.
    pub plan: String,
    /// What of its picture differs first.
    pub why: String,
    /// The plan that was timed instead: the same, computed precisely.
    #[serde(default)]
    pub instead: Option<String>,
}

/// A process that replayed one capture under one plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Worker {
    /// Which capture.
    pub capture: usize,
    /// Which plan.
    pub plan: usize,
    /// Which process of these, from 0.
    pub process: u32,
    /// Turns that warmed up.
    pub warmup: u32,
    /// Whether times had settled when timing began (docs/runs.md).
    pub settled: bool,
    /// From its start until it waited for its first turn; as many processes start at once as there are processors.
    pub startup: Nanos,
    /// The device that replayed: name, kind, driver, driver_uuid, pipeline_cache_uuid, vulkan, subgroup_size.
    pub device: Value,
    /// The device's clocks, temperature and reasons for throttling before its first turn; null where nobody says.
    #[serde(default)]
    pub before: Value,
    /// The same after its last.
    #[serde(default)]
    pub after: Value,
    /// What the frame shows, or leaves in memory: BLAKE3, in hexadecimal. Empty where a capture was replayed whole.
    #[serde(default)]
    pub hashes: Vec<String>,
    /// What is to be said.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl Worker {
    /// A text of its device.
    pub fn of_device(&self, key: &str) -> &str {
        self.device[key].as_str().unwrap_or_default()
    }
}

/// A frame that ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameSample {
    /// The process.
    pub worker: usize,
    /// Of the whole run.
    pub position: u64,
    /// Of the process.
    pub turn: u64,
    /// Not warm-up.
    pub timed: bool,
    /// The frame's number.
    pub frame: u64,
    /// It loads.
    pub load: bool,
    /// Its GPU time.
    pub gpu: Option<Nanos>,
    /// Its CPU time.
    pub cpu: Nanos,
}

/// A part of frames: what makes it the same part in another run.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// Which capture.
    pub capture: usize,
    /// The frame.
    pub frame: u64,
    /// Submission of the frame.
    pub submission: u64,
    /// Command buffer of the submission.
    pub position: u64,
    /// Execution of a secondary command buffer.
    pub execution: u64,
    /// The command that begins it.
    pub index: u64,
    /// The render pass that it is or is within, by its number in the frame; 0 outside of them.
    pub pass: u64,
    /// Which draw, dispatch or trace of the frame it is; 0 for what is none.
    pub draw: u64,
    /// How many are around it.
    pub depth: u64,
    /// submit, label, pass, secondary, run or command.
    pub level: String,
    /// Its name.
    pub name: String,
    /// Names around it.
    pub within: String,
    /// The pipeline.
    pub pipeline: String,
    /// Its shaders.
    pub shaders: String,
}

/// A place that ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanSample {
    /// The process.
    pub worker: usize,
    /// Of its turns with finer timestamps.
    pub turn: u64,
    /// A row of places.
    pub place: usize,
    /// How long.
    pub time: Nanos,
}

/// What calls of a turn cost the CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSample {
    /// The process.
    pub worker: usize,
    /// Of its turns with finer timestamps.
    pub turn: u64,
    /// descriptors, or recording.
    pub kind: String,
    /// How many.
    pub calls: u64,
    /// How long.
    pub time: Nanos,
}

/// See the module's header.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// What it is of.
    pub note: RunNote,
    /// Every frame, in the order in which each process ran them.
    pub frames: Vec<FrameSample>,
    /// The parts.
    pub places: Vec<Place>,
    /// Their times.
    pub spans: Vec<SpanSample>,
    /// What calls cost.
    pub calls: Vec<CallSample>,
}

impl Run {
    /// Whether a folder is a run's.
    pub fn is_one(folder: &Path) -> bool {
        folder.join(RUN_FILE).is_file()
    }

    /// Reads one; files are read into memory.
    pub fn open(folder: &Path) -> Result<Run, Unreadable> {
        Run::open_with(folder, crate::dir::read)
    }

    /// Reads one whose files the caller opens.
    pub fn open_with(
        folder: &Path,
        open: impl Fn(&Path) -> io::Result<Bytes> + Send + Sync + 'static,
    ) -> Result<Run, Unreadable> {
        let path = folder.join(RUN_FILE);
        let bytes = match open(&path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Err(Unreadable(format!(
                    "{}: there is no {RUN_FILE}; name a folder that `reray-replay bench` wrote",
                    folder.display()
                )));
            }
            Err(e) => return Err(Unreadable(format!("{}: {e}", path.display()))),
        };
        let note = RunNote::parse((*bytes).as_ref(), &path)?;
        let dir = Dir::open_with(folder, open)?;
        let run = Run { note, ..Run::default() }.with(&dir)?;
        run.check().map_err(|why| Unreadable(format!("{}: {why}", folder.display())))?;
        Ok(run)
    }

    /// With the rows of a trace.
    pub fn with(mut self, source: &dyn Source) -> Result<Run, Unreadable> {
        let t = source.read(&BENCH_FRAMES)?;
        let column = |name: &str| t.u64(name).to_vec();
        let [worker, position, turn, timed] = ["worker", "position", "turn", "timed"].map(column);
        let [frame, load, gpu, cpu] = ["frame", "load", "gpu", "cpu"].map(column);
        self.frames = (0..t.len())
            .map(|n| FrameSample {
                worker: worker[n] as usize,
                position: position[n],
                turn: turn[n],
                timed: timed[n] != 0,
                frame: frame[n],
                load: load[n] != 0,
                gpu: (gpu[n] != UNTIMED).then_some(Nanos(gpu[n])),
                cpu: Nanos(cpu[n]),
            })
            .collect();
        let t = source.read(&BENCH_PLACES)?;
        let whole =
            ["capture", "frame", "submission", "position", "execution", "index", "pass", "draw", "depth"];
        let whole = whole.map(|name| t.u64(name).to_vec());
        let words = ["level", "name", "within", "pipeline", "shaders"].map(|name| t.text(name).to_vec());
        self.places = (0..t.len())
            .map(|n| {
                let [capture, frame, submission, position, execution, index, pass, draw, depth] =
                    std::array::from_fn(|c| whole[c][n]);
                let [level, name, within, pipeline, shaders] =
                    std::array::from_fn(|c| words[c][n].to_string());
                Place {
                    capture: capture as usize,
                    frame,
                    submission,
                    position,
                    execution,
                    index,
                    pass,
                    draw,
                    depth,
                    level,
                    name,
                    within,
                    pipeline,
                    shaders,
                }
            })
            .collect();
        let t = source.read(&BENCH_SPANS)?;
        let [worker, turn, place, time] = ["worker", "turn", "place", "time"].map(|name| t.u64(name));
        self.spans = (0..t.len())
            .map(|n| SpanSample {
                worker: worker[n] as usize,
                turn: turn[n],
                place: place[n] as usize,
                time: Nanos(time[n]),
            })
            .collect();
        let t = source.read(&BENCH_CALLS)?;
        let [worker, turn, calls, time] = ["worker", "turn", "calls", "time"].map(|name| t.u64(name));
        let kind = t.text("kind");
        self.calls = (0..t.len())
            .map(|n| CallSample {
                worker: worker[n] as usize,
                turn: turn[n],
                kind: kind[n].to_string(),
                calls: calls[n],
                time: Nanos(time[n]),
            })
            .collect();
        Ok(self)
    }

    /// Every number refers to something.
    fn check(&self) -> Result<(), String> {
        let n = &self.note;
        if let Some(w) =
            n.workers.iter().position(|w| w.capture >= n.captures.len() || w.plan >= n.plans.len())
        {
            return Err(format!("process {w} is of a capture or plan that {RUN_FILE} does not have"));
        }
        let of = |w: &Worker| (w.capture, w.plan, w.process);
        let mut seen = BTreeSet::new();
        if let Some(w) = n.workers.iter().position(|w| !seen.insert(of(w))) {
            let number = n.workers[w].process;
            return Err(format!("process {w}: number {number} of its capture and plan is there twice"));
        }
        let workers = n.workers.len();
        let frames = self.frames.iter().map(|f| f.worker);
        let others = self.spans.iter().map(|s| s.worker).chain(self.calls.iter().map(|c| c.worker));
        if frames.chain(others).any(|w| w >= workers) {
            return Err(format!("times of a process that {RUN_FILE} does not have"));
        }
        if self.places.iter().any(|p| p.capture >= n.captures.len())
            || self.spans.iter().any(|s| s.place >= self.places.len())
        {
            return Err("times of a place that is not in `bench_places`".into());
        }
        Ok(())
    }
}

impl RunNote {
    /// As JSON, with a line end.
    pub fn render(&self) -> String {
        note::render(self)
    }

    /// Reads one; `path` is for messages.
    pub fn parse(json: &[u8], path: &Path) -> Result<RunNote, Unreadable> {
        let kind = Kind {
            version: RUN_VERSION,
            most: MOST_BYTES,
            who: "it",
            wrong: "says nothing of a run",
            what: "the run",
        };
        note::parse(json, path, &kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Memory, Value as V};

    fn note() -> RunNote {
        RunNote {
            schema_version: RUN_VERSION,
            captures: vec![Capture { name: "a.gfxr".into(), ..Capture::default() }],
            plans: vec![Plan::named("plain")],
            workers: vec![Worker { process: 3, warmup: 5, settled: true, ..Worker::default() }],
            machine: serde_json::json!({ "cpus": 2 }),
            ..RunNote::default()
        }
    }

    fn memory(worker: u64, place: u64) -> Memory {
        let mut m = Memory::default();
        let n = V::U64;
        m.put(&BENCH_FRAMES, &[n(worker), n(7), n(1), n(1), n(4), n(0), n(UNTIMED), n(9)]);
        let words = ["pass", "shadow", "world", "#5", "frag:00"].map(V::Text);
        let whole = [0, 0, 4, 1, 2, 3, 8, 5, 6, 2].map(n);
        m.put(&BENCH_PLACES, &[&whole[..], &words[..]].concat());
        m.put(&BENCH_SPANS, &[n(0), n(2), n(place), n(1000)]);
        m.put(&BENCH_CALLS, &[n(0), n(2), V::Text("recording"), n(5), n(70)]);
        m
    }

    #[test]
    fn what_was_written_comes_back() {
        let text = note().render();
        assert_eq!(RunNote::parse(text.as_bytes(), Path::new("x")).expect("it is one"), note());
        let run = Run { note: note(), ..Run::default() }.with(&memory(0, 0)).expect("tables");
        assert_eq!(run.check(), Ok(()));
        assert_eq!((run.frames[0].gpu, run.frames[0].cpu, run.frames[0].position), (None, Nanos(9), 7));
        let p = &run.places[0];
        assert_eq!((p.frame, p.submission, p.position, p.execution, p.index, p.depth), (4, 1, 2, 3, 8, 2));
        assert_eq!((p.pass, p.draw), (5, 6));
        assert_eq!((&*p.level, &*p.name, &*p.within, &*p.pipeline), ("pass", "shadow", "world", "#5"));
        assert_eq!(run.spans[0].time, Nanos(1000));
        let kind = "recording".to_owned();
        assert_eq!(run.calls, [CallSample { worker: 0, turn: 2, kind, calls: 5, time: Nanos(70) }]);
    }

    #[test]
    fn what_refers_to_nothing_is_refused() {
        let of = |m: Memory| Run { note: note(), ..Run::default() }.with(&m).expect("tables").check();
        assert!(of(memory(1, 0)).is_err_and(|e| e.contains("process")));
        assert!(of(memory(0, 1)).is_err_and(|e| e.contains("bench_places")));
        let mut n = note();
        n.workers[0].plan = 1;
        assert!(Run { note: n, ..Run::default() }.check().is_err_and(|e| e.contains("process 0")));
        let mut n = note();
        n.workers.push(n.workers[0].clone());
        assert!(Run { note: n, ..Run::default() }.check().is_err_and(|e| e.contains("number 3")));
        let other = note().render().replace("\"schema_version\": 1", "\"schema_version\": 2");
        let e = RunNote::parse(other.as_bytes(), Path::new("r")).expect_err("another version");
        assert!(e.to_string().contains("schema_version 2"), "{e}");
    }
}

//! Running a target on input after input, on several threads, with a clock and a limit on memory.
//!
//! Guarantees: an input that panics, asks for too much memory or takes too long is named by its index, with its bytes
//! written to `findings/`; the others go on (but after a hang, which no thread comes back from). Refuses nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::alloc;
use crate::bounds;
use crate::echo;
use crate::inputs::{Input, Inputs, Target};
use crate::runs::{self, Runs};
use crate::seeds::Seeds;
use crate::targets::Ran;
use crate::traces::{self, Traces};

/// An input that takes longer hangs.
pub const HANG: Duration = Duration::from_secs(10);
/// How often the watching thread looks.
const LOOK: Duration = Duration::from_millis(100);
/// The index of no input.
const IDLE: u64 = u64::MAX;
/// After so many findings a run ends.
const MOST_FINDINGS: usize = 20;

/// Which inputs to run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What to run them on.
    pub target: Target,
    /// Their seed.
    pub seed: u64,
    /// The first one's index.
    pub first: u64,
    /// How many.
    pub count: u64,
    /// On how many threads.
    pub threads: usize,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Report {
    /// Inputs run.
    pub inputs: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What became of them.
    pub ran: Ran,
    /// Wall time.
    pub seconds: f64,
    /// The slowest input: its time, and its index.
    pub slowest: (Duration, u64),
    /// The largest allocation: its bytes, and its input's index.
    pub largest: (usize, u64),
    /// What went wrong: the input's index, and how.
    pub findings: Vec<(u64, String)>,
}

impl Report {
    fn add(&mut self, other: Report) {
        self.inputs += other.inputs;
        self.bytes += other.bytes;
        self.ran.add(other.ran);
        self.slowest = self.slowest.max(other.slowest);
        self.largest = self.largest.max(other.largest);
    }
}

/// Runs them all.
pub fn run(plan: &Plan, seeds: &Seeds, bases: &Bases) -> Report {
    alloc::take_largest_of_all();
    let start = Instant::now();
    let next = AtomicU64::new(plan.first);
    let (done, findings) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    // What each thread is at.
    let at: Vec<AtomicU64> = (0..plan.threads).map(|_| AtomicU64::new(IDLE)).collect();
    let mut report = Report::default();
    std::thread::scope(|scope| {
        let workers: Vec<_> = at
            .iter()
            .enumerate()
            .map(|(n, at)| {
                let (next, findings) = (&next, &findings);
                let inputs = Inputs::default();
                let of = Worker { seeds, bases, inputs, scratch: scratch(n) };
                scope.spawn(move || worker(plan, of, next, at, findings))
            })
            .collect();
        scope.spawn(|| watch(plan, seeds, &at, &done));
        for worker in workers {
            report.add(worker.join().expect("panics are caught inside"));
        }
        done.store(true, Relaxed);
    });
    report.seconds = start.elapsed().as_secs_f64();
    report.findings = findings.into_inner().expect("no thread died holding it");
    report.findings.sort();
    report
}

fn worker(
    plan: &Plan,
    mut of: Worker,
    next: &AtomicU64,
    at: &AtomicU64,
    findings: &Mutex<Vec<(u64, String)>>,
) -> Report {
    let mut report = Report::default();
    let end = plan.first.saturating_add(plan.count);
    loop {
        let index = next.fetch_add(1, Relaxed);
        if index >= end || findings.lock().expect("not poisoned").len() >= MOST_FINDINGS {
            return report;
        }
        at.store(index, Relaxed);
        alloc::at(index);
        // Making an input reads and decodes, too.
        let made = catch_unwind(AssertUnwindSafe(|| of.make(plan, index)));
        let case = match made {
            Ok(case) => case,
            Err(panic) => {
                of.inputs = Inputs::default();
                let what = format!("panic while it was made: {}", text_of(&*panic));
                findings.lock().expect("not poisoned").push((index, what));
                continue;
            }
        };
        let began = Instant::now();
        alloc::take_largest();
        let input = if let Case::Input(input) = &case { Some(input.clone()) } else { None };
        let result = catch_unwind(AssertUnwindSafe(|| of.run(plan.target, case, index)));
        let took = began.elapsed();
        let session = matches!(plan.target, Target::Echo | Target::Resources);
        let asked = if session { alloc::take_largest_of_all() } else { alloc::take_largest() };
        at.store(IDLE, Relaxed);

        report.inputs += 1;
        report.bytes += input.as_ref().map_or(0, |i| i.bytes().len() as u64);
        report.slowest = report.slowest.max((took, index));
        report.largest = report.largest.max((asked, index));
        let found = |what: String| {
            keep(plan, index, input.as_ref());
            findings.lock().expect("not poisoned").push((index, what));
        };
        match result {
            Ok(ran) => {
                report.ran.add(ran);
                let most = bounds::largest_allocation(plan.target, ran.largest);
                if asked > most {
                    found(format!(
                        "asked for {asked} bytes at once; {most} is what {} bytes of data allow",
                        ran.largest
                    ));
                }
            }
            Err(panic) => {
                of.inputs = Inputs::default();
                found(format!("panic: {}", text_of(&*panic)));
            }
        }
    }
}

/// What a target is run on.
pub enum Case {
    /// A file or a call.
    Input(Input),
    /// A trace.
    Trace(traces::Input),
    /// A run, or one of the smaller files.
    Run(runs::Input),
}

/// Makes and runs cases; one a thread.
struct Worker<'s> {
    seeds: &'s Seeds,
    bases: &'s Bases,
    inputs: Inputs,
    scratch: PathBuf,
}

impl Worker<'_> {
    fn make(&mut self, plan: &Plan, index: u64) -> Case {
        match plan.target {
            Target::Trace => Case::Trace(self.bases.traces.make(plan.seed, index)),
            Target::Run => Case::Run(self.bases.runs.make(plan.seed, index, &self.scratch)),
            target => Case::Input(self.inputs.make(target, self.seeds, plan.seed, index)),
        }
    }
    fn run(&mut self, target: Target, case: Case, index: u64) -> Ran {
        match case {
            Case::Trace(input) => traces::run(input, index),
            Case::Run(input) => self.bases.runs.run(input),
            Case::Input(input) => match target {
                Target::Echo => echo::run(input.bytes(), index),
                Target::Resources => echo::resources(input.bytes(), index),
                target => self.inputs.run(target, &input, index),
            },
        }
    }
}

/// What the inputs of targets that read records are made of.
pub struct Bases {
    traces: Traces,
    runs: Runs,
}

impl Bases {
    /// From the captures; tables are written to a folder for scratch on the way.
    pub fn new(seeds: &Seeds) -> std::io::Result<Self> {
        let scratch = scratch(usize::MAX);
        Ok(Bases { traces: Traces::new(seeds, &scratch)?, runs: Runs::new(&scratch)? })
    }
}

/// A folder of a thread's own.
fn scratch(thread: usize) -> PathBuf {
    std::env::temp_dir().join(format!("reray-mutate-{}-{thread}", std::process::id()))
}

/// What a panic said.
fn text_of(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("?")
}

/// Looks at what every thread is at, and ends the process if one is at the same for too long. Time is counted in looks,
/// so that a process that was stopped for a while does not hang.
fn watch(plan: &Plan, seeds: &Seeds, at: &[AtomicU64], done: &AtomicBool) {
    const LOOKS: u32 = (HANG.as_millis() / LOOK.as_millis()) as u32;
    let mut seen = vec![(IDLE, 0); at.len()];
    while !done.load(Relaxed) {
        std::thread::sleep(LOOK);
        for (at, (index, looks)) in at.iter().zip(&mut seen) {
            let now = at.load(Relaxed);
            *looks = if now == *index && now != IDLE { *looks + 1 } else { 0 };
            *index = now;
            if *looks > LOOKS {
                let made = !matches!(plan.target, Target::Trace | Target::Run);
                let input = made.then(|| Inputs::default().make(plan.target, seeds, plan.seed, now));
                keep(plan, now, input.as_ref());
                eprintln!("{} {:#x} {now}: hangs, {HANG:?} and no end", plan.target.name(), plan.seed);
                std::process::exit(1);
            }
        }
    }
}

/// Writes an input down; records are named by their index alone.
fn keep(plan: &Plan, index: u64, input: Option<&Input>) {
    let Some(input) = input else { return };
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("findings");
    let name = format!("{}-{:x}-{index}{}", plan.target.name(), plan.seed, input.suffix());
    let written =
        std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(folder.join(&name), input.bytes()));
    match written {
        Ok(()) => eprintln!("{} {:#x} {index}: findings/{name}", plan.target.name(), plan.seed),
        Err(e) => eprintln!("{} {:#x} {index}: not kept: {e}", plan.target.name(), plan.seed),
    }
}

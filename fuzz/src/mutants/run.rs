//! Replaying mutant after mutant, several at a time.
//!
//! Guarantees: a mutant's outcome does not depend on the others, but for the shader cache that they share; the folder for
//! scratch is gone afterwards. Refuses to run where files cannot be written.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::mix::FIRST_FRAMES;
use super::outcome::Outcome;
use super::places;
use super::process::{End, Limits, run as run_process};
use super::report::Record;
use super::seed::Seed;
use super::{Maker, Mutant};

/// Which mutants to replay, and how.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The build of the program.
    pub program: PathBuf,
    /// Their seed.
    pub seed: u64,
    /// The first one's index.
    pub first: u64,
    /// How many.
    pub count: u64,
    /// How many at a time.
    pub threads: usize,
    /// What each may take.
    pub limits: Limits,
    /// A folder for files while they are needed.
    pub scratch: PathBuf,
    /// Where mutants are kept that went wrong.
    pub keep: Option<PathBuf>,
    /// gdb may be asked where the program does not say where it crashed.
    pub gdb: bool,
}

/// Replays them all; `each` sees every record as it comes. In the end they are in order.
pub fn run(plan: &Plan, seeds: &[Seed], each: impl FnMut(&Record) + Send) -> io::Result<Vec<Record>> {
    std::fs::create_dir_all(&plan.scratch)?;
    if let Some(keep) = &plan.keep {
        std::fs::create_dir_all(keep)?;
    }
    let next = AtomicU64::new(plan.first);
    let done = Mutex::new((each, Vec::new()));
    let end = plan.first.saturating_add(plan.count);
    let worker = |number: usize| -> io::Result<()> {
        let mut maker = Maker::default();
        loop {
            let index = next.fetch_add(1, Relaxed);
            if index >= end {
                return Ok(());
            }
            let mutant = maker.make(seeds, plan.seed, index);
            let record = replay(plan, &seeds[mutant.seed], mutant, number)?;
            let mut done = done.lock().expect("no thread died holding it");
            (done.0)(&record);
            done.1.push(record);
        }
    };
    let result = std::thread::scope(|scope| {
        let worker = &worker;
        let workers: Vec<_> = (0..plan.threads).map(|n| scope.spawn(move || worker(n))).collect();
        workers.into_iter().try_for_each(|w| w.join().expect("panics are bugs here"))
    });
    let _ = std::fs::remove_dir_all(&plan.scratch);
    result?;
    let mut records = done.into_inner().expect("no thread died holding it").1;
    records.sort_by_key(|r| r.mutant.index);
    Ok(records)
}

fn replay(plan: &Plan, seed: &Seed, mut mutant: Mutant, worker: usize) -> io::Result<Record> {
    let path = |name: &str| plan.scratch.join(format!("{name}-{worker}"));
    let (file, trace, said) = (path("mutant.gfxr"), path("trace"), path("stderr"));
    std::fs::write(&file, std::mem::take(&mut mutant.bytes))?;
    let _ = std::fs::remove_dir_all(&trace);
    let arguments = arguments(&mutant, seed, &file, &trace);
    let environment = environment(&plan.scratch);
    let mut place = None;
    let mut look = |process: u32| {
        if plan.gdb {
            place = places::at(process, &path("gdb"));
        }
    };
    let ended = run_process(&plan.program, &arguments, &environment, &said, false, plan.limits, &mut look)?;
    if matches!(ended.end, End::Signal(_)) {
        place = places::told(&ended.text);
        if place.is_none() && plan.gdb {
            // (a trace is written into a new folder)
            let _ = std::fs::remove_dir_all(&trace);
            place = places::crash(&plan.program, &arguments, &environment, &path("gdb"));
        }
    }
    let outcome = Outcome::of(&ended, place.as_ref());
    if let Some(keep) = plan.keep.as_ref().filter(|_| outcome.is_bad()) {
        let name = format!("{}-{}-{}-{}", plan.seed, mutant.index, outcome.name(), seed.name);
        std::fs::copy(&file, keep.join(name))?;
    }
    Ok(Record { capture: seed.name.clone(), mutant, outcome, place, ended, arguments })
}

fn arguments(mutant: &Mutant, seed: &Seed, file: &Path, trace: &Path) -> Vec<String> {
    let fill = |word: &&str| match *word {
        "{file}" => file.to_string_lossy().into_owned(),
        "{trace}" => trace.to_string_lossy().into_owned(),
        "{frame}" => mutant.frame.to_string(),
        word => word.to_string(),
    };
    let mut words: Vec<String> = mutant.way.arguments().iter().map(fill).collect();
    words.extend(["--quiet", "--watchdog", "5"].map(String::from));
    let first = FIRST_FRAMES.iter().find(|f| f.0 == seed.name);
    if let Some((_, frames)) = first.filter(|_| mutant.way.takes_frames()) {
        words.extend(["--frames".to_string(), frames.to_string()]);
    }
    words
}

/// One thread a replay, as several run; shaders are compiled once.
fn environment(scratch: &Path) -> Vec<(String, String)> {
    let folder = |name: &str| scratch.join(name).to_string_lossy().into_owned();
    vec![
        ("LP_NUM_THREADS".to_string(), "1".to_string()),
        ("MESA_SHADER_CACHE_DIR".to_string(), folder("shaders")),
        ("XDG_CACHE_HOME".to_string(), folder("cache")),
        ("RUST_BACKTRACE".to_string(), "0".to_string()),
    ]
}

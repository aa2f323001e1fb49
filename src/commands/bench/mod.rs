//! `bench`: a run, of several captures under several plans in several processes each (docs/runs.md).
//!
//! `prepare` says what each plan means for each capture, and makes what it reads; `measure` lets processes take turns; a process is
//! this program again (`worker`, on a `session` a replay), which `process` talks to.
//!
//! Guarantees: the folder is there whole or not at all. A plan whose picture is not what it has to be is refused by name, the others
//! are timed, and the command has diverged (exit code 5). Refuses folders that hold something.

mod known;
mod machine;
mod measure;
mod nvml;
mod order;
mod prepare;
mod process;
mod report;
mod session;
mod state;
mod swizzles;
#[cfg(test)]
mod tests;
pub mod traces;
pub mod worker;

pub use measure::{ITERATIONS, Measured, PROCESSES, WARMUP, measure};
pub use prepare::{Prepared, check, differs};
pub use report::report;
pub use state::host;
pub use swizzles::plain;

use super::folder::{self, refuse_full};
use crate::cli::{BenchArgs, RunArgs};
use crate::exit::{Exit, Failure, complain};
use crate::output;
use analyses::report::{json, text};
use analyses::verdict::FEWEST as FEWEST_TO_DECIDE;
use profile::pictures::Tolerance;
use std::path::PathBuf;
use std::time::Duration;
use trace::plan::{PLAIN, Plan};

/// What is measured, and how.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Captures, at least one.
    pub captures: Vec<PathBuf>,
    /// The frame that is looped; without one captures are replayed whole.
    pub frame: Option<u64>,
    /// Plans, at least one.
    pub plans: Vec<Plan>,
    /// Processes of each plan, with a budget at most.
    pub processes: Option<u32>,
    /// Timed turns of each process.
    pub iterations: Option<u32>,
    /// Turns at most before times have settled.
    pub warmup: Option<u32>,
    /// Turns with finer timestamps.
    pub detailed: u32,
    /// Milliseconds for which the device is kept busy before each turn.
    pub busy: Option<u64>,
    /// When to stop.
    pub budget: Option<Duration>,
    /// With a budget: how well what it is for has to be known.
    pub tight: f64,
    /// Where random numbers begin.
    pub seed: u64,
    /// Subgroup operations are taken for granted.
    pub assume_subgroups: bool,
    /// By how much pictures may differ that have to be the same.
    pub image_tolerance: Tolerance,
    /// A trace of the frame's rays, instead of recording them.
    pub rays: Option<PathBuf>,
    /// How to replay.
    pub run: RunArgs,
}

impl From<&BenchArgs> for Settings {
    fn from(args: &BenchArgs) -> Settings {
        Settings {
            captures: args.files.clone(),
            frame: args.frame,
            plans: if args.plan.is_empty() { vec![Plan::named(PLAIN)] } else { args.plan.clone() },
            processes: args.processes,
            iterations: args.iterations,
            warmup: args.warmup,
            detailed: args.detailed,
            busy: args.busy,
            budget: args.budget,
            tight: args.tight,
            seed: args.seed,
            assume_subgroups: args.assume_subgroups,
            image_tolerance: args.image_tolerance,
            rays: None,
            run: args.run.clone(),
        }
    }
}

/// Runs it.
pub fn run(args: &BenchArgs) -> Result<Exit, Failure> {
    refuse_full(&args.output)?;
    if let Some(few) = args.processes.filter(|n| (*n as usize) < FEWEST_TO_DECIDE) {
        complain(format_args!(
            "{few} processes of each plan: `compare` decides nothing with fewer than {FEWEST_TO_DECIDE} a side, and 10 are a good number"
        ));
    }
    let run = folder::whole(&args.output, |part| measure(&Settings::from(args), part))?.run;
    let report = report(&run);
    output::print(if args.json { json::render(&report) } else { text::render(&report) }.as_bytes())?;
    Ok(if run.note.refused.is_empty() { Exit::Done } else { Exit::Diverged })
}

//! `bench`: a run, of several captures under several plans in several processes each (docs/runs.md).
//!
//! `prepare` says what each plan means for each capture, and makes what it reads; `measure` lets processes take turns; a process is
//! this program again (`worker`, on a `session` a replay), which `process` talks to.
//!
//! Guarantees: the folder is there whole or not at all. A plan whose picture is not what it has to be is refused by name, the others
//! are timed, and the command has diverged (exit code 5). Refuses folders that hold something.

mod budget;
mod known;
mod machine;
mod measure;
mod nvml;
mod order;
mod prepare;
mod process;
mod report;
mod session;
mod settings;
mod state;
mod swizzles;
#[cfg(test)]
mod tests;
mod together;
pub mod traces;
pub mod worker;

pub use budget::INTERRUPTED;
pub use measure::{ITERATIONS, Measured, PROCESSES, WARMUP, measure, measure_and_keep};
pub use prepare::{check, differs};
pub use report::report;
pub use settings::{Prepared, Settings};
pub use state::host;
pub use swizzles::plain;

use crate::failure::Failure;
use crate::files::folder::{self, refuse_full};
use crate::interrupt::Interrupt;
use crate::say::complain;
use analyses::verdict::FEWEST as FEWEST_TO_DECIDE;
use std::path::Path;

/// Measures into a new folder.
pub fn bench(settings: &Settings, output: &Path) -> Result<Measured, Failure> {
    refuse_full(output)?;
    if let Some(few) = settings.processes.filter(|n| (*n as usize) < FEWEST_TO_DECIDE) {
        complain(format_args!(
            "{few} processes of each plan: `compare` decides nothing with fewer than {FEWEST_TO_DECIDE} a side, and 10 are a good number"
        ));
    }
    let keeps = "it ends, and keeps what processes have measured to their end";
    folder::whole(output, |part| measure_and_keep(settings, part, || Interrupt::listen(keeps)))
}

//! `study rays` (`experiment::study`).
//!
//! Guarantees: stdout carries the report alone. Refuses nothing of its own.

use crate::cli::StudyCommand;
use crate::exit::{Exit, Failure, columns};
use crate::output;
use analyses::report::{json, text};
use experiment::study::{Rays, study};

/// Runs it.
pub fn run(command: &StudyCommand) -> Result<Exit, Failure> {
    let StudyCommand::Rays(args) = command;
    let wanted = Rays {
        file: args.file.clone(),
        frame: args.frame,
        method: args.method.clone(),
        plan: args.plan.clone(),
        processes: args.processes,
        iterations: args.iterations,
        warmup: args.warmup,
        seed: args.seed,
        trace: args.trace.clone(),
        maps: args.maps,
        no_efficiency: args.no_efficiency,
        image_tolerance: args.image_tolerance,
        assume_subgroups: args.assume_subgroups,
        run: args.run.how(),
    };
    let (report, exit) = study(&wanted, &args.output)?;
    output::print(
        if args.json { json::render(&report) } else { text::render_within(&report, columns()) }.as_bytes(),
    )?;
    Ok(exit)
}

//! `what-if` (`experiment::what_if`).
//!
//! Guarantees: stdout carries the report alone. Refuses nothing of its own.

use crate::cli::WhatIfArgs;
use crate::exit::{Exit, Failure, columns};
use crate::output;
use analyses::report::{json, text};
use experiment::what_if::{Question, what_if};

/// Runs it.
pub fn run(args: &WhatIfArgs) -> Result<Exit, Failure> {
    let question = Question {
        file: args.file.clone(),
        frame: args.frame,
        by: args.by.said(),
        parts: args.parts,
        causes: args.causes,
        on: args.on.clone(),
        processes: args.processes,
        iterations: args.iterations,
        warmup: args.warmup,
        budget: args.budget,
        min_effect: args.min_effect,
        together: args.together,
        seed: args.seed,
        assume_subgroups: args.assume_subgroups,
        run: args.run.how(),
    };
    let (report, interrupted) = what_if(&question, &args.output)?;
    output::print(
        if args.json { json::render(&report) } else { text::render_within(&report, columns()) }.as_bytes(),
    )?;
    Ok(if interrupted { Exit::Failed } else { Exit::Done })
}

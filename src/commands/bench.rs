//! `bench`, and the worker that is a process of its run (`experiment::bench`).
//!
//! Guarantees: the command has diverged (exit code 5) where a plan was refused. Refuses nothing of its own.

use crate::cli::{BenchArgs, WorkerArgs};
use crate::exit::{Exit, Failure, columns, complain};
use crate::output;
use analyses::report::{counted, json, text};
use experiment::bench::{self, Settings, worker};

/// Runs it.
pub fn run(args: &BenchArgs) -> Result<Exit, Failure> {
    let run = bench::bench(&Settings::from(args), &args.output)?.run;
    let report = bench::report(&run);
    output::print(
        if args.json { json::render(&report) } else { text::render_within(&report, columns()) }.as_bytes(),
    )?;
    let interrupted = run.note.stopped == bench::INTERRUPTED;
    if interrupted {
        let processes = counted(run.note.workers.len() as u64, "process");
        complain(format_args!("{} holds what {processes} measured", args.output.display()));
    }
    Ok(match (run.note.refused.is_empty(), interrupted) {
        (false, _) => Exit::Diverged,
        (true, true) => Exit::Failed,
        (true, false) => Exit::Done,
    })
}

/// Takes turns as a process of a run.
pub fn work(args: &WorkerArgs) -> Result<Exit, Failure> {
    let [turns, details] = args.turns[..] else { return Err(Failure::usage("--turns A B")) };
    worker::work(&worker::Task {
        file: args.file.clone(),
        frame: args.frame,
        passes: args.passes.clone(),
        change: args.change.clone(),
        descriptors: args.descriptors.clone(),
        turns: [turns, details],
        busy: args.busy,
        assume_subgroups: args.assume_subgroups,
        spared: args.spared,
        run: args.run.how(),
    })
}

//! `profile` (`experiment::record`).
//!
//! Guarantees: stdout carries the summary alone; frames that show something else than without probes, beyond `--image-tolerance`, are an
//! error (exit code 5) that names the pass. Refuses nothing of its own.

use crate::cli::{CountersBy, ProfileArgs};
use crate::exit::{Exit, Failure, columns, complain};
use crate::output;
use experiment::record::{Counted, Settings, list, record};
use trace::plan::Passes;

/// Runs it.
pub fn run(args: &ProfileArgs) -> Result<Exit, Failure> {
    if args.list {
        output::print(list(columns()).as_bytes())?;
        return Ok(Exit::Done);
    }
    let recorded = record(&settings(args)?)?;
    output::print_sentences(&recorded.text)?;
    if let Some(why) = recorded.differs {
        complain(format_args!("{why}; the trace is kept, and marked"));
    }
    Ok(recorded.exit)
}

fn settings(args: &ProfileArgs) -> Result<Settings, Failure> {
    let file = args.file.clone().ok_or_else(|| Failure::usage("which capture?"))?;
    let output = args.output.clone().ok_or_else(|| Failure::usage("where to? -o DIR"))?;
    Ok(Settings {
        file,
        output,
        passes: args.passes.clone().unwrap_or(Passes(vec![])),
        ask: args.ask.clone(),
        frames: args.frames.clone(),
        stages: args.stages.clone(),
        pipelines: args.pipelines.clone(),
        shaders: args.shaders.clone(),
        render_passes: args.render_passes.clone(),
        render_pass_numbers: args.render_pass_numbers.clone(),
        labels: args.labels.clone(),
        counters: match args.counters {
            CountersBy::Auto => Counted::Auto,
            CountersBy::Portable => Counted::Portable,
            CountersBy::Arm => Counted::Arm,
        },
        window: args.window,
        log_bytes: args.log_bytes,
        max_log_bytes: args.max_log_bytes,
        geometry: args.geometry,
        no_verify_image: args.no_verify_image,
        image_tolerance: args.image_tolerance,
        assume_subgroups: args.assume_subgroups,
        sample: args.sample,
        sample_seed: args.sample_seed,
        replays: args.replays,
        keep_calls: args.keep_calls,
        narrow: args.narrow,
        no_cache: args.no_cache,
        dump_shaders: args.dump_shaders.clone(),
        changes: args.change.clone(),
        run: args.run.how(),
    })
}

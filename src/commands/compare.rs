//! `compare`: two runs of `bench`, or two traces, and a verdict.
//!
//! Guarantees: the exit code is the verdict's (0 no change or better, 3 regression, 4 inconclusive), whatever was printed; files are
//! there whole or not at all.

use crate::archive::Place;
use crate::cli::{Clock, CompareArgs, CompareFormat};
use crate::exit::{Exit, Failure, complain};
use crate::input::no_capture;
use crate::output::{self, write_file};
use analyses::verdict::compare::{self, Compared, Wanted};
use analyses::verdict::counts;
use analyses::verdict::{Ask, METRICS, Metric, Verdict, export};
use std::path::Path;
use trace::dir::{Dir, MANIFEST};
use trace::run::{RUN_FILE, Run};
use trace::suite::{SUITE_FILE, UNITS};

/// Runs it.
pub fn run(args: &CompareArgs) -> Result<Exit, Failure> {
    if !(args.alpha > 0.0 && args.alpha < 0.5) {
        return Err(Failure::usage("--alpha: above 0 and below 0.5"));
    }
    let compared = match (open(&args.base)?, open(&args.new)?) {
        (Side::Run(base), Side::Run(new)) => runs(args, &base, &new)?,
        (Side::Trace(base), Side::Trace(new)) => traces(args, &base, &new)?,
        _ => {
            return Err(Failure::usage(
                "one side is a run, the other a trace: times and counts have nothing in common",
            ));
        }
    };
    for (format, file) in &args.write {
        write_file(file, rendered(*format, &compared).as_bytes())?;
    }
    output::print(rendered(args.format.or_json(args.json), &compared).as_bytes())?;
    Ok(match compared.verdict {
        Verdict::Regression => Exit::Regression,
        Verdict::Inconclusive => Exit::Inconclusive,
        Verdict::NoChange | Verdict::NotWorse | Verdict::Improvement => Exit::Done,
    })
}

fn runs(args: &CompareArgs, base: &Run, new: &Run) -> Result<Compared, Failure> {
    if !args.threshold.is_empty() {
        return Err(Failure::usage("--threshold is of traces; of runs --min-effect"));
    }
    let median = [Metric::Median.name().to_owned()];
    let wanted = Wanted {
        metrics: metrics(if args.metric.is_empty() { &median } else { &args.metric })?,
        ask: Ask { effect: args.min_effect, alpha: args.alpha },
        clock: args.clock.map(|c| if c == Clock::Gpu { compare::Clock::Gpu } else { compare::Clock::Cpu }),
        against: args.against.clone(),
        plans: args.plans.clone(),
        force: args.force,
    };
    compare::compare(base, new, &wanted).map_err(Failure::new)
}

fn traces(args: &CompareArgs, base: &Dir, new: &Dir) -> Result<Compared, Failure> {
    let of_runs = [
        (args.against.is_some(), "--against"),
        (!args.plans.is_empty(), "--plans"),
        (args.clock.is_some(), "--clock"),
    ];
    if let Some((_, flag)) = of_runs.iter().find(|f| f.0) {
        return Err(Failure::usage(format_args!("{flag} is of runs, whose plans are timed")));
    }
    let wanted = counts::Wanted {
        columns: args.metric.clone(),
        effect: args.min_effect,
        thresholds: args.threshold.iter().cloned().collect(),
        force: args.force,
    };
    let [base, new] = [base, new].map(|dir| counts::Side { trace: dir, manifest: dir.manifest() });
    counts::compare(base, new, &wanted).map_err(Failure::new)
}

/// Metrics by their names, each once.
pub fn metrics(names: &[String]) -> Result<Vec<Metric>, Failure> {
    let mut metrics = vec![];
    for name in names {
        let metric = Metric::named(name).ok_or_else(|| {
            let names: Vec<&str> = METRICS.iter().map(|m| m.name()).collect();
            Failure::usage(format_args!("--metric {name}: there are {}", names.join(", ")))
        })?;
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    Ok(metrics)
}

/// What is compared.
enum Side {
    Run(Run),
    Trace(Dir),
}

/// A run or a trace, in a folder or a file.
fn open(path: &Path) -> Result<Side, Failure> {
    no_capture(path, "simt")?;
    let place = Place::open(path, &[RUN_FILE, SUITE_FILE, MANIFEST])?;
    if !place.has(Path::new(RUN_FILE)) && place.has(Path::new(SUITE_FILE)) {
        let text = format!(
            "a suite's results; `reray-replay suite compare` compares them, or name one run, {UNITS}/UNIT in it"
        );
        return Err(Failure::new(format_args!("{}: {text}", path.display())));
    }
    // (a run has tables, too)
    if !place.has(Path::new(RUN_FILE)) && place.has(Path::new(MANIFEST)) {
        let dir = place.trace(Path::new("")).map_err(Failure::new)?;
        dir.warnings().iter().for_each(|w| complain(format_args!("warning: {w}")));
        return Ok(Side::Trace(dir));
    }
    place.run(Path::new("")).map(Side::Run).map_err(Failure::new)
}

fn rendered(format: CompareFormat, compared: &Compared) -> String {
    match format {
        CompareFormat::Text => export::as_text(compared),
        CompareFormat::Json => export::as_json(compared),
        CompareFormat::Markdown => export::as_markdown(compared),
        CompareFormat::Junit => export::as_junit(compared),
        CompareFormat::Benchmark => export::as_benchmark(compared),
        CompareFormat::Bencher => export::as_bencher(compared),
        CompareFormat::Csv => export::as_csv(compared),
    }
}

//! `compare`: two runs of `bench`, and a verdict.
//!
//! Guarantees: the exit code is the verdict's (0 no change or better, 3 regression, 4 inconclusive), whatever was printed; files are
//! there whole or not at all.

use crate::archive::Place;
use crate::cli::{Clock, CompareArgs, CompareFormat};
use crate::exit::{Exit, Failure};
use crate::output::{self, write_file};
use analyses::verdict::compare::{self, Compared, Wanted};
use analyses::verdict::{Ask, METRICS, Metric, Verdict, export};
use std::path::Path;
use trace::run::{RUN_FILE, Run};
use trace::suite::{SUITE_FILE, UNITS};

/// Runs it.
pub fn run(args: &CompareArgs) -> Result<Exit, Failure> {
    // (before anything is read)
    metrics(&args.metric)?;
    if !(args.alpha > 0.0 && args.alpha < 0.5) {
        return Err(Failure::usage("--alpha: above 0 and below 0.5"));
    }
    let (base, new) = (open(&args.base)?, open(&args.new)?);
    let wanted = Wanted {
        metrics: metrics(&args.metric)?,
        ask: Ask { effect: args.min_effect, alpha: args.alpha },
        clock: args.clock.map(|c| if c == Clock::Gpu { compare::Clock::Gpu } else { compare::Clock::Cpu }),
        against: args.against.clone(),
        plans: args.plans.clone(),
        force: args.force,
    };
    let compared = compare::compare(&base, &new, &wanted).map_err(Failure::new)?;
    for (format, file) in &args.write {
        write_file(file, rendered(*format, &compared).as_bytes())?;
    }
    output::print(rendered(args.format, &compared).as_bytes())?;
    Ok(match compared.verdict {
        Verdict::Regression => Exit::Regression,
        Verdict::Inconclusive => Exit::Inconclusive,
        Verdict::NoChange | Verdict::NotWorse | Verdict::Improvement => Exit::Done,
    })
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

/// A run, in a folder or a file.
fn open(path: &Path) -> Result<Run, Failure> {
    let place = Place::open(path, &[RUN_FILE, SUITE_FILE])?;
    if !place.has(Path::new(RUN_FILE)) && place.has(Path::new(SUITE_FILE)) {
        let text = format!(
            "a suite's results; `reray-replay suite compare` compares them, or name one run, {UNITS}/UNIT in it"
        );
        return Err(Failure::new(format_args!("{}: {text}", path.display())));
    }
    place.run(Path::new("")).map_err(Failure::new)
}

fn rendered(format: CompareFormat, compared: &Compared) -> String {
    match format {
        CompareFormat::Text => export::as_text(compared),
        CompareFormat::Json => export::as_json(compared),
        CompareFormat::Markdown => export::as_markdown(compared),
        CompareFormat::Junit => export::as_junit(compared),
        CompareFormat::Benchmark => export::as_benchmark(compared),
        CompareFormat::Csv => export::as_csv(compared),
    }
}

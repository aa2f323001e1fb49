//! `compare`: two runs of `bench --processes`, and a verdict.
//!
//! Guarantees: the exit code is the verdict's (0 no change or better, 3 regression, 4 inconclusive), whatever was printed; files are
//! there whole or not at all.

use crate::cli::{Clock, CompareArgs, CompareFormat};
use crate::exit::{Exit, Failure};
use crate::mmap;
use crate::output::{self, write_file};
use analyses::verdict::compare::{self, Compared, Wanted};
use analyses::verdict::{Ask, DRAWINGS, METRICS, Metric, Verdict, export};
use std::path::Path;
use trace::run::Run;

/// Runs it.
pub fn run(args: &CompareArgs) -> Result<Exit, Failure> {
    if !(args.alpha > 0.0 && args.alpha < 0.5) {
        return Err(Failure::usage("--alpha: above 0 and below 0.5"));
    }
    let mut metrics = vec![];
    for name in &args.metric {
        let metric = Metric::named(name).ok_or_else(|| {
            let names: Vec<&str> = METRICS.iter().map(|m| m.name()).collect();
            Failure::usage(format_args!("--metric {name}: there are {}", names.join(", ")))
        })?;
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    let open = |folder: &Path| Run::open_with(folder, mmap::open).map_err(Failure::new);
    let (base, new) = (open(&args.base)?, open(&args.new)?);
    let wanted = Wanted {
        metrics,
        ask: Ask { effect: args.min_effect, alpha: args.alpha, drawings: DRAWINGS, seed: args.seed },
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

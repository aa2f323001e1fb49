//! `mutate`: runs mutated inputs by the million and says what became of them.
//!
//! ```text
//! mutate [--target NAME]... [--count N] [--seed N] [--first N] [--threads N] [--captures DIR]... [--json FILE]
//! mutate --truncate [--captures DIR]...          every small capture, cut off after every byte
//! ```
//!
//! Exit status: 0 nothing found, 1 something found, 2 usage.

use std::path::PathBuf;
use std::process::ExitCode;

use fuzz::alloc::Counting;
use fuzz::inputs::Target;
use fuzz::run::{Bases, Plan, Report, run};
use fuzz::seeds::Seeds;
use fuzz::{bounds, cuts};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const USAGE: &str =
    "usage: mutate [--target container|call|round-trip|echo|resources|trace|run]... [--count N]
              [--seed N] [--first N] [--threads N] [--captures DIR]... [--json FILE] | --truncate [--captures DIR]...";

struct Args {
    targets: Vec<Target>,
    plan: Plan,
    folders: Vec<PathBuf>,
    json: Option<PathBuf>,
    truncate: bool,
}

fn args() -> Result<Args, String> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let plan = Plan { target: Target::Container, seed: 1, first: 0, count: 1_000_000, threads };
    let mut args = Args { targets: vec![], plan, folders: vec![], json: None, truncate: false };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if word == "--truncate" {
            args.truncate = true;
            continue;
        }
        let value =
            words.next().ok_or_else(|| format!("{word}: a value is missing, or the option is unknown"))?;
        let number = || value.parse::<u64>().map_err(|e| format!("{word} {value}: {e}"));
        match word.as_str() {
            "--target" => {
                args.targets.push(Target::named(&value).ok_or_else(|| format!("{word} {value}: unknown"))?)
            }
            "--count" => args.plan.count = number()?,
            "--seed" => args.plan.seed = number()?,
            "--first" => args.plan.first = number()?,
            "--threads" => args.plan.threads = number()?.clamp(1, 256) as usize,
            "--captures" => args.folders.push(value.into()),
            "--json" => args.json = Some(value.into()),
            _ => return Err(format!("unknown option {word}")),
        }
    }
    if args.targets.is_empty() {
        args.targets = Target::ALL.to_vec();
    }
    if args.folders.is_empty() {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        args.folders = ["../../shared/captures", "../captures/samples"].map(|f| root.join(f)).to_vec();
    }
    Ok(args)
}

fn main() -> ExitCode {
    let args = match args() {
        Ok(args) => args,
        Err(message) => {
            eprintln!("{message}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    if args.truncate {
        return cuts::files(&args.folders);
    }
    let seeds = Seeds::of_folders(&args.folders);
    let (times, of) = bounds::growth();
    println!(
        "seeds: {} captures ({}), {} calls",
        seeds.files.len(),
        seeds.names.join(", "),
        seeds.calls.len()
    );
    println!("bound: memory up to 2 x {times} x data ({of})");
    let bases = match Bases::new(&seeds) {
        Ok(bases) => bases,
        Err(e) => {
            eprintln!("traces and runs to start from: {e}");
            return ExitCode::FAILURE;
        }
    };
    // Panics are findings: the report names them, with their input.
    std::panic::set_hook(Box::new(|info| eprintln!("{info}")));
    let mut found = false;
    let mut records = vec![];
    for target in args.targets {
        let plan = Plan { target, ..args.plan.clone() };
        let report = run(&plan, &seeds, &bases);
        print(&plan, &report);
        found |= !report.findings.is_empty();
        records.push(record(&plan, &report));
    }
    if let Some(path) = args.json {
        let text = format!("{:#}\n", serde_json::json!({ "captures": seeds.names, "runs": records }));
        if let Err(e) = std::fs::write(&path, text) {
            eprintln!("{}: {e}", path.display());
            return ExitCode::FAILURE;
        }
    }
    if found { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn print(plan: &Plan, r: &Report) {
    println!(
        "{:<10} {:>9} inputs, {:>7.1} MB, {:>6.1} s | read {}, refused {}, round trips {} | slowest {:.1} ms (#{}), \
         largest allocation {} bytes (#{}) | findings: {}",
        plan.target.name(),
        r.inputs,
        r.bytes as f64 / 1e6,
        r.seconds,
        r.ran.read,
        r.ran.refused,
        r.ran.round_trips,
        r.slowest.0.as_secs_f64() * 1e3,
        r.slowest.1,
        r.largest.0,
        r.largest.1,
        r.findings.len(),
    );
    for (index, what) in &r.findings {
        println!("  #{index}: {what}");
    }
}

fn record(plan: &Plan, r: &Report) -> serde_json::Value {
    serde_json::json!({
        "target": plan.target.name(), "seed": plan.seed, "first": plan.first, "inputs": r.inputs, "bytes": r.bytes,
        "threads": plan.threads, "seconds": r.seconds, "read": r.ran.read, "refused": r.ran.refused,
        "round_trips": r.ran.round_trips, "largest_data_bytes": r.ran.largest,
        "slowest_ms": r.slowest.0.as_secs_f64() * 1e3, "slowest_index": r.slowest.1,
        "largest_allocation_bytes": r.largest.0, "largest_allocation_index": r.largest.1,
        "findings": r.findings.iter().map(|(i, w)| serde_json::json!({ "index": i, "what": w })).collect::<Vec<_>>(),
    })
}

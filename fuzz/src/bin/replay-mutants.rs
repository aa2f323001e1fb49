//! `replay-mutants`: replays mutated captures, each in a process of its own, and says what became of them.
//!
//! ```text
//! replay-mutants --program PATH [--count N] [--seed N] [--first N] [--threads N] [--captures DIR]... [--keep DIR]
//!                [--json FILE] [--time SECONDS] [--memory MB] [--scratch DIR] [--no-gdb]
//! replay-mutants --make FILE --first N [--seed N]          writes that mutant, and says what it is
//! ```
//!
//! Exit status: 0 nothing of ours, 1 a crash, a panic, a hang or a runaway of ours, 2 usage.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use fuzz::mutants::Maker;
use fuzz::mutants::outcome::Outcome;
use fuzz::mutants::process::Limits;
use fuzz::mutants::report::{Record, tables};
use fuzz::mutants::run::{Plan, run};
use fuzz::mutants::seed::of_folders;

const USAGE: &str = "usage: replay-mutants --program PATH [--count N] [--seed N] [--first N] [--threads N] [--captures DIR]...
                      [--keep DIR] [--json FILE] [--time SECONDS] [--memory MB] [--scratch DIR] [--no-gdb]
       replay-mutants --make FILE --first N [--seed N] [--captures DIR]...";

struct Args {
    plan: Plan,
    folders: Vec<PathBuf>,
    json: Option<PathBuf>,
    make: Option<PathBuf>,
}

fn args() -> Result<Args, String> {
    let plan = Plan {
        program: PathBuf::new(),
        seed: 1,
        first: 0,
        count: 1000,
        threads: 3,
        limits: Limits { time: Duration::from_secs(20), memory: 4 << 30 },
        scratch: PathBuf::from(format!("/dev/shm/replay-mutants-{}", std::process::id())),
        keep: None,
        gdb: true,
    };
    let mut args = Args { plan, folders: vec![], json: None, make: None };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if word == "--no-gdb" {
            args.plan.gdb = false;
            continue;
        }
        let value =
            words.next().ok_or_else(|| format!("{word}: a value is missing, or the option is unknown"))?;
        let number = || value.parse::<u64>().map_err(|e| format!("{word} {value}: {e}"));
        match word.as_str() {
            "--program" => args.plan.program = value.into(),
            "--count" => args.plan.count = number()?,
            "--seed" => args.plan.seed = number()?,
            "--first" => args.plan.first = number()?,
            "--threads" => args.plan.threads = number()?.clamp(1, 4) as usize,
            "--captures" => args.folders.push(value.into()),
            "--keep" => args.plan.keep = Some(value.into()),
            "--json" => args.json = Some(value.into()),
            "--make" => args.make = Some(value.into()),
            "--time" => args.plan.limits.time = Duration::from_secs(number()?),
            "--memory" => args.plan.limits.memory = number()? << 20,
            "--scratch" => args.plan.scratch = value.into(),
            _ => return Err(format!("unknown option {word}")),
        }
    }
    if args.make.is_none() && args.plan.program.as_os_str().is_empty() {
        return Err("--program: which build of reray-replay is to run".to_string());
    }
    if args.folders.is_empty() {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        args.folders = ["../captures/samples", "../../shared/captures"].map(|f| root.join(f)).to_vec();
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
    match work(&args) {
        Ok(status) => status,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn work(args: &Args) -> Result<ExitCode, String> {
    let seeds = of_folders(&args.folders);
    if seeds.is_empty() {
        return Err("no captures in those folders".to_string());
    }
    if let Some(path) = &args.make {
        let mutant = Maker::default().make(&seeds, args.plan.seed, args.plan.first);
        std::fs::write(path, &mutant.bytes).map_err(|e| said(path, &e))?;
        println!("{} ({}), {}", seeds[mutant.seed].name, mutant.class.name(), mutant.way.name());
        mutant.changes.iter().for_each(|c| println!("{c}"));
        return Ok(ExitCode::SUCCESS);
    }
    let json = args.json.as_ref().map(|p| File::create(p).map_err(|e| said(p, &e))).transpose()?;
    let json = Mutex::new(json.map(BufWriter::new));
    let plan = &args.plan;
    let start = Instant::now();
    let mut done = 0;
    let each = |record: &Record| {
        if let Some(file) = json.lock().expect("not poisoned").as_mut() {
            let _ = writeln!(file, "{}", record.json(plan.seed));
        }
        if record.outcome.is_bad() {
            eprintln!(
                "#{} {} {}: {:?}",
                record.mutant.index,
                record.capture,
                record.outcome.name(),
                record.mutant.changes
            );
        }
        done += 1;
        if done % 1000 == 0 {
            eprintln!("{done} of {}, {:.0} s", plan.count, start.elapsed().as_secs_f64());
        }
    };
    let records = run(plan, &seeds, each).map_err(|e| said(&plan.scratch, &e))?;
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{} mutants of {} captures, seed {}, from {}: {seconds:.0} s on {} threads",
        records.len(),
        seeds.len(),
        plan.seed,
        plan.first,
        plan.threads
    );
    print!("{}", tables(&records));
    let ours = records.iter().filter(|r| r.outcome.is_ours()).count();
    let driver = records.iter().filter(|r| r.outcome == Outcome::Driver).count();
    println!(
        "\nof ours: {ours}; in the driver: {driver}, {:.2} % of all",
        100.0 * driver as f64 / records.len().max(1) as f64
    );
    Ok(if ours > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn said(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

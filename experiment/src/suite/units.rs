//! A suite's units: what is measured by itself, in a run of its own.
//!
//! A unit is one capture, looped at one frame or replayed whole, under all its plans: plans take turns within a run, so they are
//! never split.
//!
//! Guarantees: names are unique, also where letters' case does not count, and safe as folders' names; every unit's command line
//! has been read as `bench` reads it, so that a flag that makes no sense is found before anything is measured. Captures need not
//! be there, but for patterns: these are what the folder holds, in order of names. Refuses more than [`MOST_UNITS`].

use super::file::{Bench, Settings as Keys, Suite};
use crate::bench::{self, Settings};
use crate::how::DRIVER;
use std::collections::BTreeMap;
use std::path::Path;
use trace::plan::Plan;

/// Most units of a suite.
pub const MOST_UNITS: usize = 10_000;

/// See the module's header.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// Its name.
    pub name: String,
    /// Its `[[bench]]`, from 0.
    pub bench: usize,
    /// The capture, as seen from the suite file.
    pub file: String,
    /// The looped frame.
    pub frame: Option<u64>,
    /// Names of its plans.
    pub plans: Vec<String>,
    /// Processes of each plan.
    pub processes: u32,
    /// What it is held to cost beside other units.
    pub cost: f64,
    /// The words that measure it, but for the output's.
    pub words: Vec<String>,
    /// What takes its pictures, by plan.
    pub pictures: Vec<Beside>,
    /// What counts.
    pub counts: Option<Beside>,
}

/// A command beside a unit's own.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// The plan that it replays.
    pub plan: String,
    /// Its words, but for the output's.
    pub words: Vec<String>,
    /// Variables that are set.
    pub env: Vec<(String, String)>,
}

/// The command that replays a frame of a unit under a plan, for something beside its times.
fn beside(command: &[String], plan: &Plan, frame: Option<u64>, s: &Keys) -> Beside {
    let mut words = command.to_vec();
    let mut add = |flag: &str, value: Option<String>| words.extend(value.map(|v| format!("--{flag}={v}")));
    add("frames", frame.map(|f| f.to_string()));
    add("gpu", plan.gpu.clone().or_else(|| s.gpu.as_ref().map(|g| g.0.clone())));
    words.extend(s.options.iter().flatten().cloned());
    let driver = plan.driver.iter().flat_map(|d| DRIVER.map(|n| (n.to_owned(), d.clone())));
    let env = plan.env.iter().map(|(n, v)| (n.clone(), v.clone())).chain(driver);
    Beside { plan: plan.name.clone(), words, env: env.collect() }
}

/// What takes a unit's pictures: of plans that change no shader, no descriptor, and no picture by intention.
fn pictures(file: &str, plans: &[&Plan], frame: Option<u64>, s: &Keys) -> Vec<Beside> {
    let seen = plans.iter().filter(|p| {
        p.passes.is_empty()
            && p.method.is_none()
            && p.shaders.is_none()
            && p.descriptors.is_none()
            && p.changes.is_empty()
    });
    let words = ["screenshot", file, "--hash"].map(str::to_owned);
    if s.pictures.is_some() { seen.map(|p| beside(&words, p, frame, s)).collect() } else { vec![] }
}

/// What counts in a unit's frame, under its first plan.
fn counts(file: &str, plans: &[&Plan], frame: Option<u64>, s: &Keys) -> Option<Beside> {
    let (passes, first) = (s.counts.as_ref()?, plans.first()?);
    let mut words = ["profile", file].map(str::to_owned).to_vec();
    words.push(format!("--passes={}", passes.0.join(",")));
    if s.assume_subgroups == Some(true) {
        words.push("--assume-subgroups".into());
    }
    Some(beside(&words, first, frame, s))
}

/// What words behind the program's name mean to `bench`.
pub struct AsRead {
    /// What they measure.
    pub settings: Settings,
    /// Whether they also say something else than what is measured and how, as `--json` does.
    pub other: bool,
}

/// Reads words behind the program's name as `bench` does; says why they are none of `bench`.
pub type Words = fn(&[String]) -> Result<AsRead, String>;

/// All units of a suite whose file lies in `folder`.
pub fn units(suite: &Suite, folder: &Path, read: Words) -> Result<Vec<Unit>, String> {
    let mut all: Vec<Unit> = vec![];
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    for (n, bench) in suite.benches.iter().enumerate() {
        let at = |what: String| format!("{}:{}: {what}", suite.file, bench.line);
        let mut files = vec![];
        for capture in &bench.captures {
            files.extend(expanded(capture, folder).map_err(at)?);
        }
        let frames: Vec<Option<u64>> = match bench.frames.is_empty() {
            true => vec![None],
            false => bench.frames.iter().copied().map(Some).collect(),
        };
        for file in &files {
            for &frame in &frames {
                let name = name(bench, file, files.len() > 1, frame);
                if let Some(line) = lines.insert(name.to_ascii_lowercase(), bench.line) {
                    let what = format!(
                        "two units are called {name}, the other one of the [[bench]] on line {line}; give them other names"
                    );
                    return Err(at(what));
                }
                let unit = unit(suite, n, (file, frame), name, read).map_err(at)?;
                all.push(unit);
                if all.len() > MOST_UNITS {
                    return Err(at(format!("{MOST_UNITS} units at most")));
                }
            }
        }
    }
    Ok(all)
}

/// A capture's name, or what a pattern stands for.
fn expanded(capture: &str, folder: &Path) -> Result<Vec<String>, String> {
    if !capture.contains(['*', '?', '[']) {
        return Ok(vec![capture.to_owned()]);
    }
    let whole = match Path::new(capture).is_absolute() {
        true => capture.to_owned(),
        false => format!("{}/{capture}", glob::Pattern::escape(&folder.to_string_lossy())),
    };
    let options = glob::MatchOptions { require_literal_leading_dot: true, ..Default::default() };
    let found = glob::glob_with(&whole, options).map_err(|e| format!("{capture}: {e}"))?;
    let mut files = vec![];
    for path in found {
        let path = path.map_err(|e| format!("{capture}: {e}"))?;
        if path.is_file() {
            files.push(path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned());
        }
    }
    files.sort();
    match files.is_empty() {
        true => Err(format!("{capture}: no file in {} is called so", folder.display())),
        false => Ok(files),
    }
}

fn name(bench: &Bench, file: &str, several: bool, frame: Option<u64>) -> String {
    let stem = Path::new(file).file_stem().unwrap_or_default().to_string_lossy();
    let sound = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' };
    let stem: String = stem.chars().map(sound).collect();
    let stem = stem.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    let stem = if stem.is_empty() { "capture" } else { stem };
    let mut out = match (&bench.name, several) {
        (None, _) => stem.to_owned(),
        (Some(name), false) => name.clone(),
        (Some(name), true) => format!("{name}-{stem}"),
    };
    if let Some(frame) = frame {
        out += &format!("-f{frame}");
    }
    out
}

fn unit(
    suite: &Suite,
    n: usize,
    (file, frame): (&str, Option<u64>),
    name: String,
    read: Words,
) -> Result<Unit, String> {
    let bench = &suite.benches[n];
    let s = &bench.settings;
    if name.len() > 200 {
        return Err(format!("unit {name}: a name of 200 letters at most"));
    }
    // (what begins with a hyphen would be a flag)
    let file = if file.starts_with('-') { format!("./{file}") } else { file.to_owned() };
    let mut words = vec!["bench".to_owned(), file.clone()];
    let mut add = |flag: &str, value: Option<String>| words.extend(value.map(|v| format!("--{flag}={v}")));
    add("frame", frame.map(|f| f.to_string()));
    let processes = s.processes.or(s.budget.is_none().then_some(bench::PROCESSES[0]));
    add("processes", processes.map(|n| n.to_string()));
    add("iterations", s.iterations.map(|n| n.to_string()));
    add("warmup", s.warmup.map(|n| n.to_string()));
    add("detailed", s.detailed.map(|n| n.to_string()));
    // (captures that are replayed whole have no turns of a frame)
    add("busy", frame.and(s.busy).map(|ms| ms.to_string()));
    add("seed", s.seed.map(|n| n.to_string()));
    add("budget", s.budget.as_ref().map(|b| b.0.clone()));
    add("tight", s.tight.as_ref().map(|t| t.words.clone()));
    add("gpu", s.gpu.as_ref().map(|g| g.0.clone()));
    let plans: Vec<_> = bench.plans.iter().map(|p| &suite.plans[*p]).collect();
    for plan in &plans {
        add("plan", Some(plan.to_string()));
    }
    let plain = read(&words)?;
    if s.assume_subgroups == Some(true) {
        words.push("--assume-subgroups".into());
    }
    words.extend(s.options.iter().flatten().cloned());
    let args = read(&words)?;
    // What is not about replaying has keys of its own, or no place in a suite.
    let replays = |settings: &Settings| {
        let run = plain.settings.run.clone();
        format!("{:?}", Settings { run, assume_subgroups: false, ..settings.clone() })
    };
    if args.other || replays(&args.settings) != replays(&plain.settings) {
        return Err(format!(
            "options {:?}: only flags that say how to replay, as --watchdog=5; the others are keys, or not for suites",
            s.options.as_deref().unwrap_or_default()
        ));
    }
    bench::check(&args.settings).map_err(|e| e.to_string())?;
    let whole = usize::from(frame.is_none());
    let turns = s.iterations.unwrap_or(bench::ITERATIONS[whole]) + s.warmup.unwrap_or(bench::WARMUP[whole]);
    let processes = s.processes.unwrap_or(bench::PROCESSES[0]);
    let cost = plans.len() as f64 * f64::from(processes) * f64::from(turns) * bench.weight;
    let (pictures, counts) = (pictures(&file, &plans, frame, s), counts(&file, &plans, frame, s));
    let plans = plans.into_iter().map(|p| p.name.clone()).collect();
    Ok(Unit { name, bench: n, file, frame, plans, processes, cost, words, pictures, counts })
}

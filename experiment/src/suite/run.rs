//! `suite run`: a suite's units, or one shard of them, one after the other.
//!
//! Each unit is `reray-replay bench` in a process of its own, called in the suite file's folder: a driver that crashes takes one
//! unit along, and names are seen as the file has them. What a unit leaves is `units/NAME`, whole or not there.
//!
//! Guarantees: `suite.json` is written anew, whole, after each unit, so that what was measured until something ends this program is
//! known, and `--resume` goes on there. A unit that fails leaves the others, and is exit code 1. Refuses folders that hold something
//! else, and those into which another one measures; to go on, another suite file, shard or program than the folder's.

use super::beside;
use super::read::Read;
use super::results::{self, write};
use super::shard::Shard;
use crate::bench;
use crate::failure::{Exit, Failure};
use crate::files::{mmap, output};
use crate::interrupt::Interrupt;
use crate::itself;
use crate::progress;
use crate::say::{self, complain, note, verbose};
use analyses::report::{Cell, Column, Cost, Report, Table, Unit as Of, escape};
use std::collections::VecDeque;
use std::fs::{self, File, TryLockError};
use std::io::{BufRead, BufReader};
use std::path::{Component, Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::{Instant, SystemTime};
use trace::Nanos;
use trace::run::{RUN_FILE, Run, RunNote};
use trace::select::Glob;
use trace::suite::{PartNote, SUITE_FILE, SUITE_VERSION, State, SuiteNote, UNITS, UnitNote};

/// Lines of a unit's stderr that are kept, and letters of each.
const KEPT: (usize, usize) = (20, 500);

/// What is measured of a suite.
#[derive(Clone, Debug)]
pub struct Task {
    /// The folder to write to.
    pub output: PathBuf,
    /// Only the units of this shard.
    pub shard: Option<Shard>,
    /// Only units of these names.
    pub only: Vec<Glob>,
    /// What is done in the folder stays; the rest is measured.
    pub resume: bool,
    /// The first unit that fails is the last.
    pub fail_fast: bool,
}

/// Measures units; what there is, and how it went.
pub fn run(args: &Task, all: &Read) -> Result<(Report, Exit), Failure> {
    let chosen = chosen(args, all)?;
    output::folder(&args.output)?;
    let _alone = alone(&args.output)?;
    let mut suite = begin(args, all)?;
    output::folder(&args.output.join(UNITS))?;
    let waits = |n: &usize| matches!(suite.units[*n].state, State::Waiting | State::Failed);
    let todo: Vec<usize> = chosen.iter().copied().filter(waits).collect();
    for &n in &todo {
        suite.units[n] = fresh(&suite.units[n]);
    }
    let part = suite.parts.len();
    if !todo.is_empty() {
        suite.parts.push(PartNote {
            shard: args.shard.map(|s| [s.index, s.of]),
            machine: bench::host(),
            began: SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs()),
            wall: Nanos(0),
        });
    }
    write(&suite, &args.output)?;
    let began = Instant::now();
    let bar = progress::counted(todo.len() as u64, "measuring", "units");
    let interrupt =
        Interrupt::listen("it ends with the unit that is being measured, which is kept if it is whole");
    for (k, &n) in todo.iter().enumerate() {
        let name = suite.units[n].name.clone();
        bar.set_message(name.clone());
        let mut unit = measured(&all.units[n].words, &suite.units[n], &all.folder, &args.output)?;
        // (a unit that was done meanwhile is)
        if interrupt.asked() && unit.state != State::Done {
            let line =
                format_args!("{k} of {} units were measured; --resume goes on with the others", todo.len());
            complain(line);
            break;
        }
        unit.part = Some(part);
        if unit.state == State::Done {
            beside::take(&all.units[n], &mut unit, &all.folder, &args.output)?;
        }
        let seconds = unit.wall.map_or(0.0, |w| w.0 as f64 / 1e9);
        let place = format!("{} of {}", k + 1, todo.len());
        match unit.state {
            State::Done => note(format_args!("{name}: done, {seconds:.0} s ({place})")),
            _ => complain(format_args!("{name}: failed ({place}), {}", unit.why())),
        }
        let failed = unit.state == State::Failed;
        suite.units[n] = unit;
        suite.parts[part].wall = Nanos(began.elapsed().as_nanos() as u64);
        write(&suite, &args.output)?;
        bar.inc(1);
        if failed && args.fail_fast || interrupt.asked() {
            break;
        }
    }
    bar.finish_and_clear();
    let report = report(&suite, &args.output)?;
    let done = chosen.iter().all(|n| suite.units[*n].state == State::Done);
    Ok((report, if done { Exit::Done } else { Exit::Failed }))
}

/// The units that are asked for, by their places.
fn chosen(args: &Task, all: &Read) -> Result<Vec<usize>, Failure> {
    for pattern in &args.only {
        if !all.units.iter().any(|u| pattern.matches(&u.name)) {
            let names: Vec<&str> = all.units.iter().map(|u| u.name.as_str()).collect();
            let text = format!("--only: no unit is called so; there are {}", names.join(", "));
            return Err(Failure::usage(text));
        }
    }
    let mine = |n: &usize| args.shard.is_none_or(|s| all.shards[*n] == s.index);
    let only = |n: &usize| args.only.is_empty() || args.only.iter().any(|p| p.matches(&all.units[*n].name));
    Ok((0..all.units.len()).filter(|n| mine(n) && only(n)).collect())
}

/// Nobody else measures in this folder as long as what is returned lives: a job that was started again finds the one that it
/// stands in for, should that live on. Where a file system knows no locks nobody is kept out.
fn alone(folder: &Path) -> Result<Option<File>, Failure> {
    let Ok(file) = File::open(folder) else { return Ok(None) };
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            Err(Failure::new(format_args!("{}: another `suite run` is measuring into it", folder.display())))
        }
        _ => Ok(Some(file)),
    }
}

/// What is noted before anything is measured: nothing yet, or what was measured before.
fn begin(args: &Task, all: &Read) -> Result<SuiteNote, Failure> {
    let to = args.output.display();
    let shard = args.shard.map(|s| [s.index, s.of]);
    let units = all.units.iter().zip(&all.shards).map(|(u, at)| UnitNote {
        name: u.name.clone(),
        bench: u.bench,
        shard: *at,
        file: u.file.clone(),
        frame: u.frame,
        plans: u.plans.clone(),
        state: match args.shard {
            Some(Shard { index, .. }) if index != *at => State::Elsewhere,
            _ => State::Waiting,
        },
        ..UnitNote::default()
    });
    let new = SuiteNote {
        schema_version: SUITE_VERSION,
        program: concat!("reray-replay ", env!("CARGO_PKG_VERSION")).into(),
        name: all.suite.name.clone(),
        blake3: all.suite.blake3.clone(),
        text: all.suite.text.clone(),
        shard,
        parts: vec![],
        units: units.collect(),
    };
    let full = args.output.read_dir().is_ok_and(|mut entries| entries.next().is_some());
    if !full {
        return Ok(new);
    }
    if !args.resume {
        let more = if args.output.join(SUITE_FILE).is_file() { "; --resume goes on in it" } else { "" };
        return Err(Failure::usage(format_args!("{to}: it is not empty; name a new folder{more}")));
    }
    let old = results::open(&args.output)?.note;
    let refuse =
        |what: &str| Err(Failure::usage(format_args!("--resume: {to} is {what}; measure in a new folder")));
    if old.blake3 != new.blake3 {
        return refuse("of another suite file, or of this one before it was changed");
    }
    if old.program != new.program {
        return refuse(&format!("of {}, and this is {}", old.program, new.program));
    }
    if old.shard != new.shard {
        let words = |s: Option<[u32; 2]>| s.map_or("all units".into(), |[i, n]| format!("shard {i}/{n}"));
        return refuse(&format!("of {}, and not of {}", words(old.shard), words(new.shard)));
    }
    let names = |n: &SuiteNote| n.units.iter().map(|u| (u.name.clone(), u.file.clone())).collect::<Vec<_>>();
    if names(&old) != names(&new) {
        return refuse("of other captures than those that the patterns stand for now");
    }
    Ok(old)
}

/// A unit that was not tried.
fn fresh(unit: &UnitNote) -> UnitNote {
    UnitNote {
        name: unit.name.clone(),
        bench: unit.bench,
        shard: unit.shard,
        file: unit.file.clone(),
        frame: unit.frame,
        plans: unit.plans.clone(),
        ..UnitNote::default()
    }
}

/// Measures a unit; an error is of ours, and none of the unit's.
fn measured(words: &[String], unit: &UnitNote, folder: &Path, to: &Path) -> Result<UnitNote, Failure> {
    let fail = |path: &Path, e: std::io::Error| Failure::new(format_args!("{}: {e}", path.display()));
    let run = to.join(unit.folder());
    clear(&run).map_err(|e| fail(&run, e))?;
    let seen = seen_from(folder, &to.join(UNITS))?.join(&unit.name);
    let began = Instant::now();
    let child = itself::program()?
        .args(words)
        .arg("-o")
        .arg(&seen)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.map_err(Failure::new)?;
    let mut last: VecDeque<String> = VecDeque::new();
    if let Some(stderr) = child.stderr.take() {
        let mut lines = BufReader::new(stderr);
        let mut line = vec![];
        while lines.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            if verbose() {
                say::several("", &escape::line(&format!("{}: {text}", unit.name)));
            }
            if last.len() == KEPT.0 {
                last.pop_front();
            }
            last.push_back(text.chars().take(KEPT.1).collect());
            line.clear();
        }
    }
    let status = child.wait().map_err(Failure::new)?;
    let words = words.iter().cloned().chain(["-o".to_owned(), format!("{UNITS}/{}", unit.name)]);
    let mut out = UnitNote {
        state: State::Failed,
        wall: Some(Nanos(began.elapsed().as_nanos() as u64)),
        command: words.collect(),
        ..fresh(unit)
    };
    let file = run.join(RUN_FILE);
    let left = match status.success() {
        true => mmap::open_plain(&file)
            .map_err(|e| e.to_string())
            .and_then(|b| RunNote::parse((*b).as_ref(), &file).map_err(|e| e.to_string())),
        false => Err(ended(status)),
    };
    match left {
        Ok(note) => {
            out.state = State::Done;
            out.capture = note.captures.into_iter().next();
        }
        Err(why) => {
            out.exit = status.code();
            out.ended = why;
            out.stderr = last.into();
            clear(&run).map_err(|e| fail(&run, e))?;
        }
    }
    Ok(out)
}

fn ended(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exit code {code}"),
        None => status.to_string(),
    }
}

/// Takes away what a unit left that was not finished, or not noted.
fn clear(run: &Path) -> std::io::Result<()> {
    if run.exists() {
        fs::remove_dir_all(run)?;
    }
    let Some((folder, name)) = run.parent().zip(run.file_name()) else { return Ok(()) };
    // (as `bench` calls what it has not finished: .NAME.PROCESS.part)
    let before = format!(".{}.", name.to_string_lossy());
    for entry in fs::read_dir(folder)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let number = name.strip_prefix(&before).and_then(|n| n.strip_suffix(".part"));
        if number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// A folder's name as seen from another folder: command lines are to mean the same wherever both are moved together.
fn seen_from(folder: &Path, to: &Path) -> Result<PathBuf, Failure> {
    let whole =
        |p: &Path| fs::canonicalize(p).map_err(|e| Failure::new(format_args!("{}: {e}", p.display())));
    Ok(relative(&whole(folder)?, &whole(to)?))
}

fn relative(folder: &Path, to: &Path) -> PathBuf {
    let (from, to): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (folder.components().collect(), to.components().collect());
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from[shared..].iter().map(|_| Component::ParentDir);
    let path: PathBuf = up.chain(to[shared..].iter().copied()).collect();
    // (a name of its own, so that it is no flag)
    if path.as_os_str().is_empty() { PathBuf::from(".") } else { path }
}

/// What is printed: each unit's plans with their figures.
fn report(suite: &SuiteNote, folder: &Path) -> Result<Report, Failure> {
    let of = |state| suite.units.iter().filter(|u| u.state == state).count();
    let shard = suite.shard.map_or(String::new(), |[i, n]| format!(", shard {i} of {n}"));
    let title = format!(
        "{}{shard}: {} of {} units done, {} failed, {} not yet",
        suite.name,
        of(State::Done),
        suite.units.len() - of(State::Elsewhere),
        of(State::Failed),
        of(State::Waiting)
    );
    let mut report = Report::new("suite", &title);
    report.cost = Cost::Unknown { why: "each unit's run says what its timestamps cost".into() };
    let column = |name: &str, unit| Column::new(name, unit);
    let mut columns =
        vec![column("unit", Of::Text), column("state", Of::Text), column("wall", Of::Milliseconds)];
    let (before, mut rows) = (columns.len(), vec![]);
    for u in suite.units.iter().filter(|u| u.state != State::Elsewhere) {
        let first = |wall: Cell| vec![u.name.as_str().into(), u.state.name().into(), wall];
        let wall = u.wall.map_or(Cell::Missing, |w| Cell::Number(w.as_millis()));
        if u.state != State::Done {
            rows.push(first(wall));
            if u.state == State::Failed {
                report.notes.push(format!("{}: {}.", u.name, u.why()));
            }
            continue;
        }
        let run = Run::open_with(&folder.join(u.folder()), mmap::open_plain).map_err(Failure::new)?;
        let figures = bench::report(&run).tables.into_iter().find(|t| t.name == "plans");
        let Some(figures) = figures else { continue };
        if columns.len() == before {
            // (behind the capture, which the unit says)
            columns.extend(figures.columns.into_iter().skip(1));
        }
        for (n, row) in figures.rows.into_iter().enumerate() {
            let wall = if n == 0 { wall.clone() } else { Cell::Missing };
            rows.push(first(wall).into_iter().chain(row.into_iter().skip(1)).collect());
        }
    }
    rows.iter_mut().for_each(|row: &mut Vec<Cell>| row.resize(columns.len(), Cell::Missing));
    report.tables.push(Table { name: "units".into(), columns, rows });
    report.notes.push(
        "Figures are means over processes; those that a process has too few frames for are missing.".into(),
    );
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_from_elsewhere() {
        let of = |a: &str, b: &str| relative(Path::new(a), Path::new(b)).display().to_string();
        assert_eq!(of("/a/b", "/a/b/c/d"), "c/d");
        assert_eq!(of("/a/b", "/a/x"), "../x");
        assert_eq!(of("/a/b", "/x/y"), "../../x/y");
        assert_eq!(of("/a", "/a"), ".");
    }

    #[test]
    fn what_is_left_of_a_unit_is_taken_away_and_nothing_else() {
        let base = std::env::temp_dir().join(format!("reray-suite-clear-{}", std::process::id()));
        for name in ["a", ".a.12.part", ".a.b.part", ".a-b.7.part", "a-b"] {
            fs::create_dir_all(base.join(name).join("x")).expect("a folder");
        }
        clear(&base.join("a")).expect("cleared");
        let mut left: Vec<String> = fs::read_dir(&base)
            .expect("it is there")
            .map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        left.sort();
        assert_eq!(left, [".a-b.7.part", ".a.b.part", "a-b"]);
        fs::remove_dir_all(&base).expect("all of it");
    }
}

//! `suite merge`: what shards measured, put together.
//!
//! Guarantees: what is written holds every unit of the suite once, and is whole or not there; a unit that one part failed at and
//! another measured is the measured one. Refuses parts of different suite files, whatever is said; parts of different program
//! versions, and captures of one name and different content, unless forced; a unit that two parts measured differently; and units
//! that nobody has, unless a partial result will do.

use super::results::{self, Results};
use crate::failure::Failure;
use crate::files::archive::{self, is_archive};
use crate::files::folder;
use crate::files::output::{self, Output, write_file};
use crate::say::complain;
use std::io;
use std::path::{Path, PathBuf};
use trace::run::RUN_FILE;
use trace::suite::{SUITE_FILE, State, SuiteNote, UnitNote};

/// What is put together.
#[derive(Clone, Debug)]
pub struct Merge {
    /// Results.
    pub parts: Vec<PathBuf>,
    /// A folder, or a file NAME.tar.gz.
    pub output: PathBuf,
    /// Units may be missing.
    pub partial: bool,
    /// Results of other program versions, or of other captures of one name, are merged all the same.
    pub force: bool,
}

/// Merges them; a line that says what there is.
pub fn merge(args: &Merge) -> Result<String, Failure> {
    let full = args.output.read_dir().is_ok_and(|mut entries| entries.next().is_some());
    if full {
        let text = "it is not empty; name a new folder, or a file NAME.tar.gz";
        return Err(Failure::usage(format_args!("{}: {text}", args.output.display())));
    }
    let parts: Vec<Results> = args.parts.iter().map(|p| results::open(p)).collect::<Result<_, _>>()?;
    let names: Vec<String> = parts.iter().map(|p| p.place.path().display().to_string()).collect();
    let notes: Vec<&SuiteNote> = parts.iter().map(|p| &p.note).collect();
    let same = |unit: &UnitNote, a: usize, b: usize| -> Result<bool, Failure> {
        let of = |p: usize| parts[p].place.read(&unit.folder().join(RUN_FILE));
        Ok((*of(a)?).as_ref() == (*of(b)?).as_ref())
    };
    let (note, from) = merged(&notes, &names, args, &same)?;
    for (unit, from) in note.units.iter().zip(&from) {
        // (what cannot be read is no result, and is found now rather than when it is compared)
        if let (State::Done, Some(p)) = (unit.state, from) {
            parts[*p].place.run(&unit.folder()).map_err(Failure::new)?;
        }
    }
    if is_archive(&args.output) {
        let mut writer = archive::Writer::new(Output::create(Some(&args.output))?);
        let fail = |e: io::Error| Failure::new(format_args!("{}: {e}", args.output.display()));
        put(&parts, &note, &from, |name, bytes| writer.file(name, bytes).map_err(fail))?;
        writer.finish().map_err(fail)?.finish()?;
    } else {
        folder::whole(&args.output, |part| {
            put(&parts, &note, &from, |name, bytes| {
                let path = part.join(name);
                if let Some(folder) = path.parent() {
                    output::folder(folder)?;
                }
                write_file(&path, bytes)
            })
        })?;
    }
    let of = |state| note.units.iter().filter(move |u| u.state == state).map(|u| u.name.as_str());
    let failed: Vec<&str> = of(State::Failed).collect();
    if !failed.is_empty() {
        complain(format_args!(
            "{} of {} units had failed: {}",
            failed.len(),
            note.units.len(),
            failed.join(", ")
        ));
    }
    let done = of(State::Done).count();
    Ok(format!("{}: {done} of {} units\n", args.output.display(), note.units.len()))
}

/// Puts every file of a result in its place, `suite.json` last, so that whoever has it has all.
fn put(
    parts: &[Results],
    note: &SuiteNote,
    from: &[Option<usize>],
    mut file: impl FnMut(&Path, &[u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    for (unit, from) in note.units.iter().zip(from) {
        if let (State::Done, Some(p)) = (unit.state, from) {
            let place = &parts[*p].place;
            for name in place.below(&unit.folder())? {
                file(&name, (*place.read(&name)?).as_ref())?;
            }
        }
    }
    file(Path::new(SUITE_FILE), note.render().as_bytes())
}

/// What parts come to, and the part that each unit is of.
fn merged(
    notes: &[&SuiteNote],
    names: &[String],
    args: &Merge,
    same: &dyn Fn(&UnitNote, usize, usize) -> Result<bool, Failure>,
) -> Result<(SuiteNote, Vec<Option<usize>>), Failure> {
    let first = notes[0];
    for (note, name) in notes.iter().zip(names).skip(1) {
        let other = |what: String| Failure::new(format_args!("{name} is of {what} than {}", names[0]));
        if note.blake3 != first.blake3 {
            return Err(other(format!("another suite file ({}, BLAKE3 {:.12}…)", note.name, note.blake3)));
        }
        if note.program != first.program && !args.force {
            return Err(other(format!("another program ({}; --force merges all the same)", note.program)));
        }
        let units = |n: &SuiteNote| n.units.iter().map(|u| u.name.clone()).collect::<Vec<_>>();
        if units(note) != units(first) {
            return Err(other("other units: its patterns for captures stood for other files".into()));
        }
    }
    let mut out = SuiteNote { shard: None, parts: vec![], units: vec![], ..first.clone() };
    // (a part that is in two results, as one of them was merged before, is one part)
    let mut moved: Vec<Vec<usize>> = vec![];
    for note in notes {
        let mut to = vec![];
        for part in &note.parts {
            let at = out.parts.iter().position(|p| p == part).unwrap_or(out.parts.len());
            if at == out.parts.len() {
                out.parts.push(part.clone());
            }
            to.push(at);
        }
        moved.push(to);
    }
    let (mut from, mut missing) = (vec![], vec![]);
    for n in 0..first.units.len() {
        let of = |state: State| (0..notes.len()).filter(move |p| notes[*p].units[n].state == state);
        let done: Vec<usize> = of(State::Done).collect();
        for pair in done.windows(2) {
            if !same(&first.units[n], pair[0], pair[1])? {
                return Err(Failure::new(format_args!(
                    "unit {} was measured in {} and in {}, differently; leave one of them out",
                    first.units[n].name, names[pair[0]], names[pair[1]]
                )));
            }
        }
        let began = |p: &usize| {
            let note = notes[*p];
            note.units[n].part.map_or(0, |at| note.parts[at].began)
        };
        let taken = done.first().copied().or_else(|| of(State::Failed).max_by_key(began));
        let unit = match taken {
            Some(p) => {
                let unit = notes[p].units[n].clone();
                UnitNote { part: unit.part.map(|at| moved[p][at]), ..unit }
            }
            None => {
                // (the shard that should have measured it says so itself, if it is here)
                let mine = of(State::Waiting).next();
                let p = mine.unwrap_or(0);
                let shards = notes[p]
                    .shard
                    .map_or(String::new(), |s| format!(" (shard {}/{})", notes[p].units[n].shard, s[1]));
                missing.push(format!("{}{shards}", first.units[n].name));
                UnitNote { state: State::Waiting, part: None, ..notes[p].units[n].clone() }
            }
        };
        out.units.push(unit);
        from.push(taken);
    }
    if !missing.is_empty() && !args.partial {
        return Err(Failure::new(format_args!(
            "{} of {} units are in none of them: {}; --partial merges the others",
            missing.len(),
            first.units.len(),
            missing.join(", ")
        )));
    }
    if !missing.is_empty() {
        complain(format_args!("not in it: {}", missing.join(", ")));
    }
    if !args.force {
        same_captures(&out)?;
    }
    Ok((out, from))
}

/// Frames of one capture were measured of the same file, on whatever machine.
fn same_captures(note: &SuiteNote) -> Result<(), Failure> {
    let done: Vec<&UnitNote> = note.units.iter().filter(|u| u.state == State::Done).collect();
    for (n, u) in done.iter().enumerate() {
        let hash = |u: &UnitNote| u.capture.as_ref().map(|c| c.blake3.clone());
        if let Some(other) = done[..n].iter().find(|o| o.file == u.file && hash(o) != hash(u)) {
            return Err(Failure::new(format_args!(
                "{} was another file for unit {} than for unit {}; --force merges all the same",
                u.file, u.name, other.name
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;

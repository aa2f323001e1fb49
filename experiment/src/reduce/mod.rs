//! `reduce`: the smallest part of a capture that still shows a fault.
//!
//! Delta debugging (Zeller and Hildebrandt 2002, "Simplifying and Isolating Failure-Inducing Input"): of all submissions at once, then of frames, command buffers, render passes, objects, labels
//! and single blocks, from large to small, half of what is left is taken away, then quarters, and so on to one at a time; what is taken away goes with
//! all that uses what it makes (`graph`). What is still wrong a process says (`still`), so that nothing has to be understood of why. Where something went,
//! the whole is gone through again, until nothing can go or the budget is over.
//!
//! Of what is left, elements of arrays (descriptor writes, regions, barriers) are left out, functions of shaders are emptied, and data are made zero, in the same way (`parts`).
//!
//! Guarantees: what is written shows the fault, as the last that was tried and did; what stays is, byte for byte, the capture's. What is known is kept
//! beside the result while the search goes on, and a search that was ended goes on from there. Refuses captures that do not show the fault.

mod graph;
mod parts;
mod still;

pub use still::Still;

use crate::failure::{Exit, Failure};
use crate::files::input;
use crate::files::output::write_file;
use crate::how::How;
use crate::progress;
use crate::say::note;
use gfxr_parse::container::Capture;
use parts::{Blocks, Data, Elements, Functions, Parts, STAGES};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use still::{Oracle, Seen};

/// What is asked.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The capture.
    pub file: PathBuf,
    /// What is wrong with it.
    pub still: Still,
    /// When to stop.
    pub budget: Duration,
    /// How to replay.
    pub run: How,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Reduced {
    /// The version of its shape.
    pub schema_version: u32,
    /// What is wrong.
    pub still: String,
    /// Calls before and after.
    pub calls: [u64; 2],
    /// Blocks before and after.
    pub blocks: [u64; 2],
    /// Elements of arrays of calls that can go one by one (descriptor writes, regions, barriers), of the blocks that are left, before and after.
    pub elements: [u64; 2],
    /// Functions of shaders that do something, of the blocks that are left, before and after.
    pub functions: [u64; 2],
    /// Pieces of data that are not zero, of the blocks that are left, before and after.
    pub data: [u64; 2],
    /// Bytes before and after.
    pub bytes: [u64; 2],
    /// Processes that were asked.
    pub tried: u64,
    /// Seconds.
    pub seconds: f64,
    /// Whether nothing that was tried one at a time could go any more.
    pub minimal: bool,
}

/// What is kept while the search goes on.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Kept {
    /// BLAKE3 of the capture.
    capture: String,
    still: String,
    /// What went, by what it is.
    gone: BTreeMap<String, Vec<u32>>,
    /// Of what nothing more can go.
    done: BTreeSet<String>,
    /// Trials behind which the GPU was of no use any more, by a hash of what went: they are not tried again.
    #[serde(default)]
    ended_the_gpu: BTreeSet<String>,
}

/// How often what is known is tried when a search goes on.
const TRIES: u32 = 3;

/// Least time that a process is waited for, and how many times that of the last one that showed the fault.
const PATIENCE: (Duration, u32) = (Duration::from_millis(500), 4);

/// Reduces a capture, to a file.
pub fn reduce(settings: &Settings, output: &Path) -> Result<Reduced, Failure> {
    let began = Instant::now();
    if settings.file.canonicalize().is_ok_and(|f| output.canonicalize().is_ok_and(|o| f == o)) {
        return Err(Failure::usage(format_args!(
            "{} is the capture itself; name another file",
            output.display()
        )));
    }
    let capture = input::open(&settings.file, settings.run.reading)?;
    let blocks = Blocks::of(&capture, 0)?;
    let mut notes = output.as_os_str().to_owned();
    notes.push(".reducing.json");
    let notes = PathBuf::from(notes);
    // (gone however the search ends)
    let folder = output.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = tempfile::Builder::new().prefix(".reducing-").tempdir_in(folder);
    let folder = folder.map_err(|e| Failure::new(format_args!("{}: {e}", output.display())))?;
    let [trial, idle] = ["trial.gfxr", "idle.gfxr"].map(|name| folder.path().join(name));
    let flags = settings.run.arguments(None);
    let mut oracle = Oracle { still: &settings.still, flags: &flags, patience: Duration::MAX, seen: None };
    progress::step("looking at the whole capture");
    let whole = oracle.look(&settings.file)?;
    if !oracle.is(&whole) {
        return Err(Failure::new(format_args!(
            "{} does not show this fault: {}",
            settings.file.display(),
            settings.still
        )));
    }
    oracle.patience = PATIENCE.0.max(whole.took * PATIENCE.1);
    oracle.seen = Some(whole);
    let kept = Kept {
        capture: blake3::hash(capture.bytes()).to_hex().to_string(),
        still: settings.still.to_string(),
        gone: BTreeMap::new(),
        done: BTreeSet::new(),
        ended_the_gpu: BTreeSet::new(),
    };
    write_file(&idle, &blocks.written(&blocks.idle())?)?;
    let (asked, until) = (1, began + settings.budget);
    let mut to = Trials { asked, until, oracle, trial: &trial, notes: &notes, idle: &idle, known: kept };
    to.resume()?;
    let (gone, mut minimal) = to.search(&blocks)?;
    let mut bytes = blocks.written(&gone)?;
    let open = |bytes| Capture::new(bytes).map_err(Failure::new).map(|c| c.within(capture.budget()));
    let mut counts = [[0; 2]; WITHIN.len()];
    for (of, count) in WITHIN.into_iter().zip(&mut counts) {
        if !minimal {
            break;
        }
        let left = open(bytes)?;
        let parts = of(&left)?;
        let found = to.search(&*parts)?;
        (*count, minimal, bytes) = (counted(&found.0), found.1, parts.written(&found.0)?);
    }
    let [elements, _, functions, data] = counts;
    write_file(output, &bytes)?;
    if minimal {
        let _ = std::fs::remove_file(&notes);
    }
    let left = open(bytes.clone())?;
    let calls = |of: &Capture| of.blocks_of_main_file().filter(|b| b.call_id().is_some()).count() as u64;
    Ok(Reduced {
        schema_version: 1,
        still: settings.still.to_string(),
        calls: [calls(&capture), calls(&left)],
        blocks: [blocks.units() as u64, left.blocks_of_main_file().count() as u64],
        elements,
        functions,
        data,
        bytes: [capture.bytes().len() as u64, bytes.len() as u64],
        tried: to.asked,
        seconds: began.elapsed().as_secs_f64(),
        minimal,
    })
}

/// What can be taken away when no block can go.
type Within = fn(&Capture) -> Result<Box<dyn Parts + '_>, Failure>;

/// See [`parts`], in the order in which they are searched.
const WITHIN: [Within; STAGES.len() - 1] = [
    |c| Ok(Box::new(Elements::of(c)?)),
    |c| Ok(Box::new(Blocks::of(c, 2)?)),
    |c| Ok(Box::new(Functions::of(c)?)),
    |c| Ok(Box::new(Data::of(c)?)),
];

/// How many there were, and how many are left.
fn counted(gone: &[bool]) -> [u64; 2] {
    [gone.len() as u64, gone.iter().filter(|g| !**g).count() as u64]
}

/// Trials, and what they have come to.
struct Trials<'s> {
    asked: u64,
    until: Instant,
    oracle: Oracle<'s>,
    trial: &'s Path,
    notes: &'s Path,
    /// The capture without submissions.
    idle: &'s Path,
    known: Kept,
}

impl Trials<'_> {
    /// What is known of a search of the same that was ended.
    fn resume(&mut self) -> Result<(), Failure> {
        let Ok(text) = std::fs::read(self.notes) else { return Ok(()) };
        let kept: Kept = serde_json::from_slice(&text).map_err(|e| {
            Failure::new(format_args!("{}: {e}; remove it to begin anew", self.notes.display()))
        })?;
        if (&kept.capture, &kept.still) != (&self.known.capture, &self.known.still) {
            let other = "is of another capture or fault; remove it to begin anew";
            return Err(Failure::new(format_args!("{} {other}", self.notes.display())));
        }
        self.known = kept;
        Ok(())
    }

    /// Takes away what can go of these; what is gone, and whether nothing more can go.
    fn search(&mut self, parts: &dyn Parts) -> Result<(Vec<bool>, bool), Failure> {
        let known = self.known.gone.get(parts.name()).cloned().unwrap_or_default();
        let mut search = Search { gone: vec![false; parts.units()], tried: HashSet::new(), parts, to: self };
        let known: Vec<u32> = known.into_iter().filter(|u| (*u as usize) < parts.units()).collect();
        let done = search.to.known.done.contains(parts.name());
        if !known.is_empty() {
            let notes = search.to.notes.display().to_string();
            // (a fault may come and go)
            let mut there = false;
            for _ in 0..TRIES {
                there = there || search.without(&known)?;
                search.tried.clear();
            }
            if there {
                note(format_args!(
                    "going on where {notes} was left: {} {} are gone",
                    known.len(),
                    parts.name()
                ));
            } else {
                note(format_args!("what {notes} knows does not show the fault now: these are tried anew"));
                // (what comes later is numbered by what is left of these)
                let Kept { gone, done, .. } = &mut search.to.known;
                let earlier = STAGES.iter().take_while(|s| **s != parts.name());
                let earlier: Vec<&str> = earlier.copied().collect();
                gone.retain(|name, _| earlier.contains(&&**name));
                done.retain(|name| earlier.contains(&&**name));
                return search.ended();
            }
        }
        if done {
            return Ok((search.gone, true));
        }
        search.ended()
    }

    /// Ends the search where the GPU is of no use any more.
    fn usable(&mut self, behind: &Seen, failed: Option<String>) -> Result<(), Failure> {
        if self.oracle.works(behind, self.idle)? {
            return Ok(());
        }
        // (one that shows the fault is what the search goes on from)
        self.known.ended_the_gpu.extend(failed);
        write_file(self.notes, &serde_json::to_vec(&self.known).map_err(Failure::new)?)?;
        Err(Failure::with(
            Exit::Gone,
            format!(
                "the GPU is of no use any more: a replay that submits nothing does not end well. Reset it, or start the machine anew; the same command \
                 line goes on from {}",
                self.notes.display()
            ),
        ))
    }
}

/// A search among parts.
struct Search<'s, 't> {
    /// By unit.
    gone: Vec<bool>,
    /// Hashes of what was tried, and did not show the fault.
    tried: HashSet<blake3::Hash>,
    parts: &'s dyn Parts,
    to: &'s mut Trials<'t>,
}

impl Search<'_, '_> {
    /// Goes through everything; what is gone, and whether nothing more can go.
    fn ended(mut self) -> Result<(Vec<bool>, bool), Failure> {
        let minimal = self.all()?;
        if minimal {
            self.to.known.done.insert(self.parts.name().to_owned());
            write_file(self.to.notes, &serde_json::to_vec(&self.to.known).map_err(Failure::new)?)?;
        }
        Ok((self.gone, minimal))
    }

    /// How many units are left.
    fn left(&self) -> usize {
        self.gone.iter().filter(|g| !**g).count()
    }

    /// Goes through everything until nothing goes any more; whether that was reached.
    fn all(&mut self) -> Result<bool, Failure> {
        loop {
            let before = self.left();
            let parts = self.parts;
            for level in parts.levels() {
                progress::step(&format!("{}: {} {} are left", level.name, self.left(), parts.name()));
                if !self.level(&level.groups)? {
                    return Ok(false);
                }
            }
            if self.left() == before {
                return Ok(true);
            }
        }
    }

    /// Takes away what can go of these, more at once at first; whether there was time for it.
    fn level(&mut self, groups: &[Vec<u32>]) -> Result<bool, Failure> {
        let stays = |gone: &[bool], group: &[u32]| group.iter().any(|b| !gone[*b as usize]);
        let mut left: Vec<&Vec<u32>> = groups.iter().filter(|g| stays(&self.gone, g)).collect();
        let mut size = left.len().div_ceil(2).max(1);
        while !left.is_empty() {
            // (what comes last is used least)
            let mut kept = vec![];
            for some in left.rchunks(size) {
                if Instant::now() >= self.to.until {
                    return Ok(false);
                }
                let units = some.iter().flat_map(|g| g.iter().copied()).filter(|b| !self.gone[*b as usize]);
                let all = self.parts.with_users(&units.collect::<Vec<_>>());
                if all.is_empty() || !self.without(&all)? {
                    kept.extend(some.iter().rev().copied());
                }
            }
            kept.reverse();
            left = kept.into_iter().filter(|g| stays(&self.gone, g)).collect();
            if size == 1 {
                break;
            }
            size = size.div_ceil(2).min(left.len().div_ceil(2)).max(1);
        }
        Ok(true)
    }

    /// Takes these units away if the fault is there without them.
    fn without(&mut self, units: &[u32]) -> Result<bool, Failure> {
        let before = self.gone.clone();
        units.iter().for_each(|b| self.gone[*b as usize] = true);
        if self.gone == before {
            return Ok(true);
        }
        let bits: Vec<u8> = self.gone.iter().map(|g| u8::from(*g)).collect();
        let hash = blake3::hash(&bits);
        let to = &mut *self.to;
        let trial = format!("{}: {hash}", self.parts.name());
        if self.tried.contains(&hash) || to.known.ended_the_gpu.contains(&trial) {
            self.gone = before;
            return Ok(false);
        }
        write_file(to.trial, &self.parts.written(&self.gone)?)?;
        to.asked += 1;
        let seen = to.oracle.look(to.trial)?;
        if !to.oracle.is(&seen) {
            self.gone = before;
            to.usable(&seen, Some(trial))?;
            self.tried.insert(hash);
            return Ok(false);
        }
        to.oracle.patience = PATIENCE.0.max(seen.took * PATIENCE.1);
        let gone = (0..self.gone.len() as u32).filter(|b| self.gone[*b as usize]).collect();
        to.known.gone.insert(self.parts.name().to_owned(), gone);
        write_file(to.notes, &serde_json::to_vec(&to.known).map_err(Failure::new)?)?;
        to.usable(&seen, None)?;
        Ok(true)
    }
}

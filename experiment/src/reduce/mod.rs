//! `reduce`: the smallest part of a capture that still shows a fault.
//!
//! Delta debugging (Zeller and Hildebrandt 2002, "Simplifying and Isolating Failure-Inducing Input"): of all submissions at once, then of frames, command buffers, render passes, objects, labels
//! and single blocks, from large to small, half of what is left is taken away, then quarters, and so on to one at a time; what is taken away goes with
//! all that uses what it makes (`graph`). What is still wrong a process says (`still`), so that nothing has to be understood of why. Where something went,
//! the whole is gone through again, until nothing can go or the budget is over.
//!
//! Guarantees: what is written shows the fault, as the last that was tried and did; blocks that stay are, byte for byte, the capture's. What is known is kept
//! beside the result while the search goes on, and a search that was ended goes on from there. Refuses captures that do not show the fault.

mod graph;
mod still;

pub use still::Still;

use crate::failure::{Exit, Failure};
use crate::files::input;
use crate::files::output::write_file;
use crate::how::How;
use crate::progress;
use crate::say::note;
use gfxr_parse::container::Capture;
use gfxr_parse::writer::Writer;
use graph::Graph;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
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
    /// Blocks that went.
    gone: Vec<u32>,
}

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
    let graph =
        Graph::of(&capture).map_err(|e| Failure::new(format_args!("{}: {e}", settings.file.display())))?;
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
    let known = Kept {
        capture: blake3::hash(capture.bytes()).to_hex().to_string(),
        still: settings.still.to_string(),
        gone: vec![],
    };
    let mut search = Search {
        gone: vec![false; graph.calls.len()],
        tried: HashSet::new(),
        asked: 1,
        until: began + settings.budget,
        capture: &capture,
        graph: &graph,
        oracle: &mut oracle,
        trial: &trial,
        notes: &notes,
        idle: &idle,
        known,
    };
    if settings.still.may_end_the_gpu() {
        write_file(&idle, &written(&capture, &graph.idle())?)?;
    }
    search.resume()?;
    let minimal = search.all()?;
    let bytes = written(&capture, &search.gone)?;
    write_file(output, &bytes)?;
    if minimal {
        let _ = std::fs::remove_file(&notes);
    }
    let left = |of: &dyn Fn(usize) -> bool| (0..graph.calls.len()).filter(|b| of(*b)).count() as u64;
    Ok(Reduced {
        schema_version: 1,
        still: settings.still.to_string(),
        calls: [left(&|b| graph.calls[b]), left(&|b| graph.calls[b] && !search.gone[b])],
        blocks: [left(&|_| true), left(&|b| !search.gone[b])],
        bytes: [capture.bytes().len() as u64, bytes.len() as u64],
        tried: search.asked,
        seconds: began.elapsed().as_secs_f64(),
        minimal,
    })
}

struct Search<'s> {
    /// By block.
    gone: Vec<bool>,
    /// Hashes of what was tried, and did not show the fault.
    tried: HashSet<blake3::Hash>,
    asked: u64,
    until: Instant,
    capture: &'s Capture,
    graph: &'s Graph,
    oracle: &'s mut Oracle<'s>,
    trial: &'s Path,
    notes: &'s Path,
    /// The capture without submissions.
    idle: &'s Path,
    known: Kept,
}

impl Search<'_> {
    /// Goes on where a search of the same was ended.
    fn resume(&mut self) -> Result<(), Failure> {
        let Ok(text) = std::fs::read(self.notes) else { return Ok(()) };
        let kept: Kept = serde_json::from_slice(&text).map_err(|e| {
            Failure::new(format_args!("{}: {e}; remove it to begin anew", self.notes.display()))
        })?;
        if (&kept.capture, &kept.still) != (&self.known.capture, &self.known.still) {
            let other = "is of another capture or fault; remove it to begin anew";
            return Err(Failure::new(format_args!("{} {other}", self.notes.display())));
        }
        let gone: Vec<u32> = kept.gone.into_iter().filter(|b| (*b as usize) < self.gone.len()).collect();
        note(format_args!(
            "going on where {} was left: {} blocks are gone",
            self.notes.display(),
            gone.len()
        ));
        self.without(&gone)?;
        Ok(())
    }

    /// How many blocks are left.
    fn left(&self) -> usize {
        self.gone.iter().filter(|g| !**g).count()
    }

    /// Goes through everything until nothing goes any more; whether that was reached.
    fn all(&mut self) -> Result<bool, Failure> {
        loop {
            let before = self.left();
            for level in &self.graph.levels {
                progress::step(&format!("{}: {} blocks are left", level.name, self.left()));
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
                if Instant::now() >= self.until {
                    return Ok(false);
                }
                let blocks = some.iter().flat_map(|g| g.iter().copied()).filter(|b| !self.gone[*b as usize]);
                let all = self.graph.with_users(blocks);
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

    /// Takes these blocks away if the fault is there without them.
    fn without(&mut self, blocks: &[u32]) -> Result<bool, Failure> {
        let before = self.gone.clone();
        blocks.iter().for_each(|b| self.gone[*b as usize] = true);
        if self.gone == before {
            return Ok(true);
        }
        let bits: Vec<u8> = self.gone.iter().map(|g| u8::from(*g)).collect();
        let hash = blake3::hash(&bits);
        if self.tried.contains(&hash) {
            self.gone = before;
            return Ok(false);
        }
        write_file(self.trial, &written(self.capture, &self.gone)?)?;
        self.asked += 1;
        let seen = self.oracle.look(self.trial)?;
        if !self.oracle.is(&seen) {
            self.gone = before;
            self.usable(&seen)?;
            self.tried.insert(hash);
            return Ok(false);
        }
        self.oracle.patience = PATIENCE.0.max(seen.took * PATIENCE.1);
        self.known.gone = (0..self.gone.len() as u32).filter(|b| self.gone[*b as usize]).collect();
        write_file(self.notes, &serde_json::to_vec(&self.known).map_err(Failure::new)?)?;
        self.usable(&seen)?;
        Ok(true)
    }

    /// Ends the search where the GPU is of no use any more.
    fn usable(&self, behind: &Seen) -> Result<(), Failure> {
        match self.oracle.works(behind, self.idle)? {
            true => Ok(()),
            false => Err(Failure::with(
                Exit::Gone,
                format!(
                    "the GPU is of no use any more: a replay that submits nothing does not end well. Reset it, or start the machine anew; the same command \
                     line goes on from {}",
                    self.notes.display()
                ),
            )),
        }
    }
}

/// The capture without what is gone.
fn written(capture: &Capture, gone: &[bool]) -> Result<Vec<u8>, Failure> {
    let mut writer = Writer::new(vec![], capture.header()).map_err(Failure::new)?;
    for (block, gone) in capture.blocks_of_main_file().zip(gone) {
        if !gone {
            writer.raw(&block).map_err(Failure::new)?;
        }
    }
    writer.finish().map_err(Failure::new)
}

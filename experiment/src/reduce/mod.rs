//! `reduce`: the smallest part of a capture that still shows a fault.
//!
//! Delta debugging (Zeller and Hildebrandt 2002, "Simplifying and Isolating Failure-Inducing Input"): of all submissions at once, then of frames, command buffers, render passes, objects, labels
//! and single blocks, from large to small, half of what is left is taken away, then quarters, and so on to one at a time; what is taken away goes with
//! all that uses what it makes (`graph`). What is still wrong a process says (`still`), so that nothing has to be understood of why. Where something went,
//! the whole is gone through again, until nothing can go or the budget is over.
//!
//! Of what is left, elements of arrays (descriptors, regions, barriers; `elements`) are left out, functions of shaders are emptied, and data are made zero, in the
//! same way (`parts`).
//!
//! Trials are replayed with memory that begins as zeros, where the whole capture shows the fault so.
//!
//! Guarantees: what is written shows the fault when it is replayed as trials are, as the last that was tried and did, and is tried again at the end; what stays is, byte for byte, the
//! capture's, but for what such parts leave. What is known is kept beside the result while the search goes on, and a search that was ended goes on from
//! there. Refuses captures that do not show the fault.

mod addresses;
mod buffers;
mod elements;
mod graph;
mod needs;
mod parts;
mod search;
mod still;
mod waits;

pub use still::Still;

use crate::failure::Failure;
use crate::files::input;
use crate::files::output::write_file;
use crate::how::How;
use crate::interrupt::Interrupt;
use crate::progress;
use crate::say::note;
use elements::Elements;
use gfxr_parse::container::Capture;
use parts::{Blocks, Data, Functions, Parts, STAGES};
use search::{Kept, Trials};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use still::{Oracle, patience};

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
    /// Elements of arrays of calls that can go one by one (descriptors, regions, barriers), of the blocks that are left, before and after.
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
    /// How often the fault was there when what is left was tried again at the end, and how often that was.
    pub shown: [u64; 2],
    /// Whether trials were replayed with `--zero-memory`.
    pub zero_memory: bool,
    /// Whether nothing that was tried one at a time could go any more, and the fault was there at the end, too.
    pub minimal: bool,
    /// Whether Ctrl-C ended it.
    pub interrupted: bool,
}

/// Reduces a capture, to a file.
pub fn reduce(settings: &Settings, output: &Path) -> Result<Reduced, Failure> {
    let began = Instant::now();
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
    // (a trial that lacks a write would read what happens to lie there: the next one would not do the same, and its shaders may never end)
    let with_zeros = How { zero_memory: true, ..settings.run.clone() }.arguments(None);
    let as_asked = settings.run.arguments(None);
    let interrupt = Interrupt::listen("it ends with what is left so far, and the same command line goes on");
    let mut oracle = Oracle {
        still: &settings.still,
        flags: &with_zeros,
        interrupt: &interrupt,
        patience: Duration::MAX,
        seen: None,
    };
    settings.still.can_be_asked()?;
    progress::step("looking at the whole capture");
    let mut whole = oracle.look(&settings.file)?;
    let mut asked = 1;
    let replays = !matches!(settings.still, Still::Script(_));
    // (a queue that waits for what the host signals later lets nothing be filled)
    let stuck = whole.filled_nothing();
    let fine = stuck || !settings.still.may_have_ended_the_gpu(&whole);
    if replays && !settings.run.zero_memory && fine && (stuck || !oracle.is(&whole)) {
        progress::step("looking at the whole capture, with memory as the driver gives it");
        oracle.flags = &as_asked;
        whole = oracle.look(&settings.file)?;
        asked += 1;
        if oracle.is(&whole) {
            note(
                "the fault was there, but not where new memory was filled with zeros: what no call writes is left to chance",
            );
        }
    }
    let zero_memory = replays && oracle.flags == with_zeros;
    if !oracle.is(&whole) {
        return Err(Failure::new(format_args!(
            "{} does not show this fault: {}",
            settings.file.display(),
            settings.still
        )));
    }
    oracle.patience = patience(&whole);
    // (a GPU that loops in one process may still serve one that submits nothing: only of what never ends well there is nothing else)
    let ended_well = whole.ended_well();
    let well = if ended_well { &*settings.file } else { &*idle };
    oracle.seen = Some(whole);
    let kept = Kept {
        capture: blake3::hash(capture.bytes()).to_hex().to_string(),
        still: settings.still.to_string(),
        zero_memory,
        ..Kept::default()
    };
    if !ended_well {
        write_file(&idle, &blocks.written(&blocks.idle())?)?;
    }
    let until = began + settings.budget;
    let mut to = Trials { asked, until, oracle, trial: &trial, notes: &notes, well, known: kept };
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
    let shown = to.again(output)?;
    minimal &= shown[0] > 0;
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
        shown,
        zero_memory,
        minimal,
        interrupted: interrupt.asked(),
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

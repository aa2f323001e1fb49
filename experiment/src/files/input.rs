//! The capture or trace that a sub-command reads, and what is said about blocks that are not as they should be.
//!
//! Guarantees: every bad block is counted; the first [`Complaints::MOST`] are reported one by one, the rest as a
//! number; a file that the capture names and that is not there is reported once. A file that ends inside a block is a warning: what came before it stands.
//! Where a trace is wanted and a capture is named, the error says how to make one of the other.

use super::memory::Memory;
use super::mmap;
use crate::failure::{Exit, Failure};
use crate::say::complain;
use gfxr_parse::container::header::FOURCC;
use gfxr_parse::container::{AllBlocks, Capture, open_file};
use gfxr_parse::error::{Error, Kind};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex};
use trace::dir::Dir;

/// Opens a capture and says what is odd about its header.
pub fn open(path: &Path, memory: impl Into<Memory>) -> Result<Capture, Failure> {
    open_once(path, memory).map(|(capture, _)| capture)
}

/// The same for one that will be read from front to back: memory behind the reader can be given back.
pub fn open_once(path: &Path, memory: impl Into<Memory>) -> Result<(Capture, Arc<mmap::Map>), Failure> {
    let name = path.display();
    let map = open_file(path)
        .and_then(mmap::map)
        .map_err(|e| Failure::new(format_args!("{name}: {e}{}", advice(&e))))?;
    let capture = Capture::at(path, map.clone(), mmap::bytes)?.within(memory.into().budget());
    for warning in capture.header().warnings() {
        complain(format_args!("{name}: warning: {warning}"));
    }
    Ok((capture, map))
}

/// Opens a trace and says what is odd about it. What a capture is to be profiled with first, if one is named: `pass`.
pub fn trace(path: &Path, pass: &str) -> Result<Dir, Failure> {
    no_capture(path, pass)?;
    let dir = Dir::open_with(path, mmap::open_plain).map_err(Failure::new)?;
    dir.warnings().iter().for_each(|w| complain(format_args!("warning: {w}")));
    Ok(dir)
}

/// Whether a file begins as a capture does.
pub fn is_capture(path: &Path) -> bool {
    let mut begin = [0; FOURCC.len()];
    let mut read = || std::fs::File::open(path)?.read_exact(&mut begin);
    // (what cannot be read is for whoever reads it to say; opening what is no plain file may wait for a writer)
    path.is_file() && read().is_ok() && begin == FOURCC
}

/// Refuses a capture where a trace is wanted.
pub fn no_capture(path: &Path, pass: &str) -> Result<(), Failure> {
    if is_capture(path) {
        let file = path.display();
        return Err(Failure::new(format_args!(
            "{file}: that is a capture; profile it first, and name the trace: reray-replay profile {file} --passes {pass} -o trace"
        )));
    }
    Ok(())
}

/// What to do about a capture that cannot be opened.
fn advice(e: &std::io::Error) -> &'static str {
    match e.kind() {
        std::io::ErrorKind::NotFound => {
            "; name a capture (.gfxr), as captures/record and the capture layer write them"
        }
        std::io::ErrorKind::IsADirectory => "; name a capture (.gfxr) in it",
        std::io::ErrorKind::InvalidInput => "; write it to a file first",
        _ => "",
    }
}

/// Says so if the file ends inside a block.
pub fn warn_if_truncated(capture: &Capture, blocks: &AllBlocks) {
    if let Some(e) = blocks.truncated() {
        warn_of_the_end(capture.name(), &e.to_string());
    }
}

/// Says where the file ends too early.
pub fn warn_of_the_end(capture: &str, why: &str) {
    complain(format_args!("{capture}: warning: {why}; everything before it was read"));
}

/// Bad blocks, reported as they are met.
pub struct Complaints<'c> {
    capture: &'c Capture,
    count: Mutex<u64>,
    /// How often blocks of files that are not there would have come, by what was said of the file.
    missing: Mutex<BTreeMap<String, u64>>,
}

impl<'c> Complaints<'c> {
    /// How many are reported one by one.
    pub const MOST: u64 = 50;

    /// None so far.
    pub fn new(capture: &'c Capture) -> Self {
        Complaints { capture, count: Mutex::new(0), missing: Mutex::default() }
    }
    /// One more; `file` is the number of the file its block lies in.
    pub fn add(&self, file: u32, error: &Error) {
        if error.kind() == Kind::Missing {
            let mut missing = self.missing.lock().unwrap_or_else(|p| p.into_inner());
            *missing.entry(error.message().to_owned()).or_default() += 1;
            return;
        }
        let mut count = self.count.lock().unwrap_or_else(|p| p.into_inner());
        *count += 1;
        if *count <= Self::MOST {
            complain(format_args!("{}: {error}", self.capture.file_name(file)));
        }
    }
    /// How the program is to end; says how many were not reported one by one.
    pub fn exit(self) -> Exit {
        let missing = self.missing.into_inner().unwrap_or_else(|p| p.into_inner());
        missing.iter().for_each(|(file, runs)| missing_file(file, *runs));
        let count = self.count.into_inner().unwrap_or_else(|p| p.into_inner());
        if count > Self::MOST {
            complain(format_args!("{}: and {} more bad blocks", self.capture.name(), count - Self::MOST));
        }
        if count == 0 { Exit::Done } else { Exit::Failed }
    }
}

/// Says that a file which the capture names is not there, and how often its blocks would have come.
pub fn missing_file(what: &str, runs: u64) {
    complain(format_args!("{what}; the {runs} times that the capture goes on in it are left out"));
}

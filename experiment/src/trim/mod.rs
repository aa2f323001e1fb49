//! `trim`: some frames of a capture as a capture of their own, in the form in which GFXReconstruct's layer writes trimmed captures.
//!
//! What comes before the frames becomes a state section: the calls that make what the frames use (`before`), structures built and queries made
//! again (`residue`), contents of buffers and images as a replay finds them there, layouts, and what synchronises (`sync`). Contents that the frames
//! do not read, or overwrite first, are left out (`first_use`). Bytes that the capture itself knows are the capture's, so that addresses in them are, too.
//!
//! Guarantees: the blocks of the frames are the capture's, byte for byte, and so is everything where the frames are all; what the
//! result lacks is told by name. Refuses captures of several files, frames that there are not or that work before them waits for, and blocks that
//! cannot be read.

mod baked;
mod before;
mod calls;
mod edited;
mod first_use;
mod kept;
mod range;
mod residue;
mod section;
mod seen;
mod sync;

use crate::failure::Failure;
use crate::files::input;
use crate::files::output::Output;
use crate::frames::{no_such_frame, there};
use crate::how::How;
use crate::progress;
use crate::replaying::{changes, options};
use crate::shots::shown;
use analyses::report::counted;
use gfxr_parse::container::{Capture, Compression};
use gfxr_parse::writer::Writer;
use range::Range;
use replay::options::Options;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use trace::plan::Use;

/// What is wanted.
pub struct Settings {
    /// The capture.
    pub file: PathBuf,
    /// The first and the last frame; none for all.
    pub frames: Option<(u64, u64)>,
    /// What `dump` printed, with values changed by hand that are written into the result.
    pub edits: Option<PathBuf>,
    /// Draws, dispatches and traces of the one frame that alone are kept: `draw=A-B`, `pass=A-B`, `label=GLOB`, `pipeline=ID`, `at=A-B`.
    pub commands: Vec<String>,
    /// Changes to calls that are written into the result.
    pub changes: Vec<Use>,
    /// The pictures of the result are compared with those of the capture.
    pub check: bool,
    /// How to replay up to them.
    pub run: How,
}

/// What came of it.
#[derive(Debug, Default, Serialize)]
pub struct Trimmed {
    /// Blocks before the frames, in the capture and in the result.
    pub before: (u64, u64),
    /// Blocks of the frames.
    pub frames: u64,
    /// Blocks that edits and changes made others.
    pub changed: u64,
    /// Buffers and images that begin with contents, and bytes of these.
    pub contents: (u64, u64, u64),
    /// What is not in the result, and how often.
    pub lacks: BTreeMap<String, u64>,
    /// Bytes of the capture and of the result.
    pub bytes: (u64, u64),
    /// Pictures of the frames that both show, and how many of them differ; none where that was not looked at.
    pub pictures: Option<(u64, u64)>,
}

impl fmt::Display for Trimmed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bytes, before) = (self.bytes, self.before);
        let share = 100.0 * bytes.1 as f64 / bytes.0.max(1) as f64;
        writeln!(f, "{} of {} bytes ({share:.1} %).", bytes.1, bytes.0)?;
        writeln!(
            f,
            "Of {} before the frames {} are kept; the frames are {}.",
            counted(before.0, "block"),
            before.1,
            self.frames
        )?;
        let (buffers, images, held) = self.contents;
        writeln!(
            f,
            "{} and {} begin with contents, {held} bytes before compression.",
            counted(buffers, "buffer"),
            counted(images, "image")
        )?;
        if self.changed > 0 {
            writeln!(f, "{} changed.", counted(self.changed, "block"))?;
        }
        match self.pictures {
            Some((of, 0)) if of > 0 => {
                let with = if self.changed > 0 { " with these changes" } else { "" };
                let are = if of == 1 { "is that" } else { "are those" };
                writeln!(f, "{} of the frames {are} of the capture{with}.", counted(of, "picture"))
            }
            _ => Ok(()),
        }
    }
}

/// Trims, into a file.
pub fn trim(settings: &Settings, output: &Path) -> Result<Trimmed, Failure> {
    if settings.frames.is_some_and(|f| f.0 == 0) {
        return Err(Failure::usage("--frames: frames are counted from 1"));
    }
    let whole = input::open(&settings.file, settings.run.reading)?;
    let options = options(&settings.run)?;
    let mut trimmed = Trimmed::default();
    let edited = settings.edits.as_ref().map(|file| edited::edited(&whole, file)).transpose()?;
    let (source, edited) = edited.as_ref().map_or((&whole, 0), |e| (&e.0, e.1));
    let there = there(source, &options.frame_by);
    let (first, last) = settings.frames.or(there).unwrap_or((1, u64::MAX));
    if let Some(there) = there {
        let is = |n: &u64| (there.0..=there.1).contains(n);
        [first, last].iter().find(|n| !is(n)).map_or(Ok(()), |n| Err(no_such_frame(*n, there)))?;
    }
    let mut all = settings.changes.clone();
    all.extend(kept::all_but(source, &settings.run, &settings.commands, (first, last))?);
    let changed;
    let capture = if all.is_empty() {
        source
    } else {
        (changed, trimmed.changed) = baked::baked(source, &options, &all)?;
        &changed
    };
    trimmed.changed += edited;
    let blamed = |e: gfxr_parse::error::Error| Failure::new(format_args!("{}: {e}", settings.file.display()));
    progress::step("what the frames use");
    let range = Range::of(capture, &options, (first, last));
    let range = range.map_err(|e| Failure::new(format_args!("{}: {e}", settings.file.display())))?;
    let mut header = capture.header().clone();
    // (what was not compressed at capture had no contents of images)
    if header.compression() == Compression::None && !range.is_all() {
        header.set_compression(Compression::Zstd);
    }
    let mut out = Writer::new(BufWriter::new(Output::create(Some(output))?), &header).map_err(blamed)?;
    let (from, to) = range.blocks;
    (trimmed.before.0, trimmed.frames) = (from as u64, (to - from) as u64);
    if range.first {
        trimmed.before.1 = from as u64;
        raw(capture, 0..from, &mut out)?;
    } else {
        let done = section::section(capture, &options, &range, first, &mut out)?;
        trimmed.before.1 = done.kept;
        (trimmed.contents, trimmed.lacks) = (done.contents, done.lacks);
    }
    // (behind the frames come the ends of objects that may not be there)
    raw(capture, from..if range.is_all() { usize::MAX } else { to }, &mut out)?;
    trimmed.bytes = (whole.bytes().len() as u64, out.offset());
    let out = out.finish().map_err(blamed)?.into_inner();
    out.map_err(|e| Failure::new(format_args!("{}: {}", output.display(), e.error())))?.finish()?;
    if settings.check {
        progress::step("whether the frames look as before");
        trimmed.pictures = Some(compared(source, &options, (&all, (first, last)), (&settings.run, output))?);
    }
    Ok(trimmed)
}

/// How many pictures the frames show in the capture (with the changes) and in the result, and how many of them differ.
fn compared(
    capture: &Capture,
    options: &Options,
    (all, frames): (&[Use], (u64, u64)),
    (how, output): (&How, &Path),
) -> Result<(u64, u64), Failure> {
    let whole = shown(capture, options, frames, changes(all)?)?;
    let result = input::open(output, how.reading)?;
    // (where presents end no frames, those of the result are counted anew)
    let anew = there(&result, &options.frame_by).is_none();
    let counted = if anew { (1, frames.1.saturating_sub(frames.0).saturating_add(1)) } else { frames };
    let ours = shown(&result, options, counted, vec![])?;
    let differ = (0..whole.len().max(ours.len())).filter(|n| {
        let of = |all: &[crate::shots::Shown]| all.get(*n).map(|s| (s.1, s.2));
        of(&whole) != of(&ours)
    });
    Ok((whole.len() as u64, differ.count() as u64))
}

/// Passes blocks on.
fn raw<W: Write>(
    capture: &Capture,
    blocks: std::ops::Range<usize>,
    out: &mut Writer<W>,
) -> Result<(), Failure> {
    for block in capture.blocks_of_main_file().take(blocks.end).skip(blocks.start) {
        out.raw(&block).map_err(Failure::new)?;
    }
    Ok(())
}

//! `trim`: some frames of a capture as a capture of their own, in the form in which GFXReconstruct's layer writes trimmed captures.
//!
//! What comes before the frames becomes a state section: the calls that make what the frames use (`before`), structures built and queries made
//! again (`residue`), contents of buffers and images as a replay finds them there, layouts, and what synchronises (`sync`). Contents that the frames
//! do not read, or overwrite first, are left out (`first_use`). Bytes that the capture itself knows are the capture's, so that addresses in them are, too.
//! Where pictures differ, it is tried once more with contents that are formally discarded before they are read. What came of it says `told`.
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
mod told;

use crate::failure::Failure;
use crate::files::input;
use crate::files::output::Output;
use crate::frames::{no_such_frame, there};
use crate::how::How;
use crate::progress;
use crate::replaying::{changes, options};
use crate::say::note;
use crate::shots::{Shown, shown};
use gfxr_parse::container::{Capture, Compression};
use gfxr_parse::writer::Writer;
use range::Range;
use replay::options::Options;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
pub use told::{Blocks, Bytes, Contents, FirstFrame, Pictures, Trimmed};
use trace::plan::Use;

/// What is wanted.
pub struct Settings {
    /// The capture.
    pub file: PathBuf,
    /// The first and the last frame; none for all.
    pub frames: Option<(u64, u64)>,
    /// What `dump` printed, with values changed by hand that are written into the result.
    pub edits: Option<PathBuf>,
    /// Draws, dispatches and traces of each frame that alone are kept: `draw=A-B`, `pass=A-B`, `label=GLOB`, `pipeline=ID`, `at=A-B`.
    pub commands: Vec<String>,
    /// Changes to calls that are written into the result.
    pub changes: Vec<Use>,
    /// The pictures of the result are compared with those of the capture.
    pub check: bool,
    /// How to replay up to them.
    pub run: How,
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
    let (first, mut last) = settings.frames.or(there).unwrap_or((1, u64::MAX));
    // (without an end they go on to the last)
    if last == u64::MAX {
        last = there.map_or(last, |there| there.1);
    }
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
        (changed, trimmed.blocks_changed) = baked::baked(source, &options, &all)?;
        &changed
    };
    trimmed.blocks_changed += edited;
    let blamed = |e: String| Failure::new(format_args!("{}: {e}", settings.file.display()));
    progress::step("what the frames use");
    let mut range = Range::of(capture, &options, (first, last)).map_err(blamed)?;
    // (all frames as they are is the capture as it is)
    let cut = range.can_be_cut() && !(range.is_all() && all.is_empty());
    let counted = if there.is_some() { first } else { 1 };
    trimmed.first_frame = FirstFrame { capture: first, trim: counted };
    trimmed.bytes.capture = whole.bytes().len() as u64;
    let out = BufWriter::new(Output::create(Some(output))?);
    let out = write(capture, &options, (&range, first, cut), &mut trimmed, out)?;
    let placed = |out: BufWriter<Output>| {
        let out = out.into_inner();
        out.map_err(|e| Failure::new(format_args!("{}: {}", output.display(), e.error())))?.finish()
    };
    placed(out)?;
    if !settings.check {
        return Ok(trimmed);
    }
    progress::step("whether the frames look as before");
    let expected = shown(source, &options, (first, last), changes(&all)?)?;
    let frames = (counted, counted.saturating_add(last.saturating_sub(first)));
    let pictures = |result: &Capture| -> Result<Pictures, Failure> {
        Ok(compared(&expected, &shown(result, &options, frames, vec![])?))
    };
    let found = pictures(&input::open(output, settings.run.reading)?)?;
    trimmed.pictures = Some(found);
    if !cut || found.differing == 0 || !range.keep_discarded() {
        return Ok(trimmed);
    }
    // (drivers may keep what Vulkan lets them discard; what is no better is not written)
    progress::step("whether they do with contents that drivers may discard");
    let mut again = trimmed.clone();
    let attempt = write(capture, &options, (&range, first, cut), &mut again, vec![]).and_then(|bytes| {
        let result = Capture::new(bytes).map_err(Failure::new)?.within(capture.budget());
        let found = pictures(&result)?;
        Ok((result, found))
    });
    let (result, found) = match attempt {
        Ok(done) => done,
        // (what was written first is there)
        Err(why) => {
            note(format_args!("with contents that drivers may discard it could not be tried: {why}"));
            return Ok(trimmed);
        }
    };
    if found.differing >= trimmed.pictures.map_or(0, |p| p.differing) {
        return Ok(trimmed);
    }
    again.pictures = Some(found);
    let mut out = BufWriter::new(Output::create(Some(output))?);
    out.write_all(result.bytes()).map_err(Failure::new)?;
    placed(out)?;
    Ok(again)
}

/// Writes the result: what the frames use (or, where nothing is cut, what lies before them), and the frames.
fn write<W: Write>(
    capture: &Capture,
    options: &Options,
    (range, first, cut): (&Range, u64, bool),
    trimmed: &mut Trimmed,
    to: W,
) -> Result<W, Failure> {
    let mut header = capture.header().clone();
    // (what was not compressed at capture had no contents of images)
    if header.compression() == Compression::None && (cut || !range.is_all()) {
        header.set_compression(Compression::Zstd);
    }
    let mut out = Writer::new(to, &header).map_err(Failure::new)?;
    let (from, to) = range.blocks;
    trimmed.blocks_of_the_frames = (to - from) as u64;
    trimmed.blocks_before_the_frames = Blocks { total: from as u64, kept: from as u64 };
    if cut {
        let done = section::section(capture, options, range, first, &mut out)?;
        trimmed.blocks_before_the_frames.kept = done.kept;
        trimmed.discarded_but_kept = range.discarded_of(&done.images);
        (trimmed.contents, trimmed.lacks) = (done.contents, done.lacks);
    } else {
        raw(capture, 0..from, &mut out)?;
    }
    // (behind the frames come the ends of objects that may not be there)
    raw(capture, from..if range.is_all() && !cut { usize::MAX } else { to }, &mut out)?;
    trimmed.bytes.trim = out.offset();
    out.finish().map_err(Failure::new)
}

/// How many pictures the frames show in the capture, and how many of them are others in the result.
fn compared(expected: &[Shown], found: &[Shown]) -> Pictures {
    let of = |all: &[Shown], n: usize| all.get(n).map(|s| (s.1, s.2));
    let differing = (0..expected.len().max(found.len())).filter(|n| of(expected, *n) != of(found, *n));
    Pictures { compared: expected.len() as u64, differing: differing.count() as u64 }
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

//! A database of a capture, and of what was measured of it; `kept`: those that are kept for later questions.
//!
//! Guarantees: the database is there whole or not at all. What could not be read of the capture is said on stderr and in the
//! database (`about`, incomplete), the rest is there, and the exit code says so. Where the file ends inside a block, that is a warning
//! (`about`, cut_off), as it is for `dump`. Refuses inputs of which nothing can be said.

pub mod kept;

use crate::failure::{Exit, Failure};
use crate::files::folder::temporary;
use crate::files::input::{self, Complaints};
use crate::files::memory::Memory;
use crate::files::mmap;
use crate::follow;
use crate::frames;
use crate::how::How;
use crate::page::inputs;
use crate::say::complain;
use crate::{progress, questions};
use analyses::report::counted;
use database::answers::Answers;
use database::capture::{Framed, Told, Written};
use database::times::Times;
use database::traces::{Traces, bindings};
use database::{Writer, capture, schema};
use gfxr_parse::ahead::Call;
use gfxr_parse::container::{Capture, Place};
use gfxr_parse::error::Error;
use replay::frames::Framer;
use replay::options::FrameBy;
use std::path::{Path, PathBuf};
use trace::dir::Dir;

/// What came of it.
pub struct Made {
    /// What there is.
    pub written: Written,
    /// How it went.
    pub exit: Exit,
}

/// Makes a database.
pub fn make(
    file: &Path,
    inputs: &[PathBuf],
    with_bindings: bool,
    output: &Path,
    reading: Memory,
) -> Result<Made, Failure> {
    // (before anything takes time)
    let read = read(inputs)?;
    let capture = input::open(file, reading)?;
    let mut writer = Writer::create(output).map_err(Failure::new)?;
    let (written, mut incomplete) = calls(&capture, &mut writer)?;
    let mut answers = Answers::default();
    let mut bound = false;
    if with_bindings && written.invocations > 0 {
        match of_bindings(&capture, &mut writer, &mut answers) {
            Ok(()) => bound = true,
            Err(Part::Unread(why)) => {
                complain(format_args!("{}: what is bound is left out: {why}", capture.name()));
                incomplete.push(format!("what is bound is left out: {why}"));
            }
            Err(Part::Failed(e)) => return Err(e),
        }
    }
    let (mut traces, mut times, mut timed) = (Traces::default(), Times::default(), false);
    for (path, read) in inputs.iter().zip(read) {
        let number = match &read.trace {
            Some(dir) => Some(traces.add(&mut writer, dir).map_err(Failure::new)?),
            None => None,
        };
        for (report, _) in read.found.inputs.iter().flat_map(|i| &i.reports) {
            answers.add(&mut writer, &path.display().to_string(), number, report).map_err(Failure::new)?;
        }
        if let Some(replay) = &read.replay {
            timed |= times.add(&mut writer, &path.display().to_string(), replay).map_err(Failure::new)?;
        }
        if read.found.failed {
            incomplete.push(format!("{}: not every question was answered", path.display()));
        }
    }
    for view in schema::views(bound, timed) {
        writer.view(view).map_err(Failure::new)?;
    }
    let exit = if incomplete.is_empty() { Exit::Done } else { Exit::Failed };
    if !incomplete.is_empty() {
        writer.about("incomplete", incomplete.join("; ")).map_err(Failure::new)?;
    }
    progress::step("making indexes");
    writer.finish().map_err(Failure::new)?;
    Ok(Made { written, exit })
}

/// An input of the command line.
struct Input {
    trace: Option<Dir>,
    /// What a replay printed.
    replay: Option<serde_json::Value>,
    found: inputs::Read,
}

fn read(inputs: &[PathBuf]) -> Result<Vec<Input>, Failure> {
    let one = |path: &PathBuf| {
        let trace = path.join("manifest.json").is_file() && !trace::run::Run::is_one(path);
        let trace = trace.then(|| input::trace(path, "simt")).transpose()?;
        let mut found = inputs::Read::default();
        match inputs::read(path, &[], &mut found) {
            // (a trace may hold tables, and answer nothing)
            Err(_) if trace.is_some() => {}
            read => read?,
        }
        let replay = (!path.is_dir()).then(|| inputs::json(path)).transpose()?;
        Ok(Input { trace, replay, found })
    };
    inputs.iter().map(one).collect()
}

/// Why what is bound is not there.
enum Part {
    /// The capture's fault.
    Unread(String),
    Failed(Failure),
}

/// What draws, dispatches and traces bind, as `bindings --sync` writes and answers it.
fn of_bindings(capture: &Capture, writer: &mut Writer, answers: &mut Answers) -> Result<(), Part> {
    // (advice has lines of its own; here it is part of one)
    let unread = |e: Failure| Part::Unread(e.to_string().replace('\n', " "));
    let failed = |e: database::Error| Part::Failed(Failure::new(e));
    let folder = temporary().map_err(unread)?;
    follow::all(capture, How::default(), folder.path()).map_err(unread)?;
    let dir = Dir::open_with(folder.path(), mmap::open_plain).map_err(|e| Part::Failed(Failure::new(e)))?;
    bindings(writer, &dir).map_err(failed)?;
    let asked = questions::answerable(&dir);
    for answer in questions::answers(&dir, &asked) {
        let report = answer.map_err(|e| Part::Failed(Failure::new(e)))?;
        answers.add(writer, capture.name(), None, &report).map_err(failed)?;
    }
    Ok(())
}

/// The capture's own tables; and what could not be read of it.
fn calls(capture: &Capture, writer: &mut Writer) -> Result<(Written, Vec<String>), Failure> {
    let rule = frames::rule(capture, &FrameBy::Auto)?;
    let bar = progress::bytes(capture.bytes().len() as u64, "calls");
    let mut walk = Walk {
        framer: Framer::new(rule),
        complaints: Complaints::new(capture),
        bad: 0,
        first: String::new(),
        cut_off: None,
        bar: &bar,
    };
    let written = capture::write(capture, writer, &mut walk).map_err(Failure::new)?;
    bar.finish_and_clear();
    let mut incomplete = vec![];
    if walk.bad > 0 {
        let bad = counted(walk.bad, "block");
        incomplete.push(format!("{bad} could not be read, the first: {}", walk.first));
    }
    if let Some(why) = walk.cut_off {
        input::warn_of_the_end(capture.name(), &why);
        writer.about("cut_off", why).map_err(Failure::new)?;
    }
    walk.complaints.exit();
    Ok((written, incomplete))
}

struct Walk<'a> {
    framer: Framer,
    complaints: Complaints<'a>,
    bad: u64,
    first: String,
    cut_off: Option<String>,
    bar: &'a indicatif::ProgressBar,
}

impl Told for Walk<'_> {
    fn framed(&mut self, place: Place, call: Option<&Call>) -> Framed {
        let edge = self.framer.edge(place, call);
        let frame = if edge.after { self.framer.ended(place) } else { self.framer.number(place) };
        Framed { before: edge.before, frame, after: edge.after }
    }
    fn bad(&mut self, why: &Error) {
        if self.bad == 0 {
            self.first = why.to_string();
        }
        self.bad += 1;
        self.complaints.add(0, why);
    }
    fn cut_off(&mut self, why: &Error) {
        self.cut_off = Some(why.to_string());
    }
    fn at(&mut self, offset: u64) {
        self.bar.set_position(offset);
    }
}

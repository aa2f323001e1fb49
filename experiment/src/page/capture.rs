//! A capture on a page in one go: its frames' times, one frame draw by draw with pictures, and answers of shaders and bindings to it.
//!
//! Each part is a process of this program, so that one that fails (a driver that crashes, a frame that cannot be looped) costs no other: what is
//! missing then stands in the notes. Guarantees: the frame is the one that was asked for, or the slowest that was timed, and is
//! named. Refuses captures that do not replay.

use super::inputs::{Read, of_json, of_trace};
use crate::bench::Settings;
use crate::draw_state::state;
use crate::failure::{Exit, Failure};
use crate::files::{input, mmap};
use crate::frames::{self, work};
use crate::how::How;
use crate::itself::on_capture;
use crate::own_times::{Own, on_the_processor, own_times};
use crate::pictures;
use crate::progress;
use crate::questions::{known, question};
use crate::replaying::options;
use crate::say::complain;
use analyses::report::html::Input;
use analyses::report::{MOST_ROWS, Report};
use analyses::times::frame::bound::bound;
use analyses::times::frame::state::{State, tables};
use analyses::times::frame::{Frame, report};
use profile::passes::filling;
use std::path::Path;
use trace::actions::Action;
use trace::dir::Dir;
use trace::plan::Plan;

/// What is asked where nothing was chosen.
const QUESTIONS: [&str; 6] = ["hotspots", "simt", "ray-counts", "advice", "uniforms", "annotate"];
/// What makes the trace of what commands bind.
const FOLLOWED: &str = "bindings";
/// What a page of a capture begins with, the most asked for first.
const ORDER: [&str; 10] = [
    "frame",
    "timeline",
    "hotspots",
    "simt",
    "ray-counts",
    "uniforms",
    "advice",
    "frame-times",
    "command-times",
    "annotate",
];
/// Timed turns of the frame, and turns at most before times have settled.
const TURNS: [u32; 2] = [10, 10];

/// What is asked.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The capture.
    pub file: &'a Path,
    /// The frame that is looked into, if one was chosen.
    pub frame: Option<u64>,
    /// Questions to what instrumented shaders record, and to what commands bind; if none, the usual ones.
    pub questions: &'a [String],
    /// Subgroup operations are taken for granted.
    pub assume_subgroups: bool,
    /// How to replay.
    pub run: &'a How,
}

/// Replays it, and adds what came of it.
pub fn read(asked: &Asked<'_>, into: &mut Read) -> Result<(), Failure> {
    known(asked.questions)?;
    let capture = input::open(asked.file, asked.run.reading)?;
    // (before anything runs: a frame that is not there is refused)
    let chosen = asked.frame.map(|frame| work(&capture, asked.run, frame, None)).transpose()?;
    let to =
        tempfile::tempdir().map_err(|e| Failure::new(format_args!("no folder for what is measured: {e}")))?;
    progress::step("timing every frame, command by command");
    let mut notes = Notes::default();
    let timed = asked.process(&["--times=command", "--json"], None, &mut notes)?;
    let value = serde_json::from_slice(&timed).map_err(Failure::new)?;
    let mut found = of_json(&value, asked.file)?;
    (found.name, found.kind) = (super::inputs::name(asked.file), "capture".into());
    let by = frames::rule(&capture, &options(asked.run)?.frame_by)?;
    found.notes.extend(frames::ended(&capture, &by).lines().map(str::to_owned));
    let load = value["load_frame"].as_u64();
    let frame = asked.frame.or_else(|| found.reports.iter().find_map(|r| slowest(&r.0, load)));
    if let Some(frame) = frame {
        found.facts.push(("frame looked into".into(), frame.to_string()));
        found.frame = Some(frame);
        let words = "what one frame does, draw by draw, and what each takes";
        let work = chosen.map_or_else(|| work(&capture, asked.run, frame, None), Ok)?;
        let mut state = state(&capture, &work.actions, MOST_ROWS);
        state.attachments = work.passes.iter().flat_map(|p| p.attachments.clone()).collect();
        let report = asked.frame_report(&work.actions, &state, frame, to.path(), &mut notes);
        found.reports.push((report, words.into()));
        let traces = match work.actions.is_empty() {
            true => vec![],
            false => asked.traces(frame, to.path(), &mut notes)?,
        };
        for (name, folder) in traces {
            if name == FOLLOWED {
                asked.bound(frame, &folder, &mut found, &mut notes);
            }
            match of_trace(&folder, name, &asked.names(), &mut into.failed) {
                Ok(trace) => found.reports.extend(trace.into_iter().flat_map(|t| t.reports)),
                Err(why) => notes.lacks(name, &why),
            }
        }
        for name in asked.questions {
            if found.reports.iter().all(|r| r.0.analysis != *name) {
                notes.all.push(format!("{name}: frame {frame} has nothing that answers it."));
            }
        }
    } else {
        notes.all.push("No frame was timed: none is looked into.".into());
    }
    // (where time goes, why, what data is; then the times of everything)
    let place = |r: &Report| ORDER.iter().position(|name| *name == r.analysis).unwrap_or(ORDER.len());
    found.reports.sort_by_key(|r| place(&r.0));
    notes.all.iter().for_each(complain);
    into.failed |= notes.failed;
    into.diverged |= notes.diverged;
    found.notes.extend(notes.all);
    into.inputs.push(found);
    Ok(())
}

/// What has to be said of a page, and what that makes of the exit code.
#[derive(Default)]
struct Notes {
    all: Vec<String>,
    failed: bool,
    diverged: bool,
}

impl Notes {
    /// A part is missing. What no device here can do is no failure.
    fn lacks(&mut self, what: &str, why: &Failure) {
        self.failed |= why.0 != Exit::NoDevice;
        self.all.push(format!("{what}: {}.", why.1.trim_end_matches('.')));
    }
}

/// The frame that took longest, on the GPU where that is known; the one that carries the program's start only if there is no other.
fn slowest(report: &Report, load: Option<u64>) -> Option<u64> {
    let longest = |name: &str| {
        let of = report.series.iter().find(|s| s.name == name && s.x.name == "frame")?;
        let times = of.points.iter().filter_map(|(x, y)| Some((x.number()? as u64, y.number()?)));
        // (of equal ones the first)
        times.max_by(|a, b| {
            let key = |f: &(u64, f64)| Some(f.0) != load;
            key(a).cmp(&key(b)).then(a.1.total_cmp(&b.1)).then(b.0.cmp(&a.0))
        })
    };
    longest("gpu_times").or_else(|| longest("cpu_times")).map(|f| f.0)
}

impl Asked<'_> {
    /// Runs this program on the capture; what it wrote to stdout. Of a command, or without one: a replay.
    fn process(&self, words: &[&str], command: Option<&str>, notes: &mut Notes) -> Result<Vec<u8>, Failure> {
        let (out, diverged) = on_capture(command, words, self.run, self.file)?;
        notes.diverged |= diverged.is_some();
        notes.all.extend(diverged.map(|why| format!("{}.", why.1.trim_end_matches('.'))));
        Ok(out)
    }

    /// The questions that are asked.
    fn names(&self) -> Vec<String> {
        match self.questions {
            [] => QUESTIONS.map(str::to_owned).to_vec(),
            some => some.to_vec(),
        }
    }

    /// The frame, draw by draw, with its pictures.
    fn frame_report(
        &self,
        actions: &[Action],
        state: &State,
        frame: u64,
        to: &Path,
        notes: &mut Notes,
    ) -> Report {
        progress::step("timing one frame by itself, command by command");
        if actions.is_empty() {
            notes.all.push(format!(
                "Frame {frame} has no draws, dispatches or traces: there was nothing to time."
            ));
        }
        let plan = Plan::named("plain");
        let settings = Settings {
            iterations: Some(TURNS[0]),
            warmup: Some(TURNS[1]),
            assume_subgroups: self.assume_subgroups,
            ..Settings::of_frame(self.file, frame, vec![plan], self.run)
        };
        let timed = (!actions.is_empty()).then(|| own_times(settings, actions, &to.join("own")));
        let own = match timed {
            None => vec![],
            Some(Ok((own, run))) => {
                if on_the_processor([&run].into_iter()) {
                    let why = "The device is the processor, which draws a render pass at its end: own times of draws say little.";
                    notes.all.push(why.into());
                }
                own
            }
            Some(Err(why)) => {
                notes.lacks(&format!("Draws of frame {frame} were not timed"), &why);
                vec![Own::default(); actions.len()]
            }
        };
        let (own, shaders): (Vec<Option<u64>>, Vec<String>) =
            own.into_iter().map(|o| (o.ns, o.shaders)).unzip();
        let of = Frame { number: frame, actions, own: &own, shaders: &shaders };
        let mut report = report(&of);
        let (tables, lacking) = tables(&of, state);
        report.tables.extend(tables);
        if lacking > 0 {
            report.notes.push(format!("{lacking} rows on the state of later draws are left out."));
        }
        progress::step("taking pictures of the frame and of its passes");
        for why in pictures::take(self.file, self.run, frame, actions, to) {
            // (not every format can be shown, and not every frame shows something)
            notes.diverged |= why.0 == Exit::Diverged;
            notes.all.push(format!("{}.", why.1.trim_end_matches('.')));
        }
        match pictures::taken(to, frame) {
            Ok(pictures) => report.pictures.extend(pictures),
            Err(why) => notes.lacks("Pictures are missing", &why),
        }
        report
    }

    /// What its draws had bound, beside what they take.
    fn bound(&self, frame: u64, folder: &Path, found: &mut Input, notes: &mut Notes) {
        let table = Dir::open_with(folder, mmap::open_plain).and_then(|dir| bound(&dir, frame));
        let report = found.reports.iter_mut().find(|r| r.0.analysis == analyses::times::frame::NAME);
        match (table, report) {
            (Ok((table, more)), Some((report, _))) if !table.rows.is_empty() => {
                report.tables.push(table);
                if more > 0 {
                    report
                        .notes
                        .push(format!("{more} descriptors of later draws are left out of table `bound`."));
                }
            }
            (Err(why), _) => notes.lacks("What draws had bound", &Failure::new(why)),
            _ => {}
        }
    }

    /// Traces that answer what is asked, by what made them.
    fn traces(
        &self,
        frame: u64,
        to: &Path,
        notes: &mut Notes,
    ) -> Result<Vec<(&'static str, std::path::PathBuf)>, Failure> {
        let (mut instrumented, mut followed) = (vec![], false);
        for name in self.names() {
            match filling(question(&name)?.wants).is_empty() {
                false => instrumented.push(name),
                true => followed = true,
            }
        }
        let mut all = vec![];
        if !instrumented.is_empty() {
            progress::step("replaying with instrumented shaders");
            let folder = to.join("instrumented");
            let (ask, frames) = (format!("--ask={}", instrumented.join(",")), format!("--frames={frame}"));
            let output = format!("--output={}", folder.display());
            let mut words = vec![ask.as_str(), &frames, &output];
            words.extend(self.assume_subgroups.then_some("--assume-subgroups"));
            match self.process(&words, Some("profile"), notes) {
                Ok(_) => all.push(("profile", folder)),
                // (a trace that lacks something is one)
                Err(why) if Dir::open_with(&folder, mmap::open_plain).is_ok() => {
                    notes.lacks("Not all shaders were instrumented", &why);
                    all.push(("profile", folder));
                }
                Err(why) => notes.lacks("Shaders were not instrumented", &why),
            }
        }
        if followed {
            progress::step("following what commands bind and read");
            let folder = to.join("followed");
            let output = format!("--output={}", folder.display());
            match self.process(&[&output, "--no-answers"], Some("bindings"), notes) {
                Ok(_) => all.push((FOLLOWED, folder)),
                Err(why) => notes.lacks("What commands bind was not followed", &why),
            }
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::{FrameTime, Nanos};

    #[test]
    fn the_slowest_frame_is_looked_into() {
        let time = |frame, gpu: Option<u64>, cpu| FrameTime { frame, gpu: gpu.map(Nanos), cpu: Nanos(cpu) };
        let cost = analyses::report::Cost::Nothing { why: String::new() };
        let run = analyses::Run { load_frame: None, first_frame: None, cost };
        let of = |frames: &[FrameTime]| slowest(&analyses::times::frame_times::report(&run, frames), Some(9));
        assert_eq!(of(&[time(1, Some(5), 90), time(2, Some(7), 10), time(3, Some(7), 10)]), Some(2));
        assert_eq!(of(&[time(1, None, 90), time(2, None, 10)]), Some(1));
        assert_eq!(of(&[time(9, Some(50), 90), time(2, Some(7), 10)]), Some(2), "9 carries the start");
        assert_eq!(of(&[time(9, Some(50), 90)]), Some(9));
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn every_usual_question_is_one() {
        for name in QUESTIONS {
            assert!(question(name).is_ok(), "{name}");
        }
    }
}

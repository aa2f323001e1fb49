//! `--times submit|pass|command`: what goes on within frames, beside the replay that times the frames themselves.
//!
//! Guarantees: no report without its cost. Before each repetition the capture is replayed without the finer timestamps.
//! Of each frame the median GPU time over the repetitions is taken, and the mean of these over the frames, without and
//! with; the difference is also given per span. One repetition says little: the first replay finds the machine cold.

use super::replay::{Bar, failure};
use crate::cli::{ReplayArgs, TimesLevel};
use crate::exit::Failure;
use crate::output::Output;
use crate::progress;
use analyses::command_times;
use analyses::report::{Cost, Report, csv, perfetto};
use gfxr_parse::container::Capture;
use profile::hooks::command_times::{CommandTimes, CommandTimesHook, Level};
use profile::hooks::frame_times::{FrameTimes, FrameTimesHook};
use replay::hook::Hook;
use replay::options::Options;
use replay::session::{On, Summary, replay};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use trace::{FrameTime, Nanos};

/// See the module's header.
pub struct Times {
    level: Option<Level>,
    isolate: bool,
    found: CommandTimes,
    running: Option<Rc<RefCell<CommandTimes>>>,
    /// The frames without the finer timestamps.
    reference: Vec<FrameTime>,
}

impl Times {
    /// What the flags ask for.
    pub fn new(args: &ReplayArgs) -> Result<Self, Failure> {
        let level = match args.times {
            TimesLevel::Frame => None,
            TimesLevel::Submit => Some(Level::Submit),
            TimesLevel::Pass => Some(Level::Pass),
            TimesLevel::Command => Some(Level::Command),
        };
        if level.is_none() && (args.csv.is_some() || args.perfetto.is_some()) {
            return Err(Failure::usage("--csv and --perfetto want --times submit, pass or command"));
        }
        if args.isolate && level.is_none_or(|l| l == Level::Submit) {
            return Err(Failure::usage("--isolate wants --times pass or command"));
        }
        let (isolate, found) = (args.isolate, CommandTimes::default());
        Ok(Times { level, isolate, found, running: None, reference: Vec::new() })
    }

    /// Replays the capture with frames timed only.
    pub fn reference(&mut self, capture: &Capture, options: &Options, repeat: u32) -> Result<(), Failure> {
        if self.level.is_none() {
            return Ok(());
        }
        let bar = progress::bytes(capture.bytes().len() as u64, "replaying without the timestamps");
        let (hook, out) = FrameTimesHook::new(true);
        // The measured replay comes after this one and reads the same bytes: none are given back.
        let mut shown = Bar { bar: &bar, map: None, released: 0 };
        let r = replay(capture, options, On::Vulkan, vec![Box::new(hook)], repeat, &mut shown);
        bar.finish_and_clear();
        r.map_err(failure)?;
        self.reference.append(&mut out.borrow_mut().frames);
        Ok(())
    }

    /// Adds the hook, outside of the one that times frames.
    pub fn before(&mut self, hooks: &mut Vec<Box<dyn Hook>>) {
        if let Some(level) = self.level {
            let (hook, out) = CommandTimesHook::new(level, self.isolate, std::mem::take(&mut self.found));
            self.running = Some(out);
            hooks.insert(0, Box::new(hook));
        }
    }

    /// Takes what it found.
    pub fn after(&mut self) {
        if let Some(out) = self.running.take() {
            self.found = std::mem::take(&mut out.borrow_mut());
        }
    }

    /// The report, with its files written; none at the level of frames.
    pub fn report(
        &self,
        args: &ReplayArgs,
        s: &Summary,
        frames: &FrameTimes,
    ) -> Result<Option<Report>, Failure> {
        if self.level.is_none() {
            return Ok(None);
        }
        let (names, records) = (&self.found.names, &self.found.records);
        let (cost, note) = self.cost(s.load_frame, frames);
        let mut report =
            command_times::report(&analyses::Run { load_frame: s.load_frame, cost }, names, records);
        report.notes.extend(self.found.notes.iter().map(|(what, n)| format!("{n} × {what}.")));
        report.notes.extend(note);
        if let Some(file) = &args.csv {
            write(file, &csv::render(&command_times::rows(names, records)))?;
        }
        if let Some(file) = &args.perfetto {
            let device = s.gpu.as_deref().unwrap_or("GPU");
            write(file, &perfetto::render(&command_times::perfetto(names, records, &frames.frames, device)))?;
        }
        Ok(Some(report))
    }

    /// A frame's GPU time without and with; and what a span costs.
    fn cost(&self, load: Option<u64>, frames: &FrameTimes) -> (Cost, Option<String>) {
        let (Some((without, _)), Some((with, n))) =
            (typical(&self.reference, load), typical(&frames.frames, load))
        else {
            return (Cost::Unknown { why: "no frame but the load frame has a GPU time".into() }, None);
        };
        let played = frames.frames.iter().filter(|f| Some(f.frame) != load && f.gpu.is_some()).count();
        let repeats = played / n;
        let of = format!(
            "a frame's GPU time, mean of {n} frames' medians of {repeats} replays with these timestamps and {repeats} without"
        );
        let spans = self.found.records.iter().filter(|r| Some(r.frame) != load).count();
        let each = (with.0 as f64 - without.0 as f64) * played as f64 / spans.max(1) as f64;
        let mut note = format!("{spans} spans in {played} frames: {each:+.0} ns of GPU time a span.");
        if repeats < 5 {
            note += " From so few replays this is mostly chance; --repeat 5 or more says more.";
        }
        (Cost::Measured { of, without, with }, Some(note))
    }

    /// Everything, as JSON; null at the level of frames.
    pub fn to_json(&self, report: Option<&Report>) -> Value {
        let Some(report) = report else { return Value::Null };
        let names = &self.found.names;
        let spans: Vec<Value> = self
            .found
            .records
            .iter()
            .zip(command_times::places(&self.found.records))
            .map(|(r, p)| {
                json!({
                    "frame": r.frame, "submit": r.submit, "device": r.device, "queue": r.queue,
                    "command_buffer": r.command_buffer, "position": r.position, "index": r.index,
                    "kind": r.kind.name(), "depth": r.depth, "path": names.path(r.node),
                    "pipeline": r.pipeline, "pipeline_name": names.objects.get(&r.pipeline),
                    "isolated": r.isolated, "begin_ns": r.begin.0, "end_ns": r.end.0, "time_ns": p.time().0,
                })
            })
            .collect();
        json!({
            "level": self.level.map(|l| format!("{l:?}").to_lowercase()),
            "isolate": self.isolate,
            "report": report,
            "not_timed": self.found.notes,
            "spans": spans,
        })
    }
}

/// The mean over frames of each frame's median GPU time, and how many frames; none if none but the load frame has any.
fn typical(all: &[FrameTime], load: Option<u64>) -> Option<(Nanos, usize)> {
    let mut frames: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for f in all.iter().filter(|f| Some(f.frame) != load) {
        frames.entry(f.frame).or_default().extend(f.gpu.map(|n| n.0));
    }
    frames.retain(|_, times| !times.is_empty());
    let median = |times: &mut Vec<u64>| {
        times.sort_unstable();
        times[times.len() / 2]
    };
    let n = frames.len();
    (n > 0).then(|| (Nanos(frames.values_mut().map(median).sum::<u64>() / n as u64), n))
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    let mut out = Output::create(Some(file))?;
    out.write(text.as_bytes())?;
    out.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_typical_frame_is_the_mean_of_medians() {
        let f = |frame, gpu: Option<u64>| FrameTime { frame, gpu: gpu.map(Nanos), cpu: Nanos(0) };
        let all =
            [f(1, Some(900)), f(2, Some(10)), f(2, Some(99)), f(2, Some(12)), f(3, Some(20)), f(4, None)];
        assert_eq!(typical(&all, Some(1)), Some((Nanos(16), 2)));
        assert_eq!(typical(&all[..1], Some(1)), None);
    }
}

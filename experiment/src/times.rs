//! `--times submit|pass|command`: what goes on within frames, beside the replay that times the frames themselves.
//!
//! Guarantees: no report without its cost. Before each repetition the capture is replayed without the finer timestamps.
//! Of each frame the median GPU time over the repetitions is taken, and the mean of these over the frames, without and
//! with; the difference is also given per span. One repetition says little: the first replay finds the machine cold.
//! What frames' own timestamps cost is measured on the device when the first queue is used, and what the chain of hooks
//! costs without a driver.

use crate::failure::Failure;
use crate::files::output::write_file;
use crate::replaying::replay_with_bar;
use analyses::report::{Cost, Report, counted, csv, perfetto};
use analyses::stats::Sample;
use analyses::times::command_times;
use gfxr_parse::container::Capture;
use profile::hooks::command_times::{CommandTimes, CommandTimesHook, Level, Settings};
use profile::hooks::frame_times::{FrameTimes, FrameTimesHook};
use replay::hook::Hook;
use replay::options::Options;
use replay::session::{On, Summary};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use trace::{FrameTime, Nanos};

/// What is timed within frames.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Submissions, passes, or commands.
    pub level: Level,
    /// Each runs alone, between full barriers.
    pub isolate: bool,
    /// Vertices, primitives and shader invocations are counted, too.
    pub statistics: bool,
}

/// See the module's header.
pub struct Times {
    settings: Option<Settings>,
    found: CommandTimes,
    running: Option<Rc<RefCell<CommandTimes>>>,
    /// The frames without the finer timestamps.
    reference: Vec<FrameTime>,
}

/// Files that are written beside the report.
#[derive(Clone, Copy, Debug)]
pub struct Files<'f> {
    /// Every span as a line.
    pub csv: Option<&'f Path>,
    /// A timeline.
    pub perfetto: Option<&'f Path>,
}

impl Times {
    /// At this level, or of frames alone.
    pub fn new(wanted: Option<Wanted>) -> Self {
        let of = |w: Wanted| Settings {
            level: w.level,
            isolate: w.isolate,
            statistics: w.statistics,
            hash: crate::extract::hash,
        };
        Times {
            settings: wanted.map(of),
            found: CommandTimes::default(),
            running: None,
            reference: Vec::new(),
        }
    }

    /// Replays the capture, changed alike, with frames timed only.
    pub fn reference(
        &mut self,
        capture: &Capture,
        options: &Options,
        repeat: u32,
        mut hooks: Vec<Box<dyn Hook>>,
    ) -> Result<(), Failure> {
        if self.settings.is_none() {
            return Ok(());
        }
        let (hook, out) = FrameTimesHook::new(true);
        hooks.push(Box::new(hook));
        // The measured replay comes after this one and reads the same bytes: none are given back.
        let what = "replaying without the timestamps";
        replay_with_bar(capture, options, On::Vulkan, hooks, repeat, what)?;
        self.reference.append(&mut out.borrow_mut().frames);
        Ok(())
    }

    /// Adds the hook, outside of the one that times frames.
    pub fn before(&mut self, hooks: &mut Vec<Box<dyn Hook>>) {
        if let Some(settings) = self.settings {
            let (hook, out) = CommandTimesHook::new(settings, std::mem::take(&mut self.found));
            self.running = Some(out);
            let cpu = hook.on_the_cpu();
            hooks.insert(0, Box::new(hook));
            hooks.insert(0, Box::new(cpu));
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
        files: Files<'_>,
        s: &Summary,
        frames: &FrameTimes,
    ) -> Result<Option<Report>, Failure> {
        if self.settings.is_none() {
            return Ok(None);
        }
        let f = &self.found;
        let (cost, note, each) = self.cost(s.load_frame, frames);
        let run = analyses::Run { load_frame: s.load_frame, first_frame: s.numbers.map(|n| n.0), cost };
        let mut report = command_times::report(&run, &f.names, &f.records, &f.counters);
        report.headlines.extend(each.and_then(|each| command_times::below_cost(&report, each)));
        report.notes.extend(f.notes.iter().map(|(what, n)| format!("{n} × {what}.")));
        if self.settings.is_some_and(|s| s.statistics) {
            report.notes.push("Counting is part of the times: without --statistics they are shorter.".into());
        }
        report.notes.extend(command_times::clock_note(&f.calibrations));
        report.notes.extend(note);
        if let Some(file) = files.csv {
            write_file(
                file,
                csv::render(&command_times::rows(&f.names, &f.records, &f.counters)).as_bytes(),
            )?;
        }
        if let Some(file) = files.perfetto {
            let timeline = command_times::perfetto(&command_times::Recorded {
                names: &f.names,
                records: &f.records,
                counters: &f.counters,
                cpu: &f.cpu,
                calibrations: &f.calibrations,
                device: s.gpu.as_deref().unwrap_or("GPU"),
            });
            write_file(file, perfetto::render(&timeline).as_bytes())?;
        }
        Ok(Some(report))
    }

    /// A frame's GPU time without and with; and what a span costs, in words and in nanoseconds.
    fn cost(&self, load: Option<u64>, frames: &FrameTimes) -> (Cost, Option<String>, Option<f64>) {
        let (Some((without, _)), Some((with, n))) =
            (typical(&self.reference, load), typical(&frames.frames, load))
        else {
            return (Cost::Unknown { why: "no frame but the load frame has a GPU time".into() }, None, None);
        };
        let played = frames.frames.iter().filter(|f| Some(f.frame) != load && f.gpu.is_some()).count();
        let repeats = played / n;
        let of = format!(
            "a frame's GPU time, mean of the medians of {}, each of {} with these timestamps and as many without",
            counted(n as u64, "frame"),
            counted(repeats as u64, "replay")
        );
        let spans = self.found.records.iter().filter(|r| Some(r.frame) != load).count();
        let each = (with.0 as f64 - without.0 as f64) * played as f64 / spans.max(1) as f64;
        let mut note = format!(
            "Timestamps within frames: {} in {}, {each:+.0} ns of GPU time each.",
            counted(spans as u64, "span"),
            counted(played as u64, "frame")
        );
        if repeats < 5 {
            note += " From so few replays this is mostly chance; --repeat 5 or more says more.";
        }
        if with < without {
            let [without, with] = [without, with].map(|t| t.as_millis());
            let why = format!(
                "{of}: {without:.3} ms without, {with:.3} ms with; replays differ by more than that, so that more of them are needed (--repeat)"
            );
            return (Cost::Unknown { why }, None, None);
        }
        (Cost::Measured { of, without, with }, Some(note), Some(each))
    }

    /// Everything, as JSON; null at the level of frames.
    pub fn to_json(&self, report: Option<&Report>) -> Value {
        let Some(report) = report else { return Value::Null };
        let names = &self.found.names;
        let mut counters = self.found.counters.iter().peekable();
        let spans: Vec<Value> = self
            .found
            .records
            .iter()
            .zip(command_times::places(&self.found.records))
            .enumerate()
            .map(|(at, (r, p))| {
                let counts = counters.next_if(|c| c.span == at as u64).map(|c| {
                    let counted = trace::COUNTERS.iter().zip(c.counts);
                    counted.filter_map(|(name, n)| Some((*name, n?))).collect::<BTreeMap<_, _>>()
                });
                json!({
                    "frame": r.frame, "repeat": r.repeat, "submit": r.submit, "device": r.device, "queue": r.queue,
                    "command_buffer": r.command_buffer, "position": r.position, "execution": r.execution, "index": r.index,
                    "pass": r.pass, "draw": r.draw,
                    "kind": r.kind.name(), "depth": r.depth, "path": names.path(r.node),
                    "pipeline": r.pipeline, "pipeline_name": names.objects.get(&r.pipeline),
                    "shaders": names.shaders.get(&r.pipeline), "statistics": counts,
                    "isolated": r.isolated, "begin_ns": r.begin.0, "end_ns": r.end.0, "time_ns": p.time().0,
                })
            })
            .collect();
        json!({
            "level": self.settings.map(|s| format!("{:?}", s.level).to_lowercase()),
            "isolate": self.settings.is_some_and(|s| s.isolate),
            "counted": self.settings.is_some_and(|s| s.statistics),
            "report": report,
            "not_timed": self.found.notes,
            "query_pools_created": self.found.pools_created,
            "spans": spans,
            "cpu": self.found.cpu,
            "calibrations": self.found.calibrations,
        })
    }
}

/// What frames' own timestamps cost, as far as it is known: a frame's GPU time without and with them.
pub fn frame_cost(times: &FrameTimes, load: Option<u64>) -> (Cost, Option<String>) {
    let Some((empty_without, empty_with)) = times.cost else {
        let cost = match times.untimed {
            0 => Cost::Nothing {
                why: "submissions were left as they are; CPU times cost two clock readings a frame".into(),
            },
            _ => Cost::Unknown { why: "no queue of this device has timestamps".into() },
        };
        return (cost, None);
    };
    let wall = format!(
        "Submitting an empty command buffer and waiting for it takes {:.3} ms without timestamps around it, {:.3} ms with.",
        empty_without.as_millis(),
        empty_with.as_millis()
    );
    let frames: Vec<u64> =
        times.frames.iter().filter(|f| Some(f.frame) != load).filter_map(|f| f.gpu.map(|n| n.0)).collect();
    let (Some(pair_ns), false) = (times.pair_gpu_ns, frames.is_empty()) else {
        return (Cost::Unknown { why: "no frame but the load frame has a GPU time".into() }, Some(wall));
    };
    let with = frames.iter().sum::<u64>() / frames.len() as u64;
    // (of the frames that the mean is of)
    let paired =
        times.frames.iter().zip(&times.pairs).filter(|(f, _)| Some(f.frame) != load && f.gpu.is_some());
    let pairs = paired.map(|(_, n)| n).sum::<u64>() as f64 / frames.len() as f64;
    let took = (pair_ns * pairs) as u64;
    let of = format!(
        "a frame's GPU time, mean, with {pairs:.1} pairs of timestamps a frame that take {pair_ns:.0} ns each, measured alone"
    );
    let cost = match with.checked_sub(took).filter(|without| *without > 0) {
        Some(without) => Cost::Measured { of, without: Nanos(without), with: Nanos(with) },
        // (what is measured alone waits for more than within a frame)
        None => Cost::Unknown {
            why: format!(
                "{pairs:.1} pairs of timestamps a frame take {pair_ns:.0} ns each where nothing else runs, which is more than the frame's {:.3} ms",
                Nanos(with).as_millis()
            ),
        },
    };
    (cost, Some(wall))
}

/// What the chain of hooks costs, in words.
pub fn chain_note(capture: &Capture) -> Option<String> {
    let c = replay::chain::cost(capture)?;
    Some(format!(
        "The replay's own work takes {:.0} ns a call without hooks, {:.0} ns with two that see each and do nothing ({} calls, no driver).",
        c.without_ns, c.with_ns, c.calls
    ))
}

/// The mean over frames of each frame's median GPU time, and how many frames; none if none but the load frame has any.
fn typical(all: &[FrameTime], load: Option<u64>) -> Option<(Nanos, usize)> {
    let mut frames: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for f in all.iter().filter(|f| Some(f.frame) != load) {
        frames.entry(f.frame).or_default().extend(f.gpu.map(|n| n.0));
    }
    frames.retain(|_, times| !times.is_empty());
    let n = frames.len();
    let medians = frames.into_values().filter_map(|times| Sample::new(times).median());
    (n > 0).then(|| (Nanos((medians.sum::<f64>() / n as f64).round() as u64), n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_frame_s_timestamps_cost() {
        let frame = |frame, gpu| FrameTime { frame, gpu: Some(Nanos(gpu)), cpu: Nanos(0) };
        let mut times = FrameTimes {
            frames: vec![frame(1, 9_000_000), frame(2, 1_000_000), frame(3, 3_000_000), frame(4, 2_000_000)],
            pairs: vec![14, 2, 2, 2],
            timed: 20,
            ..FrameTimes::default()
        };
        assert!(matches!(frame_cost(&times, Some(1)).0, Cost::Nothing { .. }));
        (times.cost, times.pair_gpu_ns) = (Some((Nanos(10), Nanos(20))), Some(5_000.0));
        let (cost, _) = frame_cost(&times, Some(1));
        let Cost::Measured { of, without, with } = cost else { panic!("{cost:?}") };
        assert_eq!((without, with), (Nanos(1_990_000), Nanos(2_000_000)));
        assert!(of.contains("2.0 pairs of timestamps a frame that take 5000 ns each"), "{of}");
        times.frames.truncate(1);
        assert!(matches!(frame_cost(&times, Some(1)).0, Cost::Unknown { .. }));
    }

    #[test]
    fn the_typical_frame_is_the_mean_of_medians() {
        let f = |frame, gpu: Option<u64>| FrameTime { frame, gpu: gpu.map(Nanos), cpu: Nanos(0) };
        let all =
            [f(1, Some(900)), f(2, Some(10)), f(2, Some(99)), f(2, Some(12)), f(3, Some(20)), f(4, None)];
        assert_eq!(typical(&all, Some(1)), Some((Nanos(16), 2)));
        assert_eq!(typical(&all[..1], Some(1)), None);
    }
}

//! `bindings split`: replays a capture with the descriptors of some pipeline layouts spread over sets in another way, in turn with
//! plain replays, and says what descriptors cost the CPU and the GPU.
//!
//! Guarantees: what frames show (of a capture that presents nothing: what they leave in memory) was compared with the plain
//! replay's before anything is timed; another picture fails, but for one within `--image-tolerance`, and one that is another in
//! each plain replay, too. Layouts that
//! stay as they are, are named with the reason. Plain and repartitioned replays alternate, the first of both warms up and does
//! not count. Whole replays are timed, in which sets are made, too; `bench --plan 'other descriptors=FILE'` times one frame in which
//! they are only bound.

use crate::failure::{Exit, Failure};
use crate::files::input;
use crate::how::How;
use crate::replaying::{options, replay_with_bar};
use crate::say::{complain, detail};
use analyses::report::counted;
use analyses::stats::Sample;
use gfxr_parse::container::Capture;
use profile::hooks::call_costs::{CallClock, CallCostsHook, Cost, Counted, is_of_descriptors};
use profile::hooks::frame_times::FrameTimesHook;
use profile::hooks::repartition::{Outcomes, Partition, Plan, RepartitionHook, scan};
use profile::pictures::{Asked, Compare, Judge, Side, Tolerance};
use replay::hook::Hook;
use replay::options::Options;
use replay::session::On;
use replay::vulkan::inspect::most_sets;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The sets that every device has room for, at least.
const LEAST_SETS: u32 = 4;

/// What a partition makes of a capture's layouts; those that stay as they are, are named.
pub fn plan(
    capture: &Capture,
    options: &Options,
    file: &Path,
    max_sets: Option<u32>,
) -> Result<Arc<Plan>, Failure> {
    let plan = plan_of(capture, options, file, max_sets)?;
    for (layout, why) in &plan.refused {
        complain(format_args!("pipeline layout {layout} stays as it is: {why}"));
    }
    Ok(plan)
}

/// The same, without a word.
pub fn plan_of(
    capture: &Capture,
    options: &Options,
    file: &Path,
    max_sets: Option<u32>,
) -> Result<Arc<Plan>, Failure> {
    let text =
        std::fs::read_to_string(file).map_err(|e| Failure::new(format_args!("{}: {e}", file.display())))?;
    let partition =
        Partition::read(&text).map_err(|e| Failure::usage(format_args!("{}: {e}", file.display())))?;
    // (without a device the replay says so; what it refuses of the partition is known without)
    let most = max_sets.unwrap_or_else(|| most_sets(options.gpu.as_deref()).unwrap_or(LEAST_SETS));
    let plan = scan(capture, &partition, most);
    match plan.layouts.is_empty() {
        true => {
            let why: Vec<String> =
                plan.refused.iter().map(|(layout, why)| format!("; layout {layout}: {why}")).collect();
            Err(Failure::new(format_args!(
                "{}: no pipeline layout of the partition can be rewritten{}",
                file.display(),
                why.concat()
            )))
        }
        false => Ok(Arc::new(plan)),
    }
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The capture.
    pub file: PathBuf,
    /// How to replay.
    pub run: How,
    /// Where slots go.
    pub partition: PathBuf,
    /// Replays of each kind that count.
    pub rounds: u32,
    /// Most sets of a layout, if it is not the device's own bound.
    pub max_sets: Option<u32>,
    /// By how much pictures may differ.
    pub image_tolerance: Tolerance,
}

/// Compares pictures, times replays, and says what was found.
pub fn split(args: &Settings) -> Result<Value, Failure> {
    let capture = input::open(&args.file, args.run.reading)?;
    let options = options(&args.run)?;
    let plan = plan(&capture, &options, &args.partition, args.max_sets)?;
    let replays = Replays { capture: &capture, options: &options };
    let compared = verify(&capture, &options, &plan, args.image_tolerance)?;
    let mut timed = [Timed::default(), Timed::default()];
    for round in 0..=args.rounds {
        for (timed, plan) in timed.iter_mut().zip([Arc::default(), plan.clone()]) {
            let one = replays.timed(plan)?;
            if round > 0 {
                timed.add(&one);
            }
            (timed.outcomes, timed.costs) = (one.outcomes, one.costs);
        }
    }
    let outcomes = &timed[1].outcomes;
    Ok(json!({
        "format": "reray-replay bindings split",
        "format_version": 1,
        "layouts": plan.layouts.keys().collect::<Vec<_>>(),
        "refused": plan.refused,
        "pictures": compared,
        "rounds": args.rounds,
        "pipelines": outcomes.pipelines,
        "pushed": outcomes.pushed,
        "bound": {
            "before": { "sets": outcomes.before.0, "descriptors": outcomes.before.1 },
            "after": { "sets": outcomes.after.0, "descriptors": outcomes.after.1 },
        },
        "plain": timed[0].json(),
        "repartitioned": timed[1].json(),
    }))
}

/// How many pictures are equal, or as near as they have to be, of the frames that the options say; fails where one is not.
pub fn verify(
    capture: &Capture,
    options: &Options,
    plan: &Arc<Plan>,
    tolerance: Tolerance,
) -> Result<usize, Failure> {
    let replays = Replays { capture, options };
    let frames = vec![options.frames.unwrap_or((1, u64::MAX))];
    let asked = Asked { compare: Compare::of(capture), frames, watchdog_ns: options.watchdog_ns() };
    let changed = |plan: &Arc<Plan>| -> Box<dyn Hook> {
        Box::new(RepartitionHook::new(plan.clone(), CallClock::default()).0)
    };
    let mut again = |side: Side<'_>, mut hooks: Vec<Box<dyn Hook>>, what: &'static str| {
        if side != Side::Plain {
            hooks.push(changed(plan));
        }
        replays.once(hooks, what)
    };
    let [mut plain, mut now] = [(); 2].map(|()| Default::default());
    for (side, into) in [(Side::Plain, &mut plain), (Side::Changed, &mut now)] {
        let (hook, pictures) = asked.taker();
        again(side, vec![hook], "comparing pictures")?;
        *into = pictures.take();
    }
    if plain.is_empty() {
        complain("warning: frames show and leave nothing that can be compared");
    }
    let verdict = Judge { asked, tolerance, passes: &[], again: &mut again }.judge(&plain, &now)?;
    verdict.remarks().into_iter().filter(|r| r.contains("were not verified")).for_each(complain);
    match (verdict.failed(), verdict.first("with plain layouts")) {
        (true, why) => {
            let why = why.unwrap_or_default();
            Err(Failure::with(Exit::Diverged, format!("with repartitioned layouts {why}: nothing was timed")))
        }
        (false, near) => {
            near.iter().for_each(|n| complain(format_args!("with repartitioned layouts {n}")));
            Ok(verdict.compared)
        }
    }
}

struct Replays<'r> {
    capture: &'r Capture,
    options: &'r Options,
}

/// What one replay, or several of a kind, took.
#[derive(Default)]
struct Timed {
    outcomes: Outcomes,
    /// Of calls about descriptors, of the last replay.
    costs: Vec<Cost>,
    /// Nanoseconds of calls about descriptors, a replay each.
    descriptors: Vec<u64>,
    /// Of all frames, likewise; the GPU's where the device has timestamps.
    gpu: Vec<u64>,
    cpu: Vec<u64>,
}

impl Timed {
    fn add(&mut self, other: &Timed) {
        self.descriptors.extend(&other.descriptors);
        self.gpu.extend(&other.gpu);
        self.cpu.extend(&other.cpu);
    }

    fn json(&self) -> Value {
        let calls: BTreeMap<&str, u64> = self.costs.iter().map(|c| (c.name(), c.calls)).collect();
        json!({
            "descriptor_calls": calls.values().sum::<u64>(),
            "calls": calls,
            "descriptor_cpu_ns": median(&self.descriptors),
            "frames_gpu_ns": median(&self.gpu),
            "frames_cpu_ns": median(&self.cpu),
        })
    }
}

fn median(of: &[u64]) -> Option<u64> {
    Sample::new(of.to_vec()).median().map(|m| m.round() as u64)
}

impl Replays<'_> {
    fn once(&self, hooks: Vec<Box<dyn Hook>>, what: &'static str) -> Result<(), Failure> {
        let summary = replay_with_bar(self.capture, self.options, On::Vulkan, hooks, 0, what)?;
        // (as other replays say it, those without repartitioned layouts among them)
        if !summary.report.validation.is_empty() {
            complain(format_args!("{what}: {} validation messages", summary.report.validation.len()));
            summary.report.validation.iter().take(50).for_each(detail);
        }
        Ok(())
    }

    fn timed(&self, plan: Arc<Plan>) -> Result<Timed, Failure> {
        let (times, frames) = FrameTimesHook::new(true);
        let clock = CallClock::default();
        let (hook, outcomes) = RepartitionHook::new(plan, clock.clone());
        let costs = CallCostsHook::with(clock.clone(), Counted::All, None);
        self.once(vec![Box::new(hook), Box::new(times), Box::new(costs)], "timing")?;
        let (frames, outcomes) = (frames.borrow(), outcomes.borrow().clone());
        let gpu: Vec<u64> = frames.frames.iter().filter_map(|f| f.gpu).map(|n| n.0).collect();
        let costs: Vec<Cost> = clock.take().into_iter().filter(|c| is_of_descriptors(c.name())).collect();
        Ok(Timed {
            descriptors: vec![costs.iter().map(|c| c.nanos).sum()],
            costs,
            gpu: if gpu.is_empty() { vec![] } else { vec![gpu.iter().sum()] },
            cpu: vec![frames.frames.iter().map(|f| f.cpu.0).sum()],
            outcomes,
        })
    }
}

/// The report in words.
pub fn said(report: &Value) -> String {
    let n = |path: &str| report.pointer(path).and_then(Value::as_u64);
    let number = |path: &str| n(path).map_or("-".to_owned(), |n| n.to_string());
    let some = |path: &str, what: &str| n(path).map_or(format!("- {what}s"), |n| counted(n, what));
    let micros = |path: &str| n(path).map_or("-".to_owned(), |n| format!("{:.1}", n as f64 / 1000.0));
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{} of {}, {} equal, {}",
        some("/pipelines", "pipeline"),
        counted(report["layouts"].as_array().map_or(0, Vec::len) as u64, "layout"),
        some("/pictures", "picture"),
        some("/rounds", "round"),
    );
    let _ = writeln!(out, "{:30} {:>14} {:>14}", "", "plain", "repartitioned");
    let rows = [
        ("sets bound, by contents", "/bound/before/sets", "/bound/after/sets", false),
        ("descriptors in them", "/bound/before/descriptors", "/bound/after/descriptors", false),
        ("calls about descriptors", "/plain/descriptor_calls", "/repartitioned/descriptor_calls", false),
        ("CPU time of these, µs", "/plain/descriptor_cpu_ns", "/repartitioned/descriptor_cpu_ns", true),
        ("GPU time of all frames, µs", "/plain/frames_gpu_ns", "/repartitioned/frames_gpu_ns", true),
        ("CPU time of all frames, µs", "/plain/frames_cpu_ns", "/repartitioned/frames_cpu_ns", true),
    ];
    for (what, plain, now, time) in rows {
        let value = |path| if time { micros(path) } else { number(path) };
        let _ = writeln!(out, "{what:30} {:>14} {:>14}", value(plain), value(now));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read() {
        let report = json!({
            "layouts": [7], "pictures": 3, "rounds": 2, "pipelines": 1,
            "bound": { "before": { "sets": 4, "descriptors": 24 }, "after": { "sets": 7, "descriptors": 16 } },
            "plain": { "descriptor_calls": 9, "descriptor_cpu_ns": 1500, "frames_gpu_ns": null, "frames_cpu_ns": 1 },
            "repartitioned": { "descriptor_calls": 8, "descriptor_cpu_ns": 900 },
        });
        let said = said(&report);
        assert!(said.starts_with("1 pipeline of 1 layout, 3 pictures equal, 2 rounds\n"), "{said}");
        let row = |what: &str| {
            said.lines()
                .find(|l| l.starts_with(what))
                .map(|l| l.split_whitespace().rev().take(2).collect::<Vec<_>>())
        };
        assert_eq!(row("descriptors in them"), Some(vec!["16", "24"]));
        assert_eq!(row("CPU time of these"), Some(vec!["0.9", "1.5"]));
        assert_eq!(row("GPU time"), Some(vec!["-", "-"]));
        assert_eq!(median(&[5, 1, 9]), Some(5));
        assert_eq!(median(&[]), None);
    }
}

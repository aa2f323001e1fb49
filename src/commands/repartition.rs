//! `repartition`: replays a capture with the descriptors of some pipeline layouts spread over sets in another way, in turn with
//! plain replays, and says what descriptors cost the CPU and the GPU.
//!
//! Guarantees: what frames show (of a capture that presents nothing: what they leave in memory) was compared with the plain
//! replay's before anything is timed; another picture fails. Layouts that stay as they are, are named with the reason. Plain
//! and repartitioned replays alternate, the first of both warms up and does not count.

use super::profile::pictures::{Compare, Pictures, taker, what_to_compare};
use super::replay::{Bar, failure, options};
use crate::cli::RepartitionArgs;
use crate::exit::{Exit, Failure, complain};
use crate::{input, progress};
use gfxr_parse::container::Capture;
use profile::hooks::frame_times::FrameTimesHook;
use profile::hooks::repartition::{Outcomes, Partition, Plan, RepartitionHook, scan};
use replay::error::Result;
use replay::hook::Hook;
use replay::options::Options;
use replay::session::{On, replay};
use serde_json::{Value, json};
use std::fmt::Write;
use std::rc::Rc;

/// The sets that every device has room for, at least.
const LEAST_SETS: u32 = 4;

/// Runs it.
pub fn run(args: &RepartitionArgs) -> std::result::Result<Exit, Failure> {
    let capture = input::open(&args.file)?;
    let text = std::fs::read_to_string(&args.partition)
        .map_err(|e| Failure::new(format_args!("{}: {e}", args.partition.display())))?;
    let partition = Partition::read(&text)
        .map_err(|e| Failure::usage(format_args!("{}: {e}", args.partition.display())))?;
    let plan = Rc::new(scan(&capture, &partition, args.max_sets.unwrap_or(LEAST_SETS)));
    for (layout, why) in &plan.refused {
        complain(format_args!("pipeline layout {layout} stays as it is: {why}"));
    }
    if plan.layouts.is_empty() {
        return Err(Failure::new("no pipeline layout of the partition can be rewritten"));
    }
    let options = options(&args.run)?;
    let replays = Replays { capture: &capture, options: &options };
    let compared = replays.verify(&plan)?;
    let mut timed = [Timed::default(), Timed::default()];
    for round in 0..=args.rounds {
        for (timed, plan) in timed.iter_mut().zip([Rc::default(), plan.clone()]) {
            let one = replays.timed(plan).map_err(failure)?;
            if round > 0 {
                timed.add(&one);
            }
            timed.outcomes = one.outcomes;
        }
    }
    let report = json!({
        "format": "reray-replay repartition",
        "format_version": 1,
        "layouts": plan.layouts.keys().collect::<Vec<_>>(),
        "refused": plan.refused,
        "pictures": compared,
        "rounds": args.rounds,
        "pipelines": timed[1].outcomes.pipelines,
        "bound": {
            "before": { "sets": timed[1].outcomes.before.0, "descriptors": timed[1].outcomes.before.1 },
            "after": { "sets": timed[1].outcomes.after.0, "descriptors": timed[1].outcomes.after.1 },
        },
        "plain": timed[0].json(),
        "repartitioned": timed[1].json(),
    });
    match args.json {
        true => println!("{}", serde_json::to_string_pretty(&report).map_err(Failure::new)?),
        false => print!("{}", said(&report)),
    }
    Ok(Exit::Done)
}

struct Replays<'r> {
    capture: &'r Capture,
    options: &'r Options,
}

/// What one replay, or several of a kind, took.
#[derive(Default)]
struct Timed {
    outcomes: Outcomes,
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
        let calls: serde_json::Map<String, Value> =
            self.outcomes.clock.calls.iter().map(|(name, c)| ((*name).to_owned(), c.0.into())).collect();
        json!({
            "descriptor_calls": self.outcomes.clock.total().0,
            "calls": calls,
            "descriptor_cpu_ns": median(&self.descriptors),
            "frames_gpu_ns": median(&self.gpu),
            "frames_cpu_ns": median(&self.cpu),
        })
    }
}

fn median(of: &[u64]) -> Option<u64> {
    let mut sorted = of.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied()
}

impl Replays<'_> {
    fn once(&self, hooks: Vec<Box<dyn Hook>>, what: &'static str) -> Result<()> {
        let bar = progress::bytes(self.capture.bytes().len() as u64, what);
        let mut told = Bar { bar: &bar, map: None, released: 0 };
        let done = replay(self.capture, self.options, On::Vulkan, hooks, 0, &mut told);
        bar.finish_and_clear();
        let summary = done?;
        // (as other replays say it, those without repartitioned layouts among them)
        if !summary.report.validation.is_empty() {
            complain(format_args!("{what}: {} validation messages", summary.report.validation.len()));
            summary.report.validation.iter().take(50).for_each(|m| eprintln!("  {m}"));
        }
        Ok(())
    }

    fn pictures(&self, compare: Compare, plan: Option<Rc<Plan>>) -> Result<Pictures> {
        let (hook, pictures) = taker(vec![(1, u64::MAX)], self.options.watchdog_ns(), compare);
        let mut hooks = vec![hook];
        hooks.extend(plan.into_iter().flat_map(|plan| RepartitionHook::hooks(plan).0));
        self.once(hooks, "comparing pictures")?;
        Ok(pictures.take())
    }

    /// How many pictures are equal; fails where one is not.
    fn verify(&self, plan: &Rc<Plan>) -> std::result::Result<usize, Failure> {
        let compare = what_to_compare(self.capture);
        let plain = self.pictures(compare, None).map_err(failure)?;
        let now = self.pictures(compare, Some(plan.clone())).map_err(failure)?;
        if plain.is_empty() {
            complain("warning: frames show and leave nothing: nothing was compared");
        }
        match plain.iter().find(|(at, hash)| now.get(at) != Some(hash)) {
            None => Ok(plain.len()),
            Some(((frame, _), _)) => Err(Failure::Error(
                Exit::Diverged,
                format!("frame {frame} is another one with repartitioned layouts: nothing was timed"),
            )),
        }
    }

    fn timed(&self, plan: Rc<Plan>) -> Result<Timed> {
        let (times, frames) = FrameTimesHook::new(true);
        let ([hook, timed], outcomes) = RepartitionHook::hooks(plan);
        self.once(vec![hook, timed, Box::new(times)], "timing")?;
        let (frames, outcomes) = (frames.borrow(), outcomes.borrow().clone());
        let gpu: Vec<u64> = frames.frames.iter().filter_map(|f| f.gpu).map(|n| n.0).collect();
        Ok(Timed {
            descriptors: vec![outcomes.clock.total().1],
            gpu: if gpu.is_empty() { vec![] } else { vec![gpu.iter().sum()] },
            cpu: vec![frames.frames.iter().map(|f| f.cpu.0).sum()],
            outcomes,
        })
    }
}

/// The report in words.
fn said(report: &Value) -> String {
    let n = |path: &str| report.pointer(path).and_then(Value::as_u64);
    let number = |path: &str| n(path).map_or("-".to_owned(), |n| n.to_string());
    let micros = |path: &str| n(path).map_or("-".to_owned(), |n| format!("{:.1}", n as f64 / 1000.0));
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{} pipelines of {} layouts, {} pictures equal, {} rounds",
        number("/pipelines"),
        report["layouts"].as_array().map_or(0, Vec::len),
        number("/pictures"),
        number("/rounds"),
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
        assert!(said.starts_with("1 pipelines of 1 layouts, 3 pictures equal, 2 rounds\n"), "{said}");
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

//! `reray-replay FILE`: replays a capture and says how long its frames took.
//!
//! Guarantees: stdout carries the report alone; what was done differently from the capture is counted and, with `-v`,
//! named. A divergence ends with exit code 5, also when `--keep-going` passed it over.

use super::upstream::Upstream;
use crate::cli::{LoopArgs, ReplayArgs, ReportArgs, TimesLevel};
use crate::exit::{self, Exit, Failure, columns, complain, detail};
use crate::{input, output, progress};
use analyses::report::text::{render_within, rewrapped};
use analyses::report::{counted, escape};
use experiment::record::plan::{Probes, timed_list};
use experiment::replay_json::{stopped_json, to_json};
use experiment::replaying::{Bar, breadcrumbs, changes, failure, options};
use experiment::times::{Files, Times, Wanted, chain_note, frame_cost};
use experiment::{frames, looped};
use gfxr_parse::container::Capture;
use profile::hooks::command_times::Level;
use profile::hooks::frame_times::{FrameTimes, FrameTimesHook};
use profile::hooks::instrument::InstrumentHook;
use profile::hooks::pipeline_times::{PipelineTimes, PipelineTimesHook};
use replay::error::Error;
use replay::hook::Hook;
use replay::looped::Loop;
use replay::session::{On, Summary, replay_as_far};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::rc::Rc;

/// Runs it.
pub fn run(args: &ReplayArgs) -> Result<Exit, Failure> {
    let file =
        args.file.as_ref().ok_or_else(|| Failure::usage("which capture? reray-replay FILE, or --help"))?;
    if let Some(page) = &args.report {
        return super::report::run(&ReportArgs::of_capture(file, page, args.assume_subgroups, &args.run));
    }
    let (capture, map) = input::open_once(file, args.run.reading)?;
    let mut options = options(&args.run.how())?;
    let mut upstream = Upstream::new(&args.upstream, &capture, &mut options)?;
    if let Some(r) = &args.frames {
        options.frames = Some(r.bounds().ok_or_else(|| Failure::usage("--frames wants one range, A-B"))?);
        if let Some(there) = frames::there(&capture, &options.frame_by)
            && let Some(n) = frames::missing(r, there)
        {
            return Err(frames::no_such_frame(n, there));
        }
    }
    options.looped = wanted(&args.looped);
    let on = if args.echo { On::Echo } else { On::Vulkan };
    let mut all = FrameTimes::default();
    let (mut last, mut stopped) = (None, None);
    let mut made = PipelineTimes::default();
    let mut times = Times::new(within(args)?);
    for repeat in 0..args.repeat.max(1) {
        times.reference(&capture, &options, repeat, changes(&args.change)?)?;
        let bar = progress::bytes(capture.bytes().len() as u64, "replaying");
        let (hook, out) = FrameTimesHook::new(!args.no_gpu_times);
        let mut hooks: Vec<Box<dyn Hook>> = if args.echo { Vec::new() } else { vec![Box::new(hook)] };
        times.before(&mut hooks);
        breadcrumbs(&args.run.how(), &mut hooks);
        upstream.before(&mut hooks);
        let (hook, pipelines) = PipelineTimesHook::new();
        hooks.push(Box::new(hook));
        if let Some(passes) = &args.passes {
            let plan = timed_list(&passes.0, probes(args), &capture)?;
            let (hook, _) = InstrumentHook::new(Rc::new(plan), Box::new(|_, _| Ok(())));
            hooks.insert(0, Box::new(hook));
        }
        hooks.splice(0..0, changes(&args.change)?);
        let r = replay_as_far(
            &capture,
            &options,
            on,
            hooks,
            repeat,
            &mut Bar { bar: &bar, map: Some(&*map), released: 0 },
        );
        bar.finish_and_clear();
        let (summary, why) = r.map_err(failure)?;
        times.after();
        made = *pipelines.borrow();
        let mut out = out.borrow_mut();
        all.frames.append(&mut out.frames);
        all.timed += out.timed;
        all.pairs.extend(&out.pairs);
        all.untimed += out.untimed;
        all.cost = all.cost.or(out.cost);
        all.pair_gpu_ns = all.pair_gpu_ns.or(out.pair_gpu_ns);
        last = Some(summary);
        if why.is_some() {
            stopped = why;
            break;
        }
    }
    let summary = last.expect("at least one repetition");
    if let (Some((first, _)), None, On::Vulkan, true) = (options.frames, &stopped, on, all.frames.is_empty())
    {
        return Err(frames::no_such_frame(first, summary.numbers.unwrap_or((1, summary.frames))));
    }
    let exit = say(args, &capture, &summary, &all, &times, made, stopped.as_ref())?;
    let beside = if stopped.is_none() { upstream.finish()? } else { Exit::Done };
    stopped.map_or(Ok(if exit == Exit::Done { beside } else { exit }), |e| Err(failure(e)))
}

/// What is to be timed within frames, if anything.
fn within(args: &ReplayArgs) -> Result<Option<Wanted>, Failure> {
    let level = match args.times {
        TimesLevel::Frame => None,
        TimesLevel::Submit => Some(Level::Submit),
        TimesLevel::Pass => Some(Level::Pass),
        TimesLevel::Command => Some(Level::Command),
    };
    if level.is_none() && (args.csv.is_some() || args.perfetto.is_some()) {
        return Err(Failure::usage("--csv and --perfetto want --times submit, pass or command"));
    }
    for (asked, flag) in [(args.isolate, "--isolate"), (args.statistics, "--statistics")] {
        if asked && level.is_none_or(|l| l == Level::Submit) {
            return Err(Failure::usage(format_args!("{flag} wants --times pass or command")));
        }
    }
    Ok(level.map(|level| Wanted { level, isolate: args.isolate, statistics: args.statistics }))
}

/// How probes that are timed count.
fn probes(args: &ReplayArgs) -> Probes {
    let &ReplayArgs { assume_subgroups, sample, keep_calls, narrow, .. } = args;
    Probes { assume_subgroups, sample, keep_calls, narrow }
}

fn say(
    args: &ReplayArgs,
    capture: &Capture,
    s: &Summary,
    times: &FrameTimes,
    within: &Times,
    made: PipelineTimes,
    stopped: Option<&Error>,
) -> Result<Exit, Failure> {
    let mut inner =
        within.report(Files { csv: args.csv.as_deref(), perfetto: args.perfetto.as_deref() }, s, times)?;
    let (cost, wall) = frame_cost(times, s.load_frame);
    let run = analyses::Run { load_frame: s.load_frame, first_frame: s.numbers.map(|n| n.0), cost };
    let mut report = match &s.looped {
        Some(l) => looped::report(args.looped.seed, l, &times.frames, run.cost),
        None => analyses::times::frame_times::report(&run, &times.frames),
    };
    report.notes.extend(wall);
    if !args.echo {
        let chain = chain_note(capture);
        inner.as_mut().unwrap_or(&mut report).notes.extend(chain);
    }
    let text = if args.json {
        let mut json = to_json(capture, s, times, &report, super::check::lines_json(&s.negotiation));
        json["loop"] = s.looped.as_ref().map_or(Value::Null, |l| looped::to_json(args.looped.seed, l));
        json["pipelines"] = json!({ "calls": made.calls, "made_ns": made.total.0 });
        json["times"] = within.to_json(inner.as_ref());
        json["stopped"] = stopped.map_or(Value::Null, |e| stopped_json(e, s));
        output::json(&json)?
    } else {
        let mut text =
            rewrapped(&heading(capture, s, args.frames.as_ref().and_then(|r| r.bounds())), columns());
        if inner.is_some() && s.looped.is_some() {
            text += &(render_within(&report, columns()) + "\n");
        }
        text + &render_within(inner.as_ref().unwrap_or(&report), columns())
    };
    output::print(text.as_bytes())?;
    Ok(complaints(args, s))
}

fn heading(capture: &Capture, s: &Summary, window: Option<(u64, u64)>) -> String {
    let device = s.gpu.as_deref().unwrap_or("no device (echo)");
    let memory = s.memory.map_or("", |m| m.name());
    let memory = if memory.is_empty() { String::new() } else { format!(", memory {memory}") };
    let of = format!("{} on {device}{memory}", capture.name());
    let (calls, frames) = (counted(s.report.calls, "call"), counted(s.frames, "frame"));
    let which = match (s.load_frame, s.numbers) {
        (Some(0), Some((a, b))) if a == b => format!(" (frame {a}) behind the state at its beginning"),
        (Some(0), Some((a, b))) => format!(" ({a} to {b}) behind the state at their beginning"),
        _ => String::new(),
    };
    let measured = window.zip(s.numbers).map(|((a, b), (first, last))| (a.max(first), b.min(last)));
    let measured = match measured {
        Some((a, b)) if a == b => format!(", frame {a} measured"),
        Some((a, b)) if a < b => format!(", frames {a} to {b} measured"),
        _ => String::new(),
    };
    let mut text = format!("{}\n{calls}, {frames}{which}{measured}\n", escape::line(&of));
    text += &frames::ended(capture, &s.frame_by);
    for (bridge, cost) in &s.report.bridges {
        let bytes = |n: u64| format!("{:.1} KiB", n as f64 / 1024.0);
        let _ = writeln!(
            text,
            "{} bridged: {} calls changed, {} added, {} more memory, {} copied by recorded commands",
            bridge.name(),
            cost.changed,
            cost.added,
            bytes(cost.memory),
            bytes(cost.copied)
        );
    }
    text + "\n"
}

/// Everything worth a line on stderr; the exit code it adds up to.
fn complaints(args: &ReplayArgs, s: &Summary) -> Exit {
    experiment::replaying::tallies(s);
    if args.run.validate {
        complain(format_args!("{} validation messages", s.report.validation.len()));
        s.report.validation.iter().take(50).for_each(detail);
    }
    if args.run.negotiation {
        exit::several("", super::check::table(&s.negotiation, columns()).trim_end());
    }
    if exit::verbose() {
        for l in s.negotiation.iter().filter(|l| l.done != replay::vulkan::portability::Done::Kept) {
            detail(format_args!("{} {}", l.what, l.done.name()));
        }
        let others = s.report.notes.iter().filter(|n| !n.0.starts_with(profile::changes::NOTE));
        others.for_each(|(what, n)| detail(format_args!("{n} × {what}")));
        let t = &s.translated;
        let e = &s.exact;
        for (n, what) in [
            (e.addresses[0], "addresses are as captured"),
            (e.addresses[1], "addresses are elsewhere though the driver was told"),
            (e.handles[0], "shader-group handles are as captured"),
            (e.handles[1], "shader-group handles are others though the driver was told"),
            (e.refused, "objects refused by the driver at their captured address"),
            (t.references[0], "acceleration-structure references in instances translated"),
            (t.references[1], "acceleration-structure references in instances not known"),
            (t.handles[0], "shader-group handles in shader binding tables translated"),
            (t.handles[1], "shader-group handles in shader binding tables not known"),
            (t.record_addresses, "addresses in shader records translated"),
            (t.push_constant_addresses, "addresses in push constants translated"),
            (t.push_constant_unknown, "pointers in push constants not known"),
            (t.push_constant_numbers, "numbers in push constants that look like addresses left as they are"),
            (t.written_addresses, "addresses in written memory translated"),
            (t.descriptors, "descriptors in written memory exchanged for this driver's"),
            (
                t.shader_addresses,
                "addresses in written memory translated because shaders say they are pointers",
            ),
            (
                t.doubtful_addresses,
                "words in written memory that may be addresses or numbers left as they are",
            ),
        ] {
            if n > 0 {
                detail(format_args!("{n} × {what}"));
            }
        }
        if s.unknown_addresses > 0 {
            detail(format_args!("{} × device addresses of no known buffer passed on", s.unknown_addresses));
        }
    }
    if s.report.divergences.count > 0 { Exit::Diverged } else { Exit::Done }
}

/// What to loop, if anything.
fn wanted(args: &LoopArgs) -> Option<Loop> {
    args.loop_frame.map(|frame| Loop {
        frame,
        iterations: args.iterations,
        warmup: args.warmup,
        allow_drift: args.allow_drift,
        leave_contents: false,
        or_once: false,
    })
}

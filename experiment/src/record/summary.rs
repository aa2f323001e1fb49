//! What `profile` says at its end.

use super::settings::Settings;
use crate::failure::Exit;
use crate::say::{complain, detail};
use analyses::report::{counted, escape};
use gfxr_parse::container::Capture;
use profile::hooks::instrument::{Done, Measurement};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

/// What was left as it was, wholly or by some pass, and why, a line each.
pub fn left_alone(done: &Done) -> Vec<String> {
    let line = |(why, n): (&String, &u64)| {
        let what = if *n == 1 { "1 entry point was" } else { &format!("{n} entry points were") };
        format!("{what} left as captured: {why}")
    };
    let without = |((pass, why), n): (&(&str, &str), &u64)| {
        let what = if *n == 1 { "1 entry point is" } else { &format!("{n} entry points are") };
        format!("{what} without pass {pass}: {why}")
    };
    let by_frame = |(why, n): (&String, &u64)| {
        let what = if *n == 1 { "1 entry point counts" } else { &format!("{n} entry points count") };
        format!("{what} by frame, and not by action: {why}")
    };
    let mut samples: BTreeMap<u32, u64> = BTreeMap::new();
    done.entries
        .iter()
        .filter_map(|e| e.variant.sample)
        .for_each(|s| *samples.entry(s.every).or_default() += 1);
    let sample = |(every, n): (u32, u64)| {
        let what = if n == 1 { "1 entry point counts" } else { &format!("{n} entry points count") };
        format!(
            "{what} one subgroup in {every} (in compute shaders with barriers one workgroup), so that numbers are estimates with intervals"
        )
    };
    let all = samples
        .into_iter()
        .map(sample)
        .chain(done.left_alone.iter().map(line))
        .chain(done.without.iter().map(without));
    all.chain(done.by_frame.iter().map(by_frame)).collect()
}

/// The summary: the headlines of answers first, and what else is to be said behind it.
pub fn text(
    capture: &Capture,
    folder: &Path,
    o: &Measurement,
    headlines: &[String],
    more: &[String],
) -> String {
    let device = o.summary.gpu.as_deref().unwrap_or("no device");
    let mut t = format!("{}\n", escape::line(&format!("{} on {device}", capture.name())));
    for line in headlines {
        let _ = writeln!(t, "{}", escape::line(line));
    }
    let frames: Vec<u64> = o.frames.keys().copied().collect();
    let _ = match (frames.first(), frames.last()) {
        (Some(a), Some(b)) if a != b => writeln!(t, "{} frames measured, {a} to {b}", frames.len()),
        (Some(a), _) => writeln!(t, "frame {a} measured"),
        _ => writeln!(t, "no frame was measured"),
    };
    let pipelines: BTreeSet<u64> = o.done.entries.iter().map(|e| e.pipeline).collect();
    let mut stages: BTreeMap<&str, u64> = BTreeMap::new();
    for e in &o.done.entries {
        *stages.entry(e.variant.stage.name()).or_default() += 1;
    }
    let stages: Vec<String> = stages.into_iter().map(|(s, n)| format!("{n} {s}")).collect();
    let _ = writeln!(
        t,
        "{} of {} instrumented ({}), {} different",
        counted(o.done.entries.len() as u64, "entry point"),
        counted(pipelines.len() as u64, "pipeline"),
        if stages.is_empty() { "none".to_owned() } else { stages.join(", ") },
        o.done.variants.len()
    );
    if let Some(c) = &o.done.chosen {
        let _ = writeln!(
            t,
            "{} of {} draws, dispatches and traces counted, and {} of {} render passes were asked for",
            c.actions.1, c.actions.0, c.render_passes.1, c.render_passes.0
        );
    }
    for line in left_alone(&o.done).iter().chain(&o.done.notes) {
        let _ = writeln!(t, "{}", escape::line(line));
    }
    if o.done.log_capacity > 0 {
        let most = o.frames.iter().max_by_key(|f| f.1.wanted);
        let (frame, wanted) = most.map_or((0, 0), |(f, m)| (*f, m.wanted));
        let share = 100.0 * wanted as f64 / o.done.log_capacity as f64;
        let _ = writeln!(t, "The log was filled to {share:.1} % in frame {frame} ({} bytes)", wanted * 4);
        let again = o.frames.values().filter(|m| m.lost > 0).count();
        if again > 0 {
            let _ = writeln!(
                t,
                "{} did not fit and ran again, in {}; --log-bytes {} holds all at once",
                counted(again as u64, "frame"),
                counted(o.sessions - o.replays, "replay"),
                wanted * 4 + wanted / 4 + 4096
            );
        }
    }
    for line in more {
        let _ = writeln!(t, "{}", escape::line(line));
    }
    let _ = writeln!(t, "The trace is in {}; next:\n  reray-replay analyze {0}", folder.display());
    t
}

/// Everything worth a line on stderr, and the exit code it adds up to; `only_probes`: nothing but probes measures something.
pub fn judge(args: &Settings, only_probes: bool, o: &Measurement) -> Exit {
    let mut exit = Exit::Done;
    for f in &o.done.failed {
        complain(f);
        exit = Exit::Failed;
    }
    if o.frames.is_empty() {
        complain("no frame was measured: the capture has none of those asked for");
        exit = Exit::Failed;
    }
    let nothing = o.done.entries.is_empty() && o.done.left_alone.is_empty() && o.done.without.is_empty();
    if nothing && only_probes && !o.frames.is_empty() {
        complain("nothing was measured: the capture makes no shaders");
    }
    if let Some(c) = o.done.chosen.as_ref().filter(|c| c.actions.1 == 0 && !o.frames.is_empty()) {
        let names: Vec<&str> = c.names.iter().map(String::as_str).collect();
        complain(match (c.actions.0, &names[..]) {
            (0, _) => {
                "nothing that was measured has probes, so that no render pass or label could be chosen".into()
            }
            (_, []) => "the capture has no render passes and no labels".to_owned(),
            (_, some) => {
                let there = some.join(", ");
                format!("nothing that was measured ran in a chosen render pass or label; there are: {there}")
            }
        });
        exit = Exit::Failed;
    }
    if args.run.validate {
        // (what the flag takes for granted)
        let granted = |m: &&String| args.assume_subgroups && m.contains("VUID-RuntimeSpirv-None-06343");
        let all = &o.summary.report.validation;
        let granted_count = all.iter().filter(granted).count();
        complain(format_args!("{} validation messages", all.len() - granted_count));
        all.iter().filter(|m| !granted(m)).take(50).for_each(detail);
        if granted_count > 0 {
            complain(format_args!("and {granted_count} about subgroup operations taken for granted"));
        }
    }
    crate::replaying::tallies(&o.summary);
    if o.summary.report.divergences.count > 0 { Exit::Diverged } else { exit }
}

//! What `profile` says at its end.

use super::Outcome;
use crate::cli::ProfileArgs;
use crate::exit::{Exit, complain};
use gfxr_parse::container::Capture;
use profile::hooks::instrument::Done;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

/// What was left as it was and why, a line each.
pub fn left_alone(done: &Done) -> Vec<String> {
    let line = |(why, n): (&String, &u64)| {
        let what = if *n == 1 { "1 entry point was" } else { &format!("{n} entry points were") };
        format!("{what} left as captured: {why}")
    };
    done.left_alone.iter().map(line).collect()
}

/// The summary.
pub fn text(capture: &Capture, folder: &Path, o: &Outcome) -> String {
    let device = o.summary.gpu.as_deref().unwrap_or("no device");
    let mut t = format!("{} on {device}\n", capture.name());
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
        "{} entry points of {} pipelines instrumented ({}), {} different",
        o.done.entries.len(),
        pipelines.len(),
        if stages.is_empty() { "none".to_owned() } else { stages.join(", ") },
        o.done.variants.len()
    );
    for line in left_alone(&o.done) {
        let _ = writeln!(t, "{line}");
    }
    if o.done.log_capacity > 0 {
        let most = o.frames.iter().max_by_key(|f| f.1.wanted);
        let (frame, wanted) = most.map_or((0, 0), |(f, m)| (*f, m.wanted));
        let share = 100.0 * wanted as f64 / o.done.log_capacity as f64;
        let _ = writeln!(t, "The log was filled to {share:.1} % in frame {frame} ({} bytes)", wanted * 4);
    }
    let _ = writeln!(t, "The trace is in {}; next:\n  reray-replay analyze {0}", folder.display());
    t
}

/// Everything worth a line on stderr; the exit code it adds up to.
pub fn judge(args: &ProfileArgs, o: &Outcome) -> Exit {
    let mut exit = Exit::Done;
    for f in &o.done.failed {
        complain(f);
        exit = Exit::Failed;
    }
    for (frame, m) in o.frames.iter().filter(|f| f.1.lost > 0) {
        complain(format_args!(
            "frame {frame}: {} words did not fit into the log; its records are left out. --log-bytes {} holds them",
            m.lost,
            m.wanted * 4 + 64
        ));
        exit = Exit::Failed;
    }
    if o.frames.is_empty() {
        complain("no frame was measured: the capture has none of those asked for");
        exit = Exit::Failed;
    }
    if args.run.validate {
        complain(format_args!("{} validation messages", o.summary.report.validation.len()));
        o.summary.report.validation.iter().take(50).for_each(|m| eprintln!("  {m}"));
    }
    for (what, tally) in
        [("undecoded blocks", &o.summary.report.undecoded), ("divergences", &o.summary.report.divergences)]
    {
        if tally.count > 0 {
            complain(format_args!("{} {what}:", tally.count));
            tally.first.iter().for_each(|t| eprintln!("  {t}"));
        }
    }
    if o.summary.report.divergences.count > 0 { Exit::Diverged } else { exit }
}

//! A repeated frame: what the loop left behind as a report and as JSON.
//!
//! Guarantees: nothing is measured here. Refuses nothing.

use analyses::report::{Cost, Report};
use analyses::times::loop_times::{self, About};
use replay::looped::{Compared, Looped};
use serde_json::{Value, json};
use trace::{FrameTime, Iteration, Nanos};

/// The report on a loop; `frames` are its timed iterations.
pub fn report(seed: u64, l: &Looped, frames: &[FrameTime], cost: Cost) -> Report {
    let iterations: Vec<Iteration> = l
        .iterations
        .iter()
        .zip(frames)
        .map(|(i, f)| Iteration {
            gpu: f.gpu,
            cpu: f.cpu,
            whole: Nanos(i.wall_ns),
            restore: Nanos(i.restore_ns),
            resources: i.resources,
            bytes: i.bytes,
            objects: i.objects,
        })
        .collect();
    let about = About {
        frame: l.frame,
        seed,
        snapshot: Nanos(l.snapshot_ns),
        snapshot_bytes: l.snapshot_bytes,
        notes: notes(l),
        cost,
    };
    loop_times::report(&about, &iterations)
}

fn notes(l: &Looped) -> Vec<String> {
    let n = l.iterations.len();
    let what = match l.compared {
        Compared::Presented => "The presented image",
        Compared::Changed => "What the frame leaves behind",
    };
    let hash: String = l.hashes.first().map_or(String::new(), hex).chars().take(16).collect();
    let mut notes = vec![match l.first_drift {
        None => format!("{what} is the same after all {n} iterations and {} before them: {hash}.", l.warmup),
        Some(first) => format!(
            "{what} differs from the first iteration's in {} of {n} iterations, first in iteration {first}.",
            l.drifted
        ),
    }];
    if !l.changed_same {
        notes.push("Not all that the frame changes is the same after the last iteration as before the first timed one.".into());
    }
    let [each, once, never] = l.calls;
    notes.push(format!(
        "{each} calls in each iteration; {once} that create in the first alone, {never} that destroy in none."
    ));
    if l.made > 0 {
        notes.push(format!("{} buffers of the replay's own were made within timed iterations.", l.made));
    }
    notes.extend(l.not_restored.iter().map(|(what, n)| format!("Not restored: {n} × {what}.")));
    notes
}

/// The loop as JSON.
pub fn to_json(seed: u64, l: &Looped) -> Value {
    json!({
        "frame": l.frame,
        "warmup": l.warmup,
        "seed": seed,
        "compared": match l.compared { Compared::Presented => "presented", Compared::Changed => "changed" },
        "hashes": l.hashes.iter().map(hex).collect::<Vec<_>>(),
        "equal": l.iterations.len() as u64 - u64::from(l.drifted),
        "drifted": l.drifted,
        "first_drift": l.first_drift,
        "changed_same": l.changed_same,
        "calls": { "each": l.calls[0], "once": l.calls[1], "never": l.calls[2] },
        "snapshot": { "time_ns": l.snapshot_ns, "bytes": l.snapshot_bytes },
        "buffers_made": l.made,
        "not_restored": l.not_restored,
        "iterations": l.iterations.iter().map(|i| json!({
            "whole_ns": i.wall_ns, "restore_ns": i.restore_ns, "resources": i.resources,
            "bytes": i.bytes, "objects": i.objects,
        })).collect::<Vec<_>>(),
    })
}

fn hex(hash: &[u8; 32]) -> String {
    hash.iter().map(|b| format!("{b:02x}")).collect()
}

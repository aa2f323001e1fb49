//! Two traces beside each other: what is counted, not timed, so that two traces are enough and no interval is needed.
//!
//! Columns (`gather`) are compared whole, and by pipeline, entry point and basic block, which belong together as `identity` says, so
//! that an edited shader is held against its former self. A change is how much greater the new number is, as a share of the base's;
//! of efficiencies a difference in percentage points. It is a *regression* if it is at least the column's threshold and worse
//! (more, or less of an efficiency or occupancy), an *improvement* if it is so and better, else *no change*. What was nothing and
//! is something, or the other way, has no share and is a change beyond every threshold.
//!
//! The whole's verdict is the worst of all columns of everything; pipelines, entry points and blocks say where a change comes from
//! and decide nothing.
//!
//! *Caveats.* A device packs fragments into subgroups as they come, so that on GPUs what is counted by subgroups moves by up to some
//! percent from run to run (docs/profile.md); invocations do not. What a sample counted is not exact: inconclusive.
//!
//! Refuses traces of other devices unless forced, and columns that are not there.

mod gather;
mod identity;
#[cfg(test)]
mod tests;

use super::compare::{Compared, Row, SCHEMA_VERSION, SideNote};
use super::judge::{Judged, Verdict};
use super::metrics::Scale;
use crate::report::Unit;
pub use gather::more_is_better;
use gather::{Column, Counted, Part};
use identity::{Identity, Shaders};
use std::collections::{BTreeMap, BTreeSet};
use trace::Source;
use trace::dir::Manifest;

/// What is wanted.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Columns; none: all that both traces have.
    pub columns: Vec<String>,
    /// The least change that matters, as a share.
    pub effect: f64,
    /// The same of some columns.
    pub thresholds: BTreeMap<String, f64>,
    /// Other devices are passed over.
    pub force: bool,
}

/// A side.
#[derive(Clone, Copy)]
pub struct Side<'t> {
    /// Its tables.
    pub trace: &'t dyn Source,
    /// What it is of.
    pub manifest: &'t Manifest,
}

/// How many names of what is on one side only are said.
const NAMED: usize = 3;

/// Compares; what is refused, and what cannot be read, is said.
pub fn compare(base: Side<'_>, new: Side<'_>, wanted: &Wanted) -> Result<Compared, String> {
    let sides = [base, new];
    let mut notes = vec![];
    same_devices(sides, wanted.force, &mut notes)?;
    let read = |s: Side<'_>| -> Result<(Shaders, Counted), String> {
        let shaders = Shaders::read(s.trace).map_err(|e| e.0)?;
        let counted = gather::gather(s.trace, &shaders, s.manifest.frames.len()).map_err(|e| e.0)?;
        Ok((shaders, counted))
    };
    let both = [read(base)?, read(new)?];
    let counted = both.each_ref().map(|b| &b.1);
    let columns = columns(counted, wanted, &mut notes)?;
    let identity = Identity::of(&both[0].0, &both[1].0);
    alone(&both, &identity, &mut notes);
    different(sides, &mut notes);

    let mut rows = vec![];
    let mut add = |level: &'static str, at: [Part; 2], words: &dyn Fn() -> String| {
        for column in &columns {
            let of = [0, 1].map(|s: usize| counted[s].value(&column.name, at[s]));
            let [Some(base), Some(new)] = of else { continue };
            let threshold = wanted.thresholds.get(&column.name).copied().unwrap_or(wanted.effect);
            let mut judged = judged(base, new, column, threshold);
            if judged.verdict == Verdict::NoChange && level != "capture" && base == new {
                continue;
            }
            let inexact = counted.iter().find(|c| !c.inexact.is_empty());
            if let Some(why) = inexact.filter(|_| base != new) {
                (judged.verdict, judged.why) = (Verdict::Inconclusive, why.inexact.clone());
            }
            rows.push(Row {
                capture: sides[1].manifest.capture.name.clone(),
                plan: "counts".into(),
                level,
                frame: None,
                place: None,
                part: if level == "capture" { String::new() } else { words() },
                metric: column.name.clone(),
                unit: column.unit.symbol(),
                share: None,
                bands: None,
                judged,
                values: [vec![base], vec![new]],
            });
        }
    };
    add("capture", [Part::Whole; 2], &String::new);
    let [was, is] = both.each_ref().map(|b| &b.0.context);
    for (&b, &n) in &identity.pipelines {
        add("pipeline", [Part::Pipeline(b), Part::Pipeline(n)], &|| is.pipeline_words(n));
    }
    let before = |b: u64, n: u64| match (was.entry(b), is.entry(n)) {
        (Some(x), Some(y)) if x.shader != y.shader => format!(", edited, was {}", was.entry_words(b)),
        _ => String::new(),
    };
    for (&b, &n) in &identity.entries {
        let words = || format!("{}{}", is.whose_words(n), before(b, n));
        add("shader", [Part::Shader(b), Part::Shader(n)], &words);
    }
    for (&(e, f, b), &(g, h, c)) in &identity.blocks {
        add("block", [Part::Block(e, f, b), Part::Block(g, h, c)], &|| is.block_words(g, h, c));
    }
    let mut all = Compared {
        schema_version: SCHEMA_VERSION,
        verdict: Verdict::Inconclusive,
        clock: None,
        min_effect: wanted.effect,
        alpha: 0.0,
        base: side(base),
        new: side(new),
        rows,
        notes,
    };
    all.decide();
    Ok(all)
}

fn side(of: Side<'_>) -> SideNote {
    let m = of.manifest;
    SideNote {
        program: m.program.clone(),
        began: 0,
        devices: vec![format!("{}, {}", m.device.name, m.device.driver)],
    }
}

fn same_devices(sides: [Side<'_>; 2], force: bool, notes: &mut Vec<String>) -> Result<(), String> {
    let [a, b] = sides.map(|s| &s.manifest.device);
    if (&a.name, a.subgroup_size) != (&b.name, b.subgroup_size) {
        let words = |d: &trace::dir::Device| format!("{} (subgroups of {})", d.name, d.subgroup_size);
        let text = format!("the base is of {}, the new trace of {}", words(a), words(b));
        if !force {
            return Err(format!("{text}; --force compares them all the same"));
        }
        notes.push(format!("Other devices: {text}."));
    } else if a.driver != b.driver {
        notes.push(format!("Other drivers: {} and {}.", a.driver, b.driver));
    }
    Ok(())
}

/// Columns of both sides that are asked for, in the new one's order.
fn columns(counted: [&Counted; 2], wanted: &Wanted, notes: &mut Vec<String>) -> Result<Vec<Column>, String> {
    let names = counted.map(|c| c.columns.iter().map(|c| c.name.as_str()).collect::<BTreeSet<_>>());
    let both: BTreeSet<&str> = names[0].intersection(&names[1]).copied().collect();
    let list = |of: &BTreeSet<&str>| of.iter().copied().collect::<Vec<_>>().join(", ");
    for name in wanted.columns.iter().chain(wanted.thresholds.keys()) {
        if !both.contains(name.as_str()) {
            let there = if both.is_empty() { "none".to_owned() } else { list(&both) };
            return Err(format!("{name}: columns that both traces have: {there}"));
        }
    }
    for (s, side) in ["base", "new trace"].into_iter().enumerate() {
        let alone: BTreeSet<&str> = names[s].difference(&both).copied().collect();
        if !alone.is_empty() {
            notes.push(format!("Counted in the {side} only: {}.", list(&alone)));
        }
    }
    let asked = |c: &&Column| {
        both.contains(c.name.as_str()) && (wanted.columns.is_empty() || wanted.columns.contains(&c.name))
    };
    Ok(counted[1].columns.iter().filter(asked).cloned().collect())
}

/// Says which pipelines and entry points are on one side only.
fn alone(both: &[(Shaders, Counted); 2], identity: &Identity, notes: &mut Vec<String>) {
    let of = |s: usize| &both[s].0.context;
    let there: [BTreeSet<u64>; 2] =
        [identity.pipelines.keys().copied().collect(), identity.pipelines.values().copied().collect()];
    let entries: [BTreeSet<u64>; 2] =
        [identity.entries.keys().copied().collect(), identity.entries.values().copied().collect()];
    for (s, side) in ["base", "new trace"].into_iter().enumerate() {
        let pipelines = of(s).pipelines().filter(|p| !there[s].contains(&p.id));
        let pipelines: Vec<String> = pipelines.map(|p| of(s).pipeline_words(p.id)).collect();
        // (those of such pipelines go without saying)
        let entries =
            of(s).entries().filter(|e| there[s].contains(&e.pipeline) && !entries[s].contains(&e.entry));
        let entries: Vec<String> = entries.map(|e| of(s).whose_words(e.entry)).collect();
        for (what, names) in [("pipelines", pipelines), ("entry points", entries)] {
            if !names.is_empty() {
                let some = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join("; ");
                let more = if names.len() > NAMED { "; …" } else { "" };
                notes.push(format!("In the {side} only: {} {what}: {some}{more}.", names.len()));
            }
        }
    }
}

/// Says what differs between the two traces beside their numbers.
fn different(sides: [Side<'_>; 2], notes: &mut Vec<String>) {
    let [a, b] = sides.map(|s| s.manifest);
    if a.capture.blake3 != b.capture.blake3 {
        notes.push(format!("The captures differ: {} and {}.", a.capture.name, b.capture.name));
    }
    if a.frames != b.frames {
        let words = |f: &[u64]| match f {
            [] => "none".to_owned(),
            [one] => format!("frame {one}"),
            [first, .., last] => format!("{} frames from {first} to {last}", f.len()),
        };
        notes.push(format!(
            "The frames differ: {}, and {}; numbers are of a frame, on average.",
            words(&a.frames),
            words(&b.frames)
        ));
    }
    let passes = |m: &Manifest| m.passes.iter().map(|p| p.key.clone()).collect::<Vec<_>>().join(", ");
    if passes(a) != passes(b) {
        notes.push(format!("The passes differ: {}; and {}.", passes(a), passes(b)));
    }
    for (m, side) in [(a, "base"), (b, "new trace")] {
        if !m.complete {
            notes.push(format!("The {side} broke off: it has counted less than there was."));
        }
    }
}

fn judged(base: f64, new: f64, column: &Column, threshold: f64) -> Judged {
    let scale = if column.unit == Unit::Percent { Scale::Difference } else { Scale::Ratio };
    let change = match scale {
        Scale::Difference => Some((new - base) / 100.0),
        Scale::Ratio if base != 0.0 => Some(new / base - 1.0),
        Scale::Ratio => (new == 0.0).then_some(0.0),
    };
    // (what was nothing has no share)
    let greater = change.unwrap_or(f64::INFINITY);
    let worse = if more_is_better(&column.name) { -greater } else { greater };
    let verdict = match () {
        () if base == new || worse.abs() < threshold => Verdict::NoChange,
        () if worse > 0.0 => Verdict::Regression,
        () => Verdict::Improvement,
    };
    Judged::counted(base, new, scale, change, verdict)
}

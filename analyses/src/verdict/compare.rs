//! Two runs beside each other: per capture and plan, per frame, and per pass and command.
//!
//! *Sides.* Captures belong together by their hash, plans by their name; with `against` every plan of the new run is held against
//! that one of the base. Where both sides are of one run, processes of one number were alive together, and are compared as pairs.
//! The clock is the GPU's where every timed frame of both
//! sides has a GPU time, else the CPU's, unless one is asked for.
//!
//! *Families.* All metrics of all captures and plans are one family for Benjamini and Hochberg; so are all frames of a capture
//! and plan, all its passes (labels, passes, secondary command buffers, runs of commands outside of passes), and all its
//! commands. Frames and places are judged by their median. Places that take less than [`LEAST_SHARE`] of the time of all
//! submissions, on both sides together, are left out: they can make no frame slower, and each costs the others power.
//!
//! *The whole's verdict* is the worst of all captures' and plans' metrics that could be judged; a frame that is a regression makes
//! it one, too. Passes and commands say where a change comes from; they decide nothing. If nothing could be judged it is
//! inconclusive.
//!
//! Refuses runs of other devices (by name; of software, the processor's as well) or captures, unless forced; then what is on one side only is left out, by name.

use super::judge::{Ask, Judged, Test, Verdict, decide, measure};
use super::metrics::Metric;
use super::sides::{Both, Process, all, ms, numbered, time, values, workers};
pub use super::sides::{Clock, pairs as paired_processes, processes};
use crate::stats::{Sample, adjusted};
use crate::times::bench::bands;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use trace::plan::Plan;
use trace::run::{Place, Run};

/// The version of the JSON's shape.
pub const SCHEMA_VERSION: u32 = 2;
/// Share of all submissions' time below which a place is not asked about.
pub const LEAST_SHARE: f64 = 0.001;

/// What is wanted.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Metrics of captures.
    pub metrics: Vec<Metric>,
    /// How each question is asked.
    pub ask: Ask,
    /// The clock; none: see the module's header.
    pub clock: Option<Clock>,
    /// The base's plan that all of the new run's are held against.
    pub against: Option<String>,
    /// The new run's plans that are asked about; none: all.
    pub plans: Vec<String>,
    /// Other devices and captures are passed over.
    pub force: bool,
}

/// Where times gather: the place of each band in ms, and its share of frames.
pub type Bands = Vec<(f64, f64)>;

/// One question's answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The capture's file name.
    pub capture: String,
    /// The plan, or `NEW against BASE`.
    pub plan: String,
    /// capture, frame, pass, command or picture; of traces capture, pipeline, shader or block.
    pub level: &'static str,
    /// The frame, of frames and places.
    pub frame: Option<u64>,
    /// Of places: which.
    pub place: Option<Place>,
    /// Of pipelines, entry points and blocks of a trace: which, in words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub part: String,
    /// The metric, or a trace's column.
    pub metric: String,
    /// Its unit.
    pub unit: &'static str,
    /// Of places: their share of all submissions' time on the base's side.
    pub share: Option<f64>,
    /// Of captures: bands of both sides.
    pub bands: Option<[Bands; 2]>,
    /// The answer.
    #[serde(flatten)]
    pub judged: Judged,
    /// Each process's value, of both sides; of captures alone.
    #[serde(skip)]
    pub values: [Vec<f64>; 2],
}

/// A side, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SideNote {
    /// The program and its version.
    pub program: String,
    /// When it began: seconds since 1970, UTC.
    pub began: u64,
    /// Devices with their drivers.
    pub devices: Vec<String>,
}

/// Both runs, compared.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Compared {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The whole's verdict.
    pub verdict: Verdict,
    /// The clock; none where traces are compared, which are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
    /// The least effect that matters, as a share.
    pub min_effect: f64,
    /// Intervals are at the level 1 − alpha, and an adjusted p of at most alpha is significant.
    pub alpha: f64,
    /// The sides.
    pub base: SideNote,
    /// See `base`.
    pub new: SideNote,
    /// Answers: captures first, then frames, passes, commands.
    pub rows: Vec<Row>,
    /// What is to be said.
    pub notes: Vec<String>,
}

/// A capture and plan of both sides.
struct Pair {
    capture: String,
    plan: String,
    /// Capture and plan, by side.
    at: [(usize, usize); 2],
    /// Both sides are of one run.
    paired: bool,
}

/// Compares; what is refused is said.
pub fn compare(base: &Run, new: &Run, wanted: &Wanted) -> Result<Compared, String> {
    let sides = [base, new];
    let mut notes = vec![];
    let pairs = pairs(sides, wanted, &mut notes)?;
    same_devices(sides, &pairs, wanted.force, &mut notes)?;
    let clock = wanted.clock.unwrap_or_else(|| {
        let timed = |r: &Run| r.frames.iter().filter(|f| f.timed && !f.load).all(|f| f.gpu.is_some());
        if sides.iter().all(|r| timed(r)) { Clock::Gpu } else { Clock::Cpu }
    });
    let mut rows = captures(sides, &pairs, clock, wanted);
    let (mut frames, mut places) = (vec![], vec![]);
    for pair in &pairs {
        frames.extend(by_frame(sides, pair, clock, wanted));
        for level in ["pass", "command"] {
            places.extend(by_place(sides, pair, level, wanted, &mut notes));
        }
        pictures(sides, pair, &mut notes);
    }
    rows.extend(frames);
    let verdict = whole(&rows);
    places.sort_by_key(|r| r.level == "command");
    rows.extend(places);
    Ok(Compared {
        schema_version: SCHEMA_VERSION,
        verdict,
        clock: Some(clock),
        min_effect: wanted.ask.effect,
        alpha: wanted.ask.alpha,
        base: side(base),
        new: side(new),
        rows,
        notes,
    })
}

impl Compared {
    /// Takes what else was compared of the same capture, counted or seen, and decides anew.
    pub fn with(&mut self, other: Compared) {
        self.rows.extend(other.rows);
        self.notes.extend(other.notes);
        self.decide();
    }

    /// Decides anew from its rows.
    pub fn decide(&mut self) {
        self.verdict = whole(&self.rows);
    }
}

/// The verdict that rows of captures, frames and pictures come to.
fn whole(rows: &[Row]) -> Verdict {
    let of = |level: &'static str| rows.iter().filter(move |r| r.level == level);
    if of("frame").any(|r| r.judged.verdict == Verdict::Regression) {
        return Verdict::Regression;
    }
    let exact = |r: &&Row| r.judged.test == Test::Counted;
    let judged = of("capture").filter(|r| r.judged.interval.is_some() || exact(r)).chain(of("picture"));
    judged.map(|r| r.judged.verdict).max().unwrap_or(Verdict::Inconclusive)
}

/// Decides captures' rows of several comparisons as one family, each by its own ask, and each comparison's verdict anew.
pub fn decide_together(all: &mut [&mut Compared]) {
    let mut family = vec![];
    for c in all.iter_mut() {
        let ask = Ask { effect: c.min_effect, alpha: c.alpha };
        for row in c.rows.iter_mut().filter(|r| r.level == "capture") {
            // (a row without figures keeps its reason; the others' come from the verdict)
            if !row.judged.base.is_nan() && row.judged.test != Test::Counted {
                row.judged.why.clear();
            }
            family.extend(Metric::named(&row.metric).map(|metric| (&mut row.judged, metric, ask)));
        }
    }
    judge(&mut family);
    all.iter_mut().for_each(|c| c.verdict = whole(&c.rows));
}

fn side(run: &Run) -> SideNote {
    let of = |w: &trace::run::Worker| format!("{}, {}", w.of_device("name"), w.of_device("driver"));
    let devices: BTreeSet<String> = run.note.workers.iter().map(of).collect();
    SideNote {
        program: run.note.program.clone(),
        began: run.note.began,
        devices: devices.into_iter().collect(),
    }
}

/// What each side of a pair ran on, by name; of a device that is the processor, with the processor's.
fn devices(sides: [&Run; 2], pair: &Pair) -> [BTreeSet<String>; 2] {
    [0, 1].map(|s: usize| {
        let note = &sides[s].note;
        let cpu = note.machine["before"]["cpu"].as_str().unwrap_or_default();
        let name = |w: usize| {
            let w = &note.workers[w];
            match w.of_device("kind") {
                "CPU" if !cpu.is_empty() => format!("{} on {cpu}", w.of_device("name")),
                _ => w.of_device("name").to_owned(),
            }
        };
        workers(sides[s], pair.at[s]).into_iter().map(name).collect()
    })
}

/// Both sides of each pair ran on the same devices.
fn same_devices(
    sides: [&Run; 2],
    pairs: &[Pair],
    force: bool,
    notes: &mut Vec<String>,
) -> Result<(), String> {
    let words = |s: &BTreeSet<String>| s.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    for pair in pairs {
        let [a, b] = devices(sides, pair);
        if a != b {
            let text = format!("{} ran on {}, then on {}", pair.plan, words(&a), words(&b));
            if !force {
                return Err(format!("plan {text}; --force compares them all the same"));
            }
            notes.push(format!("Other devices: plan {text}."));
        }
        let [a, b] = [0, 1].map(|s: usize| -> BTreeSet<String> {
            let all = workers(sides[s], pair.at[s]).into_iter();
            all.map(|w| sides[s].note.workers[w].of_device("driver").to_owned()).collect()
        });
        if a != b {
            notes.push(format!("Other drivers: plan {}: {} and {}.", pair.plan, words(&a), words(&b)));
        }
    }
    // (all captures say the same)
    let mut seen = BTreeSet::new();
    notes.retain(|n| seen.insert(n.clone()));
    Ok(())
}

fn pairs(sides: [&Run; 2], wanted: &Wanted, notes: &mut Vec<String>) -> Result<Vec<Pair>, String> {
    let [base, new] = sides.map(|r| &r.note);
    let hashes = |n: &trace::run::RunNote| -> BTreeSet<String> {
        n.captures.iter().map(|c| c.blake3.clone()).collect()
    };
    let same = hashes(base) == hashes(new);
    if !same && !wanted.force {
        let names = |n: &trace::run::RunNote| {
            n.captures.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ")
        };
        return Err(format!(
            "the base is of other captures ({}) than the new run ({}); --force compares those of one name",
            names(base),
            names(new)
        ));
    }
    if let Some(against) = &wanted.against
        && base.plans.iter().all(|p| p.name != *against)
    {
        return Err(format!("the base has no plan {against}"));
    }
    if let Some(none) = wanted.plans.iter().find(|p| new.plans.iter().all(|o| o.name != **p)) {
        return Err(format!("the new run has no plan {none}"));
    }
    let mut all = vec![];
    let itself = std::ptr::eq(sides[0], sides[1]) || sides[0] == sides[1];
    for (n, capture) in new.captures.iter().enumerate() {
        let of = |c: &trace::dir::Capture| c.blake3 == capture.blake3 || (!same && c.name == capture.name);
        let Some(b) = base.captures.iter().position(of) else {
            notes.push(format!("{} is in the new run only.", capture.name));
            continue;
        };
        let asked = |p: &&Plan| wanted.plans.is_empty() || wanted.plans.contains(&p.name);
        for (p, plan) in new.plans.iter().enumerate().filter(|p| asked(&p.1)) {
            let other = wanted.against.as_deref().unwrap_or(&plan.name);
            let Some(q) = base.plans.iter().position(|o| o.name == *other) else {
                notes.push(format!("Plan {} is in the new run only.", plan.name));
                continue;
            };
            if itself && (b, q) == (n, p) {
                continue;
            }
            let name = match plan.name == *other {
                true => plan.name.clone(),
                false => format!("{} against {other}", plan.name),
            };
            all.push(Pair {
                capture: capture.name.clone(),
                plan: name,
                at: [(b, q), (n, p)],
                paired: itself,
            });
        }
    }
    match (all.is_empty(), itself) {
        (false, _) => Ok(all),
        (true, true) => Err("a run has no other plan to compare with: name one with --against".into()),
        (true, false) => Err("no capture and plan is in both runs".into()),
    }
}

/// Judges a family at once.
fn judge(family: &mut [(&mut Judged, Metric, Ask)]) {
    let many = family.len();
    let p: Vec<f64> = family.iter().map(|f| f.0.p).collect();
    for ((judged, metric, ask), p) in family.iter_mut().zip(adjusted(&p)) {
        judged.p_adjusted = p;
        decide(judged, *metric, ask, many);
    }
}

fn rows(mut family: Vec<(Row, Metric)>, ask: &Ask) -> Vec<Row> {
    judge(&mut family.iter_mut().map(|(row, metric)| (&mut row.judged, *metric, *ask)).collect::<Vec<_>>());
    family.into_iter().map(|f| f.0).collect()
}

fn row(pair: &Pair, level: &'static str, metric: Metric, judged: Judged) -> Row {
    Row {
        capture: pair.capture.clone(),
        plan: pair.plan.clone(),
        level,
        frame: None,
        place: None,
        part: String::new(),
        metric: metric.name().into(),
        unit: metric.unit(),
        share: None,
        bands: None,
        judged,
        values: [vec![], vec![]],
    }
}

fn captures(sides: [&Run; 2], pairs: &[Pair], clock: Clock, wanted: &Wanted) -> Vec<Row> {
    let mut family = vec![];
    for pair in pairs {
        let both = Both::new([0, 1].map(|s: usize| all(sides[s], pair.at[s], clock)), pair.paired);
        let gathered = [0, 1].map(|s: usize| {
            let all = both.sides[s].iter().flatten().flatten().map(|t| (t * 1e6) as u64).collect();
            bands(&Sample::new(all)).iter().map(|b| (b.at / 1e6, b.share)).collect::<Bands>()
        });
        for &metric in &wanted.metrics {
            let judged = measure(&both.sides(), metric, &wanted.ask);
            let mut row = row(pair, "capture", metric, judged);
            row.bands = Some(gathered.clone());
            row.values = [0, 1].map(|s: usize| values(&both.sides[s], metric).unwrap_or_default());
            family.push((row, metric));
        }
    }
    rows(family, &wanted.ask)
}

/// Processes of both sides by worker, as sides of a question.
fn together(sides: [&Run; 2], pair: &Pair, by: [BTreeMap<usize, Process>; 2]) -> Both {
    let [base, new] = by;
    Both::new([numbered(sides[0], base), numbered(sides[1], new)], pair.paired)
}

/// Each frame by itself; none where there is one alone.
fn by_frame(sides: [&Run; 2], pair: &Pair, clock: Clock, wanted: &Wanted) -> Vec<Row> {
    let mut of: BTreeMap<u64, [BTreeMap<usize, Process>; 2]> = BTreeMap::new();
    for (s, run) in sides.into_iter().enumerate() {
        let mine = workers(run, pair.at[s]);
        for f in run.frames.iter().filter(|f| f.timed && !f.load && mine.contains(&f.worker)) {
            if let Some(time) = time(f, clock) {
                of.entry(f.frame).or_default()[s].entry(f.worker).or_default().push(vec![ms(time)]);
            }
        }
    }
    if of.len() < 2 {
        return vec![];
    }
    let family = of.into_par_iter().map(|(frame, by)| {
        let both = together(sides, pair, by);
        let judged = measure(&both.sides(), Metric::Median, &wanted.ask);
        (Row { frame: Some(frame), ..row(pair, "frame", Metric::Median, judged) }, Metric::Median)
    });
    rows(family.collect(), &wanted.ask)
}

/// A place's time by worker and turn, in ms.
type Turns = BTreeMap<usize, BTreeMap<u64, f64>>;

/// Each pass or command.
fn by_place(
    sides: [&Run; 2],
    pair: &Pair,
    level: &'static str,
    wanted: &Wanted,
    notes: &mut Vec<String>,
) -> Vec<Row> {
    // (the same in both runs, wherever its capture stands in them, and whatever its shaders have become; of earlier runs nothing
    // is known of numbers in frames)
    let key = |p: &Place| Place { capture: 0, shaders: String::new(), pass: 0, draw: 0, ..p.clone() };
    let mut numbers: BTreeMap<Place, (u64, u64)> = BTreeMap::new();
    let is = |p: &Place| (p.level == "command") == (level == "command") && p.level != "submit";
    let mut of: BTreeMap<Place, [Turns; 2]> = BTreeMap::new();
    let mut whole = [0.0f64; 2];
    let mut turns = [0usize; 2];
    for (s, run) in sides.into_iter().enumerate() {
        let mine: BTreeSet<usize> = workers(run, pair.at[s]).into_iter().collect();
        let keys: Vec<Place> = run.places.iter().map(key).collect();
        let mine_alone = |p: &Place| p.capture == pair.at[s].0 && (p.pass, p.draw) != (0, 0);
        for (p, key) in run.places.iter().zip(&keys).filter(|(p, _)| mine_alone(p)) {
            numbers.entry(key.clone()).or_insert((p.pass, p.draw));
        }
        let mut seen = BTreeSet::new();
        for span in run.spans.iter().filter(|x| mine.contains(&x.worker)) {
            let place = &run.places[span.place];
            seen.insert((span.worker, span.turn));
            if place.level == "submit" {
                whole[s] += ms(span.time);
            } else if is(place) {
                let by = &mut of.entry(keys[span.place].clone()).or_default()[s];
                *by.entry(span.worker).or_default().entry(span.turn).or_default() += ms(span.time);
            }
        }
        turns[s] = seen.len();
    }
    if turns.contains(&0) {
        return vec![];
    }
    let before = of.len();
    of.retain(|_, by| by.iter().all(|b| !b.is_empty()));
    let alone = before - of.len();
    let sum = |b: &Turns| b.values().flat_map(BTreeMap::values).sum::<f64>();
    let all = whole[0] + whole[1];
    of.retain(|_, by| by.iter().map(sum).sum::<f64>() >= LEAST_SHARE * all);
    let small = before - alone - of.len();
    for (n, why) in [
        (alone, "are on one side only".to_owned()),
        (
            small,
            format!("take less than {} % of all submissions and are not asked about", 100.0 * LEAST_SHARE),
        ),
    ] {
        if n > 0 {
            notes.push(format!("{}, {}: {n} {level}s {why}.", pair.capture, pair.plan));
        }
    }
    let family = of.into_par_iter().map(|(place, by)| {
        let share = sum(&by[0]) / whole[0].max(f64::MIN_POSITIVE);
        let both = together(
            sides,
            pair,
            by.map(|b| b.into_iter().map(|(w, t)| (w, t.into_values().map(|t| vec![t]).collect())).collect()),
        );
        let judged = measure(&both.sides(), Metric::Median, &wanted.ask);
        let row = row(pair, level, Metric::Median, judged);
        let (pass, draw) = numbers.get(&place).copied().unwrap_or_default();
        let place = Place { pass, draw, ..place };
        (Row { frame: Some(place.frame), place: Some(place), share: Some(share), ..row }, Metric::Median)
    });
    rows(family.collect(), &wanted.ask)
}

/// Whether both sides show the same.
fn pictures(sides: [&Run; 2], pair: &Pair, notes: &mut Vec<String>) {
    let shown = |s: usize| -> BTreeSet<&Vec<String>> {
        let of = workers(sides[s], pair.at[s]);
        of.iter().map(|w| &sides[s].note.workers[*w].hashes).filter(|h| !h.is_empty()).collect()
    };
    let [a, b] = [shown(0), shown(1)];
    if !a.is_empty() && !b.is_empty() && a != b {
        notes.push(format!(
            "{}, {}: the frame does not show, or leave in memory, the same on both sides.",
            pair.capture, pair.plan
        ));
    }
}

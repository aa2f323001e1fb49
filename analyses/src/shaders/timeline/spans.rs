//! Spans of a trace, and what follows from when they begin and end: how many were in flight, when nothing ran, what ran
//! beside what.
//!
//! Times are ticks. Guarantees: a frame is swept once; what is called by another shader (closest hit, any hit, miss,
//! intersection, callable) lies within its caller's span and is not counted in flight a second time.

use crate::context::Context;
use std::collections::{BTreeMap, BTreeSet};
use trace::tables::{NOWHERE, TIMELINE};
use trace::{Source, Unreadable};

/// A subgroup in an entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    pub frame: u64,
    pub entry: u64,
    pub subgroup: u64,
    pub begin: u64,
    pub end: u64,
    /// Invocations that entered.
    pub active: u64,
    /// Invocations that left last.
    pub left: u64,
    /// 0: its end was not recorded.
    pub exits: u64,
    pub sm: u64,
    pub warp: u64,
    /// It lies within its caller's.
    pub called: bool,
}

impl Span {
    pub fn ticks(&self) -> u64 {
        self.end - self.begin
    }
}

/// Spans of a trace.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    /// Those with an end, by frame, by begin.
    pub whole: Vec<Span>,
    /// Those without.
    pub endless: Vec<Span>,
    /// Spans of one subgroup cannot be compared with another's.
    pub own_clocks: bool,
}

/// What a unit is called.
pub fn unit_words(unit: u64) -> String {
    if unit == NOWHERE { "unit 0".into() } else { format!("SM {unit}") }
}

/// The entry points of a ray-tracing pipeline that others call.
fn is_called(stage: &str) -> bool {
    matches!(stage, "any-hit" | "closest-hit" | "miss" | "intersection" | "callable")
}

impl Spans {
    pub fn read(trace: &dyn Source, context: &Context) -> Result<Spans, Unreadable> {
        let called: BTreeSet<u64> =
            context.entries().filter(|e| is_called(&e.stage)).map(|e| e.entry).collect();
        let mut spans = Spans::default();
        let t = trace.read(&TIMELINE)?;
        for row in 0..t.len() {
            let of = |column| t.u64(column)[row];
            let s = Span {
                frame: of("frame"),
                entry: of("entry"),
                subgroup: of("subgroup"),
                begin: of("begin"),
                end: of("end"),
                active: of("active"),
                left: of("left"),
                exits: of("exits"),
                sm: of("sm"),
                warp: of("warp"),
                called: called.contains(&of("entry")),
            };
            spans.own_clocks |= &*t.text("clock")[row] == "subgroup";
            // A clock that ran backwards gives no span.
            if s.exits == 0 || s.end < s.begin { spans.endless.push(s) } else { spans.whole.push(s) }
        }
        spans.whole.sort_by_key(|s| (s.frame, s.begin, s.end, s.entry, s.subgroup));
        Ok(spans)
    }

    /// Each frame's, by begin.
    pub fn frames(&self) -> impl Iterator<Item = &[Span]> {
        self.whole.chunk_by(|a, b| a.frame == b.frame)
    }
}

/// A time when nothing ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    pub begin: u64,
    pub end: u64,
    /// The entry point whose subgroup ended last before it.
    pub after: u64,
    /// The one whose subgroup began next.
    pub before: u64,
}

/// What was in flight over some time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Load {
    pub spans: u64,
    /// Ticks with at least one in flight.
    pub busy: u64,
    /// Ticks of all of them.
    pub ticks: u64,
    pub most: u64,
}

/// A frame, swept from its first begin to its last end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sweep {
    pub frame: u64,
    pub begin: u64,
    pub end: u64,
    pub all: Load,
    pub units: BTreeMap<u64, Load>,
    pub pipelines: BTreeMap<u64, Load>,
    /// Ticks in which both had something in flight.
    pub beside: BTreeMap<(u64, u64), u64>,
    pub gaps: Vec<Gap>,
    /// (from when on, how many in flight): changes only.
    pub steps: Vec<(u64, u64)>,
}

impl Sweep {
    pub fn length(&self) -> u64 {
        self.end - self.begin
    }

    /// A frame's spans, by begin. None where there are only called ones.
    pub fn new(spans: &[Span], context: &Context) -> Option<Sweep> {
        let callers = || spans.iter().filter(|s| !s.called);
        let first = callers().next()?;
        let mut sweep = Sweep { frame: first.frame, begin: first.begin, ..Sweep::default() };
        // (when, 0 for an end and 1 for a begin, which): what ends when another begins did not run beside it.
        let mut events: Vec<(u64, u8, usize)> = Vec::new();
        for (i, s) in spans.iter().enumerate().filter(|s| !s.1.called) {
            events.extend([(s.begin, 1, i), (s.end, 0, i)]);
        }
        // (a span of no length begins before it ends)
        let instant = |i: usize| spans[i].begin == spans[i].end;
        events.sort_by_key(|&(t, kind, i)| (t, if instant(i) { 2 + (1 - kind) } else { kind }, i));
        let mut flying: BTreeMap<u64, u64> = BTreeMap::new();
        let mut by_unit: BTreeMap<u64, u64> = BTreeMap::new();
        let (mut in_flight, mut now, mut last) = (0u64, first.begin, first.entry);
        for (t, kind, i) in events {
            let (s, length) = (&spans[i], t - now);
            if length > 0 {
                sweep.pass(length, in_flight, &flying, &by_unit);
            }
            if kind == 1 {
                if in_flight == 0 && t > sweep.end && sweep.all.spans > 0 {
                    sweep.gaps.push(Gap { begin: sweep.end, end: t, after: last, before: s.entry });
                }
                let pipeline = context.entry(s.entry).map_or(u64::MAX, |e| e.pipeline);
                in_flight += 1;
                sweep.all.add(in_flight, s);
                let n = flying.entry(pipeline).or_default();
                *n += 1;
                sweep.pipelines.entry(pipeline).or_default().add(*n, s);
                let n = by_unit.entry(s.sm).or_default();
                *n += 1;
                sweep.units.entry(s.sm).or_default().add(*n, s);
            } else {
                let pipeline = context.entry(s.entry).map_or(u64::MAX, |e| e.pipeline);
                in_flight -= 1;
                leave(&mut flying, pipeline);
                leave(&mut by_unit, s.sm);
                last = s.entry;
                sweep.end = t;
            }
            now = t;
            match sweep.steps.last_mut() {
                Some(step) if step.0 == t => step.1 = in_flight,
                _ => sweep.steps.push((t, in_flight)),
            }
        }
        Some(sweep)
    }

    fn pass(
        &mut self,
        length: u64,
        in_flight: u64,
        flying: &BTreeMap<u64, u64>,
        by_unit: &BTreeMap<u64, u64>,
    ) {
        if in_flight > 0 {
            self.all.busy = self.all.busy.saturating_add(length);
        }
        for unit in by_unit.keys() {
            let unit = self.units.entry(*unit).or_default();
            unit.busy = unit.busy.saturating_add(length);
        }
        for (i, a) in flying.keys().enumerate() {
            let pipeline = self.pipelines.entry(*a).or_default();
            pipeline.busy = pipeline.busy.saturating_add(length);
            for b in flying.keys().skip(i + 1) {
                let beside = self.beside.entry((*a, *b)).or_default();
                *beside = beside.saturating_add(length);
            }
        }
    }

    /// Mean number in flight in each of `n` equal parts of the frame, with where the part begins.
    pub fn parts(&self, n: usize) -> Vec<(f64, f64)> {
        let width = self.length() as f64 / n as f64;
        let mut parts: Vec<(f64, f64)> = (0..n).map(|i| (i as f64 * width, 0.0)).collect();
        if width == 0.0 {
            return vec![];
        }
        let ends = self.steps.iter().skip(1).map(|s| s.0).chain([self.end]);
        for (&(from, count), to) in self.steps.iter().zip(ends) {
            let (from, to) = ((from - self.begin) as f64, (to.max(from) - self.begin) as f64);
            let mut at = (from / width) as usize;
            while count > 0 && at < n && parts[at].0 < to {
                let inside = to.min(parts[at].0 + width) - from.max(parts[at].0);
                parts[at].1 += inside.max(0.0) * count as f64 / width;
                at += 1;
            }
        }
        parts
    }
}

impl Load {
    fn add(&mut self, in_flight: u64, s: &Span) {
        self.spans += 1;
        self.ticks = self.ticks.saturating_add(s.ticks());
        self.most = self.most.max(in_flight);
    }
}

fn leave(of: &mut BTreeMap<u64, u64>, key: u64) {
    if let Some(n) = of.get_mut(&key) {
        *n -= 1;
        if *n == 0 {
            of.remove(&key);
        }
    }
}

//! The frame that took longest as a timeline: what each queue ran when, submissions over labels, passes and commands.
//!
//! Guarantees: times count from the frame's first begin; a queue's lanes lie below each other, what encloses above what it encloses, and spans of one
//! lane do not overlap (`nest.rs`). Queues of several devices have clocks of their own, so that only the first device's are shown. Of frames with more
//! than [`MOST_ROWS`] spans commands are left out, then the last spans, and the title says so.

use super::sums::{Timed, named, pipeline};
use crate::report::shapes::{self, Timeline};
use crate::report::{Column, MOST_ROWS, Unit};
use std::collections::{BTreeMap, HashMap};
use trace::{SpanKind, TimeNames};

/// The timeline; none where nothing took time.
pub fn timeline(placed: &[Timed<'_>], names: &TimeNames) -> Option<Timeline> {
    let ((frame, repeat), (first, last)) = longest(placed)?;
    if last == first {
        return None;
    }
    let device = placed.first()?.record.device;
    let is = |t: &&Timed<'_>| (t.record.frame, t.record.repeat, t.record.device) == (frame, repeat, device);
    let mut of: Vec<&Timed<'_>> = placed.iter().filter(is).collect();
    let all = of.len();
    if all > MOST_ROWS {
        of.retain(|t| t.record.kind != SpanKind::Command);
        of.truncate(MOST_ROWS);
    }
    let some = if of.len() < all { format!(", {} of {all} spans", of.len()) } else { String::new() };
    let (lanes, begins) = lanes(&of, names);
    let (mut kinds, mut spans, mut known) = (vec![], vec![], HashMap::new());
    for t in of {
        let (name, group) = kind(t, names);
        let kind = *known.entry(name).or_insert_with_key(|name| {
            kinds.push(shapes::SpanKind { name: name.clone(), group });
            kinds.len() as u32 - 1
        });
        let ms = |at: u64| at.saturating_sub(first) as f64 / 1e6;
        let lane = begins.get(&t.record.queue).copied().unwrap_or(0) + t.record.depth;
        let (begin, end) = (ms(t.place.begin.0), ms(t.place.end.0));
        spans.push(shapes::Span { lane, kind, begin, end, value: end - begin });
    }
    spans.sort_by(|a, b| a.begin.total_cmp(&b.begin));
    Some(Timeline {
        name: "queues".to_owned(),
        title: format!("What queues ran in frame {frame}{some}"),
        time: Column::new("since the frame's first began", Unit::Milliseconds),
        value: Column::new("time", Unit::Milliseconds),
        frame: Some(frame),
        lanes,
        kinds,
        spans,
    })
}

/// A frame and its repetition, and from when to when something ran.
type Ran = ((u64, u32), (u64, u64));

/// The frame that took longest on the first device; of equal ones the first.
fn longest(placed: &[Timed<'_>]) -> Option<Ran> {
    let mut frames: BTreeMap<(u64, u32), (u64, u64)> = BTreeMap::new();
    let device = placed.first()?.record.device;
    let submits = placed.iter().filter(|t| t.record.kind == SpanKind::Submit && t.record.device == device);
    for t in submits {
        let (begin, end) = (t.place.begin.0, t.place.end.0);
        let of = frames.entry((t.record.frame, t.record.repeat)).or_insert((begin, end));
        *of = (of.0.min(begin), of.1.max(end));
    }
    frames.into_iter().rev().max_by_key(|f| f.1.1 - f.1.0)
}

/// Names of lanes, and where those of each queue begin: as many as it goes deep.
fn lanes(of: &[&Timed<'_>], names: &TimeNames) -> (Vec<String>, HashMap<u64, u32>) {
    let mut queues: Vec<(u64, u32)> = vec![];
    for r in of.iter().map(|t| &t.record) {
        match queues.iter_mut().find(|q| q.0 == r.queue) {
            Some(q) => q.1 = q.1.max(r.depth),
            None => queues.push((r.queue, r.depth)),
        }
    }
    let (mut lanes, mut begins) = (vec![], HashMap::new());
    for (queue, deepest) in queues {
        begins.insert(queue, lanes.len() as u32);
        let name = named(names, "queue", queue);
        lanes.extend(std::iter::repeat_n(name, deepest as usize + 1));
    }
    (lanes, begins)
}

/// What a span is of, and what it is coloured by.
fn kind(t: &Timed<'_>, names: &TimeNames) -> (String, String) {
    let r = t.record;
    let own = names.path(r.node).last().copied().unwrap_or_default();
    match r.kind {
        SpanKind::Submit => (format!("submission {}", r.submit), "submissions".to_owned()),
        SpanKind::Pass if r.pass > 0 => {
            let (labels, _) = trace::names::of_path(&names.path(r.node));
            (trace::names::pass(r.pass.into(), &labels, own), "passes".to_owned())
        }
        SpanKind::Command if r.pipeline != 0 => {
            let pipeline = pipeline(names, r.pipeline);
            (format!("{}, {pipeline}", trace::names::draw(None, None, r.draw.into(), own)), pipeline)
        }
        kind => (own.to_owned(), kind.name().to_owned()),
    }
}

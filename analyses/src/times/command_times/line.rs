//! The frame that took longest as a timeline: what each queue ran when, submissions over labels, passes and commands.
//!
//! Guarantees: times count from the frame's first begin; a queue's lanes lie below each other, what encloses above what it encloses, and spans of one
//! lane do not overlap (`nest.rs`). Queues of several devices have clocks of their own, so that only the first device's are shown. Of frames with more
//! than [`MOST`] spans commands are left out, then the last spans, and the title says so.

use super::sums::{Timed, pipeline};
use crate::report::shapes::{self, Timeline};
use crate::report::{Column, Unit};
use std::collections::{BTreeMap, HashMap};
use trace::{SpanKind, TimeNames};

/// Spans that a page still takes.
const MOST: usize = 20_000;

/// The timeline; none where nothing took time.
pub fn timeline(placed: &[Timed<'_>], names: &TimeNames) -> Option<Timeline> {
    // By frame and repetition: from when to when.
    let mut frames: BTreeMap<(u64, u32), (u64, u64)> = BTreeMap::new();
    let device = placed.first()?.record.device;
    let submits = placed.iter().filter(|t| t.record.kind == SpanKind::Submit && t.record.device == device);
    for t in submits {
        let (begin, end) = (t.place.begin.0, t.place.end.0);
        let of = frames.entry((t.record.frame, t.record.repeat)).or_insert((begin, end));
        *of = (of.0.min(begin), of.1.max(end));
    }
    // (of equal ones the first)
    let longest = frames.into_iter().rev().max_by_key(|f| f.1.1 - f.1.0)?;
    let ((frame, repeat), (first, last)) = longest;
    let is = |t: &&Timed<'_>| (t.record.frame, t.record.repeat, t.record.device) == (frame, repeat, device);
    let mut of: Vec<&Timed<'_>> = placed.iter().filter(is).collect();
    if last == first {
        return None;
    }
    let all = of.len();
    if all > MOST {
        of.retain(|t| t.record.kind != SpanKind::Command);
        of.truncate(MOST);
    }
    let some = if of.len() < all { format!(", {} of {all} spans", of.len()) } else { String::new() };
    // By queue, how deep it goes; then where its lanes begin.
    let mut queues: Vec<(u64, u32)> = vec![];
    for t in &of {
        let r = t.record;
        match queues.iter_mut().find(|q| q.0 == r.queue) {
            Some(q) => q.1 = q.1.max(r.depth),
            None => queues.push((r.queue, r.depth)),
        }
    }
    let mut lanes: Vec<String> = vec![];
    let begins: Vec<(u64, u32)> = queues
        .iter()
        .map(|(queue, deepest)| {
            let at = lanes.len() as u32;
            let name = match names.objects.get(queue).filter(|n| !n.is_empty()) {
                Some(name) => name.clone(),
                None => format!("queue {queue}"),
            };
            lanes.extend(std::iter::repeat_n(name, *deepest as usize + 1));
            (*queue, at)
        })
        .collect();
    let (mut kinds, mut spans, mut known) = (vec![], vec![], HashMap::new());
    for t in of {
        let r = t.record;
        let own = names.path(r.node).last().copied().unwrap_or_default();
        let (name, group) = match r.kind {
            SpanKind::Submit => (format!("submission {}", r.submit), "submissions".to_owned()),
            SpanKind::Pass if r.pass > 0 => (format!("pass {} ({own})", r.pass), "passes".to_owned()),
            SpanKind::Command if r.pipeline != 0 => {
                let pipeline = pipeline(names, r.pipeline);
                (format!("draw {} ({own}), {pipeline}", r.draw), pipeline)
            }
            kind => (own.to_owned(), kind.name().to_owned()),
        };
        let kind = *known.entry(name).or_insert_with_key(|name| {
            kinds.push(shapes::SpanKind { name: name.clone(), group });
            kinds.len() as u32 - 1
        });
        let ms = |at: u64| at.saturating_sub(first) as f64 / 1e6;
        let lane = begins.iter().find(|b| b.0 == r.queue).map_or(0, |b| b.1) + r.depth;
        let (begin, end) = (ms(t.place.begin.0), ms(t.place.end.0));
        spans.push(shapes::Span { lane, kind, begin, end, value: end - begin });
    }
    spans.sort_by(|a, b| a.begin.total_cmp(&b.begin));
    Some(Timeline {
        name: "queues".to_owned(),
        title: format!("What queues ran in frame {frame}{some}"),
        time: Column::new("since the frame's first began", Unit::Milliseconds),
        value: Column::new("time", Unit::Milliseconds),
        lanes,
        kinds,
        spans,
    })
}

//! All spans for Perfetto: a process for each multiprocessor, a thread for each lane; what is called beside its callers.

use super::lanes::Lanes;
use super::spans::{Span, unit_words};
use crate::context::Context;
use crate::report::Cell;
use crate::report::perfetto::{Slice, Timeline, render as json};
use std::collections::HashSet;
use trace::Nanos;
use trace::tables::NOWHERE;

/// Spans that a viewer still takes.
const MOST: usize = 100_000;

/// The file, and how many spans are not in it. Spans by frame and begin, of one clock; a tick is written as a nanosecond.
pub fn render(context: &Context, spans: &[Span]) -> (String, usize) {
    let some = &spans[..spans.len().min(MOST)];
    let first = some.iter().map(|s| s.begin).min().unwrap_or(0);
    let (mut timeline, mut named) = (Timeline::default(), HashSet::new());
    for frame in some.chunk_by(|a, b| a.frame == b.frame) {
        let lanes = Lanes::new(frame);
        for (s, &lane) in frame.iter().zip(&lanes.of) {
            let called = if s.called { ", called shaders" } else { "" };
            let name = match s.sm {
                NOWHERE => format!("unit 0 (the device does not say where){called}"),
                sm => format!("{}{called}", unit_words(sm)),
            };
            let process = timeline.process(s.sm.wrapping_mul(2) | u64::from(s.called), &name);
            if named.insert((process, lane)) {
                timeline.thread(process, lane, &format!("lane {lane}"));
            }
            let known = |n: u64| if n == NOWHERE { Cell::Missing } else { Cell::Count(n) };
            timeline.slices.push(Slice {
                process,
                thread: lane,
                name: context.entry_words(s.entry),
                category: "subgroup",
                begin: Nanos(s.begin - first),
                time: Nanos(s.ticks()),
                args: vec![
                    ("frame", s.frame.into()),
                    ("subgroup", s.subgroup.into()),
                    ("ticks", s.ticks().into()),
                    ("entered", s.active.into()),
                    ("left last", s.left.into()),
                    ("exits", s.exits.into()),
                    ("warp", known(s.warp)),
                ],
            });
        }
    }
    (json(&timeline), spans.len() - some.len())
}

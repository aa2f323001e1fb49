//! A frame's spans as a timeline: a lane for each subgroup in flight, units from top to bottom, callers before what they call.
//!
//! Guarantees: spans by begin; times count from the frame's first begin; lanes of a unit have its name. Of frames with more
//! than [`MOST_ROWS`] spans these are the first, and the title says so.

use super::lanes::Lanes;
use super::spans::{Span, Sweep, unit_words};
use crate::context::Context;
use crate::report::shapes::{self, SpanKind, Timeline};
use crate::report::{Column, MOST_ROWS, Unit};
use std::collections::BTreeMap;

/// The timeline of a frame; its spans by begin.
pub fn chart(context: &Context, all: &[Span], sweep: &Sweep) -> Timeline {
    let spans = &all[..all.len().min(MOST_ROWS)];
    let first = spans.iter().map(|s| s.begin).min().unwrap_or(0);
    let placed = Lanes::new(spans);
    let mut names = vec![];
    let mut begins: BTreeMap<(u64, bool), u64> = BTreeMap::new();
    for (&(unit, called), &lanes) in &placed.groups {
        begins.insert((unit, called), names.len() as u64);
        let name = format!("{}{}", unit_words(unit), if called { ", called" } else { "" });
        names.extend(std::iter::repeat_n(name, lanes as usize));
    }
    let mut kinds: Vec<(u64, SpanKind)> = vec![];
    let mut kind = |entry: u64| match kinds.iter().position(|k| k.0 == entry) {
        Some(at) => at as u32,
        None => {
            let group = context.entry(entry).map_or("?".into(), |e| e.stage.to_string());
            kinds.push((entry, SpanKind { name: context.entry_words(entry), group }));
            kinds.len() as u32 - 1
        }
    };
    let span = |(s, &lane): (&Span, &u64)| shapes::Span {
        lane: (begins.get(&(s.sm, s.called)).copied().unwrap_or(0) + lane) as u32,
        kind: kind(s.entry),
        begin: (s.begin - first) as f64,
        end: (s.end - first) as f64,
        value: s.active as f64,
    };
    let placed: Vec<shapes::Span> = spans.iter().zip(&placed.of).map(span).collect();
    let some = if spans.len() < all.len() {
        format!(", the first {} of {} subgroups", spans.len(), all.len())
    } else {
        String::new()
    };
    Timeline {
        name: format!("frame_{}", sweep.frame),
        title: format!("Subgroups of frame {}{some}", sweep.frame),
        time: Column::new("since the first began", Unit::Cycles),
        value: Column::new("entered", Unit::Invocations),
        frame: None,
        lanes: names,
        kinds: kinds.into_iter().map(|k| k.1).collect(),
        spans: placed,
    }
}

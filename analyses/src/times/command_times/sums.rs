//! Spans placed in time, what a row sums of them, and the words and cells that every table has for them.
//!
//! Guarantees: a label of a queue that counts is one place in all frames.

use super::nest::Place;
use crate::report::Cell;
use trace::{COUNTERS, CommandTime, SpanKind, TimeNames};

/// As in [`CommandCounters`].
pub type Counts = [Option<u64>; COUNTERS.len()];

/// A record, where it is in time, and how many of the names around it are labels of its queue.
#[derive(Clone, Copy)]
pub struct Timed<'r> {
    pub record: &'r CommandTime,
    /// Its number among the records.
    pub at: usize,
    pub place: Place,
    pub queue_labels: usize,
}

/// What one row of the table of the most expensive sums.
pub struct Sum {
    /// All have the same number in their frames.
    pub numbered: bool,
    pub times: u64,
    pub total: u64,
    pub max: u64,
    pub counts: Option<Counts>,
}

/// One of the most expensive.
pub struct Top<'r> {
    pub path: String,
    pub name: String,
    pub sum: Sum,
    pub record: &'r CommandTime,
}

impl Default for Sum {
    fn default() -> Sum {
        Sum { numbered: true, times: 0, total: 0, max: 0, counts: None }
    }
}

impl Sum {
    /// One more.
    pub fn add(&mut self, time: u64) {
        self.times += 1;
        self.total += time;
        self.max = self.max.max(time);
    }

    /// All of another.
    pub fn join(&mut self, other: Sum) {
        self.numbered &= other.numbered;
        self.times += other.times;
        self.total += other.total;
        self.max = self.max.max(other.max);
        if let Some(of) = &other.counts {
            add(self.counts.get_or_insert_with(Default::default), of);
        }
    }
}

/// Adds counters up; what only one of the two has stays.
pub fn add(sum: &mut Counts, more: &Counts) {
    for (sum, more) in sum.iter_mut().zip(more) {
        *sum = match (*sum, *more) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
    }
}

/// Nanoseconds as milliseconds.
pub fn ms(nanos: u64) -> Cell {
    Cell::Number(nanos as f64 / 1e6)
}

/// An object in a column of its kind: its debug name, or its id behind `#`; nothing of 0.
pub fn object(names: &TimeNames, id: u64) -> String {
    match names.objects.get(&id).filter(|n| !n.is_empty()) {
        Some(n) => n.clone(),
        None if id == 0 => String::new(),
        None => format!("#{id}"),
    }
}

/// An object for people.
pub fn named(names: &TimeNames, kind: &str, id: u64) -> String {
    trace::names::object(kind, id, names.objects.get(&id).map_or("", String::as_str))
}

/// A pipeline or shader object for people, with its first shaders; nothing of 0.
pub fn pipeline(names: &TimeNames, id: u64) -> String {
    let kind = if names.shader_objects.contains(&id) { "shader object" } else { "pipeline" };
    let stages = names.shaders.get(&id).into_iter().flatten().map(|(stage, hash)| (&**stage, &**hash));
    match id {
        0 => String::new(),
        id => trace::names::with_shaders(&named(names, kind, id), &trace::names::shaders(stages)),
    }
}

/// A queue's label that counts (`frame 1`, `frame 2`, …) is one place in all frames: digits become `#`.
pub fn placeless(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        match c {
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            c => out.push(c),
        }
    }
    out
}

/// The path around a span, or of one that others are within.
pub fn around(names: &TimeNames, timed: &Timed<'_>) -> Vec<String> {
    let mut path: Vec<String> = names.path(timed.record.node).into_iter().map(str::to_owned).collect();
    if !matches!(timed.record.kind, SpanKind::Label | SpanKind::Pass | SpanKind::Secondary) {
        path.pop();
    }
    path.iter_mut().take(timed.queue_labels).for_each(|name| *name = placeless(name));
    path
}

/// Where in a frame: its draw, dispatch or trace, or render pass, by number; of other commands where they were recorded: command buffer,
/// execution of a secondary one, command.
pub fn at(top: &Top<'_>) -> String {
    let r = top.record;
    match (r.command_buffer, r.execution) {
        (0, _) => String::new(),
        _ if top.sum.numbered && r.draw > 0 => format!("draw {}", r.draw),
        _ if top.sum.numbered && r.kind == SpanKind::Pass && r.pass > 0 => format!("pass {}", r.pass),
        (_, 0) => format!("{}:{}", r.position, r.index),
        (_, n) => format!("{}:s{n}:{}", r.position, r.index),
    }
}

//! A frame, and how its passes, pipelines and draws are called: frame, pass, draw.
//!
//! Refuses nothing.

use crate::report::counted;
use trace::actions::Action;
use trace::names;

/// A frame.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'f> {
    /// Its number in the capture.
    pub number: u64,
    /// What it executes.
    pub actions: &'f [Action],
    /// The own time of each, in nanoseconds; none where it is not known.
    pub own: &'f [Option<u64>],
    /// The shaders of each, in words.
    pub shaders: &'f [String],
}

/// A pass in words.
pub fn pass(a: &Action) -> String {
    match a.pass {
        0 => "what is outside of passes".to_owned(),
        n => names::pass(n, &a.pass_labels, &a.pass_name),
    }
}

/// The pipeline of an action in words, by its shaders where it has no name.
pub fn named(of: &Frame<'_>, n: usize) -> String {
    let a = &of.actions[n];
    match of.shaders.get(n).filter(|s| a.pipeline_name.is_empty() && !s.is_empty()) {
        Some(shaders) => names::with_shaders(&a.pipeline_words(), &names::recorded_shaders(shaders)),
        None => a.pipeline_words(),
    }
}

/// So many draws, dispatches and traces.
pub fn kinds(of: &Frame<'_>, rows: impl Iterator<Item = usize>) -> String {
    let [mut draws, mut dispatches, mut traces] = [0u64; 3];
    for n in rows {
        match &*of.actions[n].kind {
            kind if kind.starts_with("Dispatch") => dispatches += 1,
            kind if kind.starts_with("Trace") => traces += 1,
            _ => draws += 1,
        }
    }
    let all = [(draws, "draw"), (dispatches, "dispatch"), (traces, "trace")];
    let some: Vec<String> = all.into_iter().filter(|k| k.0 > 0).map(|(n, what)| counted(n, what)).collect();
    match some.as_slice() {
        [] => counted(0u64, "draw"),
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        [one, ..] => one.clone(),
    }
}

/// A draw in words: frame, pass, draw.
pub fn draw(of: &Frame<'_>, n: usize) -> String {
    let a = &of.actions[n];
    names::draw(Some(of.number), a.around().as_deref(), n as u64 + 1, &a.kind)
}

//! Calls of a launch's invocations.
//!
//! Guarantees: equal events give equal calls, on any number of threads.

use crate::rays::events::{CHUNK, Events, Launch, counts};
use rayon::prelude::*;
use std::ops::Range;
use trace::tables::RayEvent;

/// By which rule a call is chosen, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    Traversal,
    Miss,
    ClosestHit,
    Callable,
    Begin,
}

/// Calls of a launch's invocations.
pub struct Replayer {
    /// Subgroup size.
    pub n: u32,
    /// Of each code.
    pub(super) classes: Vec<Class>,
    /// Of each code: whether it is in event-level efficiency.
    pub(super) counted: Vec<bool>,
    /// Codes of invocations' calls.
    pub(super) stream: Vec<u16>,
    pub(super) starts: Vec<usize>,
}

impl Replayer {
    /// Prepares a launch.
    pub fn new(events: &Events, launch: &Launch) -> Replayer {
        let called: Vec<bool> = events.codes.iter().map(|c| c.kind.of_warps()).collect();
        let chunks: Vec<Range<usize>> = chunks_of(launch.threads(), CHUNK).collect();
        let parts: Vec<(Vec<u16>, Vec<usize>)> = chunks
            .into_par_iter()
            .map(|threads| {
                let (mut calls, mut lengths) = (vec![], vec![]);
                for thread in threads {
                    let before = calls.len();
                    let codes = &launch.code[launch.events(thread)];
                    calls.extend(codes.iter().filter(|c| called[usize::from(**c)]));
                    lengths.push(calls.len() - before);
                }
                (calls, lengths)
            })
            .collect();
        let (mut stream, mut starts) = (vec![], vec![0]);
        stream.reserve_exact(parts.iter().map(|p| p.0.len()).sum());
        for (calls, lengths) in parts {
            let mut end = stream.len();
            stream.extend(calls);
            starts.extend(lengths.into_iter().map(|l| {
                end += l;
                end
            }));
        }
        let class = |kind| match kind {
            RayEvent::Intersection | RayEvent::AnyHit => Class::Traversal,
            RayEvent::Miss => Class::Miss,
            RayEvent::ClosestHit => Class::ClosestHit,
            RayEvent::Callable => Class::Callable,
            _ => Class::Begin,
        };
        let classes = events.codes.iter().map(|c| class(c.kind)).collect();
        let counted = events.codes.iter().map(|c| counts(c.kind)).collect();
        Replayer { n: launch.n, classes, counted, stream, starts }
    }

    /// The calls of an invocation, as a part of the stream.
    pub fn stream_of(&self, thread: usize) -> Range<usize> {
        self.starts[thread]..self.starts[thread + 1]
    }

    /// Codes of an invocation's calls.
    pub fn calls(&self, thread: usize) -> &[u16] {
        &self.stream[self.stream_of(thread)]
    }

    /// How many codes there are.
    pub fn codes(&self) -> usize {
        self.classes.len()
    }
}

/// Numbers below `all`, in portions for workers.
pub(super) fn chunks_of(all: usize, of: usize) -> impl Iterator<Item = Range<usize>> {
    (0..all.div_ceil(of)).map(move |c| c * of..((c + 1) * of).min(all))
}

//! What the hook chain costs a call: nothing of a driver, of reading or of any hook's own work.
//!
//! The first calls of a capture, decoded beforehand, run through an executor on the Echo backend: linked, answered,
//! tracked. Once without a hook, once with two that do nothing: one sees every call before it is linked, one around the driver. Guarantees: the
//! best of several rounds each, in turn, so that both see the same machine.

use crate::backend::Echo;
use crate::exec::Executor;
use crate::hook::{Commands, Hook};
use crate::options::Options;
use gfxr_parse::ahead::Call;
use gfxr_parse::ahead::{What, read};
use gfxr_parse::container::{Capture, FrameCounter, Scratch};
use std::time::Instant;

/// Calls that are run.
const CALLS: usize = 1000;
/// How often, each way.
const ROUNDS: usize = 5;

/// Sees everything, before it is linked or after, and does nothing.
struct Idle {
    linked: bool,
}

impl Hook for Idle {
    fn name(&self) -> &'static str {
        "idle"
    }
    fn wants(&self) -> Commands {
        if self.linked { Commands::none() } else { Commands::all() }
    }
    fn wants_linked(&self) -> Commands {
        if self.linked { Commands::all() } else { Commands::none() }
    }
}

/// What was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChainCost {
    /// Calls that were run.
    pub calls: usize,
    /// Nanoseconds a call without a hook.
    pub without_ns: f64,
    /// Nanoseconds a call with two that do nothing.
    pub with_ns: f64,
}

/// Some calls, decoded.
#[allow(clippy::vec_box, reason = "as the reader hands them over")]
fn first_calls(capture: &Capture) -> Vec<Box<Call>> {
    let (mut scratch, mut frames) = (Scratch::new(), FrameCounter::new(capture.header()));
    let decoded = capture.blocks().filter_map(|block| {
        let place = frames.feed(&block);
        match read(&block, place, None, &mut scratch) {
            Ok(What::Call(call)) => Some(call),
            _ => None,
        }
    });
    decoded.take(CALLS).collect()
}

/// Measures it on a capture's first calls; none where it has none.
pub fn cost(capture: &Capture) -> Option<ChainCost> {
    let mut calls = first_calls(capture);
    if calls.is_empty() {
        return None;
    }
    let (mut without, mut with) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        without = without.min(round(&mut calls, Vec::new()));
        with = with
            .min(round(&mut calls, vec![Box::new(Idle { linked: false }), Box::new(Idle { linked: true })]));
    }
    Some(ChainCost { calls: calls.len(), without_ns: without, with_ns: with })
}

#[allow(clippy::vec_box, reason = "as the reader hands them over")]
fn round(calls: &mut [Box<Call>], hooks: Vec<Box<dyn Hook>>) -> f64 {
    let options = Options { keep_going: true, ..Options::default() };
    let mut executor = Executor::new(Box::new(Echo::default()), hooks, &options);
    let begin = Instant::now();
    for call in calls.iter_mut() {
        // What diverges is passed over in both ways alike.
        let _ = executor.run(call);
    }
    begin.elapsed().as_nanos() as f64 / calls.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Result;
    use crate::hook::Next;
    use gfxr_parse::container::read_file;
    use std::time::Duration;
    use world::Outcome;

    /// Does something in every call.
    struct Busy(Duration);

    impl Hook for Busy {
        fn name(&self) -> &'static str {
            "busy"
        }
        fn wants(&self) -> Commands {
            Commands::all()
        }
        fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
            let begin = Instant::now();
            while begin.elapsed() < self.0 {}
            next.run(cx, call)
        }
    }

    /// Two idle hooks cost less than a call's linking, answering and tracking thrice, and what a hook does is seen.
    #[test]
    fn a_chain_that_does_nothing_costs_little() {
        let sample = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../captures/samples/cubes.gfxr");
        let capture = Capture::open(&sample, read_file).expect("the sample capture");
        let c = cost(&capture).expect("it has calls");
        assert_eq!(c.calls, CALLS);
        assert!(c.without_ns > 1.0 && c.with_ns < c.without_ns * 3.0, "{c:?}");
        let work = Duration::from_micros(2);
        let mut calls = first_calls(&capture);
        let busy = round(&mut calls, vec![Box::new(Busy(work))]);
        assert!(busy >= work.as_nanos() as f64, "{busy} ns, {c:?}");
    }
}

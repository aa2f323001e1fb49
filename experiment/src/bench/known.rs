//! How well a run knows what it is for.
//!
//! Half a 99 % interval: of a median, or of the change of a plan's median against the first plan's, process by process of those
//! that were alive together.

use analyses::verdict::compare::{Clock, paired_processes, processes};
use analyses::verdict::{Metric, Sides, half_width, interval};
use trace::run::Run;

/// The level of the intervals that have to be tight, less 1.
const ALPHA: f64 = 0.01;

/// The clock that every timed frame has.
pub(super) fn clock(run: &Run) -> Clock {
    match run.frames.iter().filter(|f| f.timed && !f.load).all(|f| f.gpu.is_some()) {
        true => Clock::Gpu,
        false => Clock::Cpu,
    }
}

/// Half the interval of a median, as a share: of a capture's and plan's own.
pub(super) fn half_of(run: &Run, at: (usize, usize), clock: Clock) -> Option<f64> {
    let side = processes(run, at, clock);
    half_width(&side, Metric::Median, ALPHA).ok().flatten()
}

/// Likewise of a plan's change against the first plan.
pub(super) fn half_of_change(run: &Run, (capture, plan): (usize, usize), clock: Clock) -> Option<f64> {
    let [base, new] = paired_processes(run, capture, [0, plan], clock);
    let sides = Sides::paired(&base, &new);
    Some(interval(&sides, Metric::Median, ALPHA).ok().flatten()?.half)
}

/// Whether what a run is for is known well enough: medians of one plan, changes of several.
pub(super) fn tight(run: &Run, enough: f64) -> bool {
    let (clock, plans) = (clock(run), run.note.plans.len());
    let known = |half: Option<f64>| half.is_some_and(|half| half <= enough);
    (0..run.note.captures.len()).all(|c| match plans {
        1 => known(half_of(run, (c, 0), clock)),
        // (one that was refused is not waited for)
        _ => (1..plans)
            .filter(|p| run.note.refused.iter().all(|r| r.plan != run.note.plans[*p].name))
            .all(|p| known(half_of_change(run, (c, p), clock))),
    })
}

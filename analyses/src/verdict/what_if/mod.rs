//! What a frame would gain without each of its parts, or with part of its work changed: causes by experiment.
//!
//! *Input.* Runs of `bench` whose plans change the replay of one looped frame, and what each plan asks ([`trace::what_if`]).
//!
//! *Definitions.* The *cost* of a part is how much less GPU time the frame takes when the part's draws, dispatches and traces are left
//! out, and the pipelines bound for them alone: what it is to blame for, and not the time between its first and its last command (its *own* time), as parts of a frame overlap;
//! *overlap* is own time less cost. A *gain* is the same of any other change. Both are the change of the median, in pairs of processes
//! that were alive together, with its 99 % interval, of the t-distribution (docs/compare.md); p is adjusted over all experiments
//! (Benjamini and Hochberg). A part is *bound by* what has the greatest gain that is sure; for draws, by vertices where fragments account for
//! less than half of its cost. What *can be had* is a sure gain with which the frame shows the same; optimisations (passes that know what
//! was recorded of the frame, a repacking, invocation reordering) and barriers that `sync` finds to order nothing are tried for it. Parts
//! are a tree of labels and their passes: whether costs add up is told of whatever holds several.
//!
//! *Units.* Milliseconds, percent of the frame.
//!
//! *Caveats.* A change that gains nothing shows that the part does not wait for that, at this clock and on this device. Costs do not add up:
//! what two parts do at the same time is in neither's. A change may change what later commands do (an image that is not drawn is read
//! all the same), and with that their time. The idea of the experiments: Curtsinger and Berger, "Coz" (SOSP 2015), for CPUs.

mod answers;
mod columns;
pub mod experiments;
pub mod parts;
mod tables;
#[cfg(test)]
mod tests;

pub use answers::{Answer, Answers, answers};
pub(crate) use columns::SHEETS;
pub use tables::report;

//! Verdicts: whether one run is slower than another, as surely as the data allow to say.
//!
//! What is compared are processes, not frames: turns of one process share its memory's layout, its pipelines, the moment it ran
//! in; so they are alike in a way that a second process's are not, and statistics that took them for independent would find
//! differences between a run and itself. A metric is taken of each process; the change between two sides has a t-interval over
//! processes, or over pairs of them that were alive together, and the interval decides (`judge`). Times of all frames together are
//! described by Cliff's delta, Kolmogorov–Smirnov's D and Wasserstein-1 (`stats::apart`); these decide nothing. Where many places are
//! asked about at once, p is adjusted (`stats::families`).
//!
//! Tested on data with known effects (tests.rs), against closed forms and SciPy. docs/compare.md says, from those tests, how often a
//! verdict errs and how often it finds what is there.

pub mod compare;
pub mod counts;
pub mod export;
mod headlines;
mod judge;
mod metrics;
pub mod pictures;
#[cfg(test)]
mod runs;
mod settle;
mod sides;
pub mod suite;
pub mod suite_export;
#[cfg(test)]
mod suite_tests;
#[cfg(test)]
mod tests;
pub mod what_if;
mod words;
#[cfg(test)]
mod worlds;

pub use judge::{
    Ask, FEWEST, Interval, Judged, Test, Verdict, decide, figure, half_width, interval, measure,
};
pub use metrics::{METRICS, Metric, Scale, TooFew};
pub use settle::settled;
pub use sides::{Process, Sides, values};

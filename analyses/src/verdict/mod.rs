//! Verdicts: whether one run is slower than another, as surely as the data allow to say.
//!
//! What is compared are processes, not frames: turns of one process share its memory's layout, its pipelines, the moment it ran
//! in; so they are alike in a way that a second process's are not, and statistics that took them for independent would find
//! differences between a run and itself. Significance is Mann–Whitney's on one value a process (`ranks`), or of processes that were
//! alive together Wilcoxon's (`signed`), size is a bootstrap interval over processes or pairs of them (`bootstrap`), and a verdict
//! needs both (`judge`). Times of all frames together are described by
//! Cliff's delta, Kolmogorov–Smirnov's D and Wasserstein-1 (`distances`); these decide nothing. Where many places are asked about
//! at once, p is adjusted (`families`).
//!
//! Guarantees, tested on data with known effects (tests.rs) against closed forms and SciPy: without an effect p is at most alpha
//! in at most a share alpha of draws; an interval at the level 1 − alpha misses the true change in at most a share alpha; with an
//! effect of exactly the least that matters, a regression is found in at most a share alpha.

mod bootstrap;
pub mod compare;
mod distances;
pub mod export;
mod families;
mod judge;
mod metrics;
mod ranks;
#[cfg(test)]
mod runs;
mod settle;
mod sides;
mod signed;
pub mod suite;
pub mod suite_export;
#[cfg(test)]
mod suite_tests;
#[cfg(test)]
mod tests;

pub use bootstrap::{DRAWINGS, Interval, Process, Sides, half_width, interval, student, values};
pub use distances::{ks, ks_p, wasserstein};
pub use families::adjusted;
pub use judge::{Ask, Judged, Test, Verdict, decide, measure};
pub use metrics::{AROUND, METRICS, Metric, TooFew};
pub use ranks::{EXACT, Ranked, least_p};
pub use settle::{BOUND, LAST, settled};
pub use signed::{least_signed_p, signed_p};

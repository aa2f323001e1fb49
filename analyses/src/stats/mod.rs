//! The statistics of the whole project: one definition of each number, wherever it is printed.
//!
//! | number | |
//! |---|---|
//! | percentile | of n values in order the one of rank ⌈n·p/100⌉, counted from 1; where n·p/100 is whole, the mean of that one and the next (Hyndman and Fan's second definition): so the median of an even number is the mean of the middle two (`percentiles`) |
//! | standard deviation | of a sample: n − 1 (`percentiles`) |
//! | interval, p | Student's t, of pairs or one sample, and Welch's of two samples (`student`) |
//! | adjusted p | Benjamini and Hochberg's (`families`) |
//! | Cliff's delta, KS D, Wasserstein-1 | how far two samples lie apart; they decide nothing (`apart`) |
//! | histogram | HDR, three significant digits, for as many times as one likes (`histogram`) |
//!
//! Random numbers, of tests and of what a seed shuffles, are PCG's (`oorandom`), in every crate.

pub mod apart;
pub mod families;
pub mod histogram;
pub mod percentiles;
pub mod student;
#[cfg(test)]
mod tests;

pub use apart::{Ranked, ks, wasserstein};
pub use families::adjusted;
pub use histogram::Stats;
pub use percentiles::{Sample, percentile, percentile_of, places};
pub use student::{Estimate, quantile};

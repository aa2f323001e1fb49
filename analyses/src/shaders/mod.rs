//! Questions to the shaders themselves: how full subgroups were and why not, which blocks and instructions ran, what values were, and
//! when subgroups ran.
//!
//! One folder a question; `inactive` and `sampled` are what several of them share.

pub mod annotate;
pub mod blocks;
pub mod counters;
pub mod divergence;
pub mod hotspots;
mod inactive;
pub mod its;
pub mod lifetimes;
pub mod paths;
pub mod registers;
mod sampled;
pub mod simt;
pub mod timeline;
pub mod uniformity;
pub mod values;

use crate::Question;

/// In the order in which all are answered.
pub(crate) const QUESTIONS: &[&dyn Question] = &[
    &simt::Simt,
    &divergence::Divergence,
    &its::Its,
    &paths::Paths,
    &paths::RayPaths,
    &lifetimes::Lifetimes,
    &blocks::Blocks,
    &hotspots::Hotspots,
    &counters::Counters,
    &registers::Registers,
    &uniformity::Uniformity,
    &values::Values,
    &annotate::Annotate,
    &timeline::Timeline,
];

//! Questions to the shaders themselves: how full subgroups were and why not, which blocks and instructions ran, what values were, and
//! when subgroups ran.
//!
//! One folder a question; `scopes` and `sampled` are what several of them share.

pub mod annotate;
pub mod blocks;
pub mod counters;
pub mod divergence;
pub mod hotspots;
pub mod its;
pub mod lifetimes;
pub mod paths;
pub mod registers;
mod sampled;
mod scopes;
pub mod simt;
pub mod timeline;
pub mod uniformity;
pub mod values;

use crate::Question;

/// In the order in which all are answered.
pub(crate) const QUESTIONS: &[&Question] = &[
    &simt::QUESTION,
    &divergence::QUESTION,
    &its::QUESTION,
    &paths::QUESTION,
    &paths::RAY_PATHS,
    &lifetimes::QUESTION,
    &blocks::QUESTION,
    &hotspots::QUESTION,
    &counters::QUESTION,
    &registers::QUESTION,
    &uniformity::QUESTION,
    &values::QUESTION,
    &annotate::QUESTION,
    &timeline::QUESTION,
];

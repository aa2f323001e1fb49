//! Questions to events of rays: how many, how full subgroups were in them, which tests were needed, and what sorting invocations
//! otherwise would give.
//!
//! One folder a question. [`events`] reads what all of them are asked of, [`replayer`] puts invocations into other subgroups, and
//! [`ray_dump`] prints the events as they are.

pub mod boxes;
pub mod events;
pub mod outcomes;
pub mod ray_counts;
pub mod ray_dump;
pub mod ray_maps;
pub mod ray_simt;
pub mod reorder;
pub mod repack;
pub mod replayer;
pub mod shader_clock;
pub mod warp_order;

use crate::Question;

/// In the order in which all are answered.
pub(crate) const QUESTIONS: &[&Question] = &[
    &ray_counts::QUESTION,
    &outcomes::QUESTION,
    &ray_simt::QUESTION,
    &shader_clock::QUESTION,
    &warp_order::QUESTION,
    &ray_maps::QUESTION,
    &boxes::QUESTION,
    &repack::QUESTION,
    &reorder::QUESTION,
];

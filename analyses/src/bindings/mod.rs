//! Questions to what a frame binds and waits for: descriptors, uniform blocks, what their calls cost, and synchronisation.
//!
//! One folder a question. [`resources`] is the model of descriptors, sets and draws that most of them are asked of.

pub mod advice;
pub mod call_costs;
pub mod descriptors;
pub mod resources;
pub mod sync;
pub mod uniforms;

use crate::Question;

/// In the order in which all are answered.
pub(crate) const QUESTIONS: &[&Question] =
    &[&descriptors::QUESTION, &uniforms::QUESTION, &advice::QUESTION, &call_costs::QUESTION, &sync::QUESTION];

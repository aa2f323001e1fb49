//! Descriptors: how often slots hold what they held before, and what other partitions into sets would save (Cheung 2024, chapter 4).
//!
//! *Redundancy* of a slot (s, b) of a pipeline over T consecutive draws in a recording:
//!
//! ```text
//! R = (number of t in 1..T−1 with v_t = v_{t+1}) / (T − 1)
//! ```
//!
//! where v_t is what the slot holds at draw t: the same descriptors in the same order, with the same dynamic offsets. Draws
//! are consecutive if nothing of another pipeline runs between them in one execution of the recording; where a recording has several
//! such runs, and over the whole capture, pairs are summed. Pairs of which a descriptor is not known are left out, and said.
//!
//! *Partitions* move slots (s, b) to (s′, b′), for all pipelines whose layouts are compatible at once. What each costs: `evaluate.rs`;
//! what they may not touch: `partition.rs`. With a folder to write to, each is also a file `repartition-NAME.json`: by pipeline layout,
//! `[set, binding, new set, new binding]` for every slot; layouts of which nothing is moved are left out.

mod answer;
mod columns;
pub mod evaluate;
pub mod partition;
pub mod redundancy;
mod show;

pub use answer::Answer;

use crate::report::Report;
use crate::{Question, Session};
use trace::Unreadable;
use trace::tables::{INVOCATIONS, RESOURCE_PIPELINES};

/// The question.
pub static QUESTION: Question = Question {
    name: "bindings",
    about: "which descriptors change from draw to draw, and what other partitions into sets would save",
    wants: &[&RESOURCE_PIPELINES, &INVOCATIONS],
    sheets: columns::SHEETS,
    events: None,
    answer,
};

fn answer(session: &Session<'_>) -> Result<Report, Unreadable> {
    let model = session.resources()?;
    Ok(show::report(model, &Answer::of(model)))
}

#[cfg(test)]
mod tests;

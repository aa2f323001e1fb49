//! Uniform blocks and push constants: what every member was, what lies in several places, what is uploaded and not read
//! (Cheung 2024, section 4.5.2).
//!
//! *Members* are those of `resource_members`, by pipeline; their *executions* are draws that had the block (with arrays of blocks:
//! times elements). *Unused*: no shader of the pipeline reads it statically. *Constant over the capture*: one value, in all pipelines that
//! declare the same block (same names, types, offsets), over all that was followed. *Over the pipeline*: one value here, others
//! elsewhere. *Over a frame*, *over a pass*: one value in each; outside of passes submissions count as passes. *Changes*: not so; `changed` is the share
//! of pairs of consecutive draws (as question `bindings` defines them) in which it changed. *Not known*: at one draw at
//! least, bytes of it are not known; such a member is never called constant, whatever its other values are. *Zeros*: executions in which all
//! its bytes are 0 (so not −0.0). Padding is no part of a value.
//!
//! *Replaced*: pairs of consecutive draws that have another buffer or offset in a slot; *same bytes*: of these, those where the
//! bytes are the same. *Copies*: blocks with the same bytes, all of them known, that lie in several places in one frame.
//!
//! *Uploaded*: bytes written to a buffer by any way that the capture shows, copies on the device included. *Read*: bytes of blocks that
//! shaders use statically, each byte of a buffer once in a frame; *bound*: the same with all bytes of the blocks.

mod columns;
pub mod members;
pub mod places;
mod show;

use crate::report::Report;
use crate::{Question, Session};
use members::Members;
use places::Places;
use trace::Unreadable;
use trace::tables::{INVOCATIONS, RESOURCE_PIPELINES};

/// The question.
pub static QUESTION: Question = Question {
    name: "uniforms",
    about: "what members of uniform blocks were: unused, constant, zero, changing; copies of the same bytes; uploads against reads",
    wants: &[&RESOURCE_PIPELINES, &INVOCATIONS],
    sheets: columns::SHEETS,
    events: None,
    answer,
};

fn answer(session: &Session<'_>) -> Result<Report, Unreadable> {
    let model = session.resources()?;
    let members = Members::of(model);
    let places = Places::of(model, &members);
    Ok(show::report(model, &members, &places))
}

#[cfg(test)]
mod tests;

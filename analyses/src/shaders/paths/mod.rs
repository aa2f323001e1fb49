//! Paths through trace calls, and what compacting subgroups before each would save.
//!
//! *Path* (Vulkan Vision, §V-D5). An invocation's path has a bit for each trace call of its subgroup, in order: 1 where it
//! took part. Zeros behind its last call are dropped, so that paths are told apart by what the invocation did and not by
//! how long others went on: who traces once has the path 1 beside whomever. An invocation that traces never has the empty
//! path. Paths are compared as bits alone, whatever the calls' places.
//!
//! *Compaction* (§V-B). Each call of a subgroup takes one subgroup's slot, however few invocations are active. With a
//! compaction window of w subgroups, the same call of these takes ⌈active invocations of all of them / N⌉. *Saved* = 1 −
//! needed / ran. *The same call* is the n-th that a subgroup makes at one place of the shader. Windows are of consecutive
//! subgroups of one launch, in the order of the work of their first invocations, which is the same in every run (the order in
//! which they came is not); the last window of a launch may be smaller; *unbounded* is the whole launch. A subgroup that a device
//! splits makes a call by itself for each part: window 1 shows what is saved by joining these alone.
//!
//! *Launches* are told apart by the first invocations' work: a second subgroup with the same first work is of the next launch of
//! the frame. Each entry point is by itself: a closest-hit shader that traces has paths of its own.

mod columns;
mod compaction;
mod rays;
mod report;

pub use rays::QUESTION as RAY_PATHS;

use crate::report::Report;
use crate::{Question, Session};
use compaction::{Subgroup, mask};
use report::report;
use std::collections::HashMap;
use trace::tables::{PATH_CALLS, PATH_SUBGROUPS};
use trace::{Source, Unreadable};

/// The question.
pub static QUESTION: Question = Question {
    name: "paths",
    about: "which trace calls invocations take part in, and how many subgroups compaction would save",
    wants: &[&PATH_SUBGROUPS],
    sheets: columns::SHEETS,
    events: None,
    answer,
};

fn answer(session: &Session<'_>) -> Result<Report, Unreadable> {
    let trace = session.trace;
    let context = session.context()?;
    let (subgroups, strays) = read(trace)?;
    let mut report = report(QUESTION.name, "Paths of trace calls", context, &subgroups);
    if strays != 0 {
        report.notes.push(format!(
            "{strays} calls are of subgroups whose entry is not in the trace; they are in no number."
        ));
    }
    if subgroups.is_empty() {
        report.notes.push("No entry point that may trace rays was entered.".into());
    }
    Ok(report)
}

/// All subgroups in the order in which they came, and how many calls are of none.
fn read(trace: &dyn Source) -> Result<(Vec<Subgroup>, u64), Unreadable> {
    let t = trace.read(&PATH_SUBGROUPS)?;
    let mut known = HashMap::new();
    let mut all: Vec<Subgroup> = Vec::with_capacity(t.len());
    for row in 0..t.len() {
        let (frame, entry) = (t.u64("frame")[row], t.u64("entry")[row]);
        known.insert((frame, t.u64("subgroup")[row]), all.len());
        let entered = mask(t.u64("mask")[row], t.u64("mask_high")[row]);
        all.push(Subgroup { frame, launch: 0, entry, first: t.u64("first")[row], entered, calls: vec![] });
    }
    let t = trace.read(&PATH_CALLS)?;
    let mut strays = 0;
    for row in 0..t.len() {
        match known.get(&(t.u64("frame")[row], t.u64("subgroup")[row])) {
            Some(&s) => {
                let active = mask(t.u64("mask")[row], t.u64("mask_high")[row]);
                all[s].calls.push((t.u64("word_offset")[row], active));
            }
            None => strays += 1,
        }
    }
    Ok((all, strays))
}

#[cfg(test)]
mod tests;

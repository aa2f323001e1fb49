//! `dump-resources`: what chosen draws, dispatches and traces of a frame read and write, as files: attachments before and behind them, vertex,
//! index and indirect buffers, shader binding tables, what their descriptors lead to, and what the structures are made of that rays are traced through.
//!
//! Dispatches and traces share one replay, with copies directly before and behind each. A draw is within a pass, where nothing can be copied: what is before it is
//! read behind the pass in a replay without it and the draws that come later, what is behind it in one without these; neighbours share replays.
//! Guarantees: what a command only reads is read once, what it may write before and behind. Refuses choices that nothing of the frame meets.

mod index;
mod plan;
mod structures;

pub use index::{Index, Resource, To};

use crate::draw_state::state;
use crate::failure::Failure;
use crate::files::output;
use crate::frames::work;
use crate::readback::{self, Asked};
use gfxr_parse::container::Capture;
use index::{Files, Row, Values};
use plan::Plan;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use trace::actions::Choice;

/// The index's file.
pub fn file(folder: &Path, frame: u64) -> PathBuf {
    folder.join(format!("frame_{frame}_resources.json"))
}

/// Writes what was asked for, and says each file once it is there; whether the replays kept to the capture, and the index.
pub fn dump(
    capture: &Capture,
    asked: &Asked<'_>,
    choice: &Choice,
    to: &To<'_>,
    said: impl Fn(&str) -> Result<(), Failure> + Sync,
) -> Result<(bool, Index), Failure> {
    let frame = work(capture, asked.run, asked.frame, Some(choice))?;
    if frame.used.is_empty() {
        return Err(Failure::new(choice.nothing(asked.frame, frame.actions.len())));
    }
    output::folder(to.folder)?;
    // (an index that was there is not of what is written now)
    let _ = std::fs::remove_file(file(to.folder, asked.frame));
    let plan = Plan::of(&frame, to.all_subresources);
    let chosen: Vec<_> = frame.used.keys().map(|row| frame.actions[*row].clone()).collect();
    let state = state(capture, &chosen, usize::MAX);
    let mut rows: Vec<Row> =
        frame.used.keys().map(|row| Row::of(*row as u64 + 1, &frame.actions[*row])).collect();
    for set in state.draws {
        rows[set.of].set.push((set.what, set.value));
    }
    let mut pipelines: BTreeMap<u64, Values> = BTreeMap::new();
    for of in state.pipelines {
        pipelines.entry(rows[of.of].action.pipeline).or_default().push((of.what, of.value));
    }
    let mut files = Files::new(to, asked.frame);
    let at: HashMap<usize, usize> = frame.used.keys().enumerate().map(|(at, row)| (*row, at)).collect();
    let (mut kept, device) = readback::run(capture, asked, &frame, &plan.replays, |n, read| {
        for (row, moment, of) in plan.readers(n, &read) {
            rows[at[&row]].read(of.map(|of| &frame.used[&row][of]), moment, &read, &mut files, &said)?;
        }
        Ok(())
    })?;
    for (row, used) in rows.iter_mut().zip(frame.used.values()) {
        row.others(used, &mut files, &said)?;
    }
    let mut structures = vec![];
    if frame.used.values().flatten().any(plan::traces) {
        let (found, ok) = structures::write(capture, asked, to.folder, &said)?;
        (structures, kept) = (found, kept && ok);
    }
    rows.iter_mut().for_each(Row::sort);
    let index = Index::new(asked.frame, device, rows, (pipelines, structures));
    let json = serde_json::to_vec_pretty(&index).map_err(Failure::new)?;
    output::write_file(&file(to.folder, asked.frame), &json)?;
    Ok((kept, index))
}

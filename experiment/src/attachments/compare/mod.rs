//! `screenshot --compare`: the first draw of a frame behind which another device, another driver or an earlier run shows something else.
//!
//! Each side is a process of this program that writes attachments and their index ([`super::index`]): behind render passes first; of the
//! first pass that differs, behind its draws, which are halved until one is left that differs where the draw before it does not. What
//! the fragment shader read at the pixel that differs first is recorded on both sides by pass `values`, with a scissor of that pixel.
//!
//! Guarantees: what is the same by its hash is the same; what is not is measured texel by texel, as `profile` measures pictures. Refuses
//! folders that hold something. Of a side that is a folder nothing is replayed: what it holds is compared.

mod asked;
mod inputs;
mod side;
mod words;

use super::After;
use super::index::{self, Index, Row, Written};
use crate::failure::Failure;
use crate::files::{folder, output};
use crate::frames::work;
use crate::progress;
pub use asked::{Comparison, Other};
use gfxr_parse::container::Capture;
pub use inputs::ReadAt;
use inputs::read_at;
use profile::hooks::frame_actions::FrameWork;
use profile::pictures::{Difference, First, Tolerance};
use serde::Serialize;
use side::Side;
use std::path::PathBuf;

/// An attachment that differs.
#[derive(Clone, Debug, Serialize)]
pub struct Differing {
    /// On this side.
    pub here: Row,
    /// On the other.
    pub there: Row,
    /// How.
    pub how: String,
    /// The pixel that differs first.
    pub pixel: Option<[u32; 2]>,
}

/// What came of it.
#[derive(Debug, Serialize)]
pub struct Compared {
    /// The version of this shape.
    pub schema_version: u32,
    /// The frame.
    pub frame: u64,
    /// The devices: this, and the other.
    pub devices: [String; 2],
    /// How many attachments both sides show.
    pub compared: usize,
    /// Of these, which differ, behind what was looked at first.
    pub differing: Vec<Differing>,
    /// Attachments that differ behind the first draw that was found, where draws were looked for.
    pub draw: Vec<Differing>,
    /// What its fragment shader read at the first pixel that differs.
    pub read: Vec<ReadAt>,
    /// What else has to be known.
    pub notes: Vec<String>,
}

/// The file of it.
pub const FILE: &str = "compare.json";

/// Compares, and writes what came of it.
pub fn compare(capture: &Capture, of: &Comparison<'_>) -> Result<Compared, Failure> {
    folder::refuse_full(of.output)?;
    output::folder(of.output)?;
    let here = Side { of, name: "here", gpu: None, driver: None, changes: of.changes };
    let there = match of.other {
        Other::Device(gpu) => Some(Side { name: "there", gpu: Some(gpu), changes: &[], ..here }),
        Other::Driver(file) => Some(Side { name: "there", driver: Some(file), changes: &[], ..here }),
        Other::Folder(_) => None,
    };
    let (there_folder, known) = match of.other {
        Other::Folder(folder) => (folder.clone(), Some(index::read(folder, of.frame)?)),
        _ => (of.output.join("there"), None),
    };
    let folders = [here.folder(), there_folder];
    // What the folder has is what can be compared.
    let of_folder = known.as_ref().map(|i| i.after.parse::<After>().map_err(Failure::new)).transpose()?;
    let after = of.after.cloned().or(of_folder).unwrap_or(After::Pass);
    let bar = progress::bytes(2, "replays");
    bar.set_style(progress::iterations());
    let look = |after: &After| -> Result<[Index; 2], Failure> {
        let ours = here.look(after)?;
        bar.inc(1);
        let theirs = match (&there, &known) {
            (Some(side), _) => side.look(after)?,
            (None, Some(known)) => known.clone(),
            (None, None) => return Err(Failure::new("there is no other side")),
        };
        bar.inc(1);
        Ok([ours, theirs])
    };
    let both = look(&after)?;
    let (shown, differing, mut notes) = differences(&both, &folders, of.tolerance);
    if shown == 0 {
        return Err(Failure::new(format_args!(
            "frame {}: no attachment is shown on both sides, here behind {}, and there behind {}",
            of.frame, both[0].after, both[1].after
        )));
    }
    let mut found = Compared {
        schema_version: 1,
        frame: of.frame,
        devices: both.map(|i| i.device),
        compared: shown,
        differing,
        draw: vec![],
        read: vec![],
        notes: vec![],
    };
    if let Some(first) = found.differing.first() {
        let frame = work(capture, of.run, of.frame)?;
        let pass = first.here.place.pass;
        let draws = draws_of(&frame, pass);
        if after == After::Pass && draws.is_empty() {
            notes.push(format!("Pass {pass} has no draws: what it clears, resolves or loads differs."));
        } else if of.after.is_none() && after == After::Pass && there.is_some() {
            let steps = u64::from(draws.len().next_power_of_two().trailing_zeros()) + 1;
            bar.set_length(2 + 2 * steps);
            found.draw = halve(&draws, |n| {
                let only = After::Draw(Some(n.to_string().parse().map_err(Failure::new)?));
                match differences(&look(&only)?, &folders, of.tolerance) {
                    (0, ..) => {
                        Err(Failure::new(format_args!("behind draw {n} nothing is shown on both sides")))
                    }
                    (_, differing, _) => Ok(differing),
                }
            })?;
            notes.extend(told(&found.draw, &draws, pass));
        } else if after == After::Pass && there.is_none() {
            let (from, to) = ends(&draws);
            notes.push(format!(
                "Which of its draws it is: `--after draw:{from}-{to} --texels` on the other side, and then here with --compare."
            ));
        }
        let last = found.draw.first().or(found.differing.first());
        if let Some((draw, pixel)) = last.and_then(|d| Some((d.here.place.draw?, d.pixel?))) {
            match read_at(&here, there.as_ref(), &frame, draw, pixel) {
                Ok(read) => found.read = read,
                Err(why) => notes.push(format!("What its shader read was not recorded: {}.", why.1)),
            }
        }
    }
    bar.finish_and_clear();
    found.notes = notes;
    let json = serde_json::to_vec_pretty(&found).map_err(Failure::new)?;
    output::write_file(&of.output.join(FILE), &json)?;
    Ok(found)
}

/// The draws of a pass, by their numbers in the frame.
fn draws_of(frame: &FrameWork, pass: u64) -> Vec<u64> {
    let numbered = (1..).zip(&frame.actions);
    numbered.filter(|(_, a)| a.pass == pass).map(|(n, _)| n).collect()
}

fn ends(draws: &[u64]) -> (u64, u64) {
    (draws.first().copied().unwrap_or(0), draws.last().copied().unwrap_or(0))
}

/// What differs behind the draw that differs where the one before it does not; nothing where none does.
fn halve(
    draws: &[u64],
    mut look: impl FnMut(u64) -> Result<Vec<Differing>, Failure>,
) -> Result<Vec<Differing>, Failure> {
    let (mut same, mut differs, mut found) = (0, draws.len(), None);
    while differs - same > 1 {
        let middle = same.midpoint(differs);
        let there = look(draws[middle - 1])?;
        if there.is_empty() {
            same = middle;
        } else {
            (differs, found) = (middle, Some(there));
        }
    }
    match (found, differs) {
        (Some(found), _) => Ok(found),
        (None, 0) => Ok(vec![]),
        // (behind the whole pass they differ; behind its last draw nobody has looked yet)
        (None, _) => look(draws[differs - 1]),
    }
}

/// What has to be known of the draw that was found.
fn told(draw: &[Differing], draws: &[u64], pass: u64) -> Option<String> {
    match draw.first().and_then(|d| d.here.place.draw) {
        None => Some(format!(
            "Behind the last draw of pass {pass} they are the same: what clears, resolves or stores there differs."
        )),
        Some(n) if draws.first() == Some(&n) => Some(format!(
            "It is the first draw of pass {pass}: what the pass begins with may differ already."
        )),
        Some(_) => None,
    }
}

/// How many attachments both sides show, which of these differ, and what has to be known of the others.
fn differences(
    [here, there]: &[Index; 2],
    folders: &[PathBuf; 2],
    tolerance: Tolerance,
) -> (usize, Vec<Differing>, Vec<String>) {
    let key = |r: &Row| (r.place.pass, r.place.draw, r.place.attachment.clone());
    let (mut shown, mut differing, mut alone) = (0, vec![], 0);
    for ours in &here.attachments {
        let theirs = there.attachments.iter().find(|r| key(r) == key(ours));
        let both = theirs.and_then(|t| Some((t, ours.written.as_ref()?, t.written.as_ref()?)));
        let Some((theirs, a, b)) = both else {
            alone += usize::from(ours.written.is_some() || theirs.is_some_and(|t| t.written.is_some()));
            continue;
        };
        shown += 1;
        if let Some((how, pixel)) = difference([a, b], folders, tolerance) {
            differing.push(Differing { here: ours.clone(), there: theirs.clone(), how, pixel });
        }
    }
    let only_there = |r: &&Row| r.written.is_some() && here.attachments.iter().all(|o| key(o) != key(r));
    alone += there.attachments.iter().filter(only_there).count();
    // (by pass and draw, whenever they were recorded)
    differing.sort_by_key(|d: &Differing| (d.here.place.pass, d.here.place.draw));
    let alone = (alone > 0).then(|| format!("{alone} attachments are shown on one side alone."));
    (shown, differing, alone.into_iter().collect())
}

/// How an attachment differs, and the pixel that does so first; nothing where it does not.
fn difference(
    [here, there]: [&Written; 2],
    folders: &[PathBuf; 2],
    tolerance: Tolerance,
) -> Option<(String, Option<[u32; 2]>)> {
    if here.format != there.format {
        // (stored otherwise, they can look the same)
        let how = format!("stored as {} here and as {} there", here.format, there.format);
        return (here.blake3 != there.blake3).then_some((how, None));
    }
    if here.texels_blake3 == there.texels_blake3 {
        return None;
    }
    let (Some(a), Some(b)) = (here.content(&folders[0]), there.content(&folders[1])) else {
        let how = "by its hash; texels of both sides, which --texels writes, would say how";
        return Some((how.to_owned(), None));
    };
    let found = Difference::of(&a, &b, tolerance)?;
    let pixel = if let First::Texel(pixel, ..) = &found.first { Some(*pixel) } else { None };
    (!found.within).then(|| (found.to_string(), pixel))
}

impl Compared {
    /// Whether something differs.
    pub fn differs(&self) -> bool {
        !self.differing.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The draw that is found where those from one on differ, and those that were looked at.
    fn halved(draws: &[u64], from: u64) -> (Option<u64>, Vec<u64>) {
        let mut seen = vec![];
        let row = |n: u64| {
            let json = serde_json::json!({
                "frame": 1, "pass": 1, "pass_name": "", "draw": n, "kind": "Draw", "block": 1, "pipeline": 1,
                "pipeline_name": null, "labels": [], "attachment": "color0", "image": 1, "image_name": "",
                "not_shown": "a test"
            });
            serde_json::from_value::<Row>(json).expect("a row")
        };
        let found = halve(draws, |n| {
            seen.push(n);
            let differing = |n| Differing { here: row(n), there: row(n), how: String::new(), pixel: None };
            Ok((n >= from).then(|| differing(n)).into_iter().collect())
        });
        (found.expect("nothing fails").first().and_then(|d| d.here.place.draw), seen)
    }

    #[test]
    fn the_first_draw_that_differs_is_found_in_few_steps() {
        let draws: Vec<u64> = (11..=210).collect();
        for from in [11, 12, 99, 209, 210] {
            let (found, seen) = halved(&draws, from);
            assert_eq!(found, Some(from));
            assert!(seen.len() <= 9, "{from}: {seen:?}");
        }
        assert_eq!(halved(&draws, 211).0, None, "what ends the pass differs");
        assert_eq!(halved(&[5], 1), (Some(5), vec![5]));
        assert_eq!(halved(&[], 1), (None, vec![]));
    }
}

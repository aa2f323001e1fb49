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

/// The other side.
enum There<'a> {
    /// A process with a device or a driver of its own.
    Replayed(Side<'a>),
    /// What lies in a folder, and its index.
    Written(Index),
}

/// Both sides, and where each has its files.
struct Both<'a> {
    of: &'a Comparison<'a>,
    here: Side<'a>,
    there: There<'a>,
    folders: [PathBuf; 2],
    bar: indicatif::ProgressBar,
}

impl<'a> Both<'a> {
    fn new(of: &'a Comparison<'a>) -> Result<Both<'a>, Failure> {
        let here = Side { of, name: "here", gpu: None, driver: None, changes: of.changes };
        let there = match of.other {
            Other::Device(gpu) => {
                There::Replayed(Side { name: "there", gpu: Some(gpu), changes: &[], ..here })
            }
            Other::Driver(file) => {
                There::Replayed(Side { name: "there", driver: Some(file), changes: &[], ..here })
            }
            Other::Folder(folder) => There::Written(index::read(folder, of.frame)?),
        };
        let bar = progress::counted(2, "comparing", "replays");
        Ok(Both { of, here, there, folders: [here.folder(), of.there()], bar })
    }

    /// Both sides' attachments behind something.
    fn look(&self, after: &After) -> Result<[Index; 2], Failure> {
        let ours = self.here.look(after)?;
        self.bar.inc(1);
        let theirs = match &self.there {
            There::Replayed(side) => side.look(after)?,
            There::Written(index) => index.clone(),
        };
        self.bar.inc(1);
        Ok([ours, theirs])
    }

    /// Which of these draws, all of one pass, is the first behind which they differ; and what of that has to be known.
    fn first_draw(&self, pass: u64, draws: &[u64]) -> Result<(Vec<Differing>, Option<String>), Failure> {
        let (Some(from), Some(to)) = (draws.first(), draws.last()) else {
            let note = format!("Pass {pass} has no draws: what it clears, resolves or loads differs.");
            return Ok((vec![], Some(note)));
        };
        if let There::Written(_) = self.there {
            let note = format!(
                "Which of its draws it is: `--after draw:{from}-{to} --texels` on the other side, and then here with --compare."
            );
            return Ok((vec![], Some(note)));
        }
        let steps = u64::from(draws.len().next_power_of_two().trailing_zeros()) + 1;
        self.bar.set_length(2 + 2 * steps);
        let found = halve(draws, |n| {
            let only = After::Draw(Some(n.to_string().parse().map_err(Failure::new)?));
            match differences(&self.look(&only)?, &self.folders, self.of.tolerance) {
                (0, ..) => Err(Failure::new(format_args!("behind draw {n} nothing is shown on both sides"))),
                (_, differing, _) => Ok(differing),
            }
        })?;
        let note = told(&found, draws, pass);
        Ok((found, note))
    }
}

/// Compares, and writes what came of it.
pub fn compare(capture: &Capture, of: &Comparison<'_>) -> Result<Compared, Failure> {
    folder::refuse_full(of.output)?;
    output::folder(of.output)?;
    let both = Both::new(of)?;
    // What the folder has is what can be compared.
    let of_folder = match &both.there {
        There::Written(index) => Some(index.after.parse::<After>().map_err(Failure::new)?),
        There::Replayed(_) => None,
    };
    let after = of.after.cloned().or(of_folder).unwrap_or(After::Pass);
    let looked = both.look(&after)?;
    let (shown, differing, mut notes) = differences(&looked, &both.folders, of.tolerance);
    if shown == 0 {
        return Err(Failure::new(format_args!(
            "frame {}: no attachment is shown on both sides, here behind {}, and there behind {}",
            of.frame, looked[0].after, looked[1].after
        )));
    }
    let (mut draw, mut read) = (vec![], vec![]);
    if let Some(first) = differing.first() {
        let frame = work(capture, of.run, of.frame, None)?;
        let pass = first.here.place.pass;
        let draws = draws_of(&frame, pass);
        let looked_for = of.after.is_none() || matches!(both.there, There::Written(_)) || draws.is_empty();
        if after == After::Pass && looked_for {
            let (found, note) = both.first_draw(pass, &draws)?;
            draw = found;
            notes.extend(note);
        }
        let last = draw.first().unwrap_or(first);
        if let (Some(draw), Some(pixel)) = (last.here.place.draw, last.pixel) {
            let there = if let There::Replayed(side) = &both.there { Some(side) } else { None };
            match read_at(&both.here, there, &frame, draw, pixel) {
                Ok(found) => read = found,
                Err(why) => notes.push(format!("What its shader read was not recorded: {}.", why.1)),
            }
        }
    }
    both.bar.finish_and_clear();
    let found = Compared {
        schema_version: 1,
        frame: of.frame,
        devices: looked.map(|i| i.device),
        compared: shown,
        differing,
        draw,
        read,
        notes,
    };
    let json = serde_json::to_vec_pretty(&found).map_err(Failure::new)?;
    output::write_file(&of.output.join(FILE), &json)?;
    Ok(found)
}

/// The draws of a pass, by their numbers in the frame.
fn draws_of(frame: &FrameWork, pass: u64) -> Vec<u64> {
    let numbered = (1..).zip(&frame.actions);
    numbered.filter(|(_, a)| a.pass == pass).map(|(n, _)| n).collect()
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

//! `screenshot --after`: what a frame's attachments hold behind its render passes, draws and labels.
//!
//! Behind passes one replay shows all; behind draws there is one for each ([`crate::readback`]). Guarantees: pictures come in the order in which
//! passes were recorded. Refuses frames that the capture does not have, frames without render passes, and draws and labels that the frame does not have.

pub mod compare;
pub mod index;

use crate::failure::Failure;
use crate::frames::work;
use crate::readback::{self, Asked, Replay, ends, later};
use gfxr_parse::container::Capture;
use profile::hooks::frame_actions::{FramePass, FrameWork};
use profile::hooks::screenshot::Shot;
use profile::readback::{Readback, Which};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use trace::actions::beyond;
use trace::select::{Glob, Ranges};

/// Behind what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum After {
    /// Each render pass.
    Pass,
    /// Each draw, or those of these numbers: draws, dispatches and traces are counted in the frame, from 1.
    Draw(Option<Ranges>),
    /// The last draw within each of these labels.
    Label(Glob),
}

impl FromStr for After {
    type Err = String;

    fn from_str(text: &str) -> Result<After, String> {
        let (what, of) = text.split_once(':').map_or((text, None), |(what, of)| (what, Some(of)));
        match (what, of) {
            ("pass", None) => Ok(After::Pass),
            ("draw", None) => Ok(After::Draw(None)),
            ("draw", Some(numbers)) => Ok(After::Draw(Some(numbers.parse()?))),
            ("label", Some(glob)) => Ok(After::Label(glob.parse()?)),
            _ => Err("expected pass, draw, draw:A-B or label:NAME".into()),
        }
    }
}

impl fmt::Display for After {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            After::Pass => f.write_str("pass"),
            After::Draw(None) => f.write_str("draw"),
            After::Draw(Some(numbers)) => write!(f, "draw:{numbers}"),
            After::Label(glob) => write!(f, "label:{glob}"),
        }
    }
}

/// Where an attachment was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The frame.
    pub frame: u64,
    /// The number of the render pass in the frame, from 1.
    pub pass: u64,
    /// Its name.
    pub pass_name: String,
    /// Debug labels around it.
    #[serde(default)]
    pub pass_labels: Vec<String>,
    /// The number of the draw in the frame, from 1; none behind a whole pass.
    pub draw: Option<u64>,
    /// What it is: Draw, DrawIndexed, ….
    pub kind: Option<String>,
    /// The capture's block that recorded it.
    pub block: Option<u64>,
    /// The captured id of its pipeline, or of the shader object that those are called by.
    pub pipeline: Option<u64>,
    /// The debug name of that.
    pub pipeline_name: Option<String>,
    /// The captured ids of the shader objects; none of a pipeline.
    #[serde(default)]
    pub shader_objects: Vec<u64>,
    /// Debug labels around it, from outside in.
    pub labels: Vec<String>,
    /// Which attachment: `color0`, `depth`, `resolve0`, ….
    pub attachment: String,
    /// The captured id of its image.
    pub image: u64,
    /// The debug name of that.
    pub image_name: String,
}

/// Replays, and of each the draw that it shows, by its row; none where it shows what passes leave.
type Targets = (Vec<Replay>, Vec<Option<usize>>);

/// Hands over each attachment; whether the replay kept to the capture, and the device.
pub fn attachments(
    capture: &Capture,
    asked: &Asked<'_>,
    after: &After,
    mut shown: impl FnMut(Place, Result<Shot, String>) -> Result<(), Failure> + Send,
) -> Result<(bool, String), Failure> {
    let frame = work(capture, asked.run, asked.frame, None)?;
    if frame.passes.is_empty() {
        return Err(Failure::new(format_args!("frame {} has no render passes", asked.frame)));
    }
    let (replays, draws) = targets(&frame, asked.frame, after)?;
    readback::run(capture, asked, &frame, &replays, |n, read| {
        match place(&frame, asked.frame, draws[n], &read) {
            Some(place) => shown(place, read.contents.and_then(|c| c.shot(asked.frame))),
            None => Ok(()),
        }
    })
}

/// Which replays there are to be.
fn targets(of: &FrameWork, frame: u64, after: &After) -> Result<Targets, Failure> {
    let draws = || of.actions.iter().enumerate().filter(|(_, a)| a.pass != 0);
    let wanted: Vec<usize> = match after {
        After::Pass => {
            return Ok((vec![Replay { spots: ends(of, 0), left_out: vec![] }], vec![None]));
        }
        After::Draw(numbers) => {
            if let Some(why) = beyond(numbers, frame, of.actions.len()) {
                return Err(Failure::new(why));
            }
            let is = |n: usize| numbers.as_ref().is_none_or(|r| r.contains(n as u64 + 1));
            draws().filter(|(n, _)| is(*n)).map(|d| d.0).collect()
        }
        After::Label(glob) => {
            let deep = |labels: &[String]| {
                labels.iter().rposition(|l| glob.matches(l)).map(|at| labels[..=at].to_vec())
            };
            let within: Vec<_> = draws().filter_map(|(n, a)| Some((deep(&a.labels)?, n))).collect();
            let last = |(at, d): (usize, &(Vec<String>, usize))| {
                within[at + 1..].iter().all(|o| o.0 != d.0).then_some(d.1)
            };
            within.iter().enumerate().filter_map(last).collect()
        }
    };
    if wanted.is_empty() {
        let n = of.actions.len();
        let what = match after {
            After::Label(_) => "no draw within such a label".to_owned(),
            _ => format!(
                "no such draw: {} of its {n} draws, dispatches and traces are in render passes",
                draws().count()
            ),
        };
        return Err(Failure::new(format_args!("frame {frame} has {what}")));
    }
    let one = |draw: usize| {
        let replay = Replay { spots: ends(of, of.actions[draw].pass), left_out: later(of, draw) };
        (replay, Some(draw))
    };
    Ok(wanted.into_iter().map(one).unzip())
}

/// Where something was seen.
fn place(of: &FrameWork, frame: u64, row: Option<usize>, read: &Readback) -> Option<Place> {
    let Which::Attachment(attachment) = &read.which else { return None };
    let draw = row.map(|n| &of.actions[n]);
    // (of a recording that runs several times its last run is seen)
    let pass: &FramePass = match draw {
        Some(draw) => of.passes.iter().find(|p| p.number == draw.pass)?,
        None => of.passes.iter().rfind(|p| p.end == read.block)?,
    };
    Some(Place {
        frame,
        pass: pass.number,
        pass_name: pass.name.clone(),
        pass_labels: pass.labels.clone(),
        draw: row.map(|n| n as u64 + 1),
        kind: draw.map(|d| d.kind.clone()),
        block: draw.map(|d| d.block),
        pipeline: draw.map(|d| d.pipeline),
        pipeline_name: draw.map(|d| d.pipeline_name.clone()),
        shader_objects: draw.map_or(vec![], |d| d.shader_objects.clone()),
        labels: draw.map_or(&pass.labels, |d| &d.labels).clone(),
        attachment: attachment.clone(),
        image: read.object.0,
        image_name: read.object.1.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::actions::Action;

    fn of() -> FrameWork {
        let pass = |number, end| FramePass { number, end, ..FramePass::default() };
        let draw = |block, pass, labels: &[&str]| Action {
            block,
            pass,
            labels: labels.iter().map(ToString::to_string).collect(),
            ..Action::default()
        };
        let actions = vec![
            draw(10, 1, &["a"]),
            draw(11, 1, &["a", "b"]),
            draw(12, 0, &["a"]),
            draw(20, 2, &["b"]),
            draw(21, 2, &["b"]),
        ];
        FrameWork { actions, passes: vec![pass(1, 15), pass(2, 25)], before: 11, ..FrameWork::default() }
    }

    /// By draw: which blocks are left out.
    type LeftOut = Vec<(Option<usize>, Vec<u64>)>;

    fn targets_of(after: &str) -> Result<LeftOut, String> {
        let after: After = after.parse()?;
        let of = of();
        let (replays, draws) = targets(&of, 3, &after).map_err(|f| f.1)?;
        let block = |row: &usize| of.actions[*row].block;
        let left_out = replays.iter().map(|r| r.left_out.iter().map(block).collect());
        Ok(draws.into_iter().zip(left_out).collect())
    }

    #[test]
    fn what_comes_later_in_the_same_pass_is_left_out() {
        assert_eq!(targets_of("pass").unwrap(), [(None, vec![])]);
        let each = [(Some(0), vec![11]), (Some(1), vec![]), (Some(3), vec![21]), (Some(4), vec![])];
        assert_eq!(targets_of("draw").unwrap(), each);
        assert_eq!(targets_of("draw:1-2").unwrap(), each[..2]);
        assert_eq!(targets_of("label:b").unwrap(), [(Some(1), vec![]), (Some(4), vec![])]);
        assert_eq!(targets_of("label:a").unwrap(), [(Some(1), vec![])]);
    }

    #[test]
    fn what_is_not_there_is_said() {
        let text = "frame 3 has no such draw: 4 of its 5 draws, dispatches and traces are in render passes";
        assert_eq!(targets_of("draw:3").unwrap_err(), text);
        assert_eq!(targets_of("draw:4-9").unwrap_err(), "frame 3 has no draw 9: the last is draw 5");
        assert_eq!(targets_of("label:c").unwrap_err(), "frame 3 has no draw within such a label");
        for wrong in ["passes", "draw:x", "label", "label:", "pass:1"] {
            assert!(wrong.parse::<After>().is_err(), "{wrong}");
        }
    }
}

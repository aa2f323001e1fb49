//! `screenshot --after`: what a frame's attachments hold behind its render passes, draws and labels.
//!
//! Behind passes one replay shows all. Behind a draw, the capture is replayed without the draws of the same pass that come later, and so once for
//! each draw. Guarantees: pictures come in the order in which passes were recorded. Where a recording runs several times, its
//! draws are left out of each run, which is said. Refuses frames that the capture does not have, frames without render passes, and
//! draws and labels that the frame does not have.

pub mod compare;
pub mod index;

use crate::failure::Failure;
use crate::frames::work;
use crate::how::How;
use crate::progress;
use crate::replaying::{breadcrumbs, changes, failure, options, tallies, validation};
use crate::say::complain;
use crate::shots::written_beside;
use gfxr_parse::container::Capture;
use profile::attachments::{AttachmentShot, AttachmentTaker, AttachmentsHook};
use profile::hooks::frame_actions::{FramePass, FrameWork};
use replay::options::Options;
use replay::session::{On, replay};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;
use trace::plan::Use;
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

/// What is wanted.
pub struct Asked<'a> {
    /// Of this frame.
    pub frame: u64,
    /// Behind what.
    pub after: &'a After,
    /// Changes to calls.
    pub changes: &'a [Use],
    /// How to replay.
    pub run: &'a How,
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
    /// The number of the draw in the frame, from 1; none behind a whole pass.
    pub draw: Option<u64>,
    /// What it is: Draw, DrawIndexed, ….
    pub kind: Option<String>,
    /// The capture's block that recorded it.
    pub block: Option<u64>,
    /// The captured id of its pipeline; 0 for shader objects.
    pub pipeline: Option<u64>,
    /// The debug name of that.
    pub pipeline_name: Option<String>,
    /// Debug labels around it, from outside in.
    pub labels: Vec<String>,
    /// Which attachment: `color0`, `depth`, `resolve0`, ….
    pub attachment: String,
    /// The captured id of its image.
    pub image: u64,
    /// The debug name of that.
    pub image_name: String,
}

/// One replay: the passes that are seen, and what is left out.
struct Target {
    ends: HashSet<u64>,
    left_out: Vec<u64>,
    /// The draw, by its row.
    draw: Option<usize>,
}

/// Hands over each attachment; whether the replay kept to the capture, and the device.
pub fn attachments(
    capture: &Capture,
    asked: &Asked<'_>,
    mut shown: impl FnMut(Place, AttachmentShot) -> Result<(), Failure> + Send,
) -> Result<(bool, String), Failure> {
    let frame = work(capture, asked.run, asked.frame)?;
    if frame.passes.is_empty() {
        return Err(Failure::new(format_args!("frame {} has no render passes", asked.frame)));
    }
    let targets = targets(&frame, asked)?;
    let options = Options { frames: Some((asked.frame, asked.frame)), ..options(asked.run)? };
    if targets.iter().any(|t| repeats(&frame, t)) {
        complain(
            "some draws are recorded once and run several times in the frame: what is left out of one run is left out of all",
        );
    }
    if targets.iter().any(|t| earlier(&frame, t)) {
        complain(
            "some draws were recorded before the frame, and may run in earlier ones, too: what is left out of it is left out of these",
        );
    }
    let (frame, targets) = (&frame, &targets);
    let (replayed, shown) = written_beside(
        1,
        |(n, shot): (usize, AttachmentShot)| match place(frame, asked.frame, &targets[n], &shot) {
            Some(place) => shown(place, shot),
            None => Ok(()),
        },
        |to| {
            let bar = progress::bytes(targets.len() as u64, "replays");
            bar.set_style(progress::iterations());
            let replayed = (0..targets.len()).try_fold((true, String::new()), |(kept, _), n| {
                let to = to.clone();
                let take = move |shot| to.send((n, shot));
                let (ok, device) = once(capture, asked, &options, &targets[n], Box::new(take), n == 0)?;
                bar.inc(1);
                Ok((kept && ok, device))
            });
            bar.finish_and_clear();
            replayed
        },
    );
    shown.and(replayed)
}

/// Which replays there are to be.
fn targets(of: &FrameWork, asked: &Asked<'_>) -> Result<Vec<Target>, Failure> {
    let draws = || of.actions.iter().enumerate().filter(|(_, a)| a.pass != 0);
    let wanted: Vec<usize> = match asked.after {
        After::Pass => {
            let ends = of.passes.iter().map(|p| p.end).collect();
            return Ok(vec![Target { ends, left_out: vec![], draw: None }]);
        }
        After::Draw(numbers) => {
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
        let what = match asked.after {
            After::Label(_) => "no draw within such a label".to_owned(),
            _ => format!(
                "no such draw: {} of its {n} draws, dispatches and traces are in render passes",
                draws().count()
            ),
        };
        return Err(Failure::new(format_args!("frame {} has {what}", asked.frame)));
    }
    let one = |draw: usize| {
        let pass = of.actions[draw].pass;
        let later = draws().filter(|(n, a)| *n > draw && a.pass == pass);
        let ends = of.passes.iter().filter(|p| p.number == pass).map(|p| p.end).collect();
        Target { ends, left_out: later.map(|d| d.1.block).collect(), draw: Some(draw) }
    };
    Ok(wanted.into_iter().map(one).collect())
}

/// Whether what is left out runs elsewhere in the frame, too.
fn repeats(of: &FrameWork, target: &Target) -> bool {
    let Some(draw) = target.draw else { return false };
    let elsewhere =
        of.actions.iter().enumerate().filter(|(n, a)| a.pass != of.actions[draw].pass || *n <= draw);
    elsewhere.into_iter().any(|(_, a)| target.left_out.contains(&a.block))
}

/// Whether what is left out may have run in earlier frames, too.
fn earlier(of: &FrameWork, target: &Target) -> bool {
    target.left_out.iter().any(|block| *block < of.before)
}

/// Where something was seen.
fn place(of: &FrameWork, frame: u64, target: &Target, shot: &AttachmentShot) -> Option<Place> {
    let draw = target.draw.map(|n| &of.actions[n]);
    // (of a recording that runs several times its last run is seen)
    let pass: &FramePass = match draw {
        Some(draw) => of.passes.iter().find(|p| p.number == draw.pass)?,
        None => of.passes.iter().rfind(|p| p.end == shot.end)?,
    };
    Some(Place {
        frame,
        pass: pass.number,
        pass_name: pass.name.clone(),
        draw: target.draw.map(|n| n as u64 + 1),
        kind: draw.map(|d| d.kind.clone()),
        block: draw.map(|d| d.block),
        pipeline: draw.map(|d| d.pipeline),
        pipeline_name: draw.map(|d| d.pipeline_name.clone()),
        labels: draw.map_or(&pass.labels, |d| &d.labels).clone(),
        attachment: shot.attachment.clone(),
        image: shot.image.0,
        image_name: shot.image.1.clone(),
    })
}

/// One replay, up to the frame; whether it kept to the capture, and the device.
fn once(
    capture: &Capture,
    asked: &Asked<'_>,
    options: &Options,
    target: &Target,
    take: AttachmentTaker,
    first: bool,
) -> Result<(bool, String), Failure> {
    let at = target.left_out.iter().map(|block| format!("at={block}-{block}"));
    let without = (!target.left_out.is_empty()).then(|| Use::new("skip", at));
    let all: Vec<Use> = asked.changes.iter().cloned().chain(without).collect();
    let mut hooks = changes(&all)?;
    hooks.push(Box::new(AttachmentsHook::new(asked.frame, target.ends.clone(), options.watchdog_ns(), take)));
    breadcrumbs(asked.run, &mut hooks);
    let summary = replay(capture, options, On::Vulkan, hooks, 0, &mut ()).map_err(failure)?;
    if first && target.left_out.is_empty() || summary.report.divergences.count > 0 {
        tallies(&summary);
    }
    if first || !summary.report.validation.is_empty() {
        validation(&summary, asked.run.validate);
    }
    Ok((summary.report.divergences.count == 0, summary.gpu.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::what_if::Action;

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
        FrameWork { actions, passes: vec![pass(1, 15), pass(2, 25)], before: 11 }
    }

    /// By draw: which blocks are left out.
    type LeftOut = Vec<(Option<usize>, Vec<u64>)>;

    fn targets_of(after: &str) -> Result<LeftOut, String> {
        let after: After = after.parse()?;
        let run = How::default();
        let asked = Asked { frame: 3, after: &after, changes: &[], run: &run };
        let all = targets(&of(), &asked).map_err(|f| f.1)?;
        Ok(all.into_iter().map(|t| (t.draw, t.left_out)).collect())
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
    fn what_was_recorded_before_the_frame_is_known() {
        let target =
            |left_out: &[u64]| Target { ends: [15].into(), left_out: left_out.to_vec(), draw: Some(0) };
        assert!(earlier(&of(), &target(&[21, 10])));
        assert!(!earlier(&of(), &target(&[11, 21])));
    }

    #[test]
    fn what_is_not_there_is_said() {
        let text = "frame 3 has no such draw: 4 of its 5 draws, dispatches and traces are in render passes";
        assert_eq!(targets_of("draw:3").unwrap_err(), text);
        assert_eq!(targets_of("label:c").unwrap_err(), "frame 3 has no draw within such a label");
        for wrong in ["passes", "draw:x", "label", "label:", "pass:1"] {
            assert!(wrong.parse::<After>().is_err(), "{wrong}");
        }
    }
}

//! What a frame executes: its actions (draws, dispatches and traces) and what its render passes draw to; and which of the actions are meant.
//!
//! Guarantees: actions and passes are numbered in the frame, from 1, in the order in which they are submitted; everything that names one names it so.
//! Refuses choices that it does not know.

use crate::names;
use crate::select::{Glob, Ranges};
use serde::{Deserialize, Serialize};

/// A draw, a dispatch or a trace, as a frame executes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    /// Which submission of the frame, of those with command buffers, from 0.
    pub submission: u64,
    /// Which command buffer of the submission, from 0.
    pub position: u64,
    /// Which execution of a secondary command buffer, from 1; 0 in the submitted one itself.
    pub execution: u64,
    /// The command as it was recorded, from 1.
    pub index: u64,
    /// The capture's block that recorded it.
    pub block: u64,
    /// What it is: Draw, DrawIndexed, Dispatch, TraceRays, ….
    pub kind: String,
    /// The captured id of the pipeline; of shader objects the one that they are called by: of fragments, meshes, vertices, or what there is.
    pub pipeline: u64,
    /// The captured ids of the shader objects; none of a pipeline.
    #[serde(default)]
    pub shader_objects: Vec<u64>,
    /// Its debug name; empty where it has none.
    #[serde(default)]
    pub pipeline_name: String,
    /// Debug labels around it, from outside in.
    #[serde(default)]
    pub labels: Vec<String>,
    /// The number of its render pass (or rendering) in the frame, from 1; 0 outside of one.
    pub pass: u64,
    /// That pass's name.
    #[serde(default)]
    pub pass_name: String,
    /// Debug labels around that pass.
    #[serde(default)]
    pub pass_labels: Vec<String>,
}

impl Action {
    /// Its pipeline in words; shader objects by the one that they are called by.
    pub fn pipeline_words(&self) -> String {
        names::pipeline(self.pipeline, &self.pipeline_name, !self.shader_objects.is_empty())
    }

    /// Its pass in words; outside of passes the labels around it, if there are any.
    pub fn around(&self) -> Option<String> {
        names::around(
            self.pass,
            if self.pass == 0 { &self.labels } else { &self.pass_labels },
            &self.pass_name,
        )
    }
}

/// An attachment of a render pass, in the registry's words without what they begin with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attachment {
    /// The pass's number in the frame.
    pub pass: u64,
    /// Its place: in the framebuffer, or in the order colour, depth, stencil, rate.
    pub index: u64,
    /// What it is for: colour, depth, stencil, rate; of render passes `by subpass`.
    pub what: &'static str,
    /// The captured id of the image, and its debug name.
    pub image: (u64, String),
    /// VkFormat of the view.
    pub format: String,
    /// Width and height of the image.
    pub extent: [u32; 2],
    /// Samples of a texel.
    pub samples: u32,
    /// VkAttachmentLoadOp and VkAttachmentStoreOp.
    pub ops: [String; 2],
}

/// Which actions of a frame are meant: what is asked for by several options of a kind holds if one of them does; of several kinds all have to.
/// Without an option all are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    draws: Vec<Ranges>,
    passes: Vec<Ranges>,
    blocks: Vec<Ranges>,
    labels: Vec<Glob>,
    pipelines: Vec<Glob>,
    /// As it was asked for.
    words: Vec<String>,
}

/// How actions are chosen.
pub const CHOICE: &str = "draw=A-B, pass=A-B, label=GLOB, pipeline=ID or its name, or at=A-B";

/// What is wrong where these draws of a frame are asked for, one of them behind the last of its so many.
pub fn beyond<'r>(draws: impl IntoIterator<Item = &'r Ranges>, frame: u64, of: usize) -> Option<String> {
    let ends = draws.into_iter().flat_map(|r| r.all()).map(|r| r.1).filter(|end| *end != u64::MAX);
    let last = ends.max().filter(|last| *last > of as u64 && of > 0)?;
    Some(format!("frame {frame} has no draw {last}: the last is draw {of}"))
}

impl Choice {
    /// Why none of several frames' actions is chosen.
    pub fn nothing_of_all(&self, (first, last): (u64, u64)) -> String {
        format!("none of the frames {first} to {last} has {}", self.words.join(" "))
    }

    /// Why none of a frame's so many actions is chosen.
    pub fn nothing(&self, frame: u64, of: usize) -> String {
        let of = match of {
            0 => "it has no draws, dispatches and traces".to_owned(),
            1 => "its only draw, dispatch or trace, which is draw 1, is another".to_owned(),
            n => format!("its draws, dispatches and traces are draw 1 to {n}, and none of them is that"),
        };
        format!("frame {frame} has no {}: {of}", self.words.join(" "))
    }

    /// What is wrong where draws are asked for by number behind the last of a frame's so many.
    pub fn beyond(&self, frame: u64, of: usize) -> Option<String> {
        beyond(&self.draws, frame, of)
    }

    /// Of options such as `draw=3-5`.
    pub fn read<T: AsRef<str>>(options: &[T]) -> Result<Choice, String> {
        let mut choice = Choice::default();
        for option in options.iter().map(AsRef::as_ref) {
            let wrong = |e: String| format!("{option}: {e}");
            choice.words.push(option.to_owned());
            let ranges = |value: &str| value.parse::<Ranges>().map_err(wrong);
            let glob = |value: &str| value.parse::<Glob>().map_err(wrong);
            match option.split_once('=') {
                Some(("draw", value)) => choice.draws.push(ranges(value)?),
                Some(("pass", value)) => choice.passes.push(ranges(value)?),
                Some(("at", value)) => choice.blocks.push(ranges(value)?),
                Some(("label", value)) => choice.labels.push(glob(value)?),
                Some(("pipeline", value)) => choice.pipelines.push(glob(value.trim_start_matches('#'))?),
                _ => return Err(format!("expected {CHOICE}, found {option:?}")),
            }
        }
        Ok(choice)
    }

    /// Whether an action of this number in the frame is meant.
    pub fn is(&self, n: u64, a: &Action) -> bool {
        let ids: Vec<String> =
            std::iter::once(&a.pipeline).chain(&a.shader_objects).map(u64::to_string).collect();
        let programs: Vec<&str> = ids.iter().chain([&a.pipeline_name]).map(String::as_str).collect();
        let among = |of: &[Ranges], n: u64| of.is_empty() || of.iter().any(|r| r.contains(n));
        let any = |of: &[Glob], text: &[&str]| {
            of.is_empty() || of.iter().any(|g| text.iter().any(|t| g.matches(t)))
        };
        let labels: Vec<&str> = a.labels.iter().map(String::as_str).collect();
        among(&self.draws, n)
            && among(&self.passes, a.pass)
            && among(&self.blocks, a.block)
            && any(&self.labels, &labels)
            && any(&self.pipelines, &programs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_all_have_to_hold_and_options_of_a_kind_add_to_each_other() {
        let action = |pass, block, name: &str, label: &str| Action {
            pass,
            block,
            pipeline: 7,
            pipeline_name: name.into(),
            labels: vec!["frame".into(), label.into()],
            ..Action::default()
        };
        let all = [action(0, 10, "", "update"), action(1, 20, "sky", "world"), action(1, 30, "lit", "world")];
        let chosen = |options: &[&str]| {
            let choice = Choice::read(options).expect("well");
            (1..).zip(&all).filter(|(n, a)| choice.is(*n, a)).map(|(n, _)| n).collect::<Vec<u64>>()
        };
        assert_eq!(chosen(&[]), [1, 2, 3]);
        assert_eq!(chosen(&["draw=1,3"]), [1, 3]);
        assert_eq!(chosen(&["draw=1", "draw=3"]), [1, 3]);
        assert_eq!(chosen(&["draw=1-2", "pass=1"]), [2]);
        assert_eq!(chosen(&["draw=1-2", "at=30-"]), [0; 0]);
        assert_eq!(chosen(&["label=w*"]), [2, 3]);
        assert_eq!(chosen(&["pipeline=sky"]), [2]);
        assert_eq!(chosen(&["pipeline=#7"]), [1, 2, 3]);
        for (wrong, says) in [
            ("draw", "expected draw=A-B"),
            ("draw=3-1", "draw=3-1: \"3-1\" runs backwards"),
            ("others", "found \"others\""),
        ] {
            assert!(Choice::read(&[wrong]).err().is_some_and(|e| e.contains(says)), "{wrong}");
        }
    }
}

//! Draws, dispatches and traces of one frame that alone are kept, as a change that leaves out its others.
//!
//! Guarantees: what frames before it recorded stays, but for a command buffer that they and the frame execute; nothing else is left out than draws,
//! dispatches and traces, and pipelines bound for them alone. Of what is executed several times, all stays if one is chosen. Refuses several frames, and choices that nothing of
//! the frame meets.

use crate::failure::Failure;
use crate::frames::work;
use crate::how::How;
use gfxr_parse::container::Capture;
use std::collections::BTreeSet;
use trace::plan::Use;
use trace::select::{Glob, Ranges};
use trace::what_if::Action;

/// What is kept: what is asked for by several options of a kind holds if one of them does; of several kinds all have to.
#[derive(Default)]
struct Choice {
    draws: Vec<Ranges>,
    passes: Vec<Ranges>,
    blocks: Vec<Ranges>,
    labels: Vec<Glob>,
    pipelines: Vec<Glob>,
}

impl Choice {
    fn read(options: &[String]) -> Result<Choice, String> {
        let mut choice = Choice::default();
        for option in options {
            let wrong = |e: String| format!("{option}: {e}");
            let ranges = |value: &str| value.parse::<Ranges>().map_err(wrong);
            let glob = |value: &str| value.parse::<Glob>().map_err(wrong);
            match option.split_once('=') {
                Some(("draw", value)) => choice.draws.push(ranges(value)?),
                Some(("pass", value)) => choice.passes.push(ranges(value)?),
                Some(("at", value)) => choice.blocks.push(ranges(value)?),
                Some(("label", value)) => choice.labels.push(glob(value)?),
                Some(("pipeline", value)) => choice.pipelines.push(glob(value.trim_start_matches('#'))?),
                _ => return Err(format!("expected {WORDS}, found {option:?}")),
            }
        }
        Ok(choice)
    }

    /// Whether it is for an action of this number.
    fn is(&self, n: u64, a: &Action) -> bool {
        let among = |of: &[Ranges], n: u64| of.is_empty() || of.iter().any(|r| r.contains(n));
        let any = |of: &[Glob], text: &[&str]| {
            of.is_empty() || of.iter().any(|g| text.iter().any(|t| g.matches(t)))
        };
        let labels: Vec<&str> = a.labels.iter().map(String::as_str).collect();
        among(&self.draws, n)
            && among(&self.passes, a.pass)
            && among(&self.blocks, a.block)
            && any(&self.labels, &labels)
            && any(&self.pipelines, &[&a.pipeline.to_string(), &a.pipeline_name])
    }
}

/// How commands are chosen.
const WORDS: &str = "draw=A-B, pass=A-B, label=GLOB, pipeline=ID or its name, or at=A-B";

/// The change; none where everything is kept.
pub fn all_but(
    capture: &Capture,
    how: &How,
    commands: &[String],
    (first, last): (u64, u64),
) -> Result<Option<Use>, Failure> {
    if commands.is_empty() {
        return Ok(None);
    }
    let wrong = |e: String| Failure::usage(format_args!("--commands: {e}"));
    let choice = Choice::read(commands).map_err(wrong)?;
    if first != last {
        return Err(wrong("draws are chosen among those of one frame: name it by --frames".into()));
    }
    let actions = work(capture, how, first)?.actions;
    let chosen = (1..).zip(&actions).filter(|(n, a)| choice.is(*n, a));
    let kept: BTreeSet<u64> = chosen.map(|(_, a)| a.block).collect();
    if kept.is_empty() {
        return Err(wrong(format!("frame {first} has no such draw; it has {} of them", actions.len())));
    }
    let others: BTreeSet<u64> = actions.iter().map(|a| a.block).filter(|b| !kept.contains(b)).collect();
    let blocks: Vec<String> = others.iter().map(u64::to_string).collect();
    let at = || Use::new("skip", [format!("at={}", blocks.join(","))]);
    Ok((!others.is_empty()).then(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_all_have_to_hold_and_options_of_a_kind_add_to_each_other() {
        let read =
            |options: &[&str]| Choice::read(&options.iter().map(ToString::to_string).collect::<Vec<_>>());
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
            let choice = read(options).expect("well");
            (1..).zip(&all).filter(|(n, a)| choice.is(*n, a)).map(|(n, _)| n).collect::<Vec<u64>>()
        };
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
            assert!(read(&[wrong]).err().is_some_and(|e| e.contains(says)), "{wrong}");
        }
    }
}

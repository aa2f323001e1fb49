//! Which commands a change is for: by where they were recorded, the labels around them, the pipelines that they run.
//!
//! What is asked for by several options of a kind holds if one of them does; of several kinds all have to. What is bound the
//! executor knows ([`world`]); labels are those that the command buffer itself has begun. Guarantees: without an option every
//! command is chosen. Refuses options that are not a number, a range or a pattern. Labels of queues, and those of a command
//! buffer around others that it executes, are not known when these are recorded: the latter are counted.

use super::tally::Tally;
use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use std::collections::HashMap;
use trace::plan::Use;
use trace::select::{Glob, Ranges};
use world::World;
use world::objects::BindPoint;

/// See the module's header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    at: Vec<Ranges>,
    labels: Vec<Glob>,
    pipelines: Vec<u64>,
}

/// The options that choose, as help shows them.
pub const AT: &str = "at=A-B";
/// See [`AT`].
pub const LABEL: &str = "label=GLOB";
/// See [`AT`].
pub const PIPELINE: &str = "pipeline=ID";

/// Calls that begin and end labels, and the one within which labels are not known.
const LABELS: [&str; 5] = [
    "vkCmdBeginDebugUtilsLabelEXT",
    "vkCmdEndDebugUtilsLabelEXT",
    "vkCmdDebugMarkerBeginEXT",
    "vkCmdDebugMarkerEndEXT",
    "vkCmdExecuteCommands",
];

impl Choice {
    /// What of a change's options chooses, and the others. `taken`: those of [`AT`], [`LABEL`] and [`PIPELINE`] that the change has.
    pub fn read(of: &Use, taken: &[&str]) -> Result<(Choice, Vec<String>), String> {
        let (mut choice, mut others) = (Choice::default(), vec![]);
        for option in &of.options {
            let wrong = |e: String| format!("change {}: {option}: {e}", of.name);
            let (key, value) = option.split_once('=').unwrap_or((option, ""));
            let known = taken.iter().any(|t| t.split_once('=').is_some_and(|t| t.0 == key));
            match key {
                "at" if known => choice.at.push(value.parse().map_err(wrong)?),
                "label" if known => choice.labels.push(value.parse().map_err(wrong)?),
                "pipeline" if known => {
                    let id = value.strip_prefix('#').unwrap_or(value).parse();
                    choice.pipelines.push(id.map_err(|_| wrong(format!("{value:?} is no captured id")))?);
                }
                _ => others.push(option.clone()),
            }
        }
        Ok((choice, others))
    }
}

impl Choice {
    /// Whether a command that runs this pipeline can be chosen.
    pub fn may_run(&self, pipeline: u64) -> bool {
        self.pipelines.is_empty() || self.pipelines.contains(&pipeline)
    }
}

/// Chooses, of the commands that come.
pub struct Chooser {
    choice: Choice,
    /// By command buffer: the number of its recording, and whether the labels that it has begun are asked for.
    labels: HashMap<u64, (u64, Vec<bool>)>,
}

impl Chooser {
    /// One that has seen nothing yet.
    pub fn new(choice: Choice) -> Self {
        Chooser { choice, labels: HashMap::new() }
    }

    /// The calls that [`Chooser::see`] has to see.
    pub fn wants(&self) -> &'static [&'static str] {
        if self.choice.labels.is_empty() { &[] } else { &LABELS }
    }

    /// A call that may be one of [`Chooser::wants`].
    pub fn see(&mut self, world: &World, call: &Call, tally: &mut Tally) {
        if self.choice.labels.is_empty() || !LABELS.contains(&call.command.name) {
            return;
        }
        let buffer = call.image.u64(0);
        let number = world.recording(buffer).map_or(0, |r| r.number);
        let now = self.labels.entry(buffer).or_default();
        if now.0 != number {
            *now = (number, vec![]);
        }
        let v = View::call(&call.image);
        match call.command.name {
            "vkCmdBeginDebugUtilsLabelEXT" | "vkCmdDebugMarkerBeginEXT" => {
                let info = v.one("pLabelInfo").or_else(|| v.one("pMarkerInfo"));
                let text = info.and_then(|i| i.text("pLabelName").or_else(|| i.text("pMarkerName")));
                let text = text.unwrap_or_default();
                now.1.push(self.choice.labels.iter().any(|g| g.matches(&text)));
            }
            "vkCmdExecuteCommands" => {
                if now.1.contains(&true) {
                    let n = v.u64s("pCommandBuffers").len();
                    tally.beyond("command buffers executed within a chosen label stay as they are", n as u64);
                }
            }
            _ => drop(now.1.pop()),
        }
    }

    /// Whether a command is chosen; `point`: where its pipeline is bound, if it runs one.
    pub fn chosen(&self, world: &World, call: &Call, point: Option<BindPoint>) -> bool {
        let Choice { at, labels, pipelines } = &self.choice;
        let buffer = call.image.u64(0);
        (at.is_empty() || at.iter().any(|r| r.contains(call.block)))
            && (labels.is_empty() || self.labelled(world, buffer))
            && (pipelines.is_empty()
                || point.is_some_and(|p| world.program(buffer, p).iter().any(|id| pipelines.contains(id))))
    }

    /// Whether one of the labels that a command buffer has begun is asked for.
    fn labelled(&self, world: &World, buffer: u64) -> bool {
        let number = world.recording(buffer).map_or(0, |r| r.number);
        self.labels.get(&buffer).is_some_and(|(of, labels)| *of == number && labels.contains(&true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, taken: &[&str]) -> Result<(Choice, Vec<String>), String> {
        Choice::read(&text.parse().expect("a use"), taken)
    }

    #[test]
    fn options_choose_or_are_left() {
        let (choice, others) =
            read("x:at=3+at=7-9+label=a*+pipeline=#5+copies", &[AT, LABEL, PIPELINE]).expect("well");
        assert_eq!(choice.at.iter().map(|r| r.contains(8)).collect::<Vec<_>>(), [false, true]);
        assert!(choice.labels[0].matches("abc") && choice.pipelines == [5]);
        assert_eq!(others, ["copies"]);
        assert_eq!(read("x:pipeline=5", &[AT]).expect("not taken").1, ["pipeline=5"]);
        for (wrong, says) in [
            ("x:at=9-7", "change x: at=9-7: \"9-7\" runs backwards"),
            ("x:at", "change x: at: \"\" is not a number"),
            ("x:label=", "change x: label=: an empty pattern matches nothing"),
            ("x:pipeline=a", "change x: pipeline=a: \"a\" is no captured id"),
        ] {
            assert_eq!(read(wrong, &[AT, LABEL, PIPELINE]).err().as_deref(), Some(says));
        }
    }
}

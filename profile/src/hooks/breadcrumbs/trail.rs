//! The work of a command buffer's recording, and what of it was marked: names the place that a mark stands for.
//!
//! Guarantees: indices count every command of one recording from 1, as the times of commands do. Refuses nothing.

use gfxr_parse::schema::CommandDef;
use gfxr_parse::schema::generated::COMMANDS;
use replay::report::RecordedCommand;
use world::commands::{Command, Label};
use world::recording::Recording;

/// Beginnings of the names of commands that only set state, that end something, or that others are measured by.
const STATE: &[&str] = &[
    "vkCmdSet",
    "vkCmdBind",
    "vkCmdPush",
    "vkCmdInsertDebugUtilsLabel",
    "vkCmdDebugMarkerInsert",
    "vkCmdBeginQuery",
    "vkCmdEndQuery",
    "vkCmdBeginConditionalRendering",
    "vkCmdEndConditionalRendering",
    "vkCmdBeginTransformFeedback",
    "vkCmdEndTransformFeedback",
    "vkCmdNextSubpass",
    "vkCmdEndRender",
    "vkCmdEndVideoCoding",
    "vkCmdBeginDebugUtilsLabel",
    "vkCmdEndDebugUtilsLabel",
    "vkCmdDebugMarkerBegin",
    "vkCmdDebugMarkerEnd",
];

/// Whether a command does work, so that it is marked where it may be.
pub fn is_work(c: &CommandDef) -> bool {
    c.name.starts_with("vkCmd") && !STATE.iter().any(|s| c.name.starts_with(s))
}

/// See the module's header.
#[derive(Clone, Debug, Default)]
pub struct Trail {
    /// In order: its index, which command of the schema's table it is, whether a mark was written, and the block.
    work: Vec<(u32, u16, bool, u64)>,
}

/// A place in a trail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// First and last command it may be.
    pub index: (u32, u32),
    /// The first's name.
    pub command: &'static str,
    /// Labels around it, the outermost first.
    pub labels: Vec<String>,
}

impl Trail {
    /// The command of this index was marked, or could not be.
    pub fn work(&mut self, index: u32, command: usize, marked: bool, block: u64) {
        self.work.push((index, command as u16, marked, block));
    }

    /// The command that a block recorded into this command buffer, and the one before it.
    pub fn of_block(
        &self,
        command_buffer: u64,
        block: u64,
    ) -> Option<(RecordedCommand, Option<RecordedCommand>)> {
        let at = self.work.iter().position(|w| w.3 == block)?;
        let of = |&(index, command, _, block): &(u32, u16, bool, u64)| RecordedCommand {
            command_buffer,
            index,
            command: COMMANDS[usize::from(command)].name,
            block,
        };
        Some((of(&self.work[at]), at.checked_sub(1).map(|before| of(&self.work[before]))))
    }

    /// What a mark says of this recording: the command of that index had begun, and the next one that is marked had not.
    pub fn at(&self, mark: u32, recording: &Recording) -> Option<Place> {
        let at = self.work.iter().position(|w| w.0 == mark)?;
        let command = self.work[at].1;
        let unmarked = self.work[at + 1..].iter().take_while(|w| !w.2);
        let last = unmarked.last().map_or(mark, |w| w.0);
        let mut labels: Vec<&str> = Vec::new();
        for recorded in recording.commands.iter().take_while(|c| c.index < mark) {
            match &recorded.command {
                Command::Label { what: Label::Begin, text } => labels.push(text),
                Command::Label { what: Label::End, .. } => drop(labels.pop()),
                _ => {}
            }
        }
        Some(Place {
            index: (mark, last),
            command: COMMANDS[command as usize].name,
            labels: labels.into_iter().map(str::to_owned).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfxr_parse::schema::command_named;
    use replay::hook::index_of;
    use world::commands::Recorded;

    fn of(name: &str) -> usize {
        index_of(command_named(name).expect("in the schema"))
    }

    #[test]
    fn commands_that_work_are_told_from_those_that_set_state() {
        let is = |n: &str| is_work(command_named(n).expect("in the schema"));
        for work in
            ["vkCmdDispatch", "vkCmdPipelineBarrier2KHR", "vkCmdBeginRendering", "vkCmdExecuteCommands"]
        {
            assert!(is(work), "{work}");
        }
        for other in
            ["vkQueueSubmit", "vkCmdEndRenderPass2", "vkCmdSetViewport", "vkCmdBeginDebugUtilsLabelEXT"]
        {
            assert!(!is(other), "{other}");
        }
        for s in STATE {
            assert!(COMMANDS.iter().any(|c| c.name.starts_with(s)), "{s}");
        }
    }

    #[test]
    fn a_mark_names_its_command_its_labels_and_what_could_not_be_marked() {
        let (mut t, mut recording) = (Trail::default(), Recording::default());
        let mut next = |t: &mut Trail, name: &str, marked: Option<bool>, label: Option<(Label, &str)>| {
            let index = recording.count;
            recording.count += 1;
            if let Some((what, text)) = label {
                let command = Command::Label { what, text: text.into() };
                recording.commands.push(Recorded { index, block: 0, command });
            }
            if let Some(marked) = marked {
                t.work(index + 1, of(name), marked, 100 + u64::from(index));
            }
            index + 1
        };
        let (begins, ends) = (|text| Some((Label::Begin, text)), Some((Label::End, "")));
        next(&mut t, "vkCmdBeginDebugUtilsLabelEXT", None, begins("frame"));
        let dispatch = next(&mut t, "vkCmdDispatch", Some(true), None);
        next(&mut t, "vkCmdBeginDebugUtilsLabelEXT", None, begins("shadows"));
        let pass = next(&mut t, "vkCmdBeginRendering", Some(true), None);
        for _ in 0..2 {
            next(&mut t, "vkCmdDraw", Some(false), None);
        }
        next(&mut t, "vkCmdEndRendering", None, None);
        next(&mut t, "vkCmdEndDebugUtilsLabelEXT", None, ends);
        let copy = next(&mut t, "vkCmdCopyBuffer", Some(true), None);
        let place = |index, command, labels: &[&str]| {
            Some(Place { index, command, labels: labels.iter().map(|l| l.to_string()).collect() })
        };
        assert_eq!(t.at(dispatch, &recording), place((2, 2), "vkCmdDispatch", &["frame"]));
        assert_eq!(t.at(pass, &recording), place((4, 6), "vkCmdBeginRendering", &["frame", "shadows"]));
        assert_eq!(t.at(copy, &recording), place((9, 9), "vkCmdCopyBuffer", &["frame"]));
        let of = |index, command, block| RecordedCommand { command_buffer: 7, index, command, block };
        let (copy, draw) = (of(9, "vkCmdCopyBuffer", 108), of(6, "vkCmdDraw", 105));
        assert_eq!(t.of_block(7, 108), Some((copy, Some(draw))));
        assert_eq!(t.of_block(7, 101), Some((of(2, "vkCmdDispatch", 101), None)), "labels are not marked");
        assert_eq!(t.of_block(7, 100), None);
        assert_eq!(t.at(0, &recording), None);
        assert_eq!(t.at(10, &recording), None);
    }
}

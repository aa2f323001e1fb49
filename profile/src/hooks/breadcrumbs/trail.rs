//! What was recorded into a command buffer, as far as naming a place in it takes.
//!
//! Guarantees: indices count every command of one recording from 1, as the times of commands do. Refuses nothing.

use gfxr_parse::schema::CommandDef;
use gfxr_parse::schema::generated::COMMANDS;

/// What a command is to a trail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Does work: marked where it may be.
    Work,
    /// Work that begins a region where only some commands may be recorded.
    BeginPass,
    /// Ends it.
    EndPass,
    /// Runs secondary command buffers.
    Execute,
    BeginLabel,
    EndLabel,
    /// Sets state.
    State,
}

/// Beginnings of the names of commands that only set state, or that others are measured by.
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
];

/// The role of a command; none for what is not recorded.
pub fn role(c: &CommandDef) -> Option<Role> {
    let name = c.name.strip_prefix("vkCmd")?;
    Some(match name {
        n if n.starts_with("BeginRender") || n.starts_with("BeginVideoCoding") => Role::BeginPass,
        n if n.starts_with("EndRender") || n.starts_with("EndVideoCoding") => Role::EndPass,
        n if n.starts_with("BeginDebugUtilsLabel") || n.starts_with("DebugMarkerBegin") => Role::BeginLabel,
        n if n.starts_with("EndDebugUtilsLabel") || n.starts_with("DebugMarkerEnd") => Role::EndLabel,
        "ExecuteCommands" => Role::Execute,
        _ if STATE.iter().any(|s| c.name.starts_with(s)) => Role::State,
        _ => Role::Work,
    })
}

/// See the module's header.
#[derive(Clone, Debug, Default)]
pub struct Trail {
    /// Command by index - 1, as indices into the schema's table.
    commands: Vec<u16>,
    /// Where labels begin (with their name) and end.
    labels: Vec<(u32, Option<String>)>,
    /// Work that could not be marked.
    unmarked: Vec<u32>,
    /// Where a mark was written, in order.
    marked: Vec<u32>,
    /// Secondary command buffers, and the command that runs them.
    pub secondaries: Vec<(u32, u64)>,
    /// Inside a region where only some commands may be recorded.
    pub in_pass: bool,
    /// The rendering that last began goes on in another.
    pub suspending: bool,
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
    /// An empty one; `in_pass` if it continues a render pass.
    pub fn new(in_pass: bool) -> Self {
        Trail { in_pass, ..Trail::default() }
    }
    /// One more command; returns its index.
    pub fn push(&mut self, command: usize) -> u32 {
        self.commands.push(command as u16);
        self.commands.len() as u32
    }
    /// A label begins, or ends.
    pub fn label(&mut self, name: Option<String>) {
        self.labels.push((self.commands.len() as u32, name));
    }
    /// The command of this index was marked, or could not be.
    pub fn work(&mut self, index: u32, marked: bool) {
        if marked { self.marked.push(index) } else { self.unmarked.push(index) }
    }

    /// What a mark says: the command of that index had begun, and the next one that is marked had not.
    pub fn at(&self, mark: u32) -> Option<Place> {
        let command = *self.commands.get(mark.checked_sub(1)? as usize)?;
        let next = self.marked.iter().copied().find(|m| *m > mark).unwrap_or(u32::MAX);
        let last = self.unmarked.iter().copied().rfind(|u| *u > mark && *u < next).unwrap_or(mark);
        let mut labels: Vec<&String> = Vec::new();
        for (_, name) in self.labels.iter().take_while(|l| l.0 <= mark) {
            match name {
                Some(name) => labels.push(name),
                None => drop(labels.pop()),
            }
        }
        Some(Place {
            index: (mark, last),
            command: COMMANDS[command as usize].name,
            labels: labels.into_iter().cloned().collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfxr_parse::schema::command_named;
    use replay::hook::index_of;

    fn of(name: &str) -> usize {
        index_of(command_named(name).expect("in the schema"))
    }

    #[test]
    fn commands_have_their_roles() {
        let role_of = |n: &str| role(command_named(n).expect("in the schema"));
        assert_eq!(role_of("vkQueueSubmit"), None);
        assert_eq!(role_of("vkCmdDispatch"), Some(Role::Work));
        assert_eq!(role_of("vkCmdPipelineBarrier2KHR"), Some(Role::Work));
        assert_eq!(role_of("vkCmdBeginRendering"), Some(Role::BeginPass));
        assert_eq!(role_of("vkCmdEndRenderPass2"), Some(Role::EndPass));
        assert_eq!(role_of("vkCmdSetViewport"), Some(Role::State));
        assert_eq!(role_of("vkCmdExecuteCommands"), Some(Role::Execute));
        assert_eq!(role_of("vkCmdBeginDebugUtilsLabelEXT"), Some(Role::BeginLabel));
        for s in STATE {
            assert!(COMMANDS.iter().any(|c| c.name.starts_with(s)), "{s}");
        }
    }

    #[test]
    fn a_mark_names_its_command_its_labels_and_what_could_not_be_marked() {
        let mut t = Trail::default();
        t.push(of("vkCmdBeginDebugUtilsLabelEXT"));
        t.label(Some("frame".into()));
        let dispatch = t.push(of("vkCmdDispatch"));
        t.work(dispatch, true);
        t.push(of("vkCmdBeginDebugUtilsLabelEXT"));
        t.label(Some("shadows".into()));
        let pass = t.push(of("vkCmdBeginRendering"));
        t.work(pass, true);
        for _ in 0..2 {
            let draw = t.push(of("vkCmdDraw"));
            t.work(draw, false);
        }
        t.push(of("vkCmdEndRendering"));
        t.push(of("vkCmdEndDebugUtilsLabelEXT"));
        t.label(None);
        let copy = t.push(of("vkCmdCopyBuffer"));
        t.work(copy, true);
        let place = |index, command, labels: &[&str]| {
            Some(Place { index, command, labels: labels.iter().map(|l| l.to_string()).collect() })
        };
        assert_eq!(t.at(dispatch), place((2, 2), "vkCmdDispatch", &["frame"]));
        assert_eq!(t.at(pass), place((4, 6), "vkCmdBeginRendering", &["frame", "shadows"]));
        assert_eq!(t.at(copy), place((9, 9), "vkCmdCopyBuffer", &["frame"]));
        assert_eq!(t.at(0), None);
        assert_eq!(t.at(10), None);
    }
}

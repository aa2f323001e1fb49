//! How long the parts of a submission took: itself, labels, render passes, commands.

use crate::Nanos;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What a span encloses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpanKind {
    /// Everything one vkQueueSubmit submits.
    Submit,
    /// A debug label's region of a command buffer.
    Label,
    /// A render pass instance.
    Pass,
    /// What a secondary command buffer holds, as one vkCmdExecuteCommands runs it.
    Secondary,
    /// Commands outside of render passes, one after another.
    Run,
    /// One command that does work.
    Command,
}

impl SpanKind {
    /// Its name in exports.
    pub fn name(self) -> &'static str {
        match self {
            SpanKind::Submit => "submit",
            SpanKind::Label => "label",
            SpanKind::Pass => "pass",
            SpanKind::Secondary => "secondary",
            SpanKind::Run => "run",
            SpanKind::Command => "command",
        }
    }
}

/// How long one part of one submission took, once. What ran is (submission, position, execution, index): one recorded
/// command runs as often as its command buffer is submitted, or executed by others. Spans of a submission follow each other in the order they begin; what
/// lies within another comes after it and is deeper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandTime {
    /// The frame it was submitted in, by the capture's own count.
    pub frame: u64,
    /// Which repetition of that frame, from 0.
    pub repeat: u32,
    /// Which submission of the run, from 0.
    pub submit: u64,
    /// The device, by the capture's id.
    pub device: u64,
    /// The queue, by the capture's id.
    pub queue: u64,
    /// The command buffer that it was recorded into, by the capture's id; 0 for a submission.
    pub command_buffer: u64,
    /// Which command buffer of the submission, from 0.
    pub position: u32,
    /// Which secondary command buffer of those that the submitted one executes, in order, from 1; 0 for what was
    /// recorded into the submitted one itself.
    pub execution: u32,
    /// Which command of the command buffer begins it, from 1.
    pub index: u32,
    /// The number of the draw, dispatch or trace in its frame, from 1; 0 for what is none.
    #[serde(default)]
    pub draw: u32,
    /// The number of the render pass in its frame that it is, or is within, from 1; 0 outside of them.
    #[serde(default)]
    pub pass: u32,
    /// What it encloses.
    pub kind: SpanKind,
    /// How many spans of its submission enclose it, were every one timed.
    pub depth: u32,
    /// Its name, and the labels and passes around it: a node of [`TimeNames`].
    pub node: u32,
    /// The pipeline it runs, by the capture's id; 0 for none.
    pub pipeline: u64,
    /// Barriers before and after let nothing else run meanwhile.
    pub isolated: bool,
    /// When the device had begun all that was recorded before, from the first time read of this device on.
    pub begin: Nanos,
    /// When the device had finished it and all that was recorded before, on the same clock.
    pub end: Nanos,
}

/// A name and what it is within.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Node {
    /// The node around it.
    pub parent: u32,
    /// Its name.
    pub name: String,
}

/// The names that [`CommandTime`]s refer to: a tree whose root, node 0, has none; and names of objects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeNames {
    /// Parents come before what is within them.
    pub nodes: Vec<Node>,
    /// Debug names by the capture's id.
    pub objects: BTreeMap<u64, String>,
    /// The stages of pipelines and shader objects by the capture's id, each as its kind and its code's hash.
    pub shaders: BTreeMap<u64, Vec<(String, String)>>,
    /// Which of these are shader objects.
    #[serde(default)]
    pub shader_objects: BTreeSet<u64>,
    #[serde(skip)]
    known: HashMap<Node, u32>,
}

impl Default for TimeNames {
    fn default() -> Self {
        let root = Node { parent: 0, name: String::new() };
        TimeNames {
            nodes: vec![root],
            objects: BTreeMap::new(),
            shaders: BTreeMap::new(),
            shader_objects: BTreeSet::new(),
            known: HashMap::new(),
        }
    }
}

impl TimeNames {
    /// The node of this name within `parent`.
    pub fn node(&mut self, parent: u32, name: &str) -> u32 {
        let node = Node { parent, name: name.to_owned() };
        if let Some(n) = self.known.get(&node) {
            return *n;
        }
        let n = self.nodes.len() as u32;
        self.nodes.push(node.clone());
        self.known.insert(node, n);
        n
    }

    /// The names from the outermost to this node's own.
    pub fn path(&self, mut node: u32) -> Vec<&str> {
        let mut path = Vec::new();
        while node != 0 {
            let n = &self.nodes[node as usize];
            path.push(n.name.as_str());
            node = n.parent;
        }
        path.reverse();
        path
    }

    /// The same path as `node`, within `outer`.
    pub fn within(&mut self, outer: u32, node: u32) -> u32 {
        if node == 0 || outer == 0 {
            return if node == 0 { outer } else { node };
        }
        let n = self.nodes[node as usize].clone();
        let parent = self.within(outer, n.parent);
        self.node(parent, &n.name)
    }
}

#[cfg(test)]
mod tests {
    use super::{CommandTime, SpanKind, TimeNames};
    use crate::Nanos;

    #[test]
    fn names_are_a_tree() {
        let mut names = TimeNames::default();
        let world = names.node(0, "world");
        let band = names.node(world, "band 0");
        assert_eq!(names.node(world, "band 0"), band);
        assert_ne!(names.node(0, "band 0"), band);
        let frame = names.node(0, "frame 2");
        let inside = names.within(frame, band);
        assert_eq!(names.path(inside), ["frame 2", "world", "band 0"]);
        assert_eq!(names.within(frame, 0), frame);
        assert_eq!(names.within(0, band), band);
        assert!(names.path(0).is_empty());
    }

    #[test]
    fn as_json() {
        let record = CommandTime {
            frame: 2,
            repeat: 0,
            submit: 1,
            device: 3,
            queue: 4,
            command_buffer: 5,
            position: 0,
            execution: 0,
            index: 7,
            draw: 3,
            pass: 1,
            kind: SpanKind::Command,
            depth: 2,
            node: 1,
            pipeline: 9,
            isolated: false,
            begin: Nanos(10),
            end: Nanos(30),
        };
        let json = serde_json::to_string(&record).unwrap();
        assert!(json.contains(r#""kind":"command""#), "{json}");
        assert_eq!(serde_json::from_str::<CommandTime>(&json).unwrap(), record);
    }
}

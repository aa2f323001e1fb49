//! Numbers of what a frame executes, as command buffers are submitted: its draws, dispatches and traces from 1, and its render passes from 1.
//!
//! Everything that names a draw names it so: `what-if`, `screenshot --after`, command times, the page. Guarantees: each execution counts, in
//! the order of submission; a render pass that is resumed keeps its number. Places are those of command times: submission of the frame (of those with command
//! buffers), command buffer of the submission, execution of a secondary one, command as recorded. Refuses nothing.

use super::debug_names::{render_pass, rendering};
use std::collections::HashMap;
use std::rc::Rc;
use world::World;
use world::commands::{Command, Label, RENDERING_RESUMING, Recorded};
use world::recording::Recording;
use world::walk::Step;

/// What is around a command of a queue.
#[derive(Clone, Debug, Default)]
pub struct Around {
    own: Vec<String>,
    labels: Vec<String>,
    /// Number and name of the render pass that runs; 0 outside of one.
    pub pass: (u64, String),
    /// Of the latest.
    latest: u64,
}

impl Around {
    /// Labels, from outside in: those of the queue, then those of command buffers.
    pub fn labels(&self) -> Vec<String> {
        self.own.iter().chain(&self.labels).cloned().collect()
    }
}

/// A command that is executed.
#[derive(Clone, Copy, Debug)]
pub struct Executed<'a> {
    /// Which submission of the frame, of those with command buffers, from 0.
    pub submission: u64,
    /// Which command buffer of the submission, from 0.
    pub position: u64,
    /// Which execution of a secondary command buffer, from 1; 0 in the submitted one itself.
    pub execution: u64,
    /// The number of the recording that holds it.
    pub recording: u64,
    /// The command.
    pub recorded: &'a Recorded,
    /// The number of the draw, dispatch or trace in the frame, from 1; 0 for other commands.
    pub action: u64,
    /// Labels and the render pass around it; of what begins or ends a pass, that pass.
    pub around: &'a Around,
}

/// What is met as command buffers run.
#[derive(Clone, Copy, Debug)]
pub enum Met<'a> {
    /// A recording begins to be executed.
    Enters(&'a Rc<Recording>),
    /// One of its commands is executed.
    Executes(&'a Executed<'a>),
}

/// See the module's header.
#[derive(Debug, Default)]
pub struct Numbering {
    /// Labels and names of passes are wanted, too.
    named: bool,
    queues: HashMap<u64, Around>,
    submissions: u64,
    actions: u64,
    passes: u64,
}

impl Numbering {
    /// One that knows labels, and how passes are called.
    pub fn named() -> Numbering {
        Numbering { named: true, ..Numbering::default() }
    }

    /// A frame has ended.
    pub fn restart(&mut self) {
        (self.submissions, self.actions, self.passes) = (0, 0, 0);
    }

    /// A label of a queue begins.
    pub fn begin_label(&mut self, queue: u64, name: String) {
        self.queues.entry(queue).or_default().own.push(name);
    }

    /// The last one ends.
    pub fn end_label(&mut self, queue: u64) {
        self.queues.entry(queue).or_default().own.pop();
    }

    /// Command buffers of a submission.
    pub fn submit(&mut self, world: &World, queue: u64, buffers: &[u64], each: &mut dyn FnMut(Met<'_>)) {
        // (command times have none of a submission that only signals and waits)
        if buffers.is_empty() {
            return;
        }
        let (named, around) = (self.named, self.queues.entry(queue).or_default());
        for (position, buffer) in (0..).zip(buffers) {
            // Labels that had begun before each of the command buffers that are being executed, and which execution each is.
            let mut outer: Vec<(usize, u64)> = vec![];
            let mut executions = 0;
            world.walk(&[*buffer], &mut |holder, step| match step {
                Step::Enters => {
                    if outer.is_empty() {
                        outer.push((0, 0));
                    } else {
                        executions += 1;
                        outer.push((around.labels.len(), executions));
                    }
                    each(Met::Enters(holder.recording));
                }
                Step::Leaves => {
                    let (labels, _) = outer.pop().unwrap_or_default();
                    if !outer.is_empty() {
                        around.labels.truncate(labels);
                    }
                }
                Step::Command(recorded) => {
                    let mut action = 0;
                    match &recorded.command {
                        Command::Label { what: Label::Begin, text } if named => {
                            around.labels.push(text.to_string());
                        }
                        Command::Label { what: Label::End, .. }
                            if around.labels.len() > outer.last().map_or(0, |o| o.0) =>
                        {
                            around.labels.pop();
                        }
                        Command::BeginPass(pass) => {
                            if pass.flags & RENDERING_RESUMING == 0 {
                                self.passes += 1;
                                around.latest = self.passes;
                            }
                            let name = match pass.render_pass {
                                _ if !named => String::new(),
                                0 => rendering(pass.area[2] as u32, pass.area[3] as u32),
                                id => render_pass(id, Some(world.name(id))),
                            };
                            around.pass = (around.latest, name);
                        }
                        Command::Invoke(_) => {
                            self.actions += 1;
                            action = self.actions;
                        }
                        _ => {}
                    }
                    let execution = outer.last().map_or(0, |o| o.1);
                    each(Met::Executes(&Executed {
                        submission: self.submissions,
                        position,
                        execution,
                        recording: holder.recording.number,
                        recorded,
                        action,
                        around,
                    }));
                    if matches!(recorded.command, Command::EndPass) {
                        around.pass = Default::default();
                    }
                }
            });
        }
        self.submissions += 1;
    }
}

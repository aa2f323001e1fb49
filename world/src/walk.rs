//! What command buffers do when they are submitted now, command by command, secondaries where they are executed: for who has
//! something of their own at places of recordings, and does not need it resolved ([`crate::Observer`]).
//!
//! Guarantees: every command that is kept comes once an execution, in the order in which the device begins them. Refuses
//! nothing: command buffers that hold nothing are passed over, as is one that a damaged capture executes within itself.

use super::commands::{Command, Recorded};
use super::execute::batches;
use super::recording::Recording;
use super::world::World;
use gfxr_parse::ahead::Call;
use std::rc::Rc;

/// Command buffers that execute others, at most.
const DEEPEST: usize = 16;

/// The command buffers of a vkQueueSubmit, or 2, in order.
pub fn submitted(call: &Call) -> Vec<u64> {
    batches(call).into_iter().flat_map(|b| b.1).collect()
}

/// A command buffer that is executed, and what it holds.
#[derive(Clone, Copy, Debug)]
pub struct Holder<'w> {
    /// The command buffer, a primary or a secondary.
    pub buffer: u64,
    /// Its recording.
    pub recording: &'w Rc<Recording>,
}

/// What comes.
#[derive(Clone, Copy, Debug)]
pub enum Step<'w> {
    /// It begins to be executed.
    Enters,
    /// One of its commands.
    Command(&'w Recorded),
    /// It has been.
    Leaves,
}

impl World {
    /// Goes through command buffers as they would run now.
    pub fn walk<'w>(&'w self, buffers: &[u64], each: &mut dyn FnMut(Holder<'w>, Step<'w>)) {
        self.walk_within(&mut Vec::new(), buffers, each);
    }

    fn walk_within<'w>(
        &'w self,
        outer: &mut Vec<u64>,
        buffers: &[u64],
        each: &mut dyn FnMut(Holder<'w>, Step<'w>),
    ) {
        for &buffer in buffers {
            let recording = self.command_buffers.get(&buffer).and_then(|b| b.recording.as_ref());
            let Some(recording) = recording.filter(|_| outer.len() < DEEPEST && !outer.contains(&buffer))
            else {
                continue;
            };
            let holder = Holder { buffer, recording };
            each(holder, Step::Enters);
            outer.push(buffer);
            for recorded in &recording.commands {
                each(holder, Step::Command(recorded));
                if let Command::Execute(secondaries) = &recorded.command {
                    self.walk_within(outer, secondaries, each);
                }
            }
            outer.pop();
            each(holder, Step::Leaves);
        }
    }
}

//! The state of the API, followed from decoded calls: which objects there are, what descriptor sets contain, what command
//! buffers record, and what the device then runs, with everything resolved.
//!
//! No device, no driver, no SPIR-V: calls come in after they ran ([`Follow::call`]); commands come out when they are
//! submitted ([`Observer`]), in submission order, command by command, secondaries where they are executed. Guarantees:
//! an invocation is told with the sets as they are at the submission, which is what update-after-bind asks for and makes no
//! difference elsewhere. What is not followed is named in `roles.rs`, and a test holds that list against the schema.
//! Refuses nothing: a handle that is not known is passed on as it is.

pub mod bytes;
pub mod commands;
pub mod effects;
pub mod layouts;
pub mod objects;
pub mod passes;
#[allow(dead_code, reason = "what parses calls comes next")]
mod read;
pub mod recording;
pub mod sets;
pub mod world;

pub use commands::{Command, Invoke};
pub use world::{AtSet, World};

use crate::backend::MetaBlock;
use crate::error::Result;
use crate::exec::{Call, Outcome};
use crate::hook::Frame;

/// Where a command is executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct At {
    /// The capture's number of the frame in which it was submitted.
    pub frame: u64,
    /// The submission: a batch of a submit, from 0.
    pub submission: u64,
    /// The block of the submit.
    pub submit_block: u64,
    /// The queue.
    pub queue: u64,
    /// The primary command buffer.
    pub command_buffer: u64,
    /// The command buffer that holds the command: the primary, or a secondary.
    pub holder: u64,
    /// The recording of the holder that it is in, from 0 over the capture.
    pub recording: u64,
    /// Its index in that recording: every vkCmd call counts.
    pub command: u32,
    /// The block that recorded it.
    pub block: u64,
    /// The instance of a render pass or of rendering, from 1; 0 outside.
    pub pass: u64,
    /// The subpass in it.
    pub subpass: u32,
}

/// A semaphore's part in a submission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SemaphoreUse {
    /// It.
    pub semaphore: u64,
    /// The value, for timelines.
    pub value: u64,
    /// VkPipelineStageFlags2 that wait, or that are waited for.
    pub stages: u64,
}

/// A batch given to a queue: told before its commands are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Submission {
    /// From 0 over the capture.
    pub number: u64,
    /// The capture's number of the frame.
    pub frame: u64,
    /// The block of the call.
    pub block: u64,
    /// The batch's index in the call, and how many the call has.
    pub batch: (u32, u32),
    /// The queue.
    pub queue: u64,
    /// What it waits for.
    pub waits: Vec<SemaphoreUse>,
    /// What it signals.
    pub signals: Vec<SemaphoreUse>,
    /// The fence that the call signals, 0 if none.
    pub fence: u64,
    /// Its command buffers.
    pub command_buffers: Vec<u64>,
}

/// A draw, dispatch or trace that the device runs: what is bound is in [`Invoke::bindings`], sets as they are now come from
/// [`World::set`].
#[derive(Clone, Copy, Debug)]
pub struct Invocation<'a> {
    /// From 0 over the capture.
    pub number: u64,
    /// It.
    pub invoke: &'a Invoke,
}

/// Told what the device runs.
#[allow(unused_variables)]
pub trait Observer {
    /// A draw, dispatch or trace, before it runs.
    fn invocation(&mut self, world: &World, at: &At, invocation: &Invocation<'_>) {}
    /// The same, after: to say what it wrote, through [`World::bytes`].
    fn invoked(&mut self, world: &mut World, at: &At, invocation: &Invocation<'_>) {}
    /// Any other command that does something, before it runs.
    fn command(&mut self, world: &World, at: &At, command: &Command) {}
    /// A batch is submitted; its commands come next.
    fn submission(&mut self, world: &World, submission: &Submission) {}
}

/// Nobody is told.
impl Observer for () {}

/// See the module's header.
#[derive(Default)]
pub struct Follow {
    world: World,
}

impl Follow {
    /// Nothing has happened yet.
    pub fn new() -> Self {
        Self::default()
    }
    /// A call that ran.
    pub fn call(&mut self, _call: &Call, _outcome: Outcome, _to: &mut dyn Observer) -> Result<()> {
        Ok(())
    }
    /// A metadata block.
    pub fn meta(&mut self, _block: &MetaBlock<'_>) -> Result<()> {
        Ok(())
    }
    /// A frame has ended.
    pub fn frame(&mut self, frame: Frame) {
        self.world.frame = frame.next;
    }
    /// Everything as it is now.
    pub fn world(&self) -> &World {
        &self.world
    }
    /// The same, to change what is known of memory.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }
}

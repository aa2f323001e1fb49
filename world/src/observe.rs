//! What those are told who follow what the device runs: submissions, draws, dispatches, traces, and every other command, with
//! where each is executed.

use super::commands::{Command, Invoke};
use super::effects::shaders::Written;
use super::recording::Recording;
use super::world::World;

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
    /// The same, after: to say what its shaders wrote ([`World::wrote`]). Whoever does not know leaves it at everything that
    /// they could.
    fn invoked(&mut self, world: &mut World, at: &At, invocation: &Invocation<'_>) {
        world.wrote(invocation.invoke, &Written::all(invocation.invoke), at.block);
    }
    /// Any other command that does something, before it runs.
    fn command(&mut self, world: &World, at: &At, command: &Command) {}
    /// A command buffer begins to be executed, a primary or a secondary.
    fn enters(&mut self, world: &World, at: &At, recording: &Recording) {}
    /// It has been.
    fn leaves(&mut self, world: &World, at: &At) {}
    /// A batch is submitted; its commands come next.
    fn submission(&mut self, world: &World, submission: &Submission) {}
}

/// Nobody is told, and nobody wants to know what memory contains.
impl Observer for () {
    fn invoked(&mut self, _: &mut World, _: &At, _: &Invocation<'_>) {}
}

/// Nobody is told; what shaders could have written is not known afterwards.
pub struct Nobody;

impl Observer for Nobody {}

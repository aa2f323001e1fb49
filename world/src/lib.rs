//! The state of the API, followed from decoded calls: which objects there are, what descriptor sets contain, what command
//! buffers record, and what the device then runs, with everything resolved.
//!
//! No device, no driver, no SPIR-V: calls come in after they ran ([`Follow::call`]); commands come out when they are
//! submitted ([`Observer`]), in submission order, command by command, secondaries where they are executed. Guarantees:
//! an invocation is told with the sets as they are at the submission, which is what update-after-bind asks for and makes no
//! difference elsewhere. What is not followed is named in `roles.rs`, and a test holds that list against the schema.
//! Refuses nothing: a handle that is not known is passed on as it is.

#[cfg(any(test, feature = "bench"))]
pub mod bench;
pub mod bytes;
pub mod commands;
pub mod create;
pub mod effects;
mod execute;
pub mod formats;
pub mod generated;
mod ids;
mod input;
mod invoke;
pub mod layouts;
pub mod objects;
pub mod passes;
pub mod ranges;
mod read;
mod record;
pub mod recording;
pub mod roles;
pub mod sets;
mod shaders;
mod sizes;
pub mod span;
mod state;
#[cfg(test)]
mod tests;
mod update;
pub mod walk;
mod world;

pub use commands::{Command, Invoke};
pub use execute::batches;
pub use ids::{IdHasher, Ids};
pub use input::{Frame, MetaBlock, Outcome};
pub use world::{AtSet, World};

use commands::Recorded;
use effects::Written;
use execute::Queues;
use gfxr_parse::ahead::Call;
use gfxr_parse::meta::Meta;
use gfxr_parse::param;
use gfxr_parse::schema::Ty;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::view::View;
use recording::{CommandBuffer, Recording, Scope};
use roles::{Buffers, Role};
use state::State;
use std::rc::Rc;

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

/// How much is followed: each knows what those before it know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// Which objects there are, and what they are made of.
    #[default]
    Objects,
    /// What sets contain and command buffers record, too; nothing is executed, and nobody is told.
    Commands,
    /// Submissions are executed, and the bytes of memory known as far as anybody says.
    Execution,
}

/// See the module's header.
pub struct Follow {
    depth: Depth,
    world: World,
    /// By index in the schema's table.
    roles: Vec<Role>,
    queues: Queues,
}

impl Default for Follow {
    /// Nothing has happened yet, and only objects are followed.
    fn default() -> Self {
        let all = roles::roles();
        Follow {
            depth: Depth::default(),
            world: World::default(),
            roles: COMMANDS.iter().map(|c| roles::role(&all, c.canonical)).collect(),
            queues: Queues::default(),
        }
    }
}

impl Follow {
    /// Nothing has happened yet, and everything is followed.
    pub fn new() -> Self {
        Follow { depth: Depth::Execution, ..Self::default() }
    }

    /// From now on as deep as this, at least. What came before is not known any deeper than it was.
    pub fn deepen(&mut self, depth: Depth) {
        self.depth = self.depth.max(depth);
    }

    /// A call that ran.
    pub fn call(&mut self, call: &Call, outcome: Outcome, to: &mut dyn Observer) {
        if matches!(call.command.ret, Some(Ty::Enum(_))) && outcome.result() < 0 {
            return;
        }
        let role = self.roles[call.index];
        match role {
            Role::Nothing => {}
            Role::Change(handler) => {
                if self.depth > Depth::Objects || !update::is_of_contents(call.command.canonical) {
                    handler(&mut self.world, call);
                }
            }
            _ if self.depth == Depth::Objects => {}
            Role::Buffers(what) => self.buffers(what, call, to),
            Role::Invoke | Role::Record(_) | Role::Keep | Role::Count => {
                self.record(role, call);
                return;
            }
        }
        if self.depth == Depth::Execution {
            // What it does to memory, once the objects know of it.
            effects::call(&mut self.world, call);
        }
    }

    fn record(&mut self, role: Role, call: &Call) {
        // (out of the world meanwhile: both are changed)
        let mut states = std::mem::take(&mut self.world.states);
        if let Some(state) = states.get_mut(&call.image.u64(0)) {
            let index = state.recording.count;
            state.recording.count += 1;
            let command = match role {
                Role::Invoke => Some(record::invocation(state, &mut self.world, call)),
                Role::Record(recorder) => recorder(state, &mut self.world, call),
                Role::Keep => record::other(call),
                _ => None,
            };
            if let Some(command) = command {
                state.recording.commands.push(Recorded { index, block: call.block, command });
            }
        }
        self.world.states = states;
    }

    fn buffers(&mut self, what: Buffers, call: &Call, to: &mut dyn Observer) {
        let (v, first, world) = (View::call(&call.image), call.image.u64(0), &mut self.world);
        let executes = matches!(
            what,
            Buffers::Submit | Buffers::Submit2 | Buffers::BindSparse | Buffers::Signal | Buffers::Waited
        );
        if executes && self.depth < Depth::Execution {
            return;
        }
        match what {
            Buffers::CreatePool => {
                let family = v.one("pCreateInfo").and_then(|i| i.u32("queueFamilyIndex")).unwrap_or(0);
                let pool = objects::CommandPool { family, buffers: vec![] };
                world.command_pools.insert(read::created(call), pool);
            }
            Buffers::ResetPool => {
                let pool =
                    world.command_pools.get(&call.image.u64(param!("vkResetCommandPool", "commandPool")));
                for id in pool.map_or(vec![], |p| p.buffers.clone()) {
                    self.reset(id);
                }
            }
            Buffers::DestroyPool => {
                for id in world.command_pools.remove(&read::destroyed(call)).unwrap_or_default().buffers {
                    self.world.states.remove(&id);
                    self.world.command_buffers.remove(&id);
                }
            }
            Buffers::Allocate => {
                let Some(info) = v.one("pAllocateInfo") else { return };
                let (pool, secondary) = (read::n64(info, "commandPool"), read::n32(info, "level") == 1);
                for id in v.u64s("pCommandBuffers") {
                    world.command_buffers.insert(id, CommandBuffer { pool, secondary, recording: None });
                    world.command_pools.entry(pool).or_default().buffers.push(id);
                }
            }
            Buffers::Free => {
                let pool = call.image.u64(param!("vkFreeCommandBuffers", "commandPool"));
                for id in v.u64s("pCommandBuffers") {
                    world.states.remove(&id);
                    world.command_buffers.remove(&id);
                    if let Some(p) = world.command_pools.get_mut(&pool) {
                        p.buffers.retain(|b| *b != id);
                    }
                }
            }
            Buffers::Begin => {
                let flags = v.one("pBeginInfo").and_then(|i| i.u32("flags")).unwrap_or(0);
                let number = world.recordings;
                world.recordings += 1;
                world.command_buffers.entry(first).or_default().recording = None;
                let (block, scope) = (call.block, Scope::first(flags));
                let recording = Recording { number, block, flags, scope, ..Recording::default() };
                world.states.insert(first, State::new(recording));
            }
            Buffers::End => {
                if let Some(state) = world.states.remove(&first) {
                    let buffer = world.command_buffers.entry(first).or_default();
                    buffer.recording = Some(Rc::new(state.recording));
                }
            }
            Buffers::Reset => self.reset(first),
            Buffers::Submit | Buffers::Submit2 => self.queues.submit(world, call, to),
            Buffers::BindSparse => self.queues.bind_sparse(world, call, to),
            Buffers::Present => {}
            Buffers::Signal => self.queues.signal_by_host(world, call, to),
            Buffers::Waited => {
                let queue = if call.command.canonical == "vkQueueWaitIdle" { first } else { 0 };
                self.queues.idle(world, queue, to);
            }
        }
    }

    fn reset(&mut self, id: u64) {
        self.world.states.remove(&id);
        if let Some(b) = self.world.command_buffers.get_mut(&id) {
            b.recording = None;
        }
    }

    /// A metadata block.
    pub fn meta(&mut self, block: &MetaBlock<'_>) {
        match block.meta {
            Meta::DeviceMemory(d) => {
                let gpu = self.world.gpus.entry(d.physical_device).or_default();
                gpu.memory_flags = d.types.iter().map(|t| t.flags).collect();
            }
            Meta::SwapchainImages(s) => {
                let ids: Vec<u64> = s.images.iter().map(|i| i.image).collect();
                create::own_images(&mut self.world, s.swapchain, &ids);
            }
            _ => {}
        }
        if self.depth == Depth::Execution {
            effects::meta(&mut self.world, block);
        }
    }

    /// A frame has ended.
    pub fn frame(&mut self, frame: Frame) {
        self.world.frame = frame.next;
    }

    /// The capture has ended: what still waits runs.
    pub fn finish(&mut self, to: &mut dyn Observer) {
        self.queues.idle(&mut self.world, 0, to);
    }

    /// Whether there are batches that wait for what nothing has signalled yet.
    pub fn is_waiting(&self) -> bool {
        self.queues.is_waiting()
    }

    /// Everything as it is now.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Everything as it is now, to change what is known of it.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }
}

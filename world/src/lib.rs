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
mod leads;
pub mod objects;
mod observe;
pub mod passes;
pub mod ranges;
mod read;
mod record;
pub mod recording;
pub mod roles;
pub mod semaphores;
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
pub use leads::Leads;
pub use observe::{At, Invocation, Nobody, Observer, SemaphoreUse, Submission};
pub use read::{Queried, Query, destroyed, subresources};
pub use update::{templated, templated_buffers};
pub use world::{AtSet, World};

use commands::Recorded;
use execute::Queues;
use gfxr_parse::ahead::Call;
use gfxr_parse::meta::Meta;
use gfxr_parse::param;
use gfxr_parse::schema::Ty;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::view::View;
use recording::{CommandBuffer, Recording, Scope};
use roles::{Buffers, Role};
use semaphores::Semaphores;
use state::State;
use std::rc::Rc;

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
    /// See [`Follow::keep_calls`].
    keep_calls: bool,
    /// See [`Follow::follow_semaphores`].
    follow_semaphores: bool,
    semaphores: Semaphores,
    world: World,
    /// By index in the schema's table.
    roles: Vec<Role>,
    queues: Queues,
    /// The block of a call that was followed before it was made.
    early: Option<u64>,
}

impl Default for Follow {
    /// Nothing has happened yet, and only objects are followed.
    fn default() -> Self {
        let all = roles::roles();
        Follow {
            depth: Depth::default(),
            keep_calls: false,
            follow_semaphores: false,
            semaphores: Semaphores::default(),
            world: World::default(),
            roles: COMMANDS.iter().map(|c| roles::role(&all, c.canonical)).collect(),
            queues: Queues::default(),
            early: None,
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

    /// Whether recordings keep the calls that made them from now on, so that these can be made again, and semaphores are
    /// followed. Commands are, too, as long as they do, and no longer if nobody else asked for them.
    pub fn keep_calls(&mut self, keep: bool) {
        self.keep_calls = keep;
        if self.depth() == Depth::Objects {
            self.world.states.clear();
            self.world.command_buffers.clear();
            self.world.command_pools.clear();
        }
    }

    /// Whether or not calls are kept, semaphores are followed from now on.
    pub fn follow_semaphores(&mut self) {
        self.follow_semaphores = true;
    }

    /// How semaphores are; known while they are followed.
    pub fn semaphores(&self) -> &Semaphores {
        &self.semaphores
    }

    /// A copy, to be told what calls would do before they are made. Nothing is executed in it.
    pub fn ahead(&mut self) -> Follow {
        // Whatever memory contains is not copied.
        let bytes = std::mem::take(&mut self.world.bytes);
        let world = self.world.clone();
        self.world.bytes = bytes;
        Follow {
            depth: Depth::Commands,
            keep_calls: self.keep_calls,
            follow_semaphores: self.follow_semaphores,
            semaphores: self.semaphores.clone(),
            world,
            roles: self.roles.clone(),
            queues: Queues::default(),
            early: None,
        }
    }

    /// A submission or a signal that is about to be made: what it executes is executed here now, and not again when the call is
    /// followed. Only where execution is followed at all.
    pub fn before(&mut self, call: &Call, to: &mut dyn Observer) {
        use Buffers::{BindSparse, Signal, Submit, Submit2};
        if self.depth == Depth::Execution
            && let Role::Buffers(what @ (Submit | Submit2 | BindSparse | Signal)) = self.roles[call.index]
        {
            self.early = None;
            self.buffers(what, call, to);
            self.early = Some(call.block);
        }
    }

    fn depth(&self) -> Depth {
        if self.keep_calls { self.depth.max(Depth::Commands) } else { self.depth }
    }

    /// A call that ran.
    pub fn call(&mut self, call: &Call, outcome: Outcome, to: &mut dyn Observer) {
        if matches!(call.command.ret, Some(Ty::Enum(_))) && outcome.result() < 0 {
            return;
        }
        let (role, depth) = (self.roles[call.index], self.depth());
        if self.keep_calls || self.follow_semaphores {
            self.semaphores.call(&self.world.syncs, call);
        }
        match role {
            Role::Nothing => {}
            Role::Change(handler) => {
                if depth > Depth::Objects || !update::is_of_contents(call.command.canonical) {
                    handler(&mut self.world, call);
                }
            }
            _ if depth == Depth::Objects => {}
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
            if self.keep_calls {
                state.recording.calls.push(call.clone());
            }
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
        if executes && (self.depth < Depth::Execution || self.early.take() == Some(call.block)) {
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
                let calls = self.keep_calls.then(|| call.clone()).into_iter().collect();
                let recording = Recording { number, block, flags, scope, calls, ..Recording::default() };
                world.states.insert(first, State::new(recording));
            }
            Buffers::End => {
                if let Some(mut state) = world.states.remove(&first) {
                    if self.keep_calls {
                        state.recording.calls.push(call.clone());
                    }
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
                if self.keep_calls {
                    self.semaphores.loaded(s);
                }
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

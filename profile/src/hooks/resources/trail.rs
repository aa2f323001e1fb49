//! Where in the recordings an execution is: the last place before a draw at which a copy may stand.
//!
//! Outside of render passes that is directly before the draw; in one, directly before the call that begins it (of a
//! rendering that was suspended and goes on, the one that began it first), whichever command buffer recorded that.
//! Guarantees: both walks over a capture find the same places. Refuses nothing.

use std::collections::HashMap;
use world::commands::{Command, RENDERING_RESUMING, RENDERING_SUSPENDING};
use world::{At, World};

/// Where what one execution copied lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Base {
    /// Number of the memory.
    pub landing: u64,
    /// The first byte in it.
    pub offset: u64,
    /// Which execution of a primary command buffer, from 1.
    pub serial: u64,
}

/// A place for copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The block of the call that it is before.
    pub block: u64,
    /// The recording that has the call: the block of its vkBeginCommandBuffer.
    pub recording: u64,
    /// Where this execution's copies lie, if it makes any.
    pub base: Option<Base>,
    /// The follower's clock when execution was there.
    pub time: u64,
    /// The call begins the render pass of the draw.
    pub pass: bool,
}

/// Who executes a command buffer.
#[derive(Clone, Copy, Debug)]
pub enum By {
    /// A queue.
    Queue,
    /// Another command buffer.
    Buffer {
        /// Its recording.
        recording: u64,
        /// Where its copies lie.
        base: Option<Base>,
        /// The block of the vkCmdExecuteCommands.
        call: u64,
        /// The index among those that the call executes.
        position: u32,
    },
}

struct Level {
    recording: u64,
    base: Option<Base>,
    /// The vkCmdExecuteCommands that runs: its block, what it executes, how many of these have been.
    executes: (u64, Box<[u64]>, usize),
}

/// See the module's header.
#[derive(Default)]
pub struct Trail {
    levels: Vec<Level>,
    pass: Option<Spot>,
    /// By queue: renderings that were suspended.
    suspended: HashMap<u64, Spot>,
    suspends: bool,
    serial: u64,
}

impl Trail {
    /// A command buffer begins to be executed; `base` says where its copies are. The serial is that of the primary.
    pub fn enters(&mut self, at: &At, recording: u64, base: impl FnOnce(By, u64) -> Option<Base>) {
        let by = match self.levels.last_mut() {
            None => {
                self.serial += 1;
                self.pass = None;
                By::Queue
            }
            Some(l) => {
                let (call, all, next) = &mut l.executes;
                let found = all.iter().skip(*next).position(|id| *id == at.holder).unwrap_or(0);
                let position = *next + found;
                *next = position + 1;
                By::Buffer { recording: l.recording, base: l.base, call: *call, position: position as u32 }
            }
        };
        let base = base(by, self.serial);
        self.levels.push(Level { recording, base, executes: Default::default() });
    }

    /// It has been.
    pub fn leaves(&mut self) {
        self.levels.pop();
    }

    /// A command that is no draw, before it runs.
    pub fn command(&mut self, world: &World, at: &At, command: &Command) {
        match command {
            Command::BeginPass(p) => {
                let goes_on = p.flags & RENDERING_RESUMING != 0;
                let earlier = self.suspended.remove(&at.queue);
                self.pass = if goes_on { earlier } else { self.here(world, at, true) };
                self.suspends = p.flags & RENDERING_SUSPENDING != 0;
            }
            Command::EndPass => {
                if let Some(pass) = self.pass.take().filter(|_| self.suspends) {
                    self.suspended.insert(at.queue, pass);
                }
            }
            Command::Execute(all) => {
                if let Some(l) = self.levels.last_mut() {
                    l.executes = (at.block, all.clone(), 0);
                }
            }
            _ => {}
        }
    }

    /// The place of a draw.
    pub fn spot(&self, world: &World, at: &At) -> Option<Spot> {
        if at.pass != 0 { self.pass } else { self.here(world, at, false) }
    }

    fn here(&self, world: &World, at: &At, pass: bool) -> Option<Spot> {
        let l = self.levels.last()?;
        let (recording, base, time) = (l.recording, l.base, world.bytes.now());
        Some(Spot { block: at.block, recording, base, time, pass })
    }
}

//! A submission, or a signal that lets one go on, is about to be made: what the device will execute is followed first
//! ([`world::Follow::before`]), and bridges that have to know what memory contains by then act on it.

use super::descriptor_buffers;
use super::stand_ins::{self, Decoding};
use crate::error::{Error, Result};
use crate::vulkan::Vulkan;
use crate::vulkan::linked_call::LinkedCall;
use world::effects::Written;
use world::{At, Command, Invocation, Observer, World};

/// vkQueueSubmit, vkQueueSubmit2, vkQueueBindSparse, vkSignalSemaphore.
pub(super) fn before_submit(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk, objects, call, .. } = c;
    if vk.stand_ins.is_empty() && !vk.descriptor_buffers.is_on() {
        return Ok(());
    }
    let number = stand_ins::begins(vk, objects.world());
    let began = objects.world().bytes.now();
    let mut executed = Executed { vk, began, call: number, failed: None };
    objects.follow().before(call, &mut executed);
    executed.failed.map_or(Ok(()), Err)
}

/// Told what the device will execute.
struct Executed<'c> {
    vk: &'c mut Vulkan,
    /// The world's clock before any of it.
    began: u64,
    /// Which call it is.
    call: u64,
    failed: Option<Error>,
}

impl Executed<'_> {
    fn then(&mut self, at: &At, act: impl FnOnce(&mut Self) -> Result<()>) {
        if self.failed.is_none() {
            self.failed = act(self).err().map(|e| e.at(|| format!("block {}", at.block)));
        }
    }
}

impl Observer for Executed<'_> {
    fn command(&mut self, world: &World, at: &At, command: &Command) {
        if let Command::CopyBufferToImage(c) = command {
            let decode =
                |e: &mut Self| Decoding { vk: e.vk, began: e.began, call: e.call }.copy(world, at, c);
            self.then(at, decode);
        }
    }
    fn invocation(&mut self, world: &World, at: &At, run: &Invocation<'_>) {
        self.then(at, |e| descriptor_buffers::invoked(e.vk, world, run.invoke));
    }
    fn invoked(&mut self, world: &mut World, at: &At, run: &Invocation<'_>) {
        // With descriptor buffers go pointers: every shader could have written all descriptors, and next to none does.
        if !self.vk.descriptor_buffers.is_on() {
            world.wrote(run.invoke, &Written::all(run.invoke), at.block);
        }
    }
}

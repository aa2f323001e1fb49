//! What a capture's draws bound, and the bytes that their uniform blocks had, as the tables of `trace::tables` hold it.
//!
//! The hook follows the capture's calls ([`world`]), with a device or without one, asks [`crate::reflect`] what shaders
//! do with what is bound, and writes rows for every draw of the wanted frames. Guarantees: what shaders may write is not
//! known afterwards; equal descriptors, sets and bytes have equal numbers. With a device, [`device`] compares what is
//! followed with what the device's memory holds, or reads what shaders wrote, at each draw: [`PlanHook`] says in a walk
//! over the capture before which copies that takes. Refuses nothing.

mod again;
mod blocks;
mod checked;
mod copies;
pub mod device;
mod intern;
mod landing;
pub(super) mod names;
mod plan;
mod program;
mod reads;
mod rows;
mod trail;
pub mod used;

pub use checked::{Checked, Difference, When};
pub use copies::enclosed;
pub use device::OnDevice;
pub use plan::{Plan, PlanHook};
pub use program::Programs;

use super::put::{Put, WantsFrame};
use super::sync::Synchronisation;
use device::Device;
use gfxr_parse::ahead::Call;
use gfxr_parse::meta::Meta;
use gfxr_parse::view::View;
use replay::error::Result;
use replay::exec::Executor;
use replay::hook::{Commands, Hook, Needs, Next};
use replay::link::Linked;
use rows::Rows;
use std::cell::RefCell;
use std::rc::Rc;
use world::Frame;
use world::MetaBlock;
use world::Outcome;
use world::bytes::Writer;
use world::commands::Command;
use world::recording::Recording;
use world::{At, Follow, Invocation, Observer, Submission, World};

/// What there was to follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Followed {
    /// Draws of all frames.
    pub invocations: u64,
    /// Those that rows were written for.
    pub written: u64,
    /// The most bytes of device memory that lived at a time, at frame ends.
    pub live_bytes: u64,
    /// What following them took, at most.
    pub held_bytes: u64,
    /// Uniform blocks that were read.
    pub blocks: u64,
    /// Of these, those of which some byte is not known.
    pub unknown_blocks: u64,
}

/// See the module's header.
pub struct ResourcesHook {
    follow: Follow,
    told: Told,
    sync: Option<Synchronisation>,
    done: Rc<RefCell<Followed>>,
}

/// What the follower tells.
struct Told {
    rows: Rows,
    wants: WantsFrame,
    device: Option<Rc<RefCell<Device>>>,
    /// The block of the call that runs.
    block: u64,
    /// Nothing is told from a function that cannot fail.
    failed: Option<replay::error::Error>,
}

impl ResourcesHook {
    /// One that hands rows on; and what there was, once it has run.
    pub fn new(put: Put, wants: WantsFrame, on: Option<OnDevice>) -> (Self, Rc<RefCell<Followed>>) {
        let done = Rc::new(RefCell::new(Followed::default()));
        let mut follow = Follow::new();
        let device = on.map(|on| {
            follow.world_mut().bytes.keep_journal();
            Rc::new(RefCell::new(Device::new(on)))
        });
        let told = Told { rows: Rows::new(put), wants, device, block: 0, failed: None };
        (ResourcesHook { follow, told, sync: None, done: done.clone() }, done)
    }

    /// The same, with rows of what orders commands: it is told of all that is followed, too.
    pub fn with_sync(mut self, sync: Synchronisation) -> Self {
        self.sync = Some(sync);
        self
    }

    /// What it does directly at the driver, with a device: a hook that stands further in.
    pub fn at_the_driver(&self) -> Option<Box<dyn Hook>> {
        let device = self.told.device.clone()?;
        Some(Box::new(AtTheDriver(device)))
    }

    fn failed(&mut self) -> Result<()> {
        self.told.failed.take().map_or(Ok(()), Err)?;
        self.sync.as_mut().map_or(Ok(()), Synchronisation::failed)
    }

    /// Follows a call, and tells both.
    fn follow(&mut self, call: &Call, outcome: Outcome) {
        let Some(sync) = &mut self.sync else { return self.follow.call(call, outcome, &mut self.told) };
        sync.call(self.follow.world(), call);
        self.follow.call(call, outcome, &mut Both(&mut self.told, sync));
    }

    /// Bytes that come with calls: push constants and inline uniform blocks.
    fn count(&mut self, call: &Call) {
        let v = View::call(&call.image);
        match call.command.canonical {
            "vkCmdPushConstants" => self.pushed(call.image.u64(0), v),
            "vkCmdPushConstants2" => {
                if let Some(i) = v.one("pPushConstantsInfo") {
                    self.pushed(call.image.u64(0), i);
                }
            }
            "vkUpdateDescriptorSets" => {
                let blocks = v.structs("pDescriptorWrites").filter_map(|w| {
                    w.next("VkWriteDescriptorSetInlineUniformBlock").and_then(|b| b.u64("dataSize"))
                });
                let sizes: Vec<u64> = blocks.collect();
                let bytes = &mut self.follow.world_mut().bytes;
                sizes.into_iter().for_each(|n| bytes.count((Writer::Inline, 0, 0), n, 0));
            }
            _ => {}
        }
    }

    fn pushed(&mut self, buffer: u64, v: View<'_>) {
        let (Some(at), Some(data)) = (v.u64("offset"), v.bytes("pValues")) else { return };
        let before = self.follow.world().pushed(buffer).map_or(&[][..], |p| &p.bytes);
        let there = before.get(at as usize..).unwrap_or(&[]);
        let same = there.iter().zip(data).filter(|(a, b)| a == b).count();
        self.follow.world_mut().bytes.count((Writer::Push, 0, 0), data.len() as u64, same as u64);
    }
}

impl Told {
    fn note(&mut self, r: Result<()>) {
        if let Err(e) = r {
            self.failed.get_or_insert(e);
        }
    }
}

impl Observer for Told {
    fn invocation(&mut self, world: &World, at: &At, invocation: &Invocation<'_>) {
        if self.failed.is_some() || !(self.wants)(at.frame) {
            return;
        }
        let r = self.rows.invocation(world, at, invocation);
        if r.is_ok()
            && let Some(d) = &self.device
        {
            let mut d = d.borrow_mut();
            let mut all = self.rows.uniform.read.clone();
            if d.checks() {
                let facts = self.rows.facts(invocation.invoke);
                all.extend(plan::of_invocation(world, invocation, &facts.buffers));
            }
            // What runs later than its submission is not seen at its submission.
            let pending = d.invocation(world, at, invocation, at.submit_block == self.block, &all);
            self.rows.uniform.pending(invocation.number, &pending);
        }
        self.note(r);
    }

    fn invoked(&mut self, world: &mut World, at: &At, invocation: &Invocation<'_>) {
        let facts = self.rows.facts(invocation.invoke);
        self.rows.seen += 1;
        if !self.device.as_ref().is_some_and(|d| d.borrow().spoils_writes()) {
            world.wrote(invocation.invoke, &facts.written, at.block);
        }
    }

    fn enters(&mut self, _: &World, at: &At, recording: &Recording) {
        if let Some(d) = &self.device {
            let r = d.borrow_mut().enters(at, recording, at.submit_block == self.block);
            self.note(r);
        }
    }

    fn leaves(&mut self, _: &World, _: &At) {
        if let Some(d) = &self.device {
            d.borrow_mut().leaves();
        }
    }

    fn command(&mut self, world: &World, at: &At, command: &Command) {
        if let Some(d) = &self.device {
            d.borrow_mut().command(world, at, command);
        }
    }
}

/// Two observers.
struct Both<'a>(&'a mut Told, &'a mut Synchronisation);

impl Observer for Both<'_> {
    fn invocation(&mut self, world: &World, at: &At, invocation: &Invocation<'_>) {
        self.0.invocation(world, at, invocation);
        self.1.invocation(world, at, invocation);
    }

    fn invoked(&mut self, world: &mut World, at: &At, invocation: &Invocation<'_>) {
        self.0.invoked(world, at, invocation);
    }

    fn command(&mut self, world: &World, at: &At, command: &Command) {
        self.0.command(world, at, command);
        self.1.command(world, at, command);
    }

    fn enters(&mut self, world: &World, at: &At, recording: &Recording) {
        self.0.enters(world, at, recording);
        self.1.enters(world, at, recording);
    }

    fn leaves(&mut self, world: &World, at: &At) {
        self.0.leaves(world, at);
        self.1.leaves(world, at);
    }

    fn submission(&mut self, world: &World, submission: &Submission) {
        self.0.submission(world, submission);
        self.1.submission(world, submission);
    }
}

impl Hook for ResourcesHook {
    fn name(&self) -> &'static str {
        "resources"
    }

    fn needs(&self) -> Needs {
        Needs { transfer_src: self.told.device.is_some(), ..Needs::default() }
    }

    fn wants(&self) -> Commands {
        Commands::all()
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        self.told.block = call.block;
        if self.told.device.is_some() && Device::is_submit(call) {
            return self.submit(cx, call, next);
        }
        if let Some(d) = &self.told.device {
            d.borrow_mut().begins(self.follow.world());
            d.borrow_mut().before_any(cx, call, self.follow.world())?;
        }
        let outcome = next.run(cx, call)?;
        if let Some(d) = &self.told.device {
            d.borrow_mut().copies.after(cx, call)?;
        }
        self.count(call);
        self.follow(call, outcome);
        self.failed()?;
        if let Some(d) = self.told.device.as_ref().filter(|d| d.borrow().is_pending()) {
            // What waited has run.
            let waiting = self.follow.is_waiting();
            d.borrow_mut().after(cx, call, self.follow.world_mut(), waiting)?;
        }
        Ok(outcome)
    }

    fn meta(&mut self, _: &mut Executor, block: &MetaBlock<'_>) -> Result<()> {
        if let (Some(sync), Meta::FillMemory(_)) = (&mut self.sync, &block.meta) {
            sync.filled(block.block);
        }
        self.follow.meta(block);
        Ok(())
    }

    fn frame(&mut self, _: &mut Executor, frame: Frame) -> Result<()> {
        let wanted = (self.told.wants)(frame.number);
        if let Some(d) = &self.told.device {
            d.borrow_mut().copies.sweep(self.follow.world());
        }
        let world = self.follow.world_mut();
        let uploads = world.bytes.take_uploads();
        let mut done = self.done.borrow_mut();
        done.live_bytes = done.live_bytes.max(world.bytes.most_live());
        done.held_bytes = done.held_bytes.max(world.bytes.held());
        if wanted {
            self.told.rows.uploads(frame.number, &uploads)?;
        }
        (done.invocations, done.written) = (self.told.rows.seen, self.told.rows.written);
        (done.blocks, done.unknown_blocks) =
            (self.told.rows.uniform.blocks, self.told.rows.uniform.unknown_blocks);
        self.follow.frame(frame);
        Ok(())
    }

    fn finish(&mut self, cx: &mut Executor) -> Result<()> {
        let waiting = self.follow.is_waiting();
        // What still waits runs: its rows belong to the last frame.
        match &mut self.sync {
            None => self.follow.finish(&mut self.told),
            Some(sync) => {
                self.follow.finish(&mut Both(&mut self.told, sync));
                sync.finish()?;
            }
        }
        self.failed()?;
        let mut done = self.done.borrow_mut();
        (done.invocations, done.written) = (self.told.rows.seen, self.told.rows.written);
        if let Some(d) = &self.told.device {
            d.borrow().by_calls(self.told.rows.uniform.by_calls);
            if !waiting {
                d.borrow_mut().finishes(cx)?;
            }
        }
        Ok(())
    }
}

impl ResourcesHook {
    /// With a device: a submission is followed first, and what it will bind is looked at before it runs and after.
    fn submit(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let device = self.told.device.clone().expect("there is one");
        device.borrow_mut().begins(self.follow.world());
        let holds = device.borrow().reads_back();
        if holds {
            self.told.rows.uniform.hold();
        }
        let captured = Outcome::captured(call);
        self.follow(call, captured);
        self.failed()?;
        self.told.rows.uniform.settle(self.follow.world());
        let waiting = self.follow.is_waiting();
        device.borrow_mut().before(cx, self.follow.world(), waiting)?;
        let outcome = next.run(cx, call)?;
        device.borrow_mut().after(cx, call, self.follow.world_mut(), waiting)?;
        if holds {
            let rows = &mut self.told.rows;
            rows.uniform.release(&mut rows.put, self.follow.world(), &device.borrow())?;
        }
        Ok(outcome)
    }
}

/// See [`ResourcesHook::at_the_driver`].
struct AtTheDriver(Rc<RefCell<Device>>);

impl Hook for AtTheDriver {
    fn name(&self) -> &'static str {
        "resources: copies"
    }

    fn wants_linked(&self) -> Commands {
        match self.0.borrow().copies.is_empty() {
            true => Commands::none(),
            false => Commands::named(&[
                "vkQueueSubmit",
                "vkQueueSubmit2",
                "vkQueueSubmit2KHR",
                "vkCmdExecuteCommands",
            ]),
        }
    }

    fn linked(&mut self, cx: &mut Executor, call: &Call, linked: &mut Linked) -> Result<()> {
        let mut device = self.0.borrow_mut();
        match call.command.canonical {
            "vkCmdExecuteCommands" => device.copies.executing(cx, call, linked),
            _ => device.submitting(cx, call, linked),
        }
    }
}

//! What the device is told to wait for, and what its commands read and write: rows for the synchronisation report.
//!
//! The hook follows the capture's calls ([`replay::follow`]), with a device or without one. Guarantees: commands are numbered in
//! the order of execution over all queues; what an executed command may access is written down, or that it may be anything; an
//! access that happened already since the queue's last barrier is written once. Shaders access what [`crate::reflect`] says; where that fails, all
//! that their layout lets them. Inside of passes attachments are accessed where the pass begins, at each barrier and at its end. Refuses nothing.

mod accesses;
mod barriers;
pub mod bits;
mod rows;
mod shaders;

use super::executables::Put;
use gfxr_parse::meta::Meta;
use gfxr_parse::view::View;
use replay::backend::MetaBlock;
use replay::error::Result;
use replay::exec::{Call, Executor, Outcome};
use replay::follow::commands::{Command, Label};
use replay::follow::{At, Follow, Invocation, Observer, Submission, World};
use replay::hook::{Commands, Frame, Hook, Next};
use rows::Rows;

/// Calls by which the host may learn what the device did, or give it something.
const HOST: &[&str] = &[
    "vkAcquireNextImage2KHR",
    "vkAcquireNextImageKHR",
    "vkDeviceWaitIdle",
    "vkFlushMappedMemoryRanges",
    "vkGetEventStatus",
    "vkGetFenceStatus",
    "vkGetQueryPoolResults",
    "vkGetSemaphoreCounterValue",
    "vkInvalidateMappedMemoryRanges",
    "vkQueueBindSparse",
    "vkQueuePresentKHR",
    "vkQueueWaitIdle",
    "vkSetEvent",
    "vkSignalSemaphore",
    "vkUnmapMemory",
    "vkUnmapMemory2",
    "vkWaitForFences",
    "vkWaitSemaphores",
];

/// See the module's header.
pub struct SyncHook {
    follow: Follow,
    told: Told,
}

/// What is told, on its way into rows.
pub(crate) struct Told {
    rows: Rows,
    programs: shaders::Programs,
    labels: Vec<Box<str>>,
    pass: Option<accesses::Running>,
    /// The queue whose commands came last.
    queue: u64,
}

impl SyncHook {
    /// One that hands rows on.
    pub fn new(out: Put) -> Self {
        let told = Told {
            rows: Rows::new(out),
            programs: shaders::Programs::default(),
            labels: vec![],
            pass: None,
            queue: 0,
        };
        SyncHook { follow: Follow::new(), told }
    }
}

impl Hook for SyncHook {
    fn name(&self) -> &'static str {
        "sync"
    }

    fn wants(&self) -> Commands {
        Commands::all()
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let outcome = next.run(cx, call)?;
        let name = call.command.canonical;
        if HOST.contains(&name) {
            self.told.rows.host(call.block);
        }
        match name {
            "vkQueuePresentKHR" => self.told.presented(self.follow.world(), call),
            "vkAcquireNextImageKHR" | "vkAcquireNextImage2KHR" => {
                self.told.acquired(self.follow.world(), call);
            }
            _ => {}
        }
        self.follow.call(call, outcome, &mut self.told)?;
        self.told.rows.failed()?;
        Ok(outcome)
    }

    fn meta(&mut self, _: &mut Executor, block: &MetaBlock<'_>) -> Result<()> {
        if matches!(block.meta, Meta::FillMemory(_)) {
            self.told.rows.host(block.block);
        }
        self.follow.meta(block)
    }

    fn frame(&mut self, _: &mut Executor, frame: Frame) -> Result<()> {
        self.follow.frame(frame);
        Ok(())
    }

    /// What still waits for a value runs.
    fn finish(&mut self, _: &mut Executor) -> Result<()> {
        self.follow.finish(&mut self.told);
        self.told.rows.failed()
    }
}

impl Told {
    fn presented(&mut self, world: &World, call: &Call) {
        let Some(info) = View::call(&call.image).one("pPresentInfo") else { return };
        let images = info.u64s("pImageIndices");
        for (chain, index) in info.u64s("pSwapchains").into_iter().zip(images) {
            let image = world.swapchains.get(&chain).and_then(|c| c.images.get(index as usize)).copied();
            self.rows.next(0);
            self.rows.presents(world, image.unwrap_or(0), false);
        }
    }

    /// Which image it is follows from the answer; all of the swapchain's may be.
    fn acquired(&mut self, world: &World, call: &Call) {
        let v = View::call(&call.image);
        let chain = v.one("pAcquireInfo").unwrap_or(v).u64("swapchain").unwrap_or(0);
        let Some(chain) = world.swapchains.get(&chain) else { return };
        self.rows.next(0);
        for image in &chain.images {
            self.rows.presents(world, *image, true);
        }
    }
}

impl Observer for Told {
    fn submission(&mut self, _: &World, s: &Submission) {
        self.labels.clear();
        self.pass = None;
        self.queue = s.queue;
        self.rows.submission(s);
    }

    fn invocation(&mut self, world: &World, at: &At, invocation: &Invocation<'_>) {
        self.rows.next(at.queue);
        self.invoke(world, invocation.invoke);
        if let Some(pass) = &mut self.pass {
            pass.drawn = true;
        }
    }

    fn command(&mut self, world: &World, at: &At, command: &Command) {
        match command {
            Command::Label { what: Label::Begin, text } => self.labels.push(text.clone()),
            Command::Label { what: Label::End, .. } => _ = self.labels.pop(),
            Command::Label { .. } | Command::Execute(_) => {}
            Command::BeginPass(p) => {
                let pass = accesses::Running::of(p);
                self.dependencies(world, at, &pass, None, Some(0));
                self.pass = Some(pass);
                self.attachments(world, at, true);
            }
            Command::NextSubpass => {
                self.attachments(world, at, false);
                if let Some(mut pass) = self.pass.take() {
                    pass.subpass += 1;
                    self.dependencies(world, at, &pass, Some(pass.subpass - 1), Some(pass.subpass));
                    self.pass = Some(pass);
                }
                self.attachments(world, at, true);
            }
            Command::EndPass => {
                self.attachments(world, at, true);
                if let Some(pass) = self.pass.take() {
                    self.dependencies(world, at, &pass, Some(pass.subpass), None);
                }
            }
            Command::Barrier(b) => {
                self.attachments(world, at, false);
                self.barrier(world, at, "barrier", std::slice::from_ref(&**b));
            }
            Command::WaitEvents { barriers, .. } => {
                self.attachments(world, at, false);
                self.barrier(world, at, "event", barriers);
            }
            Command::SetEvent { .. } | Command::ResetEvent { .. } => {}
            other => {
                self.rows.next(at.queue);
                self.accesses(world, other);
            }
        }
    }
}

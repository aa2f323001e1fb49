//! What the device is told to wait for, and what its commands read and write: rows for the synchronisation report.
//!
//! An observer of what is followed ([`world`]), with a device or without one; [`super::resources`] has it beside its own. Guarantees: commands are numbered in
//! the order of execution over all queues; what an executed command may access is written down, or that it may be anything; an
//! access that happened already since the queue's last barrier is written once; rows of all frames are written, as those that were asked
//! for depend on the others. Shaders access what [`crate::reflect`] says; where that fails, all
//! that their layout lets them. Inside of passes attachments are accessed where the pass begins, at each barrier and at its end. Refuses nothing.

mod accesses;
mod barriers;
pub mod bits;
pub mod lists;
mod rows;
mod shaders;

use super::put::Put;
use accesses::When;
use gfxr_parse::ahead::Call;
use gfxr_parse::param;
use gfxr_parse::view::View;
use replay::error::Result;
pub use rows::{ADDRESSED, Event, How, Part};
use rows::{Out, Rows};
use std::collections::HashMap;
use world::commands::{Command, Label};
use world::{At, Invocation, Observer, Submission, World};

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

/// What follows a capture beside this ([`super::resources`]) tells it: what is to come of calls, then what runs.
pub struct Synchronisation {
    rows: Rows,
    programs: shaders::Programs,
    labels: Vec<Box<str>>,
    pass: Option<accesses::Running>,
    /// By event, the command that set it; 0 for the host.
    events: HashMap<u64, u64>,
    wants: Box<dyn Fn(u64) -> bool>,
}

impl Synchronisation {
    /// One that hands rows on. Of frames that are not wanted rows say so.
    pub fn new(out: Put, wants: Box<dyn Fn(u64) -> bool>) -> Self {
        Self::to(Out::Rows(out), wants)
    }

    /// One that hands accesses and barriers on, of all frames.
    pub fn of_events(tell: Box<dyn FnMut(Part, Event)>) -> Self {
        Self::to(Out::Events(tell), Box::new(|_| true))
    }

    fn to(out: Out, wants: Box<dyn Fn(u64) -> bool>) -> Self {
        Synchronisation {
            rows: Rows::new(out),
            programs: shaders::Programs::default(),
            labels: vec![],
            pass: None,
            events: HashMap::new(),
            wants,
        }
    }

    /// A call, before it is followed.
    pub fn call(&mut self, world: &World, call: &Call) {
        let name = call.command.canonical;
        if HOST.binary_search(&name).is_ok() {
            self.rows.host(call.block);
        }
        match name {
            "vkQueuePresentKHR" => self.presented(world, call),
            "vkAcquireNextImageKHR" | "vkAcquireNextImage2KHR" => self.acquired(world, call),
            "vkDestroyBuffer" | "vkDestroyImage" => self.rows.gone(world::destroyed(call)),
            "vkSetEvent" => _ = self.events.insert(call.image.u64(param!("vkSetEvent", "event")), 0),
            "vkSignalSemaphore" => {
                let info = View::call(&call.image).one("pSignalInfo");
                let n = |name: &str| info.and_then(|i| i.u64(name)).unwrap_or(0);
                self.rows.settle();
                self.rows.signal(n("semaphore"), n("value"), "host", 0);
            }
            _ => {}
        }
    }

    /// Memory was written by the host.
    pub(super) fn filled(&mut self, block: u64) {
        self.rows.host(block);
    }

    /// What went wrong with writing.
    pub(super) fn failed(&mut self) -> Result<()> {
        self.rows.failed()
    }

    /// Nothing more comes.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.rows.finish();
        self.rows.failed()
    }

    fn presented(&mut self, world: &World, call: &Call) {
        let Some(info) = View::call(&call.image).one("pPresentInfo") else { return };
        self.rows.settle();
        let images = info.u64s("pImageIndices");
        for (chain, index) in info.u64s("pSwapchains").into_iter().zip(images) {
            let image = world.swapchains.get(&chain).and_then(|c| c.images.get(index as usize)).copied();
            self.rows.next(0);
            self.rows.presents(world, image.unwrap_or(0), false);
        }
    }

    /// The image that the capture was given; if it does not say which, any of the swapchain's.
    fn acquired(&mut self, world: &World, call: &Call) {
        let v = View::call(&call.image);
        let info = v.one("pAcquireInfo").unwrap_or(v);
        let Some(chain) = world.swapchains.get(&info.u64("swapchain").unwrap_or(0)) else { return };
        self.rows.settle();
        self.rows.next(0);
        let index = v.u64s("pImageIndex").first().copied();
        match index.and_then(|i| chain.images.get(i as usize)) {
            Some(image) => self.rows.presents(world, *image, true),
            None => chain.images.iter().for_each(|image| self.rows.presents(world, *image, true)),
        }
        self.rows.signal(info.u64("semaphore").unwrap_or(0), 0, "presentation", 0);
    }
}

impl Synchronisation {
    /// Attachments of the pass that runs.
    fn attachments(&mut self, world: &World, at: &At, when: When) {
        if let Some(pass) = &mut self.pass {
            pass.attachments(&mut self.rows, world, at, when);
        }
    }
}

impl Observer for Synchronisation {
    fn submission(&mut self, world: &World, s: &Submission) {
        self.labels.clear();
        self.pass = None;
        let aside = !(self.wants)(s.frame);
        self.rows.submission(world, s, aside);
    }

    /// Somebody else says what shaders wrote.
    fn invoked(&mut self, _: &mut World, _: &At, _: &Invocation<'_>) {}

    fn invocation(&mut self, world: &World, at: &At, invocation: &Invocation<'_>) {
        self.rows.next(at.queue);
        self.rows.invoke(&mut self.programs, world, invocation.invoke);
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
                self.attachments(world, at, When::Begins);
            }
            Command::NextSubpass => {
                self.attachments(world, at, When::Drawn);
                if let Some(mut pass) = self.pass.take() {
                    pass.subpass += 1;
                    self.dependencies(world, at, &pass, Some(pass.subpass - 1), Some(pass.subpass));
                    self.pass = Some(pass);
                }
                self.attachments(world, at, When::Next);
            }
            Command::EndPass => {
                self.attachments(world, at, When::Ends);
                if let Some(pass) = self.pass.take() {
                    self.dependencies(world, at, &pass, Some(pass.subpass), None);
                }
            }
            Command::Barrier(b) => {
                self.attachments(world, at, When::Drawn);
                self.barrier(world, at, None, std::slice::from_ref(&**b));
            }
            Command::WaitEvents { events, barriers } => {
                self.attachments(world, at, When::Drawn);
                self.barrier(world, at, Some(events), barriers);
            }
            Command::SetEvent { event, .. } => {
                self.rows.next(at.queue);
                self.rows.anew();
                self.events.insert(*event, self.rows.sequence());
            }
            Command::ResetEvent { .. } => {}
            other => {
                self.rows.next(at.queue);
                self.rows.accesses(world, other);
            }
        }
    }
}

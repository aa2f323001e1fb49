//! Submissions: what the device runs, in the order of submission, queue by queue.
//!
//! Guarantees: bindings of sparse memory are batches as others are; a batch that waits for a timeline value which nothing has signalled yet runs when something does, and whatever
//! is behind it on its queue with it; a device that is known to be idle has run everything. Refuses nothing: command buffers
//! that were never recorded run nothing.

use super::commands::{Command, RENDERING_RESUMING, RENDERING_SUSPENDING};
use super::effects::Binds;
use super::objects::Sync;
use super::read::n64;
use super::recording::Recording;
use super::world::World;
use super::{At, Invocation, Observer, SemaphoreUse, Submission, effects};
use crate::Ids;
use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use std::collections::HashSet;

/// Command buffers that execute others, at most; a damaged capture may execute itself.
const DEEPEST: u32 = 16;

/// See the module's header.
#[derive(Default)]
pub(super) struct Queues {
    submissions: u64,
    invocations: u64,
    passes: u64,
    /// By queue, the rendering that was suspended.
    suspended: Ids<u64>,
    /// Batches that wait, in the order of submission.
    waiting: Vec<Batch>,
    /// Binary semaphores that a waiting batch will signal.
    promised: HashSet<u64>,
}

/// What a queue is given: command buffers, or bindings of sparse memory, between waits and signals.
struct Batch {
    of: Submission,
    /// Bindings run nothing, and are told to nobody.
    binds: Option<Binds>,
}

/// The timeline that a call on the host signals, and its value.
pub(super) fn host_signal(call: &Call) -> Option<(u64, u64)> {
    let v = View::call(&call.image);
    let (info, semaphore) = match call.command.canonical {
        "vkLatencySleepNV" => (v.one("pSleepInfo")?, "signalSemaphore"),
        _ => (v.one("pSignalInfo")?, "semaphore"),
    };
    Some((n64(info, semaphore), n64(info, "value")))
}

/// VkSubmitInfo and VkBindSparseInfo: semaphores, with the values of timelines in the chain.
pub(super) fn older(v: View<'_>) -> (Vec<SemaphoreUse>, Vec<u64>, Vec<SemaphoreUse>) {
    let values = v.next("VkTimelineSemaphoreSubmitInfo");
    let of = |ids: &str, stages: Option<&str>, name: &str| {
        let values = values.map_or(vec![], |t| t.u64s(name));
        let stages = stages.map_or(vec![], |s| v.u64s(s));
        let one = |(i, semaphore)| SemaphoreUse {
            semaphore,
            value: values.get(i).copied().unwrap_or(0),
            stages: stages.get(i).copied().unwrap_or(0),
        };
        v.u64s(ids).into_iter().enumerate().map(one).collect()
    };
    (
        of("pWaitSemaphores", Some("pWaitDstStageMask"), "pWaitSemaphoreValues"),
        v.u64s("pCommandBuffers"),
        of("pSignalSemaphores", None, "pSignalSemaphoreValues"),
    )
}

/// VkSubmitInfo2.
fn newer(v: View<'_>) -> (Vec<SemaphoreUse>, Vec<u64>, Vec<SemaphoreUse>) {
    let of = |name: &str| {
        let one = |s: View<'_>| SemaphoreUse {
            semaphore: n64(s, "semaphore"),
            value: n64(s, "value"),
            stages: n64(s, "stageMask"),
        };
        v.structs(name).map(one).collect()
    };
    let buffers = v.structs("pCommandBufferInfos").map(|b| n64(b, "commandBuffer")).collect();
    (of("pWaitSemaphoreInfos"), buffers, of("pSignalSemaphoreInfos"))
}

/// What each batch of a vkQueueSubmit, or 2, waits for, executes and signals.
pub fn batches(call: &Call) -> Vec<(Vec<SemaphoreUse>, Vec<u64>, Vec<SemaphoreUse>)> {
    let two = call.command.canonical == "vkQueueSubmit2";
    View::call(&call.image).structs("pSubmits").map(|b| if two { newer(b) } else { older(b) }).collect()
}

impl Queues {
    /// vkQueueSubmit, and 2.
    pub fn submit(&mut self, world: &mut World, call: &Call, to: &mut dyn Observer) {
        let v = View::call(&call.image);
        let batches = batches(call);
        let of = batches.len() as u32;
        for (i, (waits, command_buffers, signals)) in (0..).zip(batches) {
            let s = Submission {
                number: self.submissions,
                frame: call.frame,
                block: call.block,
                batch: (i, of),
                queue: call.image.u64(0),
                waits,
                signals,
                fence: n64(v, "fence"),
                command_buffers,
            };
            self.submissions += 1;
            self.give(world, Batch { of: s, binds: None }, to);
        }
    }

    /// Whether batches wait.
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// vkQueueBindSparse: in its turn on the queue, behind what it waits for.
    pub fn bind_sparse(&mut self, world: &mut World, call: &Call, to: &mut dyn Observer) {
        for info in View::call(&call.image).structs("pBindInfo") {
            let (waits, _, signals) = older(info);
            let of = Submission {
                frame: call.frame,
                block: call.block,
                queue: call.image.u64(0),
                waits,
                signals,
                ..Submission::default()
            };
            self.give(world, Batch { of, binds: Some(Binds::read(info, call.block)) }, to);
        }
    }

    /// Runs a batch, or keeps it until it can.
    fn give(&mut self, world: &mut World, batch: Batch, to: &mut dyn Observer) {
        let s = &batch.of;
        if self.waiting.iter().any(|w| w.of.queue == s.queue) || !self.is_ready(world, s) {
            self.promise(world, s);
            self.waiting.push(batch);
        } else {
            self.run(world, &batch, to);
            self.wake(world, to);
        }
    }

    /// vkSignalSemaphore, vkLatencySleepNV.
    pub fn signal_by_host(&mut self, world: &mut World, call: &Call, to: &mut dyn Observer) {
        if let Some((semaphore, value)) = host_signal(call) {
            world.reached.insert(semaphore, value);
            self.wake(world, to);
        }
    }

    /// A queue, or the whole device (0), is known to be idle: what waits has run.
    pub fn idle(&mut self, world: &mut World, queue: u64, to: &mut dyn Observer) {
        let mut i = 0;
        while i < self.waiting.len() {
            if queue == 0 || self.waiting[i].of.queue == queue {
                let s = self.waiting.remove(i);
                self.run(world, &s, to);
            } else {
                i += 1;
            }
        }
        self.wake(world, to);
    }

    fn is_ready(&self, world: &World, s: &Submission) -> bool {
        s.waits.iter().all(|w| match world.syncs.get(&w.semaphore) {
            Some(Sync::Timeline(_)) => world.reached.get(&w.semaphore).is_some_and(|r| *r >= w.value),
            _ => !self.promised.contains(&w.semaphore),
        })
    }

    /// A batch that waits will signal these.
    fn promise(&mut self, world: &World, s: &Submission) {
        let binary = |u: &&SemaphoreUse| !world.syncs.get(&u.semaphore).is_some_and(Sync::is_timeline);
        self.promised.extend(s.signals.iter().filter(binary).map(|u| u.semaphore));
    }

    fn signal(&mut self, world: &mut World, signals: &[SemaphoreUse]) {
        for s in signals {
            self.promised.remove(&s.semaphore);
            if world.syncs.get(&s.semaphore).is_some_and(Sync::is_timeline) {
                let reached = world.reached.entry(s.semaphore).or_default();
                *reached = s.value.max(*reached);
            }
        }
    }

    /// Runs what does not have to wait any more.
    fn wake(&mut self, world: &mut World, to: &mut dyn Observer) {
        loop {
            let first = |i: &usize| {
                let s = &self.waiting[*i].of;
                self.waiting[..*i].iter().all(|w| w.of.queue != s.queue) && self.is_ready(world, s)
            };
            let Some(i) = (0..self.waiting.len()).find(first) else { return };
            let s = self.waiting.remove(i);
            self.run(world, &s, to);
        }
    }

    fn run(&mut self, world: &mut World, batch: &Batch, to: &mut dyn Observer) {
        let s = &batch.of;
        if let Some(binds) = &batch.binds {
            binds.take_effect(world);
            return self.signal(world, &s.signals);
        }
        to.submission(world, s);
        let mut at = At {
            frame: s.frame,
            submission: s.number,
            submit_block: s.block,
            queue: s.queue,
            ..At::default()
        };
        for &id in &s.command_buffers {
            at.command_buffer = id;
            self.command_buffer(world, id, &mut at, 0, to);
        }
        self.signal(world, &s.signals);
    }

    fn command_buffer(&mut self, world: &mut World, id: u64, at: &mut At, depth: u32, to: &mut dyn Observer) {
        let recording = world.command_buffers.get(&id).and_then(|b| b.recording.clone());
        let Some(recording) = recording.filter(|_| depth < DEEPEST) else { return };
        let outer = *at;
        (at.holder, at.recording) = (id, recording.number);
        to.enters(world, at, &recording);
        self.commands(world, &recording, at, depth, to);
        to.leaves(world, at);
        (at.holder, at.recording, at.command, at.block) =
            (outer.holder, outer.recording, outer.command, outer.block);
    }

    fn commands(
        &mut self,
        world: &mut World,
        recording: &Recording,
        at: &mut At,
        depth: u32,
        to: &mut dyn Observer,
    ) {
        for recorded in &recording.commands {
            (at.command, at.block) = (recorded.index, recorded.block);
            match &recorded.command {
                Command::Invoke(invoke) => {
                    let invocation = Invocation { number: self.invocations, invoke };
                    self.invocations += 1;
                    to.invocation(world, at, &invocation);
                    effects::command(world, at, &recorded.command);
                    to.invoked(world, at, &invocation);
                    continue;
                }
                Command::BeginPass(pass) => {
                    let suspended = self.suspended.remove(&at.queue);
                    at.pass = match suspended.filter(|_| pass.flags & RENDERING_RESUMING != 0) {
                        Some(number) => number,
                        None => {
                            self.passes += 1;
                            self.passes
                        }
                    };
                    at.subpass = 0;
                    if pass.flags & RENDERING_SUSPENDING != 0 {
                        self.suspended.insert(at.queue, at.pass);
                    }
                }
                Command::NextSubpass => at.subpass += 1,
                _ => {}
            }
            to.command(world, at, &recorded.command);
            effects::command(world, at, &recorded.command);
            match &recorded.command {
                Command::EndPass => (at.pass, at.subpass) = (0, 0),
                Command::Execute(secondaries) => {
                    for &id in secondaries {
                        self.command_buffer(world, id, at, depth + 1, to);
                    }
                }
                _ => {}
            }
        }
    }
}

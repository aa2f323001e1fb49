//! Copies of what draws read, put into the application's command buffers while they are recorded.
//!
//! Each place of the [`Plan`] gets a barrier, the copies, and a barrier; behind vkCmdExecuteCommands what the secondaries
//! copied is copied on, as they may run again before anyone reads. Barriers are full ones: the commands around them do what
//! they did, in the order that the follower takes them in. Guarantees: nothing is recorded that names a buffer which is not
//! there, or was not made to be copied from. Refuses nothing: what could not be copied has no copy ([`Copies::base`],
//! [`Copies::has`]).

use super::landing::Landings;
use super::plan::{self, Plan};
use super::trail::{Base, By};
use gfxr_parse::ahead::Call;
use gfxr_parse::argument;
use gfxr_parse::view::View;
use replay::ash;
use replay::ash::vk::{self, Handle};
use replay::error::Result;
use replay::exec::Executor;
use replay::link::Linked;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;
use world::World;
use world::span::Span;

/// See the module's header.
#[derive(Default)]
pub struct Copies {
    plan: Rc<Plan>,
    /// By command buffer: the number of its recording, and where that copies to.
    current: HashMap<u64, (u64, u64)>,
    /// Memory of copies.
    pub landings: Landings,
    /// What was recorded: the place, and the buffer.
    copied: HashSet<(u64, u64)>,
    drained: HashSet<(u64, u32)>,
    /// Number and block of the recording that the running call is recorded into.
    recording: (u64, u64),
    /// Of the vkCmdExecuteCommands that runs: block of each recording and where it copied to; what has been executed already.
    executes: Vec<Option<(u64, u64)>>,
    executed: u32,
}

impl Copies {
    /// Those of a plan.
    pub fn new(plan: Rc<Plan>) -> Self {
        Copies { plan, ..Copies::default() }
    }

    /// Whether nothing is to be copied.
    pub fn is_empty(&self) -> bool {
        self.plan.places.is_empty()
    }

    /// A call is about to run.
    pub fn before(&mut self, cx: &mut Executor, call: &Call, world: &World) -> Result<()> {
        let places = self.plan.places.contains_key(&call.block);
        let drains = self.plan.drains.contains_key(&call.block);
        if places || drains {
            self.recording =
                world.recording(call.image.u64(0)).map_or((u64::MAX, 0), |r| (r.number, r.block));
        }
        if drains {
            let of = |s: u64| {
                let r = world.recording(s)?;
                self.current.get(&s).filter(|c| c.0 == r.number).map(|c| (r.block, c.1))
            };
            self.executes = View::call(&call.image).u64s("pCommandBuffers").into_iter().map(of).collect();
        }
        if places {
            return self.copy(cx, call);
        }
        if call.command.canonical == "vkDestroyDevice" {
            self.landings.destroy(Some(call.image.u64(0)));
        }
        Ok(())
    }

    /// It has run.
    pub fn after(&mut self, cx: &mut Executor, call: &Call) -> Result<()> {
        if call.command.canonical == "vkCmdExecuteCommands" {
            let left = self.executed..u32::MAX;
            self.executed = 0;
            return self.drain(cx, call, left);
        }
        Ok(())
    }

    /// Memory of recordings that are no more is given back.
    pub fn sweep(&mut self, world: &World) {
        self.current.retain(|buffer, (number, landing)| {
            let held = world.recording(*buffer).is_some_and(|r| r.number == *number);
            if !held {
                self.landings.give(*landing);
            }
            held
        });
    }

    /// The memory of the recording that the call is recorded into.
    fn landing(&mut self, cx: &mut Executor, buffer: u64, device: u64) -> Result<Option<u64>> {
        let (number, block) = self.recording;
        let before = self.current.get(&buffer).copied();
        if let Some((_, landing)) = before.filter(|c| c.0 == number) {
            return Ok(Some(landing));
        }
        let (Some(vk), Some(&bytes)) = (cx.backend.vulkan(), self.plan.recordings.get(&block)) else {
            return Ok(None);
        };
        if let Some((_, landing)) = before {
            self.landings.give(landing);
        }
        let landing = self.landings.take(vk.device(device)?, bytes)?;
        self.current.insert(buffer, (number, landing));
        Ok(Some(landing))
    }

    /// Everything of a place.
    fn copy(&mut self, cx: &mut Executor, call: &Call) -> Result<()> {
        let plan = self.plan.clone();
        let place = &plan.places[&call.block];
        let buffer = call.image.u64(0);
        let commands = vk::CommandBuffer::from_raw(cx.objects.live(buffer));
        let mut all: HashMap<u64, (vk::Buffer, u64, Vec<vk::BufferCopy>)> = HashMap::new();
        let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
        for (&(source, from, bytes), &to) in place {
            let known = vk.buffer(source).filter(|b| {
                let usable = b.usage.contains(vk::BufferUsageFlags::TRANSFER_SRC) && b.memory.is_some();
                usable && Span::within(from, bytes, b.size).is_some()
            });
            if let Some(b) = known {
                let regions = &mut all.entry(source).or_insert((b.live, b.device, vec![])).2;
                regions.push(vk::BufferCopy { src_offset: from, dst_offset: to, size: bytes });
            }
        }
        let Some(device) = all.values().next().map(|a| a.1) else { return Ok(()) };
        let Some(landing) = self.landing(cx, buffer, device)? else { return Ok(()) };
        let Some((d, into, offset)) = self.landings.place(landing) else { return Ok(()) };
        enclosed(d, commands, || {
            for (live, _, regions) in all.values_mut() {
                regions.iter_mut().for_each(|r| r.dst_offset += offset);
                // SAFETY: recording, outside of render passes: the plan's places are; both ranges were checked.
                unsafe { d.cmd_copy_buffer(commands, *live, into, regions) };
            }
        });
        self.copied.extend(all.keys().map(|b| (call.block, *b)));
        Ok(())
    }

    /// vkCmdExecuteCommands is about to reach the driver: a secondary that it executes again is executed first, and what it
    /// copied is copied on; the driver gets what is left.
    pub fn executing(&mut self, cx: &mut Executor, call: &Call, linked: &mut Linked) -> Result<()> {
        const BUFFERS: usize = argument!("vkCmdExecuteCommands", "pCommandBuffers");
        const COUNT: usize = argument!("vkCmdExecuteCommands", "commandBufferCount");
        self.executed = 0;
        let plan = self.plan.clone();
        let Some(drains) = plan.drains.get(&call.block) else { return Ok(()) };
        let ids = View::call(&call.image).u64s("pCommandBuffers");
        let again = |p: &u32| ids.iter().skip(*p as usize + 1).any(|id| ids.get(*p as usize) == Some(id));
        if linked.arg(COUNT) as u32 as usize != ids.len() || linked.arg(BUFFERS) == 0 {
            return Ok(());
        }
        let commands = vk::CommandBuffer::from_raw(cx.objects.live(call.image.u64(0)));
        let Some(live) = linked.params::<vk::CommandBuffer>(BUFFERS, COUNT).map(<[_]>::to_vec) else {
            return Ok(());
        };
        for position in drains.keys().copied().filter(again) {
            let device = self.executes.get(position as usize).copied().flatten();
            let device = device.and_then(|e| self.landings.place(e.1)).map(|p| p.0.clone());
            let Some(d) = device else { continue };
            let now = live.get(self.executed as usize..=position as usize).unwrap_or_default();
            // SAFETY: recording; live command buffers, none of which has been executed yet.
            unsafe { d.cmd_execute_commands(commands, now) };
            self.drain(cx, call, self.executed..position + 1)?;
            self.executed = position + 1;
        }
        // (the last is never among those that were executed)
        let left = live.get(self.executed as usize..).unwrap_or_default();
        let at = linked.keep(left);
        linked.set_arg(COUNT, left.len() as u64);
        linked.set_arg(BUFFERS, at as u64);
        Ok(())
    }

    /// What secondaries at these positions copied is copied on.
    fn drain(&mut self, cx: &mut Executor, call: &Call, positions: Range<u32>) -> Result<()> {
        let plan = self.plan.clone();
        let Some(drains) = plan.drains.get(&call.block) else { return Ok(()) };
        let buffer = call.image.u64(0);
        let commands = vk::CommandBuffer::from_raw(cx.objects.live(buffer));
        let mut all = Vec::new();
        for (&position, drain) in drains.range(positions) {
            let of = self.executes.get(position as usize).copied().flatten();
            if let Some((_, landing)) = of.filter(|e| e.0 == drain.recording) {
                all.push((position, landing, drain));
            }
        }
        // (of a device that the secondaries are of)
        let device = all.first().and_then(|a| self.landings.device(a.1));
        let Some(device) = device else { return Ok(()) };
        let Some(own) = self.landing(cx, buffer, device)? else { return Ok(()) };
        let Some((d, into, offset)) = self.landings.place(own) else { return Ok(()) };
        enclosed(d, commands, || {
            for (_, landing, drain) in &all {
                let Some((_, from, at)) = self.landings.place(*landing) else { continue };
                let region =
                    vk::BufferCopy { src_offset: at, dst_offset: offset + drain.to, size: drain.bytes };
                // SAFETY: recording, outside of render passes: secondaries that make copies are executed there; both
                // pieces have room.
                unsafe { d.cmd_copy_buffer(commands, from, into, &[region]) };
            }
        });
        self.drained.extend(all.iter().map(|a| (call.block, a.0)));
        Ok(())
    }

    /// Where an execution's copies are.
    pub fn base(&self, by: By, buffer: u64, number: u64, serial: u64) -> Option<Base> {
        match by {
            By::Queue => {
                let &(_, landing) = self.current.get(&buffer).filter(|c| c.0 == number)?;
                Some(Base { landing, offset: 0, serial })
            }
            By::Buffer { base, call, position, .. } => {
                let drain = self.plan.drains.get(&call)?.get(&position)?;
                let base = base.filter(|_| self.drained.contains(&(call, position)))?;
                Some(Base { offset: base.offset + drain.to, ..base })
            }
        }
    }

    /// Where a range is copied to at a place, if it is.
    pub fn has(&self, place: u64, range: &plan::Range) -> Option<u64> {
        let to = self.plan.places.get(&place)?.get(range)?;
        self.copied.contains(&(place, range.0)).then_some(*to)
    }
}

/// Commands between full barriers; what they copy the host can read once they are done.
pub fn enclosed(d: &ash::Device, commands: vk::CommandBuffer, record: impl FnOnce()) {
    let (all, copies) = (vk::PipelineStageFlags::ALL_COMMANDS, vk::PipelineStageFlags::TRANSFER);
    let memory = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
    let own = vk::AccessFlags::TRANSFER_READ | vk::AccessFlags::TRANSFER_WRITE;
    let barrier = |from, to, (before, after)| {
        let b = vk::MemoryBarrier::default().src_access_mask(before).dst_access_mask(after);
        // SAFETY: recording, outside of render passes.
        unsafe { d.cmd_pipeline_barrier(commands, from, to, vk::DependencyFlags::empty(), &[b], &[], &[]) };
    };
    barrier(all, copies, (memory, own));
    record();
    barrier(copies, all | vk::PipelineStageFlags::HOST, (own, memory | vk::AccessFlags::HOST_READ));
}

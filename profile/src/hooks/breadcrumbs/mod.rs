//! Breadcrumbs: which command the device was at when it hung or was lost.
//!
//! Every command that does work is preceded by a mark in memory that the host reads afterwards, so that commands run one
//! by one; draws inside a render pass are marked where the device has VK_AMD_buffer_marker, and else the pass is named
//! and the draws it may be. Of a lost device with VK_NV_device_diagnostic_checkpoints each queue says how far it came, which
//! is known inside of render passes, too. Before each submission the marks of its command buffers are wiped and after it a fence of our
//! own is signalled, so that a command buffer submitted many times is told apart by its submission.
//!
//! Guarantees: the replayed work stays as it was, but for being slower. Refuses nothing: command buffers for queues that
//! can neither draw, compute nor copy go unmarked, and only their submission is named.

mod checkpoints;
mod lane;
mod marks;
mod trail;

use checkpoints::Functions;
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::view::View;
use lane::{Lane, Pending};
use marks::{END, Marks, Slot};
use replay::ash::vk::{self, Handle};
use replay::error::{Error, Result};
use replay::exec::Executor;
use replay::hook::{Commands, Hook, Needs, Next};
use replay::link::Linked;
use replay::report::{Checkpoints, InFlight};
use replay::vulkan::{driver, fault};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use trail::{Trail, is_work};
use world::commands::Command;
use world::recording::Scope;
use world::walk::{Step, submitted};
use world::{Depth, Outcome, World};

/// A command buffer.
struct Buffer {
    device: u64,
    slot: Option<Slot>,
    /// Its recording.
    number: u64,
    trail: Trail,
}

/// See the module's header.
#[derive(Default)]
pub struct BreadcrumbsHook {
    marks: HashMap<u64, Marks>,
    /// Of devices that have the extension.
    checkpoints: HashMap<u64, Functions>,
    /// By captured id, as everything here.
    buffers: HashMap<u64, Buffer>,
    lanes: HashMap<u64, Lane>,
    queue_labels: HashMap<u64, Vec<String>>,
    submits: u64,
    /// The submission that is being made.
    current: Option<Pending>,
}

const SUBMITS: &[&str] = &["vkQueueSubmit", "vkQueueSubmit2", "vkQueueSubmit2KHR"];
const OTHERS: &[&str] = &[
    "vkDestroyDevice",
    "vkQueueBeginDebugUtilsLabelEXT",
    "vkQueueEndDebugUtilsLabelEXT",
    "vkEndCommandBuffer",
];

impl BreadcrumbsHook {
    /// The marks of a device, made when first asked for.
    fn marks(&mut self, cx: &mut Executor, device: u64) -> Result<Option<&mut Marks>> {
        Ok(Some(match self.marks.entry(device) {
            Entry::Occupied(made) => made.into_mut(),
            Entry::Vacant(new) => {
                let Some(vk) = cx.backend.vulkan() else { return Ok(None) };
                let Some(instance) = vk.instance_of(device) else { return Ok(None) };
                let d = vk.device(device)?;
                self.checkpoints.extend(Functions::of(d, instance).map(|f| (device, f)));
                new.insert(Marks::new(d, instance))
            }
        }))
    }

    /// What is kept of a command buffer's recording, made when first asked for.
    fn buffer(&mut self, cx: &mut Executor, id: u64) -> Result<Option<&mut Buffer>> {
        let (world, device) = (cx.objects.world(), cx.objects.any(id).map_or(0, |e| e.owner));
        let Some(number) = world.recording(id).map(|r| r.number) else { return Ok(None) };
        let before = self.buffers.get(&id).filter(|b| b.device == device);
        if before.is_none_or(|b| b.number != number) {
            let mut slot = before.and_then(|b| b.slot);
            let pool = world.command_buffers.get(&id).and_then(|b| world.command_pools.get(&b.pool));
            let family = pool.map_or(0, |p| p.family);
            let d = cx.backend.vulkan().and_then(|vk| vk.device(device).ok());
            let copies = d.is_some_and(|d| lane::copies(d, d.folding.family(family)));
            if copies && slot.is_none() {
                slot = self.marks(cx, device)?.map(Marks::slot).transpose()?;
            }
            self.buffers.insert(id, Buffer { device, slot, number, trail: Trail::default() });
        }
        Ok(self.buffers.get_mut(&id))
    }

    /// A command, or the end, is about to be recorded: its mark comes before it.
    fn mark(&mut self, cx: &mut Executor, call: &Call) -> Result<()> {
        let id = call.image.u64(0);
        let Some((count, scope)) = cx.objects.world().recording(id).map(|r| (r.count, r.scope)) else {
            return Ok(());
        };
        let live = vk::CommandBuffer::from_raw(cx.objects.live(id));
        let Some((device, slot)) = self.buffer(cx, id)?.map(|b| (b.device, b.slot)) else { return Ok(()) };
        let ends = call.command.name == "vkEndCommandBuffer";
        let index = if ends { END } else { count + 1 };
        let marks = slot.and_then(|s| self.marks.get(&device).map(|m| (m, s)));
        let marked = marks.is_some_and(|(m, slot)| m.mark(live, slot, index, scope != Scope::Outside));
        if let Some(f) = self.checkpoints.get(&device).filter(|_| !ends) {
            f.set(live, call.block);
        }
        if let Some(b) = self.buffers.get_mut(&id).filter(|_| !ends) {
            b.trail.work(index, call.index, marked, call.block);
        }
        Ok(())
    }

    /// Labels of queues.
    fn label(&mut self, call: &Call) {
        let open = self.queue_labels.entry(call.image.u64(0)).or_default();
        if call.command.name == "vkQueueEndDebugUtilsLabelEXT" {
            open.pop();
            return;
        }
        let info = View::call(&call.image).one("pLabelInfo");
        open.push(info.and_then(|l| l.text("pLabelName").map(|n| n.into_owned())).unwrap_or_default());
    }

    /// Wipes the marks that the submission will write.
    fn submitting(&mut self, cx: &mut Executor, call: &Call) -> Result<()> {
        let queue = call.image.u64(0);
        let buffers = submitted(call);
        let number = self.submits;
        self.submits += 1;
        if !self.lanes.contains_key(&queue) {
            let Some(q) = cx.backend.vulkan().and_then(|vk| vk.queue(queue).copied()) else { return Ok(()) };
            let Some(slot) = self.marks(cx, q.device)?.map(Marks::slot).transpose()? else { return Ok(()) };
            let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
            let made = Lane::new(vk.device(q.device)?, &q, slot)?;
            self.lanes.insert(queue, made);
        }
        let mut slots = Vec::new();
        cx.objects.world().walk(&buffers, &mut |holder, step| {
            if let Step::Enters = step {
                slots.extend(self.buffers.get(&holder.buffer).and_then(|b| b.slot));
            }
        });
        let Some(lane) = self.lanes.get_mut(&queue) else { return Ok(()) };
        let Some(marks) = self.marks.get(&lane.device) else { return Ok(()) };
        let labels = self.queue_labels.get(&queue).cloned().unwrap_or_default();
        let mut pending = Pending::new(number, call, buffers, labels);
        lane.before(marks, &slots, &mut pending)?;
        self.current = Some(pending);
        Ok(())
    }

    /// Where the first command buffer that is not done stands.
    fn place(&self, world: &World, pending: &Pending, found: &mut InFlight) {
        for id in &pending.buffers {
            let Some((b, slot)) = self.buffers.get(id).and_then(|b| b.slot.map(|s| (b, s))) else { continue };
            let mark = slot.read();
            if mark == END && found.checkpoints.is_none_or(|c| c.range_in(*id).is_none()) {
                continue;
            }
            found.command_buffer = Some(*id);
            self.place_in(world, *id, b, mark, found);
            return;
        }
    }

    fn place_in(&self, world: &World, id: u64, b: &Buffer, mark: u32, found: &mut InFlight) {
        let Some(recording) = world.recording(id).filter(|r| r.number == b.number) else { return };
        let (told, marked) = (found.checkpoints.unwrap_or_default(), b.trail.at(mark, recording));
        let index = match &marked {
            Some(place) => Some(told.narrow(id, place.index)),
            None => told.range_in(id),
        };
        let Some((index, place)) = index.and_then(|i| Some((i, b.trail.at(i.0, recording).or(marked)?)))
        else {
            return;
        };
        found.command_buffer = Some(id);
        (found.index, found.command) = (Some(index), Some(place.command));
        found.labels.extend(place.labels);
        // A secondary command buffer says more, if it has begun.
        let at = recording.commands.iter().find(|c| c.index + 1 == mark);
        let Some(Command::Execute(secondaries)) = at.map(|c| &c.command) else { return };
        for inner in secondaries {
            if let Some((s, slot)) = self.buffers.get(inner).and_then(|s| s.slot.map(|slot| (s, slot)))
                && !matches!(slot.read(), 0 | END)
            {
                return self.place_in(world, *inner, s, slot.read(), found);
            }
        }
    }

    /// How far the queues of lost devices came, by queue.
    fn reached(&self, cx: &mut Executor) -> HashMap<u64, Checkpoints> {
        let Some(vk) = cx.backend.vulkan() else { return HashMap::new() };
        let one = |(queue, lane): (&u64, &Lane)| {
            let f = self.checkpoints.get(&lane.device)?;
            let live = vk.queue(*queue).filter(|_| vk.device(lane.device).is_ok_and(fault::is_lost))?.live;
            let reached = driver::bounded(fault::ANSWERS_WITHIN_NS, || f.reached(live)).ok()?;
            let buffers = || self.buffers.iter().filter(|b| b.1.device == lane.device);
            let find = |block| buffers().find_map(|(id, b)| b.trail.of_block(*id, block));
            Some((*queue, checkpoints::told(&reached, find)?))
        };
        self.lanes.iter().filter_map(one).collect()
    }

    /// Destroys what belongs to a device, or everything; nothing is in use.
    fn destroy(&mut self, device: Option<u64>) {
        let of = |d: u64| device.is_none_or(|only| only == d);
        let lanes: Vec<u64> = self.lanes.iter().filter(|l| of(l.1.device)).map(|l| *l.0).collect();
        lanes.iter().filter_map(|q| self.lanes.remove(q)).for_each(Lane::destroy);
        let marks: Vec<u64> = self.marks.keys().copied().filter(|d| of(*d)).collect();
        marks.iter().filter_map(|d| self.marks.remove(d)).for_each(Marks::destroy);
        self.buffers.retain(|_, b| !of(b.device));
    }
}

impl Hook for BreadcrumbsHook {
    fn name(&self) -> &'static str {
        "breadcrumbs"
    }

    fn needs(&self) -> Needs {
        let names = vec!["VK_AMD_buffer_marker", checkpoints::EXTENSION];
        Needs { optional_device_extensions: names, ..Needs::default() }
    }

    fn follows(&self) -> Depth {
        Depth::Commands
    }

    fn wants(&self) -> Commands {
        let recorded = COMMANDS.iter().filter(|c| is_work(c)).map(|c| c.name);
        Commands::named(&OTHERS.iter().copied().chain(recorded).collect::<Vec<_>>())
    }

    fn wants_linked(&self) -> Commands {
        Commands::named(SUBMITS)
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let name = call.command.name;
        if name == "vkDestroyDevice" {
            let device = call.image.u64(0);
            if let Some(d) = cx.backend.vulkan().and_then(|vk| vk.device(device).ok()) {
                d.wait_idle()?;
                self.destroy(Some(device));
            }
        } else if !name.starts_with("vkQueue") {
            self.mark(cx, call)?;
        }
        let outcome = next.run(cx, call)?;
        if name.starts_with("vkQueue") {
            self.label(call);
        }
        Ok(outcome)
    }

    fn linked(&mut self, cx: &mut Executor, call: &Call, _: &mut Linked) -> Result<()> {
        self.submitting(cx, call)
    }

    fn invoked(&mut self, _: &mut Executor, call: &Call, _: &mut Linked, ret: u64) -> Result<()> {
        let Some((pending, lane)) = self.current.take().zip(self.lanes.get_mut(&call.image.u64(0))) else {
            return Ok(());
        };
        match vk::Result::from_raw(ret as u32 as i32) {
            // It may have begun all the same.
            vk::Result::ERROR_DEVICE_LOST => lane.pending.push_back(pending),
            r if r.as_raw() >= 0 => lane.after(pending)?,
            _ => {}
        }
        Ok(())
    }

    fn stopped(&mut self, cx: &mut Executor, _: &Error) -> Vec<InFlight> {
        let mut found = Vec::new();
        for (queue, lane) in &mut self.lanes {
            lane.sweep();
            found.extend(lane.pending.iter().map(|p| (*queue, lane.begun(p), p.clone())));
        }
        found.sort_by_key(|(_, begun, p)| (!begun, p.number));
        let checkpoints = self.reached(cx);
        let one = |(queue, begun, p): (u64, bool, Pending)| {
            let mut f = InFlight {
                submit: p.number,
                block: p.block,
                frame: p.frame,
                queue,
                begun: Some(begun),
                labels: p.labels.clone(),
                checkpoints: checkpoints.get(&queue).copied(),
                ..InFlight::default()
            };
            // What a device wrote last may never have come where the host sees it.
            let told = f.checkpoints.is_some_and(|c| p.buffers.iter().any(|b| c.range_in(*b).is_some()));
            if begun || told {
                f.begun = Some(true);
                self.place(cx.objects.world(), &p, &mut f);
            }
            f
        };
        found.into_iter().map(one).collect()
    }

    fn finish(&mut self, _: &mut Executor) -> Result<()> {
        // Devices are idle.
        self.destroy(None);
        Ok(())
    }
}

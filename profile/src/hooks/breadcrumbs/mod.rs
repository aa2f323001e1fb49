//! Breadcrumbs: which command the device was at when it hung or was lost.
//!
//! Every command that does work is preceded by a mark in memory that the host reads afterwards, so that commands run one
//! by one; draws inside a render pass are marked where the device has VK_AMD_buffer_marker, and else the pass is named
//! and the draws it may be. Before each submission the marks of its command buffers are wiped and after it a fence of our
//! own is signalled, so that a command buffer submitted many times is told apart by its submission.
//!
//! Guarantees: the replayed work stays as it was, but for being slower. Refuses nothing: command buffers for queues that
//! can neither draw, compute nor copy go unmarked, and only their submission is named.

mod lane;
mod marks;
mod trail;

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
use replay::report::InFlight;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use trail::{Role, Trail, role};
use world::Outcome;

/// A command buffer.
struct Buffer {
    device: u64,
    live: vk::CommandBuffer,
    slot: Option<Slot>,
    trail: Trail,
}

/// See the module's header.
pub struct BreadcrumbsHook {
    roles: Vec<Option<Role>>,
    marks: HashMap<u64, Marks>,
    /// By captured id, as everything here.
    buffers: HashMap<u64, Buffer>,
    /// Queue families of command pools, and whether they can copy.
    pools: HashMap<u64, bool>,
    /// Pools of command buffers.
    pool_of: HashMap<u64, u64>,
    lanes: HashMap<u64, Lane>,
    queue_labels: HashMap<u64, Vec<String>>,
    submits: u64,
    /// The submission that is being made.
    current: Option<Pending>,
}

impl Default for BreadcrumbsHook {
    fn default() -> Self {
        BreadcrumbsHook {
            roles: COMMANDS.iter().map(role).collect(),
            marks: HashMap::new(),
            buffers: HashMap::new(),
            pools: HashMap::new(),
            pool_of: HashMap::new(),
            lanes: HashMap::new(),
            queue_labels: HashMap::new(),
            submits: 0,
            current: None,
        }
    }
}

const SUBMITS: &[&str] = &["vkQueueSubmit", "vkQueueSubmit2", "vkQueueSubmit2KHR"];
const OTHERS: &[&str] = &[
    "vkDestroyDevice",
    "vkQueueBeginDebugUtilsLabelEXT",
    "vkQueueEndDebugUtilsLabelEXT",
    "vkCreateCommandPool",
    "vkAllocateCommandBuffers",
    "vkBeginCommandBuffer",
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
                new.insert(Marks::new(vk.device(device)?, instance))
            }
        }))
    }

    /// A command buffer begins anew.
    fn begin(&mut self, cx: &mut Executor, call: &Call) -> Result<()> {
        let id = call.image.u64(0);
        let Some(live) = cx.objects.any(id).map(|e| vk::CommandBuffer::from_raw(e.live)) else {
            return Ok(());
        };
        let copies = self.pool_of.get(&id).and_then(|p| self.pools.get(p)).copied().unwrap_or(false);
        let flags = View::call(&call.image).one("pBeginInfo").and_then(|i| i.u32("flags")).unwrap_or(0);
        let continues = flags & vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE.as_raw() != 0;
        let device = self.buffers.get(&id).map_or(0, |b| b.device);
        let mut slot = self.buffers.get(&id).and_then(|b| b.slot);
        if copies && slot.is_none() {
            slot = self.marks(cx, device)?.map(Marks::slot).transpose()?;
        }
        let trail = Trail::new(continues);
        self.buffers.insert(id, Buffer { device, live, slot, trail });
        Ok(())
    }

    /// A command is recorded: its mark comes before it.
    fn recorded(&mut self, call: &Call, role: Role) {
        let Some(b) = self.buffers.get_mut(&call.image.u64(0)) else { return };
        let index = b.trail.push(call.index);
        let view = || View::call(&call.image);
        match role {
            Role::BeginLabel => {
                let info = view().one("pLabelInfo").or_else(|| view().one("pMarkerInfo"));
                let name = info.and_then(|i| {
                    i.text("pLabelName").or_else(|| i.text("pMarkerName")).map(|n| n.into_owned())
                });
                b.trail.label(Some(name.unwrap_or_default()));
            }
            Role::EndLabel => b.trail.label(None),
            Role::Execute => {
                b.trail.secondaries.extend(view().u64s("pCommandBuffers").into_iter().map(|id| (index, id)));
            }
            _ => {}
        }
        if matches!(role, Role::Work | Role::BeginPass | Role::Execute) {
            let marks = b.slot.and_then(|s| self.marks.get(&b.device).map(|m| (m, s)));
            let marked = marks.is_some_and(|(m, slot)| m.mark(b.live, slot, index, b.trail.in_pass));
            b.trail.work(index, marked);
        }
        match role {
            Role::BeginPass => b.trail.in_pass = true,
            // Between a rendering that is suspended and the one that resumes it nothing may stand.
            Role::EndPass => b.trail.in_pass = b.trail.suspending,
            _ => {}
        }
        if role == Role::BeginPass {
            let flags = view().one("pRenderingInfo").and_then(|i| i.u32("flags")).unwrap_or(0);
            b.trail.suspending = flags & vk::RenderingFlags::SUSPENDING.as_raw() != 0;
        }
    }

    fn end(&mut self, id: u64) {
        if let Some(b) = self.buffers.get(&id)
            && let (Some(m), Some(slot)) = (self.marks.get(&b.device), b.slot)
        {
            m.mark(b.live, slot, END, b.trail.in_pass);
        }
    }

    /// What other calls say about pools, command buffers and labels.
    fn remember(&mut self, cx: &mut Executor, call: &Call) {
        let v = View::call(&call.image);
        let created = || call.image.handles.iter().filter(|h| h.out).map(|h| call.image.u64(h.at));
        match call.command.name {
            "vkCreateCommandPool" => {
                let family = v.one("pCreateInfo").and_then(|i| i.u32("queueFamilyIndex")).unwrap_or(0);
                let device = cx.backend.vulkan().and_then(|vk| vk.device(call.image.u64(0)).ok());
                let copies = device.is_some_and(|d| lane::copies(d, d.folding.family(family)));
                self.pools.extend(created().map(|id| (id, copies)));
            }
            "vkAllocateCommandBuffers" => {
                let pool = v.one("pAllocateInfo").and_then(|i| i.u64("commandPool")).unwrap_or(0);
                let device = call.image.u64(0);
                for id in created() {
                    self.pool_of.insert(id, pool);
                    let (live, slot, trail) = (vk::CommandBuffer::null(), None, Trail::default());
                    self.buffers.insert(id, Buffer { device, live, slot, trail });
                }
            }
            "vkQueueBeginDebugUtilsLabelEXT" => {
                let name = v.one("pLabelInfo").and_then(|l| l.text("pLabelName").map(|n| n.into_owned()));
                self.queue_labels.entry(call.image.u64(0)).or_default().push(name.unwrap_or_default());
            }
            "vkQueueEndDebugUtilsLabelEXT" => {
                if let Some(open) = self.queue_labels.get_mut(&call.image.u64(0)) {
                    open.pop();
                }
            }
            _ => {}
        }
    }

    /// The marks of these command buffers and of those they run.
    fn slots(&self, buffers: &[u64], found: &mut Vec<Slot>) {
        for b in buffers.iter().filter_map(|id| self.buffers.get(id)) {
            found.extend(b.slot);
            let inner: Vec<u64> = b.trail.secondaries.iter().map(|s| s.1).collect();
            self.slots(&inner, found);
        }
    }

    /// Wipes the marks that the submission will write.
    fn submitting(&mut self, cx: &mut Executor, call: &Call) -> Result<()> {
        let queue = call.image.u64(0);
        let v = View::call(&call.image);
        let mut buffers = Vec::new();
        for s in v.structs("pSubmits") {
            buffers.extend(s.u64s("pCommandBuffers"));
            buffers.extend(s.structs("pCommandBufferInfos").filter_map(|i| i.u64("commandBuffer")));
        }
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
        self.slots(&buffers, &mut slots);
        let Some(lane) = self.lanes.get_mut(&queue) else { return Ok(()) };
        let Some(marks) = self.marks.get(&lane.device) else { return Ok(()) };
        let labels = self.queue_labels.get(&queue).cloned().unwrap_or_default();
        let mut pending = Pending::new(number, call, buffers, labels);
        lane.before(marks, &slots, &mut pending)?;
        self.current = Some(pending);
        Ok(())
    }

    /// Where the first command buffer that is not done stands.
    fn place(&self, pending: &Pending, found: &mut InFlight) {
        for id in &pending.buffers {
            let Some((b, slot)) = self.buffers.get(id).and_then(|b| b.slot.map(|s| (b, s))) else { continue };
            let mark = slot.read();
            if mark == END {
                continue;
            }
            found.command_buffer = Some(*id);
            self.place_in(*id, b, mark, found);
            return;
        }
    }

    fn place_in(&self, id: u64, b: &Buffer, mark: u32, found: &mut InFlight) {
        let Some(place) = b.trail.at(mark) else { return };
        found.command_buffer = Some(id);
        (found.index, found.command) = (Some(place.index), Some(place.command));
        found.labels.extend(place.labels);
        // A secondary command buffer says more, if it has begun.
        for (_, inner) in b.trail.secondaries.iter().filter(|s| s.0 == mark) {
            if let Some((s, slot)) = self.buffers.get(inner).and_then(|s| s.slot.map(|slot| (s, slot)))
                && !matches!(slot.read(), 0 | END)
            {
                return self.place_in(*inner, s, slot.read(), found);
            }
        }
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
        Needs { optional_device_extensions: vec!["VK_AMD_buffer_marker"], ..Needs::default() }
    }

    fn wants(&self) -> Commands {
        let recorded = COMMANDS.iter().map(|c| c.name).filter(|n| n.starts_with("vkCmd"));
        Commands::named(&OTHERS.iter().copied().chain(recorded).collect::<Vec<_>>())
    }

    fn wants_linked(&self) -> Commands {
        Commands::named(SUBMITS)
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        if let Some(role) = self.roles[call.index] {
            self.recorded(call, role);
            return next.run(cx, call);
        }
        match call.command.name {
            "vkDestroyDevice" => {
                let device = call.image.u64(0);
                if let Some(d) = cx.backend.vulkan().and_then(|vk| vk.device(device).ok()) {
                    d.wait_idle()?;
                    self.destroy(Some(device));
                }
                next.run(cx, call)
            }
            "vkEndCommandBuffer" => {
                self.end(call.image.u64(0));
                next.run(cx, call)
            }
            name => {
                let outcome = next.run(cx, call)?;
                match name {
                    "vkBeginCommandBuffer" => self.begin(cx, call)?,
                    _ => self.remember(cx, call),
                }
                Ok(outcome)
            }
        }
    }

    fn linked(&mut self, cx: &mut Executor, call: &Call, _: &mut Linked) -> Result<()> {
        self.submitting(cx, call)
    }

    fn invoked(&mut self, _: &mut Executor, call: &Call, _: &mut Linked, ret: u64) -> Result<()> {
        if let Some(pending) = self.current.take()
            && ret as u32 as i32 >= 0
            && let Some(lane) = self.lanes.get_mut(&call.image.u64(0))
        {
            lane.after(pending)?;
        }
        Ok(())
    }

    fn stopped(&mut self, _: &mut Executor, _: &Error) -> Vec<InFlight> {
        let mut found = Vec::new();
        for (queue, lane) in &mut self.lanes {
            lane.sweep();
            found.extend(lane.pending.iter().map(|p| (*queue, lane.begun(p), p.clone())));
        }
        found.sort_by_key(|(_, begun, p)| (!begun, p.number));
        let one = |(queue, begun, p): (u64, bool, Pending)| {
            let mut f = InFlight {
                submit: p.number,
                block: p.block,
                frame: p.frame,
                queue,
                begun: Some(begun),
                labels: p.labels.clone(),
                ..InFlight::default()
            };
            if begun {
                self.place(&p, &mut f);
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

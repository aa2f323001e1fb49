//! Follows what executes, so that a snapshot knows each image's layouts and which structures were built.
//!
//! A command buffer's events are kept from its beginning to the next; they apply at each submission, in order, secondary
//! command buffers where their primary executes them. Sleeps once the repeated frame has run once: what it does to
//! layouts is then known, and nothing of this runs inside a measured frame. Refuses nothing; what is nested deeper than
//! `NESTED` is not seen.

use super::layouts::Layouts;
use super::scan::{self, Event, Scan};
use crate::error::Result;
use crate::exec::Executor;
use crate::hook::{Commands, Hook, Needs, Next};
use crate::link::Linked;
use crate::objects::Objects;
use crate::vulkan::{BufferState, ImageState, Vulkan, format, memory, new_object};
use ash::vk::{self, Handle};
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::view::View;
use std::cell::{Ref, RefCell, RefMut};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use world::Outcome;

/// Secondary command buffers cannot nest without VK_EXT_nested_command_buffer.
const NESTED: u32 = 8;
/// How many command buffers are kept before the dead ones are looked for.
const SWEEP: usize = 1024;

const SUBMITS: &[&str] = &["vkQueueSubmit", "vkQueueSubmit2"];
const OTHERS: &[&str] = &[
    "vkBeginCommandBuffer",
    "vkCreateImage",
    "vkDestroyImage",
    "vkDestroySwapchainKHR",
    "vkDestroyAccelerationStructureKHR",
];
const BINDS: &[&str] = &["vkBindBufferMemory", "vkBindBufferMemory2"];
const STRUCTURE: &str = "vkCreateAccelerationStructureKHR";

/// The handle and the layouts of an image that nothing is known of yet.
pub(super) type Base<'b> = &'b dyn Fn(u64) -> Option<(u64, Layouts)>;

/// What is known of an image.
#[derive(Clone, Debug)]
pub(super) struct Tracked {
    /// The handle it had: an id may come again.
    live: u64,
    pub layouts: Layouts,
    /// When it was last moved or written, in the tracker's own count.
    pub used: u64,
    /// The queue family it was last given to.
    pub owner: Option<u32>,
}

/// Where an acceleration structure was made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Live.
    pub buffer: vk::Buffer,
    pub offset: u64,
    pub size: u64,
}

#[derive(Debug, Default)]
pub(super) struct State {
    scan: Scan,
    images: HashMap<u64, Tracked>,
    recorded: HashMap<u64, Vec<Event>>,
    sweep_at: usize,
    clock: u64,
    pub places: HashMap<u64, Place>,
    /// Structures that something was built or copied into, and that has executed.
    built: HashSet<u64>,
    /// The state snapshot of a trimmed capture is being loaded.
    loading: bool,
    /// Since the snapshot: images that may have been written, structures that were.
    pub written: HashSet<u64>,
    pub rebuilt: HashSet<u64>,
    /// Memory objects that there were at the snapshot; none before it.
    pub memories: Option<HashSet<u64>>,
    /// What the host had put where the frame bound new buffers.
    pub found: HashMap<u64, Vec<u8>>,
    pub asleep: bool,
}

/// The tracker's findings, shared with the snapshot.
#[derive(Clone, Debug, Default)]
pub struct Tracking(Rc<RefCell<State>>);

impl Tracking {
    pub(super) fn state(&self) -> Ref<'_, State> {
        self.0.borrow()
    }
    pub(super) fn state_mut(&self) -> RefMut<'_, State> {
        self.0.borrow_mut()
    }
}

/// The hook; see the module's header.
pub struct Tracker(Tracking);

impl Tracker {
    /// The hook, and what it will find.
    pub fn new() -> (Self, Tracking) {
        let tracking = Tracking::default();
        (Tracker(tracking.clone()), tracking)
    }
}

/// How an image that nobody has moved is.
pub(super) fn untouched(i: &ImageState) -> Layouts {
    let layers = if i.kind == vk::ImageType::TYPE_3D { 1 } else { i.layers };
    Layouts::new(format::aspects(i.format), i.levels, layers, i.layout)
}

impl State {
    /// The image's state, as `base` says where nothing is known yet.
    fn tracked(&mut self, id: u64, base: impl FnOnce() -> Option<(u64, Layouts)>) -> Option<&mut Tracked> {
        let fresh = |(live, layouts)| Tracked { live, layouts, used: 0, owner: None };
        match self.images.entry(id) {
            std::collections::hash_map::Entry::Occupied(e) => Some(e.into_mut()),
            std::collections::hash_map::Entry::Vacant(e) => Some(e.insert(fresh(base()?))),
        }
    }

    /// What is known of an image now.
    pub fn image(&self, id: u64, image: &ImageState) -> Tracked {
        let live = image.live.as_raw();
        let known = self.images.get(&id).filter(|t| t.live == live);
        known.cloned().unwrap_or_else(|| Tracked { live, layouts: untouched(image), used: 0, owner: None })
    }

    /// vkBeginCommandBuffer.
    fn begin(&mut self, id: u64, objects: &Objects) {
        if self.recorded.len() >= self.sweep_at.max(SWEEP) {
            self.recorded.retain(|id, _| objects.any(*id).is_some());
            self.sweep_at = self.recorded.len() * 2;
        }
        self.recorded.entry(id).or_default().clear();
    }

    fn record(&mut self, call: &Call) {
        let events = self.scan.recorded(call);
        if let Some(id) = View::call(&call.image).u64("commandBuffer").filter(|_| !events.is_empty()) {
            self.recorded.entry(id).or_default().extend(events);
        }
    }

    /// These command buffers execute.
    fn play(&mut self, ids: &[u64], base: Base<'_>) {
        let recorded = std::mem::take(&mut self.recorded);
        self.play_nested(&recorded, ids, NESTED, base);
        self.recorded = recorded;
    }

    fn play_nested(&mut self, recorded: &HashMap<u64, Vec<Event>>, ids: &[u64], deeper: u32, base: Base<'_>) {
        for event in ids.iter().filter_map(|id| recorded.get(id)).flatten() {
            match event {
                Event::Execute(ids) if deeper > 0 => self.play_nested(recorded, ids, deeper - 1, base),
                event => self.apply(event, base),
            }
        }
    }

    pub fn apply(&mut self, event: &Event, base: Base<'_>) {
        self.clock += 1;
        let now = self.clock;
        match event {
            Event::Layout(id, range, to) => {
                if let Some(t) = self.tracked(*id, || base(*id)) {
                    t.layouts.set(*range, *to);
                    t.used = now;
                }
            }
            Event::Owner(id, family) => {
                if let Some(t) = self.tracked(*id, || base(*id)) {
                    t.owner = Some(*family);
                }
            }
            Event::Write(id) => {
                self.written.insert(*id);
                if let Some(t) = self.tracked(*id, || base(*id)) {
                    t.used = now;
                }
            }
            Event::Structure(id) => {
                self.rebuilt.insert(*id);
                self.built.insert(*id);
            }
            Event::Execute(_) => {}
        }
    }

    /// Structures that the snapshot of a trimmed capture built.
    fn loaded(&mut self, vulkan: &Vulkan) {
        self.built.extend(vulkan.ray.structures.iter().filter(|s| s.1.filled).map(|s| *s.0));
    }

    /// Whether a structure holds something by now.
    pub fn is_built(&mut self, id: u64, vulkan: &Vulkan) -> bool {
        if std::mem::take(&mut self.loading) {
            self.loaded(vulkan);
        }
        self.built.contains(&id)
    }

    /// The repeated frame has bound buffers.
    fn bound(&mut self, call: &Call, vulkan: &Vulkan) {
        let Some(memories) = &self.memories else { return };
        let v = View::call(&call.image);
        let ids = v.u64("buffer").into_iter().chain(v.structs("pBindInfos").filter_map(|i| i.u64("buffer")));
        for id in ids {
            let Some(b) = vulkan.buffer(id) else { continue };
            // What the frame itself writes to memory of its own, it writes again.
            if b.alloc.is_none() && !b.memory.is_some_and(|m| memories.contains(&m.0)) {
                continue;
            }
            if let Some(bytes) = host_bytes(vulkan, b).filter(|all| all.iter().any(|v| *v != 0)) {
                self.found.insert(id, bytes);
            }
        }
    }

    /// One of the calls the tracker asks for has succeeded.
    fn see(&mut self, call: &Call, objects: &Objects, base: Base<'_>) {
        let v = View::call(&call.image);
        match call.command.canonical {
            "vkBeginCommandBuffer" => self.begin(call.image.u64(0), objects),
            "vkCreateImage" => drop(v.u64("pImage").map(|id| self.images.remove(&id))),
            "vkDestroyImage" => drop(v.u64("image").map(|id| self.images.remove(&id))),
            "vkDestroySwapchainKHR" => self.images.retain(|id, _| base(*id).is_some()),
            "vkDestroyAccelerationStructureKHR" => {
                if let Some(id) = v.u64("accelerationStructure") {
                    self.places.remove(&id);
                    self.built.remove(&id);
                }
            }
            name if SUBMITS.contains(&name) => self.play(&scan::submitted(call), base),
            name if scan::OBJECTS.contains(&name) => self.scan.see(call),
            name if scan::HOST.contains(&name) => {
                for e in self.scan.recorded(call) {
                    self.apply(&e, base);
                }
            }
            _ => self.record(call),
        }
    }
}

/// What the host had put into memory before a buffer was bound there; none where the host does not see it. Nothing on the
/// device writes them.
fn host_bytes(vk: &Vulkan, b: &BufferState) -> Option<Vec<u8>> {
    if let Some(a) = &b.alloc {
        return a.read(0, b.size);
    }
    let (id, offset) = b.memory?;
    memory::read(vk, id, offset, b.size)
}

impl Hook for Tracker {
    fn name(&self) -> &'static str {
        "contents"
    }

    fn needs(&self) -> Needs {
        Needs { restorable: true, ..Needs::default() }
    }

    fn wants(&self) -> Commands {
        let wanted = [scan::OBJECTS, scan::RECORDED, scan::HOST, SUBMITS, BINDS, OTHERS].concat();
        // Under all their names.
        let all = COMMANDS.iter().filter(|c| wanted.contains(&c.canonical) || wanted.contains(&c.name));
        Commands::named(&all.map(|c| c.name).collect::<Vec<_>>())
    }

    fn wants_linked(&self) -> Commands {
        Commands::named(&[STRUCTURE])
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        if self.0.state().loading != call.in_state {
            let mut state = self.0.state_mut();
            if let (false, Some(vulkan)) = (call.in_state, cx.backend.vulkan()) {
                state.loaded(vulkan);
            }
            state.loading = call.in_state;
        }
        let outcome = next.run(cx, call)?;
        let failed = call.command.ret.is_some() && outcome.result() < 0;
        let mut state = self.0.state_mut();
        if failed || state.asleep {
            return Ok(outcome);
        }
        if let Some(vulkan) = cx.backend.vulkan() {
            if BINDS.contains(&call.command.canonical) {
                state.bound(call, vulkan);
                return Ok(outcome);
            }
            let base = |id: u64| vulkan.image(id).map(|i| (i.live.as_raw(), untouched(i)));
            state.see(call, &cx.objects, &base);
        }
        Ok(outcome)
    }

    fn invoked(&mut self, _: &mut Executor, call: &Call, linked: &mut Linked, ret: u64) -> Result<()> {
        let info = linked.param::<vk::AccelerationStructureCreateInfoKHR<'_>>(1);
        let Some(info) = info else { return Ok(()) };
        if (ret as u32 as i32) < 0 {
            return Ok(());
        }
        let (id, _) = new_object(call)?;
        let place = Place { buffer: info.buffer, offset: info.offset, size: info.size };
        self.0.state_mut().places.insert(id, place);
        Ok(())
    }
}

#[cfg(test)]
mod tests;

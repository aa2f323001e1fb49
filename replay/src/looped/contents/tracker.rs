//! Follows what executes, so that a snapshot knows each image's layouts and which structures were built.
//!
//! What command buffers hold is the executor's world's; it is gone through at each submission. Sleeps once the repeated frame
//! has run once: what it does to layouts is then known, and nothing of this runs inside a measured frame. Refuses nothing.

use super::events::{self, Event};
use super::layouts::Layouts;
use crate::error::Result;
use crate::exec::Executor;
use crate::hook::{Commands, Hook, Needs, Next};
use crate::vulkan::{BufferState, ImageState, Vulkan, format, memory};
use ash::vk::{self, Handle};
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::view::View;
use std::cell::{Ref, RefCell, RefMut};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use world::walk::{Step, submitted};
use world::{Outcome, World};

const SUBMITS: &[&str] = &["vkQueueSubmit", "vkQueueSubmit2"];
const OBJECTS: &[&str] = &["vkCreateImage", "vkDestroyImage", "vkDestroyAccelerationStructureKHR"];
const BINDS: &[&str] = &["vkBindBufferMemory", "vkBindBufferMemory2"];

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

#[derive(Debug, Default)]
pub(super) struct State {
    images: HashMap<u64, Tracked>,
    clock: u64,
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
    fn see(&mut self, call: &Call, world: &World, base: Base<'_>) {
        let v = View::call(&call.image);
        match call.command.canonical {
            // (an id may come again)
            "vkCreateImage" => drop(v.u64("pImage").map(|id| self.images.remove(&id))),
            "vkDestroyImage" => drop(v.u64("image").map(|id| self.images.remove(&id))),
            "vkDestroyAccelerationStructureKHR" => {
                self.built.remove(&v.u64("accelerationStructure").unwrap_or(0));
            }
            name if SUBMITS.contains(&name) => world.walk(&submitted(call), &mut |_, step| {
                if let Step::Command(c) = step {
                    events::of_command(world, &c.command).iter().for_each(|e| self.apply(e, base));
                }
            }),
            // (seen so that what a snapshot built is known before more is recorded)
            name if events::STRUCTURES.contains(&name) => {}
            _ => events::of_call(call).iter().for_each(|e| self.apply(e, base)),
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
        let wanted = [events::HOST, events::STRUCTURES, SUBMITS, OBJECTS, BINDS].concat();
        // Under all their names.
        let all = COMMANDS.iter().filter(|c| wanted.contains(&c.canonical) || wanted.contains(&c.name));
        Commands::named(&all.map(|c| c.name).collect::<Vec<_>>())
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
        let Executor { objects, backend, .. } = cx;
        if let Some(vulkan) = backend.vulkan() {
            if BINDS.contains(&call.command.canonical) {
                state.bound(call, vulkan);
                return Ok(outcome);
            }
            let base = |id: u64| vulkan.image(id).map(|i| (i.live.as_raw(), untouched(i)));
            state.see(call, objects.world(), &base);
        }
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests;

//! What stands in a capture, as far as leaving parts of it out has to know: which blocks use what others make, and what belongs together.
//!
//! A block uses an object if its call names it, or its data are the object's contents; the object is the one that was made last under that id.
//! A draw, dispatch or trace uses what commands before it set in its command buffer, and what names an object uses what is in it ([`needs`]).
//! Guarantees: what is left out leaves no block behind that names what it made. Refuses captures of several files, and blocks that cannot be read.

use super::addresses::Addresses;
use super::needs::{self, Contents, Named, Parts};
use super::waits::Waits;
use crate::say::note;
use gfxr_parse::ahead::{Call, What, read};
use gfxr_parse::container::{Capture, FrameCounter, FrameRule, Scratch};
use gfxr_parse::meta::{Meta, id};
use gfxr_parse::schema::{HandleId, handle_named};
use gfxr_parse::view::View;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// See the module's header.
#[derive(Debug, Default)]
pub struct Graph {
    /// By block: those that use what it makes.
    users: Vec<Vec<u32>>,
    /// By block: those that would run on the device without what it sets.
    needs: Vec<Vec<u32>>,
    submissions: Vec<u32>,
    /// Blocks without parts of which shaders would read what is not there ([`super::addresses`]).
    pub by_address: BTreeSet<u32>,
    waits: Waits,
    /// What belongs together, from large to small.
    pub levels: Vec<Level>,
}

/// Things of one size.
#[derive(Debug)]
pub struct Level {
    /// What they are, for people.
    pub name: &'static str,
    /// Their blocks.
    pub groups: Vec<Vec<u32>>,
}

/// Commands that begin what others end, in one command buffer.
const PAIRS: [(&str, &str); 3] = [
    ("vkCmdBeginDebugUtilsLabelEXT", "vkCmdEndDebugUtilsLabelEXT"),
    ("vkCmdBeginQuery", "vkCmdEndQuery"),
    ("vkCmdBeginConditionalRenderingEXT", "vkCmdEndConditionalRenderingEXT"),
];

/// Beginnings of the names of calls that have the device work, or wait for it. Many faults are there before it does; what is left then is quick, and waits for nothing.
const RUNS: [&str; 10] = [
    "vkQueue",
    "vkWaitFor",
    "vkWaitSemaphores",
    "vkGetSemaphoreCounterValue",
    "vkSignalSemaphore",
    "vkAcquireNextImage",
    "vkDeviceWaitIdle",
    "vkGetFenceStatus",
    "vkResetFences",
    "vkGetQueryPoolResults",
];

/// What is being read.
#[derive(Default)]
struct Reading {
    of: Graph,
    /// The type VkCommandBuffer.
    command_buffer: Option<HandleId>,
    /// The type VkAccelerationStructureKHR.
    structure: Option<HandleId>,
    /// Types of shaders, of what they read, and of what leads to it.
    read: Vec<HandleId>,
    /// By object: the block that made it last.
    made: HashMap<u64, u32>,
    runs: Vec<u32>,
    frames: BTreeMap<u64, Vec<u32>>,
    recordings: Vec<Vec<u32>>,
    passes: Vec<Vec<u32>>,
    pairs: Vec<Vec<u32>>,
    /// Those that make no object, and that others need.
    sets: HashSet<u32>,
    /// By command buffer.
    open: HashMap<u64, Open>,
    contents: Contents,
    addresses: Addresses,
}

/// What is being recorded.
#[derive(Default)]
struct Open {
    /// The block that began it.
    first: u32,
    /// The numbers of the recording and of its render pass.
    recording: usize,
    pass: Option<usize>,
    /// By what is to end it, what has begun.
    begun: Vec<(&'static str, u32)>,
    /// What was set.
    state: Parts,
}

impl Graph {
    /// Of a capture.
    pub fn of(capture: &Capture) -> Result<Graph, String> {
        let (mut scratch, mut frames) = (Scratch::new(), FrameCounter::with_rule(FrameRule::detect(capture)));
        let types =
            ["VkPipeline", "VkShaderEXT", "VkDescriptorSet", "VkBuffer", "VkAccelerationStructureKHR"];
        let of_types = types.into_iter().filter_map(handle_named).collect();
        let (command_buffer, structure) =
            (handle_named("VkCommandBuffer"), handle_named("VkAccelerationStructureKHR"));
        let mut r = Reading { command_buffer, structure, read: of_types, ..Reading::default() };
        let mut blocks = capture.blocks_of_main_file();
        for block in &mut blocks {
            if block.meta_type() == Some(id::EXECUTE_BLOCKS) {
                return Err("a capture of several files; `compress` makes one of them".into());
            }
            let place = frames.feed(&block);
            let at = r.of.users.len() as u32;
            r.of.users.push(vec![]);
            r.of.needs.push(vec![]);
            let what = read(&block, place, None, &mut scratch).map_err(|e| e.to_string())?;
            r.frames.entry(place.frame).or_default().push(at);
            match what {
                What::Call(call) => r.call(&call, at),
                What::Meta(meta, _) => {
                    let (of, data) = match &meta.meta {
                        Meta::FillMemory(m) => (Some(m.memory), Some(m.data)),
                        Meta::InitBuffer(m) => (Some(m.buffer), Some(m.data)),
                        Meta::InitImage(m) => (Some(m.image), None),
                        _ => (None, None),
                    };
                    let mut holds = vec![];
                    if let Some(data) = data.filter(|_| r.addresses.any()) {
                        holds = r.holds(data.bytes(&mut scratch).map_err(|e| e.to_string())?, at);
                    }
                    match &meta.meta {
                        Meta::FillMemory(m) => {
                            r.addresses.fill(m.memory, m.offset, m.data.size(), &holds, at)
                        }
                        Meta::InitBuffer(m) => r.addresses.contents(m.buffer, m.data.size(), holds, at),
                        Meta::OpaqueAddress(m) => r.addresses.known(m.object, at),
                        Meta::ShaderGroups(m) => r.addresses.known(m.pipeline, at),
                        Meta::BuildAcceleration(_) | Meta::CopyAcceleration(_) => r.addresses.state(at),
                        _ => {}
                    }
                    // (the replay itself writes these on the device, whatever is submitted)
                    if let Some(id) = of {
                        r.uses(id, at, false);
                        r.contents.of(id).for_each(|by| r.of.user(by, at));
                    }
                }
                _ => {}
            }
        }
        if let Some(e) = blocks.truncated() {
            return Err(e.to_string());
        }
        Ok(r.finish())
    }

    /// A block uses another.
    fn user(&mut self, of: u32, at: u32) {
        add(&mut self.users, of, at);
    }

    /// A block needs another where it runs on the device.
    fn needs(&mut self, of: u32, at: u32) {
        add(&mut self.needs, of, at);
    }

    /// How many blocks there are.
    pub fn blocks(&self) -> usize {
        self.users.len()
    }

    /// What is gone where nothing is submitted or waited for: the first level.
    pub fn idle(&self) -> Vec<bool> {
        let mut gone = vec![false; self.users.len()];
        let all = self.levels.first().into_iter().flat_map(|l| l.groups.iter().flatten().copied());
        for b in self.with_users(&gone, all) {
            gone[b as usize] = true;
        }
        gone
    }

    /// Puts back what cannot go, with what was gone before.
    pub fn keep(&self, before: &[bool], gone: &mut [bool]) {
        self.waits.keep(before, gone);
    }

    /// These blocks, and all that cannot stay without them and what is gone. Where nothing is submitted any more nothing runs, and needs nothing.
    pub fn with_users(&self, gone: &[bool], blocks: impl IntoIterator<Item = u32>) -> Vec<u32> {
        let mut known = HashSet::new();
        let mut all: Vec<u32> = blocks.into_iter().filter(|b| known.insert(*b)).collect();
        let runs = self.submissions.iter().any(|b| !gone[*b as usize] && !known.contains(b));
        let mut next = 0;
        while next < all.len() {
            let block = all[next] as usize;
            let users = self.users[block].iter().chain(self.needs[block].iter().filter(|_| runs));
            all.extend(users.copied().filter(|user| known.insert(*user)));
            next += 1;
        }
        all
    }
}

/// Another that uses a block.
fn add(to: &mut [Vec<u32>], of: u32, at: u32) {
    let users = &mut to[of as usize];
    if of != at && users.last() != Some(&at) {
        users.push(at);
    }
}

impl Reading {
    /// A block names an object; and needs what is in it.
    fn uses(&mut self, id: u64, at: u32, contents: bool) {
        let maker = self.made.get(&id).copied();
        maker.into_iter().for_each(|by| self.of.user(by, at));
        self.contents.of(id).filter(|_| contents).for_each(|by| self.of.needs(by, at));
    }

    /// A block's data name objects by their addresses: which.
    fn holds(&mut self, data: &[u8], at: u32) -> Vec<u64> {
        let held = self.addresses.held(data);
        self.named(held, at)
    }

    /// A block names objects by their addresses.
    fn named(&mut self, by_address: BTreeMap<u64, Option<u32>>, at: u32) -> Vec<u64> {
        for (object, asked) in &by_address {
            self.uses(*object, at, true);
            asked.iter().for_each(|by| self.of.needs(*by, at));
        }
        by_address.into_keys().collect()
    }

    fn call(&mut self, call: &Call, at: u32) {
        let id = |at: u32| call.image.u64(at);
        let (name, filled) = (call.command.canonical, needs::filled_by(call));
        for object in call.image.handles.iter().filter(|h| !h.out).map(|h| id(h.at)) {
            // (what is put in the place of what there was does not need that)
            let put = filled.iter().any(|f| f.object == object && !f.reads);
            self.uses(object, at, !put);
        }
        for h in call.image.handles.iter().filter(|h| h.out) {
            // (what is asked for again, as a queue is, was made before)
            if let Entry::Vacant(new) = self.made.entry(id(h.at)) {
                new.insert(at);
                self.contents.empty(id(h.at));
            }
        }
        let addressed = self.addresses.at(call.image.addresses.iter().map(|a| id(*a)));
        let addressed = self.named(addressed, at);
        let (v, mut held) = (View::call(&call.image), vec![]);
        let constants = v.bytes("pValues").or_else(|| v.one("pPushConstantsInfo")?.bytes("pValues"));
        if let Some(data) = constants.or_else(|| v.bytes("pData")).filter(|_| name.starts_with("vkCmd")) {
            held = self.holds(data, at);
        }
        self.addresses.call(call, &held, at);
        let parts = needs::set_by(call);
        // What it reads itself: what is behind its addresses, and structures that it does not build anew.
        let anew = |object| filled.iter().any(|f| f.object == object && !f.reads);
        let structures = call.image.handles.iter().filter(|h| Some(h.ty) == self.structure).map(|h| id(h.at));
        let mut with: BTreeSet<Named> = structures.filter(|s| !anew(*s)).map(|s| (s, false)).collect();
        with.extend(addressed.iter().map(|object| (*object, true)));
        if !parts.is_empty() || filled.iter().any(|f| f.leads_on()) {
            let read = call.image.handles.iter().filter(|h| self.read.contains(&h.ty));
            let by_address = addressed.into_iter().chain(held).map(|object| (object, true));
            self.contents.names(at, read.map(|h| (id(h.at), false)).chain(by_address));
        }
        let structures_built: Vec<u64> =
            filled.iter().filter(|f| f.is_structure()).map(|f| f.object).collect();
        self.addresses.changed |= filled.iter().any(|f| f.leads_on());
        for f in filled {
            self.contents.put(f, at);
            self.sets.insert(at);
        }
        let makers = call.image.handles.iter().filter_map(|h| self.made.get(&id(h.at)).copied());
        for submission in self.of.waits.call(call, makers, at) {
            self.of.user(submission, at);
        }
        if RUNS.iter().any(|r| name.starts_with(r)) {
            self.runs.push(at);
        }
        if name.starts_with("vkQueueSubmit") {
            self.of.submissions.push(at);
            let buffers = call.image.handles.iter().filter(|h| Some(h.ty) == self.command_buffer);
            self.addresses.submit(buffers.map(|h| id(h.at)), &self.contents, at);
        }
        if name.starts_with("vkDestroy") || name.starts_with("vkFree") {
            // (its id may come again)
            // (of what is given back to a pool, the pool stays)
            let owners = if ["vkFreeCommandBuffers", "vkFreeDescriptorSets"].contains(&name) { 2 } else { 1 };
            for gone in call.image.handles.iter().skip(owners) {
                self.made.remove(&id(gone.at));
                self.contents.empty(id(gone.at));
                self.addresses.gone(id(gone.at));
            }
        }
        let recorded = name.starts_with("vkCmd");
        if !recorded && !["vkBeginCommandBuffer", "vkEndCommandBuffer"].contains(&name) {
            structures_built.into_iter().for_each(|s| self.addresses.is_built(s, [at; 2]));
            return;
        }
        let buffer = id(0);
        if name == "vkBeginCommandBuffer" {
            self.recordings.push(vec![]);
            self.open
                .insert(buffer, Open { first: at, recording: self.recordings.len() - 1, ..Open::default() });
        }
        let Some(open) = self.open.get_mut(&buffer) else { return };
        self.recordings[open.recording].push(at);
        self.of.user(open.first, at);
        self.sets.insert(open.first);
        if name.starts_with("vkCmdBeginRender") {
            self.passes.push(vec![]);
            open.pass = Some(self.passes.len() - 1);
        }
        if let Some(pass) = open.pass {
            self.passes[pass].push(at);
        }
        if name.starts_with("vkCmdEndRender") {
            open.pass = None;
        }
        for part in parts {
            open.state.set(part, at);
            self.sets.insert(at);
        }
        if let Some(stages) = needs::stages(name) {
            open.state.used(stages).for_each(|by| self.of.needs(by, at));
            with.extend(open.state.used(stages).flat_map(|by| self.contents.named(by)));
            // (buffers that it names itself say how much work it is)
            let sizes = call.image.handles.iter().filter(|h| self.read.contains(&h.ty));
            with.extend(sizes.map(|h| (id(h.at), true)));
        }
        self.addresses.reads(buffer, with, needs::stages(name).is_some_and(needs::may_write), at);
        structures_built.into_iter().for_each(|s| self.addresses.builds(buffer, s, at));
        if let Some(pair) = PAIRS.iter().find(|p| p.0 == name) {
            open.begun.push((pair.1, at));
        } else if let Some(first) = open.begun.iter().rposition(|b| b.0 == name) {
            let (_, first) = open.begun.remove(first);
            self.pairs.push(vec![first, at]);
        }
    }

    fn finish(mut self) -> Graph {
        if self.addresses.is_full() {
            note(
                "more is read by address than is followed: a trial may read what is not there, and a GPU may never end",
            );
        }
        for (of, by) in std::mem::take(&mut self.addresses.uses) {
            self.of.needs(of, by);
            self.sets.insert(of);
            self.of.by_address.insert(of);
        }
        let one = |blocks: Vec<u32>| blocks.into_iter().map(|b| vec![b]).collect();
        let all = 0..self.of.users.len() as u32;
        let makes = |b: &u32| !self.of.users[*b as usize].is_empty() && !self.sets.contains(b);
        let makers = all.clone().filter(makes).collect();
        self.of.levels = vec![
            Level { name: "submissions and waits, at once", groups: vec![self.runs] },
            Level { name: "frames", groups: self.frames.into_values().collect() },
            Level { name: "command buffers", groups: self.recordings },
            Level { name: "render passes", groups: self.passes },
            Level { name: "objects", groups: one(makers) },
            Level { name: "labels and queries", groups: self.pairs },
            Level { name: "blocks", groups: one(all.collect()) },
        ];
        self.of
    }
}

#[cfg(test)]
mod tests;

//! What the blocks before a range of frames make, and which of them are needed for what the range uses.
//!
//! A call either makes objects, or makes one what it is (binds memory, writes a descriptor set, names it), or ends some, or records a
//! command, or has the device work or waits for it. The last kind is not kept: what it leaves is contents, structures, queries
//! ([`super::residue`]) and the state of what synchronises ([`super::sync`]). Guarantees: what is kept names only what is made by what is kept. Refuses nothing: a command that is
//! not known to make anything counts as one that makes its first object what it is.

use super::calls::{ended, pool_of, targets, works};
use super::residue::{Number, Residue, Run};
use gfxr_parse::ahead::Call;
use gfxr_parse::image::Image;
use gfxr_parse::meta::Meta;
use gfxr_parse::view::View;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use world::World;

/// What was made.
#[derive(Debug, Default)]
struct Object {
    maker: u32,
    /// Calls that make it what it is.
    settled: Vec<u32>,
    /// Of a command buffer: the blocks of its last recording, from the one that begins it to the one that ends it.
    recording: Option<Vec<u32>>,
}

/// A call that ends objects.
#[derive(Debug)]
struct End {
    block: u32,
    gone: Vec<Number>,
    /// A pool gives back what it held: the call is kept if any of these is.
    any: bool,
}

/// See the module's header.
#[derive(Debug, Default)]
pub struct Before {
    objects: Vec<Object>,
    /// By id: the object that has it now.
    made: HashMap<u64, Number>,
    /// By block: the objects that its call names.
    uses: Vec<Box<[Number]>>,
    ends: Vec<End>,
    /// Blocks that say something of the file, or of an object by a metadata block.
    said: Vec<(u32, Option<u64>)>,
    /// What a call that is made again makes needless: by what it sets.
    last: HashMap<(Number, u64, u64, u64), u32>,
    /// How many things each call sets that no later one did, and of which objects.
    current: HashMap<u32, (usize, Vec<Number>)>,
    /// Sets that others were copied from, as they were then.
    copied: HashSet<Number>,
    /// By pool: what was allocated from it and may live.
    held: HashMap<Number, Vec<(u64, Number)>>,
    /// Answers that came before.
    asked: HashSet<(Number, blake3::Hash)>,
    /// By memory: the call that mapped it.
    mapped: HashMap<Number, u32>,
    /// Contents of buffers that a state section loads.
    loads: Vec<u32>,
    /// Objects that there were when a state section built structures last: it does not say in calls which they need.
    built: Number,
    /// Ids of structures whose address was asked for: instances of others may refer to them.
    instanced: BTreeSet<u64>,
    /// Ids of buffers in which structures lay.
    structured: BTreeSet<u64>,
    /// Ids of objects whose address was asked for.
    addressed: BTreeSet<u64>,
    /// What of the device's work is done again.
    pub residue: Residue,
}

/// What the range needs.
#[derive(Debug, Default)]
pub struct Kept {
    /// By block.
    pub blocks: Vec<bool>,
    /// Work that is done again, by the block that submitted it.
    pub runs: BTreeMap<u32, Vec<Rc<Run>>>,
    /// The blocks that recorded it.
    pub commands: BTreeSet<u32>,
}

impl Kept {
    fn has(&self, run: &Rc<Run>) -> bool {
        self.runs.get(&run.blocks.0).is_some_and(|all| all.iter().any(|r| r.order == run.order))
    }
}

impl Before {
    /// How many blocks there were.
    pub fn blocks(&self) -> usize {
        self.uses.len()
    }

    /// The object that an id names now.
    pub fn number(&self, id: u64) -> Option<Number> {
        self.made.get(&id).copied()
    }

    /// What a call names, its addresses included.
    pub fn named(&self, world: &World, image: &Image) -> Vec<Number> {
        let mut all: Vec<Number> =
            image.handles.iter().filter(|h| !h.out).filter_map(|h| self.number(image.u64(h.at))).collect();
        all.extend(image.addresses.iter().filter_map(|at| self.at_address(world, image.u64(*at))));
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The buffer or structure at an address.
    fn at_address(&self, world: &World, address: u64) -> Option<Number> {
        let structure = || world.structures.iter().find(|s| s.1.address == address).map(|s| *s.0);
        let id = world.at_address(address).map(|b| b.0).or_else(structure)?;
        self.number(id)
    }

    /// A block that is no call of the Vulkan API that succeeded.
    pub fn other(&mut self, meta: Option<&Meta<'_>>, keeps: bool) {
        let at = self.uses.len() as u32;
        self.uses.push(Box::default());
        let of = match meta {
            Some(Meta::InitBuffer(_) | Meta::BeginResourceInit(_) | Meta::EndResourceInit(_)) => {
                return self.loads.push(at);
            }
            Some(
                Meta::FillMemory(_) | Meta::InitImage(_) | Meta::InitTensor(_) | Meta::SwapchainImages(_),
            ) => return,
            Some(Meta::BuildAcceleration(_) | Meta::CopyAcceleration(_)) => {
                self.built = self.objects.len() as u32;
                None
            }
            Some(Meta::OpaqueAddress(m)) => Some(m.object),
            Some(Meta::OpaqueDescriptor(m)) => Some(m.object),
            Some(Meta::ShaderGroups(m)) => Some(m.pipeline),
            Some(Meta::WriteAcceleration(m)) => Some(m.acceleration_structure),
            _ => None,
        };
        match of {
            Some(id) => match self.number(id) {
                Some(object) => self.settles(object, at),
                // (what says how an object is made comes before the object)
                None => self.said.push((at, Some(id))),
            },
            None if keeps => self.said.push((at, None)),
            None => {}
        }
    }

    /// A call that succeeded.
    pub fn call(&mut self, world: &World, call: &Call) {
        let at = self.uses.len() as u32;
        let name = call.command.canonical;
        let image = &call.image;
        self.uses.push(Box::default());
        if name.starts_with("vkCmd") || ["vkBeginCommandBuffer", "vkEndCommandBuffer"].contains(&name) {
            return self.records(world, call, at);
        }
        if ["vkSetEvent", "vkResetEvent"].contains(&name)
            && let Some(event) = self.number(world::destroyed(call))
        {
            self.residue.by_host(event, name == "vkSetEvent");
        }
        if works(name) {
            return;
        }
        let named = self.named(world, image);
        let mut makes = false;
        for h in image.handles.iter().filter(|h| h.out) {
            let id = image.u64(h.at);
            if id != 0 && !self.made.contains_key(&id) {
                makes = true;
                let (pool, number) =
                    (pool_of(call).and_then(|id| self.number(id)), self.objects.len() as u32);
                if let Some(pool) = pool {
                    self.held.entry(pool).or_default().push((id, number));
                }
                self.made.insert(id, number);
                self.objects.push(Object { maker: at, ..Object::default() });
            }
        }
        if makes {
            if name == "vkCreateAccelerationStructureKHR" {
                let info = View::call(image).one("pCreateInfo");
                self.structured.extend(info.and_then(|i| i.u64("buffer")));
            }
            self.uses[at as usize] = named.into();
            return;
        }
        if name.starts_with("vkDestroy") || name.starts_with("vkFree") {
            return self.end(call, at);
        }
        if name.contains("AccelerationStructureDeviceAddress") || name == "vkGetAccelerationStructureHandleNV"
        {
            self.instanced.extend(image.handles.iter().map(|h| image.u64(h.at)));
        }
        if name.contains("DeviceAddress") {
            self.addressed.extend(image.handles.iter().map(|h| image.u64(h.at)));
        }
        match name {
            "vkResetDescriptorPool" => return self.empties(world::destroyed(call), at),
            "vkResetCommandPool" | "vkResetCommandBuffer" => return self.reset(call),
            _ => {}
        }
        let of: Vec<Number> = targets(call).into_iter().filter_map(|id| self.number(id)).collect();
        for target in of {
            if self.is_new(call, target, at) {
                self.settles(target, at);
            }
        }
        self.uses[at as usize] = named.into();
    }

    fn settles(&mut self, object: Number, at: u32) {
        let settled = &mut self.objects[object as usize].settled;
        if settled.last() != Some(&at) {
            settled.push(at);
        }
    }

    /// Whether a call says anything that was not said; what it makes needless is forgotten.
    fn is_new(&mut self, call: &Call, target: Number, at: u32) -> bool {
        let v = View::call(&call.image);
        match call.command.canonical {
            "vkUpdateDescriptorSets" => {
                for w in v.structs("pDescriptorWrites").chain(v.structs("pDescriptorCopies")) {
                    let n = |name: &str| w.u64(name).unwrap_or(0);
                    let source = w.u64("srcSet").and_then(|id| self.number(id));
                    self.copied.extend(source);
                    if self.number(n("dstSet")) == Some(target) {
                        let place = n("dstBinding") << 32 | n("dstArrayElement");
                        self.replaces((target, place, n("descriptorCount"), 0), at);
                    }
                }
            }
            "vkUpdateDescriptorSetWithTemplate" => {
                self.replaces((target, u64::MAX, v.u64("descriptorUpdateTemplate").unwrap_or(0), 0), at);
            }
            "vkResetQueryPool" => {
                let n = |name: &str| v.u64(name).unwrap_or(0);
                self.residue.reset(target, n("firstQuery") as u32, n("queryCount") as u32);
                self.replaces((target, n("firstQuery"), n("queryCount"), 1), at);
            }
            "vkMapMemory" | "vkMapMemory2" => _ = self.mapped.insert(target, at),
            "vkUnmapMemory" | "vkUnmapMemory2" => {
                if let Some(before) = self.mapped.remove(&target) {
                    self.forget(target, before);
                }
                return false;
            }
            name if name.starts_with("vkGet") && !name.starts_with("vkGetDescriptor") => {
                return self.asked.insert((target, blake3::hash(call.image.bytes())));
            }
            _ => {}
        }
        true
    }

    fn replaces(&mut self, key: (Number, u64, u64, u64), at: u32) {
        let now = self.current.entry(at).or_default();
        now.0 += 1;
        if !now.1.contains(&key.0) {
            now.1.push(key.0);
        }
        let Some(before) = self.last.insert(key, at).filter(|b| *b != at) else { return };
        if self.copied.contains(&key.0) {
            return;
        }
        let Some(left) = self.current.get_mut(&before) else { return };
        left.0 = left.0.saturating_sub(1);
        if left.0 == 0 {
            let of = self.current.remove(&before).map_or(vec![], |left| left.1);
            of.into_iter().for_each(|object| self.forget(object, before));
        }
    }

    /// A call makes an object nothing any more.
    fn forget(&mut self, object: Number, block: u32) {
        self.objects[object as usize].settled.retain(|b| *b != block);
    }

    fn end(&mut self, call: &Call, at: u32) {
        let ids = ended(call);
        let gone: Vec<Number> = ids.iter().filter_map(|id| self.made.remove(id)).collect();
        ids.iter().for_each(|id| _ = self.addressed.remove(id));
        self.ends.push(End { block: at, gone, any: false });
    }

    /// A descriptor pool takes its sets back.
    fn empties(&mut self, pool: u64, at: u32) {
        let Some(pool) = self.number(pool) else { return };
        let held = self.held.remove(&pool).unwrap_or_default();
        let gone: Vec<(u64, Number)> =
            held.into_iter().filter(|(id, n)| self.made.get(id) == Some(n)).collect();
        gone.iter().for_each(|g| _ = self.made.remove(&g.0));
        self.ends.push(End { block: at, gone: gone.into_iter().map(|g| g.1).collect(), any: true });
    }

    /// A command pool or buffer is reset.
    fn reset(&mut self, call: &Call) {
        let id = if call.command.canonical == "vkResetCommandPool" {
            world::destroyed(call)
        } else {
            call.image.u64(0)
        };
        let Some(of) = self.number(id) else { return };
        let held = self.held.get(&of).into_iter().flatten().map(|h| h.1);
        for n in std::iter::once(of).chain(held) {
            self.objects[n as usize].recording = None;
        }
    }

    fn records(&mut self, world: &World, call: &Call, at: u32) {
        let Some(buffer) = self.number(call.image.u64(0)) else { return };
        self.uses[at as usize] = self.named(world, &call.image).into();
        let begins = call.command.canonical == "vkBeginCommandBuffer";
        let recording = &mut self.objects[buffer as usize].recording;
        if begins {
            // (what is of the device's work keeps what it needs)
            for block in recording.replace(vec![]).into_iter().flatten() {
                self.uses[block as usize] = Box::default();
            }
        }
        if let Some(blocks) = recording {
            blocks.push(at);
        }
    }

    /// What a block names.
    pub fn uses(&self, block: u32) -> &[Number] {
        self.uses.get(block as usize).map_or(&[], |u| u)
    }

    /// Whether structures lay in a buffer, some of which may be gone.
    pub fn held_structures(&self, buffer: u64) -> bool {
        self.structured.contains(&buffer)
    }

    /// Objects that live and whose address was asked for.
    pub fn with_addresses(&self) -> impl Iterator<Item = Number> + '_ {
        self.addressed.iter().filter_map(|id| self.number(*id))
    }

    /// What is needed for these objects. `anew`: command buffers of which the range records what it runs.
    pub fn needed(&self, roots: impl IntoIterator<Item = Number>, anew: &HashSet<Number>) -> Kept {
        let mut kept = Kept { blocks: vec![false; self.uses.len()], ..Kept::default() };
        let mut known = vec![(false, false); self.objects.len()];
        // (an object, and whether what was recorded into it is wanted)
        let mut next: Vec<(Number, bool)> = roots.into_iter().map(|n| (n, !anew.contains(&n))).collect();
        next.extend((0..self.built).map(|n| (n, false)));
        if self.built > 0 {
            self.loads.iter().for_each(|b| kept.blocks[*b as usize] = true);
        }
        while let Some((n, recorded)) = next.pop() {
            let object = &self.objects[n as usize];
            let of = &mut known[n as usize];
            if recorded && !std::mem::replace(&mut of.1, true) {
                for block in object.recording.iter().flatten() {
                    kept.blocks[*block as usize] = true;
                    // (what it executes has to be recorded, too)
                    next.extend(self.uses(*block).iter().map(|u| (*u, true)));
                }
            }
            if std::mem::replace(&mut of.0, true) {
                continue;
            }
            for block in std::iter::once(&object.maker).chain(&object.settled) {
                if !std::mem::replace(&mut kept.blocks[*block as usize], true) {
                    next.extend(self.uses(*block).iter().map(|u| (*u, false)));
                }
            }
            for run in self.residue.of(n) {
                if kept.commands.insert(run.blocks.1) || !kept.has(run) {
                    // (an instance names its structure by an address in a buffer)
                    let of = self.instanced.iter().filter(|_| run.instances);
                    next.extend(of.filter_map(|id| Some((self.number(*id)?, false))));
                    next.extend(run.uses.iter().map(|u| (*u, false)));
                    kept.runs.entry(run.blocks.0).or_default().push(run.clone());
                }
            }
        }
        kept.runs.values_mut().for_each(|runs| runs.sort_by_key(|r| r.order));
        let there = |n: &Number| kept.blocks[self.objects[*n as usize].maker as usize];
        let mut also = vec![];
        for e in &self.ends {
            let keep = if e.any { e.gone.iter().any(there) } else { e.gone.iter().all(there) };
            also.extend((keep && !e.gone.is_empty()).then_some(e.block));
        }
        for (block, id) in &self.said {
            let of = id.and_then(|id| self.number(id));
            also.extend(of.is_none_or(|n| there(&n)).then_some(*block));
        }
        also.into_iter().for_each(|b| kept.blocks[b as usize] = true);
        kept
    }

    /// Whether an object is there once what is kept has run.
    pub fn is_there(&self, kept: &Kept, id: u64) -> bool {
        self.number(id).is_some_and(|n| kept.blocks[self.objects[n as usize].maker as usize])
    }
}

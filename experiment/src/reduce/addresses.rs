//! What commands read by address, or as the size of their work: buffers whose addresses are in constants or in other buffers, acceleration structures, shader
//! binding tables, instances and geometry, indirect commands, and what a capture knows of addresses and of shader groups' handles.
//!
//! Commands name little of it, and without it a GPU may never end. So an address is as good as a name; and each command needs what it leads to at the time of its submission,
//! with the commands that wrote it and their submissions: the contents of buffers that are named by address, addresses in other buffers, builds of acceleration structures, queries
//! of addresses and handles, and the barriers before it in its command buffer. What a dispatch or a trace leads to it may have written, too. Guarantees: of two that write the same bytes
//! the later counts. Refuses nothing. Not known: what draws write, addresses that shaders compute, read from texels or store in buffers that are named by descriptors, handles of pipeline
//! libraries, copies by way of a third buffer and from images and queries, several buffers at one place, all but the last 4,096 writes of a buffer, and
//! of two dispatches of the same pipeline on the same buffers the earlier.

use super::buffers::{Buffer, INDIRECT, Write, is_read, span};
use super::needs::{Contents, Named};
use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;
use world::ranges::Ranges;

/// Ends of the names of queries of addresses and handles, and what names the object.
const QUERIES: [(&str, &str); 4] = [
    ("BufferDeviceAddress", "buffer"),
    ("AccelerationStructureDeviceAddressKHR", "accelerationStructure"),
    ("RayTracingShaderGroupHandlesKHR", "pipeline"),
    ("RayTracingCaptureReplayShaderGroupHandlesKHR", "pipeline"),
];

/// Levels of command buffers within others.
const MOST_NESTED: usize = 4;

/// Uses that are followed, and dispatches that are known, at most.
const MOST_USES: usize = 1 << 24;
const MOST_RAN: usize = 1 << 12;

/// What a recorded command does once it is submitted.
#[derive(Debug)]
enum Effect {
    /// It writes bytes of a buffer, in which these objects' addresses are.
    Write(u64, Range<u64>, Vec<u64>, u32),
    /// It copies bytes: from a buffer and its first byte, to bytes of another.
    Copy((u64, u64), (u64, Range<u64>), u32),
    /// It builds or copies an acceleration structure.
    Build(u64, u32),
    /// It reads what these lead to; and may write it, or not.
    Read(Vec<Named>, bool, u32),
    /// It runs another command buffer.
    Run(u64),
}

/// A dispatch or a trace that was submitted.
#[derive(Debug)]
struct Ran {
    /// The command, and its submission.
    by: [u32; 2],
    /// What it may have written.
    reached: BTreeSet<u64>,
}

/// See the module's header.
#[derive(Default)]
pub struct Addresses {
    buffers: BTreeMap<u64, Buffer>,
    /// By memory: its buffers, and where it is mapped.
    memories: HashMap<u64, (Vec<u64>, u64)>,
    /// By object: what asked for its address or handles first, or says them.
    asked: BTreeMap<u64, u32>,
    /// A buffer has sizes of work.
    sizes: bool,
    /// Addresses that were asked for.
    ranges: Ranges<()>,
    /// By object, where it is.
    places: HashMap<u64, u64>,
    /// Acceleration structures: the command that built each, and its submission.
    built: HashMap<u64, Option<[u32; 2]>>,
    /// By what they were given: the last dispatches and traces.
    ran: BTreeMap<Vec<Named>, Ran>,
    /// Metadata that build what a trimmed capture begins with.
    state: Vec<u32>,
    /// By command buffer.
    effects: HashMap<u64, Vec<Effect>>,
    /// By command buffer: barriers since something read by address, and the last before that.
    barriers: HashMap<u64, Vec<u32>>,
    /// What leads on from objects changed since something was submitted.
    pub changed: bool,
    /// Changes whenever something of all this does.
    version: u64,
    /// By command that reads: the version that it was submitted with last.
    submitted: HashMap<u32, u64>,
    /// What is needed, and by whom.
    pub uses: HashSet<(u32, u32)>,
}

impl Addresses {
    /// Follows a call, and the objects whose addresses are in its data.
    pub fn call(&mut self, call: &Call, held: &[u64], at: u32) {
        let (name, v) = (call.command.canonical, View::call(&call.image));
        let number = |v: View<'_>, name: &str| v.u64(name).unwrap_or(0);
        let first = || call.image.u64(0);
        match name {
            "vkCreateBuffer" => {
                let Some(info) = v.one("pCreateInfo") else { return };
                let more = info.next("VkBufferUsageFlags2CreateInfo").map_or(0, |i| number(i, "usage"));
                let usage = number(info, "usage") | more;
                let read = is_read(usage);
                self.sizes |= usage & INDIRECT != 0;
                let made = Buffer { size: number(info, "size"), read, ..Buffer::default() };
                self.buffers.insert(number(v, "pBuffer"), made);
            }
            "vkBindBufferMemory" => self.bind(v),
            "vkBindBufferMemory2" => v.structs("pBindInfos").for_each(|bind| self.bind(bind)),
            "vkMapMemory" | "vkMapMemory2" => {
                let of = v.one("pMemoryMapInfo").unwrap_or(v);
                self.memories.entry(number(of, "memory")).or_default().1 = number(of, "offset");
            }
            "vkBeginCommandBuffer" => {
                self.effects.remove(&first());
                self.barriers.remove(&first());
            }
            "vkCmdPipelineBarrier" | "vkCmdPipelineBarrier2" => {
                self.barriers.entry(first()).or_default().push(at);
            }
            "vkCmdCopyBuffer" | "vkCmdCopyBuffer2" => {
                let of = v.one("pCopyBufferInfo").unwrap_or(v);
                let (from, to) = (number(of, "srcBuffer"), number(of, "dstBuffer"));
                for r in of.structs("pRegions") {
                    let bytes = span(number(r, "dstOffset"), number(r, "size"));
                    self.effect(first(), Effect::Copy((from, number(r, "srcOffset")), (to, bytes), at));
                }
            }
            "vkCmdUpdateBuffer" | "vkCmdFillBuffer" => {
                let size = v.u64("dataSize").unwrap_or_else(|| number(v, "size"));
                let bytes = span(number(v, "dstOffset"), size);
                self.effect(first(), Effect::Write(number(v, "dstBuffer"), bytes, held.to_vec(), at));
            }
            "vkCmdExecuteCommands" => {
                let of = v.u64s("pCommandBuffers");
                of.into_iter().for_each(|b| self.effect(first(), Effect::Run(b)));
            }
            "vkCreateAccelerationStructureKHR" | "vkCreateAccelerationStructureNV" => {
                self.built.insert(number(v, "pAccelerationStructure"), None);
            }
            _ if name.starts_with("vkGet") => {
                let query = QUERIES.iter().find(|q| name.ends_with(q.0));
                let named = |of: &str| v.u64(of).or_else(|| v.one("pInfo").and_then(|i| i.u64(of)));
                if let Some(object) = query.and_then(|q| named(q.1)) {
                    self.known(object, at);
                    if name.contains("Address") {
                        self.is_at(object, call.image.u64(call.image.ret_at()));
                    }
                }
            }
            _ => {}
        }
    }

    /// A command of this command buffer builds a structure.
    pub fn builds(&mut self, buffer: u64, structure: u64, at: u32) {
        self.effect(buffer, Effect::Build(structure, at));
    }

    fn bind(&mut self, v: View<'_>) {
        let of = |name| v.u64(name).unwrap_or(0);
        let (buffer, memory) = (of("buffer"), of("memory"));
        if let Some(b) = self.buffers.get_mut(&buffer) {
            b.memory = Some((memory, of("memoryOffset")));
            self.memories.entry(memory).or_default().0.push(buffer);
        }
    }

    fn effect(&mut self, buffer: u64, effect: Effect) {
        self.effects.entry(buffer).or_default().push(effect);
    }

    /// A structure is built.
    pub fn is_built(&mut self, structure: u64, by: [u32; 2]) {
        self.version += 1;
        self.built.insert(structure, Some(by));
    }

    /// A call or metadata say an object's address or its handles.
    pub fn known(&mut self, object: u64, at: u32) {
        if let Entry::Vacant(first) = self.asked.entry(object) {
            first.insert(at);
            self.version += 1;
        }
    }

    fn is_at(&mut self, object: u64, address: u64) {
        let size = self.buffers.get(&object).map_or(1, |b| b.size);
        if address != 0 && self.places.insert(object, address) != Some(address) {
            self.ranges.insert(address, object, size, ());
        }
    }

    /// The objects whose addresses these are, and what asked for them.
    pub fn at(&self, addresses: impl Iterator<Item = u64>) -> BTreeMap<u64, Option<u32>> {
        let Some((first, last)) = self.ranges.bounds() else { return BTreeMap::new() };
        let may = addresses.filter(|a| (first..last).contains(a));
        let objects = may.filter_map(|a| self.ranges.at(a)).map(|found| found.0);
        objects.map(|object| (object, self.asked.get(&object).copied())).collect()
    }

    /// The objects whose addresses are in data.
    pub fn held(&self, data: &[u8]) -> BTreeMap<u64, Option<u32>> {
        let words = |at| data.get(at..).unwrap_or_default().chunks_exact(8);
        // (GLSL's scalar layout aligns them to four bytes)
        let all = words(0).chain(words(4));
        self.at(all.map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default())))
    }

    /// Some address was asked for, and is known.
    pub fn any(&self) -> bool {
        !self.ranges.is_empty()
    }

    /// A command of this command buffer reads what these objects lead to, and may write it.
    pub fn reads(&mut self, buffer: u64, with: BTreeSet<Named>, writes: bool, at: u32) {
        if !with.is_empty() && self.follows() {
            // (one needs the last, and each the one before it)
            if let Some(barriers) = self.barriers.remove(&buffer) {
                barriers.windows(2).for_each(|two| self.needs([two[0]], [two[1]; 2]));
                let last = barriers[barriers.len() - 1..].to_vec();
                self.needs(last.iter().copied(), [at; 2]);
                self.barriers.insert(buffer, last);
            }
            self.effect(buffer, Effect::Read(with.into_iter().collect(), writes, at));
        }
    }

    /// Something may be read by address, or as the size of work.
    fn follows(&self) -> bool {
        self.any() || !self.built.is_empty() || self.sizes
    }

    /// Not all uses are known.
    pub fn is_full(&self) -> bool {
        self.uses.len() >= MOST_USES
    }

    /// Metadata build what a trimmed capture begins with: all of it is needed.
    pub fn state(&mut self, at: u32) {
        self.version += 1;
        self.state.push(at);
    }

    /// Metadata write a buffer's contents.
    pub fn contents(&mut self, buffer: u64, size: u64, holds: Vec<u64>, at: u32) {
        self.version += 1;
        if let Some(b) = self.buffers.get_mut(&buffer) {
            b.write(span(0, size), [at; 2], holds);
        }
    }

    /// Metadata write memory, from where it is mapped on.
    pub fn fill(&mut self, memory: u64, first: u64, size: u64, holds: &[u64], at: u32) {
        let Some((buffers, mapped)) = self.memories.get(&memory) else { return };
        self.version += 1;
        let first = mapped.saturating_add(first);
        for id in buffers {
            let Some(b) = self.buffers.get_mut(id) else { continue };
            let begin = b.memory.map_or(0, |m| m.1);
            if first < begin.saturating_add(b.size) && first.saturating_add(size) > begin {
                let end = first.saturating_add(size) - begin;
                b.write(first.saturating_sub(begin)..end, [at; 2], holds.to_vec());
            }
        }
    }

    /// An object is gone.
    pub fn gone(&mut self, object: u64) {
        self.version += 1;
        if let Some(address) = self.places.remove(&object) {
            self.ranges.remove(address, object);
        }
        if self.buffers.remove(&object).is_some() {
            self.ran.retain(|_, r| !r.reached.remove(&object) || !r.reached.is_empty());
        }
        self.effects.remove(&object);
        self.barriers.remove(&object);
        self.memories.remove(&object);
        self.asked.remove(&object);
        self.built.remove(&object);
    }

    /// These command buffers are submitted.
    pub fn submit(&mut self, buffers: impl Iterator<Item = u64>, contents: &Contents, at: u32) {
        self.version += u64::from(std::mem::take(&mut self.changed));
        buffers.for_each(|b| self.run(b, contents, at, 0));
    }

    fn run(&mut self, buffer: u64, contents: &Contents, at: u32, depth: usize) {
        // (a damaged capture may have one that runs itself)
        let Some(effects) = self.effects.remove(&buffer) else { return };
        for effect in effects.iter().filter(|_| depth < MOST_NESTED) {
            match effect {
                Effect::Write(to, bytes, holds, command) => {
                    self.write(*to, bytes, [*command, at], holds.clone());
                }
                Effect::Copy((from, first), (to, bytes), command) => {
                    let read = span(*first, bytes.end - bytes.start);
                    let over = |w: &&Write| w.bytes.start < read.end && read.start < w.bytes.end;
                    let of = self.buffers.get(from).into_iter().flat_map(|b| &b.writes).filter(over);
                    let (mut sources, mut holds) = (vec![], BTreeSet::new());
                    of.for_each(|w| (sources.extend(w.by), holds.extend(&w.holds)).0);
                    let ran = self.ran.values().filter(|r| r.reached.contains(from));
                    sources.extend(ran.flat_map(|r| r.by));
                    let read = self.buffers.get(to).is_some_and(|b| b.read) || !holds.is_empty();
                    self.write(*to, bytes, [*command, at], holds.into_iter().collect());
                    if read {
                        self.needs(sources, [*command, at]);
                    }
                }
                Effect::Build(structure, command) => self.is_built(*structure, [*command, at]),
                Effect::Read(with, writes, command) => {
                    let anything = self.submitted.insert(*command, self.version) != Some(self.version);
                    if anything && !self.is_full() {
                        self.read(with, *writes, [*command, at], contents);
                    }
                }
                Effect::Run(other) => self.run(*other, contents, at, depth + 1),
            }
        }
        self.effects.insert(buffer, effects);
    }

    fn write(&mut self, buffer: u64, bytes: &Range<u64>, by: [u32; 2], holds: Vec<u64>) {
        if let Some(b) = self.buffers.get_mut(&buffer) {
            self.version += u64::from(b.read || !holds.is_empty());
            b.write(bytes.clone(), by, holds);
        }
    }

    /// A command reads what these lead to.
    fn read(&mut self, with: &[Named], writes: bool, by: [u32; 2], contents: &Contents) {
        let (mut known, mut all, mut next) = (BTreeSet::new(), BTreeSet::new(), with.to_vec());
        while let Some((object, by_address)) = next.pop() {
            if !known.insert((object, by_address)) {
                continue;
            }
            next.extend(contents.leads_to(object));
            all.extend(self.asked.get(&object));
            if let Some(built) = self.built.get(&object) {
                all.extend(built.iter().flatten());
                all.extend(&self.state);
            }
            let of = self.buffers.get(&object).into_iter().flat_map(|b| &b.writes);
            for w in of.filter(|w| by_address || !w.holds.is_empty()) {
                all.extend(w.by);
                next.extend(w.holds.iter().map(|h| (*h, true)));
            }
        }
        let by_address: Vec<u64> = known.iter().filter(|k| k.1).map(|k| k.0).collect();
        let wrote = self.ran.values().filter(|r| by_address.iter().any(|object| r.reached.contains(object)));
        all.extend(wrote.flat_map(|r| r.by));
        self.needs(all, by);
        let reached = known.into_iter().map(|k| k.0).filter(|id| self.buffers.contains_key(id));
        let reached: BTreeSet<u64> = reached.collect();
        if writes && !reached.is_empty() {
            self.version += 1;
            if self.ran.len() == MOST_RAN {
                let earliest = self.ran.iter().min_by_key(|r| r.1.by[1]).map(|r| r.0.clone());
                earliest.map(|with| self.ran.remove(&with));
            }
            self.ran.insert(with.to_vec(), Ran { by, reached });
        }
    }

    /// A command needs these; its submission those that come behind the command.
    fn needs(&mut self, of: impl IntoIterator<Item = u32>, [command, submission]: [u32; 2]) {
        for block in of {
            let by = if block > command { submission } else { command };
            if block != by && !self.is_full() {
                self.uses.insert((block, by));
            }
        }
    }
}

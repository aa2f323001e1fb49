//! What ray tracing reads by address: acceleration structures, shader binding tables, instances and geometry, and what a capture knows of
//! addresses and of shader groups' handles.
//!
//! Commands that trace or build name little of it, and without it a GPU may never end. So each of them needs what is there when it is submitted: the contents of
//! buffers that have addresses, with the commands that wrote them and their submissions, builds, and queries of addresses and handles; and the barriers before it
//! in its command buffer. Guarantees: of two that write the same bytes the later counts. Refuses nothing. Not known: what shaders write, addresses in other
//! buffers' texels, structures that ray queries read, and waits between submissions.

use super::needs::Filled;
use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

/// VkBufferUsageFlags of buffers that are read by address: shader device address, shader binding table, build input of acceleration structures and of micromaps.
const BY_ADDRESS: u64 = 0x2_0000 | 0x400 | 0x8_0000 | 0x80_0000;

/// Beginnings of the names of commands that read by address.
const READERS: [&str; 3] = ["vkCmdTraceRays", "vkCmdBuildAccelerationStructure", "vkCmdBuildMicromaps"];

/// Ends of the names of queries of addresses and handles, and what names the object.
const QUERIES: [(&str, &str); 4] = [
    ("BufferDeviceAddress", "buffer"),
    ("AccelerationStructureDeviceAddressKHR", "accelerationStructure"),
    ("RayTracingShaderGroupHandlesKHR", "pipeline"),
    ("RayTracingCaptureReplayShaderGroupHandlesKHR", "pipeline"),
];

/// Uses that are followed, at most.
const MOST_USES: usize = 1 << 25;

/// What a recorded command does once it is submitted.
#[derive(Clone, Debug)]
enum Effect {
    /// It writes bytes of a buffer, from another.
    Write(u64, Range<u64>, Option<u64>, u32),
    /// It builds or copies an acceleration structure.
    Build(u64, u32),
    /// It reads by address, but none of the structures that it builds anew.
    Read(Vec<u64>, u32),
    /// It runs another command buffer.
    Run(u64),
}

/// A buffer.
#[derive(Clone, Debug, Default)]
struct Buffer {
    size: u64,
    /// It is read by address.
    read: bool,
    /// Its memory, and where in it.
    memory: Option<(u64, u64)>,
    /// Its bytes, and the blocks that wrote them.
    written: Vec<(Range<u64>, [u32; 2])>,
}

impl Buffer {
    fn write(&mut self, bytes: Range<u64>, by: [u32; 2]) {
        let bytes = bytes.start..bytes.end.min(self.size);
        if bytes.start < bytes.end {
            self.written.retain(|(w, _)| w.start < bytes.start || bytes.end < w.end);
            self.written.push((bytes, by));
        }
    }

    fn writers(&self) -> impl Iterator<Item = u32> {
        self.written.iter().flat_map(|w| w.1)
    }
}

/// See the module's header.
#[derive(Default)]
pub struct Addresses {
    buffers: BTreeMap<u64, Buffer>,
    /// By memory: its buffers, and where it is mapped.
    memories: HashMap<u64, (Vec<u64>, u64)>,
    /// By object: what asked for its address or handles first, or says them.
    asked: BTreeMap<u64, u32>,
    /// By acceleration structure: the command that built it, and its submission.
    built: BTreeMap<u64, [u32; 2]>,
    /// Metadata that build what a trimmed capture begins with.
    state: Vec<u32>,
    /// By command buffer.
    effects: HashMap<u64, Vec<Effect>>,
    /// By command buffer, barriers since it began.
    barriers: HashMap<u64, Vec<u32>>,
    /// Changes whenever something of all this does.
    version: u64,
    /// By command that reads: the version that it was submitted with last.
    submitted: HashMap<u32, u64>,
    /// What is needed, and by whom.
    pub uses: Vec<(u32, u32)>,
}

impl Addresses {
    /// A call, and what it puts into objects.
    pub fn call(&mut self, call: &Call, filled: &[Filled], at: u32) {
        let (name, v) = (call.command.canonical, View::call(&call.image));
        let number = |v: View<'_>, name: &str| v.u64(name).unwrap_or(0);
        let first = || call.image.u64(0);
        match name {
            "vkCreateBuffer" => {
                let Some(info) = v.one("pCreateInfo") else { return };
                let more = info.next("VkBufferUsageFlags2CreateInfo").map_or(0, |i| number(i, "usage"));
                let read = (number(info, "usage") | more) & BY_ADDRESS != 0;
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
                    self.effect(first(), Effect::Write(to, bytes, Some(from), at));
                }
            }
            "vkCmdUpdateBuffer" | "vkCmdFillBuffer" => {
                let size = v.u64("dataSize").unwrap_or_else(|| number(v, "size"));
                let bytes = span(number(v, "dstOffset"), size);
                self.effect(first(), Effect::Write(number(v, "dstBuffer"), bytes, None, at));
            }
            "vkCmdExecuteCommands" => {
                let of = v.u64s("pCommandBuffers");
                of.into_iter().for_each(|b| self.effect(first(), Effect::Run(b)));
            }
            _ if READERS.iter().any(|r| name.starts_with(r)) => {
                let anew = filled.iter().filter(|f| !f.reads).map(|f| f.object).collect();
                self.effect(first(), Effect::Read(anew, at));
                self.needs(self.barriers.get(&first()).cloned().unwrap_or_default(), at);
            }
            _ if name.starts_with("vkGet") => {
                let query = QUERIES.iter().find(|q| name.ends_with(q.0));
                let named = |of: &str| v.u64(of).or_else(|| v.one("pInfo").and_then(|i| i.u64(of)));
                if let Some(object) = query.and_then(|q| named(q.1)) {
                    self.known(object, at);
                }
            }
            _ => {}
        }
        for f in filled.iter().filter(|f| f.is_structure()) {
            // (on the host it is built at once)
            match name.starts_with("vkCmd") {
                true => self.effect(first(), Effect::Build(f.object, at)),
                false => self.is_built(f.object, [at; 2]),
            }
        }
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

    fn is_built(&mut self, structure: u64, by: [u32; 2]) {
        self.version += 1;
        self.built.insert(structure, by);
    }

    /// A call or metadata say an object's address or its handles.
    pub fn known(&mut self, object: u64, at: u32) {
        if let Entry::Vacant(first) = self.asked.entry(object) {
            first.insert(at);
            self.version += 1;
        }
    }

    /// Metadata build what a trimmed capture begins with: all of it is needed.
    pub fn state(&mut self, at: u32) {
        self.version += 1;
        self.state.push(at);
    }

    /// Metadata write a buffer's contents.
    pub fn contents(&mut self, buffer: u64, size: u64, at: u32) {
        self.version += 1;
        if let Some(b) = self.buffers.get_mut(&buffer) {
            b.write(span(0, size), [at; 2]);
        }
    }

    /// Metadata write memory, from where it is mapped on.
    pub fn fill(&mut self, memory: u64, first: u64, size: u64, at: u32) {
        let Some((buffers, mapped)) = self.memories.get(&memory) else { return };
        self.version += 1;
        let first = mapped.saturating_add(first);
        for id in buffers {
            let Some(b) = self.buffers.get_mut(id) else { continue };
            let begin = b.memory.map_or(0, |m| m.1);
            if first < begin.saturating_add(b.size) && first.saturating_add(size) > begin {
                let end = first.saturating_add(size) - begin;
                b.write(first.saturating_sub(begin)..end, [at; 2]);
            }
        }
    }

    /// An object is gone.
    pub fn gone(&mut self, object: u64) {
        self.version += 1;
        self.buffers.remove(&object);
        self.memories.remove(&object);
        self.asked.remove(&object);
        self.built.remove(&object);
    }

    /// These command buffers are submitted.
    pub fn submit(&mut self, buffers: impl Iterator<Item = u64>, at: u32) {
        buffers.for_each(|b| self.run(b, at, 0));
    }

    fn run(&mut self, buffer: u64, at: u32, depth: usize) {
        // (a damaged capture may have one that runs itself)
        let Some(effects) = self.effects.get(&buffer).filter(|_| depth < 4).cloned() else { return };
        for effect in effects {
            match effect {
                Effect::Write(to, bytes, from, command) => {
                    let from = from.and_then(|b| self.buffers.get(&b));
                    let sources: Vec<u32> = from.into_iter().flat_map(Buffer::writers).collect();
                    let Some(b) = self.buffers.get_mut(&to).filter(|b| b.read) else { continue };
                    b.write(bytes, [command, at]);
                    self.version += 1;
                    self.needs(sources, command);
                }
                Effect::Build(structure, command) => self.is_built(structure, [command, at]),
                Effect::Read(anew, command) => {
                    let anything = self.submitted.insert(command, self.version) != Some(self.version);
                    if anything && self.uses.len() < MOST_USES {
                        let data = self.buffers.values().filter(|b| b.read).flat_map(Buffer::writers);
                        let built = self.built.iter().filter(|b| !anew.contains(b.0));
                        let built = built.flat_map(|b| *b.1);
                        let all = data.chain(built).chain(self.asked.values().copied());
                        let all: BTreeSet<u32> = all.chain(self.state.iter().copied()).collect();
                        self.needs(all, command);
                    }
                }
                Effect::Run(other) => self.run(other, at, depth + 1),
            }
        }
    }

    fn needs(&mut self, of: impl IntoIterator<Item = u32>, by: u32) {
        let left = MOST_USES.saturating_sub(self.uses.len());
        self.uses.extend(of.into_iter().filter(|b| *b != by).take(left).map(|b| (b, by)));
    }
}

fn span(first: u64, size: u64) -> Range<u64> {
    first..first.saturating_add(size)
}

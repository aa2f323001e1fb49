//! Before a submission: which of the words that were left alone do its shaders take for pointers?
//!
//! Goes from bound buffers, pushed pointers and records along what the shaders' layouts say, from pointer to pointer, over the
//! words as they were captured: so a list or a ring is walked once, and a live address is never taken for a captured one.
//! What is bound is what the world says of the recordings: sets as they are now, pushed and templated descriptors, descriptor
//! buffers. What is found is translated where the host put it, or, if it has been copied since, where it is.
//!
//! Pointers that the device computed from others need nothing: those were live. A word that the device has overwritten
//! since, as something else than a pointer, would be overwritten here with the pointer it once was; only words that no
//! shader has used as a pointer before can be.

use crate::error::Result;
use crate::vulkan::shader_pointers::shaders::{ShaderPointers, Shaders};
use crate::vulkan::{BufferState, Vulkan, memory, ray};
use gfxr_parse::ahead::Call;
use pointers::{Module, Root, Target};
use std::collections::HashSet;
use std::rc::Rc;
use world::commands::{Command, Invoke, Place, Sizes, Table};
use world::sets::Descriptor;
use world::span::Span;
use world::{Leads, World};

/// Command buffers within command buffers, at most.
const DEEPEST: u32 = 8;

/// Places looked at in one submission, at most.
const MOST_PLACES: usize = 1 << 20;

/// vkQueueSubmit, vkQueueSubmit2: before it is handed over.
pub(crate) fn before_submit(vk: &mut Vulkan, world: &World, call: &Call) -> Result<()> {
    if vk.shader_pointers.journal.is_empty() {
        return Ok(());
    }
    let image = &call.image;
    let ids: Vec<u64> =
        image.handles.iter().filter(|h| h.ty == vk.types.command_buffer).map(|h| image.u64(h.at)).collect();
    let handle = u64::from(ray::captured_handle_bytes(vk).unwrap_or(0));
    let writes = found(&mut vk.shader_pointers, world, handle, &ids);
    vk.shader_pointers.journal.handed_over();
    vk.ray.totals.shader_addresses += writes.len() as u64;
    for (buffer, at, live) in writes {
        write(vk, buffer, at, live)?;
    }
    Ok(())
}

/// What is to be written before these command buffers run: buffer, place, word. `handle`: bytes of a shader group's handle.
pub(super) fn found(
    shaders: &mut ShaderPointers,
    world: &World,
    handle: u64,
    command_buffers: &[u64],
) -> Vec<(u64, u64, u64)> {
    let mut walk = Walk {
        world,
        handle,
        shaders,
        seen: HashSet::new(),
        bindings: HashSet::new(),
        looked_at: 0,
        writes: Vec::new(),
    };
    command_buffers.iter().for_each(|id| walk.commands(*id, 0));
    walk.writes
}

fn write(vk: &mut Vulkan, buffer: u64, at: u64, live: u64) -> Result<()> {
    let bytes = live.to_le_bytes();
    if memory::write_within(vk, buffer, false, at, &bytes)? {
        return Ok(());
    }
    // (a copy of the capture's may have carried a word to where its buffer has none)
    let inside = |b: &&BufferState| Span::within(at, bytes.len() as u64, b.size).is_some();
    let Some(b) = vk.buffers.get(&buffer).filter(inside) else { return Ok(()) };
    let (device, handle) = (b.device, b.live);
    vk.device_mut(device)?.write_buffer_at(handle, at, &bytes)
}

struct Walk<'w> {
    world: &'w World,
    /// Bytes of a shader group's handle at capture.
    handle: u64,
    shaders: &'w mut ShaderPointers,
    /// Module, layout, buffer, offset: places that were looked at.
    seen: HashSet<(*const Module, usize, u64, u64)>,
    /// Bindings that were looked at.
    bindings: HashSet<u64>,
    /// How many places, again or not.
    looked_at: usize,
    /// Buffer, place, what to write there.
    writes: Vec<(u64, u64, u64)>,
}

impl Walk<'_> {
    fn commands(&mut self, id: u64, depth: u32) {
        let world = self.world;
        let buffer = world.command_buffers.get(&id).filter(|_| depth < DEEPEST);
        let Some(recording) = buffer.and_then(|b| b.recording.as_ref()) else { return };
        for recorded in &recording.commands {
            match &recorded.command {
                Command::CopyBuffer(copies) => {
                    for region in &copies.regions {
                        if self.shaders.journal.copied(copies.src, copies.dst, *region) {
                            // What it brings may lie where somebody has looked before.
                            self.bindings.clear();
                            self.seen.clear();
                        }
                    }
                }
                Command::Execute(all) => all.iter().for_each(|id| self.commands(*id, depth + 1)),
                Command::Invoke(invoke) if self.shaders.journal.any_left() => self.invoke(invoke),
                _ => {}
            }
        }
    }

    fn invoke(&mut self, invoke: &Invoke) {
        let new = self.bindings.insert(invoke.bindings.number);
        let tables = match &invoke.sizes {
            Sizes::Trace { tables, .. } => Some(tables),
            _ => invoke.tables.as_deref(),
        };
        if !new && tables.is_none() {
            return;
        }
        let mut shaders = Shaders::default();
        self.shaders.add(invoke.bindings.program.stages(), &mut shaders);
        for stage in &shaders.stages {
            let entry = &stage.module.entries[stage.entry];
            for &(root, layout) in &entry.roots {
                if stage.module.layouts.get(layout).is_none_or(|l| l.fields.is_empty()) {
                    continue;
                }
                match root {
                    Root::Buffer { set, binding } if new => {
                        self.bound(&stage.module, layout, invoke, set, binding);
                    }
                    Root::PushConstants if new => self.pushed(&stage.module, layout, invoke),
                    Root::Record => {
                        // A record's group says whose it is; here it may be any shader's that has a pointer there.
                        tables.iter().copied().flatten().for_each(|t| self.records(&stage.module, layout, t));
                    }
                    Root::Buffer { .. } | Root::PushConstants => {}
                }
            }
        }
    }

    /// The pointers in the buffers of a binding.
    fn bound(&mut self, module: &Rc<Module>, layout: usize, invoke: &Invoke, set: u32, binding: u32) {
        let mut found = Vec::new();
        self.world.bound_at(invoke, set, binding, None, &mut found);
        for (_, d) in found {
            if let Descriptor::Address { address, range, .. } = d {
                self.address(module, layout, address, range);
            } else if let Leads::Buffer(buffer, offset, range) = self.world.leads(&d) {
                self.layout(module, layout, buffer, offset, offset.saturating_add(range));
            }
        }
    }

    /// The pointers among push constants: they are translated where they are pushed, and lead on.
    fn pushed(&mut self, module: &Rc<Module>, layout: usize, invoke: &Invoke) {
        let bytes = &invoke.bindings.push.bytes;
        for (at, word) in (0u64..).step_by(4).zip(bytes.windows(8).step_by(4)) {
            let word = u64::from_le_bytes(word.try_into().expect("8 bytes"));
            self.behind(module, layout, at, word);
        }
    }

    /// The pointers in records; the records themselves are translated where a trace reads them.
    fn records(&mut self, module: &Rc<Module>, layout: usize, table: &Table) {
        let Place::Address(at) = table.place else { return };
        let Some((buffer, start)) = self.world.at_address(at).filter(|_| table.size != 0) else { return };
        let stride = if table.stride == 0 { table.size } else { table.stride };
        let words: Vec<_> =
            self.shaders.journal.words(buffer, start, start.saturating_add(table.size)).collect();
        for (place, word) in words {
            if let Some(within) = ((place - start) % stride).checked_sub(self.handle) {
                self.behind(module, layout, within, word.captured);
            }
        }
    }

    /// What a word `at` bytes into a layout leads to, if it is a pointer there.
    fn behind(&mut self, module: &Rc<Module>, layout: usize, at: u64, captured: u64) {
        let field = module.layouts[layout].fields.iter().find(|f| f.is_at(at));
        if let Some(Target::Layout(next)) = field.map(|f| f.target) {
            self.address(module, next, captured, u64::MAX);
        }
    }

    /// What lies at an address.
    fn address(&mut self, module: &Rc<Module>, layout: usize, captured: u64, range: u64) {
        if let Some((buffer, start)) = self.world.at_address(captured) {
            let range = self.world.range_of(buffer, start, range);
            self.layout(module, layout, buffer, start, start.saturating_add(range));
        }
    }

    /// What lies at `start` of a buffer, up to `end`.
    fn layout(&mut self, module: &Rc<Module>, layout: usize, buffer: u64, start: u64, end: u64) {
        let mut todo = vec![(layout, buffer, start, end)];
        while let Some((layout, buffer, start, end)) = todo.pop() {
            if self.looked_at == MOST_PLACES || !self.seen.insert((Rc::as_ptr(module), layout, buffer, start))
            {
                continue;
            }
            self.looked_at += 1;
            let Some(known) = module.layouts.get(layout) else { continue };
            let words: Vec<_> = match known.fields.is_empty() {
                true => Vec::new(),
                false => self.shaders.journal.words(buffer, start, end).collect(),
            };
            for (at, word) in words {
                let Some(field) = known.fields.iter().find(|f| f.is_at(at - start)) else { continue };
                self.writes.extend(self.shaders.journal.translate(buffer, at));
                if let Target::Layout(next) = field.target
                    && let Some((there, from)) = self.world.at_address(word.captured)
                {
                    todo.push((next, there, from, self.world.range_of(there, 0, u64::MAX)));
                }
            }
        }
    }
}

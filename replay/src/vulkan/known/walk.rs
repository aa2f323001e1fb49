//! Before a submission: which of the words that were left alone do its shaders take for pointers?
//!
//! Goes from bound buffers and pushed pointers along what the shaders' layouts say, from pointer to pointer, over the
//! words as they were captured: so a list or a ring is walked once, and a live address is never taken for a captured one.
//! What is found is translated where the host put it, or, if it has been copied since, where it is.
//!
//! Pointers that the device computed from others need nothing: those were live. A word that the device has overwritten
//! since, as something else than a pointer, would be overwritten here with the pointer it once was; only words that no
//! shader has used as a pointer before can be.

use super::journal::Journal;
use super::track::{InSet, Item};
use super::{Pipeline, Stage};
use crate::error::Result;
use crate::vulkan::{BufferState, Vulkan, memory};
use gfxr_parse::ahead::Call;
use pointers::{Module, Root, Target};
use std::collections::HashSet;
use std::rc::Rc;
use world::span::Span;

/// Command buffers within command buffers, at most.
const DEEPEST: u32 = 8;

/// Places looked at in one submission, at most.
const MOST_PLACES: usize = 1 << 20;

/// vkQueueSubmit, vkQueueSubmit2: before it is handed over.
pub(crate) fn before_submit(vk: &mut Vulkan, call: &Call) -> Result<()> {
    if vk.known.journal.is_empty() {
        return Ok(());
    }
    let ids: Vec<u64> = call
        .image
        .handles
        .iter()
        .filter(|h| h.ty == vk.types.command_buffer)
        .map(|h| call.image.u64(h.at))
        .collect();
    let mut walk =
        Walk { journal: std::mem::take(&mut vk.known.journal), seen: HashSet::new(), writes: Vec::new() };
    for id in ids {
        walk.commands(vk, id, 0);
    }
    walk.journal.handed_over();
    vk.known.journal = walk.journal;
    vk.ray.totals.shader_addresses += walk.writes.len() as u64;
    for (buffer, at, live) in walk.writes {
        write(vk, buffer, at, live)?;
    }
    Ok(())
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

struct Walk {
    journal: Journal,
    /// Module, layout, buffer, offset.
    seen: HashSet<(*const Module, usize, u64, u64)>,
    /// Buffer, place, what to write there.
    writes: Vec<(u64, u64, u64)>,
}

impl Walk {
    fn commands(&mut self, vk: &Vulkan, id: u64, depth: u32) {
        let Some(commands) = vk.known.commands.get(&id).filter(|_| depth < DEEPEST) else { return };
        for item in &commands.items {
            match item {
                Item::Copy { from, to, region } => self.journal.copied(*from, *to, *region),
                Item::Execute(id) => self.commands(vk, *id, depth + 1),
                _ if !self.journal.any_left() => {}
                Item::Use { pipeline, sets } => self.bound(vk, pipeline, sets),
                Item::Records { pipeline, at, size, stride, handle } => {
                    self.records(vk, pipeline, (*at, *size), (*stride, *handle));
                }
                Item::Pushed { module, layout, captured } => self.follow(vk, module, *layout, *captured),
            }
        }
    }

    fn bound(&mut self, vk: &Vulkan, pipeline: &Pipeline, sets: &[InSet]) {
        let layouts = vk.known.set_layouts.get(&pipeline.layout);
        for bound in sets {
            let Some(set) = vk.known.sets.get(&bound.set) else { continue };
            // A set that was bound for another pipeline means nothing here.
            let meant =
                layouts.and_then(|l| l.get(bound.index as usize)).is_none_or(|l| *l == set.layout || *l == 0);
            if !meant {
                continue;
            }
            let mut offsets = bound.offsets.iter();
            for (&(binding, _), b) in &set.buffers {
                let moved = if b.dynamic { offsets.next().copied().unwrap_or(0) } else { 0 };
                let start = b.offset.saturating_add(moved.into());
                let end = start.saturating_add(b.range);
                for (stage, layout) in roots(&pipeline.stages, bound.index, binding) {
                    self.layout(vk, &stage.module, layout, b.buffer, start, end);
                }
            }
        }
    }

    /// The pointers in records; the records themselves are translated where a trace reads them.
    fn records(
        &mut self,
        vk: &Vulkan,
        pipeline: &Pipeline,
        (at, size): (u64, u64),
        (stride, handle): (u64, u64),
    ) {
        let Some((&base, &buffer)) = vk.known.by_address.range(..=at).next_back() else { return };
        let start = at - base;
        let words: Vec<_> = self.journal.words(buffer, start, start.saturating_add(size)).collect();
        for (place, word) in words {
            let Some(within) = ((place - start) % stride).checked_sub(handle) else { continue };
            for s in &pipeline.stages {
                let roots = s.module.entries.get(s.entry).map_or(&[][..], |e| &e.roots);
                for (_, layout) in roots.iter().filter(|r| r.0 == Root::Record) {
                    // A record's group says whose it is; here it may be any shader's that has a pointer there.
                    let fields = s.module.layouts.get(*layout).map_or(&[][..], |l| &l.fields);
                    for f in fields.iter().filter(|f| f.is_at(within)) {
                        if let Target::Layout(next) = f.target {
                            self.follow(vk, &s.module, next, word.captured);
                        }
                    }
                }
            }
        }
    }

    /// Behind a pointer.
    fn follow(&mut self, vk: &Vulkan, module: &Rc<Module>, layout: usize, captured: u64) {
        let Some((&base, &buffer)) = vk.known.by_address.range(..=captured).next_back() else { return };
        let size = vk.buffers.get(&buffer).map_or(0, |b| b.size);
        if captured - base < size {
            self.layout(vk, module, layout, buffer, captured - base, size);
        }
    }

    /// What lies at `start` of a buffer, up to `end`.
    fn layout(&mut self, vk: &Vulkan, module: &Rc<Module>, layout: usize, buffer: u64, start: u64, end: u64) {
        let mut todo = vec![(layout, buffer, start, end)];
        while let Some((layout, buffer, start, end)) = todo.pop() {
            if self.seen.len() == MOST_PLACES
                || !self.seen.insert((Rc::as_ptr(module), layout, buffer, start))
            {
                continue;
            }
            let Some(known) = module.layouts.get(layout) else { continue };
            let words: Vec<_> = match known.fields.is_empty() {
                true => Vec::new(),
                false => self.journal.words(buffer, start, end).collect(),
            };
            for (at, word) in words {
                let Some(field) = known.fields.iter().find(|f| f.is_at(at - start)) else { continue };
                self.writes.extend(self.journal.translate(buffer, at));
                if let Target::Layout(next) = field.target
                    && let Some((&base, &there)) = vk.known.by_address.range(..=word.captured).next_back()
                {
                    let size = vk.buffers.get(&there).map_or(0, |b| b.size);
                    todo.push((next, there, word.captured - base, size));
                }
            }
        }
    }
}

/// The shaders that read a binding, with the layouts they see there.
fn roots(stages: &[Stage], set: u32, binding: u32) -> impl Iterator<Item = (&Stage, usize)> {
    stages.iter().flat_map(move |s| {
        let roots = s.module.entries.get(s.entry).map_or(&[][..], |e| &e.roots);
        roots.iter().filter(move |r| r.0 == Root::Buffer { set, binding }).map(move |r| (s, r.1))
    })
}

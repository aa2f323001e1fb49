//! Rows: pipelines once, draws one by one, what they bind by number.
//!
//! Guarantees: a number is written before it is referred to. Refuses nothing.

use super::blocks::Blocks;
use super::intern::{Numbers, digest};
use super::names;
use super::program::{Facts, Programs};
use crate::hooks::put::Put;
use replay::error::Result;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use trace::Value::{self, Text, U64};
use trace::tables::{
    DESCRIPTORS, DYNAMIC_OFFSETS, INVOCATION_SETS, INVOCATIONS, RESOURCE_BUFFERS, RESOURCE_MEMBERS,
    RESOURCE_PIPELINES, RESOURCE_SLOTS, RESOURCE_STAGES, SET_CONTENTS, UPLOADS,
};
use world::bytes::{Into, Upload};
use world::commands::{Invoke, Program};
use world::layouts::SetLayout;
use world::sets::{Contents, Descriptor};
use world::{At, AtSet, Invocation, Leads, World};

/// See the module's header.
pub struct Rows {
    pub(super) put: Put,
    programs: Programs,
    named: HashSet<u64>,
    descriptors: Numbers<Key>,
    contents: Numbers<u128>,
    /// By the version of contents, which no two states share.
    versions: HashMap<u64, u64>,
    offsets: Numbers<Vec<(u32, u32, u32)>>,
    buffers: HashSet<u64>,
    /// Uniform blocks.
    pub uniform: Blocks,
    /// Draws that were told of, and those with rows.
    pub seen: u64,
    /// See above.
    pub written: u64,
}

/// A descriptor as a row of `descriptors`, words by their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Key {
    ty: u32,
    buffer: u64,
    offset: u64,
    range: u64,
    view: u64,
    image: u64,
    sampler: u64,
    layout: Option<u32>,
    structure: u64,
    contents: u64,
    unknown: &'static str,
}

impl Rows {
    /// None yet.
    pub fn new(put: Put) -> Self {
        Rows {
            put,
            programs: Programs::default(),
            named: HashSet::new(),
            descriptors: Numbers::default(),
            contents: Numbers::default(),
            versions: HashMap::new(),
            offsets: Numbers::default(),
            buffers: HashSet::new(),
            uniform: Blocks::default(),
            seen: 0,
            written: 0,
        }
    }

    /// What is to be known of what a draw runs.
    pub fn facts(&mut self, invoke: &Invoke) -> Rc<Facts> {
        self.programs.facts(invoke)
    }

    /// A draw, with everything that it refers to.
    pub fn invocation(&mut self, w: &World, at: &At, i: &Invocation<'_>) -> Result<()> {
        let invoke = i.invoke;
        let facts = self.facts(invoke);
        let program = &invoke.bindings.program;
        if program.id() != 0 && self.named.insert(program.id()) {
            self.program(w, program, &facts)?;
        }
        self.written += 1;
        (self.put)(
            &INVOCATIONS,
            &[
                U64(i.number),
                U64(at.frame),
                U64(at.submission),
                U64(at.command_buffer),
                U64(at.recording),
                U64(at.command.into()),
                U64(at.pass),
                Text(invoke.kind()),
                U64(program.id()),
                U64(invoke.is_indirect().into()),
            ],
        )?;
        let sets = program.layout().map_or(0, |l| l.sets.len());
        for n in 0..sets {
            self.set(w, i, n)?;
        }
        self.uniform.invocation(&mut self.put, w, i, &facts)
    }

    fn program(&mut self, w: &World, program: &Program, facts: &Facts) -> Result<()> {
        let id = program.id();
        let (frame, in_buffers) = match program {
            Program::None => (0, false),
            Program::Pipeline(p) => (p.frame, p.descriptor_buffer()),
            Program::Shaders(c) => {
                let mut layouts = program.layout().into_iter().flat_map(|l| l.sets.iter().flatten());
                let frame = c.shaders.iter().map(|s| s.frame).max().unwrap_or(0);
                (frame, layouts.any(|l| l.in_descriptor_buffers()))
            }
        };
        let layout = program.layout();
        let compatible = layout.map_or(String::new(), |l| l.words());
        // (of a capture with several devices: the most that any of them has)
        let limit = |of: fn(&world::objects::Gpu) -> u32| {
            let used = w.devices.values().filter_map(|d| w.gpus.get(&d.gpu));
            U64(used.map(of).max().unwrap_or(0).into())
        };
        (self.put)(
            &RESOURCE_PIPELINES,
            &[
                U64(id),
                Text(program.kind()),
                Text(w.name(program.called())),
                U64(layout.map_or(0, |l| l.id)),
                Text(&compatible),
                U64(layout.map_or(0, |l| l.sets.len()) as u64),
                limit(|g| g.max_sets),
                U64(layout.map_or(0, |l| l.push_bytes()).into()),
                limit(|g| g.max_push_bytes),
                U64(in_buffers.into()),
                U64(frame),
                U64(program.called()),
            ],
        )?;
        for s in &facts.stages {
            let unreadable = U64(s.unreadable.into());
            (self.put)(
                &RESOURCE_STAGES,
                &[U64(id), Text(s.stage), Text(&s.entry), Text(&s.module), unreadable],
            )?;
        }
        for (set, l) in (0..).zip(layout.map_or(&[][..], |l| &l.sets)) {
            let Some(l) = l else { continue };
            (0..l.bindings.len()).try_for_each(|b| self.slot(id, set, l, b, facts))?;
        }
        let mut number = (u64::MAX, (false, 0, 0));
        for m in &facts.members {
            let of = (m.push, m.set, m.binding);
            number = if number.1 == of { (number.0.wrapping_add(1), of) } else { (0, of) };
            let used: Vec<&str> = m.used.iter().map(|s| s.name()).collect();
            (self.put)(
                &RESOURCE_MEMBERS,
                &[
                    U64(id),
                    Text(if m.push { "push" } else { "block" }),
                    U64(m.set.into()),
                    U64(m.binding.into()),
                    U64(number.0),
                    Text(&m.member.name),
                    Text(&m.member.full_type()),
                    U64(m.member.offset),
                    U64(m.member.bytes),
                    U64(m.member.array_stride()),
                    Text(&m.member.inner_strides()),
                    U64(m.member.matrix_stride),
                    U64(m.member.row_major.into()),
                    Text(&used.join(" ")),
                ],
            )?;
        }
        Ok(())
    }

    fn slot(&mut self, id: u64, set: u32, l: &SetLayout, n: usize, facts: &Facts) -> Result<()> {
        let b = &l.bindings[n];
        let none = Default::default();
        let found = facts.slots.get(&(set, b.binding));
        let slot = found.unwrap_or(&none);
        let used: Vec<&str> = slot.used.iter().map(|s| s.name()).collect();
        let array = b.slots() > 1 && found.is_some();
        let (indexing, elements) = match &slot.elements {
            _ if !array => ("", String::new()),
            None => ("dynamic", String::new()),
            Some(all) => ("constant", crate::reflect::Elements::Known(all.clone()).text()),
        };
        (self.put)(
            &RESOURCE_SLOTS,
            &[
                U64(id),
                U64(set.into()),
                U64(b.binding.into()),
                Text(names::descriptor(b.ty)),
                U64(b.count.into()),
                Text(&names::stages(b.stages)),
                Text(&names::flags(l, n)),
                Text(&used.join(" ")),
                Text(slot.access.text()),
                Text(indexing),
                Text(&elements),
                Text(&slot.name),
                U64(slot.block_bytes),
            ],
        )
    }

    fn set(&mut self, w: &World, i: &Invocation<'_>, n: usize) -> Result<()> {
        let (handle, contents, offsets) = match w.set(i.invoke, n) {
            AtSet::Nothing => (0, 0, 0),
            AtSet::Set { set, contents, offsets } => {
                (set, self.contents(w, contents)?, self.offsets(contents, offsets)?)
            }
            AtSet::Push { contents } => (0, self.contents(w, contents)?, 0),
            AtSet::Buffer { address, layout } => {
                let all = layout.bindings.iter().flat_map(|b| (0..b.slots()).map(|e| (b.binding, e)));
                let read = |(b, e)| (b, e, w.in_descriptor_buffer(address, layout, b, e));
                let rows: Vec<_> = all.map(read).filter(|r| r.2 != Descriptor::Unwritten).collect();
                (0, self.described(w, &rows, None)?, 0)
            }
            AtSet::Embedded { layout } => {
                let of = |b: &world::layouts::Binding| {
                    let samplers = (0..).zip(b.immutable.clone());
                    let number = b.binding;
                    samplers.map(move |(e, sampler)| (number, e, Descriptor::Sampler { sampler })).collect()
                };
                let rows: Vec<Vec<_>> = layout.bindings.iter().map(of).collect();
                (0, self.described(w, &rows.concat(), None)?, 0)
            }
        };
        let row = [i.number, n as u64, handle, contents, offsets].map(U64);
        (self.put)(&INVOCATION_SETS, &row)
    }

    /// The number of a set's contents.
    fn contents(&mut self, w: &World, c: &Contents) -> Result<u64> {
        if let Some(&number) = self.versions.get(&c.version) {
            return Ok(number);
        }
        let bindings = c.layout.bindings.iter();
        let of = |b: &world::layouts::Binding| {
            let binding = b.binding;
            c.written(binding).map(move |(e, d)| (binding, e, d)).collect::<Vec<_>>()
        };
        let rows: Vec<_> = bindings.flat_map(of).collect();
        let number = self.described(w, &rows, Some(c))?;
        self.versions.insert(c.version, number);
        Ok(number)
    }

    /// The number of descriptors in their places.
    fn described(&mut self, w: &World, all: &[(u32, u32, Descriptor)], of: Option<&Contents>) -> Result<u64> {
        let mut rows = Vec::with_capacity(all.len());
        for (binding, element, d) in all {
            rows.push((*binding, *element, self.descriptor(w, *binding, d, of)?));
        }
        let bytes: Vec<u8> = rows
            .iter()
            .flat_map(|(b, e, d)| {
                let place = (u64::from(*b) << 32 | u64::from(*e)).to_le_bytes();
                place.into_iter().chain(d.to_le_bytes())
            })
            .collect();
        let (number, new) = self.contents.of(digest(&bytes));
        if new {
            for (b, e, d) in rows {
                (self.put)(&SET_CONTENTS, &[number, b.into(), e.into(), d].map(U64))?;
            }
        }
        Ok(number)
    }

    /// The number of a descriptor.
    fn descriptor(&mut self, w: &World, binding: u32, d: &Descriptor, of: Option<&Contents>) -> Result<u64> {
        let key = self.key(w, binding, d, of)?;
        let (number, new) = self.descriptors.of(key);
        if new {
            self.buffer(w, key.buffer)?;
            let layout =
                key.layout.map_or(String::new(), |l| names::value("VkImageLayout", "VK_IMAGE_LAYOUT_", l));
            let row = [
                U64(number),
                Text(names::descriptor(key.ty)),
                U64(key.buffer),
                U64(key.offset),
                U64(key.range),
                U64(key.view),
                U64(key.image),
                U64(key.sampler),
                Text(&layout),
                U64(key.structure),
                U64(key.contents),
                Text(key.unknown),
            ];
            (self.put)(&DESCRIPTORS, &row)?;
        }
        Ok(number)
    }

    fn key(&mut self, w: &World, binding: u32, d: &Descriptor, of: Option<&Contents>) -> Result<Key> {
        let mut key = Key { ty: d.ty().unwrap_or(0), ..Key::default() };
        match *d {
            Descriptor::Sampler { sampler } => key.sampler = sampler,
            Descriptor::Image { view, sampler, layout, .. } => {
                (key.view, key.sampler, key.layout) = (view, sampler, Some(layout));
            }
            Descriptor::Texel { view, .. } => key.view = view,
            _ => {}
        }
        match w.leads(d) {
            Leads::Nowhere | Leads::Gone => {}
            Leads::Buffer(buffer, offset, range) => {
                (key.buffer, key.offset, key.range) = (buffer, offset, range);
            }
            Leads::Image(view, _) => key.image = view.image,
            Leads::Structure(structure) => key.structure = structure,
            Leads::Inline => {
                let (bytes, written) = of.map_or((&[][..], &[][..]), |c| c.inline_bytes(binding));
                key.contents = self.uniform.masked(&mut self.put, bytes, written)?.number;
            }
            Leads::Address => key.unknown = "an address of nothing known",
            Leads::Unknown(why) => key.unknown = why,
        }
        Ok(key)
    }

    /// A buffer that a descriptor names.
    fn buffer(&mut self, w: &World, id: u64) -> Result<()> {
        let Some(b) = w.buffers.get(&id) else { return Ok(()) };
        if !self.buffers.insert(id) {
            return Ok(());
        }
        let memory = b.bound.and_then(|b| w.memories.get(&b.memory));
        let flags = memory.and_then(|m| m.flags).unwrap_or(0).into();
        let row = [
            U64(id),
            Text(w.name(id)),
            U64(b.size),
            Text(&names::bits("VkBufferUsageFlagBits", "VK_BUFFER_USAGE_", b.usage)),
            U64(b.bound.map_or(0, |b| b.memory)),
            U64(b.bound.map_or(0, |b| b.offset)),
            Text(&names::bits("VkMemoryPropertyFlagBits", "VK_MEMORY_PROPERTY_", flags)),
            U64(b.frame),
        ];
        (self.put)(&RESOURCE_BUFFERS, &row)
    }

    /// The number of a set's dynamic offsets.
    fn offsets(&mut self, c: &Contents, offsets: &[u32]) -> Result<u64> {
        if offsets.is_empty() {
            return Ok(0);
        }
        let dynamic = c.layout.bindings.iter().filter(|b| b.is_dynamic());
        let places = dynamic.flat_map(|b| (0..b.count).map(move |e| (b.binding, e)));
        let all: Vec<_> = places.zip(offsets).map(|((b, e), o)| (b, e, *o)).collect();
        let (number, new) = self.offsets.of(all.clone());
        if new {
            for (b, e, o) in all {
                (self.put)(&DYNAMIC_OFFSETS, &[number, b.into(), e.into(), o.into()].map(U64))?;
            }
        }
        Ok(number)
    }

    /// What a frame wrote.
    pub fn uploads(&mut self, frame: u64, all: &BTreeMap<Into, Upload>) -> Result<()> {
        for ((by, buffer, memory), u) in all {
            let row: [Value<'_>; 7] = [
                U64(frame),
                Text(by.word()),
                U64(*buffer),
                U64(*memory),
                U64(u.writes),
                U64(u.bytes),
                U64(u.same),
            ];
            (self.put)(&UPLOADS, &row)?;
        }
        Ok(())
    }
}

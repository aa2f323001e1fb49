//! What shaders access through what is bound.

use super::bits::*;
use super::rows::{How, Rows};
use crate::hooks::instrument::stage_of_bit;
use crate::reflect::{Specialization, reflect};
use replay::ash::vk;
use std::collections::HashMap;
use std::rc::Rc;
use world::commands::{Invoke, Program};
use world::layouts::ty;
use world::objects::Stage as Bound;
use world::sets::Descriptor;
use world::{AtSet, Leads, World};

/// A slot that shaders access.
#[derive(Clone, Copy, Debug)]
struct Slot {
    set: u32,
    binding: u32,
    stages: u64,
    read: bool,
    write: bool,
}

/// What a program's shaders do.
#[derive(Debug, Default)]
struct Facts {
    slots: Vec<Slot>,
    /// Stages that read and write through pointers.
    pointers: (u64, u64),
    /// A stage takes descriptors that are not known here.
    anything: bool,
}

/// By id, with the program that it was asked of.
#[derive(Default)]
pub struct Programs {
    all: HashMap<u64, (Program, Rc<Facts>)>,
}

fn same(a: &Program, b: &Program) -> bool {
    match (a, b) {
        (Program::Pipeline(a), Program::Pipeline(b)) => Rc::ptr_eq(a, b),
        (Program::Shaders(a), Program::Shaders(b)) => Rc::ptr_eq(a, b),
        _ => false,
    }
}

impl Programs {
    /// What the shaders of an invocation access.
    pub fn accesses(&mut self, rows: &mut Rows, world: &World, invoke: &Invoke) {
        let program = &invoke.bindings.program;
        if rows.was_bound(program.id(), invoke.bindings.number) {
            return;
        }
        let facts = self.of(program);
        if facts.anything {
            return rows.anything(world);
        }
        let mut found = vec![];
        for slot in &facts.slots {
            if matches!(world.set(invoke, slot.set as usize), AtSet::Nothing) {
                // (what a shader uses has to be bound: it is not known what was)
                rows.anything(world);
            }
            world.bound_at(invoke, slot.set, slot.binding, None, &mut found);
            found.drain(..).for_each(|(_, d)| rows.descriptor(world, slot, &d));
        }
        let (read, write) = facts.pointers;
        if read != 0 {
            let access = SHADER_STORAGE_READ | if write != 0 { SHADER_STORAGE_WRITE } else { 0 };
            rows.addressed(world, How { stages: read | write, access, write: write != 0 });
        }
    }

    fn of(&mut self, program: &Program) -> Rc<Facts> {
        if let Some((known, facts)) = self.all.get(&program.id())
            && same(known, program)
        {
            return facts.clone();
        }
        let facts = Rc::new(Facts::of(program));
        self.all.insert(program.id(), (program.clone(), facts.clone()));
        facts
    }
}

impl Facts {
    fn of(program: &Program) -> Facts {
        let mut facts = Facts::default();
        // (a program without stages is one that is not known)
        facts.anything |= program.stages().is_empty();
        for s in program.stages() {
            facts.stage(program, s);
        }
        facts
    }

    fn stage(&mut self, program: &Program, s: &Bound) {
        let stages = stages_of(s.stage);
        let values = s.specialization.as_ref().map_or_else(Specialization::default, |v| {
            Specialization::of(v.entries.iter().map(|e| (e.0, e.1.into(), e.2.into())), &v.data)
        });
        let stage = stage_of_bit(vk::ShaderStageFlags::from_raw(s.stage));
        let reflected = stage.and_then(|stage| reflect(&s.module.words, stage, &s.entry, &values).ok());
        let Some(r) = reflected else {
            // Everything that its layout lets it.
            let Some(layout) = program.layout() else { return self.anything = true };
            for (n, set) in (0..).zip(&layout.sets) {
                let bindings = set.iter().flat_map(|l| &l.bindings).filter(|b| b.stages & s.stage != 0);
                self.slots.extend(bindings.map(|b| Slot {
                    set: n,
                    binding: b.binding,
                    stages,
                    read: true,
                    write: true,
                }));
            }
            self.pointers = (self.pointers.0 | stages, self.pointers.1 | stages);
            return;
        };
        self.anything |= r.heaps;
        for slot in r.slots.iter().filter(|s| s.used) {
            self.slots.push(Slot {
                set: slot.set,
                binding: slot.binding,
                stages,
                read: slot.access.read || !slot.access.write,
                write: slot.access.write,
            });
        }
        self.pointers.0 |= if r.addresses.read || r.addresses.write { stages } else { 0 };
        self.pointers.1 |= if r.addresses.write { stages } else { 0 };
    }
}

impl Rows {
    fn descriptor(&mut self, world: &World, slot: &Slot, d: &Descriptor) {
        let storage = |read: bool| {
            let write = if slot.write { SHADER_STORAGE_WRITE } else { 0 };
            let access = write | if read { SHADER_STORAGE_READ } else { 0 };
            How { stages: slot.stages, access, write: slot.write }
        };
        let reads = |access: u64| How { stages: slot.stages, access, write: false };
        let how = match d.ty().unwrap_or(0) {
            ty::STORAGE_BUFFER
            | ty::STORAGE_BUFFER_DYNAMIC
            | ty::STORAGE_IMAGE
            | ty::STORAGE_TEXEL_BUFFER
            | ty::MUTABLE => storage(slot.read),
            ty::UNIFORM_BUFFER | ty::UNIFORM_BUFFER_DYNAMIC | ty::INLINE_UNIFORM_BLOCK => reads(UNIFORM_READ),
            ty::INPUT_ATTACHMENT => reads(INPUT_ATTACHMENT_READ),
            ty::ACCELERATION_STRUCTURE_KHR => reads(ACCELERATION_STRUCTURE_READ),
            _ => reads(SHADER_SAMPLED_READ),
        };
        match world.leads(d) {
            Leads::Buffer(buffer, offset, range) => self.buffer(world, buffer, offset, range, how),
            Leads::Image(view, _) => self.image(world, view.image, &view.range, how),
            Leads::Structure(_) | Leads::Address => self.addressed(world, how),
            Leads::Gone | Leads::Unknown(_) => self.anything(world),
            Leads::Nowhere | Leads::Inline => {}
        }
    }
}

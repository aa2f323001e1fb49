//! What a pipeline's shaders do with what is bound: reflected once, for the tables and for following memory.
//!
//! Guarantees: a slot that some stage could not be reflected for counts as used there, all elements, read, and written where its
//! type can be. Refuses nothing.

use super::names;
use crate::Stage;
use crate::reflect::{Access, Block, Elements, Kind, Reflection, Specialization, reflect};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use world::commands::{Invoke, Program};
use world::effects::Written;
use world::layouts::ty;
use world::objects::Stage as Bound;

/// Most bytes that are looked at where a shader does not say how many it declares.
const UNDECLARED: u64 = 1 << 16;

/// A uniform block that shaders use.
#[derive(Clone, Debug)]
pub struct UsedBlock {
    /// The set.
    pub set: u32,
    /// The binding.
    pub binding: u32,
    /// The elements that are read; none for all of them.
    pub elements: Option<Vec<u32>>,
    /// Bytes that a shader declares, the largest; of a storage buffer, all that is bound.
    pub bytes: u64,
    /// A shader declares them.
    pub declared: bool,
    /// A storage buffer that shaders only read.
    pub storage: bool,
}

/// A stage, for `resource_stages`.
#[derive(Clone, Debug)]
pub struct StageRow {
    /// Its name.
    pub stage: &'static str,
    /// The entry point.
    pub entry: Rc<str>,
    /// Content hash of the module.
    pub module: Rc<str>,
    /// It could not be reflected.
    pub unreadable: bool,
}

/// What shaders say of a slot, all stages together.
#[derive(Clone, Debug, Default)]
pub struct SlotUse {
    /// The stages.
    pub used: BTreeSet<Stage>,
    /// What they do.
    pub access: Access,
    /// Elements; none for all.
    pub elements: Option<BTreeSet<u64>>,
    /// The shader's name.
    pub name: String,
    /// Bytes of the block.
    pub block_bytes: u64,
}

/// A member, for `resource_members`.
#[derive(Clone, Debug)]
pub struct MemberRow {
    /// In push constants.
    pub push: bool,
    /// The set.
    pub set: u32,
    /// The binding.
    pub binding: u32,
    /// As it was reflected.
    pub member: crate::reflect::Member,
    /// Stages that read it.
    pub used: BTreeSet<Stage>,
}

/// See the module's header.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Its stages.
    pub stages: Vec<StageRow>,
    /// By set and binding.
    pub slots: BTreeMap<(u32, u32), SlotUse>,
    /// Members of blocks, in order.
    pub members: Vec<MemberRow>,
    /// Uniform blocks that are used.
    pub blocks: Vec<UsedBlock>,
    /// Storage buffers that are read and written by none of its shaders.
    pub buffers: Vec<UsedBlock>,
    /// Bytes of push constants that are declared; 0 if none are used.
    pub push_bytes: u64,
    /// What its shaders may write.
    pub written: Written,
}

type Key = (blake3::Hash, Stage, Rc<str>, Specialization);

/// Reflects, each entry point once.
#[derive(Default)]
pub struct Reflector {
    modules: HashMap<*const u32, (blake3::Hash, Rc<str>, Rc<world::objects::Module>)>,
    known: HashMap<Key, Option<Rc<Reflection>>>,
}

impl Reflector {
    fn module(&mut self, stage: &Bound) -> (blake3::Hash, Rc<str>) {
        // (the module is kept, so that its address names it)
        let found = self.modules.entry(stage.module.words.as_ptr()).or_insert_with(|| {
            let bytes: Vec<u8> = stage.module.words.iter().flat_map(|w| w.to_le_bytes()).collect();
            let hash = blake3::hash(&bytes);
            (hash, hash.to_hex().as_str().into(), stage.module.clone())
        });
        (found.0, found.1.clone())
    }

    /// A stage's reflection, if it can be had.
    fn stage(&mut self, stage: &Bound, hash: blake3::Hash) -> Option<Rc<Reflection>> {
        let of = names::stage(stage.stage)?;
        let constants = stage.specialization.as_ref().map_or_else(Specialization::default, |s| {
            let entries = s.entries.iter().map(|&(id, at, size)| (id, u64::from(at), u64::from(size)));
            Specialization::of(entries, &s.data)
        });
        let key = (hash, of, stage.entry.clone(), constants);
        if let Some(found) = self.known.get(&key) {
            return found.clone();
        }
        let found = match stage.module.words.is_empty() {
            true => None,
            false => reflect(&stage.module.words, of, &stage.entry, &key.3).ok().map(Rc::new),
        };
        self.known.insert(key, found.clone());
        found
    }

    /// What is to be known of the program of a draw.
    pub fn facts(&mut self, invoke: &Invoke) -> Facts {
        let program = &invoke.bindings.program;
        let mut facts = Facts::default();
        if matches!(program, Program::None) {
            facts.written = Written::all(invoke);
            return facts;
        }
        let mut members = Members::default();
        for stage in program.stages() {
            let Some(of) = names::stage(stage.stage) else { continue };
            let (hash, module) = self.module(stage);
            let reflection = self.stage(stage, hash);
            let unreadable = reflection.is_none();
            facts.stages.push(StageRow { stage: of.name(), entry: stage.entry.clone(), module, unreadable });
            match reflection {
                Some(r) => facts.reflected(of, &r, &mut members),
                None => facts.unreadable(of, stage.stage, program),
            }
        }
        facts.members = members.rows();
        facts.used_blocks(program);
        facts.what_is_written(program);
        facts
    }
}

/// A program, and its facts.
struct Known {
    program: Program,
    facts: Rc<Facts>,
}

fn same(a: &Program, b: &Program) -> bool {
    match (a, b) {
        (Program::Pipeline(a), Program::Pipeline(b)) => Rc::ptr_eq(a, b),
        (Program::Shaders(a), Program::Shaders(b)) => Rc::ptr_eq(a, b),
        (Program::None, Program::None) => true,
        _ => false,
    }
}

/// Facts of programs, each once as long as its id names it.
#[derive(Default)]
pub struct Programs {
    reflector: Reflector,
    known: HashMap<u64, Known>,
}

impl Programs {
    /// What is to be known of what a draw runs.
    pub fn facts(&mut self, invoke: &Invoke) -> Rc<Facts> {
        let program = &invoke.bindings.program;
        if let Some(k) = self.known.get(&program.id()).filter(|k| same(&k.program, program)) {
            return k.facts.clone();
        }
        let facts = Rc::new(self.reflector.facts(invoke));
        self.known.insert(program.id(), Known { program: program.clone(), facts: facts.clone() });
        facts
    }
}

impl Facts {
    fn reflected(&mut self, stage: Stage, r: &Reflection, members: &mut Members) {
        for s in r.slots.iter().filter(|s| s.used) {
            let all: Vec<&Block> = s.blocks.iter().collect();
            let new = !self.slots.contains_key(&(s.set, s.binding));
            let slot = self.slots.entry((s.set, s.binding)).or_default();
            slot.used.insert(stage);
            slot.access.and(s.access);
            let known = match &s.elements {
                Elements::Known(all) => Some(all.clone()),
                Elements::Dynamic => None,
            };
            slot.elements = match (slot.elements.take(), known, new) {
                (_, known, true) => known,
                (Some(mut a), Some(b), false) => {
                    a.extend(b);
                    Some(a)
                }
                _ => None,
            };
            if slot.name.is_empty() {
                slot.name.clone_from(&s.name);
            }
            let bytes = all.iter().map(|b| b.bytes).max().unwrap_or(0);
            slot.block_bytes = slot.block_bytes.max(bytes);
            if s.kinds.contains(&Kind::UniformBlock) {
                all.iter().for_each(|b| members.block(false, (s.set, s.binding), b, stage));
            }
        }
        if let Some(push) = &r.push {
            members.block(true, (0, 0), push, stage);
            self.push_bytes = self.push_bytes.max(push.bytes);
        }
        self.written.pointers |= r.addresses.write;
        self.written.anything |= r.heaps;
    }

    /// Nothing is known of a stage: it uses all that the layout lets it.
    fn unreadable(&mut self, stage: Stage, bit: u32, program: &Program) {
        let Some(layout) = program.layout() else { return };
        for (set, l) in (0..).zip(&layout.sets) {
            for b in l.iter().flat_map(|l| &l.bindings).filter(|b| b.stages & bit != 0) {
                let slot = self.slots.entry((set, b.binding)).or_default();
                slot.used.insert(stage);
                slot.access.and(Access { read: true, write: ty::writable(b.ty), ..Access::default() });
                slot.elements = None;
            }
        }
        self.push_bytes = self.push_bytes.max(layout.push_bytes().into());
        self.written.pointers = true;
    }

    fn used_blocks(&mut self, program: &Program) {
        let Some(layout) = program.layout() else { return };
        for (&(set, binding), slot) in &self.slots {
            let Some(b) = layout.set(set as usize).and_then(|l| l.binding(binding)) else { continue };
            let uniform =
                matches!(b.ty, ty::UNIFORM_BUFFER | ty::UNIFORM_BUFFER_DYNAMIC | ty::INLINE_UNIFORM_BLOCK);
            let elements = || slot.elements.as_ref().map(|e| e.iter().map(|e| *e as u32).collect());
            let storage = matches!(b.ty, ty::STORAGE_BUFFER | ty::STORAGE_BUFFER_DYNAMIC);
            if storage && slot.access.read && !slot.access.write {
                let elements = elements();
                let (bytes, declared) = (u64::MAX, false);
                self.buffers.push(UsedBlock { set, binding, elements, bytes, declared, storage });
            }
            // (a mutable one is what was written to it)
            if uniform || b.ty == ty::MUTABLE {
                let declared = slot.block_bytes != 0;
                let bytes = if declared { slot.block_bytes } else { UNDECLARED };
                let elements = if b.ty == ty::INLINE_UNIFORM_BLOCK { Some(vec![0]) } else { elements() };
                self.blocks.push(UsedBlock { set, binding, elements, bytes, declared, storage });
            }
        }
    }

    fn what_is_written(&mut self, program: &Program) {
        let Some(layout) = program.layout() else { return };
        for (&(set, binding), slot) in self.slots.iter().filter(|s| s.1.access.write) {
            let Some(b) = layout.set(set as usize).and_then(|l| l.binding(binding)) else { continue };
            if ty::writable(b.ty) {
                let elements = slot.elements.as_ref().map(|e| e.iter().map(|e| *e as u32).collect());
                self.written.slots.push((set, binding, elements));
            }
        }
    }
}

/// Members of all stages, those of the same name, type and place together.
#[derive(Default)]
struct Members(BTreeMap<(bool, u32, u32, u64, String, String), MemberRow>);

impl Members {
    fn block(&mut self, push: bool, (set, binding): (u32, u32), block: &Block, stage: Stage) {
        for m in &block.members {
            let key = (push, set, binding, m.offset, m.name.clone(), m.full_type());
            let row = self.0.entry(key).or_insert_with(|| MemberRow {
                push,
                set,
                binding,
                member: m.clone(),
                used: BTreeSet::new(),
            });
            if m.read {
                row.used.insert(stage);
            }
        }
    }

    fn rows(self) -> Vec<MemberRow> {
        self.0.into_values().collect()
    }
}

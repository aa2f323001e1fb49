//! Taking functions of one module into another.
//!
//! What probes call is written in GLSL and compiled once; [`Library::import`] brings a function with all it needs:
//! other functions, types, constants, variables, capabilities, extensions. Guarantees: types and constants that the
//! module has are used again; built-in inputs that it has too. What libraries share comes once: specialization constants
//! of one id, and private variables of one name that begins with `rr_`. Specialization ids that the module uses itself are
//! not taken ([`Imported::spec_id`]). Decorated types are brought as they are. What the module's version, memory model
//! and stage want otherwise than the library's is done so: interfaces, scopes, Flat, Volatile. Built-in inputs of the
//! other signedness are cast. Refuses those of another type.

use super::{Function, Inst, Module, Op, Operand, Result, Types, malformed};
use rspirv::spirv::{
    BuiltIn, Capability, Decoration, ExecutionModel, FunctionControl, MemoryAccess, Scope, StorageClass,
};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A module whose functions others may have.
pub struct Library {
    number: usize,
    module: Module,
    names: HashMap<String, u32>,
}

/// What has been brought into one module so far.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    /// Functions are marked not to be inlined.
    pub keep_calls: bool,
    /// The functions, in the order in which they came.
    pub functions: Vec<u32>,
    /// Ids of the library that is being read, and of those read before, by their numbers.
    ids: HashMap<u32, u32>,
    others: HashMap<usize, HashMap<u32, u32>>,
    library: usize,
    /// Where our specialization ids begin in this module.
    spec_base: Option<u32>,
    /// Specialization constants by the library's SpecId, shared private variables by name.
    constants: HashMap<u32, u32>,
    shared: HashMap<String, u32>,
    /// Built-in inputs of the module that are loaded with a type of its own and then cast, with that type.
    casts: HashMap<u32, u32>,
    /// Built-in inputs whose loads say that they change.
    volatile: HashSet<u32>,
}

/// The first SpecId that libraries use.
pub const FIRST_SPEC_ID: u32 = 2000;

/// How many follow.
const SPEC_IDS: u32 = 10;

impl Imported {
    /// The SpecId in the module of a library's.
    pub fn spec_id(&self, of_library: u32) -> u32 {
        self.spec_base.unwrap_or(FIRST_SPEC_ID) + (of_library - FIRST_SPEC_ID)
    }

    /// The specialization constant of a library's SpecId, if it has been brought.
    pub fn constant(&self, of_library: u32) -> Option<u32> {
        self.constants.get(&of_library).copied()
    }

    /// A private variable that libraries share, if it has been brought.
    pub fn shared(&self, name: &str) -> Option<u32> {
        self.shared.get(name).copied()
    }

    fn turn_to(&mut self, library: &Library, m: &Module) {
        if self.library != library.number {
            let old = std::mem::replace(&mut self.library, library.number);
            let new = self.others.remove(&library.number).unwrap_or_default();
            self.others.insert(old, std::mem::replace(&mut self.ids, new));
        }
        self.spec_base.get_or_insert_with(|| {
            let used: HashSet<u32> = m.annotations.iter().filter_map(spec_id).collect();
            let free = |base: &u32| (*base..base + SPEC_IDS).all(|id| !used.contains(&id));
            (FIRST_SPEC_ID..).step_by(SPEC_IDS as usize).find(free).expect("a module has fewer")
        });
    }
}

fn spec_id(i: &Inst) -> Option<u32> {
    match &i.inst.operands[..] {
        [Operand::IdRef(_), Operand::Decoration(Decoration::SpecId), Operand::LiteralBit32(n)] => Some(*n),
        _ => None,
    }
}

impl Library {
    /// Reads one. Functions are found by the name before their parenthesis.
    pub fn read(words: &[u32]) -> Result<Self> {
        let module = Module::read(words)?;
        let mut names = HashMap::new();
        for n in &module.names {
            if let [Operand::IdRef(id), Operand::LiteralString(name)] = &n.inst.operands[..]
                && module.function(*id).is_some()
            {
                let name = name.split('(').next().unwrap_or(name);
                if names.insert(name.to_string(), *id).is_some() {
                    return malformed(format!("the library has two functions called {name}"));
                }
            }
        }
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        Ok(Library { number: NEXT.fetch_add(1, Ordering::Relaxed), module, names })
    }

    /// Brings a function into `m`, with all it needs, unless it is there; its id there.
    pub fn import(&self, m: &mut Module, types: &mut Types, done: &mut Imported, name: &str) -> Result<u32> {
        let Some(&id) = self.names.get(name) else {
            return malformed(format!("the library has no function called {name}"));
        };
        done.turn_to(self, m);
        self.header(m);
        self.function(m, types, done, id)
    }

    /// Capabilities and extensions. All of them: a library is one set of needs.
    fn header(&self, m: &mut Module) {
        for c in &self.module.capabilities {
            if let Some(Operand::Capability(c)) = c.inst.operands.first() {
                m.capability(*c);
            }
        }
        for e in &self.module.extensions {
            if let Some(Operand::LiteralString(name)) = e.inst.operands.first() {
                m.extension(name);
            }
        }
    }

    fn function(&self, m: &mut Module, types: &mut Types, done: &mut Imported, id: u32) -> Result<u32> {
        if let Some(&there) = done.ids.get(&id) {
            return Ok(there);
        }
        let Some(f) = self.module.function(id).map(|i| &self.module.functions[i]) else {
            return malformed(format!("the library has no function {id}"));
        };
        // Everything that it refers to and does not define, then what it defines.
        let mut f = f.clone();
        let mut local: Vec<u32> = vec![id];
        local.extend(f.params.iter().chain(f.insts()).filter_map(Inst::id));
        local.extend(f.blocks.iter().map(|b| b.label));
        for l in &local {
            let fresh = m.fresh();
            done.ids.insert(*l, fresh);
        }
        let used: Vec<u32> =
            std::iter::once(&f.def).chain(&f.params).chain(f.insts()).flat_map(Inst::ids).collect();
        for u in used {
            if !done.ids.contains_key(&u) {
                if self.module.function(u).is_some() {
                    self.function(m, types, done, u)?;
                } else {
                    self.global(m, types, done, u)?;
                }
            }
        }
        self.decorations(m, done, &local);
        f.lines.clear();
        if let Some(Operand::FunctionControl(control)) = f.def.inst.operands.first_mut()
            && done.keep_calls
        {
            control.set(FunctionControl::DONT_INLINE, true);
            control.set(FunctionControl::INLINE, false);
        }
        for b in &mut f.blocks {
            b.label = done.ids[&b.label];
            b.at = None;
            b.lines.clear();
            b.body.retain(|i| !matches!(i.op(), Op::Line | Op::NoLine));
        }
        f.params.retain(|i| i.op() == Op::FunctionParameter);
        let insts = std::iter::once(&mut f.def)
            .chain(&mut f.params)
            .chain(f.blocks.iter_mut().flat_map(|b| &mut b.body));
        insts.for_each(|i| rename(i, &done.ids));
        self.scopes(m, types, &mut f);
        loads(m, done, &mut f);
        if let Some((name, _)) = self.names.iter().find(|n| *n.1 == id) {
            name_it(m, f.id(), name);
        }
        done.functions.push(f.id());
        m.functions.push(f);
        Ok(done.ids[&id])
    }

    fn global(&self, m: &mut Module, types: &mut Types, done: &mut Imported, id: u32) -> Result<()> {
        let Some(inst) = self.module.global(id) else {
            return match self.module.imports.iter().find(|i| i.id() == Some(id)) {
                Some(i) => {
                    let there =
                        m.imports.iter().find(|j| j.inst.operands == i.inst.operands).and_then(Inst::id);
                    let new = there.unwrap_or_else(|| {
                        let fresh = m.fresh();
                        m.imports.push(Inst::new(
                            Op::ExtInstImport,
                            None,
                            Some(fresh),
                            i.inst.operands.clone(),
                        ));
                        fresh
                    });
                    done.ids.insert(id, new);
                    Ok(())
                }
                None => malformed(format!("the library refers to {id}, which nothing defines")),
            };
        };
        let mut inst = inst.clone();
        // A pointer type may speak of a struct that speaks of it.
        if inst.op() == Op::TypePointer && self.forward(id) {
            let fresh = m.fresh();
            done.ids.insert(id, fresh);
            m.globals.push(Inst::new(
                Op::TypeForwardPointer,
                None,
                None,
                vec![Operand::IdRef(fresh), inst.inst.operands[0].clone()],
            ));
        }
        for u in inst.ids().collect::<Vec<_>>() {
            if !done.ids.contains_key(&u) {
                self.global(m, types, done, u)?;
            }
        }
        if let Some(built_in) = self.built_in(id).filter(|_| inst.op() == Op::Variable)
            && let Some(there) = built_in_of(m, &built_in)
        {
            let of = |v: &Inst, m: &Module| m.global(v.inst.result_type?).and_then(|p| p.id_at(1));
            let theirs = m.global(there).and_then(|v| of(v, m));
            let ours = of(&inst, &self.module).and_then(|t| done.ids.get(&t)).copied();
            let (Some(theirs), Some(ours)) = (theirs, ours) else {
                return malformed(format!("it declares {built_in:?} without a type"));
            };
            if theirs != ours {
                if !differ_in_signedness(m, theirs, ours) {
                    return malformed(format!("it declares {built_in:?} with another type"));
                }
                done.casts.insert(there, theirs);
            }
            m.interface(there, true);
            changes(m, done, there, &built_in);
            done.ids.insert(id, there);
            return Ok(());
        }
        let spec = self.annotations_of(id).find_map(spec_id);
        if let Some(there) = spec.and_then(|s| done.constants.get(&s)) {
            done.ids.insert(id, *there);
            return Ok(());
        }
        let name = self.name_of(id).filter(|n| inst.op() == Op::Variable && n.starts_with("rr_"));
        if let Some(there) = name.and_then(|n| done.shared.get(n)) {
            done.ids.insert(id, *there);
            return Ok(());
        }
        let own = done.ids.get(&id).copied();
        rename(&mut inst, &done.ids);
        let decorated = self.module.annotations.iter().any(|a| a.id_at(0) == Some(id));
        let plain = own.is_none()
            && !decorated
            && matches!(
                inst.op(),
                Op::TypeVoid
                    | Op::TypeBool
                    | Op::TypeInt
                    | Op::TypeFloat
                    | Op::TypeVector
                    | Op::TypeFunction
                    | Op::TypePointer
                    | Op::Constant
                    | Op::ConstantTrue
                    | Op::ConstantFalse
                    | Op::ConstantNull
            );
        if plain {
            let there = types.get(m, inst.op(), inst.inst.result_type, inst.inst.operands.clone());
            done.ids.insert(id, there);
            return Ok(());
        }
        let new = own.unwrap_or_else(|| m.fresh());
        inst.inst.result_id = Some(new);
        inst.at = None;
        done.ids.insert(id, new);
        if inst.op() == Op::Variable {
            let class = inst.inst.operands.first();
            let io = matches!(class, Some(Operand::StorageClass(StorageClass::Input | StorageClass::Output)));
            m.interface(new, io);
            // The library's function may have been compiled for another stage, where nothing is interpolated.
            if class == Some(&Operand::StorageClass(StorageClass::Input))
                && m.is_fragment()
                && !self.is_flat(id)
            {
                m.decorate(new, vec![Operand::Decoration(Decoration::Flat)]);
            }
            if let Some(built_in) = self.built_in(id) {
                changes(m, done, new, &built_in);
            }
        }
        m.globals.push(inst);
        if let Some(s) = spec {
            done.constants.insert(s, new);
        }
        if let Some(n) = name {
            done.shared.insert(n.to_owned(), new);
            name_it(m, new, n);
        }
        self.decorations(m, done, &[id]);
        Ok(())
    }

    fn annotations_of(&self, id: u32) -> impl Iterator<Item = &Inst> {
        self.module.annotations.iter().filter(move |a| a.id_at(0) == Some(id))
    }

    fn name_of(&self, id: u32) -> Option<&str> {
        let n = self.module.names.iter().find(|n| n.op() == Op::Name && n.id_at(0) == Some(id))?;
        match &n.inst.operands[1] {
            Operand::LiteralString(s) => Some(s),
            _ => None,
        }
    }

    fn forward(&self, id: u32) -> bool {
        self.module.globals.iter().any(|i| i.op() == Op::TypeForwardPointer && i.id_at(0) == Some(id))
    }

    fn built_in(&self, id: u32) -> Option<Operand> {
        let of = |i: &&Inst| {
            i.op() == Op::Decorate
                && i.id_at(0) == Some(id)
                && i.inst.operands.get(1) == Some(&Operand::Decoration(Decoration::BuiltIn))
        };
        self.module.annotations.iter().find(of).and_then(|i| i.inst.operands.get(2).cloned())
    }

    /// The Vulkan memory model knows the scope of the device only if that is declared: the queue family's is as wide as a
    /// frame's work on one queue needs it.
    fn scopes(&self, m: &mut Module, types: &mut Types, f: &mut Function) {
        if !m.has_capability(Capability::VulkanMemoryModel)
            || m.has_capability(Capability::VulkanMemoryModelDeviceScope)
        {
            return;
        }
        let device = types.u32(m, Scope::Device as u32);
        let family = types.u32(m, Scope::QueueFamily as u32);
        let insts = f.blocks.iter_mut().flat_map(|b| &mut b.body);
        // (a clock has a scope, and no memory)
        for i in insts.filter(|i| i.op() != Op::ReadClockKHR) {
            for o in &mut i.inst.operands {
                if *o == Operand::IdScope(device) {
                    *o = Operand::IdScope(family);
                }
            }
        }
    }

    /// Whether a variable is not interpolated: it says so, or it cannot be (FragCoord is float and may not say so).
    fn is_flat(&self, id: u32) -> bool {
        let says = self
            .annotations_of(id)
            .any(|a| a.inst.operands.get(1) == Some(&Operand::Decoration(Decoration::Flat)));
        let pointer = self.module.global(id).and_then(|v| self.module.global(v.inst.result_type?));
        let float = |ty: &Inst| match ty.op() {
            Op::TypeVector => {
                self.module.global(ty.id_at(0).unwrap_or(0)).is_some_and(|t| t.op() == Op::TypeFloat)
            }
            op => op == Op::TypeFloat,
        };
        says || pointer.and_then(|p| self.module.global(p.id_at(1)?)).is_some_and(float)
    }

    fn decorations(&self, m: &mut Module, done: &Imported, of: &[u32]) {
        for a in &self.module.annotations {
            if a.id_at(0).is_some_and(|id| of.contains(&id)) {
                let mut a = a.clone();
                if let Some(s) = spec_id(&a) {
                    a.inst.operands[2] = Operand::LiteralBit32(done.spec_id(s));
                }
                rename(&mut a, &done.ids);
                m.annotations.push(a);
            }
        }
    }
}

/// Whether two types are integers, or vectors of as many, one signed and the other not.
fn differ_in_signedness(m: &Module, a: u32, b: u32) -> bool {
    match (m.global(a), m.global(b)) {
        (Some(a), Some(b)) if a.op() == Op::TypeInt && b.op() == Op::TypeInt => {
            a.inst.operands[0] == b.inst.operands[0]
        }
        (Some(a), Some(b)) if a.op() == Op::TypeVector && b.op() == Op::TypeVector => {
            let of = |v: &Inst| v.id_at(0).unwrap_or(0);
            a.inst.operands[1] == b.inst.operands[1] && differ_in_signedness(m, of(a), of(b))
        }
        _ => false,
    }
}

/// Subgroups of the ray-tracing stages may be put together anew wherever a shader calls another: what says who is in
/// them has to be read each time.
fn changes(m: &mut Module, done: &mut Imported, variable: u32, built_in: &Operand) {
    let Operand::BuiltIn(built_in) = built_in else { return };
    let subgroup = matches!(
        built_in,
        BuiltIn::SubgroupSize
            | BuiltIn::SubgroupLocalInvocationId
            | BuiltIn::SubgroupEqMask
            | BuiltIn::SubgroupGeMask
            | BuiltIn::SubgroupGtMask
            | BuiltIn::SubgroupLeMask
            | BuiltIn::SubgroupLtMask
            | BuiltIn::SMIDNV
            | BuiltIn::WarpIDNV
    );
    let moves = m.entries().first().is_some_and(|e| {
        matches!(
            e.model,
            ExecutionModel::RayGenerationKHR
                | ExecutionModel::ClosestHitKHR
                | ExecutionModel::MissKHR
                | ExecutionModel::IntersectionKHR
                | ExecutionModel::CallableKHR
        )
    });
    if !subgroup || !moves {
        return;
    }
    if m.has_capability(Capability::VulkanMemoryModel) {
        done.volatile.insert(variable);
    } else {
        m.decorate(variable, vec![Operand::Decoration(Decoration::Volatile)]);
    }
}

/// Loads of built-in inputs as the module wants them.
fn loads(m: &mut Module, done: &Imported, f: &mut Function) {
    if done.casts.is_empty() && done.volatile.is_empty() {
        return;
    }
    for b in &mut f.blocks {
        let mut at = 0;
        while at < b.body.len() {
            let load = &mut b.body[at];
            at += 1;
            let Some(variable) = load.id_at(0).filter(|_| load.op() == Op::Load) else { continue };
            if done.volatile.contains(&variable) {
                load.inst.operands.truncate(1);
                load.inst.operands.push(Operand::MemoryAccess(MemoryAccess::VOLATILE));
            }
            if let Some(&theirs) = done.casts.get(&variable) {
                let (ours, value) = (load.inst.result_type, load.id());
                let loaded = m.fresh();
                load.inst.result_type = Some(theirs);
                load.inst.result_id = Some(loaded);
                b.body.insert(at, Inst::new(Op::Bitcast, ours, value, vec![Operand::IdRef(loaded)]));
                at += 1;
            }
        }
    }
}

/// The input variable that a module has for a built-in, if it has one by itself (not inside a block): that of the entry
/// point's interface if there are several.
pub fn built_in_of(m: &Module, built_in: &Operand) -> Option<u32> {
    let decorated = m.annotations.iter().filter(|i| {
        i.op() == Op::Decorate
            && i.inst.operands.get(1) == Some(&Operand::Decoration(Decoration::BuiltIn))
            && i.inst.operands.get(2) == Some(built_in)
    });
    let inputs = decorated.filter_map(|i| i.id_at(0)).filter(|&id| {
        m.global(id).is_some_and(|v| {
            v.op() == Op::Variable
                && v.inst.operands.first() == Some(&Operand::StorageClass(StorageClass::Input))
        })
    });
    let interface =
        |id: &u32| m.entry_points.iter().any(|e| e.inst.operands[3..].contains(&Operand::IdRef(*id)));
    let all: Vec<u32> = inputs.collect();
    all.iter().copied().find(interface).or(all.first().copied())
}

/// Functions and shared variables keep their names, for those who read what was put in.
fn name_it(m: &mut Module, id: u32, name: &str) {
    let operands = vec![Operand::IdRef(id), Operand::LiteralString(name.to_owned())];
    m.names.push(Inst::new(Op::Name, None, None, operands));
}

fn rename(i: &mut Inst, ids: &HashMap<u32, u32>) {
    let new = |id: u32| ids.get(&id).copied().unwrap_or(id);
    i.inst.result_type = i.inst.result_type.map(new);
    i.inst.result_id = i.inst.result_id.map(new);
    for o in &mut i.inst.operands {
        if let Some(id) = o.id_ref_any_mut() {
            *id = new(*id);
        }
    }
    i.at = None;
}

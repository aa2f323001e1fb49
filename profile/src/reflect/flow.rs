//! What an entry point does with its resources: where pointers to them go, and where what is loaded of them is used.
//!
//! Every id has *items*: what part of which resource it is, or points to. A load is no read yet: its items go on through copies,
//! extraction, construction, phi, local variables, parameters and results, and are read where anything else takes them. The
//! order of instructions does not matter, and nothing is ever taken back, so that what comes out is what may happen. Refuses
//! entry points whose values are more parts, or hand them on more often, than [`limits`] says.

use super::bindings::Access;
use super::constants::Constants;
use crate::limits;
use crate::spirv::{Function, Inst, Module, Op, Operand, Result, malformed};
use rspirv::spirv::StorageClass;
use std::collections::{BTreeSet, HashMap, HashSet};

/// An index on the way to a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Index {
    /// This one.
    Known(u32),
    /// One that is decided at run time.
    Any,
    /// The types do not say where it goes on: everything from here on.
    Rest,
}

/// The way from a variable to a part.
pub type Path = Vec<Index>;

/// Ways are never longer: types are not that deep.
const DEEPEST: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum What {
    /// A pointer to the part.
    Address,
    /// What was loaded from there.
    Content,
}

/// A value, or a part of it, is a part of a variable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Item {
    /// Which part of the value.
    at: Path,
    what: What,
    variable: u32,
    path: Path,
}

type Items = BTreeSet<Item>;

/// What is done with variables' parts.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    /// Parts that are read.
    pub reads: HashSet<(u32, Path)>,
    /// Parts that are written.
    pub writes: HashSet<(u32, Path)>,
    /// Parts that atomics change: they are read and written as well.
    pub atomics: HashSet<(u32, Path)>,
    /// Parts that are asked for their size.
    pub queries: HashSet<(u32, Path)>,
    /// Variables that instructions name.
    pub named: HashSet<u32>,
    /// What is done through addresses that the shader has from elsewhere.
    pub addresses: Access,
}

/// Follows everything from an entry point's function.
pub fn uses(m: &Module, entry: u32, constants: &Constants) -> Result<Uses> {
    let mut f = Flow {
        module: m,
        constants,
        classes: HashMap::new(),
        untyped: HashMap::new(),
        values: HashMap::new(),
        locals: HashMap::new(),
        results: HashMap::new(),
        uses: Uses::default(),
        changed: false,
        settled: false,
        parts: 0,
        moved: 0,
    };
    let reached = m.reachable(entry);
    let functions: Vec<&Function> = reached.iter().map(|&i| &m.functions[i]).collect();
    let locals = functions.iter().flat_map(|f| f.insts());
    for i in m.globals.iter().chain(locals) {
        f.declare(i);
    }
    let function_of: HashMap<u32, &Function> = functions.iter().map(|f| (f.id(), *f)).collect();
    loop {
        f.changed = false;
        for function in &functions {
            for i in function.insts() {
                f.step(i, function.id(), &function_of);
                if f.parts > limits::MOST_PARTS || f.moved > limits::MOST_PARTS_MOVED {
                    return malformed("its values are parts of resources in more ways than are followed");
                }
            }
        }
        if !f.changed && f.settled {
            return Ok(f.uses);
        }
        // Pointers whose way was not known yet looked like addresses from elsewhere: once more, now that all are known.
        f.settled = !f.changed;
        if f.settled {
            f.uses.addresses = Access::default();
        }
    }
}

struct Flow<'m> {
    module: &'m Module,
    constants: &'m Constants,
    /// Of variables.
    classes: HashMap<u32, StorageClass>,
    /// The types of untyped variables.
    untyped: HashMap<u32, Option<u32>>,
    values: HashMap<u32, Items>,
    /// What local variables may hold.
    locals: HashMap<u32, Items>,
    /// What functions return.
    results: HashMap<u32, Items>,
    uses: Uses,
    changed: bool,
    settled: bool,
    /// Items that values have, and those that were handed on.
    parts: usize,
    moved: usize,
}

/// Whose contents are followed: nobody else can write there.
fn is_local(class: StorageClass) -> bool {
    matches!(class, StorageClass::Function | StorageClass::Private | StorageClass::Workgroup)
}

/// What is bound.
pub fn is_resource(class: StorageClass) -> bool {
    matches!(
        class,
        StorageClass::Uniform
            | StorageClass::UniformConstant
            | StorageClass::StorageBuffer
            | StorageClass::PushConstant
            | StorageClass::ShaderRecordBufferKHR
    )
}

impl Flow<'_> {
    fn declare(&mut self, i: &Inst) {
        let (Op::Variable | Op::UntypedVariableKHR, Some(id)) = (i.op(), i.id()) else { return };
        let Some(Operand::StorageClass(class)) = i.inst.operands.first() else { return };
        self.classes.insert(id, *class);
        if i.op() == Op::UntypedVariableKHR {
            self.untyped.insert(id, i.id_at(1));
        }
        let own = Item { at: vec![], what: What::Address, variable: id, path: vec![] };
        self.values.insert(id, Items::from([own]));
        // (an initial value may be a pointer to another variable)
        let initial = if i.op() == Op::Variable { i.id_at(1) } else { i.id_at(2) };
        if let Some(items) = initial.and_then(|v| self.values.get(&v)).cloned() {
            self.locals.entry(id).or_default().extend(items);
        }
    }

    fn items(&mut self, id: Option<u32>) -> Items {
        let items = id.and_then(|id| self.values.get(&id)).cloned().unwrap_or_default();
        self.moved += items.len();
        items
    }

    fn give(&mut self, id: Option<u32>, items: Items) {
        let Some(id) = id.filter(|_| !items.is_empty()) else { return };
        let known = self.values.entry(id).or_default();
        let before = known.len();
        known.extend(items);
        self.parts += known.len() - before;
        self.changed |= known.len() != before;
    }

    fn note(changed: &mut bool, set: &mut HashSet<(u32, Path)>, variable: u32, path: &Path) {
        *changed |= set.insert((variable, path.clone()));
    }

    /// Something takes a value that is not followed further: it is read.
    fn take(&mut self, items: Items) {
        for i in items {
            let class = self.classes.get(&i.variable).copied();
            match i.what {
                What::Content => Self::note(&mut self.changed, &mut self.uses.reads, i.variable, &i.path),
                What::Address if class.is_some_and(is_resource) => {
                    // A pointer that goes where nobody sees it.
                    let path = with(&i.path, &[Index::Rest]);
                    Self::note(&mut self.changed, &mut self.uses.reads, i.variable, &path);
                    Self::note(&mut self.changed, &mut self.uses.writes, i.variable, &path);
                }
                What::Address => self.expose(i.variable),
            }
        }
    }

    /// Everything that a local variable holds is read.
    fn expose(&mut self, variable: u32) {
        if let Some(held) = self.locals.get_mut(&variable).map(std::mem::take) {
            self.moved += held.len();
            // (contents alone: a variable may hold its own address)
            let (contents, addresses): (Items, Items) =
                held.iter().cloned().partition(|i| i.what == What::Content);
            self.locals.insert(variable, held);
            self.take(contents);
            let resources = |i: &Item| self.classes.get(&i.variable).copied().is_some_and(is_resource);
            let known = addresses.into_iter().filter(resources).collect();
            self.take(known);
        }
    }

    fn take_id(&mut self, id: u32) {
        let items = self.items(Some(id));
        self.take(items);
    }

    fn index(&self, id: u32) -> Index {
        match self.constants.bits(id) {
            Some(n) => u32::try_from(n).map_or(Index::Any, Index::Known),
            None => Index::Any,
        }
    }

    /// What a pointer leads to, for something that is done there.
    fn at(&mut self, pointer: Option<u32>, access: Access) -> Vec<(u32, Path)> {
        let items = self.items(pointer);
        let (addresses, contents): (Items, Items) =
            items.into_iter().partition(|i| i.what == What::Address && i.at.is_empty());
        if addresses.is_empty() {
            // What is bound or declared here has an address; what has none is one that came as a number.
            self.uses.addresses.and(access);
        }
        // (whoever goes there reads where it is)
        self.take(contents);
        addresses.into_iter().map(|i| (i.variable, i.path)).collect()
    }

    fn read(&mut self, to: &[(u32, Path)]) {
        for (variable, path) in to {
            match self.classes.get(variable).copied() {
                Some(c) if is_resource(c) => {
                    Self::note(&mut self.changed, &mut self.uses.reads, *variable, path);
                }
                _ => self.expose(*variable),
            }
        }
    }

    fn written(&mut self, to: &[(u32, Path)]) {
        for (variable, path) in to {
            if self.classes.get(variable).copied().is_some_and(is_resource) {
                Self::note(&mut self.changed, &mut self.uses.writes, *variable, path);
            }
        }
    }

    fn load(&mut self, from: &[(u32, Path)]) -> Items {
        let mut out = Items::new();
        for (variable, path) in from {
            match self.classes.get(variable).copied() {
                Some(c) if is_resource(c) => {
                    let (variable, path) = (*variable, path.clone());
                    out.insert(Item { at: vec![], what: What::Content, variable, path });
                }
                Some(c) if is_local(c) => {
                    if path.contains(&Index::Rest) {
                        self.expose(*variable);
                        continue;
                    }
                    let held = self.locals.get(variable);
                    self.moved += held.map_or(0, BTreeSet::len);
                    let held = held.into_iter().flatten();
                    out.extend(held.filter_map(|i| part(i, path)));
                }
                _ => {}
            }
        }
        out
    }

    fn store(&mut self, to: &[(u32, Path)], items: Items) {
        self.written(to);
        let lost = to.is_empty() || to.iter().any(|t| !self.classes.get(&t.0).copied().is_some_and(is_local));
        let unclear = to.iter().any(|t| t.1.contains(&Index::Rest));
        if lost || unclear {
            self.take(items.clone());
        }
        for (variable, path) in to.iter().filter(|_| !unclear) {
            if !self.classes.get(variable).copied().is_some_and(is_local) {
                continue;
            }
            let held = self.locals.entry(*variable).or_default();
            let before = held.len();
            held.extend(items.iter().map(|i| Item { at: with(path, &i.at), ..i.clone() }));
            self.parts += held.len() - before;
            self.changed |= held.len() != before;
        }
    }

    fn step(&mut self, i: &Inst, function: u32, functions: &HashMap<u32, &Function>) {
        if i.op() != Op::Variable {
            for id in i.inst.operands.iter().filter_map(Operand::id_ref_any) {
                if self.classes.contains_key(&id) {
                    self.uses.named.insert(id);
                }
            }
        }
        let read = Access { read: true, ..Access::default() };
        let write = Access { write: true, ..Access::default() };
        match i.op() {
            Op::Variable | Op::UntypedVariableKHR | Op::Line | Op::NoLine => {}
            Op::AccessChain | Op::InBoundsAccessChain => self.chain(i, 0, 1),
            Op::PtrAccessChain | Op::InBoundsPtrAccessChain => self.pointer_chain(i, 0, 1),
            Op::UntypedAccessChainKHR | Op::UntypedInBoundsAccessChainKHR => self.untyped_chain(i, 2),
            Op::UntypedPtrAccessChainKHR | Op::UntypedInBoundsPtrAccessChainKHR => self.untyped_chain(i, 2),
            Op::CopyObject | Op::CopyLogical | Op::ExpectKHR | Op::SampledImage | Op::Image => {
                for id in i.inst.operands.iter().filter_map(Operand::id_ref_any) {
                    let items = self.items(Some(id));
                    self.give(i.id(), items);
                }
            }
            // A pointer to the same bytes as something else; of values, a computation.
            Op::Bitcast if self.is_pointer(i.inst.result_type) => {
                let items = self.items(i.id_at(0));
                let (addresses, contents): (Items, Items) =
                    items.into_iter().partition(|i| i.what == What::Address);
                self.take(contents);
                let unclear = |i: Item| Item { path: with(&i.path, &[Index::Rest]), ..i };
                self.give(i.id(), addresses.into_iter().map(unclear).collect());
            }
            Op::Phi => {
                for pair in i.inst.operands.chunks_exact(2) {
                    let items = self.items(pair[0].id_ref_any());
                    self.give(i.id(), items);
                }
            }
            Op::Select => {
                self.take_all(i, &[0]);
                for n in [1, 2] {
                    let items = self.items(i.id_at(n));
                    self.give(i.id(), items);
                }
            }
            Op::Load => {
                let from = self.at(i.id_at(0), read);
                let items = self.load(&from);
                self.give(i.id(), items);
            }
            Op::Store => {
                let to = self.at(i.id_at(0), write);
                let items = self.items(i.id_at(1));
                self.store(&to, items);
            }
            Op::CopyMemory | Op::CopyMemorySized => {
                let (to, from) = (self.at(i.id_at(0), write), self.at(i.id_at(1), read));
                let items = self.load(&from);
                self.store(&to, items);
            }
            Op::CompositeExtract => {
                let path: Path = literals(i, 1).collect();
                let items = self.items(i.id_at(0));
                self.give(i.id(), items.iter().filter_map(|x| part(x, &path)).collect());
            }
            Op::CompositeInsert => {
                let path: Path = literals(i, 2).collect();
                let mut items = self.items(i.id_at(1));
                let own = self.items(i.id_at(0));
                items.extend(own.into_iter().map(|x| Item { at: with(&path, &x.at), ..x }));
                self.give(i.id(), items);
            }
            Op::CompositeConstruct if !self.is_vector(i.inst.result_type) => {
                for (n, id) in (0..).zip(i.inst.operands.iter().filter_map(Operand::id_ref_any)) {
                    let items = self.items(Some(id)).into_iter();
                    let at = |x: Item| Item { at: with(&[Index::Known(n)], &x.at), ..x };
                    self.give(i.id(), items.map(at).collect());
                }
            }
            Op::VectorShuffle => self.shuffle(i),
            Op::VectorExtractDynamic => {
                let items = self.items(i.id_at(0));
                self.take(items.iter().filter_map(|x| part(x, &[Index::Any])).collect());
                self.take_all(i, &[1]);
            }
            Op::FunctionCall => self.call(i, functions),
            Op::ReturnValue => {
                let items = self.items(i.id_at(0));
                let known = self.results.entry(function).or_default();
                let before = known.len();
                known.extend(items);
                self.parts += known.len() - before;
                self.changed |= known.len() != before;
            }
            Op::ImageTexelPointer | Op::UntypedImageTexelPointerEXT => {
                let at = if i.op() == Op::ImageTexelPointer { 0 } else { 1 };
                let items = self.items(i.id_at(at));
                self.give(i.id(), items);
                self.take_all(i, &[at + 1, at + 2]);
            }
            Op::ArrayLength | Op::UntypedArrayLengthKHR => {
                let pointer = i.inst.operands.iter().filter_map(Operand::id_ref_any);
                for id in pointer {
                    for (variable, path) in self.at(Some(id), Access { query: true, ..Access::default() }) {
                        Self::note(&mut self.changed, &mut self.uses.queries, variable, &path);
                    }
                }
            }
            Op::ImageQuerySizeLod
            | Op::ImageQuerySize
            | Op::ImageQueryLod
            | Op::ImageQueryLevels
            | Op::ImageQuerySamples
            | Op::ImageQueryFormat
            | Op::ImageQueryOrder => {
                for x in self.items(i.id_at(0)).into_iter().filter(|x| x.what == What::Content) {
                    Self::note(&mut self.changed, &mut self.uses.queries, x.variable, &x.path);
                }
                self.take_behind(i, 1);
            }
            Op::ImageWrite => {
                for x in self.items(i.id_at(0)).into_iter().filter(|x| x.what == What::Content) {
                    Self::note(&mut self.changed, &mut self.uses.writes, x.variable, &x.path);
                }
                self.take_behind(i, 1);
            }
            op if is_atomic(op) => {
                let access = match op {
                    Op::AtomicLoad => Access { atomic: true, ..read },
                    Op::AtomicStore | Op::AtomicFlagClear => Access { atomic: true, ..write },
                    _ => Access { read: true, write: true, atomic: true, query: false },
                };
                let to = self.at(i.id_at(0), access);
                if access.read {
                    self.read(&to);
                }
                if access.write {
                    self.written(&to);
                }
                for (variable, path) in &to {
                    Self::note(&mut self.changed, &mut self.uses.atomics, *variable, path);
                }
                self.take_behind(i, 1);
            }
            // Pieces of arrays: from an element on, as far as they go.
            Op::CooperativeMatrixLoadKHR
            | Op::CooperativeMatrixLoadNV
            | Op::CooperativeVectorLoadNV
            | Op::CooperativeMatrixLoadTensorNV => {
                let from: Vec<_> = self.at(i.id_at(0), read).into_iter().map(around).collect();
                self.read(&from);
                self.take_behind(i, 1);
            }
            Op::CooperativeMatrixStoreKHR
            | Op::CooperativeMatrixStoreNV
            | Op::CooperativeVectorStoreNV
            | Op::CooperativeMatrixStoreTensorNV => {
                let to: Vec<_> = self.at(i.id_at(0), write).into_iter().map(around).collect();
                self.written(&to);
                self.take_behind(i, 1);
            }
            // Debug information reads nothing.
            Op::ExtInst if self.is_debug(i.id_at(0)) => {}
            _ => self.take_behind(i, 0),
        }
    }

    /// What operands from one on are is read.
    fn take_behind(&mut self, i: &Inst, first: usize) {
        for id in i.inst.operands.iter().skip(first).filter_map(Operand::id_ref_any) {
            self.take_id(id);
        }
    }

    fn take_all(&mut self, i: &Inst, which: &[usize]) {
        for id in which.iter().filter_map(|n| i.id_at(*n)) {
            self.take_id(id);
        }
    }

    fn chain(&mut self, i: &Inst, base: usize, first: usize) {
        let indices: Path =
            i.inst.operands[first..].iter().filter_map(Operand::id_ref_any).map(|x| self.index(x)).collect();
        let items = self.items(i.id_at(base));
        self.take_behind(i, first);
        self.follow(i, items, |p| with(p, &indices));
    }

    fn pointer_chain(&mut self, i: &Inst, base: usize, element: usize) {
        let all: Path = i.inst.operands[element..]
            .iter()
            .filter_map(Operand::id_ref_any)
            .map(|x| self.index(x))
            .collect();
        let items = self.items(i.id_at(base));
        self.take_behind(i, element);
        let zero = all.first() == Some(&Index::Known(0));
        self.follow(i, items, |p| {
            let start = if zero { p.clone() } else { around((0, p.clone())).1 };
            with(&start, &all[1..])
        });
    }

    fn untyped_chain(&mut self, i: &Inst, first: usize) {
        let indices: Path =
            i.inst.operands[first..].iter().filter_map(Operand::id_ref_any).map(|x| self.index(x)).collect();
        let items = self.items(i.id_at(1));
        self.take_behind(i, first);
        let plain = matches!(i.op(), Op::UntypedAccessChainKHR | Op::UntypedInBoundsAccessChainKHR);
        let base = i.id_at(0);
        // The variable's own type leads where typed chains lead; any other cuts it in another way.
        let same: HashSet<u32> =
            self.untyped.iter().filter(|(_, ty)| plain && **ty == base).map(|(id, _)| *id).collect();
        let moved = items.into_iter().map(|x| match x.what {
            What::Address if x.path.is_empty() && same.contains(&x.variable) => {
                Item { path: with(&x.path, &indices), ..x }
            }
            What::Address => Item { path: with(&x.path, &[Index::Rest]), ..x },
            What::Content => x,
        });
        let moved: Items = moved.collect();
        self.follow(i, moved, Path::clone);
    }

    /// A pointer that leads on from another. Content is an address that came as a number: going there reads it.
    fn follow(&mut self, i: &Inst, items: Items, on: impl Fn(&Path) -> Path) {
        let (addresses, others): (Items, Items) =
            items.into_iter().partition(|x| x.what == What::Address && x.at.is_empty());
        self.take(others);
        self.give(i.id(), addresses.into_iter().map(|x| Item { path: on(&x.path), ..x }).collect());
    }

    /// Only the components that are named are read.
    fn shuffle(&mut self, i: &Inst) {
        let first = i.id_at(0).and_then(|v| self.components(v)).unwrap_or(u32::MAX);
        let all: Vec<Index> = literals(i, 2).collect();
        for n in all {
            let Index::Known(n) = n else { continue };
            let (vector, component) = match n {
                u32::MAX => continue,
                n if n < first => (0, n),
                n => (1, n - first),
            };
            let items = self.items(i.id_at(vector));
            self.take(items.iter().filter_map(|x| part(x, &[Index::Known(component)])).collect());
        }
    }

    /// Components of a vector that has items; without items nobody asks.
    fn components(&self, vector: u32) -> Option<u32> {
        let found = |i: &&Inst| i.id() == Some(vector);
        let within =
            || self.module.functions.iter().find_map(|f| f.params.iter().chain(f.insts()).find(found));
        let ty = self.module.global(vector).or_else(within)?.inst.result_type?;
        match self.module.global(ty)?.inst.operands.get(1) {
            Some(Operand::LiteralBit32(n)) => Some(*n),
            _ => None,
        }
    }

    fn call(&mut self, i: &Inst, functions: &HashMap<u32, &Function>) {
        let Some(called) = i.id_at(0).and_then(|f| functions.get(&f)) else { return self.take_behind(i, 1) };
        let parameters: Vec<u32> =
            called.params.iter().filter(|p| p.op() == Op::FunctionParameter).filter_map(Inst::id).collect();
        let arguments = i.inst.operands.iter().skip(1).map(Operand::id_ref_any);
        for (parameter, argument) in parameters.into_iter().zip(arguments) {
            let items = self.items(argument);
            self.give(Some(parameter), items);
        }
        let back = self.results.get(&called.id()).cloned().unwrap_or_default();
        self.give(i.id(), back);
    }

    fn is_vector(&self, ty: Option<u32>) -> bool {
        ty.and_then(|t| self.module.global(t)).is_some_and(|t| t.op() == Op::TypeVector)
    }

    fn is_pointer(&self, ty: Option<u32>) -> bool {
        let ty = ty.and_then(|t| self.module.global(t));
        ty.is_some_and(|t| matches!(t.op(), Op::TypePointer | Op::TypeUntypedPointerKHR))
    }

    fn is_debug(&self, set: Option<u32>) -> bool {
        let import = self.module.imports.iter().find(|i| i.id() == set);
        let name = import.and_then(|i| i.inst.operands.first());
        matches!(name, Some(Operand::LiteralString(n)) if n.starts_with("NonSemantic.") || n.contains("DebugInfo"))
    }
}

/// A way that goes on.
fn with(path: &[Index], more: &[Index]) -> Path {
    if path.last() == Some(&Index::Rest) {
        return path.to_vec();
    }
    let mut new = [path, more].concat();
    if new.len() > DEEPEST {
        new.truncate(DEEPEST);
        new.push(Index::Rest);
    }
    new
}

/// From an element to any element of its array: of no array, to everything.
fn around((variable, mut path): (u32, Path)) -> (u32, Path) {
    match path.pop() {
        Some(Index::Rest) => path.push(Index::Rest),
        Some(_) => path.push(Index::Any),
        None => path.push(Index::Rest),
    }
    (variable, path)
}

fn literals(i: &Inst, first: usize) -> impl Iterator<Item = Index> + '_ {
    i.inst.operands.iter().skip(first).filter_map(|o| match o {
        Operand::LiteralBit32(n) => Some(Index::Known(*n)),
        _ => None,
    })
}

/// What an item of a value is in a part of that value; nothing if it lies beside it.
fn part(i: &Item, wanted: &[Index]) -> Option<Item> {
    let alike = |(a, b): (&Index, &Index)| a == b || *a == Index::Any || *b == Index::Any;
    if !i.at.iter().zip(wanted).all(alike) {
        return None;
    }
    if wanted.len() <= i.at.len() {
        return Some(Item { at: i.at[wanted.len()..].to_vec(), ..i.clone() });
    }
    match i.what {
        What::Content => Some(Item { at: vec![], path: with(&i.path, &wanted[i.at.len()..]), ..i.clone() }),
        // (a pointer has no parts)
        What::Address => None,
    }
}

fn is_atomic(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        AtomicLoad
            | AtomicStore
            | AtomicExchange
            | AtomicCompareExchange
            | AtomicCompareExchangeWeak
            | AtomicIIncrement
            | AtomicIDecrement
            | AtomicIAdd
            | AtomicISub
            | AtomicSMin
            | AtomicUMin
            | AtomicSMax
            | AtomicUMax
            | AtomicAnd
            | AtomicOr
            | AtomicXor
            | AtomicFlagTestAndSet
            | AtomicFlagClear
            | AtomicFMinEXT
            | AtomicFMaxEXT
            | AtomicFAddEXT
    )
}

//! A load's block, parted in four: what comes before, the short way, the application's way, and what comes after.
//!
//! Guarantees: the block keeps its label, and what came after it names the last part as the block that it comes from. What
//! depends on the load up to its first effect is in both ways, and what others use of it comes through OpPhi; what is stored of
//! it to variables of the invocation's own is stored behind both. Blocks that begin a loop are left alone: their merge
//! instruction has to stay. Where nothing is guarded the module is as it was.

use super::fold::{Left, is_pure, left};
use super::locals::Locals;
use super::quiet::quiet;
use crate::passes::learnt::glsl;
use crate::rewrite::Shader;
use crate::spirv::{Block, Inst, Op, Operand};
use rspirv::spirv::{SelectionControl, StorageClass};
use std::collections::{BTreeSet, HashMap, HashSet};

/// What is known of the module before anything is guarded.
pub struct About {
    /// GLSL's functions.
    pub glsl: Option<u32>,
    /// Functions that do nothing but give a value, and how many instructions a call of each stands for.
    pub quiet: HashMap<u32, usize>,
}

impl About {
    /// Of a module.
    pub fn of(shader: &Shader) -> About {
        let glsl = glsl(&shader.module);
        About { glsl, quiet: quiet(&shader.module, glsl) }
    }
}

/// Guards the load that stood there; how many instructions the short way saves, if it saves enough.
pub fn guard(
    shader: &mut Shader,
    about: &About,
    word_offset: u32,
    components: &BTreeSet<u32>,
    least: usize,
) -> Option<usize> {
    let (f, b, _) = find(shader, word_offset)?;
    let old = shader.module.functions[f].blocks[b].body.clone();
    let locals = Locals::of(&shader.module, &shader.module.functions[f]);
    locals.forward(&mut shader.module.functions[f].blocks[b].body);
    locals.sweep(&mut shader.module.functions[f], b);
    let saved = guard_here(shader, about, &locals, word_offset, components, least);
    if saved.is_none() {
        shader.module.functions[f].blocks[b].body = old;
    }
    saved
}

fn guard_here(
    shader: &mut Shader,
    about: &About,
    locals: &Locals,
    word_offset: u32,
    components: &BTreeSet<u32>,
    least: usize,
) -> Option<usize> {
    let (f, b, n) = find(shader, word_offset)?;
    let load = shader.module.functions[f].blocks[b].body[n].clone();
    let value = Value::of(shader, &load, components)?;
    let block = &shader.module.functions[f].blocks[b];
    let end = block.body.len() - if block.merge().is_some() { 2 } else { 1 };
    if block.merge().is_some_and(|m| m.op() == Op::LoopMerge) {
        return None;
    }
    // What depends on it, up to the first of these that is not pure.
    let mut dependent: HashSet<u32> = HashSet::from([value.id]);
    let (mut ways, mut stores, mut stop) = (vec![], BTreeSet::new(), n + 1);
    // (what is stored behind both ways is not there before)
    let mut late: HashSet<u32> = HashSet::new();
    for (at, i) in block.body.iter().enumerate().take(end).skip(n + 1) {
        let depends =
            i.inst.operands.iter().filter_map(Operand::id_ref_any).any(|id| dependent.contains(&id));
        if locals.touches(i, &late) {
            break;
        }
        match (depends, i.id(), locals.stored(i)) {
            (true, Some(id), _) if is_pure(i, about.glsl) => {
                dependent.insert(id);
                ways.push(at);
            }
            (depends, None, Some((variable, _))) if depends || late.contains(&variable) => {
                late.insert(variable);
                stores.insert(at);
            }
            (true, ..) => break,
            _ => {}
        }
        stop = at + 1;
    }
    let mut plan = Plan::new(shader, value, &block.body, &ways);
    plan.stores = stores;
    plan.sink(shader, about, locals, (f, b), stop, &ways);
    let saved = plan.saved(&shader.module.functions[f].blocks[b].body, about);
    if saved < least || plan.escapes(shader, f, &ways, b).is_empty() {
        return None;
    }
    plan.apply(shader, (f, b), stop, &ways);
    Some(saved)
}

/// The load of the original that stood there, wherever it is now.
fn find(shader: &Shader, word_offset: u32) -> Option<(usize, usize, usize)> {
    for f in shader.module.reachable(shader.entry.function) {
        for (b, block) in shader.module.functions[f].blocks.iter().enumerate() {
            if let Some(n) = block.body.iter().position(|i| i.at == Some(word_offset)) {
                return Some((f, b, n));
            }
        }
    }
    None
}

/// What was loaded.
struct Value {
    id: u32,
    /// Of a component.
    scalar: u32,
    /// The components that are asked for; none where it is a scalar.
    components: Vec<u32>,
    /// All there are.
    whole: bool,
    float: bool,
}

impl Value {
    /// A number of 32 bits, or a vector of them.
    fn of(shader: &Shader, load: &Inst, wanted: &BTreeSet<u32>) -> Option<Value> {
        let (id, ty) = (load.id()?, load.inst.result_type?);
        let i = shader.module.global(ty)?;
        let (scalar, n) = match (i.op(), i.inst.operands.get(1)) {
            (Op::TypeVector, Some(Operand::LiteralBit32(n))) => (i.id_at(0)?, Some(*n)),
            _ => (ty, None),
        };
        let s = shader.module.global(scalar)?;
        let float = match (s.op(), s.inst.operands.first()) {
            (Op::TypeFloat, Some(Operand::LiteralBit32(32))) => true,
            (Op::TypeInt, Some(Operand::LiteralBit32(32))) => false,
            _ => return None,
        };
        let components: Vec<u32> = wanted.iter().copied().filter(|c| n.is_some_and(|n| *c < n)).collect();
        if n.is_some() && components.is_empty() {
            return None;
        }
        let whole = n.is_none_or(|n| components.len() == n as usize);
        Some(Value { id, scalar, components, whole, float })
    }

    /// Whether all that is asked for is zero in all its bits.
    fn test(&self, s: &mut Shader, out: &mut Vec<Inst>) -> u32 {
        let uint = s.types.uint(&mut s.module, 32);
        let bool = s.types.bool(&mut s.module);
        let mut put = |s: &mut Shader, op, ty, operands| {
            let id = s.module.fresh();
            out.push(Inst::new(op, Some(ty), Some(id), operands));
            id
        };
        let mut parts = vec![];
        for c in &self.components {
            let operands = vec![Operand::IdRef(self.id), Operand::LiteralBit32(*c)];
            parts.push(put(s, Op::CompositeExtract, self.scalar, operands));
        }
        if parts.is_empty() {
            parts.push(self.id);
        }
        let mut bits = None;
        for mut part in parts {
            if self.float || self.scalar != uint {
                part = put(s, Op::Bitcast, uint, vec![Operand::IdRef(part)]);
            }
            bits = Some(match bits {
                None => part,
                Some(so_far) => {
                    put(s, Op::BitwiseOr, uint, vec![Operand::IdRef(so_far), Operand::IdRef(part)])
                }
            });
        }
        let zero = s.constant(0);
        put(s, Op::IEqual, bool, vec![Operand::IdRef(bits.unwrap_or(zero)), Operand::IdRef(zero)])
    }
}

/// What the two ways are made of.
struct Plan {
    value: Value,
    /// What each dependent value is in the short way.
    left: HashMap<u32, Left>,
    types: HashMap<u32, u32>,
    /// Instructions that move into the application's way, as nothing else needs them.
    sunk: BTreeSet<usize>,
    /// Stores to variables of the invocation's own that move behind both ways.
    stores: BTreeSet<usize>,
}

impl Plan {
    fn new(shader: &Shader, value: Value, body: &[Inst], ways: &[usize]) -> Plan {
        let none = BTreeSet::new();
        let mut plan =
            Plan { value, left: HashMap::new(), types: HashMap::new(), sunk: none.clone(), stores: none };
        for &at in ways {
            let i = &body[at];
            let (Some(id), Some(ty)) = (i.id(), i.inst.result_type) else { continue };
            let value = &plan.value;
            let zeros = |of: u32, c: u32| of == value.id && value.components.contains(&c);
            let zero = |of: u32| {
                (of == value.id && value.whole)
                    || plan.left.get(&of) == Some(&Left::Zero)
                    || is_null(shader, of)
            };
            let found = left(i, &zero, &zeros);
            // (an operand of another type is no copy: a scalar shifted by a vector's component, say)
            let found = match found {
                Left::Operand(of) if type_of(shader, of) != Some(ty) => Left::Computed,
                found => found,
            };
            plan.left.insert(id, found);
            plan.types.insert(id, ty);
        }
        plan
    }

    /// Instructions that the short way does not have; copies are none.
    fn saved(&self, body: &[Inst], about: &About) -> usize {
        let copy = |i: &Inst| i.op() == Op::CopyObject;
        let dear = |at: &usize| match &body[*at] {
            i if copy(i) => 0,
            i if i.op() == Op::FunctionCall => {
                i.id_at(0).and_then(|f| about.quiet.get(&f)).map_or(1, |n| 1 + n)
            }
            _ => 1,
        };
        let left = |i: &&Inst| {
            !copy(i) && i.id().and_then(|id| self.left.get(&id)).is_some_and(|l| *l != Left::Computed)
        };
        body.iter().filter(left).count() + self.sunk.iter().map(dear).sum::<usize>()
    }

    /// Finds what only instructions need that the short way does not compute: before the load as well.
    fn sink(
        &mut self,
        shader: &Shader,
        about: &About,
        locals: &Locals,
        (f, b): (usize, usize),
        stop: usize,
        ways: &[usize],
    ) {
        let function = &shader.module.functions[f];
        let body = &function.blocks[b].body;
        // Who uses an id: instructions of this block by their number; others count as none of them.
        let mut users: HashMap<u32, Vec<Option<usize>>> = HashMap::new();
        for (k, block) in function.blocks.iter().enumerate() {
            for (at, i) in block.body.iter().enumerate() {
                for id in i.inst.operands.iter().filter_map(Operand::id_ref_any) {
                    users.entry(id).or_default().push((k == b).then_some(at));
                }
            }
        }
        let made_here = |id: Option<u32>| body[..stop].iter().any(|i| i.id() == id);
        let loaded = self.value.id;
        // Behind an instruction nothing writes to what it is given.
        let kept = |at: usize, i: &Inst| {
            let given: HashSet<u32> = i.ids().filter_map(|p| locals.root(p)).collect();
            body[at + 1..stop].iter().all(|j| locals.written(j).iter().all(|v| !given.contains(v)))
        };
        for at in (0..stop).rev().filter(|at| !ways.contains(at)) {
            let i = &body[at];
            let Some(id) = i.id().filter(|id| *id != loaded) else { continue };
            let movable = match i.op() {
                // (what is stored behind both ways was not there before either)
                Op::Load
                    if i.inst.operands.len() == 1 && i.id_at(0).and_then(|p| locals.root(p)).is_some() =>
                {
                    kept(at, i)
                }
                Op::FunctionCall => i.id_at(0).is_some_and(|c| about.quiet.contains_key(&c)) && kept(at, i),
                // (with its sampled image, which has to be made in the same block)
                Op::ImageSampleExplicitLod => {
                    let image = i.id_at(0).unwrap_or(0);
                    made_here(Some(image)) && users.get(&image).is_some_and(|u| u.len() == 1)
                }
                _ => is_pure(i, about.glsl) || reads_constant_memory(shader, i),
            };
            let not_needed = |user: &Option<usize>| match user {
                Some(u) if self.sunk.contains(u) => true,
                Some(u) if ways.contains(u) => {
                    let of = body[*u].id().and_then(|u| self.left.get(&u));
                    match of {
                        Some(Left::Zero) => true,
                        Some(Left::Operand(o)) => *o != id,
                        _ => false,
                    }
                }
                _ => false,
            };
            // (copies that took a load's place are there for nobody, maybe)
            if movable && users.get(&id).map_or(i.op() == Op::CopyObject, |u| u.iter().all(not_needed)) {
                self.sunk.insert(at);
            }
        }
    }

    /// Dependent values that something else uses.
    fn escapes(&self, shader: &Shader, f: usize, ways: &[usize], b: usize) -> Vec<u32> {
        let mut used: HashSet<u32> = HashSet::new();
        for (k, block) in shader.module.functions[f].blocks.iter().enumerate() {
            for (at, i) in block.body.iter().enumerate() {
                if k != b || !ways.contains(&at) {
                    used.extend(i.inst.operands.iter().filter_map(Operand::id_ref_any));
                }
            }
        }
        let body = &shader.module.functions[f].blocks[b].body;
        ways.iter().filter_map(|at| body[*at].id()).filter(|id| used.contains(id)).collect()
    }

    fn apply(&self, s: &mut Shader, (f, b): (usize, usize), stop: usize, ways: &[usize]) {
        let escapes = self.escapes(s, f, ways, b);
        let old = s.module.functions[f].blocks[b].clone();
        let [short, own, after] = [0; 3].map(|_| s.module.fresh());
        let (mut before, mut own_body, mut rest) = (vec![], vec![], vec![]);
        for (at, i) in old.body.iter().enumerate() {
            let to = match at {
                _ if at >= stop || self.stores.contains(&at) => &mut rest,
                _ if ways.contains(&at) || self.sunk.contains(&at) => &mut own_body,
                _ => &mut before,
            };
            to.push(i.clone());
        }
        let (short_body, became) = self.short(s, &old.body, ways);
        let test = self.value.test(s, &mut before);
        let control = Operand::SelectionControl(SelectionControl::NONE);
        before.push(Inst::new(Op::SelectionMerge, None, None, vec![Operand::IdRef(after), control]));
        let choice = [test, short, own].map(Operand::IdRef).to_vec();
        before.push(Inst::new(Op::BranchConditional, None, None, choice));
        let to_after = || Inst::new(Op::Branch, None, None, vec![Operand::IdRef(after)]);
        own_body.push(to_after());
        let mut instead = HashMap::new();
        let mut joined = vec![];
        for id in escapes {
            let new = s.module.fresh();
            let zero = became.get(&id).copied().unwrap_or(id);
            let operands = [zero, short, id, own].map(Operand::IdRef).to_vec();
            joined.push(Inst::new(Op::Phi, self.types.get(&id).copied(), Some(new), operands));
            instead.insert(id, new);
        }
        // A sampled image has to be made in the block that uses it.
        for i in before.clone().iter().filter(|i| i.op() == Op::SampledImage) {
            let id = i.id().unwrap_or(0);
            if rest.iter().any(|r| r.ids().any(|x| x == id)) {
                let new = s.module.fresh();
                let mut copy = Inst { at: None, ..i.clone() };
                copy.inst.result_id = Some(new);
                joined.push(copy);
                replace(rest.iter_mut(), &HashMap::from([(id, new)]));
            }
        }
        joined.append(&mut rest);
        let function = &mut s.module.functions[f];
        let block = |label, body| Block { label, at: None, lines: vec![], body };
        let mut short_body = short_body;
        short_body.push(to_after());
        function.blocks[b].body = before;
        let new = [block(short, short_body), block(own, own_body), block(after, joined)];
        for (k, block) in new.into_iter().enumerate() {
            function.blocks.insert(b + 1 + k, block);
        }
        // Who came from the block comes from its last part, with what is joined there.
        for (k, block) in function.blocks.iter_mut().enumerate() {
            for i in &mut block.body {
                if i.op() == Op::Phi && k != b + 3 {
                    for pair in i.inst.operands.chunks_exact_mut(2) {
                        if pair[1] == Operand::IdRef(old.label) {
                            pair[1] = Operand::IdRef(after);
                        }
                    }
                }
            }
            let joins = |i: &Inst| i.id().is_some_and(|id| instead.values().any(|v| *v == id));
            if !(b + 1..=b + 2).contains(&k) {
                replace(block.body.iter_mut().filter(|i| !joins(i)), &instead);
            }
        }
    }

    /// The short way's instructions, and what each dependent value is there.
    fn short(&self, s: &mut Shader, body: &[Inst], ways: &[usize]) -> (Vec<Inst>, HashMap<u32, u32>) {
        let (mut out, mut became): (Vec<Inst>, HashMap<u32, u32>) = (vec![], HashMap::new());
        for &at in ways {
            let i = &body[at];
            let (Some(id), Some(ty)) = (i.id(), i.inst.result_type) else { continue };
            let now = match self.left.get(&id) {
                Some(Left::Zero) => s.types.null(&mut s.module, ty),
                Some(Left::Operand(of)) => became.get(of).copied().unwrap_or(*of),
                _ => {
                    let new = s.module.fresh();
                    let mut copy = Inst { at: None, ..i.clone() };
                    copy.inst.result_id = Some(new);
                    replace(std::iter::once(&mut copy), &became);
                    out.push(copy);
                    decorate_alike(s, id, new);
                    new
                }
            };
            became.insert(id, now);
        }
        (out, became)
    }
}

/// Other ids for some.
fn replace<'i>(insts: impl Iterator<Item = &'i mut Inst>, with: &HashMap<u32, u32>) {
    for i in insts {
        for o in &mut i.inst.operands {
            if let Operand::IdRef(id) = o
                && let Some(new) = with.get(id)
            {
                *id = *new;
            }
        }
    }
}

fn decorate_alike(s: &mut Shader, of: u32, new: u32) {
    let alike = s.module.annotations.iter().filter(|a| a.op() == Op::Decorate && a.id_at(0) == Some(of));
    let alike: Vec<Vec<Operand>> = alike.map(|a| a.inst.operands[1..].to_vec()).collect();
    for decoration in alike {
        s.module.decorate(new, decoration);
    }
}

fn is_null(s: &Shader, id: u32) -> bool {
    s.module.global(id).is_some_and(|i| match i.op() {
        Op::ConstantNull => true,
        Op::Constant => i.inst.operands.first() == Some(&Operand::LiteralBit32(0)),
        _ => false,
    })
}

fn type_of(s: &Shader, id: u32) -> Option<u32> {
    let found = |i: &&Inst| i.id() == Some(id);
    let inside = || s.module.functions.iter().find_map(|f| f.params.iter().chain(f.insts()).find(found));
    s.module.global(id).or_else(inside).and_then(|i| i.inst.result_type)
}

/// A load of what no shader writes while it runs, or a texel at a level that is said.
fn reads_constant_memory(s: &Shader, i: &Inst) -> bool {
    match i.op() {
        Op::Load if i.inst.operands.len() == 1 => {
            let pointer = i.id_at(0).and_then(|p| type_of(s, p)).and_then(|t| s.module.global(t));
            let class = pointer.and_then(|p| p.inst.operands.first());
            matches!(
                class,
                Some(Operand::StorageClass(StorageClass::PushConstant | StorageClass::UniformConstant))
            )
        }
        Op::SampledImage | Op::ImageFetch => true,
        _ => false,
    }
}

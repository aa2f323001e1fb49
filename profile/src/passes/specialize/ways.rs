//! Where a pointer may lead to: which blocks, and which of their bytes.
//!
//! Guarantees: it leads to no other place than those that are named, however its function was called. A pointer that a function
//! was given is what any of the calls gives it; an index that is decided at run time is any element that it may name; where an
//! array's size is the pipeline's, that is any before the block's next member.

use super::known::{Blocks, Words};
use super::residues::{Residue, residue};
use crate::reflect::{Layout, Matrix};
use crate::spirv::{Inst, Op, Operand};
use rspirv::spirv::{Decoration, StorageClass};
use std::collections::HashMap;

/// Elements that are looked at, of an array that is read at an index decided at run time.
const MOST_ELEMENTS: u64 = 1 << 14;

/// Calls, and descriptors of an array, that are looked at for one pointer.
const MOST_WAYS: usize = 64;

/// Calls and chains are not followed further.
const DEEPEST: u32 = 32;

/// Where a value may lie: offsets in blocks, and how matrices lie.
pub struct Place<'w> {
    at: Vec<(&'w Words, u64)>,
    pub matrix: Matrix,
    /// It is one component of a vector.
    pub component: bool,
}

/// A variable, and by which indices.
type Way = (u32, Vec<Residue>);

/// See the module's header.
pub struct Ways<'a> {
    pub layout: Layout<'a>,
    blocks: &'a Blocks,
    defs: HashMap<u32, Inst>,
    /// Of what functions are given: what calls give.
    given: HashMap<u32, Vec<u32>>,
}

impl<'a> Ways<'a> {
    /// Of a module as the application made it.
    pub fn new(layout: Layout<'a>, blocks: &'a Blocks) -> Self {
        let m = layout.module;
        let inside = m.functions.iter().flat_map(|f| f.params.iter().chain(f.insts()));
        let defs = inside.chain(&m.globals).filter_map(|i| Some((i.id()?, i.clone()))).collect();
        let mut given: HashMap<u32, Vec<u32>> = HashMap::new();
        for call in m.functions.iter().flat_map(|f| f.insts()).filter(|i| i.op() == Op::FunctionCall) {
            let Some(f) = call.id_at(0).and_then(|f| m.function(f)) else { continue };
            for (n, param) in m.functions[f].params.iter().enumerate() {
                if let (Some(param), Some(argument)) = (param.id(), call.id_at(n + 1)) {
                    given.entry(param).or_default().push(argument);
                }
            }
        }
        Ways { layout, blocks, defs, given }
    }

    /// What defines an id.
    pub fn def(&self, id: u32) -> Option<&Inst> {
        self.defs.get(&id)
    }

    /// The class of memory that a pointer is for.
    pub fn class(&self, pointer: u32) -> Option<StorageClass> {
        match self.layout.ty(self.def(pointer)?.inst.result_type?)?.inst.operands.first() {
            Some(Operand::StorageClass(class)) => Some(*class),
            _ => None,
        }
    }

    /// Whether a pointer is for uniform blocks or push constants.
    pub fn is_known_memory(&self, pointer: u32) -> bool {
        match self.class(pointer) {
            Some(StorageClass::PushConstant) => true,
            // (older modules have storage buffers there)
            Some(StorageClass::Uniform) => !self.is_written(pointer, 0),
            _ => false,
        }
    }

    fn is_written(&self, pointer: u32, depth: u32) -> bool {
        let Some(i) = self.def(pointer).filter(|_| depth < DEEPEST) else { return true };
        match i.op() {
            Op::Variable => i.inst.result_type.and_then(|t| self.block_of(t)).is_none(),
            Op::FunctionParameter => {
                self.given.get(&pointer).is_none_or(|all| all.iter().any(|p| self.is_written(*p, depth + 1)))
            }
            _ => i.id_at(0).is_none_or(|p| self.is_written(p, depth + 1)),
        }
    }

    /// The struct of a block that shaders do not write, and whether a pointer's variable is an array of it.
    fn block_of(&self, pointer: u32) -> Option<(u32, Option<&'a Inst>)> {
        let pointee = self.layout.ty(pointer)?.id_at(1)?;
        let i = self.layout.ty(pointee)?;
        let (block, array) = match i.op() {
            Op::TypeArray | Op::TypeRuntimeArray => (i.id_at(0)?, Some(i)),
            _ => (pointee, None),
        };
        self.layout.decorations.get(block, None, Decoration::Block)?;
        Some((block, array))
    }

    /// What lies behind a pointer, and where that may be, further in by these members and elements.
    pub fn find(&self, pointer: u32, more: &[u64]) -> Option<(u32, Place<'a>)> {
        let mut ways = vec![];
        self.ways(pointer, &[], &mut ways, 0)?;
        let mut found: Option<(u32, Place<'a>)> = None;
        for (variable, mut indices) in ways {
            indices.extend(more.iter().map(|n| Residue { step: 0, first: *n }));
            for (words, block, first) in self.sources(variable, &indices)? {
                let (ty, place) = self.follow(block, &indices[first..], words)?;
                match &mut found {
                    None => found = Some((ty, place)),
                    Some((t, all)) if (*t, all.matrix) == (ty, place.matrix) => all.at.extend(place.at),
                    Some(_) => return None,
                }
            }
        }
        found.filter(|(_, p)| p.at.len() as u64 <= MOST_ELEMENTS)
    }

    /// The variables that a pointer may lead to.
    fn ways(&self, pointer: u32, behind: &[Residue], out: &mut Vec<Way>, depth: u32) -> Option<()> {
        let i = self.def(pointer).filter(|_| depth < DEEPEST && out.len() < MOST_WAYS)?;
        match i.op() {
            Op::Variable => out.push((pointer, behind.to_vec())),
            Op::CopyObject => self.ways(i.id_at(0)?, behind, out, depth + 1)?,
            Op::AccessChain | Op::InBoundsAccessChain => {
                let indices = i.inst.operands[1..].iter().filter_map(Operand::id_ref_any);
                let mut all: Vec<Residue> =
                    indices.map(|x| residue(&self.defs, self.layout.constants, x)).collect();
                all.extend(behind);
                self.ways(i.id_at(0)?, &all, out, depth + 1)?;
            }
            Op::FunctionParameter => {
                for argument in self.given.get(&pointer)? {
                    self.ways(*argument, behind, out, depth + 1)?;
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// The blocks of a variable that indices may lead to: what is known of each, its type, and how many indices say which.
    fn sources(&self, variable: u32, indices: &[Residue]) -> Option<Vec<(&'a Words, u32, usize)>> {
        let v = self.layout.ty(variable)?;
        let (block, array) = self.block_of(v.inst.result_type?)?;
        let known = |place: super::known::Place| self.blocks.get(&place).filter(|w| !w.is_empty());
        if v.inst.operands.first() == Some(&Operand::StorageClass(StorageClass::PushConstant)) {
            return Some(vec![(known(None)?, block, 0)]);
        }
        let get = |d| self.layout.decorations.get(variable, None, d);
        let (set, binding) = (get(Decoration::DescriptorSet).unwrap_or(0), get(Decoration::Binding)?);
        let Some(array) = array else { return Some(vec![(known(Some((set, binding, 0)))?, block, 0)]) };
        let which = match indices.first()? {
            Residue { step: 0, first } => vec![*first],
            some => elements(*some, self.layout.count(array)?)?,
        };
        if which.len() > MOST_WAYS {
            return None;
        }
        let of = |n: u64| Some((known(Some((set, binding, u32::try_from(n).ok()?)))?, block, 1));
        which.into_iter().map(of).collect()
    }

    /// What lies there, and where that may be.
    fn follow(&self, block: u32, indices: &[Residue], words: &'a Words) -> Option<(u32, Place<'a>)> {
        let layout = self.layout;
        let mut ty = block;
        let mut at = Place { at: vec![(words, 0)], matrix: (0, false), component: false };
        // Bytes until something else begins.
        let mut room: Option<u64> = None;
        for (n, &r) in indices.iter().enumerate() {
            let i = layout.ty(ty)?;
            match i.op() {
                Op::TypeStruct => {
                    let member = (r.step == 0).then(|| u32::try_from(r.first).ok())??;
                    at.matrix = layout.matrix(ty, member);
                    let offset = layout.offset(ty, member);
                    at = at.moved(offset, at.matrix);
                    let others = (0..i.inst.operands.len() as u32).map(|m| layout.offset(ty, m));
                    let next = others.filter(|o| *o > offset).min().or(room);
                    room = next.and_then(|next| next.checked_sub(offset));
                    ty = i.id_at(member as usize)?;
                }
                Op::TypeArray => {
                    let stride = layout.stride(i);
                    let most = layout.count(i).or_else(|| Some(room?.div_ceil(stride.max(1))));
                    let which = match (r, most) {
                        (Residue { step: 0, first }, None) => vec![first],
                        (r, most) => elements(r, most?)?,
                    };
                    at.spread(&which, stride)?;
                    room = Some(stride);
                    ty = i.id_at(0)?;
                }
                Op::TypeVector => {
                    let element = i.id_at(0)?;
                    let size = match n {
                        // (a row of a matrix whose rows lie one behind the other)
                        1.. if at.matrix.0 > 0 && at.matrix.1 => at.matrix.0,
                        _ => layout.size(element, (0, false)),
                    };
                    at.spread(&elements(r, number(i)?)?, size)?;
                    at.component = true;
                    ty = element;
                }
                Op::TypeMatrix => {
                    let column = i.id_at(0)?;
                    let component = layout.ty(column)?.id_at(0)?;
                    let step = if at.matrix.1 { layout.size(component, (0, false)) } else { at.matrix.0 };
                    at.spread(&elements(r, number(i)?)?, step)?;
                    ty = column;
                }
                _ => return None,
            }
        }
        Some((ty, at))
    }
}

impl<'w> Place<'w> {
    /// So many bytes further on.
    pub fn moved(&self, by: u64, matrix: Matrix) -> Place<'w> {
        Place { at: self.at.iter().map(|(w, o)| (*w, o + by)).collect(), matrix, component: self.component }
    }

    /// So many bytes there, where they are known and the same wherever it may be.
    pub fn bits(&self, bytes: u64) -> Option<u64> {
        let mut all = self.at.iter().map(|(words, o)| bits(words, *o, bytes));
        let first = all.next()??;
        all.all(|b| b == Some(first)).then_some(first)
    }

    fn spread(&mut self, elements: &[u64], stride: u64) -> Option<()> {
        if (elements.len() * self.at.len()) as u64 > MOST_ELEMENTS {
            return None;
        }
        let each = |(w, o): &(&'w Words, u64)| {
            let (w, o) = (*w, *o);
            elements.iter().map(move |e| (w, o + e * stride)).collect::<Vec<_>>()
        };
        self.at = self.at.iter().flat_map(each).collect();
        Some(())
    }
}

/// Components of a vector, columns of a matrix.
pub fn number(i: &Inst) -> Option<u64> {
    match i.inst.operands.get(1) {
        Some(Operand::LiteralBit32(n)) => Some(u64::from(*n)),
        _ => None,
    }
}

/// The elements of an array that an index may name.
fn elements(r: Residue, count: u64) -> Option<Vec<u64>> {
    match r.step {
        0 => (r.first < count).then(|| vec![r.first]),
        step if count / step <= MOST_ELEMENTS => {
            let all: Vec<u64> = (r.first..count).step_by(step as usize).collect();
            (!all.is_empty()).then_some(all)
        }
        _ => None,
    }
}

/// So many bytes at an offset, where all are known.
fn bits(words: &Words, offset: u64, bytes: u64) -> Option<u64> {
    let mut out = 0;
    for n in 0..bytes {
        let at = offset + n;
        let word = *words.get(&(at & !3))?;
        out |= u64::from(word >> (8 * (at & 3)) & 0xff) << (8 * n);
    }
    Some(out)
}

//! Slots, blocks and members, put together from variables and from what is done with them.

use super::bindings::{Access, Block, Elements, Kind, Member, Reflection, Slot};
use super::constants::{Constants, Specialization};
use super::flow::{self, Index, Path, Uses};
use super::layout::{Decorations, Layout, Leaf, Step};
use crate::limits;
use crate::spirv::{Inst, Module, Op, Operand, Result};
use rspirv::spirv::{BuiltIn, Decoration, Dim, StorageClass};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Of more elements than these, what lies between is counted with them.
const UNROLLED: u64 = 1 << 16;

/// What one entry point binds and reads.
pub fn all(m: &Module, entry: u32, given: &Specialization) -> Result<Reflection> {
    let constants = Constants::new(m, given);
    let decorations = Decorations::new(m);
    let layout = Layout { module: m, constants: &constants, decorations: &decorations };
    let uses = flow::uses(m, entry, &constants)?;
    let by_variable = ByVariable::new(&uses);
    let mut out = Reflection { addresses: uses.addresses, ..Reflection::default() };
    let interface: BTreeSet<u32> = m
        .entry_points
        .iter()
        .filter(|e| e.id_at(1) == Some(entry))
        .flat_map(|e| e.inst.operands[2..].iter().filter_map(Operand::id_ref_any))
        .collect();
    // (before 1.4 an interface has inputs and outputs alone)
    let all_there = m.version() < (1, 4) && m.entry_points.len() == 1;
    let mut slots: BTreeMap<(u32, u32), Slot> = BTreeMap::new();
    for v in m.globals.iter().filter(|i| matches!(i.op(), Op::Variable | Op::UntypedVariableKHR)) {
        let (Some(id), Some(Operand::StorageClass(class))) = (v.id(), v.inst.operands.first()) else {
            continue;
        };
        let used = uses.named.contains(&id);
        let built_in = decorations.get(id, None, Decoration::BuiltIn);
        if [BuiltIn::ResourceHeapEXT, BuiltIn::SamplerHeapEXT].iter().any(|b| built_in == Some(*b as u32)) {
            out.heaps |= used;
            continue;
        }
        if !flow::is_resource(*class) || !(used || all_there || interface.contains(&id)) {
            continue;
        }
        let variable = Variable::new(&layout, v, *class);
        let done = by_variable.of(id);
        match class {
            StorageClass::PushConstant | StorageClass::ShaderRecordBufferKHR => {
                let block = variable.block(&layout, &done);
                let to = if *class == StorageClass::PushConstant { &mut out.push } else { &mut out.record };
                match (to, block) {
                    (Some(known), Some(block)) => merge(known, &block),
                    (to, block) => *to = block,
                }
            }
            _ => {
                let Some(binding) = decorations.get(id, None, Decoration::Binding) else { continue };
                let set = decorations.get(id, None, Decoration::DescriptorSet).unwrap_or(0);
                let slot = variable.slot(&layout, (set, binding), used, &done);
                match slots.get_mut(&(set, binding)) {
                    Some(known) => share(known, slot),
                    None => _ = slots.insert((set, binding), slot),
                }
            }
        }
    }
    out.slots = slots.into_values().collect();
    Ok(out)
}

/// What is done with one variable.
#[derive(Clone, Debug, Default)]
struct Done<'u> {
    reads: Vec<&'u Path>,
    writes: Vec<&'u Path>,
    atomics: Vec<&'u Path>,
    queries: Vec<&'u Path>,
}

struct ByVariable<'u>(HashMap<u32, Done<'u>>);

impl<'u> ByVariable<'u> {
    fn new(uses: &'u Uses) -> Self {
        let mut all: HashMap<u32, Done<'u>> = HashMap::new();
        for (v, path) in &uses.reads {
            all.entry(*v).or_default().reads.push(path);
        }
        for (v, path) in &uses.writes {
            all.entry(*v).or_default().writes.push(path);
        }
        for (v, path) in &uses.atomics {
            all.entry(*v).or_default().atomics.push(path);
        }
        for (v, path) in &uses.queries {
            all.entry(*v).or_default().queries.push(path);
        }
        ByVariable(all)
    }

    fn of(&self, variable: u32) -> Done<'u> {
        self.0.get(&variable).cloned().unwrap_or_default()
    }
}

/// A variable that is bound: arrays of descriptors, and what each describes.
struct Variable {
    id: u32,
    class: StorageClass,
    /// Elements of each array, the outermost first; none where it has no end.
    arrays: Vec<Option<u64>>,
    /// What a descriptor describes, if the module says it.
    ty: Option<u32>,
}

impl Variable {
    fn new(layout: &Layout<'_>, v: &Inst, class: StorageClass) -> Self {
        let mut ty = match v.op() {
            Op::Variable => v.inst.result_type.and_then(|t| layout.ty(t)).and_then(|p| p.id_at(1)),
            _ => v.id_at(1),
        };
        let mut arrays = vec![];
        while let Some(i) = ty.and_then(|t| layout.ty(t)) {
            if !matches!(i.op(), Op::TypeArray | Op::TypeRuntimeArray) {
                break;
            }
            arrays.push(layout.count(i));
            ty = i.id_at(0);
        }
        Variable { id: v.id().unwrap_or(0), class, arrays, ty }
    }

    fn kind(&self, layout: &Layout<'_>) -> Kind {
        let Some(i) = self.ty.and_then(|t| layout.ty(t)) else { return Kind::Other };
        match i.op() {
            Op::TypeStruct => {
                let old =
                    layout.decorations.get(i.id().unwrap_or(0), None, Decoration::BufferBlock).is_some();
                match self.class == StorageClass::StorageBuffer || old {
                    true => Kind::StorageBlock,
                    false => Kind::UniformBlock,
                }
            }
            Op::TypeSampler => Kind::Sampler,
            Op::TypeSampledImage => match i.id_at(0).and_then(|t| layout.ty(t)).map(image) {
                // (a sampler with a buffer is a texel buffer)
                Some(Kind::UniformTexelBuffer) => Kind::UniformTexelBuffer,
                _ => Kind::CombinedImageSampler,
            },
            Op::TypeImage => image(i),
            Op::TypeAccelerationStructureKHR => Kind::AccelerationStructure,
            _ => Kind::Other,
        }
    }

    fn slot(&self, layout: &Layout<'_>, (set, binding): (u32, u32), used: bool, done: &Done<'_>) -> Slot {
        let block = self.block(layout, done);
        let own = layout.decorations.name(self.id, None);
        let of_block = || block.as_ref().map(|b| b.name.as_str()).filter(|n| !n.is_empty());
        Slot {
            set,
            binding,
            kinds: BTreeSet::from([self.kind(layout)]),
            name: own.or_else(of_block).unwrap_or("").to_owned(),
            count: self.arrays.iter().try_fold(1u64, |n, a| a.map(|a| n.saturating_mul(a))),
            used,
            access: Access {
                read: !done.reads.is_empty(),
                write: !done.writes.is_empty(),
                atomic: !done.atomics.is_empty(),
                query: !done.queries.is_empty(),
            },
            elements: self.elements(done),
            blocks: block.into_iter().collect(),
        }
    }

    /// Which descriptors are accessed. An array of arrays has its elements numbered one after another.
    fn elements(&self, done: &Done<'_>) -> Elements {
        let mut known = BTreeSet::new();
        for path in [&done.reads, &done.writes, &done.queries].into_iter().flatten() {
            let mut element = 0u64;
            for (n, count) in self.arrays.iter().enumerate() {
                let Some(Index::Known(i)) = path.get(n) else { return Elements::Dynamic };
                element = element.saturating_mul(count.unwrap_or(1)).saturating_add(u64::from(*i));
            }
            known.insert(element);
        }
        Elements::Known(known)
    }

    fn block(&self, layout: &Layout<'_>, done: &Done<'_>) -> Option<Block> {
        let ty = self.ty.filter(|t| layout.ty(*t).is_some_and(|i| i.op() == Op::TypeStruct))?;
        let (mut block, leaves) = layout.block(ty);
        let inside = |paths: &[&Path]| -> BTreeSet<Path> {
            // (of a pointer that goes astray before its descriptor is known, all)
            paths
                .iter()
                .map(|p| p.get(self.arrays.len()..).map_or(vec![Index::Rest], <[_]>::to_vec))
                .collect()
        };
        let (reads, writes) = (inside(&done.reads), inside(&done.writes));
        let (mut read, mut written) = (vec![], vec![]);
        for leaf in &leaves {
            let mut member = leaf.member.clone();
            for (paths, flag, ranges) in
                [(&reads, &mut member.read, &mut read), (&writes, &mut member.written, &mut written)]
            {
                for path in paths.iter() {
                    *flag |= parts(layout, leaf, path, ranges);
                }
            }
            block.members.push(member);
        }
        block.read = joined(read);
        block.written = joined(written);
        Some(block)
    }
}

fn image(i: &Inst) -> Kind {
    let sampled = i.inst.operands.get(5);
    match (i.inst.operands.get(1), sampled) {
        (Some(Operand::Dim(Dim::DimSubpassData)), _) => Kind::InputAttachment,
        (Some(Operand::Dim(Dim::DimBuffer)), Some(Operand::LiteralBit32(2))) => Kind::StorageTexelBuffer,
        (Some(Operand::Dim(Dim::DimBuffer)), _) => Kind::UniformTexelBuffer,
        (_, Some(Operand::LiteralBit32(2))) => Kind::StorageImage,
        _ => Kind::SampledImage,
    }
}

/// Whether what a path leads to has to do with a member, and which bytes of the block these are.
fn parts(layout: &Layout<'_>, leaf: &Leaf, path: &[Index], out: &mut Vec<(u64, u64)>) -> bool {
    let m = &leaf.member;
    let more = std::iter::repeat_n(Step::Element, m.arrays.len() - m.outer_arrays);
    // The element of each array, the outermost first, where it is one.
    let mut elements = vec![];
    let mut rest = path;
    for step in leaf.path.iter().copied().chain(more) {
        let index = rest.first().copied().filter(|i| *i != Index::Rest);
        if index.is_some() {
            rest = &rest[1..];
        }
        match (step, index) {
            (Step::Member(m), Some(Index::Known(i))) if m != i => return false,
            (Step::Member(_), _) => {}
            (Step::Element, Some(Index::Known(i))) => elements.push(Some(u64::from(i))),
            (Step::Element, _) => elements.push(None),
        }
    }
    spread(m, &elements, within(layout, leaf, rest), out);
    true
}

/// Which bytes of a scalar, vector or matrix a component or column is.
fn within(layout: &Layout<'_>, leaf: &Leaf, path: &[Index]) -> (u64, u64) {
    let m = &leaf.member;
    let whole = (0, m.size);
    let Some(ty) = layout.ty(leaf.base) else { return whole };
    let part = ty.id_at(0).unwrap_or(0);
    match (ty.op(), path) {
        (Op::TypeVector, [Index::Known(n)]) => {
            let size = layout.size(part, (0, false));
            (u64::from(*n) * size, (u64::from(*n) + 1) * size)
        }
        (Op::TypeMatrix, [Index::Known(column), rest @ ..]) => {
            let component =
                layout.ty(part).and_then(|c| c.id_at(0)).map_or(0, |c| layout.size(c, (0, false)));
            let (column, stride) = (u64::from(*column), m.matrix_stride);
            match (m.row_major, rest) {
                (false, [Index::Known(row)]) => {
                    let begin = column * stride + u64::from(*row) * component;
                    (begin, begin + component)
                }
                (false, _) => (column * stride, column * stride + layout.size(part, (0, false))),
                (true, [Index::Known(row)]) => {
                    let begin = u64::from(*row) * stride + column * component;
                    (begin, begin + component)
                }
                (true, _) => whole,
            }
        }
        _ => whole,
    }
}

/// The same bytes of every element that is meant.
fn spread(m: &Member, elements: &[Option<u64>], (begin, end): (u64, u64), out: &mut Vec<(u64, u64)>) {
    let mut starts = vec![m.offset];
    for (&(stride, count), element) in m.arrays.iter().zip(elements) {
        let which = match *element {
            // (an index that is too large leads nowhere)
            Some(e) if count > 0 && e >= count => return,
            Some(e) => e..e + 1,
            None => 0..count,
        };
        let n = (which.end - which.start).saturating_mul(starts.len() as u64);
        if n > UNROLLED || n + out.len() as u64 > limits::MOST_RANGES {
            return out.push((m.offset, m.offset.saturating_add(m.bytes)));
        }
        let at = |s: u64, e: u64| s.saturating_add(e.saturating_mul(stride));
        starts = which.flat_map(|e| starts.iter().map(move |s| at(*s, e))).collect();
    }
    out.extend(starts.into_iter().map(|s| (s.saturating_add(begin), s.saturating_add(end))));
}

/// Ranges in order, those that touch joined.
fn joined(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    ranges.sort_unstable();
    let mut out: Vec<(u64, u64)> = vec![];
    for (begin, end) in ranges {
        match out.last_mut() {
            Some(last) if begin <= last.1 => last.1 = last.1.max(end),
            _ => out.push((begin, end)),
        }
    }
    out
}

/// The same block, declared once more: by another variable, or with other members there.
fn merge(known: &mut Block, other: &Block) {
    known.bytes = known.bytes.max(other.bytes);
    known.runtime_stride = known.runtime_stride.or(other.runtime_stride);
    for m in &other.members {
        let same =
            |k: &&mut Member| (&k.name, &k.ty, k.offset, &k.arrays) == (&m.name, &m.ty, m.offset, &m.arrays);
        match known.members.iter_mut().find(same) {
            Some(k) => (k.read, k.written) = (k.read | m.read, k.written | m.written),
            None => known.members.push(m.clone()),
        }
    }
    known.members.sort_by_key(|m| m.offset);
    known.read = joined([&known.read[..], &other.read].concat());
    known.written = joined([&known.written[..], &other.written].concat());
}

/// Another variable of the same slot.
fn share(known: &mut Slot, other: Slot) {
    known.kinds.extend(&other.kinds);
    // A texture and a sampler at one binding are what one descriptor has both of.
    let both = [Kind::Sampler, Kind::SampledImage];
    if both.iter().all(|k| known.kinds.contains(k)) {
        known.kinds.retain(|k| !both.contains(k));
        known.kinds.insert(Kind::CombinedImageSampler);
    }
    known.used |= other.used;
    known.access.and(other.access);
    known.count = known.count.zip(other.count).map(|(a, b)| a.max(b));
    if known.name.is_empty() {
        known.name = other.name;
    }
    known.elements = match (std::mem::replace(&mut known.elements, Elements::Dynamic), other.elements) {
        (Elements::Known(a), Elements::Known(b)) => Elements::Known(&a | &b),
        _ => Elements::Dynamic,
    };
    for block in other.blocks {
        let alike = |b: &&mut Block| {
            fn layout(m: &Member) -> (u64, &str, &str) {
                (m.offset, &m.name, &m.ty)
            }
            b.members.iter().map(layout).eq(block.members.iter().map(layout))
        };
        match known.blocks.iter_mut().find(alike) {
            Some(same) => merge(same, &block),
            None => known.blocks.push(block),
        }
    }
}

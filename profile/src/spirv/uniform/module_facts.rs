//! What a module says outside its functions that matters to uniformity: constants, types, storage classes, decorations,
//! and whether anything of it writes memory that others see.

use crate::spirv::{Inst, Module, Op, Operand};
use rspirv::spirv::{BuiltIn, Decoration, Dim, StorageClass};
use std::collections::{HashMap, HashSet};

/// See the module's header.
pub(super) struct ModuleFacts<'m> {
    /// Every instruction with a result, by id.
    defs: HashMap<u32, &'m Inst>,
    built_ins: HashMap<u32, BuiltIn>,
    /// (id, member) or (id, `None`).
    decorated: HashSet<(u32, Option<u32>, Decoration)>,
    glsl: HashSet<u32>,
    debug: HashSet<u32>,
    /// Something stores to memory that other invocations read through storage buffers.
    pub writes_storage: bool,
    /// Something writes an image.
    pub writes_images: bool,
}

fn declares_class(i: &Inst) -> Option<StorageClass> {
    match i.inst.operands.first() {
        Some(Operand::StorageClass(c)) => Some(*c),
        _ => None,
    }
}

impl<'m> ModuleFacts<'m> {
    /// Of a module and the functions of it that are reached.
    pub fn new(m: &'m Module, reached: &[usize]) -> Self {
        let inside = reached.iter().map(|&f| &m.functions[f]);
        let insts: Vec<&Inst> =
            inside.flat_map(|f| std::iter::once(&f.def).chain(&f.params).chain(f.insts())).collect();
        let all = m.globals.iter().chain(insts.iter().copied());
        let defs = all.filter_map(|i| Some((i.id()?, i))).collect();
        let (mut built_ins, mut decorated) = (HashMap::new(), HashSet::new());
        for a in &m.annotations {
            match (a.op(), &a.inst.operands[..]) {
                (
                    Op::Decorate,
                    [Operand::IdRef(id), Operand::Decoration(Decoration::BuiltIn), Operand::BuiltIn(b)],
                ) => {
                    built_ins.insert(*id, *b);
                }
                (Op::Decorate, [Operand::IdRef(id), Operand::Decoration(d), ..]) => {
                    decorated.insert((*id, None, *d));
                }
                (
                    Op::MemberDecorate,
                    [Operand::IdRef(id), Operand::LiteralBit32(n), Operand::Decoration(d), ..],
                ) => {
                    decorated.insert((*id, Some(*n), *d));
                }
                _ => {}
            }
        }
        for a in m.annotations.iter().filter(|a| a.op() == Op::GroupDecorate) {
            let Some(group) = a.id_at(0) else { continue };
            let of_group: Vec<Decoration> =
                decorated.iter().filter(|d| d.0 == group && d.1.is_none()).map(|d| d.2).collect();
            for target in a.inst.operands[1..].iter().filter_map(Operand::id_ref_any) {
                decorated.extend(of_group.iter().map(|d| (target, None, *d)));
            }
        }
        let sets = |of: &dyn Fn(&str) -> bool| -> HashSet<u32> {
            let is = |i: &&Inst| matches!(i.inst.operands.first(), Some(Operand::LiteralString(s)) if of(s));
            m.imports.iter().filter(is).filter_map(Inst::id).collect()
        };
        let mut facts = ModuleFacts {
            defs,
            built_ins,
            decorated,
            glsl: sets(&|s| s == "GLSL.std.450"),
            debug: sets(&|s| s.starts_with("NonSemantic.") || s.contains("DebugInfo")),
            writes_storage: false,
            writes_images: false,
        };
        facts.writes_images = insts.iter().any(|i| {
            matches!(i.op(), Op::ImageWrite | Op::ImageTexelPointer | Op::UntypedImageTexelPointerEXT)
        });
        facts.writes_storage = insts.iter().any(|i| facts.writes(i));
        facts
    }

    /// Whether an instruction may write through a pointer to storage. What is not known to read only may.
    fn writes(&self, i: &Inst) -> bool {
        let shared = |k: usize| i.id_at(k).is_some_and(|id| self.is_writable_storage(id));
        match i.op() {
            Op::Load
            | Op::AccessChain
            | Op::InBoundsAccessChain
            | Op::PtrAccessChain
            | Op::InBoundsPtrAccessChain
            | Op::ArrayLength
            | Op::CopyObject
            | Op::Bitcast
            | Op::ConvertPtrToU
            | Op::Phi
            | Op::Select
            | Op::PtrEqual
            | Op::PtrNotEqual
            | Op::PtrDiff
            | Op::FunctionCall
            | Op::ReturnValue
            | Op::CompositeConstruct => false,
            Op::ExtInst if self.is_debug(i) => false,
            Op::Store => shared(0),
            _ => (0..i.inst.operands.len()).any(shared),
        }
    }

    fn is_writable_storage(&self, id: u32) -> bool {
        match self.class_of(id) {
            Some(StorageClass::StorageBuffer | StorageClass::PhysicalStorageBuffer) => true,
            Some(StorageClass::Uniform) => !self.is_uniform_block(id),
            _ => false,
        }
    }

    /// The instruction that defines an id.
    pub fn def(&self, id: u32) -> Option<&'m Inst> {
        self.defs.get(&id).copied()
    }

    /// The storage class of a pointer; `None` if it is none.
    pub fn class_of(&self, id: u32) -> Option<StorageClass> {
        let ty = self.def(self.def(id)?.inst.result_type?)?;
        matches!(ty.op(), Op::TypePointer | Op::TypeUntypedPointerKHR).then(|| declares_class(ty))?
    }

    /// What a pointer points to.
    pub fn pointee(&self, id: u32) -> Option<&'m Inst> {
        let ty = self.def(self.def(id)?.inst.result_type?)?;
        (ty.op() == Op::TypePointer).then(|| self.def(ty.id_at(1)?))?
    }

    /// The value of a 32-bit constant that cannot be specialized.
    pub fn constant(&self, id: u32) -> Option<u32> {
        let i = self.def(id)?;
        match (i.op(), &i.inst.operands[..]) {
            (Op::Constant, [Operand::LiteralBit32(n)]) => Some(*n),
            (Op::ConstantNull, _) => Some(0),
            _ => None,
        }
    }

    /// How many parts a variable's type has: members, components, elements.
    pub fn parts(&self, variable: u32) -> Option<u32> {
        let ty = self.pointee(variable)?;
        match (ty.op(), &ty.inst.operands[..]) {
            (Op::TypeStruct, members) => u32::try_from(members.len()).ok().filter(|&n| n > 0),
            (Op::TypeVector | Op::TypeMatrix, [_, Operand::LiteralBit32(n)]) => Some(*n),
            (Op::TypeArray, [_, Operand::IdRef(n)]) => self.constant(*n).filter(|&n| n > 0),
            _ => None,
        }
    }

    /// What a variable holds from the beginning.
    pub fn initializer(&self, variable: u32) -> Option<u32> {
        self.def(variable).filter(|i| i.op() == Op::Variable)?.id_at(1)
    }

    /// The variable, parameter or value that a pointer starts from, and the first constant index behind it.
    pub fn root(&self, mut pointer: u32) -> (u32, Option<u32>) {
        let mut member = None;
        while let Some(i) = self.def(pointer) {
            let next = match i.op() {
                Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject => i.id_at(0),
                _ => None,
            };
            let Some(next) = next else { break };
            if i.op() != Op::CopyObject {
                member = i.id_at(1).and_then(|n| self.constant(n)).or(member);
            }
            pointer = next;
        }
        (pointer, member)
    }

    /// The built-in that a variable is.
    pub fn built_in(&self, variable: u32) -> Option<BuiltIn> {
        self.built_ins.get(&variable).copied()
    }

    /// Whether a variable carries a decoration.
    pub fn is(&self, id: u32, d: Decoration) -> bool {
        self.decorated.contains(&(id, None, d))
    }

    /// The struct that a variable is made of, through arrays.
    fn block(&self, variable: u32) -> Option<&'m Inst> {
        let mut ty = self.pointee(variable)?;
        while matches!(ty.op(), Op::TypeArray | Op::TypeRuntimeArray) {
            ty = self.def(ty.id_at(0)?)?;
        }
        (ty.op() == Op::TypeStruct).then_some(ty)
    }

    /// Whether a pointer of class Uniform leads into a uniform block; otherwise it is a storage buffer in old clothes.
    pub fn is_uniform_block(&self, pointer: u32) -> bool {
        let (root, _) = self.root(pointer);
        let of = self.block(root).and_then(Inst::id);
        of.is_some_and(|s| self.is(s, Decoration::Block) && !self.is(s, Decoration::BufferBlock))
    }

    /// Whether nobody writes what a pointer to storage leads to while the shader runs.
    pub fn is_read_only(&self, pointer: u32) -> bool {
        let (root, member) = self.root(pointer);
        let Some(v) = self.def(root).filter(|i| i.op() == Op::Variable) else { return !self.writes_storage };
        let shared = |d: Decoration| v.id().is_some_and(|v| self.is(v, d)) || self.member_is(root, member, d);
        if shared(Decoration::Volatile) || shared(Decoration::Coherent) {
            return false;
        }
        let never_written = shared(Decoration::NonWritable) && !self.is(root, Decoration::Aliased);
        never_written || !self.writes_storage
    }

    /// Whether the members that a pointer leads into carry a decoration.
    fn member_is(&self, variable: u32, member: Option<u32>, d: Decoration) -> bool {
        let Some(block) = self.block(variable) else { return false };
        let Some(id) = block.id() else { return false };
        let of = |n: u32| self.decorated.contains(&(id, Some(n), d));
        let all = 0..block.inst.operands.len() as u32;
        // Behind an array of blocks the first index says which block, so no member is told apart there.
        let direct = self.pointee(variable).is_some_and(|t| t.op() == Op::TypeStruct);
        match member.filter(|_| direct) {
            Some(n) => of(n),
            None if d == Decoration::NonWritable => !all.is_empty() && all.into_iter().all(of),
            None => all.into_iter().any(of),
        }
    }

    /// The image type of an image or sampled image value: its dimension.
    pub fn dim(&self, image: u32) -> Option<Dim> {
        let mut ty = self.def(self.def(image)?.inst.result_type?)?;
        if ty.op() == Op::TypeSampledImage {
            ty = self.def(ty.id_at(0)?)?;
        }
        match ty.inst.operands.get(1) {
            Some(Operand::Dim(d)) if ty.op() == Op::TypeImage => Some(*d),
            _ => None,
        }
    }

    /// The variable that an image was loaded from.
    pub fn image_variable(&self, image: u32) -> Option<u32> {
        let mut i = self.def(image)?;
        while matches!(i.op(), Op::CopyObject | Op::Image | Op::SampledImage) {
            i = self.def(i.id_at(0)?)?;
        }
        i.id_at(0).filter(|_| i.op() == Op::Load).map(|pointer| self.root(pointer).0)
    }

    /// An instruction of GLSL.std.450.
    pub fn is_glsl(&self, i: &Inst) -> bool {
        i.op() == Op::ExtInst && i.id_at(0).is_some_and(|s| self.glsl.contains(&s))
    }

    /// An instruction that says nothing about what the shader does.
    pub fn is_debug(&self, i: &Inst) -> bool {
        i.op() == Op::ExtInst && i.id_at(0).is_some_and(|s| self.debug.contains(&s))
    }
}

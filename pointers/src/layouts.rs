//! Layouts from types: where each member lies, and which are pointers.
//!
//! Guarantees: types are as deep and as large as [`crate::Checked`] lets them be, and pointers are followed one after the
//! other, not one inside the other; sizes and offsets beyond 32 bits stay at the largest. Refuses nothing.

use crate::index::{Index, op, opcode};
use crate::{Dim, Field, Layout, Root, Target};
use std::collections::{HashMap, HashSet};

/// Storage classes.
pub(crate) mod class {
    pub const UNIFORM: u32 = 2;
    pub const PRIVATE: u32 = 6;
    pub const FUNCTION: u32 = 7;
    pub const PUSH_CONSTANT: u32 = 9;
    pub const STORAGE_BUFFER: u32 = 12;
    pub const SHADER_RECORD: u32 = 5343;
    pub const PHYSICAL_STORAGE_BUFFER: u32 = 5349;
}

/// Layouts as they are found.
pub(crate) struct Layouts<'i, 'w> {
    pub index: &'i Index<'w>,
    all: Vec<Layout>,
    /// The pointers in them: a layout and a pointer of it.
    fields: HashSet<(usize, Field)>,
    /// Layouts of pointer types that have yet to be filled.
    todo: Vec<(usize, u32)>,
    /// By pointer type.
    behind: HashMap<u32, usize>,
    /// By variable.
    of: HashMap<u32, usize>,
}

impl<'i, 'w> Layouts<'i, 'w> {
    pub fn new(index: &'i Index<'w>) -> Self {
        Layouts {
            index,
            all: Vec::new(),
            fields: HashSet::new(),
            todo: Vec::new(),
            behind: HashMap::new(),
            of: HashMap::new(),
        }
    }
    pub fn finish(self) -> Vec<Layout> {
        self.all
    }
    /// The layout of a variable that the shader is given.
    pub fn of_variable(&self, id: u32) -> Option<usize> {
        self.of.get(&id).copied()
    }

    /// Every variable a shader is given: its id, what it is, its layout.
    pub fn roots(&mut self) -> Vec<(u32, Root, usize)> {
        let mut roots = Vec::new();
        for &id in &self.index.globals {
            let Some((class, mut ty)) = self.index.pointer(self.index.type_of(id)) else { continue };
            let root = match class {
                class::PUSH_CONSTANT => Root::PushConstants,
                class::SHADER_RECORD => Root::Record,
                class::UNIFORM | class::STORAGE_BUFFER => {
                    ty = self.block(ty);
                    let number = |of: &HashMap<u32, u32>| of.get(&id).copied().unwrap_or(0);
                    Root::Buffer { set: number(&self.index.set), binding: number(&self.index.binding) }
                }
                _ => continue,
            };
            let layout = self.all.len();
            self.all.push(Layout::default());
            self.of.insert(id, layout);
            self.fill(layout, ty, Vec::new());
            roots.push((id, root, layout));
        }
        self.settle();
        roots
    }

    /// The block that an array of descriptors is of; the type itself if it is none.
    pub fn block(&self, ty: u32) -> u32 {
        match self.index.def(ty) {
            w @ [_, _, element, ..] if matches!(opcode(w), op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY) => {
                self.block(*element)
            }
            _ => ty,
        }
    }

    /// The layout of what a pointer type leads to.
    pub fn behind(&mut self, pointer: u32) -> usize {
        if let Some(&known) = self.behind.get(&pointer) {
            return known;
        }
        let layout = self.all.len();
        self.all.push(Layout::default());
        // Known before it is filled: linked structures come back to themselves.
        self.behind.insert(pointer, layout);
        self.todo.push((layout, pointer));
        layout
    }

    /// Fills the layouts behind pointers that were met, and those behind the pointers in them.
    pub fn settle(&mut self) {
        while let Some((layout, pointer)) = self.todo.pop() {
            if let Some((_, to)) = self.index.pointer(pointer) {
                // A pointer with a stride is one into an array.
                let stride = self.index.array_stride.get(&pointer);
                self.fill(
                    layout,
                    to,
                    stride.map(|&stride| Dim { stride, count: None }).into_iter().collect(),
                );
            }
        }
    }

    fn fill(&mut self, layout: usize, ty: u32, dims: Vec<Dim>) {
        self.collect(layout, ty, 0, &dims, 0);
    }

    /// Adds what lies in a type at `base`.
    fn collect(&mut self, layout: usize, ty: u32, base: u32, dims: &[Dim], matrix_stride: u32) {
        let def = self.index.def(ty);
        match (opcode(def), def) {
            (op::TYPE_STRUCT, [_, _, members @ ..]) => {
                for (m, &member) in (0..).zip(members) {
                    let Some(at) = self.index.member_offset.get(&(ty, m)) else { continue };
                    let stride = self.index.matrix_stride.get(&(ty, m)).copied().unwrap_or(0);
                    self.collect(layout, member, base.saturating_add(*at), dims, stride);
                }
            }
            (op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY, [_, _, element, ..]) => {
                let mut dims = dims.to_vec();
                dims.push(self.dim(ty));
                self.collect(layout, *element, base, &dims, matrix_stride);
            }
            (op::TYPE_POINTER, [_, _, class::PHYSICAL_STORAGE_BUFFER, ..]) => {
                let target = Target::Layout(self.behind(ty));
                self.declare(layout, base, 8, dims);
                self.add(layout, Field { offset: base, dims: dims.to_vec(), target });
            }
            _ => {
                let bytes = self.bytes(ty, matrix_stride);
                self.declare(layout, base, bytes, dims);
            }
        }
    }

    /// An array type's stride and length.
    pub fn dim(&self, array: u32) -> Dim {
        let stride = self.index.array_stride.get(&array).copied().unwrap_or(0);
        let count = match self.index.def(array) {
            w @ [_, _, _, length, ..] if opcode(w) == op::TYPE_ARRAY => self.index.constant(*length),
            _ => None,
        };
        Dim { stride, count }
    }

    /// Bytes of a scalar, a vector or a matrix.
    pub fn bytes(&self, ty: u32, matrix_stride: u32) -> u32 {
        let def = self.index.def(ty);
        match (opcode(def), def) {
            (op::TYPE_INT | op::TYPE_FLOAT, [_, _, bits, ..]) => bits / 8,
            (op::TYPE_VECTOR, [_, _, of, n, ..]) => self.bytes(*of, 0).saturating_mul(*n),
            // Also where rows lie one after the other: strides times the longer side is no less than it takes.
            (op::TYPE_MATRIX, [_, _, _, n, ..]) => matrix_stride.saturating_mul(*n),
            (op::TYPE_POINTER, _) => 8,
            _ => 0,
        }
    }

    fn declare(&mut self, layout: usize, base: u32, bytes: u32, dims: &[Dim]) {
        let mut end = base.saturating_add(bytes);
        for d in dims {
            end = match d.count {
                Some(n) => end.saturating_add(d.stride.saturating_mul(n.saturating_sub(1))),
                None => u32::MAX,
            };
        }
        if end > base {
            self.all[layout].declared.push((base, end));
        }
    }

    /// Adds a pointer that is not known yet.
    pub fn add(&mut self, layout: usize, field: Field) {
        if self.fields.insert((layout, field.clone())) {
            self.all[layout].fields.push(field);
        }
    }
}

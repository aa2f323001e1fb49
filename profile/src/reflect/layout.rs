//! What blocks are made of: structs taken apart down to scalars, vectors, matrices and arrays of these.
//!
//! Guarantees: offsets, strides and the order of rows are the module's decorations; sizes are what follows from them. Arrays
//! of structs are not unrolled: each member of the struct is one member of the block. Names that a module has lost are numbers,
//! and those longer than [`limits::MOST_NAME_BYTES`] are cut. Sizes beyond 64 bits stay at the largest.

use super::bindings::{Block, Member};
use super::constants::Constants;
use crate::limits;
use crate::spirv::{Inst, Module, Op, Operand};
use rspirv::spirv::Decoration;
use std::collections::HashMap;

/// Decorations and names, by what they decorate.
pub struct Decorations<'m> {
    of: HashMap<(u32, Option<u32>), Vec<&'m [Operand]>>,
    names: HashMap<(u32, Option<u32>), &'m str>,
}

impl<'m> Decorations<'m> {
    /// Those of a module whose groups are dissolved.
    pub fn new(m: &'m Module) -> Self {
        let mut all = Decorations { of: HashMap::new(), names: HashMap::new() };
        for a in &m.annotations {
            let (key, rest) = match (a.op(), &a.inst.operands[..]) {
                (Op::Decorate | Op::DecorateId, [Operand::IdRef(id), rest @ ..]) => ((*id, None), rest),
                (Op::MemberDecorate, [Operand::IdRef(id), Operand::LiteralBit32(n), rest @ ..]) => {
                    ((*id, Some(*n)), rest)
                }
                _ => continue,
            };
            all.of.entry(key).or_default().push(rest);
        }
        for n in &m.names {
            match (n.op(), &n.inst.operands[..]) {
                (Op::Name, [Operand::IdRef(id), Operand::LiteralString(name)]) => {
                    all.names.insert((*id, None), shortened(name));
                }
                (
                    Op::MemberName,
                    [Operand::IdRef(id), Operand::LiteralBit32(i), Operand::LiteralString(name)],
                ) => {
                    all.names.insert((*id, Some(*i)), shortened(name));
                }
                _ => {}
            }
        }
        all
    }

    /// The first word behind a decoration; 0 of one that has none. `None` where it is not there.
    pub fn get(&self, id: u32, member: Option<u32>, what: Decoration) -> Option<u32> {
        let found = self.of.get(&(id, member))?.iter().find(|d| d[0] == Operand::Decoration(what))?;
        Some(match found.get(1) {
            Some(Operand::LiteralBit32(n) | Operand::IdRef(n)) => *n,
            _ => 0,
        })
    }

    /// An id's name, if it has one that says something.
    pub fn name(&self, id: u32, member: Option<u32>) -> Option<&'m str> {
        self.names.get(&(id, member)).copied().filter(|n| !n.is_empty())
    }
}

/// A step of the way from a block to a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A member of a struct.
    Member(u32),
    /// An element of an array.
    Element,
}

/// A member with the way that leads to it.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// The member.
    pub member: Member,
    /// From the block to what `member.ty` names, the arrays of structs included.
    pub path: Vec<Step>,
    /// The scalar's, vector's or matrix's type.
    pub base: u32,
}

/// What is asked to take types apart.
#[derive(Clone, Copy)]
pub struct Layout<'m> {
    /// The module.
    pub module: &'m Module,
    /// Its constants.
    pub constants: &'m Constants,
    /// Its decorations.
    pub decorations: &'m Decorations<'m>,
}

/// How a matrix lies in memory: bytes between columns or rows, and whether it is rows.
pub type Matrix = (u64, bool);

impl<'m> Layout<'m> {
    /// A type.
    pub fn ty(&self, id: u32) -> Option<&'m Inst> {
        self.module.global(id)
    }

    /// Elements of an array type; none where it has no end or its size is not known.
    pub fn count(&self, array: &Inst) -> Option<u64> {
        match array.op() {
            Op::TypeArray => self.constants.unsigned(self.module, array.id_at(1)?),
            _ => None,
        }
    }

    /// Bytes between the elements of an array type.
    pub fn stride(&self, array: &Inst) -> u64 {
        let id = array.id().unwrap_or(0);
        let said = self
            .decorations
            .get(id, None, Decoration::ArrayStride)
            .or_else(|| self.decorations.get(id, None, Decoration::ArrayStrideIdEXT));
        said.map_or(0, u64::from)
    }

    /// Where a member begins.
    pub fn offset(&self, structure: u32, member: u32) -> u64 {
        self.decorations.get(structure, Some(member), Decoration::Offset).map_or(0, u64::from)
    }

    /// How a member's matrices lie.
    pub fn matrix(&self, structure: u32, member: u32) -> Matrix {
        let stride = self.decorations.get(structure, Some(member), Decoration::MatrixStride);
        let rows = self.decorations.get(structure, Some(member), Decoration::RowMajor).is_some();
        (stride.map_or(0, u64::from), rows)
    }

    /// Bytes of a scalar, vector, matrix or address.
    pub fn size(&self, ty: u32, (stride, rows): Matrix) -> u64 {
        let Some(i) = self.ty(ty) else { return 0 };
        let of = |n| i.id_at(n).map_or(0, |t| self.size(t, (stride, rows)));
        let number = |n: usize| match i.inst.operands.get(n) {
            Some(Operand::LiteralBit32(n)) => u64::from(*n),
            _ => 0,
        };
        match i.op() {
            Op::TypeInt | Op::TypeFloat => number(0) / 8,
            Op::TypeBool => 4,
            Op::TypeVector => number(1).saturating_mul(of(0)),
            Op::TypeMatrix => {
                let Some(column) = i.id_at(0).and_then(|c| self.ty(c)) else { return 0 };
                let [component, height] = [column.id_at(0), column_height(column)].map(|v| v.unwrap_or(0));
                let component = self.size(component, (0, false));
                let (lines, long) =
                    if rows { (u64::from(height), number(1)) } else { (number(1), u64::from(height)) };
                lines.saturating_sub(1).saturating_mul(stride).saturating_add(long.saturating_mul(component))
            }
            Op::TypePointer => 8,
            Op::TypeStruct => self.struct_size(i),
            Op::TypeArray => match self.count(i).unwrap_or(0) {
                0 => 0,
                n => (n - 1).saturating_mul(self.stride(i)).saturating_add(of(0)),
            },
            _ => 0,
        }
    }

    fn struct_size(&self, i: &Inst) -> u64 {
        let id = i.id().unwrap_or(0);
        let end = |(n, o): (u32, &Operand)| {
            let ty = o.id_ref_any().unwrap_or(0);
            self.offset(id, n).saturating_add(self.size(ty, self.matrix(id, n)))
        };
        (0..).zip(&i.inst.operands).map(end).max().unwrap_or(0)
    }

    /// A type as GLSL writes it.
    pub fn name(&self, ty: u32) -> String {
        let Some(i) = self.ty(ty) else { return "?".into() };
        let of = |n| i.id_at(n).map_or_else(String::new, |t| self.name(t));
        let number = |n: usize| match i.inst.operands.get(n) {
            Some(Operand::LiteralBit32(n)) => *n,
            _ => 0,
        };
        match i.op() {
            Op::TypeVoid => "void".into(),
            Op::TypeBool => "bool".into(),
            Op::TypeInt => match (number(0), number(1)) {
                (32, 1) => "int".into(),
                (32, _) => "uint".into(),
                (n, 1) => format!("int{n}_t"),
                (n, _) => format!("uint{n}_t"),
            },
            Op::TypeFloat => match number(0) {
                32 => "float".into(),
                64 => "double".into(),
                n => format!("float{n}_t"),
            },
            Op::TypeVector => format!("{}vec{}", prefix(&of(0)), number(1)),
            Op::TypeMatrix => {
                let Some(column) = i.id_at(0).and_then(|c| self.ty(c)) else { return "?".into() };
                let component = column.id_at(0).map_or_else(String::new, |t| self.name(t));
                let (columns, rows) = (number(1), column_height(column).unwrap_or(0));
                match columns == rows {
                    true => format!("{}mat{columns}", prefix(&component)),
                    false => format!("{}mat{columns}x{rows}", prefix(&component)),
                }
            }
            Op::TypeArray | Op::TypeRuntimeArray => {
                // The outermost comes first: float[2][3] is two of three.
                let inner = of(0);
                let own = match (i.op(), self.count(i)) {
                    (Op::TypeArray, Some(n)) => format!("[{n}]"),
                    _ => "[]".into(),
                };
                match inner.find('[') {
                    Some(at) => format!("{}{own}{}", &inner[..at], &inner[at..]),
                    None => inner + &own,
                }
            }
            // An address: what lies there.
            Op::TypePointer => match i.id_at(1).and_then(|t| self.decorations.name(t, None)) {
                Some(name) => name.to_owned(),
                None => "uint64_t".into(),
            },
            _ => self.decorations.name(ty, None).unwrap_or("?").to_owned(),
        }
    }

    /// A block's members, and what it is otherwise; nothing is read or written yet.
    pub fn block(&self, structure: u32) -> (Block, Vec<Leaf>) {
        let mut leaves = vec![];
        let mut runtime_stride = None;
        let start = Leaf { member: Member::default(), path: vec![], base: 0 };
        self.leaves(structure, (0, false), start, &mut leaves, &mut runtime_stride);
        leaves.sort_by_key(|l| l.member.offset);
        let end = |l: &Leaf| match l.member.arrays.iter().any(|a| a.1 == 0) {
            true => l.member.offset,
            false => l.member.offset.saturating_add(l.member.bytes),
        };
        let block = Block {
            name: self.decorations.name(structure, None).unwrap_or("").to_owned(),
            bytes: leaves.iter().map(end).max().unwrap_or(0),
            runtime_stride,
            ..Block::default()
        };
        (block, leaves)
    }

    fn leaves(&self, ty: u32, matrix: Matrix, so_far: Leaf, out: &mut Vec<Leaf>, runtime: &mut Option<u64>) {
        let Some(i) = self.ty(ty) else { return };
        if i.op() == Op::TypeStruct {
            for (n, o) in (0..).zip(&i.inst.operands) {
                let mut next = so_far.clone();
                let name = self.decorations.name(ty, Some(n)).map_or_else(|| format!("_{n}"), str::to_owned);
                next.member.name = match so_far.member.name.as_str() {
                    "" => name,
                    outer => shortened(&format!("{outer}.{name}")).to_owned(),
                };
                next.member.offset = next.member.offset.saturating_add(self.offset(ty, n));
                next.path.push(Step::Member(n));
                self.leaves(o.id_ref_any().unwrap_or(0), self.matrix(ty, n), next, out, runtime);
            }
            return;
        }
        if matches!(i.op(), Op::TypeArray | Op::TypeRuntimeArray) {
            let (stride, count) = (self.stride(i), self.count(i).unwrap_or(0));
            if i.op() == Op::TypeRuntimeArray {
                *runtime = Some(stride);
            }
            let mut next = so_far;
            next.member.arrays.push((stride, count));
            let element = i.id_at(0).unwrap_or(0);
            if self.of_structs(element) {
                next.member.name += "[]";
                next.member.outer_arrays += 1;
                next.path.push(Step::Element);
                self.leaves(element, matrix, next, out, runtime);
            } else {
                // (the type is the whole array's; it is named by whoever came here first)
                if next.member.ty.is_empty() {
                    next.member.ty = self.name(ty);
                }
                self.leaves(element, matrix, next, out, runtime);
            }
            return;
        }
        let Leaf { mut member, path, .. } = so_far;
        if member.ty.is_empty() {
            member.ty = self.name(ty);
        }
        if i.op() == Op::TypeMatrix {
            (member.matrix_stride, member.row_major) = matrix;
        }
        member.size = self.size(ty, matrix);
        let between = member.arrays.iter().map(|(stride, n)| n.saturating_sub(1).saturating_mul(*stride));
        member.bytes = between.fold(member.size, u64::saturating_add);
        out.push(Leaf { member, path, base: ty });
    }

    /// A struct, or an array of arrays of them.
    fn of_structs(&self, ty: u32) -> bool {
        let Some(i) = self.ty(ty) else { return false };
        match i.op() {
            Op::TypeStruct => true,
            Op::TypeArray | Op::TypeRuntimeArray => i.id_at(0).is_some_and(|e| self.of_structs(e)),
            _ => false,
        }
    }
}

/// A name as far as it is kept.
fn shortened(name: &str) -> &str {
    &name[..name.floor_char_boundary(limits::MOST_NAME_BYTES)]
}

fn column_height(column: &Inst) -> Option<u32> {
    match column.inst.operands.get(1) {
        Some(Operand::LiteralBit32(n)) => Some(*n),
        _ => None,
    }
}

/// What GLSL puts before vec and mat.
fn prefix(component: &str) -> String {
    match component {
        "float" => String::new(),
        "int" => "i".into(),
        "uint" => "u".into(),
        "bool" => "b".into(),
        "double" => "d".into(),
        other => {
            // int16_t: i16
            let (kind, rest) = other.split_at(1);
            let width: String = rest.chars().filter(char::is_ascii_digit).collect();
            format!("{kind}{width}")
        }
    }
}

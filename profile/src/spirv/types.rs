//! Types and constants, each once.
//!
//! SPIR-V wants every type that is no aggregate declared once. Guarantees: asking twice gives one id, and what the
//! application declared is used again. Structs and arrays are never shared: theirs may be decorated.

use super::{Inst, Module, Op, Operand};
use rspirv::spirv::StorageClass;
use std::collections::HashMap;

type Key = (Op, Option<u32>, Vec<Operand>);

/// See the module's header.
#[derive(Clone, Debug, Default)]
pub struct Types {
    known: HashMap<Key, u32>,
}

fn shared(op: Op) -> bool {
    matches!(
        op,
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
    )
}

impl Types {
    /// What the module has.
    pub fn new(m: &Module) -> Self {
        let mut known = HashMap::new();
        for i in m.globals.iter().filter(|i| shared(i.op())) {
            if let Some(id) = i.id() {
                known.entry((i.op(), i.inst.result_type, i.inst.operands.clone())).or_insert(id);
            }
        }
        Types { known }
    }

    /// The type or constant of this form.
    pub fn get(&mut self, m: &mut Module, op: Op, ty: Option<u32>, operands: Vec<Operand>) -> u32 {
        debug_assert!(shared(op), "{op:?} may carry decorations");
        *self.known.entry((op, ty, operands)).or_insert_with_key(|(op, ty, operands)| {
            let id = m.fresh();
            m.globals.push(Inst::new(*op, *ty, Some(id), operands.clone()));
            id
        })
    }

    /// `void`.
    pub fn void(&mut self, m: &mut Module) -> u32 {
        self.get(m, Op::TypeVoid, None, vec![])
    }
    /// `bool`.
    pub fn bool(&mut self, m: &mut Module) -> u32 {
        self.get(m, Op::TypeBool, None, vec![])
    }
    /// An unsigned integer of this width. Wider or narrower than 32 bits needs its capability.
    pub fn uint(&mut self, m: &mut Module, bits: u32) -> u32 {
        self.get(m, Op::TypeInt, None, vec![Operand::LiteralBit32(bits), Operand::LiteralBit32(0)])
    }
    /// A vector.
    pub fn vector(&mut self, m: &mut Module, of: u32, n: u32) -> u32 {
        self.get(m, Op::TypeVector, None, vec![Operand::IdRef(of), Operand::LiteralBit32(n)])
    }
    /// `n` unsigned 32-bit integers.
    pub fn uvec(&mut self, m: &mut Module, n: u32) -> u32 {
        let u = self.uint(m, 32);
        if n == 1 { u } else { self.vector(m, u, n) }
    }
    /// A pointer.
    pub fn pointer(&mut self, m: &mut Module, class: StorageClass, to: u32) -> u32 {
        self.get(m, Op::TypePointer, None, vec![Operand::StorageClass(class), Operand::IdRef(to)])
    }
    /// A function type.
    pub fn function(&mut self, m: &mut Module, ret: u32, params: &[u32]) -> u32 {
        let operands = std::iter::once(ret).chain(params.iter().copied()).map(Operand::IdRef).collect();
        self.get(m, Op::TypeFunction, None, operands)
    }
    /// An unsigned 32-bit constant.
    pub fn u32(&mut self, m: &mut Module, v: u32) -> u32 {
        let ty = self.uint(m, 32);
        self.get(m, Op::Constant, Some(ty), vec![Operand::LiteralBit32(v)])
    }
    /// `true`.
    pub fn truth(&mut self, m: &mut Module) -> u32 {
        let ty = self.bool(m);
        self.get(m, Op::ConstantTrue, Some(ty), vec![])
    }
    /// Zero of a type.
    pub fn null(&mut self, m: &mut Module, ty: u32) -> u32 {
        self.get(m, Op::ConstantNull, Some(ty), vec![])
    }
}

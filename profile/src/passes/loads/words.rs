//! Values as 32-bit words that a probe can be given.
//!
//! A vector, matrix, array or struct is its components in order; a boolean is 0 or 1; what has 64 bits is two words, the
//! low one first; what has less than 32 is widened (half floats to floats, integers by zeros). A physical pointer is its
//! address. Handles and what is wider than [`MOST`] words have none.

use super::defs::Defs;
use super::names::component;
use crate::rewrite::Shader;
use crate::spirv::{Inst, Op, Operand};

/// The most words that one value may have.
pub const MOST: usize = 64;

/// Writes instructions that take values apart.
pub struct Emitter<'s> {
    /// The shader that they are for.
    pub shader: &'s mut Shader,
    /// What its types and values are.
    pub defs: &'s Defs,
}

/// One word of a value.
#[derive(Clone, Debug)]
pub struct Word {
    /// The id of the unsigned 32-bit value.
    pub id: u32,
    /// Which component it is, as behind a name: `.x`, `[2].y`, `` for a scalar, `.low`.
    pub component: String,
    /// float, int, uint, bool, half, address; or a 64-bit type's half.
    pub kind: &'static str,
}

impl Emitter<'_> {
    /// The words of a value, with the instructions that make them; `Err` says why there are none.
    pub fn words(&mut self, value: u32, ty: u32, out: &mut Vec<Inst>) -> Result<Vec<Word>, &'static str> {
        if self.count(ty)? > MOST {
            return Err("it is too wide");
        }
        let mut words = Vec::new();
        self.take(value, ty, String::new(), out, &mut words)?;
        Ok(words)
    }

    /// An unsigned 32-bit value of a value's type is made by this instruction.
    fn put(&mut self, op: Op, ty: u32, operands: Vec<Operand>, out: &mut Vec<Inst>) -> u32 {
        let id = self.shader.module.fresh();
        out.push(Inst::new(op, Some(ty), Some(id), operands));
        id
    }

    fn count(&self, ty: u32) -> Result<usize, &'static str> {
        let t = self.defs.get(ty).ok_or("its type is not known")?;
        let times = |n: usize, of: usize| n.saturating_mul(of);
        match (t.op(), &t.inst.operands[..]) {
            (Op::TypeBool, _) => Ok(1),
            (Op::TypeInt, [Operand::LiteralBit32(bits), _])
            | (Op::TypeFloat, [Operand::LiteralBit32(bits)]) => {
                if *bits <= 64 {
                    Ok(if *bits == 64 { 2 } else { 1 })
                } else {
                    Err("it is too wide")
                }
            }
            (Op::TypeVector | Op::TypeMatrix, [Operand::IdRef(of), Operand::LiteralBit32(n)]) => {
                Ok(times(*n as usize, self.count(*of)?))
            }
            (Op::TypeArray, [Operand::IdRef(of), Operand::IdRef(n)]) => {
                let n = self.length(*n).ok_or("its length is a specialization constant")?;
                Ok(times(n as usize, self.count(*of)?))
            }
            (Op::TypeStruct, members) => {
                let mut of = members.iter().filter_map(Operand::id_ref_any).map(|m| self.count(m));
                of.try_fold(0usize, |sum, of| Ok(sum.saturating_add(of?)))
            }
            (Op::TypePointer, _) if self.shader.module.version() >= (1, 5) => Ok(2),
            (Op::TypePointer, _) => Err("it is a pointer in a module before SPIR-V 1.5"),
            (Op::TypeFloat, _) => Err("it is a number in an uncommon format"),
            _ => Err("it is a handle"),
        }
    }

    fn length(&self, constant: u32) -> Option<u32> {
        let i = self.defs.get(constant).filter(|i| i.op() == Op::Constant)?;
        match i.inst.operands[..] {
            [Operand::LiteralBit32(n)] => Some(n),
            _ => None,
        }
    }

    fn take(
        &mut self,
        value: u32,
        ty: u32,
        name: String,
        out: &mut Vec<Inst>,
        words: &mut Vec<Word>,
    ) -> Result<(), &'static str> {
        let t = self.defs.get(ty).ok_or("its type is not known")?.clone();
        let uint = self.shader.types.uint(&mut self.shader.module, 32);
        let v = vec![Operand::IdRef(value)];
        let mut word = |id, kind| words.push(Word { id, component: name.clone(), kind });
        match (t.op(), &t.inst.operands[..]) {
            (Op::TypeBool, _) => {
                let (one, zero) = (self.shader.constant(1), self.shader.constant(0));
                let operands = [value, one, zero].map(Operand::IdRef).to_vec();
                word(self.put(Op::Select, uint, operands, out), "bool");
            }
            (Op::TypeInt, [Operand::LiteralBit32(32), Operand::LiteralBit32(0)]) => word(value, "uint"),
            (Op::TypeInt, [Operand::LiteralBit32(32), _]) => word(self.put(Op::Bitcast, uint, v, out), "int"),
            (Op::TypeFloat, [Operand::LiteralBit32(32)]) => {
                word(self.put(Op::Bitcast, uint, v, out), "float")
            }
            (Op::TypeFloat, [Operand::LiteralBit32(16)]) => {
                let bits = vec![Operand::LiteralBit32(32)];
                let float = self.shader.types.get(&mut self.shader.module, Op::TypeFloat, None, bits);
                let wide = self.put(Op::FConvert, float, v, out);
                word(self.put(Op::Bitcast, uint, vec![Operand::IdRef(wide)], out), "float");
            }
            (Op::TypeInt, [Operand::LiteralBit32(bits), _]) if *bits < 32 => {
                word(self.put(Op::UConvert, uint, v, out), "uint");
            }
            (Op::TypeInt | Op::TypeFloat | Op::TypePointer, _) => {
                let pair = self.shader.types.uvec(&mut self.shader.module, 2);
                let both = self.put(Op::Bitcast, pair, v, out);
                for (k, half) in [".low", ".high"].into_iter().enumerate() {
                    let operands = vec![Operand::IdRef(both), Operand::LiteralBit32(k as u32)];
                    let id = self.put(Op::CompositeExtract, uint, operands, out);
                    words.push(Word { id, component: format!("{name}{half}"), kind: "half of 64 bits" });
                }
            }
            (op, operands) => {
                let parts: Vec<(u32, String)> = match (op, operands) {
                    (Op::TypeVector, [Operand::IdRef(of), Operand::LiteralBit32(n)]) => {
                        (0..*n).map(|k| (*of, format!("{name}.{}", component(k)))).collect()
                    }
                    (Op::TypeMatrix, [Operand::IdRef(of), Operand::LiteralBit32(n)]) => {
                        (0..*n).map(|k| (*of, format!("{name}[{k}]"))).collect()
                    }
                    (Op::TypeArray, [Operand::IdRef(of), Operand::IdRef(n)]) => {
                        let n = self.length(*n).ok_or("its length is a specialization constant")?;
                        (0..n).map(|k| (*of, format!("{name}[{k}]"))).collect()
                    }
                    _ => {
                        let members = operands.iter().filter_map(Operand::id_ref_any).enumerate();
                        members.map(|(k, m)| (m, format!("{name}.{k}"))).collect()
                    }
                };
                for (k, (of, name)) in parts.into_iter().enumerate() {
                    let operands = vec![Operand::IdRef(value), Operand::LiteralBit32(k as u32)];
                    let part = self.put(Op::CompositeExtract, of, operands, out);
                    self.take(part, of, name, out, words)?;
                }
            }
        }
        Ok(())
    }
}

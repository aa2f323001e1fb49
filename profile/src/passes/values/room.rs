//! Whether push constants leave room for what the replay pushes.
//!
//! Knowing which action a shader runs in takes the last eight of the bytes that may be pushed. Where the application's own
//! block reaches them, changes are not followed; everything else is measured.

use crate::passes::loads::Defs;
use crate::rewrite::{ACTION_BYTES_AT, Shader};
use crate::spirv::{Op, Operand};
use rspirv::spirv::{Decoration, StorageClass};
use std::collections::HashMap;

/// Whether no block of push constants of the original module reaches the replay's bytes.
pub fn is_there(shader: &Shader, defs: &Defs) -> bool {
    let mut sizes = Sizes { defs, offsets: HashMap::new(), strides: HashMap::new() };
    for a in &shader.original.annotations {
        match a.inst.operands[..] {
            [
                Operand::IdRef(of),
                Operand::LiteralBit32(member),
                Operand::Decoration(d),
                Operand::LiteralBit32(n),
            ] => {
                match d {
                    Decoration::Offset => sizes.offsets.insert((of, member), n),
                    Decoration::MatrixStride => sizes.strides.insert((of, Some(member)), n),
                    _ => None,
                };
            }
            [Operand::IdRef(of), Operand::Decoration(Decoration::ArrayStride), Operand::LiteralBit32(n)] => {
                sizes.strides.insert((of, None), n);
            }
            _ => {}
        }
    }
    let class = Operand::StorageClass(StorageClass::PushConstant);
    let blocks = shader
        .original
        .globals
        .iter()
        .filter(|g| g.op() == Op::Variable && g.inst.operands.first() == Some(&class));
    let mut structures = blocks.filter_map(|v| defs.type_of(v.id()?)?.id_at(1));
    structures.all(|s| sizes.of(s, None).is_some_and(|end| end <= ACTION_BYTES_AT))
}

struct Sizes<'d> {
    defs: &'d Defs,
    offsets: HashMap<(u32, u32), u32>,
    strides: HashMap<(u32, Option<u32>), u32>,
}

impl Sizes<'_> {
    /// Bytes of a type, as a member of a struct where it is one; `None` if that is not known.
    fn of(&self, ty: u32, member_of: Option<(u32, u32)>) -> Option<u32> {
        let t = self.defs.get(ty)?;
        match (t.op(), &t.inst.operands[..]) {
            (Op::TypeInt | Op::TypeFloat, [Operand::LiteralBit32(bits), ..]) => Some(bits / 8),
            (Op::TypePointer, _) => Some(8),
            (Op::TypeVector, [Operand::IdRef(of), Operand::LiteralBit32(n)]) => {
                self.of(*of, None)?.checked_mul(*n)
            }
            // (a row-major matrix is as large with its rows for columns, or smaller than with 16 bytes for each)
            (Op::TypeMatrix, [_, Operand::LiteralBit32(n)]) => {
                let stride = member_of.and_then(|(s, k)| self.strides.get(&(s, Some(k))));
                stride.unwrap_or(&32).checked_mul((*n).max(4))
            }
            (Op::TypeArray, [Operand::IdRef(of), Operand::IdRef(n)]) => {
                let n = self.defs.get(*n)?.inst.operands.first().and_then(|o| match o {
                    Operand::LiteralBit32(n) => Some(*n),
                    _ => None,
                })?;
                let stride = self.strides.get(&(ty, None)).copied().or_else(|| self.of(*of, member_of));
                stride?.checked_mul(n)
            }
            (Op::TypeStruct, members) => {
                let mut end = 0;
                for (k, m) in members.iter().enumerate() {
                    let at = *self.offsets.get(&(ty, k as u32))?;
                    end = end.max(at.checked_add(self.of(m.id_ref_any()?, Some((ty, k as u32)))?)?);
                }
                Some(end)
            }
            _ => None,
        }
    }
}

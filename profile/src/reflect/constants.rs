//! Values of constants, those of a pipeline's specialization and what is computed of them included.
//!
//! Guarantees: a value is what the driver would have; what is no whole number or boolean of at most 64 bits has none here.

use crate::spirv::{Inst, Module, Op, Operand};
use rspirv::spirv::Decoration;
use std::collections::HashMap;

/// Values of specialization constants: ids, and their bits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Specialization(pub Vec<(u32, u64)>);

impl Specialization {
    /// From the entries of VkSpecializationInfo (constant id, offset, size) and its data. Entries that lie outside of the data
    /// are left out.
    pub fn of(entries: impl IntoIterator<Item = (u32, u64, u64)>, data: &[u8]) -> Self {
        let value = |(id, offset, size): (u32, u64, u64)| {
            let end = offset.checked_add(size).filter(|_| size <= 8)?;
            let mut bits = [0; 8];
            bits[..size as usize].copy_from_slice(data.get(offset as usize..end as usize)?);
            Some((id, u64::from_le_bytes(bits)))
        };
        Specialization(entries.into_iter().filter_map(value).collect())
    }
}

/// See the module's header.
#[derive(Clone, Debug, Default)]
pub struct Constants {
    /// Bits, and how many there are.
    bits: HashMap<u32, (u64, u32)>,
    /// Width and sign of whole numbers' types; booleans are of width 1.
    types: HashMap<u32, (u32, bool)>,
}

impl Constants {
    /// Those of a module.
    pub fn new(m: &Module, given: &Specialization) -> Self {
        let mut ids = HashMap::new();
        for a in m.annotations.iter().filter(|a| a.op() == Op::Decorate) {
            if let [Operand::IdRef(id), Operand::Decoration(Decoration::SpecId), Operand::LiteralBit32(n)] =
                a.inst.operands[..]
            {
                ids.insert(id, n);
            }
        }
        let given: HashMap<u32, u64> = given.0.iter().copied().collect();
        let mut all = Constants::default();
        for i in &m.globals {
            let Some(id) = i.id() else { continue };
            match i.op() {
                Op::TypeBool => {
                    all.types.insert(id, (1, false));
                }
                Op::TypeInt => {
                    if let [Operand::LiteralBit32(width), Operand::LiteralBit32(sign), ..] =
                        i.inst.operands[..]
                    {
                        all.types.insert(id, (width, sign == 1));
                    }
                }
                _ => {
                    let special = ids.get(&id).and_then(|n| given.get(n)).copied();
                    if let Some(v) = all.value(i, special) {
                        all.bits.insert(id, v);
                    }
                }
            }
        }
        all
    }

    /// Those that no specialization changes.
    pub fn fixed(m: &Module) -> Self {
        let mut all = Constants::new(m, &Specialization::default());
        for i in &m.globals {
            if matches!(
                i.op(),
                Op::SpecConstant | Op::SpecConstantTrue | Op::SpecConstantFalse | Op::SpecConstantOp
            ) {
                all.bits.remove(&i.id().unwrap_or(0));
            }
        }
        all
    }

    /// A constant's bits, as far as its type is wide.
    pub fn bits(&self, id: u32) -> Option<u64> {
        self.bits.get(&id).map(|v| v.0)
    }

    /// A constant's value where it is not negative.
    pub fn unsigned(&self, m: &Module, id: u32) -> Option<u64> {
        let (width, sign) = *self.types.get(&m.global(id)?.inst.result_type?)?;
        self.bits(id).filter(|v| !sign || v >> (width - 1) & 1 == 0)
    }

    /// The bits of a constant, and how many.
    fn value(&self, i: &Inst, special: Option<u64>) -> Option<(u64, u32)> {
        let &(width, _) = self.types.get(&i.inst.result_type?)?;
        let mask = mask(width);
        let bits = match i.op() {
            Op::ConstantTrue => Some(1),
            Op::ConstantFalse | Op::ConstantNull => Some(0),
            Op::SpecConstantTrue => Some(special.map_or(1, |v| u64::from(v != 0))),
            Op::SpecConstantFalse => Some(special.map_or(0, |v| u64::from(v != 0))),
            Op::Constant | Op::SpecConstant => {
                let own = match i.inst.operands.first()? {
                    Operand::LiteralBit32(n) => u64::from(*n),
                    Operand::LiteralBit64(n) => *n,
                    _ => return None,
                };
                Some(special.filter(|_| i.op() == Op::SpecConstant).unwrap_or(own) & mask)
            }
            Op::SpecConstantOp => self.computed(i).map(|v| v & mask),
            _ => None,
        };
        Some((bits?, width))
    }

    fn computed(&self, i: &Inst) -> Option<u64> {
        let Operand::LiteralSpecConstantOpInteger(op) = i.inst.operands.first()? else { return None };
        // (bits, and with the sign that they may have)
        let of = |n: usize| self.bits.get(&i.id_at(n + 1)?).map(|&(v, width)| (v, extended(v, width)));
        let (a, sa) = of(0)?;
        if let Some(v) = match op {
            Op::SNegate => Some(sa.wrapping_neg() as u64),
            Op::Not => Some(!a),
            Op::LogicalNot => Some(u64::from(a == 0)),
            Op::UConvert => Some(a),
            Op::SConvert => Some(sa as u64),
            _ => None,
        } {
            return Some(v);
        }
        let (b, sb) = of(1)?;
        let flag = |f: bool| Some(u64::from(f));
        match op {
            Op::IAdd => Some(a.wrapping_add(b)),
            Op::ISub => Some(a.wrapping_sub(b)),
            Op::IMul => Some(a.wrapping_mul(b)),
            Op::UDiv => a.checked_div(b),
            Op::SDiv => sa.checked_div(sb).map(|v| v as u64),
            Op::UMod => a.checked_rem(b),
            Op::SRem => sa.checked_rem(sb).map(|v| v as u64),
            Op::SMod => {
                sa.checked_rem(sb).map(|r| if r != 0 && (r < 0) != (sb < 0) { r + sb } else { r } as u64)
            }
            Op::ShiftLeftLogical => a.checked_shl(b as u32),
            Op::ShiftRightLogical => a.checked_shr(b as u32),
            Op::ShiftRightArithmetic => sa.checked_shr(b as u32).map(|v| v as u64),
            Op::BitwiseAnd => Some(a & b),
            Op::BitwiseOr => Some(a | b),
            Op::BitwiseXor => Some(a ^ b),
            Op::LogicalAnd => flag(a & b & 1 == 1),
            Op::LogicalOr => flag((a | b) & 1 == 1),
            Op::IEqual | Op::LogicalEqual => flag(a == b),
            Op::INotEqual | Op::LogicalNotEqual => flag(a != b),
            Op::ULessThan => flag(a < b),
            Op::ULessThanEqual => flag(a <= b),
            Op::UGreaterThan => flag(a > b),
            Op::UGreaterThanEqual => flag(a >= b),
            Op::SLessThan => flag(sa < sb),
            Op::SLessThanEqual => flag(sa <= sb),
            Op::SGreaterThan => flag(sa > sb),
            Op::SGreaterThanEqual => flag(sa >= sb),
            Op::Select => Some(if a != 0 { b } else { of(2)?.0 }),
            _ => None,
        }
    }
}

fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// A value of so many bits, with its sign.
fn extended(v: u64, width: u32) -> i64 {
    let by = 64 - width.clamp(1, 64);
    (v << by) as i64 >> by
}

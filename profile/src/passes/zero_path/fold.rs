//! What is left of instructions where a value is zero.

use crate::spirv::{Inst, Op, Operand};

/// What an instruction gives, with zeros among its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Zero of its type.
    Zero,
    /// What one of its operands is.
    Operand(u32),
    /// It has to be computed, with zeros for its operands.
    Computed,
}

/// Instructions that do nothing but give a value, the same for the same operands, in whatever control flow.
pub fn is_pure(i: &Inst, glsl: Option<u32>) -> bool {
    use Op::*;
    match i.op() {
        // Those with pointers, and interpolation, stay where they are.
        ExtInst => i.id_at(0) == glsl && glsl.is_some() && !matches!(number(i), 35 | 51 | 76..=78),
        op => matches!(
            op,
            CopyObject
                | CompositeExtract
                | CompositeConstruct
                | CompositeInsert
                | VectorShuffle
                | VectorExtractDynamic
                | VectorInsertDynamic
                | Transpose
                | ConvertFToU
                | ConvertFToS
                | ConvertSToF
                | ConvertUToF
                | UConvert
                | SConvert
                | FConvert
                | QuantizeToF16
                | Bitcast
                | SNegate
                | FNegate
                | IAdd
                | FAdd
                | ISub
                | FSub
                | IMul
                | FMul
                | UDiv
                | SDiv
                | FDiv
                | UMod
                | SRem
                | SMod
                | FRem
                | FMod
                | VectorTimesScalar
                | MatrixTimesScalar
                | VectorTimesMatrix
                | MatrixTimesVector
                | MatrixTimesMatrix
                | OuterProduct
                | Dot
                | Any
                | All
                | IsNan
                | IsInf
                | LogicalEqual
                | LogicalNotEqual
                | LogicalOr
                | LogicalAnd
                | LogicalNot
                | Select
                | IEqual
                | INotEqual
                | UGreaterThan
                | SGreaterThan
                | UGreaterThanEqual
                | SGreaterThanEqual
                | ULessThan
                | SLessThan
                | ULessThanEqual
                | SLessThanEqual
                | FOrdEqual
                | FUnordEqual
                | FOrdNotEqual
                | FUnordNotEqual
                | FOrdLessThan
                | FUnordLessThan
                | FOrdGreaterThan
                | FUnordGreaterThan
                | FOrdLessThanEqual
                | FUnordLessThanEqual
                | FOrdGreaterThanEqual
                | FUnordGreaterThanEqual
                | ShiftRightLogical
                | ShiftRightArithmetic
                | ShiftLeftLogical
                | BitwiseOr
                | BitwiseXor
                | BitwiseAnd
                | Not
                | BitFieldInsert
                | BitFieldSExtract
                | BitFieldUExtract
                | BitReverse
                | BitCount
        ),
    }
}

/// Which of GLSL's functions.
fn number(i: &Inst) -> u32 {
    match i.inst.operands.get(1) {
        Some(Operand::LiteralExtInstInteger(n)) => *n,
        _ => u32::MAX,
    }
}

/// What is left of a pure instruction. `zero` says which values are zero; `zeros` which components of a vector are.
pub fn left(i: &Inst, zero: &dyn Fn(u32) -> bool, zeros: &dyn Fn(u32, u32) -> bool) -> Left {
    use Op::*;
    let is = |n: usize| i.id_at(n).is_some_and(zero);
    let other = |n: usize| i.id_at(n).map_or(Left::Computed, Left::Operand);
    let if_zero = |yes: bool| if yes { Left::Zero } else { Left::Computed };
    match i.op() {
        CompositeExtract => match i.inst.operands[..] {
            [Operand::IdRef(of), Operand::LiteralBit32(n)] => if_zero(zero(of) || zeros(of, n)),
            _ => if_zero(is(0)),
        },
        VectorShuffle => {
            let all = i.inst.operands[2..].iter().all(|o| match (o, i.id_at(0)) {
                (Operand::LiteralBit32(n), Some(of)) if i.id_at(1) == Some(of) => zeros(of, *n),
                _ => false,
            });
            if_zero(all || (is(0) && is(1)))
        }
        CompositeConstruct => if_zero((0..i.inst.operands.len()).all(is)),
        IMul | FMul | VectorTimesScalar | MatrixTimesScalar | VectorTimesMatrix | MatrixTimesVector
        | MatrixTimesMatrix | OuterProduct | Dot | BitwiseAnd | LogicalAnd => if_zero(is(0) || is(1)),
        IAdd | FAdd | BitwiseOr | BitwiseXor | LogicalOr => match (is(0), is(1)) {
            (true, true) => Left::Zero,
            (true, false) => other(1),
            (false, true) => other(0),
            _ => Left::Computed,
        },
        ISub | FSub | ShiftLeftLogical | ShiftRightLogical | ShiftRightArithmetic => match (is(0), is(1)) {
            (true, true) => Left::Zero,
            (false, true) => other(0),
            (true, false) if !matches!(i.op(), ISub | FSub) => Left::Zero,
            _ => Left::Computed,
        },
        UDiv | SDiv | UMod | SRem | SMod => if_zero(is(0)),
        CopyObject | Transpose | ConvertFToU | ConvertFToS | ConvertSToF | ConvertUToF | UConvert
        | SConvert | FConvert | QuantizeToF16 | Bitcast | SNegate | FNegate | BitReverse | BitCount | Any
        | All => if_zero(is(0)),
        Select => match (is(1), is(2)) {
            (true, true) => Left::Zero,
            _ if is(0) => other(2),
            _ => Left::Computed,
        },
        ExtInst => match number(i) {
            // Round … Fract, FAbs, SAbs, FSign, SSign, Radians, Degrees, Sin, Tan, Asin, Atan, Sinh, Tanh, Asinh, Atanh, Sqrt
            1..=8 | 10..=13 | 15 | 16 | 18 | 19 | 21 | 22 | 24 | 31 => if_zero(is(2)),
            // FMix
            46 if is(4) => other(2),
            46 => if_zero(is(2) && is(3)),
            // Fma
            50 if is(2) || is(3) => match is(4) {
                true => Left::Zero,
                false => other(4),
            },
            _ => Left::Computed,
        },
        _ => Left::Computed,
    }
}

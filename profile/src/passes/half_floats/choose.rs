//! Which operations of a module are computed with 16-bit floats, and what only moves their results.
//!
//! Guarantees: an operation is chosen only if its result and all its operands are scalars or vectors of 32-bit floats and
//! SPIR-V defines it for those of 16 bits alike, and no operand is, or may be by moves alone, a constant that 16 bits do not
//! hold; a move only if a chosen operation needs it, and all that it moves was computed with 16 bits or is a constant that these
//! hold. To convert what was moved, or to move what was converted, is the same.

use super::outputs;
use crate::passes::learnt::glsl;
use crate::spirv::{Inst, Module, Op, Operand};
use rspirv::grammar::GLSL_STD_450_INSTRUCTION_TABLE;
use rspirv::spirv::Decoration;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// See the module's header.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// Results of operations that are computed with 16 bits.
    pub arithmetic: HashSet<u32>,
    /// Results of moves that are made with 16 bits as well.
    pub moves: HashSet<u32>,
    /// Of how many operations these are chosen.
    pub of: usize,
}

/// The functions of GLSL.std.450 whose operands and result are all floats, of 16 bits as well as of 32. Not there: those that
/// are defined for 32 bits or 64 alone (packing), interpolation, matrices, and what gives a second result.
pub const GLSL: &str = "Round RoundEven Trunc FAbs FSign Floor Ceil Fract Radians Degrees Sin Cos Tan Asin Acos Atan Sinh Cosh \
     Tanh Asinh Acosh Atanh Atan2 Pow Exp Log Exp2 Log2 Sqrt InverseSqrt FMin FMax FClamp FMix Step SmoothStep Fma Length \
     Distance Cross Normalize FaceForward Reflect Refract NMin NMax NClamp";

static GLSL_NUMBERS: LazyLock<HashSet<u32>> = LazyLock::new(|| {
    let named = |name: &str| GLSL.split_whitespace().any(|n| n == name);
    GLSL_STD_450_INSTRUCTION_TABLE.iter().filter(|i| named(i.opname)).map(|i| i.opcode.into()).collect()
});

/// Which operands of an operation are floats, where it is one that may be chosen.
pub fn computed_of(i: &Inst, glsl: Option<u32>) -> Option<Vec<usize>> {
    let all = |from| Some((from..i.inst.operands.len()).collect());
    match i.op() {
        Op::FAdd
        | Op::FSub
        | Op::FMul
        | Op::FDiv
        | Op::FRem
        | Op::FMod
        | Op::FNegate
        | Op::VectorTimesScalar
        | Op::Dot => all(0),
        // Behind the set and the number.
        Op::ExtInst if glsl.is_some() && i.id_at(0) == glsl => match i.inst.operands.get(1) {
            Some(Operand::LiteralExtInstInteger(n)) if GLSL_NUMBERS.contains(n) => all(2),
            _ => None,
        },
        _ => None,
    }
}

/// Which operands of a move are what it moves.
pub fn moved_of(i: &Inst) -> Option<Vec<usize>> {
    let n = i.inst.operands.len();
    Some(match i.op() {
        Op::CopyObject | Op::CompositeExtract | Op::VectorExtractDynamic => vec![0],
        Op::VectorShuffle | Op::CompositeInsert => vec![0, 1],
        Op::Select => vec![1, 2],
        Op::CompositeConstruct => (0..n).collect(),
        // Pairs of a value and the block that it comes from.
        Op::Phi => (0..n).step_by(2).collect(),
        _ => return None,
    })
}

/// Whether a type is a 32-bit float, or a vector of these.
pub fn is_float_32(m: &Module, ty: u32) -> bool {
    m.global(ty).is_some_and(|t| match t.op() {
        Op::TypeFloat => t.inst.operands[..] == [Operand::LiteralBit32(32)],
        Op::TypeVector => t.id_at(0).is_some_and(|of| is_float_32(m, of)),
        _ => false,
    })
}

/// Constants, as far as 16 bits are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constant {
    /// 16 bits hold it.
    Held,
    /// They do not.
    TooMuch,
    /// It is no constant of floats, or one that is known to the pipeline only.
    None,
}

/// What a value is as a constant.
pub fn constant(m: &Module, id: u32) -> Constant {
    let scalar = |i: &Inst| match (i.op(), &i.inst.operands[..]) {
        (Op::ConstantNull, _) => Constant::Held,
        (Op::Constant, [Operand::LiteralBit32(bits)]) => match half(f32::from_bits(*bits)) {
            Some(_) => Constant::Held,
            None => Constant::TooMuch,
        },
        _ => Constant::None,
    };
    let is_float = |i: &&Inst| i.inst.result_type.is_some_and(|t| is_float_32(m, t));
    match m.global(id).filter(is_float) {
        Some(i) if i.op() == Op::ConstantComposite => {
            let parts = i.inst.operands.iter().filter_map(Operand::id_ref_any);
            let parts: Vec<Constant> =
                parts.map(|p| m.global(p).filter(is_float).map_or(Constant::None, scalar)).collect();
            // One component is enough for the whole not to be held.
            let worst = [Constant::TooMuch, Constant::None].into_iter().find(|c| parts.contains(c));
            worst.unwrap_or(Constant::Held)
        }
        Some(i) => scalar(i),
        None => Constant::None,
    }
}

/// Composites within composites that are looked into: more than types of shaders have.
const DEPTH: u32 = 8;

/// Whether a constant is a number that 16 bits do not hold, or has such a one anywhere within it, as arrays and structs may.
fn has_too_much(m: &Module, id: u32, depth: u32) -> bool {
    match m.global(id) {
        Some(i) if i.op() == Op::ConstantComposite => {
            let mut parts = i.inst.operands.iter().filter_map(Operand::id_ref_any);
            depth == 0 || parts.any(|p| has_too_much(m, p, depth - 1))
        }
        _ => constant(m, id) == Constant::TooMuch,
    }
}

/// The smallest normal number of 16 bits, and the largest.
const NORMAL: std::ops::RangeInclusive<f32> = 1.0 / 16384.0..=65504.0;

/// The 16-bit float that is nearest to a number, if there is one: zero, or a normal number.
pub fn half(x: f32) -> Option<u16> {
    let sign = (x.to_bits() >> 16) as u16 & 0x8000;
    if x == 0.0 {
        return Some(sign);
    }
    // Exponents are biased by 15, and were by 127. Of 23 bits of the mantissa 10 stay; a tie goes to the even one.
    let bits = NORMAL.contains(&x.abs()).then(|| x.abs().to_bits() - ((127 - 15) << 23))?;
    let rounded = (bits + 0xfff + (bits >> 13 & 1)) >> 13;
    Some(sign | rounded as u16)
}

/// What moves what.
#[derive(Default)]
struct Moves {
    /// What each of them moves.
    sources: HashMap<u32, Vec<u32>>,
    /// Which of them move a value.
    movers: HashMap<u32, Vec<u32>>,
}

impl Moves {
    fn of<'m>(m: &Module, insts: impl Iterator<Item = &'m Inst>) -> Moves {
        let mut moves = Moves::default();
        for i in insts {
            let (Some(id), Some(ty), Some(at)) = (i.id(), i.inst.result_type, moved_of(i)) else { continue };
            if is_float_32(m, ty) {
                for s in ids(i, &at) {
                    moves.sources.entry(id).or_default().push(s);
                    moves.movers.entry(s).or_default().push(id);
                }
            }
        }
        moves
    }

    /// What some of the values that are moved come to: the values of which `which` holds, and all that moves them.
    fn spread(&self, which: impl Fn(u32) -> bool) -> HashSet<u32> {
        let mut found = HashSet::new();
        let mut asked: Vec<u32> = self.movers.keys().copied().filter(|s| which(*s)).collect();
        while let Some(id) = asked.pop() {
            if found.insert(id) {
                asked.extend(self.movers.get(&id).into_iter().flatten());
            }
        }
        found
    }
}

fn ids(i: &Inst, at: &[usize]) -> Vec<u32> {
    at.iter().filter_map(|a| i.id_at(*a)).collect()
}

impl Chosen {
    /// Of some functions of a module: operations that are decorated RelaxedPrecision, or `all` that there are.
    pub fn of(m: &Module, functions: &[usize], all: bool) -> Chosen {
        let glsl = glsl(m);
        let decorated = |with: &[Decoration]| -> HashSet<u32> {
            let has = |a: &&Inst| match a.inst.operands.get(1) {
                Some(Operand::Decoration(d)) => a.op() == Op::Decorate && with.contains(d),
                _ => false,
            };
            m.annotations.iter().filter(has).filter_map(|a| a.id_at(0)).collect()
        };
        let relaxed = decorated(&[Decoration::RelaxedPrecision]);
        let exact = decorated(&[Decoration::NoContraction, Decoration::FPFastMathMode]);
        let decisive = if all { outputs::lead_to_built_ins(m, functions) } else { HashSet::new() };
        let insts = || functions.iter().flat_map(|f| m.functions[*f].insts());
        let moves = Moves::of(m, insts());
        let too_much = moves.spread(|s| has_too_much(m, s, DEPTH));
        let held = |o: &u32| constant(m, *o) != Constant::TooMuch && !too_much.contains(o);
        let mut chosen = Chosen::default();
        let mut operands = vec![];
        for i in insts() {
            let (Some(id), Some(ty)) = (i.id(), i.inst.result_type) else { continue };
            let Some(floats) = computed_of(i, glsl).filter(|_| is_float_32(m, ty)) else { continue };
            chosen.of += 1;
            let allowed = relaxed.contains(&id) || all && !decisive.contains(&id);
            let floats = ids(i, &floats);
            if allowed && !exact.contains(&id) && floats.iter().all(held) {
                chosen.arithmetic.insert(id);
                operands.extend(floats);
            }
        }
        // A move is taken for possible until something says otherwise, as OpPhi may move what comes from itself.
        let wide = moves.spread(|s| {
            let known = chosen.arithmetic.contains(&s) || moves.sources.contains_key(&s);
            !known && constant(m, s) != Constant::Held
        });
        while let Some(id) = operands.pop() {
            let sources = moves.sources.get(&id).filter(|_| !wide.contains(&id));
            if let Some(sources) = sources.filter(|_| chosen.moves.insert(id)) {
                operands.extend(sources);
            }
        }
        chosen
    }
}

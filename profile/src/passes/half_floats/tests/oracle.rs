//! What straight-line code computes, in numbers: 32-bit floats as Rust has them, 16-bit floats by rounding each result to the
//! nearest of all 65536.

use super::is_half;
use crate::spirv::{Inst, Module, Op, Operand};
use std::collections::HashMap;
use std::sync::LazyLock;

/// What a pattern of 16 bits stands for.
pub fn number(bits: u16) -> f32 {
    let (sign, exponent, mantissa) = (bits >> 15, i32::from(bits >> 10 & 31), f32::from(bits & 1023));
    let size = match exponent {
        0 => mantissa * 2f32.powi(-24),
        31 if mantissa == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        e => (1024.0 + mantissa) * 2f32.powi(e - 25),
    };
    if sign == 1 { -size } else { size }
}

/// Every finite 16-bit number that is not negative, by its pattern.
static ALL: LazyLock<Vec<f32>> = LazyLock::new(|| (0..0x7c00).map(number).collect());

/// The nearest 16-bit number; of two the one whose pattern is even.
fn rounded(x: f32) -> f32 {
    let size = x.abs();
    let above = ALL.partition_point(|n| *n < size);
    let Some(&high) = ALL.get(above) else {
        return if size < 65520.0 { 65504f32 } else { f32::INFINITY }.copysign(x);
    };
    let low = ALL[above.saturating_sub(1)];
    let nearest = match (size - low).total_cmp(&(high - size)) {
        std::cmp::Ordering::Less => low,
        std::cmp::Ordering::Greater => high,
        std::cmp::Ordering::Equal if above % 2 == 0 => high,
        std::cmp::Ordering::Equal => low,
    };
    nearest.copysign(x)
}

/// Every value of the first block of a function, with what its one input gives.
pub fn run(m: &Module, function: &str, input: &[f32]) -> HashMap<u32, Vec<f32>> {
    let name = Operand::LiteralString(function.to_owned());
    let id = m.names.iter().find(|n| n.inst.operands.get(1) == Some(&name)).and_then(|n| n.id_at(0));
    let f = m.function(id.expect("it has a name")).expect("it is a function");
    let mut known: HashMap<u32, Vec<f32>> = HashMap::new();
    for i in m.globals.iter().chain(m.functions[f].blocks[0].body.iter()) {
        let Some(id) = i.id() else { continue };
        let half = is_half(m, i);
        if let Some(mut value) = value(i, half, &known, input) {
            if half {
                value.iter_mut().for_each(|x| *x = rounded(*x));
            }
            known.insert(id, value);
        }
    }
    known
}

fn value(i: &Inst, half: bool, known: &HashMap<u32, Vec<f32>>, input: &[f32]) -> Option<Vec<f32>> {
    let of = |n: usize| known.get(&i.id_at(n)?).cloned();
    let literal = |n: usize| match i.inst.operands.get(n) {
        Some(Operand::LiteralBit32(v) | Operand::LiteralExtInstInteger(v)) => Some(*v),
        _ => None,
    };
    let both = |a: usize, f: &dyn Fn(f32, f32) -> f32| {
        Some(of(a)?.iter().zip(of(a + 1)?).map(|(a, b)| f(*a, b)).collect::<Vec<f32>>())
    };
    match i.op() {
        Op::Constant if half => Some(vec![number(literal(0)? as u16)]),
        Op::Constant => Some(vec![f32::from_bits(literal(0)?)]),
        Op::ConstantComposite | Op::CompositeConstruct => {
            let parts: Option<Vec<Vec<f32>>> = (0..i.inst.operands.len()).map(of).collect();
            Some(parts?.concat())
        }
        Op::Load => Some(input.to_vec()),
        Op::FConvert => of(0),
        Op::FAdd => both(0, &|a, b| a + b),
        Op::FSub => both(0, &|a, b| a - b),
        Op::FMul => both(0, &|a, b| a * b),
        // (FMax is the only one here)
        Op::ExtInst if literal(1) == Some(40) => both(2, &f32::max),
        // One rounding at the end, as of a sum that is kept exactly.
        Op::Dot => Some(vec![both(0, &|a, b| a * b)?.iter().sum()]),
        Op::VectorShuffle => {
            let all = [of(0)?, of(1)?].concat();
            (2..i.inst.operands.len()).map(|n| all.get(literal(n)? as usize).copied()).collect()
        }
        _ => None,
    }
}

//! Which elements an index may name: numbers that are a fixed one more than a multiple of a power of two.
//!
//! Guarantees: an index has no other values than these, in arithmetic that wraps at its width.

use crate::reflect::Constants;
use crate::spirv::{Inst, Op};
use std::collections::HashMap;

/// Multiples of `step`, and `first` more: `step` is a power of two, or 0 where there is but one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residue {
    /// Between values.
    pub step: u64,
    /// The least one.
    pub first: u64,
}

const ANY: Residue = Residue { step: 1, first: 0 };

/// Expressions are not looked into further.
const DEEPEST: u32 = 16;

/// What an index may be.
pub fn residue(defs: &HashMap<u32, Inst>, constants: &Constants, id: u32) -> Residue {
    of(defs, constants, id, 0)
}

fn of(defs: &HashMap<u32, Inst>, constants: &Constants, id: u32, depth: u32) -> Residue {
    if let Some(first) = constants.bits(id) {
        return Residue { step: 0, first };
    }
    let Some(i) = defs.get(&id).filter(|_| depth < DEEPEST) else { return ANY };
    let part = |n: usize| i.id_at(n).map_or(ANY, |x| of(defs, constants, x, depth + 1));
    match i.op() {
        // (a sign or another name changes no low bit; a step is never wider than the index)
        Op::CopyObject | Op::Bitcast => part(0),
        Op::IAdd => sum(part(0), part(1)),
        Op::IMul => product(part(0), part(1)),
        Op::ShiftLeftLogical => match part(1) {
            Residue { step: 0, first } if first < 31 => {
                product(part(0), Residue { step: 0, first: 1 << first })
            }
            _ => ANY,
        },
        Op::BitwiseOr => match (part(0), part(1)) {
            // Bits below the other's step: as a sum.
            (a, Residue { step: 0, first }) | (Residue { step: 0, first }, a)
                if a.step > first && a.first & first == 0 =>
            {
                sum(a, Residue { step: 0, first })
            }
            _ => ANY,
        },
        _ => ANY,
    }
}

fn made(step: u64, first: u64) -> Residue {
    match step {
        0 => Residue { step, first: first & u64::from(u32::MAX) },
        // (wrapping at 32 bits or less is a multiple of any step that is at most that)
        _ if step > 1 << 15 => made(1 << 15, first),
        _ => Residue { step, first: first % step },
    }
}

fn sum(a: Residue, b: Residue) -> Residue {
    let step = match (a.step, b.step) {
        (0, s) | (s, 0) => s,
        (a, b) => a.min(b),
    };
    made(step, a.first.wrapping_add(b.first))
}

fn product(a: Residue, b: Residue) -> Residue {
    let low = |n: u64| if n == 0 { 1 << 15 } else { 1u64 << n.trailing_zeros().min(15) };
    match (a.step, b.step) {
        (0, 0) => made(0, a.first.wrapping_mul(b.first)),
        (0, _) => product(b, a),
        // (k·s + f)·c is a multiple of s times c's factor of two, and f·c more.
        (s, 0) => made(s.saturating_mul(low(b.first)), a.first.wrapping_mul(b.first)),
        (s, t) => {
            let step = low(a.first).min(s).saturating_mul(low(b.first).min(t)).max(1);
            match (a.first % s, b.first % t) {
                (0, 0) => made(step, 0),
                _ => ANY,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_products() {
        let (even, odd, four) =
            (Residue { step: 2, first: 0 }, Residue { step: 2, first: 1 }, Residue { step: 4, first: 0 });
        let one = |first| Residue { step: 0, first };
        assert_eq!(product(ANY, one(2)), even);
        assert_eq!(sum(even, one(1)), odd);
        assert_eq!(sum(odd, one(1)), even);
        assert_eq!(product(ANY, one(6)), even);
        assert_eq!(product(ANY, one(12)), four);
        assert_eq!(sum(four, even), even);
        assert_eq!(product(even, even), four);
        assert_eq!(product(odd, ANY), ANY);
        assert_eq!(product(odd, one(2)), Residue { step: 4, first: 2 });
        assert_eq!(sum(one(3), one(u64::from(u32::MAX))), one(2));
        assert_eq!(product(ANY, one(0)).first, 0);
    }
}

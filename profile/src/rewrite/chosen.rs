//! Shaders of which only some work counts: that of chosen render passes and labels.
//!
//! What is pushed before an action is then not the address of its counters but of what is said of it: whether it counts, and
//! that address. The prologue reads it and keeps in two private variables where this invocation counts and appends: to what
//! is read at the frame's end, or to as many counters that nobody reads and a log without room. Every use of the constants
//! that say where memory is becomes a load of these variables, so that no probe has to know. Refuses probes that make other
//! constants of those.

use super::actions;
use super::libraries::CHOSEN;
use super::shader::{Pushed, Shader};
use crate::spirv::{FIRST_SPEC_ID, Inst, Op, Operand, Result, malformed};
use std::collections::{HashMap, HashSet};

/// The prologue's part: what is pushed; the function that reads what is said of it; the address of the action's counters.
pub fn load(s: &mut Shader, out: &mut Vec<Inst>) -> Result<(Pushed, u32, u32)> {
    let (pushed, at) = actions::load(s, actions::USUAL, out)?;
    let f = s.import(&CHOSEN, "choose")?;
    let words = s.types.uvec(&mut s.module, 2);
    let (call, counters) = s.call_for(f, words, &[at]);
    out.push(call);
    Ok((pushed, f, counters))
}

/// What a constant is replaced by.
#[derive(Clone, Copy)]
struct Instead {
    variable: u32,
    /// Which of its two words, if not both.
    word: Option<u32>,
}

/// What says where memory is: the first of two constants, and the variable that stands in for both.
pub type Where = (u32, &'static str);

/// Where counters are.
pub const COUNTERS: Where = (0, "rr_region");
/// Where the log is.
pub const LOG: Where = (2, "rr_log");

/// Puts loads of the variables in place of the constants in every function but `chooser`.
pub fn redirect(s: &mut Shader, chooser: u32, places: &[Where]) -> Result<()> {
    let instead = constants(s, places)?;
    let words = s.types.uvec(&mut s.module, 2);
    let word = s.types.uint(&mut s.module, 32);
    let loads = |s: &mut Shader, of: Instead, out: &mut Vec<Inst>| {
        let both = s.module.fresh();
        out.push(Inst::new(Op::Load, Some(words), Some(both), vec![Operand::IdRef(of.variable)]));
        let Some(n) = of.word else { return both };
        let one = s.module.fresh();
        let operands = vec![Operand::IdRef(both), Operand::LiteralBit32(n)];
        out.push(Inst::new(Op::CompositeExtract, Some(word), Some(one), operands));
        one
    };
    for f in 0..s.module.functions.len() {
        if s.module.functions[f].id() == chooser {
            continue;
        }
        for b in 0..s.module.functions[f].blocks.len() {
            let body = std::mem::take(&mut s.module.functions[f].blocks[b].body);
            let mut new = Vec::with_capacity(body.len());
            for mut i in body {
                if i.ids().any(|id| instead.contains_key(&id)) {
                    if i.op() == Op::Phi || i.is_terminator() {
                        return malformed(format!("a probe says where memory is in Op{:?}", i.op()));
                    }
                    for n in 0..i.inst.operands.len() {
                        if let Some(of) = i.id_at(n).and_then(|id| instead.get(&id)).copied() {
                            i.inst.operands[n] = Operand::IdRef(loads(s, of, &mut new));
                        }
                    }
                }
                new.push(i);
            }
            s.module.functions[f].blocks[b].body = new;
        }
    }
    Ok(())
}

/// The constants that say where memory is, those made of them included.
fn constants(s: &Shader, places: &[Where]) -> Result<HashMap<u32, Instead>> {
    let mut instead = HashMap::new();
    for &(first, name) in places {
        let Some(variable) = s.imported.shared(name) else {
            return malformed(format!("the library has no {name}"));
        };
        for n in 0..2 {
            if let Some(id) = s.imported.constant(FIRST_SPEC_ID + first + n) {
                instead.insert(id, Instead { variable, word: Some(n) });
            }
        }
    }
    let words: HashSet<u32> = instead.keys().copied().collect();
    for g in s.module.globals.iter().filter(|g| g.ids().any(|id| words.contains(&id))) {
        let of: Vec<Option<&Instead>> =
            (0..g.inst.operands.len()).map(|n| g.id_at(n).and_then(|id| instead.get(&id))).collect();
        match (g.op(), &of[..]) {
            (Op::SpecConstantComposite, [Some(low), Some(high)])
                if low.variable == high.variable && (low.word, high.word) == (Some(0), Some(1)) =>
            {
                let both = Instead { variable: low.variable, word: None };
                instead.insert(g.id().unwrap_or(0), both);
            }
            (op, _) => return malformed(format!("a probe makes an Op{op:?} of where memory is")),
        }
    }
    Ok(instead)
}

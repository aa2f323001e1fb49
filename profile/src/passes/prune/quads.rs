//! Blocks of a fragment shader that only helper invocations may have come by, and from which these may be seen.
//!
//! Guarantees: a block that is not named here is not left, by whatever way, towards an instruction that was executed and looks
//! at other invocations of a quad or a subgroup: what happens in it stays in its invocation. Calls count, what comes behind
//! them included.

use crate::rewrite::Shader;
use crate::spirv::{Block, Cfg, Function, Inst, Module, Op, Result};
use std::collections::{HashMap, HashSet};

/// The blocks that were not executed and are to stay, by function and label; `ran` is asked for both.
pub fn seen(shader: &Shader, ran: &dyn Fn(u32, u32) -> bool) -> Result<HashSet<(u32, u32)>> {
    let original = shader.original.clone();
    let quads = Quads::new(&original, shader.entry.function, ran)?;
    let mut out = HashSet::new();
    for (n, &f) in quads.functions.iter().enumerate() {
        let function = &original.functions[f];
        for (b, block) in function.blocks.iter().enumerate() {
            let reached = quads.graphs[n].reached[b];
            if reached && !ran(function.id(), block.label) && quads.ahead[n][b] {
                out.insert((function.id(), block.label));
            }
        }
    }
    Ok(out)
}

struct Quads {
    /// Functions that are reached.
    functions: Vec<usize>,
    graphs: Vec<Cfg>,
    /// Of each of them the blocks in which something that was executed looks at neighbours, callees included.
    looks: Vec<Vec<bool>>,
    /// The blocks behind which something does.
    ahead: Vec<Vec<bool>>,
}

impl Quads {
    fn new(module: &Module, entry: u32, ran: &dyn Fn(u32, u32) -> bool) -> Result<Self> {
        let functions = module.reachable(entry);
        let graphs: Vec<Cfg> =
            functions.iter().map(|f| Cfg::new(&module.functions[*f])).collect::<Result<_>>()?;
        let number: HashMap<u32, usize> =
            functions.iter().enumerate().map(|(n, f)| (module.functions[*f].id(), n)).collect();
        let all = |of: &dyn Fn(&Function, &Block) -> bool| -> Vec<Vec<bool>> {
            let one = |f: &usize| {
                let function = &module.functions[*f];
                function.blocks.iter().map(|b| of(function, b)).collect()
            };
            functions.iter().map(one).collect()
        };
        let looks = all(&|f, b| ran(f.id(), b.label) && b.body.iter().any(looks));
        let ahead = all(&|_, _| false);
        // (caller, its block, callee)
        let mut calls: Vec<(usize, usize, usize)> = vec![];
        for (n, f) in functions.iter().enumerate() {
            for (b, block) in module.functions[*f].blocks.iter().enumerate() {
                let called = |i: &Inst| number.get(&i.id_at(0)?).map(|c| (n, b, *c));
                calls.extend(block.body.iter().filter(|i| i.op() == Op::FunctionCall).filter_map(called));
            }
        }
        let mut quads = Quads { functions, graphs, looks, ahead };
        let mut behind = vec![false; quads.functions.len()];
        // Until nothing more comes of it: what calls something that looks does so too; what is called before something looks is
        // before it.
        loop {
            let mut more = false;
            for &(caller, b, callee) in &calls {
                let f = &module.functions[quads.functions[caller]];
                if ran(f.id(), f.blocks[b].label) && quads.looks[callee].contains(&true) {
                    more |= !std::mem::replace(&mut quads.looks[caller][b], true);
                }
            }
            for (n, behind) in behind.iter().enumerate() {
                more |= quads.spread(&module.functions[quads.functions[n]], n, *behind);
            }
            for &(caller, b, callee) in &calls {
                // (what looks in the block before the call counts as well)
                if quads.looks[caller][b] || quads.ahead[caller][b] {
                    more |= !std::mem::replace(&mut behind[callee], true);
                }
            }
            if !more {
                return Ok(quads);
            }
        }
    }

    /// Goes from the blocks in which something looks, and from the function's ends if something does behind these, to those before.
    fn spread(&mut self, function: &Function, n: usize, behind: bool) -> bool {
        let ends = |b: usize| behind && matches!(function.blocks[b].end().op(), Op::Return | Op::ReturnValue);
        let mut more = false;
        let mut next: Vec<usize> = vec![];
        for b in 0..function.blocks.len() {
            if ends(b) {
                more |= !std::mem::replace(&mut self.ahead[n][b], true);
            }
            if self.looks[n][b] || self.ahead[n][b] {
                next.push(b);
            }
        }
        while let Some(b) = next.pop() {
            for &before in &self.graphs[n].graph.pred[b] {
                if !std::mem::replace(&mut self.ahead[n][before], true) {
                    more = true;
                    next.push(before);
                }
            }
        }
        more
    }
}

/// Whether an instruction gives what other invocations brought.
fn looks(i: &Inst) -> bool {
    let op = format!("{:?}", i.op());
    op.starts_with("DPd")
        || op.starts_with("Fwidth")
        || op.starts_with("GroupNonUniform")
        || op.starts_with("Subgroup")
        || op.contains("ImplicitLod")
        || op == "ImageQueryLod"
}

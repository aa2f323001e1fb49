//! Which blocks an invocation may come by more than once, and which blocks a subgroup comes by together.

use super::facts::BlockFacts;
use super::shader::Shader;
use crate::spirv::{Inst, Op};
use std::collections::{HashMap, HashSet};

impl Shader {
    /// The application's own calls in blocks that are reached: caller, the caller's block, callee, by the facts' indices.
    pub fn calls(&self) -> Vec<(usize, usize, usize)> {
        let functions = &self.facts.functions;
        let index: HashMap<u32, usize> = functions.iter().enumerate().map(|(n, f)| (f.id, n)).collect();
        let mut calls = Vec::new();
        for (n, facts) in functions.iter().enumerate() {
            let reached = facts.blocks.iter().enumerate().filter(|b| b.1.reached);
            let at: HashMap<u32, usize> = reached.map(|(b, f)| (f.label, b)).collect();
            for block in &self.module.functions[self.function(n as u32)].blocks {
                let Some(&b) = at.get(&block.label) else { continue };
                let called = block.body.iter().filter(|i| i.at.is_some() && i.op() == Op::FunctionCall);
                calls.extend(called.filter_map(|i| Some((n, b, *index.get(&i.id_at(0)?)?))));
            }
        }
        calls
    }

    /// For each function of the facts, whether one entry of the entry point may enter it more than once.
    pub fn entered_again(&self) -> Vec<bool> {
        let functions = &self.facts.functions;
        let calls = self.calls();
        let mut again = vec![false; functions.len()];
        let mut called = HashSet::new();
        for &(caller, block, callee) in &calls {
            let in_loop = functions[caller].blocks[block].depth > 0;
            again[callee] |= in_loop || !called.insert(callee);
        }
        // SPIR-V for shaders has no recursion: so many times are enough.
        for _ in 0..again.len() {
            for &(caller, _, callee) in &calls {
                again[callee] |= again[caller];
            }
        }
        again
    }

    /// For each block of a function of the facts, the first of those that the subgroup comes by together with it: see
    /// [`leaders`]. A call, a barrier and whatever else may part a subgroup or put it together anew ends such a row.
    pub fn come_by_together(&self, function: u32) -> Vec<u32> {
        let facts = &self.facts.functions[function as usize];
        if self.stage.is_ray_tracing() {
            return (0..facts.blocks.len() as u32).collect();
        }
        let f = &self.module.functions[self.function(function)];
        let parting = |b: &&crate::spirv::Block| b.body.iter().any(|i| i.at.is_some() && parts(i));
        let parted: HashSet<u32> = f.blocks.iter().filter(parting).map(|b| b.label).collect();
        leaders(&facts.blocks, |b| parted.contains(&facts.blocks[b].label))
    }
}

/// For each block, the first of the row that it belongs to: a block is the rest of the one before it if only that one
/// leads there, and leads nowhere else. Invocations that branch together without a condition come by together, unless
/// something in the block before parts them.
pub fn leaders(blocks: &[BlockFacts], parts: impl Fn(usize) -> bool) -> Vec<u32> {
    let mut before = vec![Vec::new(); blocks.len()];
    for (b, block) in blocks.iter().enumerate().filter(|b| b.1.reached) {
        block.successors.iter().for_each(|&s| before[s as usize].push(b));
    }
    let mut leaders: Vec<u32> = (0..blocks.len() as u32).collect();
    // A block comes after its dominators, so what leads to it alone has its leader by then.
    for b in 0..blocks.len() {
        if let [p] = before[b][..]
            && p < b
            && blocks[p].successors.len() == 1
            && !parts(p)
        {
            leaders[b] = leaders[p];
        }
    }
    leaders
}

/// Whether a subgroup may not be the same behind an instruction.
pub fn parts(i: &Inst) -> bool {
    let name = || format!("{:?}", i.op());
    match i.op() {
        Op::FunctionCall
        | Op::ControlBarrier
        | Op::DemoteToHelperInvocation
        | Op::BeginInvocationInterlockEXT
        | Op::EndInvocationInterlockEXT => true,
        _ => ["RayQuery", "HitObject", "Reorder", "ExecuteCallable", "Trace"]
            .iter()
            .any(|n| name().starts_with(n)),
    }
}

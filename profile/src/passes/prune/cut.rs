//! Taking away what was never executed, with the structure kept.
//!
//! Guarantees: every choice keeps its merge instruction, every loop its header, its merge and its continue construct with the
//! one branch back. OpPhi names the blocks that still lead there; a value that is gone and still named is undefined.

use crate::rewrite::Shader;
use crate::spirv::{Block, Cfg, Function, Inst, Op, Operand, Result};
use std::collections::{HashMap, HashSet};

/// How much was taken away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gone {
    /// Blocks that do nothing now, or are gone.
    pub blocks: usize,
    /// Of how many.
    pub of: usize,
}

/// Cuts every function that the entry point reaches and that ran; `ran` is asked for a function and a block's label.
pub fn cut(shader: &mut Shader, ran: &dyn Fn(u32, u32) -> bool) -> Result<Gone> {
    let mut gone = Gone::default();
    let originals: Vec<(u32, Vec<u32>)> = shader
        .facts
        .functions
        .iter()
        .map(|f| (f.id, f.blocks.iter().filter(|b| b.reached).map(|b| b.label).collect()))
        .collect();
    for (id, labels) in originals {
        gone.of += labels.len();
        let entered = labels.first().is_some_and(|l| ran(id, *l));
        let dead: HashSet<u32> = labels.into_iter().filter(|l| entered && !ran(id, *l)).collect();
        if dead.is_empty() {
            continue;
        }
        let Some(at) = shader.module.function(id) else { continue };
        gone.blocks += function(shader, at, &dead)?;
    }
    Ok(gone)
}

/// Cuts one function; how many of its blocks do nothing any more.
fn function(shader: &mut Shader, at: usize, never: &HashSet<u32>) -> Result<usize> {
    let f = &shader.module.functions[at];
    let cfg = Cfg::new(f)?;
    let mut dead: Vec<bool> = f.blocks.iter().map(|b| never.contains(&b.label)).collect();
    // What lies behind such a block alone was never executed either: what passes put there has no count.
    for (b, dead_now) in dead.clone().into_iter().enumerate() {
        if !dead_now {
            dead[b] = (0..dead.len()).any(|a| never.contains(&f.blocks[a].label) && cfg.dominates(a, b));
        }
    }
    let emptied = emptied(f, &cfg, &dead);
    let count = emptied.iter().filter(|e| **e).count();
    let (truth, lie) = (shader.types.truth(&mut shader.module), lie(shader));
    let mut f = shader.module.functions[at].clone();
    let of_label: HashMap<u32, usize> = f.blocks.iter().enumerate().map(|(i, b)| (b.label, i)).collect();
    let is_dead = |label: u32| of_label.get(&label).is_some_and(|b| dead[*b]);
    for (b, block) in f.blocks.iter_mut().enumerate() {
        if emptied[b] {
            block.body = vec![Inst::new(Op::Unreachable, None, None, vec![])];
        } else if !dead[b] && cfg.reached[b] {
            choose(block, &is_dead, truth, lie);
        }
    }
    sweep(&mut f);
    let old = std::mem::replace(&mut shader.module.functions[at], f);
    forget(shader, at, &old);
    Ok(count)
}

fn lie(shader: &mut Shader) -> u32 {
    let ty = shader.types.bool(&mut shader.module);
    shader.types.get(&mut shader.module, Op::ConstantFalse, Some(ty), vec![])
}

/// Dead blocks that may be emptied: not those of continue constructs of loops that stay.
fn emptied(f: &Function, cfg: &Cfg, dead: &[bool]) -> Vec<bool> {
    let mut out = dead.to_vec();
    for (header, block) in f.blocks.iter().enumerate() {
        let Some(m) = block.merge().filter(|m| m.op() == Op::LoopMerge && !dead[header]) else { continue };
        let (Some(merge), Some(first)) =
            (m.id_at(0).and_then(|l| cfg.block(l)), m.id_at(1).and_then(|l| cfg.block(l)))
        else {
            continue;
        };
        for (b, out) in out.iter_mut().enumerate() {
            let inside = b == first || (cfg.dominates(first, b) && !cfg.dominates(merge, b));
            if inside && b != merge {
                *out = false;
            }
        }
    }
    out
}

/// A choice that was always made one way is made that way; cases that were never taken are no cases.
fn choose(block: &mut Block, is_dead: &dyn Fn(u32) -> bool, truth: u32, lie: u32) {
    let Some(end) = block.body.last_mut() else { return };
    match end.op() {
        Op::BranchConditional => {
            let [Some(yes), Some(no)] = [1, 2].map(|n| end.id_at(n)) else { return };
            let constant = match (is_dead(yes), is_dead(no)) {
                (false, true) => truth,
                (true, false) => lie,
                _ => return,
            };
            end.inst.operands[0] = Operand::IdRef(constant);
        }
        Op::Switch => {
            let cases: Vec<[Operand; 2]> = end.inst.operands[2..]
                .chunks_exact(2)
                .map(|c| [c[0].clone(), c[1].clone()])
                .filter(|c| c[1].id_ref_any().is_some_and(|l| !is_dead(l)))
                .collect();
            let default = end.id_at(1).unwrap_or(0);
            // Where the default was never taken, any other may be it.
            let new = match cases.last() {
                Some(last) if is_dead(default) => last[1].clone(),
                _ => Operand::IdRef(default),
            };
            if cases.is_empty() && is_dead(default) {
                return;
            }
            let mut operands = vec![end.inst.operands[0].clone(), new.clone()];
            operands.extend(cases.into_iter().filter(|c| c[1] != new).flatten());
            end.inst.operands = operands;
        }
        _ => {}
    }
}

/// Takes blocks away that nothing names any more, and puts OpPhi right.
fn sweep(f: &mut Function) {
    let of_label: HashMap<u32, usize> = f.blocks.iter().enumerate().map(|(i, b)| (b.label, i)).collect();
    let mut kept = vec![false; f.blocks.len()];
    let mut next = vec![0];
    while let Some(b) = next.pop() {
        if std::mem::replace(&mut kept[b], true) {
            continue;
        }
        let block = &f.blocks[b];
        let merge = block.merge().into_iter().flat_map(Inst::ids).collect::<Vec<_>>();
        next.extend(block.end().ids().chain(merge).filter_map(|id| of_label.get(&id).copied()));
    }
    let mut at = 0;
    f.blocks.retain(|_| {
        at += 1;
        kept[at - 1]
    });
    let mut from: HashMap<u32, HashSet<u32>> = HashMap::new();
    for b in &f.blocks {
        for to in b.end().ids() {
            from.entry(to).or_default().insert(b.label);
        }
    }
    for b in &mut f.blocks {
        let none = HashSet::new();
        let from = from.get(&b.label).unwrap_or(&none);
        for i in b.body.iter_mut().filter(|i| i.op() == Op::Phi) {
            let pairs = i.inst.operands.chunks_exact(2);
            let stays = pairs.filter(|p| p[1].id_ref_any().is_some_and(|l| from.contains(&l)));
            i.inst.operands = stays.flatten().cloned().collect();
        }
    }
}

/// Names and decorations of what is gone go; values of it that are still named are undefined.
fn forget(shader: &mut Shader, at: usize, old: &Function) {
    let ids = |f: &Function| -> HashSet<u32> {
        f.insts().filter_map(Inst::id).chain(f.blocks.iter().map(|b| b.label)).collect()
    };
    let now = ids(&shader.module.functions[at]);
    let gone: HashSet<u32> = ids(old).difference(&now).copied().collect();
    let named: HashSet<u32> = shader.module.functions[at].insts().flat_map(Inst::ids).collect();
    let mut instead = HashMap::new();
    for i in old.insts().filter(|i| i.id().is_some_and(|id| gone.contains(&id) && named.contains(&id))) {
        let undefined = shader.module.fresh();
        shader.module.globals.push(Inst::new(Op::Undef, i.inst.result_type, Some(undefined), vec![]));
        instead.insert(i.id().unwrap_or(0), undefined);
    }
    for i in shader.module.functions[at].blocks.iter_mut().flat_map(|b| &mut b.body) {
        for o in &mut i.inst.operands {
            if let Operand::IdRef(id) = o
                && let Some(new) = instead.get(id)
            {
                *id = *new;
            }
        }
    }
    for section in [&mut shader.module.names, &mut shader.module.annotations] {
        section.retain(|i| i.id_at(0).is_none_or(|id| !gone.contains(&id)));
    }
}

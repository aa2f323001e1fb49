//! What divergent control flow does to the blocks of a function: where lanes meet again that came different ways, and
//! which loops they leave in different iterations.
//!
//! A *source* is a block whose branch not all lanes take alike, or a loop that they leave by different ways or in different
//! iterations (its exits are then the ways). From a source two lanes may come to a block by paths that share no block on the way: there
//! OpPhi may differ (sync dependence). By Menger's theorem these blocks are the children of the source in the dominator
//! tree of what it reaches. Each source is looked at within one iteration of the innermost loop around it; if its ways
//! part for good there, some to the next iteration and some out, or out by different exits, that loop is a source itself.
//!
//! Lanes count as together only in the same iteration of every loop around them: they wait where their ways meet, as
//! maximal reconvergence says and drivers do. A loop is what structured control flow says it is.

use crate::limits;
use crate::spirv::{Cfg, Function, Graph, Loop, Op, Result, malformed};
use std::collections::HashSet;

/// A function's control flow, ready to be asked.
pub(super) struct Flow {
    pub cfg: Cfg,
    pub loops: Vec<Loop>,
    /// The loop right around each loop.
    outer: Vec<Option<usize>>,
    /// The innermost loop of each block.
    pub innermost: Vec<Option<usize>>,
    /// The blocks of each loop.
    inside: Vec<Vec<bool>>,
    /// Blocks that do nothing but end the invocation.
    gone: Vec<bool>,
    /// Blocks that return, and are not `gone`.
    returns: Vec<bool>,
    /// It has a cycle that is no loop.
    pub irreducible: bool,
}

/// What lanes may part at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Source {
    /// A block's terminator.
    Block(usize),
    /// A loop's exits.
    Loop(usize),
}

/// What a source does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Effect {
    /// Blocks that lanes come to by different ways.
    pub joins: Vec<usize>,
    /// They come to the function's end by different ways.
    pub joins_at_end: bool,
    /// Blocks that some lanes execute and others do not, or not as often.
    pub touched: Vec<usize>,
    /// The loop that they leave by different ways, and whether in different iterations.
    pub leaves: Option<(usize, bool)>,
}

/// Whether a block only ends the invocation. In the entry point's function a return does.
fn ends_the_invocation(f: &Function, block: usize, entry: bool) -> bool {
    let idle = |i: &crate::spirv::Inst| matches!(i.op(), Op::Line | Op::NoLine | Op::Nop);
    let b = &f.blocks[block];
    let last = match b.end().op() {
        Op::Kill
        | Op::TerminateInvocation
        | Op::Unreachable
        | Op::IgnoreIntersectionKHR
        | Op::TerminateRayKHR => true,
        Op::Return => entry,
        _ => false,
    };
    last && b.body[..b.body.len() - 1].iter().all(idle)
}

/// The blocks of a loop: those that its header dominates and its merge block does not, so that what is done in an
/// iteration before the loop is left belongs to it. Without a merge instruction, the natural loop.
fn construct(f: &Function, cfg: &Cfg, l: &Loop) -> Vec<bool> {
    let mut inside = vec![false; cfg.graph.len()];
    l.nodes.iter().for_each(|&b| inside[b] = true);
    let merge = f.blocks[l.header].merge().filter(|m| m.op() == Op::LoopMerge).and_then(|m| m.id_at(0));
    if let Some(merge) = merge.and_then(|label| cfg.block(label)) {
        for (b, inside) in inside.iter_mut().enumerate().filter(|b| cfg.reached[b.0]) {
            *inside |= cfg.dominates(l.header, b) && !cfg.dominates(merge, b);
        }
    }
    inside
}

impl Flow {
    /// Of a function. `entry` if it is the entry point's own.
    pub fn new(f: &Function, entry: bool) -> Result<Self> {
        let cfg = Cfg::new(f)?;
        let n = cfg.graph.len();
        let loops = if n == 0 { vec![] } else { cfg.graph.loops(0) };
        if loops.len().saturating_mul(n) > limits::MOST_LOOPS_TIMES_BLOCKS {
            let (id, loops) = (f.id(), loops.len());
            return malformed(format!(
                "function {id} has {loops} loops and {n} blocks: more than are followed"
            ));
        }
        let inside: Vec<Vec<bool>> = loops.iter().map(|l| construct(f, &cfg, l)).collect();
        let size = |l: usize| inside[l].iter().filter(|&&b| b).count();
        let smallest =
            |of: &dyn Fn(usize) -> bool| (0..loops.len()).filter(|&l| of(l)).min_by_key(|&l| size(l));
        let innermost = (0..n).map(|b| smallest(&|l| inside[l][b])).collect();
        let outer = (0..loops.len()).map(|k| smallest(&|l| l != k && inside[l][loops[k].header])).collect();
        let mut gone: Vec<bool> =
            (0..n).map(|b| cfg.reached[b] && ends_the_invocation(f, b, entry)).collect();
        // Structured control flow may need blocks that only lead there.
        for &b in if n == 0 { vec![] } else { cfg.graph.order(0) }.iter().rev() {
            let idle = |i: &crate::spirv::Inst| {
                matches!(i.op(), Op::Line | Op::NoLine | Op::Nop | Op::SelectionMerge | Op::Branch)
            };
            let succ = &cfg.graph.succ[b];
            if !succ.is_empty() && succ.iter().all(|&s| gone[s]) && f.blocks[b].body.iter().all(idle) {
                gone[b] = true;
            }
        }
        let returns = (0..n)
            .map(|b| !gone[b] && matches!(f.blocks[b].end().op(), Op::Return | Op::ReturnValue))
            .collect();
        let mut rank = vec![usize::MAX; n];
        if n != 0 {
            cfg.graph.order(0).into_iter().enumerate().for_each(|(i, b)| rank[b] = i);
        }
        let retreats = |e: &crate::spirv::Edge| rank[e.to] <= rank[e.from] && !cfg.dominates(e.to, e.from);
        let irreducible = cfg.edges.iter().any(retreats);
        Ok(Flow { loops, outer, innermost, inside, gone, returns, irreducible, cfg })
    }

    /// Whether a block is in a loop.
    pub fn is_inside(&self, of: usize, block: usize) -> bool {
        self.inside[of][block]
    }

    /// Whether a block does nothing but end the invocation, or leads to nothing else.
    pub fn ends(&self, block: usize) -> bool {
        self.gone[block]
    }

    /// What a source does if lanes part there.
    pub fn effect(&self, source: Source) -> Effect {
        let n = self.cfg.graph.len();
        let own = |b: usize| match source {
            Source::Block(x) => b == x,
            Source::Loop(l) => self.inside[l][b],
        };
        let around = match source {
            Source::Block(x) => self.innermost[x],
            Source::Loop(l) => self.outer[l],
        };
        let (back, exit, end_of_function, end, root) = (n, n + 1, n + 2, n + 3, n + 4);
        let to = |s: usize| match around {
            _ if self.gone[s] => None,
            Some(l) if s == self.loops[l].header => Some(back),
            Some(l) if !self.inside[l][s] => Some(exit),
            _ => Some(s),
        };
        let mut edges = vec![(back, end), (exit, end), (end_of_function, end)];
        let mut ways = HashSet::new();
        for b in (0..n).filter(|&b| self.cfg.reached[b] && !self.gone[b]) {
            if around.is_some_and(|l| !self.inside[l][b]) {
                continue;
            }
            for &s in &self.cfg.graph.succ[b] {
                match to(s) {
                    Some(t) if !own(b) => edges.push((b, t)),
                    // A way is a node of its own, so that what only it leads to is no child of the root.
                    Some(t) if (!own(s) || matches!(source, Source::Block(_))) && ways.insert((b, s)) => {
                        let way = root + ways.len();
                        edges.extend([(root, way), (way, t)]);
                    }
                    _ => {}
                }
            }
            let out = if around.is_some() { exit } else { end_of_function };
            match source {
                _ if !self.returns[b] => {}
                Source::Loop(_) if own(b) => {
                    ways.insert((b, n));
                    let way = root + ways.len();
                    edges.extend([(root, way), (way, out)]);
                }
                _ => edges.push((b, out)),
            }
        }
        let graph = Graph::new(root + ways.len() + 1, edges);
        let idom = graph.dominators(root);
        let is_join = |v: usize| idom[v] == Some(root);
        let mut joins: Vec<usize> = (0..n).filter(|&b| is_join(b)).collect();
        if is_join(back) {
            joins.extend(around.map(|l| self.loops[l].header));
        }
        let in_other_iterations = is_join(end) && idom[exit].is_some();
        let leaves = around
            .filter(|_| in_other_iterations || is_join(exit))
            .map(|l| (l, in_other_iterations && idom[back].is_some()));
        // What all pass before this iteration, or the function, is over is executed by all.
        let mut passed = vec![false; graph.len()];
        let mut up = end;
        while let Some(next) = idom[up].filter(|&next| next != up) {
            passed[up] = true;
            up = next;
        }
        let mut touched: Vec<usize> = (0..n).filter(|&b| idom[b].is_some() && !passed[b]).collect();
        if let Source::Loop(l) = source {
            touched.extend((0..n).filter(|&b| self.inside[l][b]));
        }
        Effect { joins, joins_at_end: is_join(end_of_function), touched, leaves }
    }
}

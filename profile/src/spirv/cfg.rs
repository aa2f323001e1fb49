//! A function's control flow: its blocks as a [`Graph`], and what the structure says about its edges.
//!
//! Refuses branches to labels that the function does not have, and functions of more than [`limits::MOST_BLOCKS`] blocks.

use super::graph::Tree;
use super::{Function, Graph, Op, Result, malformed};
use crate::limits;
use std::collections::HashMap;

/// What an edge is in structured control flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeKind {
    /// OpBranch.
    Always,
    /// One of two or more ways.
    Choice,
    /// Back to the header of a loop.
    Back,
}

/// An edge of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The block that it leaves.
    pub from: usize,
    /// The block that it enters.
    pub to: usize,
    /// What it is.
    pub kind: EdgeKind,
    /// A block may be put on it. Not where a switch's case is also fallen into from another (the new block would be
    /// the case, and the old one would belong to none), and not where a choice needs no merge instruction because it
    /// leaves a loop (with the new block it would). There, what is to happen on the edge happens before the branch,
    /// under its condition.
    pub splits: bool,
}

/// See the module's header.
#[derive(Clone, Debug)]
pub struct Cfg {
    /// Blocks as nodes, in the function's order.
    pub graph: Graph,
    /// Every edge, once.
    pub edges: Vec<Edge>,
    /// Blocks that the entry reaches.
    pub reached: Vec<bool>,
    /// Immediate dominators.
    pub dominators: Vec<Option<usize>>,
    /// Immediate post-dominators; the number of blocks stands for the exit.
    pub post_dominators: Vec<Option<usize>>,
    labels: HashMap<u32, usize>,
    over: Tree,
    after: Tree,
}

/// The labels that a terminator may go to.
pub(crate) fn targets(end: &super::Inst) -> Vec<u32> {
    let from = match end.op() {
        Op::Branch => 0..1,
        Op::BranchConditional => 1..3,
        // Selector, default, then pairs of a literal and a label.
        Op::Switch => 1..end.inst.operands.len(),
        _ => 0..0,
    };
    from.filter_map(|i| match &end.inst.operands[i] {
        super::Operand::IdRef(id) => Some(*id),
        _ => None,
    })
    .collect()
}

impl Cfg {
    /// A function's control flow.
    pub fn new(f: &Function) -> Result<Self> {
        if f.blocks.len() > limits::MOST_BLOCKS {
            let (n, most) = (f.blocks.len(), limits::MOST_BLOCKS);
            return malformed(format!("function {} has {n} blocks: at most {most} are followed", f.id()));
        }
        let labels: HashMap<u32, usize> = f.blocks.iter().enumerate().map(|(i, b)| (b.label, i)).collect();
        let mut pairs = Vec::new();
        for (i, b) in f.blocks.iter().enumerate() {
            for t in targets(b.end()) {
                match labels.get(&t) {
                    Some(&to) => pairs.push((i, to)),
                    None => {
                        return malformed(format!(
                            "function {}: a branch to {t}, which is no label of it",
                            f.id()
                        ));
                    }
                }
            }
        }
        let graph = Graph::new(f.blocks.len(), pairs);
        let (dominators, post_dominators) =
            if graph.is_empty() { (vec![], vec![]) } else { (graph.dominators(0), graph.post_dominators(0)) };
        let reached: Vec<bool> = dominators.iter().map(Option::is_some).collect();
        let (over, after) = (Tree::new(&dominators), Tree::new(&post_dominators));
        let mut edges = Vec::new();
        for (from, succ) in graph.succ.iter().enumerate().filter(|(n, _)| reached[*n]) {
            let switch = f.blocks[from].end().op() == Op::Switch;
            let merge = f.blocks[from].merge().and_then(|m| m.id_at(0)).and_then(|m| labels.get(&m).copied());
            for &to in succ {
                let kind = if over.over(to, from) {
                    EdgeKind::Back
                } else if succ.len() == 1 {
                    EdgeKind::Always
                } else {
                    EdgeKind::Choice
                };
                let fallen_into = switch && merge != Some(to) && graph.pred[to].len() > 1;
                let leaves = succ.len() > 1 && f.blocks[from].merge().is_none();
                edges.push(Edge { from, to, kind, splits: !fallen_into && !leaves });
            }
        }
        Ok(Cfg { graph, edges, reached, dominators, post_dominators, labels, over, after })
    }

    /// The block with this label.
    pub fn block(&self, label: u32) -> Option<usize> {
        self.labels.get(&label).copied()
    }

    /// Whether block `a` dominates block `b`.
    pub fn dominates(&self, a: usize, b: usize) -> bool {
        self.over.over(a, b)
    }

    /// Whether block `a` is on every way from `b` to the function's end.
    pub fn post_dominates(&self, a: usize, b: usize) -> bool {
        self.after.over(a, b)
    }
}

//! Putting instructions into a function: at places, or in a block of their own on an edge.
//!
//! Guarantees: what dominated what before still does; structured control flow stays structured; OpPhi names the block
//! that now leads there. Nothing is ever put before OpPhi, OpVariable, or between a merge instruction and its branch.

use super::{Block, Function, Inst, Module, Op, Operand};

/// Between two instructions of a block: before the one with this index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The block.
    pub block: usize,
    /// The instruction that is to come after.
    pub before: usize,
}

impl Place {
    /// Where a block begins: behind its OpPhi and OpVariable.
    pub fn begin(f: &Function, block: usize) -> Self {
        let body = &f.blocks[block].body;
        let last =
            body.iter().rposition(|i| matches!(i.op(), Op::Phi | Op::Variable | Op::UntypedVariableKHR));
        Place { block, before: last.map_or(0, |i| i + 1) }
    }

    /// Where a block ends: before its terminator, and before the merge instruction that belongs to it.
    pub fn end(f: &Function, block: usize) -> Self {
        let b = &f.blocks[block];
        let mut before = b.body.len() - if b.merge().is_some() { 2 } else { 1 };
        // Lines that belong to the terminator stay with it.
        while before > 0 && matches!(b.body[before - 1].op(), Op::Line | Op::NoLine) {
            before -= 1;
        }
        Place { block, before: before.max(Place::begin(f, block).before) }
    }
}

impl Function {
    /// Puts instructions in at many places at once. Places speak of the function as it is now; of those at one place
    /// the first comes first.
    pub fn insert(&mut self, mut what: Vec<(Place, Vec<Inst>)>) {
        what.sort_by_key(|w| w.0);
        let mut rest = what.into_iter().peekable();
        while let Some((Place { block, before }, insts)) = rest.next() {
            if rest.peek().is_none_or(|w| w.0.block != block) {
                debug_assert!(before < self.blocks[block].body.len(), "a place behind the terminator");
                self.blocks[block].body.splice(before..before, insts);
                continue;
            }
            // Several in one block: once through it.
            let mut first = Some((before, insts));
            let old = std::mem::take(&mut self.blocks[block].body);
            let mut new = Vec::with_capacity(old.len() + 8);
            for (i, inst) in old.into_iter().enumerate() {
                if let Some((_, insts)) = first.take_if(|f| f.0 == i) {
                    new.extend(insts);
                }
                while let Some((_, insts)) = rest.next_if(|w| w.0 == Place { block, before: i }) {
                    new.extend(insts);
                }
                new.push(inst);
            }
            debug_assert!(rest.peek().is_none_or(|w| w.0.block != block), "a place behind the terminator");
            self.blocks[block].body = new;
        }
    }

    /// Leads the edge from one block to another over a new block with this label and body, which has yet to be put
    /// behind the first.
    fn split_edge(&mut self, label: u32, from: usize, to: usize, mut body: Vec<Inst>) -> Block {
        let (source, target) = (self.blocks[from].label, self.blocks[to].label);
        let end = self.blocks[from].body.last_mut().expect("a block has its terminator");
        let first = if end.op() == Op::Branch { 0 } else { 1 };
        for o in &mut end.inst.operands[first..] {
            if *o == Operand::IdRef(target) {
                *o = Operand::IdRef(label);
            }
        }
        // Only lines may stand between OpPhi.
        let head = |i: &&mut Inst| matches!(i.op(), Op::Phi | Op::Line | Op::NoLine);
        for i in self.blocks[to].body.iter_mut().take_while(head).filter(|i| i.op() == Op::Phi) {
            // Pairs of a value and the block that it comes from.
            for pair in i.inst.operands.chunks_exact_mut(2) {
                if pair[1] == Operand::IdRef(source) {
                    pair[1] = Operand::IdRef(label);
                }
            }
        }
        body.push(Inst::new(Op::Branch, None, None, vec![Operand::IdRef(target)]));
        Block { label, at: None, lines: vec![], body }
    }
}

impl Module {
    /// Puts blocks on edges of a function: (from, to, body), in terms of the function as it is now. Indices of blocks
    /// behind move up.
    pub fn split_edges(&mut self, function: usize, mut edges: Vec<(usize, usize, Vec<Inst>)>) {
        edges.sort_by_key(|e| std::cmp::Reverse(e.0));
        let mut new = Vec::with_capacity(edges.len());
        for (from, to, body) in edges {
            let fresh = self.fresh();
            new.push((from, self.functions[function].split_edge(fresh, from, to, body)));
        }
        // Behind the block that they come from, the last one made first.
        let blocks = &mut self.functions[function].blocks;
        let old = std::mem::replace(blocks, Vec::with_capacity(blocks.len() + new.len()));
        for (i, block) in old.into_iter().enumerate() {
            blocks.push(block);
            while new.last().is_some_and(|n| n.0 == i) {
                blocks.extend(new.pop().map(|n| n.1));
            }
        }
    }
}

//! What is true of any control-flow graph: order, dominators, post-dominators, loops.
//!
//! Nodes are numbers from 0, the entry is 0. Dominators by Cooper, Harvey and Kennedy, "A Simple, Fast Dominance
//! Algorithm" (2001). Post-dominators stand on a graph with one more node, the exit, that every node without a
//! successor leads to, and one node of every cycle that has no way out (there is no other place to put it; such a cycle
//! never ends). Unreachable nodes have no dominator, no depth, and are in no loop.

/// A graph with its successors and predecessors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// Where each node leads; a target that appears twice is in here once.
    pub succ: Vec<Vec<usize>>,
    /// Where each node is reached from.
    pub pred: Vec<Vec<usize>>,
}

/// A natural loop: a header that dominates the sources of its back edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Its header.
    pub header: usize,
    /// Its nodes, sorted, the header among them.
    pub nodes: Vec<usize>,
    /// Sources of its back edges.
    pub latches: Vec<usize>,
}

impl Graph {
    /// A graph from its edges.
    pub fn new(nodes: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut g = Graph { succ: vec![vec![]; nodes], pred: vec![vec![]; nodes] };
        for (a, b) in edges {
            if !g.succ[a].contains(&b) {
                g.succ[a].push(b);
                g.pred[b].push(a);
            }
        }
        g
    }

    /// How many nodes it has.
    pub fn len(&self) -> usize {
        self.succ.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.succ.is_empty()
    }

    /// The reachable nodes in reverse post-order: a node before everything it dominates.
    pub fn order(&self, from: usize) -> Vec<usize> {
        let mut seen = vec![false; self.len()];
        let mut out = Vec::with_capacity(self.len());
        let mut stack = vec![(from, 0)];
        seen[from] = true;
        while let Some((n, i)) = stack.last_mut() {
            if let Some(&s) = self.succ[*n].get(*i) {
                *i += 1;
                if !seen[s] {
                    seen[s] = true;
                    stack.push((s, 0));
                }
            } else {
                out.push(*n);
                stack.pop();
            }
        }
        out.reverse();
        out
    }

    /// Marks every node that is reached from one.
    fn mark(&self, from: usize, marked: &mut [bool]) {
        let mut stack = vec![from];
        while let Some(n) = stack.pop() {
            if !std::mem::replace(&mut marked[n], true) {
                stack.extend(&self.succ[n]);
            }
        }
    }

    /// Each node's immediate dominator; the entry's is itself, an unreachable node has none.
    pub fn dominators(&self, entry: usize) -> Vec<Option<usize>> {
        let order = self.order(entry);
        let mut rank = vec![usize::MAX; self.len()];
        order.iter().enumerate().for_each(|(i, &n)| rank[n] = i);
        let mut idom: Vec<Option<usize>> = vec![None; self.len()];
        idom[entry] = Some(entry);
        let mut changed = true;
        while changed {
            changed = false;
            for &n in &order[1..] {
                let mut new: Option<usize> = None;
                for &p in self.pred[n].iter().filter(|&&p| idom[p].is_some()) {
                    new = Some(match new {
                        None => p,
                        Some(q) => meet(&idom, &rank, p, q),
                    });
                }
                if idom[n] != new {
                    idom[n] = new;
                    changed = true;
                }
            }
        }
        idom
    }

    /// Each node's immediate post-dominator: `Some(self.len())` is the exit. Unreachable nodes have none.
    pub fn post_dominators(&self, entry: usize) -> Vec<Option<usize>> {
        let reached = self.order(entry);
        let exit = self.len();
        let mut edges: Vec<(usize, usize)> = Vec::new();
        for &n in &reached {
            edges.extend(self.succ[n].iter().map(|&s| (s, n)));
            if self.succ[n].is_empty() {
                edges.push((exit, n));
            }
        }
        let mut back = Graph::new(exit + 1, edges);
        // Cycles without a way out: one node of each is let out. The last in order is the one farthest inside.
        let mut leads_out = vec![false; exit + 1];
        back.mark(exit, &mut leads_out);
        for &n in reached.iter().rev() {
            if !leads_out[n] {
                back.mark(n, &mut leads_out);
                back.succ[exit].push(n);
                back.pred[n].push(exit);
            }
        }
        let mut idom = back.dominators(exit);
        idom.truncate(exit);
        idom
    }

    /// Natural loops, outer before inner where they nest; loops with one header are one loop.
    pub fn loops(&self, entry: usize) -> Vec<Loop> {
        let idom = self.dominators(entry);
        let tree = Tree::new(&idom);
        let mut loops: Vec<Loop> = Vec::new();
        // Which loop a node was last seen in.
        let mut inside = vec![usize::MAX; self.len()];
        for n in self.order(entry) {
            let latches: Vec<usize> =
                self.pred[n].iter().copied().filter(|&p| idom[p].is_some() && tree.over(n, p)).collect();
            if latches.is_empty() {
                continue;
            }
            inside[n] = loops.len();
            let mut nodes = vec![n];
            let mut stack = latches.clone();
            while let Some(x) = stack.pop() {
                if inside[x] != loops.len() {
                    inside[x] = loops.len();
                    nodes.push(x);
                    stack.extend(self.pred[x].iter().filter(|&&p| idom[p].is_some()));
                }
            }
            nodes.sort_unstable();
            loops.push(Loop { header: n, nodes, latches });
        }
        loops
    }

    /// How many loops each node is in.
    pub fn depths(&self, entry: usize) -> Vec<u32> {
        let mut depth = vec![0; self.len()];
        for l in self.loops(entry) {
            l.nodes.iter().for_each(|&n| depth[n] += 1);
        }
        depth
    }
}

/// Immediate dominators as a tree, in which it is quickly known who is over whom.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    /// When a walk of the tree comes to a node and when it leaves it, for those that are in it.
    span: Vec<Option<(u32, u32)>>,
}

impl Tree {
    /// Of immediate dominators (or post-dominators, whose root may be no node).
    pub fn new(idom: &[Option<usize>]) -> Self {
        // Numbers may reach one past the nodes: the exit.
        let mut below: Vec<Vec<usize>> = vec![vec![]; idom.len() + 1];
        let mut roots = Vec::new();
        for (n, up) in idom.iter().enumerate() {
            match *up {
                Some(up) if up == n => roots.push(n),
                Some(up) => below[up].push(n),
                None => {}
            }
        }
        roots.push(idom.len());
        let mut span = vec![None; idom.len() + 1];
        let mut clock = 0;
        for root in roots {
            let mut stack = vec![(root, 0)];
            span[root] = Some((clock, u32::MAX));
            while let Some((n, next)) = stack.last_mut() {
                clock += 1;
                if let Some(&child) = below[*n].get(*next) {
                    *next += 1;
                    span[child] = Some((clock, u32::MAX));
                    stack.push((child, 0));
                } else {
                    if let Some(s) = &mut span[*n] {
                        s.1 = clock;
                    }
                    stack.pop();
                }
            }
            clock += 1;
        }
        Tree { span }
    }

    /// Whether `a` is `b` or over it.
    pub fn over(&self, a: usize, b: usize) -> bool {
        let of = |n: usize| self.span.get(n).copied().flatten();
        a == b || of(a).zip(of(b)).is_some_and(|(a, b)| a.0 <= b.0 && b.1 <= a.1)
    }
}

fn meet(idom: &[Option<usize>], rank: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        while rank[a] > rank[b] {
            a = idom[a].expect("ranked nodes that were met have one");
        }
        while rank[b] > rank[a] {
            b = idom[b].expect("ranked nodes that were met have one");
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0 -> 1; 1 -> 2, 3; 2 -> 4; 3 -> 4; 4 -> 1, 5; 6 -> 5 unreachable.
    fn diamond_in_a_loop() -> Graph {
        Graph::new(7, [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (4, 1), (4, 5), (6, 5)])
    }

    #[test]
    fn dominators_of_a_diamond_in_a_loop() {
        let g = diamond_in_a_loop();
        assert_eq!(g.dominators(0), [Some(0), Some(0), Some(1), Some(1), Some(1), Some(4), None]);
        assert_eq!(g.post_dominators(0), [Some(1), Some(4), Some(4), Some(4), Some(5), Some(7), None]);
        let loops = g.loops(0);
        assert_eq!(loops, [Loop { header: 1, nodes: vec![1, 2, 3, 4], latches: vec![4] }]);
        assert_eq!(g.depths(0), [0, 1, 1, 1, 1, 0, 0]);
    }

    #[test]
    fn a_loop_that_never_ends_has_post_dominators_too() {
        let g = Graph::new(4, [(0, 1), (0, 3), (1, 2), (2, 1)]);
        let p = g.post_dominators(0);
        assert_eq!(p[0], Some(4), "either the return or the loop: only the exit follows both");
        assert_eq!((p[1], p[2]), (Some(2), Some(4)));
    }

    #[test]
    fn dominance_agrees_with_its_definition_on_random_graphs() {
        let mut seed = 0x9e37_79b9_7f4a_7c15u64;
        let mut random = move |n: usize| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed % n as u64) as usize
        };
        for _ in 0..300 {
            let n = 2 + random(12);
            let edges: Vec<_> = (0..n + random(2 * n)).map(|_| (random(n), random(n))).collect();
            let g = Graph::new(n, edges);
            let idom = g.dominators(0);
            let tree = Tree::new(&idom);
            for a in 0..n {
                // Without a, what can still be reached?
                let mut reached = vec![false; n];
                let mut stack = if a == 0 { vec![] } else { vec![0] };
                while let Some(x) = stack.pop() {
                    if !reached[x] {
                        reached[x] = true;
                        stack.extend(g.succ[x].iter().filter(|&&s| s != a));
                    }
                }
                for b in (0..n).filter(|&b| idom[b].is_some()) {
                    assert_eq!(tree.over(a, b), a == b || !reached[b], "{a} over {b} in {g:?}");
                }
            }
        }
    }
}

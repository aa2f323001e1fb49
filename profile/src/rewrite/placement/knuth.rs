//! Where to count so that everything else follows: Knuth and Stevenson, "Optimal measurement points for program frequency
//! counts" (1973).
//!
//! *The graph.* One node for the outside; two for each block, where it begins and where it ends, and a third between them
//! where invocations may leave in the middle of it. Its links are the ways that control takes: into the function, through
//! a block, along an edge, out of the function, out of a block's middle. What goes into a node comes out of it, so the
//! counts of the links outside of a spanning tree give those of the links in the tree; fewer never do. The measured ones
//! are E − V + 1 of the function's graph, whatever the tree. The tree is a maximum one: what is run most is not measured.
//!
//! *Weights.* How often a link is expected to be run where the function is entered once: at a branch all ways are as
//! likely, a loop runs ten times for each entry, a way out of a loop is nine times less likely than one that stays. What
//! cannot be measured where it is (invocations that leave from the middle of a block) is always in the tree: all of these
//! lead outside, each from a node of its own, so they never close a circle.
//!
//! *What is counted.* A block's count is how often it was begun. Blocks that the entry does not reach have no links.
//!
//! *Subgroups.* Executions by subgroups are conserved in the same way where invocations neither part nor meet
//! (`shape.rs`), and so is how many of them have a certain number of active invocations. Where they
//! part, a block's end leads outside, and the ways on come from there; where they meet, the ways that lead there go
//! outside, and the block's beginning comes from there. So each of these is counted by itself.
//!
//! Guarantees: for any walks that begin at the entry and end outside, what [`Placement::solve`] gives is what was
//! walked. A walk that never ends has no counts: such a run does not end either.

use crate::spirv::Graph;

/// What is known of a function's control flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Blocks; the first is the entry, which nothing leads to.
    pub blocks: usize,
    /// Ways between blocks, each once; `false` where no block may be put on it, so that measuring it costs as much as
    /// measuring the block that it leaves.
    pub edges: Vec<(usize, usize, bool)>,
    /// Blocks whose terminator ends the function.
    pub exits: Vec<usize>,
    /// Blocks in the middle of which invocations may leave: for good, or for as long as they are counted. Of subgroups also
    /// those in the middle of which invocations may part or meet.
    pub leaves: Vec<usize>,
    /// Blocks whose branch may part what is counted: what goes on is not what came to their end.
    pub parts: Vec<usize>,
    /// Blocks where what is counted may meet: they are not begun as often as is come to them.
    pub meets: Vec<usize>,
    /// How often the function is entered is known from elsewhere.
    pub entries_known: bool,
}

/// A way that control takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// Into the function.
    Entry,
    /// Into a block.
    Block(usize),
    /// To the end of a block that invocations may leave in the middle of.
    End(usize),
    /// From a block to another.
    Edge(usize, usize),
    /// Out of the function, from a block that ends it.
    Exit(usize),
    /// Out of the middle of a block.
    Leave(usize),
    /// What parts at a block's end.
    Part(usize),
    /// What a block is begun with where it meets.
    Meet(usize),
}

impl Way {
    /// The blocks that it lies at: one, or an edge's two.
    pub fn blocks(self) -> Vec<usize> {
        match self {
            Way::Entry => vec![0],
            Way::Block(b) | Way::End(b) | Way::Exit(b) | Way::Leave(b) | Way::Part(b) | Way::Meet(b) => {
                vec![b]
            }
            Way::Edge(a, b) => vec![a, b],
        }
    }

    /// How often it is taken at most, by how often each block is executed.
    pub fn often(self, blocks: &[f64]) -> f64 {
        self.blocks().into_iter().map(|b| blocks[b]).fold(f64::INFINITY, f64::min)
    }
}

/// What a link's count comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// The others.
    Derived,
    /// A counter.
    Counter(u32),
    /// The callers' counts.
    Callers,
}

/// A way between two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Which way.
    pub way: Way,
    /// The node that it leaves.
    pub from: u32,
    /// The node that it enters.
    pub to: u32,
    /// Where its count comes from.
    pub count: From,
}

/// See the module's header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Every link of the graph.
    pub links: Vec<Link>,
    nodes: u32,
}

/// The node of what is outside.
const OUTSIDE: u32 = 0;

impl Placement {
    /// The cheapest for a function, its counters numbered from `first`.
    pub fn new(shape: &Shape, first: u32) -> Self {
        let graph = Graph::new(shape.blocks, shape.edges.iter().map(|e| (e.0, e.1)));
        let order = graph.order(0);
        let frequency = Frequency::new(&graph, &order);
        let mut links: Vec<(Link, f64, u32)> = Vec::new();
        let mut nodes = 1;
        let mut node = || {
            nodes += 1;
            nodes - 1
        };
        let mut ends = vec![(0, 0); shape.blocks];
        let mut link = |way, from, to, weight: f64, trouble| {
            links.push((Link { way, from, to, count: From::Derived }, weight, trouble));
        };
        let mut reached: Vec<usize> = order.clone();
        reached.sort_unstable();
        for &b in &reached {
            let (begin, end) = (node(), node());
            ends[b] = (begin, end);
            let of = frequency.block[b];
            let exits = shape.exits.contains(&b);
            if shape.leaves.contains(&b) && !exits {
                let middle = node();
                link(Way::Block(b), begin, middle, of, 0);
                link(Way::Leave(b), middle, OUTSIDE, f64::INFINITY, 0);
                link(Way::End(b), middle, end, of, 1);
            } else {
                link(Way::Block(b), begin, end, of, 0);
            }
            if exits {
                // Those that left in the middle went the same way, only sooner: the terminator does not see them.
                let weight = if shape.leaves.contains(&b) { f64::INFINITY } else { of };
                link(Way::Exit(b), end, OUTSIDE, weight, 1);
            }
            if shape.parts.contains(&b) {
                link(Way::Part(b), end, OUTSIDE, f64::INFINITY, 0);
            }
            if shape.meets.contains(&b) {
                link(Way::Meet(b), OUTSIDE, begin, f64::INFINITY, 0);
            }
        }
        let weight = if shape.entries_known { -1.0 } else { 1.0 };
        link(Way::Entry, OUTSIDE, ends[0].0, weight, 2);
        for &(a, b, splits) in &shape.edges {
            if ends[a] == (0, 0) {
                continue;
            }
            let (part, meet) = (shape.parts.contains(&a), shape.meets.contains(&b));
            if part && meet {
                // From outside to outside: it says nothing of any block.
                continue;
            }
            let weight = if splits { frequency.edge(a, b) } else { frequency.block[a] };
            let from = if part { OUTSIDE } else { ends[a].1 };
            let to = if meet { OUTSIDE } else { ends[b].0 };
            link(Way::Edge(a, b), from, to, weight, if splits { 2 } else { 3 });
        }
        // Kruskal: the heaviest first, among equals the more troublesome to measure.
        let mut by_weight: Vec<usize> = (0..links.len()).collect();
        by_weight.sort_by(|&a, &b| {
            let (a, b) = (&links[a], &links[b]);
            b.1.total_cmp(&a.1).then(b.2.cmp(&a.2))
        });
        let mut tree = Forest::new(nodes as usize);
        let mut next = first;
        let mut outside_tree: Vec<usize> =
            by_weight.into_iter().filter(|&l| !tree.join(links[l].0.from, links[l].0.to)).collect();
        outside_tree.sort_unstable();
        let mut links: Vec<Link> = links.into_iter().map(|l| l.0).collect();
        for l in outside_tree {
            links[l].count = if links[l].way == Way::Entry && shape.entries_known {
                From::Callers
            } else {
                next += 1;
                From::Counter(next - 1)
            };
        }
        Placement { links, nodes }
    }

    /// The ways to be measured, with their counters.
    pub fn measured(&self) -> impl Iterator<Item = (Way, u32)> + '_ {
        self.links.iter().filter_map(|l| match l.count {
            From::Counter(n) => Some((l.way, n)),
            _ => None,
        })
    }

    /// Every link's count from what was measured and how often the function was entered where that is known. Counters
    /// that do not agree (lost additions) may give what is less than nothing.
    pub fn solve(&self, counter: impl Fn(u32) -> u64, callers: u64) -> Vec<i128> {
        let mut counts: Vec<i128> = self
            .links
            .iter()
            .map(|l| match l.count {
                From::Derived => 0,
                From::Counter(n) => counter(n).into(),
                From::Callers => callers.into(),
            })
            .collect();
        // What has come into each node so far, less what has left it.
        let mut more = vec![0i128; self.nodes as usize];
        let mut at: Vec<Vec<usize>> = vec![vec![]; self.nodes as usize];
        for (n, l) in self.links.iter().enumerate() {
            if l.count == From::Derived {
                at[l.from as usize].push(n);
                at[l.to as usize].push(n);
            } else {
                more[l.from as usize] -= counts[n];
                more[l.to as usize] += counts[n];
            }
        }
        // The tree from the outside in, and its counts from the leaves up.
        let mut order = vec![(OUTSIDE, usize::MAX)];
        let mut next = 0;
        while let Some(&(node, by)) = order.get(next) {
            next += 1;
            for &l in at[node as usize].iter().filter(|&&l| l != by) {
                let other = if self.links[l].from == node { self.links[l].to } else { self.links[l].from };
                order.push((other, l));
            }
        }
        for &(node, by) in order[1..].iter().rev() {
            let Link { from, to, .. } = self.links[by];
            counts[by] = if from == node { more[node as usize] } else { -more[node as usize] };
            more[from as usize] -= counts[by];
            more[to as usize] += counts[by];
        }
        counts
    }

    /// As words of a site.
    pub fn words(&self) -> Vec<u32> {
        let mut words = vec![self.nodes];
        for l in &self.links {
            let (kind, a, b) = match l.way {
                Way::Entry => (0, 0, 0),
                Way::Block(b) => (1, b, 0),
                Way::End(b) => (2, b, 0),
                Way::Edge(a, b) => (3, a, b),
                Way::Exit(b) => (4, b, 0),
                Way::Leave(b) => (5, b, 0),
                Way::Part(b) => (6, b, 0),
                Way::Meet(b) => (7, b, 0),
            };
            let count = match l.count {
                From::Derived => 0,
                From::Callers => 1,
                From::Counter(n) => n + 2,
            };
            words.extend([kind, a as u32, b as u32, l.from, l.to, count]);
        }
        words
    }

    /// From such words; nothing if they are none.
    pub fn of_words(words: &[u32]) -> Option<Self> {
        let (&nodes, rest) = words.split_first()?;
        let of = |w: &[u32]| {
            let (a, b) = (w[1] as usize, w[2] as usize);
            let way = match w[0] {
                0 => Way::Entry,
                1 => Way::Block(a),
                2 => Way::End(a),
                3 => Way::Edge(a, b),
                4 => Way::Exit(a),
                5 => Way::Leave(a),
                6 => Way::Part(a),
                7 => Way::Meet(a),
                _ => return None,
            };
            let count = match w[5] {
                0 => From::Derived,
                1 => From::Callers,
                n => From::Counter(n - 2),
            };
            (w[3] < nodes && w[4] < nodes).then_some(Link { way, from: w[3], to: w[4], count })
        };
        let links = rest.chunks_exact(6).map(of).collect::<Option<Vec<_>>>()?;
        (rest.len() % 6 == 0).then_some(Placement { links, nodes })
    }
}

/// How often blocks and edges are expected to be run.
struct Frequency {
    block: Vec<f64>,
    /// Of each edge, with its ends.
    edges: std::collections::HashMap<(usize, usize), f64>,
}

impl Frequency {
    fn new(graph: &Graph, order: &[usize]) -> Self {
        let loops = graph.loops(0);
        let mut rank = vec![usize::MAX; graph.len()];
        order.iter().enumerate().for_each(|(i, &n)| rank[n] = i);
        let mut out =
            Frequency { block: vec![0.0; graph.len()], edges: std::collections::HashMap::default() };
        for &n in order {
            let into: f64 = if n == 0 {
                1.0
            } else {
                let before = graph.pred[n].iter().filter(|&&p| rank[p] < rank[n]);
                before.filter_map(|&p| out.edges.get(&(p, n))).sum()
            };
            let here = if loops.iter().any(|l| l.header == n) { into * 10.0 } else { into };
            out.block[n] = here;
            let leaves = |s: usize| {
                loops.iter().any(|l| l.nodes.binary_search(&n).is_ok() && l.nodes.binary_search(&s).is_err())
            };
            let chances: Vec<f64> =
                graph.succ[n].iter().map(|&s| if leaves(s) { 1.0 / 9.0 } else { 1.0 }).collect();
            let all: f64 = chances.iter().sum();
            for (&s, chance) in graph.succ[n].iter().zip(chances) {
                out.edges.insert((n, s), here * chance / all);
            }
        }
        out
    }

    fn edge(&self, a: usize, b: usize) -> f64 {
        self.edges.get(&(a, b)).copied().unwrap_or(0.0)
    }
}

/// Union and find.
struct Forest(Vec<u32>);

impl Forest {
    fn new(n: usize) -> Self {
        Forest((0..n as u32).collect())
    }

    fn root(&mut self, mut n: u32) -> u32 {
        while self.0[n as usize] != n {
            self.0[n as usize] = self.0[self.0[n as usize] as usize];
            n = self.0[n as usize];
        }
        n
    }

    /// Whether two trees became one.
    fn join(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a as usize] = b;
        a != b
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;

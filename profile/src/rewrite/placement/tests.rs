//! Derived counts against those of walks, on graphs that are known and on random ones.

use super::*;
use std::collections::HashMap;

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

/// Random walks from the entry until they leave; a walk that goes on for too long is taken back.
fn walk(shape: &Shape, walks: usize, random: &mut Random) -> HashMap<Way, u64> {
    let mut all: HashMap<Way, u64> = HashMap::new();
    for _ in 0..walks {
        let mut way = vec![Way::Entry];
        let mut at = 0;
        let ended = loop {
            way.push(Way::Block(at));
            let leaves = shape.leaves.contains(&at);
            if leaves && random.below(4) == 0 {
                // From a block that ends the function there is one way out, whoever takes it sooner.
                way.push(if shape.exits.contains(&at) { Way::Exit(at) } else { Way::Leave(at) });
                break true;
            }
            if shape.exits.contains(&at) {
                way.push(Way::Exit(at));
                break true;
            }
            if leaves {
                way.push(Way::End(at));
            }
            let ways: Vec<_> = shape.edges.iter().filter(|e| e.0 == at).collect();
            if ways.is_empty() || way.len() > 500 {
                break false;
            }
            let next = ways[random.below(ways.len())].1;
            way.push(Way::Edge(at, next));
            at = next;
        };
        if ended {
            way.into_iter().for_each(|w| *all.entry(w).or_default() += 1);
        }
    }
    all
}

/// Links that measure nothing new: what Knuth and Stevenson's E − V + 1 is of a shape.
fn fewest(shape: &Shape) -> usize {
    let graph = Graph::new(shape.blocks, shape.edges.iter().map(|e| (e.0, e.1)));
    let reached = graph.order(0);
    let edges = shape.edges.iter().filter(|e| reached.contains(&e.0)).count();
    let out = reached.iter().filter(|b| shape.exits.contains(b) || shape.leaves.contains(b)).count();
    // Nodes: the blocks and the outside. A leaving block's middle adds a node and a link more.
    (edges + out + 1) - (reached.len() + 1) + 1
}

fn check(shape: &Shape, random: &mut Random) {
    let walked = walk(shape, 40, random);
    let direct = |w: Way| walked.get(&w).copied().unwrap_or(0);
    let p = Placement::new(shape, 3);
    let measured: HashMap<u32, Way> = p.measured().map(|(w, n)| (n, w)).collect();
    let known = p.links.iter().any(|l| l.count == From::Callers);
    assert_eq!(measured.len() + usize::from(known), fewest(shape), "{shape:?}");
    assert!(measured.values().all(|w| !matches!(w, Way::Leave(_))), "{shape:?}");
    for w in measured.values() {
        let blind = matches!(w, Way::Exit(b) if shape.leaves.contains(b));
        assert!(!blind, "a terminator does not see who left before it: {shape:?}");
    }
    assert_eq!(known, shape.entries_known && !shape.exits_nowhere(), "{shape:?}");
    let counts = p.solve(|n| direct(measured[&n]), direct(Way::Entry));
    for (l, count) in p.links.iter().zip(counts) {
        assert_eq!(count, direct(l.way).into(), "{:?} of {shape:?}", l.way);
    }
    assert_eq!(Placement::of_words(&p.words()).as_ref(), Some(&p));
}

impl Shape {
    /// No way leads out, so that nothing is known of how often it is entered: no walk ends.
    fn exits_nowhere(&self) -> bool {
        let graph = Graph::new(self.blocks, self.edges.iter().map(|e| (e.0, e.1)));
        !graph.order(0).iter().any(|b| self.exits.contains(b) || self.leaves.contains(b))
    }
}

#[test]
fn derived_counts_are_those_of_walks_on_random_graphs() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..3000 {
        let blocks = 1 + random.below(14);
        let mut shape = Shape { blocks, entries_known: random.below(2) == 0, ..Shape::default() };
        for b in 0..blocks {
            if random.below(4) == 0 {
                shape.exits.push(b);
            } else {
                for _ in 0..1 + random.below(3) {
                    let to = 1 + random.below(blocks.max(2) - 1);
                    if to < blocks && !shape.edges.iter().any(|e| (e.0, e.1) == (b, to)) {
                        shape.edges.push((b, to, random.below(3) > 0));
                    }
                }
                if !shape.edges.iter().any(|e| e.0 == b) {
                    shape.exits.push(b);
                }
            }
            if random.below(5) == 0 {
                shape.leaves.push(b);
            }
        }
        check(&shape, &mut random);
    }
}

/// A subgroup's executions of random graphs, of which it goes some ways together and some apart: groups of invocations part
/// into one for each of some ways, in the middle of a block into any number, and of those that come to where they may meet
/// some go on as one. `None` where they go on for too long.
fn executions(shape: &Shape, random: &mut Random) -> Option<HashMap<Way, i128>> {
    let mut all: HashMap<Way, i128> = HashMap::new();
    let mut groups = vec![0; 1 + random.below(5)];
    *all.entry(Way::Entry).or_default() += groups.len() as i128;
    for _ in 0..300 {
        let Some(at) = groups.pop() else { return Some(all) };
        *all.entry(Way::Block(at)).or_default() += 1;
        let leaves = shape.leaves.contains(&at);
        let exits = shape.exits.contains(&at);
        let left = if leaves && !exits { random.below(3) } else { 1 };
        if leaves && !exits {
            *all.entry(Way::End(at)).or_default() += left as i128;
        }
        for _ in 0..left {
            if exits {
                *all.entry(Way::Exit(at)).or_default() += 1;
                continue;
            }
            let ways: Vec<usize> = shape.edges.iter().filter(|e| e.0 == at).map(|e| e.1).collect();
            let one = random.below(ways.len());
            let taken = |n: &usize, random: &mut Random| {
                *n == one || shape.parts.contains(&at) && random.below(2) == 0
            };
            let taken: Vec<usize> = (0..ways.len()).filter(|n| taken(n, random)).collect();
            for n in taken {
                let to = ways[n];
                *all.entry(Way::Edge(at, to)).or_default() += 1;
                let there = shape.meets.contains(&to) && groups.contains(&to);
                if !there || random.below(2) == 0 {
                    groups.push(to);
                }
            }
        }
    }
    None
}

#[test]
fn derived_executions_are_those_of_subgroups_that_part_and_meet_on_random_graphs() {
    let (mut random, mut compared, mut derived) = (Random(0x1234_5678_9abc_def1), 0, 0);
    for _ in 0..4000 {
        let blocks = 2 + random.below(10);
        let mut shape = Shape { blocks, ..Shape::default() };
        for b in 0..blocks {
            let some = |of: &mut Vec<usize>, random: &mut Random| {
                if random.below(4) == 0 {
                    of.push(b);
                }
            };
            for _ in 0..1 + random.below(2) {
                let to = 1 + random.below(blocks - 1);
                if random.below(4) > 0 && !shape.edges.iter().any(|e| (e.0, e.1) == (b, to)) {
                    shape.edges.push((b, to, random.below(3) > 0));
                }
            }
            if !shape.edges.iter().any(|e| e.0 == b) {
                shape.exits.push(b);
            } else {
                some(&mut shape.parts, &mut random);
                some(&mut shape.leaves, &mut random);
            }
            if b > 0 {
                some(&mut shape.meets, &mut random);
            }
        }
        let Some(executed) = executions(&shape, &mut random) else { continue };
        let direct = |w: Way| executed.get(&w).copied().unwrap_or(0);
        let p = Placement::new(&shape, 0);
        let measured: HashMap<u32, Way> = p.measured().map(|(w, n)| (n, w)).collect();
        let counts = p.solve(|n| u64::try_from(direct(measured[&n])).expect("a count"), 0);
        for (l, count) in p.links.iter().zip(counts) {
            if !matches!(l.way, Way::Leave(_) | Way::Part(_) | Way::Meet(_)) {
                assert_eq!(count, direct(l.way), "{:?} of {shape:?}", l.way);
                derived += usize::from(l.count == From::Derived);
            }
        }
        assert_eq!(Placement::of_words(&p.words()).as_ref(), Some(&p));
        compared += 1;
    }
    assert!(compared > 1000 && derived > 3 * compared, "{compared} {derived}");
}

/// 0 -> 1 (loop) -> 2, 3 -> 4 -> 1; 1 -> 5.
fn diamond_in_a_loop() -> Shape {
    let edges = [(0, 1), (1, 2), (1, 5), (2, 3), (2, 4), (3, 6), (4, 6), (6, 1)];
    Shape { blocks: 7, edges: edges.map(|(a, b)| (a, b, true)).to_vec(), exits: vec![5], ..Shape::default() }
}

#[test]
fn what_is_run_most_is_not_measured() {
    let mut shape = diamond_in_a_loop();
    // One for the branch in the loop, one for the loop's iterations, one for entries: 10 links, 8 nodes.
    assert_eq!(fewest(&shape), 3);
    let ways: Vec<Way> = Placement::new(&shape, 0).measured().map(|m| m.0).collect();
    // The header is run most (10), each side of the branch half of what stays in the loop (4.5).
    let sides = ways.iter().filter(|w| matches!(w, Way::Block(3 | 4))).count();
    assert!(sides >= 1, "{ways:?}");
    assert!(!ways.contains(&Way::Block(1)) && !ways.contains(&Way::Block(6)), "{ways:?}");
    // Entries that callers know cost nothing.
    shape.entries_known = true;
    assert_eq!(Placement::new(&shape, 0).measured().count(), 2);
    check(&shape, &mut Random(7));
}

#[test]
fn straight_lines_loops_without_end_and_unreached_blocks() {
    let one = Shape { blocks: 1, exits: vec![0], ..Shape::default() };
    assert_eq!(Placement::new(&one, 0).measured().collect::<Vec<_>>(), [(Way::Block(0), 0)]);
    let known = Shape { entries_known: true, ..one };
    let p = Placement::new(&known, 0);
    assert_eq!((p.measured().count(), p.solve(|_| 0, 12)), (0, vec![12, 12, 12]));
    // 0 -> 1 -> 1, and 2 -> 1, which nothing leads to.
    let edges = vec![(0, 1, true), (1, 1, true), (2, 1, true)];
    let forever = Shape { blocks: 3, edges, ..Shape::default() };
    check(&forever, &mut Random(5));
    assert!(Placement::new(&forever, 0).links.iter().all(|l| l.way != Way::Block(2)));
    // Unless it is left from its middle.
    check(&Shape { leaves: vec![1], entries_known: true, ..forever }, &mut Random(5));
}

#[test]
fn an_edge_that_takes_no_block_is_measured_only_if_it_must_be() {
    // Two branches that both leave and stay: 0 -> 1, 2; 1 -> 3, 4; 2 -> 3, 4, none of the last four can be split.
    let edges = [(0, 1, true), (0, 2, true), (1, 3, false), (1, 4, false), (2, 3, false), (2, 4, false)];
    let shape = Shape { blocks: 5, edges: edges.to_vec(), exits: vec![3, 4], ..Shape::default() };
    let ways: Vec<Way> = Placement::new(&shape, 0).measured().map(|m| m.0).collect();
    assert_eq!(ways.iter().filter(|w| matches!(w, Way::Edge(1 | 2, _))).count(), 1, "{ways:?}");
    check(&shape, &mut Random(3));
}

#[test]
fn words_that_are_none_are_refused() {
    let words = Placement::new(&diamond_in_a_loop(), 0).words();
    assert_eq!(Placement::of_words(&[]), None);
    assert_eq!(Placement::of_words(&words[..words.len() - 1]), None);
    let mut odd = words;
    odd[1] = 9;
    assert_eq!(Placement::of_words(&odd), None);
}

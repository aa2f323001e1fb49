//! What placement needs to know of a shader's functions, from the original's facts and instructions.
//!
//! Of *invocations* ([`Program::of_invocations`]): where they may leave. Of *subgroups* ([`Program::of_subgroups`]), whose executions are
//! told apart by how many of their invocations are there: also where these may part, and meet. They part at branches whose
//! condition may differ between them, and meet where ways join on which they were apart ([`Uniformity`]); they do either in a
//! block with a barrier and the like, and in one that calls a function where they may. That is nothing for ray-tracing
//! stages, where a call of another shader may gather other invocations around.
//!
//! Where invocations may leave: OpKill, OpTerminateInvocation, OpIgnoreIntersectionKHR, OpTerminateRayKHR and
//! OpEmitMeshTasksEXT end the invocation; OpDemoteToHelperInvocation makes it one that is not counted;
//! OpReportIntersectionKHR may not come back (an any-hit shader may end the ray). A block that calls a function in which
//! such a thing may happen may be left in its middle. OpUnreachable ends its block, and is never come by.

use super::knuth::Shape;
use crate::rewrite::Shader;
use crate::rewrite::together::parts;
use crate::spirv::uniform::Uniformity;
use crate::spirv::{Graph, Loop, Op, Result};
use std::collections::{BTreeSet, HashMap};

/// A function as placement sees it.
pub struct Known {
    /// Its control flow.
    pub shape: Shape,
    /// The blocks that call it, each as often as it does, with the caller: (function, block).
    pub callers: Vec<(u32, u32)>,
}

/// Every function of the facts.
pub struct Program {
    /// By index into the facts.
    pub functions: Vec<Known>,
    /// Their indices, callers before those that they call.
    pub order: Vec<usize>,
}

/// What happens in a block, from its beginning to its end.
enum Event {
    /// Invocations may leave here.
    Leave,
    /// A function of the facts is called.
    Call(usize),
}

/// Whether an instruction may end the invocation, or make it one that is not counted.
pub(in crate::rewrite) fn leaves(op: Op) -> bool {
    matches!(
        op,
        Op::Kill
            | Op::TerminateInvocation
            | Op::DemoteToHelperInvocation
            | Op::IgnoreIntersectionKHR
            | Op::TerminateRayKHR
            | Op::EmitMeshTasksEXT
            | Op::ReportIntersectionKHR
    )
}

impl Program {
    /// Of invocations of a shader, whatever other passes have put into it.
    pub fn of_invocations(shader: &Shader) -> Self {
        Self::new(shader, None)
    }

    /// Of subgroups.
    pub fn of_subgroups(shader: &Shader) -> Result<Self> {
        let uniformity = Uniformity::of(&shader.original, &shader.entry)?;
        Ok(Self::new(shader, Some(&uniformity)))
    }

    fn new(shader: &Shader, subgroups: Option<&Uniformity>) -> Self {
        let facts = &shader.facts.functions;
        let index: HashMap<u32, usize> = facts.iter().enumerate().map(|(n, f)| (f.id, n)).collect();
        let mut events: Vec<Vec<Vec<Event>>> = Vec::new();
        let mut ends = Vec::new();
        for (n, f) in facts.iter().enumerate() {
            let function = &shader.module.functions[shader.function(n as u32)];
            let at: HashMap<u32, usize> =
                function.blocks.iter().enumerate().map(|(n, b)| (b.label, n)).collect();
            let bodies: Vec<_> = f.blocks.iter().map(|b| &function.blocks[at[&b.label]]).collect();
            events.push(
                bodies
                    .iter()
                    .map(|b| {
                        let of = |i: &crate::spirv::Inst| match i.op() {
                            Op::FunctionCall => index.get(&i.id_at(0)?).map(|&f| Event::Call(f)),
                            op if leaves(op) && !i.is_terminator() => Some(Event::Leave),
                            _ if subgroups.is_some() && parts(i) => Some(Event::Leave),
                            _ => None,
                        };
                        // What other passes put in has no place in the original.
                        b.body.iter().filter(|i| i.at.is_some()).filter_map(of).collect()
                    })
                    .collect(),
            );
            let end = |b: &&crate::spirv::Block| (b.end().op(), b.merge().and_then(|m| m.id_at(0)));
            ends.push(bodies.iter().map(end).collect::<Vec<_>>());
        }
        let order = callers_first(&events);
        let of = |f: usize, ask: fn(&Uniformity, usize, usize) -> bool| -> Vec<usize> {
            let there = subgroups.zip(shader.original.function(facts[f].id));
            let asked = |b: &usize| facts[f].blocks[*b].reached && there.is_some_and(|(u, f)| ask(u, f, *b));
            (0..facts[f].blocks.len()).filter(asked).collect()
        };
        let mut may_leave = vec![false; facts.len()];
        for &f in order.iter().rev() {
            let reached = |b: &usize| facts[f].blocks[*b].reached;
            let parts = of(f, Uniformity::parts);
            may_leave[f] = (0..facts[f].blocks.len()).filter(reached).any(|b| {
                leaves(ends[f][b].0)
                    || parts.contains(&b)
                    || events[f][b].iter().any(|e| match *e {
                        Event::Leave => true,
                        Event::Call(g) => may_leave[g],
                    })
            });
        }
        let mut functions: Vec<Known> =
            (0..facts.len()).map(|f| shape(&facts[f].blocks, &events[f], &ends[f], &may_leave)).collect();
        for (f, known) in functions.iter_mut().enumerate() {
            known.shape.parts = of(f, Uniformity::parts);
            known.shape.meets = of(f, Uniformity::meets);
        }
        for &f in &order {
            for (b, _) in facts[f].blocks.iter().enumerate().filter(|b| b.1.reached) {
                let mut left = false;
                for e in &events[f][b] {
                    match *e {
                        Event::Leave => left = true,
                        Event::Call(g) => {
                            let callee = &mut functions[g];
                            callee.callers.push((f as u32, b as u32));
                            callee.shape.entries_known &= !left;
                            left |= may_leave[g];
                        }
                    }
                }
            }
        }
        functions[0].shape.entries_known = false;
        Program { functions, order }
    }
}

impl Shape {
    /// The outermost loops of which a subgroup executes all with the same invocations, and leaves with them: their blocks, and
    /// the blocks that they are left to, which nothing else leads to.
    pub fn steady_loops(&self) -> Vec<(Vec<usize>, Vec<usize>)> {
        let graph = Graph::new(self.blocks, self.edges.iter().map(|e| (e.0, e.1)));
        let mut loops = graph.loops(0);
        let steady = |l: &Loop| {
            let is_in = |b: &usize| l.nodes.binary_search(b).is_ok();
            let parts = l.nodes.iter().any(|b| self.parts.contains(b) || self.leaves.contains(b));
            let meets = l.nodes.iter().any(|b| *b != l.header && self.meets.contains(b));
            let only = |b: &usize| !self.meets.contains(b) && graph.pred[*b].iter().all(is_in);
            !parts && !meets && left_to(&graph, l).iter().all(only)
        };
        loops.retain(steady);
        let is_inner =
            |l: &Loop| loops.iter().any(|o| o.header != l.header && o.nodes.binary_search(&l.header).is_ok());
        let outermost = loops.iter().filter(|l| !is_inner(l));
        outermost.map(|l| (l.nodes.clone(), left_to(&graph, l))).collect()
    }
}

/// The blocks that a loop is left to.
fn left_to(graph: &Graph, l: &Loop) -> Vec<usize> {
    let is_in = |b: &usize| l.nodes.binary_search(b).is_ok();
    let on = l.nodes.iter().flat_map(|&b| &graph.succ[b]);
    on.copied().filter(|b| !is_in(b)).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Topological: no function of a module that was checked comes to call itself.
fn callers_first(events: &[Vec<Vec<Event>>]) -> Vec<usize> {
    let called = |f: usize| {
        let calls = events[f].iter().flatten().filter_map(|e| match e {
            Event::Call(g) => Some(*g),
            _ => None,
        });
        calls.collect::<Vec<usize>>()
    };
    let (mut out, mut seen) = (Vec::new(), vec![false; events.len()]);
    for first in 0..events.len() {
        if std::mem::replace(&mut seen[first], true) {
            continue;
        }
        let mut way = vec![(first, called(first).into_iter())];
        while let Some((f, calls)) = way.last_mut() {
            match calls.next() {
                Some(g) if std::mem::replace(&mut seen[g], true) => {}
                Some(g) => way.push((g, called(g).into_iter())),
                None => {
                    out.push(*f);
                    way.pop();
                }
            }
        }
    }
    out.reverse();
    out
}

fn shape(
    blocks: &[crate::rewrite::BlockFacts],
    events: &[Vec<Event>],
    ends: &[(Op, Option<u32>)],
    may_leave: &[bool],
) -> Known {
    let mut into = vec![0; blocks.len()];
    blocks.iter().filter(|b| b.reached).flat_map(|b| &b.successors).for_each(|&s| into[s as usize] += 1);
    let mut shape = Shape { blocks: blocks.len(), entries_known: true, ..Shape::default() };
    for (b, block) in blocks.iter().enumerate().filter(|b| b.1.reached) {
        let (end, merge) = ends[b];
        for &s in &block.successors {
            // As `Cfg` says of edges that take a block.
            let fallen_into =
                end == Op::Switch && merge != Some(blocks[s as usize].label) && into[s as usize] > 1;
            let leaves = block.successors.len() > 1 && merge.is_none();
            shape.edges.push((b, s as usize, !fallen_into && !leaves));
        }
        if block.successors.is_empty() {
            shape.exits.push(b);
        }
        let leaves = |e: &Event| match *e {
            Event::Leave => true,
            Event::Call(g) => may_leave[g],
        };
        if events[b].iter().any(leaves) {
            shape.leaves.push(b);
        }
    }
    Known { shape, callers: vec![] }
}

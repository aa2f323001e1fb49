//! Who of a subgroup has left the entry point for good, at each block, as far as it can be told beforehand.
//!
//! Invocations that part come together again where their ways do (the immediate post-dominator of the branch), or have left
//! before. So somebody may be missing for good only behind a branch that may part invocations (`spirv/uniform`) and
//! from which a way leads out of the shader, or to what ends invocations, before its ways meet; and behind what ends some in
//! their midst (demotion, a call of a function that may do either). Where one way leads out, the others come together at the merge block
//! that the shader names.
//!
//! A block that is not between a branch that parts and where its ways meet is one at which all are together that have not left.
//!
//! Guarantees: what it says is so on devices whose invocations meet again where their ways do; who has taken a way out counts as
//! having left. Errs on the side of "asked".

use super::placement::leaves;
use super::shader::Shader;
use crate::spirv::uniform::Uniformity;
use crate::spirv::{Graph, Op, Result, Tree};

/// What is known at a block's beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Nobody has left.
    Nobody,
    /// All that have not left are here together.
    Met,
    /// Nobody has left since they were together last.
    Known,
    /// It has to be asked.
    Asked,
}

/// A function's control flow, and what happens in it.
struct Flow {
    graph: Graph,
    reached: Vec<bool>,
    post: Vec<Option<usize>>,
    /// The merge block that a block names.
    merges: Vec<Option<usize>>,
    /// Blocks whose branch may part invocations.
    parts: Vec<usize>,
    /// Blocks in which invocations may be ended, calls apart.
    ends: Vec<usize>,
}

impl Shader {
    /// For each function of the facts, for each of its blocks. Not for ray-tracing stages.
    pub fn who_has_left(&self) -> Result<Vec<Vec<Left>>> {
        let uniformity = Uniformity::of(&self.original, &self.entry)?;
        let flows: Vec<Flow> =
            (0..self.facts.functions.len()).map(|f| self.flow_of(f, &uniformity)).collect();
        let calls = self.calls();
        let mut ends: Vec<bool> = flows.iter().map(|f| !f.ends.is_empty()).collect();
        // SPIR-V for shaders has no recursion: so many times are enough, here and below.
        for _ in 0..flows.len() {
            calls.iter().for_each(|&(caller, _, callee)| ends[caller] |= ends[callee]);
        }
        let ending = |f: usize| -> Vec<usize> {
            let called = calls.iter().filter(|c| c.0 == f && ends[c.2]).map(|c| c.1);
            flows[f].ends.iter().copied().chain(called).collect()
        };
        let mut left: Vec<Vec<Left>> = flows.iter().map(|f| vec![Left::Nobody; f.graph.len()]).collect();
        left[0] = flows[0].of_entry_point(&ending(0));
        for _ in 0..flows.len() {
            for &(caller, block, callee) in &calls {
                let now = match left[caller][block] {
                    _ if ends[callee] || ending(caller).contains(&block) => Left::Asked,
                    Left::Met => Left::Known,
                    of => of,
                };
                // (what is known where nobody has left is 0)
                for of in &mut left[callee] {
                    *of = match (*of, now) {
                        (Left::Asked, _) | (_, Left::Asked) => Left::Asked,
                        (Left::Nobody, Left::Nobody) => Left::Nobody,
                        _ => Left::Known,
                    };
                }
            }
        }
        Ok(left)
    }

    fn flow_of(&self, f: usize, uniformity: &Uniformity) -> Flow {
        let facts = &self.facts.functions[f];
        let function = &self.module.functions[self.function(f as u32)];
        let ended_by = |b: usize| {
            function.blocks.iter().find(|m| m.label == facts.blocks[b].label).map(|m| m.end().op())
        };
        // Nobody comes by OpUnreachable.
        let reached: Vec<bool> = (0..facts.blocks.len())
            .map(|b| facts.blocks[b].reached && ended_by(b) != Some(Op::Unreachable))
            .collect();
        let edges = facts
            .blocks
            .iter()
            .enumerate()
            .filter(|b| reached[b.0])
            .flat_map(|(b, block)| block.successors.iter().map(move |&s| (b, s as usize)));
        let graph = Graph::new(facts.blocks.len(), edges.filter(|e| reached[e.1]));
        let post = graph.post_dominators(0);
        let there = self.original.function(facts.id);
        let parts = |b: &usize| reached[*b] && there.is_none_or(|f| uniformity.parts(f, *b));
        let parts = (0..facts.blocks.len()).filter(parts).filter(|&b| graph.succ[b].len() > 1).collect();
        let ends = |b: &usize| {
            let at = function.blocks.iter().find(|m| m.label == facts.blocks[*b].label);
            // What other passes put in has no place in the original.
            let own = at.into_iter().flat_map(|m| &m.body).filter(|i| i.at.is_some());
            reached[*b] && own.into_iter().any(|i| leaves(i.op()))
        };
        let ends = (0..facts.blocks.len()).filter(ends).collect();
        let merge = |b: usize| {
            let named =
                function.blocks.iter().find(|m| m.label == facts.blocks[b].label)?.merge()?.id_at(0)?;
            facts.blocks.iter().position(|b| b.label == named)
        };
        let merges = (0..facts.blocks.len()).map(merge).collect();
        Flow { graph, reached, post, merges, parts, ends }
    }
}

impl Flow {
    /// Of the entry point's own function, in whose blocks `ending` invocations may be ended.
    fn of_entry_point(&self, ending: &[usize]) -> Vec<Left> {
        let (len, out) = (self.graph.len(), self.graph.len());
        let tree = Tree::new(&self.graph.dominators(0));
        // Of each branch that parts: what may be come by before its ways meet.
        let mut apart = vec![false; len];
        let mut may_have_left = vec![false; len];
        for &h in &self.parts {
            let leads_out = self.post[h].is_none_or(|p| p == out);
            let mut before = vec![false; len];
            self.after(h, self.meets(h, &tree), &mut before);
            if leads_out || ending.iter().any(|&b| before[b]) {
                self.after(h, None, &mut may_have_left);
            }
            apart.iter_mut().zip(before).for_each(|(into, b)| *into |= b);
        }
        for &b in ending {
            self.after(b, None, &mut may_have_left);
        }
        // From where all were together last: whether somebody may have left since.
        let mut asked = vec![false; len];
        let leaves = |b: usize| ending.contains(&b) || self.graph.succ[b].is_empty();
        for d in (0..len).filter(|&d| self.reached[d] && !apart[d]) {
            let mut since = vec![false; len];
            self.until(d, |b| !apart[b], &mut since);
            // (who comes by a block by its only way comes with the others that leave there)
            let alone = |b: usize, e: usize| b == e && self.graph.pred[b].len() == 1;
            let leaving: Vec<usize> = (0..len).filter(|&e| since[e] && leaves(e)).collect();
            for b in (0..len).filter(|&b| since[b]) {
                asked[b] |= ending.contains(&d) || leaving.iter().any(|&e| !alone(b, e));
            }
        }
        let of = |b: usize| match (may_have_left[b], apart[b], asked[b]) {
            (false, ..) => Left::Nobody,
            (true, false, _) => Left::Met,
            (true, true, false) => Left::Known,
            (true, true, true) => Left::Asked,
        };
        (0..len).map(of).collect()
    }

    /// Where those meet that a branch parts and that do not leave.
    fn meets(&self, h: usize, tree: &Tree) -> Option<usize> {
        if let Some(p) = self.post[h].filter(|&p| p != self.graph.len()) {
            return Some(p);
        }
        let merge = self.merges[h].filter(|&m| self.reached[m])?;
        let mut before = vec![false; self.graph.len()];
        self.after(h, Some(merge), &mut before);
        let own = |b: usize| b != h && tree.over(h, b);
        (own(merge) && (0..before.len()).all(|b| !before[b] || own(b))).then_some(merge)
    }

    /// Marks what may be come by after a block, up to those that are not.
    fn until(&self, block: usize, ends: impl Fn(usize) -> bool, out: &mut [bool]) {
        let mut next: Vec<usize> = self.graph.succ[block].clone();
        while let Some(b) = next.pop() {
            if !ends(b) && !std::mem::replace(&mut out[b], true) {
                next.extend(&self.graph.succ[b]);
            }
        }
    }

    /// The same, up to one block.
    fn after(&self, block: usize, up_to: Option<usize>, out: &mut [bool]) {
        self.until(block, |b| Some(b) == up_to, out);
    }
}

#[cfg(test)]
mod tests {
    use crate::passes::by_name;
    use crate::rewrite::Device;
    use crate::testing::{function_text, glsl, rewritten};

    /// How many blocks of main, the first apart, ask who has left, how many know (or nobody has), and how many meet.
    fn asked(stage: &str, body: &str) -> Option<(usize, usize, usize)> {
        let outputs = if stage == "frag" {
            "layout(location = 0) out vec4 color;"
        } else {
            "layout(local_size_x = 64) in;"
        };
        let x = if stage == "frag" { "uint(gl_FragCoord.x)" } else { "gl_GlobalInvocationID.x" };
        let source = format!(
            "#version 460
            #extension GL_EXT_demote_to_helper_invocation : enable
            {outputs}
            layout(set = 0, binding = 0) buffer B {{ uint at[]; }};
            void ends(uint y) {{ if (y == 3u) {{ {} }} }}
            uint other(uint y) {{ if (y == 3u) return 4u; return y; }}
            void main() {{ uint x = {x}; {body} at[x] = x; }}",
            if stage == "frag" { "discard;" } else { "at[1] = 2u;" },
        );
        let module = glsl(stage, &source, &["--target-env", "vulkan1.1"])?;
        let passes = vec![by_name("divergence:held=0").expect("it is registered")];
        let v = rewritten("leaving", &module, "vulkan1.3", &passes, Device::default()).swap_remove(0);
        let text = function_text(&v.words, "main")?;
        let calls = |name: &str| {
            text.lines().filter(|l| l.split(' ').any(|w| w.strip_prefix('%') == Some(name))).count()
        };
        Some((
            calls("divergence_once"),
            calls("divergence_once_known") + calls("divergence_once_all"),
            calls("divergence_meet"),
        ))
    }

    #[test]
    fn only_behind_what_may_be_left_alone_is_asked_who_has_left() {
        for (stage, body, expected) in [
            // Nobody leaves before the end.
            ("comp", "if (x < 4u) x = x * x; else x = x + 3u;", (0, 3, 0)),
            ("comp", "while (x < 99u) x = x * x + 2u;", (0, 3, 0)),
            ("comp", "x = other(x); if (x < 4u) x++;", (0, 2, 0)),
            // All leave together.
            ("comp", "if (gl_WorkGroupID.y == 9u) return; if (x < 4u) x++;", (0, 4, 0)),
            // Some leave; before that nobody had, and behind it the others meet.
            ("comp", "if (x < 4u) return; if (x < 9u) x++;", (0, 4, 2)),
            ("comp", "if (x < 4u) x++; if (x == 9u) return;", (0, 4, 1)),
            // From a loop.
            ("comp", "while (x < 99u) { if (x == 7u) return; x++; }", (5, 0, 0)),
            ("frag", "if (x < 4u) x++; if (x == 9u) discard;", (0, 4, 1)),
            ("frag", "if (x < 4u) x++; if (x == 9u) demote; if (x == 2u) x++;", (0, 6, 2)),
            // In what is called.
            ("frag", "if (x < 4u) x++; ends(x); if (x == 2u) x++;", (1, 3, 1)),
        ] {
            let Some(asked) = asked(stage, body) else { return };
            assert_eq!(asked, expected, "{stage}: {body}");
        }
    }
}

//! Places in a shader that passes ask for: where invocations leave, and instructions of the original of some kind.
//!
//! Guarantees: whatever other passes put in is not found; what is put at a place stands there behind what was put there
//! before.

use super::shader::{Exit, ExitKind, Shader};
use super::variant::Site;
use crate::SourceLine;
use crate::spirv::{Inst, Op, Operand, Place};
use std::collections::BTreeMap;

/// A place in the original, and where it is now.
#[derive(Clone, Debug, PartialEq)]
pub struct Spot {
    /// Which function: an index into the facts.
    pub function: u32,
    /// Which block: an index into the function's.
    pub block: u32,
    /// The instruction that it stands before: its first word's offset in the original.
    pub word_offset: u32,
    /// The source's line, where the module carries it: the block's.
    pub line: Option<SourceLine>,
    at: (usize, Place),
}

impl Spot {
    /// A site here, without anything to measure with.
    pub fn site(&self, kind: u32) -> Site {
        Site {
            function: self.function,
            block: self.block,
            word_offset: self.word_offset,
            line: self.line.clone(),
            kind,
            counter: None,
            probe: None,
            each: None,
            data: vec![],
        }
    }

    /// The place behind its instruction, which ends no block.
    pub fn behind(&self) -> Spot {
        let (f, Place { block, before }) = self.at;
        Spot { at: (f, Place { block, before: before + 1 }), ..self.clone() }
    }
}

/// Calls that trace a ray.
pub fn traces(i: &Inst) -> bool {
    matches!(
        i.op(),
        Op::TraceRayKHR
            | Op::TraceNV
            | Op::TraceRayMotionNV
            | Op::TraceMotionNV
            | Op::HitObjectTraceRayNV
            | Op::HitObjectTraceRayMotionNV
    )
}

impl Shader {
    /// Where invocations leave the entry point, in the original's terms; how is beside it.
    pub fn leaving(&self) -> Vec<(Spot, ExitKind)> {
        let spot = |e: &Exit| Some((self.spot(e.function, e.place)?, e.kind));
        self.exits().iter().filter_map(spot).collect()
    }

    /// The original's instructions of some kind in blocks that are reached, each with the place before it.
    pub fn before_each(&self, wanted: impl Fn(&Inst) -> bool) -> Vec<Spot> {
        let mut all = Vec::new();
        for (function, facts) in self.facts.functions.iter().enumerate() {
            let f = self.function(function as u32);
            for (block, b) in self.module.functions[f].blocks.iter().enumerate() {
                let Some(fact) = facts.blocks.iter().position(|x| x.label == b.label && x.reached) else {
                    continue;
                };
                for (before, i) in b.body.iter().enumerate() {
                    if let Some(word_offset) = i.at.filter(|_| wanted(i)) {
                        all.push(Spot {
                            function: function as u32,
                            block: fact as u32,
                            word_offset,
                            line: facts.blocks[fact].line.clone(),
                            at: (f, Place { block, before }),
                        });
                    }
                }
            }
        }
        all
    }

    /// The instruction that a spot stands before, as it is now.
    pub fn at_spot(&self, spot: &Spot) -> &Inst {
        &self.module.functions[spot.at.0].blocks[spot.at.1.block].body[spot.at.1.before]
    }

    /// Gives the instruction that a spot stands before another operand.
    pub fn set_operand(&mut self, spot: &Spot, n: usize, operand: Operand) {
        let (f, Place { block, before }) = spot.at;
        self.module.functions[f].blocks[block].body[before].inst.operands[n] = operand;
    }

    /// Puts instructions in at spots that were found in the module as it is now.
    pub fn at_spots(&mut self, what: Vec<(Spot, Vec<Inst>)>) {
        let mut by_function: BTreeMap<usize, Vec<(Place, Vec<Inst>)>> = BTreeMap::new();
        for (spot, insts) in what {
            by_function.entry(spot.at.0).or_default().push((spot.at.1, insts));
        }
        for (function, insts) in by_function {
            self.module.functions[function].insert(insts);
        }
    }

    fn spot(&self, f: usize, place: Place) -> Option<Spot> {
        let function = &self.module.functions[f];
        let facts = self.facts.functions.iter().position(|x| x.id == function.id())?;
        let label = function.blocks[place.block].label;
        let block = self.block_of_label(facts as u32, label)?;
        let fact = &self.facts.functions[facts].blocks[block as usize];
        // What stands before the terminator may be lines that belong to it, or a merge.
        let at = function.blocks[place.block].body[place.before..].iter().find_map(|i| i.at);
        fact.reached.then(|| Spot {
            function: facts as u32,
            block,
            word_offset: at.unwrap_or(fact.word_offset),
            line: fact.line.clone(),
            at: (f, place),
        })
    }
}

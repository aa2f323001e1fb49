//! What is known of a shader before it runs: functions, blocks, instructions, source lines.
//!
//! Static facts never travel through the GPU; records refer to these by index. Functions are those that the entry point
//! reaches, itself first; blocks are all of a function's, in the module's order, unreachable ones included. Word offsets
//! and ids are those of the original module.

use crate::SourceLine;
use crate::spirv::{Cfg, Function, Inst, Module, Op, Operand, Result};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// See the module's header.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// The functions that the entry point reaches, itself first.
    pub functions: Vec<FunctionFacts>,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionFacts {
    /// Its result id.
    pub id: u32,
    /// Its name, where the module carries it.
    pub name: String,
    /// Its blocks.
    pub blocks: Vec<BlockFacts>,
}

/// A basic block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockFacts {
    /// Its label's id.
    pub label: u32,
    /// The label's word offset.
    pub word_offset: u32,
    /// How many instructions of it do something: not labels, phis, variables, merges, lines, names and other debug
    /// information. The terminator counts.
    pub instructions: u32,
    /// How many loops it is in.
    pub depth: u32,
    /// Whether the function's entry reaches it.
    pub reached: bool,
    /// The blocks that may follow.
    pub successors: Vec<u32>,
    /// The line of its first instruction that has one.
    pub line: Option<SourceLine>,
}

/// Whether an instruction does something when it runs.
pub fn does_something(i: &Inst, debug_sets: &[u32]) -> bool {
    match i.op() {
        Op::Phi
        | Op::Variable
        | Op::UntypedVariableKHR
        | Op::SelectionMerge
        | Op::LoopMerge
        | Op::Line
        | Op::NoLine
        | Op::Nop
        | Op::Undef => false,
        Op::ExtInst => i.id_at(0).is_none_or(|set| !debug_sets.contains(&set)),
        _ => true,
    }
}

/// The extended instruction sets of a module that say nothing about what it does.
pub fn debug_sets(m: &Module) -> Vec<u32> {
    let debug = |i: &&Inst| match i.inst.operands.first() {
        Some(Operand::LiteralString(s)) => s.starts_with("NonSemantic.") || s.contains("DebugInfo"),
        _ => false,
    };
    m.imports.iter().filter(debug).filter_map(Inst::id).collect()
}

/// Where in the sources instructions come from.
pub struct Lines {
    files: HashMap<u32, String>,
    constants: HashMap<u32, u32>,
    debug: Vec<u32>,
}

/// NonSemantic.Shader.DebugInfo.100: DebugSource, DebugLine, DebugNoLine.
const DEBUG_SOURCE: u32 = 35;
const DEBUG_LINE: u32 = 103;
const DEBUG_NO_LINE: u32 = 104;

impl Lines {
    /// What the module says.
    pub fn new(m: &Module) -> Self {
        let debug = debug_sets(m);
        let mut files = HashMap::new();
        for i in m.strings.iter().filter(|i| i.op() == Op::String) {
            if let (Some(id), Some(Operand::LiteralString(s))) = (i.id(), i.inst.operands.first()) {
                files.insert(id, s.clone());
            }
        }
        let mut constants = HashMap::new();
        for i in &m.globals {
            match (i.op(), i.id(), &i.inst.operands[..]) {
                (Op::Constant, Some(id), [Operand::LiteralBit32(n)]) => {
                    constants.insert(id, *n);
                }
                (Op::ExtInst, Some(id), [Operand::IdRef(set), number, Operand::IdRef(file), ..])
                    if debug.contains(set) && ext_number(number) == Some(DEBUG_SOURCE) =>
                {
                    if let Some(name) = files.get(file).cloned() {
                        files.insert(id, name);
                    }
                }
                _ => {}
            }
        }
        Lines { files, constants, debug }
    }

    /// What the line is after this instruction, if it changes it.
    pub fn step(&self, i: &Inst, now: &mut Option<SourceLine>) {
        let o = &i.inst.operands;
        match i.op() {
            Op::Line => {
                if let [Operand::IdRef(file), Operand::LiteralBit32(line), ..] = o[..] {
                    *now = self.files.get(&file).map(|f| SourceLine { file: f.clone(), line });
                }
            }
            Op::NoLine => *now = None,
            Op::ExtInst if i.id_at(0).is_some_and(|set| self.debug.contains(&set)) => {
                match (o.get(1).and_then(ext_number), i.id_at(2), i.id_at(3)) {
                    (Some(DEBUG_LINE), Some(file), Some(line)) => {
                        let line = self.constants.get(&line);
                        *now = self
                            .files
                            .get(&file)
                            .zip(line)
                            .map(|(f, l)| SourceLine { file: f.clone(), line: *l });
                    }
                    (Some(DEBUG_NO_LINE), ..) => *now = None,
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// Every instruction of a block that does something, with its line.
    pub fn of_block<'m>(
        &'m self,
        body: &'m [Inst],
    ) -> impl Iterator<Item = (&'m Inst, Option<SourceLine>)> + 'm {
        let mut now = None;
        body.iter().filter_map(move |i| {
            self.step(i, &mut now);
            does_something(i, &self.debug).then(|| (i, now.clone()))
        })
    }
}

fn ext_number(o: &Operand) -> Option<u32> {
    match o {
        Operand::LiteralExtInstInteger(n) | Operand::LiteralBit32(n) => Some(*n),
        _ => None,
    }
}

impl Facts {
    /// Of an untouched module, for the entry point with this function.
    pub fn new(m: &Module, entry: u32) -> Result<Self> {
        let lines = Lines::new(m);
        let mut names = HashMap::new();
        for n in &m.names {
            if let [Operand::IdRef(id), Operand::LiteralString(name)] = &n.inst.operands[..] {
                names.entry(*id).or_insert(name.as_str());
            }
        }
        let of = |i: usize| function(&m.functions[i], &lines, &names);
        Ok(Facts { functions: m.reachable(entry).into_iter().map(of).collect::<Result<_>>()? })
    }
}

fn function(f: &Function, lines: &Lines, names: &HashMap<u32, &str>) -> Result<FunctionFacts> {
    let cfg = Cfg::new(f)?;
    let depths = if cfg.graph.is_empty() { vec![] } else { cfg.graph.depths(0) };
    let block = |(n, b): (usize, &crate::spirv::Block)| {
        let all: Vec<_> = lines.of_block(&b.body).collect();
        BlockFacts {
            label: b.label,
            word_offset: b.at.unwrap_or(0),
            instructions: all.len() as u32,
            depth: depths[n],
            reached: cfg.reached[n],
            successors: cfg.graph.succ[n].iter().map(|&s| s as u32).collect(),
            line: all.into_iter().find_map(|i| i.1),
        }
    };
    let blocks = f.blocks.iter().enumerate().map(block).collect();
    Ok(FunctionFacts {
        id: f.id(),
        name: names.get(&f.id()).map_or_else(String::new, |n| (*n).to_owned()),
        blocks,
    })
}

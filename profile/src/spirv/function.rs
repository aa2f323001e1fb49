//! Instructions, the basic blocks that they make, and functions of these.
//!
//! Guarantees: an instruction of the original knows its word offset there, one that was put in has none. Refuses nothing:
//! what of it goes together is checked where a module is read.

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::Op;

/// An instruction and its first word's offset in the original module.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// The instruction.
    pub inst: Instruction,
    /// Where it stood; `None` if it was put in.
    pub at: Option<u32>,
}

impl Inst {
    /// One that is put in.
    pub fn new(op: Op, ty: Option<u32>, id: Option<u32>, operands: Vec<Operand>) -> Self {
        Inst { inst: Instruction::new(op, ty, id, operands), at: None }
    }
    /// Its opcode.
    pub fn op(&self) -> Op {
        self.inst.class.opcode
    }
    /// Its result.
    pub fn id(&self) -> Option<u32> {
        self.inst.result_id
    }
    /// The id in operand `i`.
    pub fn id_at(&self, i: usize) -> Option<u32> {
        self.inst.operands.get(i).and_then(Operand::id_ref_any)
    }
    /// Every id that it uses, its type included.
    pub fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.inst.result_type.into_iter().chain(self.inst.operands.iter().filter_map(Operand::id_ref_any))
    }
    /// It ends a block.
    pub fn is_terminator(&self) -> bool {
        // SPV_NV_ray_tracing's OpIgnoreIntersectionNV and OpTerminateRayNV are none: a branch follows them.
        rspirv::grammar::reflect::is_block_terminator(self.op())
    }
}

/// A basic block: everything behind its label, the terminator last.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Its label's id.
    pub label: u32,
    /// Where the label stood.
    pub at: Option<u32>,
    /// Lines before the label.
    pub lines: Vec<Inst>,
    /// Its instructions.
    pub body: Vec<Inst>,
}

impl Block {
    /// The terminator.
    pub fn end(&self) -> &Inst {
        self.body.last().expect("a block has its terminator")
    }
    /// The merge instruction, if there is one.
    pub fn merge(&self) -> Option<&Inst> {
        let i = self.body.len().checked_sub(2)?;
        self.body.get(i).filter(|i| matches!(i.op(), Op::SelectionMerge | Op::LoopMerge))
    }
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Lines before OpFunction.
    pub lines: Vec<Inst>,
    /// OpFunction.
    pub def: Inst,
    /// OpFunctionParameter, with lines between them.
    pub params: Vec<Inst>,
    /// Its blocks, the entry first. None in a declaration.
    pub blocks: Vec<Block>,
    /// OpFunctionEnd, with the lines before it.
    pub(super) end: Vec<Inst>,
}

impl Function {
    /// A function with its result id, result type, function type, control bits, parameters and blocks.
    pub fn new(def: Inst, params: Vec<Inst>, blocks: Vec<Block>) -> Self {
        Function {
            lines: vec![],
            def,
            params,
            blocks,
            end: vec![Inst::new(Op::FunctionEnd, None, None, vec![])],
        }
    }
    /// Its result id.
    pub fn id(&self) -> u32 {
        self.def.id().unwrap_or(0)
    }
    /// Every instruction but labels.
    pub fn insts(&self) -> impl Iterator<Item = &Inst> {
        self.blocks.iter().flat_map(|b| &b.body)
    }
}

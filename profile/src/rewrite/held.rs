//! What an invocation counts in registers and adds to memory once, where it leaves.
//!
//! A held number is a private variable that begins at 0. Every place where invocations leave for good calls one function
//! that takes all of them to memory. Not in ray-tracing stages: what lives across a trace has to be kept in memory by the
//! driver, and reporting an intersection may end the invocation where no place says so. Guarantees: an invocation that
//! ends, ends at one of those places, also as it becomes a helper; what a helper holds must not be added any more, which
//! is the function's affair.

use super::shader::Shader;
use crate::spirv::{Block, Function, Inst, Op, Operand, Place};
use rspirv::spirv::{FunctionControl, StorageClass};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

/// How many numbers a shader holds for one pass at most: each is a register, and an invocation has 255 on the devices
/// that have most. What is held beside them the driver keeps in memory.
const MOST_HELD: usize = 128;

impl Shader {
    /// Whether this stage may hold numbers.
    pub fn may_hold(&self) -> bool {
        !self.stage.is_ray_tracing()
    }

    /// The blocks whose numbers are to be held, of those that `wanted` names: those that an invocation may come by more than
    /// once, 128 at most, those in the most loops first.
    pub fn to_hold(&self, wanted: impl Fn(u32, u32) -> bool) -> HashSet<(u32, u32)> {
        if !self.may_hold() {
            return HashSet::new();
        }
        let again = self.entered_again();
        let depth = |&(f, b): &(u32, u32)| self.facts.functions[f as usize].blocks[b as usize].depth;
        let mut all = self.blocks();
        all.retain(|p| wanted(p.0, p.1) && (again[p.0 as usize] || depth(p) > 0));
        all.sort_by_key(|p| Reverse(depth(p)));
        all.into_iter().take(MOST_HELD).collect()
    }

    /// A private number that begins at 0.
    pub fn held(&mut self) -> u32 {
        let uint = self.types.uvec(&mut self.module, 1);
        let pointer = self.types.pointer(&mut self.module, StorageClass::Private, uint);
        let zero = self.types.null(&mut self.module, uint);
        let id = self.module.fresh();
        let operands = vec![Operand::StorageClass(StorageClass::Private), Operand::IdRef(zero)];
        self.module.globals.push(Inst::new(Op::Variable, Some(pointer), Some(id), operands));
        self.module.interface(id, false);
        id
    }

    /// What a private number is now.
    pub fn load_held(&mut self, variable: u32, insts: &mut Vec<Inst>) -> u32 {
        let uint = self.types.uvec(&mut self.module, 1);
        let id = self.module.fresh();
        insts.push(Inst::new(Op::Load, Some(uint), Some(id), vec![Operand::IdRef(variable)]));
        id
    }

    /// Sets a private number.
    pub fn store_held(&self, variable: u32, value: u32, insts: &mut Vec<Inst>) {
        let operands = vec![Operand::IdRef(variable), Operand::IdRef(value)];
        insts.push(Inst::new(Op::Store, None, None, operands));
    }

    /// A private number becomes what a function makes of it: these arguments, and the number behind them.
    pub fn update_held(&mut self, variable: u32, function: u32, arguments: &[u32]) -> Vec<Inst> {
        let mut insts = Vec::new();
        let uint = self.types.uvec(&mut self.module, 1);
        let now = self.load_held(variable, &mut insts);
        let (call, next) = self.call_for(function, uint, &[arguments, &[now]].concat());
        insts.push(call);
        self.store_held(variable, next, &mut insts);
        insts
    }

    /// Has this done wherever invocations leave for good, behind what is there already.
    pub fn at_exits(&mut self, mut body: Vec<Inst>) {
        body.push(Inst::new(Op::Return, None, None, vec![]));
        let void = self.types.void(&mut self.module);
        let ty = self.types.function(&mut self.module, void, &[]);
        let id = self.module.fresh();
        let control = vec![Operand::FunctionControl(FunctionControl::NONE), Operand::IdRef(ty)];
        let def = Inst::new(Op::Function, Some(void), Some(id), control);
        let block = Block { label: self.module.fresh(), at: None, lines: vec![], body };
        self.module.functions.push(Function::new(def, vec![], vec![block]));
        let mut places: BTreeMap<usize, Vec<(Place, Vec<Inst>)>> = BTreeMap::new();
        for exit in self.exits() {
            let call = self.call(id, &[]);
            places.entry(exit.function).or_default().push((exit.place, vec![call]));
        }
        for (f, places) in places {
            self.module.functions[f].insert(places);
        }
    }
}

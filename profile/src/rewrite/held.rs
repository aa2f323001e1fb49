//! What an invocation counts in registers and adds to memory once, where it leaves.
//!
//! A held number is a private variable that begins at 0. Every place where invocations leave for good calls one function
//! that takes all of them to memory. Not in ray-tracing stages: what lives across a trace has to be kept in memory by the
//! driver, and reporting an intersection may end the invocation where no place says so. Guarantees: an invocation that
//! ends, ends at one of those places, also as it becomes a helper; what a helper holds must not be added any more, which
//! is the function's affair.

use super::expected::expected;
use super::placement::value;
use super::shader::Shader;
use crate::spirv::{Block, Function, Inst, Op, Operand, Place};
use rspirv::spirv::{FunctionControl, StorageClass};
use std::collections::{BTreeMap, HashSet};

/// How often an invocation has to be expected at a place for a number to be held for it: what it comes by less often is
/// cheaper added at once than kept, as each number takes a register of every invocation all the time.
const OFTEN: f64 = 2.0;

/// Shaders with more places to count at than this hold nothing. Measured on an NVIDIA H200 with pass `simt`: pygfx's shaders,
/// which have more, take 4.8 times the frame's time with nothing held, 5.8 with 8 numbers and 9.7 with 16, and the driver
/// several times as long to make; taichi's, which have fewer, 2.9 with nothing held and 2.5 with 8 and more.
const MOST_PLACES: usize = 32;

/// Takes `held=N` out of a pass's options: what is left, and how many numbers a shader is to
/// hold at most.
pub fn most_held(options: &[String], usual: usize) -> std::result::Result<(Vec<String>, usize), String> {
    let mut most = usual;
    let mut left = Vec::new();
    for option in options {
        match option.strip_prefix("held=") {
            Some(n) => {
                most =
                    n.parse().map_err(|_| format!("held=N wants a number of registers; {n:?} was given"))?;
            }
            None => left.push(option.clone()),
        }
    }
    Ok((left, most))
}

/// The places whose numbers are to be held, of some with how often an invocation is expected there: see [`Shader::to_hold`].
pub fn most_often<T: Eq + std::hash::Hash>(mut places: Vec<(T, f64)>, most: usize) -> HashSet<T> {
    if places.len() > MOST_PLACES {
        return HashSet::new();
    }
    places.retain(|p| p.1 >= OFTEN);
    places.sort_by(|a, b| b.1.total_cmp(&a.1));
    places.into_iter().take(most).map(|p| p.0).collect()
}

impl Shader {
    /// Whether this stage may hold numbers.
    pub fn may_hold(&self) -> bool {
        !self.stage.is_ray_tracing()
    }

    /// The blocks whose numbers are to be held, of those that `wanted` names: those that an invocation is expected at
    /// again and again, `most` at most, those that it is expected at most often first; none where there are very many.
    pub fn to_hold(&self, most: usize, wanted: impl Fn(u32, u32) -> bool) -> HashSet<(u32, u32)> {
        if !self.may_hold() {
            return HashSet::new();
        }
        let often = expected(self);
        let mut all = self.blocks();
        all.retain(|p| wanted(p.0, p.1));
        let all = all.into_iter().map(|p| (p, often[p.0 as usize][p.1 as usize])).collect();
        most_often(all, most)
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

    /// Adds to a private number; with a condition, only where it holds.
    pub fn raise_held(&mut self, variable: u32, mut by: u32, taken: Option<u32>, insts: &mut Vec<Inst>) {
        let uint = self.types.uvec(&mut self.module, 1);
        if let Some(taken) = taken {
            let none = self.constant(0);
            by = value(self, Op::Select, uint, &[taken, by, none], insts);
        }
        let now = self.load_held(variable, insts);
        let sum = value(self, Op::IAdd, uint, &[now, by], insts);
        self.store_held(variable, sum, insts);
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

//! Built-in inputs, and the size of a workgroup, as values that probes are given.
//!
//! Guarantees: a built-in that the module does not have is declared, one that it has is taken as it is; the launch index is
//! that of the work that is done, where launches are mapped (`launch.rs`).

use super::shader::Shader;
use crate::Stage;
use crate::spirv::{Inst, Op, Operand, Result, built_in_of};
use rspirv::spirv::{BuiltIn, Decoration, ExecutionMode, StorageClass};

impl Shader {
    /// The private variable.
    pub(super) fn copy(&mut self, ty: u32) -> u32 {
        if let Some((id, _)) = self.launch.copy {
            return id;
        }
        let pointer = self.types.pointer(&mut self.module, StorageClass::Private, ty);
        let id = self.module.fresh();
        let class = vec![Operand::StorageClass(StorageClass::Private)];
        self.module.globals.push(Inst::new(Op::Variable, Some(pointer), Some(id), class));
        let name = vec![Operand::IdRef(id), Operand::LiteralString("rr_launch".into())];
        self.module.names.push(Inst::new(Op::Name, None, None, name));
        self.module.interface(id, false);
        self.launch.copy = Some((id, ty));
        id
    }

    /// The copy of the launch index that a built-in is read from, if it is one, and its type. `ty` is what is asked for.
    pub(super) fn mapped(&mut self, built_in: BuiltIn, ty: u32) -> Option<(u32, u32)> {
        if built_in != BuiltIn::LaunchIdKHR || !self.launch.mapped {
            return None;
        }
        self.copy(ty);
        self.launch.copy
    }
}

/// A built-in input of `n` 32-bit integers, as unsigned ones.
pub fn load(s: &mut Shader, built_in: BuiltIn, n: u32, out: &mut Vec<Inst>) -> Result<u32> {
    let ty = s.types.uvec(&mut s.module, n);
    load_as(s, built_in, ty, out)
}

/// A built-in input, as a value of this type; its own may be of another signedness. The launch index is that of the work that
/// is done, where that is another than the invocation's own.
pub fn load_as(s: &mut Shader, built_in: BuiltIn, ty: u32, out: &mut Vec<Inst>) -> Result<u32> {
    match s.mapped(built_in, ty) {
        Some((variable, own)) => Ok(load_of(s, variable, own, ty, out)),
        None => load_raw(s, built_in, ty, out),
    }
}

/// The same, as the device says it.
pub fn load_raw(s: &mut Shader, built_in: BuiltIn, ty: u32, out: &mut Vec<Inst>) -> Result<u32> {
    let there = built_in_of(&s.module, &Operand::BuiltIn(built_in));
    let (variable, own) = match there {
        Some(v) => {
            let pointer = s.module.global(v).and_then(|v| v.inst.result_type);
            let pointee = pointer.and_then(|p| s.module.global(p)).and_then(|p| p.id_at(1));
            (v, pointee.unwrap_or(ty))
        }
        None => (declare(s, built_in, ty), ty),
    };
    s.module.interface(variable, true);
    Ok(load_of(s, variable, own, ty, out))
}

/// A variable's value, as one of another type of the same bits.
fn load_of(s: &mut Shader, variable: u32, own: u32, ty: u32, out: &mut Vec<Inst>) -> u32 {
    let value = s.module.fresh();
    out.push(Inst::new(Op::Load, Some(own), Some(value), vec![Operand::IdRef(variable)]));
    if own == ty {
        return value;
    }
    let cast = s.module.fresh();
    out.push(Inst::new(Op::Bitcast, Some(ty), Some(cast), vec![Operand::IdRef(value)]));
    cast
}

fn declare(s: &mut Shader, built_in: BuiltIn, ty: u32) -> u32 {
    let pointer = s.types.pointer(&mut s.module, StorageClass::Input, ty);
    let id = s.module.fresh();
    let class = vec![Operand::StorageClass(StorageClass::Input)];
    s.module.globals.push(Inst::new(Op::Variable, Some(pointer), Some(id), class));
    let mut decorate = |operands: Vec<Operand>| {
        let operands = std::iter::once(Operand::IdRef(id)).chain(operands).collect();
        s.module.annotations.push(Inst::new(Op::Decorate, None, None, operands));
    };
    decorate(vec![Operand::Decoration(Decoration::BuiltIn), Operand::BuiltIn(built_in)]);
    if s.stage == Stage::Fragment && built_in != BuiltIn::FragCoord {
        decorate(vec![Operand::Decoration(Decoration::Flat)]);
    }
    id
}

/// How many invocations a workgroup has.
pub(super) fn workgroup_size(s: &mut Shader, out: &mut Vec<Inst>) -> u32 {
    let uint = s.types.uint(&mut s.module, 32);
    if let Some(sides) = literal_sides(s) {
        return s.constant(sides.iter().product());
    }
    let sides = workgroup_sides(s, out);
    let both = |a: u32, b: u32| {
        let id = s.module.fresh();
        let operands = vec![Operand::IdRef(a), Operand::IdRef(b)];
        out.push(Inst::new(Op::IMul, Some(uint), Some(id), operands));
        id
    };
    sides.into_iter().reduce(both).expect("three factors")
}

/// The built-in constant, which counts whatever the execution mode says.
fn size_constant(s: &Shader) -> Option<u32> {
    let constant = s.module.annotations.iter().find(|a| {
        a.op() == Op::Decorate && a.inst.operands.get(2) == Some(&Operand::BuiltIn(BuiltIn::WorkgroupSize))
    });
    constant.and_then(|a| a.id_at(0))
}

/// The sides of a workgroup where the execution mode says them as numbers; 1 where nothing does.
fn literal_sides(s: &Shader) -> Option<[u32; 3]> {
    if size_constant(s).is_some() {
        return None;
    }
    let mut none = Some([1; 3]);
    for mode in &s.module.modes {
        match mode.inst.operands[..] {
            [
                _,
                Operand::ExecutionMode(ExecutionMode::LocalSize),
                Operand::LiteralBit32(x),
                Operand::LiteralBit32(y),
                Operand::LiteralBit32(z),
            ] => return Some([x, y, z]),
            [_, Operand::ExecutionMode(ExecutionMode::LocalSizeId), ..] => none = None,
            _ => {}
        }
    }
    none
}

/// How many invocations a workgroup has in each direction.
pub fn workgroup_sides(s: &mut Shader, out: &mut Vec<Inst>) -> [u32; 3] {
    if let Some(sides) = literal_sides(s) {
        return sides.map(|n| s.constant(n));
    }
    if let Some(vector) = size_constant(s) {
        let uint = s.types.uint(&mut s.module, 32);
        return [0, 1, 2].map(|n| {
            let id = s.module.fresh();
            let operands = vec![Operand::IdRef(vector), Operand::LiteralBit32(n)];
            out.push(Inst::new(Op::CompositeExtract, Some(uint), Some(id), operands));
            id
        });
    }
    let id = |mode: &Inst| match mode.inst.operands[..] {
        [
            _,
            Operand::ExecutionMode(ExecutionMode::LocalSizeId),
            Operand::IdRef(x),
            Operand::IdRef(y),
            Operand::IdRef(z),
        ] => Some([x, y, z]),
        _ => None,
    };
    let said = s.module.modes.iter().find_map(id);
    said.unwrap_or_else(|| [1; 3].map(|n| s.constant(n)))
}

//! What happens at an entry point before anything is measured: its invocations learn their work id and their subgroup's
//! number, and where their action's counters are, where some probe asks for them.
//!
//! The work id of an invocation says which of the application's work it does: for compute, task and mesh shaders the
//! invocation counted through all workgroups; for ray tracing the linear launch index; for vertices the instance index
//! times 2²⁰ plus the vertex index; for fragments y × 65536 + x; for tessellation control and geometry the primitive
//! times 32 plus the invocation; for tessellation evaluation the primitive. It is unique in a dispatch or launch;
//! elsewhere it is only steady: the same work has the same id in every run.

use super::Probes;
use super::libraries::{ACTION, FIRST};
use super::shader::Shader;
use super::{actions, chosen, launch};
use crate::Stage;
use crate::spirv::{Inst, Op, Operand, Place, Result, built_in_of};
use rspirv::spirv::{BuiltIn, Capability, Decoration, ExecutionMode, StorageClass};

/// Puts it in, before everything else.
pub fn add(shader: &mut Shader, probes: &Probes) -> Result<()> {
    let mut insts = Vec::new();
    launch::map(shader, &mut insts)?;
    let chosen = match shader.device.chosen_only {
        true => Some(chosen::load(shader, &mut insts)?),
        false => None,
    };
    // Brings the work id as well.
    let first = match shader.imported.shared("rr_first") {
        Some(_) => Some(shader.import(&FIRST, "set_first")?),
        None => None,
    };
    if shader.imported.shared("rr_work").is_some() {
        work(shader, probes, &mut insts)?;
    }
    if shader.imported.shared("rr_subgroup").is_some() {
        let f = shader.import(probes, "set_subgroup")?;
        insts.push(shader.call(f, &[]));
    }
    if let Some(f) = first {
        insts.push(shader.call(f, &[]));
    }
    if shader.imported.shared("rr_action").is_some() {
        let (pushed, value) = match chosen {
            Some((pushed, _, counters)) => (pushed, counters),
            None => actions::load(shader, actions::USUAL, &mut insts)?,
        };
        let f = shader.import(&ACTION, "set_action")?;
        insts.push(shader.call(f, &[value]));
        shader.pushed = Some(pushed);
    }
    if insts.is_empty() {
        return Ok(());
    }
    let f = shader.function(0);
    let place = Place::begin(&shader.module.functions[f], 0);
    shader.module.functions[f].insert(vec![(place, insts)]);
    if let Some((pushed, chooser, _)) = chosen {
        shader.pushed = Some(pushed);
        chosen::redirect(shader, chooser)?;
    }
    Ok(())
}

fn work(s: &mut Shader, probes: &Probes, out: &mut Vec<Inst>) -> Result<()> {
    let zero = s.constant(0);
    match s.stage {
        Stage::Compute | Stage::Task | Stage::Mesh => {
            let group = load(s, BuiltIn::WorkgroupId, 3, out)?;
            // SPV_NV_mesh_shader's workgroups are counted along one axis, and nobody says how many there are.
            let row = s.module.has_capability(Capability::MeshShadingNV);
            let groups = if row { group } else { load(s, BuiltIn::NumWorkgroups, 3, out)? };
            let local = load(s, BuiltIn::LocalInvocationIndex, 1, out)?;
            let size = workgroup_size(s, out);
            let f = s.import(probes, "set_work_group")?;
            out.push(s.call(f, &[group, groups, local, size]));
        }
        Stage::Fragment => {
            let float = s.types.get(&mut s.module, Op::TypeFloat, None, vec![Operand::LiteralBit32(32)]);
            let vec4 = s.types.vector(&mut s.module, float, 4);
            let at = load_as(s, BuiltIn::FragCoord, vec4, out)?;
            let f = s.import(probes, "set_work_pixel")?;
            out.push(s.call(f, &[at]));
        }
        _ if s.stage.is_ray_tracing() => {
            let id = load(s, BuiltIn::LaunchIdKHR, 3, out)?;
            let size = load(s, BuiltIn::LaunchSizeKHR, 3, out)?;
            let f = s.import(probes, "set_work")?;
            out.push(s.call(f, &[id, size]));
        }
        stage => {
            let (x, y, width) = match stage {
                Stage::Vertex => (
                    load(s, BuiltIn::VertexIndex, 1, out)?,
                    load(s, BuiltIn::InstanceIndex, 1, out)?,
                    1 << 20,
                ),
                Stage::TessellationEvaluation => (load(s, BuiltIn::PrimitiveId, 1, out)?, zero, 1),
                _ => (load(s, BuiltIn::InvocationId, 1, out)?, load(s, BuiltIn::PrimitiveId, 1, out)?, 32),
            };
            let width = s.constant(width);
            let uvec3 = s.types.uvec(&mut s.module, 3);
            let mut vector = |s: &mut Shader, of: [u32; 3]| {
                let id = s.module.fresh();
                let operands = of.map(Operand::IdRef).to_vec();
                out.push(Inst::new(Op::CompositeConstruct, Some(uvec3), Some(id), operands));
                id
            };
            let id = vector(s, [x, y, zero]);
            let size = vector(s, [width, zero, zero]);
            let f = s.import(probes, "set_work")?;
            out.push(s.call(f, &[id, size]));
        }
    }
    Ok(())
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
fn workgroup_size(s: &mut Shader, out: &mut Vec<Inst>) -> u32 {
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

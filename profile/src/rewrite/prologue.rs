//! What happens at an entry point before anything is measured: its invocations learn their work id and their subgroup's
//! number, and where their action's counters are, where some probe asks for them.
//!
//! The work id of an invocation says which of the application's work it does: for compute, task and mesh shaders the
//! invocation counted through all workgroups; for ray tracing the linear launch index; for vertices the instance index
//! times 2²⁰ plus the vertex index; for fragments y × 65536 + x; for tessellation control and geometry the primitive
//! times 32 plus the invocation; for tessellation evaluation the primitive. It is unique in a dispatch or launch;
//! elsewhere it is only steady: the same work has the same id in every run.

use super::Probes;
use super::built_ins::{load, load_as, workgroup_size};
use super::libraries::{ACTION, FIRST};
use super::shader::Shader;
use super::{actions, chosen, launch};
use crate::Stage;
use crate::spirv::{Inst, Op, Operand, Place, Result};
use rspirv::spirv::{BuiltIn, Capability};

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
        chosen::redirect(shader, chooser, &[chosen::COUNTERS, chosen::LOG])?;
    }
    Ok(())
}

/// The workgroup's number, counted through all of them.
pub fn group(s: &mut Shader, out: &mut Vec<Inst>) -> Result<u32> {
    let [id, all] = [load(s, BuiltIn::WorkgroupId, 3, out)?, load(s, BuiltIn::NumWorkgroups, 3, out)?];
    let uint = s.types.uvec(&mut s.module, 1);
    let mut value = |op, operands: Vec<Operand>| {
        let id = s.module.fresh();
        out.push(Inst::new(op, Some(uint), Some(id), operands));
        id
    };
    let side = |of, n| vec![Operand::IdRef(of), Operand::LiteralBit32(n)];
    let both = |a, b| vec![Operand::IdRef(a), Operand::IdRef(b)];
    let [x, y, z] = [0, 1, 2].map(|n| value(Op::CompositeExtract, side(id, n)));
    let [width, height] = [0, 1].map(|n| value(Op::CompositeExtract, side(all, n)));
    let slices = value(Op::IMul, both(z, height));
    let rows = value(Op::IAdd, both(slices, y));
    let before = value(Op::IMul, both(rows, width));
    Ok(value(Op::IAdd, both(before, x)))
}

/// The invocation learns its work id.
pub fn work(s: &mut Shader, probes: &Probes, out: &mut Vec<Inst>) -> Result<()> {
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

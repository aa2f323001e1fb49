//! Pass `no-recursion`: shaders that a ray invokes trace no rays of their own. It measures nothing; it is for experiments: does time go to
//! what hit and miss shaders trace?
//!
//! Traces of hit and miss shaders are taken away: a payload keeps what it held before, a hit object is empty. What a ray-generation shader traces in a loop, and
//! ray queries, are no recursion and stay. Guarantees: no ray is traced deeper than the first. Refuses nothing.

use crate::pass::{Change, Error, Pass, Result};
use crate::rewrite::Shader;
use crate::spirv::{Inst, Op};
use crate::{Needs, Stage};

/// See the module's header.
#[derive(Clone, Copy, Debug)]
pub struct NoRecursion;

/// What an instruction that traces becomes: nothing, or one that makes its hit object empty.
fn instead(inst: &Inst) -> Option<Option<Op>> {
    match inst.op() {
        Op::TraceRayKHR | Op::TraceNV | Op::TraceRayMotionNV | Op::TraceMotionNV => Some(None),
        Op::HitObjectTraceRayNV | Op::HitObjectTraceRayMotionNV => Some(Some(Op::HitObjectRecordEmptyNV)),
        Op::HitObjectTraceRayEXT
        | Op::HitObjectTraceRayMotionEXT
        | Op::HitObjectTraceReorderExecuteEXT
        | Op::HitObjectTraceMotionReorderExecuteEXT => Some(Some(Op::HitObjectRecordEmptyEXT)),
        _ => None,
    }
}

impl Pass for NoRecursion {
    fn name(&self) -> &'static str {
        "no-recursion"
    }

    fn key(&self) -> String {
        "no-recursion 1".into()
    }

    fn needs(&self, stage: Stage) -> Option<Needs> {
        [Stage::ClosestHit, Stage::Miss].contains(&stage).then(Needs::default)
    }

    fn run(&self, shader: &mut Shader) -> Result<Change> {
        let mut traces = false;
        for f in shader.module.reachable(shader.entry.function) {
            for block in &mut shader.module.functions[f].blocks {
                block.body.retain_mut(|inst| {
                    let Some(empty) = instead(inst) else { return true };
                    traces = true;
                    if let Some(op) = empty {
                        let object = inst.inst.operands.first().cloned();
                        *inst = Inst::new(op, None, None, object.into_iter().collect());
                    }
                    empty.is_some()
                });
            }
        }
        if !traces {
            return Ok(Change::Unchanged);
        }
        // (an entry without counters has nothing that could be read)
        shader.reserve_counters(1).map_err(Error::shader(shader.hash))?;
        Ok(Change::Changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spirv::Module;
    use crate::testing::{TRACE, everywhere, function_text, of_text};

    /// The main function of what becomes of a miss shader that traces.
    #[test]
    fn a_miss_shader_traces_nothing_and_a_ray_generation_shader_stays() {
        let miss = TRACE.replace("RayGenerationKHR", "MissKHR");
        let Some(v) = of_text(Box::new(NoRecursion), &miss) else { return };
        let text = function_text(&v.words, "main").expect("spirv-dis");
        assert!(!text.contains("OpTraceRayKHR") && text.contains("OpReturn"), "{text}");
        assert!(NoRecursion.needs(Stage::RayGeneration).is_none());
    }

    #[test]
    fn no_shader_that_a_ray_invokes_traces_any_more() {
        let all = everywhere(&|| Box::new(NoRecursion));
        assert!(!all.is_empty(), "some scene's hit shaders trace");
        for v in all {
            let module = Module::read(&v.words).expect("a module");
            let left = module.functions.iter().flat_map(|f| f.insts()).filter(|i| instead(i).is_some());
            assert_eq!(left.count(), 0);
        }
    }
}

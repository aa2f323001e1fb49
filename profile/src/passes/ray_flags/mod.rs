//! Pass `ray-flags`: rays are traced with flags that the application did not ask for. It measures nothing; it is for experiments: does
//! time go to any-hit shaders, to looking for the closest hit, to faces that are seen from behind?
//!
//! Options, by plus signs: `opaque` takes all geometry for opaque (no any-hit shader runs), `terminate` ends a ray at the first hit
//! that counts, `cull-back` leaves triangles out that are seen from behind. Without an option it changes nothing.
//!
//! Flags are OR-ed into those of OpTraceRayKHR and its kin, of hit objects' traces, and of OpRayQueryInitializeKHR. Rules of the
//! specification are kept to: at most one of opaque, no-opaque, cull-opaque and cull-no-opaque (`opaque` takes the others away), and of
//! cull-back, cull-front and skip-triangles (`cull-back` takes cull-front away, and is not set where triangles are skipped). Flags that
//! are a constant become another; for others this is computed.

use crate::pass::{Change, Error, Pass, Result};
use crate::rewrite::Shader;
use crate::spirv::{Inst, Op, Operand};
use crate::{Needs, Stage};

/// See the module's header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RayFlags {
    set: u32,
}

/// SpvRayFlags.
const OPAQUE: u32 = 1;
const NO_OPAQUE: u32 = 2;
const TERMINATE: u32 = 4;
const CULL_BACK: u32 = 0x10;
const CULL_FRONT: u32 = 0x20;
const CULL_OPAQUE: u32 = 0x40;
const CULL_NO_OPAQUE: u32 = 0x80;
const SKIP_TRIANGLES: u32 = 0x100;

/// How far to the right the bit of skipped triangles is that of cull-back.
const SKIPPED_TO_CULL: u32 = SKIP_TRIANGLES.trailing_zeros() - CULL_BACK.trailing_zeros();

const NAMES: [(&str, u32); 3] = [("opaque", OPAQUE), ("terminate", TERMINATE), ("cull-back", CULL_BACK)];

impl RayFlags {
    /// With the options of the command line.
    pub fn new(options: &[String]) -> std::result::Result<Self, String> {
        let mut set = 0;
        for option in options {
            let known = NAMES.iter().find(|n| n.0 == option);
            set |= known.map(|n| n.1).ok_or_else(|| {
                format!("pass ray-flags: {option:?}: there are opaque, terminate and cull-back")
            })?;
        }
        Ok(RayFlags { set })
    }

    /// What is taken away.
    fn clear(self) -> u32 {
        let mut clear = 0;
        if self.set & OPAQUE != 0 {
            clear |= NO_OPAQUE | CULL_OPAQUE | CULL_NO_OPAQUE;
        }
        if self.set & CULL_BACK != 0 {
            clear |= CULL_FRONT;
        }
        clear
    }

    /// What flags become.
    fn of(self, flags: u32) -> u32 {
        let skips = flags & SKIP_TRIANGLES != 0;
        let set = if skips { self.set & !CULL_BACK } else { self.set };
        flags & !self.clear() | set
    }

    /// The instructions that do the same while the shader runs, and the flags that they give.
    fn compute(self, shader: &mut Shader, flags: u32) -> (Vec<Inst>, u32) {
        let uint = shader.types.uint(&mut shader.module, 32);
        let mut all = vec![];
        let mut op = |shader: &mut Shader, op: Op, operands: &[u32]| {
            let id = shader.module.fresh();
            let operands = operands.iter().map(|o| Operand::IdRef(*o)).collect();
            all.push(Inst::new(op, Some(uint), Some(id), operands));
            id
        };
        let kept = shader.constant(!self.clear());
        let kept = op(shader, Op::BitwiseAnd, &[flags, kept]);
        let set = shader.constant(self.set & !CULL_BACK);
        let mut now = op(shader, Op::BitwiseOr, &[kept, set]);
        if self.set & CULL_BACK != 0 {
            let (by, cull) = (shader.constant(SKIPPED_TO_CULL), shader.constant(CULL_BACK));
            let draws = op(shader, Op::Not, &[flags]);
            let draws = op(shader, Op::ShiftRightLogical, &[draws, by]);
            let cull = op(shader, Op::BitwiseAnd, &[draws, cull]);
            now = op(shader, Op::BitwiseOr, &[now, cull]);
        }
        (all, now)
    }
}

/// Which operand of an instruction is a ray's flags.
fn flags_at(op: Op) -> Option<usize> {
    Some(match op {
        Op::TraceRayKHR | Op::TraceNV | Op::TraceRayMotionNV | Op::TraceMotionNV => 1,
        Op::RayQueryInitializeKHR
        | Op::HitObjectTraceRayNV
        | Op::HitObjectTraceRayMotionNV
        | Op::HitObjectTraceRayEXT
        | Op::HitObjectTraceRayMotionEXT => 2,
        _ => return None,
    })
}

/// The value of a constant that is not specialized.
fn value(shader: &Shader, id: u32) -> Option<u32> {
    let of = shader.module.global(id).filter(|i| i.op() == Op::Constant)?;
    match of.inst.operands.first() {
        Some(Operand::LiteralBit32(v)) => Some(*v),
        _ => None,
    }
}

impl Pass for RayFlags {
    fn name(&self) -> &'static str {
        "ray-flags"
    }

    fn key(&self) -> String {
        format!("ray-flags 1 {}", self.set)
    }

    fn needs(&self, _: Stage) -> Option<Needs> {
        (self.set != 0).then(Needs::default)
    }

    fn run(&self, shader: &mut Shader) -> Result<Change> {
        let mut found = vec![];
        for f in shader.module.reachable(shader.entry.function) {
            for (b, block) in shader.module.functions[f].blocks.iter().enumerate() {
                let traces = block.body.iter().enumerate().filter_map(|(i, inst)| {
                    let at = flags_at(inst.op())?;
                    Some((f, b, i, at, inst.id_at(at)?))
                });
                found.extend(traces);
            }
        }
        if found.is_empty() {
            return Ok(Change::Unchanged);
        }
        // (an entry without counters has nothing that could be read)
        shader.reserve_counters(1).map_err(Error::shader(shader.hash))?;
        // The last first, so that places stay.
        for (f, b, i, at, flags) in found.into_iter().rev() {
            let (before, now) = match value(shader, flags) {
                Some(known) => (vec![], shader.constant(self.of(known))),
                None => self.compute(shader, flags),
            };
            let body = &mut shader.module.functions[f].blocks[b].body;
            body[i].inst.operands[at] = Operand::IdRef(now);
            body.splice(i..i, before);
        }
        Ok(Change::Changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TRACE, everywhere, function_text, of_text};

    fn pass(options: &str) -> RayFlags {
        RayFlags::new(&crate::passes::options(options)).expect("options")
    }

    /// The main function of what becomes of a text.
    fn main_of(options: &str, text: &str) -> Option<String> {
        function_text(&of_text(Box::new(pass(options)), text)?.words, "main")
    }

    fn main(between: &str, flags: &str) -> String {
        format!(
            "\
%main = OpFunction %void None %1
%2 = OpLabel
%3 = OpLoad %4 %world
{between}OpTraceRayKHR %3 {flags} %uint_0 %uint_0 %uint_0 %uint_0 %5 %float_0 %5 %float_0 %hits
OpReturn
OpFunctionEnd
"
        )
    }

    #[test]
    fn constants_become_others() {
        let Some(text) = main_of("opaque+terminate", TRACE) else { return };
        assert_eq!(text, main("", "%uint_5"));
        // Cull-opaque (64) and cull-front (32) go; terminate stays. Triangles that are skipped (256) are not culled.
        for (flags, options, becomes) in [
            (64 + 4, "opaque", 5),
            (32 + 4, "cull-back", 16 + 4),
            (256, "cull-back+opaque", 257),
            (2, "opaque", 1),
        ] {
            assert_eq!(pass(options).of(flags), becomes, "{flags} {options}");
            let text = TRACE
                .replace("%float_0 = ", &format!("%flags = OpConstant %uint {flags}\n%float_0 = "))
                .replace("OpTraceRayKHR %w %uint_0", "OpTraceRayKHR %w %flags")
                .replace(
                    "OpCapability RayTracingKHR",
                    "OpCapability RayTracingKHR\nOpCapability RayTraversalPrimitiveCullingKHR",
                );
            assert_eq!(
                main_of(options, &text),
                Some(main("", &format!("%uint_{becomes}"))),
                "{flags} {options}"
            );
        }
    }

    #[test]
    fn what_is_not_known_is_computed() {
        let text = TRACE
            .replace("%float_0 = ", "%later = OpSpecConstant %uint 0\n%float_0 = ")
            .replace("OpTraceRayKHR %w %uint_0", "OpTraceRayKHR %w %later");
        let Some(v) = of_text(Box::new(pass("opaque+cull-back")), &text) else { return };
        let body = crate::spirv::Module::read(&v.words).expect("a module");
        let id = v.facts.functions[0].id;
        let f = body.functions.iter().find(|f| f.id() == id).expect("the entry point stays");
        let ops: Vec<Op> = f.insts().map(Inst::op).collect();
        use Op::{BitwiseAnd, BitwiseOr, Load, Not, Return, ShiftRightLogical, TraceRayKHR};
        assert_eq!(
            ops,
            [Load, BitwiseAnd, BitwiseOr, Not, ShiftRightLogical, BitwiseAnd, BitwiseOr, TraceRayKHR, Return]
        );
        // What they compute, done here for all combinations of flags, is what constants become.
        let p = pass("opaque+cull-back");
        for flags in 0..1u32 << 10 {
            let now = flags & !p.clear() | p.set & !CULL_BACK | !flags >> SKIPPED_TO_CULL & CULL_BACK;
            assert_eq!(now, p.of(flags), "{flags}");
        }
    }

    #[test]
    fn every_shader_that_traces_is_changed_and_valid() {
        let all = everywhere(&|| Box::new(pass("opaque+terminate+cull-back")));
        assert!(all.len() > 5, "{}", all.len());
        assert!(pass("").needs(Stage::RayGeneration).is_none());
        for wrong in ["opaq", "opaque=1", "skip"] {
            assert!(RayFlags::new(&crate::passes::options(wrong)).is_err(), "{wrong}");
        }
        assert_ne!(pass("opaque").key(), pass("terminate").key());
    }
}

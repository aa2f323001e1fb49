//! Pass `trivial`: fragment shaders write constants to their outputs, and do nothing else. It measures nothing; it is for experiments:
//! does time go to what fragment shaders do?
//!
//! Floating-point outputs become 0.5 (depth, too), the fourth component of vectors 1, others 0. Option: `shader=HASH` takes only
//! shaders whose hash, as `extract` names files, begins so; without one it is every fragment shader.
//!
//! Guarantees: outputs are those that the shader had, but for the sample mask, which then is whole; nothing is discarded. Refuses
//! shaders in which another pass counts, as their blocks go.

use crate::pass::{Change, Error, Pass, Result};
use crate::passes::which;
use crate::rewrite::Shader;
use crate::spirv::{Inst, Op, Operand};
use crate::{Needs, Stage};
use rspirv::spirv::{BuiltIn, Decoration, StorageClass};

/// See the module's header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trivial {
    shader: String,
}

impl Trivial {
    /// With the options of the command line.
    pub fn new(options: &[String]) -> std::result::Result<Self, String> {
        let mut new = Trivial::default();
        for option in options {
            let none = || format!("pass trivial: {option:?}: there is shader=HASH");
            new.shader = which::shader(option).ok_or_else(none)?;
        }
        Ok(new)
    }
}

/// Operands of OpEntryPoint before its interface.
const INTERFACE: usize = 3;

/// The outputs of a shader: the variables, and the types that they point to.
fn outputs(shader: &Shader) -> Vec<(u32, u32)> {
    let interface: Vec<u32> = shader
        .module
        .entry_points
        .iter()
        .flat_map(|e| e.inst.operands[INTERFACE..].iter())
        .filter_map(id)
        .collect();
    let of = |variable: &u32| {
        let def = shader.module.global(*variable).filter(|i| i.op() == Op::Variable)?;
        let is_output = def.inst.operands.first() == Some(&Operand::StorageClass(StorageClass::Output));
        let pointer = shader.module.global(def.inst.result_type?)?;
        Some((*variable, pointer.inst.operands.get(1).and_then(id)?)).filter(|_| is_output)
    };
    interface.iter().filter_map(of).collect()
}

fn id(of: &Operand) -> Option<u32> {
    match of {
        Operand::IdRef(id) => Some(*id),
        _ => None,
    }
}

/// Whether a variable is the sample mask.
fn is_mask(shader: &Shader, variable: u32) -> bool {
    let masks = Operand::BuiltIn(BuiltIn::SampleMask);
    let decorated = |i: &Inst| {
        i.id_at(0) == Some(variable)
            && i.inst.operands.get(1) == Some(&Operand::Decoration(Decoration::BuiltIn))
            && i.inst.operands.get(2) == Some(&masks)
    };
    shader.module.annotations.iter().any(decorated)
}

/// The constant that an output of a type becomes.
fn constant(shader: &mut Shader, ty: u32) -> u32 {
    let of = |shader: &Shader, ty| shader.module.global(ty).cloned();
    let is_float =
        |i: &Inst| i.op() == Op::TypeFloat && i.inst.operands.first() == Some(&Operand::LiteralBit32(32));
    let number = |shader: &mut Shader, ty: u32, value: f32| {
        shader.types.get(
            &mut shader.module,
            Op::Constant,
            Some(ty),
            vec![Operand::LiteralBit32(value.to_bits())],
        )
    };
    match of(shader, ty) {
        Some(def) if is_float(&def) => number(shader, ty, 0.5),
        Some(def) if def.op() == Op::TypeVector => {
            let part = def.inst.operands.first().and_then(id);
            let n = match def.inst.operands.get(1) {
                Some(Operand::LiteralBit32(n)) => *n,
                _ => 0,
            };
            match part.filter(|p| of(shader, *p).is_some_and(|d| is_float(&d))) {
                Some(part) => {
                    let all = (0..n).map(|i| number(shader, part, if i == 3 { 1.0 } else { 0.5 }));
                    let all = all.map(Operand::IdRef).collect();
                    let made = shader.module.fresh();
                    shader.module.globals.push(Inst::new(Op::ConstantComposite, Some(ty), Some(made), all));
                    made
                }
                None => shader.types.null(&mut shader.module, ty),
            }
        }
        _ => shader.types.null(&mut shader.module, ty),
    }
}

impl Pass for Trivial {
    fn name(&self) -> &'static str {
        "trivial"
    }

    fn key(&self) -> String {
        format!("trivial 1 {}", self.shader)
    }

    fn needs(&self, stage: Stage) -> Option<Needs> {
        (stage == Stage::Fragment).then(Needs::default)
    }

    fn is_last(&self) -> bool {
        true
    }

    fn run(&self, shader: &mut Shader) -> Result<Change> {
        if !shader.hash.to_string().starts_with(&self.shader) {
            return Ok(Change::Unchanged);
        }
        // (an entry without counters has nothing that could be read)
        if shader.reserve_counters(1).map_err(Error::shader(shader.hash))?.0 != 0 {
            return Err(Error::Shader {
                shader: shader.hash,
                why: "it becomes trivial, and what other passes count in it would be lost: trivial stands alone".into(),
            });
        }
        let (masks, outputs): (Vec<_>, Vec<_>) =
            outputs(shader).into_iter().partition(|(variable, _)| is_mask(shader, *variable));
        let mut body: Vec<Inst> = vec![];
        for (variable, ty) in outputs {
            let operands = vec![Operand::IdRef(variable), Operand::IdRef(constant(shader, ty))];
            body.push(Inst::new(Op::Store, None, None, operands));
        }
        body.push(Inst::new(Op::Return, None, None, vec![]));
        for e in &mut shader.module.entry_points {
            e.inst.operands.retain(|o| masks.iter().all(|(variable, _)| *o != Operand::IdRef(*variable)));
        }
        shader.do_instead(body);
        Ok(Change::Changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spirv::Module;
    use crate::testing::{everywhere, function_text, glsl, rewritten};

    fn pass(options: &str) -> Box<dyn Pass> {
        Box::new(Trivial::new(&crate::passes::options(options)).expect("options"))
    }

    #[test]
    fn every_fragment_shader_writes_constants_and_is_valid() {
        let all = everywhere(&|| pass(""));
        assert!(all.len() > 10, "{}", all.len());
        for v in all {
            let m = Module::read(&v.words).expect("it is a module");
            let id = v.facts.functions[0].id;
            let f = m.functions.iter().find(|f| f.id() == id).expect("the entry point stays");
            let ops: Vec<Op> = f.insts().map(Inst::op).collect();
            let (last, stores) = ops.split_last().expect("it ends");
            assert!(v.stage == Stage::Fragment && *last == Op::Return, "{}", v.name);
            assert!(stores.iter().all(|op| *op == Op::Store), "{}: {ops:?}", v.name);
        }
    }

    #[test]
    fn before_and_after() {
        let source = "#version 450
            layout(location = 0) in vec4 colour;
            layout(location = 0) out vec4 shown;
            layout(location = 1) out ivec2 number;
            layout(location = 2) out float single;
            void main() {
                if (colour.a < 0.5) discard;
                shown = colour * colour;
                number = ivec2(colour.xy);
                single = colour.x;
                gl_SampleMask[0] = 1;
            }";
        let Some(module) = glsl("frag", source, &[]) else { return };
        let made = rewritten("a text", &module, "vulkan1.3", &[pass("")], Default::default());
        let text = function_text(&made[0].words, "main").expect("tools");
        let expected = "\
%main = OpFunction %void None %1
%2 = OpLabel
OpStore %shown %3
OpStore %number %4
OpStore %single %float_0_5
OpReturn
OpFunctionEnd
";
        assert_eq!(text, expected);
        let hash = made[0].shader.to_string();
        let only =
            |options: &str| rewritten("a text", &module, "vulkan1.3", &[pass(options)], Default::default());
        assert_eq!(only(&format!("shader={}", &hash[..16])).len(), 1);
        assert!(only("shader=0").is_empty() || hash.starts_with('0'));
        for wrong in ["shader=", "shader=xyz", "turns=3"] {
            assert!(Trivial::new(&crate::passes::options(wrong)).is_err(), "{wrong}");
        }
    }
}

//! Depth and stencil tests before a fragment shader stay before it.
//!
//! Drivers test early where nobody can tell. A probe that adds to a counter can tell, so that without a word all tests
//! would come after the shader: it would run for fragments that are hidden, which costs time, and counts what the
//! application's shader does not do (two thirds more invocations in a scene of 200 cubes). So a shader that would do the
//! same early and late is marked `EarlyFragmentTests`: one that ends no invocation and makes no helpers of them, sets
//! neither depth, stencil reference nor coverage, and changes no memory of its own.
//!
//! Alpha to coverage is the exception that no shader shows: with it, an early test writes the depth of samples that the
//! shader's alpha then leaves out. `early=off` is for such pipelines; `--verify-image` finds them.

use crate::Stage;
use crate::rewrite::Shader;
use crate::spirv::{Inst, Op, Operand};
use rspirv::spirv::{BuiltIn, Decoration, ExecutionMode, StorageClass};
use std::collections::HashMap;

/// Marks the shader if that changes nothing.
pub fn keep(s: &mut Shader) {
    if s.stage != Stage::Fragment || has_mode(s) || late(s) {
        return;
    }
    let operands =
        vec![Operand::IdRef(s.entry.function), Operand::ExecutionMode(ExecutionMode::EarlyFragmentTests)];
    s.module.modes.push(Inst::new(Op::ExecutionMode, None, None, operands));
}

/// It says itself when tests come, or that it sets a depth.
fn has_mode(s: &Shader) -> bool {
    s.module.modes.iter().any(|m| match m.inst.operands.get(1) {
        Some(Operand::ExecutionMode(mode)) => matches!(
            mode,
            ExecutionMode::EarlyFragmentTests
                | ExecutionMode::EarlyAndLateFragmentTestsAMD
                | ExecutionMode::DepthReplacing
                | ExecutionMode::StencilRefReplacingEXT
                | ExecutionMode::PostDepthCoverage
        ),
        _ => false,
    })
}

/// Whether anybody could tell: what the shader does is seen after the tests, or decides them.
fn late(s: &Shader) -> bool {
    let m = &s.module;
    let mask = [BuiltIn::SampleMask, BuiltIn::FragDepth, BuiltIn::FragStencilRefEXT].map(Operand::BuiltIn);
    let decides = m.annotations.iter().any(|a| {
        a.inst.operands.contains(&Operand::Decoration(Decoration::BuiltIn))
            && a.inst.operands.iter().any(|o| mask.contains(o))
            // (a mask that is read is an input)
            && a.id_at(0).and_then(|v| m.global(v)).is_none_or(|v| {
                v.inst.operands.first() != Some(&Operand::StorageClass(StorageClass::Input))
            })
    });
    decides
        || s.facts.functions.iter().any(|f| {
            let Some(f) = m.function(f.id).map(|f| &m.functions[f]) else { return true };
            let types: HashMap<u32, u32> = f
                .params
                .iter()
                .chain(f.insts())
                .filter_map(|i| Some((i.id()?, i.inst.result_type?)))
                .collect();
            let class = |pointer: u32| {
                let ty = types.get(&pointer).copied().or_else(|| m.global(pointer)?.inst.result_type)?;
                match m.global(ty)?.inst.operands.first() {
                    Some(Operand::StorageClass(class)) => Some(*class),
                    _ => None,
                }
            };
            let private = |i: &Inst, at: usize| {
                let class = i.id_at(at).and_then(class);
                matches!(class, Some(StorageClass::Function | StorageClass::Private | StorageClass::Output))
            };
            // (what passes put in does not count)
            f.insts().filter(|i| i.at.is_some()).any(|i| match i.op() {
                Op::Kill
                | Op::TerminateInvocation
                | Op::DemoteToHelperInvocation
                | Op::ImageWrite
                | Op::BeginInvocationInterlockEXT => true,
                Op::Store | Op::CopyMemory | Op::CopyMemorySized => !private(i, 0),
                op => {
                    let name = format!("{op:?}");
                    name.starts_with("Atomic") || name.starts_with("CooperativeMatrixStore")
                }
            })
        })
}

#[cfg(test)]
mod tests {
    use super::super::Blocks;
    use crate::pass::Pass;
    use crate::rewrite::Device;
    use crate::spirv::{Module, Operand};
    use crate::testing::{glsl, rewritten};
    use rspirv::spirv::ExecutionMode;

    fn early(source: &str, options: &str) -> Option<bool> {
        let source = format!(
            "#version 460
            layout(location = 0) out vec4 colour;
            layout(set = 0, binding = 0) buffer B {{ uint at[]; }} b;
            layout(set = 0, binding = 1, r32ui) uniform uimage2D image;
            {source}"
        );
        let module = glsl("frag", &source, &["--target-env", "vulkan1.1"])?;
        let passes: Vec<Box<dyn Pass>> =
            vec![Box::new(Blocks::new(&crate::passes::options(options)).expect("options"))];
        let v = rewritten(&source, &module, "vulkan1.3", &passes, Device::default()).swap_remove(0);
        let m = Module::read(&v.words).expect("it is a module");
        let modes = m
            .modes
            .iter()
            .filter(|m| m.inst.operands.contains(&Operand::ExecutionMode(ExecutionMode::EarlyFragmentTests)));
        Some(modes.count() == 1)
    }

    #[test]
    fn only_where_nobody_can_tell() {
        let main = |body: &str| format!("void main() {{ colour = vec4(1.0); {body} }}");
        for (source, expected) in [
            (main(""), true),
            (main("uint x = b.at[2]; if (x > 3u) colour.x = 0.0;"), true),
            (main("if (gl_SampleMaskIn[0] == 1) colour.x = 0.0;"), true),
            (format!("layout(early_fragment_tests) in;\n{}", main("")), true),
            (main("if (b.at[2] > 3u) discard;"), false),
            (main("b.at[3] = 1u;"), false),
            (main("atomicAdd(b.at[3], 1u);"), false),
            (main("imageStore(image, ivec2(0), uvec4(1u));"), false),
            (main("gl_FragDepth = 0.5;"), false),
            (main("gl_SampleMask[0] = 1;"), false),
            (format!("void other() {{ b.at[3] = 1u; }}\n{}", main("other();")), false),
        ] {
            let Some(got) = early(&source, "mode=lane") else { return };
            assert_eq!(got, expected, "{source}");
        }
        assert_eq!(early(&main(""), "early=off"), Some(false));
    }
}

//! Every pass over every kind of module: what comes out is valid, the same each time, and the same from the disk.

use super::Device;
use crate::spirv::{Function, Module, Operand};
use crate::testing::{every_pass, glsl, rewritten, rewritten_by_all, scenes};
use rspirv::spirv::FunctionControl;

#[test]
fn every_pass_leaves_the_scenes_shaders_valid() {
    for (path, module) in scenes() {
        rewritten_by_all(&path.display().to_string(), &module, "vulkan1.3");
    }
}

#[test]
fn probe_functions_are_marked_where_calls_are_to_stay() {
    let (_, module) = scenes().swap_remove(0);
    for keep_calls in [false, true] {
        let device = Device { keep_calls, ..Device::default() };
        for v in rewritten("a scene's", &module, "vulkan1.3", &every_pass(), device) {
            let m = Module::read(&v.words).expect("it is a module");
            let own: Vec<u32> = v.facts.functions.iter().map(|f| f.id).collect();
            let marked = |f: &Function| {
                f.def.inst.operands[0] == Operand::FunctionControl(FunctionControl::DONT_INLINE)
            };
            let brought: Vec<_> = m.functions.iter().filter(|f| !own.contains(&f.id())).collect();
            assert!(!brought.is_empty());
            assert!(brought.iter().all(|f| marked(f) == keep_calls));
        }
    }
}

#[test]
fn a_compute_shader_of_every_version() {
    let source = "#version 460
        layout(local_size_x = 8) in;
        layout(set = 0, binding = 0) buffer B { uint at[]; };
        void main() {
            uint i = gl_GlobalInvocationID.x;
            for (uint n = 0; n < at[i]; n++)
                at[i] += n;
        }";
    for n in 0..=6 {
        let target = format!("spirv1.{n}");
        let Some(module) = glsl("comp", source, &["--target-env", &target]) else { return };
        assert_eq!(module[1], 1 << 16 | n << 8);
        rewritten_by_all(&target, &module, "vulkan1.3");
    }
}

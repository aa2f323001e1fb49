use super::{Pass, table};
use crate::pass::Pass as _;
use crate::passes::by_name;
use crate::rewrite::{Device, Variant, instrument};
use crate::spirv::{Inst, Module, Op, Operand};
use crate::testing::{
    disassembled, every_pass, everywhere, function_text, glsl, of_text, rewritten, scenes, tempfile,
};
use crate::{ShaderHash, Stage};
use rspirv::spirv::{BuiltIn, ExecutionModel, StorageClass};
use trace::swizzle::Swizzle;

fn pass() -> Box<dyn crate::Pass> {
    by_name("swizzle").expect("it is registered")
}

/// A ray-generation shader that reads its launch index whole, by component, by another name, and in a function.
const USES: &str = include_str!("uses.spvasm");

#[test]
fn golden_assembly() {
    let Some(v) = of_text(pass(), USES) else { return };
    let expected = "\
%main = OpFunction %void None %1
%2 = OpLabel
%3 = OpAccessChain %_ptr_PushConstant_v2uint %4 %uint_0
%5 = OpLoad %v2uint %3
%6 = OpLoad %v3uint %id
%7 = OpLoad %v3uint %8
%9 = OpFunctionCall %v3uint %swizzled %5 %6 %7
OpStore %rr_launch %9
%10 = OpLoad %v3uint %rr_launch
%11 = OpAccessChain %_ptr_Private_uint %rr_launch %uint_1
%12 = OpLoad %uint %11
%13 = OpCopyObject %_ptr_Private_v3uint %rr_launch
%14 = OpInBoundsAccessChain %_ptr_Private_uint %13 %uint_0
%15 = OpLoad %uint %14
%16 = OpFunctionCall %uint %depth
%17 = OpIAdd %uint %12 %15
%18 = OpIAdd %uint %17 %16
%19 = OpCompositeExtract %uint %10 2
%20 = OpIAdd %uint %18 %19
%21 = OpAccessChain %_ptr_StorageBuffer_uint %22 %uint_0
OpStore %21 %20
OpReturn
OpFunctionEnd
";
    assert_eq!(function_text(&v.words, "main").as_deref(), Some(expected));
    let function = "\
%depth = OpFunction %uint None %1
%2 = OpLabel
%3 = OpAccessChain %_ptr_Private_uint %rr_launch %uint_2
%4 = OpLoad %uint %3
OpReturnValue %4
OpFunctionEnd
";
    assert_eq!(function_text(&v.words, "depth").as_deref(), Some(function));
    assert_eq!((v.counters, v.probes, v.action_counters, v.action_offset), (0, 0, 0, None));
    let at = v.given_offset.expect("it is pushed something") as usize;
    let mut words = v.words.clone();
    assert_eq!(words[at], 240);
    v.set_offsets(&mut words, 120);
    assert_eq!(words[at], 112);
}

fn reads_the_built_in(m: &Module) -> Vec<Op> {
    let operand = Operand::BuiltIn(BuiltIn::LaunchIdKHR);
    let built_ins: Vec<u32> = (m.annotations.iter())
        .filter(|a| a.inst.operands.contains(&operand))
        .filter_map(|a| a.id_at(0))
        .collect();
    let reads = |i: &&Inst| i.ids().any(|id| built_ins.contains(&id));
    m.functions.iter().flat_map(|f| f.insts()).filter(reads).map(Inst::op).collect()
}

/// Whatever else is put in: the built-in is read once, by what maps it, in every stage.
#[test]
fn every_stage_reads_its_launch_index_once() {
    let mut stages = std::collections::BTreeSet::new();
    for v in everywhere(&pass) {
        let m = Module::read(&v.words).expect("it is a module");
        assert_eq!(reads_the_built_in(&m), [Op::Load], "{} {}", v.stage.name(), v.shader);
        stages.insert(v.stage);
    }
    for stage in
        [Stage::RayGeneration, Stage::AnyHit, Stage::ClosestHit, Stage::Intersection, Stage::Callable]
    {
        assert!(stages.contains(&stage), "no {} shader uses its launch index", stage.name());
    }
}

/// Work ids are those of the work, in shaders too that do not ask for their launch index; before and behind this pass.
#[test]
fn other_passes_see_the_mapped_index() {
    let mut seen = 0;
    for (path, module) in scenes() {
        let orders = [
            &["swizzle", "paths"][..],
            &["paths", "swizzle"],
            &["counters", "its", "swizzle"],
            &["swizzle", "values", "rays", "counters"],
        ];
        for order in orders {
            let passes: Vec<_> = order.iter().map(|p| by_name(p).expect("it is registered")).collect();
            let device = Device { chosen_only: seen % 2 == 1, ..Device::default() };
            for v in rewritten(&path.display().to_string(), &module, "vulkan1.3", &passes, device) {
                if !v.stage.is_ray_tracing() {
                    continue;
                }
                seen += 1;
                let m = Module::read(&v.words).expect("it is a module");
                let reads = reads_the_built_in(&m);
                assert!(reads.is_empty() || reads == [Op::Load], "{} {reads:?}", path.display());
                let text = disassembled(&v.words).unwrap_or_default();
                if text.contains("OpFunctionCall %void %set_work ")
                    || text.contains("OpFunctionCall %void %set_work_")
                {
                    assert_eq!(reads, [Op::Load], "{}", path.display());
                }
            }
        }
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn with_every_pass_all_is_valid() {
    for (path, module) in scenes() {
        rewritten(&path.display().to_string(), &module, "vulkan1.3", &every_pass(), Device::default());
    }
}

/// The one ray-generation entry point of a GLSL source.
fn of_glsl(body: &str, device: Device) -> Option<crate::Result<Option<Variant>>> {
    let source = format!(
        "#version 460
        #extension GL_EXT_ray_tracing : require
        #extension GL_KHR_shader_subgroup_basic : require
        #extension GL_KHR_shader_subgroup_vote : require
        layout(set = 0, binding = 0) buffer B {{ uint at[]; }};
        {body}"
    );
    let words = glsl("rgen", &source, &["--target-env", "vulkan1.2"])?;
    Some(instrument(
        &words,
        ShaderHash::of(&words),
        ExecutionModel::RayGenerationKHR,
        "main",
        &[pass()],
        device,
    ))
}

#[test]
fn what_cannot_be_mapped_is_refused() {
    let plain = "void main() { at[gl_LaunchIDEXT.x] = 1u; }";
    let full = Device { no_actions: true, ..Device::default() };
    let Some(made) = of_glsl(plain, full) else { return };
    assert!(made.expect_err("there is no room").to_string().contains("leave no room"));
    let long = "layout(push_constant) uniform P { uint p[61]; };
        void main() { at[gl_LaunchIDEXT.x] = p[60]; }";
    let made = of_glsl(long, Device::default()).expect("the tool is there");
    assert!(made.expect_err("there is no room").to_string().contains("from 240 on they are the replay's"));
    let short = "layout(push_constant) uniform P { uint p[60]; };
        void main() { at[gl_LaunchIDEXT.x] = p[59]; }";
    let made = of_glsl(short, Device::default()).expect("the tool is there");
    assert!(made.expect("there is room").is_some());
}

#[test]
fn subgroup_operations_are_said_and_shaders_without_the_index_stay() {
    let asks = "void main() { at[gl_LaunchIDEXT.x] = subgroupAny(gl_LaunchIDEXT.y > 3u) ? 1u : 0u; }";
    let Some(made) = of_glsl(asks, Device::default()) else { return };
    let notes = made.expect("it is mapped").expect("it is another").notes;
    assert!(
        notes[0].contains("ray-generation shader") && notes[0].contains("subgroup operations"),
        "{notes:?}"
    );
    let plain = of_glsl("void main() { at[gl_LaunchIDEXT.x] = 1u; }", Device::default());
    assert!(
        plain.expect("the tool is there").expect("it is mapped").expect("it is another").notes.is_empty()
    );
    let none = of_glsl("void main() { at[0] = 1u; }", Device::default());
    assert!(none.expect("the tool is there").expect("nothing is wrong").is_none());
}

/// A launch index of signed integers.
#[test]
fn the_copy_is_of_the_built_ins_own_type() {
    let signed = USES
        .replace("%uint3 = OpTypeVector %uint 3", "%int = OpTypeInt 32 1\n%uint3 = OpTypeVector %int 3")
        .replace("%elementp = OpTypePointer Input %uint", "%elementp = OpTypePointer Input %int")
        .replace("= OpLoad %uint ", "= OpLoad %int ")
        .replace("%l = OpCompositeExtract %uint", "%l = OpCompositeExtract %int")
        .replace("%toint = OpTypeFunction %uint", "%toint = OpTypeFunction %int")
        .replace("OpFunction %uint", "OpFunction %int")
        .replace("OpFunctionCall %uint", "OpFunctionCall %int");
    let Some(v) = of_text(pass(), &signed) else { return };
    let m = Module::read(&v.words).expect("it is a module");
    let casts = m.functions.iter().flat_map(|f| f.insts()).filter(|i| i.op() == Op::Bitcast).count();
    assert!(casts >= 2, "in and out");
    let private = |i: &&Inst| i.inst.operands.first() == Some(&Operand::StorageClass(StorageClass::Private));
    assert_eq!(m.globals.iter().filter(|i| i.op() == Op::Variable).filter(private).count(), 1);
}

fn swizzle(size: [u32; 3], indices: Vec<u32>) -> Swizzle {
    Swizzle { frame: 3, launch: 1, size, method: "test".into(), seed: 0, indices }
}

#[test]
fn entries_hold_column_row_and_layer_apart() {
    let size = [5, 3, 2];
    let t = table(2, &swizzle(size, (0..30).rev().collect())).expect("it is a permutation");
    assert_eq!((t.set, t.frame, t.launch, t.size, t.bits), (2, 3, 1, size, 3 | 2 << 8));
    for (at, word) in t.words.iter().enumerate() {
        let [x, y, z] = [word & 7, word >> 3 & 3, word >> 5];
        assert_eq!((z * 3 + y) * 5 + x, 29 - at as u32);
    }
    // One column needs no bits.
    let t = table(0, &swizzle([1, 4, 1], vec![2, 0, 3, 1])).expect("it is a permutation");
    assert_eq!((t.bits, t.words), (2 << 8, vec![2, 0, 3, 1]));
    assert!(table(0, &swizzle([2, 1, 1], vec![1, 1])).expect_err("twice").contains("twice"));
}

#[test]
fn files_are_read_and_what_is_wrong_with_them_is_said() {
    let file = tempfile();
    let path = file.0.to_str().expect("it is text");
    std::fs::write(&file.0, swizzle([2, 2, 1], vec![3, 2, 1, 0]).bytes()).expect("it is written");
    let pass = Pass::read(&crate::passes::options(path)).expect("it is a swizzle");
    assert_eq!(pass.tables().expect("it has").tables.len(), 1);
    assert!(
        Pass::read(&crate::passes::options(&format!("{path}+{path}")))
            .expect_err("twice")
            .contains("launch 1 of frame 3")
    );
    std::fs::write(&file.0, "RRSWIZZ").expect("it is written");
    assert!(Pass::read(&crate::passes::options(path)).expect_err("it is none").contains("no swizzle"));
    assert!(
        Pass::read(&crate::passes::options("/nowhere")).is_err()
            && Pass::read(&crate::passes::options("")).is_ok()
    );
}

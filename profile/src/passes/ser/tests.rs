use super::*;
use crate::passes::by_name;
use crate::rewrite::{Device, Variant};
use crate::spirv::{Inst, Module, Op};
use crate::testing::{
    TRACE, assembled, corpus, disassembled, everywhere, function_text, invalid, of_text, rewritten, scenes,
};

fn ser(options: &str) -> Box<dyn Pass> {
    Box::new(Ser::new(&crate::passes::options(options)).expect("they are options"))
}

/// The main function of what becomes of a text.
fn main_of(options: &str, text: &str) -> Option<String> {
    function_text(&of_text(ser(options), text)?.words, "main")
}

/// The function that traces, of one call with flags that a constant holds.
fn golden(between: &str) -> String {
    format!(
        "\
%main = OpFunction %void None %1
%2 = OpLabel
%3 = OpVariable %_ptr_Function_hit_object Function
%4 = OpLoad %5 %world
OpHitObjectTraceRayNV %3 %4 %uint_0 %uint_0 %uint_0 %uint_0 %uint_0 %6 %float_0 %6 %float_0 %hits
{between}OpHitObjectExecuteShaderNV %3 %hits
OpReturn
OpFunctionEnd
"
    )
}

#[test]
fn golden_assembly() {
    let Some(v) = of_text(ser(""), TRACE) else { return };
    assert_eq!(function_text(&v.words, "main"), Some(golden("OpReorderThreadWithHitObjectNV %3\n")));
    let text = disassembled(&v.words).expect("it was assembled");
    for line in ["OpCapability ShaderInvocationReorderNV", "OpExtension \"SPV_NV_shader_invocation_reorder\""]
    {
        assert_eq!(text.matches(line).count(), 1, "{line}");
    }
    assert_eq!(main_of("reorder=no", TRACE), Some(golden("")));
    let hinted = "\
%7 = OpHitObjectIsHitNV %bool %3
%8 = OpHitObjectGetPrimitiveIndexNV %uint %3
%9 = OpBitwiseAnd %uint %8 %uint_31
%10 = OpSelect %uint %7 %9 %uint_0
OpReorderThreadWithHitObjectNV %3 %10 %uint_5
";
    assert_eq!(main_of("hints=primitive:5", TRACE), Some(golden(hinted)));
}

/// Flags that skip closest-hit shaders, and flags that nobody knows yet, are looked at.
#[test]
fn flags_are_looked_at() {
    let text = TRACE
        .replace("%float_0 = ", "%skip = OpConstant %uint 12\n%later = OpSpecConstant %uint 0\n%float_0 = ")
        .replace(
            "OpReturn",
            "OpTraceRayKHR %w %skip %uint_0 %uint_0 %uint_0 %uint_0 %zero %float_0 %zero %float_0 %hits\n\
             OpTraceRayKHR %w %later %uint_0 %uint_0 %uint_0 %uint_0 %zero %float_0 %zero %float_0 %hits\nOpReturn",
        );
    let Some(v) = of_text(ser("reorder=no"), &text) else { return };
    let main = function_text(&v.words, "main").expect("it has one");
    let calls: Vec<&str> =
        main.lines().filter(|l| l.contains("ser_execute") || l.contains("ExecuteShader")).collect();
    assert_eq!(
        calls,
        [
            "OpHitObjectExecuteShaderNV %3 %hits",
            "OpFunctionCall %void %ser_execute %3 %skip",
            "OpFunctionCall %void %ser_execute %3 %later"
        ]
        .map(|l| l.replace("%skip", "%uint_12").replace("%later", "%7"))
    );
    let expected = "\
%ser_execute = OpFunction %void None %1
%2 = OpFunctionParameter %_ptr_Function_hit_object
%3 = OpFunctionParameter %uint
%4 = OpLabel
%5 = OpHitObjectIsMissNV %bool %2
%6 = OpBitwiseAnd %uint %3 %uint_8
%7 = OpIEqual %bool %6 %uint_0
%8 = OpLogicalOr %bool %5 %7
OpSelectionMerge %9 None
OpBranchConditional %8 %10 %9
%10 = OpLabel
OpHitObjectExecuteShaderNV %2 %hits
OpBranch %9
%9 = OpLabel
OpReturn
OpFunctionEnd
";
    assert_eq!(function_text(&v.words, "ser_execute").as_deref(), Some(expected));
}

fn count(v: &Variant, op: Op) -> usize {
    let m = Module::read(&v.words).expect("it is a module");
    m.functions.iter().flat_map(|f| f.insts()).filter(|i| i.op() == op).count()
}

/// In scenes and corpus: ray generation shaders alone, each call of them, and nothing that was there is lost.
#[test]
fn every_call_of_ray_generation_and_no_other() {
    let all = everywhere(&|| ser(""));
    assert!(all.len() >= 2, "{}", all.len());
    let modules: Vec<_> = scenes().into_iter().chain(corpus()).map(|m| m.1).collect();
    for v in &all {
        assert_eq!(v.stage, Stage::RayGeneration);
        let original = modules.iter().find(|m| crate::ShaderHash::of(m) == v.shader).expect("it was given");
        let m = Module::read(original).expect("it is a module");
        let calls = m.functions.iter().flat_map(|f| f.insts()).filter(|i| i.op() == Op::TraceRayKHR).count();
        assert!(calls > 0 && count(v, Op::TraceRayKHR) == 0);
        for op in [Op::HitObjectTraceRayNV, Op::ReorderThreadWithHitObjectNV] {
            assert_eq!(count(v, op), calls, "{}", v.name);
        }
    }
}

/// What others put around a call stays around the three, wherever the pass stands in the plan.
#[test]
fn it_runs_behind_the_others() {
    let Some(module) = assembled(TRACE, "vulkan1.2") else { return };
    let text = |names: &[&str]| {
        let passes: Vec<_> = names.iter().map(|n| by_name(n).expect("it is registered")).collect();
        let v = rewritten("a text", &module, "vulkan1.3", &passes, Device::default()).pop().expect("one");
        function_text(&v.words, "main").expect("it has one")
    };
    let others = ["paths", "timeline", "simt"];
    let first = text(&[&["ser"][..], &others].concat());
    assert_eq!(first, text(&[&others[..], &["ser"]].concat()));
    let places: Vec<usize> =
        ["%paths_trace", "OpHitObjectTraceRay", "OpReorder", "ExecuteShader", "%timeline_end"]
            .iter()
            .map(|w| first.find(w).unwrap_or_else(|| panic!("no {w} in {first}")))
            .collect();
    assert!(places.is_sorted(), "{first}");
}

/// The other extension: the same instructions by its own names, which the spirv-val at hand may not know yet.
#[test]
fn the_other_extension_has_the_same_shape() {
    let Some(module) = assembled(TRACE, "vulkan1.2") else { return };
    let make = |options: &str, device| {
        let passes = [ser(options)];
        let model = rspirv::spirv::ExecutionModel::RayGenerationKHR;
        let hash = crate::ShaderHash::of(&module);
        crate::rewrite::instrument(&module, hash, model, "main", &passes, device)
            .expect("it is sound")
            .expect("it traces")
    };
    let ops = |v: &Variant| {
        let m = Module::read(&v.words).expect("it is a module");
        m.functions.iter().flat_map(|f| f.insts()).map(Inst::op).collect::<Vec<_>>()
    };
    let ext = make("api=ext+hints=3", Device::default());
    let theirs = make("hints=3", Device { reorder_ext: true, ..Device::default() });
    assert_eq!(ext.words, theirs.words);
    let named =
        |ops: Vec<Op>| ops.into_iter().map(|o| format!("{o:?}").replace("EXT", "NV")).collect::<Vec<_>>();
    assert_eq!(named(ops(&ext)), named(ops(&make("hints=3", Device::default()))));
    assert!(ops(&ext).contains(&Op::ReorderThreadWithHitObjectEXT));
    if let Some(why) = invalid(&ext.words, "vulkan1.3") {
        assert!(why.contains("Invalid capability"), "{why}");
    }
}

#[test]
fn motion_and_called_functions() {
    let text = TRACE
        .replace(
            "OpCapability RayTracingKHR\n",
            "OpCapability RayTracingKHR\nOpCapability RayTracingMotionBlurNV\n",
        )
        .replace(
            "OpExtension \"SPV_KHR_ray_tracing\"\n",
            "OpExtension \"SPV_KHR_ray_tracing\"\nOpExtension \"SPV_NV_ray_tracing_motion_blur\"\n",
        )
        .replace("OpTraceRayKHR %w", "%n = OpFunctionCall %void %inner\nOpTraceRayKHR %w")
        + "%inner = OpFunction %void None %to\n%in = OpLabel\n%v = OpLoad %tlas %world\n\
           OpTraceRayMotionNV %v %uint_0 %uint_0 %uint_0 %uint_0 %uint_0 %zero %float_0 %zero %float_0 %float_0 %hits\n\
           OpReturn\nOpFunctionEnd\n";
    let Some(v) = of_text(ser(""), &text) else { return };
    assert_eq!((count(&v, Op::HitObjectTraceRayNV), count(&v, Op::HitObjectTraceRayMotionNV)), (1, 1));
    assert_eq!((count(&v, Op::Variable), count(&v, Op::HitObjectExecuteShaderNV)), (2, 2));
    assert_eq!(count(&v, Op::TraceRayMotionNV), 0);
}

#[test]
fn options() {
    for (text, key) in [
        ("", "ser 1 reorder"),
        ("reorder=no", "ser 1 stay"),
        ("hints=4", "ser 1 reorder Instance 4"),
        ("hints=geometry:2+api=ext", "ser 1 reorder Geometry 2 Ext"),
    ] {
        assert_eq!(Ser::new(&crate::passes::options(text)).expect(text).key(), key);
    }
    for text in ["hints=0", "hints=17", "hints=shader:2", "hints=2+reorder=no", "again", "api=amd"] {
        assert!(Ser::new(&crate::passes::options(text)).is_err(), "{text}");
    }
    for (api, needs) in
        [("api=nv", (false, true, false)), ("api=ext", (false, false, true)), ("", (true, false, false))]
    {
        let n = ser(api).needs(Stage::RayGeneration).expect("it rewrites those");
        assert_eq!((n.reorder, n.reorder_nv, n.reorder_ext), needs);
        assert!(ser(api).needs(Stage::ClosestHit).is_none());
    }
}

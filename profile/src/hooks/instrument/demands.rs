//! What a plan asks of a device, as features; and the refusal of a device that lacks any, before anything runs.
//!
//! Guarantees: one message names every missing thing with the passes that want it, and says what to type. Only stages that
//! the capture has chosen shaders of count.

use super::plan::Plan;
use crate::pass::Pass;
use crate::rewrite::{Device, Leaves, Replays};
use crate::{Needs, Stage};
use replay::ash::{self, vk};
use replay::error::{Error, Kind, Result};
use replay::hook::Feature;
use replay::vulkan::Vulkan;
use std::collections::BTreeMap;

const CORE: &str = "VkPhysicalDeviceFeatures";

const fn core(member: &'static str) -> Feature {
    Feature { structure: CORE, member, extension: "", core: 0 }
}

const ADDRESSES: Feature = Feature {
    structure: "VkPhysicalDeviceBufferDeviceAddressFeatures",
    member: "bufferDeviceAddress",
    extension: "VK_KHR_buffer_device_address",
    core: vk::API_VERSION_1_2,
};
const VERTEX_STORES: Feature = core("vertexPipelineStoresAndAtomics");
const FRAGMENT_STORES: Feature = core("fragmentStoresAndAtomics");
const INT_64: Feature = core("shaderInt64");
const ATOMIC_64: Feature = Feature {
    structure: "VkPhysicalDeviceShaderAtomicInt64Features",
    member: "shaderBufferInt64Atomics",
    extension: "VK_KHR_shader_atomic_int64",
    core: vk::API_VERSION_1_2,
};

const fn clock(member: &'static str) -> Feature {
    Feature {
        structure: "VkPhysicalDeviceShaderClockFeaturesKHR",
        member,
        extension: "VK_KHR_shader_clock",
        core: 0,
    }
}

const SM_BUILTINS: Feature = Feature {
    structure: "VkPhysicalDeviceShaderSMBuiltinsFeaturesNV",
    member: "shaderSMBuiltins",
    extension: "VK_NV_shader_sm_builtins",
    core: 0,
};

const HALF_FLOATS: Feature = Feature {
    structure: "VkPhysicalDeviceShaderFloat16Int8Features",
    member: "shaderFloat16",
    extension: "VK_KHR_shader_float16_int8",
    core: vk::API_VERSION_1_2,
};

/// By which extensions invocations are reordered: the first where there are both.
const REORDER: [Feature; 2] = [
    Feature {
        structure: "VkPhysicalDeviceRayTracingInvocationReorderFeaturesNV",
        member: "rayTracingInvocationReorder",
        extension: "VK_NV_ray_tracing_invocation_reorder",
        core: 0,
    },
    Feature {
        structure: "VkPhysicalDeviceRayTracingInvocationReorderFeaturesEXT",
        member: "rayTracingInvocationReorder",
        extension: "VK_EXT_ray_tracing_invocation_reorder",
        core: 0,
    },
];

/// The Vulkan version that shaders with subgroup operations take.
pub const VERSION: u32 = vk::API_VERSION_1_1;

/// The features that one pass's shaders of a stage take.
fn of(needs: &Needs, stage: Stage) -> Vec<Feature> {
    // All memory of probes is reached by address, whether the pass says so or not.
    let Needs {
        buffer_address: _,
        atomic_64,
        subgroups: _,
        clock: reads_clock,
        own_clock,
        some_clock: _,
        own_clock_if_there: _,
        sm_if_there: _,
        sm_builtins,
        reorder: _,
        reorder_nv,
        reorder_ext,
        unordered_hits: _,
        half_floats,
        actions: _,
        launches: _,
        any_hits: _,
        alone_if_need: _,
        tables: _,
    } = *needs;
    let mut out = vec![ADDRESSES];
    match stage {
        Stage::Fragment => out.push(FRAGMENT_STORES),
        Stage::Vertex | Stage::TessellationControl | Stage::TessellationEvaluation | Stage::Geometry => {
            out.push(VERTEX_STORES);
        }
        _ => {}
    }
    if atomic_64 {
        out.extend([INT_64, ATOMIC_64]);
    }
    if reads_clock {
        out.push(clock("shaderDeviceClock"));
    }
    if own_clock {
        out.push(clock("shaderSubgroupClock"));
    }
    if sm_builtins {
        out.push(SM_BUILTINS);
    }
    out.extend(half_floats.then_some(HALF_FLOATS));
    out.extend(reorder_nv.then_some(REORDER[0]));
    out.extend(reorder_ext.then_some(REORDER[1]));
    out
}

/// Every feature, with the passes that want it.
fn wanted(plan: &Plan) -> Vec<(Feature, Vec<&'static str>)> {
    let mut all: Vec<(Feature, Vec<&'static str>)> = Vec::new();
    for pass in plan.variants.passes() {
        let asked = plan.stages.iter().filter_map(|s| Some(of(&pass.needs(*s)?, *s)));
        for f in asked.flatten() {
            match all.iter_mut().find(|a| a.0 == f) {
                Some((_, passes)) if passes.contains(&pass.name()) => {}
                Some((_, passes)) => passes.push(pass.name()),
                None => all.push((f, vec![pass.name()])),
            }
        }
    }
    all
}

/// The features to turn on.
pub fn features(plan: &Plan) -> Vec<Feature> {
    wanted(plan).into_iter().map(|f| f.0).collect()
}

/// Those that are made use of where they are.
pub fn welcome(plan: &Plan) -> Vec<Feature> {
    let mut out =
        if plan.stages.iter().any(|s| plan.wants_stage(*s)) { vec![INT_64, ATOMIC_64] } else { vec![] };
    if plan.any(|n| n.some_clock) {
        out.extend(CLOCKS.map(clock));
    }
    if plan.any(|n| n.own_clock_if_there) {
        out.push(clock(CLOCKS[1]));
    }
    if plan.any(|n| n.sm_if_there) {
        out.push(SM_BUILTINS);
    }
    if plan.any(|n| n.reorder) {
        out.extend(REORDER);
    }
    out
}

/// The device's, and the subgroup's.
const CLOCKS: [&str; 2] = ["shaderDeviceClock", "shaderSubgroupClock"];

/// What a physical device offers to rewriting.
pub fn offers(plan: &Plan, vk: &Vulkan, gpu_id: u64) -> Device {
    let narrow = plan.narrow || !vk.lacks(gpu_id, &[INT_64, ATOMIC_64]).is_empty();
    let lone_any_hits = !plan.assume_subgroups && vk.gpu(gpu_id).is_some_and(hangs);
    let chosen_only = plan.select.places.is_some();
    let keep_calls = plan.keep_calls;
    let has = |f| vk.lacks(gpu_id, &[f]).is_empty();
    let own_clock = !has(clock(CLOCKS[0])) && has(clock(CLOCKS[1]));
    let here = vk.gpu(gpu_id).and_then(|g| subgroups(vk, vk.instance(g.instance)?, g));
    Device {
        subgroup_size: here.map_or(0, |s| s.size),
        subgroup_clock: has(clock(CLOCKS[1])),
        atomic_64: !narrow,
        keep_calls,
        lone_any_hits,
        no_actions: false,
        own_clock,
        sm_builtins: has(SM_BUILTINS),
        reorder_ext: !has(REORDER[0]) && has(REORDER[1]),
        chosen_only,
        sampling: plan.sampling,
        replays: Replays { asked: plan.replays, now: 0 },
    }
}

const NVIDIA: u32 = 0x10de;

/// NVIDIA's driver 580 on an H200, which has no hardware to trace rays and so no ray queries: with elect, ballot or broadcast
/// in any-hit shaders it never ends, nor with them in ray generation shaders that execute hit objects which were not reordered.
/// In all other places, and without them, all is well.
fn hangs(gpu: &replay::vulkan::Gpu) -> bool {
    gpu.properties.vendor_id == NVIDIA && !gpu.has("VK_KHR_ray_query")
}

/// Of passes together, those that ask subgroups in ray generation shaders where hit objects are executed without reordering.
fn around_unordered_hits(passes: &[Box<dyn Pass>]) -> Vec<&'static str> {
    let needs = |p: &dyn Pass| p.needs(Stage::RayGeneration).unwrap_or_default();
    if !passes.iter().any(|p| needs(&**p).unordered_hits) {
        return vec![];
    }
    passes.iter().filter(|p| needs(&***p).subgroups).map(|p| p.name()).collect()
}

/// Why a pass leaves an entry point alone.
pub fn reason(leaves: Leaves) -> &'static str {
    match leaves {
        Leaves::LoneAnyHit => LONE_ANY_HITS,
        Leaves::NoActions => super::per_action::NO_ROOM,
    }
}

const LONE_ANY_HITS: &str = "subgroup operations in any-hit shaders hang this device (blocks:mode=lane needs none; --assume-subgroups tries)";

fn bit(stage: Stage) -> vk::ShaderStageFlags {
    use vk::ShaderStageFlags as F;
    match stage {
        Stage::Vertex => F::VERTEX,
        Stage::TessellationControl => F::TESSELLATION_CONTROL,
        Stage::TessellationEvaluation => F::TESSELLATION_EVALUATION,
        Stage::Geometry => F::GEOMETRY,
        Stage::Fragment => F::FRAGMENT,
        Stage::Compute => F::COMPUTE,
        Stage::Task => F::TASK_EXT,
        Stage::Mesh => F::MESH_EXT,
        Stage::RayGeneration => F::RAYGEN_KHR,
        Stage::AnyHit => F::ANY_HIT_KHR,
        Stage::ClosestHit => F::CLOSEST_HIT_KHR,
        Stage::Miss => F::MISS_KHR,
        Stage::Intersection => F::INTERSECTION_KHR,
        Stage::Callable => F::CALLABLE_KHR,
    }
}

/// The stage of a pipeline's stage.
pub fn stage_of_bit(bits: vk::ShaderStageFlags) -> Option<Stage> {
    Stage::ALL.into_iter().find(|s| bit(*s) == bits)
}

/// What a device says about subgroups.
pub struct Subgroups {
    /// Invocations in a full one.
    pub size: u32,
    stages: vk::ShaderStageFlags,
    operations: vk::SubgroupFeatureFlags,
}

/// Of the physical device with this captured id; `None` where it has no Vulkan 1.1.
pub fn subgroups(vk: &Vulkan, instance: &ash::Instance, gpu: &replay::vulkan::Gpu) -> Option<Subgroups> {
    if vk.device_version(gpu) < VERSION {
        return None;
    }
    let mut found = vk::PhysicalDeviceSubgroupProperties::default();
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut found);
    // SAFETY: a chain of a known struct, on a device of at least Vulkan 1.1.
    unsafe { instance.get_physical_device_properties2(gpu.handle, &mut all) };
    Some(Subgroups {
        size: found.subgroup_size,
        stages: found.supported_stages,
        operations: found.supported_operations,
    })
}

/// Refuses a device that lacks anything that the plan wants.
pub fn refuse(plan: &Plan, vk: &Vulkan, gpu_id: u64) -> Result<()> {
    let wanted = wanted(plan);
    let Some(gpu) = vk.gpu(gpu_id) else { return Ok(()) };
    let name = gpu.name();
    let Some(here) = vk.instance(gpu.instance).and_then(|i| subgroups(vk, i, gpu)) else {
        let text = format!("{name} has no Vulkan 1.1, which instrumented shaders need");
        return Err(Error::new(Kind::Unsupported, text));
    };
    let features: Vec<Feature> = wanted.iter().map(|w| w.0).collect();
    let missing = vk.lacks(gpu_id, &features);
    let mut lines: Vec<String> = wanted
        .iter()
        .filter(|w| missing.contains(&w.0))
        .map(|(f, passes)| format!("{}.{} (for {})", f.structure, f.member, passes.join(", ")))
        .collect();
    if plan.any(|n| n.some_clock) && vk.lacks(gpu_id, &CLOCKS.map(clock)).len() == CLOCKS.len() {
        lines.push(format!(
            "VkPhysicalDeviceShaderClockFeaturesKHR.{} or .{} (for timeline)",
            CLOCKS[0], CLOCKS[1]
        ));
    }
    if plan.any(|n| n.reorder) && vk.lacks(gpu_id, &REORDER).len() == REORDER.len() {
        let [nv, ext] = REORDER.map(|f| f.extension);
        lines.push(format!("{} of {nv} or {ext} (for ser)", REORDER[0].member));
    }
    let around = around_unordered_hits(plan.variants.passes());
    if plan.stages.contains(&Stage::RayGeneration)
        && !around.is_empty()
        && hangs(gpu)
        && !plan.assume_subgroups
    {
        lines.push(format!(
            "subgroup operations (for {}) beside ser:reorder=no: they hang this device until it is reset or the machine is \
             restarted; replay them apart, or with ser (--assume-subgroups tries)",
            around.join(", ")
        ));
    }
    let basic = vk::SubgroupFeatureFlags::BASIC
        | vk::SubgroupFeatureFlags::BALLOT
        | vk::SubgroupFeatureFlags::ARITHMETIC;
    let mut without: BTreeMap<Stage, Vec<&'static str>> = BTreeMap::new();
    for pass in plan.variants.passes() {
        for &stage in &plan.stages {
            if pass.needs(stage).is_some_and(|n| n.subgroups) && !here.stages.contains(bit(stage)) {
                without.entry(stage).or_default().push(pass.name());
            }
        }
    }
    let some_subgroups = plan
        .variants
        .passes()
        .iter()
        .any(|p| plan.stages.iter().any(|s| p.needs(*s).is_some_and(|n| n.subgroups)));
    if some_subgroups && !here.operations.contains(basic) {
        lines.push("subgroup ballots (VkPhysicalDeviceSubgroupProperties.supportedOperations)".to_owned());
    }
    let mut advice = String::new();
    if !without.is_empty() && !plan.assume_subgroups {
        for (stage, passes) in &without {
            lines.push(format!(
                "subgroup operations in {} shaders (for {})",
                stage.name(),
                passes.join(", ")
            ));
        }
        let able: Vec<&str> =
            plan.stages.iter().filter(|s| !without.contains_key(s)).map(|s| s.name()).collect();
        advice = "--assume-subgroups takes subgroup operations for granted in every stage (llvmpipe is known to have \
                  them all)"
            .to_owned();
        if !able.is_empty() {
            advice += &format!("; --stages {} leaves the others as they are", able.join(","));
        }
    }
    if lines.is_empty() {
        return Ok(());
    }
    let error = Error::new(Kind::Unsupported, format!("{name} lacks what the passes ask for:"));
    let error = lines.iter().fold(error, |e, line| e.with(&format!("  {line}")));
    Err(if advice.is_empty() { error } else { error.with(&advice) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::by_name;

    #[test]
    fn every_stage_has_its_bit() {
        for s in Stage::ALL {
            assert_eq!(stage_of_bit(bit(s)), Some(s));
        }
        assert_eq!(stage_of_bit(vk::ShaderStageFlags::ALL_GRAPHICS), None);
    }

    #[test]
    fn what_hangs_beside_hit_objects_that_are_not_reordered() {
        let around = |names: &[&str]| {
            let passes: Vec<_> = names.iter().map(|n| by_name(n).expect("it is registered")).collect();
            around_unordered_hits(&passes)
        };
        assert_eq!(around(&["rays", "shader-clock", "simt", "ser:reorder=no"]), ["rays", "simt"]);
        assert!(around(&["shader-clock", "ser:reorder=no"]).is_empty(), "it asks no subgroup");
        assert!(around(&["rays", "ser"]).is_empty() && around(&["rays", "simt"]).is_empty());
    }

    #[test]
    fn stages_say_what_they_take() {
        let plain = Needs::default();
        assert_eq!(of(&plain, Stage::Compute), [ADDRESSES]);
        assert_eq!(of(&plain, Stage::Geometry), [ADDRESSES, VERTEX_STORES]);
        let all = Needs { atomic_64: true, clock: true, own_clock: true, sm_builtins: true, ..plain };
        assert_eq!(of(&all, Stage::Fragment).len(), 7);
        let clocks = [clock("shaderDeviceClock"), clock("shaderSubgroupClock")];
        assert_eq!(of(&Needs { clock: true, ..plain }, Stage::Compute), [ADDRESSES, clocks[0]]);
        assert_eq!(of(&Needs { own_clock: true, ..plain }, Stage::Compute), [ADDRESSES, clocks[1]]);
        assert_eq!(of(&Needs { half_floats: true, ..plain }, Stage::Compute), [ADDRESSES, HALF_FLOATS]);
    }
}

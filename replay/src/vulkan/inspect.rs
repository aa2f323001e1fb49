//! What this machine's devices can do for a replay and for instrumenting one, feature by feature.
//!
//! Asks the driver; makes no device. Guarantees: a feature is reported as there only if the driver says so in the
//! struct that has it, and only if the extension (or version) that brings the struct is there. Refuses nothing: no
//! device is an empty list.

use super::gpu::{choose, wished};
use super::instance::instance_extensions;
use super::{Gpu, list_gpus};
use crate::error::{Error, Kind, Result, Vk};
use ash::vk;
use gfxr_parse::schema::generated::STRUCTS;
use gfxr_parse::schema::{Ty, struct_named};

/// One thing a device has or lacks, and what it is good for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ability {
    /// What: a feature as Vulkan names it.
    pub what: &'static str,
    /// What it is needed for here.
    pub for_what: &'static str,
    /// The device has it.
    pub here: bool,
}

/// A device and its abilities.
#[derive(Clone, Debug)]
pub struct DeviceReport {
    /// Number for `--gpu`.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// "CPU", "discrete GPU" and so on.
    pub kind: &'static str,
    /// Vulkan version.
    pub api: (u32, u32, u32),
    /// Driver name and its own version text.
    pub driver: String,
    /// Driver UUID (hexadecimal).
    pub driver_uuid: String,
    /// UUID of its pipeline cache (hexadecimal): another one means another compiler.
    pub pipeline_cache_uuid: String,
    /// Nanoseconds a timestamp tick; 0 without timestamps.
    pub timestamp_period_ns: f32,
    /// Valid timestamp bits by queue family.
    pub timestamp_bits: Vec<u32>,
    /// Subgroup size.
    pub subgroup_size: u32,
    /// Stages with subgroup operations.
    pub subgroup_stages: Vec<&'static str>,
    /// Device-local memory in bytes.
    pub memory_bytes: u64,
    /// What it can do.
    pub abilities: Vec<Ability>,
}

/// (feature, extension that brings it or "" for core, struct, member, what for).
const ASKED: &[(&str, &str, &str, &str, &str)] = &[
    (
        "rayTracingPipeline",
        "VK_KHR_ray_tracing_pipeline",
        "VkPhysicalDeviceRayTracingPipelineFeaturesKHR",
        "rayTracingPipeline",
        "replay: ray-tracing pipelines",
    ),
    (
        "accelerationStructure",
        "VK_KHR_acceleration_structure",
        "VkPhysicalDeviceAccelerationStructureFeaturesKHR",
        "accelerationStructure",
        "replay: ray tracing of any kind",
    ),
    (
        "rayQuery",
        "VK_KHR_ray_query",
        "VkPhysicalDeviceRayQueryFeaturesKHR",
        "rayQuery",
        "replay: ray queries",
    ),
    (
        "meshShader",
        "VK_EXT_mesh_shader",
        "VkPhysicalDeviceMeshShaderFeaturesEXT",
        "meshShader",
        "replay: mesh pipelines",
    ),
    (
        "descriptorBuffer",
        "VK_EXT_descriptor_buffer",
        "VkPhysicalDeviceDescriptorBufferFeaturesEXT",
        "descriptorBuffer",
        "replay: descriptor buffers",
    ),
    (
        "shaderObject",
        "VK_EXT_shader_object",
        "VkPhysicalDeviceShaderObjectFeaturesEXT",
        "shaderObject",
        "replay: shader objects",
    ),
    (
        "deviceGeneratedCommands",
        "VK_EXT_device_generated_commands",
        "VkPhysicalDeviceDeviceGeneratedCommandsFeaturesEXT",
        "deviceGeneratedCommands",
        "replay: generated commands",
    ),
    (
        "bufferDeviceAddressCaptureReplay",
        "VK_KHR_buffer_device_address",
        "VkPhysicalDeviceBufferDeviceAddressFeatures",
        "bufferDeviceAddressCaptureReplay",
        "replay: addresses exactly as captured",
    ),
    (
        "accelerationStructureCaptureReplay",
        "VK_KHR_acceleration_structure",
        "VkPhysicalDeviceAccelerationStructureFeaturesKHR",
        "accelerationStructureCaptureReplay",
        "replay: acceleration structures as captured",
    ),
    (
        "rayTracingPipelineShaderGroupHandleCaptureReplay",
        "VK_KHR_ray_tracing_pipeline",
        "VkPhysicalDeviceRayTracingPipelineFeaturesKHR",
        "rayTracingPipelineShaderGroupHandleCaptureReplay",
        "replay: shader-group handles as captured",
    ),
    (
        "bufferDeviceAddress",
        "VK_KHR_buffer_device_address",
        "VkPhysicalDeviceBufferDeviceAddressFeatures",
        "bufferDeviceAddress",
        "instrument: the trace buffer",
    ),
    (
        "shaderInt64",
        "",
        "VkPhysicalDeviceFeatures2",
        "shaderInt64",
        "instrument: 64-bit addresses and clocks",
    ),
    (
        "fragmentStoresAndAtomics",
        "",
        "VkPhysicalDeviceFeatures2",
        "fragmentStoresAndAtomics",
        "instrument: fragment shaders",
    ),
    (
        "vertexPipelineStoresAndAtomics",
        "",
        "VkPhysicalDeviceFeatures2",
        "vertexPipelineStoresAndAtomics",
        "instrument: vertex, tessellation and geometry shaders",
    ),
    (
        "shaderBufferInt64Atomics",
        "VK_KHR_shader_atomic_int64",
        "VkPhysicalDeviceShaderAtomicInt64Features",
        "shaderBufferInt64Atomics",
        "instrument: 64-bit counters",
    ),
    (
        "shaderSubgroupClock",
        "VK_KHR_shader_clock",
        "VkPhysicalDeviceShaderClockFeaturesKHR",
        "shaderSubgroupClock",
        "instrument: timelines",
    ),
    (
        "shaderDeviceClock",
        "VK_KHR_shader_clock",
        "VkPhysicalDeviceShaderClockFeaturesKHR",
        "shaderDeviceClock",
        "instrument: timelines on one clock",
    ),
    (
        "shaderSMBuiltins",
        "VK_NV_shader_sm_builtins",
        "VkPhysicalDeviceShaderSMBuiltinsFeaturesNV",
        "shaderSMBuiltins",
        "instrument: SM and warp ids",
    ),
    (
        "shaderFloat16",
        "VK_KHR_shader_float16_int8",
        "VkPhysicalDeviceShaderFloat16Int8Features",
        "shaderFloat16",
        "instrument: arithmetic with 16-bit floats",
    ),
    (
        "rayTracingInvocationReorder",
        "VK_NV_ray_tracing_invocation_reorder",
        "VkPhysicalDeviceRayTracingInvocationReorderFeaturesNV",
        "rayTracingInvocationReorder",
        "instrument: shader execution reordering",
    ),
    (
        "shaderInstrumentation",
        "VK_ARM_shader_instrumentation",
        "VkPhysicalDeviceShaderInstrumentationFeaturesARM",
        "shaderInstrumentation",
        "measure: the driver's own counters",
    ),
    (
        "pipelineExecutableInfo",
        "VK_KHR_pipeline_executable_properties",
        "VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR",
        "pipelineExecutableInfo",
        "measure: what shaders compiled to",
    ),
];

/// Every device the loader finds.
pub fn devices() -> Result<Vec<DeviceReport>> {
    let all =
        with_gpus(|entry, instance, gpus| Ok(gpus.iter().map(|g| report(entry, instance, g)).collect()))?;
    Ok(all.unwrap_or_default())
}

/// Whether the device that is asked for (`--gpu`), or each that there is, has an ability.
pub fn able(wish: Option<&str>, what: &str) -> Result<bool> {
    let all = devices()?;
    let names: Vec<String> = all.iter().map(|d| d.name.clone()).collect();
    let chosen = match wish {
        None => &all[..],
        Some(wish) => wished(&names, wish).map_or(&[][..], |i| &all[i..=i]),
    };
    let has = |d: &DeviceReport| d.abilities.iter().any(|a| a.what == what && a.here);
    Ok(!chosen.is_empty() && chosen.iter().all(has))
}

/// maxBoundDescriptorSets of the device that a replay with this wish (`--gpu`) chooses, if nothing in the capture speaks for
/// another one.
pub fn most_sets(wish: Option<&str>) -> Result<u32> {
    let of = |_: &ash::Entry, _: &ash::Instance, gpus: &[Gpu]| {
        Ok(choose(gpus, wish, None)?.properties.limits.max_bound_descriptor_sets)
    };
    with_gpus(of)?.ok_or_else(|| Error::new(Kind::NoDevice, "the Vulkan loader finds no device"))
}

/// Asks all devices something; none where there is no driver.
fn with_gpus<T>(ask: impl FnOnce(&ash::Entry, &ash::Instance, &[Gpu]) -> Result<T>) -> Result<Option<T>> {
    // SAFETY: loading the system's loader runs its initialisers, which is what the user asked for.
    let entry = unsafe { ash::Entry::load() }
        .map_err(|e| Error::new(Kind::NoDevice, format!("no Vulkan loader on this machine ({e})")))?;
    let extensions = instance_extensions(&entry, false)?;
    let properties2 = c"VK_KHR_get_physical_device_properties2";
    if !extensions.iter().any(|e| e.as_bytes() == properties2.to_bytes()) {
        return Ok(None);
    }
    let names = [properties2.as_ptr()];
    let app = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
    let info = vk::InstanceCreateInfo::default().application_info(&app).enabled_extension_names(&names);
    // SAFETY: a plain creation.
    let instance = match unsafe { entry.create_instance(&info, None) } {
        Err(vk::Result::ERROR_INCOMPATIBLE_DRIVER) => return Ok(None),
        r => r.what("vkCreateInstance")?,
    };
    let r = list_gpus(&instance).and_then(|gpus| ask(&entry, &instance, &gpus)).map(Some);
    // SAFETY: nothing was made from it.
    unsafe { instance.destroy_instance(None) };
    r
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn report(entry: &ash::Entry, instance: &ash::Instance, gpu: &Gpu) -> DeviceReport {
    let query = ash::khr::get_physical_device_properties2::Instance::new(entry, instance);
    let mut subgroup = vk::PhysicalDeviceSubgroupProperties::default();
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let mut id = vk::PhysicalDeviceIDProperties::default();
    let mut all = vk::PhysicalDeviceProperties2::default()
        .push_next(&mut subgroup)
        .push_next(&mut driver)
        .push_next(&mut id);
    // SAFETY: a chain of structs that drivers which do not know them leave alone.
    unsafe { query.get_physical_device_properties2(gpu.handle, &mut all) };
    let text = |r: Result<&std::ffi::CStr, std::ffi::FromBytesUntilNulError>| {
        r.map_or_else(|_| String::new(), |c| c.to_string_lossy().into_owned())
    };
    let v = gpu.properties.api_version;
    let api = (vk::api_version_major(v), vk::api_version_minor(v), vk::api_version_patch(v));
    let local = |i: usize| gpu.memory.memory_heaps[i].flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL);
    DeviceReport {
        index: gpu.index,
        name: gpu.name(),
        kind: match gpu.properties.device_type {
            vk::PhysicalDeviceType::DISCRETE_GPU => "discrete GPU",
            vk::PhysicalDeviceType::INTEGRATED_GPU => "integrated GPU",
            vk::PhysicalDeviceType::VIRTUAL_GPU => "virtual GPU",
            vk::PhysicalDeviceType::CPU => "CPU",
            _ => "other",
        },
        api,
        driver: format!("{} {}", text(driver.driver_name_as_c_str()), text(driver.driver_info_as_c_str())),
        driver_uuid: hex(&id.driver_uuid),
        pipeline_cache_uuid: hex(&gpu.properties.pipeline_cache_uuid),
        timestamp_period_ns: gpu.properties.limits.timestamp_period,
        timestamp_bits: gpu.families.iter().map(|f| f.timestamp_valid_bits).collect(),
        subgroup_size: subgroup.subgroup_size,
        subgroup_stages: stages(subgroup.supported_stages),
        memory_bytes: (0..gpu.memory.memory_heap_count as usize)
            .filter(|&i| local(i))
            .map(|i| gpu.memory.memory_heaps[i].size)
            .sum(),
        abilities: ASKED
            .iter()
            .map(|&(what, extension, of, member, for_what)| Ability {
                what,
                for_what,
                here: (extension.is_empty() || gpu.has(extension)) && has(&query, gpu, of, member),
            })
            .collect(),
    }
}

fn stages(s: vk::ShaderStageFlags) -> Vec<&'static str> {
    use vk::ShaderStageFlags as S;
    let all = [
        (S::VERTEX, "vertex"),
        (S::TESSELLATION_CONTROL, "tessellation control"),
        (S::TESSELLATION_EVALUATION, "tessellation evaluation"),
        (S::GEOMETRY, "geometry"),
        (S::FRAGMENT, "fragment"),
        (S::COMPUTE, "compute"),
        (S::TASK_EXT, "task"),
        (S::MESH_EXT, "mesh"),
        (S::RAYGEN_KHR, "ray generation"),
        (S::ANY_HIT_KHR, "any hit"),
        (S::CLOSEST_HIT_KHR, "closest hit"),
        (S::MISS_KHR, "miss"),
        (S::INTERSECTION_KHR, "intersection"),
        (S::CALLABLE_KHR, "callable"),
    ];
    all.into_iter().filter(|(f, _)| s.contains(*f)).map(|(_, n)| n).collect()
}

/// One feature, asked through the schema's layout of its struct.
fn has(
    query: &ash::khr::get_physical_device_properties2::Instance,
    gpu: &Gpu,
    of: &str,
    member: &str,
) -> bool {
    let Some(def) = struct_named(of).map(|i| &STRUCTS[i as usize]) else { return false };
    let mut core = vk::PhysicalDeviceFeatures2::default();
    let mut words = vec![0u64; def.size.div_ceil(8) as usize];
    if def.name != "VkPhysicalDeviceFeatures2" {
        words[0] = u64::from(def.stype.unwrap_or(0));
        core.p_next = words.as_mut_ptr().cast();
    }
    // SAFETY: one known struct of its size, or none.
    unsafe { query.get_physical_device_features2(gpu.handle, &mut core) };
    let (def, base): (_, *const u8) = if def.name == "VkPhysicalDeviceFeatures2" {
        let Some(core_def) = struct_named("VkPhysicalDeviceFeatures") else { return false };
        (&STRUCTS[core_def as usize], (&raw const core.features).cast())
    } else {
        (def, words.as_ptr().cast())
    };
    let at = def.members.iter().find(|m| m.name == member && m.ty == Ty::Bool32).map(|m| m.at);
    // SAFETY: `at` is inside the struct that `base` points to.
    at.is_some_and(|at| unsafe { *base.add(at as usize).cast::<u32>() } != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_asked_for_is_in_the_registry() {
        for &(_, _, of, member, _) in ASKED {
            let name = if of == "VkPhysicalDeviceFeatures2" { "VkPhysicalDeviceFeatures" } else { of };
            let def = &STRUCTS[struct_named(name).unwrap_or_else(|| panic!("{name}")) as usize];
            assert!(def.members.iter().any(|m| m.name == member && m.ty == Ty::Bool32), "{name}.{member}");
        }
    }
}

//! A Vulkan layer that gives any driver VK_ARM_shader_instrumentation and VK_KHR_pipeline_executable_properties, with
//! numbers that are known beforehand: so that what uses them runs on machines without such a driver.
//!
//! Every action command that is recorded while an instrumentation object is active takes the object's next result index;
//! those whose shaders were created with the flag leave values when their command buffer is submitted ([`value`]). Values
//! add up over submissions until they are cleared; indices stay. Each stage of a pipeline has [`BLOCKS`] basic blocks;
//! where rays are traced each shader group does, as its own sub-index. An array that is too short is filled and answered
//! with VK_INCOMPLETE, and the first answer to how long it should be is one too few, as it may be where work is still
//! coming in.
//!
//! Asked to, one call never returns, or crashes, or loses the device ([`ASKS`]), of which extensions then say why ([`lost`]).
//!
//! Guarantees: what the proposal forbids (an object begun twice, ended without having begun, active while a secondary
//! command buffer is executed; flags without the feature) is said on stderr in a line that begins with [`COMPLAINT`].
//! Nothing of the extensions reaches the driver. Not there: subpass rules, internal representations of executables.
// A layer is called by the loader and calls drivers; every block says why it may.
#![allow(unsafe_code)]

mod abi;
mod chain;
mod commands;
mod executables;
mod instrumentation;
pub mod lost;
mod misbehave;
mod pipelines;
mod state;

use ash::vk;
pub use misbehave::ASKS;

/// What begins every line about a rule that was broken.
pub const COMPLAINT: &str = "arm-layer: ";

/// Names and descriptions of the metrics.
pub const METRICS: [(&str, &str); 3] = [
    ("fma", "Fused multiply accumulate operations"),
    ("ls", "Load/store operations"),
    ("var", "Varying operations"),
];

/// Basic blocks of each stage or shader group.
pub const BLOCKS: u32 = 2;

/// What one execution leaves.
pub fn value(result_index: u32, sub_index: u32, stages: u32, block: u32, metric: u32) -> u64 {
    u64::from(result_index) * 1_000_000
        + u64::from(stages) * 1_000
        + u64::from(sub_index) * 100
        + u64::from(block) * 10
        + u64::from(metric)
        + 1
}

/// The statistics of each executable, of which there is one a stage: name, value as (format, number).
pub fn statistics(stage: u32) -> [(&'static str, &'static str, f64); 4] {
    let stage = f64::from(stage);
    [
        ("Register Count", "u64", 16.0 + stage),
        ("Spill Delta", "i64", -stage),
        ("Occupancy", "f64", 0.5),
        ("Uses Textures", "bool", 1.0),
    ]
}

/// The subgroup size that executables claim.
pub const SUBGROUP_SIZE: u32 = 16;

/// The layer's manifest, for a library at this path.
pub fn manifest(library: &str) -> String {
    let entry_points = instrumentation::DEVICE_NAMES.map(|n| format!("\"{n}\"")).join(", ");
    format!(
        "{{\"file_format_version\": \"1.2.0\", \"layer\": {{\"name\": \"{LAYER}\", \"type\": \"GLOBAL\", \"library_path\": \
         {library:?}, \"api_version\": \"1.4.305\", \"implementation_version\": \"1\", \"description\": \"numbers known \
         beforehand\", \"device_extensions\": [{{\"name\": \"VK_ARM_shader_instrumentation\", \"spec_version\": \"1\", \
         \"entrypoints\": [{entry_points}]}}, {{\"name\": \"VK_KHR_pipeline_executable_properties\", \"spec_version\": \
         \"1\", \"entrypoints\": [\"vkGetPipelineExecutablePropertiesKHR\", \"vkGetPipelineExecutableStatisticsKHR\"]}}, \
         {{\"name\": \"VK_EXT_device_fault\", \"spec_version\": \"2\", \"entrypoints\": [\"vkGetDeviceFaultInfoEXT\"]}}, \
         {{\"name\": \"VK_NV_device_diagnostic_checkpoints\", \"spec_version\": \"2\", \"entrypoints\": \
         [\"vkCmdSetCheckpointNV\", \"vkGetQueueCheckpointDataNV\"]}}]}}}}"
    )
}

/// Its name.
pub const LAYER: &str = "VK_LAYER_RERAY_arm";

/// The loader asks first.
///
/// # Safety
/// Called by the loader with its own struct.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the loader's name for it")]
pub unsafe extern "system" fn vkNegotiateLoaderLayerInterfaceVersion(
    version: *mut abi::NegotiateLayerInterface,
) -> vk::Result {
    // SAFETY: the loader's promise.
    let Some(v) = (unsafe { version.as_mut() }) else { return vk::Result::ERROR_INITIALIZATION_FAILED };
    if v.s_type != abi::LAYER_NEGOTIATE_INTERFACE_STRUCT || v.version < 2 {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    }
    v.version = 2;
    v.get_instance_proc_addr = Some(chain::get_instance_proc_addr);
    v.get_device_proc_addr = Some(chain::get_device_proc_addr);
    v.get_physical_device_proc_addr = Some(chain::get_physical_device_proc_addr);
    vk::Result::SUCCESS
}

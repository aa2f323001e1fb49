//! What the loader and the extension define and `ash` does not know: layouts and numbers from the loader's interface and
//! the registry.

use ash::vk;
use std::ffi::c_void;

/// sType of [`NegotiateLayerInterface`].
pub const LAYER_NEGOTIATE_INTERFACE_STRUCT: i32 = 1;
/// sType of what a loader chains to create infos.
pub const LOADER_INSTANCE_CREATE_INFO: i32 = 47;
/// The same for devices.
pub const LOADER_DEVICE_CREATE_INFO: i32 = 48;
/// That it is the link to what is below.
pub const LINK: i32 = 0;

/// The extension's structs.
pub const FEATURES: i32 = 1_000_607_000;
pub const PROPERTIES: i32 = 1_000_607_001;
/// VK_PIPELINE_CREATE_2_INSTRUMENT_SHADERS_BIT_ARM.
pub const INSTRUMENT_PIPELINE: u64 = 1 << 39;
/// VK_SHADER_CREATE_INSTRUMENT_SHADER_BIT_ARM.
pub const INSTRUMENT_SHADER: u32 = 1 << 11;

/// VkNegotiateLayerInterface.
#[repr(C)]
pub struct NegotiateLayerInterface {
    pub s_type: i32,
    next: *mut c_void,
    pub version: u32,
    pub get_instance_proc_addr: Option<vk::PFN_vkGetInstanceProcAddr>,
    pub get_device_proc_addr: Option<vk::PFN_vkGetDeviceProcAddr>,
    pub get_physical_device_proc_addr: Option<vk::PFN_vkGetInstanceProcAddr>,
}

/// VkLayerInstanceCreateInfo and VkLayerDeviceCreateInfo, when they are links.
#[repr(C)]
pub struct LayerCreateInfo {
    pub s_type: i32,
    pub next: *const c_void,
    pub function: i32,
    pub link: *mut LayerLink,
}

/// VkLayerInstanceLink and VkLayerDeviceLink: both begin so.
#[repr(C)]
pub struct LayerLink {
    pub next: *mut LayerLink,
    pub get_instance_proc_addr: vk::PFN_vkGetInstanceProcAddr,
    /// Of an instance's link: pfnNextGetPhysicalDeviceProcAddr; of a device's: pfnNextGetDeviceProcAddr.
    pub second: *const c_void,
}

/// VkPhysicalDeviceShaderInstrumentationFeaturesARM.
#[repr(C)]
pub struct Features {
    pub s_type: i32,
    pub next: *mut c_void,
    pub shader_instrumentation: u32,
}

/// VkPhysicalDeviceShaderInstrumentationPropertiesARM.
#[repr(C)]
pub struct Properties {
    pub s_type: i32,
    pub next: *mut c_void,
    pub num_metrics: u32,
    pub per_basic_block_granularity: u32,
}

/// VkShaderInstrumentationMetricDescriptionARM.
#[repr(C)]
pub struct MetricDescription {
    pub s_type: i32,
    pub next: *mut c_void,
    pub name: [u8; 256],
    pub description: [u8; 256],
}

/// VkShaderInstrumentationMetricDataHeaderARM.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub result_index: u32,
    pub result_sub_index: u32,
    pub stages: u32,
    pub basic_block_index: u32,
}

//! VK_ARM_shader_instrumentation as the registry has it: `ash` does not know it yet. A test compares layouts and numbers
//! with the schema.

use replay::ash::vk;
use std::ffi::c_void;

/// The sTypes of [`Properties`], [`CreateInfo`], [`MetricDescription`].
pub const PROPERTIES: i32 = 1_000_607_001;
pub const CREATE_INFO: i32 = 1_000_607_002;
pub const METRIC_DESCRIPTION: i32 = 1_000_607_003;

/// VK_PIPELINE_CREATE_2_INSTRUMENT_SHADERS_BIT_ARM.
pub const INSTRUMENT_PIPELINE: u64 = 1 << 39;
/// VK_SHADER_CREATE_INSTRUMENT_SHADER_BIT_ARM.
pub const INSTRUMENT_SHADER: u32 = 1 << 11;

/// VkPhysicalDeviceShaderInstrumentationPropertiesARM.
#[repr(C)]
pub struct Properties {
    pub s_type: i32,
    pub next: *mut c_void,
    pub num_metrics: u32,
    pub per_basic_block_granularity: vk::Bool32,
}

/// VkShaderInstrumentationCreateInfoARM.
#[repr(C)]
pub struct CreateInfo {
    pub s_type: i32,
    pub next: *mut c_void,
}

/// VkShaderInstrumentationMetricDescriptionARM.
#[repr(C)]
#[derive(Clone)]
pub struct MetricDescription {
    pub s_type: i32,
    pub next: *mut c_void,
    pub name: [u8; vk::MAX_DESCRIPTION_SIZE],
    pub description: [u8; vk::MAX_DESCRIPTION_SIZE],
}

/// Bytes of VkShaderInstrumentationMetricDataHeaderARM: four 32-bit numbers, the counters behind them.
pub const HEADER_BYTES: usize = 16;

pub type Enumerate =
    unsafe extern "system" fn(vk::PhysicalDevice, *mut u32, *mut MetricDescription) -> vk::Result;
pub type Create =
    unsafe extern "system" fn(vk::Device, *const CreateInfo, *const c_void, *mut u64) -> vk::Result;
pub type Destroy = unsafe extern "system" fn(vk::Device, u64, *const c_void);
pub type Begin = unsafe extern "system" fn(vk::CommandBuffer, u64);
pub type End = unsafe extern "system" fn(vk::CommandBuffer);
pub type Get = unsafe extern "system" fn(vk::Device, u64, *mut u32, *mut c_void, u32) -> vk::Result;
pub type Clear = unsafe extern "system" fn(vk::Device, u64);

#[cfg(test)]
mod tests {
    use super::*;
    use gfxr_parse::schema::generated::STRUCTS;
    use gfxr_parse::schema::struct_named;
    use std::mem::offset_of;

    #[test]
    fn layouts_are_the_registry_s() {
        let def = |name| &STRUCTS[struct_named(name).expect("in the schema") as usize];
        let at =
            |name, member: &str| def(name).members.iter().find(|m| m.name == member).map(|m| m.at as usize);
        let p = "VkPhysicalDeviceShaderInstrumentationPropertiesARM";
        assert_eq!((def(p).stype, def(p).size as usize), (Some(PROPERTIES as u32), size_of::<Properties>()));
        assert_eq!(at(p, "numMetrics"), Some(offset_of!(Properties, num_metrics)));
        assert_eq!(
            at(p, "perBasicBlockGranularity"),
            Some(offset_of!(Properties, per_basic_block_granularity))
        );
        let c = "VkShaderInstrumentationCreateInfoARM";
        assert_eq!((def(c).stype, def(c).size as usize), (Some(CREATE_INFO as u32), size_of::<CreateInfo>()));
        let m = "VkShaderInstrumentationMetricDescriptionARM";
        assert_eq!(
            (def(m).stype, def(m).size as usize),
            (Some(METRIC_DESCRIPTION as u32), size_of::<MetricDescription>())
        );
        assert_eq!(at(m, "name"), Some(offset_of!(MetricDescription, name)));
        assert_eq!(at(m, "description"), Some(offset_of!(MetricDescription, description)));
        let h = "VkShaderInstrumentationMetricDataHeaderARM";
        assert_eq!(def(h).size as usize, HEADER_BYTES);
        let members: Vec<_> = def(h).members.iter().map(|m| (m.name, m.at)).collect();
        let wanted = [("resultIndex", 0), ("resultSubIndex", 4), ("stages", 8), ("basicBlockIndex", 12)];
        assert_eq!(members, wanted);
    }
}

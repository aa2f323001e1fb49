//! Pipeline statistics that hooks would like a device to count: asked for where they are there and done without where not.
//!
//! Guarantees: nothing the capture asked for changes; what was added is in the device's state, and in no negotiation.

use super::gpu::Gpu;
use ash::vk;

/// Which pipeline statistics a device counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Those of Vulkan 1.0.
    pub pipeline: bool,
    /// Those of task and mesh shaders.
    pub mesh: bool,
}

/// Adds the features that are wished for to a device's creation; `core` has to live until then.
///
/// # Safety
/// `info` is a linked VkDeviceCreateInfo whose memory may be written; the instance is alive.
pub(super) unsafe fn add(
    entry: &ash::Entry,
    instance: &ash::Instance,
    gpu: &Gpu,
    info: &mut vk::DeviceCreateInfo<'_>,
    core: &mut vk::PhysicalDeviceFeatures,
) -> Statistics {
    let mut found = Statistics::default();
    // SAFETY: the caller's promise; a chain's structs begin with sType and pNext.
    unsafe {
        let here = instance.get_physical_device_features(gpu.handle);
        let mut asked = (!info.p_enabled_features.is_null()).then_some(info.p_enabled_features.cast_mut());
        let mut link = info.p_next as *mut vk::BaseOutStructure<'_>;
        let mut mesh: *mut vk::PhysicalDeviceMeshShaderFeaturesEXT<'_> = std::ptr::null_mut();
        while let Some(s) = link.as_mut() {
            match s.s_type {
                vk::StructureType::PHYSICAL_DEVICE_FEATURES_2 => {
                    asked = Some(&raw mut (*link.cast::<vk::PhysicalDeviceFeatures2<'_>>()).features);
                }
                vk::StructureType::PHYSICAL_DEVICE_MESH_SHADER_FEATURES_EXT => mesh = link.cast(),
                _ => {}
            }
            link = s.p_next;
        }
        if here.pipeline_statistics_query != 0 {
            match asked {
                Some(f) => (*f).pipeline_statistics_query = vk::TRUE,
                None => {
                    core.pipeline_statistics_query = vk::TRUE;
                    info.p_enabled_features = core;
                }
            }
            found.pipeline = true;
        }
        if let Some(mesh) = mesh.as_mut().filter(|m| m.mesh_shader != 0) {
            let mut able = vk::PhysicalDeviceMeshShaderFeaturesEXT::default();
            let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut able);
            let query = ash::khr::get_physical_device_properties2::Instance::new(entry, instance);
            query.get_physical_device_features2(gpu.handle, &mut all);
            if able.mesh_shader_queries != 0 {
                mesh.mesh_shader_queries = vk::TRUE;
                found.mesh = true;
            }
        }
    }
    found
}

//! What ray tracing adds: features, functions, properties and addresses.

use ash::vk;

/// The functions of the ray-tracing extensions, and what the device says about its tables.
pub struct Ray {
    /// The functions of VK_KHR_acceleration_structure.
    pub structures: ash::khr::acceleration_structure::Device,
    /// The functions of VK_KHR_ray_tracing_pipeline.
    pub pipelines: ash::khr::ray_tracing_pipeline::Device,
    /// The functions of VK_KHR_ray_tracing_maintenance1, for a scene whose needs name ray queries.
    pub maintenance: ash::khr::ray_tracing_maintenance1::Device,
    /// The bytes of a shader group's handle.
    pub handle_bytes: usize,
    /// What a record's place in a table is a multiple of.
    pub handle_alignment: usize,
    /// What a table's address is a multiple of.
    pub base_alignment: usize,
    /// What a scratch address is a multiple of.
    pub scratch_alignment: u64,
    /// How deep traces may nest.
    pub recursion_depth: u32,
}

impl Ray {
    /// Loads the functions and asks for the properties.
    pub(super) fn new(instance: &ash::Instance, device: &ash::Device, physical: vk::PhysicalDevice) -> Self {
        let mut pipeline = vk::PhysicalDeviceRayTracingPipelinePropertiesKHR::default();
        let mut structure = vk::PhysicalDeviceAccelerationStructurePropertiesKHR::default();
        let mut all =
            vk::PhysicalDeviceProperties2::default().push_next(&mut pipeline).push_next(&mut structure);
        unsafe { instance.get_physical_device_properties2(physical, &mut all) };
        Self {
            structures: ash::khr::acceleration_structure::Device::new(instance, device),
            pipelines: ash::khr::ray_tracing_pipeline::Device::new(instance, device),
            maintenance: ash::khr::ray_tracing_maintenance1::Device::new(instance, device),
            handle_bytes: pipeline.shader_group_handle_size as usize,
            handle_alignment: pipeline.shader_group_handle_alignment as usize,
            base_alignment: pipeline.shader_group_base_alignment as usize,
            scratch_alignment: structure.min_acceleration_structure_scratch_offset_alignment.into(),
            recursion_depth: pipeline.max_ray_recursion_depth,
        }
    }
}

/// The features that a ray-tracing scene enables.
#[derive(Default)]
pub(super) struct Features {
    structure: vk::PhysicalDeviceAccelerationStructureFeaturesKHR<'static>,
    pipeline: vk::PhysicalDeviceRayTracingPipelineFeaturesKHR<'static>,
    address: vk::PhysicalDeviceBufferDeviceAddressFeatures<'static>,
    query: vk::PhysicalDeviceRayQueryFeaturesKHR<'static>,
    maintenance: vk::PhysicalDeviceRayTracingMaintenance1FeaturesKHR<'static>,
}

impl Features {
    /// Those to enable.
    pub fn wanted() -> Self {
        Self {
            structure: vk::PhysicalDeviceAccelerationStructureFeaturesKHR::default()
                .acceleration_structure(true),
            pipeline: vk::PhysicalDeviceRayTracingPipelineFeaturesKHR::default()
                .ray_tracing_pipeline(true)
                .ray_tracing_pipeline_trace_rays_indirect(true),
            address: vk::PhysicalDeviceBufferDeviceAddressFeatures::default().buffer_device_address(true),
            query: vk::PhysicalDeviceRayQueryFeaturesKHR::default().ray_query(true),
            maintenance: vk::PhysicalDeviceRayTracingMaintenance1FeaturesKHR::default()
                .ray_tracing_maintenance1(true)
                .ray_tracing_pipeline_trace_rays_indirect2(true),
        }
    }

    /// Adds them to what a device is made with; `queries`: ray queries and VK_KHR_ray_tracing_maintenance1, too.
    pub fn chain<'a>(
        &'a mut self,
        info: vk::DeviceCreateInfo<'a>,
        queries: bool,
    ) -> vk::DeviceCreateInfo<'a> {
        let info =
            info.push_next(&mut self.structure).push_next(&mut self.pipeline).push_next(&mut self.address);
        if queries { info.push_next(&mut self.query).push_next(&mut self.maintenance) } else { info }
    }

    /// Whether a device has them all. Asks only about a device that has the extensions.
    pub fn offered(instance: &ash::Instance, physical: vk::PhysicalDevice, queries: bool) -> bool {
        let properties = unsafe { instance.get_physical_device_properties(physical) };
        if properties.api_version < vk::API_VERSION_1_2 {
            return false;
        }
        let mut here = Self::default();
        let mut all = vk::PhysicalDeviceFeatures2::default()
            .push_next(&mut here.structure)
            .push_next(&mut here.pipeline)
            .push_next(&mut here.address);
        if queries {
            all = all.push_next(&mut here.query).push_next(&mut here.maintenance);
        }
        unsafe { instance.get_physical_device_features2(physical, &mut all) };
        [
            here.structure.acceleration_structure,
            here.pipeline.ray_tracing_pipeline,
            here.pipeline.ray_tracing_pipeline_trace_rays_indirect,
            here.address.buffer_device_address,
        ]
        .iter()
        .chain(queries.then_some(&here.query.ray_query))
        .chain(queries.then_some(&here.maintenance.ray_tracing_pipeline_trace_rays_indirect2))
        .all(|feature| *feature == vk::TRUE)
    }
}

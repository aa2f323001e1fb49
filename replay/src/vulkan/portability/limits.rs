//! Limits that the capture comes near.
//!
//! Refused by name: a use beyond this device's.

use crate::options::MemoryMode;
use crate::vulkan::portability::compare::Compare;
use crate::vulkan::portability::line::{Line, Sort};
use ash::vk;

impl Compare<'_> {
    pub(super) fn limits(&mut self, mode: MemoryMode) {
        let l = &self.gpu.properties.limits;
        for (&name, &used) in &self.asked.limits {
            let most: u64 = match name {
                "maxBoundDescriptorSets" => l.max_bound_descriptor_sets.into(),
                "maxPushConstantsSize" => l.max_push_constants_size.into(),
                "maxSamplerAnisotropy" => l.max_sampler_anisotropy as u64,
                "maxVertexInputAttributes" => l.max_vertex_input_attributes.into(),
                "maxVertexInputBindings" => l.max_vertex_input_bindings.into(),
                "maxVertexInputBindingStride" => l.max_vertex_input_binding_stride.into(),
                "maxVertexInputAttributeOffset" => l.max_vertex_input_attribute_offset.into(),
                "maxShaderGroupStride" => self.most_shader_group_stride(),
                "maxFramebufferWidth" => l.max_framebuffer_width.into(),
                "maxFramebufferHeight" => l.max_framebuffer_height.into(),
                "maxFramebufferLayers" => l.max_framebuffer_layers.into(),
                // Memory of our own comes in few allocations.
                "maxMemoryAllocationCount" if mode == MemoryMode::Rebind => continue,
                "maxMemoryAllocationCount" => l.max_memory_allocation_count.into(),
                _ => continue,
            };
            let line = Line::new(Sort::Limit, name, used <= most, self.must(used <= most));
            let line = line.of(used.to_string(), most.to_string());
            if !self.lines.contains(&line) {
                self.lines.push(line);
            }
        }
    }

    /// Bytes between records of a shader binding table, at most; 0 without ray tracing, which is said by itself.
    fn most_shader_group_stride(&self) -> u64 {
        let mut rays = vk::PhysicalDeviceRayTracingPipelinePropertiesKHR::default();
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut rays);
        // SAFETY: a query with a known struct; a device without the extension leaves it alone.
        unsafe { self.query.get_physical_device_properties2(self.gpu.handle, &mut all) };
        rays.max_shader_group_stride.into()
    }
}

//! Descriptor sets of any shape: what [`super::pipeline`] has for the common ones, in single steps.
//!
//! A layout's every binding is written down by its scene; sets come from a pool that the scene made room in.

use ash::vk;

use super::Gpu;
use super::pipeline::Resource;
use crate::error::Result;

/// A binding of a layout: its number, what it is, how many, and who reads it.
pub fn slot(
    binding: u32,
    kind: vk::DescriptorType,
    count: u32,
    stages: vk::ShaderStageFlags,
) -> vk::DescriptorSetLayoutBinding<'static> {
    vk::DescriptorSetLayoutBinding::default()
        .binding(binding)
        .descriptor_type(kind)
        .descriptor_count(count)
        .stage_flags(stages)
}

impl Gpu {
    /// A layout of these bindings.
    pub fn set_layout(
        &self,
        name: &str,
        bindings: &[vk::DescriptorSetLayoutBinding],
    ) -> Result<vk::DescriptorSetLayout> {
        self.set_layout_of(name, vk::DescriptorSetLayoutCreateInfo::default().bindings(bindings))
    }

    /// A layout as this says.
    pub fn set_layout_of(
        &self,
        name: &str,
        info: vk::DescriptorSetLayoutCreateInfo,
    ) -> Result<vk::DescriptorSetLayout> {
        let made = unsafe { self.device.create_descriptor_set_layout(&info, None) }?;
        Ok(self.adopt(made, &format!("{name} set layout")))
    }

    /// A pipeline layout of these sets and push constants.
    pub fn pipeline_layout(
        &self,
        name: &str,
        sets: &[vk::DescriptorSetLayout],
        push: &[vk::PushConstantRange],
    ) -> Result<vk::PipelineLayout> {
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(sets).push_constant_ranges(push);
        let made = unsafe { self.device.create_pipeline_layout(&info, None) }?;
        Ok(self.adopt(made, &format!("{name} pipeline layout")))
    }

    /// A pool for so many sets and, together, so many descriptors of each type.
    pub fn pool_of(
        &self,
        name: &str,
        sets: u32,
        sizes: &[(vk::DescriptorType, u32)],
    ) -> Result<vk::DescriptorPool> {
        let sizes: Vec<_> = sizes
            .iter()
            .map(|&(ty, descriptor_count)| vk::DescriptorPoolSize { ty, descriptor_count })
            .collect();
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(sets).pool_sizes(&sizes);
        Ok(self.adopt(unsafe { self.device.create_descriptor_pool(&info, None) }?, name))
    }

    /// A set of this layout; nothing in it is written.
    pub fn empty_set(
        &self,
        name: &str,
        pool: vk::DescriptorPool,
        layout: vk::DescriptorSetLayout,
    ) -> Result<vk::DescriptorSet> {
        let layouts = [layout];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        let set = unsafe { self.device.allocate_descriptor_sets(&info) }?[0];
        self.name(set, name);
        Ok(set)
    }

    /// Writes descriptors of a binding, from an element of its array on.
    pub fn write_set(
        &self,
        set: vk::DescriptorSet,
        (binding, element): (u32, u32),
        kind: vk::DescriptorType,
        resources: &[Resource],
    ) {
        let (mut buffers, mut images) = (Vec::new(), Vec::new());
        for resource in resources {
            match resource {
                Resource::Buffer(info) => buffers.push(*info),
                Resource::Image(info) => images.push(*info),
                Resource::Structure(_) => unreachable!("Gpu::descriptor_set writes these"),
            }
        }
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .dst_binding(binding)
            .dst_array_element(element)
            .descriptor_type(kind);
        let write = if images.is_empty() { write.buffer_info(&buffers) } else { write.image_info(&images) };
        unsafe { self.device.update_descriptor_sets(&[write], &[]) };
    }
}

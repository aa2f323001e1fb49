//! The C types that handlers and hooks read and change in linked calls.
//!
//! Guarantees: of each, every pattern of bits is a value.
#![allow(unsafe_code)]

use ash::vk;
use std::ffi::c_char;

/// A C type of which every pattern of bits is a value: numbers, pointers, and structs and unions of them.
///
/// # Safety
/// No reference is in it and no `bool`, no Rust `enum`, and it is aligned to 8 bytes or less.
pub unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($t:ty,)*) => { $(
        // SAFETY: numbers and pointers; what Vulkan calls an enumeration is a number in `ash`.
        unsafe impl Plain for $t {}
    )* };
}

plain! {
    u8, u32, u64, f32, *const c_char, *const vk::AccelerationStructureGeometryKHR<'_>,
    *const vk::AccelerationStructureBuildRangeInfoKHR, *const u32,
    vk::AccelerationStructureBuildGeometryInfoKHR<'_>, vk::AccelerationStructureBuildRangeInfoKHR,
    vk::AccelerationStructureCreateInfoKHR<'_>, vk::AccelerationStructureGeometryKHR<'_>, vk::ApplicationInfo<'_>,
    vk::BaseInStructure<'_>, vk::BindImageMemoryInfo<'_>, vk::BindSparseInfo<'_>, vk::CommandBufferSubmitInfo<'_>, vk::PushConstantRange,
    vk::PipelineCreateFlags2CreateInfoKHR<'_>, vk::SpecializationInfo<'_>, vk::SpecializationMapEntry, vk::PipelineLayout,
    vk::RayTracingPipelineCreateInfoNV<'_>, vk::BufferCreateInfo<'_>, vk::BufferUsageFlags2CreateInfoKHR<'_>, vk::CommandBuffer,
    vk::ComputePipelineCreateInfo<'_>, vk::CopyAccelerationStructureInfoKHR<'_>,
    vk::CopyAccelerationStructureToMemoryInfoKHR<'_>, vk::CopyMemoryToAccelerationStructureInfoKHR<'_>,
    vk::DescriptorBufferBindingInfoEXT<'_>, vk::DescriptorBufferBindingPushDescriptorBufferHandleEXT<'_>,
    vk::DescriptorPoolCreateInfo<'_>, vk::DescriptorPoolInlineUniformBlockCreateInfo<'_>, vk::DescriptorPoolSize,
    vk::DescriptorSet, vk::DescriptorSetAllocateInfo<'_>, vk::DescriptorUpdateTemplateCreateInfo<'_>,
    vk::DescriptorUpdateTemplateEntry, vk::DeviceCreateInfo<'_>, vk::DeviceQueueCreateInfo<'_>, vk::Fence, vk::Format,
    vk::GraphicsPipelineCreateInfo<'_>, vk::ImageCreateInfo<'_>, vk::ImageFormatListCreateInfo<'_>,
    vk::ImageStencilUsageCreateInfo<'_>, vk::InstanceCreateInfo<'_>, vk::MemoryAllocateFlagsInfo<'_>,
    vk::MemoryAllocateInfo<'_>, vk::PipelineCacheCreateInfo<'_>, vk::PipelineLayoutCreateInfo<'_>,
    vk::PipelineShaderStageCreateInfo<'_>, vk::PresentInfoKHR<'_>, vk::PushDescriptorSetWithTemplateInfoKHR<'_>,
    vk::QueryPoolCreateInfo<'_>, vk::RayTracingPipelineCreateInfoKHR<'_>, vk::RayTracingShaderGroupCreateInfoKHR<'_>,
    vk::Semaphore, vk::ShaderCreateInfoEXT<'_>, vk::ShaderModuleCreateInfo<'_>, vk::StridedDeviceAddressRegionKHR,
    vk::SubmitInfo<'_>, vk::SubmitInfo2<'_>, vk::SwapchainCreateInfoKHR<'_>, vk::SwapchainPresentFenceInfoEXT<'_>,
}

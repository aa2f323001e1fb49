//! Memory for objects that changes and copies make, and layouts of images.
//!
//! Refuses, by the driver's error, what there is no room for.
#![allow(unsafe_code)]

use replay::ash::{self, vk};
use replay::error::{Error, Kind, Result};
use replay::vulkan::DeviceState;
use replay::vulkan::memory::best_type;

/// A memory type that suits, best one with these flags.
pub fn memory_type(d: &DeviceState, allowed: u32, like: vk::MemoryPropertyFlags) -> Result<u32> {
    best_type(&d.gpu.memory, allowed, vk::MemoryPropertyFlags::empty(), like)
        .ok_or_else(|| Error::new(Kind::Unsupported, "no memory type suits an object of our own"))
}

pub fn allocate(d: &DeviceState, bytes: u64, kind: u32) -> Result<vk::DeviceMemory> {
    let info = vk::MemoryAllocateInfo::default().allocation_size(bytes).memory_type_index(kind);
    // SAFETY: a plain allocation on a live device.
    unsafe { d.ash.allocate_memory(&info, None) }.map_err(|e| Error::driver("vkAllocateMemory", e))
}

/// Everything before, then everything behind.
pub fn barrier(
    ash: &ash::Device,
    cmd: vk::CommandBuffer,
    (image, range): (vk::Image, vk::ImageSubresourceRange),
    old: vk::ImageLayout,
    new: vk::ImageLayout,
) {
    let all = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
    let of = vk::ImageMemoryBarrier::default()
        .src_access_mask(all)
        .dst_access_mask(all)
        .old_layout(old)
        .new_layout(new)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .image(image)
        .subresource_range(range);
    let stage = vk::PipelineStageFlags::ALL_COMMANDS;
    // SAFETY: a command buffer that is being recorded, outside of render passes; a live image.
    unsafe { ash.cmd_pipeline_barrier(cmd, stage, stage, vk::DependencyFlags::empty(), &[], &[], &[of]) };
}

//! Which buffers hold descriptors, by what they are made for.

use ash::vk;
use gfxr_parse::view::View;

/// What a buffer is used for. `info`: its VkBufferCreateInfo.
pub(crate) fn usage_of(info: View<'_>) -> vk::BufferUsageFlags {
    // VK_BUFFER_USAGE_2_*: the same bits, and higher ones.
    let more = info.next("VkBufferUsageFlags2CreateInfo").and_then(|i| i.u64("usage")).unwrap_or(0);
    vk::BufferUsageFlags::from_raw((info.u64("usage").unwrap_or(0) | more) as u32)
}

/// Whether it holds descriptors.
pub(crate) fn holds_descriptors(info: View<'_>) -> bool {
    use vk::BufferUsageFlags as U;
    usage_of(info).intersects(U::RESOURCE_DESCRIPTOR_BUFFER_EXT | U::SAMPLER_DESCRIPTOR_BUFFER_EXT)
}

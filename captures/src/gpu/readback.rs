//! Reading a presented image back, for the reference images.
//!
//! The copy is recorded into a command buffer of its own that runs after the scene's, so that a scene
//! knows nothing of it and a run without images contains none of it.

use ash::vk;

use super::swapchain::Swapchain;
use super::{Buffer, Gpu};
use crate::error::Result;

/// A place for the bytes of one image, and the commands that bring them there.
pub struct Readback {
    buffer: Buffer,
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
}

impl Readback {
    /// Makes room for an image of the swapchain.
    pub fn new(gpu: &Gpu, swapchain: &Swapchain) -> Result<Self> {
        let size_bytes = u64::from(swapchain.extent.width) * u64::from(swapchain.extent.height) * 4;
        let buffer = gpu.host_buffer("readback", size_bytes, vk::BufferUsageFlags::TRANSFER_DST)?;
        let (pool, [commands]) = gpu.command_buffers("readback pool", ["readback"])?;
        Ok(Self { buffer, pool, commands })
    }

    /// Records the copy of `image`, which the scene left ready to present, and leaves it so again.
    pub fn record(&self, gpu: &Gpu, swapchain: &Swapchain, image: vk::Image) -> Result<vk::CommandBuffer> {
        unsafe { gpu.device.reset_command_pool(self.pool, vk::CommandPoolResetFlags::empty()) }?;
        let range = vk::ImageSubresourceRange::default()
            .aspect_mask(vk::ImageAspectFlags::COLOR)
            .level_count(1)
            .layer_count(1);
        let barrier = vk::ImageMemoryBarrier::default()
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(image)
            .subresource_range(range);
        let drawn = barrier
            .old_layout(vk::ImageLayout::PRESENT_SRC_KHR)
            .new_layout(vk::ImageLayout::TRANSFER_SRC_OPTIMAL)
            .src_access_mask(vk::AccessFlags::COLOR_ATTACHMENT_WRITE)
            .dst_access_mask(vk::AccessFlags::TRANSFER_READ);
        let copied = barrier
            .old_layout(vk::ImageLayout::TRANSFER_SRC_OPTIMAL)
            .new_layout(vk::ImageLayout::PRESENT_SRC_KHR)
            .src_access_mask(vk::AccessFlags::TRANSFER_READ);
        let arrived = vk::BufferMemoryBarrier::default()
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .buffer(self.buffer.handle)
            .size(vk::WHOLE_SIZE)
            .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ);
        let region = vk::BufferImageCopy::default()
            .image_subresource(vk::ImageSubresourceLayers {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                mip_level: 0,
                base_array_layer: 0,
                layer_count: 1,
            })
            .image_extent(swapchain.extent.into());
        let (transfer, none) = (vk::PipelineStageFlags::TRANSFER, vk::DependencyFlags::empty());
        gpu.record(self.commands, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT, |device| unsafe {
            let output = vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT;
            device.cmd_pipeline_barrier(self.commands, output, transfer, none, &[], &[], &[drawn]);
            let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
            device.cmd_copy_image_to_buffer(self.commands, image, layout, self.buffer.handle, &[region]);
            let host_and_present = vk::PipelineStageFlags::HOST | vk::PipelineStageFlags::BOTTOM_OF_PIPE;
            device.cmd_pipeline_barrier(
                self.commands,
                transfer,
                host_and_present,
                none,
                &[],
                &[arrived],
                &[copied],
            );
        })?;
        Ok(self.commands)
    }

    /// The bytes, once the frame's fence has been waited for.
    pub fn pixels(&self) -> Vec<u8> {
        self.buffer.read()
    }
}

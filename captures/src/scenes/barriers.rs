//! Barriers, and how a picture that shaders wrote comes to the screen.

use ash::vk;

/// Stages.
pub type Stage = vk::PipelineStageFlags;
/// Accesses.
pub type Access = vk::AccessFlags;

/// Everything of `from` before everything of `to`.
pub fn barrier(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    from: (Stage, Access),
    to: (Stage, Access),
) {
    let barrier = vk::MemoryBarrier::default().src_access_mask(from.1).dst_access_mask(to.1);
    let none = vk::DependencyFlags::empty();
    unsafe { device.cmd_pipeline_barrier(commands, from.0, to.0, none, &[barrier], &[], &[]) };
}

/// An image's layout, and who uses it how.
pub type ImageState = (vk::ImageLayout, Stage, Access);

/// The same for an image, whose layout changes.
pub fn image_barrier(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    image: vk::Image,
    from: ImageState,
    to: ImageState,
) {
    let range = vk::ImageSubresourceRange::default()
        .aspect_mask(vk::ImageAspectFlags::COLOR)
        .level_count(1)
        .layer_count(1);
    let barrier = vk::ImageMemoryBarrier::default()
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .image(image)
        .subresource_range(range)
        .old_layout(from.0)
        .new_layout(to.0)
        .src_access_mask(from.2)
        .dst_access_mask(to.2);
    let none = vk::DependencyFlags::empty();
    unsafe { device.cmd_pipeline_barrier(commands, from.1, to.1, none, &[], &[], &[barrier]) };
}

/// Copies all of a picture of this size, which shaders of a stage wrote in the layout GENERAL, to an image of the swapchain.
pub fn show(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    (picture, stage): (vk::Image, Stage),
    image: vk::Image,
    extent: vk::Extent2D,
) {
    let (source, target) = (vk::ImageLayout::TRANSFER_SRC_OPTIMAL, vk::ImageLayout::TRANSFER_DST_OPTIMAL);
    let layers =
        vk::ImageSubresourceLayers::default().aspect_mask(vk::ImageAspectFlags::COLOR).layer_count(1);
    let far = vk::Offset3D { x: extent.width as i32, y: extent.height as i32, z: 1 };
    let region = vk::ImageBlit::default()
        .src_subresource(layers)
        .dst_subresource(layers)
        .src_offsets([vk::Offset3D::default(), far])
        .dst_offsets([vk::Offset3D::default(), far]);
    let output = Stage::COLOR_ATTACHMENT_OUTPUT;
    let from = (vk::ImageLayout::GENERAL, stage, Access::SHADER_WRITE);
    let to = (source, Stage::TRANSFER, Access::TRANSFER_READ);
    image_barrier(device, commands, picture, from, to);
    // The submission waits for the image at the stage of colour output.
    let from = (vk::ImageLayout::UNDEFINED, output, Access::empty());
    image_barrier(device, commands, image, from, (target, Stage::TRANSFER, Access::TRANSFER_WRITE));
    let filter = vk::Filter::NEAREST;
    unsafe { device.cmd_blit_image(commands, picture, source, image, target, &[region], filter) };
    let from = (target, Stage::TRANSFER, Access::TRANSFER_WRITE);
    let to = (vk::ImageLayout::PRESENT_SRC_KHR, output, Access::COLOR_ATTACHMENT_WRITE);
    image_barrier(device, commands, image, from, to);
}

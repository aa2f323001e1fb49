//! A render pass that draws straight to the swapchain's images, for scenes without another target.

use ash::vk;

use super::Gpu;
use super::swapchain::Swapchain;
use crate::error::Result;

impl Gpu {
    /// The pass: begins with the image cleared or as it may be, draws, and leaves it ready to present.
    pub fn present_pass(
        &self,
        swapchain: &Swapchain,
        begins: vk::AttachmentLoadOp,
        name: &str,
    ) -> Result<vk::RenderPass> {
        let attachments = [vk::AttachmentDescription::default()
            .format(swapchain.format)
            .samples(vk::SampleCountFlags::TYPE_1)
            .load_op(begins)
            .store_op(vk::AttachmentStoreOp::STORE)
            .stencil_load_op(vk::AttachmentLoadOp::DONT_CARE)
            .stencil_store_op(vk::AttachmentStoreOp::DONT_CARE)
            .initial_layout(vk::ImageLayout::UNDEFINED)
            .final_layout(vk::ImageLayout::PRESENT_SRC_KHR)];
        let layout = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
        let colour = [vk::AttachmentReference { attachment: 0, layout }];
        let subpasses = [vk::SubpassDescription::default()
            .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
            .color_attachments(&colour)];
        let (output, write) =
            (vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT, vk::AccessFlags::COLOR_ATTACHMENT_WRITE);
        let dependency = vk::SubpassDependency::default().src_stage_mask(output).dst_stage_mask(output);
        let dependencies = [
            // The submission waits for the image at this stage; the change of layout must come after that.
            dependency.src_subpass(vk::SUBPASS_EXTERNAL).dst_access_mask(write),
            // For a read-back: its barrier begins at this stage. Presentation itself waits for a semaphore.
            dependency.dst_subpass(vk::SUBPASS_EXTERNAL).src_access_mask(write),
        ];
        let info = vk::RenderPassCreateInfo::default()
            .attachments(&attachments)
            .subpasses(&subpasses)
            .dependencies(&dependencies);
        Ok(self.adopt(unsafe { self.device.create_render_pass(&info, None) }?, name))
    }

    /// A framebuffer of that pass for each image of the swapchain.
    pub fn present_framebuffers(
        &self,
        swapchain: &Swapchain,
        pass: vk::RenderPass,
        name: &str,
    ) -> Result<Vec<vk::Framebuffer>> {
        let one = |(index, &view): (usize, &vk::ImageView)| {
            let views = [view];
            let info = vk::FramebufferCreateInfo::default()
                .render_pass(pass)
                .attachments(&views)
                .width(swapchain.extent.width)
                .height(swapchain.extent.height)
                .layers(1);
            let handle = unsafe { self.device.create_framebuffer(&info, None) }?;
            Ok(self.adopt(handle, &format!("{name} {index}")))
        };
        swapchain.views.iter().enumerate().map(one).collect()
    }
}

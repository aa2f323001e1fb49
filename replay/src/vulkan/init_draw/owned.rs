//! The Vulkan objects of one load, destroyed together when it is over.

use crate::error::{Result, Vk};
use ash::vk;

/// Declares [`Owned`]: one line a kind, with the functions that make and destroy it.
macro_rules! owned {
    ($($name:ident($kind:ident, $info:ident) => $make:ident, $destroy:ident, $call:literal;)*) => {
        enum Thing { $($kind(vk::$kind),)* Pipeline(vk::Pipeline) }

        impl Owned<'_> {
            $(
                /// Makes one; it lives as long as this list.
                pub fn $name(&mut self, info: &vk::$info<'_>) -> Result<vk::$kind> {
                    // SAFETY: a plain creation on a live device; whoever fills in `info` refers to live objects.
                    let made = unsafe { self.device.$make(info, None) }.what($call)?;
                    self.things.push(Thing::$kind(made));
                    Ok(made)
                }
            )*
        }

        impl Drop for Owned<'_> {
            fn drop(&mut self) {
                for thing in self.things.drain(..).rev() {
                    // SAFETY: ours, made on this device, and every submission was waited for.
                    unsafe {
                        match thing {
                            $(Thing::$kind(t) => self.device.$destroy(t, None),)*
                            Thing::Pipeline(t) => self.device.destroy_pipeline(t, None),
                        }
                    }
                }
            }
        }
    };
}

owned! {
    image(Image, ImageCreateInfo) => create_image, destroy_image, "vkCreateImage (contents)";
    view(ImageView, ImageViewCreateInfo) => create_image_view, destroy_image_view, "vkCreateImageView (contents)";
    module(ShaderModule, ShaderModuleCreateInfo)
        => create_shader_module, destroy_shader_module, "vkCreateShaderModule (contents)";
    set_layout(DescriptorSetLayout, DescriptorSetLayoutCreateInfo)
        => create_descriptor_set_layout, destroy_descriptor_set_layout, "vkCreateDescriptorSetLayout (contents)";
    layout(PipelineLayout, PipelineLayoutCreateInfo)
        => create_pipeline_layout, destroy_pipeline_layout, "vkCreatePipelineLayout (contents)";
    descriptors(DescriptorPool, DescriptorPoolCreateInfo)
        => create_descriptor_pool, destroy_descriptor_pool, "vkCreateDescriptorPool (contents)";
    pass(RenderPass, RenderPassCreateInfo)
        => create_render_pass, destroy_render_pass, "vkCreateRenderPass (contents)";
    framebuffer(Framebuffer, FramebufferCreateInfo)
        => create_framebuffer, destroy_framebuffer, "vkCreateFramebuffer (contents)";
}

/// See the module's header.
pub(super) struct Owned<'d> {
    pub device: &'d ash::Device,
    things: Vec<Thing>,
}

impl<'d> Owned<'d> {
    pub fn new(device: &'d ash::Device) -> Self {
        Owned { device, things: Vec::new() }
    }

    /// Makes a pipeline; it lives as long as this list.
    pub fn pipeline(&mut self, info: vk::GraphicsPipelineCreateInfo<'_>) -> Result<vk::Pipeline> {
        // SAFETY: as for the others.
        let made = unsafe { self.device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None) };
        let made = made.map_err(|(_, e)| e).what("vkCreateGraphicsPipelines (contents)")?[0];
        self.things.push(Thing::Pipeline(made));
        Ok(made)
    }
}

//! Every kind of device object that a scene may make, and how each is destroyed.
//!
//! A scene hands what it made to [`super::Gpu::adopt`] and destroys nothing itself: all its objects live
//! until the device goes, and go in the reverse of the order in which they came. Objects freed with their
//! pool (command buffers, descriptor sets) are not listed.

use ash::vk;

use super::ray::Ray;

/// Declares [`Owned`]: one line a kind, with the name of the function that destroys it.
macro_rules! owned {
    ($($kind:ident => $destroy:ident,)*) => {
        /// A device object that is destroyed with the device.
        #[derive(Clone, Copy)]
        pub enum Owned {
            /// The swapchain, whose functions belong to an extension.
            SwapchainKHR(vk::SwapchainKHR),
            /// An acceleration structure, likewise.
            AccelerationStructureKHR(vk::AccelerationStructureKHR),
            $(#[allow(missing_docs)] $kind(vk::$kind),)*
        }

        impl Owned {
            /// Destroys the object; the device must be idle.
            pub fn destroy(self, device: &ash::Device, swapchains: &ash::khr::swapchain::Device, ray: Option<&Ray>) {
                // SAFETY: the object was adopted once, is destroyed once, and the device is idle.
                unsafe {
                    match self {
                        Owned::SwapchainKHR(handle) => swapchains.destroy_swapchain(handle, None),
                        Owned::AccelerationStructureKHR(handle) => {
                            if let Some(ray) = ray {
                                ray.structures.destroy_acceleration_structure(handle, None);
                            }
                        }
                        $(Owned::$kind(handle) => device.$destroy(handle, None),)*
                    }
                }
            }
        }

        $(impl From<vk::$kind> for Owned {
            fn from(handle: vk::$kind) -> Self { Owned::$kind(handle) }
        })*
    };
}

owned! {
    Buffer => destroy_buffer,
    BufferView => destroy_buffer_view,
    CommandPool => destroy_command_pool,
    DescriptorPool => destroy_descriptor_pool,
    DescriptorSetLayout => destroy_descriptor_set_layout,
    DescriptorUpdateTemplate => destroy_descriptor_update_template,
    DeviceMemory => free_memory,
    Event => destroy_event,
    Fence => destroy_fence,
    Framebuffer => destroy_framebuffer,
    Image => destroy_image,
    ImageView => destroy_image_view,
    Pipeline => destroy_pipeline,
    PipelineLayout => destroy_pipeline_layout,
    QueryPool => destroy_query_pool,
    RenderPass => destroy_render_pass,
    Sampler => destroy_sampler,
    Semaphore => destroy_semaphore,
    ShaderModule => destroy_shader_module,
}

impl From<vk::SwapchainKHR> for Owned {
    fn from(handle: vk::SwapchainKHR) -> Self {
        Owned::SwapchainKHR(handle)
    }
}

impl From<vk::AccelerationStructureKHR> for Owned {
    fn from(handle: vk::AccelerationStructureKHR) -> Self {
        Owned::AccelerationStructureKHR(handle)
    }
}

//! The instance, a headless surface, one device and its one queue, and the list of everything made on that device.
//!
//! Guarantees: a handle that was adopted has a debug name where VK_EXT_debug_utils exists, and is destroyed once, after
//! the device is idle.

use std::cell::RefCell;

use ash::vk;
use ash::vk::Handle;

use super::owned::Owned;
use super::ray;
use crate::error::Result;

/// An instance, a headless surface, one device, its queue, and all that was made on it.
pub struct Gpu {
    /// The device, for every call that has no helper here.
    pub device: ash::Device,
    /// The one queue: graphics, compute and present.
    pub queue: vk::Queue,
    /// The family of [`Gpu::queue`].
    pub family: u32,
    /// The functions of VK_KHR_swapchain.
    pub swapchains: ash::khr::swapchain::Device,
    pub(super) physical: vk::PhysicalDevice,
    pub(super) memory: vk::PhysicalDeviceMemoryProperties,
    pub(super) surface: vk::SurfaceKHR,
    pub(super) surfaces: ash::khr::surface::Instance,
    pub(super) ray: Option<ray::Ray>,
    pub(super) debug: Option<ash::ext::debug_utils::Device>,
    pub(super) owned: RefCell<Vec<Owned>>,
    pub(super) instance: ash::Instance,
    /// Kept because it holds the loader's library open.
    pub(super) _entry: ash::Entry,
}

impl Gpu {
    /// Names an object and takes over its destruction; gives it back for use.
    pub fn adopt<H: Handle + Into<Owned> + Copy>(&self, handle: H, name: &str) -> H {
        self.name(handle, name);
        self.owned.borrow_mut().push(handle.into());
        handle
    }

    /// Waits until the device has finished everything.
    pub fn wait(&self) -> Result<()> {
        Ok(unsafe { self.device.device_wait_idle() }?)
    }

    /// A command pool, and `names.len()` primary command buffers from it.
    ///
    /// Command buffers are never reset one by one: a scene resets the pool, or records once.
    pub fn command_buffers<const N: usize>(
        &self,
        pool_name: &str,
        names: [&str; N],
    ) -> Result<(vk::CommandPool, [vk::CommandBuffer; N])> {
        let pool_info = vk::CommandPoolCreateInfo::default().queue_family_index(self.family);
        let pool = self.adopt(unsafe { self.device.create_command_pool(&pool_info, None) }?, pool_name);
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .level(vk::CommandBufferLevel::PRIMARY)
            .command_buffer_count(N as u32);
        let made = unsafe { self.device.allocate_command_buffers(&info) }?;
        let mut made = made.into_iter();
        let buffers = names.map(|name| {
            let buffer = made.next().unwrap_or_default();
            self.name(buffer, name);
            buffer
        });
        Ok((pool, buffers))
    }

    /// Records into `commands` from its beginning to its end.
    pub fn record(
        &self,
        commands: vk::CommandBuffer,
        usage: vk::CommandBufferUsageFlags,
        body: impl FnOnce(&ash::Device),
    ) -> Result<()> {
        let begin = vk::CommandBufferBeginInfo::default().flags(usage);
        unsafe { self.device.begin_command_buffer(commands, &begin) }?;
        body(&self.device);
        Ok(unsafe { self.device.end_command_buffer(commands) }?)
    }

    /// Records, submits and waits for some commands that run once, before the first frame.
    pub fn run_once(&self, name: &str, body: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> Result<()> {
        let (_, [commands]) = self.command_buffers(&format!("{name} pool"), [name])?;
        self.record(commands, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT, |device| body(device, commands))?;
        let commands = [commands];
        let submit = vk::SubmitInfo::default().command_buffers(&commands);
        unsafe { self.device.queue_submit(self.queue, &[submit], vk::Fence::null()) }?;
        Ok(unsafe { self.device.queue_wait_idle(self.queue) }?)
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // After a lost device waiting fails, and destroying is still what is left to do.
        let _ = self.wait();
        for object in self.owned.take().into_iter().rev() {
            object.destroy(&self.device, &self.swapchains, self.ray.as_ref());
        }
        // SAFETY: everything made on the device is gone, and so is every use of the surface.
        unsafe {
            self.device.destroy_device(None);
            self.surfaces.destroy_surface(self.surface, None);
            self.instance.destroy_instance(None);
        }
    }
}

//! Buffers and images with memory of their own.
//!
//! One allocation a resource: a scene makes a dozen, and a replayer sees each resource's memory by itself.
//! Memory that the host writes is coherent and stays mapped until it is freed, so that a write is
//! nothing but a store.

use ash::vk;

use super::Gpu;
use super::ray::Ray;
use crate::error::{Error, Result};

/// A buffer and where the host sees it.
#[derive(Clone, Copy)]
pub struct Buffer {
    /// The buffer.
    pub handle: vk::Buffer,
    /// Its size.
    pub size_bytes: u64,
    /// Its first byte, or null where it is the device's alone.
    mapped: *mut u8,
}

impl Buffer {
    /// Copies `bytes` to the buffer's beginning.
    ///
    /// The device must not be reading it; the fence of the frame that last did says so. Refuses, by a panic,
    /// more bytes than fit and a buffer that the host does not see.
    pub fn write(&self, bytes: &[u8]) {
        assert!(!self.mapped.is_null() && bytes.len() as u64 <= self.size_bytes);
        // SAFETY: the mapping covers size_bytes, and bytes is no part of it.
        unsafe { self.mapped.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    }

    /// A copy of the buffer's bytes; the device must have finished writing them.
    pub fn read(&self) -> Vec<u8> {
        assert!(!self.mapped.is_null());
        // SAFETY: the mapping covers size_bytes, and nobody writes to it during the copy.
        unsafe { std::slice::from_raw_parts(self.mapped, self.size_bytes as usize) }.to_vec()
    }

    /// All of it, as a descriptor.
    pub fn whole(&self) -> vk::DescriptorBufferInfo {
        self.range(self.size_bytes)
    }

    /// Its first bytes, as a descriptor; a dynamic offset moves them.
    pub fn range(&self, size_bytes: u64) -> vk::DescriptorBufferInfo {
        vk::DescriptorBufferInfo { buffer: self.handle, offset: 0, range: size_bytes }
    }
}

/// An image, of one level and layer, and a view of all of it.
#[derive(Clone, Copy)]
pub struct Image {
    /// The image, for copies.
    pub handle: vk::Image,
    /// The view.
    pub view: vk::ImageView,
}

/// What an image is and what it is for.
pub struct ImageUse {
    /// The format.
    pub format: vk::Format,
    /// The size.
    pub extent: vk::Extent2D,
    /// The uses.
    pub usage: vk::ImageUsageFlags,
    /// What the view shows.
    pub aspect: vk::ImageAspectFlags,
}

const HOST: vk::MemoryPropertyFlags = vk::MemoryPropertyFlags::from_raw(
    vk::MemoryPropertyFlags::HOST_VISIBLE.as_raw() | vk::MemoryPropertyFlags::HOST_COHERENT.as_raw(),
);

impl Gpu {
    /// A buffer that the host writes, or reads.
    pub fn host_buffer(&self, name: &str, size_bytes: u64, usage: vk::BufferUsageFlags) -> Result<Buffer> {
        self.buffer(name, size_bytes, usage, HOST)
    }

    /// A buffer that only the device touches.
    pub fn device_buffer(&self, name: &str, size_bytes: u64, usage: vk::BufferUsageFlags) -> Result<Buffer> {
        self.buffer(name, size_bytes, usage, vk::MemoryPropertyFlags::DEVICE_LOCAL)
    }

    /// A device buffer that begins with `bytes`, copied there through a staging buffer.
    pub fn filled_buffer(&self, name: &str, bytes: &[u8], usage: vk::BufferUsageFlags) -> Result<Buffer> {
        let size = bytes.len() as u64;
        let staging =
            self.host_buffer(&format!("{name} staging"), size, vk::BufferUsageFlags::TRANSFER_SRC)?;
        staging.write(bytes);
        let buffer = self.device_buffer(name, size, usage | vk::BufferUsageFlags::TRANSFER_DST)?;
        self.run_once(&format!("upload {name}"), |device, commands| {
            let region = vk::BufferCopy { src_offset: 0, dst_offset: 0, size };
            // Waiting for the queue makes the copy visible to every later submission.
            unsafe { device.cmd_copy_buffer(commands, staging.handle, buffer.handle, &[region]) };
        })?;
        Ok(buffer)
    }

    /// An image in the device's memory, and its view.
    pub fn image(&self, name: &str, use_: &ImageUse) -> Result<Image> {
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(use_.format)
            .extent(use_.extent.into())
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(use_.usage)
            .initial_layout(vk::ImageLayout::UNDEFINED);
        let image = self.adopt(unsafe { self.device.create_image(&info, None) }?, name);
        let requirements = unsafe { self.device.get_image_memory_requirements(image) };
        let memory = self.allocate(name, &requirements, vk::MemoryPropertyFlags::DEVICE_LOCAL)?;
        unsafe { self.device.bind_image_memory(image, memory, 0) }?;
        let view = self.view(&format!("{name} view"), image, use_.format, use_.aspect)?;
        Ok(Image { handle: image, view })
    }

    /// A view of the only level and layer of an image.
    pub fn view(
        &self,
        name: &str,
        image: vk::Image,
        format: vk::Format,
        aspect: vk::ImageAspectFlags,
    ) -> Result<vk::ImageView> {
        let range = vk::ImageSubresourceRange::default().aspect_mask(aspect).level_count(1).layer_count(1);
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(range);
        Ok(self.adopt(unsafe { self.device.create_image_view(&info, None) }?, name))
    }

    fn buffer(
        &self,
        name: &str,
        size_bytes: u64,
        usage: vk::BufferUsageFlags,
        properties: vk::MemoryPropertyFlags,
    ) -> Result<Buffer> {
        let info = vk::BufferCreateInfo::default().size(size_bytes).usage(usage);
        let handle = self.adopt(unsafe { self.device.create_buffer(&info, None) }?, name);
        let requirements = unsafe { self.device.get_buffer_memory_requirements(handle) };
        let flags = if usage.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS) {
            vk::MemoryAllocateFlags::DEVICE_ADDRESS
        } else {
            vk::MemoryAllocateFlags::empty()
        };
        let memory = self.allocate_with(name, &requirements, properties, flags, None)?;
        unsafe { self.device.bind_buffer_memory(handle, memory, 0) }?;
        let mapped = if properties.contains(vk::MemoryPropertyFlags::HOST_VISIBLE) {
            let flags = vk::MemoryMapFlags::empty();
            unsafe { self.device.map_memory(memory, 0, vk::WHOLE_SIZE, flags) }?.cast()
        } else {
            std::ptr::null_mut()
        };
        Ok(Buffer { handle, size_bytes, mapped })
    }

    /// Memory for one resource, of the first type that has the properties.
    pub fn allocate(
        &self,
        name: &str,
        requirements: &vk::MemoryRequirements,
        properties: vk::MemoryPropertyFlags,
    ) -> Result<vk::DeviceMemory> {
        self.allocate_with(name, requirements, properties, vk::MemoryAllocateFlags::empty(), None)
    }

    /// As [`Gpu::allocate`], for one resource and no other.
    pub fn allocate_dedicated(
        &self,
        name: &str,
        requirements: &vk::MemoryRequirements,
        properties: vk::MemoryPropertyFlags,
        only: vk::MemoryDedicatedAllocateInfo<'_>,
    ) -> Result<vk::DeviceMemory> {
        let none = vk::MemoryAllocateFlags::empty();
        self.allocate_with(name, requirements, properties, none, Some(only))
    }

    /// As [`Gpu::allocate`], with flags (addresses want one), and the resource it is dedicated to.
    fn allocate_with(
        &self,
        name: &str,
        requirements: &vk::MemoryRequirements,
        properties: vk::MemoryPropertyFlags,
        flags: vk::MemoryAllocateFlags,
        mut only: Option<vk::MemoryDedicatedAllocateInfo<'_>>,
    ) -> Result<vk::DeviceMemory> {
        let fits = |(index, kind): &(usize, &vk::MemoryType)| {
            requirements.memory_type_bits & (1 << index) != 0 && kind.property_flags.contains(properties)
        };
        let Some((index, _)) = self.memory.memory_types_as_slice().iter().enumerate().find(fits) else {
            return Err(Error::new(format!(
                "no memory with the properties {:#x} may hold '{name}'",
                properties.as_raw()
            )));
        };
        let mut info = vk::MemoryAllocateInfo::default()
            .allocation_size(requirements.size)
            .memory_type_index(index as u32);
        let mut more = vk::MemoryAllocateFlagsInfo::default().flags(flags);
        if !flags.is_empty() {
            info = info.push_next(&mut more);
        }
        if let Some(only) = &mut only {
            info = info.push_next(only);
        }
        let memory = unsafe { self.device.allocate_memory(&info, None) }?;
        Ok(self.adopt(memory, &format!("{name} memory")))
    }
}

impl Gpu {
    /// What ray tracing adds; only for a scene whose needs name it.
    pub fn ray(&self) -> &Ray {
        self.ray.as_ref().expect("the scene's needs name ray tracing")
    }

    /// Where the device finds a buffer.
    pub fn address(&self, buffer: &Buffer) -> vk::DeviceAddress {
        let info = vk::BufferDeviceAddressInfo::default().buffer(buffer.handle);
        unsafe { self.device.get_buffer_device_address(&info) }
    }
}

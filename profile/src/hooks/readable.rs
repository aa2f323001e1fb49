//! A buffer that the device copies into and the host reads.
//!
//! Guarantees: mapped as long as it lives, coherent, and in memory that is quick to read where there is such. Refuses
//! devices without memory of that kind.

use replay::ash::{self, vk};
use replay::error::{Error, Kind, Result};
use replay::vulkan::memory::best_type;

/// See the module's header.
pub struct Readable {
    /// It.
    pub buffer: vk::Buffer,
    /// Its own.
    pub memory: vk::DeviceMemory,
    /// Where it is mapped.
    pub map: *mut u8,
    /// Its size.
    pub bytes: u64,
}

impl Readable {
    /// One of so many bytes, which are not zero.
    pub fn new(d: &ash::Device, types: &vk::PhysicalDeviceMemoryProperties, bytes: u64) -> Result<Self> {
        let usage = vk::BufferUsageFlags::TRANSFER_DST | vk::BufferUsageFlags::TRANSFER_SRC;
        let info = vk::BufferCreateInfo::default().size(bytes).usage(usage);
        // SAFETY: plain creations on a live device.
        unsafe {
            let buffer = d.create_buffer(&info, None).map_err(|e| Error::driver("vkCreateBuffer", e))?;
            let needs = d.get_buffer_memory_requirements(buffer);
            let coherent = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
            let quick = vk::MemoryPropertyFlags::HOST_CACHED;
            let ty = best_type(types, needs.memory_type_bits, coherent, quick);
            let given = ty.ok_or_else(|| {
                Error::new(Kind::Unsupported, "no memory that the host can read results from")
            });
            let memory = given.and_then(|ty| {
                let info =
                    vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(ty);
                d.allocate_memory(&info, None).map_err(|e| Error::driver("vkAllocateMemory", e))
            });
            let memory = memory.inspect_err(|_| d.destroy_buffer(buffer, None))?;
            let bound = d.bind_buffer_memory(buffer, memory, 0);
            let map = bound.map_err(|e| Error::driver("vkBindBufferMemory", e)).and_then(|()| {
                let map = d.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty());
                map.map_err(|e| Error::driver("vkMapMemory", e))
            });
            let back = |_: &Error| {
                d.destroy_buffer(buffer, None);
                d.free_memory(memory, None);
            };
            let map = map.inspect_err(back)?.cast();
            Ok(Readable { buffer, memory, map, bytes })
        }
    }

    /// Gives it back; nothing of it is in flight.
    pub fn destroy(&self, d: &ash::Device) {
        // SAFETY: ours, and idle.
        unsafe {
            d.destroy_buffer(self.buffer, None);
            d.free_memory(self.memory, None);
        }
    }
}

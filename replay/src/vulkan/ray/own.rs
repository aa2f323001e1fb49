//! Buffers of our own with an address; where a frame is run again and again, those of a recording are used again.

use crate::error::{Result, Vk};
use crate::vulkan::DeviceState;
use crate::vulkan::memory::AllocKind;
use crate::vulkan::ray::spare::Own;
use ash::vk;

impl Own {
    /// Device-local (or whatever the device has), for copies and scratch.
    pub fn local(d: &mut DeviceState, size: u64, usage: vk::BufferUsageFlags) -> Result<Self> {
        Self::new(d, size, usage, vk::MemoryPropertyFlags::empty(), vk::MemoryPropertyFlags::DEVICE_LOCAL)
    }
    /// For an acceleration structure.
    pub fn structure(d: &mut DeviceState, size: u64) -> Result<Self> {
        Self::local(d, size, vk::BufferUsageFlags::ACCELERATION_STRUCTURE_STORAGE_KHR)
    }
    /// Visible and coherent, for tables.
    pub fn visible(d: &mut DeviceState, size: u64) -> Result<Self> {
        let own = Self::readable(d, size)?;
        own.write(0, &vec![0; size as usize]);
        Ok(own)
    }
    /// Visible, coherent and quick to read, for what shaders leave for the host.
    pub fn readable(d: &mut DeviceState, size: u64) -> Result<Self> {
        let visible = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        Self::new(d, size, vk::BufferUsageFlags::empty(), visible, vk::MemoryPropertyFlags::HOST_CACHED)
    }
    fn new(
        d: &mut DeviceState,
        size: u64,
        usage: vk::BufferUsageFlags,
        must: vk::MemoryPropertyFlags,
        like: vk::MemoryPropertyFlags,
    ) -> Result<Self> {
        let usage =
            usage | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS | vk::BufferUsageFlags::STORAGE_BUFFER;
        let key = (size, usage.as_raw(), must.contains(vk::MemoryPropertyFlags::HOST_VISIBLE));
        if let Some(own) = d.spare.free.get_mut(&key).and_then(Vec::pop) {
            return Ok(own);
        }
        d.spare.made += 1;
        // SAFETY: plain creations on a live device, in order.
        unsafe {
            let info = vk::BufferCreateInfo::default().size(size).usage(usage);
            let buffer = d.ash.create_buffer(&info, None).what("vkCreateBuffer")?;
            let need = d.ash.get_buffer_memory_requirements(buffer);
            let alloc = d.alloc(need, (must, like), AllocKind::Linear, true)?;
            d.ash.bind_buffer_memory(buffer, alloc.memory(), alloc.offset()).what("vkBindBufferMemory")?;
            let address = d.address_of(buffer);
            Ok(Own { buffer, key, alloc: Some(alloc), address })
        }
    }
    /// The live handle.
    pub fn buffer(&self) -> vk::Buffer {
        self.buffer
    }
    /// Writes; only to visible ones.
    pub fn write(&self, at: u64, data: &[u8]) {
        let done = self.alloc.as_ref().is_some_and(|a| a.write(at, data));
        debug_assert!(done, "a table is visible and large enough");
    }
    /// All its bytes; only of visible ones, and only while nothing writes them.
    pub fn read(&self) -> Option<Vec<u8>> {
        self.alloc.as_ref()?.read(0, self.key.0)
    }
    /// Reads the first words and clears them; only of visible ones.
    pub fn take_words<const N: usize>(&mut self) -> [u32; N] {
        let mut words = [0; N];
        if let Some(a) = &self.alloc {
            for (i, w) in words.iter_mut().enumerate() {
                *w = a.read_u32(i as u64 * 4);
            }
            a.write(0, &[0u8; 64][..N * 4]);
        }
        words
    }
    /// Nothing of it is in flight any more: it is used again, or destroyed.
    pub fn give(self, d: &mut DeviceState) {
        match d.spare.keep {
            true => d.spare.free.entry(self.key).or_default().push(self),
            false => self.destroy(&d.ash),
        }
    }
    /// Destroys it; nothing of it may be in flight.
    pub fn destroy(mut self, d: &ash::Device) {
        // SAFETY: ours.
        unsafe { d.destroy_buffer(self.buffer, None) };
        self.alloc = None;
    }
}

impl DeviceState {
    /// A buffer's address.
    pub fn address_of(&self, buffer: vk::Buffer) -> u64 {
        let info = vk::BufferDeviceAddressInfo::default().buffer(buffer);
        // SAFETY: a live buffer with the usage, on a device with the feature.
        self.get_address.map_or(0, |get| unsafe { get(self.ash.handle(), &info) })
    }
}

//! Types 11 and 12: which physical device the capture ran on, and its memory.
//!
//! Both stand before vkCreateDevice. Refuses nothing beyond missing bytes.

use crate::container::fields::{Fields, Put, Text};
use crate::error::Result;

/// Type 11: from VkPhysicalDeviceProperties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceProperties<'a> {
    /// VkPhysicalDevice.
    pub physical_device: u64,
    /// Vulkan version, packed as Vulkan packs it.
    pub api_version: u32,
    /// Driver version, packed as the vendor packs it.
    pub driver_version: u32,
    /// PCI vendor, or a Khronos vendor id.
    pub vendor: u32,
    /// PCI device.
    pub device: u32,
    /// VkPhysicalDeviceType.
    pub device_type: u32,
    /// Pipeline cache UUID.
    pub pipeline_cache_uuid: [u8; 16],
    /// Its name.
    pub name: Text<'a>,
}

impl<'a> DeviceProperties<'a> {
    pub(crate) fn read(f: &mut Fields<'a>) -> Result<Self> {
        let physical_device = f.u64("physical device")?;
        let (api_version, driver_version) = (f.u32("API version")?, f.u32("driver version")?);
        let (vendor, device, device_type) = (f.u32("vendor")?, f.u32("device")?, f.u32("device type")?);
        let pipeline_cache_uuid = f.array("pipeline cache UUID")?;
        let length = f.u32("name length")?;
        let name = Text(f.bytes(length.into(), "device name")?);
        Ok(DeviceProperties {
            physical_device,
            api_version,
            driver_version,
            vendor,
            device,
            device_type,
            pipeline_cache_uuid,
            name,
        })
    }
    /// Writes the fields.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.put_u64(self.physical_device);
        out.put_u32s(&[self.api_version, self.driver_version, self.vendor, self.device, self.device_type]);
        out.put(&self.pipeline_cache_uuid);
        out.put_u32(self.name.0.len() as u32);
        out.put(self.name.0);
    }
}

flat! {
    /// One VkMemoryType.
    pub struct MemoryType {
        /// VkMemoryPropertyFlags.
        pub flags: u32,
        /// Index of its heap.
        pub heap: u32,
    }
}

flat! {
    /// One VkMemoryHeap; 12 bytes in the file, without padding.
    pub struct MemoryHeap {
        /// In bytes.
        pub size: u64,
        /// VkMemoryHeapFlags.
        pub flags: u32,
    }
}

/// Type 12: from VkPhysicalDeviceMemoryProperties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceMemory {
    /// VkPhysicalDevice.
    pub physical_device: u64,
    /// Memory types, by index.
    pub types: Vec<MemoryType>,
    /// Memory heaps, by index.
    pub heaps: Vec<MemoryHeap>,
}

impl DeviceMemory {
    pub(crate) fn read(f: &mut Fields) -> Result<Self> {
        let physical_device = f.u64("physical device")?;
        let (types, heaps) = (f.u32("memory type count")?, f.u32("memory heap count")?);
        let types = f.records(types, 8, "memory types", MemoryType::read)?;
        let heaps = f.records(heaps, 12, "memory heaps", MemoryHeap::read)?;
        Ok(DeviceMemory { physical_device, types, heaps })
    }
    /// Writes the fields.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.put_u64(self.physical_device);
        out.put_u32(self.types.len() as u32);
        out.put_u32(self.heaps.len() as u32);
        self.types.iter().for_each(|t| t.write(out));
        self.heaps.iter().for_each(|h| h.write(out));
    }
}

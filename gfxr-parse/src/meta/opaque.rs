//! Types 14 and 37: what the driver must be told so that an object gets the address, or the descriptor the bytes, that it
//! had in the capture (`captureReplay` features).
//!
//! Both stand before the create or allocate call of the object they name. Refuses nothing beyond missing bytes.

use crate::container::fields::{Fields, Put};
use crate::error::Result;

flat! {
    /// Type 14.
    pub struct OpaqueAddress {
        /// VkDevice.
        pub device: u64,
        /// VkBuffer, VkDeviceMemory or VkAccelerationStructureKHR.
        pub object: u64,
        /// Opaque capture address.
        pub address: u64,
    }
}

/// Type 37.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpaqueDescriptor<'a> {
    /// VkDevice.
    pub device: u64,
    /// VkBuffer, VkImage, VkImageView, VkSampler or VkAccelerationStructureKHR.
    pub object: u64,
    /// Opaque capture descriptor data; never compressed.
    pub data: &'a [u8],
}

impl<'a> OpaqueDescriptor<'a> {
    pub(crate) fn read(f: &mut Fields<'a>) -> Result<Self> {
        let (device, object) = (f.u64("device")?, f.u64("object")?);
        let size = f.u32("data size")?;
        Ok(OpaqueDescriptor { device, object, data: f.bytes(size.into(), "opaque descriptor data")? })
    }
    /// Writes the fields.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.put_u64(self.device);
        out.put_u64(self.object);
        out.put_u32(self.data.len() as u32);
        out.put(self.data);
    }
}

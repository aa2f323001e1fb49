//! The objects that copies of our own are made with: one command buffer, one fence, one staging buffer a device.

use super::memory::Mapped;
use crate::error::{Error, Kind, Result};
use ash::vk;

/// See the module's header.
pub struct Upload {
    pub(super) pool: vk::CommandPool,
    pub(super) cmd: vk::CommandBuffer,
    pub(super) fence: vk::Fence,
    pub(super) queue: vk::Queue,
    pub(super) staging: Option<Staging>,
    pub(super) watchdog_ns: u64,
}

pub(super) struct Staging {
    pub(super) buffer: vk::Buffer,
    pub(super) memory: vk::DeviceMemory,
    pub(super) mapped: Mapped,
}

impl Staging {
    pub(super) fn size(&self) -> u64 {
        self.mapped.range().1
    }
    /// The first `size` bytes, which a copy that has been waited for wrote.
    pub(super) fn read(&self, size: u64) -> Result<Vec<u8>> {
        self.mapped.read(0, size).ok_or_else(|| Error::new(Kind::Internal, "the staging buffer is too small"))
    }
}

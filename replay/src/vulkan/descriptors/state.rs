//! What is known of descriptors: of descriptor buffers what the driver's bytes mean, of pools how full they are.

use super::table::Table;
use ash::vk;
use std::collections::{HashMap, HashSet};

/// See the module's header.
#[derive(Default)]
pub(crate) struct Descriptors {
    pub(super) table: Table,
    /// Descriptor buffers by captured id: what the host wrote there, as captured.
    pub(super) buffers: HashMap<u64, Vec<u8>>,
    /// Sizes that are this driver's too, by device and type.
    pub(super) sizes: HashSet<(u64, i32, u64)>,
}

impl Descriptors {
    /// There are no descriptor buffers.
    pub(crate) fn is_unused(&self) -> bool {
        self.table.is_empty() && self.buffers.is_empty()
    }
}

/// What is known of the pools, by the capture's id.
#[derive(Default)]
pub struct Pools {
    pub(in crate::vulkan) by_id: HashMap<u64, Pool>,
    /// Sets that came from another pool than the capture's, by live handle.
    pub(in crate::vulkan) elsewhere: HashMap<u64, vk::DescriptorPool>,
    /// Allocations so far, for rehearsals.
    pub(in crate::vulkan) allocations: u64,
}

pub(in crate::vulkan) struct Pool {
    pub(in crate::vulkan) flags: vk::DescriptorPoolCreateFlags,
    pub(in crate::vulkan) sets: u32,
    pub(in crate::vulkan) sizes: Vec<vk::DescriptorPoolSize>,
    pub(in crate::vulkan) inline_blocks: u32,
    pub(in crate::vulkan) more: Vec<vk::DescriptorPool>,
}

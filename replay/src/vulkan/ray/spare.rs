//! Buffers of our own with an address, and those that wait to be used again.

use crate::vulkan::memory::Alloc;
use ash::vk;
use std::collections::BTreeMap;

/// Buffers that a recording gave back, by size, usage and whether the host sees them.
#[derive(Default)]
pub struct Spare {
    pub(super) keep: bool,
    pub(super) free: BTreeMap<Key, Vec<Own>>,
    /// How many were made because none was to be had.
    pub made: u64,
}

pub(super) type Key = (u64, u32, bool);

impl Spare {
    /// None yet; `keep`: those given back are kept.
    pub fn new(keep: bool) -> Self {
        Spare { keep, ..Spare::default() }
    }
    /// All of them.
    pub fn drain(&mut self) -> impl Iterator<Item = Own> + use<> {
        std::mem::take(&mut self.free).into_values().flatten()
    }
}

/// A buffer, its memory and its address.
pub struct Own {
    pub(super) buffer: vk::Buffer,
    pub(super) key: Key,
    pub(super) alloc: Option<Alloc>,
    /// Where it is on the device.
    pub address: u64,
}

//! The captured memory objects, and what lies where in them.

use super::mapped::Mapped;
use super::pool::Alloc;
use crate::options::MemoryMode;
use ash::vk;
use world::Ids;
use world::span::extent;

/// All captured memory objects.
#[derive(Default)]
pub struct Memories {
    /// The mode in force.
    pub mode: MemoryMode,
    pub(crate) by_id: Ids<MemoryState>,
}

/// A captured memory object.
#[derive(Default)]
pub(crate) struct MemoryState {
    pub device: u64,
    pub size: u64,
    /// Property flags of the captured memory type (or of the live one where the capture does not say).
    pub flags: vk::MemoryPropertyFlags,
    /// Live, unless it is a shadow.
    pub live: vk::DeviceMemory,
    /// Offset the application mapped at, and what is mapped, in whole atoms (nothing of a shadow).
    pub mapped: Option<(u64, Mapped)>,
    /// The live memory type is not coherent: our writes must be flushed.
    pub flush: bool,
    /// Resources bound to it.
    pub bound: Vec<Bound>,
    /// Shadows: the capture gave it to one resource alone.
    pub dedicated: bool,
    /// Shadows: memory that resources share here as they did there.
    pub arenas: Vec<Arena>,
    /// Shadows: what was written before anything was bound there.
    pub pending: Vec<(u64, Vec<u8>)>,
}

impl MemoryState {
    /// First byte of the live mapping and the one behind its last, in whole atoms.
    pub(super) fn mapping(&self) -> (u64, u64) {
        self.mapped.as_ref().map_or((0, 0), |(_, m)| m.range())
    }
}

/// A resource in a captured memory object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    pub resource: u64,
    pub image: bool,
    /// Holds acceleration structures: only the device writes it. A fill that reaches into it does so because it covers
    /// whole pages, and would put captured addresses where live ones must be.
    pub device_only: bool,
    pub offset: u64,
    pub size: u64,
}

impl Bound {
    /// The bytes of the memory object that it takes.
    pub fn extent(&self) -> std::ops::Range<u64> {
        extent(self.offset, self.size)
    }
}

impl Memories {
    /// A device is gone.
    pub fn forget_device(&mut self, device: u64) {
        self.by_id.retain(|_, m| m.device != device);
    }
    /// A resource is gone.
    pub fn unbind(&mut self, memory: u64, resource: u64) {
        if let Some(m) = self.by_id.get_mut(&memory) {
            m.bound.retain(|b| b.resource != resource);
        }
    }
}

/// Memory that resources share.
pub(crate) struct Arena {
    pub(super) group: usize,
    /// The captured offset that it begins at.
    pub(super) base: u64,
    pub(super) alloc: Alloc,
}

//! The captured memory objects, and what lies where in them.

use super::mapped::Mapped;
use super::pool::Alloc;
use crate::options::MemoryMode;
use ash::vk;
use world::Ids;
use world::span::{common, extent};

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
    /// Its type here, likewise.
    pub ty: u32,
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

/// The parts of a fill at `at` that lie in nothing only the device writes.
pub(super) fn host_parts<'d>(bound: &[Bound], at: u64, data: &'d [u8]) -> Vec<(u64, &'d [u8])> {
    let all = extent(at, data.len() as u64);
    let mut holes: Vec<(u64, u64)> = bound
        .iter()
        .filter(|b| b.device_only)
        .filter_map(|b| common(&b.extent(), &all).map(|c| (c.start, c.end)))
        .collect();
    if holes.is_empty() {
        return vec![(at, data)];
    }
    holes.sort_unstable();
    holes.push((all.end, all.end));
    let mut parts = Vec::new();
    let mut from = at;
    for (a, b) in holes {
        if a > from {
            parts.push((from, &data[(from - at) as usize..(a - at) as usize]));
        }
        from = from.max(b);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fills_go_around_what_only_the_device_writes() {
        let b = |offset, size, device_only| Bound { resource: 1, image: false, device_only, offset, size };
        let data: Vec<u8> = (0..100).collect();
        let bound = [b(90, 20, true), b(110, 5, true), b(150, 10, false), b(190, 100, true)];
        let parts: Vec<_> =
            host_parts(&bound, 100, &data).iter().map(|(at, p)| (*at, p.len(), p[0])).collect();
        assert_eq!(parts, [(115, 75, 15)]);
        assert_eq!(host_parts(&bound[2..3], 100, &data), [(100, &data[..])]);
    }

    #[test]
    fn fills_at_the_end_of_all_numbers_wrap_nowhere() {
        let b = |offset, size| Bound { resource: 1, image: false, device_only: true, offset, size };
        let data = [1u8; 64];
        assert_eq!(host_parts(&[b(u64::MAX - 8, u64::MAX)], 0, &data), [(0, &data[..])]);
        assert_eq!(host_parts(&[b(0, u64::MAX)], 100, &data), []);
        assert_eq!(host_parts(&[b(8, 16)], u64::MAX - 200, &data), [(u64::MAX - 200, &data[..])]);
    }
}

//! Copies of uniform buffers whose places lie as this device wants them: which buffers have one, and where in it each place is.

use crate::preflight::alignment::Alignments;
use crate::vulkan::memory::Alloc;
use ash::vk;
use std::collections::{BTreeMap, HashMap};

/// Most bytes of all copies.
const MOST: u64 = 1 << 30;

/// See the module's header.
#[derive(Default)]
pub struct Realigned {
    /// By captured buffer.
    pub(super) places: HashMap<u64, Places>,
    pub(super) copies: HashMap<u64, AlignedCopy>,
    /// Those among them that shaders, images and queries may write to.
    pub(super) written_by_device: Vec<u64>,
}

/// Where each place of a buffer lies in its copy.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    /// By offset and bytes.
    pub(super) at: BTreeMap<(u64, u64), u64>,
    /// The bytes of the largest.
    pub(super) widest: u64,
    pub(super) size: u64,
}

pub(super) struct AlignedCopy {
    pub(super) device: u64,
    pub(super) buffer: vk::Buffer,
    pub(super) alloc: Alloc,
}

impl Places {
    pub(super) fn of(all: impl Iterator<Item = (u64, u64)>, align: u64) -> Self {
        let mut p = Places::default();
        for (offset, bytes) in all {
            p.at.insert((offset, bytes), p.size);
            p.widest = p.widest.max(bytes);
            p.size = p.size.saturating_add(bytes.max(1)).saturating_add(align - 1) & !(align - 1);
        }
        p
    }

    /// Parts of a range of the buffer: where each begins in it, how long it is, and where it lies in the copy.
    pub(super) fn parts(&self, from: u64, len: u64) -> impl Iterator<Item = (u64, u64, u64)> {
        let to = from.saturating_add(len);
        self.at.range((from.saturating_sub(self.widest), 0)..(to, 0)).filter_map(
            move |(&(offset, bytes), &at)| {
                let (start, end) = (offset.max(from), offset.saturating_add(bytes).min(to));
                (start < end).then(|| (start, end - start, at + (start - offset)))
            },
        )
    }
}

impl Realigned {
    /// For what a capture asks for and a device that wants uniform buffers so aligned; none if that is too much.
    pub(super) fn new(asked: &Alignments, align: u64) -> Option<Self> {
        let mut r = Realigned::default();
        let odd = asked.uniforms.iter().filter(|b| b.1.iter().any(|p| p.0 % align != 0));
        for (&buffer, places) in odd {
            r.places.insert(buffer, Places::of(places.iter().copied(), align));
        }
        let size = r.places.values().fold(0u64, |all, p| all.saturating_add(p.size));
        r.written_by_device =
            asked.written_by_device.iter().copied().filter(|b| r.places.contains_key(b)).collect();
        (size <= MOST).then_some(r)
    }

    /// No buffer has a copy.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_lies_aligned_by_itself() {
        let p = Places::of([(0, 112), (112, 112), (224, 64)].into_iter(), 64);
        assert_eq!(p.at.values().copied().collect::<Vec<_>>(), [0, 128, 256]);
        assert_eq!((p.size, p.widest), (320, 112));
        let parts = |from, len| p.parts(from, len).collect::<Vec<_>>();
        assert_eq!(parts(100, 20), [(100, 12, 100), (112, 8, 128)]);
        assert_eq!(parts(223, 1000), [(223, 1, 239), (224, 64, 256)]);
        assert!(parts(288, 8).is_empty());
    }

    #[test]
    fn only_buffers_with_such_offsets_have_copies() {
        let mut asked = Alignments::default();
        asked.uniforms.insert(1, [(0, 64), (256, 64)].into());
        asked.uniforms.insert(2, [(0, 64), (16, 64)].into());
        let r = Realigned::new(&asked, 64).expect("it is little");
        assert!(!r.places.contains_key(&1) && r.places.contains_key(&2));
        asked.written_by_device.extend([1, 2]);
        let r = Realigned::new(&asked, 64).expect("it is little");
        assert_eq!(r.written_by_device, [2]);
        asked.uniforms.insert(3, [(16, u64::MAX)].into());
        assert!(Realigned::new(&asked, 64).is_none(), "too much");
    }
}

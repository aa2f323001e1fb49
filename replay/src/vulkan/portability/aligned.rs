//! Copies of buffers whose places lie as this device wants them: which buffers have one, where in it each place is, and which
//! commands write to them.

use crate::preflight::alignment::{Alignments, Of, Place};
use crate::preflight::written_places::WrittenPlaces;
use crate::vulkan::memory::Alloc;
use ash::vk;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Most bytes of all copies.
const MOST: u64 = 1 << 30;

/// What this device wants the offsets of descriptors to be multiples of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) uniform: u64,
    pub(super) storage: u64,
    /// Texel buffers: bytes, and whether a whole texel (or component of three) does as well.
    pub(super) texel: [(u64, bool); 2],
}

impl Wanted {
    /// For descriptors of a kind.
    pub(super) fn of(&self, of: Of) -> u64 {
        match of {
            Of::Uniform => self.uniform.max(1),
            Of::Storage => self.storage.max(1),
            Of::Texel(unit) => {
                let one = |(bytes, single): (u64, bool)| if single { bytes.min(unit.into()) } else { bytes };
                self.texel.map(one).into_iter().max().unwrap_or(1).max(1)
            }
        }
    }

    /// Whether a place does not do.
    pub(super) fn is_odd(&self, p: &Place) -> bool {
        !p.offset.is_multiple_of(self.of(p.of))
    }

    /// For all of them.
    fn most(&self) -> u64 {
        self.uniform.max(self.storage).max(self.texel[0].0).max(self.texel[1].0).max(1)
    }
}

/// See the module's header.
#[derive(Default)]
pub struct Realigned {
    /// By captured buffer.
    pub(super) places: HashMap<u64, Places>,
    pub(super) copies: HashMap<u64, AlignedCopy>,
    /// Those among them that shaders, images and queries may write to.
    pub(super) written_by_device: Vec<u64>,
    /// By the block of a command, places that it, or the pass that it ends, writes to in their copies.
    pub(super) written: HashMap<u64, BTreeSet<(u64, Place)>>,
}

/// Where places of a buffer lie in its copy.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    pub(super) at: BTreeMap<Place, u64>,
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
    pub(super) fn of(all: impl Iterator<Item = Place>, align: u64) -> Self {
        let mut p = Places::default();
        for place in all {
            p.at.insert(place, p.size);
            p.widest = p.widest.max(place.bytes);
            p.size = p.size.saturating_add(place.bytes.max(1)).saturating_add(align - 1) & !(align - 1);
        }
        p
    }

    /// Whether what has dynamic offsets, as this, sees the copy.
    pub(super) fn has_dynamic(&self, of: Of) -> bool {
        self.at.keys().any(|p| p.dynamic && p.of == of)
    }

    /// Parts of a range of the buffer: where each begins in it, how long it is, and where it lies in the copy.
    pub(super) fn parts(&self, from: u64, len: u64) -> impl Iterator<Item = (u64, u64, u64)> {
        let to = from.saturating_add(len);
        let first = |offset| Place { offset, bytes: 0, of: Of::Uniform, dynamic: false };
        self.at.range(first(from.saturating_sub(self.widest))..first(to)).filter_map(move |(p, &at)| {
            let (start, end) = (p.offset.max(from), p.offset.saturating_add(p.bytes).min(to));
            (start < end).then(|| (start, end - start, at + (start - p.offset)))
        })
    }
}

impl Realigned {
    /// For what a capture asks for and what a device wants; none if that is too much. Descriptors with dynamic offsets name one
    /// buffer for all of them: so all of a kind see the copy, or none.
    pub(super) fn new(asked: &Alignments, wanted: &Wanted) -> Option<Self> {
        let mut r = Realigned::default();
        for (&buffer, places) in &asked.places {
            let moved = |of| places.iter().any(|p| p.dynamic && p.of == of && wanted.is_odd(p));
            let (uniform, storage) = (moved(Of::Uniform), moved(Of::Storage));
            let copied = places.iter().filter(|p| match p.of {
                Of::Uniform if p.dynamic => uniform,
                Of::Storage if p.dynamic => storage,
                _ => wanted.is_odd(p),
            });
            let copied = Places::of(copied.copied(), wanted.most());
            if !copied.at.is_empty() {
                r.places.insert(buffer, copied);
            }
        }
        let size = r.places.values().fold(0u64, |all, p| all.saturating_add(p.size));
        r.written_by_device =
            asked.written_by_device.iter().copied().filter(|b| r.places.contains_key(b)).collect();
        (size <= MOST).then_some(r)
    }

    /// Finds which commands write to copies, by a look through the capture if any could.
    pub(super) fn find_written(
        &mut self,
        scan: impl FnOnce(&dyn Fn(u64, &Place) -> bool) -> WrittenPlaces,
    ) -> WrittenPlaces {
        if self.written_by_device.is_empty() {
            return WrittenPlaces::default();
        }
        let mut found = scan(&|buffer, place| self.at(buffer, place).is_some());
        self.written = std::mem::take(&mut found.by_block);
        found
    }

    /// Where a place of a buffer lies in its copy.
    pub(super) fn at(&self, buffer: u64, place: &Place) -> Option<u64> {
        self.places.get(&buffer)?.at.get(place).copied()
    }

    /// A buffer has a copy.
    pub(in crate::vulkan) fn has(&self, buffer: u64) -> bool {
        self.places.contains_key(&buffer)
    }

    /// No buffer has a copy.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use world::layouts::ty;

    fn place(kind: u32, offset: u64, bytes: u64) -> Place {
        Place::new(kind, offset, bytes).expect("of a buffer")
    }

    const WANTED: Wanted = Wanted { uniform: 64, storage: 16, texel: [(16, true), (32, false)] };

    #[test]
    fn each_place_lies_aligned_by_itself() {
        let all = [(0, 112), (112, 112), (224, 64)].map(|(o, b)| place(ty::UNIFORM_BUFFER, o, b));
        let p = Places::of(all.into_iter(), 64);
        assert_eq!(p.at.values().copied().collect::<Vec<_>>(), [0, 128, 256]);
        assert_eq!((p.size, p.widest), (320, 112));
        let parts = |from, len| p.parts(from, len).collect::<Vec<_>>();
        assert_eq!(parts(100, 20), [(100, 12, 100), (112, 8, 128)]);
        assert_eq!(parts(223, 1000), [(223, 1, 239), (224, 64, 256)]);
        assert!(parts(288, 8).is_empty());
    }

    #[test]
    fn texels_may_do_where_bytes_do_not() {
        assert_eq!([4, 16, 64].map(|unit| WANTED.of(Of::Texel(unit))), [32; 3]);
        let single = Wanted { texel: [(16, true), (32, true)], ..WANTED };
        assert_eq!([4, 16, 64].map(|unit| single.of(Of::Texel(unit))), [4, 16, 32]);
    }

    #[test]
    fn only_places_that_do_not_do_are_copied_and_all_dynamic_ones_beside_one() {
        let mut asked = Alignments::default();
        let plain = |offset| place(ty::UNIFORM_BUFFER, offset, 64);
        let storage = |offset| place(ty::STORAGE_BUFFER_DYNAMIC, offset, 64);
        asked.places.insert(1, [plain(0), plain(256), storage(16)].into());
        asked.places.insert(2, [plain(0), plain(16)].into());
        asked.places.insert(3, [plain(0), storage(0), storage(8)].into());
        asked.written_by_device.extend([1, 2]);
        let r = Realigned::new(&asked, &WANTED).expect("it is little");
        let copied = |b| r.places.get(&b).map_or(vec![], |p| p.at.keys().copied().collect());
        assert_eq!(copied(1), []);
        assert_eq!(copied(2), [plain(16)]);
        assert_eq!(copied(3), [storage(0), storage(8)]);
        assert_eq!(r.written_by_device, [2]);
        asked.places.insert(3, [place(ty::UNIFORM_BUFFER, 16, u64::MAX)].into());
        assert!(Realigned::new(&asked, &WANTED).is_none(), "too much");
    }
}

//! What lies in which memory, and where the bytes of images are.
//!
//! Guarantees: everything bound to a range of a memory object is found by that range, in the order of offsets; an id that
//! comes again replaces what it named. Refuses nothing.

use super::texels::Texels;
use crate::Ids;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Something bound to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resident {
    /// The buffer or image.
    pub id: u64,
    /// It is an image.
    pub image: bool,
    /// Its first byte in the memory.
    pub from: u64,
    /// Behind its last one.
    pub to: u64,
}

#[derive(Clone, Debug, Default)]
struct There {
    /// By first byte and id: behind the last byte, and whether it is an image.
    all: BTreeMap<(u64, u64), (u64, bool)>,
    /// The largest of them, ever.
    largest: u64,
    /// Images among them.
    images: u32,
}

/// A part of a sparse resource: bytes, memory, offset in it.
type Piece = (u64, u64, u64);

/// Where a subresource of an image of linear tiling lies: offset, size, bytes from row to row, from layer to layer, from
/// slice to slice.
pub type Linear = [u64; 5];

/// See the module's header.
#[derive(Clone, Debug, Default)]
pub struct Residents {
    memories: Ids<There>,
    /// Where each lies: memory, first byte. Images of several planes have several.
    places: Ids<Vec<(u64, u64)>>,
    /// Bytes of images, as the driver said.
    pub image_bytes: Ids<u64>,
    /// Images of linear tiling: aspect, level, layer.
    pub linear: Ids<HashMap<(u32, u32, u32), Linear>>,
    /// Texels of images that something was written to.
    pub texels: Ids<Option<Rc<Texels>>>,
    /// Micromaps: buffer, first byte, size.
    pub micromaps: Ids<(u64, u64, u64)>,
    /// What sparse buffers are bound to, by their first byte.
    pub sparse: Ids<BTreeMap<u64, Piece>>,
}

impl Residents {
    /// Something is bound.
    pub fn bind(&mut self, memory: u64, r: Resident) {
        let there = self.memories.entry(memory).or_default();
        there.largest = there.largest.max(r.to.saturating_sub(r.from));
        if there.all.insert((r.from, r.id), (r.to, r.image)).is_none() {
            there.images += u32::from(r.image);
            self.places.entry(r.id).or_default().push((memory, r.from));
        }
    }

    /// A buffer or image is gone, or its id begins to name another.
    pub fn remove(&mut self, id: u64) {
        for (memory, from) in self.places.remove(&id).unwrap_or_default() {
            if let Some(there) = self.memories.get_mut(&memory)
                && let Some((_, image)) = there.all.remove(&(from, id))
            {
                there.images -= u32::from(image);
            }
        }
        self.image_bytes.remove(&id);
        self.linear.remove(&id);
        self.texels.remove(&id);
        self.sparse.remove(&id);
    }

    /// A memory object is gone, or begins.
    pub fn remove_memory(&mut self, memory: u64) {
        self.memories.remove(&memory);
    }

    /// Images lie in this memory.
    pub fn has_images(&self, memory: u64) -> bool {
        self.memories.get(&memory).is_some_and(|t| t.images > 0)
    }

    /// What shares bytes with a range of a memory object, by first byte.
    pub fn on(&self, memory: u64, from: u64, to: u64) -> impl Iterator<Item = Resident> + '_ {
        let there = self.memories.get(&memory);
        let found = there.map(|t| t.all.range((from.saturating_sub(t.largest), 0)..(to, 0)));
        let all = found.into_iter().flatten();
        all.map(|((at, id), (end, image))| Resident { id: *id, image: *image, from: *at, to: *end })
            .filter(move |r| r.to > from)
    }

    /// A part of a sparse buffer is bound to memory, or, without memory, to nothing.
    pub fn bind_sparse(&mut self, buffer: u64, offset: u64, size: u64, to: Option<(u64, u64)>) {
        let pieces = self.sparse.entry(buffer).or_default();
        let end = offset.saturating_add(size);
        let touched: Vec<(u64, Piece)> = pieces
            .range(..end)
            .filter(|(at, p)| at.saturating_add(p.0) > offset)
            .map(|(at, p)| (*at, *p))
            .collect();
        for (at, (bytes, memory, there)) in touched {
            pieces.remove(&at);
            if at < offset {
                pieces.insert(at, (offset - at, memory, there));
            }
            let behind = at.saturating_add(bytes);
            if behind > end {
                pieces.insert(end, (behind - end, memory, there.saturating_add(end - at)));
            }
        }
        if let Some((memory, there)) = to {
            pieces.insert(offset, (size, memory, there));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shares_bytes_is_found() {
        let mut r = Residents::default();
        let at = |id, from, to| Resident { id, image: id == 3, from, to };
        r.bind(9, at(1, 0, 100));
        r.bind(9, at(2, 100, 110));
        r.bind(9, at(3, 50, 500));
        let on = |r: &Residents, from, to| r.on(9, from, to).map(|r| r.id).collect::<Vec<_>>();
        assert_eq!((on(&r, 0, 50), on(&r, 99, 101), on(&r, 110, 111)), (vec![1], vec![1, 3, 2], vec![3]));
        assert!(r.has_images(9) && !r.has_images(8));
        r.remove(3);
        assert!(!r.has_images(9));
        assert_eq!(on(&r, 0, 1000), [1, 2]);
    }

    #[test]
    fn sparse_pieces_replace_parts_of_others() {
        let mut r = Residents::default();
        r.bind_sparse(1, 0, 300, Some((7, 1000)));
        r.bind_sparse(1, 100, 100, Some((8, 0)));
        r.bind_sparse(1, 250, 10, None);
        let all: Vec<_> = r.sparse[&1].iter().map(|(a, b)| (*a, *b)).collect();
        assert_eq!(
            all,
            [(0, (100, 7, 1000)), (100, (100, 8, 0)), (200, (50, 7, 1200)), (260, (40, 7, 1260))]
        );
    }
}

//! What descriptor sets contain.
//!
//! Guarantees: contents grow only as far as they were written, so that a large set of which little is used costs little;
//! `version` changes exactly when something in it does, and no two states of any contents share one. Refuses nothing: what
//! lies outside of the layout is dropped.

use super::layouts::{Binding, SetLayout, ty};
use std::rc::Rc;

/// Bytes of all inline uniform blocks of a set, at most.
const MOST_INLINE_BYTES: usize = 1 << 24;
/// Descriptors of a set, at most.
const MOST_DESCRIPTORS: usize = 1 << 24;

/// A descriptor, as it was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Descriptor {
    /// Never written.
    #[default]
    Unwritten,
    /// A sampler.
    Sampler {
        /// It.
        sampler: u64,
    },
    /// An image, perhaps with a sampler.
    Image {
        /// VkDescriptorType.
        ty: u32,
        /// The image view, or 0.
        view: u64,
        /// The sampler, or 0.
        sampler: u64,
        /// VkImageLayout.
        layout: u32,
    },
    /// A texel buffer.
    Texel {
        /// VkDescriptorType.
        ty: u32,
        /// The buffer view, or 0.
        view: u64,
    },
    /// A buffer.
    Buffer {
        /// VkDescriptorType.
        ty: u32,
        /// It, or 0.
        buffer: u64,
        /// First byte.
        offset: u64,
        /// Bytes; `u64::MAX` for all that are left.
        range: u64,
    },
    /// An acceleration structure.
    Structure {
        /// It, or 0.
        structure: u64,
    },
    /// An inline uniform block: its bytes are [`Contents::inline_bytes`].
    Inline,
    /// What a descriptor in a descriptor buffer says of memory: a buffer, a texel buffer, an acceleration structure.
    Address {
        /// VkDescriptorType.
        ty: u32,
        /// VkFormat, for texel buffers.
        format: u32,
        /// Where, or 0.
        address: u64,
        /// Bytes.
        range: u64,
    },
    /// It was written, and is not known.
    Unknown {
        /// VkDescriptorType.
        ty: u32,
        /// Why not.
        why: &'static str,
    },
}

impl Descriptor {
    /// VkDescriptorType, if it says.
    pub fn ty(&self) -> Option<u32> {
        Some(match *self {
            Descriptor::Unwritten => return None,
            Descriptor::Sampler { .. } => ty::SAMPLER,
            Descriptor::Image { ty, .. }
            | Descriptor::Texel { ty, .. }
            | Descriptor::Buffer { ty, .. }
            | Descriptor::Address { ty, .. }
            | Descriptor::Unknown { ty, .. } => ty,
            Descriptor::Structure { .. } => ty::ACCELERATION_STRUCTURE_KHR,
            Descriptor::Inline => ty::INLINE_UNIFORM_BLOCK,
        })
    }
}

/// What a set contains.
#[derive(Clone, Debug)]
pub struct Contents {
    /// The layout it was made with.
    pub layout: Rc<SetLayout>,
    /// How many descriptors the last binding has, where its count is variable.
    pub variable: Option<u32>,
    /// Changes whenever the contents do.
    pub version: u64,
    /// The same by binding, in the order of the layout's bindings.
    pub versions: Vec<u64>,
    descriptors: Vec<Descriptor>,
    inline: Vec<u8>,
    /// Which bytes of `inline` were written.
    inline_written: Vec<bool>,
}

impl Contents {
    /// Nothing written yet; `version` is new.
    pub fn new(layout: Rc<SetLayout>, variable: Option<u32>, version: u64) -> Self {
        let versions = vec![version; layout.bindings.len()];
        Contents {
            layout,
            variable,
            version,
            versions,
            descriptors: vec![],
            inline: vec![],
            inline_written: vec![],
        }
    }

    /// How many elements a binding has here (bytes for inline blocks).
    pub fn count(&self, b: &Binding) -> u32 {
        match self.variable {
            Some(n) if self.layout.bindings.last().is_some_and(|last| last.binding == b.binding) => {
                n.min(b.count)
            }
            _ => b.count,
        }
    }

    /// A descriptor.
    pub fn get(&self, binding: u32, element: u32) -> Descriptor {
        let Some(b) = self.layout.binding(binding).filter(|b| element < b.slots()) else {
            return Descriptor::Unwritten;
        };
        match self.descriptors.get((b.start + element) as usize) {
            None | Some(Descriptor::Unwritten) if b.ty == ty::SAMPLER && !b.immutable.is_empty() => {
                let sampler = b.immutable.get(element as usize).copied();
                sampler.map_or(Descriptor::Unwritten, |sampler| Descriptor::Sampler { sampler })
            }
            None => Descriptor::Unwritten,
            Some(d) => *d,
        }
    }

    /// The elements of a binding that are not [`Descriptor::Unwritten`], by element.
    pub fn written(&self, binding: u32) -> impl Iterator<Item = (u32, Descriptor)> + '_ {
        let end = self.layout.binding(binding).map_or(0, |b| match b.immutable.is_empty() {
            // Nothing lies behind what was written.
            true => b.slots().min((self.descriptors.len() as u32).saturating_sub(b.start)),
            false => b.slots(),
        });
        (0..end).map(move |e| (e, self.get(binding, e))).filter(|d| d.1 != Descriptor::Unwritten)
    }

    /// The bytes of an inline uniform block and which of them were written.
    pub fn inline_bytes(&self, binding: u32) -> (&[u8], &[bool]) {
        let Some(b) = self.layout.binding(binding).filter(|b| b.ty == ty::INLINE_UNIFORM_BLOCK) else {
            return (&[], &[]);
        };
        let from = b.inline_start as usize;
        let to = (from + b.count as usize).min(self.inline.len());
        if from >= to {
            return (&[], &[]);
        }
        (&self.inline[from..to], &self.inline_written[from..to])
    }

    /// Where a write of `element` of `binding` begins among all descriptors. The element may lie behind the binding's last:
    /// it is then one of the next bindings'.
    fn slot(&self, binding: u32, element: u32) -> Option<usize> {
        let i = self.layout.bindings.partition_point(|b| b.binding < binding);
        let b = self.layout.bindings.get(i)?;
        // A binding that the layout does not have is one of no descriptors.
        Some(b.start as usize + element as usize)
    }

    /// Writes descriptors one after the other from an element of a binding on; `version` counts up where anything changes.
    pub fn write(
        &mut self,
        (binding, element): (u32, u32),
        values: impl Iterator<Item = Descriptor>,
        version: &mut u64,
    ) {
        let Some(start) = self.slot(binding, element) else { return };
        let slots = (self.layout.slots as usize).min(MOST_DESCRIPTORS);
        let mut i = self.layout.bindings.partition_point(|b| b.start as usize <= start).saturating_sub(1);
        let mut changed = usize::MAX;
        for (at, mut value) in (start..slots).zip(values) {
            while self.layout.bindings.get(i + 1).is_some_and(|next| next.start as usize <= at) {
                i += 1;
            }
            let b = &self.layout.bindings[i];
            if let Some(&immutable) = b.immutable.get(at - b.start as usize) {
                match &mut value {
                    Descriptor::Image { sampler, .. } | Descriptor::Sampler { sampler } => {
                        *sampler = immutable;
                    }
                    _ => {}
                }
            }
            if at >= self.descriptors.len() {
                self.descriptors.resize(at + 1, Descriptor::Unwritten);
            }
            if self.descriptors[at] != value {
                self.descriptors[at] = value;
                if changed != i {
                    changed = i;
                    self.touch(i, version);
                }
            }
        }
    }

    /// Writes bytes of an inline uniform block.
    pub fn write_inline(&mut self, binding: u32, offset: u32, data: &[u8], version: &mut u64) {
        let Some(i) =
            self.layout.index_of(binding).filter(|i| self.layout.bindings[*i].ty == ty::INLINE_UNIFORM_BLOCK)
        else {
            return;
        };
        let layout = Rc::clone(&self.layout);
        let b = &layout.bindings[i];
        let data = &data[..data.len().min(b.count.saturating_sub(offset) as usize)];
        if data.is_empty() {
            return;
        }
        let start = b.inline_start as usize + offset as usize;
        let range = start..start + data.len();
        // No device has blocks that large; a damaged capture may say so.
        let all = (layout.inline_bytes as usize).min(MOST_INLINE_BYTES);
        if range.end > all {
            return;
        }
        self.inline.resize(all, 0);
        self.inline_written.resize(all, false);
        if self.inline[range.clone()] != *data || self.inline_written[range.clone()].contains(&false) {
            self.inline[range.clone()].copy_from_slice(data);
            self.inline_written[range].fill(true);
            let (slots, start) = (self.layout.slots as usize, b.start as usize);
            if self.descriptors.len() <= start && start < slots.min(MOST_DESCRIPTORS) {
                self.descriptors.resize(start + 1, Descriptor::Unwritten);
            }
            if let Some(d) = self.descriptors.get_mut(start) {
                *d = Descriptor::Inline;
            }
            self.touch(i, version);
        }
    }

    /// Copies descriptors (bytes of inline blocks) of another set, or of a copy of this one.
    pub fn copy(
        &mut self,
        from: &Contents,
        (src_binding, src_element): (u32, u32),
        (dst_binding, dst_element): (u32, u32),
        count: u32,
        version: &mut u64,
    ) {
        if from.layout.binding(src_binding).is_some_and(|b| b.ty == ty::INLINE_UNIFORM_BLOCK) {
            let (bytes, written) = from.inline_bytes(src_binding);
            let range = src_element as usize..(src_element as usize).saturating_add(count as usize);
            let (Some(bytes), Some(written)) = (bytes.get(range.clone()), written.get(range)) else { return };
            // Runs of written bytes; the others stay as they are.
            let mut at = 0;
            while at < bytes.len() {
                let run = written[at..].iter().take_while(|w| **w).count();
                self.write_inline(
                    dst_binding,
                    dst_element.saturating_add(at as u32),
                    &bytes[at..at + run],
                    version,
                );
                at += run.max(1);
            }
            return;
        }
        let Some(start) = from.slot(src_binding, src_element) else { return };
        let end = (start + count as usize).min(from.layout.slots as usize);
        let values = (start..end).map(|at| from.descriptors.get(at).copied().unwrap_or_default());
        self.write((dst_binding, dst_element), values, version);
    }

    fn touch(&mut self, binding: usize, version: &mut u64) {
        *version += 1;
        self.version = *version;
        self.versions[binding] = *version;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(bindings: &[(u32, u32, u32)], immutable: &[u64]) -> Rc<SetLayout> {
        let b = |&(binding, ty, count): &(u32, u32, u32)| Binding {
            binding,
            ty,
            count,
            stages: 1,
            flags: 0,
            immutable: if matches!(ty, 0 | 1) { immutable.to_vec() } else { vec![] },
            mutable: vec![],
            start: 0,
            inline_start: 0,
            dynamic_start: 0,
        };
        Rc::new(SetLayout::new(1, 0, bindings.iter().map(b).collect()))
    }

    fn buffer(buffer: u64) -> Descriptor {
        Descriptor::Buffer { ty: ty::UNIFORM_BUFFER, buffer, offset: 0, range: u64::MAX }
    }

    #[test]
    fn writes_run_over_into_the_next_bindings() {
        let mut v = 10;
        let mut c = Contents::new(layout(&[(0, 6, 2), (3, 6, 0), (4, 6, 3)], &[]), None, 10);
        c.write((0, 1), [1, 2, 3].map(buffer).into_iter(), &mut v);
        assert_eq!(c.get(0, 0), Descriptor::Unwritten);
        assert_eq!((c.get(0, 1), c.get(4, 0), c.get(4, 1)), (buffer(1), buffer(2), buffer(3)));
        assert_eq!(c.get(4, 2), Descriptor::Unwritten);
        assert_eq!(c.get(4, 3), Descriptor::Unwritten, "outside");
        assert_eq!(c.versions, [11, 10, 12]);
        c.write((4, 2), [4, 5, 6].map(buffer).into_iter(), &mut v);
        assert_eq!((c.get(4, 2), c.descriptors.len()), (buffer(4), 5), "what is behind the end is dropped");
        assert_eq!(c.written(4).collect::<Vec<_>>(), [(0, buffer(2)), (1, buffer(3)), (2, buffer(4))]);
    }

    #[test]
    fn the_same_again_changes_no_version() {
        let mut v = 1;
        let mut c = Contents::new(layout(&[(0, 6, 4)], &[]), None, 1);
        c.write((0, 0), [buffer(1), buffer(2)].into_iter(), &mut v);
        assert_eq!((v, c.version), (2, 2), "one write, one version");
        c.write((0, 0), [buffer(1)].into_iter(), &mut v);
        assert_eq!((v, c.version), (2, 2));
    }

    #[test]
    fn immutable_samplers_are_there_unwritten_and_are_not_overwritten() {
        let mut v = 1;
        let mut c = Contents::new(layout(&[(0, 0, 2), (1, 1, 2)], &[70, 71]), None, 1);
        assert_eq!(c.get(0, 1), Descriptor::Sampler { sampler: 71 });
        assert_eq!(c.written(0).count(), 2);
        let image = |sampler| Descriptor::Image { ty: 1, view: 5, sampler, layout: 0 };
        c.write((1, 1), [image(9)].into_iter(), &mut v);
        assert_eq!(c.get(1, 1), image(71));
        assert_eq!(c.written(1).collect::<Vec<_>>(), [(1, image(71))]);
    }

    #[test]
    fn inline_blocks_count_bytes() {
        let mut v = 1;
        let l = layout(&[(0, ty::INLINE_UNIFORM_BLOCK, 8), (1, ty::INLINE_UNIFORM_BLOCK, 4)], &[]);
        let mut c = Contents::new(l, None, 1);
        assert_eq!(c.inline_bytes(1).0.len(), 0);
        c.write_inline(1, 0, &[1, 2, 3, 4, 5], &mut v);
        c.write_inline(0, 4, &[9], &mut v);
        assert_eq!(c.inline_bytes(1), (&[1, 2, 3, 4][..], &[true; 4][..]));
        let (bytes, written) = c.inline_bytes(0);
        assert_eq!((bytes[4], written.iter().filter(|w| **w).count()), (9, 1));
        assert_eq!(c.get(0, 0), Descriptor::Inline);
        let mut d = Contents::new(c.layout.clone(), None, 1);
        d.copy(&c, (1, 1), (0, 2), 2, &mut v);
        let (bytes, written) = d.inline_bytes(0);
        assert_eq!((&bytes[2..4], &written[1..5]), (&[2, 3][..], &[false, true, true, false][..]));
    }

    #[test]
    fn copies_take_unwritten_ones_along() {
        let mut v = 1;
        let mut a = Contents::new(layout(&[(0, 6, 4)], &[]), None, 1);
        a.write((0, 0), [buffer(1)].into_iter(), &mut v);
        let mut b = Contents::new(a.layout.clone(), None, 2);
        b.write((0, 0), [7, 8, 9].map(buffer).into_iter(), &mut v);
        b.copy(&a, (0, 0), (0, 1), 2, &mut v);
        assert_eq!([0, 1, 2].map(|e| b.get(0, e)), [buffer(7), buffer(1), Descriptor::Unwritten]);
    }

    #[test]
    fn variable_counts_cut_the_last_binding() {
        let c = Contents::new(layout(&[(0, 6, 4), (1, 6, 100)], &[]), Some(7), 1);
        assert_eq!(c.layout.bindings.iter().map(|b| c.count(b)).collect::<Vec<_>>(), [4, 7]);
    }
}

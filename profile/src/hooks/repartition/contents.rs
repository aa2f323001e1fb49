//! What bindings contain, and the writes that make it so.
//!
//! Guarantees: of a binding that contained something else before, only what differs is written. What was never written, or is
//! gone, is left out: no shader may use it then. Refuses contents that were written but are not known.

use replay::ash::{vk, vk::Handle};
use replay::error::{Error, Kind, Result};
use replay::objects::Objects;
use world::layouts::{Binding, ty};
use world::sets::{Contents, Descriptor};

/// What a binding contains.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Content {
    /// So many descriptors; those behind the last that was written are left out.
    Descriptors(u32, Vec<Descriptor>),
    /// The bytes of an inline uniform block, and which were written.
    Bytes(Vec<u8>, Vec<bool>),
}

impl Content {
    /// That of a binding of a set.
    pub fn of(contents: &Contents, b: &Binding) -> Self {
        if b.ty == ty::INLINE_UNIFORM_BLOCK {
            let (bytes, written) = contents.inline_bytes(b.binding);
            return Content::Bytes(bytes.to_vec(), written.to_vec());
        }
        let count = contents.count(b);
        let mut all = Vec::new();
        for (element, descriptor) in contents.written(b.binding).take_while(|w| w.0 < count) {
            all.resize(element as usize, Descriptor::Unwritten);
            all.push(descriptor);
        }
        Content::Descriptors(count, all)
    }

    /// That of a binding of a set that is not bound.
    pub fn nothing(b: &Binding) -> Self {
        match b.ty {
            ty::INLINE_UNIFORM_BLOCK => Content::Bytes(vec![], vec![]),
            _ => Content::Descriptors(b.count, vec![]),
        }
    }

    /// Descriptors that it has room for.
    pub fn count(&self) -> u32 {
        match self {
            Content::Descriptors(count, _) => *count,
            Content::Bytes(..) => 1,
        }
    }
}

/// A binding that is to contain something, and what it contains now.
#[derive(Clone, Copy, Debug)]
pub struct Change<'c> {
    /// Its number and type.
    pub binding: &'c Binding,
    /// Its number where it is written.
    pub number: u32,
    /// What it contains; none where nothing was written yet.
    pub old: Option<&'c Content>,
    /// What it is to contain.
    pub new: &'c Content,
}

/// What a descriptor, or a part of an inline block, is written with.
enum Info {
    Image([vk::DescriptorImageInfo; 1]),
    Buffer([vk::DescriptorBufferInfo; 1]),
    Texel([vk::BufferView; 1]),
    Structure([vk::AccelerationStructureKHR; 1]),
    Bytes(Vec<u8>),
}

/// Writes to be made: binding, element, type, and what.
#[derive(Default)]
pub struct Writes(Vec<(u32, u32, vk::DescriptorType, Info)>);

impl Writes {
    /// What makes these changes.
    pub fn of(objects: &Objects, changes: &[Change<'_>]) -> Result<Self> {
        let mut all = Writes::default();
        changes.iter().try_for_each(|c| all.change(objects, c))?;
        Ok(all)
    }

    fn change(&mut self, objects: &Objects, c: &Change<'_>) -> Result<()> {
        let ty = vk::DescriptorType::from_raw(c.binding.ty as i32);
        match (c.new, c.old) {
            (Content::Descriptors(_, new), old) => {
                // A sampler that the layout has cannot be written.
                if ty == vk::DescriptorType::SAMPLER && !c.binding.immutable.is_empty() {
                    return Ok(());
                }
                let old = match old {
                    Some(Content::Descriptors(_, old)) => &old[..],
                    _ => &[],
                };
                for (element, d) in (0..).zip(new).filter(|(e, d)| old.get(*e as usize) != Some(*d)) {
                    if let Some(info) = Info::of(d, objects)? {
                        self.0.push((c.number, element, ty, info));
                    }
                }
            }
            (Content::Bytes(new, written), old) => {
                let (old, had) = match old {
                    Some(Content::Bytes(old, had)) => (&old[..], &had[..]),
                    _ => (&[][..], &[][..]),
                };
                // In fours, as the API has them.
                let differs = |at: usize| {
                    let part = at..(at + 4).min(new.len());
                    written[at] && (old.get(part.clone()) != Some(&new[part]) || had.get(at) != Some(&true))
                };
                let mut at = 0;
                while at < new.len() {
                    let end = (at..new.len()).step_by(4).find(|a| !differs(*a)).unwrap_or(new.len());
                    if end > at {
                        self.0.push((c.number, at as u32, ty, Info::Bytes(new[at..end].to_vec())));
                    }
                    at = end + 4;
                }
            }
        }
        Ok(())
    }

    /// Hands them to something that makes them, all at once, if there are any.
    pub fn make(&self, set: vk::DescriptorSet, how: impl FnOnce(&[vk::WriteDescriptorSet<'_>])) {
        if self.0.is_empty() {
            return;
        }
        let mut structures: Vec<_> = self.0.iter().map(|w| w.3.structures()).collect();
        let mut blocks: Vec<_> = self.0.iter().map(|w| w.3.block()).collect();
        let chains = structures.iter_mut().zip(&mut blocks);
        let written: Vec<_> = (self.0.iter().zip(chains))
            .map(|((binding, element, ty, info), (structures, block))| {
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(set)
                    .dst_binding(*binding)
                    .dst_array_element(*element)
                    .descriptor_type(*ty);
                match info {
                    Info::Image(i) => write.image_info(i),
                    Info::Buffer(b) => write.buffer_info(b),
                    Info::Texel(t) => write.texel_buffer_view(t),
                    Info::Structure(_) => write.descriptor_count(1).push_next(structures),
                    Info::Bytes(b) => write.descriptor_count(b.len() as u32).push_next(block),
                }
            })
            .collect();
        how(&written);
    }
}

impl Info {
    /// None where nothing was written, or what was written is gone.
    fn of(descriptor: &Descriptor, objects: &Objects) -> Result<Option<Info>> {
        let gone = |id: u64| id != 0 && objects.live(id) == 0;
        let any_gone = match *descriptor {
            Descriptor::Sampler { sampler: id }
            | Descriptor::Texel { view: id, .. }
            | Descriptor::Buffer { buffer: id, .. }
            | Descriptor::Structure { structure: id } => gone(id),
            Descriptor::Image { view, sampler, .. } => gone(view) || gone(sampler),
            _ => false,
        };
        if any_gone {
            return Ok(None);
        }
        Ok(Some(match *descriptor {
            Descriptor::Unwritten => return Ok(None),
            Descriptor::Sampler { sampler } => {
                let sampler = vk::Sampler::from_raw(objects.live(sampler));
                Info::Image([vk::DescriptorImageInfo::default().sampler(sampler)])
            }
            Descriptor::Image { view, sampler, layout, .. } => Info::Image([vk::DescriptorImageInfo {
                sampler: vk::Sampler::from_raw(objects.live(sampler)),
                image_view: vk::ImageView::from_raw(objects.live(view)),
                image_layout: vk::ImageLayout::from_raw(layout as i32),
            }]),
            Descriptor::Texel { view, .. } => Info::Texel([vk::BufferView::from_raw(objects.live(view))]),
            Descriptor::Buffer { buffer, offset, range, .. } => Info::Buffer([vk::DescriptorBufferInfo {
                buffer: vk::Buffer::from_raw(objects.live(buffer)),
                offset,
                range,
            }]),
            Descriptor::Structure { structure } => {
                Info::Structure([vk::AccelerationStructureKHR::from_raw(objects.live(structure))])
            }
            Descriptor::Inline | Descriptor::Address { .. } | Descriptor::Unknown { .. } => {
                return Err(Error::new(Kind::Unsupported, "a descriptor to move is not known"));
            }
        }))
    }

    fn structures(&self) -> vk::WriteDescriptorSetAccelerationStructureKHR<'_> {
        let write = vk::WriteDescriptorSetAccelerationStructureKHR::default();
        match self {
            Info::Structure(s) => write.acceleration_structures(s),
            _ => write,
        }
    }

    fn block(&self) -> vk::WriteDescriptorSetInlineUniformBlock<'_> {
        let write = vk::WriteDescriptorSetInlineUniformBlock::default();
        match self {
            Info::Bytes(b) => write.data(b),
            _ => write,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;
    use world::layouts::SetLayout;

    /// Binding, element and bytes (or none) of each write.
    fn all(changes: &[Change<'_>]) -> Vec<(u32, u32, Option<Vec<u8>>)> {
        let writes = Writes::of(&Objects::default(), changes).expect("all is known");
        let bytes = |i: &Info| match i {
            Info::Bytes(b) => Some(b.clone()),
            _ => None,
        };
        writes.0.iter().map(|w| (w.0, w.1, bytes(&w.3))).collect()
    }

    #[test]
    fn only_what_differs_is_written() {
        let b = |binding, ty, count| Binding { binding, ty, count, ..Binding::default() };
        let layout = Rc::new(SetLayout::new(
            1,
            0,
            vec![b(2, ty::UNIFORM_BUFFER, 9), b(5, ty::INLINE_UNIFORM_BLOCK, 16)],
        ));
        let mut contents = Contents::new(layout.clone(), None, 1);
        let (array, block) = (&layout.bindings[0], &layout.bindings[1]);
        let null = Descriptor::Buffer { ty: ty::UNIFORM_BUFFER, buffer: 0, offset: 0, range: u64::MAX };
        contents.write((2, 1), [null, null].into_iter(), &mut 1);
        contents.write_inline(5, 4, &[1, 2, 3, 4, 5, 6, 7, 8], &mut 1);
        let (one, bytes) = (Content::of(&contents, array), Content::of(&contents, block));
        assert_eq!((one.count(), bytes.count()), (9, 1));
        let change = |binding, old, new| Change { binding, number: 7, old, new };
        assert_eq!(all(&[change(array, None, &one)]), [(7, 1, None), (7, 2, None)]);
        assert_eq!(all(&[change(block, None, &bytes)]), [(7, 4, Some(vec![1, 2, 3, 4, 5, 6, 7, 8]))]);
        assert!(all(&[change(array, Some(&one), &one), change(block, Some(&bytes), &bytes)]).is_empty());
        contents.write((2, 4), [null].into_iter(), &mut 2);
        contents.write_inline(5, 8, &[5, 6, 7, 9], &mut 2);
        contents.write_inline(5, 0, &[0, 0, 0, 0], &mut 2);
        let (other, others) = (Content::of(&contents, array), Content::of(&contents, block));
        assert_ne!(one, other);
        assert_eq!(all(&[change(array, Some(&one), &other)]), [(7, 4, None)]);
        let parts = all(&[change(block, Some(&bytes), &others)]);
        assert_eq!(
            parts,
            [(7, 0, Some(vec![0; 4])), (7, 8, Some(vec![5, 6, 7, 9]))],
            "never written is not nothing"
        );
        assert!(all(&[change(array, None, &Content::nothing(array))]).is_empty());
    }
}

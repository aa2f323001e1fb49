//! Where the descriptors lead that an invocation finds bound.
//!
//! Guarantees: ranges that say the whole rest of a buffer are as long as that is; of several buffers that hold an address it is one. Null descriptors,
//! and samplers, lead nowhere. Refuses nothing: what is not known is told with the reason.

use super::commands::Invoke;
use super::layouts::ty;
use super::objects::ImageView;
use super::sets::Descriptor;
use crate::{AtSet, World};

/// See the module's header.
#[derive(Clone, Copy, Debug)]
pub enum Leads {
    /// To nothing that is in memory.
    Nowhere,
    /// To a buffer, by its captured id: the first byte, and how many.
    Buffer(u64, u64, u64),
    /// To what a view shows of an image, in this VkImageLayout.
    Image(ImageView, u32),
    /// To an acceleration structure, by its captured id.
    Structure(u64),
    /// To bytes that calls gave: [`World::inline_bytes`].
    Inline,
    /// To an address of no known buffer or structure.
    Address,
    /// To a view that is not there any more.
    Gone,
    /// Nobody knows, and why not.
    Unknown(&'static str),
}

impl World {
    /// Where a descriptor leads, dynamic offsets already added.
    pub fn leads(&self, d: &Descriptor) -> Leads {
        match *d {
            Descriptor::Unwritten
            | Descriptor::Sampler { .. }
            | Descriptor::Image { view: 0, .. }
            | Descriptor::Texel { view: 0, .. }
            | Descriptor::Buffer { buffer: 0, .. }
            | Descriptor::Structure { structure: 0 }
            | Descriptor::Address { address: 0, .. } => Leads::Nowhere,
            Descriptor::Image { view, layout, .. } => {
                self.image_views.get(&view).map_or(Leads::Gone, |v| Leads::Image(*v, layout))
            }
            Descriptor::Texel { view, .. } => self
                .buffer_views
                .get(&view)
                .map_or(Leads::Gone, |v| Leads::Buffer(v.buffer, v.offset, v.range)),
            Descriptor::Buffer { buffer, offset, range, .. } => {
                Leads::Buffer(buffer, offset, self.range_of(buffer, offset, range))
            }
            Descriptor::Structure { structure } => Leads::Structure(structure),
            Descriptor::Address { ty: ty::ACCELERATION_STRUCTURE_KHR, address, .. } => {
                let of = self.structures.iter().find(|s| s.1.address == address);
                of.map_or(Leads::Address, |s| Leads::Structure(*s.0))
            }
            Descriptor::Address { address, range, .. } => {
                self.at_address(address).map_or(Leads::Address, |(b, offset)| Leads::Buffer(b, offset, range))
            }
            Descriptor::Inline => Leads::Inline,
            Descriptor::Unknown { why, .. } => Leads::Unknown(why),
        }
    }

    /// The bytes of an inline uniform block that an invocation finds, and which of them were written.
    pub fn inline_bytes<'w>(&'w self, of: &'w Invoke, set: u32, binding: u32) -> (&'w [u8], &'w [bool]) {
        match self.set(of, set as usize) {
            AtSet::Set { contents, .. } | AtSet::Push { contents } => contents.inline_bytes(binding),
            AtSet::Nothing | AtSet::Buffer { .. } | AtSet::Embedded { .. } => (&[], &[]),
        }
    }
}

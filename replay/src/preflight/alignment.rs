//! How far from one another a capture's descriptors have the buffers that they begin in: the alignments of their offsets.
//!
//! Looks at what is written into descriptors, at dynamic offsets where sets are bound, and at views of texel buffers. Guarantees:
//! an offset of 0 asks for nothing. Not seen: descriptors that were in sets before the capture begins. Refuses nothing.

use super::calls::calls;
use super::used::First;
use gfxr_parse::ahead::Call;
use gfxr_parse::container::Capture;
use gfxr_parse::image::Image;
use gfxr_parse::member;
use gfxr_parse::schema::CommandDef;
use gfxr_parse::view::View;
use std::collections::{BTreeMap, BTreeSet};
use world::layouts::ty;
use world::objects::BufferView;
use world::sets::Descriptor;
use world::{Depth, Follow, Outcome, World};

/// Offsets of a kind: all are multiples of `least`, the largest power of two that divides them; and the first that is no
/// multiple of more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alignment {
    /// Bytes.
    pub least: u64,
    /// The call.
    pub first: First,
}

/// What a descriptor begins in, as far as alignments tell it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Of {
    /// A uniform buffer.
    Uniform,
    /// A storage buffer.
    Storage,
    /// A texel buffer: bytes of a texel, of one of its components where it has three.
    Texel(u32),
}

/// A part of a buffer that a descriptor sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Where it begins, with its dynamic offset.
    pub offset: u64,
    /// Bytes that are seen.
    pub bytes: u64,
    /// As what.
    pub of: Of,
    /// The descriptor has a dynamic offset.
    pub dynamic: bool,
}

impl Place {
    /// That of a descriptor of this VkDescriptorType; none if it does not name a buffer.
    pub fn new(kind: u32, offset: u64, bytes: u64) -> Option<Self> {
        let (of, dynamic) = match kind {
            ty::UNIFORM_BUFFER => (Of::Uniform, false),
            ty::UNIFORM_BUFFER_DYNAMIC => (Of::Uniform, true),
            ty::STORAGE_BUFFER => (Of::Storage, false),
            ty::STORAGE_BUFFER_DYNAMIC => (Of::Storage, true),
            _ => return None,
        };
        Some(Place { offset, bytes, of, dynamic })
    }

    /// That of a view of a buffer: whole texels.
    pub fn viewed(v: &BufferView) -> Self {
        let planes = world::formats::planes(v.format as i32);
        let texel = planes.and_then(|p| Some(p.first()?.block_bytes)).unwrap_or(1).max(1);
        let unit = if texel.is_multiple_of(3) { texel / 3 } else { texel };
        let bytes = v.range - v.range % u64::from(texel);
        Place { offset: v.offset, bytes, of: Of::Texel(unit), dynamic: false }
    }

    /// Whether it has bytes in common with another place of the buffer.
    pub fn overlaps(&self, other: &Place) -> bool {
        self.offset < other.offset.saturating_add(other.bytes)
            && other.offset < self.offset.saturating_add(self.bytes)
    }
}

/// See the module's header. None: no offset but 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alignments {
    /// Uniform buffers.
    pub uniform: Option<Alignment>,
    /// Storage buffers.
    pub storage: Option<Alignment>,
    /// Texel buffers.
    pub texel: Option<Alignment>,
    /// By buffer, what descriptors and views see of it.
    pub places: BTreeMap<u64, BTreeSet<Place>>,
    /// Buffers that the device writes other than by copies of buffers: storage descriptors see them, or images and queries are
    /// copied to them.
    pub written_by_device: BTreeSet<u64>,
}

/// A dynamic descriptor that is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dynamic {
    /// Which of pDynamicOffsets is its.
    pub index: usize,
    /// Its buffer.
    pub buffer: u64,
    /// What it sees.
    pub place: Place,
}

/// A VkDescriptorBufferInfo at `at`: buffer, offset, range.
pub fn buffer_info(image: &Image, at: u32) -> (u64, u64, u64) {
    (
        image.u64(at + member!("VkDescriptorBufferInfo", "buffer")),
        image.u64(at + member!("VkDescriptorBufferInfo", "offset")),
        image.u64(at + member!("VkDescriptorBufferInfo", "range")),
    )
}

/// The dynamic descriptors of a vkCmdBindDescriptorSets, or of its struct.
pub fn dynamic(world: &World, v: View<'_>) -> Vec<Dynamic> {
    let (offsets, mut all, mut before) = (v.u64s("pDynamicOffsets"), Vec::new(), 0);
    for set in if offsets.is_empty() { vec![] } else { v.u64s("pDescriptorSets") } {
        // Whose offsets come next is not known behind a set that is not.
        let Some(set) = world.sets.get(&set) else { break };
        let dynamic = || set.contents.layout.bindings.iter().filter(|b| b.is_dynamic());
        for b in dynamic() {
            for e in 0..b.slots() {
                let index = before + (b.dynamic_start + e) as usize;
                let Some(own) = offsets.get(index) else { return all };
                if let Descriptor::Buffer { buffer, offset, range, .. } = set.contents.get(b.binding, e) {
                    let bytes = world.range_of(buffer, offset, range);
                    let place = Place::new(b.ty, offset.saturating_add(*own), bytes);
                    all.extend(place.map(|place| Dynamic { index, buffer, place }));
                }
            }
        }
        before += dynamic().map(|b| b.slots() as usize).sum::<usize>();
    }
    all
}

impl Alignments {
    /// Something of a buffer is seen.
    fn see(&mut self, buffer: u64, place: Place, first: First) {
        let of = match place.of {
            Of::Uniform => &mut self.uniform,
            Of::Storage => &mut self.storage,
            Of::Texel(_) => &mut self.texel,
        };
        let least = place.offset & place.offset.wrapping_neg();
        if least != 0 && of.is_none_or(|a| least < a.least) {
            *of = Some(Alignment { least, first });
        }
        self.places.entry(buffer).or_default().insert(place);
    }

    /// A descriptor is written; a dynamic one sees more places where it is bound.
    fn written(&mut self, world: &World, kind: u32, (buffer, offset, range): (u64, u64, u64), first: First) {
        let Some(place) = Place::new(kind, offset, world.range_of(buffer, offset, range)) else { return };
        if place.of == Of::Storage {
            self.written_by_device.insert(buffer);
        }
        self.see(buffer, place, first);
    }

    /// What a call that has been followed asks for.
    fn call(&mut self, world: &World, call: &Call) {
        let (v, first) = (View::call(&call.image), (call.block, call.command.name));
        match call.command.canonical {
            "vkUpdateDescriptorSets" | "vkCmdPushDescriptorSet" => self.writes(world, v, first),
            "vkCmdPushDescriptorSet2" => {
                if let Some(info) = v.one("pPushDescriptorSetInfo") {
                    self.writes(world, info, first);
                }
            }
            "vkUpdateDescriptorSetWithTemplate"
            | "vkCmdPushDescriptorSetWithTemplate"
            | "vkCmdPushDescriptorSetWithTemplate2" => self.templated(world, call, first),
            "vkCmdCopyImageToBuffer" | "vkCmdCopyImageToBuffer2" | "vkCmdCopyQueryPoolResults" => {
                let info = v.one("pCopyImageToBufferInfo").unwrap_or(v);
                self.written_by_device.extend(info.u64("dstBuffer"));
            }
            "vkCmdBindTransformFeedbackBuffersEXT" => self.written_by_device.extend(v.u64s("pBuffers")),
            "vkCmdBindDescriptorSets" => self.binds(world, v, first),
            "vkCmdBindDescriptorSets2" => {
                if let Some(info) = v.one("pBindDescriptorSetsInfo") {
                    self.binds(world, info, first);
                }
            }
            "vkCreateBufferView" => {
                if let Some(v) = created(call).and_then(|id| world.buffer_views.get(&id)) {
                    self.see(v.buffer, Place::viewed(v), first);
                    // Whether shaders write through it is not looked at.
                    self.written_by_device.insert(v.buffer);
                }
            }
            _ => {}
        }
    }

    fn writes(&mut self, world: &World, v: View<'_>, first: First) {
        for w in v.structs("pDescriptorWrites") {
            let kind = w.u32("descriptorType").unwrap_or(u32::MAX);
            for b in w.structs("pBufferInfo") {
                let n = |name| b.u64(name).unwrap_or(0);
                self.written(world, kind, (n("buffer"), n("offset"), n("range")), first);
            }
        }
    }

    fn templated(&mut self, world: &World, call: &Call, first: First) {
        let Some((template, data)) = world::templated(call) else { return };
        let Some(template) = world.templates.get(&template) else { return };
        for (kind, at) in world::templated_buffers(template, &call.image, data) {
            self.written(world, kind, buffer_info(&call.image, at), first);
        }
    }

    fn binds(&mut self, world: &World, v: View<'_>, first: First) {
        for d in dynamic(world, v) {
            self.see(d.buffer, d.place, first);
        }
    }
}

/// What a call made.
fn created(call: &Call) -> Option<u64> {
    call.image.handles.iter().find(|h| h.out).map(|h| call.image.u64(h.at))
}

/// Commands that are followed and looked at, by canonical name.
const LOOKED_AT: &[&str] = &[
    "vkCreateBuffer",
    "vkDestroyBuffer",
    "vkCreateDescriptorSetLayout",
    "vkDestroyDescriptorSetLayout",
    "vkCreateDescriptorPool",
    "vkDestroyDescriptorPool",
    "vkResetDescriptorPool",
    "vkAllocateDescriptorSets",
    "vkFreeDescriptorSets",
    "vkUpdateDescriptorSets",
    "vkCreateDescriptorUpdateTemplate",
    "vkDestroyDescriptorUpdateTemplate",
    "vkUpdateDescriptorSetWithTemplate",
    "vkCmdPushDescriptorSet",
    "vkCmdPushDescriptorSet2",
    "vkCmdPushDescriptorSetWithTemplate",
    "vkCmdPushDescriptorSetWithTemplate2",
    "vkCmdCopyImageToBuffer",
    "vkCmdCopyImageToBuffer2",
    "vkCmdCopyQueryPoolResults",
    "vkCmdBindTransformFeedbackBuffersEXT",
    "vkCmdBindDescriptorSets",
    "vkCmdBindDescriptorSets2",
    "vkCreateBufferView",
    "vkDestroyBufferView",
];

/// Looks through a capture.
pub fn scan(capture: &Capture) -> Alignments {
    let (mut follow, mut found) = (Follow::default(), Alignments::default());
    follow.deepen(Depth::Commands);
    let wanted = |c: &CommandDef| LOOKED_AT.contains(&c.canonical);
    calls(capture, wanted, |call| {
        follow.call(call, Outcome::captured(call), &mut ());
        found.call(follow.world(), call);
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_power_of_two_that_divides_all_offsets() {
        let mut a = Alignments::default();
        let mut see = |kind, offset, first| {
            a.see(9, Place::new(kind, offset, 64).expect("of a buffer"), first);
            a.clone()
        };
        assert_eq!(see(ty::UNIFORM_BUFFER, 0, (1, "vkUpdateDescriptorSets")).uniform, None);
        see(ty::UNIFORM_BUFFER, 256, (2, "vkUpdateDescriptorSets"));
        see(ty::UNIFORM_BUFFER_DYNAMIC, 112, (3, "vkCmdBindDescriptorSets"));
        see(ty::UNIFORM_BUFFER_DYNAMIC, 48, (4, "vkCmdBindDescriptorSets"));
        let a = see(ty::STORAGE_BUFFER, 4, (5, "vkUpdateDescriptorSets"));
        assert_eq!(a.uniform, Some(Alignment { least: 16, first: (3, "vkCmdBindDescriptorSets") }));
        assert_eq!(a.storage.map(|a| a.least), Some(4));
        assert_eq!((a.texel, a.places[&9].len()), (None, 5));
    }

    #[test]
    fn views_see_whole_texels() {
        // VK_FORMAT_R32G32B32_SFLOAT, VK_FORMAT_R32G32B32A32_SFLOAT.
        for (format, unit, bytes) in [(106, 4, 96), (109, 16, 96)] {
            let view = BufferView { buffer: 1, format, offset: 20, range: 103 };
            let seen = Place { offset: 20, bytes, of: Of::Texel(unit), dynamic: false };
            assert_eq!(Place::viewed(&view), seen);
        }
    }

    #[test]
    fn places_that_touch_do_not_overlap() {
        let at = |offset| Place::new(ty::STORAGE_BUFFER, offset, 64).expect("of a buffer");
        assert!(at(0).overlaps(&at(63)) && at(63).overlaps(&at(0)) && !at(0).overlaps(&at(64)));
    }
}

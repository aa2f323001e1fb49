//! How far from one another a capture's descriptors have the buffers that they begin in: the alignments of their offsets.
//!
//! Looks at what is written into descriptors and at dynamic offsets where sets are bound. Guarantees: an offset of 0 asks for
//! nothing. Not seen: descriptors that were in sets before the capture begins. Refuses nothing.

use super::used::First;
use gfxr_parse::ahead::Call;
use gfxr_parse::container::{BlockKind, Capture, Scratch};
use gfxr_parse::decode::decode_found;
use gfxr_parse::image::Image;
use gfxr_parse::member;
use gfxr_parse::schema::command;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::view::View;
use std::collections::{BTreeMap, BTreeSet};
use world::layouts::ty;
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

/// See the module's header. None: no offset but 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alignments {
    /// Uniform buffers.
    pub uniform: Option<Alignment>,
    /// Storage buffers.
    pub storage: Option<Alignment>,
    /// Texel buffers.
    pub texel: Option<Alignment>,
    /// By buffer, where uniform descriptors begin in it and how much they see: (offset, bytes).
    pub uniforms: BTreeMap<u64, BTreeSet<(u64, u64)>>,
    /// Buffers that the device writes other than by copies of buffers: storage descriptors see them, or images and queries are
    /// copied to them.
    pub written_by_device: BTreeSet<u64>,
}

/// A dynamic descriptor that is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dynamic {
    /// Which of pDynamicOffsets is its.
    pub index: usize,
    /// VkDescriptorType.
    pub ty: u32,
    /// Its buffer.
    pub buffer: u64,
    /// Where it begins, with its dynamic offset.
    pub offset: u64,
    /// Bytes that it sees.
    pub range: u64,
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
                    let range = world.range_of(buffer, offset, range);
                    all.push(Dynamic { index, ty: b.ty, buffer, offset: offset.saturating_add(*own), range });
                }
            }
        }
        before += dynamic().map(|b| b.slots() as usize).sum::<usize>();
    }
    all
}

impl Alignments {
    fn see(&mut self, kind: u32, offset: u64, first: First) {
        let of = match kind {
            ty::UNIFORM_BUFFER | ty::UNIFORM_BUFFER_DYNAMIC => &mut self.uniform,
            ty::STORAGE_BUFFER | ty::STORAGE_BUFFER_DYNAMIC => &mut self.storage,
            ty::UNIFORM_TEXEL_BUFFER | ty::STORAGE_TEXEL_BUFFER => &mut self.texel,
            _ => return,
        };
        let least = offset & offset.wrapping_neg();
        if least != 0 && of.is_none_or(|a| least < a.least) {
            *of = Some(Alignment { least, first });
        }
    }

    /// A descriptor of `bytes` from an offset of a buffer.
    fn place(&mut self, kind: u32, (buffer, offset, bytes): (u64, u64, u64), first: First) {
        self.see(kind, offset, first);
        if matches!(kind, ty::UNIFORM_BUFFER | ty::UNIFORM_BUFFER_DYNAMIC) {
            self.uniforms.entry(buffer).or_default().insert((offset, bytes));
        }
    }

    /// A descriptor is written; of a dynamic one the place is known where it is bound.
    fn written(&mut self, world: &World, kind: u32, (buffer, offset, range): (u64, u64, u64), first: First) {
        if matches!(kind, ty::STORAGE_BUFFER | ty::STORAGE_BUFFER_DYNAMIC) {
            self.written_by_device.insert(buffer);
        }
        match kind {
            ty::UNIFORM_BUFFER_DYNAMIC | ty::STORAGE_BUFFER_DYNAMIC => self.see(kind, offset, first),
            _ => self.place(kind, (buffer, offset, world.range_of(buffer, offset, range)), first),
        }
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
                let info = v.one("pCreateInfo");
                let offset = info.and_then(|i| i.u64("offset")).unwrap_or(0);
                self.see(ty::UNIFORM_TEXEL_BUFFER, offset, first);
                // Whether shaders write through it is not looked at.
                self.written_by_device.extend(info.and_then(|i| i.u64("buffer")));
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
            self.place(d.ty, (d.buffer, d.offset, d.range), first);
        }
    }
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
];

/// Looks through a capture.
pub fn scan(capture: &Capture) -> Alignments {
    let mut follow = Follow::default();
    follow.deepen(Depth::Commands);
    let (mut found, mut scratch, mut image) = (Alignments::default(), Scratch::new(), Image::default());
    for block in capture.blocks() {
        let Some(c) = block.call_id().and_then(command).filter(|c| LOOKED_AT.contains(&c.canonical)) else {
            continue;
        };
        let Ok(BlockKind::Call(call)) = block.kind() else { continue };
        if decode_found(c, &block, &call, &mut scratch, &mut image).is_err() {
            continue;
        }
        let index = COMMANDS.binary_search_by_key(&c.id, |d| d.id).expect("it is from the table");
        let image_taken = std::mem::take(&mut image);
        let call = Call {
            command: c,
            index,
            image: image_taken,
            block: block.index,
            thread: 0,
            frame: 0,
            in_state: false,
        };
        follow.call(&call, Outcome::captured(&call), &mut ());
        found.call(follow.world(), &call);
        image = call.image;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_power_of_two_that_divides_all_offsets() {
        let mut a = Alignments::default();
        a.see(ty::UNIFORM_BUFFER, 0, (1, "vkUpdateDescriptorSets"));
        assert_eq!(a, Alignments::default());
        a.see(ty::UNIFORM_BUFFER, 256, (2, "vkUpdateDescriptorSets"));
        a.see(ty::UNIFORM_BUFFER_DYNAMIC, 112, (3, "vkCmdBindDescriptorSets"));
        a.see(ty::UNIFORM_BUFFER_DYNAMIC, 48, (4, "vkCmdBindDescriptorSets"));
        a.see(ty::STORAGE_BUFFER, 4, (5, "vkUpdateDescriptorSets"));
        assert_eq!(a.uniform, Some(Alignment { least: 16, first: (3, "vkCmdBindDescriptorSets") }));
        assert_eq!(a.storage.map(|a| a.least), Some(4));
        assert_eq!(a.texel, None);
    }
}

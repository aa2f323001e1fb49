//! Structs whose wire form is not their members one after the other, and update-template data.
//!
//! Mirrors `walk/special.rs` case by case; the round-trip tests hold the two together.

use super::Decoder;
use super::TEMPLATE_HEADER_WORDS;
use crate::error::{Error, Result};
use crate::image::{HandleAt, Ptr, attrib};
use crate::limits::MAX_TEMPLATE_DESCRIPTORS;
use crate::names::NAMES;
use crate::schema::generated::STRUCTS;
use crate::schema::{Member, Special, StructDef, Ty};

/// Descriptor types (VkDescriptorType) the format tells apart.
pub mod descriptor {
    /// VK_DESCRIPTOR_TYPE_SAMPLER.
    pub const SAMPLER: u32 = 0;
    /// VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER.
    pub const COMBINED_IMAGE_SAMPLER: u32 = 1;
    /// VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK.
    pub const INLINE_UNIFORM_BLOCK: u32 = 1_000_138_000;
    /// VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR.
    pub const ACCELERATION_STRUCTURE: u32 = 1_000_150_000;

    /// Which of VkWriteDescriptorSet's three arrays a type uses.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Array {
        /// pImageInfo.
        Image,
        /// pBufferInfo.
        Buffer,
        /// pTexelBufferView.
        Texel,
        /// None of them: the data are in the pNext chain.
        Neither,
    }

    /// See [`Array`].
    pub fn array_of(ty: u32) -> Array {
        match ty {
            0..=3 | 10 => Array::Image,
            4 | 5 => Array::Texel,
            6..=9 => Array::Buffer,
            _ => Array::Neither,
        }
    }
}

/// Stands for "no type" in a template tail: the 8 stray bytes that some old captures end with.
pub const TEMPLATE_STRAY: u64 = u64::MAX;

impl Decoder<'_, '_> {
    pub(super) fn special(&mut self, def: &'static StructDef, at: u32) -> Result<()> {
        let m = def.members;
        match def.special {
            Special::None => unreachable!("handled by the caller"),
            Special::ClearValue => self.fixed(Ty::U32, at, 4),
            Special::Union64 => {
                let v = self.u64()?;
                self.image.set_u64(at, v);
                Ok(())
            }
            Special::DeviceOrHostAddress => self.value(Ty::DeviceAddress, at),
            Special::DescriptorImageInfo => self.image_info(def, at, None),
            Special::WriteDescriptorSet => self.write_descriptor_set(def, at),
            Special::AccelerationStructureGeometry => {
                self.each(&m[..3], at)?; // sType, pNext, geometryType
                let kind = self.image.u32(at + m[2].at);
                let union = at + m[3].at;
                if let Some(ty) = union_member(m[3].ty, kind) {
                    self.value(ty.ty, union).map_err(|e| e.within(ty.name).within("geometry"))?;
                }
                self.each(&m[4..], at)
            }
            Special::MotionInstance => {
                self.each(&m[..2], at)?; // type, flags
                let kind = self.image.u32(at);
                if let Some(ty) = union_member(m[2].ty, kind) {
                    self.value(ty.ty, at + m[2].at).map_err(|e| e.within(ty.name).within("data"))?;
                }
                Ok(())
            }
            Special::PerformanceValue => {
                self.each(&m[..1], at)?;
                let union = at + m[1].at;
                if self.image.u32(at) == 4 {
                    self.string(union, attrib::STRING, 1).map_err(|e| e.within("data.valueString"))
                } else {
                    self.value(Ty::U64, union).map_err(|e| e.within("data"))
                }
            }
            Special::DescriptorGetInfo => {
                self.each(&m[..3], at)?; // sType, pNext, type
                let ty = self.image.u32(at + m[2].at);
                self.descriptor_data(m[3].ty, ty, at + m[3].at).map_err(|e| e.within("data"))
            }
            Special::IndirectExecutionSetCreateInfo => {
                self.each(&m[..3], at)?; // sType, pNext, type
                let kind = self.image.u32(at + m[2].at);
                match union_member(m[3].ty, kind) {
                    Some(ty) => {
                        self.elements_at(ty.ty, at + m[3].at).map_err(|e| e.within(ty.name).within("info"))
                    }
                    None => Ok(()),
                }
            }
            Special::IndirectCommandsLayoutToken => {
                self.each(&m[..3], at)?; // sType, pNext, type
                if let Some(ty) = token_member(m[3].ty, self.image.u32(at + m[2].at)) {
                    self.elements_at(ty.ty, at + m[3].at).map_err(|e| e.within(ty.name).within("data"))?;
                }
                self.each(&m[4..], at)
            }
            Special::HostImageCopy => {
                self.each(&m[..2], at)?; // sType, pNext
                self.host_pointer(at + m[2].at).map_err(|e| e.within("pHostPointer"))?;
                self.each(&m[3..], at)
            }
            Special::LayerSetting => {
                self.each(&m[..4], at)?; // pLayerName, pSettingName, type, valueCount
                let values = at + m[4].at;
                match self.image.u32(at + m[2].at) {
                    0 => self.elements_at(Ty::Bool32, values),
                    1 => self.elements_at(Ty::I32, values),
                    2 => self.elements_at(Ty::I64, values),
                    3 => self.elements_at(Ty::U32, values),
                    4 => self.elements_at(Ty::U64, values),
                    5 => self.elements_at(Ty::F32, values),
                    6 => self.elements_at(Ty::F64, values),
                    7 => self.strings(values),
                    _ => Ok(()),
                }
                .map_err(|e| e.within("pValues"))
            }
            Special::DataGraphPipelineConstant => {
                self.each(&m[..3], at)?; // sType, pNext, id
                if self.image.chain_has(at + m[1].at, NAMES.tensor_description_stype) {
                    self.elements_at(Ty::U8, at + m[3].at).map_err(|e| e.within("pConstantData"))?;
                }
                Ok(())
            }
            Special::BareUnion => Err(Error::unknown(format!(
                "{} cannot be read by itself: no capture says which of its members is meant",
                def.name
            ))
            .at_offset(self.pos() as u64)),
        }
    }

    fn each(&mut self, members: &[Member], at: u32) -> Result<()> {
        for m in members {
            self.member(m, at).map_err(|e| e.within(m.name))?;
        }
        Ok(())
    }

    /// `ty`: the descriptor's type if the surroundings tell.
    fn image_info(&mut self, def: &StructDef, at: u32, ty: Option<u32>) -> Result<()> {
        let [sampler, view, layout] = def.members else { unreachable!("three members, a test says so") };
        let uses_sampler = ty.map(|t| t == descriptor::SAMPLER || t == descriptor::COMBINED_IMAGE_SAMPLER);
        let uses_view = ty.map(|t| t != descriptor::SAMPLER);
        for (m, used) in [(sampler, uses_sampler), (view, uses_view)] {
            let id = self.u64().map_err(|e| e.within(m.name))?;
            let at = at + m.at;
            self.image.set_u64(at, id);
            if let (Ty::Handle(ty), true) = (m.ty, id != 0 && used != Some(false)) {
                // A combined image sampler's sampler is rubbish where the layout has an immutable one.
                self.image.handles.push(HandleAt { at, ty, out: false, lenient: true });
            }
        }
        self.value(layout.ty, at + layout.at).map_err(|e| e.within(layout.name))
    }

    fn write_descriptor_set(&mut self, def: &'static StructDef, at: u32) -> Result<()> {
        let m = def.members;
        let first_handle = self.image.handles.len();
        self.each(&m[..7], at)?; // … descriptorType
        // Push descriptors ignore dstSet; applications leave anything there.
        if let Some(h) = self.image.handles.get_mut(first_handle..) {
            h.iter_mut().filter(|h| h.at == at + m[2].at).for_each(|h| h.lenient = true);
        }
        let ty = self.image.u32(at + m[6].at);
        let slot = at + m[7].at;
        let p = self.preamble(attrib::SINGLE | attrib::ARRAY).map_err(|e| e.within(m[7].name))?;
        let mut p = Ptr { at: slot, ..p };
        let n = if p.has_data() { p.len } else { 0 };
        let info = &STRUCTS[NAMES.descriptor_image_info as usize];
        if n > 0 {
            self.need(n.saturating_mul(20))?;
            p.to = self.alloc(n as usize * info.size as usize)?;
        }
        self.record(p);
        for k in 0..n as u32 {
            self.image_info(info, p.to + k * info.size, Some(ty))
                .map_err(|e| e.within(&format!("[{k}]")).within(m[7].name))?;
        }
        self.each(&m[8..], at)
    }

    fn descriptor_data(&mut self, union: Ty, ty: u32, at: u32) -> Result<()> {
        match ty {
            0 => self.elements_at(Ty::Handle(NAMES.sampler), at),
            1..=3 | 10 => {
                let mut p = Ptr { at, ..self.preamble(attrib::SINGLE)? };
                let info = &STRUCTS[NAMES.descriptor_image_info as usize];
                if p.has_data() {
                    p.to = self.alloc(info.size as usize)?;
                }
                self.record(p);
                if p.has_data() { self.image_info(info, p.to, Some(ty)) } else { Ok(()) }
            }
            4..=7 => {
                let m =
                    union_members(union).iter().find(|m| m.name == "pUniformBuffer").expect("in the union");
                self.elements_at(m.ty, at)
            }
            descriptor::ACCELERATION_STRUCTURE => self.value(Ty::DeviceAddress, at),
            _ => Ok(()),
        }
    }

    /// Newer files carry the host memory as bytes, older ones the bare pointer; a preamble's first word cannot be the
    /// low half of a pointer malloc returned, as its lowest bits say "array" and leave the pointer unaligned.
    fn host_pointer(&mut self, at: u32) -> Result<()> {
        let first = self.peek_u32()?;
        if first == attrib::ARRAY | attrib::NULL
            || (first & attrib::ARRAY != 0 && first & !(attrib::ARRAY | attrib::ADDRESS | attrib::DATA) == 0)
        {
            return self.elements_at(Ty::U8, at);
        }
        let addr = self.u64()?;
        self.image.ptrs.push(Ptr { at, to: 0, attrib: 0, inline: true, len: 0, addr, out_size: 0 });
        Ok(())
    }

    /// The data of a descriptor update template; see `gfxr-format.md`, "update-template data". In the image: the header
    /// words, VkDescriptorImageInfo × n, VkDescriptorBufferInfo × n, VkBufferView × n, then tails of {count, type,
    /// payload padded to 8}.
    pub(super) fn template(&mut self, at: u32) -> Result<()> {
        let i = self.preamble_any(at)?;
        if !self.image.ptrs[i].has_data() || self.image.ptrs[i].attrib & attrib::SINGLE == 0 {
            return Ok(());
        }
        let (images, buffers, texels) = (self.u64()?, self.u64()?, self.u64()?);
        for n in [images, buffers, texels] {
            if n > MAX_TEMPLATE_DESCRIPTORS {
                return Err(Error::limit("descriptors in a template", n, MAX_TEMPLATE_DESCRIPTORS)
                    .at_offset(self.pos() as u64));
            }
        }
        self.need(images * 20 + buffers * 24 + texels * 8)?;
        let to =
            self.alloc(TEMPLATE_HEADER_WORDS * 8 + (images * 24 + buffers * 24 + texels * 8) as usize)?;
        self.image.ptrs[i].to = to;
        for (k, n) in [images, buffers, texels].into_iter().enumerate() {
            self.image.set_u64(to + k as u32 * 8, n);
        }
        let mut at = to + TEMPLATE_HEADER_WORDS as u32 * 8;
        let info = &STRUCTS[NAMES.descriptor_image_info as usize];
        for k in 0..images {
            self.image_info(info, at, None).map_err(|e| e.within(&format!("image[{k}]")))?;
            at += 24;
        }
        self.elements(Ty::Struct(NAMES.descriptor_buffer_info), at, buffers)
            .map_err(|e| e.within("buffer"))?;
        at += buffers as u32 * 24;
        self.elements(Ty::Handle(NAMES.buffer_view), at, texels).map_err(|e| e.within("texel"))?;
        let mut tails = 0;
        while self.left() > 0 {
            self.template_tail().map_err(|e| e.within(&format!("tail[{tails}]")))?;
            tails += 1;
        }
        self.image.set_u64(to + 24, tails);
        Ok(())
    }

    fn template_tail(&mut self) -> Result<()> {
        let count = self.u64()?;
        if self.left() == 0 {
            let at = self.alloc(16)?;
            self.image.set_u64(at, count);
            self.image.set_u64(at + 8, TEMPLATE_STRAY);
            return Ok(());
        }
        let start = self.pos() as u64;
        let ty = self.u32()?;
        let size = match ty {
            descriptor::ACCELERATION_STRUCTURE => count.saturating_mul(8),
            descriptor::INLINE_UNIFORM_BLOCK => count,
            _ => {
                return Err(Error::unknown(format!("descriptor type {ty} in template data")).at_offset(start));
            }
        };
        self.need(size)?;
        let at = self.alloc(16 + size as usize)?;
        self.image.set_u64(at, count);
        self.image.set_u64(at + 8, ty as u64);
        if ty == descriptor::ACCELERATION_STRUCTURE {
            self.elements(Ty::Handle(NAMES.acceleration_structure), at + 16, count)
        } else {
            self.elements(Ty::U8, at + 16, count)
        }
    }

    /// A preamble that is a single struct, or (template unknown to the capture layer) an empty array.
    fn preamble_any(&mut self, at: u32) -> Result<usize> {
        let first = self.peek_u32()?;
        let array = first & attrib::ARRAY != 0 && first & attrib::SINGLE == 0;
        let p = self.preamble(if array { attrib::ARRAY } else { attrib::SINGLE })?;
        Ok(self.record(Ptr { at, ..p }))
    }
}

/// The members of a union type.
pub(crate) fn union_members(ty: Ty) -> &'static [Member] {
    match ty {
        Ty::Struct(id) => STRUCTS[id as usize].members,
        _ => &[],
    }
}

/// The member of a union that its selector's value (0, 1, 2 in declaration order) picks.
pub(crate) fn union_member(union: Ty, selector: u32) -> Option<&'static Member> {
    union_members(union).get(selector as usize)
}

/// The member of VkIndirectCommandsTokenDataEXT that a token type uses.
pub(crate) fn token_member(union: Ty, token: u32) -> Option<&'static Member> {
    let name = match token {
        0 => "pExecutionSet",
        1 | 2 => "pPushConstant",
        3 => "pIndexBuffer",
        4 => "pVertexBuffer",
        _ => return None,
    };
    union_members(union).iter().find(|m| m.name == name)
}

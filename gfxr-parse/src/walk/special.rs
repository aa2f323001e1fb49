//! Mirrors `decode/special.rs` case by case.

use super::{Pointee, Visitor, Walker};
use crate::decode::TEMPLATE_HEADER_WORDS;
use crate::decode::special::{TEMPLATE_STRAY, descriptor, token_member, union_member, union_members};
use crate::image::attrib;
use crate::names::NAMES;
use crate::schema::generated::STRUCTS;
use crate::schema::{Special, StructDef, Ty};

impl<V: Visitor> Walker<'_, '_, V> {
    pub(super) fn special(&mut self, def: &'static StructDef, at: u32) {
        let m = def.members;
        match def.special {
            Special::None | Special::BareUnion => {}
            Special::ClearValue => {
                let p = self.take(Pointee::Fixed);
                if p.has_data() {
                    self.v.values(self.image, Ty::U32, p.to, p.len);
                }
            }
            Special::Union64 => self.v.value(self.image, Ty::U64, at),
            Special::DeviceOrHostAddress => self.v.value(self.image, Ty::DeviceAddress, at),
            Special::DescriptorImageInfo => self.each(m, at),
            Special::WriteDescriptorSet => self.each(m, at),
            Special::AccelerationStructureGeometry => {
                self.each(&m[..3], at);
                self.v.member(&m[3]);
                if let Some(u) = union_member(m[3].ty, self.image.u32(at + m[2].at)) {
                    self.v.union_member(u);
                    self.value(u.ty, at + m[3].at);
                }
                self.each(&m[4..], at);
            }
            Special::MotionInstance => {
                self.each(&m[..2], at);
                self.v.member(&m[2]);
                if let Some(u) = union_member(m[2].ty, self.image.u32(at)) {
                    self.v.union_member(u);
                    self.value(u.ty, at + m[2].at);
                }
            }
            Special::PerformanceValue => {
                self.each(&m[..1], at);
                self.v.member(&m[1]);
                if self.image.u32(at) == 4 {
                    self.string(Pointee::Str, 1);
                } else {
                    self.v.value(self.image, Ty::U64, at + m[1].at);
                }
            }
            Special::DescriptorGetInfo => {
                self.each(&m[..3], at);
                self.v.member(&m[3]);
                match self.image.u32(at + m[2].at) {
                    0 => self.single(Ty::Handle(NAMES.sampler)),
                    1..=3 | 10 => self.single(Ty::Struct(NAMES.descriptor_image_info)),
                    4..=7 => {
                        let u = union_members(m[3].ty).iter().find(|u| u.name == "pUniformBuffer");
                        self.single(u.expect("in the union").ty);
                    }
                    descriptor::ACCELERATION_STRUCTURE => {
                        self.v.value(self.image, Ty::DeviceAddress, at + m[3].at);
                    }
                    _ => {}
                }
            }
            Special::IndirectExecutionSetCreateInfo => {
                self.each(&m[..3], at);
                self.v.member(&m[3]);
                if let Some(u) = union_member(m[3].ty, self.image.u32(at + m[2].at)) {
                    self.v.union_member(u);
                    self.single(u.ty);
                }
            }
            Special::IndirectCommandsLayoutToken => {
                self.each(&m[..3], at);
                self.v.member(&m[3]);
                if let Some(u) = token_member(m[3].ty, self.image.u32(at + m[2].at)) {
                    self.v.union_member(u);
                    self.single(u.ty);
                }
                self.each(&m[4..], at);
            }
            Special::HostImageCopy => {
                self.each(&m[..2], at);
                self.v.member(&m[2]);
                if self.image.ptrs[self.next].attrib == 0 {
                    self.take(Pointee::Bare);
                } else {
                    self.array(Ty::U8, Pointee::Array);
                }
                self.each(&m[3..], at);
            }
            Special::LayerSetting => {
                self.each(&m[..4], at);
                self.v.member(&m[4]);
                let ty = match self.image.u32(at + m[2].at) {
                    0 => Ty::Bool32,
                    1 => Ty::I32,
                    2 => Ty::I64,
                    3 => Ty::U32,
                    4 => Ty::U64,
                    5 => Ty::F32,
                    6 => Ty::F64,
                    7 => return self.strings(),
                    _ => return,
                };
                self.array(ty, Pointee::Array);
            }
            Special::DataGraphPipelineConstant => {
                self.each(&m[..3], at);
                if self.image.chain_has(at + m[1].at, NAMES.tensor_description_stype) {
                    self.v.member(&m[3]);
                    self.array(Ty::U8, Pointee::Array);
                }
            }
        }
    }

    pub(super) fn template(&mut self) {
        let p = self.take(Pointee::Template);
        if !p.has_data() || p.attrib & attrib::SINGLE == 0 {
            return;
        }
        let word = |k: u32| self.image.u64(p.to + k * 8);
        let counts = [word(0), word(1), word(2)];
        let tails = word(3);
        self.v.template_counts(counts);
        let mut at = p.to + TEMPLATE_HEADER_WORDS as u32 * 8;
        let kinds = [
            Ty::Struct(NAMES.descriptor_image_info),
            Ty::Struct(NAMES.descriptor_buffer_info),
            Ty::Handle(NAMES.buffer_view),
        ];
        for (k, (ty, n)) in kinds.into_iter().zip(counts).enumerate() {
            self.v.template_part(k, n);
            self.elements(ty, at, n);
            at += n as u32 * ty.c_layout().0 as u32;
        }
        for _ in 0..tails {
            let (count, ty) = (self.image.u64(at), self.image.u64(at + 8));
            self.v.template_tail(count, ty);
            at += 16;
            if ty == TEMPLATE_STRAY {
                continue;
            }
            let elem = if ty == descriptor::ACCELERATION_STRUCTURE as u64 {
                Ty::Handle(NAMES.acceleration_structure)
            } else {
                Ty::U8
            };
            self.v.values(self.image, elem, at, count);
            at += (count as usize * elem.c_layout().0).next_multiple_of(8) as u32;
        }
        self.v.end_template(self.image);
        debug_assert!(STRUCTS[NAMES.descriptor_image_info as usize].size == 24);
    }
}

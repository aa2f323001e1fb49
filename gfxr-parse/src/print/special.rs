//! The forms of structs, unions and arrays that are not simply their members or elements.
//!
//! Guarantees: each form is upstream's, see the parent module for where not. Refuses nothing.

use super::Sink;
use super::call::Walk;
use super::options::{Binaries, Blob, PLACEHOLDER};
use super::rules;
use crate::decode::special::descriptor;
use crate::image::Image;
use crate::schema::{Shape, Special, StructDef, Ty};

impl<S: Sink> Walk<'_, S> {
    /// VkClearValue and VkClearColorValue: every reading of the same four words.
    pub(super) fn clear_value(&mut self, image: &Image, def: &StructDef, at: u32) {
        let whole = def.name == "VkClearValue";
        let s = &mut *self.sink;
        s.begin_object();
        if whole {
            s.key("color");
            s.begin_object();
        }
        for (name, read) in [
            ("float32", (|s, i, at| s.f32(i.f32(at))) as fn(&mut S, &Image, u32)),
            ("int32", |s, i, at| s.i64((i.u32(at) as i32).into())),
            ("uint32", |s, i, at| s.u64(i.u32(at).into())),
        ] {
            s.key(name);
            s.begin_array(true);
            for k in 0..4 {
                s.element(k);
                read(s, image, at + 4 * k);
            }
            s.end_array();
        }
        if whole {
            s.end_object();
            s.key("depthStencil");
            s.begin_object();
            s.key("depth");
            s.f32(image.f32(at));
            s.key("stencil");
            s.u64(image.u32(at + 4).into());
            s.end_object();
        }
        s.end_object();
    }

    /// A union carried as 64 bits: VkPipelineExecutableStatisticValueKHR by the `format` beside it.
    pub(super) fn statistic(&mut self, image: &Image, at: u32) {
        let stack = &self.state.stack;
        let format = stack.len().checked_sub(2).and_then(|i| {
            let (def, at) = stack[i];
            def.members.iter().find(|m| m.name == "format").map(|m| image.u32(at + m.at))
        });
        let (v, s) = (image.u64(at), &mut *self.sink);
        s.begin_object();
        match format {
            Some(0) => {
                s.key("b32");
                s.bool(v as u32 != 0);
            }
            Some(1) => {
                s.key("i64");
                s.i64(v as i64);
            }
            Some(3) => {
                s.key("f64");
                s.f64(f64::from_bits(v));
            }
            _ => {
                s.key("u64");
                s.u64(v);
            }
        }
        s.end_object();
    }

    /// An array of bytes or words: a UUID, or one that is not to be written as numbers. True if it was dealt with.
    pub(super) fn binary(&mut self, image: &Image, ty: Ty, at: u32, n: u64) -> bool {
        let Some(m) = self.member else { return false };
        let bytes = (n as usize) * ty.c_layout().0;
        let range = at as usize..at as usize + bytes;
        if matches!(m.shape, Shape::Fixed(_)) {
            let uuid = rules::is_uuid(m);
            if uuid {
                self.sink.uuid(&image.bytes()[range]);
            }
            return uuid;
        }
        let known = rules::blob(self.command, self.owner().map(|o| o.0), m);
        let stem = match (known, self.options.binaries) {
            (None, _) if n == 0 || ty != Ty::U8 => return false,
            (Some(_), Binaries::Placeholder) | (_, Binaries::None) => {
                self.sink.name(PLACEHOLDER);
                return true;
            }
            (Some(stem), Binaries::Collect) => stem,
            (None, Binaries::Placeholder | Binaries::Collect) => return false,
        };
        let prefix = format!("{}_", self.index);
        let more = match self.blobs.iter().filter(|b| b.name.starts_with(&prefix)).count() {
            0 => String::new(),
            n => format!("_{n}"),
        };
        let name = format!("{prefix}{stem}{more}.bin");
        self.sink.text(&name);
        self.blobs.push(Blob { name, bytes: image.bytes()[range].to_vec() });
        true
    }

    /// Is the current member an array of VkWriteDescriptorSet that its descriptor type does not use?
    pub(super) fn is_unused(&self, image: &Image, def: &StructDef, at: u32) -> bool {
        let Some(m) = self.member else { return false };
        if def.special != Special::WriteDescriptorSet {
            return false;
        }
        let used = match rules::sibling(image, def, at, 6) {
            // VK_DESCRIPTOR_TYPE_SAMPLE_WEIGHT_IMAGE_QCOM, VK_DESCRIPTOR_TYPE_BLOCK_MATCH_IMAGE_QCOM
            1_000_440_000 | 1_000_440_001 => descriptor::Array::Image,
            ty => descriptor::array_of(ty),
        };
        match m.name {
            "pImageInfo" => used != descriptor::Array::Image,
            "pBufferInfo" => used != descriptor::Array::Buffer,
            "pTexelBufferView" => used != descriptor::Array::Texel,
            _ => false,
        }
    }

    /// Opens the object around the active member of a union that the walk does not name.
    pub(super) fn union_of(&mut self, image: &Image) {
        let (Some((def, at)), Some(m)) = (self.owner(), self.member) else { return };
        if m.name != "data" || self.state.unions.last() == Some(&self.state.stack.len()) {
            return;
        }
        let name = match def.special {
            Special::DescriptorGetInfo => rules::descriptor_member(rules::sibling(image, def, at, 2)),
            Special::PerformanceValue => rules::performance_member(rules::sibling(image, def, at, 0)),
            _ => return,
        };
        if let Some(name) = name {
            self.open_union(name);
        }
    }
}

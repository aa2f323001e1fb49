//! Alignments of offsets that a capture keeps to, beside those that this device wants.
//!
//! Says of each kind whether the capture's do, or what stands in for those that do not. Refused by name: copies that are too large
//! together, and what commands write and see at a second place, too.

use crate::options::Bridge;
use crate::preflight::alignment::{Of, Place};
use crate::preflight::used::First;
use crate::preflight::written_places::WrittenPlaces;
use crate::vulkan::portability::aligned::{Realigned, Wanted};
use crate::vulkan::portability::compare::Compare;
use crate::vulkan::portability::line::{Done, Line, Sort};
use ash::vk;

impl Compare<'_> {
    /// Alignments that descriptors' offsets keep to; what stands in for those that do not do here.
    /// `written`: looks through the capture for what shaders write.
    pub(in super::super) fn alignments(
        &mut self,
        written: impl FnOnce(&dyn Fn(u64, &Place) -> bool) -> WrittenPlaces,
    ) -> Realigned {
        let (wanted, a) = (self.wanted(), &self.asked.alignments);
        let odd = || a.places.values().flatten().filter(|p| wanted.is_odd(p));
        if odd().next().is_none() {
            self.alignment_lines(&wanted, true, None);
            return Realigned::default();
        }
        let mut realigned = Realigned::new(a, &wanted);
        let found = realigned.as_mut().map(|r| r.find_written(written)).unwrap_or_default();
        self.alignment_lines(&wanted, realigned.is_some(), found.conflict);
        realigned.unwrap_or_default()
    }

    /// What is said of each kind.
    fn alignment_lines(&mut self, wanted: &Wanted, bridged: bool, conflict: Option<(First, Place)>) {
        let a = &self.asked.alignments;
        let texel = wanted.texel[0].0.max(wanted.texel[1].0);
        let all = [
            ("minUniformBufferOffsetAlignment", a.uniform, wanted.uniform, Of::Uniform),
            ("minStorageBufferOffsetAlignment", a.storage, wanted.storage, Of::Storage),
            ("minTexelBufferOffsetAlignment", a.texel, texel, Of::Texel(0)),
        ];
        for (name, asked, least, kind) in all {
            let Some(asked) = asked else { continue };
            let is_kind = |p: &Place| std::mem::discriminant(&p.of) == std::mem::discriminant(&kind);
            let odd = |p: &Place| is_kind(p) && wanted.is_odd(p);
            let has = !a.places.values().flatten().any(odd);
            let conflict = conflict.filter(|(_, p)| is_kind(p));
            let done = if !has && bridged && conflict.is_none() { Done::Replaced } else { self.must(has) };
            let (block, command) = asked.first;
            let mut text = format!("{}, first in block {block}, {command}", asked.least);
            if let Some(((block, command), place)) = conflict {
                text += &format!(
                    "; {} bytes at {} are written and seen at a second place in block {block}, {command}",
                    place.bytes, place.offset
                );
            }
            self.push(
                Line::new(Sort::Limit, name, has, done).by(Bridge::Alignment).of(text, least.to_string()),
            );
        }
    }

    /// What this device wants.
    fn wanted(&self) -> Wanted {
        let l = &self.gpu.properties.limits;
        Wanted {
            uniform: l.min_uniform_buffer_offset_alignment,
            storage: l.min_storage_buffer_offset_alignment,
            texel: self.texel_alignments(),
        }
    }

    /// What offsets of uniform and storage texel buffers have to be multiples of, and whether one texel is enough.
    fn texel_alignments(&self) -> [(u64, bool); 2] {
        let limit = self.gpu.properties.limits.min_texel_buffer_offset_alignment;
        let finer = |f: &(_, &str)| f.1 == "texelBufferAlignment";
        let extension = "VK_EXT_texel_buffer_alignment";
        let core = self.gpu.properties.api_version >= vk::API_VERSION_1_3;
        if !(core || self.gpu.has(extension))
            || !self.asked.devices.iter().any(|d| d.features.iter().any(finer))
            || self.options.rehearse.alignment
        {
            return [(limit, false); 2];
        }
        let mut texels = vk::PhysicalDeviceTexelBufferAlignmentProperties::default();
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut texels);
        // SAFETY: a query with a struct that the device knows.
        unsafe { self.query.get_physical_device_properties2(self.gpu.handle, &mut all) };
        let single = |single: vk::Bool32| single != 0;
        let t = texels;
        [
            (
                t.uniform_texel_buffer_offset_alignment_bytes,
                single(t.uniform_texel_buffer_offset_single_texel_alignment),
            ),
            (
                t.storage_texel_buffer_offset_alignment_bytes,
                single(t.storage_texel_buffer_offset_single_texel_alignment),
            ),
        ]
    }
}

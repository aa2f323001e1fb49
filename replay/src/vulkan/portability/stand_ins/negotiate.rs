//! Which formats have a stand-in on this device, and which are refused although there is one.
//!
//! Guarantees: a format is replaced in all images or in none, and together with the others that views of such images may be of, so
//! that whatever names the format means the same everywhere.

use super::packs::ADDRESSES;
use super::state::StandIns;
use crate::options::{Bridge, MemoryMode};
use crate::preflight::asked::ImageKind;
use crate::preflight::stand_ins::Uses;
use crate::texels::{Codec, family, feature, stand_ins};
use crate::vulkan::portability::compare::Compare;
use crate::vulkan::portability::line::{Done, Line, Sort};
use ash::vk;
use world::formats::COLOR;

impl Compare<'_> {
    /// The stand-ins of formats that images here cannot have. `uses`: looks through the capture for what is done with such.
    pub(in super::super) fn stand_ins(&mut self, uses: impl FnOnce() -> Uses) -> StandIns {
        let mut found = StandIns::new();
        let lacks = |w: &ImageKind| Codec::of(w.format, COLOR).is_some() && self.limits_of(w).is_err();
        let missing: Vec<u32> = self.asked.images.keys().filter(|w| lacks(w)).map(|w| w.format).collect();
        if missing.is_empty() || !self.options.bridges(Bridge::Texels) {
            return found;
        }
        self.uses = uses();
        for format in missing.into_iter().flat_map(family) {
            if !found.contains_key(&format)
                && let Some(stand_in) = self.stand_in(format)
            {
                found.insert(format, stand_in);
            }
        }
        found.retain(|f, _| self.format_needed(*f).is_none());
        // One without the others would be another image.
        let all = found.clone();
        found.retain(|f, _| family(*f).all(|other| all.contains_key(&other)));
        found
    }

    /// The best format that all images of a format can have here.
    fn stand_in(&self, format: u32) -> Option<u32> {
        let wanted = || self.asked.images.iter().filter(|(w, _)| w.format == format);
        let can =
            |s: &u32| wanted().all(|(w, sizes)| self.image(&replaced(w, *s), sizes, &[].into()).is_none());
        stand_ins(format).into_iter().find(can)
    }

    /// Why nothing can stand in for a format, if so.
    pub(in super::super) fn format_needed(&self, format: u32) -> Option<String> {
        Codec::of(format, COLOR)?;
        if let Some((what, (block, command))) = family(format).find_map(|f| self.uses.needed.get(&f)) {
            return Some(format!(
                "not supported, and {what} are not bridged: first in block {block}, {command}"
            ));
        }
        if family(format).any(|f| self.uses.copied_out.contains(&f)) && !self.has_addresses() {
            return Some("not supported, and copies out of images want bufferDeviceAddress".into());
        }
        match self.options.memory {
            MemoryMode::Auto | MemoryMode::Rebind => None,
            mode => Some(format!(
                "not supported; what stands in takes more memory, which --memory rebind gives it and {} does not",
                mode.name()
            )),
        }
    }

    /// Whether shaders here reach buffers by addresses.
    fn has_addresses(&self) -> bool {
        let mut addresses = vk::PhysicalDeviceBufferDeviceAddressFeatures::default();
        if self.gpu.has(ADDRESSES.extension) || self.gpu.properties.api_version >= ADDRESSES.core {
            let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut addresses);
            // SAFETY: a query with a struct of a version or an extension that the device has.
            unsafe { self.query.get_physical_device_features2(self.gpu.handle, &mut all) };
        }
        addresses.buffer_device_address != 0
    }
}

/// What is done with the texels of a format that has a stand-in, in words.
pub(in super::super) fn how(format: u32) -> &'static str {
    match Codec::compressed(format) {
        Some(_) => "decoded when uploaded",
        None => "translated when copied",
    }
}

/// The same image in another format.
pub(in super::super) fn replaced(w: &ImageKind, stand_in: u32) -> ImageKind {
    let flags = super::images::flags(vk::ImageCreateFlags::from_raw(w.flags)).as_raw();
    ImageKind { format: stand_in, flags, ..*w }
}

/// Features that say that a device has such formats: not needed where all formats that the capture has images of are here, or
/// have a stand-in. Names those that are to be cleared.
pub(in super::super) fn bridge_features(
    lines: &mut [Line],
    images: impl Iterator<Item = u32> + Clone,
    found: &StandIns,
) -> Vec<&'static str> {
    let mut cleared = Vec::new();
    for l in lines.iter_mut().filter(|l| l.sort == Sort::Feature && l.done == Done::Refused) {
        let name = l.what.strip_prefix("VkPhysicalDeviceFeatures.").unwrap_or("");
        let mut of = images.clone().filter(|f| feature(*f) == Some(name)).peekable();
        if of.peek().is_some() && of.all(|f| found.contains_key(&f)) {
            (l.done, l.bridge) = (Done::Replaced, Some(Bridge::Texels));
            l.found = "decoded when uploaded".into();
            cleared.extend(images.clone().find_map(|f| feature(f).filter(|n| *n == name)));
        }
    }
    cleared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_of_formats_that_are_all_bridged_are_cleared() {
        let line = |name: &str| {
            Line::new(Sort::Feature, &format!("VkPhysicalDeviceFeatures.{name}"), false, Done::Refused)
        };
        let mut lines = [
            "textureCompressionETC2",
            "textureCompressionASTC_LDR",
            "textureCompressionBC",
            "geometryShader",
        ]
        .map(line);
        let images = [147, 152, 157, 171];
        let found: StandIns = [(147, 37), (148, 43), (151, 37), (152, 43), (157, 37), (158, 43)].into();
        let cleared = bridge_features(&mut lines, images.into_iter(), &found);
        assert_eq!(cleared, ["textureCompressionETC2"], "171 has none, of BC there are no images");
        assert_eq!(lines.map(|l| l.done), [Done::Replaced, Done::Refused, Done::Refused, Done::Refused]);
    }

    #[test]
    fn blocks_are_nothing_to_look_at_in_a_stand_in() {
        let w = ImageKind { format: 145, kind: 1, tiling: 0, usage: 6, flags: 0x88 };
        assert_eq!(replaced(&w, 37), ImageKind { format: 37, flags: 8, ..w });
    }
}

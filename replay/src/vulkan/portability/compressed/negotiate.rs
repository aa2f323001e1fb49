//! Which formats have a stand-in on this device, and which are refused although there is one.
//!
//! Guarantees: a format is replaced in all images or in none, and together with the other one of the same blocks (views may
//! be of either), so that whatever names the format means the same everywhere.

use super::state::StandIns;
use crate::options::{Bridge, MemoryMode};
use crate::preflight::asked::ImageKind;
use crate::texels::{Codec, feature, stand_ins, twin};
use crate::vulkan::portability::compare::Compare;
use crate::vulkan::portability::line::{Done, Line, Sort};
use ash::vk;

impl Compare<'_> {
    /// The stand-ins of compressed formats that images here cannot have.
    pub(in super::super) fn stand_ins(&self) -> StandIns {
        let mut found = StandIns::new();
        if !self.options.bridges(Bridge::Texels) {
            return found;
        }
        let lacks = |w: &ImageKind| self.options.rehearse.compression || self.limits_of(w).is_err();
        let missing = self.asked.images.keys().filter(|w| Codec::of(w.format).is_some() && lacks(w));
        for format in missing.flat_map(|w| [w.format, twin(w.format)]) {
            if !found.contains_key(&format)
                && let Some(stand_in) = self.stand_in(format)
            {
                found.insert(format, stand_in);
            }
        }
        found.retain(|f, _| self.blocks_needed(*f).is_none());
        // One without the other would be another image.
        let all = found.clone();
        found.retain(|f, _| all.contains_key(&twin(*f)));
        found
    }

    /// The best format that all images of a format can have here.
    fn stand_in(&self, format: u32) -> Option<u32> {
        let wanted = || self.asked.images.iter().filter(|(w, _)| w.format == format);
        let can =
            |s: &u32| wanted().all(|(w, sizes)| self.image(&replaced(w, *s), sizes, &[].into()).is_none());
        stand_ins(format).into_iter().find(can)
    }

    /// Why texels cannot stand in for blocks, if so.
    pub(in super::super) fn blocks_needed(&self, format: u32) -> Option<String> {
        Codec::of(format)?;
        if let Some((what, (block, command))) =
            [format, twin(format)].iter().find_map(|f| self.asked.blocks.get(f))
        {
            return Some(format!(
                "not supported, and {what} are not bridged: first in block {block}, {command}"
            ));
        }
        match self.options.memory {
            MemoryMode::Auto | MemoryMode::Rebind => None,
            mode => Some(format!(
                "not supported; texels take more memory than blocks, which --memory rebind gives them and {} does not",
                mode.name()
            )),
        }
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

//! Numbers of samples that images of this device do not have.
//!
//! Asked for: the samples of images, by format and use. Bridged: a number stands for the next larger one that all images which
//! have it can have here, else the next smaller one, in every call (images, render passes, pipelines, their state). What is
//! resolved from them is as smooth or smoother, and not the same picture where it is another number. Costs: memory and time by
//! the samples. Refused: a number for which there is no other but one, as there is nothing to resolve then.

use crate::preflight::asked::ImageKind;
use crate::vulkan::portability::compare::Compare;
use ash::vk;
use gfxr_parse::schema::generated::ENUMS;
use gfxr_parse::schema::{Member, Ty};
use std::collections::BTreeMap;

/// By captured number of samples: that here.
pub type Samples = BTreeMap<u32, u32>;

fn of_samples(ty: Ty) -> bool {
    matches!(ty, Ty::Enum(id) | Ty::Flags(id) if ENUMS[usize::from(id)].name == "VkSampleCountFlagBits")
}

/// One sample in place of every number.
pub fn one() -> Samples {
    (1..7).map(|bit| (1 << bit, 1)).collect()
}

/// Whether a member is a number of samples.
pub(super) fn is_count(m: &Member) -> bool {
    of_samples(m.ty)
}

/// The number here for one of a call.
pub(super) fn here(samples: &Samples, ty: Ty, captured: u32) -> Option<u32> {
    if samples.is_empty() || !of_samples(ty) { None } else { samples.get(&captured).copied() }
}

/// For a number that is wanted of images that can have these.
fn nearest(wanted: u32, possible: u32) -> Option<u32> {
    let possible = possible & !1;
    let larger = possible & !(wanted | (wanted - 1));
    match larger {
        0 => possible.checked_ilog2().map(|bit| 1 << bit),
        more => Some(1 << more.trailing_zeros()),
    }
}

impl Compare<'_> {
    /// Which numbers are others here, where images are made as `made` says.
    pub(super) fn samples(&self, made: impl Fn(&ImageKind) -> ImageKind) -> Samples {
        let mut possible: BTreeMap<u32, u32> = BTreeMap::new();
        for (kind, sizes) in &self.asked.images {
            let counts = self.limits_of(&made(kind)).map_or(0, |l| l.sample_counts.as_raw());
            for n in (1..7).map(|bit| 1 << bit).filter(|n| sizes.samples & n != 0) {
                *possible.entry(n).or_insert(u32::MAX) &= counts;
            }
        }
        let missing = possible.into_iter().filter(|(wanted, possible)| wanted & possible == 0);
        missing.filter_map(|(wanted, possible)| Some((wanted, nearest(wanted, possible)?))).collect()
    }

    /// What images of this kind can be here.
    pub(super) fn limits_of(&self, w: &ImageKind) -> Result<vk::ImageFormatProperties, vk::Result> {
        if self.options.rehearse.lacks(w.format) {
            return Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED);
        }
        // SAFETY: a query.
        unsafe {
            self.instance.get_physical_device_image_format_properties(
                self.gpu.handle,
                vk::Format::from_raw(w.format as i32),
                vk::ImageType::from_raw(w.kind as i32),
                vk::ImageTiling::from_raw(w.tiling as i32),
                vk::ImageUsageFlags::from_raw(w.usage),
                vk::ImageCreateFlags::from_raw(w.flags),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_larger_number_else_the_next_smaller() {
        assert_eq!(nearest(2, 0b101), Some(4));
        assert_eq!(nearest(8, 0b0000_0111), Some(4));
        assert_eq!(nearest(8, 0b0101_0010), Some(16));
        assert_eq!(nearest(2, 1), None);
        assert_eq!(nearest(64, 0), None);
    }
}

//! Whether the program was told other sizes than this device's, and how much larger descriptor buffers have to be here.

use super::state::Sizes;
use crate::options::Bridge;
use crate::vulkan::portability::compare::Compare;
use crate::vulkan::portability::line::{Done, Line, Sort};
use ash::vk;
use std::collections::BTreeMap;

impl Compare<'_> {
    /// By how much descriptor buffers are larger here, and what the program was told; none where descriptors have the same sizes.
    pub(in super::super) fn descriptor_buffers(&mut self) -> Option<(u64, Sizes)> {
        let uses =
            |d: &&crate::preflight::asked::AskedDevice| d.features.iter().any(|f| f.1 == "descriptorBuffer");
        let gpu = self.asked.devices.iter().find(uses)?.gpu;
        if !self.gpu.has("VK_EXT_descriptor_buffer") {
            return None;
        }
        // (a program of several instances may have asked another one)
        let asked = &self.asked.descriptor_buffers;
        let told = Sizes(asked.get(&gpu).or(asked.values().next()).cloned().unwrap_or_default());
        let mut here = vk::PhysicalDeviceDescriptorBufferPropertiesEXT::default();
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut here);
        // SAFETY: a query with a struct that the device knows.
        unsafe { self.query.get_physical_device_properties2(self.gpu.handle, &mut all) };
        let here = Sizes::of(&here);
        let mut factor = factor(&told.0, &here);
        if self.options.rehearse.descriptors {
            factor = Some(factor.unwrap_or(1) * 2);
        }
        let differ = |(name, n): &(&&'static str, &u64)| told.0.get(**name).is_some_and(|then| then != *n);
        let first = here.0.iter().find(differ).or(here.0.first_key_value().filter(|_| factor.is_some()));
        if let Some((name, n)) = first {
            let then = told.0.get(name).map_or_else(String::new, u64::to_string);
            let n = if self.options.rehearse.descriptors { n * 2 } else { *n };
            let what = format!("VkPhysicalDeviceDescriptorBufferPropertiesEXT.{name}");
            let line = Line::new(Sort::Limit, &what, false, Done::Replaced).by(Bridge::Descriptors);
            self.push(line.of(then, n.to_string()));
        }
        factor.map(|f| (f, told))
    }
}

/// The least power of two that makes room for all, if anything differs.
fn factor(told: &BTreeMap<&'static str, u64>, here: &Sizes) -> Option<u64> {
    let both = || here.0.iter().filter_map(|(name, n)| told.get(name).map(|then| (*then, *n)));
    both().any(|(then, now)| then != now).then(|| {
        let ratios = both().map(|(then, now)| now.div_ceil(then.max(1)));
        ratios.max().unwrap_or(1).max(1).next_power_of_two()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(of: &[(&'static str, u64)]) -> BTreeMap<&'static str, u64> {
        of.iter().copied().collect()
    }

    #[test]
    fn room_for_the_largest_and_for_the_alignment() {
        let told = all(&[
            ("samplerDescriptorSize", 16),
            ("storageBufferDescriptorSize", 8),
            ("descriptorBufferOffsetAlignment", 4),
        ]);
        assert_eq!(factor(&told, &Sizes(told.clone())), None, "nothing differs");
        let here = all(&[("samplerDescriptorSize", 40), ("storageBufferDescriptorSize", 4)]);
        assert_eq!(factor(&told, &Sizes(here)), Some(4));
        let here = all(&[("samplerDescriptorSize", 8), ("descriptorBufferOffsetAlignment", 64)]);
        assert_eq!(factor(&told, &Sizes(here)), Some(16), "an offset of 4 is one of 64");
        assert_eq!(
            factor(&told, &Sizes(all(&[("samplerDescriptorSize", 1)]))),
            Some(1),
            "smaller ones have room"
        );
        assert_eq!(
            factor(&BTreeMap::new(), &Sizes(all(&[("samplerDescriptorSize", 1)]))),
            None,
            "nobody asked"
        );
    }
}

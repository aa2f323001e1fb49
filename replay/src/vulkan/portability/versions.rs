//! Vulkan versions.
//!
//! A version is never refused for itself: what it brings is asked for by name, and a command is looked for by every name that it
//! has ([`crate::vulkan`]'s table). An instance is made for all that the loader has: drivers hide from older ones what their
//! programs use all the same, and what stands in for an extension that Vulkan has taken in.

use crate::vulkan::portability::compare::Compare;
use crate::vulkan::portability::line::{Done, Line, Sort};
use ash::vk;

/// The version that an instance is made for here.
pub(in crate::vulkan) fn of_instance(entry: &ash::Entry, asked: u32) -> u32 {
    // SAFETY: a query of the loader.
    let here = unsafe { entry.try_enumerate_instance_version() };
    here.ok().flatten().unwrap_or(vk::API_VERSION_1_0).max(asked)
}

impl Compare<'_> {
    pub(super) fn api(&mut self) {
        let here = self.gpu.properties.api_version;
        let has = version(here) >= version(self.asked.api);
        let done = if has { Done::Kept } else { Done::Removed };
        let line = Line::new(Sort::Api, "Vulkan", has, done);
        self.push(line.of(text(self.asked.api), text(here)));
    }
}

pub(super) fn version(v: u32) -> (u32, u32) {
    (vk::api_version_major(v), vk::api_version_minor(v))
}

fn text(v: u32) -> String {
    format!("{}.{}", version(v).0.max(1), version(v).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_two_numbers() {
        assert_eq!(text(0), "1.0");
        assert_eq!(text(vk::API_VERSION_1_3), "1.3");
    }
}

//! The captureReplay features in the chain of vkCreateDevice.
//!
//! Found by name in the schema, so that every struct that carries one counts: the KHR and EXT ones and those of
//! Vulkan 1.2. The application seldom asks for them; the capture layer does behind its back.

use crate::vulkan::Gpu;
use ash::vk;
use gfxr_parse::schema::generated::STRUCTS;
use gfxr_parse::schema::{Shape, StructDef, Ty, struct_by_stype};

/// Which of the three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Features {
    /// bufferDeviceAddressCaptureReplay.
    pub buffers: bool,
    /// accelerationStructureCaptureReplay.
    pub structures: bool,
    /// rayTracingPipelineShaderGroupHandleCaptureReplay.
    pub groups: bool,
}

/// The feature that an application asks for, and the one that goes with it.
const PAIRS: [(&str, &str); 3] = [
    ("bufferDeviceAddress", "bufferDeviceAddressCaptureReplay"),
    ("accelerationStructure", "accelerationStructureCaptureReplay"),
    ("rayTracingPipeline", "rayTracingPipelineShaderGroupHandleCaptureReplay"),
];

impl Features {
    fn array(self) -> [bool; 3] {
        [self.buffers, self.structures, self.groups]
    }
    fn of([buffers, structures, groups]: [bool; 3]) -> Self {
        // The other two are of no use without the first.
        Features { buffers, structures: buffers && structures, groups: buffers && groups }
    }
    /// Any of them.
    pub fn any(self) -> bool {
        self.array().contains(&true)
    }
    /// Those in both.
    pub fn and(self, other: Self) -> Self {
        let (a, b) = (self.array(), other.array());
        Self::of([0, 1, 2].map(|i| a[i] && b[i]))
    }
}

/// Where a struct has both members of a pair.
fn places(def: &StructDef, pair: (&str, &str)) -> Option<(u32, u32)> {
    let at = |name| {
        let m = def.members.iter().find(|m| m.name == name)?;
        (m.ty == Ty::Bool32 && m.shape == Shape::Value).then_some(m.at)
    };
    Some((at(pair.0)?, at(pair.1)?))
}

/// Calls `f` with each pair's number and the two members, wherever the chain has them.
///
/// # Safety
/// `info` is a linked VkDeviceCreateInfo.
unsafe fn each(info: &vk::DeviceCreateInfo<'_>, mut f: impl FnMut(usize, &mut u32, &mut u32)) {
    let mut link = info.p_next as *mut vk::BaseOutStructure<'_>;
    // SAFETY: a linked chain, of our own memory.
    while let Some(s) = unsafe { link.as_mut() } {
        if let Some(id) = struct_by_stype(s.s_type.as_raw() as u32) {
            for (i, pair) in PAIRS.into_iter().enumerate() {
                let Some((a, b)) = places(&STRUCTS[id as usize], pair) else { continue };
                let base: *mut u8 = link.cast();
                // SAFETY: two different members, inside the struct, of four bytes each.
                let (a, b) =
                    unsafe { (&mut *base.add(a as usize).cast(), &mut *base.add(b as usize).cast()) };
                f(i, a, b);
            }
        }
        link = s.p_next;
    }
}

/// What the application's features could use.
///
/// # Safety
/// `info` is a linked VkDeviceCreateInfo.
pub(super) unsafe fn asked(info: &vk::DeviceCreateInfo<'_>) -> Features {
    let mut found = [false; 3];
    // SAFETY: as the caller says.
    unsafe { each(info, |i, first, _| found[i] |= *first != 0) };
    Features::of(found)
}

/// Turns on what `on` says, and the rest off.
///
/// # Safety
/// `info` is a linked VkDeviceCreateInfo.
pub(super) unsafe fn set(info: &mut vk::DeviceCreateInfo<'_>, on: Features) {
    let on = on.array();
    // SAFETY: as the caller says.
    unsafe { each(info, |i, first, second| *second = u32::from(on[i] && *first != 0)) };
}

/// What the device has of those asked for.
pub(super) fn here(entry: &ash::Entry, instance: &ash::Instance, gpu: &Gpu, asked: Features) -> Features {
    let mut buffers = vk::PhysicalDeviceBufferDeviceAddressFeatures::default();
    let mut structures = vk::PhysicalDeviceAccelerationStructureFeaturesKHR::default();
    let mut pipelines = vk::PhysicalDeviceRayTracingPipelineFeaturesKHR::default();
    let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut buffers);
    if asked.structures {
        all = all.push_next(&mut structures);
    }
    if asked.groups {
        all = all.push_next(&mut pipelines);
    }
    let query = ash::khr::get_physical_device_properties2::Instance::new(entry, instance);
    // SAFETY: a chain of known structs, of extensions that the device has.
    unsafe { query.get_physical_device_features2(gpu.handle, &mut all) };
    Features::of([
        buffers.buffer_device_address_capture_replay != 0,
        structures.acceleration_structure_capture_replay != 0,
        pipelines.ray_tracing_pipeline_shader_group_handle_capture_replay != 0,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_struct_with_a_pair_is_found() {
        let with = |i: usize| -> Vec<&str> {
            STRUCTS.iter().filter(|s| places(s, PAIRS[i]).is_some()).map(|s| s.name).collect()
        };
        let of_buffers = with(0);
        for name in [
            "VkPhysicalDeviceVulkan12Features",
            "VkPhysicalDeviceBufferDeviceAddressFeatures",
            "VkPhysicalDeviceBufferDeviceAddressFeaturesEXT",
        ] {
            assert!(of_buffers.contains(&name), "{name} is not among {of_buffers:?}");
        }
        assert_eq!(with(1), ["VkPhysicalDeviceAccelerationStructureFeaturesKHR"]);
        assert_eq!(with(2), ["VkPhysicalDeviceRayTracingPipelineFeaturesKHR"]);
    }

    #[test]
    fn what_goes_with_the_asked_is_turned_on_and_the_rest_off() {
        let mut buffers = vk::PhysicalDeviceVulkan12Features::default().buffer_device_address(true);
        let mut structures = vk::PhysicalDeviceAccelerationStructureFeaturesKHR::default()
            .acceleration_structure(true)
            .acceleration_structure_capture_replay(true);
        let mut pipelines = vk::PhysicalDeviceRayTracingPipelineFeaturesKHR::default()
            .ray_tracing_pipeline_shader_group_handle_capture_replay(true);
        let mut info = vk::DeviceCreateInfo::default()
            .push_next(&mut buffers)
            .push_next(&mut structures)
            .push_next(&mut pipelines);
        // SAFETY: a chain of live structs.
        let asked = unsafe { asked(&info) };
        assert_eq!(asked, Features { buffers: true, structures: true, groups: false });
        let here = Features { buffers: true, structures: false, groups: true };
        // SAFETY: as above.
        unsafe { set(&mut info, asked.and(here)) };
        assert_eq!(buffers.buffer_device_address_capture_replay, 1);
        assert_eq!(structures.acceleration_structure_capture_replay, 0, "asked for, but not here");
        let groups = pipelines.ray_tracing_pipeline_shader_group_handle_capture_replay;
        assert_eq!(groups, 0, "of no use without ray-tracing pipelines");
    }

    #[test]
    fn nothing_is_exact_without_buffers() {
        let all = Features { buffers: true, structures: true, groups: true };
        let none = Features { buffers: false, structures: true, groups: true };
        assert_eq!(all.and(none), Features::default());
    }
}

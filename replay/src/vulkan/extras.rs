//! What hooks would like a device to have beyond what the capture asked of it and beyond extensions: features that count,
//! asked for where they are there and done without where not; its clock beside the CPU's.
//!
//! Guarantees: nothing the capture asked for changes; what was added is in the device's state, and in no negotiation.

use super::{Gpu, Vulkan};
use ash::vk;
use std::time::{Duration, Instant};

/// Which pipeline statistics a device counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Those of Vulkan 1.0.
    pub pipeline: bool,
    /// Those of task and mesh shaders.
    pub mesh: bool,
}

/// Adds the features that are wished for to a device's creation; `core` has to live until then.
///
/// # Safety
/// `info` is a linked VkDeviceCreateInfo whose memory may be written; the instance is alive.
pub(super) unsafe fn add(
    vk: &Vulkan,
    instance: &ash::Instance,
    gpu: &Gpu,
    info: &mut vk::DeviceCreateInfo<'_>,
    core: &mut vk::PhysicalDeviceFeatures,
) -> Statistics {
    let mut found = Statistics::default();
    if !vk.needs.statistics {
        return found;
    }
    // SAFETY: the caller's promise; a chain's structs begin with sType and pNext.
    unsafe {
        let here = instance.get_physical_device_features(gpu.handle);
        let mut asked = (!info.p_enabled_features.is_null()).then_some(info.p_enabled_features.cast_mut());
        let mut link = info.p_next as *mut vk::BaseOutStructure<'_>;
        let mut mesh: *mut vk::PhysicalDeviceMeshShaderFeaturesEXT<'_> = std::ptr::null_mut();
        while let Some(s) = link.as_mut() {
            match s.s_type {
                vk::StructureType::PHYSICAL_DEVICE_FEATURES_2 => {
                    asked = Some(&raw mut (*link.cast::<vk::PhysicalDeviceFeatures2<'_>>()).features);
                }
                vk::StructureType::PHYSICAL_DEVICE_MESH_SHADER_FEATURES_EXT => mesh = link.cast(),
                _ => {}
            }
            link = s.p_next;
        }
        if here.pipeline_statistics_query != 0 {
            match asked {
                Some(f) => (*f).pipeline_statistics_query = vk::TRUE,
                None => {
                    core.pipeline_statistics_query = vk::TRUE;
                    info.p_enabled_features = core;
                }
            }
            found.pipeline = true;
        }
        if let Some(mesh) = mesh.as_mut().filter(|m| m.mesh_shader != 0) {
            let mut able = vk::PhysicalDeviceMeshShaderFeaturesEXT::default();
            let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut able);
            let query = ash::khr::get_physical_device_properties2::Instance::new(&vk.entry, instance);
            query.get_physical_device_features2(gpu.handle, &mut all);
            if able.mesh_shader_queries != 0 {
                mesh.mesh_shader_queries = vk::TRUE;
                found.mesh = true;
            }
        }
    }
    found
}

/// Reads the device's clock at a known moment of the CPU's (VK_KHR_calibrated_timestamps, or its EXT form).
#[derive(Clone)]
pub struct Clocks {
    get: vk::PFN_vkGetCalibratedTimestampsKHR,
    device: vk::Device,
}

/// One reading of the device's clock.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// The device's ticks.
    pub ticks: u64,
    /// The CPU's clock, in the middle of the call.
    pub at: Instant,
    /// How far apart the two may be: half the call's time.
    pub deviation: Duration,
}

impl Clocks {
    /// Of a device made with one of the extensions.
    pub(super) fn new(instance: &ash::Instance, device: &ash::Device, extensions: &[String]) -> Option<Self> {
        let has = |name: &str| extensions.iter().any(|e| e == name);
        let name = if has("VK_KHR_calibrated_timestamps") {
            c"vkGetCalibratedTimestampsKHR"
        } else if has("VK_EXT_calibrated_timestamps") {
            c"vkGetCalibratedTimestampsEXT"
        } else {
            return None;
        };
        // SAFETY: a live device and a C string; both names have this type.
        let get = unsafe {
            let f = instance.get_device_proc_addr(device.handle(), name.as_ptr());
            std::mem::transmute::<vk::PFN_vkVoidFunction, Option<vk::PFN_vkGetCalibratedTimestampsKHR>>(f)
        };
        Some(Clocks { get: get?, device: device.handle() })
    }

    /// The best of a few readings; none where the driver refuses.
    pub fn read(&self) -> Option<Reading> {
        const TRIES: usize = 5;
        let info = vk::CalibratedTimestampInfoKHR::default().time_domain(vk::TimeDomainKHR::DEVICE);
        let mut best: Option<Reading> = None;
        for _ in 0..TRIES {
            let (mut ticks, mut apart) = (0u64, 0u64);
            let begin = Instant::now();
            // SAFETY: one struct, one result of each kind; every device with the extension knows its own clock.
            let r = unsafe { (self.get)(self.device, 1, &info, &mut ticks, &mut apart) };
            let took = begin.elapsed();
            if r != vk::Result::SUCCESS {
                return None;
            }
            let deviation = took / 2;
            if best.is_none_or(|b| deviation < b.deviation) {
                best = Some(Reading { ticks, at: begin + deviation, deviation });
            }
        }
        best
    }
}

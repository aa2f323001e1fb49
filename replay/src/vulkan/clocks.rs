//! The device's clock beside the CPU's, where a hook wished for it and the device has it.
//!
//! Refuses nothing: a driver that answers with an error has no clock.

use ash::vk;
use std::time::{Duration, Instant};

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

//! The entry points of VK_ARM_shader_instrumentation, but for what is recorded.

use crate::abi::{Header, MetricDescription};
use crate::chain::Function;
use crate::state::{Object, complain, state};
use crate::{METRICS, any};
use ash::vk;
use std::ffi::c_void;

/// The function of physical devices.
pub const ENUMERATE: &str = "vkEnumeratePhysicalDeviceShaderInstrumentationMetricsARM";

/// The functions of devices.
pub const DEVICE_NAMES: [&str; 6] = [
    "vkCreateShaderInstrumentationARM",
    "vkDestroyShaderInstrumentationARM",
    "vkCmdBeginShaderInstrumentationARM",
    "vkCmdEndShaderInstrumentationARM",
    "vkGetShaderInstrumentationValuesARM",
    "vkClearShaderInstrumentationMetricsARM",
];

type Enumerate =
    unsafe extern "system" fn(vk::PhysicalDevice, *mut u32, *mut MetricDescription) -> vk::Result;
type Create = unsafe extern "system" fn(vk::Device, *const c_void, *const c_void, *mut u64) -> vk::Result;
type Destroy = unsafe extern "system" fn(vk::Device, u64, *const c_void);
type Get = unsafe extern "system" fn(vk::Device, u64, *mut u32, *mut c_void, u32) -> vk::Result;
type Clear = unsafe extern "system" fn(vk::Device, u64);

/// [`ENUMERATE`].
pub fn enumerate() -> Function {
    any!(enumerate_metrics, Enumerate)
}

/// The function of this name.
pub fn of(name: &str) -> Function {
    match name {
        "vkCreateShaderInstrumentationARM" => any!(create, Create),
        "vkDestroyShaderInstrumentationARM" => any!(destroy, Destroy),
        "vkGetShaderInstrumentationValuesARM" => any!(get, Get),
        "vkClearShaderInstrumentationMetricsARM" => any!(clear, Clear),
        _ => None,
    }
}

unsafe extern "system" fn enumerate_metrics(
    _: vk::PhysicalDevice,
    count: *mut u32,
    out: *mut MetricDescription,
) -> vk::Result {
    // SAFETY: the caller's array of as many structs as it says.
    unsafe {
        if out.is_null() {
            *count = METRICS.len() as u32;
            return vk::Result::SUCCESS;
        }
        let n = METRICS.len().min(*count as usize);
        for (i, (name, about)) in METRICS[..n].iter().enumerate() {
            let to = &mut *out.add(i);
            if to.s_type != crate::abi::PROPERTIES + 2 {
                complain("a metric's description has the wrong sType");
            }
            (to.name, to.description) = ([0; 256], [0; 256]);
            to.name[..name.len()].copy_from_slice(name.as_bytes());
            to.description[..about.len()].copy_from_slice(about.as_bytes());
        }
        *count = n as u32;
        if n < METRICS.len() { vk::Result::INCOMPLETE } else { vk::Result::SUCCESS }
    }
}

unsafe extern "system" fn create(
    _: vk::Device,
    info: *const c_void,
    _: *const c_void,
    out: *mut u64,
) -> vk::Result {
    // SAFETY: the caller's struct, which begins with its sType.
    unsafe {
        if info.cast::<i32>().read() != crate::abi::PROPERTIES + 1 {
            complain("VkShaderInstrumentationCreateInfoARM has the wrong sType");
        }
        let mut s = state();
        s.next_object += 1;
        let id = s.next_object;
        s.objects.insert(id, Object::default());
        *out = id;
    }
    vk::Result::SUCCESS
}

unsafe extern "system" fn destroy(_: vk::Device, object: u64, _: *const c_void) {
    if object != 0 && state().objects.remove(&object).is_none() {
        complain("an instrumentation object was destroyed that there is not");
    }
}

unsafe extern "system" fn get(
    _: vk::Device,
    object: u64,
    count: *mut u32,
    out: *mut c_void,
    flags: u32,
) -> vk::Result {
    let mut s = state();
    let Some(o) = s.objects.get_mut(&object) else {
        complain("values were asked of an instrumentation object that there is not");
        return vk::Result::ERROR_UNKNOWN;
    };
    if flags != 0 {
        complain("vkGetShaderInstrumentationValuesARM knows no flags");
    }
    let have = o.values.len() as u32;
    // SAFETY: the caller's array of as many blocks as it says.
    unsafe {
        if out.is_null() {
            // More is coming in while the first one asks.
            *count = if have > 1 && !std::mem::replace(&mut o.asked, true) { have - 1 } else { have };
            return vk::Result::SUCCESS;
        }
        let n = have.min(*count);
        let stride = size_of::<Header>() + METRICS.len() * 8;
        for (i, (place, values)) in o.values.iter().take(n as usize).enumerate() {
            let &(result_index, stages, result_sub_index, basic_block_index) = place;
            let at = out.cast::<u8>().add(i * stride);
            at.cast::<Header>().write_unaligned(Header {
                result_index,
                result_sub_index,
                stages,
                basic_block_index,
            });
            for (m, v) in values.iter().enumerate() {
                at.add(size_of::<Header>() + m * 8).cast::<u64>().write_unaligned(*v);
            }
        }
        *count = n;
        if n < have { vk::Result::INCOMPLETE } else { vk::Result::SUCCESS }
    }
}

unsafe extern "system" fn clear(_: vk::Device, object: u64) {
    match state().objects.get_mut(&object) {
        Some(o) => {
            o.values.clear();
            o.asked = false;
        }
        None => complain("an instrumentation object was cleared that there is not"),
    }
}

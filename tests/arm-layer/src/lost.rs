//! A device that is lost when it is asked for ([`crate::ASKS`], `lose`), and what VK_EXT_device_fault and
//! VK_NV_device_diagnostic_checkpoints say of it then.
//!
//! The fault is a read of [`OFFSET`] bytes behind the first address that a buffer was asked for. A queue had begun the third
//! checkpoint of the command buffer that was submitted last, and not done the second. Guarantees: neither extension is there
//! unless a device is to be lost; what they forbid is said like everything else. Nothing of them reaches the driver.

use crate::chain::Function;
use crate::state::{Device, below, complain, key, raw, state};
use crate::{any, misbehave};
use ash::vk;
use std::ffi::{CStr, c_char, c_void};
use std::sync::Mutex;

/// What is there where a device is to be lost.
pub const EXTENSIONS: [&CStr; 2] = [c"VK_EXT_device_fault", c"VK_NV_device_diagnostic_checkpoints"];

/// Their functions.
pub const NAMES: [&str; 3] =
    ["vkGetDeviceFaultInfoEXT", "vkCmdSetCheckpointNV", "vkGetQueueCheckpointDataNV"];

/// What the driver says of the fault.
pub const DESCRIPTION: &str = "the layer was asked to lose it";
/// How far behind the address the fault is, and how exactly that is known.
pub const OFFSET: u64 = 20;
/// As [`OFFSET`].
pub const PRECISION: u64 = 4;
/// A code of the maker's, and what belongs to it.
pub const VENDOR: (&str, u64, u64) = ("of the layer", 7, 9);

/// What has been seen.
struct Seen {
    /// The first address of a buffer.
    address: u64,
    /// Checkpoints of the command buffer that the device was lost with.
    checkpoints: Vec<u64>,
    lost: bool,
}

static SEEN: Mutex<Seen> = Mutex::new(Seen { address: 0, checkpoints: vec![], lost: false });

fn seen() -> std::sync::MutexGuard<'static, Seen> {
    SEEN.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The extensions that there are now.
pub fn extensions() -> &'static [&'static CStr] {
    if misbehave::is_asked("lose") { &EXTENSIONS } else { &[] }
}

/// Whether a device that was made so has the function.
pub fn is_there(device: &Device, name: &str) -> bool {
    if name == NAMES[0] { device.fault } else { device.checkpoints }
}

/// The function of this name.
pub fn of(name: &str) -> Function {
    match name {
        _ if extensions().is_empty() => None,
        "vkGetDeviceFaultInfoEXT" => any!(info, vk::PFN_vkGetDeviceFaultInfoEXT),
        "vkCmdSetCheckpointNV" => any!(checkpoint, vk::PFN_vkCmdSetCheckpointNV),
        "vkGetQueueCheckpointDataNV" => any!(data, vk::PFN_vkGetQueueCheckpointDataNV),
        "vkGetBufferDeviceAddress" => any!(address, vk::PFN_vkGetBufferDeviceAddress),
        _ => None,
    }
}

/// The device is lost in a call with these parameters, of vkQueueSubmit if it is one.
///
/// # Safety
/// They are.
pub unsafe fn lose(command: &str, parameters: (u64, u64)) {
    let mut now = seen();
    if now.lost {
        return;
    }
    now.lost = true;
    if command == "vkQueueSubmit" && parameters.0 > 0 {
        // SAFETY: the caller's promise.
        let buffer = unsafe {
            let submits = std::slice::from_raw_parts(
                parameters.1 as *const vk::SubmitInfo<'_>,
                parameters.0 as u32 as usize,
            );
            let last = submits.iter().rfind(|s| s.command_buffer_count > 0);
            last.map(|s| *s.p_command_buffers.add(s.command_buffer_count as usize - 1))
        };
        let state = state();
        now.checkpoints =
            buffer.and_then(|b| state.buffers.get(&raw(b))).map_or(vec![], |b| b.checkpoints.clone());
    }
}

unsafe extern "system" fn address(
    device: vk::Device,
    info: *const vk::BufferDeviceAddressInfo<'_>,
) -> vk::DeviceAddress {
    // SAFETY: the caller's arguments.
    let at = unsafe {
        below::<vk::PFN_vkGetBufferDeviceAddress>(raw(device), "vkGetBufferDeviceAddress")(device, info)
    };
    let mut now = seen();
    if now.address == 0 {
        now.address = at;
    }
    at
}

fn text(to: &mut [c_char], from: &str) {
    for (t, f) in to.iter_mut().zip(from.bytes().chain([0])) {
        *t = f as c_char;
    }
}

unsafe extern "system" fn info(
    _: vk::Device,
    counts: *mut vk::DeviceFaultCountsEXT<'_>,
    info: *mut vk::DeviceFaultInfoEXT<'_>,
) -> vk::Result {
    let now = seen();
    if !now.lost {
        complain("a device that is not lost is asked for its fault");
    }
    // SAFETY: the caller's structs, with arrays as long as the counts say.
    unsafe {
        let counts = &mut *counts;
        let Some(info) = info.as_mut() else {
            (counts.address_info_count, counts.vendor_info_count, counts.vendor_binary_size) = (2, 1, 64);
            return vk::Result::SUCCESS;
        };
        if counts.address_info_count != 2 || counts.vendor_info_count != 1 || counts.vendor_binary_size != 0 {
            complain("other counts than were said, or a binary without the feature");
            return vk::Result::INCOMPLETE;
        }
        text(&mut info.description, DESCRIPTION);
        let addresses = std::slice::from_raw_parts_mut(info.p_address_infos, 2);
        addresses[0].address_type = vk::DeviceFaultAddressTypeEXT::READ_INVALID;
        addresses[0].reported_address = now.address + OFFSET;
        addresses[0].address_precision = PRECISION;
        addresses[1].address_type = vk::DeviceFaultAddressTypeEXT::INSTRUCTION_POINTER_FAULT;
        addresses[1].reported_address = 0x1000;
        addresses[1].address_precision = 1;
        let vendor = &mut *info.p_vendor_infos;
        text(&mut vendor.description, VENDOR.0);
        (vendor.vendor_fault_code, vendor.vendor_fault_data) = (VENDOR.1, VENDOR.2);
    }
    vk::Result::SUCCESS
}

unsafe extern "system" fn checkpoint(buffer: vk::CommandBuffer, marker: *const c_void) {
    if let Some(b) = state().buffers.get_mut(&raw(buffer)) {
        b.checkpoints.push(marker as u64);
    }
}

unsafe extern "system" fn data(queue: vk::Queue, count: *mut u32, out: *mut vk::CheckpointDataNV<'_>) {
    let now = seen();
    // SAFETY: a live queue of the loader's.
    if !now.lost || !state().devices.contains_key(&unsafe { key(raw(queue)) }) {
        complain("a queue whose device is not lost is asked for its checkpoints");
    }
    use vk::PipelineStageFlags as S;
    let reached: Vec<_> = [(S::TOP_OF_PIPE, 2), (S::BOTTOM_OF_PIPE, 1)]
        .into_iter()
        .filter_map(|(stage, n)| Some((stage, *now.checkpoints.get(n)?)))
        .collect();
    // SAFETY: the caller's array, as long as it says.
    unsafe {
        if !out.is_null() {
            for (i, (stage, marker)) in reached.iter().enumerate().take(*count as usize) {
                (*out.add(i)).stage = *stage;
                (*out.add(i)).p_checkpoint_marker = *marker as *mut c_void;
            }
        }
        *count = reached.len() as u32;
    }
}

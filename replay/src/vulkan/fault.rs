//! Asks the driver for the fault that lost a device (VK_EXT_device_fault, or VK_KHR_device_fault where only that is there).
//!
//! The extension is turned on wherever the device has it; nothing of it runs before a device is lost. Guarantees: no driver
//! is asked about a device that is not lost (which the extension forbids), and none holds the process up for longer than
//! [`ANSWERS_WITHIN_NS`]. Refuses nothing: a driver that has nothing to say, or fails, leaves no fault.

use super::{DeviceState, Vulkan, driver};
use crate::fault::{Address, Fault, Resource, Vendor};
use crate::hook::{Feature, Needs};
use ash::vk;
use std::ffi::{CStr, c_char, c_void};
use world::World;

/// How long a driver may take to answer: it has lost its device.
pub const ANSWERS_WITHIN_NS: u64 = 5_000_000_000;

/// Faults, and things said of one, that are asked for at most.
const MOST: u32 = 64;

const EXT: Feature = Feature {
    structure: "VkPhysicalDeviceFaultFeaturesEXT",
    member: "deviceFault",
    extension: "VK_EXT_device_fault",
    core: 0,
};
const KHR: Feature =
    Feature { structure: "VkPhysicalDeviceFaultFeaturesKHR", extension: "VK_KHR_device_fault", ..EXT };

/// VkDeviceFaultInfoKHR, which `ash` does not know.
#[repr(C)]
#[derive(Clone, Copy)]
struct InfoKhr {
    s_type: vk::StructureType,
    next: *mut c_void,
    flags: u32,
    group: u64,
    description: [c_char; vk::MAX_DESCRIPTION_SIZE],
    memory: vk::DeviceFaultAddressInfoEXT,
    instruction: vk::DeviceFaultAddressInfoEXT,
    vendor: vk::DeviceFaultVendorInfoEXT,
}

const INFO_KHR: vk::StructureType = vk::StructureType::from_raw(1_000_573_002);

/// Which parts of the struct are filled in.
const HAS_MEMORY: u32 = 1 << 1;
const HAS_INSTRUCTION: u32 = 1 << 2;
const HAS_VENDOR: u32 = 1 << 3;

/// vkGetDeviceFaultReportsKHR.
type ReportsKhr = unsafe extern "system" fn(vk::Device, u64, *mut u32, *mut InfoKhr) -> vk::Result;

/// What is turned on for this.
pub fn needs() -> Needs {
    Needs { optional_features: vec![EXT, KHR], ..Needs::default() }
}

/// The faults of devices that are lost, with what of the capture lies at their addresses.
pub fn ask(vk: &Vulkan, world: &World) -> Vec<Fault> {
    let lost = vk.devices.values().filter_map(|d| {
        let asks = Asks::of(vk, d)?;
        is_lost(d).then(|| driver::bounded(ANSWERS_WITHIN_NS, || asks.faults()).unwrap_or_default())
    });
    let mut faults: Vec<Fault> = lost.flatten().collect();
    if !faults.is_empty() {
        let all = resources(vk, world);
        faults.iter_mut().for_each(|f| f.resolve(&all));
    }
    faults
}

/// Whether the driver says that it has lost a device.
pub fn is_lost(d: &DeviceState) -> bool {
    let (queue, _) = d.own_queue();
    // SAFETY: nothing is submitted, so that there is nothing to outlive it.
    let submit = || unsafe { d.ash.queue_submit(queue, &[], vk::Fence::null()) };
    driver::bounded(ANSWERS_WITHIN_NS, submit).is_ok_and(|r| r == Err(vk::Result::ERROR_DEVICE_LOST))
}

/// Everything whose address is known, and what of that was destroyed last.
fn resources(vk: &Vulkan, world: &World) -> Vec<Resource> {
    let one = |structure, id, live, captured, size| {
        let name = world.name(id).to_owned();
        Resource { structure, id, name, live, captured, size, destroyed: None }
    };
    let buffers = vk.addresses.buffers().map(|(id, live, size)| {
        one(false, id, live, vk.buffers.get(&id).map_or(0, |b| b.captured_address), size)
    });
    let structures = vk.ray.structures.values().filter_map(|s| {
        let live = vk.ray.references.get(&s.address)?;
        Some(one(true, s.id, *live, s.address, s.size))
    });
    let gone = vk
        .addresses
        .gone()
        .map(|g| Resource { destroyed: Some(g.block), ..one(g.structure, g.id, g.live, g.captured, g.size) });
    buffers.chain(structures).chain(gone).collect()
}

/// The function that says it.
enum Asks {
    Ext(vk::Device, vk::PFN_vkGetDeviceFaultInfoEXT),
    Khr(vk::Device, ReportsKhr),
}

impl Asks {
    /// That of a device, if it was made with one of the extensions.
    fn of(vk: &Vulkan, d: &DeviceState) -> Option<Asks> {
        let instance = vk.instances.get(&d.instance_id)?;
        let device = d.ash.handle();
        let get = |of: &Feature, name: &CStr| {
            d.extensions.iter().any(|e| e == of.extension).then(|| {
                // SAFETY: a live device and a C string.
                unsafe { instance.ash.get_device_proc_addr(device, name.as_ptr()) }
            })?
        };
        if let Some(f) = get(&EXT, c"vkGetDeviceFaultInfoEXT") {
            // SAFETY: the function of this name has this type.
            let f = unsafe {
                std::mem::transmute::<unsafe extern "system" fn(), vk::PFN_vkGetDeviceFaultInfoEXT>(f)
            };
            return Some(Asks::Ext(device, f));
        }
        let f = get(&KHR, c"vkGetDeviceFaultReportsKHR")?;
        // SAFETY: as above.
        Some(Asks::Khr(device, unsafe { std::mem::transmute::<unsafe extern "system" fn(), ReportsKhr>(f) }))
    }

    fn faults(&self) -> Vec<Fault> {
        match *self {
            // SAFETY: a live device, which is lost.
            Asks::Ext(device, f) => unsafe { ext(device, f) }.into_iter().collect(),
            // SAFETY: as above.
            Asks::Khr(device, f) => unsafe { khr(device, f) },
        }
    }
}

/// # Safety
/// The device is lost, and the function its.
unsafe fn ext(device: vk::Device, f: vk::PFN_vkGetDeviceFaultInfoEXT) -> Option<Fault> {
    let mut counts = vk::DeviceFaultCountsEXT::default();
    // SAFETY: without a struct to fill in it says how much there is.
    if unsafe { f(device, &mut counts, std::ptr::null_mut()) }.as_raw() < 0 {
        return None;
    }
    let mut addresses =
        vec![vk::DeviceFaultAddressInfoEXT::default(); counts.address_info_count.min(MOST) as usize];
    let mut vendor =
        vec![vk::DeviceFaultVendorInfoEXT::default(); counts.vendor_info_count.min(MOST) as usize];
    counts.address_info_count = addresses.len() as u32;
    counts.vendor_info_count = vendor.len() as u32;
    // (what only a vendor's tools read was not turned on)
    counts.vendor_binary_size = 0;
    let mut info = vk::DeviceFaultInfoEXT {
        p_address_infos: addresses.as_mut_ptr(),
        p_vendor_infos: vendor.as_mut_ptr(),
        ..Default::default()
    };
    // SAFETY: arrays of as many as the counts say.
    if unsafe { f(device, &mut counts, &mut info) }.as_raw() < 0 {
        return None;
    }
    addresses.truncate(counts.address_info_count as usize);
    vendor.truncate(counts.vendor_info_count as usize);
    let fault = Fault {
        description: text(&info.description),
        addresses: addresses.iter().map(address).collect(),
        vendor: vendor.iter().map(code).collect(),
    };
    (fault != Fault::default()).then_some(fault)
}

/// # Safety
/// As [`ext`]'s.
unsafe fn khr(device: vk::Device, f: ReportsKhr) -> Vec<Fault> {
    let mut count = 0;
    // SAFETY: without an array it says how many there are; nobody waits for more.
    if unsafe { f(device, 0, &mut count, std::ptr::null_mut()) }.as_raw() < 0 {
        return Vec::new();
    }
    // SAFETY: numbers, characters and a null pointer.
    let empty = InfoKhr { s_type: INFO_KHR, ..unsafe { std::mem::zeroed() } };
    let mut infos = vec![empty; count.min(MOST) as usize];
    count = infos.len() as u32;
    // SAFETY: an array of as many as the count says.
    if unsafe { f(device, 0, &mut count, infos.as_mut_ptr()) }.as_raw() < 0 {
        return Vec::new();
    }
    infos.truncate(count as usize);
    infos.iter().map(report).collect()
}

/// What one report of VK_KHR_device_fault holds.
fn report(i: &InfoKhr) -> Fault {
    let parts = [(HAS_MEMORY, &i.memory), (HAS_INSTRUCTION, &i.instruction)];
    Fault {
        description: text(&i.description),
        addresses: parts.iter().filter(|p| i.flags & p.0 != 0).map(|p| address(p.1)).collect(),
        vendor: (i.flags & HAS_VENDOR != 0).then(|| code(&i.vendor)).into_iter().collect(),
    }
}

fn address(a: &vk::DeviceFaultAddressInfoEXT) -> Address {
    Address {
        kind: a.address_type.as_raw(),
        reported: a.reported_address,
        precision: a.address_precision,
        places: Vec::new(),
    }
}

fn code(v: &vk::DeviceFaultVendorInfoEXT) -> Vendor {
    Vendor { description: text(&v.description), code: v.vendor_fault_code, data: v.vendor_fault_data }
}

/// A driver's text, up to its zero if it has one.
fn text(of: &[c_char]) -> String {
    let bytes: Vec<u8> = of.iter().map(|c| *c as u8).take_while(|c| *c != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfxr_parse::schema::generated::STRUCTS;
    use gfxr_parse::schema::struct_named;

    #[test]
    fn the_struct_is_as_the_registry_has_it() {
        let def = &STRUCTS[usize::from(struct_named("VkDeviceFaultInfoKHR").expect("in the schema"))];
        assert_eq!(size_of::<InfoKhr>(), def.size as usize);
        assert_eq!(def.stype, Some(INFO_KHR.as_raw() as u32));
        let at = [
            ("flags", std::mem::offset_of!(InfoKhr, flags)),
            ("groupId", std::mem::offset_of!(InfoKhr, group)),
            ("description", std::mem::offset_of!(InfoKhr, description)),
            ("faultAddressInfo", std::mem::offset_of!(InfoKhr, memory)),
            ("instructionAddressInfo", std::mem::offset_of!(InfoKhr, instruction)),
            ("vendorInfo", std::mem::offset_of!(InfoKhr, vendor)),
        ];
        for (name, at) in at {
            let there = def.members.iter().find(|m| m.name == name).map(|m| m.at as usize);
            assert_eq!(there, Some(at), "{name}");
        }
    }

    /// A driver that has more to say than it is given room for, and one that fails.
    #[test]
    fn both_extensions_give_the_same() {
        unsafe extern "system" fn says(
            _: vk::Device,
            counts: *mut vk::DeviceFaultCountsEXT<'_>,
            info: *mut vk::DeviceFaultInfoEXT<'_>,
        ) -> vk::Result {
            // SAFETY: called by `ext`.
            unsafe {
                let (counts, Some(info)) = (&mut *counts, info.as_mut()) else {
                    ((*counts).address_info_count, (*counts).vendor_info_count) = (1, 2 * MOST);
                    return vk::Result::SUCCESS;
                };
                assert_eq!((counts.address_info_count, counts.vendor_info_count), (1, MOST));
                counts.vendor_info_count = 1;
                info.description[0] = b'x' as c_char;
                (*info.p_address_infos).address_type = vk::DeviceFaultAddressTypeEXT::WRITE_INVALID;
                (*info.p_address_infos).reported_address = 0x1000;
                (*info.p_address_infos).address_precision = 16;
                (*info.p_vendor_infos).vendor_fault_code = 7;
                vk::Result::INCOMPLETE
            }
        }
        unsafe extern "system" fn fails(
            _: vk::Device,
            _: *mut vk::DeviceFaultCountsEXT<'_>,
            _: *mut vk::DeviceFaultInfoEXT<'_>,
        ) -> vk::Result {
            vk::Result::ERROR_OUT_OF_HOST_MEMORY
        }
        unsafe extern "system" fn reports(
            _: vk::Device,
            timeout: u64,
            count: *mut u32,
            infos: *mut InfoKhr,
        ) -> vk::Result {
            assert_eq!(timeout, 0);
            // SAFETY: called by `khr`.
            unsafe {
                *count = 1;
                if let Some(info) = infos.as_mut() {
                    assert_eq!(info.s_type, INFO_KHR);
                    info.flags = HAS_MEMORY | HAS_VENDOR;
                    info.description[0] = b'x' as c_char;
                    info.memory.address_type = vk::DeviceFaultAddressTypeEXT::WRITE_INVALID;
                    info.memory.reported_address = 0x1000;
                    info.memory.address_precision = 16;
                    info.vendor.vendor_fault_code = 7;
                }
            }
            vk::Result::SUCCESS
        }
        let address = Address { kind: 2, reported: 0x1000, precision: 16, places: vec![] };
        let vendor = vec![Vendor { code: 7, ..Vendor::default() }];
        let expected = Fault { description: "x".into(), addresses: vec![address], vendor };
        let none = vk::Device::null();
        // SAFETY: functions of this test, which know no device.
        unsafe {
            assert_eq!(ext(none, says), Some(expected.clone()));
            assert_eq!(ext(none, fails), None);
            assert_eq!(khr(none, reports), [expected]);
        }
    }
}

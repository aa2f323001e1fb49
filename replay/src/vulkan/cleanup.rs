//! What a capture that ends before it destroys its objects leaves to us.
//!
//! A replay of some frames stops in the middle, and applications that are killed destroy nothing. What they leave would keep
//! memory, and with captured addresses the very places that the next replay of the same process needs. Guarantees: every
//! object below the device is destroyed once, with the command that its type has, views before what they show and memory
//! last; then the device, which hooks have left before: drivers have few of them to give. The instance stays: behind its last
//! one a loader unloads the driver, and NVIDIA's 580 is not found again in the same process. Refuses captures with several
//! devices: which of them an object is of is not kept.

use super::{Vulkan, device};
use crate::objects::Objects;
use ash::vk;
use gfxr_parse::schema::generated::HANDLES;
use gfxr_parse::schema::{HandleId, handle_named};
use std::collections::HashMap;

/// vkDestroyX, for whatever non-dispatchable X; vkFreeMemory is of the same shape.
type Destroy = unsafe extern "system" fn(vk::Device, u64, *const vk::AllocationCallbacks<'_>);

/// The order: what refers to others comes before them.
fn rank(name: &str) -> u32 {
    match name {
        "VkCommandPool" => 0,
        "VkFramebuffer" => 1,
        "VkImageView"
        | "VkBufferView"
        | "VkAccelerationStructureKHR"
        | "VkAccelerationStructureNV"
        | "VkMicromapEXT" => 2,
        "VkBuffer" | "VkImage" => 4,
        "VkDeviceMemory" => 5,
        _ => 3,
    }
}

/// Whether objects of the type are made on a device, and not out of a pool.
fn of_device(ty: HandleId) -> bool {
    let def = &HANDLES[ty as usize];
    !def.dispatchable && def.parent.is_some() && def.parent == handle_named("VkDevice")
}

/// The types in the order in which their objects go.
fn types() -> Vec<HandleId> {
    let mut all: Vec<HandleId> =
        (0..HANDLES.len()).map(|ty| ty as HandleId).filter(|&ty| of_device(ty)).collect();
    all.sort_by_key(|&ty| rank(HANDLES[ty as usize].name));
    all
}

/// Destroys what is left.
pub fn give_back(vk: &mut Vulkan, objects: &mut Objects) {
    let [id] = vk.devices.keys().copied().collect::<Vec<_>>()[..] else { return };
    // What we made goes first: images of virtual swapchains are in the table as if they were the capture's.
    if vk.devices_made != 1 || vk.abandoned || device::release(vk, objects, id).is_err() {
        return;
    }
    let Some(d) = vk.devices.get(&id) else { return };
    let Some(instance) = vk.instances.get(&d.instance_id) else { return };
    let mut left: HashMap<HandleId, Vec<(u64, u64)>> = HashMap::new();
    for (id, e) in objects.alive().filter(|(_, e)| !e.virt && e.live != 0) {
        left.entry(e.ty).or_default().push((id, e.live));
    }
    for (ty, left) in types().into_iter().filter_map(|ty| Some((ty, left.remove(&ty)?))) {
        let name = HANDLES[ty as usize].name.trim_start_matches("Vk");
        let name =
            if name == "DeviceMemory" { "vkFreeMemory".to_owned() } else { format!("vkDestroy{name}") };
        let name = std::ffi::CString::new(name).expect("names have no zero");
        // SAFETY: the instance made the device.
        let found = unsafe { instance.ash.get_device_proc_addr(d.ash.handle(), name.as_ptr()) };
        let Some(found) = found else { continue };
        // SAFETY: commands of this name take a device, a 64-bit handle and allocation callbacks, and give nothing.
        let destroy: Destroy = unsafe { std::mem::transmute(found) };
        for (id, live) in left {
            // SAFETY: the object lives, as the capture never destroyed it; its device is idle, and what refers to it has
            // gone before.
            vk.under_way.in_driver(|| unsafe { destroy(d.ash.handle(), live, std::ptr::null()) });
            objects.remove(id);
        }
    }
    if let Some(d) = vk.devices.remove(&id) {
        // SAFETY: idle, and whatever was on it is gone: the capture's objects above, ours by `release`, hooks' before.
        vk.under_way.in_driver(|| unsafe { d.ash.destroy_device(None) });
    }
}

#[cfg(test)]
mod tests {
    use super::{of_device, types};
    use gfxr_parse::schema::generated::HANDLES;
    use gfxr_parse::schema::handle_named;

    #[test]
    fn views_go_before_what_they_show_and_memory_goes_last() {
        let order: Vec<&str> = types().into_iter().map(|ty| HANDLES[ty as usize].name).collect();
        let at = |name: &str| order.iter().position(|n| *n == name).unwrap_or_else(|| panic!("{name} stays"));
        for (first, then) in [
            ("VkCommandPool", "VkPipeline"),
            ("VkFramebuffer", "VkImageView"),
            ("VkImageView", "VkImage"),
            ("VkAccelerationStructureKHR", "VkBuffer"),
            ("VkBuffer", "VkDeviceMemory"),
        ] {
            assert!(at(first) < at(then), "{first}, {then}");
        }
        assert_eq!(order.last(), Some(&"VkDeviceMemory"));
        for stays in ["VkDevice", "VkQueue", "VkCommandBuffer", "VkDescriptorSet", "VkSurfaceKHR"] {
            assert!(!of_device(handle_named(stays).expect("it is a handle")), "{stays}");
        }
    }
}

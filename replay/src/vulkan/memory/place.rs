//! Where captured memory objects are memory here (`none`, `remap`): whether a resource fits where it lay. And, in every mode, images
//! of the application's own that lie where a swapchain's do.
//!
//! Another driver, or one more use that a hook wants, may make an image larger than the room that it had, align it more or want
//! another memory type for it. An image that only the device writes, and that shared its bytes with no other, has memory of its own
//! then, which is noted. Refuses by name: buffers, linear images and images that shared their bytes, which the application sees where
//! they lie. How large an image was at capture is known on another driver than the capture's; on the same one it is as large.

use super::pool::{AllocKind, Only};
use crate::error::{Error, Result, Vk};
use crate::report::Report;
use crate::vulkan::{DeviceState, Vulkan};
use ash::vk;
use world::span::Span;

/// What the driver says of a resource's memory.
pub(super) struct Needs {
    pub(super) memory: vk::MemoryRequirements,
    pub(super) requires_own: bool,
    pub(super) prefers_own: bool,
}

/// Asks the driver; `newer`: it has Vulkan 1.1, which says whether it wants dedicated memory.
pub(super) fn needs(d: &DeviceState, what: Only, newer: bool) -> Needs {
    let mut own = vk::MemoryDedicatedRequirements::default();
    let mut all = vk::MemoryRequirements2::default().push_next(&mut own);
    // SAFETY: the device and the resource are alive; the later functions are there from Vulkan 1.1 on.
    let memory = unsafe {
        match (what, newer) {
            (Only::Image(i), true) => {
                let info = vk::ImageMemoryRequirementsInfo2::default().image(i);
                d.ash.get_image_memory_requirements2(&info, &mut all);
                all.memory_requirements
            }
            (Only::Buffer(b), true) => {
                let info = vk::BufferMemoryRequirementsInfo2::default().buffer(b);
                d.ash.get_buffer_memory_requirements2(&info, &mut all);
                all.memory_requirements
            }
            (Only::Image(i), false) => d.ash.get_image_memory_requirements(i),
            (Only::Buffer(b), false) => d.ash.get_buffer_memory_requirements(b),
        }
    };
    Needs {
        memory,
        requires_own: own.requires_dedicated_allocation != 0,
        prefers_own: own.prefers_dedicated_allocation != 0,
    }
}

/// Why a resource that needs so much does not fit where it lay; `then`: its size at capture, where that is known.
fn misfit(
    need: &vk::MemoryRequirements,
    (offset, size, ty): (u64, u64, u32),
    then: Option<u64>,
) -> Option<String> {
    Some(match () {
        () if !offset.is_multiple_of(need.alignment.max(1)) => {
            format!("this driver wants a multiple of {}", need.alignment)
        }
        () if Span::within(offset, need.size, size).is_none() => {
            format!("the memory has {size} bytes, this driver wants {} for it", need.size)
        }
        () if need.memory_type_bits >> ty & 1 == 0 => {
            format!("this driver wants another type of memory than {ty} for it")
        }
        () if then.is_some_and(|then| need.size > then) => {
            format!("this driver wants {} bytes for it, it had {}", need.size, then.unwrap_or(0))
        }
        () => return None,
    })
}

/// Looks whether a resource fits where it is to be bound; binds an image elsewhere, and says so, if it does not.
pub(super) fn elsewhere(
    vk: &mut Vulkan,
    device: u64,
    (resource, is_image): (u64, bool),
    (memory, offset): (u64, u64),
    report: &mut Report,
) -> Result<bool> {
    let (Some(d), Some(m)) = (vk.devices.get(&device), vk.memory.by_id.get(&memory)) else {
        return Ok(false);
    };
    let (what, moves) = if is_image {
        let Some(i) = vk.images.get(&resource) else { return Ok(false) };
        (Only::Image(i.live), i.tiling == vk::ImageTiling::OPTIMAL)
    } else {
        let Some(b) = vk.buffers.get(&resource) else { return Ok(false) };
        (Only::Buffer(b.live), false)
    };
    let shares = vk.sharing.of(resource).is_some();
    let then = vk.sharing.image_size(resource).filter(|_| !shares);
    let need = needs(d, what, newer(vk, d));
    let Some(why) = misfit(&need.memory, (offset, m.size, m.ty), then) else { return Ok(false) };
    let Only::Image(live) = what else { return Err(refused(resource, memory, offset, &why)) };
    if !moves || shares {
        return Err(refused(resource, memory, offset, &why));
    }
    let d = vk.device_mut(device)?;
    let flags = (vk::MemoryPropertyFlags::empty(), vk::MemoryPropertyFlags::DEVICE_LOCAL);
    let alloc = match need.requires_own {
        true => d.dedicated(need.memory, flags, what, false)?,
        false => d.alloc(need.memory, flags, AllocKind::Optimal, false)?,
    };
    // SAFETY: both are alive, the image is not bound yet, and the memory is as its requirements say.
    unsafe { d.ash.bind_image_memory(live, alloc.memory(), alloc.offset()) }.what("vkBindImageMemory")?;
    if let Some(i) = vk.images.get_mut(&resource) {
        i.alloc = Some(alloc);
    }
    report.note("images that do not fit where they lay have memory of their own");
    Ok(true)
}

/// An image that the application made for a swapchain gets the memory of one of the swapchain's.
pub(super) fn bind_to_swapchain(vk: &mut Vulkan, image: u64, (swapchain, index): (u64, u32)) -> Result<()> {
    let missing =
        |what: &str| Error::divergence(format!("{what} that VkImage {image} is bound to is missing"));
    let known = vk.swapchains.get(&swapchain).ok_or_else(|| missing("the swapchain"))?;
    let (device, theirs) = (known.device, known.images.get(index as usize).and_then(|i| vk.images.get(i)));
    let alloc = theirs.and_then(|i| i.alloc.clone()).ok_or_else(|| missing("the swapchain's image"))?;
    let state = vk.images.get(&image).ok_or_else(|| missing("the image"))?;
    if state.alloc.is_some() || state.memory.is_some() {
        return Err(Error::divergence(format!("VkImage {image} is bound to memory already")));
    }
    let live = state.live;
    let d = vk.device(device)?;
    // SAFETY: both are alive.
    let need = unsafe { d.ash.get_image_memory_requirements(live) };
    let part = alloc.part(0, need, false, false).ok_or_else(|| {
        Error::divergence(format!("VkImage {image} is not like the image of the swapchain it is bound to"))
    })?;
    // SAFETY: the image is not bound yet, and the memory is as its requirements say.
    unsafe { d.ash.bind_image_memory(live, part.memory(), part.offset()) }.what("vkBindImageMemory")?;
    if let Some(i) = vk.images.get_mut(&image) {
        i.alloc = Some(part);
    }
    Ok(())
}

#[cold]
fn refused(resource: u64, memory: u64, offset: u64, why: &str) -> Error {
    Error::divergence(format!(
        "resource {resource} is bound at byte {offset} of VkDeviceMemory {memory}; {why}"
    ))
    .with("--memory rebind gives each resource memory as this driver wants it")
}

/// Whether the driver has Vulkan 1.1, and the application asked for it.
pub(super) fn newer(vk: &Vulkan, d: &DeviceState) -> bool {
    d.gpu.properties.api_version >= vk::API_VERSION_1_1
        && vk.instances.get(&d.instance_id).is_some_and(|i| i.api >= vk::API_VERSION_1_1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_said() {
        let need = vk::MemoryRequirements { size: 4096, alignment: 256, memory_type_bits: 0b10 };
        let at = |offset, then| misfit(&need, (offset, 8192, 1), then);
        assert_eq!((at(0, None), at(4096, Some(4096)), at(256, Some(5000))), (None, None, None));
        for (why, says) in [
            (at(64, None), "a multiple of 256"),
            (at(4352, None), "the memory has 8192 bytes"),
            (at(256, Some(4000)), "wants 4096 bytes for it, it had 4000"),
            (misfit(&need, (0, 8192, 0), None), "another type of memory than 0"),
        ] {
            assert!(why.as_deref().is_some_and(|w| w.contains(says)), "{why:?}");
        }
    }
}

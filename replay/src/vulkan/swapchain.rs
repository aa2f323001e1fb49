//! Virtual swapchains: images of our own instead of a window's.
//!
//! Made with the captured format, extent, usage and count, so that everything else in the capture works on them as it
//! did. Acquiring signals its semaphore and fence with an empty submission; presenting becomes one that consumes the
//! wait semaphores. As a submission costs more than anything else here, a present's is put off until the next one of
//! anybody: usually the acquire that follows it, which then does both. The captured index says which image. Nothing is
//! ever shown.

use super::memory::{Alloc, AllocKind};
use super::{QueueState, Vulkan};
use crate::error::{Error, Result, Vk};
use crate::link::Linked;
use crate::objects::Objects;
use crate::vulkan::arguments::new_object;
use crate::vulkan::linked_call::{LinkedCall, Subscription::Before, Subscriptions};
use crate::vulkan::live::{ImageState, Presented, SwapchainState};
use ash::vk::{self, Handle};
use gfxr_parse::ahead::Call;
use gfxr_parse::{argument, member, param};
use world::Outcome;

/// A present may still have to wait for a semaphore.
pub(super) const SUBSCRIPTIONS: Subscriptions = &[(&["vkDestroySemaphore"], Before(destroy_semaphore))];

/// Makes up for the last present. Before any other submission, and before a semaphore is destroyed.
pub(crate) fn settle(vk: &mut Vulkan) -> Result<()> {
    let Some(p) = vk.presented.take() else { return Ok(()) };
    super::watchdog::before_waiting(vk, p.device)?;
    vk.device(p.device)?.submit_empty(p.queue, &p.waits, &[], vk::Fence::null())
}

/// vkDestroySemaphore.
pub fn destroy_semaphore(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk, call, linked, .. } = c;
    let semaphore = linked.arg(argument!("vkDestroySemaphore", "semaphore"));
    if let Some(p) = vk.presented.take_if(|p| p.waits.iter().any(|s| s.as_raw() == semaphore)) {
        vk.presented = Some(p);
        settle(vk)?;
        // The application had waited for the present in its own way; here the wait itself must be over.
        let d = vk.device(call.image.u64(0))?;
        d.wait_idle()?;
    }
    Ok(())
}

/// vkCreateSwapchainKHR.
pub fn create(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, objects, call, linked, .. } = c;
    let Ok((id, _)) = new_object(call) else { return Ok(Outcome::captured(call)) };
    let info = linked.arg(argument!("vkCreateSwapchainKHR", "pCreateInfo"));
    let state = state_of(linked, call.image.u64(0), info)?;
    vk.swapchains.insert(id, state);
    objects.insert_virtual(id, vk.types.swapchain);
    Ok(Outcome::captured(call))
}

/// vkCreateSharedSwapchainsKHR.
pub fn create_shared(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, objects, call, linked, .. } = c;
    let bytes = size_of::<vk::SwapchainCreateInfoKHR<'_>>() as u64;
    let out = call.image.handles.iter().filter(|h| h.out).map(|h| call.image.u64(h.at));
    let count = call.image.u32(param!("vkCreateSharedSwapchainsKHR", "swapchainCount"));
    let infos = linked.arg(argument!("vkCreateSharedSwapchainsKHR", "pCreateInfos"));
    for (i, id) in (0..).zip(out).take(count as usize) {
        let state = state_of(linked, call.image.u64(0), infos.saturating_add(i * bytes))?;
        vk.swapchains.insert(id, state);
        objects.insert_virtual(id, vk.types.swapchain);
    }
    Ok(Outcome::captured(call))
}

/// What a linked VkSwapchainCreateInfoKHR at an address asks for.
fn state_of(linked: &mut Linked, device: u64, at: u64) -> Result<SwapchainState> {
    let missing = |what: &str| Error::divergence(format!("{what} is missing"));
    let info =
        *linked.one(at as *const vk::SwapchainCreateInfoKHR<'_>).ok_or_else(|| missing("pCreateInfo"))?;
    let list = linked.in_chain::<vk::ImageFormatListCreateInfo<'_>>(info.p_next).map(|l| *l);
    let view_formats = match list.filter(|l| !l.p_view_formats.is_null()) {
        Some(l) => {
            linked.all(l.p_view_formats, l.view_format_count).ok_or_else(|| missing("pViewFormats"))?
        }
        None => &[],
    };
    let concurrent = info.image_sharing_mode == vk::SharingMode::CONCURRENT;
    let families = match concurrent && !info.p_queue_family_indices.is_null() {
        true => linked.all(info.p_queue_family_indices, info.queue_family_index_count),
        false => Some(&[][..]),
    };
    Ok(SwapchainState {
        device,
        format: info.image_format,
        extent: info.image_extent,
        images: Vec::new(),
        flags: info.flags,
        layers: info.image_array_layers,
        usage: info.image_usage,
        view_formats: view_formats.to_vec(),
        families: families.ok_or_else(|| missing("pQueueFamilyIndices"))?.to_vec(),
    })
}

/// vkGetSwapchainImagesKHR: images are made when the application first learns of them; their number is the capture's.
pub fn get_images(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, objects, call, .. } = c;
    let id = call.image.u64(param!("vkGetSwapchainImagesKHR", "swapchain"));
    let ids: Vec<u64> = call
        .image
        .handles
        .iter()
        .filter(|h| h.out && h.ty == vk.types.image)
        .map(|h| call.image.u64(h.at))
        .collect();
    if ids.is_empty() {
        return Ok(Outcome::captured(call));
    }
    let state = vk
        .swapchains
        .get(&id)
        .cloned()
        .ok_or_else(|| Error::divergence(format!("VkSwapchainKHR {id} was never created")))?;
    for image in ids {
        if state.images.contains(&image) && objects.get(image, vk.types.image).is_some() {
            continue;
        }
        let made = make_image(vk, &state, id)?;
        objects.insert(image, made.live.as_raw(), vk.types.image);
        objects.belongs_to(image, state.device);
        vk.images.insert(image, made);
        if let Some(s) = vk.swapchains.get_mut(&id) {
            s.images.push(image);
        }
    }
    Ok(Outcome::captured(call))
}

fn make_image(vk: &mut Vulkan, s: &SwapchainState, id: u64) -> Result<ImageState> {
    // Screenshots read it; a frame that is repeated is put back.
    let ours = match vk.needs.restorable {
        true => vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST,
        false => vk::ImageUsageFlags::TRANSFER_SRC,
    };
    let d = vk.device_mut(s.device)?;
    let mut flags = vk::ImageCreateFlags::empty();
    if s.flags.contains(vk::SwapchainCreateFlagsKHR::MUTABLE_FORMAT) {
        flags |= vk::ImageCreateFlags::MUTABLE_FORMAT;
    }
    if s.flags.contains(vk::SwapchainCreateFlagsKHR::PROTECTED) {
        flags |= vk::ImageCreateFlags::PROTECTED;
    }
    let mut list = vk::ImageFormatListCreateInfo::default().view_formats(&s.view_formats);
    let mut info = vk::ImageCreateInfo::default()
        .flags(flags)
        .image_type(vk::ImageType::TYPE_2D)
        .format(s.format)
        .extent(vk::Extent3D { width: s.extent.width, height: s.extent.height, depth: 1 })
        .mip_levels(1)
        .array_layers(s.layers)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(s.usage | ours);
    if !s.families.is_empty() {
        info = info.sharing_mode(vk::SharingMode::CONCURRENT).queue_family_indices(&s.families);
    }
    if !s.view_formats.is_empty() {
        info = info.push_next(&mut list);
    }
    // SAFETY: plain creations on a live device, in order.
    unsafe {
        let live = d.ash.create_image(&info, None).what("vkCreateImage (swapchain)")?;
        let need = d.ash.get_image_memory_requirements(live);
        let like = vk::MemoryPropertyFlags::DEVICE_LOCAL;
        let a: Alloc = d.alloc(need, (vk::MemoryPropertyFlags::empty(), like), AllocKind::Optimal, false)?;
        d.ash.bind_image_memory(live, a.memory(), a.offset()).what("vkBindImageMemory")?;
        let mut state = ImageState::new(s.device, live, &info, need.size);
        state.swapchain = Some(id);
        state.alloc = Some(a);
        Ok(state)
    }
}

/// Destroys a virtual swapchain's images.
pub(crate) fn release(vk: &mut Vulkan, objects: &mut Objects, id: u64) -> Result<()> {
    let Some(s) = vk.swapchains.remove(&id) else { return Ok(()) };
    for image in s.images {
        // The id may have come again as another image.
        if vk.images.get(&image).is_none_or(|i| i.swapchain != Some(id)) {
            continue;
        }
        if let Some(state) = vk.images.remove(&image) {
            objects.remove(image);
            // SAFETY: ours; the application may destroy a swapchain only when its images are no longer used.
            unsafe { vk.device(s.device)?.ash.destroy_image(state.live, None) };
        }
    }
    Ok(())
}

/// vkDestroySwapchainKHR.
pub fn destroy(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, objects, call, .. } = c;
    let id = call.image.u64(param!("vkDestroySwapchainKHR", "swapchain"));
    settle(vk)?;
    if let Some(s) = vk.swapchains.get(&id) {
        // With a real swapchain the presentation engine's own work would have kept the images alive; our empty
        // submissions may still be under way.
        let d = vk.device(s.device)?;
        d.wait_idle()?;
    }
    release(vk, objects, id)?;
    Ok(Outcome::captured(call))
}

/// vkAcquireNextImageKHR, vkAcquireNextImage2KHR.
pub fn acquire(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, objects, call, .. } = c;
    let image = &call.image;
    let result = image.ret().unwrap_or(0);
    // An error, a time-out or "not ready" signalled nothing.
    if result < 0 || result == vk::Result::TIMEOUT.as_raw() || result == vk::Result::NOT_READY.as_raw() {
        return Ok(Outcome::captured(call));
    }
    let (swapchain, semaphore, fence) = match call.command.name {
        "vkAcquireNextImageKHR" => (
            image.u64(param!("vkAcquireNextImageKHR", "swapchain")),
            image.u64(param!("vkAcquireNextImageKHR", "semaphore")),
            image.u64(param!("vkAcquireNextImageKHR", "fence")),
        ),
        _ => image.target(param!("vkAcquireNextImage2KHR", "pAcquireInfo")).map_or((0, 0, 0), |to| {
            (
                image.u64(to + member!("VkAcquireNextImageInfoKHR", "swapchain")),
                image.u64(to + member!("VkAcquireNextImageInfoKHR", "semaphore")),
                image.u64(to + member!("VkAcquireNextImageInfoKHR", "fence")),
            )
        }),
    };
    let s = vk.swapchains.get(&swapchain);
    let device = s
        .map(|s| s.device)
        .ok_or_else(|| Error::divergence(format!("VkSwapchainKHR {swapchain} was never created")))?;
    signal(vk, objects, device, semaphore, fence)?;
    Ok(Outcome::captured(call))
}

/// Signals a semaphore and a fence (captured ids, 0 for none) once all work so far is done.
pub(crate) fn signal(
    vk: &mut Vulkan,
    objects: &Objects,
    device: u64,
    semaphore: u64,
    fence: u64,
) -> Result<()> {
    if semaphore == 0 && fence == 0 {
        return Ok(());
    }
    if vk.presented.as_ref().is_some_and(|p| p.device != device) {
        settle(vk)?;
    }
    let lookup = |id: u64, ty| {
        if id == 0 {
            return Ok(0);
        }
        let e = objects.get(id, ty).filter(|e| !e.virt);
        e.map(|e| e.live)
            .ok_or_else(|| Error::divergence(format!("a semaphore or fence {id} was never created")))
    };
    let semaphore = lookup(semaphore, vk.types.semaphore)?;
    let fence = vk::Fence::from_raw(lookup(fence, vk.types.fence)?);
    let presented = vk.presented.take();
    if presented.is_some() {
        super::watchdog::before_waiting(vk, device)?;
    }
    let d = vk.device(device)?;
    let (queue, waits) = presented.map_or_else(|| (d.own_queue().0, Vec::new()), |p| (p.queue, p.waits));
    let signals = [vk::Semaphore::from_raw(semaphore)];
    d.submit_empty(queue, &waits, if semaphore == 0 { &[] } else { &signals }, fence)
}

/// vkQueuePresentKHR.
pub fn present(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, objects, call, linked, report } = c;
    super::require_handles(objects, call, &[vk.types.swapchain])?;
    let queue: QueueState = *vk
        .queues
        .get(&call.image.u64(0))
        .ok_or_else(|| Error::divergence(format!("VkQueue {} was never asked for", call.image.u64(0))))?;
    const INFO: usize = argument!("vkQueuePresentKHR", "pPresentInfo");
    let Some(info) = linked.param::<vk::PresentInfoKHR<'_>>(INFO).copied() else {
        return Ok(Outcome::captured(call));
    };
    let fewer = |what: &str| Error::divergence(format!("{what} holds fewer than its count says"));
    let waits = linked.all(info.p_wait_semaphores, info.wait_semaphore_count);
    let waits = waits.ok_or_else(|| fewer("pWaitSemaphores"))?.to_vec();
    settle(vk)?;
    if !waits.is_empty() {
        vk.presented = Some(Presented { device: queue.device, queue: queue.live, waits });
    }
    if !info.p_next.is_null() {
        settle(vk)?;
    }
    let d = vk.device(queue.device)?;
    // Fences that a presentation signals (VK_EXT_swapchain_maintenance1).
    let fences = linked.in_chain::<vk::SwapchainPresentFenceInfoEXT<'_>>(info.p_next).map(|f| *f);
    if let Some(f) = fences.filter(|f| !f.p_fences.is_null()) {
        let fences = linked.all(f.p_fences, f.swapchain_count).ok_or_else(|| fewer("pFences"))?;
        for fence in fences.iter().filter(|f| **f != vk::Fence::null()) {
            d.submit_empty(queue.live, &[], &[], *fence)?;
        }
    }
    let _ = report;
    Ok(Outcome::captured(call))
}

/// Which images a captured present shows: (swapchain id, image id), in the order of the call.
pub fn presented(vk: &Vulkan, call: &Call) -> Vec<(u64, u64)> {
    let image = &call.image;
    let Some(info) = image.target(param!("vkQueuePresentKHR", "pPresentInfo")) else { return Vec::new() };
    let n = image.u32(info + member!("VkPresentInfoKHR", "swapchainCount"));
    let chains = image.u64s(info + member!("VkPresentInfoKHR", "pSwapchains"));
    let indices = image.u32s(info + member!("VkPresentInfoKHR", "pImageIndices"));
    let shown = chains.zip(indices).take(n as usize);
    shown
        .filter_map(|(chain, index)| Some((chain, *vk.swapchains.get(&chain)?.images.get(index as usize)?)))
        .collect()
}

impl Vulkan {
    /// Waits on the GPU for what the last present waited for; whoever reads what was presented does so first.
    pub fn finish_present(&mut self) -> Result<()> {
        settle(self)
    }
}

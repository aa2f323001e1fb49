//! What comes from outside of the process or goes there: memory, semaphores and fences that other processes, devices and
//! programming interfaces share. No capture holds what those do.
//!
//! Memory that was imported is the replay's own, with the contents that the capture has (`memory/`); structs that import, export or
//! only say that something may be are left out of calls. A binary semaphore that others may signal or wait for is signalled right
//! before a batch waits for it, if nothing in the capture has signalled it, and waited for right before a batch signals it once
//! more. A fence that is imported is signalled; one whose payload is taken out is waited for and reset.
//!
//! Costs: an empty submission for each such signal and wait; captures without such semaphores follow none. Not seen: timelines that
//! others signal. What waits for their values is not done, which the watchdog says.

use crate::error::{Error, Result, Vk};
use crate::link::Linked;
use crate::objects::Objects;
use crate::options::Bridge;
use crate::report::Report;
use crate::vulkan::linked_call::LinkedCall;
use crate::vulkan::{Vulkan, swapchain};
use ash::vk::{self, Handle};
use gfxr_parse::ahead::Call;
use gfxr_parse::argument;
use gfxr_parse::schema::generated::STRUCTS;
use gfxr_parse::schema::{Ty, struct_named};
use gfxr_parse::view::View;
use std::collections::HashSet;
use std::sync::LazyLock;
use world::objects::Sync;
use world::{Outcome, SemaphoreUse};

/// Structs that name what is outside, or are about it, of every window system.
const STRUCTS_OUTSIDE: &[&str] = &[
    // Memory.
    "VkExportMemoryAllocateInfo",
    "VkExportMemoryAllocateInfoNV",
    "VkExportMemoryWin32HandleInfoKHR",
    "VkExportMemoryWin32HandleInfoNV",
    "VkImportAndroidHardwareBufferInfoANDROID",
    "VkImportMemoryBufferCollectionFUCHSIA",
    "VkImportMemoryFdInfoKHR",
    "VkImportMemoryHostPointerInfoEXT",
    "VkImportMemoryMetalHandleInfoEXT",
    "VkImportMemoryWin32HandleInfoKHR",
    "VkImportMemoryWin32HandleInfoNV",
    "VkImportMemoryZirconHandleInfoFUCHSIA",
    "VkImportNativeBufferInfoOHOS",
    "VkImportScreenBufferInfoQNX",
    // Buffers and images.
    "VkBufferCollectionBufferCreateInfoFUCHSIA",
    "VkBufferCollectionImageCreateInfoFUCHSIA",
    "VkExportMetalObjectCreateInfoEXT",
    "VkExternalMemoryBufferCreateInfo",
    "VkExternalMemoryImageCreateInfo",
    "VkExternalMemoryImageCreateInfoNV",
    "VkImportMetalBufferInfoEXT",
    "VkImportMetalIOSurfaceInfoEXT",
    "VkImportMetalTextureInfoEXT",
    // Semaphores and fences.
    "VkExportFenceCreateInfo",
    "VkExportFenceWin32HandleInfoKHR",
    "VkExportSemaphoreCreateInfo",
    "VkExportSemaphoreWin32HandleInfoKHR",
    "VkImportMetalSharedEventInfoEXT",
    // What a validation layer keeps.
    "VkShaderModuleValidationCacheCreateInfoEXT",
    // Submissions.
    "VkD3D12FenceSubmitInfoKHR",
    "VkWin32KeyedMutexAcquireReleaseInfoKHR",
    "VkWin32KeyedMutexAcquireReleaseInfoNV",
];

static STYPES: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let stype = |name: &&str| STRUCTS[usize::from(struct_named(name)?)].stype;
    let mut all: Vec<u32> = STRUCTS_OUTSIDE.iter().filter_map(stype).collect();
    all.sort_unstable();
    all
});

/// VK_EXTERNAL_FENCE_HANDLE_TYPE_SYNC_FD_BIT: what is taken out is a copy, and the fence is reset.
const FENCE_SYNC_FD: u32 = 8;

/// Takes such structs out of the chain of the struct at an address.
fn unchain(linked: &mut Linked, at: u64) {
    linked.unchain_of(at, |s| STYPES.binary_search(&(s.as_raw() as u32)).is_ok());
}

/// vkAllocateMemory, vkCreateBuffer, vkCreateImage, vkCreateSemaphore, vkCreateFence, vkCreateShaderModule: what is made is nobody
/// else's.
pub(super) fn made_here(c: &mut LinkedCall<'_>) -> Result<()> {
    // (the second parameter of each describes it)
    let info = c.linked.arg(argument!("vkCreateSemaphore", "pCreateInfo"));
    unchain(c.linked, info);
    Ok(())
}

/// vkCreateSemaphore: one that may be exported.
pub(super) fn semaphore_made(c: &mut LinkedCall<'_>, _: Outcome) -> Result<()> {
    let LinkedCall { vk, objects, call, .. } = c;
    let Some(info) = View::call(&call.image).one("pCreateInfo") else { return Ok(()) };
    let types = info.next("VkExportSemaphoreCreateInfo").and_then(|e| e.u32("handleTypes"));
    let timeline = info.next("VkSemaphoreTypeCreateInfo").is_some_and(|t| t.u32("semaphoreType") == Some(1));
    if types.is_some_and(|t| t != 0)
        && !timeline
        && let Some(made) = call.image.handles.iter().find(|h| h.out && h.ty == vk.types.semaphore)
    {
        vk.shared_semaphores.insert(call.image.u64(made.at));
        objects.follow().follow_semaphores();
    }
    Ok(())
}

/// vkDestroySemaphore.
pub(super) fn semaphore_gone(c: &mut LinkedCall<'_>) -> Result<()> {
    if !c.vk.shared_semaphores.is_empty() {
        let semaphore = argument!("vkDestroySemaphore", "semaphore");
        c.vk.shared_semaphores.remove(&c.call.image.u64(c.call.command.params[semaphore].at));
    }
    Ok(())
}

/// vkImportSemaphore…, vkImportFence…: the payload of another becomes one of ours.
pub(in crate::vulkan) fn import(
    vk: &mut Vulkan,
    objects: &mut Objects,
    call: &Call,
    report: &mut Report,
) -> Result<Option<Outcome>> {
    if call.image.ret().is_some_and(|r| r < 0) {
        return Ok(Some(Outcome::captured(call)));
    }
    let of = |ty| call.image.handles.iter().find(|h| h.ty == ty).map(|h| call.image.u64(h.at));
    if let Some(id) = of(vk.types.semaphore) {
        match objects.world().syncs.get(&id).is_some_and(Sync::is_timeline) {
            true => report.note("timeline semaphores from outside: what others signal does not come"),
            false => drop(vk.shared_semaphores.insert(id)),
        }
        objects.follow().follow_semaphores();
    } else if let Some(id) = of(vk.types.fence).filter(|id| objects.live(*id) != 0) {
        let device = call.image.u64(0);
        let fence = vk::Fence::from_raw(objects.live(id));
        // SAFETY: a live fence of this device.
        let signalled = unsafe { vk.device(device)?.ash.get_fence_status(fence) };
        if !signalled.what("vkGetFenceStatus")? {
            swapchain::signal(vk, objects, device, 0, id)?;
            vk.cost(Bridge::Imports).added += 1;
        }
    }
    Ok(Some(Outcome::captured(call)))
}

/// vkGetFenceFd: a copy of the payload is taken out, if it is one; the fence is as if it were reset.
pub(in crate::vulkan) fn fence_taken(
    vk: &mut Vulkan,
    objects: &mut Objects,
    call: &Call,
    _: &mut Report,
) -> Result<Option<Outcome>> {
    let info = View::call(&call.image).one("pGetFdInfo");
    let copied = info.and_then(|i| i.u32("handleType")) == Some(FENCE_SYNC_FD);
    let fence = info.and_then(|i| i.u64("fence")).map_or(0, |id| objects.live(id));
    if copied && fence != 0 && call.image.ret().is_none_or(|r| r >= 0) {
        let watchdog = vk.options.watchdog_ns();
        let d = vk.device(call.image.u64(0))?;
        let fences = [vk::Fence::from_raw(fence)];
        // SAFETY: a live fence of this device, which is done when it is reset.
        unsafe {
            match d.ash.wait_for_fences(&fences, true, watchdog) {
                Err(vk::Result::TIMEOUT) => {
                    return Err(Error::hang(
                        "a fence whose payload is taken out was not signalled",
                        watchdog,
                    ));
                }
                r => r.what("vkWaitForFences")?,
            }
            d.ash.reset_fences(&fences).what("vkResetFences")?;
        }
    }
    Ok(Some(Outcome::captured(call)))
}

/// vkQueueSubmit, vkQueueSubmit2: what others would have done with semaphores is done before.
pub(super) fn before_submit(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk, objects, call, linked, .. } = c;
    const BATCHES: usize = argument!("vkQueueSubmit", "pSubmits");
    const COUNT: usize = argument!("vkQueueSubmit", "submitCount");
    if let Ty::Struct(id) = call.command.params[BATCHES].ty {
        let size = u64::from(STRUCTS[usize::from(id)].size);
        let (at, count) = (linked.arg(BATCHES), linked.arg(COUNT) as u32);
        (0..u64::from(count)).for_each(|i| unchain(linked, at.saturating_add(i * size)));
    }
    if vk.shared_semaphores.is_empty() {
        return Ok(());
    }
    let Some(device) = vk.queues.get(&call.image.u64(0)).map(|q| q.device) else { return Ok(()) };
    let mut signalled = objects.follow().semaphores().signalled.clone();
    for (waits, _, signals) in world::batches(call) {
        let theirs = |uses: &[SemaphoreUse], all: &HashSet<u64>| {
            uses.iter().map(|u| u.semaphore).filter(|id| all.contains(id)).collect::<Vec<_>>()
        };
        let (waits, signals) =
            (theirs(&waits, &vk.shared_semaphores), theirs(&signals, &vk.shared_semaphores));
        for id in waits {
            if !signalled.remove(&id) {
                swapchain::signal(vk, objects, device, id, 0)?;
                vk.cost(Bridge::Imports).added += 1;
            }
        }
        for id in signals {
            if !signalled.insert(id) {
                swapchain::settle(vk)?;
                let d = vk.device(device)?;
                let waits = [vk::Semaphore::from_raw(objects.live(id))];
                d.submit_empty(vk::Queue::from_raw(linked.arg(0)), &waits, &[], vk::Fence::null())?;
                vk.cost(Bridge::Imports).added += 1;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_struct_exists_and_is_of_a_chain() {
        for name in STRUCTS_OUTSIDE {
            let id = struct_named(name).unwrap_or_else(|| panic!("{name}"));
            assert!(STRUCTS[usize::from(id)].stype.is_some(), "{name}");
        }
        assert_eq!(STYPES.len(), STRUCTS_OUTSIDE.len());
        assert_eq!(FENCE_SYNC_FD, vk::ExternalFenceHandleTypeFlags::SYNC_FD.as_raw());
    }
}

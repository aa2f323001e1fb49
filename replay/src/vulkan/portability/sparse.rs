//! Resources that are bound page by page, where each resource has memory of its own (`--memory rebind`).
//!
//! Asked for: sparse buffers and images, and vkQueueBindSparse. Bridged: such a resource is an ordinary one with all of its memory
//! from the beginning; binding pages only waits and signals. Costs: the memory of pages that the capture never bound. Not the same:
//! what is read where nothing was bound, resources whose pages share memory, and pages that the host writes through a mapping.

use crate::error::{Error, Kind, Result, Vk};
use crate::link::Linked;
use crate::options::Bridge;
use crate::options::MemoryMode;
use crate::report::Report;
use crate::vulkan::Vulkan;
use crate::vulkan::memory::AllocKind;
use ash::vk::{self, Handle};
use gfxr_parse::ahead::Call;
use gfxr_parse::argument;
use world::Outcome;

/// Flags of a buffer here.
pub(in crate::vulkan) fn buffer_flags(
    vk: &Vulkan,
    asked: vk::BufferCreateFlags,
    report: &mut Report,
) -> vk::BufferCreateFlags {
    use vk::BufferCreateFlags as F;
    if vk.memory.mode != MemoryMode::Rebind || !asked.contains(F::SPARSE_BINDING) {
        return asked;
    }
    report.note("sparse resources have all of their memory from the beginning");
    asked & !(F::SPARSE_BINDING | F::SPARSE_RESIDENCY | F::SPARSE_ALIASED)
}

/// Flags of an image here.
pub(in crate::vulkan) fn image_flags(
    vk: &Vulkan,
    asked: vk::ImageCreateFlags,
    report: &mut Report,
) -> vk::ImageCreateFlags {
    use vk::ImageCreateFlags as F;
    if vk.memory.mode != MemoryMode::Rebind || !asked.contains(F::SPARSE_BINDING) {
        return asked;
    }
    report.note("sparse resources have all of their memory from the beginning");
    asked & !(F::SPARSE_BINDING | F::SPARSE_RESIDENCY | F::SPARSE_ALIASED)
}

/// A resource that was to be sparse was made: it gets its memory.
pub(in crate::vulkan) fn made(vk: &mut Vulkan, device: u64, id: u64, is_image: bool) -> Result<()> {
    let image = vk.images.get(&id).filter(|_| is_image).map(|i| i.live);
    let buffer = vk.buffers.get(&id).filter(|_| !is_image).map(|b| b.live);
    let d = vk.device_mut(device)?;
    let flags = (vk::MemoryPropertyFlags::empty(), vk::MemoryPropertyFlags::DEVICE_LOCAL);
    let addresses = d.buffer_addresses;
    // SAFETY: the device and the resource are alive, the resource is not bound yet, and the memory comes from a type that its
    // requirements allow.
    let (alloc, size) = unsafe {
        match (image, buffer) {
            (Some(i), _) => {
                let need = d.ash.get_image_memory_requirements(i);
                let alloc = d.alloc(need, flags, AllocKind::Optimal, false)?;
                d.ash.bind_image_memory(i, alloc.memory(), alloc.offset()).what("vkBindImageMemory")?;
                (alloc, need.size)
            }
            (_, Some(b)) => {
                let need = d.ash.get_buffer_memory_requirements(b);
                let alloc = d.alloc(need, flags, AllocKind::Linear, addresses)?;
                d.ash.bind_buffer_memory(b, alloc.memory(), alloc.offset()).what("vkBindBufferMemory")?;
                (alloc, need.size)
            }
            _ => return Err(Error::new(Kind::Internal, "a sparse resource was not made")),
        }
    };
    vk.cost(Bridge::Sparse).memory += size;
    if let Some(i) = vk.images.get_mut(&id).filter(|_| is_image) {
        i.alloc = Some(alloc);
    } else if let Some(b) = vk.buffers.get_mut(&id) {
        b.alloc = Some(alloc);
    }
    Ok(())
}

/// vkQueueBindSparse. Its semaphores and its fence.
pub(in crate::vulkan) fn bind(vk: &Vulkan, call: &Call, linked: &mut Linked) -> Result<Outcome> {
    let short = || Error::new(Kind::Capture, "pBindInfo holds fewer than its count says");
    let queue = vk.queues.get(&call.image.u64(0)).ok_or_else(|| Error::divergence("the queue is gone"))?;
    const INFOS: usize = argument!("vkQueueBindSparse", "pBindInfo");
    const COUNT: usize = argument!("vkQueueBindSparse", "bindInfoCount");
    let infos = linked.params::<vk::BindSparseInfo<'static>>(INFOS, COUNT).ok_or_else(short)?.to_vec();
    let most = infos.iter().map(|i| i.wait_semaphore_count).max().unwrap_or(0);
    let stages = vec![vk::PipelineStageFlags::ALL_COMMANDS; most as usize];
    let batches: Vec<vk::SubmitInfo<'_>> = infos
        .iter()
        .map(|i| vk::SubmitInfo {
            // (values of timelines, if anything, and both take the same struct for them)
            p_next: i.p_next,
            wait_semaphore_count: i.wait_semaphore_count,
            p_wait_semaphores: i.p_wait_semaphores,
            p_wait_dst_stage_mask: stages.as_ptr(),
            signal_semaphore_count: i.signal_semaphore_count,
            p_signal_semaphores: i.p_signal_semaphores,
            ..Default::default()
        })
        .collect();
    let fence = vk::Fence::from_raw(linked.arg(argument!("vkQueueBindSparse", "fence")));
    let d = vk.device(queue.device)?;
    // SAFETY: live handles, and arrays that linking made as long as they are counted.
    let r = unsafe { d.ash.queue_submit(queue.live, &batches, fence) };
    r.what("vkQueueSubmit")?;
    Ok(Outcome { ret: 0, called: true })
}

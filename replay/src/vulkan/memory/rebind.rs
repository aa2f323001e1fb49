//! `rebind`: each resource has memory of its own; captured memory objects are shadows.
//!
//! Two live resources on one range of a shadow alias each other: a later one that fits into the memory of an earlier one
//! is bound there and shares its contents. One that does not fit (it reaches beyond, wants another memory type or
//! alignment) has memory of its own, and the run says so in its notes. Linear images keep the captured row pitch only where the driver's is the same.

use super::Bound;
use super::pool::{Alloc, AllocKind};
use crate::error::{Error, Result};
use crate::report::Report;
use crate::vulkan::{Vk, Vulkan};
use ash::vk;

/// Gives a resource its memory.
pub fn bind(
    vk: &mut Vulkan,
    device: u64,
    resource: u64,
    is_image: bool,
    memory: u64,
    offset: u64,
    report: &mut Report,
) -> Result<()> {
    let captured = vk.memory.by_id.get(&memory).map(|m| m.flags);
    let captured =
        captured.ok_or_else(|| Error::divergence(format!("VkDeviceMemory {memory} was never allocated")))?;
    let visible = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    let must = if captured.contains(vk::MemoryPropertyFlags::HOST_VISIBLE) {
        visible
    } else {
        vk::MemoryPropertyFlags::empty()
    };
    let like = captured & (vk::MemoryPropertyFlags::DEVICE_LOCAL | vk::MemoryPropertyFlags::HOST_CACHED);
    let missing = || Error::divergence(format!("resource {resource} was never created"));
    let d =
        vk.devices.get_mut(&device).ok_or_else(|| Error::divergence(format!("VkDevice {device} is gone")))?;
    let props = d.gpu.memory;
    // Those that lay on the same range, nearest beginning first.
    let mut earlier: Vec<Bound> = vk.memory.by_id[&memory].bound.clone();
    earlier.retain(|b| b.resource != resource && b.offset <= offset && offset < b.offset + b.size);
    earlier.sort_by_key(|b| std::cmp::Reverse(b.offset));
    let earlier: Vec<(Bound, Alloc)> = earlier
        .into_iter()
        .filter_map(|b| {
            let alloc = match b.image {
                true => vk.images.get(&b.resource)?.alloc.clone()?,
                false => vk.buffers.get(&b.resource)?.alloc.clone()?,
            };
            Some((b, alloc))
        })
        .collect();
    let share = |size: u64, need: vk::MemoryRequirements, visible: bool, addresses: bool| {
        earlier
            .iter()
            .filter(|(b, _)| offset + size <= b.offset + b.size)
            .find_map(|(b, a)| a.part(offset - b.offset, need, visible, addresses))
    };
    let mut shared = false;
    // SAFETY: (all calls below) the device and the resource are alive, the resource is not bound yet, and the memory
    // comes from a type its requirements allow.
    let (alloc, size) = unsafe {
        if is_image {
            let i = vk.images.get_mut(&resource).ok_or_else(missing)?;
            let need = d.ash.get_image_memory_requirements(i.live);
            let linear = i.tiling == vk::ImageTiling::LINEAR;
            let kind = if linear { AllocKind::Linear } else { AllocKind::Optimal };
            // An optimal image is never written through a mapping.
            let must = if linear { must } else { vk::MemoryPropertyFlags::empty() };
            let a = match share(need.size, need, !must.is_empty(), false) {
                Some(part) => {
                    shared = true;
                    part
                }
                None => d.pool.alloc(&d.ash, &props, need, (must, like), kind, false)?,
            };
            d.ash.bind_image_memory(i.live, a.memory(), a.offset()).what("vkBindImageMemory")?;
            i.alloc = Some(a.clone());
            (a, need.size)
        } else {
            let b = vk.buffers.get_mut(&resource).ok_or_else(missing)?;
            let mut need = d.ash.get_buffer_memory_requirements(b.live);
            let addresses = b.usage.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS);
            if addresses {
                // The application rounded addresses up, to as much as a serialised acceleration structure wants.
                need.alignment = need.alignment.max(256);
            }
            let a = match share(b.size, need, !must.is_empty(), addresses) {
                Some(part) => {
                    shared = true;
                    part
                }
                None => d.pool.alloc(&d.ash, &props, need, (must, like), AllocKind::Linear, addresses)?,
            };
            d.ash.bind_buffer_memory(b.live, a.memory(), a.offset()).what("vkBindBufferMemory")?;
            b.alloc = Some(a.clone());
            (a, b.size)
        }
    };
    let m = vk.memory.by_id.get_mut(&memory).expect("found above");
    if shared {
        // What was written there before is there.
        report.note("resources that shared memory at capture share it here");
        return Ok(());
    }
    if m.bound.iter().any(|b| b.offset < offset + size && offset < b.offset + b.size) {
        report.note("resources that shared memory at capture have memory of their own (rebind): aliased contents are not shared");
    }
    // What was written before there was anything here.
    let device_only = !is_image
        && vk
            .buffers
            .get(&resource)
            .is_some_and(|b| b.usage.contains(vk::BufferUsageFlags::ACCELERATION_STRUCTURE_STORAGE_KHR));
    for (at, data) in m.pending.iter().filter(|_| !device_only) {
        copy_overlap(&alloc, offset, size, *at, data);
    }
    Ok(())
}

/// Writes `data` to wherever resources lie in `[at, at + len)` of a shadow.
pub fn fill(vk: &mut Vulkan, memory: u64, at: u64, data: &[u8]) -> Result<()> {
    let Some(m) = vk.memory.by_id.get_mut(&memory) else { return Ok(()) };
    let end = at + data.len() as u64;
    let mut covered = 0;
    for b in &m.bound {
        if b.offset >= end || b.offset + b.size <= at {
            continue;
        }
        covered += (b.offset + b.size).min(end) - b.offset.max(at);
        if b.device_only {
            continue;
        }
        let alloc = if b.image {
            vk.images.get(&b.resource).and_then(|i| i.alloc.as_ref())
        } else {
            vk.buffers.get(&b.resource).and_then(|b| b.alloc.as_ref())
        };
        if let Some(a) = alloc {
            copy_overlap(a, b.offset, b.size, at, data);
        }
    }
    if covered < data.len() as u64 {
        // A later binding may want it; an equal range replaces the one before.
        m.pending.retain(|(a, d)| *a < at || *a + d.len() as u64 > end);
        m.pending.push((at, data.to_vec()));
    }
    Ok(())
}

/// Copies the part of `data` (which begins at `at`) that lies in `[offset, offset + size)`.
fn copy_overlap(alloc: &Alloc, offset: u64, size: u64, at: u64, data: &[u8]) {
    let start = at.max(offset);
    let end = (at + data.len() as u64).min(offset + size);
    if start < end {
        alloc.write(start - offset, &data[(start - at) as usize..(end - at) as usize]);
    }
}

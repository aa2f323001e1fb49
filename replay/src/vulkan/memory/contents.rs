//! What captured memory objects hold: what the host wrote at capture is put where it lies here, and read back from there.

use super::mapped::Mapped;
use super::{coherent, rebind};
use crate::error::{Error, Result};
use crate::report::Report;
use crate::vulkan::Vulkan;
use crate::vulkan::memory::state::{MemoryState, host_parts};
use ash::vk;
use world::span::Span;

/// Where in a memory object a fill of so many bytes begins, whose `offset` counts from the mapped pointer; none, and a note, if
/// there is no such object.
pub fn mapped_at(
    vk: &Vulkan,
    memory: u64,
    offset: u64,
    len: usize,
    report: &mut Report,
) -> Result<Option<u64>> {
    let Some(m) = vk.memory.by_id.get(&memory) else {
        report.note("fills of memory that does not exist were skipped");
        return Ok(None);
    };
    let Some((mapped_at, _)) = m.mapped else {
        return Err(Error::divergence(format!("a fill of VkDeviceMemory {memory}, which is not mapped")));
    };
    let span = mapped_at.checked_add(offset).and_then(|at| Span::within(at, len as u64, m.size));
    let Some(span) = span else {
        return Err(Error::divergence(format!(
            "a fill of {len} bytes at {offset} from the mapping at {mapped_at} leaves VkDeviceMemory {memory} of {} bytes",
            m.size
        )));
    };
    Ok(Some(span.start()))
}

/// Writes `data` to a mapped memory object, from its byte `start` on.
pub fn fill(vk: &mut Vulkan, memory: u64, start: u64, data: &[u8]) -> Result<()> {
    let Some(m) = vk.memory.by_id.get(&memory) else { return Ok(()) };
    if m.live == vk::DeviceMemory::null() {
        return rebind::fill(vk, memory, start, data);
    }
    let Some((_, mapped)) = &m.mapped else { return Ok(()) };
    // The application wrote nothing behind its mapping, whatever whole pages hold.
    let data = &data[..mapped.range().1.saturating_sub(start).min(data.len() as u64) as usize];
    for (at, part) in host_parts(&m.bound, start, data) {
        if !mapped.write(at, part) {
            return Err(Error::divergence(format!(
                "a fill of {} bytes at {at} of VkDeviceMemory {memory} leaves what is mapped of it",
                part.len()
            )));
        }
    }
    if m.flush {
        flush_ours(vk, m, start, data.len() as u64)?;
    }
    Ok(())
}

/// Writes into a resource's memory from the host, if that memory is visible there. For init blocks.
pub fn write_resource(vk: &mut Vulkan, resource: u64, is_image: bool, data: &[u8]) -> Result<bool> {
    write_within(vk, resource, is_image, 0, data)
}

/// The same, from the resource's byte `within` on.
pub(crate) fn write_within(
    vk: &mut Vulkan,
    resource: u64,
    is_image: bool,
    within: u64,
    data: &[u8],
) -> Result<bool> {
    let (memory, alloc) = if is_image {
        vk.images.get(&resource).map_or((None, None), |i| (i.memory, i.alloc.clone()))
    } else {
        vk.buffers.get(&resource).map_or((None, None), |b| (b.memory, b.alloc.clone()))
    };
    if let Some(a) = alloc {
        return Ok(a.write(within, data));
    }
    let Some((id, offset)) = memory else { return Ok(false) };
    let Some(m) = vk.memory.by_id.get(&id) else { return Ok(false) };
    let span = offset.checked_add(within).and_then(|at| Span::within(at, data.len() as u64, m.size));
    let Some(span) = span.filter(|_| m.flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE)) else {
        return Ok(false);
    };
    match &m.mapped {
        Some((_, mapped)) => {
            let done = mapped.write(span.start(), data);
            if done && coherent::wants_flush(m.flags) {
                flush_ours(vk, m, span.start(), span.len())?;
            }
            Ok(done)
        }
        None => while_mapped(vk, m, |mapped| mapped.write(span.start(), data)),
    }
}

/// Maps a live memory object that is not mapped, all of it, and flushes what was written.
fn while_mapped<R>(vk: &Vulkan, m: &MemoryState, f: impl FnOnce(&Mapped) -> R) -> Result<R> {
    let d = vk.device(m.device)?;
    // SAFETY: alive, visible to the host and not mapped; the mapping is dropped before it ends.
    let mapped = unsafe {
        let pointer = d.ash.map_memory(m.live, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty());
        Mapped::new(pointer.map_err(|e| Error::driver("vkMapMemory", e))?.cast(), 0, m.size)
    };
    let r = f(&mapped);
    let range = vk::MappedMemoryRange::default().memory(m.live).size(vk::WHOLE_SIZE);
    let coherent = m.flags.contains(vk::MemoryPropertyFlags::HOST_COHERENT);
    // SAFETY: mapped just above.
    let flushed = unsafe {
        let flushed = if coherent { Ok(()) } else { d.ash.flush_mapped_memory_ranges(&[range]) };
        d.ash.unmap_memory(m.live);
        flushed
    };
    flushed.map_err(|e| Error::driver("vkFlushMappedMemoryRanges", e))?;
    Ok(r)
}

/// A copy of `len` bytes of a memory object from `at` on, as the host sees them. None where it does not, or where only
/// others are mapped; changes nothing, not even what is mapped.
pub(crate) fn read(vk: &Vulkan, memory: u64, at: u64, len: u64) -> Option<Vec<u8>> {
    let m = vk.memory.by_id.get(&memory)?;
    let span = Span::within(at, len, m.size)?;
    if !m.flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE) {
        return None;
    }
    match &m.mapped {
        Some((_, mapped)) => mapped.read(span.start(), span.len()),
        None => while_mapped(vk, m, |mapped| mapped.read(span.start(), span.len())).ok()?,
    }
}

/// What we wrote to mapped memory reaches the device.
fn flush_ours(vk: &Vulkan, m: &MemoryState, at: u64, len: u64) -> Result<()> {
    let d = vk.device(m.device)?;
    let atom = d.gpu.properties.limits.non_coherent_atom_size;
    let (from, bytes) = coherent::whole_atoms((at, len), atom, m.size, m.mapping());
    let range = vk::MappedMemoryRange::default().memory(m.live).offset(from).size(bytes);
    // SAFETY: the memory is mapped there.
    unsafe { d.ash.flush_mapped_memory_ranges(&[range]) }
        .map_err(|e| Error::driver("vkFlushMappedMemoryRanges", e))
}

//! What the host had put into memory before a buffer was bound there.
//!
//! A frame may create a buffer over memory that was written long before. Guarantees: reading changes nothing, not even
//! what is mapped. Refuses (by `None`) memory that the host does not see.

use crate::vulkan::{BufferState, Vulkan};
use ash::vk;

/// The bytes of a buffer as the host sees them.
pub(super) fn bytes(vk: &Vulkan, b: &BufferState) -> Option<Vec<u8>> {
    use vk::MemoryPropertyFlags as F;
    if let Some(a) = &b.alloc {
        return a.bytes()?.get(..b.size as usize).map(<[u8]>::to_vec);
    }
    let (id, offset) = b.memory?;
    let m = vk.memory.by_id.get(&id)?;
    if !m.flags.contains(F::HOST_VISIBLE) || offset.checked_add(b.size)? > m.size {
        return None;
    }
    let d = vk.devices.get(&m.device)?;
    let copied = |pointer: *const u8| {
        // SAFETY: the buffer's bytes lie there, in range; nothing on the device writes them.
        unsafe { std::slice::from_raw_parts(pointer, b.size as usize) }.to_vec()
    };
    match m.mapped {
        // SAFETY: the mapping begins before the buffer.
        Some((at, pointer)) if at <= offset => Some(copied(unsafe { pointer.add((offset - at) as usize) })),
        Some(_) => None,
        // SAFETY: not mapped; in range.
        None => unsafe {
            let all = d.ash.map_memory(m.live, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()).ok()?;
            let found = copied(all.cast::<u8>().add(offset as usize));
            d.ash.unmap_memory(m.live);
            Some(found)
        },
    }
}

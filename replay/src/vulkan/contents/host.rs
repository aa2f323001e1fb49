//! What the host had put into memory before a buffer was bound there.
//!
//! A frame may create a buffer over memory that was written long before. Guarantees: reading changes nothing, not even
//! what is mapped. Refuses (by `None`) memory that the host does not see.

use crate::vulkan::{BufferState, Vulkan, memory};

/// The bytes of a buffer as the host sees them; nothing on the device writes them.
pub(super) fn bytes(vk: &Vulkan, b: &BufferState) -> Option<Vec<u8>> {
    if let Some(a) = &b.alloc {
        return a.read(0, b.size);
    }
    let (id, offset) = b.memory?;
    memory::read(vk, id, offset, b.size)
}

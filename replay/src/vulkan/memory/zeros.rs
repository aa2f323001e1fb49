//! New memory that is filled with zeros (`--zero-memory`): what no call of a capture writes is the same in every replay then, where Vulkan leaves it to what
//! lay there before.
//!
//! A buffer over all of the memory is made, filled and destroyed before anything else is bound to it. Left as it is: memory that is dedicated to one resource,
//! and types that no buffer can lie in; `rebind` dedicates only what has to be.

use crate::error::{Result, Vk};
use crate::vulkan::DeviceState;
use ash::vk;

impl DeviceState {
    /// Fills memory that nothing is bound to with zeros; whether a buffer can lie in it.
    pub(super) fn zero(&mut self, memory: vk::DeviceMemory, ty: u32, size: u64) -> Result<bool> {
        let device = self.ash.clone();
        let mut bytes = size;
        // (a driver may want more bytes for a buffer than the buffer has)
        for _ in 0..2 {
            let info = vk::BufferCreateInfo::default().size(bytes).usage(vk::BufferUsageFlags::TRANSFER_DST);
            // SAFETY: a plain creation on a live device, of some bytes.
            let Ok(buffer) = (unsafe { device.create_buffer(&info, None) }) else { return Ok(false) };
            // SAFETY: just made.
            let need = unsafe { device.get_buffer_memory_requirements(buffer) };
            let lies = need.memory_type_bits >> ty & 1 != 0;
            let filled = match lies && need.size <= size {
                // SAFETY: both are alive, nothing is bound to either, and the memory is as the buffer's requirements say.
                true => unsafe { device.bind_buffer_memory(buffer, memory, 0) }
                    .what("vkBindBufferMemory (zeros)")
                    .and_then(|()| self.clear_buffers(&[(buffer, vk::WHOLE_SIZE)]))
                    .map(|()| true),
                false => Ok(false),
            };
            // SAFETY: ours; what was filled was waited for.
            unsafe { device.destroy_buffer(buffer, None) };
            if filled? {
                return Ok(true);
            }
            bytes = bytes.saturating_sub(need.size.saturating_sub(size));
            if !lies || bytes == 0 {
                break;
            }
        }
        Ok(false)
    }
}

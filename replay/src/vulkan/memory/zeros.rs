//! Memory that is filled with zeros (`--zero-memory`): what no call of a capture writes is the same in every replay then, where Vulkan leaves it to what
//! lay there before.
//!
//! Before anything is bound to it, a buffer over the memory is made, filled, waited for and destroyed: over all of what is new, over a piece of a block of ours that
//! is cut once more. The last bytes that no buffer reaches are left. Left as it is, and counted: memory that the driver wants to be one resource's alone, and types that no buffer can lie in. Each fill waits for what
//! the queue did before.

use super::pool::{Alloc, AllocKind, Cut, Only};
use crate::error::{Result, Vk};
use crate::report::Report;
use crate::vulkan::DeviceState;
use crate::vulkan::upload::to_all;
use ash::vk;

/// Most bytes of a buffer; drivers have limits.
const MOST: u64 = 1 << 30;

impl DeviceState {
    /// A piece of memory for these requirements; `flags`: what its type must have, and what it should.
    pub(crate) fn alloc(
        &mut self,
        need: vk::MemoryRequirements,
        flags: (vk::MemoryPropertyFlags, vk::MemoryPropertyFlags),
        kind: AllocKind,
        addresses: bool,
    ) -> Result<Alloc> {
        let piece = self.pool.alloc(&self.ash, &self.gpu.memory, need, flags, kind, addresses)?;
        if let Some(cut) = self.pool.cut().filter(|_| self.zero_memory) {
            self.zero(cut)?;
        }
        Ok(piece)
    }

    /// Memory for one resource and no other.
    pub(crate) fn dedicated(
        &mut self,
        need: vk::MemoryRequirements,
        flags: (vk::MemoryPropertyFlags, vk::MemoryPropertyFlags),
        only: Only,
        addresses: bool,
    ) -> Result<Alloc> {
        self.unfilled += u64::from(self.zero_memory);
        self.pool.dedicated(&self.ash, &self.gpu.memory, need, flags, only, addresses)
    }

    /// Says what was not filled.
    pub(in crate::vulkan) fn tell_unfilled(&self, report: &mut Report) {
        if self.unfilled > 0 {
            let what = "allocations that are one resource's alone, or that no buffer can lie in, were not filled with zeros";
            report.note(&format!("{what}: {}", self.unfilled));
        }
    }

    /// Fills a part of memory that nothing is bound to with zeros.
    pub(super) fn zero(&mut self, cut: Cut) -> Result<()> {
        let (first, end) = (cut.part.0, cut.part.0 + cut.part.1);
        let mut all = true;
        for at in (0..cut.size).step_by(MOST as usize) {
            let bytes = MOST.min(cut.size - at);
            let (from, to) = (first.max(at), end.min(at + bytes));
            if from < to {
                all &= self.fill(cut, (at, bytes), (from - at, to - from))?;
            }
        }
        self.unfilled += u64::from(!all);
        Ok(())
    }

    /// Fills a part of a buffer over `bytes` from `at` on; whether a buffer can lie there.
    fn fill(&mut self, cut: Cut, (at, bytes): (u64, u64), part: (u64, u64)) -> Result<bool> {
        let device = self.ash.clone();
        let info =
            |bytes| vk::BufferCreateInfo::default().size(bytes).usage(vk::BufferUsageFlags::TRANSFER_DST);
        let mut bytes = bytes;
        // (a driver may want more bytes for a buffer than the buffer has)
        for _ in 0..3 {
            // SAFETY: a plain creation on a live device, of some bytes.
            let Ok(buffer) = (unsafe { device.create_buffer(&info(bytes), None) }) else { return Ok(false) };
            // SAFETY: just made.
            let need = unsafe { device.get_buffer_memory_requirements(buffer) };
            let (lies, over) =
                (need.memory_type_bits >> cut.ty & 1 != 0, (at + need.size).saturating_sub(cut.size));
            // (whole words: of what is no multiple of them, the last bytes are left)
            let words = part.1.min(bytes.saturating_sub(part.0)) / 4 * 4;
            let filled = match lies && over == 0 && words > 0 {
                // SAFETY: both are alive, the buffer is not bound yet, and the memory is as its requirements say. Others may be bound to other parts.
                true => unsafe { device.bind_buffer_memory(buffer, cut.memory, at) }
                    .what("vkBindBufferMemory (zeros)")
                    .and_then(|()| {
                        self.run(|d, cmd| {
                            // SAFETY: recording a fill of a live buffer.
                            unsafe { d.cmd_fill_buffer(cmd, buffer, part.0, words, 0) };
                            to_all(d, cmd);
                        })
                    }),
                false => Ok(()),
            };
            if !filled.as_ref().is_err_and(|e| e.is_gone()) {
                // SAFETY: ours; what was filled was waited for.
                unsafe { device.destroy_buffer(buffer, None) };
            }
            filled?;
            if over == 0 || !lies || over >= bytes {
                return Ok(lies && over == 0);
            }
            bytes = (bytes - over) / need.alignment.max(4) * need.alignment.max(4);
            if bytes == 0 {
                break;
            }
        }
        Ok(false)
    }
}

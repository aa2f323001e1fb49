//! Which memory is mapped, and from where: a frame that maps and unmaps does so in each iteration.

use crate::error::{Result, Vk};
use crate::vulkan::Vulkan;
use crate::vulkan::memory::Mapped;
use ash::vk;
use std::collections::HashMap;

/// Offsets of the mappings before the frame, by captured memory object.
#[derive(Default)]
pub struct Maps(HashMap<u64, u64>);

impl Maps {
    /// Before the frame.
    pub fn take(vk: &Vulkan) -> Self {
        let all = vk.memory.by_id.iter();
        Maps(all.filter_map(|(id, m)| m.mapped.as_ref().map(|(offset, _)| (*id, *offset))).collect())
    }

    /// Maps and unmaps what differs.
    pub fn restore(&self, vk: &mut Vulkan) -> Result<u64> {
        let mut n = 0;
        let Vulkan { memory, devices, .. } = vk;
        for (id, m) in &mut memory.by_id {
            let was = self.0.get(id).copied();
            if was == m.mapped.as_ref().map(|(offset, _)| *offset) {
                continue;
            }
            n += 1;
            let (Some(d), true) = (devices.get(&m.device), m.live != vk::DeviceMemory::null()) else {
                m.mapped = was.map(|offset| (offset, Mapped::nothing()));
                continue;
            };
            if m.mapped.take().is_some() {
                // SAFETY: it is mapped, and nobody keeps the pointer.
                unsafe { d.ash.unmap_memory(m.live) };
            }
            if let Some(offset) = was {
                // SAFETY: not mapped, and it was before, so that it can be; unmapping drops what is kept.
                let mapped = unsafe {
                    let p = d.ash.map_memory(m.live, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty());
                    Mapped::new(p.what("vkMapMemory")?.cast(), 0, m.size)
                };
                m.mapped = Some((offset, mapped));
            }
        }
        Ok(n)
    }
}

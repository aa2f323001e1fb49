//! Marks on the device: words in memory that the host can read while the device hangs, and the commands that write them.
//!
//! Outside of render passes a mark is a barrier, a fill of one word and another barrier, so that it says two things: all
//! that was recorded before is done, and the command it names has begun. Inside of render passes it is a
//! vkCmdWriteBufferMarkerAMD where the device has VK_AMD_buffer_marker, which says only the latter; else there is none.

use replay::ash::{self, vk};
use replay::error::{Error, Kind, Result};
use replay::vulkan::DeviceState;

/// The command buffer ended.
pub const END: u32 = u32::MAX;
/// Words in a buffer of marks.
const WORDS: u64 = 16_384;

/// A word.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    buffer: vk::Buffer,
    offset: u64,
    at: *const u32,
}

impl Slot {
    /// What the device last wrote.
    pub fn read(self) -> u32 {
        // SAFETY: the memory is mapped as long as its marks live; the device writes whole words.
        unsafe { self.at.read_volatile() }
    }
}

struct Chunk {
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    mapped: *mut u32,
    used: u64,
}

/// The marks of a device.
pub struct Marks {
    pub ash: ash::Device,
    memory: vk::PhysicalDeviceMemoryProperties,
    amd: Option<vk::PFN_vkCmdWriteBufferMarkerAMD>,
    chunks: Vec<Chunk>,
}

impl Marks {
    pub fn new(d: &DeviceState, instance: &ash::Instance) -> Self {
        let name = c"vkCmdWriteBufferMarkerAMD";
        let amd = d.extensions.iter().any(|e| e == "VK_AMD_buffer_marker").then(|| {
            // SAFETY: the extension is on, so a pointer is this function's.
            unsafe {
                std::mem::transmute::<vk::PFN_vkVoidFunction, Option<vk::PFN_vkCmdWriteBufferMarkerAMD>>(
                    instance.get_device_proc_addr(d.ash.handle(), name.as_ptr()),
                )
            }
        });
        Marks { ash: d.ash.clone(), memory: d.gpu.memory, amd: amd.flatten(), chunks: Vec::new() }
    }

    /// A new word, zero.
    pub fn slot(&mut self) -> Result<Slot> {
        if self.chunks.last().is_none_or(|c| c.used == WORDS) {
            let chunk = self.chunk()?;
            self.chunks.push(chunk);
        }
        let c = self.chunks.last_mut().expect("just made");
        let offset = c.used;
        c.used += 1;
        // SAFETY: inside the mapped memory.
        Ok(Slot { buffer: c.buffer, offset: offset * 4, at: unsafe { c.mapped.add(offset as usize) } })
    }

    fn chunk(&self) -> Result<Chunk> {
        let d = &self.ash;
        let info = vk::BufferCreateInfo::default().size(WORDS * 4).usage(vk::BufferUsageFlags::TRANSFER_DST);
        let want = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let failed = |e| Error::driver("making room for breadcrumbs", e);
        // SAFETY: plain creations on a live device; bound and mapped once, in order.
        unsafe {
            let buffer = d.create_buffer(&info, None).map_err(failed)?;
            let need = d.get_buffer_memory_requirements(buffer);
            let suits = |i: &u32| {
                need.memory_type_bits >> i & 1 != 0
                    && self.memory.memory_types[*i as usize].property_flags.contains(want)
            };
            // Memory of the host where there is a choice: it outlives the device.
            let local = |i: &u32| {
                self.memory.memory_types[*i as usize]
                    .property_flags
                    .contains(vk::MemoryPropertyFlags::DEVICE_LOCAL)
            };
            let ty = (0..self.memory.memory_type_count).filter(suits).min_by_key(local).ok_or_else(|| {
                Error::new(Kind::Unsupported, "--breadcrumbs: no memory that the host can read")
            })?;
            let info = vk::MemoryAllocateInfo::default().allocation_size(need.size).memory_type_index(ty);
            let memory = d.allocate_memory(&info, None).map_err(failed)?;
            d.bind_buffer_memory(buffer, memory, 0).map_err(failed)?;
            let mapped = d
                .map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())
                .map_err(failed)?
                .cast::<u32>();
            mapped.write_bytes(0, WORDS as usize);
            Ok(Chunk { buffer, memory, mapped, used: 0 })
        }
    }

    /// Records a mark; false where none may stand.
    pub fn mark(&self, cmd: vk::CommandBuffer, slot: Slot, value: u32, in_pass: bool) -> bool {
        let d = &self.ash;
        if in_pass {
            let Some(write) = self.amd else { return false };
            // SAFETY: recording; allowed inside and outside of render passes.
            unsafe { write(cmd, vk::PipelineStageFlags::TOP_OF_PIPE, slot.buffer, slot.offset, value) };
            return true;
        }
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        let before = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE);
        let after =
            vk::MemoryBarrier::default().src_access_mask(vk::AccessFlags::TRANSFER_WRITE).dst_access_mask(
                vk::AccessFlags::HOST_READ | vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE,
            );
        // SAFETY: recording, outside of any render pass.
        unsafe {
            d.cmd_pipeline_barrier(cmd, all, all, vk::DependencyFlags::empty(), &[before], &[], &[]);
            d.cmd_fill_buffer(cmd, slot.buffer, slot.offset, 4, value);
            d.cmd_pipeline_barrier(
                cmd,
                vk::PipelineStageFlags::TRANSFER,
                all | vk::PipelineStageFlags::HOST,
                vk::DependencyFlags::empty(),
                &[after],
                &[],
                &[],
            );
        }
        true
    }

    /// Frees everything; nothing of it is in use.
    pub fn destroy(self) {
        for c in self.chunks {
            // SAFETY: the caller's promise.
            unsafe {
                self.ash.destroy_buffer(c.buffer, None);
                self.ash.free_memory(c.memory, None);
            }
        }
    }
}

//! Compaction of acceleration structures in their own place, behind the commands that build them.
//!
//! What was built is copied, compacted, to a structure of ours, and from there back: the application's keeps its handle, its address and the memory that
//! it takes; what is traced lies closer together. Guarantees: commands behind it see the compacted structure; ours are of the size of those that they
//! stand for, each command buffer has its own, and they go with the device or the replay. Refuses nothing: what is not known is left as it was built.
#![allow(unsafe_code)]

use super::memory::{allocate, memory_type};
use replay::ash::{self, vk};
use replay::error::{Error, Result};
use replay::exec::Executor;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use vk::Handle;

/// A structure of ours, and where it lies.
struct Own {
    device: u64,
    structure: vk::AccelerationStructureKHR,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
}

/// See the module's header.
#[derive(Default)]
pub struct Compaction {
    /// By command buffer, kind and size.
    made: HashMap<(u64, i32, u64), Own>,
}

impl Compaction {
    /// Records the compaction of structures (captured ids) that the last command of a command buffer has built: how many.
    pub fn record(&mut self, cx: &mut Executor, buffer: u64, built: &[u64]) -> Result<u64> {
        let commands = vk::CommandBuffer::from_raw(cx.objects.live(buffer));
        let Some(vk) = cx.backend.vulkan() else { return Ok(0) };
        let mut done = 0;
        for id in built {
            let Some(of) = vk.structure(*id) else { continue };
            let (device, live, kind, size) = (of.device, of.live, of.kind, of.size);
            let Some(instance) = vk.instance_of(device) else { continue };
            let d = vk.device(device)?;
            let loader = ash::khr::acceleration_structure::Device::new(instance, &d.ash);
            let key = (buffer, kind.as_raw(), size);
            let ours = match self.made.entry(key) {
                Entry::Occupied(made) => made.get().structure,
                Entry::Vacant(none) => {
                    let (allocated, memory) = storage(d, size)?;
                    let info = vk::AccelerationStructureCreateInfoKHR::default()
                        .buffer(allocated)
                        .size(size)
                        .ty(kind);
                    // SAFETY: a buffer of this use and size, on a live device that has structures.
                    let structure = unsafe { loader.create_acceleration_structure(&info, None) }
                        .map_err(|e| Error::driver("vkCreateAccelerationStructureKHR", e))?;
                    none.insert(Own { device, structure, buffer: allocated, memory }).structure
                }
            };
            let copy = |src, dst, mode| {
                wait(&d.ash, commands);
                let info = vk::CopyAccelerationStructureInfoKHR::default().src(src).dst(dst).mode(mode);
                // SAFETY: both live; the source was built to be compacted, and the target is as large as what was built.
                unsafe { loader.cmd_copy_acceleration_structure(commands, &info) };
            };
            copy(live, ours, vk::CopyAccelerationStructureModeKHR::COMPACT);
            copy(ours, live, vk::CopyAccelerationStructureModeKHR::CLONE);
            wait(&d.ash, commands);
            done += 1;
        }
        Ok(done)
    }

    /// All of a device, or all there are, are not used any more.
    pub fn give_back(&mut self, cx: &mut Executor, device: Option<u64>) -> Result<()> {
        let gone: Vec<Own> =
            self.made.extract_if(|_, o| device.is_none_or(|d| d == o.device)).map(|o| o.1).collect();
        let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
        for own in gone {
            let (Ok(d), Some(instance)) = (vk.device(own.device), vk.instance_of(own.device)) else {
                continue;
            };
            d.wait_idle()?;
            let loader = ash::khr::acceleration_structure::Device::new(instance, &d.ash);
            // SAFETY: ours alone, and the device has nothing left to do.
            unsafe {
                loader.destroy_acceleration_structure(own.structure, None);
                d.ash.destroy_buffer(own.buffer, None);
                d.ash.free_memory(own.memory, None);
            }
        }
        Ok(())
    }
}

/// A buffer for a structure, and its memory.
fn storage(d: &replay::vulkan::DeviceState, size: u64) -> Result<(vk::Buffer, vk::DeviceMemory)> {
    let usage = vk::BufferUsageFlags::ACCELERATION_STRUCTURE_STORAGE_KHR;
    let info = vk::BufferCreateInfo::default().size(size).usage(usage);
    // SAFETY: plain creations on a live device, in order.
    unsafe {
        let buffer = d.ash.create_buffer(&info, None).map_err(|e| Error::driver("vkCreateBuffer", e))?;
        let need = d.ash.get_buffer_memory_requirements(buffer);
        let kind = memory_type(d, need.memory_type_bits, vk::MemoryPropertyFlags::DEVICE_LOCAL)?;
        let memory = allocate(d, need.size, kind)?;
        d.ash.bind_buffer_memory(buffer, memory, 0).map_err(|e| Error::driver("vkBindBufferMemory", e))?;
        Ok((buffer, memory))
    }
}

/// What comes waits for what was, and sees it.
fn wait(d: &ash::Device, commands: vk::CommandBuffer) {
    let all = vk::PipelineStageFlags::ALL_COMMANDS;
    let barrier = vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
        .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE);
    // SAFETY: a command buffer that is being recorded, outside of render passes, as builds are.
    unsafe { d.cmd_pipeline_barrier(commands, all, all, vk::DependencyFlags::empty(), &[barrier], &[], &[]) };
}

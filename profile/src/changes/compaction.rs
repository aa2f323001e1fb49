//! Compaction of acceleration structures in their own place, behind the commands that build them.
//!
//! What was built is copied, compacted, to a structure of ours, and from there back: the application's keeps its handle, its address and the memory that
//! it takes; what is traced lies closer together. Guarantees: commands behind it see the compacted structure; each command buffer has room for the largest
//! that it builds, until it is recorded again or goes. Refuses, by saying so, structures for which there is no room: these stay as they were built.
#![allow(unsafe_code)]

use super::memory::{allocate, memory_type};
use replay::ash::{self, vk};
use replay::error::{Error, Result};
use replay::exec::Executor;
use replay::vulkan::{DeviceState, Structure, wait_for_all};
use std::collections::HashMap;
use vk::Handle;

/// Room for a structure, and the structures that were made there: one of each kind and size.
struct Room {
    device: u64,
    size: u64,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    made: Vec<((i32, u64), vk::AccelerationStructureKHR)>,
}

/// See the module's header.
#[derive(Default)]
pub struct Compaction {
    /// By command buffer: the last is the largest.
    rooms: HashMap<u64, Vec<Room>>,
}

type Loader = ash::khr::acceleration_structure::Device;

fn loader(instance: &ash::Instance, d: &DeviceState) -> Loader {
    Loader::new(instance, &d.ash)
}

impl Compaction {
    /// Records the compaction of structures (captured ids) that the last command of a command buffer has built: how many.
    pub fn record(&mut self, cx: &mut Executor, buffer: u64, built: &[u64]) -> Result<u64> {
        let commands = vk::CommandBuffer::from_raw(cx.objects.live(buffer));
        let Some(vk) = cx.backend.vulkan() else { return Ok(0) };
        let mut done = 0;
        for id in built {
            let Some(of) = vk.structure(*id) else { continue };
            let Some(instance) = vk.instance_of(of.device) else { continue };
            let d = vk.device(of.device)?;
            let loader = loader(instance, d);
            let rooms = self.rooms.entry(buffer).or_default();
            let Ok(ours) = beside(rooms, &loader, d, of) else { continue };
            let copy = |src, dst, mode| {
                wait_for_all(&d.ash, commands);
                let info = vk::CopyAccelerationStructureInfoKHR::default().src(src).dst(dst).mode(mode);
                // SAFETY: both live; the source was built to be compacted, and the target is as large as what was built.
                unsafe { loader.cmd_copy_acceleration_structure(commands, &info) };
            };
            copy(of.live, ours, vk::CopyAccelerationStructureModeKHR::COMPACT);
            copy(ours, of.live, vk::CopyAccelerationStructureModeKHR::CLONE);
            wait_for_all(&d.ash, commands);
            done += 1;
        }
        Ok(done)
    }

    /// What these command buffers held is no longer in flight.
    pub fn release(&mut self, cx: &mut Executor, buffers: &[u64]) {
        let gone: Vec<Room> = buffers.iter().filter_map(|b| self.rooms.remove(b)).flatten().collect();
        destroy(cx, gone);
    }

    /// All of a device, or all there are, are not used any more.
    pub fn give_back(&mut self, cx: &mut Executor, device: Option<u64>) -> Result<()> {
        let is = |rooms: &[Room]| rooms.iter().any(|r| device.is_none_or(|d| d == r.device));
        let gone: Vec<Room> = self.rooms.extract_if(|_, rooms| is(rooms)).flat_map(|r| r.1).collect();
        if let Some(vk) = cx.backend.vulkan() {
            for room in &gone {
                if let Ok(d) = vk.device(room.device) {
                    d.wait_idle()?;
                }
            }
        }
        destroy(cx, gone);
        Ok(())
    }
}

fn destroy(cx: &mut Executor, rooms: Vec<Room>) {
    let Some(vk) = cx.backend.vulkan() else { return };
    for room in rooms {
        let (Ok(d), Some(instance)) = (vk.device(room.device), vk.instance_of(room.device)) else { continue };
        let loader = loader(instance, d);
        // SAFETY: ours alone, and no command uses them any more.
        unsafe {
            room.made.iter().for_each(|m| loader.destroy_acceleration_structure(m.1, None));
            d.ash.destroy_buffer(room.buffer, None);
            d.ash.free_memory(room.memory, None);
        }
    }
}

/// A structure of ours of the same kind and size.
fn beside(
    rooms: &mut Vec<Room>,
    loader: &Loader,
    d: &DeviceState,
    of: &Structure,
) -> Result<vk::AccelerationStructureKHR> {
    if rooms.last().is_none_or(|r| r.size < of.size) {
        rooms.push(room(d, of.device, of.size)?);
    }
    let Some(room) = rooms.last_mut() else { return Err(Error::divergence("no room was made")) };
    let key = (of.kind.as_raw(), of.size);
    if let Some((_, made)) = room.made.iter().find(|m| m.0 == key) {
        return Ok(*made);
    }
    let info =
        vk::AccelerationStructureCreateInfoKHR::default().buffer(room.buffer).size(of.size).ty(of.kind);
    // SAFETY: a buffer of this use, large enough; what else lies there is not used at the same time.
    let made = unsafe { loader.create_acceleration_structure(&info, None) }
        .map_err(|e| Error::driver("vkCreateAccelerationStructureKHR", e))?;
    room.made.push((key, made));
    Ok(made)
}

fn room(d: &DeviceState, device: u64, size: u64) -> Result<Room> {
    let usage = vk::BufferUsageFlags::ACCELERATION_STRUCTURE_STORAGE_KHR;
    let info = vk::BufferCreateInfo::default().size(size).usage(usage);
    // SAFETY: plain creations on a live device, in order; what was made goes if what comes fails.
    unsafe {
        let buffer = d.ash.create_buffer(&info, None).map_err(|e| Error::driver("vkCreateBuffer", e))?;
        let need = d.ash.get_buffer_memory_requirements(buffer);
        let memory = memory_type(d, need.memory_type_bits, vk::MemoryPropertyFlags::DEVICE_LOCAL)
            .and_then(|kind| allocate(d, need.size, kind));
        let memory = memory.inspect_err(|_| d.ash.destroy_buffer(buffer, None))?;
        if let Err(e) = d.ash.bind_buffer_memory(buffer, memory, 0) {
            d.ash.destroy_buffer(buffer, None);
            d.ash.free_memory(memory, None);
            return Err(Error::driver("vkBindBufferMemory", e));
        }
        Ok(Room { device, size, buffer, memory, made: vec![] })
    }
}

//! Acceleration structures: cloned before the frame, cloned back after it.
//!
//! A structure's bytes may hold what only the driver can move, so they are copied by
//! vkCmdCopyAccelerationStructureKHR and never as bytes of their buffer. Guarantees: only structures that had been built
//! are cloned, into backups of their size and type here. Put back are those that the frame builds, updates or copies into.

use super::backup::{self, BackupBuffer, Cost};
use super::copies::full_barrier;
use super::tracker::Tracking;
use crate::error::{Error, Result, Vk};
use crate::vulkan::Vulkan;
use ash::khr::acceleration_structure::Device as Functions;
use ash::vk;
use std::collections::{BTreeMap, HashMap, hash_map::Entry};

/// One that is to be cloned.
struct Structure {
    device: u64,
    live: vk::AccelerationStructureKHR,
    ty: vk::AccelerationStructureTypeKHR,
    size: u64,
}

struct Clone {
    device: u64,
    live: vk::AccelerationStructureKHR,
    backup: vk::AccelerationStructureKHR,
    size: u64,
    buffer: BackupBuffer,
    /// The frame writes it.
    changed: bool,
}

/// See the module's header.
#[derive(Default)]
pub(super) struct Clones {
    functions: HashMap<u64, Functions>,
    clones: BTreeMap<u64, Clone>,
}

impl Clones {
    /// Clones every structure that has been built.
    pub fn take(vk: &mut Vulkan, tracking: &Tracking, cost: &mut Cost) -> Result<Self> {
        let mut all = Clones::default();
        let mut state = tracking.state_mut();
        let mut built: Vec<(u64, Structure)> = Vec::new();
        for (id, s) in vk.ray.structures.iter().filter(|(id, s)| s.filled && state.is_built(**id, vk)) {
            built.push((*id, Structure { device: s.device, live: s.live, ty: s.kind, size: s.size }));
        }
        built.sort_unstable_by_key(|s| s.0);
        for (id, s) in built {
            let clone = all.backup(vk, &s, cost).map_err(|e| {
                e.at(|| format!("a clone of VkAccelerationStructureKHR {id} of {} bytes", s.size))
            })?;
            all.clones.insert(id, clone);
        }
        for (device, functions) in &all.functions {
            vk.device_mut(*device)?.run(|d, cmd| {
                full_barrier(d, cmd);
                for c in all.clones.values().filter(|c| c.device == *device) {
                    clone(functions, cmd, c.live, c.backup);
                }
                full_barrier(d, cmd);
            })?;
        }
        cost.structures = all.clones.len() as u64;
        Ok(all)
    }

    fn backup(&mut self, vk: &mut Vulkan, s: &Structure, cost: &mut Cost) -> Result<Clone> {
        let d = vk.devices.get_mut(&s.device);
        let d = d.ok_or_else(|| Error::divergence("the device of a structure is gone"))?;
        let functions = match self.functions.entry(s.device) {
            Entry::Occupied(e) => e.into_mut(),
            Entry::Vacant(e) => {
                let instance = vk.instances.get(&d.instance_id);
                let instance =
                    instance.ok_or_else(|| Error::divergence("the instance of a device is gone"))?;
                e.insert(Functions::new(&instance.ash, &d.ash))
            }
        };
        let mut usage = vk::BufferUsageFlags::ACCELERATION_STRUCTURE_STORAGE_KHR;
        if d.buffer_addresses {
            usage |= vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        }
        let buffer = backup::buffer(d, s.size, usage, cost)?;
        let info =
            vk::AccelerationStructureCreateInfoKHR::default().buffer(buffer.live).size(s.size).ty(s.ty);
        // SAFETY: a plain creation on a live device; the buffer is that large and made for it.
        let backup = unsafe { functions.create_acceleration_structure(&info, None) };
        let backup = backup.what("vkCreateAccelerationStructureKHR (contents)")?;
        Ok(Clone { device: s.device, live: s.live, backup, size: s.size, buffer, changed: false })
    }

    /// The frame writes these; says how many are put back.
    pub fn learn(&mut self, tracking: &Tracking) -> u64 {
        let state = tracking.state();
        for (id, c) in &mut self.clones {
            c.changed |= state.rebuilt.contains(id);
        }
        self.clones.values().filter(|c| c.changed).count() as u64
    }

    /// Records that those which the frame writes are what they were; (structures, bytes).
    pub fn restore(&self, device: u64, d: &ash::Device, cmd: vk::CommandBuffer) -> (u64, u64) {
        let (mut n, mut bytes) = (0, 0);
        let Some(functions) = self.functions.get(&device) else { return (0, 0) };
        full_barrier(d, cmd);
        for c in self.clones.values().filter(|c| c.device == device && c.changed) {
            clone(functions, cmd, c.backup, c.live);
            n += 1;
            bytes += c.size;
        }
        (n, bytes)
    }

    /// Destroys the clones.
    pub fn release(self, vk: &Vulkan) {
        for c in self.clones.into_values() {
            if let (Some(d), Some(f)) = (vk.devices.get(&c.device), self.functions.get(&c.device)) {
                // SAFETY: ours, and idle.
                unsafe {
                    f.destroy_acceleration_structure(c.backup, None);
                    d.ash.destroy_buffer(c.buffer.live, None);
                }
            }
        }
    }
}

fn clone(
    f: &Functions,
    cmd: vk::CommandBuffer,
    from: vk::AccelerationStructureKHR,
    to: vk::AccelerationStructureKHR,
) {
    let info = vk::CopyAccelerationStructureInfoKHR::default()
        .src(from)
        .dst(to)
        .mode(vk::CopyAccelerationStructureModeKHR::CLONE);
    // SAFETY: recording; both are alive and of one size and type, the source has been built.
    unsafe { f.cmd_copy_acceleration_structure(cmd, &info) };
}

//! Taking a snapshot: every resource that exists is copied on the device.

use super::backup::{self, Cost};
use super::copies::{barriers, full_barrier, move_images, regions};
use super::layouts::{Layouts, Part};
use super::snapshot::{BufferCopy, ImageCopy, Snapshot};
use super::structures::Clones;
use super::tracker::Tracking;
use crate::error::{Error, Kind, Result};
use crate::exec::Executor;
use crate::vulkan::copyable::COPIES;
use crate::vulkan::{BufferState, ImageState, Vulkan};
use ash::vk;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use vk::ImageLayout as L;

impl Snapshot {
    /// Copies everything. The capture has run up to the frame; nothing is in flight. No device yet: an empty snapshot.
    pub fn take(cx: &mut Executor, tracking: &Tracking) -> Result<Self> {
        let mut s = Snapshot {
            tracking: tracking.clone(),
            work: HashMap::new(),
            buffers: BTreeMap::new(),
            images: BTreeMap::new(),
            structures: Clones::default(),
            ended: false,
            cost: Cost::default(),
            not_restored: BTreeMap::new(),
        };
        let Some(vk) = cx.backend.vulkan() else { return Ok(s) };
        vk.finish_present()?;
        for d in vk.devices.values() {
            d.wait_idle()?;
        }
        let buffers = vk.buffers.values().map(|b| b.size);
        let images = vk.images.values().map(|i| i.size);
        let structures = vk.ray.structures.values().map(|s| s.size);
        let all: u64 = buffers.chain(images).chain(structures).sum();
        s.copy(vk).map_err(|e| {
            let hint = "a device with more memory is needed, or an earlier frame";
            let wanted = format!("{}; all copies together take about {all} bytes: {hint}", e.message());
            if e.kind() == Kind::Memory { Error::new(e.kind(), wanted) } else { e }
        })?;
        s.cost.buffers = s.buffers.len() as u64;
        s.cost.images = s.images.values().filter(|i| i.backup.is_some()).count() as u64;
        let mut state = tracking.state_mut();
        state.memories = Some(vk.memory.by_id.keys().copied().collect());
        state.written.clear();
        state.rebuilt.clear();
        drop(state);
        Ok(s)
    }

    fn copy(&mut self, vk: &mut Vulkan) -> Result<()> {
        self.copy_buffers(vk)?;
        self.copy_images(vk)?;
        self.structures = Clones::take(vk, &self.tracking, &mut self.cost)?;
        Ok(())
    }

    fn copy_buffers(&mut self, vk: &mut Vulkan) -> Result<()> {
        let mut ids: Vec<u64> = vk.buffers.keys().copied().collect();
        ids.sort_unstable();
        let mut copies: HashMap<u64, Vec<(vk::Buffer, vk::Buffer, u64)>> = HashMap::new();
        for id in ids {
            let b = vk.buffers[&id].clone();
            if !is_bound(b.memory, b.alloc.is_some()) {
                continue;
            }
            if let Some(why) = hopeless_buffer(&b) {
                self.note(why);
                continue;
            }
            let d = vk.device_mut(b.device)?;
            let backup = backup::buffer(d, b.size, vk::BufferUsageFlags::empty(), &mut self.cost);
            let backup = backup.map_err(|e| e.at(|| format!("a copy of VkBuffer {id}")))?;
            copies.entry(b.device).or_default().push((b.live, backup.live, b.size));
            let copy = BufferCopy {
                device: b.device,
                live: b.live,
                size: b.size,
                backup: Some(backup),
                holes: Vec::new(),
                changed: Vec::new(),
            };
            self.buffers.insert(id, copy);
        }
        for (device, copies) in copies {
            vk.device_mut(device)?.run(|d, cmd| {
                full_barrier(d, cmd);
                for (from, to, size) in &copies {
                    // SAFETY: recording a copy between live buffers of that size.
                    unsafe { d.cmd_copy_buffer(cmd, *from, *to, &[vk::BufferCopy::default().size(*size)]) };
                }
                full_barrier(d, cmd);
            })?;
        }
        Ok(())
    }

    fn copy_images(&mut self, vk: &mut Vulkan) -> Result<()> {
        let sharing = sharing(vk);
        let mut ids: Vec<u64> = vk.images.keys().copied().collect();
        ids.sort_unstable();
        let mut by_device: HashMap<u64, Vec<u64>> = HashMap::new();
        for id in ids {
            let state = vk.images[&id].clone();
            if !is_bound(state.memory, state.alloc.is_some()) {
                continue;
            }
            let tracked = self.tracking.state().image(id, &state);
            let start = tracked.layouts;
            let defined = start.parts().any(|p| start.defined(p));
            let mut backup = None;
            match hopeless_image(&state).filter(|_| defined) {
                Some(why) => self.note(why),
                None if defined => {
                    let d = vk.devices.get_mut(&state.device);
                    let d = d.ok_or_else(|| Error::divergence("the device of an image is gone"))?;
                    let instance = vk.instances.get(&d.instance_id);
                    let instance =
                        instance.ok_or_else(|| Error::divergence("the instance of a device is gone"))?;
                    let made = backup::image(d, &instance.ash, &state, &mut self.cost);
                    backup = Some(made.map_err(|e| e.at(|| format!("a copy of VkImage {id}")))?);
                    by_device.entry(state.device).or_default().push(id);
                    let own = d.own_queue().1;
                    if tracked.owner.is_some_and(|f| f != own && f < vk::QUEUE_FAMILY_FOREIGN_EXT) {
                        self.note("images of another queue family: put back without a transfer of ownership");
                    }
                }
                None => {}
            }
            let copy = ImageCopy {
                backup,
                end: start.clone(),
                start,
                used: tracked.used,
                shares: sharing.contains(&id),
                changed: BTreeSet::new(),
                state,
            };
            self.images.insert(id, copy);
        }
        for (device, ids) in by_device {
            let images: Vec<&ImageCopy> = ids.iter().map(|id| &self.images[id]).collect();
            vk.device_mut(device)?.run(|d, cmd| {
                full_barrier(d, cmd);
                images.iter().for_each(|i| copy_image(d, cmd, i));
                full_barrier(d, cmd);
            })?;
        }
        Ok(())
    }
}

/// Copies an image into its backup and leaves it in its layouts, the backup in TRANSFER_SRC_OPTIMAL.
fn copy_image(d: &ash::Device, cmd: vk::CommandBuffer, i: &ImageCopy) {
    let Some(backup) = &i.backup else { return };
    let parts: Vec<Part> = i.start.parts().filter(|p| i.start.defined(*p)).collect();
    let (from, to) = (L::TRANSFER_SRC_OPTIMAL, L::TRANSFER_DST_OPTIMAL);
    let mine = |a: &dyn Fn(Part) -> (L, L)| {
        i.start.moves(parts.iter().map(|p| {
            let (from, to) = a(*p);
            (*p, from, to)
        }))
    };
    let whole = |from: L, to: L| i.start.moves(i.start.parts().map(|p| (p, from, to)));
    let before = mine(&|p| (i.start.of(p), from));
    let mut all: Vec<_> = barriers(i.state.live, &before).collect();
    all.extend(barriers(backup.live, &whole(L::UNDEFINED, to)));
    move_images(d, cmd, &all);
    let regions = regions(&i.state, &i.start, &parts);
    // SAFETY: recording a copy between live images of one shape.
    unsafe { d.cmd_copy_image(cmd, i.state.live, from, backup.live, to, &regions) };
    let after = mine(&|p| (from, i.start.of(p)));
    let mut all: Vec<_> = barriers(i.state.live, &after).collect();
    all.extend(barriers(backup.live, &whole(to, from)));
    move_images(d, cmd, &all);
}

/// Whether there is memory behind a resource.
pub(super) fn is_bound(memory: Option<(u64, u64)>, ours: bool) -> bool {
    ours || memory.is_some_and(|m| m.0 != 0)
}

/// Why a buffer cannot be put back.
pub(super) fn hopeless_buffer(b: &BufferState) -> Option<&'static str> {
    use vk::BufferCreateFlags as F;
    let copies = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
    if b.flags.contains(F::PROTECTED) {
        Some("protected buffers")
    } else if b.flags.contains(F::SPARSE_BINDING) {
        Some("sparse buffers")
    } else if !b.usage.contains(copies) {
        Some("buffers that cannot be copied")
    } else {
        None
    }
}

/// Why an image's contents cannot be put back.
pub(super) fn hopeless_image(i: &ImageState) -> Option<String> {
    use vk::ImageCreateFlags as F;
    if i.usage.contains(vk::ImageUsageFlags::TRANSIENT_ATTACHMENT) {
        Some("transient attachments".into())
    } else if i.flags.contains(F::PROTECTED) {
        Some("protected images".into())
    } else if i.flags.contains(F::SPARSE_BINDING) {
        Some("sparse images".into())
    } else if i.flags.intersects(F::SUBSAMPLED_EXT | F::CORNER_SAMPLED_NV) {
        Some("subsampled and corner-sampled images".into())
    } else if !i.usage.contains(COPIES) {
        Some(format!("images that cannot be copied here, or not in their memory: {:?}", i.format))
    } else {
        None
    }
}

/// Images (and buffers) that share memory with another resource: in captured memory that is live here, or, where each
/// has memory of its own (`rebind`), because a later one was bound into an earlier one's.
pub(super) fn sharing(vk: &Vulkan) -> HashSet<u64> {
    let mut found = HashSet::new();
    for m in vk.memory.by_id.values().filter(|m| m.live != vk::DeviceMemory::null()) {
        overlapping(m.bound.iter().map(|b| (b.offset, b.offset + b.size, b.resource)).collect(), &mut found);
    }
    let buffers = vk.buffers.iter().map(|(id, b)| (*id, b.device, &b.alloc, b.size));
    let images = vk.images.iter().map(|(id, i)| (*id, i.device, &i.alloc, i.size));
    let mut own: HashMap<(u64, vk::DeviceMemory), Vec<Span>> = HashMap::new();
    for (id, device, alloc, size) in buffers.chain(images) {
        let Some(a) = alloc else { continue };
        own.entry((device, a.memory())).or_default().push((a.offset(), a.offset() + size, id));
    }
    own.into_values().for_each(|ranges| overlapping(ranges, &mut found));
    found
}

/// Beginning, end, and whose it is.
type Span = (u64, u64, u64);

/// Adds those that have a byte in common with another one.
fn overlapping(mut ranges: Vec<Span>, found: &mut HashSet<u64>) {
    ranges.sort_unstable();
    for (i, a) in ranges.iter().enumerate() {
        for b in ranges[i + 1..].iter().take_while(|b| b.0 < a.1) {
            found.extend([a.2, b.2]);
        }
    }
}

/// Every part of an image that has contents before the frame and a layout after it.
pub(super) fn comparable(start: &Layouts, end: &Layouts) -> Vec<Part> {
    start.parts().filter(|p| start.defined(*p) && end.defined(*p)).collect()
}

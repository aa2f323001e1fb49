//! What a repeated frame changes, put back: the contents of buffers, images and acceleration structures, and layouts.
//!
//! Before the frame, [`Snapshot::take`] copies every resource on the device: buffers and images byte by byte and texel
//! by texel (all levels, layers, aspects and samples), built acceleration structures by cloning. After the frame has run
//! once, [`Snapshot::learn`] compares every resource with its copy: what differs is put back by [`Snapshot::restore`],
//! with one command buffer a device that is recorded once. Layouts come from a [`Tracker`], a hook that follows
//! barriers and render passes by subresource.
//!
//! How it is put back: buffers first, in spans of 64 KiB; then images, whole subresources, those that share memory in the
//! order in which they were last used before the frame; then structures. Images that bytes say nothing about
//! (multisampled, of an unknown format, sharing memory) are put back whenever the frame may write them. Buffers that the
//! frame itself creates hold zeros again, or what the host had put where they were bound; images that it creates are left
//! as they are, in no layout, so that the frame's first use of them is valid again. No image can be made PREINITIALIZED
//! again: those are left as they are, in GENERAL, which whoever repeats the frame says in its barriers instead. Contents of an image that was in no
//! layout before the frame are undefined and left alone.
//!
//! Not put back, by name and number in [`Snapshot::not_restored`]: transient attachments, protected and sparse resources,
//! images that the device cannot copy or that would need more memory for it. Unsafe, and so
//! at capture: a resource that is read although another one that shares its memory was written since.

mod backup;
mod copies;
pub(crate) mod format;
mod hash;
mod host;
mod layouts;
mod learn;
mod read;
mod restore;
mod scan;
mod structures;
mod take;
#[cfg(test)]
mod tests;
mod tracker;
mod usage;

pub(crate) use copies::{extent, rows};
pub use learn::Learned;
pub use restore::Restored;
pub use tracker::{Tracker, Tracking};
pub(crate) use usage::{widen_buffer, widen_image};

use crate::exec::Executor;
use crate::vulkan::ImageState;
use ash::vk;
use backup::{BackupBuffer, BackupImage};
use layouts::{Layouts, Part};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What the copies take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Bytes of all copies.
    pub bytes: u64,
    /// Of these, in memory that is not the device's.
    pub host_bytes: u64,
    /// Buffers copied.
    pub buffers: u64,
    /// Images copied.
    pub images: u64,
    /// Acceleration structures cloned.
    pub structures: u64,
}

/// A buffer, its copy, and what the frame changes of it.
struct BufferCopy {
    device: u64,
    live: vk::Buffer,
    size: u64,
    /// None: it held zeros.
    backup: Option<BackupBuffer>,
    /// Spans that hold acceleration structures.
    holes: Vec<(u64, u64)>,
    /// Spans that the frame changes, in order, apart from one another.
    changed: Vec<(u64, u64)>,
}

/// An image, its copy, and what the frame changes of it.
struct ImageCopy {
    state: ImageState,
    backup: Option<BackupImage>,
    /// Its layouts before the frame.
    start: Layouts,
    /// And after it, once that is known.
    end: Layouts,
    /// When it was last used before the frame, in the tracker's count.
    used: u64,
    /// Another resource lies in its memory.
    shares: bool,
    /// Parts that the frame changes.
    changed: BTreeSet<Part>,
}

/// What belongs to a device.
struct Work {
    pool: vk::CommandPool,
    cmd: vk::CommandBuffer,
    fence: vk::Fence,
    queue: vk::Queue,
    staging: Option<BackupBuffer>,
    /// What the recorded command buffer does; none if it must be recorded.
    recorded: Option<Restored>,
}

/// See the module's header.
pub struct Snapshot {
    tracking: Tracking,
    work: HashMap<u64, Work>,
    buffers: BTreeMap<u64, BufferCopy>,
    images: BTreeMap<u64, ImageCopy>,
    structures: structures::Clones,
    /// The frame has run once: where it leaves layouts is known.
    ended: bool,
    cost: Cost,
    not_restored: BTreeMap<String, u64>,
}

impl Snapshot {
    /// What the copies take.
    pub fn cost(&self) -> Cost {
        self.cost
    }
    /// What cannot be put back: name, how many.
    pub fn not_restored(&self) -> &BTreeMap<String, u64> {
        &self.not_restored
    }

    fn note(&mut self, what: impl Into<String>) {
        *self.not_restored.entry(what.into()).or_default() += 1;
    }

    /// Frees the copies. Nothing of the device may be in use.
    pub fn release(self, cx: &mut Executor) {
        let Some(vk) = cx.backend.vulkan() else { return };
        let destroy = |b: BackupBuffer, d: &ash::Device| {
            // SAFETY: (here and below) ours, and idle.
            unsafe { d.destroy_buffer(b.live, None) };
        };
        for b in self.buffers.into_values() {
            if let (Some(d), Some(backup)) = (vk.devices.get(&b.device), b.backup) {
                destroy(backup, &d.ash);
            }
        }
        for i in self.images.into_values() {
            if let (Some(d), Some(backup)) = (vk.devices.get(&i.state.device), i.backup) {
                // SAFETY: as above.
                unsafe { d.ash.destroy_image(backup.live, None) };
            }
        }
        self.structures.release(vk);
        for (id, w) in self.work {
            let Some(d) = vk.devices.get(&id) else { continue };
            // SAFETY: as above.
            unsafe {
                d.ash.destroy_fence(w.fence, None);
                d.ash.destroy_command_pool(w.pool, None);
            }
            if let Some(s) = w.staging {
                destroy(s, &d.ash);
            }
        }
    }
}

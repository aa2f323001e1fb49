//! What is known of the time before the frame, and what the frame changes of it: the copies, and what they take.

use super::backup::{BackupBuffer, BackupImage, Cost};
use super::layouts::{Layouts, Part};
use super::structures::Clones;
use super::tracker::Tracking;
use crate::exec::Executor;
use crate::vulkan::ImageState;
use ash::vk;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What was put back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// Buffers.
    pub buffers: u64,
    /// Images whose contents were.
    pub images: u64,
    /// Acceleration structures.
    pub structures: u64,
    /// Bytes copied.
    pub bytes: u64,
}

/// A buffer, its copy, and what the frame changes of it.
pub(super) struct BufferCopy {
    pub device: u64,
    pub live: vk::Buffer,
    pub size: u64,
    /// None: it held zeros.
    pub backup: Option<BackupBuffer>,
    /// Spans that hold acceleration structures.
    pub holes: Vec<(u64, u64)>,
    /// Spans that the frame changes, in order, apart from one another.
    pub changed: Vec<(u64, u64)>,
}

/// An image, its copy, and what the frame changes of it.
pub(super) struct ImageCopy {
    pub state: ImageState,
    pub backup: Option<BackupImage>,
    /// Its layouts before the frame.
    pub start: Layouts,
    /// And after it, once that is known.
    pub end: Layouts,
    /// When it was last used before the frame, in the tracker's count.
    pub used: u64,
    /// Another resource lies in its memory.
    pub shares: bool,
    /// Parts that the frame changes.
    pub changed: BTreeSet<Part>,
}

/// What belongs to a device.
pub(super) struct Work {
    pub pool: vk::CommandPool,
    pub cmd: vk::CommandBuffer,
    pub fence: vk::Fence,
    pub queue: vk::Queue,
    pub staging: Option<BackupBuffer>,
    /// What the recorded command buffer does; none if it must be recorded.
    pub recorded: Option<Restored>,
}

/// See the module's header.
pub struct Snapshot {
    pub(super) tracking: Tracking,
    pub(super) work: HashMap<u64, Work>,
    pub(super) buffers: BTreeMap<u64, BufferCopy>,
    pub(super) images: BTreeMap<u64, ImageCopy>,
    pub(super) structures: Clones,
    /// The frame has run once: where it leaves layouts is known.
    pub(super) ended: bool,
    pub(super) cost: Cost,
    pub(super) not_restored: BTreeMap<String, u64>,
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

    pub(super) fn note(&mut self, what: impl Into<String>) {
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

//! What a scene is: what it asks of a device, and what it records and submits frame by frame.

use ash::vk;

use crate::error::Result;
use crate::gpu::swapchain::Swapchain;
use crate::gpu::{Gpu, Needs};

/// How many frames may be recorded before the first of them is finished.
///
/// What the host rewrites each frame, a scene has this many times: one for each slot.
pub const SLOTS: usize = 2;

/// A frame's own pool, and the command buffer from it.
pub(super) type Slot = (vk::CommandPool, vk::CommandBuffer);

/// Those of one slot.
pub(super) fn frame_slot(gpu: &Gpu, slot: usize) -> Result<Slot> {
    let (pool, [commands]) =
        gpu.command_buffers(&format!("frame pool {slot}"), [&format!("frame {slot}")])?;
    Ok((pool, commands))
}

/// Those of every slot.
pub(super) fn frame_slots(gpu: &Gpu) -> Result<Vec<Slot>> {
    (0..SLOTS).map(|slot| frame_slot(gpu, slot)).collect()
}

/// What a scene is, before there is a device.
pub trait Scene: Sync {
    /// The name on the command line.
    fn name(&self) -> &'static str;

    /// One line on what it shows.
    fn about(&self) -> &'static str;

    /// How many frames it has.
    fn frames(&self) -> u32 {
        30
    }

    /// The size of the swapchain.
    fn extent(&self) -> vk::Extent2D;

    /// What it does with the images of the swapchain.
    fn image_usage(&self) -> vk::ImageUsageFlags {
        vk::ImageUsageFlags::COLOR_ATTACHMENT
    }

    /// The frames whose images are committed beside a capture.
    fn pictured(&self) -> &'static [u32] {
        &[1, 15, 30]
    }

    /// What it asks of the device.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// The same in another size, or with another number of samples; none where it has one size only.
    fn sized(&self, _extent: Option<vk::Extent2D>, _samples: Option<u32>) -> Option<Box<dyn Scene>> {
        None
    }

    /// Makes its objects.
    fn build(&self, gpu: &Gpu, swapchain: &Swapchain) -> Result<Box<dyn Show>>;
}

/// A scene whose objects exist.
pub trait Show {
    /// Records a frame and says what to submit, in order.
    ///
    /// The frame that last used this slot is finished. The submission waits for the swapchain's image at
    /// the stage of colour output and signals for presentation; the scene leaves the image in the layout
    /// to present, its last write at the stage of colour output.
    fn record(&mut self, gpu: &Gpu, frame: Frame) -> Result<Vec<vk::CommandBuffer>>;
}

/// Which frame a scene is to record.
#[derive(Clone, Copy)]
pub struct Frame {
    /// Counted from 1.
    pub number: u32,
    /// Which of the [`SLOTS`] it uses.
    pub slot: usize,
    /// Which image of the swapchain it draws.
    pub image: usize,
}

//! The scenes.
//!
//! A scene is a folder here that implements [`Scene`], and one line in [`SCENES`]. `crate::run` owns the
//! frame loop, the swapchain and the synchronisation with it; a scene makes its objects once and then
//! says, for each frame, which command buffers to submit.

/// A committed shader, by its name in the folder of the scene that asks.
macro_rules! spirv {
    ($name:literal) => {
        $crate::gpu::pipeline::Spirv { name: $name, bytes: include_bytes!(concat!($name, ".spv")) }
    };
}

mod barriers;
mod builds;
mod closed_compute;
mod closed_fragment;
mod closed_rays;
mod cornell;
mod cubes;
mod effects;
mod feedback;
mod memory;
mod mesh;
mod monolithic;
mod msaa;
mod nested;
mod objects;
mod ordering;
mod pointers;
mod rays;
mod recursion;
mod rewrites;
mod stages;
mod steps;
mod tracing;
mod uniforms;
mod vm;
mod weekend;

use ash::vk;

use crate::error::Result;
use crate::gpu::swapchain::Swapchain;
use crate::gpu::{Gpu, Needs};

/// Every scene, in the order in which `--list` names them.
pub static SCENES: &[&dyn Scene] = &[
    &cubes::Cubes,
    &feedback::Feedback,
    &memory::Memory,
    &msaa::Msaa,
    &nested::Nested,
    &pointers::Pointers,
    &rays::Rays,
    &steps::Steps,
    &vm::Vm,
    &effects::Effects,
    &builds::Builds { by_host: false },
    &builds::Builds { by_host: true },
    &closed_compute::ClosedCompute,
    &closed_fragment::ClosedFragment,
    &closed_rays::ClosedRays,
    &stages::Stages,
    &weekend::WEEKEND,
    &weekend::WEEKEND_ANYHIT,
    &cornell::CORNELL,
    &mesh::Mesh,
    &recursion::Recursion,
    &monolithic::Monolithic { repartitioned: false },
    &monolithic::Monolithic { repartitioned: true },
    &uniforms::Uniforms,
    &ordering::Ordering,
    &rewrites::Rewrites,
    &objects::Objects,
];

/// How many frames may be recorded before the first of them is finished.
///
/// What the host rewrites each frame, a scene has this many times: one for each slot.
pub const SLOTS: usize = 2;

/// A frame's own pool, and the command buffer from it.
type Slot = (vk::CommandPool, vk::CommandBuffer);

/// Those of one slot.
fn frame_slot(gpu: &Gpu, slot: usize) -> Result<Slot> {
    let (pool, [commands]) =
        gpu.command_buffers(&format!("frame pool {slot}"), [&format!("frame {slot}")])?;
    Ok((pool, commands))
}

/// Those of every slot.
fn frame_slots(gpu: &Gpu) -> Result<Vec<Slot>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_plain() {
        for (index, scene) in SCENES.iter().enumerate() {
            let name = scene.name();
            assert!(
                name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'),
                "{name}"
            );
            assert!(SCENES[..index].iter().all(|other| other.name() != name), "{name} is there twice");
        }
    }
}

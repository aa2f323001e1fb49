//! The frame loop: acquire, record, submit, present.
//!
//! Two frames are in flight. Slot `s` has a fence (its last frame is finished) and a semaphore (its image
//! is acquired); each image of the swapchain has a semaphore (it is drawn), because only acquiring an
//! image again proves that the wait of its last presentation is over.

use std::path::Path;

use ash::vk;

use crate::error::{Doing, Error, Result};
use crate::gpu::readback::Readback;
use crate::gpu::swapchain::Swapchain;
use crate::gpu::{Colour, Gpu};
use crate::picture;
use crate::scenes::{Frame, SLOTS, Scene};

/// The label of a frame on the queue.
const FRAME_COLOUR: Colour = [0.5, 0.5, 0.5];

/// Which frames to write as images, and where.
#[derive(Clone, Copy)]
pub struct Images<'a> {
    /// The directory; made if it is not there.
    pub dir: &'a Path,
    /// The frames, counted from 1.
    pub frames: &'a [u32],
}

/// What a slot waits for.
struct Slot {
    finished: vk::Fence,
    acquired: vk::Semaphore,
}

/// Runs `frames` frames of a scene, and writes the images asked for.
///
/// Refuses to ask for an image of a frame that the run does not reach.
pub fn run(scene: &dyn Scene, frames: u32, images: Option<Images>) -> Result<()> {
    let gpu = Gpu::open(scene.name(), &scene.needs())?;
    let swapchain = Swapchain::new(&gpu, scene.extent(), scene.image_usage(), images.is_some())?;
    if let Some(images) = images {
        if let Some(beyond) = images.frames.iter().find(|number| !(1..=frames).contains(number)) {
            return Err(Error::new(format!("there is no frame {beyond} among 1 to {frames}")));
        }
        std::fs::create_dir_all(images.dir).doing(images.dir.display())?;
    }
    let readback = images.map(|_| Readback::new(&gpu, &swapchain)).transpose()?;
    let mut show = scene.build(&gpu, &swapchain).doing(format!("building the scene '{}'", scene.name()))?;

    let slots = (0..SLOTS).map(|index| slot(&gpu, index)).collect::<Result<Vec<_>>>()?;
    let drawn = (0..swapchain.images.len())
        .map(|index| semaphore(&gpu, &format!("image {index} drawn")))
        .collect::<Result<Vec<_>>>()?;

    for number in 1..=frames {
        let index = (number as usize - 1) % SLOTS;
        let Slot { finished, acquired } = slots[index];
        let fences = [finished];
        unsafe { gpu.device.wait_for_fences(&fences, true, u64::MAX) }?;
        // Nothing resizes a headless surface, so that a suboptimal swapchain is no concern here.
        let (image, _) = unsafe {
            gpu.swapchains.acquire_next_image(swapchain.handle, u64::MAX, acquired, vk::Fence::null())
        }?;
        unsafe { gpu.device.reset_fences(&fences) }?;

        let image = image as usize;
        let mut commands = show.record(&gpu, Frame { number, slot: index, image })?;
        let picture = images.filter(|images| images.frames.contains(&number)).zip(readback.as_ref());
        if let Some((_, readback)) = picture {
            commands.push(readback.record(&gpu, &swapchain, swapchain.images[image])?);
        }

        gpu.labelled_queue(&format!("frame {number}"), FRAME_COLOUR, || {
            let (waits, signals) = ([acquired], [drawn[image]]);
            let submit = vk::SubmitInfo::default()
                .wait_semaphores(&waits)
                .wait_dst_stage_mask(&[vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT])
                .command_buffers(&commands)
                .signal_semaphores(&signals);
            unsafe { gpu.device.queue_submit(gpu.queue, &[submit], finished) }
        })
        .doing(format!("submitting frame {number}"))?;
        present(&gpu, &swapchain, image, drawn[image]).doing(format!("presenting frame {number}"))?;

        if let Some((images, readback)) = picture {
            unsafe { gpu.device.wait_for_fences(&fences, true, u64::MAX) }?;
            let rgb = picture::rgb(swapchain.format, &readback.pixels())?;
            let path = images.dir.join(format!("{}_frame_{number}.png", scene.name()));
            picture::write_png(&path, swapchain.extent, &rgb)?;
            println!("wrote {}", path.display());
        }
    }
    gpu.wait()
}

fn present(gpu: &Gpu, swapchain: &Swapchain, image: usize, drawn: vk::Semaphore) -> Result<()> {
    let (waits, chains, indices) = ([drawn], [swapchain.handle], [image as u32]);
    let info =
        vk::PresentInfoKHR::default().wait_semaphores(&waits).swapchains(&chains).image_indices(&indices);
    unsafe { gpu.swapchains.queue_present(gpu.queue, &info) }?;
    Ok(())
}

/// The fence begins signalled: there is no frame before the first to wait for.
fn slot(gpu: &Gpu, index: usize) -> Result<Slot> {
    let info = vk::FenceCreateInfo::default().flags(vk::FenceCreateFlags::SIGNALED);
    let fence = unsafe { gpu.device.create_fence(&info, None) }?;
    Ok(Slot {
        finished: gpu.adopt(fence, &format!("slot {index} finished")),
        acquired: semaphore(gpu, &format!("slot {index} acquired"))?,
    })
}

fn semaphore(gpu: &Gpu, name: &str) -> Result<vk::Semaphore> {
    let made = unsafe { gpu.device.create_semaphore(&vk::SemaphoreCreateInfo::default(), None) }?;
    Ok(gpu.adopt(made, name))
}

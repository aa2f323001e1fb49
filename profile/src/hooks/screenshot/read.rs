//! Images and buffers as the GPU left them, in host memory.
//!
//! Waits for the queue that wrote them, with a bound; then copies with the replay's own queue and staging buffer.
//! Guarantees: the image is in the same layout afterwards. Refuses, by name and with the reason: images with several
//! samples a texel, transient ones, ones without contents, formats that cannot be shown.

use super::format;
use replay::ash::vk::{self, ImageAspectFlags as Aspect, ImageLayout as Layout};
use replay::error::{Error, Result};
use replay::vulkan::{ImageState, Vulkan, driver};

/// Texels as they were stored.
#[derive(Debug)]
pub struct Texels {
    /// In a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Of each.
    pub format: vk::Format,
    /// From row to row.
    pub row_bytes: usize,
    /// All of them.
    pub bytes: Vec<u8>,
}

/// What was read, or why it cannot be.
pub type Read<T> = std::result::Result<T, String>;

/// Waits until everything submitted to a queue so far is done, and what the last present waited for.
pub fn settle(vk: &mut Vulkan, queue: u64, watchdog_ns: u64) -> Result<()> {
    vk.finish_present()?;
    let Some(q) = vk.queue(queue).copied() else { return Ok(()) };
    let d = &vk.device(q.device)?.ash;
    let failed = |e| Error::driver("waiting for a queue before a screenshot", e);
    // SAFETY: a fence of our own on a live device; it is destroyed when signalled, or leaked when the GPU hangs.
    unsafe {
        let fence = d.create_fence(&vk::FenceCreateInfo::default(), None).map_err(failed)?;
        driver::submit(d, q.live, &[], fence)?;
        match d.wait_for_fences(&[fence], true, watchdog_ns) {
            Err(vk::Result::TIMEOUT) => {
                let text = format!("VkQueue {queue}, whose image is to be read back, did not finish");
                return Err(Error::hang(&text, watchdog_ns));
            }
            r => r.map_err(failed)?,
        }
        d.destroy_fence(fence, None);
    }
    Ok(())
}

/// Mip level 0 of layer 0 of an image that is in `layout`.
pub fn image(vk: &mut Vulkan, id: u64, layout: Layout) -> Result<Read<Texels>> {
    let Some(state) = vk.image(id).cloned() else { return Ok(Err(format!("VkImage {id} does not exist"))) };
    if let Err(why) = one_sample(&state).and_then(|()| readable(&state, layout)) {
        return Ok(Err(format!("VkImage {id} {why}")));
    }
    let (aspect, format, texel) = match shown(&state) {
        Ok(of) => of,
        Err(why) => return Ok(Err(format!("VkImage {id}: {why}"))),
    };
    let (width, height) = (state.extent.width, state.extent.height);
    let region = vk::BufferImageCopy {
        image_subresource: vk::ImageSubresourceLayers {
            aspect_mask: aspect,
            mip_level: 0,
            base_array_layer: 0,
            layer_count: 1,
        },
        image_extent: vk::Extent3D { width, height, depth: 1 },
        ..Default::default()
    };
    let row_bytes = width as usize * texel;
    let size = row_bytes as u64 * u64::from(height);
    let bytes = vk.device_mut(state.device)?.read_image(&state, layout, &[region], size)?;
    Ok(Ok(Texels { width, height, format, row_bytes, bytes }))
}

/// The aspect of an image that is shown, its format, and how many bytes a texel of it has.
pub fn shown(image: &ImageState) -> Read<(Aspect, vk::Format, usize)> {
    let aspects = image.aspects();
    let aspect = if aspects.contains(Aspect::DEPTH) { Aspect::DEPTH } else { aspects };
    let format = format::of_aspect(image.format, aspect);
    format::texel_bytes(format).map(|texel| (aspect, format, texel)).ok_or_else(|| format::refusal(format))
}

/// Whether each texel has one sample alone.
fn one_sample(image: &ImageState) -> Read<()> {
    match image.samples {
        vk::SampleCountFlags::TYPE_1 => Ok(()),
        n => Err(format!("has {} samples a texel; look at the image it is resolved into", n.as_raw())),
    }
}

/// Whether it can be copied in this layout, or resolved.
pub fn readable(image: &ImageState, layout: Layout) -> Read<()> {
    if !image.usage.contains(vk::ImageUsageFlags::TRANSFER_SRC) {
        return Err("is a transient attachment, which has no contents outside its render pass".into());
    }
    if layout == Layout::UNDEFINED || layout == Layout::PREINITIALIZED {
        return Err(format!("has no contents the GPU knows of yet (its layout is {layout:?})"));
    }
    Ok(())
}

/// A part of a buffer, as far as there is such a part.
pub fn buffer(vk: &mut Vulkan, id: u64, offset: u64, size: u64) -> Result<Read<Vec<u8>>> {
    let Some(state) = vk.buffer(id).cloned() else { return Ok(Err(format!("VkBuffer {id} does not exist"))) };
    let size = size.min(state.size.saturating_sub(offset));
    if size == 0 {
        return Ok(Ok(Vec::new()));
    }
    vk.device_mut(state.device)?.read_buffer(state.live, offset, size).map(Ok)
}

//! Contents of a trimmed capture's images that no copy can fill: multisampled ones, and attachments that only live in
//! tiles (transient).
//!
//! What a snapshot holds of a multisampled image is one value a pixel, whatever it held itself: capture layers resolve
//! colours (the mean of the samples; one sample of integers) and, since mid-2026 and where the application turned
//! dynamic rendering on, depth and stencil (the first sample); older ones leave depth and stencil out. So every sample of
//! a pixel gets the pixel's value. Where the samples of a pixel were alike, as everywhere but on edges, that is what the
//! image held; on edges it is not, and no replay of such a file can do better.
//!
//! A triangle that covers the target is drawn into each mip level and layer, in a render pass (which Vulkan 1.0 has):
//! colours from a single-sample image of our own, depths from the staging buffer by `gl_FragDepth`, stencil values from
//! there too, bit by bit, eight draws with a mask each, which asks for no extension. Bytes arrive as they are, with the
//! exceptions that a shader's arithmetic makes: a NaN may become another NaN, a denormal float 0, SNORM's lowest value
//! the one above it (which means the same), and depths are clamped to 0…1.
//!
//! Refuses (by a note in the report; the image's layout is set all the same) what [`Plan`] and the device cannot do.

mod draw;
mod objects;
mod owned;
mod plan;
#[cfg(test)]
mod tests;

use super::{DeviceState, ImageState, Vulkan};
use crate::error::Result;
use crate::report::Report;
use crate::vulkan::region::Region;
use ash::vk;
use plan::{Plan, Source, attachment_usage};

/// A multisampled or transient image may have to be drawn to: adds the use where the device can do so.
pub(super) fn widen(vk: &Vulkan, device: u64, info: &mut vk::ImageCreateInfo<'_>) -> Result<()> {
    let wanted = attachment_usage(super::live::aspects_of(info.format));
    if info.usage.contains(wanted) {
        return Ok(());
    }
    let d = vk.device(device)?;
    let Some(instance) = vk.instances.get(&d.instance_id) else { return Ok(()) };
    let usage = info.usage | wanted;
    // SAFETY: a query about a live physical device.
    let able = unsafe {
        instance.ash.get_physical_device_image_format_properties(
            d.gpu.handle,
            info.format,
            info.image_type,
            info.tiling,
            usage,
            info.flags,
        )
    };
    if able.is_ok_and(|p| p.sample_counts.contains(info.samples)) {
        info.usage = usage;
    }
    Ok(())
}

/// Draws `data`, laid out as `regions` say, into one aspect of an image, and leaves it in `to` (or where drawing left
/// it, if that is no real layout). What cannot be is noted.
pub(super) fn write(
    vk: &mut Vulkan,
    image: &mut ImageState,
    aspect: vk::ImageAspectFlags,
    (data, regions): (&[u8], &[Region]),
    to: vk::ImageLayout,
    report: &mut Report,
) -> Result<()> {
    let plan = Plan::new(image, aspect).and_then(|p| possible(vk, image, p, regions));
    match plan {
        Ok(plan) => vk.device_mut(image.device)?.draw_image(image, plan, data, regions, to),
        Err(why) => {
            report.note(&format!("contents of images were not loaded: {:?}, {why}", image.format));
            vk.device_mut(image.device)?.move_image(image, to)
        }
    }
}

/// What of a plan this device cannot do.
fn possible(vk: &Vulkan, image: &ImageState, plan: Plan, regions: &[Region]) -> Result<Plan, &'static str> {
    let Ok(d) = vk.device(image.device) else { return Err("of no device") };
    let (_, family) = d.own_queue();
    let able = d.gpu.families.get(family as usize).map(|f| f.queue_flags);
    if able.is_none_or(|f| !f.contains(vk::QueueFlags::GRAPHICS)) {
        return Err("and no queue here draws");
    }
    match plan.source {
        Source::Image(format) => {
            let Some(instance) = vk.instances.get(&d.instance_id) else { return Err("of no instance") };
            // SAFETY: a query about a live physical device.
            let props = unsafe { instance.ash.get_physical_device_format_properties(d.gpu.handle, format) };
            if !props.optimal_tiling_features.contains(vk::FormatFeatureFlags::SAMPLED_IMAGE) {
                return Err("which shaders cannot read here");
            }
        }
        Source::Buffer(texel) => {
            let layer = regions.iter().map(|r| layer_bytes(r, texel)).max().unwrap_or(0);
            if layer.saturating_add(slack(d)) > u64::from(d.gpu.properties.limits.max_storage_buffer_range) {
                return Err("larger than a shader can read here");
            }
        }
    }
    Ok(plan)
}

/// Bytes of one layer of a region.
fn layer_bytes(region: &Region, texel: u32) -> u64 {
    let e = region.image_extent;
    (u64::from(e.width) * u64::from(e.height)).saturating_mul(texel.into())
}

/// What a layer's first byte may lie behind the offset that its descriptor begins at.
fn slack(d: &DeviceState) -> u64 {
    d.gpu.properties.limits.min_storage_buffer_offset_alignment.max(4)
}

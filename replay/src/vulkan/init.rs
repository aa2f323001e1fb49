//! Metadata blocks: what is written to memory, and what a trimmed capture's snapshot loads.

use super::format::extent;
use super::{Vulkan, descriptors, exact, init_draw, memory, portability, ray, region, swapchain};
use crate::error::{Error, Kind, Result};
use crate::objects::Objects;
use crate::report::Report;
use crate::vulkan::live::ImageState;
use crate::vulkan::region::Region;
use ash::vk;
use gfxr_parse::meta::{InitImage, Meta, SwapchainImages};
use world::MetaBlock;

/// One metadata block.
pub fn meta(
    vk: &mut Vulkan,
    objects: &mut Objects,
    block: &mut MetaBlock<'_>,
    report: &mut Report,
) -> Result<()> {
    let data = block.data;
    let place = |e: Error| e.at(|| format!("block {}", block.block));
    exact::remember(vk, block.meta, report);
    match block.meta {
        Meta::BeginResourceInit(_) => {
            foresee(vk);
            Ok(())
        }
        Meta::FillMemory(m) => fill_memory(vk, m.memory, m.offset, data, report).map_err(place),
        Meta::InitBuffer(m) => init_buffer(vk, m.buffer, data, report).map_err(place),
        Meta::InitImage(m) => init_image(vk, m, data, report).map_err(place),
        Meta::SwapchainImages(m) => swapchain_images(vk, objects, m, report).map_err(place),
        Meta::InitTensor(_) => {
            report.note("contents of tensors (VK_ARM_tensors) were not loaded");
            Ok(())
        }
        Meta::BuildAcceleration(_) | Meta::CopyAcceleration(_) | Meta::WriteAcceleration(_) => {
            ray::meta(vk, objects, block.meta, report).map_err(place)
        }
        Meta::CreateHardwareBuffer(_) | Meta::DestroyHardwareBuffer(_) => {
            report.note("Android hardware buffers were not made");
            Ok(())
        }
        // Facts about the captured machine (collected before), or about objects by other means.
        _ => Ok(()),
    }
}

/// Contents are about to be loaded, whose pointers the capture explains only later: what it will say, and where that is.
fn foresee(vk: &mut Vulkan) {
    for a in vk.prologue.addresses.clone() {
        let captured = a.address;
        if a.structure {
            ray::foresee(vk, captured);
        }
        let Some(b) = vk.buffers.get(&a.object).filter(|_| !a.structure) else { continue };
        let bound = b.memory.is_some() && b.usage.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS);
        let (live, size, device) = (b.live, b.size, b.device);
        if let Some(d) = vk.devices.get(&device).filter(|_| bound && !vk.addresses.has(captured, a.object)) {
            let now = d.address_of(live);
            vk.addresses.insert(captured, a.object, now, size);
        }
    }
}

/// The snapshot is complete.
pub fn state_ends(vk: &mut Vulkan, objects: &mut Objects, report: &mut Report) -> Result<()> {
    ray::ends(vk, objects, report)?;
    for d in vk.devices.values() {
        d.wait_idle()?;
    }
    Ok(())
}

/// What the host wrote to mapped memory.
fn fill_memory(vk: &mut Vulkan, memory: u64, offset: u64, data: &[u8], report: &mut Report) -> Result<()> {
    let Some(at) = memory::mapped_at(vk, memory, offset, data.len(), report)? else { return Ok(()) };
    let translated = ray::memory_written(vk, memory, at, data)?;
    let data = translated.as_deref().unwrap_or(data);
    if !vk.realigned.is_empty() {
        portability::memory_written(vk, memory, at, data);
    }
    memory::fill(vk, memory, at, data)
}

fn init_buffer(vk: &mut Vulkan, id: u64, data: &[u8], report: &mut Report) -> Result<()> {
    let Some(b) = vk.buffers.get(&id) else {
        report.note("contents of buffers that do not exist were not loaded");
        return Ok(());
    };
    let (device, live, size) = (b.device, b.live, b.size);
    if data.len() as u64 > size {
        return Err(Error::divergence(format!("{} bytes for VkBuffer {id} of {size}", data.len())));
    }
    ray::loads(vk, id, data);
    descriptors::loaded(vk, id, data, report)?;
    let translated = ray::buffer_written(vk, id, data)?;
    portability::buffer_written(vk, id, 0, translated.as_deref().unwrap_or(data));
    let data = translated.as_deref().unwrap_or(data);
    if data.is_empty() || memory::write_resource(vk, id, false, data)? {
        return Ok(());
    }
    vk.device_mut(device)?.write_buffer(live, data)
}

/// Bytes our staging offsets are a multiple of: every texel and block size divides it.
const TEXEL_ALIGN: u64 = 96;

fn init_image(vk: &mut Vulkan, m: &InitImage, data: &[u8], report: &mut Report) -> Result<()> {
    let Some(mut image) = vk.images.remove(&m.image) else {
        report.note("contents of images that do not exist were not loaded");
        return Ok(());
    };
    let r = init_image_with(vk, &mut image, m, data, report);
    vk.images.insert(m.image, image);
    r
}

fn init_image_with(
    vk: &mut Vulkan,
    image: &mut ImageState,
    m: &InitImage,
    data: &[u8],
    report: &mut Report,
) -> Result<()> {
    let layout = vk::ImageLayout::from_raw(m.layout as i32);
    let aspect = vk::ImageAspectFlags::from_raw(m.aspect);
    if data.is_empty() {
        report.note(&format!(
            "the capture holds no contents of an image that was in use: {:?}{}",
            image.format,
            if image.samples == vk::SampleCountFlags::TYPE_1 { "" } else { ", multisampled" }
        ));
        return vk.device_mut(image.device)?.move_image(image, layout);
    }
    // A linear image's bytes are what its mapping held.
    if image.tiling == vk::ImageTiling::LINEAR && memory::write_resource(vk, m.image, true, data)? {
        return vk.device_mut(image.device)?.move_image(image, layout);
    }
    let place = |e: Error| Error::new(e.kind(), format!("contents of VkImage {}: {}", m.image, e.message()));
    let (regions, packed) = match image.stands_in() {
        false => stage(image, aspect, &m.level_bytes, data).map_err(place)?,
        true => {
            let captured = ImageState { format: image.captured_format, ..image.clone() };
            let (regions, texels) = stage(&captured, aspect, &m.level_bytes, data).map_err(place)?;
            portability::stand_ins::snapshot(vk, image, &regions, &texels)
        }
    };
    if image.samples != vk::SampleCountFlags::TYPE_1
        || !image.usage.contains(vk::ImageUsageFlags::TRANSFER_DST)
    {
        return init_draw::write(vk, image, aspect, (&packed, &regions), layout, report);
    }
    vk.device_mut(image.device)?.write_image(image, &packed, &regions, layout)
}

/// Lays mip levels out for a copy. Newer files align levels to the texel size, older ones do not; the sum tells.
/// Every region lies inside the image and the bytes.
pub(super) fn stage(
    image: &ImageState,
    aspect: vk::ImageAspectFlags,
    levels: &[u64],
    data: &[u8],
) -> Result<(Vec<Region>, Vec<u8>)> {
    let total = data.len() as u64;
    if levels.len() as u64 > u64::from(image.levels) {
        return Err(Error::new(
            Kind::Capture,
            format!("{} mip levels for an image of {}", levels.len(), image.levels),
        ));
    }
    let ends_at = |align: u64| {
        let after = |at: u64, n: &u64| at.checked_next_multiple_of(align)?.checked_add(*n);
        levels.iter().try_fold(0u64, after)
    };
    let align = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32].into_iter().find(|a| ends_at(*a) == Some(total));
    let align = align.ok_or_else(|| {
        Error::new(
            Kind::Capture,
            format!("mip levels of {levels:?} bytes do not make up {total} bytes of contents"),
        )
    })?;
    let (mut from, mut to) = (0u64, 0u64);
    let (mut regions, mut packed) = (Vec::new(), Vec::new());
    for (i, &n) in (0..).zip(levels) {
        // (no end is beyond `total`, and what is packed is no longer than that and its alignment)
        from = from.next_multiple_of(align);
        to = to.next_multiple_of(TEXEL_ALIGN);
        packed.resize(to as usize, 0);
        packed.extend_from_slice(&data[from as usize..(from + n) as usize]);
        let region = Region {
            buffer_offset: to,
            buffer_row_length: 0,
            buffer_image_height: 0,
            image_subresource: vk::ImageSubresourceLayers {
                aspect_mask: aspect,
                mip_level: i,
                base_array_layer: 0,
                layer_count: image.layers,
            },
            image_offset: vk::Offset3D::default(),
            image_extent: extent(image, aspect, i),
        };
        from += n;
        to += n;
        region::inside(image, &region, to)?;
        regions.push(region);
    }
    Ok((regions, packed))
}

/// Swapchain images as the snapshot found them: their layouts, and acquisitions that had not been waited for.
fn swapchain_images(
    vk: &mut Vulkan,
    objects: &mut Objects,
    m: &SwapchainImages,
    report: &mut Report,
) -> Result<()> {
    if !vk.swapchains.contains_key(&m.swapchain) {
        report.note("state of swapchains that do not exist was skipped");
        return Ok(());
    }
    for s in &m.images {
        let Some(mut image) = vk.images.remove(&s.image) else { continue };
        let moved = vk
            .device_mut(m.device)
            .and_then(|d| d.move_image(&mut image, vk::ImageLayout::from_raw(s.layout as i32)));
        vk.images.insert(s.image, image);
        moved?;
        if s.acquired != 0 {
            swapchain::signal(vk, objects, m.device, s.acquire_semaphore, s.acquire_fence)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ash::vk::Handle;

    fn image(levels: u32) -> ImageState {
        let info = vk::ImageCreateInfo {
            format: vk::Format::R8_UNORM,
            extent: vk::Extent3D { width: 3, height: 3, depth: 1 },
            mip_levels: levels,
            array_layers: 1,
            ..Default::default()
        };
        ImageState::new(1, vk::Image::from_raw(1), &info, 0)
    }

    #[test]
    fn old_and_new_mip_packing_are_told_apart_by_the_size() {
        let old: Vec<u8> = (0..10).collect();
        let (regions, packed) = stage(&image(2), vk::ImageAspectFlags::COLOR, &[9, 1], &old).expect("fits");
        assert_eq!((regions[1].buffer_offset, packed[96]), (96, 9));
        let new: Vec<u8> = (0..13).collect();
        let (_, packed) = stage(&image(2), vk::ImageAspectFlags::COLOR, &[9, 1], &new).expect("fits");
        assert_eq!(packed[96], 12);
        assert!(stage(&image(2), vk::ImageAspectFlags::COLOR, &[9, 1], &[0; 300]).is_err());
    }

    #[test]
    fn contents_that_are_not_the_images_are_refused() {
        let said = |levels: &[u64], bytes: usize| {
            let r = stage(&image(2), vk::ImageAspectFlags::COLOR, levels, &vec![0; bytes]);
            r.expect_err("refused").to_string()
        };
        assert!(said(&[9, 1, 1], 11).contains("3 mip levels for an image of 2"));
        assert!(said(&[8, 2], 10).contains("mip level 0 takes 9 bytes, 8 are there"));
        assert!(said(&[10, 0], 10).contains("mip level 1 takes 1 bytes, 0 are there"));
        for levels in [[u64::MAX, 1], [1, u64::MAX], [u64::MAX - 30, u64::MAX]] {
            assert!(said(&levels, 10).contains("do not make up 10 bytes of contents"), "{levels:?}");
        }
        let wrong =
            stage(&image(1), vk::ImageAspectFlags::DEPTH, &[9], &[0; 9]).expect_err("no depth").to_string();
        assert!(wrong.contains("a copy of the aspect DEPTH"), "{wrong}");
    }
}

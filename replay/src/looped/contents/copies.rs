//! Commands that copy: barriers, regions of images, ranges of buffers.
//!
//! Guarantees: every region names one aspect of one level; layers that follow one another are one region. Nothing here
//! submits.

use super::layouts::{Layouts, Move, Part};
use crate::vulkan::ImageState;
use crate::vulkan::format::{self, extent, rows};
use ash::vk;

/// Everything before is complete and visible to everything after.
pub(super) fn full_barrier(d: &ash::Device, cmd: vk::CommandBuffer) {
    let all = vk::PipelineStageFlags::ALL_COMMANDS;
    let memory = vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
        .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE);
    // SAFETY: recording.
    unsafe { d.cmd_pipeline_barrier(cmd, all, all, vk::DependencyFlags::empty(), &[memory], &[], &[]) };
}

/// What was copied is for the host to read.
pub(super) fn to_host(d: &ash::Device, cmd: vk::CommandBuffer) {
    use vk::PipelineStageFlags as S;
    let memory = vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
        .dst_access_mask(vk::AccessFlags::HOST_READ);
    // SAFETY: recording.
    unsafe {
        d.cmd_pipeline_barrier(cmd, S::TRANSFER, S::HOST, vk::DependencyFlags::empty(), &[memory], &[], &[])
    };
}

/// The moves of an image as barriers, after and before everything else.
pub(super) fn barriers(
    image: vk::Image,
    moves: &[Move],
) -> impl Iterator<Item = vk::ImageMemoryBarrier<'static>> {
    moves.iter().map(move |(range, from, to)| {
        vk::ImageMemoryBarrier::default()
            .image(image)
            .old_layout(*from)
            .new_layout(*to)
            .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .subresource_range(*range)
    })
}

/// Records these barriers.
pub(super) fn move_images(
    d: &ash::Device,
    cmd: vk::CommandBuffer,
    barriers: &[vk::ImageMemoryBarrier<'static>],
) {
    if barriers.is_empty() {
        return;
    }
    let all = vk::PipelineStageFlags::ALL_COMMANDS;
    // SAFETY: recording; the images are alive and idle.
    unsafe { d.cmd_pipeline_barrier(cmd, all, all, vk::DependencyFlags::empty(), &[], &[], barriers) };
}

/// Copies of these parts between two images of one shape.
pub(super) fn regions(image: &ImageState, layouts: &Layouts, parts: &[Part]) -> Vec<vk::ImageCopy> {
    let mut regions: Vec<vk::ImageCopy> = Vec::new();
    for p in parts {
        let aspect = layouts.aspects()[p.aspect];
        if let Some(r) = regions.last_mut() {
            let s = &mut r.src_subresource;
            if (s.aspect_mask, s.mip_level) == (aspect, p.level)
                && s.base_array_layer + s.layer_count == p.layer
            {
                s.layer_count += 1;
                r.dst_subresource = *s;
                continue;
            }
        }
        let sub = vk::ImageSubresourceLayers {
            aspect_mask: aspect,
            mip_level: p.level,
            base_array_layer: p.layer,
            layer_count: 1,
        };
        regions.push(vk::ImageCopy {
            src_subresource: sub,
            dst_subresource: sub,
            extent: extent(image, aspect, p.level),
            ..Default::default()
        });
    }
    regions
}

/// Bytes of these parts, or what the whole image takes where its format is not known.
pub(super) fn bytes(image: &ImageState, layouts: &Layouts, parts: &[Part]) -> u64 {
    let Some(planes) = format::planes(image.format) else { return image.size };
    let samples = u64::from(image.samples.as_raw());
    let of = |p: &Part| {
        let e = extent(image, layouts.aspects()[p.aspect], p.level);
        let (row, high, deep) = rows(&planes[p.aspect], e);
        row.saturating_mul(high.into()).saturating_mul(deep.into()).saturating_mul(samples)
    };
    parts.iter().map(of).fold(0, u64::saturating_add)
}

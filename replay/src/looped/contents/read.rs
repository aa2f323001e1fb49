//! Bytes out of buffers and images, beside those of their copies, through bounded staging.
//!
//! What is read is cut into chunks (rows or slices of images, spans of buffers) that are packed into the staging buffer;
//! each full buffer is one submission. Images are to be in TRANSFER_SRC_OPTIMAL. Guarantees: chunks come in the order
//! asked for; the bits of 24-bit depths that mean nothing are zero. Refuses nothing.

use super::backup::{self, BackupBuffer};
use super::copies::{full_barrier, to_host};
use super::layouts::{Layouts, Part};
use crate::error::{Error, Kind, Result};
use crate::vulkan::format::{self, Plane, extent, rows};
use crate::vulkan::{DeviceState, ImageState};
use ash::vk;

/// Bytes of staging; half of it is for copies.
const STAGING_BYTES: u64 = 64 << 20;
/// What offsets in it are multiples of: every texel and block size divides it.
const ALIGN: u64 = 96;

/// A piece that fits into half of the staging buffer.
#[derive(Clone)]
pub(super) struct Chunk {
    /// The caller's number of the resource.
    pub of: usize,
    /// Which part of an image.
    pub part: Option<Part>,
    /// Where in a buffer.
    pub at: u64,
    /// Bytes.
    pub len: u64,
    depth_24: bool,
    from: From,
    backup: Option<From>,
}

#[derive(Clone, Copy)]
enum From {
    Buffer(vk::Buffer),
    Image(vk::Image, vk::BufferImageCopy),
}

/// The chunks of a span of a buffer.
pub(super) fn buffer(
    of: usize,
    live: vk::Buffer,
    backup: Option<vk::Buffer>,
    span: (u64, u64),
    to: &mut Vec<Chunk>,
) {
    let most = STAGING_BYTES / 2;
    let mut at = span.0;
    while at < span.1 {
        let len = most.min(span.1 - at);
        let (from, backup) = (From::Buffer(live), backup.map(From::Buffer));
        to.push(Chunk { of, part: None, at, len, depth_24: false, from, backup });
        at += len;
    }
}

/// The chunks of a part of an image whose format is known.
pub(super) fn part(
    of: usize,
    image: &ImageState,
    backup: Option<vk::Image>,
    layouts: &Layouts,
    p: Part,
    to: &mut Vec<Chunk>,
) {
    let Some(planes) = format::planes(image.format) else { return };
    let plane = planes[p.aspect];
    let whole = extent(image, plane.aspect, p.level);
    let (row, high, deep) = rows(&plane, whole);
    let most = STAGING_BYTES / 2;
    debug_assert_eq!(layouts.aspects()[p.aspect], plane.aspect);
    // As many slices as fit, or as many rows of one.
    let slice = row * u64::from(high);
    let slices = (most / slice.max(1)).clamp(1, u64::from(deep)) as u32;
    let at_once = (most / row.max(1)).clamp(1, u64::from(high)) as u32;
    let step = if slice <= most { high } else { at_once };
    let mut z = 0;
    while z < deep {
        let thick = slices.min(deep - z);
        let mut y = 0;
        while y < high {
            let tall = step.min(high - y);
            let region = region(&plane, whole, p, (y, tall), (z, thick));
            let len = row * u64::from(tall) * u64::from(thick);
            to.push(Chunk {
                of,
                part: Some(p),
                at: 0,
                len,
                depth_24: format::is_depth_24(image.format, plane.aspect),
                from: From::Image(image.live, region),
                backup: backup.map(|t| From::Image(t, region)),
            });
            y += tall;
        }
        z += thick;
    }
}

fn region(
    plane: &Plane,
    whole: vk::Extent3D,
    p: Part,
    (y, tall): (u32, u32),
    (z, thick): (u32, u32),
) -> vk::BufferImageCopy {
    let top = y * plane.block.1;
    vk::BufferImageCopy {
        image_subresource: vk::ImageSubresourceLayers {
            aspect_mask: plane.aspect,
            mip_level: p.level,
            base_array_layer: p.layer,
            layer_count: 1,
        },
        image_offset: vk::Offset3D { x: 0, y: top as i32, z: z as i32 },
        image_extent: vk::Extent3D {
            width: whole.width,
            height: (tall * plane.block.1).min(whole.height - top),
            depth: thick,
        },
        ..Default::default()
    }
}

/// A chunk's bytes now, and those of its copy (none if it has none).
pub(super) type Bytes<'b> = (&'b Chunk, &'b [u8], &'b [u8]);

/// Reads chunks, a staging buffer full at a time.
pub(super) fn read(
    d: &mut DeviceState,
    staging: &mut Option<BackupBuffer>,
    chunks: &[Chunk],
    mut each: impl FnMut(&[Bytes<'_>]) -> Result<()>,
) -> Result<()> {
    if chunks.is_empty() {
        return Ok(());
    }
    if staging.is_none() {
        *staging = Some(backup::staging(d, STAGING_BYTES)?);
    }
    let to = staging.as_ref().expect("just made");
    let invisible = || Error::new(Kind::Internal, "staging memory is not mapped");
    // SAFETY: the device writes them only in `run`, which waits for it; the host writes nothing there.
    let mapped = unsafe { to.alloc.bytes(STAGING_BYTES) }.ok_or_else(invisible)?;
    let half = STAGING_BYTES / 2 / ALIGN * ALIGN;
    let mut left = chunks;
    while !left.is_empty() {
        let (mut at, mut n, mut offsets) = (0, 0, Vec::new());
        while n < left.len() && (n == 0 || at + left[n].len <= half) {
            offsets.push(at);
            at = (at + left[n].len).next_multiple_of(ALIGN);
            n += 1;
        }
        let (batch, rest) = left.split_at(n);
        d.run(|d, cmd| {
            full_barrier(d, cmd);
            for (c, at) in batch.iter().zip(&offsets) {
                copy_out(d, cmd, c.from, c, to.live, *at);
                if let Some(backup) = c.backup {
                    copy_out(d, cmd, backup, c, to.live, half + *at);
                }
            }
            to_host(d, cmd);
        })?;
        let bytes: Vec<Bytes<'_>> = batch
            .iter()
            .zip(&offsets)
            .map(|(c, at)| {
                let now = &mapped[*at as usize..(*at + c.len) as usize];
                let then = match c.backup {
                    Some(_) => &mapped[(half + at) as usize..(half + at + c.len) as usize],
                    None => &[],
                };
                (c, now, then)
            })
            .collect();
        each(&bytes)?;
        left = rest;
    }
    Ok(())
}

fn copy_out(d: &ash::Device, cmd: vk::CommandBuffer, from: From, c: &Chunk, to: vk::Buffer, at: u64) {
    // SAFETY: recording; both are alive, and the staging buffer has room for the chunk there.
    unsafe {
        match from {
            From::Buffer(b) => {
                let copy = vk::BufferCopy::default().src_offset(c.at).dst_offset(at).size(c.len);
                d.cmd_copy_buffer(cmd, b, to, &[copy]);
            }
            From::Image(image, region) => {
                let region = vk::BufferImageCopy { buffer_offset: at, ..region };
                let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
                d.cmd_copy_image_to_buffer(cmd, image, layout, to, &[region]);
            }
        }
    }
}

impl Chunk {
    /// Its bytes without what means nothing in them.
    pub fn meaning<'b>(&self, bytes: &'b [u8]) -> std::borrow::Cow<'b, [u8]> {
        if !self.depth_24 {
            return bytes.into();
        }
        let mut owned = bytes.to_vec();
        owned.chunks_exact_mut(4).for_each(|t| t[3] = 0);
        owned.into()
    }
}

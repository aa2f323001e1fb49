//! Copies of images and buffers, recorded into the application's command buffers, and read once the device has made them.
//!
//! Guarantees: layouts and contents are as before. Of a view the base level and layer are copied. Of several samples a texel it is what the device
//! resolves them into: the mean, of integers one of them, of depth and stencil the first. Refuses, with the reason: depth and stencil of several samples where the
//! device cannot resolve them, images of several planes, transient ones, formats of an unknown size, buffers that are not there any more, what a queue without graphics cannot copy, and more than [`MOST_BYTES`].
#![allow(unsafe_code)]

use super::resolved::{From, Resolved, renders};
use crate::changes::memory::barrier;
use crate::hooks::readable::Readable;
use crate::hooks::screenshot::read::{Read, Texels, readable};
use crate::hooks::screenshot::{Content, Shot, format};
use replay::ash::vk::{self, ImageAspectFlags as Aspect};
use replay::error::Result;
use replay::vulkan::Vulkan;
use world::formats::{self, Plane};
use world::objects::{ImageView, Subresources};

/// Bytes of one resource, at most, but for attachments.
pub const MOST_BYTES: u64 = 256 << 20;
/// Layouts of depth or stencil alone.
const APART: [vk::ImageLayout; 4] = [
    vk::ImageLayout::DEPTH_ATTACHMENT_OPTIMAL,
    vk::ImageLayout::DEPTH_READ_ONLY_OPTIMAL,
    vk::ImageLayout::STENCIL_ATTACHMENT_OPTIMAL,
    vk::ImageLayout::STENCIL_READ_ONLY_OPTIMAL,
];
/// Why what has such is not read.
pub const IS_APART: &str = "has depth and stencil in layouts of their own";

/// What is copied.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// Of a buffer: its captured id, the first byte, how many.
    Buffer(u64, u64, u64),
    /// What a view shows first, in this VkImageLayout.
    Image(ImageView, u32),
}

impl Source {
    /// The captured id of the buffer or image.
    pub fn object(&self) -> u64 {
        match self {
            Source::Buffer(id, ..) => *id,
            Source::Image(view, _) => view.image,
        }
    }
}

/// How texels lie in what was copied, row by row without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Texture {
    /// Of each texel, of the aspect that was copied.
    pub format: vk::Format,
    /// Width and height.
    pub extent: [u32; 2],
    /// Samples of each texel in the image; what was copied has one.
    pub samples: u32,
    /// Of several, the first was copied.
    pub first_sample: bool,
}

/// What was read.
#[derive(Clone, Debug)]
pub struct Contents {
    /// As it is stored.
    pub bytes: Vec<u8>,
    /// Of images.
    pub texture: Option<Texture>,
}

impl Contents {
    /// As 8-bit colours.
    pub fn shot(self, frame: u64) -> Read<Shot> {
        let Some(Texture { format, extent: [width, height], .. }) = self.texture else {
            return Err("a buffer has no colours".into());
        };
        let texel = format::texel_bytes(format).ok_or_else(|| format::refusal(format))?;
        let row_bytes = width as usize * texel;
        let rgba = format::to_rgba8(format, &self.bytes, width, height, row_bytes)?;
        let texels = Texels { width, height, format, row_bytes, bytes: self.bytes };
        Ok(Shot { frame, swapchain: None, width, height, rgba, stored: Content::from(texels) })
    }
}

/// A copy that the device makes.
pub struct Copy {
    device: u64,
    to: Readable,
    /// Where it went on the way.
    resolved: Option<Resolved>,
    texture: Option<Texture>,
}

/// Where copies are recorded.
#[derive(Clone, Copy)]
pub struct Into {
    /// The command buffer.
    pub commands: vk::CommandBuffer,
    /// Its queue has graphics.
    pub graphics: bool,
}

impl Copy {
    /// Records one, outside of render passes, of so many bytes at most.
    pub fn record(vk: &Vulkan, into: Into, of: &Source, most: u64) -> Result<Read<Copy>> {
        match of {
            Source::Buffer(id, offset, bytes) => buffer(vk, into.commands, (*id, *offset, *bytes), most),
            Source::Image(view, layout) => {
                image(vk, into, view, vk::ImageLayout::from_raw(*layout as i32), most)
            }
        }
    }

    /// The captured id of its device.
    pub fn device(&self) -> u64 {
        self.device
    }

    /// How many bytes it has.
    pub fn bytes(&self) -> u64 {
        self.to.bytes
    }

    /// What it has copied; the device is done with it.
    pub fn read(&self) -> Contents {
        // SAFETY: mapped, of this size, and the device has written it.
        let bytes = unsafe { std::slice::from_raw_parts(self.to.map, self.to.bytes as usize) }.to_vec();
        Contents { bytes, texture: self.texture }
    }

    /// Gives its memory back.
    pub fn destroy(self, vk: &Vulkan) {
        if let Ok(d) = vk.device(self.device) {
            self.to.destroy(&d.ash);
            self.resolved.iter().for_each(|r| r.destroy(&d.ash));
        }
    }
}

/// Memory for a copy.
fn room(vk: &Vulkan, device: u64, bytes: u64, most: u64) -> Result<Read<Readable>> {
    if bytes > most {
        return Ok(Err(format!(
            "has {bytes} bytes, more than the {most} that may still be read of one resource"
        )));
    }
    let d = vk.device(device)?;
    let made = Readable::new(&d.ash, &d.gpu.memory, bytes);
    Ok(made.map_err(|why| format!("there is no memory to copy it to: {why}")))
}

fn buffer(
    vk: &Vulkan,
    commands: vk::CommandBuffer,
    (id, offset, bytes): (u64, u64, u64),
    most: u64,
) -> Result<Read<Copy>> {
    let Some(b) = vk.buffer(id) else { return Ok(Err("its buffer does not exist".into())) };
    if b.memory.is_none() {
        return Ok(Err("its buffer has no memory, or is a sparse one".into()));
    }
    if !b.usage.contains(vk::BufferUsageFlags::TRANSFER_SRC) {
        return Ok(Err("its buffer cannot be copied from".into()));
    }
    let size = bytes.min(b.size.saturating_sub(offset));
    if size == 0 {
        return Ok(Err("no bytes of it are bound".into()));
    }
    let to = match room(vk, b.device, size, most)? {
        Ok(to) => to,
        Err(why) => return Ok(Err(why)),
    };
    let region = vk::BufferCopy { src_offset: offset, dst_offset: 0, size };
    // SAFETY: a command buffer that is being recorded, outside of render passes; live buffers, and both ranges are within them.
    unsafe { vk.device(b.device)?.ash.cmd_copy_buffer(commands, b.live, to.buffer, &[region]) };
    Ok(Ok(Copy { device: b.device, to, resolved: None, texture: None }))
}

fn image(
    vk: &Vulkan,
    Into { commands, graphics }: Into,
    view: &ImageView,
    layout: vk::ImageLayout,
    most: u64,
) -> Result<Read<Copy>> {
    let Some(image) = vk.image(view.image) else { return Ok(Err("its image does not exist".into())) };
    if let Err(why) = readable(image, layout) {
        return Ok(Err(why));
    }
    let aspects = image.aspects();
    if APART.contains(&layout) && aspects.contains(Aspect::DEPTH | Aspect::STENCIL) {
        return Ok(Err(IS_APART.to_owned()));
    }
    let depth = aspects.contains(Aspect::DEPTH) && view.range.aspects != formats::STENCIL;
    let wanted = if depth { formats::DEPTH } else { aspects.as_raw() };
    let plane = formats::planes(image.format.as_raw()).unwrap_or_default();
    let plane = plane.into_iter().find(|p| p.aspect & wanted != 0 && p.divided == (1, 1));
    let Some(Plane { aspect, block_bytes, block, .. }) = plane.filter(|p| p.aspect < formats::PLANE_0) else {
        return Ok(Err(format!(
            "is of {}, whose texels cannot be read one by one",
            format::name(image.format)
        )));
    };
    let aspect = Aspect::from_raw(aspect);
    let device = vk.device(image.device)?;
    let several = image.samples != vk::SampleCountFlags::TYPE_1;
    let first_sample = several && aspect != Aspect::COLOR;
    if first_sample && !renders(vk, device) {
        let n = image.samples.as_raw();
        return Ok(Err(format!(
            "has {n} samples a texel, and this device cannot resolve depth without Vulkan 1.3"
        )));
    }
    if !graphics && (several || aspect != Aspect::COLOR) {
        return Ok(Err("is used on a queue without graphics, which cannot copy it".into()));
    }
    let Subresources { level, layer, .. } = view.range;
    let size = |n: u32| (n >> level.min(31)).max(1);
    let [width, height] = [size(image.extent.width), size(image.extent.height)];
    let blocks = u64::from(width.div_ceil(block.0)) * u64::from(height.div_ceil(block.1));
    let to = match room(vk, image.device, blocks * u64::from(block_bytes), most)? {
        Ok(to) => to,
        Err(why) => return Ok(Err(why)),
    };
    // (a 3D image has one layer; a slice of it is seen where the view begins)
    let flat = image.kind != vk::ImageType::TYPE_3D;
    let (layer, slice) = if flat { (layer, 0) } else { (0, layer) };
    let range = vk::ImageSubresourceRange {
        aspect_mask: aspects,
        base_mip_level: level,
        level_count: 1,
        base_array_layer: layer,
        layer_count: 1,
    };
    let layers = vk::ImageSubresourceLayers {
        aspect_mask: aspect,
        mip_level: level,
        base_array_layer: layer,
        layer_count: 1,
    };
    let d = &device.ash;
    let extent = [width, height];
    let from =
        From { image: image.live, format: image.format, aspects, samples: image.samples, layers, extent };
    let resolved = match several.then(|| Resolved::new(device, &from)).transpose() {
        Ok(resolved) => resolved,
        Err(e) => {
            to.destroy(d);
            return Ok(Err(format!("there is no image to resolve it into: {e}")));
        }
    };
    // (what it is resolved into has no levels and layers)
    let image_subresource = match several {
        true => vk::ImageSubresourceLayers { mip_level: 0, base_array_layer: 0, ..layers },
        false => layers,
    };
    let region = vk::BufferImageCopy {
        image_subresource,
        image_offset: vk::Offset3D { x: 0, y: 0, z: slice as i32 },
        image_extent: vk::Extent3D { width, height, depth: 1 },
        ..Default::default()
    };
    let copied = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
    barrier(d, commands, (image.live, range), layout, copied);
    let source = resolved.as_ref().map_or(image.live, |r| r.record(d, commands, &from));
    // SAFETY: a command buffer that is being recorded, outside of render passes; a live image in this layout, and a buffer that is large enough.
    unsafe { d.cmd_copy_image_to_buffer(commands, source, copied, to.buffer, &[region]) };
    barrier(d, commands, (image.live, range), copied, layout);
    let texture = Texture {
        format: format::of_aspect(image.format, aspect),
        extent,
        samples: image.samples.as_raw(),
        first_sample,
    };
    Ok(Ok(Copy { device: image.device, to, resolved, texture: Some(texture) }))
}

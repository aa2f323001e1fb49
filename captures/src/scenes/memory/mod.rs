//! `memory`: memory that several resources lie in, or that is one resource's alone. No shader: fills, clears and copies.
//!
//! Twelve tiles of 16x16, each of the colours that [`colour`] says. A replayer that gives resources other memory than the
//! program did must keep what they shared, where in a mapping each lay, and the rows of images that the host writes:
//!
//! | tile | where it comes from |
//! |---|---|
//! | 0, 1 | two images that alias each other, one after the other; the second is the larger one, and bound later |
//! | 2 | a buffer in the same memory, after both |
//! | 3 | a buffer's second third, written in another buffer that begins before it and was bound after it |
//! | 4 | an image that an identical one at the same place was written as (VK_IMAGE_CREATE_ALIAS_BIT) |
//! | 5 | a linear image at an offset, of 13 columns, written row by row through a mapping |
//! | 6, 7 | an image and a buffer with dedicated memory |
//! | 8 | a buffer at an offset, written through a mapping that begins at another; flushed, with an offset |

mod make;

use ash::vk;

use super::barriers::{Access, ImageState, Stage, barrier, image_barrier};
use super::{Frame, SLOTS, Scene, Show, frame_slot};
use crate::error::Result;
use crate::gpu::Gpu;
use crate::gpu::swapchain::Swapchain;

const EXTENT: vk::Extent2D = vk::Extent2D { width: 64, height: 48 };
/// Pixels along a tile's sides.
const SIDE: u32 = 16;
/// Bytes of a tile.
const TILE_BYTES: u64 = (SIDE * SIDE * 4) as u64;
/// Columns of the linear image: rows of 52 bytes, which drivers pad each in its own way.
const COLUMNS: u32 = 13;
const TRANSFER: (Stage, Access) =
    (Stage::TRANSFER, Access::from_raw(Access::TRANSFER_READ.as_raw() | Access::TRANSFER_WRITE.as_raw()));

/// The colour of a tile's row in a frame, as bytes blue, green, red, alpha.
fn colour(tile: u32, row: u32, frame: u32) -> u32 {
    u32::from_le_bytes([(40 * (frame % 6) + 5) as u8, (15 * row) as u8, (20 * tile + 10) as u8, 255])
}

/// The scene.
pub struct Memory;

impl Scene for Memory {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn about(&self) -> &'static str {
        "resources that share memory, lie at offsets in it, have it for themselves, or are written row by row"
    }

    fn frames(&self) -> u32 {
        4
    }

    fn pictured(&self) -> &'static [u32] {
        &[1, 4]
    }

    fn extent(&self) -> vk::Extent2D {
        EXTENT
    }

    fn image_usage(&self) -> vk::ImageUsageFlags {
        // The views that a swapchain comes with want a use of their own.
        vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::COLOR_ATTACHMENT
    }

    fn build(&self, gpu: &Gpu, swapchain: &Swapchain) -> Result<Box<dyn Show>> {
        Ok(Box::new(Running::new(gpu, swapchain)?))
    }
}

/// The scene with its objects.
struct Running {
    slots: Vec<Slot>,
    small: vk::Image,
    large: vk::Image,
    after: vk::Buffer,
    part: vk::Buffer,
    whole: vk::Buffer,
    twins: [vk::Image; 2],
    alone: vk::Image,
    alone_buffer: vk::Buffer,
    presented: Vec<vk::Image>,
}

/// What the host writes: once for each slot.
struct Slot {
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    rows: make::Rows,
    flushed: make::Flushed,
}

impl Running {
    fn new(gpu: &Gpu, swapchain: &Swapchain) -> Result<Self> {
        let format = swapchain.format;
        // The later one of each of these pairs reaches beyond the earlier one.
        let small = make::image(gpu, "small", format, (SIDE, SIDE), vk::ImageCreateFlags::empty())?;
        let large = make::image(gpu, "large", format, (8 * SIDE, 8 * SIDE), vk::ImageCreateFlags::empty())?;
        let part = make::buffer(gpu, "part", TILE_BYTES)?;
        let whole = make::buffer(gpu, "whole", 3 * TILE_BYTES)?;
        let after = make::buffer(gpu, "after", TILE_BYTES)?;
        make::share(gpu, &[small, large], &[(after, 0)])?;
        make::share(gpu, &[], &[(part, TILE_BYTES), (whole, 0)])?;
        let alias = vk::ImageCreateFlags::ALIAS;
        let twins = [
            make::image(gpu, "twin 1", format, (SIDE, SIDE), alias)?,
            make::image(gpu, "twin 2", format, (SIDE, SIDE), alias)?,
        ];
        make::share(gpu, &twins, &[])?;
        let alone = make::dedicated_image(gpu, "alone", format, (SIDE, SIDE))?;
        let alone_buffer = make::dedicated_buffer(gpu, "alone buffer", TILE_BYTES)?;
        let mut rows = make::rows(gpu, format, (COLUMNS, SIDE))?;
        let slots = (0..SLOTS)
            .map(|slot| {
                let (pool, commands) = frame_slot(gpu, slot)?;
                let flushed = make::flushed(gpu, &format!("flushed {slot}"), TILE_BYTES)?;
                Ok(Slot { pool, commands, rows: rows.remove(0), flushed })
            })
            .collect::<Result<_>>()?;
        let presented = swapchain.images.clone();
        Ok(Self { slots, small, large, after, part, whole, twins, alone, alone_buffer, presented })
    }
}

const LAYERS: vk::ImageSubresourceLayers = vk::ImageSubresourceLayers {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    mip_level: 0,
    base_array_layer: 0,
    layer_count: 1,
};
const WRITTEN: ImageState = (vk::ImageLayout::TRANSFER_DST_OPTIMAL, Stage::TRANSFER, Access::TRANSFER_WRITE);
const READ: ImageState = (vk::ImageLayout::TRANSFER_SRC_OPTIMAL, Stage::TRANSFER, Access::TRANSFER_READ);
/// Whatever was there is not wanted; what was done there is done.
const NEW: ImageState = (vk::ImageLayout::UNDEFINED, Stage::TRANSFER, Access::TRANSFER_WRITE);

/// Records a frame.
struct Recorder<'a> {
    device: &'a ash::Device,
    commands: vk::CommandBuffer,
    shown: vk::Image,
    frame: u32,
}

impl Recorder<'_> {
    /// Everything before, before everything after.
    fn settle(&self) {
        barrier(self.device, self.commands, TRANSFER, TRANSFER);
    }

    fn place(tile: u32) -> vk::Offset3D {
        vk::Offset3D { x: (tile % 4 * SIDE) as i32, y: (tile / 4 * SIDE) as i32, z: 0 }
    }

    /// Makes an image all of a tile's colour, in one way or the other a driver may pack it.
    fn clear(&self, image: vk::Image, tile: u32) {
        let [blue, green, red, alpha] =
            colour(tile, 0, self.frame).to_le_bytes().map(|b| f32::from(b) / 255.0);
        let value = vk::ClearColorValue { float32: [red, green, blue, alpha] };
        let range = vk::ImageSubresourceRange::default()
            .aspect_mask(vk::ImageAspectFlags::COLOR)
            .level_count(1)
            .layer_count(1);
        image_barrier(self.device, self.commands, image, NEW, WRITTEN);
        unsafe { self.device.cmd_clear_color_image(self.commands, image, WRITTEN.0, &value, &[range]) };
    }

    /// Shows an image's first columns, the image being in some layout to be read in.
    fn show(&self, image: vk::Image, layout: vk::ImageLayout, columns: u32, tile: u32) {
        let region = vk::ImageCopy::default()
            .src_subresource(LAYERS)
            .dst_subresource(LAYERS)
            .dst_offset(Self::place(tile))
            .extent(vk::Extent3D { width: columns, height: SIDE, depth: 1 });
        let (device, commands) = (self.device, self.commands);
        unsafe { device.cmd_copy_image(commands, image, layout, self.shown, WRITTEN.0, &[region]) };
    }

    /// Shows what lies in a buffer.
    fn show_buffer(&self, buffer: vk::Buffer, tile: u32) {
        let region = vk::BufferImageCopy::default()
            .image_subresource(LAYERS)
            .image_offset(Self::place(tile))
            .image_extent(vk::Extent3D { width: SIDE, height: SIDE, depth: 1 });
        let (device, commands) = (self.device, self.commands);
        unsafe { device.cmd_copy_buffer_to_image(commands, buffer, self.shown, WRITTEN.0, &[region]) };
    }

    fn fill(&self, buffer: vk::Buffer, offset: u64, tile: u32) {
        let value = colour(tile, 0, self.frame);
        unsafe { self.device.cmd_fill_buffer(self.commands, buffer, offset, TILE_BYTES, value) };
    }
}

impl Show for Running {
    fn record(&mut self, gpu: &Gpu, frame: Frame) -> Result<Vec<vk::CommandBuffer>> {
        let slot = &self.slots[frame.slot];
        slot.rows.write(|row, _| colour(5, row, frame.number));
        slot.flushed.write(gpu, |i| colour(8, i / SIDE, frame.number))?;
        let commands = slot.commands;
        unsafe { gpu.device.reset_command_pool(slot.pool, vk::CommandPoolResetFlags::empty()) }?;
        gpu.record(commands, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT, |device| {
            let shown = self.presented[frame.image];
            let r = Recorder { device, commands, shown, frame: frame.number };
            let output = Stage::COLOR_ATTACHMENT_OUTPUT;
            let acquired = (vk::ImageLayout::UNDEFINED, output, Access::empty());
            image_barrier(device, commands, shown, acquired, WRITTEN);
            let black = vk::ClearColorValue { float32: [0.0, 0.0, 0.0, 1.0] };
            let range = vk::ImageSubresourceRange::default()
                .aspect_mask(vk::ImageAspectFlags::COLOR)
                .level_count(1)
                .layer_count(1);
            unsafe { device.cmd_clear_color_image(commands, shown, WRITTEN.0, &black, &[range]) };
            for (tile, image) in [(0, self.small), (1, self.large), (6, self.alone)] {
                r.settle();
                r.clear(image, tile);
                image_barrier(device, commands, image, WRITTEN, READ);
                r.show(image, READ.0, SIDE, tile);
            }
            r.settle();
            r.fill(self.after, 0, 2);
            r.fill(self.whole, TILE_BYTES, 3);
            r.fill(self.alone_buffer, 0, 7);
            r.settle();
            r.show_buffer(self.after, 2);
            r.show_buffer(self.part, 3);
            r.show_buffer(self.alone_buffer, 7);
            // The other twin is in the layout that this one is brought to.
            r.clear(self.twins[0], 4);
            image_barrier(device, commands, self.twins[0], WRITTEN, READ);
            r.settle();
            r.show(self.twins[1], READ.0, SIDE, 4);
            r.show(slot.rows.image, vk::ImageLayout::GENERAL, COLUMNS, 5);
            r.show_buffer(slot.flushed.buffer, 8);
            let done = (vk::ImageLayout::PRESENT_SRC_KHR, output, Access::COLOR_ATTACHMENT_WRITE);
            image_barrier(device, commands, shown, WRITTEN, done);
        })?;
        Ok(vec![commands])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a pixel of a frame is.
    fn pixel(frame: u32, x: u32, y: u32) -> u32 {
        let tile = y / SIDE * 4 + x / SIDE;
        match tile {
            5 if x % SIDE >= COLUMNS => 0xFF00_0000,
            5 | 8 => colour(tile, y % SIDE, frame),
            9.. => 0xFF00_0000,
            _ => colour(tile, 0, frame),
        }
    }

    #[test]
    fn the_pictures_are_right() {
        for frame in Memory.pictured() {
            let path = format!("{}/samples/memory_frame_{frame}.png", env!("CARGO_MANIFEST_DIR"));
            let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
            let mut reader = png::Decoder::new(file).read_info().unwrap();
            let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
            reader.next_frame(&mut pixels).unwrap();
            assert_eq!(pixels.len() as u32, EXTENT.width * EXTENT.height * 3);
            for (i, rgb) in (0..).zip(pixels.chunks_exact(3)) {
                let (x, y) = (i % EXTENT.width, i / EXTENT.width);
                let [blue, green, red, _] = pixel(*frame, x, y).to_le_bytes();
                assert_eq!(rgb, [red, green, blue], "frame {frame}, pixel {x}, {y}");
            }
        }
    }
}

//! `causes`: a frame whose causes of time are planted, each beside a sibling that does the same without it.
//!
//! | label | what is planted |
//! |---|---|
//! | `texture large`, `texture small` | the same shader reads texels all over 8192x4096 of them, which no cache holds, and over 16x16 |
//! | `shading dear`, `shading plain` | many rounds of arithmetic in every fragment, and few |
//! | `pass redundant`, `pass needed` | one target twice: everything that the first pass draws is cleared and drawn over by the second |
//! | `barriers pointless`, `barriers none` | small dispatches that share nothing, with a barrier for everything between each two, and without |
//! | `draws many`, `draws one` | 300 triangles of a pixel with a pipeline bound before each, and the same in one draw |
//! | `nothing` | a triangle that draws one pixel |
//!
//! Whatever is not planted is each part's own: targets, buffers and pipelines. Only [`work`] knows how much there is of everything.
//! What the frame presents is a tile of 32x32 for every target, which a blit takes out of it: no draw is for anything else.

#[cfg(test)]
mod arithmetic;
mod parts;
mod textures;
mod work;

use ash::vk;

use super::barriers::{Access, ImageState, Stage, barrier, image_barrier};
use super::{Frame, Scene, Show, Slot, frame_slots, tracing};
use crate::error::Result;
use crate::gpu::swapchain::Swapchain;
use crate::gpu::{Colour, Gpu};
use parts::{Parts, Target};
use work::{DISPATCHES, DRAWS, REDUNDANT_DRAWS, SEED, TILE};

/// Tiles of the picture: the targets, from left to right.
const TILES: u32 = 10;
const EXTENT: vk::Extent2D = vk::Extent2D { width: TILE * TILES, height: TILE };
const COLOUR: Colour = [0.8, 0.5, 0.2];

/// The scene.
pub struct Causes;

impl Scene for Causes {
    fn name(&self) -> &'static str {
        "causes"
    }

    fn about(&self) -> &'static str {
        "planted causes of time, each under a label, beside siblings without them"
    }

    fn frames(&self) -> u32 {
        2
    }

    fn extent(&self) -> vk::Extent2D {
        EXTENT
    }

    fn image_usage(&self) -> vk::ImageUsageFlags {
        tracing::image_usage()
    }

    fn pictured(&self) -> &'static [u32] {
        &[2]
    }

    fn build(&self, gpu: &Gpu, swapchain: &Swapchain) -> Result<Box<dyn Show>> {
        let parts = Parts::new(gpu)?;
        let (_, [work]) = gpu.command_buffers("work pool", ["work"])?;
        gpu.record(work, vk::CommandBufferUsageFlags::SIMULTANEOUS_USE, |_| record(gpu, work, &parts))?;
        let (slots, presented) = (frame_slots(gpu)?, swapchain.images.clone());
        Ok(Box::new(Running { slots, parts, work, presented }))
    }
}

struct Running {
    slots: Vec<Slot>,
    parts: Parts,
    /// All parts: the same in every frame.
    work: vk::CommandBuffer,
    presented: Vec<vk::Image>,
}

const SOURCE: ImageState = (vk::ImageLayout::TRANSFER_SRC_OPTIMAL, Stage::TRANSFER, Access::TRANSFER_READ);
const WRITTEN: ImageState = (vk::ImageLayout::TRANSFER_DST_OPTIMAL, Stage::TRANSFER, Access::TRANSFER_WRITE);

/// Copies what is in a target to its tile of an image.
fn blit(device: &ash::Device, commands: vk::CommandBuffer, from: &Target, to: vk::Image, tile: u32) {
    let layers =
        vk::ImageSubresourceLayers::default().aspect_mask(vk::ImageAspectFlags::COLOR).layer_count(1);
    let corner = |x: u32, y: u32, z: i32| vk::Offset3D { x: x as i32, y: y as i32, z };
    let region = vk::ImageBlit::default()
        .src_subresource(layers)
        .dst_subresource(layers)
        .src_offsets([corner(0, 0, 0), corner(from.extent.width, from.extent.height, 1)])
        .dst_offsets([corner(tile * TILE, 0, 0), corner((tile + 1) * TILE, TILE, 1)]);
    let filter = vk::Filter::NEAREST;
    unsafe { device.cmd_blit_image(commands, from.image.handle, SOURCE.0, to, WRITTEN.0, &[region], filter) };
}

/// The parts, each under its label.
fn record(gpu: &Gpu, commands: vk::CommandBuffer, p: &Parts) {
    let device = &gpu.device;
    let label = |name: &str, body: &dyn Fn()| gpu.labelled(commands, name, COLOUR, body);
    let graphics = vk::PipelineBindPoint::GRAPHICS;
    // The frame before has copied the rows that dispatches write now.
    let dispatches = (Stage::COMPUTE_SHADER, Access::SHADER_WRITE);
    barrier(device, commands, (Stage::TRANSFER, Access::empty()), dispatches);
    for (name, part) in [("texture large", &p.large), ("texture small", &p.small)] {
        label(name, &|| part.record(device, commands, SEED, 1));
    }
    for (name, part) in [("shading dear", &p.dear), ("shading plain", &p.plain)] {
        label(name, &|| part.record(device, commands, SEED, 1));
    }
    // With other colours than those that come to be seen.
    label("pass redundant", &|| p.pass.record(device, commands, SEED + 1000, REDUNDANT_DRAWS));
    label("pass needed", &|| p.pass.record(device, commands, SEED, 1));
    for (name, rows, pointless) in
        [("barriers pointless", &p.ordered, true), ("barriers none", &p.free, false)]
    {
        label(name, &|| {
            rows.bind(device, commands);
            for number in 0..DISPATCHES {
                if pointless && number > 0 {
                    let all = (Stage::ALL_COMMANDS, Access::MEMORY_READ | Access::MEMORY_WRITE);
                    barrier(device, commands, all, all);
                }
                rows.dispatch(device, commands, number);
            }
        });
    }
    label("draws many", &|| {
        p.many.record(device, commands, |pipelines| unsafe {
            for dot in 0..DRAWS {
                device.cmd_bind_pipeline(commands, graphics, pipelines[dot as usize % 2]);
                device.cmd_draw(commands, 3, 1, dot * 3, 0);
            }
        });
    });
    for (name, part, triangles) in [("draws one", &p.one, DRAWS), ("nothing", &p.nothing, 1)] {
        label(name, &|| {
            part.record(device, commands, |pipelines| unsafe {
                device.cmd_bind_pipeline(commands, graphics, pipelines[0]);
                device.cmd_draw(commands, triangles * 3, 1, 0, 0);
            });
        });
    }
}

impl Running {
    /// Every target's tile.
    fn present(&self, device: &ash::Device, commands: vk::CommandBuffer, image: vk::Image) {
        let p = &self.parts;
        barrier(
            device,
            commands,
            (Stage::COMPUTE_SHADER, Access::SHADER_WRITE),
            (Stage::TRANSFER, Access::TRANSFER_READ),
        );
        for rows in [&p.ordered, &p.free] {
            let target = rows.target.image.handle;
            let free = (vk::ImageLayout::UNDEFINED, Stage::TRANSFER, Access::empty());
            image_barrier(device, commands, target, free, WRITTEN);
            rows.copy(device, commands);
            image_barrier(device, commands, target, WRITTEN, SOURCE);
        }
        // The submission waits for the image at the stage of colour output.
        let output = Stage::COLOR_ATTACHMENT_OUTPUT;
        let from = (vk::ImageLayout::UNDEFINED, output, Access::empty());
        image_barrier(device, commands, image, from, WRITTEN);
        for (tile, target) in (0..).zip(p.targets()) {
            blit(device, commands, target, image, tile);
        }
        let to = (vk::ImageLayout::PRESENT_SRC_KHR, output, Access::COLOR_ATTACHMENT_WRITE);
        image_barrier(device, commands, image, WRITTEN, to);
    }
}

impl Show for Running {
    fn record(&mut self, gpu: &Gpu, frame: Frame) -> Result<Vec<vk::CommandBuffer>> {
        let (pool, commands) = self.slots[frame.slot];
        unsafe { gpu.device.reset_command_pool(pool, vk::CommandPoolResetFlags::empty()) }?;
        gpu.record(commands, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT, |device| {
            self.present(device, commands, self.presented[frame.image]);
        })?;
        Ok(vec![self.work, commands])
    }
}

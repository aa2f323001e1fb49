//! `nested`: command buffers in command buffers, and a pass that goes on in the next one. No shader: rectangles are cleared.
//!
//! | command buffer | recorded | what |
//! |---|---|---|
//! | `fill` | once, secondary | two fills of a buffer, outside of passes, in the label `fills`; a barrier to those of the next execution |
//! | `tile` | once, secondary, for several uses at once | a label `tile` with three clears, in a pass |
//! | `front 0`, `front 1` | each frame | executes `fill` twice in one command; a pass that executes `tile` twice in one command; a pass that is suspended, with one clear |
//! | `back 0`, `back 1` | each frame | resumes that pass, with two clears |

use ash::khr::dynamic_rendering;
use ash::vk;

use super::{Frame, SLOTS, Scene, Show};
use crate::error::Result;
use crate::gpu::swapchain::Swapchain;
use crate::gpu::{Gpu, Needs};

const EXTENT: vk::Extent2D = vk::Extent2D { width: 64, height: 64 };
const COLOUR: [f32; 3] = [0.4, 0.7, 0.5];

/// The scene.
pub struct Nested;

impl Scene for Nested {
    fn name(&self) -> &'static str {
        "nested"
    }

    fn about(&self) -> &'static str {
        "command buffers executed twice by others, and a pass suspended in one and resumed in the next"
    }

    fn frames(&self) -> u32 {
        4
    }

    fn pictured(&self) -> &'static [u32] {
        &[4]
    }

    fn extent(&self) -> vk::Extent2D {
        EXTENT
    }

    fn needs(&self) -> Needs {
        Needs {
            extensions: &[
                ash::khr::create_renderpass2::NAME,
                ash::khr::depth_stencil_resolve::NAME,
                dynamic_rendering::NAME,
            ],
            dynamic_rendering: true,
            ..Needs::default()
        }
    }

    fn build(&self, gpu: &Gpu, swapchain: &Swapchain) -> Result<Box<dyn Show>> {
        Ok(Box::new(Running::new(gpu, swapchain)?))
    }
}

struct Running {
    rendering: dynamic_rendering::Device,
    fill: vk::CommandBuffer,
    tile: vk::CommandBuffer,
    slots: Vec<(vk::CommandPool, [vk::CommandBuffer; 2])>,
    shown: Vec<(vk::Image, vk::ImageView)>,
}

/// Clears a rectangle to a colour, within a pass.
fn clear(device: &ash::Device, commands: vk::CommandBuffer, x: i32, y: i32, colour: [f32; 4]) {
    let what = vk::ClearAttachment {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        color_attachment: 0,
        clear_value: vk::ClearValue { color: vk::ClearColorValue { float32: colour } },
    };
    let where_ = vk::ClearRect {
        rect: vk::Rect2D { offset: vk::Offset2D { x, y }, extent: vk::Extent2D { width: 16, height: 16 } },
        base_array_layer: 0,
        layer_count: 1,
    };
    unsafe { device.cmd_clear_attachments(commands, &[what], &[where_]) };
}

impl Running {
    fn new(gpu: &Gpu, swapchain: &Swapchain) -> Result<Self> {
        let device = &gpu.device;
        let pool_info = vk::CommandPoolCreateInfo::default().queue_family_index(gpu.family);
        let pool = gpu.adopt(unsafe { device.create_command_pool(&pool_info, None) }?, "secondary pool");
        let about = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .level(vk::CommandBufferLevel::SECONDARY)
            .command_buffer_count(2);
        let both = unsafe { device.allocate_command_buffers(&about) }?;
        let (fill, tile) = (both[0], both[1]);
        gpu.name(fill, "fill");
        gpu.name(tile, "tile");

        let target = gpu.device_buffer("filled", 4096, vk::BufferUsageFlags::TRANSFER_DST)?;
        let several = vk::CommandBufferUsageFlags::SIMULTANEOUS_USE;
        let inherits = vk::CommandBufferInheritanceInfo::default();
        let begin = vk::CommandBufferBeginInfo::default().flags(several).inheritance_info(&inherits);
        unsafe { device.begin_command_buffer(fill, &begin) }?;
        gpu.labelled(fill, "fills", COLOUR, || unsafe {
            device.cmd_fill_buffer(fill, target.handle, 0, 2048, 1);
            device.cmd_fill_buffer(fill, target.handle, 2048, 2048, 2);
        });
        after_fills(device, fill);
        unsafe { device.end_command_buffer(fill) }?;

        let formats = [swapchain.format];
        let mut rendering = vk::CommandBufferInheritanceRenderingInfo::default()
            .color_attachment_formats(&formats)
            .rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let inherits = vk::CommandBufferInheritanceInfo::default().push_next(&mut rendering);
        let begin = vk::CommandBufferBeginInfo::default()
            .flags(several | vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE)
            .inheritance_info(&inherits);
        unsafe { device.begin_command_buffer(tile, &begin) }?;
        gpu.labelled(tile, "tile", COLOUR, || {
            clear(device, tile, 0, 0, [1.0, 0.0, 0.0, 1.0]);
            clear(device, tile, 16, 0, [0.0, 1.0, 0.0, 1.0]);
            clear(device, tile, 32, 0, [0.0, 0.0, 1.0, 1.0]);
        });
        unsafe { device.end_command_buffer(tile) }?;

        let slot =
            |n| gpu.command_buffers(&format!("pool {n}"), [&format!("front {n}"), &format!("back {n}")]);
        Ok(Self {
            rendering: gpu.rendering(),
            fill,
            tile,
            slots: (0..SLOTS).map(slot).collect::<Result<_>>()?,
            shown: swapchain.images.iter().copied().zip(swapchain.views.iter().copied()).collect(),
        })
    }

    /// A pass over the whole image; `body` is recorded in it.
    fn pass(
        &self,
        commands: vk::CommandBuffer,
        view: vk::ImageView,
        (load, flags): (vk::AttachmentLoadOp, vk::RenderingFlags),
        body: impl FnOnce(),
    ) {
        let colour = [vk::RenderingAttachmentInfo::default()
            .image_view(view)
            .image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)
            .load_op(load)
            .store_op(vk::AttachmentStoreOp::STORE)];
        let info = vk::RenderingInfo::default()
            .flags(flags)
            .render_area(EXTENT.into())
            .layer_count(1)
            .color_attachments(&colour);
        unsafe { self.rendering.cmd_begin_rendering(commands, &info) };
        body();
        unsafe { self.rendering.cmd_end_rendering(commands) };
    }
}

/// What passes on from one use of the image to the next.
fn barrier(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    image: vk::Image,
    from: vk::ImageLayout,
    to: vk::ImageLayout,
) {
    let stage = vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT;
    let access = vk::AccessFlags::COLOR_ATTACHMENT_READ | vk::AccessFlags::COLOR_ATTACHMENT_WRITE;
    let range = vk::ImageSubresourceRange {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        base_mip_level: 0,
        level_count: 1,
        base_array_layer: 0,
        layer_count: 1,
    };
    let b = vk::ImageMemoryBarrier::default()
        .src_access_mask(access)
        .dst_access_mask(access)
        .old_layout(from)
        .new_layout(to)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .image(image)
        .subresource_range(range);
    let none = vk::DependencyFlags::empty();
    unsafe { device.cmd_pipeline_barrier(commands, stage, stage, none, &[], &[], &[b]) };
}

/// Fills after each other: the same bytes are written by every execution, twice in a command and once more in the next frame.
fn after_fills(device: &ash::Device, commands: vk::CommandBuffer) {
    let stage = vk::PipelineStageFlags::TRANSFER;
    let b = vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
        .dst_access_mask(vk::AccessFlags::TRANSFER_WRITE);
    let none = vk::DependencyFlags::empty();
    unsafe { device.cmd_pipeline_barrier(commands, stage, stage, none, &[b], &[], &[]) };
}

impl Show for Running {
    fn record(&mut self, gpu: &Gpu, frame: Frame) -> Result<Vec<vk::CommandBuffer>> {
        let (pool, [front, back]) = self.slots[frame.slot];
        let (image, view) = self.shown[frame.image];
        let (load, fresh) = (vk::AttachmentLoadOp::LOAD, vk::AttachmentLoadOp::CLEAR);
        let drawn = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
        unsafe { gpu.device.reset_command_pool(pool, vk::CommandPoolResetFlags::empty()) }?;
        let once = vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT;
        gpu.record(front, once, |device| {
            unsafe { device.cmd_execute_commands(front, &[self.fill, self.fill]) };
            barrier(device, front, image, vk::ImageLayout::UNDEFINED, drawn);
            gpu.labelled(front, "tiles", COLOUR, || {
                let secondary = vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS;
                self.pass(front, view, (fresh, secondary), || unsafe {
                    device.cmd_execute_commands(front, &[self.tile, self.tile]);
                });
            });
            barrier(device, front, image, drawn, drawn);
            self.pass(front, view, (load, vk::RenderingFlags::SUSPENDING), || {
                clear(device, front, 0, 32, [frame.number as f32 / 4.0, 1.0, 1.0, 1.0]);
            });
        })?;
        gpu.record(back, once, |device| {
            self.pass(back, view, (load, vk::RenderingFlags::RESUMING), || {
                clear(device, back, 16, 32, [1.0, 1.0, 0.0, 1.0]);
                clear(device, back, 32, 32, [1.0, 0.0, 1.0, 1.0]);
            });
            barrier(device, back, image, drawn, vk::ImageLayout::PRESENT_SRC_KHR);
        })?;
        Ok(vec![front, back])
    }
}
